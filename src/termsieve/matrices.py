"""A matrix of any kind comes in; a CSR matrix that compiled code may read without further checks goes out."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.errors import InputError

# The index types that the kernels are compiled for.
INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


def sound_csr(X: Any, name: str = "X") -> Any:
    """Return a matrix, sparse or dense, as a CSR that is safe to hand to a kernel.

    Every index is within the matrix, every array is contiguous and in the machine's byte order, both index
    arrays have one type, and values are booleans, integers, or floats of 32 or 64 bits. The values themselves
    are not looked at. A matrix that is fine already is returned as it is; another one is never changed.

    Parameters
    ----------
    X : sparse matrix, sparse array or array-like of shape (n_docs, n_terms)
        The matrix.
    name : str, default="X"
        What error messages call it.

    Examples
    --------
    >>> sound_csr([[0, 2], [1, 0]]).indices.tolist()
    [1, 0]
    """
    if not sparse.issparse(X):
        return sparse.csr_array(_dense(X, name))
    _refuse_values(X.dtype, name)
    check_indices(X, name)
    if X.format != "csr":
        X = _convertible(X).tocsr()
        _check_compressed(X, name)
    n_cells = int(X.indptr[-1])
    data = _plain_values(X.data if len(X.data) == n_cells else X.data[:n_cells])
    indptr, indices = X.indptr, X.indices if len(X.indices) == n_cells else X.indices[:n_cells]
    if indptr.dtype != indices.dtype or indptr.dtype not in INDEX_TYPES:
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    indptr, indices = np.ascontiguousarray(indptr), np.ascontiguousarray(indices)
    if data is X.data and indices is X.indices and indptr is X.indptr:
        return X
    return _like(X, data, indices, indptr)


def check_indices(X: Any, name: str = "X") -> None:
    """Raise InputError for a sparse matrix with an index outside of it; anything else passes.

    scipy believes the indices: to convert, slice or multiply such a matrix reads or writes other memory. So
    this comes before anything that scikit-learn does to a caller's matrix.
    """
    if not sparse.issparse(X):
        return
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X, name)
    elif X.format == "coo":
        for axis, places in enumerate(X.coords):
            _check_places(places, X.shape[axis], name)


def canonical_csr(X: Any, name: str = "X") -> Any:
    """Return a matrix as a sound CSR of finite values, sorted, each cell at most once and none of them 0.

    Parameters
    ----------
    X : sparse matrix, sparse array or array-like of shape (n_docs, n_terms)
        The matrix; it is not changed.
    name : str, default="X"
        What error messages call it.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> canonical_csr(coo_array(([1, 1, 2], ([0, 0, 0], [1, 1, 0])), shape=(1, 3))).data.tolist()
    [2, 2]
    """
    matrix = sound_csr(X, name)
    if matrix.dtype.kind == "f" and not np.isfinite(matrix.data).all():
        raise InputError(f"{name} contains NaN or infinity; every cell must be a finite number")
    rising, zeros = _rising(matrix.indptr, matrix.indices), not matrix.data.all()
    if not rising or zeros:
        matrix = matrix.copy()
        if not rising:
            # The flags of a matrix may be wrong; then summing duplicates would do nothing.
            matrix.has_sorted_indices = matrix.has_canonical_format = False
            matrix.sum_duplicates()
        matrix.eliminate_zeros()
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _dense(X: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(X)
        if array.dtype == object:
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must hold real numbers: {error}") from None
    _refuse_values(array.dtype, name)
    if array.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead: {name} must be documents x terms. "
            "Reshape your data, for example with X.reshape(1, -1) for one document"
        )
    return _plain_values(array)


def _refuse_values(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind not in "biuf":
        complex_data = ": complex data not supported" if dtype.kind == "c" else ""
        raise InputError(f"{name} must hold real numbers, not {dtype}{complex_data}")


def _plain_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return values in a type that scipy and the kernels take, in native byte order."""
    dtype = values.dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        dtype = np.dtype(np.float32 if dtype.itemsize < 4 else np.float64)
    if values.dtype == dtype and values.flags.c_contiguous:
        return values
    return np.ascontiguousarray(values, dtype=dtype)


def _convertible(X: Any) -> Any:
    """Return a sparse matrix whose values scipy can convert to another format."""
    if not isinstance(getattr(X, "data", None), np.ndarray) or X.data.dtype == object:
        return X
    data = _plain_values(X.data)
    if data is not X.data:
        X = copy(X)
        X.data = data
    return X


def _check_compressed(X: Any, name: str) -> None:
    n_rows, n_columns = X.shape
    if X.format == "bsr":
        n_rows, n_columns = n_rows // X.blocksize[0], n_columns // X.blocksize[1]
    n_lines, n_places = (n_columns, n_rows) if X.format == "csc" else (n_rows, n_columns)
    indptr = X.indptr
    whole = indptr.ndim == 1 and indptr.dtype.kind in "iu" and len(indptr) == n_lines + 1
    if not whole or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise InputError(f"{name} is a damaged sparse matrix: its indptr does not describe {n_lines:,} lines")
    if indptr[-1] > min(len(X.indices), len(X.data)):
        raise InputError(f"{name} is a damaged sparse matrix: it has fewer cells than its indptr says")
    _check_places(X.indices[: int(indptr[-1])], n_places, name)


def _check_places(places: NDArray[Any], size: int, name: str) -> None:
    if not len(places):
        return
    if places.dtype in INDEX_TYPES:  # read as unsigned, negative numbers are the largest: one pass
        inside = int(places.view(f"u{places.dtype.itemsize}").max()) < size
    else:
        inside = places.dtype.kind in "iu" and int(places.min()) >= 0 and int(places.max()) < size
    if not inside:
        raise InputError(
            f"{name} is a damaged sparse matrix: it has an index outside its {size:,} rows or columns"
        )


def _rising(indptr: NDArray[Any], indices: NDArray[Any]) -> bool:
    """Return whether the indices of every row are increasing."""
    rises = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    rises[starts[(starts > 0) & (starts < len(indices))] - 1] = True
    return bool(rises.all())


def _like(X: Any, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]) -> Any:
    """Return a CSR of the class of X, array or matrix, with other arrays."""
    kind = sparse.csr_array if isinstance(X, sparse.sparray) else sparse.csr_matrix
    matrix = kind((data, indices, indptr), shape=X.shape)
    # The constructor would choose the type of each index array by its values.
    matrix.indices, matrix.indptr = indices, indptr
    return matrix
