"""2x2 tables come in; logarithms of hypergeometric tail probabilities go out."""

import numpy as np

from libc.math cimport log
from scipy.special.cython_special cimport gammaln

cdef double NEGLIGIBLE = 2.0**-60  # a smaller share of the sum changes no digit of it


cdef double log_choose(double n, double k) noexcept nogil:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def log_tails(const double[::1] tp, const double[::1] df, const double[::1] pos, const double[::1] neg):
    """Return log P(X >= tp) of the hypergeometric distribution, for tables with tp at its mean or above.

    From tp on the probabilities fall, so the tail is the probability of tp times a series that converges soon.
    For numbers that are not whole, the same series is summed up to the largest possible table.
    """
    cdef Py_ssize_t n = tp.shape[0], i
    cdef double x, first, total, term, room
    if not df.shape[0] == pos.shape[0] == neg.shape[0] == n:
        raise ValueError("the tables must have one length")
    tails = np.empty(n)
    cdef double[::1] out = tails
    with nogil:
        for i in range(n):
            x = tp[i]
            first = log_choose(pos[i], x) + log_choose(neg[i], df[i] - x) - log_choose(pos[i] + neg[i], df[i])
            total, term = 1.0, 1.0
            while x < pos[i] and x < df[i]:
                room = neg[i] - df[i] + x + 1  # at least 1: the share outside the class is below 1 as well
                term *= (pos[i] - x) * (df[i] - x) / ((x + 1) * room)
                total += term
                x += 1
                if term <= NEGLIGIBLE * total:
                    break
            first += log(total)
            out[i] = first if first < 0 else 0
    return tails
