# The table of terms, for the tables of n-grams that are built on it.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from termsieve.kernels.documents cimport Document, Segment

cdef extern from *:
    """
    #define TS_STOP 0xFFFFFFFFu
    """
    const uint32_t STOP "TS_STOP"   # the number of a stop word; also the largest number there is

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


cdef class TermTable:
    cdef Segment segment
    cdef Py_ssize_t min_length
    cdef bint starts_word, ends_word
    cdef bint in_order              # whether tokens go to `sequence`, in order, instead of the row

    cdef Entry *entries
    cdef uint64_t mask
    cdef Py_ssize_t n_entries
    cdef readonly Py_ssize_t n_terms

    cdef uint8_t *arena
    cdef Py_ssize_t arena_size, arena_room
    cdef int64_t *where             # the start of each term in the arena, and the end of the last
    cdef Py_ssize_t where_room

    cdef uint32_t *ids              # the rows of the current call
    cdef uint32_t *counts
    cdef Py_ssize_t n_cells, row, rows_room
    cdef uint32_t stamp

    cdef uint32_t *sequence         # the tokens of the current document
    cdef Py_ssize_t n_sequence, sequence_room

    cdef void _free(self) noexcept
    cdef int _declare_stop_word(self, str word) except -1
    cdef int _store(self, const uint8_t *text, Py_ssize_t length) except -1 nogil
    cdef int _number(self, const uint8_t *text, Py_ssize_t length) except -1 nogil
    cdef int _insert(self, Entry *entry, const Token *token, bint stop) except -1 nogil
    cdef int _grow(self) except -1 nogil
    cdef int _reserve_rows(self, Py_ssize_t n) except -1 nogil
    cdef int _reserve_sequence(self, Py_ssize_t n) except -1 nogil
    cdef int _add_segment(self, Py_ssize_t n, bint ascii) except -1 nogil
    cdef int _end_document(self) except -1 nogil
    cdef bint _add_document(self, const Document *doc) except -1 nogil
    cdef Py_ssize_t n_numbers(self) noexcept nogil
    cdef Py_ssize_t fill_rows(self, const Document *docs, Py_ssize_t n, int64_t *ends) except -1 nogil
