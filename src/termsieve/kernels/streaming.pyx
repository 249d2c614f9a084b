"""Rows of term numbers in, counts for each term and class out; and two sorted lists of terms made one."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy

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

cdef uint64_t SPREAD = 0x9E3779B97F4A7C15
HEAD_CELLS = 1 << 23    # counters kept as a plain table: 64 MiB


cdef class CellTable:
    """Documents, and with `occurrences` also occurrences, for each term and class met so far.

    Terms are numbered in the order in which they are first met, so frequent ones have low numbers: those
    have a row of plain counters. The long tail of the others, each in few classes, is in a hash table.
    """

    cdef bint occurrences
    cdef Py_ssize_t width           # classes for which a row has room
    cdef Py_ssize_t head_limit      # rows the plain table may have
    cdef int64_t[:, ::1] head
    cdef int64_t[:, ::1] head_sums
    cdef uint64_t[::1] keys         # term << 32 | class, plus 1; 0 marks a free slot
    cdef int64_t[::1] docs
    cdef int64_t[::1] sums
    cdef Py_ssize_t n_cells
    cdef int shift
    cdef int64_t[::1] excess        # what the cells of a term sum to beyond its documents
    cdef int64_t[::1] totals
    cdef int64_t[::1] squares
    cdef Py_ssize_t head_cells

    def __init__(self, bint occurrences, Py_ssize_t head_cells=HEAD_CELLS):
        self.occurrences = occurrences
        self.head_cells = head_cells
        self.width = 8
        self.head_limit = head_cells // self.width
        self.head = np.zeros((0, self.width), dtype=np.int64)
        self.head_sums = np.zeros((0, self.width), dtype=np.int64)
        self._set_slots(10)
        self.excess = self.totals = self.squares = np.zeros(0, dtype=np.int64)

    cdef int _set_slots(self, int bits) except -1:
        self.keys = np.zeros(1 << bits, dtype=np.uint64)
        self.docs = np.zeros(1 << bits, dtype=np.int64)
        self.sums = np.zeros(1 << bits if self.occurrences else 0, dtype=np.int64)
        self.shift = 64 - bits
        self.n_cells = 0
        return 0

    cdef inline Py_ssize_t _slot(self, uint64_t key) noexcept nogil:
        cdef Py_ssize_t slot = <Py_ssize_t> ((key * SPREAD) >> self.shift)
        cdef Py_ssize_t mask = self.keys.shape[0] - 1
        while self.keys[slot] != 0 and self.keys[slot] != key:
            slot = (slot + 1) & mask
        return slot

    cdef inline void _add_cell(self, uint64_t key, int64_t docs, int64_t sums) noexcept nogil:
        cdef Py_ssize_t slot = self._slot(key)
        if self.keys[slot] == 0:
            self.keys[slot] = key
            self.n_cells += 1
        self.docs[slot] += docs
        if self.occurrences:
            self.sums[slot] += sums

    cdef bint _has_room(self, Py_ssize_t more) noexcept nogil:
        return 3 * (self.n_cells + more) <= 2 * self.keys.shape[0]

    cdef int _make_room(self, Py_ssize_t more) except -1:
        """Enlarge the hash table until `more` new cells fit."""
        cdef int bits = 64 - self.shift
        cdef Py_ssize_t i
        cdef uint64_t[::1] keys = self.keys
        cdef int64_t[::1] docs = self.docs
        cdef int64_t[::1] sums = self.sums
        if self._has_room(more):
            return 0
        while 3 * (self.n_cells + more) > 2 * (1 << bits):
            bits += 1
        self._set_slots(bits)
        with nogil:
            for i in range(keys.shape[0]):
                if keys[i]:
                    self._add_cell(keys[i], docs[i], sums[i] if self.occurrences else 0)
        return 0

    cdef int _reserve(self, Py_ssize_t n_terms, Py_ssize_t n_classes) except -1:
        """Make room for terms and classes numbered below these."""
        cdef Py_ssize_t rows
        if n_terms > self.excess.shape[0]:
            self.excess = _longer(self.excess, 2 * n_terms)
            if self.occurrences:
                self.totals = _longer(self.totals, 2 * n_terms)
                self.squares = _longer(self.squares, 2 * n_terms)
        if n_classes > self.width:
            self._widen(n_classes)
        if n_terms > self.head.shape[0] and self.head.shape[0] < self.head_limit:
            rows = min(2 * n_terms, self.head_limit)
            self.head = _taller(self.head, rows, self.width)
            if self.occurrences:
                self.head_sums = _taller(self.head_sums, rows, self.width)
        return 0

    cdef int _widen(self, Py_ssize_t n_classes) except -1:
        """Give each row room for more classes; rows that no longer fit go to the hash table."""
        cdef Py_ssize_t kept, t, c
        cdef int64_t[:, ::1] head = self.head
        cdef int64_t[:, ::1] sums = self.head_sums
        cdef Py_ssize_t old = self.width
        while self.width < n_classes:
            self.width *= 2
        self.head_limit = self.head_cells // self.width
        kept = min(head.shape[0], self.head_limit)
        self._make_room(int(np.count_nonzero(np.asarray(head)[kept:])))
        for t in range(kept, head.shape[0]):
            for c in range(old):
                if head[t, c]:
                    self._add_cell(_key(t, c), head[t, c], sums[t, c] if self.occurrences else 0)
        self.head = _taller(np.asarray(head)[:kept], kept, self.width)
        if self.occurrences:
            self.head_sums = _taller(np.asarray(sums)[:kept], kept, self.width)
        return 0

    def add(self, const int64_t[::1] indptr, const int32_t[::1] ids, const int32_t[::1] counts,
            const int64_t[::1] class_ptr, const int32_t[::1] classes, Py_ssize_t n_terms, Py_ssize_t n_classes):
        """Add documents: the terms ids[indptr[d]:indptr[d + 1]], distinct, and the classes likewise."""
        cdef Py_ssize_t d = 0, n_docs = indptr.shape[0] - 1
        self._reserve(n_terms, n_classes)
        while d < n_docs:
            self._make_room((indptr[d + 1] - indptr[d]) * (class_ptr[d + 1] - class_ptr[d]))
            with nogil:
                while d < n_docs and self._has_room((indptr[d + 1] - indptr[d]) * (class_ptr[d + 1] - class_ptr[d])):
                    self._add_document(ids, counts, indptr[d], indptr[d + 1], classes, class_ptr[d], class_ptr[d + 1])
                    d += 1

    cdef inline void _add_document(self, const int32_t[::1] ids, const int32_t[::1] counts, Py_ssize_t start,
                                   Py_ssize_t stop, const int32_t[::1] classes, Py_ssize_t first,
                                   Py_ssize_t last) noexcept nogil:
        cdef Py_ssize_t j, k, rows = self.head.shape[0]
        cdef int32_t t, c
        cdef int64_t n
        if last - first != 1:
            for j in range(start, stop):
                self.excess[ids[j]] += last - first - 1
        if self.occurrences:
            for j in range(start, stop):
                n = counts[j]
                self.totals[ids[j]] += n
                self.squares[ids[j]] += n * n
        for k in range(first, last):
            c = classes[k]
            for j in range(start, stop):
                if j + AHEAD < stop:
                    t = ids[j + AHEAD]
                    if t < rows:
                        ts_prefetch_cell(&self.head[t, c])
                    else:
                        ts_prefetch_cell(&self.keys[<Py_ssize_t> ((_key(t, c) * SPREAD) >> self.shift)])
                t = ids[j]
                if t < rows:
                    self.head[t, c] += 1
                    if self.occurrences:
                        self.head_sums[t, c] += counts[j]
                else:
                    self._add_cell(_key(t, c), 1, counts[j])

    def columns(self, Py_ssize_t n_terms):
        """Return for each of the first `n_terms` terms: the sum of its cells less its documents, which is 0
        where all documents have one class, and its occurrences and the sum of their squares, or None.
        """
        excess = np.asarray(self.excess)[:n_terms].copy()
        if not self.occurrences:
            return excess, None, None
        return excess, np.asarray(self.totals)[:n_terms].copy(), np.asarray(self.squares)[:n_terms].copy()

    def cells(self):
        """Return the terms, classes, documents and occurrences (or None) of all cells that are not 0."""
        head = np.asarray(self.head)
        terms, classes = np.nonzero(head)
        taken = np.flatnonzero(np.asarray(self.keys))
        keys = np.asarray(self.keys)[taken] - np.uint64(1)
        sums = None
        if self.occurrences:
            sums = np.concatenate([np.asarray(self.head_sums)[terms, classes], np.asarray(self.sums)[taken]])
        return (
            np.concatenate([terms.astype(np.int32), (keys >> np.uint64(32)).astype(np.int32)]),
            np.concatenate([classes.astype(np.int32), (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)]),
            np.concatenate([head[terms, classes], np.asarray(self.docs)[taken]]),
            sums,
        )


cdef inline uint64_t _key(Py_ssize_t term, Py_ssize_t c) noexcept nogil:
    return ((<uint64_t> term) << 32 | <uint64_t> c) + 1


def _longer(values, Py_ssize_t size):
    made = np.zeros(size, dtype=np.int64)
    made[:len(values)] = values
    return made


def _taller(table, Py_ssize_t rows, Py_ssize_t width):
    given = np.asarray(table)
    made = np.zeros((rows, width), dtype=np.int64)
    made[:given.shape[0], :given.shape[1]] = given
    return made


def merged_terms(const uint8_t[::1] a, const int64_t[::1] a_ends, const uint8_t[::1] b, const int64_t[::1] b_ends):
    """Merge two lists of distinct terms sorted by their bytes, each all terms in a row and where each ends.

    Return the merged terms in the same form, and the place in them of each term of `a` and of `b`.
    """
    cdef Py_ssize_t n_a = a_ends.shape[0], n_b = b_ends.shape[0], i = 0, k = 0, n = 0, size = 0
    cdef Py_ssize_t a_start = 0, b_start = 0, a_size, b_size
    cdef int order
    places_a, places_b = np.empty(n_a, dtype=np.int64), np.empty(n_b, dtype=np.int64)
    data, ends = np.empty(a.shape[0] + b.shape[0], dtype=np.uint8), np.empty(n_a + n_b, dtype=np.int64)
    cdef int64_t[::1] at_a = places_a, at_b = places_b, out_ends = ends
    cdef uint8_t[::1] out = data
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
