# The table of n-grams: its parts, and the functions that the compiler must know beforehand.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from termsieve.kernels.tokenise cimport TermTable

cdef struct Node:
    uint32_t parent     # the n-gram without its last unit; NO_NODE for a single unit
    uint32_t unit       # the last word or character; the bit TERM says that the n-gram is a term

cdef struct Slot:
    uint32_t parent
    uint32_t unit
    uint32_t number     # of the node, plus 1; 0 marks a free slot


cdef class NgramTable(TermTable):
    cdef int kind, least, most
    cdef bint spaced                # whether the last character was whitespace

    cdef Node *nodes
    cdef uint32_t *places           # where in its last row each node is
    cdef Py_ssize_t n_nodes, nodes_room
    cdef Slot *slots
    cdef uint64_t n_slots           # less 1, so that it is the mask of a hash
    cdef Py_ssize_t n_taken
    cdef uint32_t *roots            # the node of each single unit, plus 1; 0 if there is none yet
    cdef Py_ssize_t n_roots
    cdef uint32_t *prefixes         # the nodes of the n-grams that start at each unit of a sequence
    cdef Py_ssize_t prefixes_room

    cdef uint32_t *grams            # PADDED: the n-grams of each word that was met, and where they end
    cdef int64_t *gram_ends
    cdef Py_ssize_t n_grams, grams_room, n_words, words_room
    cdef uint32_t *row_words        # PADDED: the words of the current document, and how often they occur
    cdef Py_ssize_t row_words_room

    cdef uint8_t *spelled
    cdef Py_ssize_t spelled_room

    cdef void _free_nodes(self) noexcept
    cdef int _add_node(self, uint32_t parent, uint32_t unit, bint term) except -1 nogil
    cdef int _enlarge(self) except -1 nogil
    cdef int _reserve_roots(self) except -1 nogil
    cdef int _reserve_prefixes(self, Py_ssize_t n) except -1 nogil
    cdef int _lengthen(self, const uint32_t *units, Py_ssize_t n, int level, bint term, bint met) except -1 nogil
    cdef int _add_characters(self, Py_ssize_t n) except -1 nogil
    cdef int _expand_row(self) except -1 nogil
    cdef int _expand_word(self, Py_ssize_t word) except -1 nogil
    cdef int _append_grams(self, Py_ssize_t n) except -1 nogil
    cdef Py_ssize_t _spell(self, Py_ssize_t node, Py_ssize_t at) except -1 nogil
