"""Sort keys of items, or several orderings of the same items, come in; one ordering goes out."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    DIGIT_BITS = 11
    DIGITS = 2048
    PASSES = 6  # digits of a key of 64 bits


def greatest(const double[::1] values, const int32_t[:, ::1] at):
    """Return for each column of `at` the greatest value at the positions in it; positions are not checked."""
    cdef Py_ssize_t n = at.shape[1], r, i
    found = np.full(n, -np.inf)
    cdef double[::1] out = found
    with nogil:
        for r in range(at.shape[0]):
            for i in range(n):
                if values[at[r, i]] > out[i]:
                    out[i] = values[at[r, i]]
    return found


def ordered(
    const int64_t[::1] base, const int64_t[::1] kind, const double[::1] value, const signed char[::1] group
):
    """Return the items of `base` by decreasing group, then by decreasing value of their kind.

    Ties keep the order of `base`; `group` is empty if there are no groups. The kinds are sorted digit by digit,
    the items by counting how many have each place.
    """
    cdef Py_ssize_t n = base.shape[0], n_kinds = value.shape[0], i
    order = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] out = order
    cdef int32_t[::1] place = np.empty(n_kinds, dtype=np.int32), at = np.empty(n, dtype=np.int32)
    cdef int64_t[::1] start = np.zeros(n_kinds + 1, dtype=np.int64)
    cdef uint64_t[:, ::1] keys = np.empty((2, n_kinds), dtype=np.uint64)
    cdef int32_t[:, ::1] items = np.empty((2, n_kinds), dtype=np.int32)
    cdef int64_t[:, ::1] counts = np.zeros((PASSES + 1, DIGITS), dtype=np.int64)
    with nogil:
        if n_kinds:
            number_places(value, group, keys, items, counts, place)
        for i in range(n):
            at[i] = place[kind[base[i]]]
            start[at[i] + 1] += 1
        for i in range(1, n_kinds + 1):
            start[i] += start[i - 1]
        for i in range(n):
            out[start[at[i]]] = base[i]
            start[at[i]] += 1
    return order


cdef void number_places(
    const double[::1] value,
    const signed char[::1] group,
    uint64_t[:, ::1] keys,
    int32_t[:, ::1] items,
    int64_t[:, ::1] counts,
    int32_t[::1] place,
) noexcept nogil:
    """Set for each kind how many distinct pairs (group, value) come before its own; the rest is room."""
    cdef Py_ssize_t n = value.shape[0], i, digit, total
    cdef int p, side = 0
    cdef bint grouped = group.shape[0] > 0
    cdef uint64_t key
    cdef int32_t number = 0, item
    for i in range(n):
        keys[0, i] = key = falling_key(value[i])
        items[0, i] = <int32_t>i
        for p in range(PASSES):
            counts[p, (key >> (p * DIGIT_BITS)) & (DIGITS - 1)] += 1
        if grouped:
            counts[PASSES, 127 - group[i]] += 1
    for p in range(PASSES + grouped):
        total = digit_of(keys[0, 0], group, 0, p)
        if counts[p, total] == n:  # all have the same digit
            continue
        total = 0
        for digit in range(DIGITS):
            total += counts[p, digit]
            counts[p, digit] = total - counts[p, digit]
        for i in range(n):
            digit = digit_of(keys[side, i], group, items[side, i], p)
            keys[1 - side, counts[p, digit]] = keys[side, i]
            items[1 - side, counts[p, digit]] = items[side, i]
            counts[p, digit] += 1
        side = 1 - side
    place[items[side, 0]] = 0
    for i in range(1, n):
        item = items[side, i]
        if keys[side, i] != keys[side, i - 1] or (grouped and group[item] != group[items[side, i - 1]]):
            number += 1
        place[item] = number


cdef inline Py_ssize_t digit_of(
    uint64_t key, const signed char[::1] group, Py_ssize_t item, int p
) noexcept nogil:
    return 127 - group[item] if p == PASSES else <Py_ssize_t>((key >> (p * DIGIT_BITS)) & (DIGITS - 1))


cdef inline uint64_t falling_key(double value) noexcept nogil:
    """Return a number that falls as the value rises; 0.0 and -0.0 have the same one, NaN the greatest."""
    cdef uint64_t bits
    if value != value:
        return <uint64_t>-1
    value += 0.0  # -0.0 becomes 0.0
    memcpy(&bits, &value, sizeof(double))
    return bits if bits >> 63 else bits ^ 0x7FFFFFFFFFFFFFFFu


def interleaved(const int64_t[::1] first, const int64_t[::1] second, const unsigned char[::1] from_first):
    """Merge two orderings of the same items: step i takes the next unused item of `first` if from_first[i]."""
    cdef Py_ssize_t n = first.shape[0], i, a = 0, b = 0
    merged = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] out = merged
    cdef unsigned char[::1] used = np.zeros(_span(first), dtype=np.uint8)
    with nogil:
        for i in range(n):
            if from_first[i]:
                while used[first[a]]:
                    a += 1
                out[i] = first[a]
            else:
                while used[second[b]]:
                    b += 1
                out[i] = second[b]
            used[out[i]] = 1
    return merged


def round_robin(const int64_t[:, ::1] orders):
    """Merge orderings of the same items: each in turn gives its best item that is not yet taken."""
    cdef Py_ssize_t n_orders = orders.shape[0], n = orders.shape[1], taken = 0, c
    merged = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] out = merged
    cdef int64_t[::1] at = np.zeros(n_orders, dtype=np.int64)
    cdef unsigned char[::1] used = np.zeros(_span(orders[0]), dtype=np.uint8)
    with nogil:
        while taken < n:
            for c in range(n_orders):
                while at[c] < n and used[orders[c, at[c]]]:
                    at[c] += 1
                if at[c] < n:
                    out[taken] = orders[c, at[c]]
                    used[out[taken]] = 1
                    taken += 1
    return merged


def _span(const int64_t[::1] items):
    return int(np.max(items)) + 1 if items.shape[0] else 0
