"""Rows of term numbers in, counts for each term and class out; and two sorted lists of terms made one."""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcmp, memcpy, memset

from termsieve.kernels.documents cimport Documents, resized
from termsieve.kernels.tokenise cimport TermTable

import numpy as np

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define ts_prefetch_cell(p) ((void)0)
    #else
    #define ts_prefetch_cell(p) __builtin_prefetch(p, 1)
    #endif
    """
    void ts_prefetch_cell(const void *p) nogil

cdef enum:
    AHEAD = 12          # cells between asking memory for a counter and using it
    PROBES = 16         # slots in which a class is looked for before its term gets more of them
    FEW = 24            # cells that are sorted without calling a function
    BLOCK = 32          # documents whose rows are in the cache when their cells are added

cdef uint64_t LOW_HALF = 0xFFFFFFFF
MAX_DOCUMENTS = 0xFFFFFFFF


cdef int _by_number(const void *a, const void *b) noexcept nogil:
    cdef uint64_t x = (<const uint64_t *> a)[0], y = (<const uint64_t *> b)[0]
    return (x > y) - (x < y)


cdef void _sort(uint64_t *values, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef uint64_t value
    if n > FEW:
        qsort(values, <size_t> n, sizeof(uint64_t), _by_number)
        return
    for i in range(1, n):
        value = values[i]
        k = i
        while k > 0 and values[k - 1] > value:
            values[k] = values[k - 1]
            k -= 1
        values[k] = value


cdef inline Py_ssize_t _n_slots(uint64_t row) noexcept nogil:
    return <Py_ssize_t> ((<uint64_t> 1) << ((row & 63) - 1))


cdef class CellTable:
    """Documents, and with `occurrences` also occurrences, for each term and class met so far.

    Each term has a small hash table of its classes, of 1, 2, 4, ... slots in a pool that all share: class c
    is looked for from slot c modulo their number on. So a term with a slot for every class, as frequent ones
    soon have, has a plain row of counters, and one of the long tail has a slot or two. At most MAX_DOCUMENTS
    documents fit.
    """

    cdef bint occurrences
    cdef uint64_t *rows             # for each term: its first slot << 6 | log2 of its slots + 1; 0 for none
    cdef Py_ssize_t n_rows, rows_room
    cdef uint64_t *slots            # class << 32 | documents; 0 marks a free slot
    cdef int64_t *sums              # the occurrences in each slot
    cdef Py_ssize_t n_slots, slots_room
    cdef uint64_t spare[34]         # by log2 of their slots: 1 + the first slot of rows given up, in a chain
    cdef int64_t[::1] excess        # what the cells of a term sum to beyond its documents
    cdef int64_t[::1] totals
    cdef int64_t[::1] squares

    def __cinit__(self):
        self.rows = NULL
        self.slots = NULL
        self.sums = NULL

    def __init__(self, bint occurrences):
        self.occurrences = occurrences
        self.n_rows = self.rows_room = self.n_slots = self.slots_room = 0
        memset(self.spare, 0, sizeof(self.spare))
        self.excess = self.totals = self.squares = np.zeros(0, dtype=np.int64)

    def __dealloc__(self):
        free(self.rows)
        free(self.slots)
        free(self.sums)

    cdef int _reserve_slots(self, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t room
        if self.n_slots + n > self.slots_room:
            room = (self.n_slots + n) * 3 // 2 + 1024
            self.slots = <uint64_t *> resized(self.slots, room * <Py_ssize_t> sizeof(uint64_t))
            if self.occurrences:
                self.sums = <int64_t *> resized(self.sums, room * <Py_ssize_t> sizeof(int64_t))
            self.slots_room = room
        return 0

    cdef Py_ssize_t _allotted(self, int bits) except -1 nogil:
        """Return the first of 2 ** bits free slots."""
        cdef Py_ssize_t first, size = (<Py_ssize_t> 1) << bits
        if self.spare[bits]:
            first = <Py_ssize_t> self.spare[bits] - 1
            self.spare[bits] = self.slots[first]
        else:
            self._reserve_slots(size)
            first = self.n_slots
            self.n_slots += size
        memset(self.slots + first, 0, <size_t> size * sizeof(uint64_t))
        if self.occurrences:
            memset(self.sums + first, 0, <size_t> size * sizeof(int64_t))
        return first

    cdef inline void _give_up(self, Py_ssize_t first, int bits) noexcept nogil:
        self.slots[first] = self.spare[bits]
        self.spare[bits] = <uint64_t> first + 1

    cdef inline Py_ssize_t _place(self, uint64_t row, uint64_t c) noexcept nogil:
        """Return the slot of a class, or one that is free for it; -1 when its row has neither near by."""
        cdef uint64_t mask = <uint64_t> _n_slots(row) - 1, i = c & mask, slot
        cdef Py_ssize_t first = <Py_ssize_t> (row >> 6), n = min(<Py_ssize_t> mask + 1, <Py_ssize_t> PROBES)
        while n > 0:
            slot = self.slots[first + <Py_ssize_t> i]
            if slot == 0 or slot >> 32 == c:
                return first + <Py_ssize_t> i
            i = (i + 1) & mask
            n -= 1
        return -1

    cdef int _enlarge(self, Py_ssize_t term) except -1 nogil:
        """Give a term the least row of more slots in which each of its classes has a place."""
        cdef uint64_t row = self.rows[term], larger
        cdef Py_ssize_t first = <Py_ssize_t> (row >> 6), i, at, fresh
        cdef int old = <int> (row & 63) - 1, bits = old
        while True:
            bits, at = bits + 1, 0
            fresh = self._allotted(bits)
            larger = (<uint64_t> fresh) << 6 | <uint64_t> (bits + 1)
            if old < 0:
                break
            for i in range((<Py_ssize_t> 1) << old):
                if self.slots[first + i]:
                    at = self._place(larger, self.slots[first + i] >> 32)
                    if at < 0:
                        break
                    self.slots[at] = self.slots[first + i]
                    if self.occurrences:
                        self.sums[at] = self.sums[first + i]
            if at >= 0:
                self._give_up(first, old)
                break
            self._give_up(fresh, bits)
        self.rows[term] = larger
        return 0

    cdef inline int _add_cell(self, Py_ssize_t term, uint64_t c, uint64_t docs, int64_t sums) except -1 nogil:
        cdef Py_ssize_t at = self._place(self.rows[term], c) if self.rows[term] else -1
        while at < 0:
            self._enlarge(term)
            at = self._place(self.rows[term], c)
        self.slots[at] = (self.slots[at] | c << 32) + docs
        if self.occurrences:
            self.sums[at] += sums
        return 0

    cdef inline void _prefetch(self, Py_ssize_t term, uint64_t c) noexcept nogil:
        cdef uint64_t row = self.rows[term]
        if row:
            ts_prefetch_cell(&self.slots[(row >> 6) + (c & <uint64_t> (_n_slots(row) - 1))])

    cdef int _reserve(self, Py_ssize_t n_terms, bint excess) except -1 nogil:
        """Make room for terms numbered below `n_terms`."""
        if n_terms > self.rows_room:
            self.rows = <uint64_t *> resized(self.rows, 2 * n_terms * <Py_ssize_t> sizeof(uint64_t))
            self.rows_room = 2 * n_terms
        if n_terms > self.n_rows:
            memset(self.rows + self.n_rows, 0, <size_t> (n_terms - self.n_rows) * sizeof(uint64_t))
            self.n_rows = n_terms
        if (excess or self.excess.shape[0]) and n_terms > self.excess.shape[0]:
            with gil:
                self.excess = _longer(self.excess, 2 * n_terms)
        if self.occurrences and n_terms > self.totals.shape[0]:
            with gil:
                self.totals = _longer(self.totals, 2 * n_terms)
                self.squares = _longer(self.squares, 2 * n_terms)
        return 0

    def add(self, const int64_t[::1] indptr, const int32_t[::1] ids, const int32_t[::1] counts,
            const int64_t[::1] class_ptr, const int32_t[::1] classes, Py_ssize_t n_terms):
        """Add documents: the terms ids[indptr[d]:indptr[d + 1]], distinct, and the classes likewise."""
        cdef const int32_t *first = &ids[0] if ids.shape[0] else NULL
        cdef const int32_t *first_count = &counts[0] if ids.shape[0] else NULL
        with nogil:
            self._add_rows(&indptr[0], indptr.shape[0] - 1, first, first_count, &class_ptr[0], classes, n_terms)

    def add_documents(self, TermTable terms not None, Documents docs not None, const int64_t[::1] class_ptr,
                      const int32_t[::1] classes):
        """Add documents, whose terms a table finds and numbers; the classes as above.

        An unreadable document is a UnicodeError with its position; those before it may have been added.
        """
        cdef Py_ssize_t d = 0, n, n_read = 0
        cdef int64_t indptr[BLOCK + 1]
        if class_ptr.shape[0] != docs.n + 1:
            raise ValueError("each document has its classes")
        indptr[0] = 0
        with nogil:
            while d < docs.n:
                n = min(<Py_ssize_t> BLOCK, docs.n - d)
                n_read = terms.fill_rows(docs.items + d, n, indptr + 1)
                if n_read < n:
                    break
                self._add_rows(indptr, n, <const int32_t *> terms.ids, <const int32_t *> terms.counts,
                               &class_ptr[d], classes, terms.n_numbers())
                d += n
        if d < docs.n:
            raise UnicodeError(d + n_read)

    cdef int _add_rows(self, const int64_t *indptr, Py_ssize_t n_docs, const int32_t *ids, const int32_t *counts,
                       const int64_t *class_ptr, const int32_t[::1] classes, Py_ssize_t n_terms) except -1 nogil:
        cdef Py_ssize_t d
        cdef bint several = False
        for d in range(n_docs):
            several |= class_ptr[d + 1] - class_ptr[d] != 1
        self._reserve(n_terms, several)
        for d in range(n_docs):
            self._add_document(ids, counts, indptr[d], indptr[d + 1], indptr[n_docs], classes, class_ptr[d],
                               class_ptr[d + 1])
        return 0

    cdef int _add_document(self, const int32_t *ids, const int32_t *counts, Py_ssize_t start, Py_ssize_t stop,
                           Py_ssize_t n, const int32_t[::1] classes, Py_ssize_t first,
                           Py_ssize_t last) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef int64_t value
        cdef uint64_t c
        if last - first != 1:
            for j in range(start, stop):
                self.excess[ids[j]] += last - first - 1
        if self.occurrences:
            for j in range(start, stop):
                value = counts[j]
                self.totals[ids[j]] += value
                self.squares[ids[j]] += value * value
        for k in range(first, last):
            c = <uint64_t> classes[k]
            for j in range(start, stop):
                # Beyond the end of the document come those of the next, whose class is another slot near by.
                if j + 2 * AHEAD < n:
                    ts_prefetch_cell(&self.rows[ids[j + 2 * AHEAD]])
                    self._prefetch(ids[j + AHEAD], c)
                self._add_cell(ids[j], c, 1, counts[j])
        return 0

    def absorb(self, CellTable other not None, const int32_t[::1] numbers):
        """Add all that another table counted; `numbers` are the numbers of its terms here."""
        cdef Py_ssize_t t, i, size, first, n = min(other.n_rows, numbers.shape[0])
        cdef uint64_t slot
        if other.occurrences != self.occurrences:
            raise ValueError("only one of the two tables has occurrences")
        self._reserve(int(np.max(numbers, initial=-1)) + 1, other.excess.shape[0] > 0)
        with nogil:
            for t in range(n):
                if t + 2 * AHEAD < n:
                    ts_prefetch_cell(&self.rows[numbers[t + 2 * AHEAD]])
                    ts_prefetch_cell(&other.slots[other.rows[t + 2 * AHEAD] >> 6])
                    self._prefetch(numbers[t + AHEAD], 0)
                if t < other.excess.shape[0]:
                    self.excess[numbers[t]] += other.excess[t]
                if self.occurrences:
                    self.totals[numbers[t]] += other.totals[t]
                    self.squares[numbers[t]] += other.squares[t]
                if other.rows[t] == 0:
                    continue
                first, size = <Py_ssize_t> (other.rows[t] >> 6), _n_slots(other.rows[t])
                for i in range(first, first + size):
                    slot = other.slots[i]
                    if slot:
                        self._add_cell(numbers[t], slot >> 32, slot & LOW_HALF,
                                       other.sums[i] if self.occurrences else 0)

    def columns(self, const int64_t[::1] order):
        """Return for each of the terms, in this order: the sum of its cells less its documents (None where all
        documents have one class, which makes it 0), its occurrences and the sum of their squares, or None.
        """
        excess = np.asarray(self.excess)[order] if self.excess.shape[0] else None
        if not self.occurrences:
            return excess, None, None
        return excess, np.asarray(self.totals)[order], np.asarray(self.squares)[order]

    def table(self, const int64_t[::1] order, const int32_t[::1] column):
        """Return the cells as a CSR of terms, in this order, x classes, class c in column[c]:
        indptr, indices (rising in each row), documents, occurrences or None, and the sum of each row's documents.
        """
        cdef Py_ssize_t i, j, k, first, n_cells = 0, n_in_row, n = order.shape[0]
        cdef uint64_t row, slot
        cdef int64_t[::1] ends, docs_out, sums_out, totals_out
        cdef int32_t[::1] at_out
        cdef uint64_t *found
        if n and np.max(order) >= self.n_rows:
            raise IndexError("there is no term of such a number")
        indptr = np.zeros(n + 1, dtype=np.int64)
        totals = np.zeros(n, dtype=np.int64)
        ends, totals_out = indptr, totals
        with nogil:
            for i in range(n):
                row = self.rows[order[i]]
                if i + 2 * AHEAD < n:
                    ts_prefetch_cell(&self.rows[order[i + 2 * AHEAD]])
                    self._prefetch(order[i + AHEAD], 0)
                if row:
                    first = <Py_ssize_t> (row >> 6)
                    for j in range(first, first + _n_slots(row)):
                        n_cells += self.slots[j] != 0
                        totals_out[i] += <int64_t> (self.slots[j] & LOW_HALF)
                ends[i + 1] = n_cells
        indices, docs = np.empty(n_cells, dtype=np.int32), np.empty(n_cells, dtype=np.int64)
        sums = np.empty(n_cells if self.occurrences else 0, dtype=np.int64)
        at_out, docs_out, sums_out = indices, docs, sums
        found = <uint64_t *> malloc(<size_t> max(column.shape[0], 1) * sizeof(uint64_t))
        if found == NULL:
            raise MemoryError
        with nogil:
            for i in range(n):
                row = self.rows[order[i]]
                if i + 2 * AHEAD < n:
                    ts_prefetch_cell(&self.rows[order[i + 2 * AHEAD]])
                    self._prefetch(order[i + AHEAD], 0)
                if row == 0:
                    continue
                first, n_in_row = <Py_ssize_t> (row >> 6), 0
                for j in range(_n_slots(row)):
                    slot = self.slots[first + j]
                    if slot:
                        found[n_in_row] = (<uint64_t> column[slot >> 32]) << 32 | <uint64_t> j
                        n_in_row += 1
                _sort(found, n_in_row)
                for k in range(n_in_row):
                    j = first + <Py_ssize_t> (found[k] & LOW_HALF)
                    at_out[ends[i] + k] = <int32_t> (found[k] >> 32)
                    docs_out[ends[i] + k] = <int64_t> (self.slots[j] & LOW_HALF)
                    if self.occurrences:
                        sums_out[ends[i] + k] = self.sums[j]
            free(found)
        return indptr, indices, docs, sums if self.occurrences else None, totals


def _longer(values, Py_ssize_t size):
    longer = np.zeros(size, dtype=np.int64)
    longer[:len(values)] = values
    return longer


def cut_terms(const uint8_t[::1] data, const int64_t[::1] ends):
    """Return the terms that lie in a row as UTF-8, each up to its end, as a list of str."""
    cdef Py_ssize_t i, start = 0
    cdef const char *text = b""
    cdef list terms = []
    if data.shape[0]:
        text = <const char *> &data[0]
    for i in range(ends.shape[0]):
        if not start <= ends[i] <= data.shape[0]:
            raise ValueError(f"the end of term {i} lies outside the data")
        terms.append(PyUnicode_DecodeUTF8(text + start, ends[i] - start, "surrogatepass"))
        start = ends[i]
    return terms


def taken_terms(const uint8_t[::1] data, const int64_t[::1] ends, const int64_t[::1] places):
    """Return some of the terms that lie in a row as UTF-8, in the same form: their bytes and where each ends."""
    cdef Py_ssize_t i, start, size = 0, n = places.shape[0]
    if not _are_ends(ends, data.shape[0]):
        raise ValueError("the ends of the terms do not fit their bytes")
    taken_ends = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] out_ends = taken_ends
    for i in range(n):
        if not 0 <= places[i] < ends.shape[0]:
            raise IndexError(places[i])
        size += ends[places[i]] - (ends[places[i] - 1] if places[i] else 0)
        out_ends[i] = size
    taken = np.empty(size, dtype=np.uint8)
    cdef uint8_t[::1] out = taken
    size = 0
    for i in range(n):
        start = ends[places[i] - 1] if places[i] else 0
        if out_ends[i] > size:
            memcpy(&out[0] + size, &data[0] + start, <size_t> (out_ends[i] - size))
        size = out_ends[i]
    return taken, taken_ends


cdef bint _are_ends(const int64_t[::1] ends, Py_ssize_t size) noexcept:
    """Tell whether rising ends cut `size` bytes into terms without a rest."""
    cdef Py_ssize_t i
    cdef int64_t last = 0
    cdef bint rising = True
    for i in range(ends.shape[0]):
        rising &= last <= ends[i]
        last = ends[i]
    return rising and last == size


def are_sorted(const uint8_t[::1] data, const int64_t[::1] ends):
    """Tell whether the terms that lie in a row, each up to its end, are distinct and sorted by their bytes."""
    cdef Py_ssize_t i, start, size, after
    cdef int order
    if not _are_ends(ends, data.shape[0]):
        return False
    for i in range(1, ends.shape[0]):
        start = ends[i - 2] if i > 1 else 0
        size, after = ends[i - 1] - start, ends[i] - ends[i - 1]
        order = memcmp(&data[0] + start, &data[0] + ends[i - 1], <size_t> min(size, after)) if data.shape[0] else 0
        if order > 0 or (order == 0 and size >= after):
            return False
    return True


def merged_terms(const uint8_t[::1] a, const int64_t[::1] a_ends, const uint8_t[::1] b, const int64_t[::1] b_ends):
    """Merge two lists of distinct terms sorted by their bytes, each all terms in a row and where each ends.

    Return the merged terms in the same form, and the place in them of each term of `a` and of `b`. Ends that
    do not cut the bytes into terms are a ValueError.
    """
    cdef Py_ssize_t n_a = a_ends.shape[0], n_b = b_ends.shape[0], i = 0, k = 0, n = 0, size = 0
    cdef Py_ssize_t a_start = 0, b_start = 0, a_size, b_size
    cdef int order
    places_a, places_b = np.empty(n_a, dtype=np.int64), np.empty(n_b, dtype=np.int64)
    data, ends = np.empty(a.shape[0] + b.shape[0], dtype=np.uint8), np.empty(n_a + n_b, dtype=np.int64)
    cdef int64_t[::1] at_a = places_a, at_b = places_b, out_ends = ends
    cdef uint8_t[::1] out = data
    if not _are_ends(a_ends, a.shape[0]) or not _are_ends(b_ends, b.shape[0]):
        raise ValueError("the ends of the terms do not fit their bytes")
    with nogil:
        while i < n_a or k < n_b:
            a_size = a_ends[i] - a_start if i < n_a else 0
            b_size = b_ends[k] - b_start if k < n_b else 0
            if i == n_a:
                order = 1
            elif k == n_b:
                order = -1
            else:
                order = memcmp(&a[0] + a_start, &b[0] + b_start, <size_t> min(a_size, b_size))
                if order == 0:
                    order = (a_size > b_size) - (a_size < b_size)
            if order <= 0:
                memcpy(&out[0] + size, &a[0] + a_start, <size_t> a_size)
                size += a_size
                at_a[i] = n
                a_start = a_ends[i]
                i += 1
            if order >= 0:
                if order > 0:
                    memcpy(&out[0] + size, &b[0] + b_start, <size_t> b_size)
                    size += b_size
                at_b[k] = n
                b_start = b_ends[k]
                k += 1
            out_ends[n] = size
            n += 1
    return data[:size].copy(), ends[:n].copy(), places_a, places_b
