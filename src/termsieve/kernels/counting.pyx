"""Counting over CSR matrices and merging of rankings: index arrays in, integer arrays out."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

ctypedef fused Index:
    int32_t
    int64_t


def class_counts(
    const Index[::1] indptr,
    const Index[::1] indices,
    const int64_t[::1] class_ptr,
    const int64_t[::1] docs,
    int64_t[:, ::1] out,
):
    """Add to out[c, t] the documents of class c, docs[class_ptr[c]:class_ptr[c + 1]], that hold term t.

    A row's indices are distinct. One class is counted at a time, so that its counters stay in cache.
    """
    cdef Py_ssize_t n_classes = out.shape[0], n_terms = out.shape[1]
    cdef Py_ssize_t c, i, j, d
    cdef uint32_t[::1] row = np.zeros(max(n_terms, 1), dtype=np.uint32)
    with nogil:
        for c in range(n_classes):
            if class_ptr[c] == class_ptr[c + 1]:
                continue
            memset(&row[0], 0, n_terms * sizeof(uint32_t))
            for i in range(class_ptr[c], class_ptr[c + 1]):
                d = docs[i]
                for j in range(indptr[d], indptr[d + 1]):
                    row[indices[j]] += 1
            for j in range(n_terms):
                out[c, j] += row[j]


def class_sums(
    const Index[::1] indptr,
    const Index[::1] indices,
    const int64_t[::1] values,
    const int64_t[::1] class_ptr,
    const int64_t[::1] docs,
    int64_t[:, ::1] out,
):
    """Add to out[c, t] the values of term t over the documents of class c."""
    cdef Py_ssize_t c, i, j, d
    with nogil:
        for c in range(out.shape[0]):
            for i in range(class_ptr[c], class_ptr[c + 1]):
                d = docs[i]
                for j in range(indptr[d], indptr[d + 1]):
                    out[c, indices[j]] += values[j]


def column_counts(const Index[::1] indices, int64_t[::1] out):
    """Add to out[t] how often t stands in `indices`."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(indices.shape[0]):
            out[indices[j]] += 1


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
    """Merge orderings of the same items: each in turn gives its best item not yet taken."""
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
