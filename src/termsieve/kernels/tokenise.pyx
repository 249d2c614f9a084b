"""Texts in, term numbers out: the runs of a class of characters, hashed and counted for each document."""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcmp, memcpy

from termsieve.kernels.documents cimport (
    ASCII, PADDING, WORD, Alphabet, Document, Documents, Segment, low_bytes, resized, ts_eight, ts_lowest_bit,
    ts_prefetch, ts_swapped, zeros,
)

import os

import numpy as np

from termsieve.kernels.sorting import argsorted

cdef enum:
    BATCH = 64          # tokens between prefetching their slots and looking them up
    INLINE = 16         # bytes of a term that fit into its entry

cdef Py_ssize_t MAX_TERMS = 0x7FFFFFFE
# Another one in every process, so that nobody can prepare words that share a slot; no result depends on it.
cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")

cdef struct Spelling:
    const uint8_t *text
    Py_ssize_t length
    int64_t id


cdef inline uint64_t _mixed(uint64_t a, uint64_t b) noexcept nogil:
    cdef uint64_t h
    a ^= SEED
    h = a * <uint64_t> 0x9E3779B97F4A7C15 ^ (b + (a >> 32)) * <uint64_t> 0xC2B2AE3D27D4EB4F
    h ^= h >> 32
    h *= <uint64_t> 0xD6E8FEB86659FD93
    return h ^ (h >> 32)


cdef inline void _read_token(Token *token, const uint8_t *text, Py_ssize_t length) noexcept nogil:
    """Fill in the key of the term at `text`; PADDING bytes beyond it must be readable."""
    cdef Py_ssize_t i
    cdef uint64_t h
    token.text = text
    token.length = <uint32_t> length
    if length <= INLINE:
        token.head = ts_eight(text) & low_bytes(length)
        token.tail = ts_eight(text + 8) & low_bytes(length - 8 if length > 8 else 0)
        token.hash = _mixed(token.head, token.tail)
        return
    h = <uint64_t> length
    i = 0
    while i + 8 <= length:
        h = _mixed(h, ts_eight(text + i))
        i += 8
    if i < length:
        h = _mixed(h, ts_eight(text + i) & low_bytes(length - i))
    token.head = h
    token.tail = 0
    token.hash = h


cdef int _by_spelling(const void *a, const void *b) noexcept nogil:
    cdef const Spelling *x = <const Spelling *> a
    cdef const Spelling *y = <const Spelling *> b
    cdef int order = memcmp(x.text, y.text, <size_t> min(x.length, y.length))
    if order:
        return order
    return (x.length > y.length) - (x.length < y.length)


cdef inline Entry *_find(TermTable table, const Token *token) noexcept nogil:
    """Return the entry of the token, or the free slot where it belongs."""
    cdef uint64_t slot = token.hash & table.mask
    cdef Entry *entry
    while True:
        entry = &table.entries[slot]
        if entry.length == token.length and entry.head == token.head:
            if token.length <= INLINE:
                if entry.tail == token.tail:
                    return entry
            elif memcmp(table.arena + entry.tail, token.text, token.length) == 0:
                return entry
        elif entry.length == 0:
            return entry
        slot = (slot + 1) & table.mask


cdef inline bint _is_token(TermTable table, Py_ssize_t start, Py_ssize_t end, bint ascii) noexcept nogil:
    cdef Py_ssize_t i, length = end - start
    if length < table.min_length:
        return False
    if not ascii and length < 4 * table.min_length:
        for i in range(start, end):
            length -= (table.segment.text[i] & 0xC0) == 0x80
        if length < table.min_length:
            return False
    if table.starts_word and start > 0 and table.segment.kinds[start - 1] & WORD:
        return False
    return not (table.ends_word and table.segment.kinds[end] & WORD)


cdef class TermTable:
    """A growing vocabulary: documents in, rows of term numbers in order of first appearance out.

    A token is a maximal run of at least `min_length` token characters; `starts_word` and `ends_word` ask that
    no word character stands before or after it. Stop words are left out. Only one thread at a time may use a
    table. A subclass makes other terms of the tokens at the end of each document.
    """

    def __cinit__(self):
        self.entries = NULL
        self.arena = NULL
        self.where = NULL
        self.ids = NULL
        self.counts = NULL
        self.sequence = NULL

    def __init__(self, Alphabet alphabet not None, Py_ssize_t min_length, bint starts_word, bint ends_word,
                 stop_words=()):
        if min_length < 1:
            raise ValueError("a token has at least one character")
        self.segment = Segment(alphabet)
        self.min_length = min_length
        self.starts_word = starts_word
        self.ends_word = ends_word
        self.stamp = 0
        self._free()
        self.mask = 1023
        self.entries = <Entry *> zeros(1024, sizeof(Entry))
        self.arena_room = 8192
        self.arena = <uint8_t *> malloc(<size_t> self.arena_room)
        self.where_room = 1024
        self.where = <int64_t *> malloc(<size_t> self.where_room * sizeof(int64_t))
        if self.arena == NULL or self.where == NULL:
            raise MemoryError
        self.n_entries = self.n_terms = self.arena_size = 0
        for word in stop_words:
            self._declare_stop_word(word)
        self.where[0] = self.arena_size

    cdef void _free(self) noexcept:
        free(self.entries)
        free(self.arena)
        free(self.where)
        free(self.ids)
        free(self.counts)
        free(self.sequence)
        self.entries = NULL
        self.arena = NULL
        self.where = NULL
        self.ids = self.counts = self.sequence = NULL
        self.rows_room = self.sequence_room = 0

    def __dealloc__(self):
        self._free()

    def __len__(self):
        return self.n_terms

    cdef int _declare_stop_word(self, str word) except -1:
        cdef bytes raw = word.encode("utf-8", "surrogatepass") + bytes(PADDING)
        cdef Py_ssize_t length = len(raw) - PADDING
        cdef Token token
        cdef Entry *entry
        if 0 < length < <Py_ssize_t> STOP:
            _read_token(&token, <const uint8_t *> <const char *> raw, length)
            entry = _find(self, &token)
            if entry.length == 0:
                self._insert(entry, &token, True)
        return 0

    cdef int _store(self, const uint8_t *text, Py_ssize_t length) except -1 nogil:
        """Copy a term to the end of the arena."""
        if self.arena_size + length + PADDING > self.arena_room:
            self.arena_room = 2 * (self.arena_size + length + PADDING)
            self.arena = <uint8_t *> resized(self.arena, self.arena_room)
        memcpy(self.arena + self.arena_size, text, <size_t> length)
        self.arena_size += length
        return 0

    cdef int _number(self, const uint8_t *text, Py_ssize_t length) except -1 nogil:
        """Store a term under the next number."""
        if self.n_terms >= MAX_TERMS:
            with gil:
                raise MemoryError
        if self.n_terms + 2 > self.where_room:
            self.where_room *= 2
            self.where = <int64_t *> resized(self.where, self.where_room * <Py_ssize_t> sizeof(int64_t))
        self._store(text, length)
        self.n_terms += 1
        self.where[self.n_terms] = self.arena_size
        return 0

    cdef int _insert(self, Entry *entry, const Token *token, bint stop) except -1 nogil:
        """Take the free slot `entry` for the token; pointers to entries are void afterwards."""
        entry.head = token.head
        entry.tail = token.tail if token.length <= INLINE else <uint64_t> self.arena_size
        entry.id = STOP if stop else <uint32_t> self.n_terms
        entry.stamp = 0
        entry.place = 0
        if stop:
            self._store(token.text, token.length)
        else:
            self._number(token.text, token.length)
        entry.length = token.length
        self.n_entries += 1
        # Frequent terms are met first and lie where they belong, so that only rare ones are looked for longer.
        if 3 * <uint64_t> self.n_entries > 2 * self.mask:
            self._grow()
        return 0

    cdef int _grow(self) except -1 nogil:
        cdef uint64_t old_mask = self.mask, mask = 2 * self.mask + 1, i, slot
        cdef Entry *old = self.entries
        cdef Entry *new = <Entry *> zeros(mask + 1, sizeof(Entry))
        for i in range(old_mask + 1):
            if old[i].length == 0:
                continue
            slot = old[i].head if old[i].length > INLINE else _mixed(old[i].head, old[i].tail)
            slot &= mask
            while new[slot].length:
                slot = (slot + 1) & mask
            new[slot] = old[i]
        self.entries = new
        self.mask = mask
        free(old)
        return 0

    cdef int _reserve_rows(self, Py_ssize_t n) except -1 nogil:
        if self.n_cells + n > self.rows_room:
            n = 2 * (self.n_cells + n)
            self.rows_room = 0
            self.ids = <uint32_t *> resized(self.ids, n * <Py_ssize_t> sizeof(uint32_t))
            self.counts = <uint32_t *> resized(self.counts, n * <Py_ssize_t> sizeof(uint32_t))
            self.rows_room = n
        return 0

    cdef int _reserve_sequence(self, Py_ssize_t n) except -1 nogil:
        if self.n_sequence + n > self.sequence_room:
            n = 2 * (self.n_sequence + n)
            self.sequence_room = 0
            self.sequence = <uint32_t *> resized(self.sequence, n * <Py_ssize_t> sizeof(uint32_t))
            self.sequence_room = n
        return 0

    cdef int _add_segment(self, Py_ssize_t n, bint ascii) except -1 nogil:
        """Look up the tokens of a segment of `n` bytes: a batch is hashed, its slots fetched, then met."""
        cdef Token tokens[BATCH]
        cdef Py_ssize_t i = 0, k, start, n_tokens, n_runs = self.segment.runs(n)
        cdef Entry *entry
        while i < n_runs:
            n_tokens = 0
            while i < n_runs and n_tokens < BATCH:
                start = self.segment.starts[i]
                if _is_token(self, start, self.segment.ends[i], ascii):
                    _read_token(&tokens[n_tokens], self.segment.text + start, self.segment.ends[i] - start)
                    ts_prefetch(&self.entries[tokens[n_tokens].hash & self.mask])
                    n_tokens += 1
                i += 1
            self._reserve_rows(BATCH)
            if self.in_order:
                self._reserve_sequence(BATCH)
            for k in range(n_tokens):
                entry = _find(self, &tokens[k])
                if entry.length == 0:
                    self._insert(entry, &tokens[k], False)
                    entry = _find(self, &tokens[k])
                if entry.id == STOP:
                    continue
                if self.in_order:
                    self.sequence[self.n_sequence] = entry.id
                    self.n_sequence += 1
                elif entry.stamp == self.stamp:
                    self.counts[self.row + entry.place] += 1
                else:
                    entry.stamp = self.stamp
                    entry.place = <uint32_t> (self.n_cells - self.row)
                    self.ids[self.n_cells] = entry.id
                    self.counts[self.n_cells] = 1
                    self.n_cells += 1
        return 0

    cdef int _end_document(self) except -1 nogil:
        """Called when the tokens of a document are in its row or, in order, in `sequence`."""
        return 0

    cdef bint _add_document(self, const Document *doc) except -1 nogil:
        """Append the row of a document; return whether it was readable."""
        cdef Py_ssize_t start = 0, stop, n
        cdef uint64_t slot
        if self.stamp == STOP:
            self.stamp = 0
            for slot in range(self.mask + 1):
                self.entries[slot].stamp = 0
        self.stamp += 1
        self.row = self.n_cells
        self.n_sequence = 0
        while start < doc.length:
            stop = self.segment.end_of(doc, start)
            if stop - start > 0x3FFFFFFF:
                with gil:
                    raise MemoryError("a single word has more than 2**30 characters; cut the document")
            n = self.segment.read(doc, start, stop)
            if n < 0:
                return False
            self._add_segment(n, doc.kind == ASCII)
            start = stop
        self._end_document()
        return True

    cdef Py_ssize_t n_numbers(self) noexcept nogil:
        """Return how many numbers the ids of rows may have."""
        return self.n_terms

    cdef Py_ssize_t fill_rows(self, const Document *docs, Py_ssize_t n, int64_t *ends) except -1 nogil:
        """Make `ids` and `counts` the rows of `n` documents, up to the first that is unreadable; return their number."""
        cdef Py_ssize_t i
        self.n_cells = 0
        for i in range(n):
            if not self._add_document(&docs[i]):
                return i
            ends[i] = self.n_cells
        return n

    def rows(self, Documents docs not None):
        """Add the documents; return the CSR arrays (indptr, ids, counts) of their rows, ids as first met."""
        cdef Py_ssize_t n
        indptr = np.zeros(docs.n + 1, dtype=np.int64)
        cdef int64_t[::1] bounds = indptr
        with nogil:
            n = self.fill_rows(docs.items, docs.n, &bounds[0] + 1)
        if n < docs.n:
            raise UnicodeError(n)
        ids = np.empty(self.n_cells, dtype=np.int32)
        counts = np.empty(self.n_cells, dtype=np.int32)
        cdef int32_t[::1] ids_out = ids
        cdef int32_t[::1] counts_out = counts
        if self.n_cells:
            memcpy(&ids_out[0], self.ids, <size_t> self.n_cells * sizeof(uint32_t))
            memcpy(&counts_out[0], self.counts, <size_t> self.n_cells * sizeof(uint32_t))
        return indptr, ids, counts

    def merge(self, TermTable other not None):
        """Add the terms of another table; return the number here of each of them."""
        cdef Py_ssize_t i = 0, k, n_tokens
        cdef Token tokens[BATCH]
        cdef Entry *entry
        numbers = np.empty(other.n_terms, dtype=np.int32)
        cdef int32_t[::1] out = numbers
        with nogil:
            while i < other.n_terms:
                n_tokens = min(<Py_ssize_t> BATCH, other.n_terms - i)
                for k in range(n_tokens):
                    _read_token(&tokens[k], other.arena + other.where[i + k],
                                other.where[i + k + 1] - other.where[i + k])
                    ts_prefetch(&self.entries[tokens[k].hash & self.mask])
                for k in range(n_tokens):
                    entry = _find(self, &tokens[k])
                    if entry.length == 0:
                        self._insert(entry, &tokens[k], False)
                        entry = _find(self, &tokens[k])
                    out[i + k] = <int32_t> entry.id
                i += n_tokens
        return numbers

    def order(self):
        """Return the term numbers in the order of their spelling, which is Python's order of str."""
        cdef Py_ssize_t i, start, n = self.n_terms
        heads = np.empty(n, dtype=np.uint64)
        cdef uint64_t[::1] head = heads
        with nogil:
            for i in range(n):
                start = self.where[i]
                head[i] = ts_swapped(ts_eight(self.arena + start) & low_bytes(self.where[i + 1] - start))
        order = argsorted(heads)
        self._sort_by_rest(heads, order)
        return order

    def _sort_by_rest(self, const uint64_t[::1] head, int64_t[::1] ids):
        """Sort the terms with equal heads, which follow each other, by their whole spelling."""
        cdef Py_ssize_t i = 0, k, m, n = ids.shape[0]
        cdef Spelling *group = <Spelling *> malloc(<size_t> max(n, 1) * sizeof(Spelling))
        if group == NULL:
            raise MemoryError
        with nogil:
            while i < n:
                k = i
                while k < n and head[ids[k]] == head[ids[i]]:
                    group[k - i].text = self.arena + self.where[ids[k]]
                    group[k - i].length = self.where[ids[k] + 1] - self.where[ids[k]]
                    group[k - i].id = ids[k]
                    k += 1
                if k - i > 1:
                    qsort(group, <size_t> (k - i), sizeof(Spelling), _by_spelling)
                    for m in range(k - i):
                        ids[i + m] = group[m].id
                i = k
            free(group)

    def terms(self, numbers=None):
        """Return the spellings of the terms with these numbers, of all by default."""
        if numbers is None:
            numbers = np.arange(self.n_terms)
        cdef const int64_t[::1] ids = np.ascontiguousarray(numbers, dtype=np.int64)
        cdef Py_ssize_t i, start
        cdef list out = []
        for i in range(ids.shape[0]):
            if not 0 <= ids[i] < self.n_terms:
                raise IndexError(ids[i])
            start = self.where[ids[i]]
            out.append(PyUnicode_DecodeUTF8(<const char *> self.arena + start,
                                            self.where[ids[i] + 1] - start, "surrogatepass"))
        return out

    def spelling(self, numbers):
        """Return the terms with these numbers as UTF-8, one after the other, and the end of each."""
        cdef const int64_t[::1] ids = np.ascontiguousarray(numbers, dtype=np.int64)
        cdef Py_ssize_t i, size = 0, n = ids.shape[0]
        ends = np.empty(n, dtype=np.int64)
        cdef int64_t[::1] ends_out = ends
        for i in range(n):
            if not 0 <= ids[i] < self.n_terms:
                raise IndexError(ids[i])
            size += self.where[ids[i] + 1] - self.where[ids[i]]
            ends_out[i] = size
        data = np.empty(size, dtype=np.uint8)
        cdef uint8_t[::1] data_out = data
        cdef uint8_t *out = &data_out[0] if size else NULL
        with nogil:
            size = 0
            for i in range(n):
                memcpy(out + size, self.arena + self.where[ids[i]], <size_t> (ends_out[i] - size))
                size = ends_out[i]
        return data, ends


def place_rows(const int64_t[::1] indptr, const int32_t[::1] ids, const int32_t[::1] counts,
               const int32_t[::1] columns, Py_ssize_t n_columns, int32_t[::1] indices, int64_t[::1] data,
               int64_t[::1] ends):
    """Write rows in column order, with the count of term i in columns[i]; a negative column leaves it out.

    Counts of terms that share a column are added. `ends` gets the end of each row in `indices` and `data`; the
    number of cells written is returned.
    """
    cdef Py_ssize_t row, i, k, first, second, n_out = 0, n_rows = indptr.shape[0] - 1
    cdef Py_ssize_t n_words = n_columns // 64 + 1, n_groups = n_columns // 4096 + 1
    cdef int32_t column
    cdef uint64_t groups, words, bits
    cdef int32_t[::1] dense = np.zeros(n_columns, dtype=np.int32)
    cdef uint64_t[::1] present = np.zeros(n_words, dtype=np.uint64)
    cdef uint64_t[::1] filled = np.zeros(n_groups, dtype=np.uint64)
    cdef uint64_t[::1] top = np.zeros(n_groups // 64 + 1, dtype=np.uint64)
    cdef uint64_t one = 1
    if indices.shape[0] < ids.shape[0] or data.shape[0] < ids.shape[0] or ends.shape[0] < n_rows:
        raise ValueError("there is no room for the rows")
    if np.max(columns, initial=-1) >= n_columns:
        raise IndexError(f"a term has a column beyond the {n_columns} of the matrix")
    with nogil:
        for row in range(n_rows):
            for i in range(indptr[row], indptr[row + 1]):
                column = columns[ids[i]]
                if column < 0:
                    continue
                dense[column] += counts[i]
                present[column >> 6] |= one << (column & 63)
                filled[column >> 12] |= one << ((column >> 6) & 63)
                top[column >> 18] |= one << ((column >> 12) & 63)
            for k in range(top.shape[0]):
                groups = top[k]
                top[k] = 0
                while groups:
                    first = 64 * k + ts_lowest_bit(groups)
                    groups &= groups - 1
                    words = filled[first]
                    filled[first] = 0
                    while words:
                        second = 64 * first + ts_lowest_bit(words)
                        words &= words - 1
                        bits = present[second]
                        present[second] = 0
                        while bits:
                            column = <int32_t> (64 * second + ts_lowest_bit(bits))
                            bits &= bits - 1
                            indices[n_out] = column
                            data[n_out] = dense[column]
                            dense[column] = 0
                            n_out += 1
            ends[row] = n_out
    return n_out
