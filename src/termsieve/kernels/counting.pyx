"""The arrays of CSR matrices come in; counts, and what equal columns and tables share, go out."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define prefetch(address) __builtin_prefetch(address)
    #else
    #define prefetch(address) ((void)(address))
    #endif
    """
    void prefetch(const void *) noexcept nogil

cdef Py_ssize_t DOCS_IN_CACHE = 20_000
cdef Py_ssize_t TILE = 64  # columns compared together
cdef Py_ssize_t AHEAD = 4  # documents fetched ahead: the processor cannot guess where the next of a class is
cdef uint64_t LARGEST_ROOT = 3_037_000_499  # its square is the largest one below 2**63
cdef Py_ssize_t MOST_COUNTED = 65_535  # what a counter of 16 bits holds; narrow counters stay in cache

ctypedef fused Index:
    int32_t
    int64_t


ctypedef fused Value:
    int32_t
    int64_t
    float
    double


def class_counts(
    const Index[::1] indptr,
    const Index[::1] indices,
    const int64_t[::1] class_ptr,
    const int64_t[::1] docs,
    int64_t[:, ::1] out,
):
    """Add to out[c, t] the number of documents of class c, docs[class_ptr[c]:class_ptr[c + 1]], with term t.

    The indices of a row must be distinct, and the documents of a class in rising order. Documents are taken in
    blocks that stay in cache. The classes count a block one after the other, so the counters stay in cache too.
    """
    cdef Py_ssize_t n_docs = indptr.shape[0] - 1, n_classes = out.shape[0], n_terms = out.shape[1]
    cdef Py_ssize_t first_doc = 0, c, i, j, d, stop, ahead
    # Blocks are needed only if a document has several classes, and is therefore read several times.
    cdef Py_ssize_t block = DOCS_IN_CACHE if docs.shape[0] > n_docs else max(n_docs, 1)
    cdef int64_t[::1] at = np.array(class_ptr[: n_classes])
    cdef uint16_t[::1] row = np.zeros(max(n_terms, 1), dtype=np.uint16)
    with nogil:
        while first_doc < n_docs:
            for c in range(n_classes):
                i = at[c]
                while i < class_ptr[c + 1] and docs[i] < first_doc + block:
                    memset(&row[0], 0, n_terms * sizeof(uint16_t))
                    stop = min(class_ptr[c + 1], i + MOST_COUNTED)
                    while i < stop and docs[i] < first_doc + block:
                        d = docs[i]
                        if i + AHEAD < stop:
                            ahead = docs[i + AHEAD]
                            for j in range(indptr[ahead], indptr[ahead + 1], 16):
                                prefetch(&indices[j])
                        for j in range(indptr[d], indptr[d + 1]):
                            row[indices[j]] += 1
                        i += 1
                    for j in range(n_terms):
                        out[c, j] += row[j]
                at[c] = i
            first_doc += block


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
    """Add to out[t] the number of times that t occurs in `indices`."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(indices.shape[0]):
            out[indices[j]] += 1


def column_moments(const Index[::1] indices, const int64_t[::1] values, int64_t[::1] total, int64_t[::1] squares):
    """Add up the values of each column, and their squares; return an upper bound of the values."""
    cdef Py_ssize_t j
    cdef int64_t bits = 0
    with nogil:
        for j in range(indices.shape[0]):
            bits |= values[j]
            total[indices[j]] += values[j]
            squares[indices[j]] += values[j] * values[j]
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


def all_positive(const Value[::1] values):
    """Return whether all values are above 0 and finite."""
    cdef Py_ssize_t i
    cdef bint odd = False
    with nogil:
        for i in range(values.shape[0]):
            if Value is float or Value is double:
                odd |= not (0 < values[i] < INFINITY)
            else:
                odd |= values[i] <= 0
    return not odd


def repeats_columns(const Index[::1] indptr, const Index[::1] indices, Py_ssize_t n_columns):
    """Return whether a row has a column twice; the indices of a row may be in any order.

    Every row and every index is checked: an index outside the matrix raises an IndexError.
    """
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, i, j, wrong = -1
    cdef Index last
    cdef bint rising, found = False
    cdef Index[::1] seen_in = np.full(max(n_columns, 1), -1, dtype=np.int32 if Index is int32_t else np.int64)
    if n_rows < 0 or indptr[0] != 0 or indptr[n_rows] != indices.shape[0]:
        raise IndexError("the rows do not cover the entries of the matrix")
    with nogil:
        for i in range(n_rows):
            if not indptr[i] <= indptr[i + 1] <= indices.shape[0]:
                wrong = i
                break
            rising, last = True, -1
            for j in range(indptr[i], indptr[i + 1]):
                if indices[j] <= last:
                    rising = False
                    break
                last = indices[j]
            if rising:
                # If the indices rise, all are above -1, and the last one is the greatest.
                if last >= n_columns:
                    wrong = i
                    break
                continue
            for j in range(indptr[i], indptr[i + 1]):
                if not 0 <= indices[j] < n_columns:
                    wrong = i
                    break
                found |= seen_in[indices[j]] == i
                seen_in[indices[j]] = <Index>i
            if wrong >= 0:
                break
    if wrong >= 0:
        raise IndexError(f"row {wrong} has an index that lies outside the {n_columns} columns of the matrix")
    return bool(found)


def distinct_columns(list tables):
    """Return the first of the columns that are equal, and for each column which of these it is equal to.

    A column has its values in all tables, which have the same number of columns. Tiles of columns that stay in
    cache are hashed row by row. Columns with the same hash are then compared value by value.
    """
    cdef Py_ssize_t n = tables[0].shape[1], width = sum(map(len, tables)), i, j, slot, n_kinds = 0, size = 16
    cdef Py_ssize_t room = 1024, start, count
    while size < 2 * n:
        size *= 2
    first_array, kind_array = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    cdef int64_t[::1] first = first_array, kind = kind_array
    cdef int64_t[::1] table = np.full(size, -1, dtype=np.int64)
    cdef int64_t[:, ::1] kept = np.empty((room, width), dtype=np.int64)
    cdef int64_t[:, ::1] tile = np.empty((width, TILE), dtype=np.int64)
    cdef uint64_t[::1] mix = np.empty(TILE, dtype=np.uint64)
    for start in range(0, n, TILE):
        count = min(TILE, n - start)
        copy_tile(tables, start, count, tile)
        with nogil:
            hash_tile(tile, count, mix)
        if n_kinds + count > room:
            room = max(2 * room, n_kinds + count)
            kept = grown(kept, room)
        with nogil:
            for i in range(count):
                slot = <Py_ssize_t>(mix[i] & <uint64_t>(size - 1))
                while table[slot] >= 0 and not same_column(tile, i, kept, table[slot]):
                    slot = (slot + 1) & (size - 1)
                if table[slot] < 0:
                    table[slot] = n_kinds
                    first[n_kinds] = start + i
                    for j in range(width):
                        kept[n_kinds, j] = tile[j, i]
                    n_kinds += 1
                kind[start + i] = table[slot]
    return first_array[:n_kinds].copy(), kind_array


cdef void copy_tile(list tables, Py_ssize_t start, Py_ssize_t count, int64_t[:, ::1] tile):
    cdef Py_ssize_t row = 0, r
    cdef const int64_t[:, ::1] part
    for part in tables:
        for r in range(part.shape[0]):
            memcpy(&tile[row, 0], &part[r, start], count * sizeof(int64_t))
            row += 1


cdef void hash_tile(const int64_t[:, ::1] tile, Py_ssize_t count, uint64_t[::1] mix) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(count):
        mix[i] = 0
    for j in range(tile.shape[0]):
        for i in range(count):
            mix[i] = (mix[i] ^ <uint64_t>tile[j, i]) * 0x9E3779B97F4A7C15u
            mix[i] ^= mix[i] >> 29


cdef bint same_column(
    const int64_t[:, ::1] tile, Py_ssize_t i, const int64_t[:, ::1] kept, Py_ssize_t which
) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(tile.shape[0]):
        if tile[j, i] != kept[which, j]:
            return False
    return True


def grown(const int64_t[:, ::1] rows, Py_ssize_t room):
    larger = np.empty((room, rows.shape[1]), dtype=np.int64)
    larger[: rows.shape[0]] = rows
    return larger


def distinct_tables(const int64_t[:, ::1] tp, const int64_t[::1] df, Py_ssize_t numbered_df):
    """Return the distinct (class, tp, df) of all classes and terms, and for each cell which of them it has.

    Terms in `numbered_df` documents or more are not looked up: each keeps its own tables. So does a cell
    with values that no documents can give.
    """
    cdef Py_ssize_t n_classes = tp.shape[0], n_terms = tp.shape[1], c, t, number, n_tables = 0
    cdef Py_ssize_t n_numbers = numbered_df * (numbered_df + 1) // 2
    at_array = np.empty((n_classes, n_terms), dtype=np.int32)
    of_class_array = np.empty(n_classes * n_terms, dtype=np.int32)
    of_term_array = np.empty(n_classes * n_terms, dtype=np.int32)
    cdef int32_t[:, ::1] at = at_array
    cdef int32_t[::1] of_class = of_class_array, of_term = of_term_array
    cdef int32_t[::1] seen_in = np.full(n_numbers, -1, dtype=np.int32)
    cdef int32_t[::1] place = np.empty(n_numbers, dtype=np.int32)
    with nogil:
        for c in range(n_classes):
            for t in range(n_terms):
                if 0 <= tp[c, t] <= df[t] < numbered_df:
                    number = df[t] * (df[t] + 1) // 2 + tp[c, t]
                    if seen_in[number] == c:
                        at[c, t] = place[number]
                        continue
                    seen_in[number] = <int32_t>c
                    place[number] = <int32_t>n_tables
                of_class[n_tables] = <int32_t>c
                of_term[n_tables] = <int32_t>t
                at[c, t] = <int32_t>n_tables
                n_tables += 1
    return of_class_array[:n_tables].copy(), of_term_array[:n_tables].copy(), at_array


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
