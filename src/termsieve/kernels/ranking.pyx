"""Sort keys of items, or several orderings of the same items, come in; one ordering goes out."""

import numpy as np

from libc.stdint cimport int32_t, int64_t


def places(const int64_t[::1] order, const double[::1] value, const signed char[::1] group):
    """Return for each item how many distinct pairs (group, value) come before its own in `order`.

    `group` is empty if there are no groups.
    """
    cdef Py_ssize_t n = order.shape[0], i
    cdef int64_t place = 0, item, before
    cdef bint grouped = group.shape[0] > 0
    made = np.zeros(n, dtype=np.int64)
    cdef int64_t[::1] out = made
    with nogil:
        for i in range(1, n):
            item, before = order[i], order[i - 1]
            if value[item] != value[before] or (grouped and group[item] != group[before]):
                place += 1
            out[item] = place
    return made


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


def ordered(const int64_t[::1] base, const int64_t[::1] kind, const int64_t[::1] place_of_kind):
    """Return the items of `base` sorted by the place of their kind; ties keep the order of `base`."""
    cdef Py_ssize_t n = base.shape[0], i
    made = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] out = made
    cdef int64_t[::1] start = np.zeros(_span(place_of_kind) + 1, dtype=np.int64)
    cdef int64_t[::1] place = np.empty(n, dtype=np.int64)
    with nogil:
        for i in range(n):
            place[i] = place_of_kind[kind[base[i]]]
            start[place[i] + 1] += 1
        for i in range(1, start.shape[0]):
            start[i] += start[i - 1]
        for i in range(n):
            out[start[place[i]]] = base[i]
            start[place[i]] += 1
    return made


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
