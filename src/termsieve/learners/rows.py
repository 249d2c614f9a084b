"""Sparse matrices and sets of their columns come in; rows for the kernels go out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from termsieve.kernels import rows as kernels
from termsieve.matrices import canonical_csr

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@cache
def threads() -> ThreadpoolController:
    """Return the limiter of linear algebra threads, cached because finding the libraries is slow."""
    return ThreadpoolController()


def canonical(X: Any) -> Any:
    """Return a matrix as CSR without duplicate entries; it is returned as it is if possible."""
    return canonical_csr(X if sp.issparse(X) else np.asarray(X, dtype=np.float64))


def _values_unless_ones(X: Any) -> Floats:
    if X.dtype == bool or (X.data == 1).all():
        return np.empty(0)
    return X.data.astype(np.float64, copy=False)


@dataclass(frozen=True)
class Rows:
    """Sparse rows for the kernels; see termsieve.kernels.rows."""

    start: Ints
    end: Ints
    column: NDArray[np.int32]
    value: Floats

    @classmethod
    def of(cls, X: Any) -> Rows:
        """Return the rows of a matrix."""
        X = canonical(X)
        indptr = X.indptr.astype(np.int64)
        return cls(indptr[:-1], indptr[1:], X.indices.astype(np.int32) + np.int32(1), _values_unless_ones(X))

    def decisions(self, w: Floats) -> Floats:
        """Return w.x of each row, the intercept w[0] included."""
        out = np.empty(len(self.start))
        kernels.decisions(self.start, self.end, self.column, self.value, w, out)
        return out

    def summed(self, step: NDArray[Any], n_columns: int) -> Floats:
        """Return the sum of step * row, the intercept's feature first."""
        total = np.zeros(n_columns + 1)
        step = step.astype(np.float64, copy=False)
        kernels.add_rows(self.start, self.end, self.column, self.value, step, total)
        return total

    def merged(self, positive: NDArray[np.bool_]) -> Merged:
        """Return the distinct rows of either label."""
        first, weight, group = kernels.merged_rows(
            self.start, self.end, self.column, self.value, positive.view(np.uint8)
        )
        rows = Rows(self.start[first], self.end[first], self.column, self.value)
        return Merged(rows, np.where(positive[first], 1.0, -1.0), first, weight, group)

    def matrix(self, n_columns: int) -> sp.csr_array:
        """Return the rows as a matrix, column 1 first."""
        length = self.end - self.start
        indptr = np.concatenate([[0], np.cumsum(length)])
        entries = np.repeat(self.start - indptr[:-1], length) + np.arange(indptr[-1])
        data = self.value[entries] if len(self.value) else np.ones(len(entries))
        # LIBSVM takes indices of 32 bits only.
        return sp.csr_array(
            (data, self.column[entries] - 1, indptr.astype(np.int32)), shape=(len(length), n_columns)
        )


class Merged(NamedTuple):
    """The distinct rows of either label."""

    rows: Rows
    sign: Floats
    first: Ints  # a document with each distinct row
    weight: Floats  # the number of documents with each distinct row
    group: Ints  # the distinct row of each document


def are_nested(sets: list[Ints]) -> bool:
    """Return whether every set is a prefix of the longest."""
    if not sets:
        return False
    longest = max(sets, key=len)
    return all(np.array_equal(columns, longest[: len(columns)]) for columns in sets)


@dataclass(frozen=True)
class ColumnSets:
    """Column sets, and the rows with the columns of all sets, in one order.

    `positions` are the places of each set in that order, ascending; `nested` means that each set is a prefix
    of it.
    """

    train: Rows
    test: Rows
    candidates: Ints
    positions: list[Ints]
    nested: bool

    @classmethod
    def of(cls, X_train: Any, X_test: Any, sets: list[Ints]) -> ColumnSets:
        """Return the sets over the rows of two matrices."""
        nested = are_nested(sets)
        candidates = max(sets, key=len) if nested else np.unique(np.concatenate(sets))
        place = np.full(X_train.shape[1], -1, dtype=np.int32)
        place[candidates] = np.arange(len(candidates))
        train, test = (_ranked(canonical(X), place, len(candidates)) for X in (X_train, X_test))
        if nested:
            positions = [np.arange(len(columns)) for columns in sets]
        else:
            positions = [np.sort(place[columns]).astype(np.int64) for columns in sets]
        return cls(train, test, candidates, positions, nested)

    def each(self) -> Iterator[tuple[Ints, Rows, Rows]]:
        """Yield each set's positions and the training and test rows on it, columns renumbered from 1."""
        for positions in self.positions:
            yield positions, self._restricted(self.train, positions), self._restricted(self.test, positions)

    def _restricted(self, rows: Rows, positions: Ints) -> Rows:
        if self.nested:
            end = np.empty_like(rows.start)
            kernels.prefix_ends(rows.start, rows.end, rows.column, len(positions), end)
            return Rows(rows.start, end, rows.column, rows.value)
        renamed = np.zeros(len(self.candidates) + 1, dtype=np.int32)
        renamed[positions + 1] = np.arange(1, len(positions) + 1)
        indptr = np.concatenate([rows.start, rows.end[-1:]])
        indptr, column, value = kernels.filtered_rows(indptr, rows.column, rows.value, renamed)
        return Rows(indptr[:-1], indptr[1:], column, value)


def _ranked(X: Any, place: NDArray[np.int32], n_places: int) -> Rows:
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
    indptr, column, value = kernels.ranked_rows(indptr, indices, _values_unless_ones(X), place, n_places)
    return Rows(indptr[:-1], indptr[1:], column, value)
