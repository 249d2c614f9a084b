"""The arrays of CSR matrices come in; counts, and what equal columns and tables share, go out."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
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

cdef Py_ssize_t DOCS_IN_CACHE = 20_000
cdef Py_ssize_t TILE = 1024  # columns hashed together
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
    cdef Py_ssize_t c, i, j, d, ahead
    with nogil:
        for c in range(out.shape[0]):
            for i in range(class_ptr[c], class_ptr[c + 1]):
                d = docs[i]
                if i + AHEAD < class_ptr[c + 1]:
                    ahead = docs[i + AHEAD]
                    for j in range(indptr[ahead], indptr[ahead + 1], 8):
                        prefetch(&indices[j])
                        prefetch(&values[j])
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

    A column has its values in all tables, which have the same number of columns. Columns with the same hash are
    taken to be equal, and then compared value by value; if two differ, all are hashed again in another way.
    """
    cdef Py_ssize_t n = tables[0].shape[1]
    mix = np.empty(n, dtype=np.uint64)
    first, kind = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    cdef uint64_t seed = 0
    while True:
        hash_columns(tables, seed, mix)
        distinct = first[: number_hashes(mix, first, kind)].copy()
        if all([same_rows(table, distinct, kind) for table in tables]):
            return distinct, kind
        seed += 1


cdef hash_columns(list tables, uint64_t seed, uint64_t[::1] mix):
    """Set the hash of each column: a sum of its values, each multiplied by a number of its row."""
    cdef Py_ssize_t n = mix.shape[0], start, stop, r, i, row
    cdef const int64_t[:, ::1] table
    cdef uint64_t factor
    for start in range(0, n, TILE):
        stop = min(n, start + TILE)
        row = 0
        mix[start:stop] = 0
        for table in tables:
            with nogil:
                for r in range(table.shape[0]):
                    row += 1
                    factor = scrambled(<uint64_t>row + (seed << 32)) | 1
                    for i in range(start, stop):
                        mix[i] += <uint64_t>table[r, i] * factor


cdef Py_ssize_t number_hashes(const uint64_t[::1] mix, int64_t[::1] first, int64_t[::1] kind):
    """Number the distinct hashes in the order of the columns; return how many there are."""
    cdef Py_ssize_t n = mix.shape[0], size = 1024, n_kinds = 0, i, k, slot
    cdef int32_t[::1] table = np.full(size, -1, dtype=np.int32)
    for i in range(n):
        if 2 * n_kinds >= size:
            size *= 2
            table = np.full(size, -1, dtype=np.int32)
            for k in range(n_kinds):
                table[slot_of(mix, first, table, mix[first[k]])] = <int32_t>k
        slot = slot_of(mix, first, table, mix[i])
        if table[slot] < 0:
            table[slot] = <int32_t>n_kinds
            first[n_kinds] = i
            n_kinds += 1
        kind[i] = table[slot]
    return n_kinds


cdef inline Py_ssize_t slot_of(
    const uint64_t[::1] mix, const int64_t[::1] first, const int32_t[::1] table, uint64_t wanted
) noexcept nogil:
    cdef Py_ssize_t last = table.shape[0] - 1, slot = <Py_ssize_t>(scrambled(wanted) & <uint64_t>last)
    while table[slot] >= 0 and mix[first[table[slot]]] != wanted:
        slot = (slot + 1) & last
    return slot


cdef inline uint64_t scrambled(uint64_t number) noexcept nogil:
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9u
    number = (number ^ (number >> 27)) * 0x94D049BB133111EBu
    return number ^ (number >> 31)


cdef bint same_rows(const int64_t[:, ::1] table, const int64_t[::1] first, const int64_t[::1] kind):
    """Return whether each column of a table is equal to the first of its kind."""
    cdef Py_ssize_t r, i
    cdef int64_t[::1] row = np.empty(first.shape[0], dtype=np.int64)
    cdef int64_t differences = 0
    with nogil:
        for r in range(table.shape[0]):
            for i in range(first.shape[0]):
                row[i] = table[r, first[i]]
            for i in range(table.shape[1]):
                differences |= table[r, i] ^ row[kind[i]]
    return differences == 0


def distinct_cells(list tables, const int64_t[::1] group):
    """Return the distinct (row, values in all tables, group of the column), and for each cell which it has.

    They are given by a row and a column that has them; the groups are numbered from 0. Most cells are 0 in all
    tables, and found by their group; the others are looked up by a hash.
    """
    cdef const int64_t[:, ::1] table = tables[0], other = tables[len(tables) - 1]
    cdef Py_ssize_t n_rows = table.shape[0], n = table.shape[1], r, t, slot, size = 16, first = 0, n_cells = 0
    cdef Py_ssize_t n_groups = int(np.max(group)) + 1 if n else 0
    while size < 2 * n:
        size *= 2
    at_array = np.empty((n_rows, n), dtype=np.int32)
    of_row_array, of_column_array = np.empty((2, n_rows * n), dtype=np.int32)
    cdef int32_t[:, ::1] at = at_array
    cdef int32_t[::1] of_row = of_row_array, of_column = of_column_array
    # What a row puts into these is below the first cell of the next row, and so counts as empty there.
    cdef int32_t[::1] slots = np.full(size, -1, dtype=np.int32), zeros = np.full(n_groups, -1, dtype=np.int32)
    cdef int32_t found
    with nogil:
        for r in range(n_rows):
            first = n_cells
            for t in range(n):
                if table[r, t] == 0 and other[r, t] == 0:
                    found = zeros[group[t]]
                    if found < first:
                        found = zeros[group[t]] = <int32_t>n_cells
                else:
                    slot = <Py_ssize_t>(
                        scrambled(
                            (<uint64_t>group[t] << 42) ^ (<uint64_t>table[r, t] << 21) ^ <uint64_t>other[r, t]
                        ) & <uint64_t>(size - 1)
                    )
                    while slots[slot] >= first and not (
                        table[r, of_column[slots[slot]]] == table[r, t]
                        and other[r, of_column[slots[slot]]] == other[r, t]
                        and group[of_column[slots[slot]]] == group[t]
                    ):
                        slot = (slot + 1) & (size - 1)
                    found = slots[slot]
                    if found < first:
                        found = slots[slot] = <int32_t>n_cells
                at[r, t] = found
                if found == n_cells:
                    of_row[n_cells], of_column[n_cells] = <int32_t>r, <int32_t>t
                    n_cells += 1
    return of_row_array[:n_cells].astype(np.int64), of_column_array[:n_cells].astype(np.int64), at_array


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
