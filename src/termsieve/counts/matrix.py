"""A documents x terms matrix of any kind comes in; a checked CSR matrix of its positive values goes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.errors import InputError
from termsieve.kernels import counting
from termsieve.labels import Labels
from termsieve.matrices import INDEX_TYPES, sound_csr

ONE_PASS = (np.int32, np.int64, np.float32, np.float64)  # types of values that the kernel can read
LARGEST = 2**63 - 1
COUNT_TYPES = (np.uint16, np.uint32, np.int64)
DENSE_CELLS = 2**25  # largest dense table of classes x terms (256 MiB of int64)


def presence_matrix(X: Any) -> tuple[list[str] | None, Any]:
    """Return the column names, if X is a frame, and X as a CSR of its values, all above 0, each cell once.

    Every index is checked, so the caller need not check them. For an ordinary CSR this is part of the search
    for repeated cells, which costs less than a separate pass.
    """
    names = None
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = [str(column) for column in X.columns]
        X = X.sparse.to_coo() if _is_sparse_frame(X) else X.to_numpy()
    matrix = X if _is_plain_csr(X) else sound_csr(X)
    try:
        repeats = counting.repeats_columns(matrix.indptr, matrix.indices, matrix.shape[1])
    except IndexError as error:
        raise InputError(f"X is a damaged sparse matrix: {error}") from None
    if repeats:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if not (matrix.dtype in ONE_PASS and counting.all_positive(matrix.data)):
        _refuse_bad_values(matrix.data)
        if not matrix.data.all():
            matrix = matrix.copy()
            matrix.eliminate_zeros()
    return names, matrix


def class_table(matrix: Any, labels: Labels) -> Any:
    """Return classes x terms: the number of documents with a term; sparse if large.

    A dense table has the narrowest numbers that hold all of them: less memory has to be cleared and read.
    """
    most = int(labels.sizes.max(initial=0))
    dtype = next(dtype for dtype in COUNT_TYPES if most <= np.iinfo(dtype).max)

    def counted(rows: slice) -> NDArray[Any]:
        block = np.zeros((rows.stop - rows.start, matrix.shape[1]), dtype=dtype)
        class_ptr = labels.class_ptr[rows.start : rows.stop + 1]
        counting.class_counts(matrix.indptr, matrix.indices, class_ptr, labels.docs, block)
        return block

    return _in_blocks(counted, len(labels.classes), matrix.shape[1])


def sum_table(
    matrix: Any, labels: Labels, values: NDArray[np.int64], tp: Any, totals: NDArray[np.int64]
) -> Any:
    """Return classes x terms: the sums of `values`, whose sums over all documents are `totals`."""
    dtype = np.uint32 if totals.max(initial=0) < 2**32 else np.int64

    def summed(rows: slice) -> NDArray[Any]:
        block = (tp[rows].toarray() if sparse.issparse(tp) else tp[rows]).astype(dtype)
        class_ptr = labels.class_ptr[rows.start : rows.stop + 1]
        counting.class_sums(matrix.indptr, matrix.indices, values, class_ptr, labels.docs, block)
        return block

    return _in_blocks(summed, *tp.shape)


def _in_blocks(block_of: Callable[[slice], NDArray[Any]], n_classes: int, n_terms: int) -> Any:
    """Return a table that is made some classes at a time: dense, or sparse if it is large."""
    step = max(1, DENSE_CELLS // max(1, n_terms))
    if n_classes <= step:
        return block_of(slice(0, n_classes))
    rows = (slice(start, min(start + step, n_classes)) for start in range(0, n_classes, step))
    return sparse.vstack([sparse.csr_array(block_of(some).astype(np.int64)) for some in rows], format="csr")


def whole_numbers(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return values as 64-bit integers; fractions and larger numbers are refused."""
    if values.dtype.kind == "f" and not (values == np.floor(values)).all():
        raise InputError("occurrences=True needs whole numbers in X; give word counts, not weights")
    if values.dtype.kind in "fu" and values.size and int(values.max()) > LARGEST:
        raise too_many_occurrences()
    return np.ascontiguousarray(values, dtype=np.int64)


def too_many_occurrences() -> InputError:
    """Return the error for sums beyond 64 bits."""
    return InputError(
        "the occurrences, or the sum of their squares, do not fit into 64 bits; count with occurrences=False"
    )


def _is_plain_csr(X: Any) -> bool:
    """Return whether the kernels can take this CSR once its indices are checked."""
    if not sparse.issparse(X) or X.format != "csr" or X.dtype.kind not in "biuf" or X.dtype == np.float16:
        return False
    arrays = X.data, X.indices, X.indptr
    return (
        all(array.ndim == 1 and array.flags.c_contiguous and array.dtype.isnative for array in arrays)
        and X.indices.dtype == X.indptr.dtype
        and X.indptr.dtype in INDEX_TYPES
        and len(X.indptr) == X.shape[0] + 1
        and len(X.data) == len(X.indices) == X.indptr[-1]
    )


def _is_sparse_frame(X: Any) -> bool:
    """Return whether X is a pandas frame with sparse columns only."""
    return hasattr(X, "iloc") and X.shape[1] > 0 and all(hasattr(dtype, "fill_value") for dtype in X.dtypes)


def _refuse_bad_values(values: NDArray[Any]) -> None:
    if values.size == 0 or values.dtype.kind in "bu":
        return
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("X contains NaN or infinity; a term's value must be a finite number")
    if values.min() < 0:
        raise InputError("Negative values in data: X must hold term counts or weights of 0 and above")
