"""Texts in, numbers of n-grams out: an n-gram of words or characters is a node below that of its first n - 1."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from termsieve.kernels.documents cimport TOKEN, Alphabet, get_utf8, put_utf8, resized, ts_prefetch, zeros
from termsieve.kernels.tokenise cimport TermTable

import os

import numpy as np

from termsieve.kernels.streaming import cut_terms
from termsieve.kernels.sorting import argsorted

cdef enum:
    WORDS = 0           # kinds of n-grams: of words, of the characters of a text,
    CHARACTERS = 1
    PADDED = 2          # of the characters of each word with a space before and after it
    BATCH = 64          # n-grams between prefetching their slots and looking them up
    AHEAD = 16          # n-grams between prefetching a node and spelling it
    LONGEST = 255       # units of an n-gram
    SPACE = 0x20

cdef extern from *:
    """
    #define TS_NO_NODE 0xFFFFFFFFu
    #define TS_TERM 0x80000000u
    """
    const uint32_t NO_NODE "TS_NO_NODE"
    const uint32_t TERM "TS_TERM"

cdef Py_ssize_t MAX_NODES = 0x7FFFFFFE
# Another one in every process, so that nobody can prepare n-grams that share a slot; no result depends on it.
cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")
KINDS = {"word": WORDS, "char": CHARACTERS, "char_wb": PADDED}
MAX_UNITS = LONGEST


cdef inline uint64_t _hash(uint32_t parent, uint32_t unit) noexcept nogil:
    cdef uint64_t h = ((<uint64_t> parent << 32 | unit) ^ SEED) * <uint64_t> 0x9E3779B97F4A7C15
    h ^= h >> 32
    h *= <uint64_t> 0xD6E8FEB86659FD93
    return h ^ (h >> 32)


cdef inline int64_t _child(
    NgramTable table, uint32_t parent, uint32_t unit, uint64_t mix, bint term
) except -1 nogil:
    """Return the node of an n-gram; `mix` is the hash of its two parts."""
    cdef uint64_t at = mix & table.n_slots
    cdef Slot *slot = &table.slots[at]
    while slot.number:
        if slot.parent == parent and slot.unit == unit:
            return <int64_t> slot.number - 1
        at = (at + 1) & table.n_slots
        slot = &table.slots[at]
    table._add_node(parent, unit, term)
    slot.parent, slot.unit, slot.number = parent, unit, <uint32_t> table.n_nodes
    table.n_taken += 1
    if 3 * <uint64_t> table.n_taken > 2 * table.n_slots:
        table._enlarge()
    return table.n_nodes - 1


cdef inline int64_t _root(NgramTable table, uint32_t unit) except -1 nogil:
    """Return the node of a single unit."""
    if table.roots[unit] == 0:
        table._add_node(NO_NODE, unit, table.least == 1)
        table.roots[unit] = <uint32_t> table.n_nodes
    return <int64_t> table.roots[unit] - 1


cdef inline void _meet(NgramTable table, uint32_t node, uint32_t times) noexcept nogil:
    """Count an n-gram in the current row, which has room for it."""
    # The place may be that of an earlier row; then another n-gram is there, or nothing.
    cdef Py_ssize_t at = table.row + table.places[node]
    if at < table.n_cells and table.ids[at] == node:
        table.counts[at] += times
        return
    table.places[node] = <uint32_t> (table.n_cells - table.row)
    table.ids[table.n_cells] = node
    table.counts[table.n_cells] = times
    table.n_cells += 1


cdef class NgramTable(TermTable):
    """A growing vocabulary of n-grams: documents in, rows of n-gram numbers in order of first appearance out.

    `kind` is "word", "char" or "char_wb", and n runs from `least` to `most`, as CountVectorizer defines them;
    the other parameters are those of TermTable. Every beginning of an n-gram has a number, too, also if it is
    shorter than `least`; such numbers are in no row, and `order` leaves them out.
    """

    def __cinit__(self):
        self.nodes = NULL
        self.slots = NULL
        self.gram_ends = NULL
        self.spelled = NULL
        self.places = self.roots = self.prefixes = self.grams = self.row_words = NULL

    def __init__(self, Alphabet alphabet not None, str kind, int least, int most, Py_ssize_t min_length=1,
                 bint starts_word=False, bint ends_word=False, stop_words=()):
        if not 1 <= least <= most <= LONGEST:
            raise ValueError(f"n-grams have 1 to {LONGEST} words or characters")
        self.kind, self.least, self.most = KINDS[kind], least, most
        if self.kind == WORDS and alphabet.kinds[SPACE] & TOKEN:
            raise ValueError("words that contain spaces cannot be joined by spaces")
        TermTable.__init__(self, alphabet, min_length, starts_word, ends_word, stop_words)
        self.in_order = self.kind == WORDS
        self._free_nodes()
        self.n_slots = 1023
        self.slots = <Slot *> calloc(1024, sizeof(Slot))
        # The system gives memory for the code points that occur only.
        self.n_roots = 0 if self.kind == WORDS else 0x110000
        self.roots = <uint32_t *> calloc(<size_t> max(self.n_roots, 1), sizeof(uint32_t))
        if self.slots == NULL or self.roots == NULL:
            raise MemoryError

    cdef void _free_nodes(self) noexcept:
        free(self.nodes)
        free(self.places)
        free(self.slots)
        free(self.roots)
        free(self.prefixes)
        free(self.grams)
        free(self.gram_ends)
        free(self.row_words)
        free(self.spelled)
        self.nodes = NULL
        self.slots = NULL
        self.gram_ends = NULL
        self.spelled = NULL
        self.places = self.roots = self.prefixes = self.grams = self.row_words = NULL
        self.n_nodes = self.nodes_room = self.n_taken = self.prefixes_room = 0
        self.n_grams = self.grams_room = self.n_words = self.words_room = 0
        self.row_words_room = self.spelled_room = 0

    def __dealloc__(self):
        self._free_nodes()

    def __len__(self):
        return self.n_nodes

    cdef Py_ssize_t n_numbers(self) noexcept nogil:
        return self.n_nodes

    cdef int _add_node(self, uint32_t parent, uint32_t unit, bint term) except -1 nogil:
        cdef Py_ssize_t room
        if self.n_nodes == self.nodes_room:
            if self.n_nodes >= MAX_NODES:
                with gil:
                    raise MemoryError
            room = self.n_nodes + self.n_nodes // 2 + 1024
            self.nodes = <Node *> resized(self.nodes, room * <Py_ssize_t> sizeof(Node))
            self.places = <uint32_t *> resized(self.places, room * <Py_ssize_t> sizeof(uint32_t))
            self.nodes_room = room
        self.nodes[self.n_nodes].parent = parent
        self.nodes[self.n_nodes].unit = unit | TERM if term else unit
        self.places[self.n_nodes] = 0
        self.n_nodes += 1
        return 0

    cdef int _enlarge(self) except -1 nogil:
        cdef uint64_t mask = 2 * self.n_slots + 1, i, at
        cdef Slot *fresh = <Slot *> zeros(mask + 1, sizeof(Slot))
        for i in range(self.n_slots + 1):
            if self.slots[i].number:
                at = _hash(self.slots[i].parent, self.slots[i].unit) & mask
                while fresh[at].number:
                    at = (at + 1) & mask
                fresh[at] = self.slots[i]
        free(self.slots)
        self.slots, self.n_slots = fresh, mask
        return 0

    cdef int _reserve_roots(self) except -1 nogil:
        """Make room for the roots of all words."""
        cdef Py_ssize_t room
        if self.kind == WORDS and self.n_terms > self.n_roots:
            room = 2 * self.n_terms
            self.roots = <uint32_t *> resized(self.roots, room * <Py_ssize_t> sizeof(uint32_t))
            memset(self.roots + self.n_roots, 0, <size_t> (room - self.n_roots) * sizeof(uint32_t))
            self.n_roots = room
        return 0

    cdef int _reserve_prefixes(self, Py_ssize_t n) except -1 nogil:
        if n > self.prefixes_room:
            self.prefixes_room = 0
            self.prefixes = <uint32_t *> resized(self.prefixes, 2 * n * <Py_ssize_t> sizeof(uint32_t))
            self.prefixes_room = 2 * n
        return 0

    cdef int _lengthen(self, const uint32_t *units, Py_ssize_t n, int level, bint term, bint met) except -1 nogil:
        """Make the first `n` prefixes, of `level` - 1 units, one unit longer; count them if they are `met`."""
        cdef uint64_t mixes[BATCH]
        cdef uint32_t *prefix = self.prefixes
        cdef Py_ssize_t first = 0, k, m
        while first < n:
            m = min(<Py_ssize_t> BATCH, n - first)
            prefix = self.prefixes + first
            if level == 1:
                for k in range(m):
                    prefix[k] = <uint32_t> _root(self, units[first + k])
            else:
                for k in range(m):
                    mixes[k] = _hash(prefix[k], units[first + k + level - 1])
                    ts_prefetch(&self.slots[mixes[k] & self.n_slots])
                for k in range(m):
                    prefix[k] = <uint32_t> _child(self, prefix[k], units[first + k + level - 1], mixes[k], term)
                    ts_prefetch(&self.places[prefix[k]])
            if met:
                self._reserve_rows(BATCH)
                for k in range(m):
                    _meet(self, prefix[k], 1)
            first += m
        return 0

    cdef int _add_segment(self, Py_ssize_t n, bint ascii) except -1 nogil:
        if self.kind == CHARACTERS:
            return self._add_characters(n)
        return TermTable._add_segment(self, n, ascii)

    cdef int _add_characters(self, Py_ssize_t n) except -1 nogil:
        """Append the characters of a segment to the sequence; several of whitespace become one space."""
        cdef const uint8_t *text = self.segment.text
        cdef Py_ssize_t i = 0, step = 1
        cdef uint32_t c = 0
        self._reserve_sequence(n)
        self.spaced = self.spaced and self.n_sequence > 0
        while i < n:
            c, step = text[i], 1
            if c >= 0x80:
                step = max(get_utf8(text + i, n - i, &c), <Py_ssize_t> 1)
            if self.segment.kinds[i] & TOKEN or not self.spaced:
                self.spaced = not self.segment.kinds[i] & TOKEN
                self.sequence[self.n_sequence] = c
                self.n_sequence += 1
            else:
                self.sequence[self.n_sequence - 1] = SPACE
            i += step
        return 0

    cdef int _end_document(self) except -1 nogil:
        cdef Py_ssize_t n = self.n_sequence
        cdef int level
        if self.kind == PADDED:
            return self._expand_row()
        self._reserve_roots()
        self._reserve_prefixes(n)
        for level in range(1, <int> min(n, <Py_ssize_t> self.most) + 1):
            self._lengthen(self.sequence, n - level + 1, level, level >= self.least, level >= self.least)
        return 0

    cdef int _expand_row(self) except -1 nogil:
        """Turn the current row of words into the row of their n-grams."""
        cdef Py_ssize_t i, n = self.n_cells - self.row
        cdef int64_t k, start
        cdef uint32_t word
        while self.n_words < self.n_terms:
            self._expand_word(self.n_words)
        if 2 * n > self.row_words_room:
            self.row_words_room = 0
            self.row_words = <uint32_t *> resized(self.row_words, 4 * n * <Py_ssize_t> sizeof(uint32_t))
            self.row_words_room = 4 * n
        if n:
            memcpy(self.row_words, self.ids + self.row, <size_t> n * sizeof(uint32_t))
            memcpy(self.row_words + n, self.counts + self.row, <size_t> n * sizeof(uint32_t))
        self.n_cells = self.row
        for i in range(n):
            word = self.row_words[i]
            start = self.gram_ends[word - 1] if word else 0
            self._reserve_rows(<Py_ssize_t> (self.gram_ends[word] - start))
            for k in range(start, self.gram_ends[word]):
                _meet(self, self.grams[k], self.row_words[n + i])
        return 0

    cdef int _expand_word(self, Py_ssize_t word) except -1 nogil:
        """Store the n-grams of the next word, padded; one that is shorter than `least` is a term itself."""
        cdef Py_ssize_t i = self.where[word], end = self.where[word + 1], step, n
        cdef uint32_t c = 0
        cdef int level
        self.n_sequence = 0
        self._reserve_sequence(end - i + 2)
        self.sequence[0] = SPACE
        n = 1
        while i < end:
            c, step = self.arena[i], 1
            if c >= 0x80:
                step = max(get_utf8(self.arena + i, end - i, &c), <Py_ssize_t> 1)
            self.sequence[n] = c
            n += 1
            i += step
        self.sequence[n] = SPACE
        n += 1
        self._reserve_prefixes(n)
        for level in range(1, <int> min(n, <Py_ssize_t> self.most) + 1):
            self._lengthen(self.sequence, n - level + 1, level, level >= self.least or level == n, False)
            if level >= self.least or level == n:
                self._append_grams(n - level + 1)
        if self.n_words == self.words_room:
            self.words_room = 2 * self.n_words + 1024
            self.gram_ends = <int64_t *> resized(self.gram_ends, self.words_room * <Py_ssize_t> sizeof(int64_t))
        self.gram_ends[word] = self.n_grams
        self.n_words += 1
        return 0

    cdef int _append_grams(self, Py_ssize_t n) except -1 nogil:
        if self.n_grams + n > self.grams_room:
            self.grams_room = (self.n_grams + n) * 3 // 2 + 1024
            self.grams = <uint32_t *> resized(self.grams, self.grams_room * <Py_ssize_t> sizeof(uint32_t))
        memcpy(self.grams + self.n_grams, self.prefixes, <size_t> n * sizeof(uint32_t))
        self.n_grams += n
        return 0

    def merge(self, NgramTable other not None):
        """Add the n-grams of another table; return the number here of each of them."""
        cdef Py_ssize_t i
        cdef uint32_t unit, parent
        cdef int32_t[::1] words = np.zeros(0, dtype=np.int32)
        if self.kind != other.kind:
            raise ValueError("the two tables have n-grams of different kinds")
        if self.kind == WORDS:
            words = TermTable.merge(self, other)
            self._reserve_roots()
        numbers = np.empty(other.n_nodes, dtype=np.int32)
        cdef int32_t[::1] out = numbers
        with nogil:
            for i in range(other.n_nodes):
                unit = other.nodes[i].unit & ~TERM
                if self.kind == WORDS:
                    unit = <uint32_t> words[unit]
                if other.nodes[i].parent == NO_NODE:
                    out[i] = <int32_t> _root(self, unit)
                else:
                    parent = <uint32_t> out[other.nodes[i].parent]
                    out[i] = <int32_t> _child(
                        self, parent, unit, _hash(parent, unit), other.nodes[i].unit & TERM != 0
                    )
        return numbers

    def order(self):
        """Return the numbers of the n-grams that are terms, in Python's order of str."""
        cdef Py_ssize_t c
        if self.kind == WORDS:
            for c in range(SPACE):
                if self.segment.alphabet.kinds[c] & TOKEN:
                    # Such a character sorts before the space, so the n-grams of a word are not together.
                    return self._order_of_str()
            ranks = np.empty(self.n_terms, dtype=np.uint32)
            ranks[TermTable.order(self)] = np.arange(self.n_terms, dtype=np.uint32)
        else:
            ranks = np.arange(0x110000, dtype=np.uint32)
        return self._in_depth(self._sorted_levels(ranks))

    def _order_of_str(self):
        cdef Py_ssize_t i
        numbers = [i for i in range(self.n_nodes) if self.nodes[i].unit & TERM]
        spelled = dict(zip(numbers, self.terms(numbers)))
        return np.array(sorted(numbers, key=spelled.__getitem__), dtype=np.int64)

    def _sorted_levels(self, const uint32_t[::1] ranks):
        """Return for each n the numbers of the n-grams, in the order of the ranks of their units."""
        cdef Py_ssize_t i, k
        cdef int n
        lengths, keys = np.ones(self.n_nodes, dtype=np.uint8), np.empty(self.n_nodes, dtype=np.uint64)
        cdef uint8_t[::1] length = lengths
        cdef uint64_t[::1] key = keys
        cdef uint32_t[::1] position = np.zeros(self.n_nodes, dtype=np.uint32)
        cdef int64_t[::1] at
        with nogil:
            for i in range(self.n_nodes):
                if self.nodes[i].parent != NO_NODE:
                    length[i] = length[self.nodes[i].parent] + 1
        levels = []
        for n in range(1, self.most + 1):
            numbers = np.flatnonzero(lengths == n)
            at = numbers
            with nogil:
                for k in range(at.shape[0]):
                    i = at[k]
                    key[k] = ranks[self.nodes[i].unit & ~TERM]
                    if n > 1:
                        key[k] |= <uint64_t> position[self.nodes[i].parent] << 32
            numbers = numbers[argsorted(keys[: len(numbers)])]
            at = numbers
            with nogil:
                for k in range(at.shape[0]):
                    position[at[k]] = <uint32_t> k
            levels.append(numbers)
        return levels

    def _in_depth(self, list levels):
        """Return the terms so that each n-gram comes right before the longer ones that start with it."""
        cdef Py_ssize_t i, k, n_terms = 0
        cdef int32_t[::1] size = np.zeros(self.n_nodes, dtype=np.int32)     # terms that start with it
        cdef int32_t[::1] following = np.zeros(self.n_nodes, dtype=np.int32)
        cdef int32_t place
        cdef uint32_t parent
        cdef int64_t[::1] at, out
        with nogil:
            for i in range(self.n_nodes - 1, -1, -1):
                if self.nodes[i].unit & TERM:
                    size[i] += 1
                    n_terms += 1
                if self.nodes[i].parent != NO_NODE:
                    size[self.nodes[i].parent] += size[i]
        order = np.empty(n_terms, dtype=np.int64)
        out = order
        n_terms = 0
        for level in levels:
            at = level
            with nogil:
                for k in range(at.shape[0]):
                    i = at[k]
                    parent = self.nodes[i].parent
                    if parent == NO_NODE:
                        place = <int32_t> n_terms
                        n_terms += size[i]
                    else:
                        place = following[parent]
                        following[parent] += size[i]
                    following[i] = place
                    if self.nodes[i].unit & TERM:
                        out[place] = i
                        following[i] += 1
        return order

    cdef Py_ssize_t _spell(self, Py_ssize_t node, Py_ssize_t at) except -1 nogil:
        """Write an n-gram as UTF-8 at `at` of `spelled`; return where it ends."""
        cdef uint32_t path[LONGEST]
        cdef uint32_t unit
        cdef Py_ssize_t size, n = 0
        while True:
            path[n] = self.nodes[node].unit & ~TERM
            n += 1
            if self.nodes[node].parent == NO_NODE:
                break
            node = self.nodes[node].parent
        while n:
            n -= 1
            unit = path[n]
            size = self.where[unit + 1] - self.where[unit] if self.kind == WORDS else 4
            if at + size + 1 > self.spelled_room:
                self.spelled_room = 2 * (at + size + 1)
                self.spelled = <uint8_t *> resized(self.spelled, self.spelled_room)
            if self.kind != WORDS:
                at += put_utf8(self.spelled + at, unit)
                continue
            memcpy(self.spelled + at, self.arena + self.where[unit], <size_t> size)
            at += size
            if n:
                self.spelled[at] = SPACE
                at += 1
        return at

    def terms(self, numbers=None):
        """Return the spellings of the n-grams with these numbers, of all by default."""
        return cut_terms(*self.spelling(np.arange(self.n_nodes) if numbers is None else numbers))

    def spelling(self, numbers):
        """Return the n-grams with these numbers as UTF-8, one after the other, and the end of each."""
        cdef const int64_t[::1] ids = np.ascontiguousarray(numbers, dtype=np.int64)
        cdef Py_ssize_t i, size = 0, n = ids.shape[0]
        ends = np.empty(n, dtype=np.int64)
        cdef int64_t[::1] ends_out = ends
        for i in range(n):
            if not 0 <= ids[i] < self.n_nodes:
                raise IndexError(ids[i])
        with nogil:
            for i in range(n):
                if i + AHEAD < n:
                    ts_prefetch(&self.nodes[ids[i + AHEAD]])
                size = self._spell(ids[i], size)
                ends_out[i] = size
        data = np.empty(size, dtype=np.uint8)
        cdef uint8_t[::1] data_out = data
        if size:
            memcpy(&data_out[0], self.spelled, <size_t> size)
        free(self.spelled)
        self.spelled = NULL
        self.spelled_room = 0
        return data, ends
