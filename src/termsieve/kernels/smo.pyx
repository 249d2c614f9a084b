"""A Gram matrix, labels and bounds come in; the dual solution of the hinge-loss SVM with a free bias goes out."""

import numpy as np

from libc.stdint cimport int32_t, int64_t


def add_gram(
    const int64_t[::1] start,
    const int64_t[::1] end,
    const int32_t[::1] column,
    const double[::1] value,
    Py_ssize_t n_columns,
    float[:, ::1] gram,
):
    """Add to `gram` the inner products of the rows' entries from `start` to `end` (columns 1 to n_columns)."""
    cdef Py_ssize_t n = start.shape[0], r, k, a, b
    cdef int64_t p, total = 0
    cdef bint valued = value.shape[0] > 0
    cdef float scaled
    cdef float* line
    for r in range(n):
        total += end[r] - start[r]
    cdef int64_t[::1] first = np.zeros(n_columns + 2, dtype=np.int64)
    cdef int32_t[::1] owner = np.empty(total, dtype=np.int32)
    cdef double[::1] held = np.empty(total if valued else 0)
    with nogil:
        for r in range(n):
            for p in range(start[r], end[r]):
                first[column[p] + 1] += 1
        for k in range(n_columns + 1):
            first[k + 1] += first[k]
        for r in range(n):
            for p in range(start[r], end[r]):
                k = column[p]
                owner[first[k]] = <int32_t> r
                if valued:
                    held[first[k]] = value[p]
                first[k] += 1
        # Each first[k] has moved on to the end of column k, which is where column k + 1 begins.
        for k in range(1, n_columns + 1):
            for a in range(first[k - 1], first[k]):
                line = &gram[owner[a], 0]
                if valued:
                    scaled = <float> held[a]
                    for b in range(first[k - 1], first[k]):
                        line[owner[b]] += scaled * <float> held[b]
                else:
                    for b in range(first[k - 1], first[k]):
                        line[owner[b]] += 1.0


cdef struct State:
    Py_ssize_t n
    Py_ssize_t n_active  # the first so many rows of `order` take part
    const float* gram
    const double* sign
    const double* bound
    const double* diagonal
    double* alpha
    double* score  # -sign * gradient: sign - sum over s of sign_s alpha_s gram[r, s]
    int64_t* order
    double highest  # score of the row that can rise and should most
    double lowest


cdef inline bint is_up(const State* at, Py_ssize_t r) noexcept nogil:
    return at.alpha[r] < at.bound[r] if at.sign[r] > 0 else at.alpha[r] > 0


cdef inline bint is_low(const State* at, Py_ssize_t r) noexcept nogil:
    return at.alpha[r] > 0 if at.sign[r] > 0 else at.alpha[r] < at.bound[r]


cdef void refresh(State* at, Py_ssize_t first) noexcept nogil:
    """Compute the scores of the rows order[first:] anew."""
    cdef Py_ssize_t a, r
    cdef double step
    cdef const float* line
    for a in range(first, at.n):
        at.score[at.order[a]] = at.sign[at.order[a]]
    for r in range(at.n):
        if at.alpha[r] > 0:
            line = at.gram + r * at.n
            step = at.sign[r] * at.alpha[r]
            for a in range(first, at.n):
                at.score[at.order[a]] -= step * line[at.order[a]]


cdef Py_ssize_t most_violating(State* at) noexcept nogil:
    """Set highest and lowest; return the row of the highest score among those that can rise, or -1."""
    cdef Py_ssize_t a, r, i = -1
    at.highest = -1e300
    at.lowest = 1e300
    for a in range(at.n_active):
        r = at.order[a]
        if at.score[r] > at.highest and is_up(at, r):
            at.highest = at.score[r]
            i = r
        if at.score[r] < at.lowest and is_low(at, r):
            at.lowest = at.score[r]
    return i


cdef Py_ssize_t best_partner(const State* at, Py_ssize_t i) noexcept nogil:
    """Return the row that, changed together with row i, lowers the objective most, or -1."""
    cdef Py_ssize_t a, r, j = -1
    cdef double rise, curve, best = -1.0
    cdef const float* line = at.gram + i * at.n
    for a in range(at.n_active):
        r = at.order[a]
        rise = at.highest - at.score[r]
        if rise > 0 and is_low(at, r):
            curve = max(at.diagonal[i] + at.diagonal[r] - 2.0 * line[r], 1e-12)
            if rise * rise > best * curve:
                best = rise * rise / curve
                j = r
    return j


cdef inline double snapped(double alpha, double bound) noexcept nogil:
    # Round-off must not leave a row a hair inside its bound.
    if alpha < 1e-12 * bound:
        return 0.0
    return bound if alpha > bound * (1.0 - 1e-12) else alpha


cdef void change_pair(State* at, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef Py_ssize_t a, r
    cdef const float* line = at.gram + i * at.n
    cdef const float* other = at.gram + j * at.n
    cdef double step = at.highest - at.score[j]
    step /= max(at.diagonal[i] + at.diagonal[j] - 2.0 * line[j], 1e-12)
    step = min(step, at.bound[i] - at.alpha[i] if at.sign[i] > 0 else at.alpha[i])
    step = min(step, at.alpha[j] if at.sign[j] > 0 else at.bound[j] - at.alpha[j])
    at.alpha[i] = snapped(at.alpha[i] + at.sign[i] * step, at.bound[i])
    at.alpha[j] = snapped(at.alpha[j] - at.sign[j] * step, at.bound[j])
    for a in range(at.n_active):
        r = at.order[a]
        at.score[r] -= step * (line[r] - other[r])


cdef void shrink(State* at) noexcept nogil:
    """Leave out the rows at a bound that no pair would move."""
    cdef Py_ssize_t a = 0, r
    while a < at.n_active:
        r = at.order[a]
        if (at.score[r] > at.highest and not is_up(at, r)) or (at.score[r] < at.lowest and not is_low(at, r)):
            at.n_active -= 1
            at.order[a] = at.order[at.n_active]
            at.order[at.n_active] = r
        else:
            a += 1


cdef double bias(const State* at) noexcept nogil:
    """Return the mean score of the rows within their bounds, or the middle of what the others allow."""
    cdef Py_ssize_t r, n_free = 0
    cdef double total = 0.0, floor = -1e300, ceiling = 1e300
    for r in range(at.n):
        if 0.0 < at.alpha[r] < at.bound[r]:
            n_free += 1
            total += at.score[r]
        elif is_up(at, r):
            floor = max(floor, at.score[r])
        else:
            ceiling = min(ceiling, at.score[r])
    return total / n_free if n_free else 0.5 * (floor + ceiling)


def solve(
    const float[:, ::1] gram,
    const double[::1] sign,
    const double[::1] bound,
    double[::1] alpha,
    double tolerance,
    Py_ssize_t max_rounds,
):
    """Minimise alpha' Q alpha / 2 - sum alpha in place and return the bias.

    Q = sign sign' * gram, 0 <= alpha <= bound and sum sign * alpha = 0, which the alpha given must satisfy.
    Both signs must occur. The pair that changes is the most violating row and the one that lowers the
    objective most beside it (Fan, Chen and Lin 2005).
    """
    cdef State at
    cdef Py_ssize_t i, j, rounds, since = 0
    cdef double[::1] score = np.empty(sign.shape[0])
    cdef double[::1] diagonal = np.ascontiguousarray(np.diagonal(gram), dtype=np.float64)
    cdef int64_t[::1] order = np.arange(sign.shape[0], dtype=np.int64)
    at.n = at.n_active = sign.shape[0]
    at.gram, at.sign, at.bound, at.diagonal = &gram[0, 0], &sign[0], &bound[0], &diagonal[0]
    at.alpha, at.score, at.order = &alpha[0], &score[0], &order[0]
    with nogil:
        refresh(&at, 0)
        for rounds in range(max_rounds):
            i = most_violating(&at)
            if i < 0 or at.highest - at.lowest <= tolerance:
                if at.n_active == at.n:
                    break
                refresh(&at, at.n_active)
                at.n_active = at.n
                since = 0
                continue
            since += 1
            if since >= min(at.n, 1000):
                shrink(&at)
                since = 0
            j = best_partner(&at, i)
            if j < 0:
                break
            change_pair(&at, i, j)
        if at.n_active < at.n:
            refresh(&at, at.n_active)
    return bias(&at)
