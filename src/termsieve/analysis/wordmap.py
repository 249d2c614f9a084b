"""Counts of a class come in; the scores and ranks of all its words, in small arrays, go out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from termsieve.counts import Counts
from termsieve.counts.cells import dense_rows
from termsieve.metrics import Metric
from termsieve.scores import score

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScoredTables:
    """The distinct 2x2 tables of a class's words, and their scores by some metrics.

    Words with equal tables have equal scores, so a page needs the scores of the tables only. If a metric
    reads more than the table (`shared` is False), every word has a row of its own.

    Attributes
    ----------
    tp, fp : array
        The documents inside and outside the class.
    words : array
        Number of words with this table.
    scores : array of shape (n_metrics, n_tables)
        The scores.
    ranks : array of shape (n_metrics, n_tables)
        The rank of the words among all words for and against the class; words with equal scores share the
        best rank.
    of_word : array
        For each column of the counts the position of its table; -1 for words in no document.
    shared : bool
        Whether words with equal tables share a row.
    """

    tp: Ints
    fp: Ints
    words: Ints
    scores: Floats
    ranks: Ints
    of_word: Ints
    shared: bool


def scored_tables(counts: Counts, metrics: Sequence[Metric]) -> ScoredTables:
    """Return the scores and ranks of all words of counts with a single class.

    >>> from termsieve.metrics import get_metric
    >>> X = [[1, 0, 1], [1, 0, 1], [0, 1, 0]]
    >>> found = scored_tables(Counts.from_matrix(X, ["a", "a", "b"]).take(["a"]), [get_metric("bns")])
    >>> found.tp.tolist(), found.words.tolist(), found.ranks.tolist(), found.of_word.tolist()
    ([0, 2], [1, 2], [[1, 1]], [1, 0, 1])
    """
    present = np.flatnonzero(counts.df)
    tp = dense_rows(counts.tp, slice(0, 1))[0][present]
    fp = counts.df[present] - tp
    shared = all(metric.elementwise and not metric.by_name for metric in metrics)
    if shared:
        place = tp * (counts.n_docs + 1) + fp
        _, first, which, size = np.unique(place, return_index=True, return_inverse=True, return_counts=True)
    else:
        first = which = np.arange(len(present))
        size = np.ones(len(present), dtype=np.int64)
    scores = np.stack([_scores(counts, metric, present[first]) for metric in metrics])
    ranks = np.stack([_ranks(np.abs(row), size) for row in scores])
    of_word = np.full(counts.n_terms, -1)
    of_word[present] = which
    return ScoredTables(tp[first], fp[first], size, scores, ranks, of_word, shared)


def _scores(counts: Counts, metric: Metric, columns: Ints) -> Floats:
    (values,) = [block for _, block, _ in score(counts, metric).blocks(columns)]
    return values[0]


def _ranks(heights: Floats, size: Ints) -> Ints:
    """Return 1 plus the number of words with a greater score."""
    order = np.argsort(-heights, kind="stable")
    ranks = np.empty(len(heights), dtype=np.int64)
    ranks[order] = 1 + np.concatenate([[0], np.cumsum(size[order])[:-1]])
    # Tables with equal scores have the rank of the first of them.
    _, first, group = np.unique(-heights[order], return_index=True, return_inverse=True)
    ranks[order] = ranks[order][first][group]
    return ranks


def best_for(counts: Counts, tables: ScoredTables, n: int, metric: int = 0) -> list[int]:
    """Return the columns of the n best words for the only class of the counts, by one of the metrics."""
    speaks = tables.tp * counts.neg[0] > tables.fp * counts.pos[0]
    rank = np.where(speaks, tables.ranks[metric], np.iinfo(np.int64).max)
    of_word = np.where(tables.of_word >= 0, rank[tables.of_word], np.iinfo(np.int64).max)
    order = np.lexsort((-counts.df, of_word))[:n]
    return [int(column) for column in order if of_word[column] < np.iinfo(np.int64).max]
