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
class Columns:
    """A matrix by columns, checked once; keep it to rank the columns of the same matrix again and again."""

    shape: tuple[int, int]
    indptr: Ints
    row: NDArray[np.int32]
    value: Floats  # empty if every value is 1

    @classmethod
    def of(cls, X: Any) -> Columns:
        """Return the columns of a matrix."""
        if isinstance(X, Columns):
            return X
        X = canonical(X).tocsc()
        indptr, row = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
        return cls(X.shape, indptr, row, _values_unless_ones(X))

    def ranked(self, order: Ints, lengths: Ints) -> tuple[Rows, Ints]:
        """Return the rows with the columns of `order`, and their ends among its first `lengths` columns.

        The lengths ascend, and the last is that of `order`.
        """
        start, ends, column, value = kernels.ranked_rows(
            self.indptr, self.row, self.value, order, self.shape[0], lengths
        )
        return Rows(start, ends[-1], column, value), ends


@dataclass(frozen=True)
class ColumnSets:
    """Column sets, and the rows with the columns of all sets, in one order.

    `positions` are the places of each set in that order, ascending; `nested` means that each set is a prefix
    of it. `ends` are the ends of the training and test rows at each of the `lengths` of nested sets.
    """

    train: Rows
    test: Rows
    candidates: Ints
    positions: list[Ints]
    nested: bool
    lengths: Ints
    ends: tuple[Ints, Ints]

    @classmethod
    def of(cls, X_train: Any, X_test: Any, sets: list[Ints]) -> ColumnSets:
        """Return the sets over the rows of two matrices."""
        nested = are_nested(sets)
        if nested:
            candidates = max(sets, key=len)
            lengths = np.unique([len(columns) for columns in sets])
            positions = [np.arange(len(columns)) for columns in sets]
        else:
            candidates = np.unique(np.concatenate(sets))
            lengths = np.array([len(candidates)])
            positions = [np.searchsorted(candidates, np.sort(columns)) for columns in sets]
        ranked = [Columns.of(X).ranked(candidates, lengths) for X in (X_train, X_test)]
        (train, train_ends), (test, test_ends) = ranked
        return cls(train, test, candidates, positions, nested, lengths, (train_ends, test_ends))

    def each(self) -> Iterator[tuple[Ints, Rows]]:
        """Yield each set's positions and the training rows on it, columns renumbered from 1."""
        for positions in self.positions:
            yield positions, self._on(positions, 0)

    def decisions(self, positions: Ints, w: Floats) -> Floats:
        """Return the decision values of the test documents by the weights of one set.

        Documents that are equal on the set get equal values, whatever else is in them: rows with the columns
        of other sets, at weight 0, would be added up in another order.
        """
        return self._on(positions, 1).decisions(w)

    def _on(self, positions: Ints, part: int) -> Rows:
        return self._prefix(positions, part) if self.nested else self._filtered(positions, part)

    def _prefix(self, positions: Ints, part: int) -> Rows:
        rows, ends = (self.train, self.test)[part], self.ends[part]
        return Rows(rows.start, ends[np.searchsorted(self.lengths, len(positions))], rows.column, rows.value)

    def _filtered(self, positions: Ints, part: int) -> Rows:
        rows = (self.train, self.test)[part]
        renamed = np.zeros(len(self.candidates) + 1, dtype=np.int32)
        renamed[positions + 1] = np.arange(1, len(positions) + 1)
        indptr = np.concatenate([rows.start, rows.end[-1:]])
        indptr, column, value = kernels.filtered_rows(indptr, rows.column, rows.value, renamed)
        return Rows(indptr[:-1], indptr[1:], column, value)
