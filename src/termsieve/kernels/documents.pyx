"""Texts in; pieces of them in lower case, with the runs of token characters marked, out."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy, memset, strcmp

from termsieve.kernels.arrow cimport ArrowArray, ArrowArrayStream, ArrowSchema

import numpy as np

cdef extern from *:
    bint PyUnicode_IS_ASCII(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    Py_ssize_t PyUnicode_FindChar(object text, Py_UCS4 c, Py_ssize_t start, Py_ssize_t end, int direction)

cdef enum:
    SEGMENT = 4096      # code units scanned at a time, so that everything stays in the first cache
    VIEW = 16           # bytes of a view of Arrow's: length, first bytes or all, and where the rest lies
    SHORT = 12          # bytes of a text that fit into its view

cdef uint64_t ONES = 0x0101010101010101
cdef uint64_t HIGH_BITS = 0x8080808080808080
cdef uint64_t GATHER = 0x0102040810204080


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


cdef bint _holds(const Document *doc, uint32_t c) noexcept nogil:
    """Tell whether a code point is in a document of UTF-8."""
    cdef uint8_t spelled[4]
    cdef Py_ssize_t size = put_utf8(spelled, c)
    cdef const uint8_t *at = <const uint8_t *> doc.data
    cdef const uint8_t *end = at + doc.length
    while end - at >= size:
        at = <const uint8_t *> memchr(at, spelled[0], <size_t> (end - at - size + 1))
        if at == NULL:
            return False
        if memcmp(at, spelled, <size_t> size) == 0:
            return True
        at += 1
    return False


cdef inline uint32_t _unit(const Document *doc, Py_ssize_t i) noexcept nogil:
    if doc.kind == 2:
        return (<const uint16_t *> doc.data)[i]
    if doc.kind == 4:
        return (<const uint32_t *> doc.data)[i]
    return (<const uint8_t *> doc.data)[i]


cdef inline bint _separates(Alphabet alphabet, const Document *doc, Py_ssize_t i) noexcept nogil:
    cdef uint32_t unit = _unit(doc, i)
    return unit < 128 and alphabet.kinds[unit] == 0


cdef class Chunk:
    """Texts of a column in Arrow's layout of views; they stay in memory as long as it lives."""

    cdef ArrowArray array

    def __cinit__(self):
        memset(&self.array, 0, sizeof(ArrowArray))

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)

    def __len__(self):
        return self.array.length

    cdef inline const uint8_t *_view(self, Py_ssize_t i) noexcept nogil:
        return <const uint8_t *> self.array.buffers[1] + VIEW * (self.array.offset + i)

    cdef inline Py_ssize_t size(self, Py_ssize_t i) noexcept nogil:
        cdef const uint8_t *there = <const uint8_t *> self.array.buffers[0]
        cdef int64_t at = self.array.offset + i
        if there != NULL and not there[at >> 3] >> (at & 7) & 1:
            return 0
        return (<const int32_t *> self._view(i))[0]

    cdef const uint8_t *text(self, Py_ssize_t i) except NULL nogil:
        """Return where a text begins, after its place has been checked."""
        cdef const int32_t *view = <const int32_t *> self._view(i)
        cdef const int64_t *sizes = <const int64_t *> self.array.buffers[self.array.n_buffers - 1]
        cdef Py_ssize_t size = self.size(i)
        if 0 <= size <= SHORT:
            return <const uint8_t *> (view + 1)
        if size < 0 or not 0 <= view[2] < self.array.n_buffers - 3 or not 0 <= view[3] <= sizes[view[2]] - size:
            with gil:
                raise ValueError(f"text {i} lies outside the column")
        return <const uint8_t *> self.array.buffers[2 + view[2]] + view[3]


cdef list _chunks(column):
    """Return the chunks of a column of texts."""
    cdef object capsule = column.__arrow_c_stream__()
    cdef ArrowArrayStream *stream = <ArrowArrayStream *> PyCapsule_GetPointer(capsule, "arrow_array_stream")
    cdef ArrowSchema schema
    cdef Chunk chunk
    cdef list chunks = []
    if stream.get_schema(stream, &schema) != 0:
        raise ValueError("the column has no type")
    views = strcmp(schema.format, "vu") == 0
    schema.release(&schema)
    if not views:
        raise TypeError("the column does not hold texts in the layout of views")
    while True:
        chunk = Chunk()
        if stream.get_next(stream, &chunk.array) != 0:
            raise ValueError("the column cannot be read")
        if chunk.array.release == NULL:
            return chunks
        chunks.append(chunk)


cdef class Documents:
    """Texts whose memory the kernel may read without the interpreter; keeps them alive."""

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
            docs._point_utf8(i, start + bounds[i], bounds[i + 1] - bounds[i])
        docs._lower_specials(alphabet)
        return docs

    @staticmethod
    def of_column(column, Alphabet alphabet not None):
        """Documents of a column of texts, such as a Series of polars, whose memory is read; gaps are empty texts."""
        cdef Documents docs = Documents.__new__(Documents)
        cdef Chunk chunk
        cdef Py_ssize_t i, first = 0
        docs.owner = chunks = _chunks(column)
        docs._reserve(sum(len(chunk) for chunk in chunks))
        for chunk in chunks:
            with nogil:
                for i in range(chunk.array.length):
                    docs._point_utf8(first + i, chunk.text(i), chunk.size(i))
            first += chunk.array.length
        docs._lower_specials(alphabet)
        return docs

    cdef void _point_utf8(self, Py_ssize_t i, const uint8_t *text, Py_ssize_t length) noexcept nogil:
        self.items[i].data = text
        self.items[i].length = length
        self.items[i].kind = ASCII if _is_ascii(text, length) else UTF8

    cdef void _lower_specials(self, Alphabet alphabet) except *:
        """Lower the documents of UTF-8 that hold a special; those that are malformed stay as they are."""
        cdef Py_ssize_t i
        for special in alphabet.specials:
            for i in range(self.n):
                if self.items[i].kind == UTF8 and _holds(&self.items[i], special):
                    text = (<const char *> self.items[i].data)[:self.items[i].length]
                    try:
                        self._lower(i, text.decode("utf-8", "surrogatepass"))
                    except UnicodeDecodeError:
                        continue

    cdef void _lower(self, Py_ssize_t i, object text) except *:
        lowered = str.lower(text)
        self.replaced.append(lowered)
        self._point(i, lowered)


cdef class Alphabet:
    """What every code point becomes in lower case and whether it may be in a token or is a word character.

    `blocks[index[c >> 8], c & 255]` is `(lower case of c - c) * 4 + WORD + TOKEN` of the lowered character;
    a text with one of `specials` has to be lowered as a whole.
    """

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


cdef inline Py_ssize_t _put(Alphabet alphabet, uint8_t *out, uint8_t *kinds, uint32_t c) noexcept nogil:
    """Write the lowered `c` and the kind of each of its bytes; return how many they are."""
    cdef int32_t entry = alphabet.blocks[alphabet.index[c >> 8], c & 255]
    cdef Py_ssize_t i, n = put_utf8(out, <uint32_t> (<int32_t> c + (entry >> 2)))
    for i in range(n):
        kinds[i] = <uint8_t> (entry & 3)
    return n


cdef class Segment:
    """A piece of a document in lower case, as UTF-8, with the kind of each byte and the runs of token characters."""

    def __cinit__(self):
        self.text = NULL
        self.kinds = NULL
        self.starts = NULL
        self.ends = NULL
        self.room = 0

    def __init__(self, Alphabet alphabet not None):
        self.alphabet = alphabet

    def __dealloc__(self):
        free(self.text)
        free(self.kinds)
        free(self.starts)
        free(self.ends)

    cdef int _reserve(self, Py_ssize_t size) except -1 nogil:
        """Make room for a segment of `size` bytes and its tokens."""
        if size + 2 * PADDING <= self.room:
            return 0
        self.room = 0
        self.text = <uint8_t *> resized(self.text, size + 2 * PADDING)
        self.kinds = <uint8_t *> resized(self.kinds, size + 2 * PADDING)
        # Runs do not touch, so there is one for two bytes at most.
        self.starts = <uint32_t *> resized(self.starts, 4 * (size // 2 + PADDING))
        self.ends = <uint32_t *> resized(self.ends, 4 * (size // 2 + PADDING))
        self.room = size + 2 * PADDING
        return 0

    cdef Py_ssize_t end_of(self, const Document *doc, Py_ssize_t start) noexcept nogil:
        """Return where to cut: behind an ASCII character that is in no token and no word, or at the end."""
        cdef Py_ssize_t i = start + SEGMENT
        if i >= doc.length:
            return doc.length
        while i > start:
            if _separates(self.alphabet, doc, i - 1):
                return i
            i -= 1
        i = start + SEGMENT
        while i < doc.length and not _separates(self.alphabet, doc, i):
            i += 1
        return min(i + 1, doc.length)

    cdef Py_ssize_t read(self, const Document *doc, Py_ssize_t start, Py_ssize_t stop) except -2 nogil:
        """Write a segment and the kinds of its bytes; return its bytes, -1 when it is not UTF-8."""
        cdef const uint8_t *given = <const uint8_t *> doc.data
        cdef Py_ssize_t n
        if doc.kind == ASCII:
            self._reserve(stop - start)
            n = stop - start
            _copy_lowered(given + start, n, self.text, self.kinds, self.alphabet.capital_shift)
        else:
            self._reserve(4 * (stop - start))
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
                step = get_utf8(given + i, stop - i, &c)
                if step == 0:
                    return -1
            else:
                c = _unit(doc, i)
            if c < 128:
                text[n] = <uint8_t> c
                kinds[n] = 0
                n += 1
            else:
                n += _put(self.alphabet, text + n, kinds + n, c)
            i += step
        return n

    cdef Py_ssize_t runs(self, Py_ssize_t n) noexcept nogil:
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
