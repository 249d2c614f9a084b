"""Scores come in; the key that each term is sorted by goes out."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.metrics import Floats, direction
from termsieve.scores import Block, Kinds, Scores

STORED_CELLS = 2**20  # that are scored at a time, of a sparse table


class Key(NamedTuple):
    """The sort key of terms: the group, if there are groups, then the value, both decreasing."""

    group: NDArray[np.int8] | None
    value: Floats

    def at(self, places: Any) -> Key:
        """Return the keys at some places."""
        return Key(None if self.group is None else self.group[places], self.value[places])


class _Cells(NamedTuple):
    """The scores of some 2x2 tables, with what a block of classes has."""

    values: Floats
    direction: NDArray[np.int8]


def _key(scores: Scores, block: Block | _Cells, side: str, alpha: float | None) -> Key:
    """Return the keys of a block of classes, or of single cells.

    The positive side sorts signed metrics by value, the others by direction and then by signed score; the
    negative side is its mirror image.
    """
    metric, values = scores.metric, block.values
    if side == "both":
        value = np.abs(values) if metric.kind == "signed" else values
        return Key(None, value if alpha is None else value * np.where(block.direction > 0, alpha, 1 - alpha))
    sign = 1 if side == "positive" else -1
    if metric.kind == "signed":
        return Key(None, sign * values)
    signs = block.direction
    signed = values * signs if metric.kind == "two-sided" or scores.folded else values
    return Key(sign * signs, sign * signed)


def combined_key(scores: Scores, side: str, alpha: float | None, combine: str) -> tuple[Key, Kinds]:
    """Return one key over all classes per distinct column, and for each column its distinct column."""
    if combine == "max" and scores.elementwise and scores.counts.is_sparse:
        return _stored_key(scores, side, alpha), np.arange(scores.counts.n_terms, dtype=np.int32)
    if side == "both" and alpha is None and combine == "max":
        value, kind = scores.greatest()
        return Key(None, value), kind
    blocks, kind = scores.distinct()
    pos = scores.counts.pos
    keys = ((block.rows, _key(scores, block, side, alpha)) for block in blocks)
    if combine == "mean":
        # Added class by class, so that equal terms have exactly equal sums.
        weighed = (size * row for rows, key in keys for size, row in zip(pos[rows], key.value, strict=True))
        return Key(None, sum(weighed, start=np.float64(0)) / max(1, pos.sum())), kind
    return reduce(_greater, (_greatest(key) for _, key in keys)), kind


def _greatest(key: Key) -> Key:
    """Return the greatest key of each column."""
    if key.group is None:
        return Key(None, key.value.max(axis=0))
    group = key.group.max(axis=0)
    return Key(group, np.where(key.group == group, key.value, -np.inf).max(axis=0))


def _greater(a: Key, b: Key) -> Key:
    """Return the greater of two keys, column by column."""
    if a.group is None or b.group is None:
        return Key(None, np.maximum(a.value, b.value))
    return _greatest(Key(np.stack([a.group, b.group]), np.stack([a.value, b.value])))


def _stored_key(scores: Scores, side: str, alpha: float | None) -> Key:
    """Return the greatest key of each column of a sparse table, without scoring each class and term.

    A million classes and 100,000 terms are 10**11 cells, of which next to all are zero. The score of such a
    cell depends on the sizes of its class and of its term alone, so it is computed once per size.
    """
    counts = scores.counts
    table = sparse.csc_array(counts.tp)
    table.eliminate_zeros()
    best = _key_of_zeros(scores, table, side, alpha)
    n_cells, n_terms = np.diff(table.indptr), table.shape[1]
    start = 0
    while start < n_terms:
        full = np.searchsorted(table.indptr, table.indptr[start] + STORED_CELLS, side="right") - 1
        stop = min(n_terms, max(start + 1, int(full)))
        has_cells = np.flatnonzero(n_cells[start:stop]) + start
        if len(has_cells):
            cells = slice(table.indptr[start], table.indptr[stop])
            of = np.repeat(np.arange(start, stop), n_cells[start:stop])
            tp, classes = table.data[cells], table.indices[cells]
            found = _cells(scores, tp, counts.df[of] - tp, counts.pos[classes], counts.neg[classes])
            key = _greatest_stored(_key(scores, found, side, alpha), table.indptr[has_cells] - cells.start)
            key = _greater(best.at(has_cells), key)
            best.value[has_cells] = key.value
            if best.group is not None and key.group is not None:
                best.group[has_cells] = key.group
        start = stop
    return best


def _cells(scores: Scores, tp: Any, fp: Any, pos: Any, neg: Any) -> _Cells:
    """Return the scores of single tables."""
    values = scores.values_of(tp, fp, pos, neg)
    if scores.metric.kind == "signed":
        return _Cells(values, np.sign(values).astype(np.int8))
    return _Cells(values, direction(tp, fp, pos, neg))


def _greatest_stored(key: Key, starts: NDArray[Any]) -> Key:
    """Return the greatest key of each run of cells that begins at one of `starts`."""
    if key.group is None:
        return Key(None, np.maximum.reduceat(key.value, starts))
    group = np.maximum.reduceat(key.group, starts)
    lengths = np.diff(starts, append=len(key.value))
    value = np.where(key.group == np.repeat(group, lengths), key.value, -np.inf)
    return Key(group, np.maximum.reduceat(value, starts))


def _key_of_zeros(scores: Scores, table: sparse.csc_array, side: str, alpha: float | None) -> Key:
    """Return the greatest key of each column over the classes that no document with the term belongs to."""
    counts, n_terms = scores.counts, table.shape[1]
    sizes, size_of, n_classes = np.unique(counts.pos, return_inverse=True, return_counts=True)
    of = np.repeat(np.arange(n_terms), np.diff(table.indptr))
    ones = np.ones(table.nnz, dtype=np.int64)
    stored = sparse.csr_array((ones, (size_of[table.indices], of)), shape=(len(sizes), n_terms))
    frequencies, frequency_of = np.unique(counts.df, return_inverse=True)
    best = Key(np.full(n_terms, -2, dtype=np.int8), np.full(n_terms, -np.inf))  # below every other key
    for at, pos in enumerate(sizes):
        neg = counts.n_docs - pos
        fp = np.minimum(frequencies, neg)  # a term in more documents is in each class of this size
        tables = np.broadcast_arrays(np.zeros_like(fp), fp, pos, neg)
        key = _key(scores, _cells(scores, *tables), side, alpha).at(frequency_of)
        everywhere = stored[[at]].toarray()[0] == n_classes[at]
        key.value[everywhere] = -np.inf
        if key.group is not None:
            key.group[everywhere] = -2
        best = _greater(best, key)
    return best
