# Sparse rows as the solvers take them, and what is done with one row. Everything is inline: each module that
# uses it compiles its own copy, so that no call crosses a module.

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t


cdef struct Rows:
    Py_ssize_t n
    int width
    const int32_t* column
    const double* value
    const int64_t* start
    const int64_t* end
    const double* sign
    const double* cost


cdef inline Rows rows_of(
    const int64_t[::1] start, const int64_t[::1] end, const int32_t[::1] column, const double[::1] value
):
    cdef Rows rows
    rows.column = &column[0] if column.shape[0] else NULL
    rows.value = &value[0] if value.shape[0] else NULL
    rows.start = &start[0] if start.shape[0] else NULL
    rows.end = &end[0] if end.shape[0] else NULL
    rows.sign = rows.cost = NULL
    rows.width = 0
    rows.n = start.shape[0]
    return rows


cdef inline double dot(const Rows* rows, Py_ssize_t r, const double* w) noexcept nogil:
    # Four sums, because each addition has to wait for the one before it in the same sum.
    cdef double a = w[0], b = 0.0, c = 0.0, d = 0.0
    cdef int64_t p = rows.start[r], end = rows.end[r]
    cdef const int32_t* column = rows.column
    cdef const double* value = rows.value
    if value == NULL:
        while p + 4 <= end:
            a += w[column[p]]
            b += w[column[p + 1]]
            c += w[column[p + 2]]
            d += w[column[p + 3]]
            p += 4
        while p < end:
            a += w[column[p]]
            p += 1
    else:
        while p + 4 <= end:
            a += w[column[p]] * value[p]
            b += w[column[p + 1]] * value[p + 1]
            c += w[column[p + 2]] * value[p + 2]
            d += w[column[p + 3]] * value[p + 3]
            p += 4
        while p < end:
            a += w[column[p]] * value[p]
            p += 1
    return (a + b) + (c + d)


cdef inline void add(const Rows* rows, Py_ssize_t r, double step, double* w) noexcept nogil:
    # Four at a time, all read before one is written: the columns of a row differ, which the compiler cannot know.
    cdef double a, b, c, d
    cdef int64_t p = rows.start[r], end = rows.end[r]
    cdef const int32_t* column = rows.column
    cdef const double* value = rows.value
    w[0] += step
    if value == NULL:
        while p + 4 <= end:
            a = w[column[p]] + step
            b = w[column[p + 1]] + step
            c = w[column[p + 2]] + step
            d = w[column[p + 3]] + step
            w[column[p]] = a
            w[column[p + 1]] = b
            w[column[p + 2]] = c
            w[column[p + 3]] = d
            p += 4
        while p < end:
            w[column[p]] += step
            p += 1
    else:
        while p < end:
            w[column[p]] += step * value[p]
            p += 1


cdef inline void add_squares(const Rows* rows, Py_ssize_t r, double step, double* w) noexcept nogil:
    cdef int64_t p
    w[0] += step
    for p in range(rows.start[r], rows.end[r]):
        w[rows.column[p]] += step if rows.value == NULL else step * rows.value[p] * rows.value[p]


cdef inline double longest(const Rows* rows, Py_ssize_t r) noexcept nogil:
    """Return the greatest absolute value in a row, the intercept's 1 included."""
    cdef double most = 1.0
    cdef int64_t p
    if rows.value != NULL:
        for p in range(rows.start[r], rows.end[r]):
            most = max(most, fabs(rows.value[p]))
    return most


cdef inline void add_outer(const Rows* rows, Py_ssize_t r, double step, double* H) noexcept nogil:
    """Add step * x x' to the lower triangle, row by row, of the matrix H."""
    cdef int64_t p, q, first = rows.start[r]
    cdef double scaled
    cdef double* line
    H[0] += step
    for p in range(first, rows.end[r]):
        line = H + <Py_ssize_t> rows.column[p] * rows.width
        if rows.value == NULL:
            line[0] += step
            for q in range(first, p + 1):
                line[rows.column[q]] += step
        else:
            scaled = step * rows.value[p]
            line[0] += scaled
            for q in range(first, p + 1):
                line[rows.column[q]] += scaled * rows.value[q]
