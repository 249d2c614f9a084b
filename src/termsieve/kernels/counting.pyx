"""Counting over CSR matrices and merging of rankings: index arrays in, integer arrays out."""

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
cdef Py_ssize_t AHEAD = 4  # documents; those of a class lie apart, where the processor fetches none by itself
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
    """Add to out[c, t] the documents of class c, docs[class_ptr[c]:class_ptr[c + 1]], that hold term t.

    A row's indices are distinct and a class's documents rise. Documents are taken in blocks that stay in
    cache while every class counts its own, one class at a time, so that its counters do too.
    """
    cdef Py_ssize_t n_docs = indptr.shape[0] - 1, n_classes = out.shape[0], n_terms = out.shape[1]
    cdef Py_ssize_t first_doc = 0, c, i, j, d, stop, ahead
    # Only where classes share documents is anything read twice.
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
    """Add to out[t] how often t stands in `indices`."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(indices.shape[0]):
            out[indices[j]] += 1


def column_moments(const Index[::1] indices, const int64_t[::1] values, int64_t[::1] total, int64_t[::1] squares):
    """Add the values of each column, and their squares."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(indices.shape[0]):
            total[indices[j]] += values[j]
            squares[indices[j]] += values[j] * values[j]


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


def all_positive(const Value[::1] values):
    """Tell whether all values are above 0 and finite."""
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
    """Tell whether some row names a column twice, in whatever order its indices stand."""
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, i, j
    cdef Index last
    cdef bint rising, found = False
    cdef Index[::1] seen_in = np.full(max(n_columns, 1), -1, dtype=np.int32 if Index is int32_t else np.int64)
    with nogil:
        for i in range(n_rows):
            rising, last = True, -1
            for j in range(indptr[i], indptr[i + 1]):
                if indices[j] <= last:
                    rising = False
                    break
                last = indices[j]
            if rising:
                continue
            for j in range(indptr[i], indptr[i + 1]):
                if seen_in[indices[j]] == i:
                    found = True
                    break
                seen_in[indices[j]] = <Index>i
            if found:
                break
    return bool(found)


def distinct_columns(list tables):
    """Return the first column of each kind, and for every column the position of its kind among them.

    A column runs through all tables, which have as many columns each. Tiles of columns that stay in cache are
    hashed row by row; of each kind one column is kept, to be compared with those of the same hash.
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
    """Return the distinct (class, tp, df) of classes x terms, and where among them each cell finds its own.

    Terms in `numbered_df` documents or more are not looked up: each has tables of its own.
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
                if df[t] < numbered_df:
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


def places(const int64_t[::1] order, const double[::1] value, const signed char[::1] group):
    """Return the place of each item among the distinct (group, value), in the order given; no group: empty."""
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


def ordered(const int64_t[::1] base, const int64_t[::1] kind, const int64_t[::1] place_of_kind):
    """Return `base` by rising place of each item's kind, in the order of `base` where places are equal."""
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
