"""Sparse rows, labels and a starting point come in; the weights of a linear classifier go out.

Rows are given as in termsieve.kernels.rows; a row may stand for several equal documents of one label.
"""

import numpy as np

cimport cython
from libc.math cimport exp, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from scipy.linalg.cython_lapack cimport dpotrf, dpotrs, spotrf, spotrs

from termsieve.kernels.dual cimport descend_dual, gram_cost, iterative_cost, products_cost
from termsieve.kernels.packed cimport Packed, multiply, pack
from termsieve.kernels.rows cimport Rows, add, add_outer, add_squares, dot, longest, rows_of


cdef inline void bend_at(int logistic, double margin, double* pull, double* bend) noexcept nogil:
    """Set the loss's first and second derivative in the margin, for a cost of 1 (the squared hinge is halved)."""
    cdef double share
    if logistic:
        share = 1.0 / (1.0 + exp(margin))
        pull[0] = -share
        bend[0] = share * (1.0 - share)
    else:
        pull[0] = margin - 1.0 if margin < 1.0 else 0.0
        bend[0] = 1.0 if margin < 1.0 else 0.0


cpdef enum:
    CHOSEN
    DENSE
    DUAL
    ITERATIVE
    GRAM


cdef enum:
    MAX_GRAM_ROWS = 2000  # whose inner products are kept in a solution: 8 MB
    MAX_PACKED = 1 << 24  # entries: 128 MB, with values 384 MB
    MAX_REFINEMENTS = 6


@cython.final
cdef class Workspace:
    """Arrays that one solution after another uses, so that a path of small problems does not allocate."""

    cdef double[::1] margin, turn, pull, bend, held, alpha, norm  # one per row
    cdef double[::1] gradient, step, residual, along, image, scale, H, factor
    cdef double[::1] listed_value
    cdef float[::1] gram, gram_factor, part
    cdef int64_t[::1] order, place, kept, head, n_listed, row_start
    cdef int32_t[::1] listed, packed_column, packed_row
    cdef double[::1] packed_by_row, packed_by_column
    cdef Packed packed
    cdef Py_ssize_t n_kept

    def __init__(self):
        self.margin = self.gradient = self.H = self.factor = np.empty(0)
        self.kept, self.listed = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
        self.packed_column = self.packed_row = np.empty(0, dtype=np.int32)
        self.packed_by_row = self.packed_by_column = np.empty(0)
        self.gram_factor = np.empty(0, dtype=np.float32)

    cdef void reserve(self, Py_ssize_t n, Py_ssize_t width):
        if self.margin.shape[0] <= n:  # `multiply` needs one place more
            size = 2 * n + 1
            self.margin, self.turn = np.empty(size), np.empty(size)
            self.pull, self.bend, self.held = np.empty(size), np.empty(size), np.empty(size)
            self.alpha, self.norm = np.empty(size), np.empty(size)
            self.order, self.place = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
            self.row_start = np.empty(size, dtype=np.int64)
        if self.gradient.shape[0] <= width:
            size = 2 * width + 1
            self.gradient, self.step, self.residual = np.empty(size), np.empty(size), np.empty(size)
            self.along, self.image, self.scale = np.empty(size), np.empty(size), np.empty(size)
            self.head, self.n_listed = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)

    cdef void reserve_hessian(self, Py_ssize_t width):
        if self.H.shape[0] < width * width:
            self.H, self.factor = np.empty(width * width), np.empty(width * width)

    cdef void reserve_packed(self, const Rows* rows, Py_ssize_t n_entries):
        """Make room for all rows, packed, unless they have more than MAX_PACKED entries."""
        cdef Py_ssize_t size = n_entries + 3 * (rows.n + rows.width)
        if size > MAX_PACKED:
            return
        if self.packed_column.shape[0] < size:
            self.packed_column, self.packed_row = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
        if rows.value != NULL and self.packed_by_row.shape[0] < size:
            self.packed_by_row, self.packed_by_column = np.empty(size), np.empty(size)
        self.packed.column, self.packed.row = &self.packed_column[0], &self.packed_row[0]
        self.packed.row_start, self.packed.column_start = &self.row_start[0], &self.head[0]
        self.packed.by_row = self.packed.by_column = NULL
        if rows.value != NULL:
            self.packed.by_row, self.packed.by_column = &self.packed_by_row[0], &self.packed_by_column[0]

    cdef void reserve_gram(self, Py_ssize_t n_rows, Py_ssize_t n_entries):
        """Make room for the inner products of the rows, at most MAX_GRAM_ROWS of them."""
        n_rows = min(n_rows, MAX_GRAM_ROWS)
        if self.kept.shape[0] < n_rows:
            self.gram = np.empty(n_rows * (n_rows + 1) // 2, dtype=np.float32)
            self.kept, self.part = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.float32)
            self.gram_factor = np.empty(n_rows * n_rows, dtype=np.float32)
        if self.listed.shape[0] < n_entries:
            self.listed, self.listed_value = np.empty(n_entries, dtype=np.int32), np.empty(n_entries)


cdef void solve_dense(const Rows* rows, Workspace space) noexcept nogil:
    """Solve H step = -gradient by a Cholesky factor of the whole Hessian."""
    cdef int width = rows.width, one = 1, info = 0, i
    cdef char uplo = b"U"
    memcpy(&space.factor[0], &space.H[0], <size_t> width * width * sizeof(double))
    for i in range(width):
        space.step[i] = -space.gradient[i]
    dpotrf(&uplo, &width, &space.factor[0], &width, &info)
    dpotrs(&uplo, &width, &one, &space.factor[0], &width, &space.step[0], &width, &info)


cdef void extend_gram(const Rows* rows, Workspace space, Py_ssize_t known) noexcept nogil:
    """Write the inner products of each kept row from the `known`-th on with those before it and itself."""
    cdef Py_ssize_t a, r, n_entries = 0
    cdef int64_t p, q
    cdef int i
    cdef float* line
    cdef int64_t* head = &space.head[0]
    cdef int64_t* n_listed = &space.n_listed[0]
    cdef int32_t* listed = &space.listed[0]
    cdef double* listed_value = &space.listed_value[0]
    memset(n_listed, 0, rows.width * sizeof(int64_t))
    for a in range(space.n_kept):
        r = space.kept[a]
        for p in range(rows.start[r], rows.end[r]):
            n_listed[rows.column[p]] += 1
    for i in range(rows.width):
        head[i] = n_entries
        n_entries += n_listed[i]
        n_listed[i] = 0
    for a in range(space.n_kept):
        r = space.kept[a]
        for p in range(rows.start[r], rows.end[r]):
            i = rows.column[p]
            q = head[i] + n_listed[i]
            n_listed[i] += 1
            listed[q] = <int32_t> a
            if rows.value != NULL:
                listed_value[q] = rows.value[p]
        if a < known:
            continue
        line = &space.gram[a * (a + 1) // 2]
        for i in range(a + 1):
            line[i] = <float> 1.0
        for p in range(rows.start[r], rows.end[r]):
            i = rows.column[p]
            if rows.value == NULL:
                for q in range(head[i], head[i] + n_listed[i]):
                    line[listed[q]] += <float> 1.0
            else:
                for q in range(head[i], head[i] + n_listed[i]):
                    line[listed[q]] += <float> (rows.value[p] * listed_value[q])


cdef void keep_active(const Rows* rows, Workspace space, Py_ssize_t n_active) noexcept nogil:
    """Extend the inner products to all active rows, and put these in the order in which they are kept."""
    cdef Py_ssize_t a, b, r, known, n_fresh = 0
    for a in range(n_active):
        n_fresh += space.place[space.order[a]] < 0
    if space.n_kept + n_fresh > space.kept.shape[0]:
        for a in range(space.n_kept):
            space.place[space.kept[a]] = -1
        space.n_kept = 0
    known = space.n_kept
    for a in range(n_active):
        r = space.order[a]
        if space.place[r] < 0:
            space.place[r] = space.n_kept
            space.kept[space.n_kept] = r
            space.n_kept += 1
    if space.n_kept > known:
        extend_gram(rows, space, known)
    b = 0
    for a in range(space.n_kept):
        if space.held[space.kept[a]] > 0.0:
            space.order[b] = space.kept[a]
            b += 1


cdef bint solve_gram(const Rows* rows, Workspace space, Py_ssize_t n_active) noexcept nogil:
    """Solve H step = -gradient by a Cholesky factor of the size of the active rows; return whether it went well.

    H = I + X' B X has the inverse I - X' (B^-1 + X X')^-1 X; the inner products X X' are kept between rounds.
    They and the factor are in single precision, which takes half the time; the solution is refined until its
    residual, taken from the rows themselves, is small.
    """
    cdef double squares, first = 0.0, lack
    cdef int size = <int> n_active, one = 1, info = 0, i, tries
    cdef char uplo = b"U"
    cdef Py_ssize_t a, b, r
    cdef float* line
    cdef float* products
    cdef double* share = &space.turn[0]
    keep_active(rows, space, n_active)
    for a in range(n_active):
        r = space.order[a]
        line = &space.gram_factor[a * n_active]
        b = space.place[r]
        products = &space.gram[b * (b + 1) // 2]
        for b in range(a + 1):
            line[b] = products[space.place[space.order[b]]]
        line[a] += <float> (1.0 / space.bend[r])
        share[a] = 0.0
    spotrf(&uplo, &size, &space.gram_factor[0], &size, &info)
    if info != 0:
        return False
    for i in range(rows.width):
        space.step[i] = -space.gradient[i]
    for tries in range(MAX_REFINEMENTS):
        squares = 0.0
        for a in range(n_active):
            r = space.order[a]
            lack = -dot(rows, r, &space.step[0]) - share[a] / space.bend[r]
            space.part[a] = <float> lack
            squares += lack * lack
        if tries == 0:
            first = squares
        if squares <= 1e-12 * first:
            return True
        spotrs(&uplo, &size, &one, &space.gram_factor[0], &size, &space.part[0], &size, &info)
        for a in range(n_active):
            share[a] += space.part[a]
            add(rows, space.order[a], space.part[a], &space.step[0])
    return False


cdef void solve_iterative(const Rows* rows, Workspace space, Py_ssize_t n_active, double goal) noexcept nogil:
    """Solve H step = -gradient by conjugate gradients, scaled by H's diagonal, to a residual of `goal`."""
    cdef int i, width = rows.width, rounds
    cdef Py_ssize_t a, r
    cdef double old = 0.0, new, size, length
    cdef double* step = &space.step[0]
    cdef double* residual = &space.residual[0]
    cdef double* along = &space.along[0]
    cdef double* image = &space.image[0]
    cdef double* scale = &space.scale[0]
    for i in range(width):
        scale[i] = 1.0
    for a in range(n_active):
        r = space.order[a]
        add_squares(rows, r, space.bend[r], scale)
    for i in range(width):
        scale[i] = 1.0 / scale[i]
        step[i] = 0.0
        residual[i] = -space.gradient[i]
        along[i] = residual[i] * scale[i]
        old += residual[i] * along[i]
    if old == 0.0:
        return
    if space.packed.column != NULL:
        pack(rows, &space.order[0], n_active, &space.packed)
    for rounds in range(500):
        if space.packed.column != NULL:
            multiply(&space.packed, &space.bend[0], &space.order[0], along, &space.turn[0], image)
        else:
            memcpy(image, along, width * sizeof(double))
            for a in range(n_active):
                r = space.order[a]
                add(rows, r, space.bend[r] * dot(rows, r, along), image)
        length = 0.0
        for i in range(width):
            length += along[i] * image[i]
        length = old / length
        new = 0.0
        size = 0.0
        for i in range(width):
            step[i] += length * along[i]
            residual[i] -= length * image[i]
            size += residual[i] * residual[i]
            new += residual[i] * residual[i] * scale[i]
        if sqrt(size) <= goal:
            break
        for i in range(width):
            along[i] = residual[i] * scale[i] + new / old * along[i]
        old = new


cdef double line_minimum(const Rows* rows, Workspace space, int logistic, const double* w) noexcept nogil:
    """Return the length t at which w + t * step is about best, by a bracketed Newton search on the derivative.

    Afterwards the workspace holds the derivatives of the losses at that point.
    """
    cdef double linear = 0.0, square = 0.0, t = 1.0, low = 0.0, high = -1.0, first, second, next_t, turn, goal = 0.0
    cdef Py_ssize_t r
    cdef int i
    for i in range(rows.width):
        linear += w[i] * space.step[i]
        square += space.step[i] * space.step[i]
    for r in range(rows.n):
        space.turn[r] = rows.sign[r] * dot(rows, r, &space.step[0])
        goal += rows.cost[r] * space.pull[r] * space.turn[r]
    goal = (0.2 if logistic else 1e-3) * fabs(linear + goal)
    for i in range(50):
        first = linear + t * square
        second = square
        for r in range(rows.n):
            turn = space.turn[r]
            bend_at(logistic, space.margin[r] + t * turn, &space.pull[r], &space.bend[r])
            first += rows.cost[r] * space.pull[r] * turn
            second += rows.cost[r] * space.bend[r] * turn * turn
        if fabs(first) <= goal:
            break
        if first > 0.0:
            high = t
        else:
            low = t
        next_t = t - first / second
        if high > 0.0 and not low < next_t < high:
            next_t = 0.5 * (low + high)
        if fabs(next_t - t) <= 1e-12 * t:
            break
        t = next_t
    return t


cdef void newton(
    const Rows* rows, Workspace space, int logistic, int method, double* w, double tolerance
) noexcept nogil:
    """Minimise by Newton steps until the gradient is no longer than `tolerance`.

    After descent on the dual (DUAL) the first step uses the rows with alpha > 0 as the active ones: they are far
    closer to the active rows of the solution than the rows with a margin below 1 are.
    """
    cdef int width = rows.width, rounds, i
    cdef Py_ssize_t r, n_active
    cdef bint by_gram
    cdef double size, first_size = -1.0, t, bend, forcing, most, entries, cost, scale = 0.0
    cdef double* gradient = &space.gradient[0]
    for r in range(rows.n):
        space.margin[r] = rows.sign[r] * dot(rows, r, w)
        if method == DUAL:
            space.bend[r] = 1.0 if space.alpha[r] > 0.0 else 0.0
            space.pull[r] = space.bend[r] * (space.margin[r] - 1.0)
        else:
            bend_at(logistic, space.margin[r], &space.pull[r], &space.bend[r])
        space.held[r] = 0.0
        space.place[r] = -1
        scale += rows.cost[r] * longest(rows, r)
    space.n_kept = 0
    if method == DENSE:
        memset(&space.H[0], 0, <size_t> width * width * sizeof(double))
        for i in range(width):
            space.H[<Py_ssize_t> i * width + i] = 1.0
    for rounds in range(100):
        memcpy(gradient, w, width * sizeof(double))
        n_active = 0
        entries = 0.0
        most = 0.0
        for r in range(rows.n):
            bend = rows.cost[r] * space.bend[r]
            space.bend[r] = bend
            most = max(most, bend)
            if space.pull[r] != 0.0:
                add(rows, r, rows.cost[r] * rows.sign[r] * space.pull[r], gradient)
        # Rows with a second derivative near 0 are left out of the Hessian, never of the gradient. If a class is
        # rare, there are many of them.
        most *= 1e-3 if logistic else 0.0
        for r in range(rows.n):
            bend = space.bend[r] if space.bend[r] > most else 0.0
            if bend > 0.0:
                space.order[n_active] = r
                n_active += 1
                entries += rows.end[r] - rows.start[r]
            if method == DENSE and bend != space.held[r]:
                add_outer(rows, r, bend - space.held[r], &space.H[0])
            space.held[r] = bend
        size = 0.0
        for i in range(width):
            size += gradient[i] * gradient[i]
        size = sqrt(size)
        if first_size < 0.0:
            first_size = size
        if size <= max(tolerance, 1e-11 * scale) and not (method == DUAL and rounds == 0):
            break
        by_gram = method == GRAM
        if method == DUAL:
            cost = gram_cost(n_active) + (products_cost(entries, width) if space.n_kept == 0 else 0.0)
            by_gram = cost < iterative_cost(entries, width)
        if method == DENSE:
            solve_dense(rows, space)
        elif not (by_gram and 0 < n_active <= space.kept.shape[0] and solve_gram(rows, space, n_active)):
            forcing = min(0.1, sqrt(size / first_size))
            solve_iterative(rows, space, n_active, max(forcing * size, 0.3 * tolerance))
        t = line_minimum(rows, space, logistic, w)
        for i in range(width):
            w[i] += t * space.step[i]
        for r in range(rows.n):
            space.margin[r] += t * space.turn[r]


def solve(
    Workspace space,
    bint logistic,
    const int32_t[::1] column,
    const double[::1] value,
    const int64_t[::1] start,
    const int64_t[::1] end,
    const double[::1] sign,
    const double[::1] cost,
    double[::1] w,
    double tolerance,
    int method = 0,
):
    """Minimise |w|^2 / 2 + sum cost * loss(sign * w.x) in place, from `w`, to a gradient of length `tolerance`.

    The loss is log(1 + exp(-m)), or max(0, 1 - m)^2 / 2. Few columns: Newton steps with the whole Hessian
    (DENSE). Otherwise, for the squared hinge with not many more rows than columns, coordinate descent on the
    dual for as long as it promises to be the cheaper way (DUAL); where it is not, Newton steps through the
    inner products of the active rows (GRAM) or by conjugate gradients (ITERATIVE). CHOSEN, and DUAL after it
    has given up, take the cheaper one by measured costs.
    """
    cdef Rows rows = rows_of(start, end, column, value)
    cdef double entries = 0.0, squares = 0.0, length, factor
    cdef Py_ssize_t r, n_bent = 0, width = w.shape[0]
    cdef bint dense, done = False
    if rows.n == 0:
        w[:] = 0.0
        return
    rows.width = <int> width
    rows.sign, rows.cost = &sign[0], &cost[0]
    for r in range(rows.n):
        length = end[r] - start[r] + 2
        entries += length
        squares += length * length
    if method == CHOSEN:
        # Nanoseconds per round: a Cholesky factor (and a new Hessian, for the logistic loss) compared with products
        # with the Hessian, of which the squared hinge needs fewer.
        factor = <double> width * width * width / 30.0
        if logistic:
            dense = factor + 0.5 * squares <= 20.0 * entries
        else:
            dense = factor <= 2.5 * entries
        if dense:
            method = DENSE
        elif not logistic and rows.n < 8 * width:
            method = DUAL
    space.reserve(rows.n, width)
    if method == DUAL:
        with nogil:
            done = descend_dual(&rows, &space.order[0], &space.alpha[0], &space.norm[0], &w[0], tolerance)
        for r in range(rows.n):
            n_bent += space.alpha[r] > 0.0
    if method == DENSE:
        space.reserve_hessian(width)
    elif not done and (method == DUAL or method == GRAM):
        space.reserve_gram(2 * n_bent if method == DUAL else rows.n, <Py_ssize_t> entries)
    if not done:
        space.packed.column = NULL
        if method != DENSE and not logistic:  # which needs too few products per step to pay for the copy
            space.reserve_packed(&rows, <Py_ssize_t> entries)
        with nogil:
            newton(&rows, space, logistic, method, &w[0], tolerance)


def perceptron(
    const int64_t[::1] start,
    const int64_t[::1] end,
    const int32_t[::1] column,
    const double[::1] value,
    const double[::1] sign,
    Py_ssize_t passes,
    double[::1] w,
):
    """Add sign * x to `w` for each row in order on which sign * w.x <= 0; weight 0 stays 0."""
    cdef Rows rows = rows_of(start, end, column, value)
    cdef Py_ssize_t r, turn
    with nogil:
        for turn in range(passes):
            for r in range(start.shape[0]):
                if sign[r] * dot(&rows, r, &w[0]) <= 0.0:
                    add(&rows, r, sign[r], &w[0])
                    w[0] = 0.0
