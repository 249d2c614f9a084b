"""Two Counts come in; the tables of their sum or difference, laid out over the classes and terms, go out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.counts import matrix as layout
from termsieve.counts.cells import least
from termsieve.errors import InputError
from termsieve.labels import joined_classes

if TYPE_CHECKING:
    from termsieve.counts.table import Counts

TABLES = ("tp", "pos", "df", "tf", "tf_total", "squares")  # of Counts
ROUNDING = 1e-12  # share of the documents by which sums of real weights may be wrong
Ints = NDArray[np.int64]


def combined(whole: Counts, part: Counts, sign: int) -> dict[str, Any]:
    """Return the tables and other arguments of the sum (+1) or the difference (-1) of two Counts."""
    if whole.occurrences != part.occurrences:
        raise InputError("only one of the two Counts has occurrences; count both with occurrences=True")
    if sign > 0:
        classes, terms = union(whole.classes, part.classes), union_terms(whole, part)
    else:
        classes, terms = whole.classes, whole.terms
    a, b = _aligned(whole, classes, terms), _aligned(part, classes, terms)
    if part.df.sum() != b[2].sum() or part.pos.sum() != b[1].sum():
        raise InputError(
            "the part has terms or classes that the whole does not have; subtract only a part of it"
        )
    tables = [None if x is None else x + sign * y for x, y in zip(a, b, strict=True)]
    n_docs = whole.n_docs + sign * part.n_docs
    weighted = whole.weighted or part.weighted
    lost = -ROUNDING * whole.n_docs if weighted else 0
    if sign < 0 and (n_docs < lost or any(least(table) < lost for table in tables if table is not None)):
        raise InputError("the difference falls below zero: some documents of the part are not in the whole")
    # If the sum of two such numbers does not fit into 64 bits, it becomes negative.
    if sign > 0 and any(least(table) < 0 for table in tables[4:] if table is not None):
        raise layout.too_many_occurrences()
    changes = dict(zip(TABLES, tables, strict=True))
    if terms is not whole.terms:
        changes["terms"] = terms
    multilabel = whole.multilabel or part.multilabel
    return changes | {"n_docs": n_docs, "classes": classes, "multilabel": multilabel, "weighted": weighted}


def _aligned(counts: Counts, classes: NDArray[Any], terms: NDArray[Any] | None) -> list[Any]:
    """Return the tables rearranged to `classes` and `terms`; other classes and terms are left out."""
    rows, columns = places(counts.classes, classes), places(counts.terms, terms, counts.n_terms)
    n_classes, n_terms = len(classes), counts.n_terms if terms is None else len(terms)
    large = n_classes * n_terms > layout.DENSE_CELLS
    tf, tf_total, squares = counts.tf, counts.tf_total, counts.squares
    return [
        moved(counts.tp, rows, columns, (n_classes, n_terms), large),
        spread(counts.pos, rows, n_classes),
        spread(counts.df, columns, n_terms),
        None if tf is None else moved(tf, rows, columns, (n_classes, n_terms), large),
        None if tf_total is None else spread(tf_total, columns, n_terms),
        None if squares is None else spread(squares, columns, n_terms),
    ]


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
