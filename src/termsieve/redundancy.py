"""Documents and a Ranking come in; the best terms without redundant ones go out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.counts.matrix import presence_matrix
from termsieve.errors import ParameterError
from termsieve.metrics import Floats
from termsieve.ranking import Columns, Ranking, cut

BLOCK = 256  # candidates compared at a time
ROUNDING = 1e-9  # the computed correlation of two equal columns may be smaller than 1 by this


def distinct_cut(X: Any, ranking: Ranking, limit: float, **cutoff: Any) -> Columns:
    """Return the columns that a cut-off keeps, the best first, without redundant terms.

    A term is left out if its presence in the documents X has a correlation (absolute value of phi) of `limit`
    or more with the presence of a better term that was kept; the next term takes its place. Each candidate is
    compared only with the kept terms in its own documents, so for a fixed number of kept terms the cost is
    linear in the size of the matrix. A `fraction` is a share of all ranked terms, as without a limit.

    >>> from termsieve.ranking import rank
    >>> from termsieve.scores import score
    >>> from termsieve.counts import Counts
    >>> X, y = [[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]], [1, 1, 1, 0, 0]
    >>> ranking = rank(score(Counts.from_matrix(X, y)))
    >>> cut(ranking, k=2).tolist(), distinct_cut(X, ranking, 0.9, k=2).tolist()
    ([0, 1], [0, 2])
    """
    numeric = isinstance(limit, (int, float, np.number)) and not isinstance(limit, bool)
    if not numeric or not 0 < limit <= 1:
        raise ParameterError(f"redundancy must be a number above 0 and at most 1, not {limit!r}")
    if cutoff.get("fraction") is not None:
        cutoff = {"k": max(1, len(cut(ranking, **cutoff)))}
    kept = np.zeros(0, dtype=np.int64)
    for more in _distinct_blocks(X, ranking.order, ranking.counts.df, limit):
        kept = np.concatenate([kept, more])
        chosen = cut(Ranking(kept, ranking.scores, ranking.counts), **cutoff)
        if len(chosen) < len(kept):
            return chosen
    return kept


def _distinct_blocks(X: Any, order: Columns, df: NDArray[np.int64], limit: float) -> Iterator[Columns]:
    """Yield the columns that are not redundant, in their order, some at a time."""
    _, matrix = presence_matrix(X)
    columns = sparse.csc_array(matrix)
    columns = sparse.csc_array((np.ones(columns.nnz), columns.indices, columns.indptr), columns.shape)
    n_docs = columns.shape[0]
    kept = np.zeros(0, dtype=np.int64)
    kept_rows = sparse.csr_array((n_docs, 0))
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        candidates = columns[:, block]
        by_term = candidates.T.tocsr()
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
