"""Sparse rows and the sets of columns that each column belongs to come in; each row's sums over each set go out."""

import numpy as np

from libc.stdint cimport int32_t, int64_t


def set_sums(
    const int64_t[::1] indptr,
    const int32_t[::1] column,
    const double[::1] value,
    const int64_t[::1] first,
    const int32_t[::1] low,
    const int32_t[::1] high,
    const double[:, ::1] weight,
    Py_ssize_t n_sets,
):
    """Return sums[kind, row, set]: over the row's columns in the set, value * weight[kind, column].

    Column c (from 1) belongs to the sets low[e] to high[e] - 1 for e from first[c - 1] to first[c]; an empty
    `value` says that every value is 1. A column outside a set is never added and taken off again, so equal
    rows have equal sums to the last bit.
    """
    cdef Py_ssize_t n = indptr.shape[0] - 1, n_kinds = weight.shape[0], r, e, s, kind
    cdef int64_t p
    cdef double amount
    cdef int32_t c
    result = np.zeros((n_kinds, n, n_sets))
    cdef double[:, :, ::1] sums = result
    cdef double* line
    with nogil:
        for kind in range(n_kinds):
            for r in range(n):
                line = &sums[kind, r, 0]
                for p in range(indptr[r], indptr[r + 1]):
                    c = column[p] - 1
                    amount = weight[kind, c] if value.shape[0] == 0 else value[p] * weight[kind, c]
                    for e in range(first[c], first[c + 1]):
                        for s in range(low[e], high[e]):
                            line[s] += amount
    return result
