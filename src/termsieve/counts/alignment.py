"""Two sets of classes or terms come in; their union, and tables rearranged to it, go out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.errors import InputError
from termsieve.labels import joined_classes

if TYPE_CHECKING:
    from termsieve.counts.table import Counts

Ints = NDArray[np.int64]


def union(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the classes of both, sorted."""
    if a.dtype.kind == b.dtype.kind and np.array_equal(a, b):
        return a
    try:
        return joined_classes(a, b)
    except InputError:
        raise InputError("the two Counts have labels of different types; use one type") from None


def union_terms(a: Counts, b: Counts) -> NDArray[Any] | None:
    """Return the terms of both, sorted if they differ; None if neither has names."""
    if a.terms is None or b.terms is None:
        if (a.terms is None) != (b.terms is None) or a.n_terms != b.n_terms:
            raise InputError(
                "Counts without term names add up only when all have the same columns; give terms="
            )
        return None
    if np.array_equal(a.terms, b.terms):
        return a.terms
    merged = np.empty(len(every := sorted(set(a.terms) | set(b.terms))), dtype=object)
    merged[:] = every
    return merged


def places(own: NDArray[Any] | None, among: NDArray[Any] | None, n: int = 0) -> NDArray[np.intp]:
    """Return the position of each of `own` in `among`; -1 if it is not there."""
    if own is None or among is None:
        if (own is None) != (among is None):
            raise InputError("only one of the two Counts has term names; give terms= to both")
        return np.arange(n)
    if own is among or np.array_equal(own, among):
        return np.arange(len(own))
    at = {name: i for i, name in enumerate(among.tolist())}
    return np.array([at.get(name, -1) for name in own.tolist()], dtype=np.intp)


def spread(vector: Ints, places: NDArray[np.intp], size: int) -> Ints:
    """Return a vector of `size` with the entries of `vector` at their new places."""
    moved_vector = np.zeros(size, dtype=vector.dtype)
    moved_vector[places[places >= 0]] = vector[places >= 0]
    return moved_vector


def moved(
    table: Any, rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int], large: bool
) -> Any:
    """Return a classes x terms table of `shape` with the cells of `table` at their new places."""
    if sparse.issparse(table) or large:
        cells = sparse.coo_array(table)
        row, column = rows[cells.row], columns[cells.col]
        kept = (row >= 0) & (column >= 0)
        return sparse.csr_array((cells.data[kept], (row[kept], column[kept])), shape=shape)
    cells_there = np.zeros(shape, dtype=table.dtype)
    cells_there[np.ix_(rows[rows >= 0], columns[columns >= 0])] = table[np.ix_(rows >= 0, columns >= 0)]
    return cells_there
