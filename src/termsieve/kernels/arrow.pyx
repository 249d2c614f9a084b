"""Arrays in; a column that other libraries read without a copy, by Arrow's C data interface, out."""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

import numpy as np

cdef enum:
    MOST_BUFFERS = 3

# What a type of numpy's is called there. Texts and lists have ends of 64 bits.
_NUMBERS = {np.dtype(np.int32): b"i", np.dtype(np.int64): b"l", np.dtype(np.float64): b"g"}
_TEXTS, _BYTES, _LISTS = b"U", b"Z", b"+L"


cdef void _release_schema(ArrowSchema *schema) noexcept nogil:
    cdef int64_t i
    for i in range(schema.n_children):
        if schema.children[i].release != NULL:
            schema.children[i].release(schema.children[i])
        free(schema.children[i])
    free(schema.children)
    schema.release = NULL


cdef void _release_array(ArrowArray *array) noexcept nogil:
    cdef int64_t i
    for i in range(array.n_children):
        if array.children[i].release != NULL:
            array.children[i].release(array.children[i])
        free(array.children[i])
    free(array.children)
    free(array.buffers)
    array.release = NULL
    with gil:
        Py_DECREF(<object> array.private_data)


cdef void _forget_schema(object capsule) noexcept:
    cdef ArrowSchema *schema = <ArrowSchema *> PyCapsule_GetPointer(capsule, "arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


cdef void _forget_array(object capsule) noexcept:
    cdef ArrowArray *array = <ArrowArray *> PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


cdef void *_zeroed(size_t n, size_t size) except NULL:
    cdef void *block = calloc(n, size)
    if block == NULL:
        raise MemoryError
    return block


cdef class Column:
    """Numbers, texts or lists of numbers in arrays, which whoever reads the column keeps alive.

    Texts are bytes that lie in a row, as lists are numbers that lie in a row; `ends` are 0 and the end of each.
    """

    cdef bytes format
    cdef Py_ssize_t length
    cdef tuple buffers          # the arrays after the bitmap of gaps, of which there are none
    cdef Column child

    def __init__(self, values, ends=None, bint texts=True):
        if ends is None:
            self.format, self.length, self.buffers = _NUMBERS[values.dtype], len(values), (values,)
        else:
            _refuse_bad_ends(ends, len(values))
            self.length = len(ends) - 1
            if values.dtype == np.uint8:
                self.format, self.buffers = _TEXTS if texts else _BYTES, (ends, values)
            else:
                self.format, self.buffers, self.child = _LISTS, (ends,), Column(values)
        for buffer in self.buffers:
            if not buffer.flags.c_contiguous:
                raise ValueError("a column is made of arrays without gaps")

    cdef int _describe(self, ArrowSchema *schema) except -1:
        schema.format, schema.name = self.format, b""
        if self.child is not None:
            schema.children = <ArrowSchema **> _zeroed(1, sizeof(ArrowSchema *))
            schema.release = _release_schema
            schema.children[0] = <ArrowSchema *> _zeroed(1, sizeof(ArrowSchema))
            schema.n_children = 1
            self.child._describe(schema.children[0])
        schema.release = _release_schema
        return 0

    cdef int _fill(self, ArrowArray *array) except -1:
        cdef Py_ssize_t i
        array.buffers = <const void **> _zeroed(MOST_BUFFERS, sizeof(void *))
        array.private_data = <void *> self
        Py_INCREF(self)
        array.release = _release_array
        for i in range(len(self.buffers)):
            array.buffers[i + 1] = <const void *> <size_t> self.buffers[i].ctypes.data
        array.length, array.n_buffers = self.length, len(self.buffers) + 1
        if self.child is not None:
            array.children = <ArrowArray **> _zeroed(1, sizeof(ArrowArray *))
            array.children[0] = <ArrowArray *> _zeroed(1, sizeof(ArrowArray))
            array.n_children = 1
            self.child._fill(array.children[0])
        return 0

    def __arrow_c_array__(self, requested_schema=None):
        cdef ArrowSchema *schema = <ArrowSchema *> _zeroed(1, sizeof(ArrowSchema))
        described = PyCapsule_New(schema, "arrow_schema", _forget_schema)
        self._describe(schema)
        cdef ArrowArray *array = <ArrowArray *> _zeroed(1, sizeof(ArrowArray))
        filled = PyCapsule_New(array, "arrow_array", _forget_array)
        self._fill(array)
        return described, filled


def _refuse_bad_ends(const int64_t[::1] ends, Py_ssize_t size):
    cdef Py_ssize_t i
    cdef bint rising = ends.shape[0] > 0 and ends[0] == 0
    for i in range(1, ends.shape[0]):
        rising &= ends[i - 1] <= ends[i]
    if not rising or ends[ends.shape[0] - 1] != size:
        raise ValueError("the ends do not fit the values")
