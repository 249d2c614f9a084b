"""Texts in, term numbers out: the runs of a class of characters, hashed and counted for each document."""

from cpython.unicode cimport PyUnicode_DecodeUTF8, PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcmp, memcpy, memset

import os

import numpy as np

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #if defined(_MSC_VER)
    #include <intrin.h>
    static inline int ts_lowest_bit(uint64_t x) { unsigned long i; _BitScanForward64(&i, x); return (int)i; }
    static inline uint64_t ts_swapped(uint64_t x) { return _byteswap_uint64(x); }
    #define ts_prefetch(p) ((void)0)
    #else
    static inline int ts_lowest_bit(uint64_t x) { return __builtin_ctzll(x); }
    static inline uint64_t ts_swapped(uint64_t x) { return __builtin_bswap64(x); }
    #define ts_prefetch(p) __builtin_prefetch(p)
    #endif

    /* Eight bytes as a little-endian number on every machine. */
    static inline uint64_t ts_eight(const void *p) {
        uint64_t x;
        memcpy(&x, p, 8);
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        x = ts_swapped(x);
    #endif
        return x;
    }
    """
    int ts_lowest_bit(uint64_t x) nogil
    uint64_t ts_swapped(uint64_t x) nogil
    uint64_t ts_eight(const void *p) nogil
    void ts_prefetch(const void *p) nogil
    bint PyUnicode_IS_ASCII(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    Py_ssize_t PyUnicode_FindChar(object text, Py_UCS4 c, Py_ssize_t start, Py_ssize_t end, int direction)

cdef enum:
    TOKEN = 1           # the character may be part of a token
    WORD = 2            # the character is a word character, for \b
    ASCII = 0           # kinds of documents: 1, 2 and 4 are code points of so many bytes
    UTF8 = 8
    SEGMENT = 4096      # code units scanned at a time, so that everything stays in the first cache
    BATCH = 64          # tokens between prefetching their slots and looking them up
    INLINE = 16         # bytes of a term that fit into its entry
    PADDING = 64        # bytes that may be read beyond a text

cdef uint32_t STOP = 0xFFFFFFFF         # the number of a stop word; also the largest number there is
cdef Py_ssize_t MAX_TERMS = 0x7FFFFFFE
# Another one in every process, so that nobody can prepare words that share a slot; no result depends on it.
cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little")
cdef uint64_t ONES = 0x0101010101010101
cdef uint64_t HIGH_BITS = 0x8080808080808080
cdef uint64_t GATHER = 0x0102040810204080

cdef struct Entry:
    uint64_t head       # the first 8 bytes of the term; its hash when it is longer than INLINE
    uint64_t tail       # the next 8 bytes; where it lies in the arena when it is longer than INLINE
    uint32_t length     # bytes; 0 marks a free slot
    uint32_t id
    uint32_t stamp      # the document that had it last
    uint32_t place      # and where in that document's row

cdef struct Token:
    uint64_t head
    uint64_t tail
    uint64_t hash
    const uint8_t *text
    uint32_t length

cdef struct Document:
    const void *data
    Py_ssize_t length   # code units
    int kind

cdef struct Range:
    uint8_t first
    uint8_t width       # of the last character beyond the first
    uint8_t kind

cdef struct Spelling:
    const uint8_t *text
    Py_ssize_t length
    int64_t id


cdef inline uint64_t _low_bytes(Py_ssize_t n) noexcept nogil:
    return 0xFFFFFFFFFFFFFFFF if n >= 8 else ((<uint64_t> 1) << (8 * n)) - 1


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
        token.head = ts_eight(text) & _low_bytes(length)
        token.tail = ts_eight(text + 8) & _low_bytes(length - 8 if length > 8 else 0)
        token.hash = _mixed(token.head, token.tail)
        return
    h = <uint64_t> length
    i = 0
    while i + 8 <= length:
        h = _mixed(h, ts_eight(text + i))
        i += 8
    if i < length:
        h = _mixed(h, ts_eight(text + i) & _low_bytes(length - i))
    token.head = h
    token.tail = 0
    token.hash = h


cdef inline Py_ssize_t _put_utf8(uint8_t *out, uint32_t c) noexcept nogil:
    """Write the code point `c`, surrogates included, and return its number of bytes."""
    if c < 0x80:
        out[0] = <uint8_t> c
        return 1
    if c < 0x800:
        out[0] = <uint8_t> (0xC0 | (c >> 6))
        out[1] = <uint8_t> (0x80 | (c & 0x3F))
        return 2
    if c < 0x10000:
        out[0] = <uint8_t> (0xE0 | (c >> 12))
        out[1] = <uint8_t> (0x80 | ((c >> 6) & 0x3F))
        out[2] = <uint8_t> (0x80 | (c & 0x3F))
        return 3
    out[0] = <uint8_t> (0xF0 | (c >> 18))
    out[1] = <uint8_t> (0x80 | ((c >> 12) & 0x3F))
    out[2] = <uint8_t> (0x80 | ((c >> 6) & 0x3F))
    out[3] = <uint8_t> (0x80 | (c & 0x3F))
    return 4


cdef inline Py_ssize_t _get_utf8(const uint8_t *text, Py_ssize_t left, uint32_t *c) noexcept nogil:
    """Read one code point of at most `left` bytes and return its number of bytes, 0 when it is malformed."""
    cdef uint32_t a = text[0], b, d, e
    if a < 0x80:
        c[0] = a
        return 1
    if a < 0xC2 or left < 2:
        return 0
    b = text[1]
    if b & 0xC0 != 0x80:
        return 0
    if a < 0xE0:
        c[0] = (a & 0x1F) << 6 | (b & 0x3F)
        return 2
    if left < 3:
        return 0
    d = text[2]
    if d & 0xC0 != 0x80:
        return 0
    if a < 0xF0:
        c[0] = (a & 0x0F) << 12 | (b & 0x3F) << 6 | (d & 0x3F)
        return 3 if c[0] >= 0x800 else 0
    if left < 4:
        return 0
    e = text[3]
    if e & 0xC0 != 0x80:
        return 0
    c[0] = (a & 0x07) << 18 | (b & 0x3F) << 12 | (d & 0x3F) << 6 | (e & 0x3F)
    return 4 if a < 0xF5 and 0x10000 <= c[0] <= 0x10FFFF else 0


# These three are written so that a compiler makes vector instructions of them; looking every byte up in a
# table took three times as long. Bytes of other characters than ASCII pass through them unchanged.
cdef void _copy_lowered(const uint8_t *given, Py_ssize_t n, uint8_t *text, uint8_t *kinds,
                        uint8_t shift) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        text[i] = given[i] + (shift if <uint8_t> (given[i] - 65) <= 25 else <uint8_t> 0)
        kinds[i] = 0


cdef void _lower_in_place(uint8_t *text, Py_ssize_t n, uint8_t shift) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        text[i] += shift if <uint8_t> (text[i] - 65) <= 25 else <uint8_t> 0


cdef void _mark_ascii(const uint8_t *text, Py_ssize_t n, uint8_t *kinds, const Range *ranges,
                      int n_ranges) noexcept nogil:
    cdef Py_ssize_t i
    cdef int k
    cdef uint8_t first, width, kind
    for k in range(n_ranges):
        first, width, kind = ranges[k].first, ranges[k].width, ranges[k].kind
        for i in range(n):
            kinds[i] |= kind if <uint8_t> (text[i] - first) <= width else <uint8_t> 0


cdef bint _is_ascii(const uint8_t *text, Py_ssize_t length) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint8_t seen = 0
    for i in range(length):
        seen |= text[i]
    return seen < 0x80


cdef void *_resized(void *block, Py_ssize_t size) except NULL nogil:
    cdef void *moved = realloc(block, <size_t> size)
    if moved == NULL:
        with gil:
            raise MemoryError
    return moved


cdef int _by_spelling(const void *a, const void *b) noexcept nogil:
    cdef const Spelling *x = <const Spelling *> a
    cdef const Spelling *y = <const Spelling *> b
    cdef int order = memcmp(x.text, y.text, <size_t> min(x.length, y.length))
    if order:
        return order
    return (x.length > y.length) - (x.length < y.length)


cdef class Documents:
    """Texts whose memory the kernel may read without the interpreter; keeps them alive."""

    cdef Document *items
    cdef readonly Py_ssize_t n
    cdef object owner
    cdef list replaced

    def __cinit__(self):
        self.items = NULL
        self.n = 0
        self.replaced = []

    def __dealloc__(self):
        free(self.items)

    def __len__(self):
        return self.n

    cdef void _reserve(self, Py_ssize_t n) except *:
        self.items = <Document *> malloc(<size_t> max(n, 1) * sizeof(Document))
        if self.items == NULL:
            raise MemoryError
        self.n = n

    cdef void _point(self, Py_ssize_t i, object text) noexcept:
        self.items[i].data = PyUnicode_DATA(text)
        self.items[i].length = PyUnicode_GET_LENGTH(text)
        self.items[i].kind = ASCII if PyUnicode_IS_ASCII(text) else PyUnicode_KIND(text)

    @staticmethod
    def of_texts(list texts, Alphabet alphabet not None):
        """Documents of a list of str; a TypeError with the position of the first that is something else."""
        cdef Documents docs = Documents.__new__(Documents)
        cdef Py_ssize_t i
        cdef Py_UCS4 special
        cdef object text
        docs._reserve(len(texts))
        docs.owner = texts = list(texts)
        for i in range(docs.n):
            text = texts[i]
            if not isinstance(text, str):
                raise TypeError(i)
            docs._point(i, text)
            if docs.items[i].kind > 1:
                for special in alphabet.specials:
                    if PyUnicode_FindChar(text, special, 0, docs.items[i].length, 1) >= 0:
                        docs._lower(i, text)
                        break
        return docs

    @staticmethod
    def of_utf8(offsets, data, Alphabet alphabet not None):
        """Documents of Arrow's layout: document i is data[offsets[i]:offsets[i + 1]]."""
        cdef Documents docs = Documents.__new__(Documents)
        cdef const int64_t[::1] bounds = np.ascontiguousarray(offsets, dtype=np.int64)
        cdef const uint8_t[::1] view = np.frombuffer(data, dtype=np.uint8)
        cdef const uint8_t *start = &view[0] if view.shape[0] else <const uint8_t *> b""
        cdef Py_ssize_t i
        docs.owner = view
        docs._reserve(max(bounds.shape[0] - 1, 0))
        for i in range(docs.n):
            if not 0 <= bounds[i] <= bounds[i + 1] <= view.shape[0]:
                raise ValueError(f"the offsets of document {i} lie outside the data")
            docs.items[i].data = start + bounds[i]
            docs.items[i].length = bounds[i + 1] - bounds[i]
            docs.items[i].kind = ASCII
            if not _is_ascii(start + bounds[i], docs.items[i].length):
                docs.items[i].kind = UTF8
                docs._lower_specials(i, alphabet)
        return docs

    cdef void _lower_specials(self, Py_ssize_t i, Alphabet alphabet) except *:
        cdef bytes raw
        if not alphabet.specials:
            return
        raw = (<const char *> self.items[i].data)[: self.items[i].length]
        for special in alphabet.specials:
            if chr(special).encode() in raw:
                try:
                    text = raw.decode("utf-8", "surrogatepass")
                except UnicodeDecodeError:
                    return
                self._lower(i, text)
                return

    cdef void _lower(self, Py_ssize_t i, object text) except *:
        lowered = str.lower(text)
        self.replaced.append(lowered)
        self._point(i, lowered)


cdef class Alphabet:
    """What every code point becomes in lower case and whether it may be in a token or is a word character.

    `blocks[index[c >> 8], c & 255]` is `(lower case of c - c) * 4 + WORD + TOKEN` of the lowered character;
    a text with one of `specials` has to be lowered as a whole.
    """

    cdef const uint16_t[::1] index
    cdef const int32_t[:, ::1] blocks
    cdef readonly tuple specials
    cdef uint8_t kinds[128]
    cdef uint8_t capital_shift      # from an ASCII capital to its lower case
    cdef Range ranges[128]          # of ASCII characters of one kind, in lower case
    cdef int n_ranges

    def __init__(self, index, blocks, specials):
        cdef int c
        cdef int32_t entry
        if len(index) != 0x1100 or blocks.shape[1] != 256 or index.max() >= len(blocks):
            raise ValueError("an alphabet has 0x1100 blocks of 256 code points")
        self.index = index
        self.blocks = blocks
        self.specials = tuple(specials)
        self.capital_shift = <uint8_t> (self.blocks[self.index[0], 65] >> 2)
        self.n_ranges = 0
        for c in range(128):
            entry = self.blocks[self.index[0], c]
            shift = self.capital_shift if 65 <= c <= 90 else 0
            if entry >> 2 != shift or shift not in (0, 32):
                raise ValueError("only A to Z have another lower case among the ASCII characters")
            self.kinds[c] = <uint8_t> (entry & 3)
            if shift == 0 and entry & 3:
                self._extend_ranges(<uint8_t> c, <uint8_t> (entry & 3))

    cdef void _extend_ranges(self, uint8_t c, uint8_t kind) noexcept:
        cdef Range last
        if self.n_ranges:
            last = self.ranges[self.n_ranges - 1]
            if last.kind == kind and last.first + last.width + 1 == c:
                self.ranges[self.n_ranges - 1].width += 1
                return
        self.ranges[self.n_ranges] = Range(c, 0, kind)
        self.n_ranges += 1

    cdef inline Py_ssize_t put(self, uint8_t *out, uint8_t *kinds, uint32_t c) noexcept nogil:
        """Write the lowered `c` and the kind of each of its bytes; return how many they are."""
        cdef int32_t entry = self.blocks[self.index[c >> 8], c & 255]
        cdef Py_ssize_t i, n = _put_utf8(out, <uint32_t> (<int32_t> c + (entry >> 2)))
        for i in range(n):
            kinds[i] = <uint8_t> (entry & 3)
        return n


cdef class TermTable:
    """A growing vocabulary: documents in, rows of term numbers in order of first appearance out.

    A token is a maximal run of at least `min_length` token characters; `starts_word` and `ends_word` ask that
    no word character stands before or after it. Stop words are left out. One thread at a time
    may use a table.
    """

    cdef Alphabet alphabet
    cdef Py_ssize_t min_length
    cdef bint starts_word, ends_word

    cdef Entry *entries
    cdef uint64_t mask
    cdef Py_ssize_t n_entries
    cdef readonly Py_ssize_t n_terms

    cdef uint8_t *arena
    cdef Py_ssize_t arena_size, arena_room
    cdef int64_t *where             # the start of each term in the arena, and the end of the last
    cdef Py_ssize_t where_room

    cdef uint8_t *text              # a segment in lower case, as UTF-8
    cdef uint8_t *kinds             # the kind of each of its bytes
    cdef uint32_t *starts
    cdef uint32_t *ends
    cdef Py_ssize_t text_room

    cdef uint32_t *ids              # the rows of the current call
    cdef uint32_t *counts
    cdef Py_ssize_t n_cells, row, rows_room
    cdef uint32_t stamp

    def __cinit__(self):
        self.entries = NULL
        self.arena = NULL
        self.where = NULL
        self.text = NULL
        self.kinds = NULL
        self.starts = NULL
        self.ends = NULL
        self.ids = NULL
        self.counts = NULL

    def __init__(self, Alphabet alphabet not None, Py_ssize_t min_length, bint starts_word, bint ends_word,
                 stop_words=()):
        if min_length < 1:
            raise ValueError("a token has at least one character")
        self.alphabet = alphabet
        self.min_length = min_length
        self.starts_word = starts_word
        self.ends_word = ends_word
        self.stamp = 0
        self._free()
        self.mask = 1023
        self.entries = <Entry *> calloc(1024, sizeof(Entry))
        self.arena_room = 8192
        self.arena = <uint8_t *> malloc(<size_t> self.arena_room)
        self.where_room = 1024
        self.where = <int64_t *> malloc(<size_t> self.where_room * sizeof(int64_t))
        if self.entries == NULL or self.arena == NULL or self.where == NULL:
            raise MemoryError
        self.n_entries = self.n_terms = self.arena_size = 0
        for word in stop_words:
            self._declare_stop_word(word)
        self.where[0] = self.arena_size

    cdef void _free(self) noexcept:
        free(self.entries)
        free(self.arena)
        free(self.where)
        free(self.text)
        free(self.kinds)
        free(self.starts)
        free(self.ends)
        free(self.ids)
        free(self.counts)
        self.entries = NULL
        self.arena = self.text = self.kinds = NULL
        self.where = NULL
        self.starts = self.ends = self.ids = self.counts = NULL
        self.text_room = self.rows_room = 0

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
            entry = self._find(&token)
            if entry.length == 0:
                self._insert(entry, &token, True)
        return 0

    cdef inline Entry *_find(self, const Token *token) noexcept nogil:
        """Return the entry of the token, or the free slot where it belongs."""
        cdef uint64_t slot = token.hash & self.mask
        cdef Entry *entry
        while True:
            entry = &self.entries[slot]
            if entry.length == token.length and entry.head == token.head:
                if token.length <= INLINE:
                    if entry.tail == token.tail:
                        return entry
                elif memcmp(self.arena + entry.tail, token.text, token.length) == 0:
                    return entry
            elif entry.length == 0:
                return entry
            slot = (slot + 1) & self.mask

    cdef int _store(self, const uint8_t *text, Py_ssize_t length) except -1 nogil:
        """Copy a term to the end of the arena."""
        if self.arena_size + length + PADDING > self.arena_room:
            self.arena_room = 2 * (self.arena_size + length + PADDING)
            self.arena = <uint8_t *> _resized(self.arena, self.arena_room)
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
            self.where = <int64_t *> _resized(self.where, self.where_room * <Py_ssize_t> sizeof(int64_t))
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
        if 2 * <uint64_t> self.n_entries > self.mask:
            self._grow()
        return 0

    cdef int _grow(self) except -1 nogil:
        cdef uint64_t old_mask = self.mask, mask = 2 * self.mask + 1, i, slot
        cdef Entry *old = self.entries
        cdef Entry *new = <Entry *> calloc(<size_t> (mask + 1), sizeof(Entry))
        if new == NULL:
            with gil:
                raise MemoryError
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

    cdef int _reserve_text(self, Py_ssize_t size) except -1 nogil:
        """Make room for a segment of `size` bytes and its tokens."""
        if size + 2 * PADDING <= self.text_room:
            return 0
        self.text_room = 0
        self.text = <uint8_t *> _resized(self.text, size + 2 * PADDING)
        self.kinds = <uint8_t *> _resized(self.kinds, size + 2 * PADDING)
        # Runs do not touch, so there is one for two bytes at most.
        self.starts = <uint32_t *> _resized(self.starts, 4 * (size // 2 + PADDING))
        self.ends = <uint32_t *> _resized(self.ends, 4 * (size // 2 + PADDING))
        self.text_room = size + 2 * PADDING
        return 0

    cdef int _reserve_rows(self, Py_ssize_t n) except -1 nogil:
        if self.n_cells + n > self.rows_room:
            n = 2 * (self.n_cells + n)
            self.rows_room = 0
            self.ids = <uint32_t *> _resized(self.ids, n * <Py_ssize_t> sizeof(uint32_t))
            self.counts = <uint32_t *> _resized(self.counts, n * <Py_ssize_t> sizeof(uint32_t))
            self.rows_room = n
        return 0

    cdef inline uint32_t _unit(self, const Document *doc, Py_ssize_t i) noexcept nogil:
        if doc.kind == 2:
            return (<const uint16_t *> doc.data)[i]
        if doc.kind == 4:
            return (<const uint32_t *> doc.data)[i]
        return (<const uint8_t *> doc.data)[i]

    cdef bint _separates(self, const Document *doc, Py_ssize_t i) noexcept nogil:
        cdef uint32_t unit = self._unit(doc, i)
        return unit < 128 and self.alphabet.kinds[unit] == 0

    cdef Py_ssize_t _segment_end(self, const Document *doc, Py_ssize_t start) noexcept nogil:
        """Return where to cut: behind an ASCII character that is in no token and no word, or at the end."""
        cdef Py_ssize_t i = start + SEGMENT
        if i >= doc.length:
            return doc.length
        while i > start:
            if self._separates(doc, i - 1):
                return i
            i -= 1
        i = start + SEGMENT
        while i < doc.length and not self._separates(doc, i):
            i += 1
        return min(i + 1, doc.length)

    cdef Py_ssize_t _lowered(self, const Document *doc, Py_ssize_t start, Py_ssize_t stop) except -2 nogil:
        """Write a segment and the kinds of its bytes; return its bytes, -1 when it is not UTF-8."""
        cdef const uint8_t *given = <const uint8_t *> doc.data
        cdef Py_ssize_t n
        if doc.kind == ASCII:
            self._reserve_text(stop - start)
            n = stop - start
            _copy_lowered(given + start, n, self.text, self.kinds, self.alphabet.capital_shift)
        else:
            self._reserve_text(4 * (stop - start))
            n = self._encoded(doc, start, stop)
            if n < 0:
                return -1
            _lower_in_place(self.text, n, self.alphabet.capital_shift)
        _mark_ascii(self.text, n, self.kinds, self.alphabet.ranges, self.alphabet.n_ranges)
        memset(self.text + n, 0, PADDING)
        memset(self.kinds + n, 0, PADDING)
        return n

    cdef Py_ssize_t _encoded(self, const Document *doc, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        """Write a segment as UTF-8, all but ASCII lowered and marked; return its bytes, -1 when not UTF-8."""
        cdef const uint8_t *given = <const uint8_t *> doc.data
        cdef uint8_t *text = self.text
        cdef uint8_t *kinds = self.kinds
        cdef Py_ssize_t i = start, n = 0, step = 1
        cdef uint32_t c = 0
        while i < stop:
            if (doc.kind == 1 or doc.kind == UTF8) and i + 8 <= stop and ts_eight(given + i) & HIGH_BITS == 0:
                memcpy(text + n, given + i, 8)
                memset(kinds + n, 0, 8)
                n += 8
                i += 8
                continue
            if doc.kind == UTF8:
                step = _get_utf8(given + i, stop - i, &c)
                if step == 0:
                    return -1
            else:
                c = self._unit(doc, i)
            if c < 128:
                text[n] = <uint8_t> c
                kinds[n] = 0
                n += 1
            else:
                n += self.alphabet.put(text + n, kinds + n, c)
            i += step
        return n

    cdef Py_ssize_t _runs(self, Py_ssize_t n) noexcept nogil:
        """Write where the runs of token characters in the first `n` bytes start and end; return how many."""
        cdef Py_ssize_t base, k, n_starts = 0, n_ends = 0
        cdef uint64_t members, shifted, edges, carry = 0
        for base in range(0, n, 64):
            members = 0
            for k in range(8):
                members |= (((ts_eight(self.kinds + base + 8 * k) & ONES) * GATHER) >> 56) << (8 * k)
            shifted = (members << 1) | carry
            carry = members >> 63
            edges = members & ~shifted
            while edges:
                self.starts[n_starts] = <uint32_t> (base + ts_lowest_bit(edges))
                n_starts += 1
                edges &= edges - 1
            edges = shifted & ~members
            while edges:
                self.ends[n_ends] = <uint32_t> (base + ts_lowest_bit(edges))
                n_ends += 1
                edges &= edges - 1
        if carry:
            self.ends[n_ends] = <uint32_t> n
        return n_starts

    cdef inline bint _is_token(self, Py_ssize_t start, Py_ssize_t end, bint ascii) noexcept nogil:
        cdef Py_ssize_t i, length = end - start
        if length < self.min_length:
            return False
        if not ascii and length < 4 * self.min_length:
            for i in range(start, end):
                length -= (self.text[i] & 0xC0) == 0x80
            if length < self.min_length:
                return False
        if self.starts_word and start > 0 and self.kinds[start - 1] & WORD:
            return False
        return not (self.ends_word and self.kinds[end] & WORD)

    cdef int _add_segment(self, Py_ssize_t n, bint ascii) except -1 nogil:
        """Look up the tokens of a segment of `n` bytes: a batch is hashed, its slots fetched, then met."""
        cdef Token tokens[BATCH]
        cdef Py_ssize_t i = 0, k, n_tokens, n_runs = self._runs(n)
        cdef Entry *entry
        while i < n_runs:
            n_tokens = 0
            while i < n_runs and n_tokens < BATCH:
                if self._is_token(self.starts[i], self.ends[i], ascii):
                    _read_token(&tokens[n_tokens], self.text + self.starts[i], self.ends[i] - self.starts[i])
                    ts_prefetch(&self.entries[tokens[n_tokens].hash & self.mask])
                    n_tokens += 1
                i += 1
            self._reserve_rows(BATCH)
            for k in range(n_tokens):
                entry = self._find(&tokens[k])
                if entry.length == 0:
                    self._insert(entry, &tokens[k], False)
                    entry = self._find(&tokens[k])
                if entry.id == STOP:
                    continue
                if entry.stamp == self.stamp:
                    self.counts[self.row + entry.place] += 1
                else:
                    entry.stamp = self.stamp
                    entry.place = <uint32_t> (self.n_cells - self.row)
                    self.ids[self.n_cells] = entry.id
                    self.counts[self.n_cells] = 1
                    self.n_cells += 1
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
        while start < doc.length:
            stop = self._segment_end(doc, start)
            if stop - start > 0x3FFFFFFF:
                with gil:
                    raise MemoryError("a single word has more than 2**30 characters; cut the document")
            n = self._lowered(doc, start, stop)
            if n < 0:
                return False
            self._add_segment(n, doc.kind == ASCII)
            start = stop
        return True

    def rows(self, Documents docs not None):
        """Add the documents; return the CSR arrays (indptr, ids, counts) of their rows, ids as first met."""
        cdef Py_ssize_t i = 0
        cdef bint readable = True
        indptr = np.zeros(docs.n + 1, dtype=np.int64)
        cdef int64_t[::1] bounds = indptr
        self.n_cells = 0
        with nogil:
            while i < docs.n and readable:
                readable = self._add_document(&docs.items[i])
                i += 1
                bounds[i] = self.n_cells
        if not readable:
            raise UnicodeError(i - 1)
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
        cdef Py_ssize_t i
        cdef Token token
        cdef Entry *entry
        numbers = np.empty(other.n_terms, dtype=np.int32)
        cdef int32_t[::1] out = numbers
        with nogil:
            for i in range(other.n_terms):
                _read_token(&token, other.arena + other.where[i], other.where[i + 1] - other.where[i])
                entry = self._find(&token)
                if entry.length == 0:
                    self._insert(entry, &token, False)
                    entry = self._find(&token)
                out[i] = <int32_t> entry.id
        return numbers

    def order(self):
        """Return the term numbers in the order of their spelling, which is Python's order of str."""
        cdef Py_ssize_t i, k, m, start, n = self.n_terms
        cdef Spelling *group
        heads = np.empty(n, dtype=np.uint64)
        cdef uint64_t[::1] head = heads
        with nogil:
            for i in range(n):
                start = self.where[i]
                m = self.where[i + 1] - start
                head[i] = ts_swapped(ts_eight(self.arena + start) & _low_bytes(m))
        order = np.argsort(heads)
        cdef int64_t[::1] ids = order
        group = <Spelling *> malloc(<size_t> max(n, 1) * sizeof(Spelling))
        if group == NULL:
            raise MemoryError
        with nogil:
            i = 0
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
        return order

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


def place_rows(const int64_t[::1] indptr, const int32_t[::1] ids, const int32_t[::1] counts,
               const int32_t[::1] columns, Py_ssize_t n_columns, int32_t[::1] indices, int64_t[::1] data,
               int64_t[::1] ends):
    """Write rows with term number i in columns[i], left out where that is negative, in column order.

    Numbers that share a column are added. `ends` gets the end of each row in `indices` and `data`; the number
    of cells written is returned.
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
