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


def outside(df: NDArray[Any], tp: NDArray[Any]) -> NDArray[Any]:
    """Return the documents outside a class that contain a term; rounding does not make them negative."""
    return df - tp if df.dtype.kind == "i" else np.maximum(df - tp, 0.0)


def bits(table: Any) -> Any:
    """Return a table as whole numbers, of which equal ones stand for equal numbers."""
    return table if table.dtype == np.int64 else np.ascontiguousarray(table).view(np.int64)


def number_table(table: Any, shape: tuple[int, int], dtype: Any) -> Any:
    """Return `table` with numbers of a type, dense or as CSR depending on its size."""
    if not sparse.issparse(table):
        table = np.asarray(table)
    if table.shape != shape:
        raise InputError(f"a table of shape {table.shape} does not fit {shape[0]} classes x {shape[1]} terms")
    if shape[0] * shape[1] > layout.DENSE_CELLS:
        return sparse.csr_array(table, dtype=dtype)
    if not sparse.issparse(table):
        return np.ascontiguousarray(table, dtype=dtype)
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


def least(table: Any) -> float:
    """Return the least number in a dense or sparse table; 0 if it is empty."""
    values = table.data if sparse.issparse(table) else table
    return values.min().item() if values.size else 0
