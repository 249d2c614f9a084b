"""Tables of classes x terms, dense or sparse, and their names come in; checked or comparable ones go out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.counts import matrix as layout
from termsieve.errors import InputError
from termsieve.kernels.counting import row_totals

NARROW = (np.dtype(np.uint16), np.dtype(np.uint32))


def outside(df: NDArray[Any], tp: NDArray[Any]) -> NDArray[Any]:
    """Return the documents outside a class that contain a term; rounding does not make them negative."""
    return df - tp if df.dtype.kind == "i" else np.maximum(df - tp, 0.0)


def bits(table: Any) -> Any:
    """Return a table as whole numbers, of which equal ones stand for equal numbers."""
    return np.ascontiguousarray(table).view(np.int64) if table.dtype == np.float64 else table


def wide(table: NDArray[Any]) -> NDArray[Any]:
    """Return a table with numbers of 64 bits."""
    return table.astype(np.int64) if is_narrow(table) else table


def is_narrow(table: Any) -> bool:
    """Return whether a table is dense, of whole numbers of fewer than 64 bits that the kernels can read."""
    return isinstance(table, np.ndarray) and table.dtype in NARROW


def number_table(table: Any, shape: tuple[int, int], dtype: Any) -> Any:
    """Return `table` with numbers of a type, dense or as CSR depending on its size.

    Narrow whole numbers of a dense table stay as they are, if whole numbers are wanted.
    """
    if not sparse.issparse(table):
        table = np.asarray(table)
    if table.shape != shape:
        raise InputError(f"a table of shape {table.shape} does not fit {shape[0]} classes x {shape[1]} terms")
    if shape[0] * shape[1] > layout.DENSE_CELLS:
        return sparse.csr_array(table, dtype=dtype)
    if not sparse.issparse(table):
        return np.ascontiguousarray(
            table, dtype=table.dtype if is_narrow(table) and dtype == np.int64 else dtype
        )
    return np.ascontiguousarray(table.toarray(), dtype=dtype)


def term_names(terms: Sequence[str] | NDArray[Any] | None, n_terms: int) -> NDArray[Any] | None:
    """Return the names of terms as an array; there must be one for each column, and none twice."""
    if terms is None:
        return None
    names = np.empty(len(terms), dtype=object)
    names[:] = [str(term) for term in terms]
    if len(names) != n_terms:
        raise InputError(f"{len(names):,} term names for {n_terms:,} columns")
    refuse_repeated(names)
    return names


def refuse_repeated(names: Collection[Any]) -> None:
    """Raise InputError if two columns have the same name."""
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(f"the term {twice!r} names more than one column; term names must be distinct")


def are_same(a: Any, b: Any) -> bool:
    """Return whether two arrays, dense or sparse, or names are equal."""
    if a is None or b is None:
        return a is b
    if sparse.issparse(a) or sparse.issparse(b):
        return a.shape == b.shape and abs(sparse.csr_array(a) - sparse.csr_array(b)).nnz == 0
    return np.array_equal(a, b)


def dense_rows(table: Any, rows: slice) -> Any:
    """Return some rows of a dense or sparse table as a dense array."""
    return table[rows].toarray() if sparse.issparse(table) else table[rows]


def row_sums(table: Any) -> NDArray[Any] | None:
    """Return the sum of each row of a dense or sparse table, if there is one."""
    if is_narrow(table):
        return row_totals(table)  # numpy would add wide copies
    return None if table is None else np.asarray(table.sum(axis=1)).ravel()


def least(table: Any) -> float:
    """Return the least number in a dense or sparse table; 0 if it is empty."""
    values = table.data if sparse.issparse(table) else table
    return values.min().item() if values.size else 0
