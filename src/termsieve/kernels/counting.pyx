"""The arrays of CSR matrices come in; counts go out."""

import numpy as np

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define prefetch(address) __builtin_prefetch(address)
    #else
    #define prefetch(address) ((void)(address))
    #endif
    """
    void prefetch(const void *) noexcept nogil

cdef enum:
    TILE = 1024  # columns or values that are taken together

cdef Py_ssize_t DOCS_IN_CACHE = 20_000
cdef Py_ssize_t AHEAD = 4  # documents fetched ahead: the processor cannot guess where the next of a class is
cdef uint8_t LAST_STAMP = 255
cdef uint64_t LARGEST_ROOT = 3_037_000_499  # its square is the largest one below 2**63
cdef Py_ssize_t MOST_COUNTED = 65_535  # what a counter of 16 bits holds; narrow counters stay in cache

ctypedef fused Index:
    int32_t
    int64_t


ctypedef fused Count:
    uint16_t
    uint32_t
    int64_t


def class_counts(
    const Index[::1] indptr,
    const Index[::1] indices,
    const int64_t[::1] class_ptr,
    const int64_t[::1] docs,
    Count[:, ::1] out,
):
    """Add to out[c, t] the number of documents of class c, docs[class_ptr[c]:class_ptr[c + 1]], with term t.

    The indices of a row must be distinct, and the documents of a class in rising order. Documents are taken in
    blocks that stay in cache. The classes count a block one after the other, so the counters stay in cache too:
    those of 16 bits are `out` itself, which must be wide enough for the largest class.
    """
    cdef Py_ssize_t n_docs = indptr.shape[0] - 1, n_classes = out.shape[0], n_terms = out.shape[1]
    cdef Py_ssize_t first_doc = 0, c, i, j, stop
    # Blocks are needed only if a document has several classes, and is therefore read several times.
    cdef Py_ssize_t block = DOCS_IN_CACHE if docs.shape[0] > n_docs else max(n_docs, 1)
    cdef int64_t[::1] at = np.array(class_ptr[: n_classes])
    cdef uint16_t[::1] row = np.zeros(1 if Count is uint16_t else max(n_terms, 1), dtype=np.uint16)
    if n_terms == 0:
        return
    with nogil:
        while first_doc < n_docs:
            for c in range(n_classes):
                i = at[c]
                if Count is uint16_t:
                    i = count_some(indptr, indices, docs, i, class_ptr[c + 1], first_doc + block, &out[c, 0])
                else:
                    while i < class_ptr[c + 1] and docs[i] < first_doc + block:
                        memset(&row[0], 0, n_terms * sizeof(uint16_t))
                        stop = min(class_ptr[c + 1], i + MOST_COUNTED)
                        i = count_some(indptr, indices, docs, i, stop, first_doc + block, &row[0])
                        for j in range(n_terms):
                            out[c, j] += row[j]
                at[c] = i
            first_doc += block


cdef inline Py_ssize_t count_some(
    const Index[::1] indptr,
    const Index[::1] indices,
    const int64_t[::1] docs,
    Py_ssize_t i,
    Py_ssize_t stop,
    Py_ssize_t end,
    uint16_t *row,
) noexcept nogil:
    """Count the terms of docs[i:stop] that come before the document `end`; return how far it went."""
    cdef Py_ssize_t j, d, ahead
    while i < stop and docs[i] < end:
        d = docs[i]
        if i + AHEAD < stop:
            ahead = docs[i + AHEAD]
            for j in range(indptr[ahead], indptr[ahead + 1], 16):
                prefetch(&indices[j])
        for j in range(indptr[d], indptr[d + 1]):
            row[indices[j]] += 1
        i += 1
    return i


def class_sums(
    const Index[::1] indptr,
    const Index[::1] indices,
    const int64_t[::1] values,
    const int64_t[::1] class_ptr,
    const int64_t[::1] docs,
    Count[:, ::1] out,
):
    """Add to out[c, t] what the values of term t, none below 1, have beyond 1 in the documents of class c.

    So counts of documents become sums, and only the few values above 1 are looked at. `out` must be wide enough.
    """
    cdef Py_ssize_t c, i, j, k, n, d, ahead
    cdef int64_t bits = 0
    cdef int32_t above[TILE]
    with nogil:
        for c in range(out.shape[0]):
            for i in range(class_ptr[c], class_ptr[c + 1]):
                d = docs[i]
                if i + AHEAD < class_ptr[c + 1]:
                    ahead = docs[i + AHEAD]
                    for j in range(indptr[ahead], indptr[ahead + 1], 8):
                        prefetch(&indices[j])
                        prefetch(&values[j])
                j = indptr[d]
                while j < indptr[d + 1]:
                    n = above_one(values, j, min(j + TILE, indptr[d + 1]), above, &bits)
                    for k in range(n):
                        out[c, indices[j + above[k]]] += <Count>(values[j + above[k]] - 1)
                    j += TILE


cdef inline Py_ssize_t above_one(
    const int64_t[::1] values, Py_ssize_t start, Py_ssize_t stop, int32_t *found, int64_t *bits
) noexcept nogil:
    """Find the values above 1, without a branch that would have to be guessed; return how many there are."""
    cdef Py_ssize_t j, n = 0
    cdef int64_t some = 0
    for j in range(start, stop):
        found[n] = <int32_t>(j - start)
        n += values[j] > 1
        some |= values[j]
    bits[0] |= some
    return n


def column_totals(const Count[:, ::1] table):
    """Return the sum of each column."""
    cdef Py_ssize_t n = table.shape[1], start = 0, stop, r, j
    totals = np.zeros(n, dtype=np.int64)
    cdef int64_t[::1] out = totals
    with nogil:
        while start < n:
            stop = min(n, start + TILE)
            for r in range(table.shape[0]):
                for j in range(start, stop):
                    out[j] += <int64_t>table[r, j]
            start = stop
    return totals


def row_totals(const Count[:, ::1] table):
    """Return the sum of each row."""
    cdef Py_ssize_t r, j
    cdef int64_t total
    totals = np.zeros(table.shape[0], dtype=np.int64)
    cdef int64_t[::1] out = totals
    with nogil:
        for r in range(table.shape[0]):
            total = 0
            for j in range(table.shape[1]):
                total += <int64_t>table[r, j]
            out[r] = total
    return totals


def column_counts(const Index[::1] indices, int64_t[::1] out):
    """Add to out[t] the number of times that t occurs in `indices`."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(indices.shape[0]):
            out[indices[j]] += 1


def column_moments(const Index[::1] indices, const int64_t[::1] values, int64_t[::1] total, int64_t[::1] squares):
    """Add to each column what its values, none below 1, and their squares have beyond 1.

    Return an upper bound of the values. A sum that is too large starts again from below.
    """
    cdef Py_ssize_t j = 0, k, n
    cdef int64_t bits = 0
    cdef uint64_t value
    cdef int32_t above[TILE]
    with nogil:
        while j < indices.shape[0]:
            n = above_one(values, j, min(j + TILE, indices.shape[0]), above, &bits)
            for k in range(n):
                value = <uint64_t>values[j + above[k]]
                total[indices[j + above[k]]] += <int64_t>(value - 1)
                squares[indices[j + above[k]]] += <int64_t>(value * value - 1)
            j += TILE
    return bits


def squares_fit(const Index[::1] indices, const int64_t[::1] values, Py_ssize_t n_columns):
    """Return whether the squares of the values (none below 0) add up to less than 2**63 in each column."""
    cdef Py_ssize_t j
    cdef uint64_t[::1] sums = np.zeros(max(n_columns, 1), dtype=np.uint64)
    cdef uint64_t value
    cdef bint fit = True
    with nogil:
        for j in range(indices.shape[0]):
            value = <uint64_t>values[j]
            if value > LARGEST_ROOT:
                fit = False
                break
            # The sum of two numbers below 2**63 fits into 64 bits, so a sum that is too large can be seen.
            sums[indices[j]] += value * value
            if sums[indices[j]] >> 63:
                fit = False
                break
    return fit


def all_positive(values):
    """Return whether all values, numbers of 32 or 64 bits, are above 0 and finite."""
    # As whole numbers, the bits of floats are in the order of the floats; infinity and NaN come last.
    if values.dtype == np.float64:
        return are_between[int64_t](values.view(np.int64), 0x7FEFFFFFFFFFFFFF)
    if values.dtype == np.float32:
        return are_between[int32_t](values.view(np.int32), 0x7F7FFFFF)
    if values.dtype == np.int32:
        return are_between[int32_t](values, 0x7FFFFFFF)
    return are_between[int64_t](values, 0x7FFFFFFFFFFFFFFF)


cdef bint are_between(const Index[::1] values, uint64_t last) noexcept:
    """Return whether all values lie between 1 and `last`."""
    cdef Py_ssize_t i
    cdef uint32_t outside = 0
    cdef uint64_t outside_wide = 0
    # The first bit of a number says that it is negative; so does that of its distance from `last` or from 1.
    with nogil:
        if Index is int32_t:
            for i in range(values.shape[0]):
                outside |= <uint32_t>values[i] | (<uint32_t>values[i] - 1u) | (<uint32_t>last - <uint32_t>values[i])
        else:
            for i in range(values.shape[0]):
                outside_wide |= <uint64_t>values[i] | (<uint64_t>values[i] - 1u) | (last - <uint64_t>values[i])
    return outside >> 31 == 0 and outside_wide >> 63 == 0


def repeats_columns(const Index[::1] indptr, const Index[::1] indices, Py_ssize_t n_columns):
    """Return whether a row has a column twice; the indices of a row may be in any order.

    Every row and every index is checked: an index outside the matrix raises an IndexError. A row whose indices
    do not rise leaves a stamp in each of its columns.
    """
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, i, begin = 0, wrong = -1
    cdef bint found = False
    cdef uint8_t stamp = 0
    cdef uint8_t[::1] seen = np.zeros(max(n_columns, 1), dtype=np.uint8)
    if n_rows < 0 or indptr[0] != 0 or indptr[n_rows] != indices.shape[0]:
        raise IndexError("the rows do not cover the entries of the matrix")
    with nogil:
        for i in range(n_rows):
            if not indptr[i] <= indptr[i + 1] <= indices.shape[0]:
                wrong = i
                break
            if rises(indices, indptr[i], indptr[i + 1], n_columns, &wrong):
                continue
            if wrong >= 0:
                wrong = i
                break
            if stamp == LAST_STAMP:
                forget(indices, begin, indptr[i], seen)
                stamp, begin = 0, indptr[i]
            stamp += 1
            found |= stamped(indices, indptr[i], indptr[i + 1], seen, stamp)
    if wrong >= 0:
        raise IndexError(f"row {wrong} has an index that lies outside the {n_columns} columns of the matrix")
    return bool(found)


cdef inline bint rises(
    const Index[::1] indices, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n_columns, Py_ssize_t *wrong
) noexcept nogil:
    """Return whether some indices rise and lie within the columns; if one lies outside, set `wrong` to 0."""
    cdef Py_ssize_t j
    cdef uint32_t outside = 0
    cdef uint64_t outside_wide = 0
    cdef Index falls = 0  # of the type of the indices, so that several are compared at a time
    for j in range(start + 1, stop):
        falls |= indices[j] <= indices[j - 1]
    if not falls:
        if start < stop and (indices[start] < 0 or indices[stop - 1] >= n_columns):
            wrong[0] = 0
        return wrong[0] < 0
    # An index is inside if neither it nor its distance from the last column is negative.
    if Index is int32_t:
        for j in range(start, stop):
            outside |= <uint32_t>indices[j] | (<uint32_t>min(n_columns - 1, INT32_MAX) - <uint32_t>indices[j])
        if outside >> 31:
            wrong[0] = 0
    else:
        for j in range(start, stop):
            outside_wide |= <uint64_t>indices[j] | (<uint64_t>(n_columns - 1) - <uint64_t>indices[j])
        if outside_wide >> 63:
            wrong[0] = 0
    return False


cdef inline bint stamped(
    const Index[::1] indices, Py_ssize_t start, Py_ssize_t stop, uint8_t[::1] seen, uint8_t stamp
) noexcept nogil:
    """Stamp some columns; return whether one of them already had this stamp."""
    cdef Py_ssize_t j
    cdef bint found = False
    for j in range(start, stop):
        found |= seen[indices[j]] == stamp
        seen[indices[j]] = stamp
    return found


cdef void forget(const Index[::1] indices, Py_ssize_t start, Py_ssize_t stop, uint8_t[::1] seen) noexcept nogil:
    """Remove all stamps, which are in the columns of indices[start:stop]."""
    cdef Py_ssize_t j
    if 8 * (stop - start) > seen.shape[0]:
        memset(&seen[0], 0, seen.shape[0])
        return
    for j in range(start, stop):
        seen[indices[j]] = 0


def nonzero_cells(const int64_t[:, ::1] table):
    """Return the nonzero cells column by column: indptr, and the row and the value of each cell."""
    cdef Py_ssize_t n_rows = table.shape[0], n_columns = table.shape[1], r, c
    cdef int64_t at
    indptr = np.zeros(n_columns + 1, dtype=np.int64)
    cdef int64_t[::1] ends = indptr
    with nogil:
        for r in range(n_rows):
            for c in range(n_columns):
                ends[c + 1] += table[r, c] != 0
        for c in range(n_columns):
            ends[c + 1] += ends[c]
    rows, values = np.empty(indptr[n_columns], dtype=np.int32), np.empty(indptr[n_columns], dtype=np.int64)
    cdef int32_t[::1] row = rows
    cdef int64_t[::1] value = values, following = indptr[:n_columns].copy()
    with nogil:
        for r in range(n_rows):
            for c in range(n_columns):
                if table[r, c] != 0:
                    at = following[c]
                    row[at] = <int32_t>r
                    value[at] = table[r, c]
                    following[c] = at + 1
    return indptr, rows, values


def dense_cells(const int64_t[::1] indptr, const int32_t[::1] rows, const int64_t[::1] values, Py_ssize_t n_rows):
    """Return the table of cells that are given column by column, as `nonzero_cells` returns them.

    Cells of one place are added; a cell outside the table is a ValueError.
    """
    cdef Py_ssize_t c, n_columns = indptr.shape[0] - 1
    cdef int64_t i
    cdef bint sound = n_columns >= 0 and indptr[0] == 0
    for c in range(n_columns):
        sound &= indptr[c] <= indptr[c + 1]
    sound = sound and indptr[n_columns] == rows.shape[0] == values.shape[0]
    for i in range(rows.shape[0]):
        sound &= 0 <= rows[i] < n_rows
    if not sound:
        raise ValueError("a cell lies outside the table")
    table = np.zeros((n_rows, n_columns), dtype=np.int64)
    cdef int64_t[:, ::1] out = table
    with nogil:
        for c in range(n_columns):
            for i in range(indptr[c], indptr[c + 1]):
                out[rows[i], c] += values[i]
    return table
