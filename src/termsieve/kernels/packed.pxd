# The rows that take part in a Newton step, packed one after the other by rows and by columns, and the product of
# their Hessian. Everything is inline, as in rows.pxd.

from libc.stdint cimport int32_t, int64_t

from termsieve.kernels.rows cimport Rows


cdef struct Packed:
    # Each row and each column is filled up to a multiple of four entries with a place that holds 0.
    Py_ssize_t n
    int width
    int32_t* column  # of the entries row by row
    int32_t* row  # of the entries column by column
    double* by_row  # their values, or NULL where all are 1
    double* by_column
    int64_t* row_start
    int64_t* column_start


cdef inline void pack(const Rows* rows, const int64_t* order, Py_ssize_t n, Packed* packed) noexcept nogil:
    """Pack the rows `order[0]` to `order[n - 1]`; the arrays have room for them."""
    cdef Py_ssize_t a, r
    cdef int64_t p, q, at = 0, n_entries
    cdef int64_t* start = packed.column_start
    cdef int i, width = rows.width
    packed.n = n
    packed.width = width
    for i in range(width + 1):
        start[i] = 0
    for a in range(n):
        r = order[a]
        packed.row_start[a] = at
        for p in range(rows.start[r], rows.end[r]):
            packed.column[at] = rows.column[p]
            start[rows.column[p]] += 1
            if rows.value != NULL:
                packed.by_row[at] = rows.value[p]
            at += 1
        while at & 3:
            packed.column[at] = width
            if rows.value != NULL:
                packed.by_row[at] = 0.0
            at += 1
    packed.row_start[n] = at
    at = 0
    for i in range(width):
        n_entries = start[i]
        start[i] = at
        at += n_entries + 3 & ~3
    for a in range(n):
        for p in range(packed.row_start[a], packed.row_start[a + 1]):
            i = packed.column[p]
            if i < width:
                q = start[i]
                start[i] = q + 1
                packed.row[q] = <int32_t> a
                if rows.value != NULL:
                    packed.by_column[q] = packed.by_row[p]
    # Each start has come to the end of its column: fill up, and move back.
    at = 0
    for i in range(width):
        q = start[i]
        start[i] = at
        while q & 3:
            packed.row[q] = <int32_t> n
            if rows.value != NULL:
                packed.by_column[q] = 0.0
            q += 1
        at = q
    start[width] = at


cdef inline double gathered(
    const int32_t* place, const double* value, int64_t p, int64_t end, const double* x
) noexcept nogil:
    """Return the sum of x at the places p to end, a multiple of four, times the values if there are any."""
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    if value == NULL:
        while p < end:
            a += x[place[p]]
            b += x[place[p + 1]]
            c += x[place[p + 2]]
            d += x[place[p + 3]]
            p += 4
    else:
        while p < end:
            a += x[place[p]] * value[p]
            b += x[place[p + 1]] * value[p + 1]
            c += x[place[p + 2]] * value[p + 2]
            d += x[place[p + 3]] * value[p + 3]
            p += 4
    return (a + b) + (c + d)


cdef inline void multiply(
    const Packed* packed, const double* bend, const int64_t* order, double* along, double* held, double* image
) noexcept nogil:
    """Set image = along + X' B X along. `along` has a place more than its width, and `held` than the rows."""
    cdef Py_ssize_t a
    cdef int i
    cdef double total = 0.0, share
    cdef const int32_t* column = packed.column
    cdef const int32_t* row = packed.row
    cdef const int64_t* start = packed.row_start
    along[packed.width] = 0.0
    held[packed.n] = 0.0
    for a in range(packed.n):
        share = along[0] + gathered(column, packed.by_row, start[a], start[a + 1], along)
        held[a] = share * bend[order[a]]
        total += held[a]
    start = packed.column_start
    image[0] = along[0] + total
    for i in range(1, packed.width):
        image[i] = along[i] + gathered(row, packed.by_column, start[i], start[i + 1], held)
