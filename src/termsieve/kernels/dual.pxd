# The dual solver of the squared hinge, and the costs by which it decides to give up. Everything is inline, as in
# rows.pxd.

from libc.math cimport fabs, log, sqrt
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from termsieve.kernels.rows cimport Rows, add, dot


cdef inline double gram_cost(double n_active) noexcept nogil:
    """Return about how many nanoseconds `solve_gram` takes once it has the inner products."""
    return n_active * n_active * (1.0 + n_active / 140.0)


cdef inline double products_cost(double entries, double width) noexcept nogil:
    """Return about how many nanoseconds the inner products of rows with `entries` entries take."""
    return entries * entries / width


cdef inline double iterative_cost(double entries, double width) noexcept nogil:
    """Return about how many nanoseconds `solve_iterative` takes."""
    return sqrt(width) * (2.4 * entries + 3.0 * width)


cdef inline bint descend_dual(
    const Rows* rows, int64_t* order, double* alphas, double* norm, double* w, double tolerance
) noexcept nogil:
    """Coordinate descent on the dual of the squared hinge (Hsieh et al. 2008), with shrinking.

    It starts from the dual point that `w` implies. Unlike liblinear it ends only when every projected gradient
    is within the tolerance: where rows are merged, the difference of the extremes becomes small too early. It
    returns whether it converged; it gives up when, at the rate of the last epochs, Newton steps on the
    remaining rows would be faster. `order`, `alphas` and `norm` have room for one number per row.
    """
    cdef Py_ssize_t n = rows.n, n_active = n, i, j, r
    cdef double entries, limit = 1e300, highest, lowest, gradient, alpha, lack, worst, pace, newton_cost
    cdef double first = 0.0, second = 0.0
    cdef double past[4]
    cdef int epoch
    cdef int64_t swap, p
    cdef uint32_t seed = 1
    for r in range(n):
        order[r] = r
        lack = 1.0 - rows.sign[r] * dot(rows, r, w)
        alphas[r] = rows.cost[r] * lack if lack > 0.0 else 0.0
        norm[r] = 1.0 / rows.cost[r] + 1.0
        if rows.value == NULL:
            norm[r] += rows.end[r] - rows.start[r]
        else:
            for p in range(rows.start[r], rows.end[r]):
                norm[r] += rows.value[p] * rows.value[p]
    memset(w, 0, rows.width * sizeof(double))
    for r in range(n):
        if alphas[r] > 0.0:
            add(rows, r, alphas[r] * rows.sign[r], w)
            first += alphas[r]
            second += alphas[r] * alphas[r] / rows.cost[r]
    for i in range(rows.width):
        second += w[i] * w[i]
    if second > 0.0:
        # Scale the point to its best multiple: it was found for fewer columns, so it is too large.
        for r in range(n):
            alphas[r] *= first / second
        for i in range(rows.width):
            w[i] *= first / second
    for epoch in range(1000):
        highest = -1e300
        lowest = 1e300
        entries = 0.0
        for i in range(n_active):
            seed = seed * <uint32_t> 1664525 + <uint32_t> 1013904223
            j = i + <Py_ssize_t> ((<uint64_t> seed * <uint64_t> (n_active - i)) >> 32)
            swap = order[i]
            order[i] = order[j]
            order[j] = swap
        i = 0
        while i < n_active:
            r = order[i]
            entries += rows.end[r] - rows.start[r] + 2
            alpha = alphas[r]
            gradient = rows.sign[r] * dot(rows, r, w) - 1.0 + alpha / rows.cost[r]
            if alpha == 0.0:
                if gradient > limit:
                    n_active -= 1
                    order[i] = order[n_active]
                    order[n_active] = r
                    continue
                if gradient > 0.0:
                    gradient = 0.0
            highest = max(highest, gradient)
            lowest = min(lowest, gradient)
            if fabs(gradient) > 1e-12:
                alphas[r] = max(alpha - gradient / norm[r], 0.0)
                add(rows, r, (alphas[r] - alpha) * rows.sign[r], w)
            i += 1
        if highest <= tolerance and lowest >= -tolerance:
            if n_active == n:
                return True
            n_active = n
            limit = 1e300
        else:
            # Half the usual limit: a row that was left out wrongly comes back in a Newton step.
            limit = 0.5 * highest if highest > 0.0 else 1e300
        worst = max(highest, -lowest)
        if epoch >= 5:
            pace = 0.25 * log(worst / past[epoch % 4])
            newton_cost = min(gram_cost(n_active), iterative_cost(entries, rows.width))
            newton_cost = 3.0 * newton_cost + products_cost(entries, rows.width)
            if pace >= 0.0 or log(tolerance / worst) / pace * 2.4 * entries > newton_cost:
                return False
        past[epoch % 4] = worst
    return False
