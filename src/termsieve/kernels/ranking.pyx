"""Sort keys of items, or several orderings of the same items, come in; one ordering goes out."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

cdef enum:
    DIGIT_BITS = 11
    DIGITS = 2048
    PASSES = 6  # digits of a key of 64 bits
    HIGH = 3  # the first digit of its high half
    LONGEST_RUN = 32  # keys that are sorted by comparing


ctypedef fused Kind:
    int32_t
    int64_t


def greatest(const double[::1] values, const int32_t[:, ::1] at):
    """Return for each column of `at` the greatest value at the positions in it; positions are not checked."""
    cdef Py_ssize_t n = at.shape[1], r, i
    found = np.full(n, -np.inf)
    cdef double[::1] out = found
    cdef double value
    with nogil:
        for r in range(at.shape[0]):
            for i in range(n):
                value = values[at[r, i]]
                out[i] = value if value > out[i] else out[i]  # always written: a branch would be a guess
    return found


def ordered(
    const int64_t[::1] base, const Kind[::1] kind, const double[::1] value, const signed char[::1] group
):
    """Return the items of `base` by decreasing group, then by decreasing value of their kind.

    Ties keep the order of `base`; `group` is empty if there are no groups. The kinds are sorted digit by digit,
    the items by counting how many have each place.
    """
    cdef Py_ssize_t n = base.shape[0], n_kinds = value.shape[0], i
    order = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] out = order
    cdef int32_t[::1] place = np.empty(n_kinds, dtype=np.int32), at = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] start = np.zeros(n_kinds + 1, dtype=np.int32)
    cdef uint64_t[:, ::1] keys = np.empty((2, n_kinds), dtype=np.uint64)
    cdef int32_t[:, ::1] items = np.empty((2, n_kinds), dtype=np.int32)
    with nogil:
        if n_kinds:
            number_places(value, group, keys, items, place)
        for i in range(n):
            at[i] = place[kind[base[i]]]
            start[at[i] + 1] += 1
        for i in range(1, n_kinds + 1):
            start[i] += start[i - 1]
        for i in range(n):
            out[start[at[i]]] = base[i]
            start[at[i]] += 1
    return order


def spread(const double[::1] value, const Kind[::1] kind):
    """Return the value of each item's kind; kinds are not checked."""
    cdef Py_ssize_t i
    made = np.empty(kind.shape[0])
    cdef double[::1] out = made
    with nogil:
        for i in range(kind.shape[0]):
            out[i] = value[kind[i]]
    return made


cdef void number_places(
    const double[::1] value,
    const signed char[::1] group,
    uint64_t[:, ::1] keys,
    int32_t[:, ::1] items,
    int32_t[::1] place,
) noexcept nogil:
    """Set for each kind how many distinct pairs (group, value) come before its own; the rest is room.

    The high half of a key decides nearly always, so its digits come first; where keys differ in the low half
    only, a few of them are sorted by comparing, and many by all their digits.
    """
    cdef Py_ssize_t n = value.shape[0], i
    cdef int p, side = 0
    cdef bint grouped = group.shape[0] > 0
    cdef int32_t number = 0, item
    for i in range(n):
        keys[0, i] = falling_key(value[i])
        items[0, i] = <int32_t>i
    for p in range(HIGH, PASSES):
        side = sorted_by_digit(keys, items, side, p, group)
    if not low_halves_sorted(keys, items, side):
        for p in range(PASSES):
            side = sorted_by_digit(keys, items, side, p, group)
    if grouped:
        side = sorted_by_digit(keys, items, side, PASSES, group)
    place[items[side, 0]] = 0
    for i in range(1, n):
        item = items[side, i]
        if keys[side, i] != keys[side, i - 1] or (grouped and group[item] != group[items[side, i - 1]]):
            number += 1
        place[item] = number


cdef int sorted_by_digit(
    uint64_t[:, ::1] keys, int32_t[:, ::1] items, int side, int p, const signed char[::1] group
) noexcept nogil:
    """Sort one side into the other by a digit of the keys, or by the group; return the side that is sorted."""
    cdef Py_ssize_t n = keys.shape[1], i, digit
    cdef int32_t counts[DIGITS]
    cdef int32_t total = 0, some
    memset(counts, 0, sizeof(counts))
    for i in range(n):
        counts[digit_of(keys[side, i], group, items[side, i], p)] += 1
    if counts[digit_of(keys[side, 0], group, items[side, 0], p)] == n:  # all have the same digit
        return side
    for digit in range(DIGITS):
        some = counts[digit]
        counts[digit] = total
        total += some
    for i in range(n):
        digit = digit_of(keys[side, i], group, items[side, i], p)
        keys[1 - side, counts[digit]] = keys[side, i]
        items[1 - side, counts[digit]] = items[side, i]
        counts[digit] += 1
    return 1 - side


cdef bint low_halves_sorted(uint64_t[:, ::1] keys, int32_t[:, ::1] items, int side) noexcept nogil:
    """Sort the runs of keys with the same high half by comparing; return False if a run is too long for that."""
    cdef Py_ssize_t n = keys.shape[1], start = 0, i, j
    cdef uint64_t key
    cdef int32_t item
    for i in range(1, n):
        if keys[side, i] >> (HIGH * DIGIT_BITS) != keys[side, start] >> (HIGH * DIGIT_BITS):
            start = i
        elif keys[side, i] < keys[side, i - 1]:
            if i - start > LONGEST_RUN:
                return False
            key, item, j = keys[side, i], items[side, i], i
            while j > start and keys[side, j - 1] > key:
                keys[side, j], items[side, j] = keys[side, j - 1], items[side, j - 1]
                j -= 1
            keys[side, j], items[side, j] = key, item
    return True


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
