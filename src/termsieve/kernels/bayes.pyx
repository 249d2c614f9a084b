"""A sparse matrix, labels and sets of columns come in; the sums that naive Bayes needs go out."""

import numpy as np

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

ctypedef fused number:
    int8_t
    uint8_t
    int32_t
    int64_t
    float
    double


def class_sums(
    const int64_t[::1] indptr,
    const int32_t[::1] indices,
    const number[::1] data,
    const uint8_t[::1] label,
    Py_ssize_t n_columns,
):
    """Return sums[label, column] over the rows of label 0 and of label 1."""
    cdef Py_ssize_t r
    cdef int64_t p
    cdef double* line
    result = np.zeros((2, n_columns))
    cdef double[:, ::1] sums = result
    if n_columns == 0:
        return result
    with nogil:
        for r in range(indptr.shape[0] - 1):
            line = &sums[1 if label[r] else 0, 0]
            for p in range(indptr[r], indptr[r + 1]):
                line[indices[p]] += data[p]
    return result


def set_sums(
    const int64_t[::1] indptr,
    const int32_t[::1] indices,
    const number[::1] data,
    const int64_t[::1] first,
    const int32_t[::1] low,
    const int32_t[::1] high,
    const double[:, ::1] weight,
    Py_ssize_t n_sets,
):
    """Return sums[row, kind, set]: the sum of value * weight[kind, column] over the columns of a row in a set.

    Kind 2 has the weight 1. Column c belongs to the sets low[e] to high[e] - 1 for e from first[c] to
    first[c + 1] - 1. A column outside a set is not added and subtracted again, so equal rows have equal sums
    to the last bit.
    """
    cdef Py_ssize_t n = indptr.shape[0] - 1, r, e, s
    cdef int64_t p
    cdef double amount, one, two
    cdef int32_t c
    cdef double* line
    result = np.zeros((n, 3, n_sets))
    cdef double[:, :, ::1] sums = result
    with nogil:
        for r in range(n):
            line = &sums[r, 0, 0]
            for p in range(indptr[r], indptr[r + 1]):
                c = indices[p]
                amount = data[p]
                one = amount * weight[0, c]
                two = amount * weight[1, c]
                for e in range(first[c], first[c + 1]):
                    for s in range(low[e], high[e]):
                        line[s] += one
                        line[n_sets + s] += two
                        line[2 * n_sets + s] += amount
    return result
