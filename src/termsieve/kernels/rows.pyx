"""Sparse rows come in; merged, ranked or filtered rows, and their products with weights, go out.

Rows are given as arrays `column` and `value` and, for each row, the half-open range `start` to `end` in them.
Columns count from 1 and ascend within a row: weight 0 is the intercept's, whose feature is 1 in every row. An
empty `value` says that every value is 1.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy


def ranked_rows(
    const int64_t[::1] indptr,
    const int32_t[::1] row,
    const double[::1] value,
    const int64_t[::1] order,
    Py_ssize_t n_rows,
    const int64_t[::1] lengths,
):
    """Return (start, ends, column, value): the rows of a matrix with the columns of `order`, numbered from 1.

    The matrix is given by columns; an empty `value` (all ones) gives an empty one. ends[i] is each row's end
    among the first lengths[i] columns; `lengths` ascend, and the last one is that of `order`.
    """
    cdef Py_ssize_t k, r, i = 0, n_lengths = lengths.shape[0], n = 0
    cdef int64_t p, at
    cdef bint valued = value.shape[0] > 0
    starts, all_ends = np.zeros(n_rows, dtype=np.int64), np.empty((n_lengths, n_rows), dtype=np.int64)
    cdef int64_t[::1] start = starts, reached = np.zeros(n_rows, dtype=np.int64)
    cdef int64_t[:, ::1] ends = all_ends
    with nogil:
        for k in range(order.shape[0]):
            for p in range(indptr[order[k]], indptr[order[k] + 1]):
                reached[row[p]] += 1
        for r in range(n_rows):
            start[r] = n
            n += reached[r]
            reached[r] = start[r]
    columns, values = np.empty(n, dtype=np.int32), np.empty(n if valued else 0)
    cdef int32_t[::1] column = columns
    cdef double[::1] held = values
    with nogil:
        for k in range(order.shape[0] + 1):
            while i < n_lengths and lengths[i] == k:
                for r in range(n_rows):
                    ends[i, r] = reached[r]
                i += 1
            if k == order.shape[0]:
                break
            for p in range(indptr[order[k]], indptr[order[k] + 1]):
                at = reached[row[p]]
                column[at] = <int32_t> (k + 1)
                if valued:
                    held[at] = value[p]
                reached[row[p]] = at + 1
    return starts, all_ends, columns, values


def filtered_rows(
    const int64_t[::1] indptr, const int32_t[::1] column, const double[::1] value, const int32_t[::1] renamed
):
    """Return (indptr, column, value) of the entries whose column c has renamed[c] > 0, under that number."""
    cdef Py_ssize_t n = indptr.shape[0] - 1, r, p, k, at = 0
    cdef bint valued = value.shape[0] > 0
    fresh, columns = np.zeros(n + 1, dtype=np.int64), np.empty(column.shape[0], dtype=np.int32)
    values = np.empty(value.shape[0])
    cdef int64_t[::1] out = fresh
    cdef int32_t[::1] kept = columns
    cdef double[::1] carried = values
    with nogil:
        for r in range(n):
            # Without a branch, which would be guessed wrong at every other entry: what is not kept is overwritten.
            for p in range(indptr[r], indptr[r + 1]):
                k = renamed[column[p]]
                kept[at] = <int32_t> k
                if valued:
                    carried[at] = value[p]
                at += k > 0
            out[r + 1] = at
    return fresh, columns[:at], values[: at if valued else 0]


cdef inline bint equal_rows(
    const int32_t* column, const double* value, int64_t a, int64_t b, int64_t length
) noexcept nogil:
    cdef int64_t p
    for p in range(length):
        if column[a + p] != column[b + p]:
            return False
    if value != NULL:
        for p in range(length):
            if value[a + p] != value[b + p]:
                return False
    return True


def merged_rows(
    const int64_t[::1] start,
    const int64_t[::1] end,
    const int32_t[::1] column,
    const double[::1] value,
    const uint8_t[::1] label,
):
    """Return (first, weight, group) of the sets of equal rows with equal labels.

    `first` is the first document of each set, `weight` the size of each set, and `group` the set of each
    document. A hash finds the candidates; rows are merged only if their entries are equal.
    """
    cdef Py_ssize_t n = start.shape[0], r, other, slots = 16, slot, n_groups = 0
    cdef int64_t p, length
    cdef uint64_t key, bits
    cdef const int32_t* columns = &column[0] if column.shape[0] else NULL
    cdef const double* values = &value[0] if value.shape[0] else NULL
    while slots < 2 * n:
        slots *= 2
    firsts, weights, groups = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n, dtype=np.int64)
    cdef int64_t[::1] first = firsts, group = groups, table = np.full(slots, -1, dtype=np.int64)
    cdef uint64_t[::1] keys = np.empty(n, dtype=np.uint64)
    cdef double[::1] weight = weights
    with nogil:
        for r in range(n):
            length = end[r] - start[r]
            key = <uint64_t> length * 2 + label[r]
            for p in range(start[r], end[r]):
                key = (key ^ <uint64_t> columns[p]) * <uint64_t> 0x9E3779B97F4A7C15
                if values != NULL:
                    memcpy(&bits, &values[p], sizeof(double))
                    key = (key ^ bits ^ (key >> 29)) * <uint64_t> 0xBF58476D1CE4E5B9
            key ^= key >> 32
            slot = <Py_ssize_t> (key & <uint64_t> (slots - 1))
            while table[slot] >= 0:
                other = first[table[slot]]
                if (
                    keys[table[slot]] == key
                    and label[other] == label[r]
                    and end[other] - start[other] == length
                    and equal_rows(columns, values, start[other], start[r], length)
                ):
                    break
                slot = (slot + 1) & (slots - 1)
            if table[slot] < 0:
                table[slot] = n_groups
                first[n_groups] = r
                keys[n_groups] = key
                weight[n_groups] = 0.0
                n_groups += 1
            weight[table[slot]] += 1.0
            group[r] = table[slot]
    return firsts[:n_groups], weights[:n_groups], groups


def decisions(
    const int64_t[::1] start,
    const int64_t[::1] end,
    const int32_t[::1] column,
    const double[::1] value,
    const double[::1] w,
    double[::1] out,
):
    """Write w.x of each row, the intercept w[0] included, into `out`."""
    cdef Rows rows = rows_of(start, end, column, value)
    cdef Py_ssize_t r
    with nogil:
        for r in range(start.shape[0]):
            out[r] = dot(&rows, r, &w[0])


def add_rows(
    const int64_t[::1] start,
    const int64_t[::1] end,
    const int32_t[::1] column,
    const double[::1] value,
    const double[::1] step,
    double[::1] w,
):
    """Add step * x of each row to `w`."""
    cdef Rows rows = rows_of(start, end, column, value)
    cdef Py_ssize_t r
    with nogil:
        for r in range(start.shape[0]):
            if step[r] != 0.0:
                add(&rows, r, step[r], &w[0])
