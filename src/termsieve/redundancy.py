"""Documents and a Ranking come in; the best terms without redundant ones go out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.counts import Counts
from termsieve.counts.matrix import presence_matrix
from termsieve.counts.weights import checked_weights, grid_weights
from termsieve.errors import ParameterError
from termsieve.metrics import Floats, get_metric
from termsieve.ranking import TESTS, Columns, Ranking, cut

BLOCK = 256  # candidates compared at a time
MRMR = "mrmr"
CANDIDATES = 200  # first terms at least that mRMR chooses from
ROUNDING = 1e-9  # the computed correlation of two equal columns may be smaller than 1 by this


def distinct_cut(
    X: Any, ranking: Ranking, redundancy: float | str, sample_weight: Any = None, **cutoff: Any
) -> Columns:
    """Return the columns that a cut-off keeps, the best first, without redundant terms.

    If `redundancy` is a number, a term is left out if its presence in the documents X has a correlation
    (absolute value of phi) of that or more with the presence of a better term that was kept; the next term
    takes its place. Each candidate is compared only with the kept terms in its own documents, so for a fixed
    number of kept terms the cost is linear in the size of the matrix. A `fraction` is a share of all ranked
    terms, as without a limit.

    If it is "mrmr", as many terms as the cut-off keeps are chosen among the first ones, five times as many
    and at least 200, by minimal redundancy and maximal relevance (Peng, Long and Ding 2005): the best term
    first, then always the term with the greatest information gain about its class less the mean mutual
    information with the terms chosen before. A term that is in exactly the same documents as a chosen one is
    left out.

    The terms that the ranking keeps are added. `sample_weight` is that of the ranking's counts.

    >>> from termsieve.ranking import rank
    >>> from termsieve.scores import score
    >>> X, y = [[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]], [1, 1, 1, 0, 0]
    >>> ranking = rank(score(Counts.from_matrix(X, y)))
    >>> cut(ranking, k=2).tolist(), distinct_cut(X, ranking, 0.9, k=2).tolist()
    ([0, 1], [0, 2])
    """
    plain = replace(ranking, keep=np.zeros(0, dtype=np.int64))
    if redundancy == MRMR:
        chosen = _mrmr(_Documents(X, sample_weight), plain, len(cut(plain, **cutoff)))
    else:
        chosen = _distinct(_Documents(X, sample_weight), plain, _checked_limit(redundancy), cutoff)
    return np.concatenate([chosen, ranking.keep[~np.isin(ranking.keep, chosen)]])


def _checked_limit(limit: Any) -> float:
    numeric = isinstance(limit, (int, float, np.number)) and not isinstance(limit, bool)
    if not numeric or not 0 < limit <= 1:
        raise ParameterError(f"redundancy must be a number above 0 and at most 1, or 'mrmr', not {limit!r}")
    return float(limit)


class _Documents:
    """The documents of terms, for sums of the weights of the documents that two terms share."""

    def __init__(self, X: Any, sample_weight: Any) -> None:
        _, matrix = presence_matrix(X)
        columns = sparse.csc_array(matrix)
        self.columns = sparse.csc_array(
            (np.ones(columns.nnz), columns.indices, columns.indptr), columns.shape
        )
        weights = checked_weights(sample_weight, columns.shape[0])
        self.weights = None if weights is None else grid_weights(weights).astype(np.float64)

    def weighed(self, terms: sparse.csc_array) -> sparse.csr_array:
        """Return terms x documents with the weight of each document, from documents x terms."""
        by_term = terms.T.tocsr()
        return by_term if self.weights is None else sparse.csr_array(by_term.multiply(self.weights[None, :]))


def _distinct(documents: _Documents, ranking: Ranking, limit: float, cutoff: dict[str, Any]) -> Columns:
    """Return the terms that a cut-off keeps of those that correlate less than `limit` with better ones."""
    tests = [name for name in TESTS if cutoff.get(name) is not None]
    if tests:  # they are tests over all terms, so they come first
        ranking, cutoff = replace(ranking, order=cut(ranking, **cutoff)), {"k": max(1, len(ranking))}
    if cutoff.get("fraction") is not None:
        cutoff = {"k": max(1, len(cut(ranking, **cutoff)))}
    kept = np.zeros(0, dtype=np.int64)
    for more in _distinct_blocks(documents, ranking.order, ranking.counts, limit):
        kept = np.concatenate([kept, more])
        chosen = cut(replace(ranking, order=kept), **cutoff)
        if len(chosen) < len(kept):
            return chosen
    return kept


def _mrmr(documents: _Documents, ranking: Ranking, n: int) -> Columns:
    """Return `n` of the first terms, chosen one after the other by relevance less mean redundancy."""
    columns = ranking.order[: max(CANDIDATES, 5 * n)]
    counts = ranking.counts
    df, n_docs = counts.df[columns].astype(np.float64), float(counts.n_docs)
    gain = get_metric("information_gain")
    relevance = np.zeros(len(columns))
    for rows, tp, fp in counts.blocks(columns=columns):
        sizes = counts.pos[rows, None], counts.neg[rows, None]
        relevance = np.maximum(relevance, gain(tp, fp, *sizes).max(axis=0, initial=0.0))
    candidates = documents.columns[:, columns]
    by_term = documents.weighed(candidates)
    shared = np.zeros(len(columns))  # information with all terms chosen so far
    free = np.ones(len(columns), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < n and free.any():
        value = relevance - shared / max(1, len(chosen))
        best = int(np.where(free, value, -np.inf).argmax())
        chosen.append(best)
        together = (by_term @ candidates[:, [best]]).toarray().ravel()
        # The term is to the other what a class is to a term: a rate inside its documents and one outside.
        shared += gain(together, df - together, df[best], n_docs - df[best])
        free &= (together < df - ROUNDING * n_docs) | (together < df[best] - ROUNDING * n_docs)
    return columns[chosen]


def _distinct_blocks(
    documents: _Documents, order: Columns, counts: Counts, limit: float
) -> Iterator[Columns]:
    """Yield the columns that are not redundant, in their order, some at a time."""
    columns, df, n_docs = documents.columns, counts.df, counts.n_docs
    kept = np.zeros(0, dtype=np.int64)
    kept_rows = sparse.csr_array((columns.shape[0], 0))
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        candidates = columns[:, block]
        by_term = documents.weighed(candidates)
        together = (by_term @ kept_rows).toarray()
        free = np.logical_not(_repeats(together, df[block], df[kept], n_docs, limit)).all(axis=1)
        repeats = _repeats((by_term @ candidates).toarray(), df[block], df[block], n_docs, limit)
        for i in np.flatnonzero(free):
            free[i + 1 :] &= ~repeats[i, i + 1 :] | ~free[i]
        if free.any():
            yield block[free]
            kept = np.concatenate([kept, block[free]])
            kept_rows = sparse.hstack([kept_rows, candidates[:, free]], format="csr")


def _repeats(
    together: Floats, df: NDArray[np.int64], other_df: NDArray[np.int64], n_docs: int, limit: float
) -> Any:
    """Return which terms correlate by the limit or more, from the number of documents that have both.

    The correlation of a term in all documents is not defined; such terms count as equal.
    """
    a, b = df[:, None].astype(np.float64), other_df[None, :].astype(np.float64)
    spread = np.sqrt(a * (n_docs - a) * b * (n_docs - b))
    phi = np.abs(n_docs * together - a * b) / np.where(spread == 0, 1, spread)
    return np.where(spread == 0, (a == n_docs) & (b == n_docs), phi >= limit - ROUNDING)
