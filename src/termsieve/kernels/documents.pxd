# Texts as the tokenisers read them: memory that needs no interpreter, in lower case and marked piece by piece.
# The functions are inline: each module that uses them compiles its own copy.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, realloc

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

    /* Asks for large pages where the system gives them on demand. A table that is read at random then misses
       the cache of addresses less often, and threads of one process seldom wait for each other's new pages. */
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    static inline void ts_large_pages(void *block, size_t size) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        const uintptr_t page = (uintptr_t)1 << 21;
        uintptr_t start = ((uintptr_t)block + page - 1) & ~(page - 1), stop = ((uintptr_t)block + size) & ~(page - 1);
        if (block && stop > start && stop - start >= page)
            (void)madvise((void *)start, stop - start, MADV_HUGEPAGE);
    #else
        (void)block, (void)size;
    #endif
    }
    """
    int ts_lowest_bit(uint64_t x) nogil
    uint64_t ts_swapped(uint64_t x) nogil
    uint64_t ts_eight(const void *p) nogil
    void ts_prefetch(const void *p) nogil
    void ts_large_pages(void *block, size_t size) nogil

cdef enum:
    TOKEN = 1           # the character may be part of a token
    WORD = 2            # the character is a word character, for \b
    ASCII = 0           # kinds of documents: 1, 2 and 4 are the bytes of a code point
    UTF8 = 8
    PADDING = 64        # bytes that may be read beyond a text

cdef struct Document:
    const void *data
    Py_ssize_t length   # code units
    int kind

cdef struct Range:
    uint8_t first
    uint8_t width       # of the last character beyond the first
    uint8_t kind


cdef inline uint64_t low_bytes(Py_ssize_t n) noexcept nogil:
    return 0xFFFFFFFFFFFFFFFF if n >= 8 else ((<uint64_t> 1) << (8 * n)) - 1


cdef inline Py_ssize_t put_utf8(uint8_t *out, uint32_t c) noexcept nogil:
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


cdef inline Py_ssize_t get_utf8(const uint8_t *text, Py_ssize_t left, uint32_t *c) noexcept nogil:
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


cdef inline void *resized(void *block, Py_ssize_t size) except NULL nogil:
    cdef void *moved = realloc(block, <size_t> size)
    if moved == NULL:
        with gil:
            raise MemoryError
    ts_large_pages(moved, <size_t> size)
    return moved


cdef inline void *zeros(uint64_t n, size_t size) except NULL nogil:
    """Return memory for `n` items of `size` bytes, all of them 0."""
    cdef void *block = calloc(<size_t> n, size)
    if block == NULL:
        with gil:
            raise MemoryError
    ts_large_pages(block, <size_t> n * size)
    return block


cdef class Alphabet:
    cdef const uint16_t[::1] index
    cdef const int32_t[:, ::1] blocks
    cdef readonly tuple specials
    cdef uint8_t kinds[128]
    cdef uint8_t capital_shift      # from an ASCII capital to its lower case
    cdef Range ranges[128]          # of ASCII characters of one kind, in lower case
    cdef int n_ranges

    cdef void _extend_ranges(self, uint8_t c, uint8_t kind) noexcept


cdef class Documents:
    cdef Document *items
    cdef readonly Py_ssize_t n
    cdef object owner
    cdef list replaced

    cdef void _reserve(self, Py_ssize_t n) except *
    cdef void _point(self, Py_ssize_t i, object text) noexcept
    cdef void _point_utf8(self, Py_ssize_t i, const uint8_t *text, Py_ssize_t length) noexcept nogil
    cdef void _lower_specials(self, Alphabet alphabet) except *
    cdef void _lower(self, Py_ssize_t i, object text) except *


cdef class Segment:
    cdef Alphabet alphabet
    cdef uint8_t *text              # in lower case, as UTF-8
    cdef uint8_t *kinds             # the kind of each byte
    cdef uint32_t *starts           # of the runs of token characters
    cdef uint32_t *ends
    cdef Py_ssize_t room

    cdef int _reserve(self, Py_ssize_t size) except -1 nogil
    cdef Py_ssize_t _encoded(self, const Document *doc, Py_ssize_t start, Py_ssize_t stop) noexcept nogil
    cdef Py_ssize_t end_of(self, const Document *doc, Py_ssize_t start) noexcept nogil
    cdef Py_ssize_t read(self, const Document *doc, Py_ssize_t start, Py_ssize_t stop) except -2 nogil
    cdef Py_ssize_t runs(self, Py_ssize_t n) noexcept nogil
