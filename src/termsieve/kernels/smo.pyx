"""A Gram matrix, labels and bounds come in; the dual solution of the hinge-loss SVM with a free bias goes out."""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc, realloc
from scipy.linalg.cython_blas cimport sgemm
from scipy.linalg.cython_lapack cimport dposv, dpotrs


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


# Measured: in the time in which a round looks at one row, a Cholesky factorisation of m rows does 200 of its m^3,
# and solving with it 4 of its m^2.
cdef double CUBE = 200.0, SQUARE = 4.0
cdef enum:
    COPIED = 4  # a copy is made of at most a quarter of the rows
    MAX_FREE = 2000  # rows of a factorisation
    MAX_HELD = 30  # rows that come to a bound before the next one


cdef struct State:
    # Of all rows of the Gram matrix, by their number.
    Py_ssize_t width
    const float* gram
    const double* signs
    const double* bounds
    double* alphas
    double* scores
    uint8_t* inside  # whether the row takes part
    # Of the rows that take part, in ascending order.
    Py_ssize_t n_active
    int64_t* order  # their numbers
    double* sign
    double* bound
    float* diagonal
    double* alpha
    double* score  # -sign * gradient: sign - sum over s of sign_s alpha_s gram[r, s]
    uint8_t* free  # UP where sign * alpha can grow, plus LOW where it can shrink
    Py_ssize_t top  # the one with the highest score of those that can grow, or -1
    double highest
    double lowest  # the lowest score of those that can shrink
    # Their inner products side by side: a copy, or the whole matrix while every row takes part; or NULL.
    const float* direct
    float* copy
    Py_ssize_t capacity  # cells of the copy
    Py_ssize_t stride


cdef uint8_t UP = 1, LOW = 2


cdef inline const float* line_of(const State* at, Py_ssize_t a) noexcept nogil:
    if at.direct != NULL:
        return at.direct + a * at.stride
    return at.gram + at.order[a] * at.width


cdef inline void set_free(State* at, Py_ssize_t a) noexcept nogil:
    cdef bint grows = at.alpha[a] < at.bound[a], shrinks = at.alpha[a] > 0
    if at.sign[a] < 0:
        grows, shrinks = shrinks, grows
    at.free[a] = grows * UP + shrinks * LOW


cdef void take_all(State* at, const int64_t* rows, Py_ssize_t n) noexcept nogil:
    """Let all rows take part; their scores must be up to date."""
    cdef Py_ssize_t a, r
    at.n_active = n
    at.direct = at.gram if n == at.width else NULL
    at.stride = at.width
    for a in range(n):
        r = rows[a]
        at.order[a], at.inside[r] = r, True
        at.sign[a], at.bound[a], at.alpha[a], at.score[a] = at.signs[r], at.bounds[r], at.alphas[r], at.scores[r]
        at.diagonal[a] = at.gram[r * at.width + r]
        set_free(at, a)
    find_extremes(at)


cdef void find_extremes(State* at) noexcept nogil:
    cdef Py_ssize_t a, n = at.n_active
    cdef const double* score = at.score
    cdef const uint8_t* free = at.free
    cdef double[4] up = [-INFINITY, 0.0, -INFINITY, 0.0]  # added to a score, leaves out who cannot grow
    cdef double[4] low = [INFINITY, INFINITY, 0.0, 0.0]
    cdef double x, y, h0 = -INFINITY, h1 = -INFINITY, l0 = INFINITY, l1 = INFINITY
    # Two of each, so that a comparison need not wait for the one before.
    for a in range(0, n - 1, 2):
        x = score[a] + up[free[a]]
        h0 = x if x > h0 else h0
        y = score[a + 1] + up[free[a + 1]]
        h1 = y if y > h1 else h1
        x = score[a] + low[free[a]]
        l0 = x if x < l0 else l0
        y = score[a + 1] + low[free[a + 1]]
        l1 = y if y < l1 else l1
    if n & 1:
        h0 = max(h0, score[n - 1] + up[free[n - 1]])
        l0 = min(l0, score[n - 1] + low[free[n - 1]])
    at.highest = max(h0, h1)
    at.lowest = min(l0, l1)
    at.top = -1
    if at.highest > -INFINITY:
        for a in range(n):
            if score[a] + up[free[a]] == at.highest:
                at.top = a
                break


cdef void move_scores(State* at, Py_ssize_t i, Py_ssize_t j, double step) noexcept nogil:
    """Lower the scores by step * (gram[i] - gram[j])."""
    cdef Py_ssize_t a
    cdef const float* line = line_of(at, i)
    cdef const float* other = line_of(at, j)
    cdef double* score = at.score
    cdef const int64_t* order = at.order
    if at.direct != NULL:
        for a in range(at.n_active):
            score[a] -= step * (line[a] - other[a])
    else:
        for a in range(at.n_active):
            score[a] -= step * (line[order[a]] - other[order[a]])


cdef Py_ssize_t best_partner(const State* at, Py_ssize_t i) noexcept nogil:
    """Return the row that, changed together with row i, lowers the objective most, or -1."""
    cdef Py_ssize_t a, j = -1
    cdef double rise, curve, best = -1.0, own = at.diagonal[i], highest = at.highest
    cdef const float* line = line_of(at, i)
    cdef bint direct = at.direct != NULL
    for a in range(at.n_active):
        rise = highest - at.score[a]
        if rise > 0 and at.free[a] & LOW:
            curve = max(own + at.diagonal[a] - 2.0 * line[a if direct else at.order[a]], 1e-12)
            if rise * rise > best * curve:
                best = rise * rise / curve
                j = a
    return j


cdef inline double snapped(double alpha, double bound) noexcept nogil:
    # Rounding must not leave a row just inside its bound.
    if alpha < 1e-12 * bound:
        return 0.0
    return bound if alpha > bound * (1.0 - 1e-12) else alpha


cdef void change_pair(State* at, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef double step = at.highest - at.score[j]
    cdef double product = line_of(at, i)[j if at.direct != NULL else at.order[j]]
    step /= max(at.diagonal[i] + at.diagonal[j] - 2.0 * product, 1e-12)
    step = min(step, at.bound[i] - at.alpha[i] if at.sign[i] > 0 else at.alpha[i])
    step = min(step, at.alpha[j] if at.sign[j] > 0 else at.bound[j] - at.alpha[j])
    at.alpha[i] = snapped(at.alpha[i] + at.sign[i] * step, at.bound[i])
    at.alpha[j] = snapped(at.alpha[j] - at.sign[j] * step, at.bound[j])
    set_free(at, i)
    set_free(at, j)
    move_scores(at, i, j, step)
    find_extremes(at)


cdef void shrink(State* at) noexcept nogil:
    """Leave out the rows at a bound that no step would move; the others stay in ascending order."""
    cdef Py_ssize_t a, b, kept = 0, n = at.n_active
    cdef int64_t* place = <int64_t*> malloc(n * sizeof(int64_t))
    if place == NULL:
        return  # it is only slower
    for a in range(n):
        if (at.score[a] > at.highest or not at.free[a] & LOW) and (
            at.score[a] < at.lowest or not at.free[a] & UP
        ):
            at.alphas[at.order[a]] = at.alpha[a]
            at.inside[at.order[a]] = False
            continue
        place[kept] = a
        at.order[kept] = at.order[a]
        at.sign[kept], at.bound[kept], at.diagonal[kept] = at.sign[a], at.bound[a], at.diagonal[a]
        at.alpha[kept], at.score[kept], at.free[kept] = at.alpha[a], at.score[a], at.free[a]
        if a == at.top:
            at.top = kept
        kept += 1
    at.n_active = kept
    if kept < n:
        make_copy(at, place)
    free(place)


cdef void make_copy(State* at, const int64_t* place) noexcept nogil:
    """Copy the inner products of the rows that take part, if they are few, so that they lie side by side."""
    cdef Py_ssize_t a, b, n = at.n_active
    cdef bint again = at.direct != NULL and at.direct == at.copy
    cdef const float* line
    cdef float* out
    cdef float* room
    if not again:
        at.direct = NULL
        if COPIED * n > at.width:
            return
        if n * n > at.capacity:
            room = <float*> realloc(at.copy, n * n * sizeof(float))
            if room == NULL:
                return
            at.copy, at.capacity = room, n * n
    for a in range(n):
        out = at.copy + a * n
        if again:  # in place: no cell moves towards the end
            line = at.copy + place[a] * at.stride
            for b in range(n):
                out[b] = line[place[b]]
        else:
            line = at.gram + at.order[a] * at.width
            for b in range(n):
                out[b] = line[at.order[b]]
    at.direct, at.stride = at.copy, n


cdef void restore(State* at, const int64_t* rows, Py_ssize_t n) noexcept nogil:
    """Take all rows in again, their scores up to date."""
    cdef Py_ssize_t a, b, r, n_outside = 0
    cdef int64_t* outside = at.order + at.n_active
    cdef const float* line
    cdef double step
    for a in range(at.n_active):
        at.alphas[at.order[a]] = at.alpha[a]
        at.scores[at.order[a]] = at.score[a]
    for b in range(n):
        if not at.inside[rows[b]]:
            outside[n_outside] = rows[b]
            n_outside += 1
            at.scores[rows[b]] = at.signs[rows[b]]
    for b in range(n):
        r = rows[b]
        if at.alphas[r] > 0:
            line = at.gram + r * at.width
            step = at.signs[r] * at.alphas[r]
            for a in range(n_outside):
                at.scores[outside[a]] -= step * line[outside[a]]
    take_all(at, rows, n)


cdef void newton(State* at, double* work) noexcept nogil:
    """Move the rows within their bounds to where their scores are equal; who comes to a bound stays there.

    It is done only while this and all such moves before cost less than the rounds so far did (`work`).
    """
    cdef Py_ssize_t a, m = 0
    cdef double* room
    cdef int64_t* place
    for a in range(at.n_active):
        m += at.free[a] == UP + LOW
    if m < 2 or m > MAX_FREE or <double> m * m * m / CUBE > work[0]:
        return
    work[0] -= <double> m * m * m / CUBE
    room = <double*> malloc(m * (m + 2 + MAX_HELD) * sizeof(double))
    place = <int64_t*> malloc(m * sizeof(int64_t))
    if room != NULL and place != NULL:
        m = 0
        for a in range(at.n_active):
            if at.free[a] == UP + LOW:
                place[m] = a
                m += 1
        move_free(at, m, place, room, work)
    free(room)
    free(place)


cdef void move_free(State* at, Py_ssize_t m, const int64_t* place, double* room, double* work) noexcept nogil:
    cdef double* matrix = room
    cdef double* change = room + m * m  # of sign * alpha, still to be made
    cdef double* held = change + m  # for the sum and each row at a bound, what one unit there moves
    cdef double* start
    cdef double* one
    cdef Py_ssize_t a, b, c, n_held = 1
    cdef Py_ssize_t at_bound[MAX_HELD]
    cdef int size = <int> m, two = 2, single = 1, failed = 0
    cdef char lower = b"L"
    cdef double part, step, room_left, share, largest = 0.0
    cdef const float* line
    for a in range(m):
        change[a] = at.score[place[a]]
        held[a] = 1.0
        largest = max(largest, at.diagonal[place[a]])
    for b in range(m):
        line = line_of(at, place[b])
        for a in range(b, m):
            matrix[b * m + a] = line[place[a]]
        # Rows that depend on each other have many solutions; this chooses a near one.
        matrix[b * m + b] += 1e-8 * largest
    dposv(&lower, &size, &two, matrix, &size, change, &size, &failed)
    if failed != 0:
        return
    hold(change, held, m, -1)
    start = held + m * MAX_HELD  # sign * alpha before
    for a in range(m):
        start[a] = at.sign[place[a]] * at.alpha[place[a]]
    while True:
        share = 1.0
        b = -1
        for a in range(m):
            step = at.sign[place[a]] * change[a]
            room_left = at.bound[place[a]] - at.alpha[place[a]] if step > 0 else at.alpha[place[a]]
            if room_left < share * fabs(step):
                share = room_left / fabs(step)
                b = a
        for a in range(m):
            part = at.alpha[place[a]] + share * at.sign[place[a]] * change[a]
            at.alpha[place[a]] = min(max(part, 0.0), at.bound[place[a]])
            change[a] *= 1.0 - share
        if b < 0:
            break
        at.alpha[place[b]] = at.bound[place[b]] if at.sign[place[b]] * change[b] > 0 else 0.0
        work[0] -= <double> m * m / SQUARE
        if n_held == MAX_HELD or work[0] < 0:
            break
        one = held + n_held * m
        for a in range(m):
            one[a] = 0.0
        one[b] = 1.0
        dpotrs(&lower, &size, &single, matrix, &size, one, &size, &failed)
        hold(one, held, m, -1)
        for c in range(1, n_held):
            hold(one, held + c * m, m, at_bound[c])
        if not one[b] > 0:
            break
        at_bound[n_held] = b
        n_held += 1
        hold(change, one, m, b)
        for c in range(1, n_held):
            change[at_bound[c]] = 0.0
    for b in range(m):
        a = place[b]
        at.alpha[a] = snapped(at.alpha[a], at.bound[a])
        set_free(at, a)
        step = at.sign[a] * at.alpha[a] - start[b]
        if step != 0:
            line = line_of(at, a)
            for c in range(at.n_active):
                at.score[c] -= step * line[c]
    find_extremes(at)


cdef void hold(double* change, const double* unit, Py_ssize_t m, Py_ssize_t b) noexcept nogil:
    """Take as much of `unit` away that row b, or the sum of all rows if b is -1, does not change."""
    cdef Py_ssize_t a
    cdef double wrong = 0.0, by = 0.0, factor
    if b >= 0:
        wrong, by = change[b], unit[b]
    else:
        for a in range(m):
            wrong += change[a]
            by += unit[a]
    factor = wrong / by
    for a in range(m):
        change[a] -= factor * unit[a]


cdef double bias(const State* at) noexcept nogil:
    """Return the mean score of the rows within their bounds, or the middle of what the others allow."""
    cdef Py_ssize_t a, n_free = 0
    cdef double total = 0.0, floor = -1e300, ceiling = 1e300
    for a in range(at.n_active):
        if at.free[a] == UP + LOW:
            n_free += 1
            total += at.score[a]
        elif at.free[a] == UP:
            floor = max(floor, at.score[a])
        elif at.free[a] == LOW:
            ceiling = min(ceiling, at.score[a])
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
    cdef Py_ssize_t j, before, rounds, since = 0, n = rows.shape[0]
    cdef double work = 0.0
    cdef bint done = False
    solution = np.zeros(gram.shape[0])
    cdef double[::1] alphas = solution, scores = np.array(sign)
    cdef uint8_t[::1] inside = np.zeros(gram.shape[0], dtype=np.uint8)
    cdef int64_t[::1] order = np.empty(n, dtype=np.int64)
    cdef double[:, ::1] own = np.empty((4, n))
    cdef float[::1] diagonal = np.empty(n, dtype=np.float32)
    cdef uint8_t[::1] free_to = np.empty(n, dtype=np.uint8)
    at.width, at.gram, at.signs, at.bounds = gram.shape[0], &gram[0, 0], &sign[0], &bound[0]
    at.alphas, at.scores, at.inside, at.order = &alphas[0], &scores[0], &inside[0], &order[0]
    at.sign, at.bound, at.alpha, at.score = &own[0, 0], &own[1, 0], &own[2, 0], &own[3, 0]
    at.diagonal, at.free = &diagonal[0], &free_to[0]
    at.copy, at.capacity = NULL, 0
    with nogil:
        take_all(&at, &rows[0], n)
        for rounds in range(max_rounds):
            if at.top < 0 or at.highest - at.lowest <= tolerance:
                if at.n_active == n:
                    done = True
                    break
                restore(&at, &rows[0], n)
                since = min(n, 1000) * 9 // 10  # most are out again at once
                continue
            since += 1
            work += at.n_active
            if since >= min(at.n_active, 1000):
                before = at.n_active
                shrink(&at)
                since = 0
                if at.direct != NULL and 10 * at.n_active >= 9 * before:
                    newton(&at, &work)
                    continue
            j = best_partner(&at, at.top)
            if j < 0:
                done = True
                break
            change_pair(&at, at.top, j)
        if at.n_active < n:
            restore(&at, &rows[0], n)
        for j in range(n):
            alphas[rows[j]] = at.alpha[j]
        free(at.copy)
    return solution, bias(&at), done
