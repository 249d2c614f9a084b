"""A Gram matrix, labels and bounds come in; the dual solution of the hinge-loss SVM with a free bias goes out."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from scipy.linalg.cython_blas cimport sgemm


def add_gram(
    const int64_t[::1] start,
    const int64_t[::1] end,
    const int32_t[::1] column,
    const double[::1] value,
    Py_ssize_t n_columns,
    float[:, ::1] gram,
):
    """Add to `gram` the inner products of the rows' entries from `start` to `end` (columns 1 to n_columns)."""
    cdef Py_ssize_t n = start.shape[0], r, k, a, b, n_heavy = 0, limit = n // 8
    cdef int64_t p, size, total = 0
    cdef bint valued = value.shape[0] > 0
    cdef double squares = 0.0
    cdef float* line
    for r in range(n):
        total += end[r] - start[r]
    cdef int64_t[::1] first = np.zeros(n_columns + 2, dtype=np.int64)
    cdef int32_t[::1] owner = np.empty(total, dtype=np.int32)
    cdef float[::1] held = np.empty(total if valued else 0, dtype=np.float32)
    with nogil:
        for r in range(n):
            for p in range(start[r], end[r]):
                first[column[p] + 1] += 1
        for k in range(1, n_columns + 1):
            size = first[k + 1]
            if size > limit:
                n_heavy += 1
                squares += <double> size * size
            first[k + 1] += first[k]
        for r in range(n):
            for p in range(start[r], end[r]):
                k = column[p]
                owner[first[k]] = <int32_t> r
                if valued:
                    held[first[k]] = <float> value[p]
                first[k] += 1
        # Measured: 2 ns per pair of entries of a column here; a matrix product takes 1 ns per cell of the Gram
        # matrix, and 0.04 ns more per cell and column.
        if squares * 2.0 < <double> n * n * (1.0 + 0.04 * n_heavy):
            limit = n
            n_heavy = 0
    cdef float[:, ::1] heavy = np.zeros((n, n_heavy), dtype=np.float32)
    with nogil:
        n_heavy = 0
        # Each first[k] has moved on to the end of column k, which is where column k + 1 begins.
        for k in range(1, n_columns + 1):
            if first[k] - first[k - 1] > limit:
                for a in range(first[k - 1], first[k]):
                    heavy[owner[a], n_heavy] = held[a] if valued else 1.0
                n_heavy += 1
                continue
            for a in range(first[k - 1], first[k]):
                line = &gram[owner[a], 0]
                for b in range(first[k - 1], first[k]):
                    line[owner[b]] += held[a] * held[b] if valued else 1.0
        if n_heavy:
            add_products(heavy, gram)


cdef void add_products(float[:, ::1] heavy, float[:, ::1] gram) noexcept nogil:
    """Add heavy heavy' to gram."""
    cdef int n = <int> heavy.shape[0], width = <int> heavy.shape[1]
    cdef char plain = b"N", turned = b"T"
    cdef float one = 1.0
    sgemm(&turned, &plain, &n, &n, &width, &one, &heavy[0, 0], &width, &heavy[0, 0], &width, &one, &gram[0, 0], &n)


cdef struct State:
    Py_ssize_t width  # of the Gram matrix
    Py_ssize_t n  # rows of the problem
    Py_ssize_t n_active  # number of rows, at the start of `order`, that take part
    const int64_t* rows
    const float* gram
    const double* sign
    const double* bound
    const double* diagonal
    double* alpha
    double* score  # -sign * gradient: sign - sum over s of sign_s alpha_s gram[r, s]
    int64_t* order
    uint8_t* free  # UP where sign * alpha can grow, LOW where it can shrink
    Py_ssize_t top  # the row with the highest score of those that can grow, or -1
    double highest
    double lowest  # the lowest score of those that can shrink


cdef uint8_t UP = 1, LOW = 2


cdef inline void set_free(State* at, Py_ssize_t r) noexcept nogil:
    cdef bint grows = at.alpha[r] < at.bound[r], shrinks = at.alpha[r] > 0
    if at.sign[r] < 0:
        grows, shrinks = shrinks, grows
    at.free[r] = grows * UP + shrinks * LOW


cdef void refresh(State* at, Py_ssize_t first) noexcept nogil:
    """Compute the scores of the rows order[first:] anew."""
    cdef Py_ssize_t a, b, r
    cdef double step
    cdef const float* line
    for a in range(first, at.n):
        at.score[at.order[a]] = at.sign[at.order[a]]
    for b in range(at.n):
        r = at.rows[b]
        if at.alpha[r] > 0:
            line = at.gram + r * at.width
            step = at.sign[r] * at.alpha[r]
            for a in range(first, at.n):
                at.score[at.order[a]] -= step * line[at.order[a]]


cdef void move_scores(State* at, Py_ssize_t i, Py_ssize_t j, double step) noexcept nogil:
    """Lower the scores by step * (gram[i] - gram[j]), and find the extremes on the way."""
    cdef Py_ssize_t a, r
    cdef const float* line = at.gram + i * at.width
    cdef const float* other = at.gram + j * at.width
    cdef double score, highest = -1e300, lowest = 1e300
    at.top = -1
    for a in range(at.n_active):
        r = at.order[a]
        score = at.score[r] - step * (line[r] - other[r])
        at.score[r] = score
        if score > highest and at.free[r] & UP:
            highest = score
            at.top = r
        if score < lowest and at.free[r] & LOW:
            lowest = score
    at.highest = highest
    at.lowest = lowest


cdef Py_ssize_t best_partner(const State* at, Py_ssize_t i) noexcept nogil:
    """Return the row that, changed together with row i, lowers the objective most, or -1."""
    cdef Py_ssize_t a, r, j = -1
    cdef double rise, curve, best = -1.0, own = at.diagonal[i], highest = at.highest
    cdef const float* line = at.gram + i * at.width
    for a in range(at.n_active):
        r = at.order[a]
        rise = highest - at.score[r]
        if rise > 0 and at.free[r] & LOW:
            curve = max(own + at.diagonal[r] - 2.0 * line[r], 1e-12)
            if rise * rise > best * curve:
                best = rise * rise / curve
                j = r
    return j


cdef inline double snapped(double alpha, double bound) noexcept nogil:
    # Rounding must not leave a row just inside its bound.
    if alpha < 1e-12 * bound:
        return 0.0
    return bound if alpha > bound * (1.0 - 1e-12) else alpha


cdef void change_pair(State* at, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef double step = at.highest - at.score[j]
    step /= max(at.diagonal[i] + at.diagonal[j] - 2.0 * at.gram[i * at.width + j], 1e-12)
    step = min(step, at.bound[i] - at.alpha[i] if at.sign[i] > 0 else at.alpha[i])
    step = min(step, at.alpha[j] if at.sign[j] > 0 else at.bound[j] - at.alpha[j])
    at.alpha[i] = snapped(at.alpha[i] + at.sign[i] * step, at.bound[i])
    at.alpha[j] = snapped(at.alpha[j] - at.sign[j] * step, at.bound[j])
    set_free(at, i)
    set_free(at, j)
    move_scores(at, i, j, step)


cdef void shrink(State* at, int64_t* aside) noexcept nogil:
    """Leave out the rows at a bound that no step would move; the others stay in ascending order."""
    cdef Py_ssize_t a, r, kept = 0, left = 0
    for a in range(at.n_active):
        r = at.order[a]
        if (at.score[r] > at.highest and at.free[r] == LOW) or (at.score[r] < at.lowest and at.free[r] == UP):
            aside[left] = r
            left += 1
        else:
            at.order[kept] = r
            kept += 1
    for a in range(left):
        at.order[kept + a] = aside[a]
    at.n_active = kept


cdef void restore(State* at) noexcept nogil:
    """Take all rows in again, their scores up to date."""
    refresh(at, at.n_active)
    at.n_active = at.n
    memcpy(at.order, at.rows, at.n * sizeof(int64_t))
    move_scores(at, at.rows[0], at.rows[0], 0.0)


cdef double bias(const State* at) noexcept nogil:
    """Return the mean score of the rows within their bounds, or the middle of what the others allow."""
    cdef Py_ssize_t b, r, n_free = 0
    cdef double total = 0.0, floor = -1e300, ceiling = 1e300
    for b in range(at.n):
        r = at.rows[b]
        if at.free[r] == UP + LOW:
            n_free += 1
            total += at.score[r]
        elif at.free[r] == UP:
            floor = max(floor, at.score[r])
        else:
            ceiling = min(ceiling, at.score[r])
    return total / n_free if n_free else 0.5 * (floor + ceiling)


def solve(
    const float[:, ::1] gram,
    const int64_t[::1] rows,
    const double[::1] sign,
    const double[::1] bound,
    double tolerance,
    Py_ssize_t max_rounds,
):
    """Return (alpha, bias, done) at the minimum of alpha' Q alpha / 2 - sum alpha.

    `rows` holds the rows and columns of `gram` that belong to the problem, in ascending order; nothing else is
    read from the arrays. Q = sign sign' * gram, 0 <= alpha <= bound and sum sign * alpha = 0; both signs must
    occur. Each round changes two rows: the most violating one, and the one that together with it lowers the
    objective most (Fan, Chen and Lin 2005). It ends when no pair violates the conditions by more than the
    tolerance (`done` is then true), or after `max_rounds` rounds.
    """
    cdef State at
    cdef Py_ssize_t b, j, rounds, since = 0, n = rows.shape[0]
    cdef bint done = False
    solution = np.zeros(gram.shape[0])
    cdef double[::1] alpha = solution, score = np.array(sign)
    cdef double[::1] diagonal = np.ascontiguousarray(np.diagonal(gram), dtype=np.float64)
    cdef int64_t[::1] order = np.array(rows), aside = np.empty(n, dtype=np.int64)
    cdef uint8_t[::1] free = np.empty(gram.shape[0], dtype=np.uint8)
    at.n = at.n_active = n
    at.width, at.rows, at.order = gram.shape[0], &rows[0], &order[0]
    at.gram, at.sign, at.bound, at.diagonal = &gram[0, 0], &sign[0], &bound[0], &diagonal[0]
    at.alpha, at.score, at.free = &alpha[0], &score[0], &free[0]
    with nogil:
        for b in range(n):
            set_free(&at, rows[b])
        move_scores(&at, rows[0], rows[0], 0.0)
        for rounds in range(max_rounds):
            if at.top < 0 or at.highest - at.lowest <= tolerance:
                if at.n_active == n:
                    done = True
                    break
                restore(&at)
                since = 0
                continue
            since += 1
            if since >= min(n, 1000):
                shrink(&at, &aside[0])
                since = 0
            j = best_partner(&at, at.top)
            if j < 0:
                done = True
                break
            change_pair(&at, at.top, j)
        if at.n_active < n:
            restore(&at)
    return solution, bias(&at), done
