"""Tables of counts come in; their distinct columns and cells, and which of these each one is, go out."""

import numpy as np

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint16_t, uint32_t, uint64_t

cdef Py_ssize_t TILE = 1024  # columns hashed together

ctypedef fused Number:
    uint16_t
    int32_t
    uint32_t
    int64_t


def distinct_columns(list tables):
    """Return the first of the columns that are equal, and for each column which of these it is equal to.

    A column has its values in all tables, which have the same number of columns. Columns with the same hash are
    taken to be equal, and then compared value by value; if two differ, all are hashed again in another way.
    """
    cdef Py_ssize_t n = tables[0].shape[1]
    mix, first, kind = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    cdef uint64_t seed = 0
    while True:
        hash_columns(tables, seed, mix)
        distinct = first[: number_hashes(mix, first, kind)]
        if all([same_rows(table, distinct, kind) for table in tables]):
            return distinct.astype(np.int64), kind
        seed += 1


cdef hash_columns(list tables, uint64_t seed, uint64_t[::1] mix):
    """Set the hash of each column: a sum of its values, each multiplied by a number of its row."""
    cdef uint64_t rows_before = seed << 32
    mix[:] = 0
    for table in tables:
        if table.dtype == np.uint16:
            hash_rows[uint16_t](table, rows_before, mix)
        elif table.dtype == np.uint32:
            hash_rows[uint32_t](table, rows_before, mix)
        elif table.dtype == np.int32:
            hash_rows[int32_t](table, rows_before, mix)
        else:
            hash_rows[int64_t](table, rows_before, mix)
        rows_before += table.shape[0]


cdef void hash_rows(const Number[:, ::1] table, uint64_t rows_before, uint64_t[::1] mix) noexcept:
    cdef Py_ssize_t n = mix.shape[0], start = 0, stop, r, i
    cdef uint64_t factor
    with nogil:
        while start < n:
            stop = min(n, start + TILE)
            for r in range(table.shape[0]):
                factor = scrambled(rows_before + <uint64_t>r + 1) | 1
                for i in range(start, stop):
                    mix[i] += <uint64_t>table[r, i] * factor
            start = stop


cdef Py_ssize_t number_hashes(const uint64_t[::1] mix, int32_t[::1] first, int32_t[::1] kind):
    """Number the distinct hashes in the order of the columns; return how many there are."""
    cdef Py_ssize_t n = mix.shape[0], size = 1024, n_kinds = 0, i, k, slot
    cdef int32_t[::1] table = np.full(size, -1, dtype=np.int32)
    for i in range(n):
        if 2 * n_kinds >= size:
            size *= 4
            table = np.full(size, -1, dtype=np.int32)
            for k in range(n_kinds):
                table[slot_of(mix, first, table, mix[first[k]])] = <int32_t>k
        slot = slot_of(mix, first, table, mix[i])
        if table[slot] < 0:
            table[slot] = <int32_t>n_kinds
            first[n_kinds] = <int32_t>i
            n_kinds += 1
        kind[i] = table[slot]
    return n_kinds


cdef inline Py_ssize_t slot_of(
    const uint64_t[::1] mix, const int32_t[::1] first, const int32_t[::1] table, uint64_t wanted
) noexcept nogil:
    cdef Py_ssize_t last = table.shape[0] - 1, slot = <Py_ssize_t>(scrambled(wanted) & <uint64_t>last)
    while table[slot] >= 0 and mix[first[table[slot]]] != wanted:
        slot = (slot + 1) & last
    return slot


cdef bint same_rows(table, const int32_t[::1] first, const int32_t[::1] kind):
    """Return whether each column of a table is equal to the first of its kind."""
    if table.dtype == np.uint16:
        return are_same[uint16_t](table, first, kind, np.empty(len(first), dtype=np.uint16))
    if table.dtype == np.uint32:
        return are_same[uint32_t](table, first, kind, np.empty(len(first), dtype=np.uint32))
    if table.dtype == np.int32:
        return are_same[int32_t](table, first, kind, np.empty(len(first), dtype=np.int32))
    return are_same[int64_t](table, first, kind, np.empty(len(first), dtype=np.int64))


cdef bint are_same(
    const Number[:, ::1] table, const int32_t[::1] first, const int32_t[::1] kind, Number[::1] row
) noexcept:
    cdef Py_ssize_t r, i
    cdef Number differences = 0
    with nogil:
        for r in range(table.shape[0]):
            for i in range(first.shape[0]):
                row[i] = table[r, first[i]]
            for i in range(table.shape[1]):
                differences |= table[r, i] ^ row[kind[i]]
    return differences == 0


cdef inline uint64_t scrambled(uint64_t number) noexcept nogil:
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9u
    number = (number ^ (number >> 27)) * 0x94D049BB133111EBu
    return number ^ (number >> 31)


def distinct_cells(list tables, columns, const int32_t[::1] group, const int64_t[::1] size):
    """Return the distinct (size of the row, values in all tables, group of the column), and which each cell has.

    There are one or two tables, of which some columns are looked at; each of these has a group, numbered from 0.
    What is distinct is given by a row and a position in `columns` that has it, and by its values. Most cells are
    0 in all tables, and found by their group; the others are looked up by a hash.
    """
    cdef Py_ssize_t n_rows = tables[0].shape[0], n = columns.shape[0], i, r, t, slot, first = 0, n_cells = 0
    cdef const int64_t[::1] table, other
    if n_rows * n > INT32_MAX:
        raise OverflowError(f"{n_rows} x {n} cells are too many")
    at_array = np.empty((n_rows, n), dtype=np.int32)
    places, contents = np.empty((2, n_rows * n), dtype=np.int32), np.empty((n_rows * n, 3), dtype=np.int64)
    cdef int32_t[:, ::1] at = at_array, place = places
    cdef int64_t[:, ::1] content = contents  # of each cell the values and the group, in one place in memory
    cdef int64_t[::1] order = np.argsort(size, kind="stable").astype(np.int64)
    # What rows of another size have put into these is below `first`, and so counts as empty.
    cdef int32_t[::1] zeros = np.full(int(np.max(group)) + 1 if n else 0, -1, dtype=np.int32)
    cdef int32_t[::1] slots = np.full(0, -1, dtype=np.int32)
    cdef int32_t *found
    for i in range(n_rows):
        r = order[i]
        if i and size[r] != size[order[i - 1]]:
            first = n_cells
        if slots.shape[0] < 2 * (n_cells - first + n):
            slots = slots_of(content, first, n_cells, n)
        # A row at a time is widened: the tables themselves may be large.
        table = widened(tables[0][r], columns)
        other = table if len(tables) == 1 else widened(tables[1][r], columns)
        with nogil:
            for t in range(n):
                if table[t] == 0 and other[t] == 0:
                    found = &zeros[group[t]]
                else:
                    slot = cell_slot(content, slots, first, table[t], other[t], group[t])
                    found = &slots[slot]
                if found[0] < first:
                    found[0] = <int32_t>n_cells
                    place[0, n_cells], place[1, n_cells] = <int32_t>r, <int32_t>t
                    content[n_cells, 0], content[n_cells, 1] = table[t], other[t]
                    content[n_cells, 2] = group[t]
                    n_cells += 1
                at[r, t] = found[0]
    values = [contents[:n_cells, i].copy() for i in range(len(tables))]
    return places[0, :n_cells].copy(), places[1, :n_cells].copy(), values, at_array


cdef widened(row, columns):
    return row.take(columns).astype(np.int64, copy=False)


cdef int32_t[::1] slots_of(
    const int64_t[:, ::1] content, Py_ssize_t first, Py_ssize_t n_cells, Py_ssize_t n
):
    """Return slots with the cells from `first` on, and with room for twice as many and `n` more."""
    cdef Py_ssize_t size = 16, k, slot
    while size < 4 * (n_cells - first) + 2 * n:
        size *= 2
    cdef int32_t[::1] slots = np.full(size, -1, dtype=np.int32)
    for k in range(first, n_cells):
        if content[k, 0] or content[k, 1]:
            slot = cell_slot(content, slots, first, content[k, 0], content[k, 1], content[k, 2])
            slots[slot] = <int32_t>k
    return slots


cdef inline Py_ssize_t cell_slot(
    const int64_t[:, ::1] content,
    const int32_t[::1] slots,
    Py_ssize_t first,
    int64_t value,
    int64_t other,
    int64_t group,
) noexcept nogil:
    """Return the slot of a cell, or an empty one if it has none."""
    cdef Py_ssize_t last = slots.shape[0] - 1, slot
    cdef int32_t k
    slot = <Py_ssize_t>(
        scrambled((<uint64_t>group << 42) ^ (<uint64_t>value << 21) ^ <uint64_t>other) & <uint64_t>last
    )
    while True:
        k = slots[slot]
        if k < first or (content[k, 0] == value and content[k, 1] == other and content[k, 2] == group):
            return slot
        slot = (slot + 1) & last
