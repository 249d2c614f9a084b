"""Keys in, their places in rising order out."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

import numpy as np

cdef enum:
    DIGIT_BITS = 16
    DIGITS = 65536
    PASSES = 4

cdef Py_ssize_t MOST_KEYS = 0xFFFFFFFF
FEW_KEYS = 1 << 16      # keys from which on they are sorted digit by digit


def argsorted(const uint64_t[::1] keys):
    """Return the places of the keys in rising order; many keys are sorted digit by digit, equal ones in order."""
    cdef Py_ssize_t i, n = keys.shape[0], digit, total
    cdef int p, side = 0
    cdef uint64_t key
    cdef uint64_t[:, ::1] sorted_keys
    cdef uint32_t[:, ::1] places
    cdef int64_t[:, ::1] starts
    if n < FEW_KEYS or n > MOST_KEYS:
        return np.argsort(keys, kind="stable")
    starts = np.zeros((PASSES, DIGITS), dtype=np.int64)
    sorted_keys, places = np.empty((2, n), dtype=np.uint64), np.empty((2, n), dtype=np.uint32)
    with nogil:
        for i in range(n):
            sorted_keys[0, i], places[0, i] = keys[i], <uint32_t> i
            for p in range(PASSES):
                starts[p, (keys[i] >> (DIGIT_BITS * p)) & (DIGITS - 1)] += 1
        for p in range(PASSES):
            if starts[p, (keys[0] >> (DIGIT_BITS * p)) & (DIGITS - 1)] == n:
                continue
            total = 0
            for digit in range(DIGITS):
                total += starts[p, digit]
                starts[p, digit] = total - starts[p, digit]
            for i in range(n):
                key = sorted_keys[side, i]
                digit = <Py_ssize_t> ((key >> (DIGIT_BITS * p)) & (DIGITS - 1))
                sorted_keys[1 - side, starts[p, digit]] = key
                places[1 - side, starts[p, digit]] = places[side, i]
                starts[p, digit] += 1
            side = 1 - side
    return np.asarray(places[side]).astype(np.int64)
