"""A documents x terms matrix of any kind comes in; a checked CSR matrix of its positive values goes out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.errors import InputError
from termsieve.kernels import counting

ONE_PASS = (np.int32, np.int64, np.float32, np.float64)  # types of values that the kernel looks through
INDEX_TYPES = (np.int32, np.int64)  # of CSR arrays that the kernel takes; both must be of one type
LARGEST = 2**63 - 1


def presence_matrix(X: Any) -> tuple[list[str] | None, Any]:
    """Return the column names, if X is a frame, and X as a CSR of its values, all above 0, each cell once.

    Every index is checked, so that whoever walks over the result need not.
    """
    names = None
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = [str(column) for column in X.columns]
        X = X.sparse.to_coo() if _is_sparse_frame(X) else X.to_numpy()
    if not sparse.issparse(X):
        X = np.asarray(X)
        if X.ndim != 2:
            raise InputError(
                f"Expected 2D array, got {X.ndim}D array instead: X must be documents x terms. "
                "Reshape your data, for example with X.reshape(1, -1) for one document"
            )
        if X.dtype == object:
            X = _numeric(X)
    if X.dtype.kind not in "biuf":
        raise InputError(
            f"X must hold real numbers, not {X.dtype}"
            + ": complex data not supported" * (X.dtype.kind == "c")
        )
    if not sparse.issparse(X):
        _refuse_bad_values(X)
    matrix = _plain_csr(X if sparse.issparse(X) and X.format == "csr" else _csr(X))
    try:
        repeats = counting.repeats_columns(matrix.indptr, matrix.indices, matrix.shape[1])
    except IndexError as error:
        raise InputError(f"X is damaged: {error}") from None
    if repeats:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if not (matrix.dtype in ONE_PASS and counting.all_positive(matrix.data)):
        _refuse_bad_values(matrix.data)
        if not matrix.data.all():
            matrix = matrix.copy()
            matrix.eliminate_zeros()
    return names, matrix


def whole_numbers(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return values as 64-bit integers; fractions and larger numbers are refused."""
    if values.dtype.kind == "f" and not (values == np.floor(values)).all():
        raise InputError("occurrences=True needs whole numbers in X; give word counts, not weights")
    if values.dtype.kind in "fu" and values.size and values.max() > LARGEST:
        raise too_many_occurrences()
    return np.ascontiguousarray(values, dtype=np.int64)


def too_many_occurrences() -> InputError:
    """Return the error for sums beyond 64 bits."""
    return InputError(
        "the occurrences, or the sum of their squares, do not fit into 64 bits; count with occurrences=False"
    )


def _csr(X: Any) -> Any:
    try:
        if sparse.issparse(X) and X.format in ("csc", "coo", "bsr"):
            _refuse_indices_outside(X)
        return sparse.csr_array(X)
    except (ValueError, IndexError) as error:
        raise InputError(f"X is damaged: {error}") from None


def _refuse_indices_outside(X: Any) -> None:
    """Raise ValueError where a matrix that scipy will convert has an index beyond its shape."""
    if X.format == "coo":
        for index, size in zip(X.coords, X.shape, strict=True):
            if index.size and not 0 <= index.min() <= index.max() < size:
                raise ValueError("an index lies outside the matrix")
    else:
        X.check_format(full_check=True)


def _plain_csr(matrix: Any) -> Any:
    """Return a CSR with contiguous arrays, one type of index, and no entries beyond its rows."""
    arrays = matrix.data, matrix.indices, matrix.indptr
    if any(not isinstance(array, np.ndarray) or array.ndim != 1 for array in arrays):
        raise InputError("X is damaged: data, indices and indptr must be one-dimensional arrays")
    n_entries = len(matrix.indices)
    plain = all(array.flags.c_contiguous and array.dtype.isnative for array in arrays)
    one_type = matrix.indices.dtype == matrix.indptr.dtype and matrix.indptr.dtype in INDEX_TYPES
    if len(matrix.indptr) != matrix.shape[0] + 1:
        raise InputError(f"X is damaged: {len(matrix.indptr)} row bounds for {matrix.shape[0]} rows")
    if plain and one_type and len(matrix.data) == n_entries == matrix.indptr[-1]:
        return matrix
    if matrix.indices.dtype.kind not in "iu" or matrix.indptr.dtype.kind not in "iu":
        raise InputError("X is damaged: its indices must be whole numbers")
    used = int(matrix.indptr[-1])
    if not 0 <= used <= min(n_entries, len(matrix.data)):
        raise InputError("X is damaged: its rows end beyond its entries")
    data = np.ascontiguousarray(matrix.data[:used], dtype=matrix.dtype.newbyteorder("="))
    indices = np.ascontiguousarray(matrix.indices[:used], dtype=np.int64)
    copy = sparse.csr_array(matrix.shape, dtype=data.dtype)
    copy.data, copy.indices, copy.indptr = data, indices, np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    return copy


def _is_sparse_frame(X: Any) -> bool:
    """Whether X is a pandas frame all of whose columns are sparse."""
    return hasattr(X, "iloc") and X.shape[1] > 0 and all(hasattr(dtype, "fill_value") for dtype in X.dtypes)


def _numeric(X: NDArray[Any]) -> NDArray[Any]:
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X must hold real numbers: {error}") from None


def _refuse_bad_values(values: NDArray[Any]) -> None:
    if values.size == 0 or values.dtype.kind in "bu":
        return
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("X contains NaN or infinity; a term's value must be a finite number")
    if values.min() < 0:
        raise InputError("Negative values in data: X must hold term counts or weights of 0 and above")
