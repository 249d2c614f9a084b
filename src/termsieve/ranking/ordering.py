"""Scores come in; a Ranking of the terms goes out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from termsieve.counts import matrix as layout
from termsieve.counts.table import Counts
from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.kernels import ranking as kernel
from termsieve.limits import document_limits
from termsieve.metrics import METRICS, Floats
from termsieve.ranking.keys import Key, combined_key
from termsieve.ranking.ranked import Columns, Combine, Ranking, Side
from termsieve.scores import Kinds, Scores

NO_GROUPS = np.zeros(0, dtype=np.int8)


def rank(
    scores: Scores,
    side: Side = "both",
    ratio: float | None = None,
    alpha: float | None = None,
    combine: Combine = "max",
    min_df: float = 1,
    max_df: float = 1.0,
    keep: Iterable[str | int] = (),
    drop: Iterable[str | int] = (),
) -> Ranking:
    """Return the terms from best to worst.

    Terms with equal scores are ordered by document frequency, the most frequent first, then by column.

    Parameters
    ----------
    scores : Scores
        The scores of the terms for each class; see :func:`termsieve.score`.
    side : {"both", "positive", "negative"}, default="both"
        Which terms come first: those that speak for the class, those that speak against it, or both alike.
    ratio : float, optional
        Of any number of best terms, this share has the greatest signed scores and the rest the smallest
        (zheng2004).
    alpha : float, optional
        The scores of positive terms are multiplied by alpha, those of negative terms by 1 - alpha
        (forman2003).
    combine : {"max", "mean", "round_robin", "joint"}, default="max"
        How the scores of several classes become one ranking: by the greatest score, by the mean weighted by
        class size, in turns (each class takes its best term that is not yet taken), or by the metric's own
        form over all classes.
    min_df, max_df : int or float, default=1 and 1.0
        Terms in fewer than `min_df` or in more than `max_df` documents are left out; a float is a share of
        the documents.
    keep, drop : iterable of str or int, optional
        Terms, or their columns, that every cut-off keeps in addition to its own, whatever their document
        frequency, and terms that are left out. Terms that the counts do not have are ignored.

    Returns
    -------
    Ranking
        The ranked terms.

    Examples
    --------
    >>> from termsieve.counts import Counts
    >>> from termsieve.scores import score
    >>> X, y = [[1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0]], ["spam", "spam", "ham"]
    >>> counts = Counts.from_matrix(X, y, terms=["buy", "now", "hi", "ltd"])
    >>> rank(score(counts, "chi_squared")).terms.tolist()
    ['buy', 'hi', 'ltd', 'now']
    """
    _check(scores, side, ratio, alpha, combine)
    counts = scores.counts
    kept = counts.columns(keep, "keep")
    base, kept = _eligible(counts, min_df, max_df, kept, counts.columns(drop, "drop"))
    if combine == "joint":
        value = _joint(scores)
        ranking = Ranking(_sorted(base, Key(None, value), np.arange(len(value))), value, counts)
    elif combine == "round_robin":
        ranking = _round_robin(scores, base, side, ratio, alpha)
    else:
        ranking = _by_key(scores, base, side, ratio, alpha, combine)
    prefers = side if ratio is None else "positive"
    return replace(ranking, class_scores=scores, prefers=prefers, combine=combine, alpha=alpha, keep=kept)


def _eligible(
    counts: Counts, min_df: float, max_df: float, kept: Columns, dropped: Columns
) -> tuple[Columns, Columns]:
    """Return the columns that are ranked, in the order of ties, and those of `kept` that are not dropped."""
    # A term in documents of any weight is in at least one, though their weights may be below 1.
    any_weight = counts.weighted and min_df == 1
    low, high = document_limits(counts.n_docs, 0.0 if any_weight else min_df, max_df)
    if len(kept) == len(dropped) == 0:  # a stretch, because ties are ordered by document frequency
        end, least = (bisect_left, 0.0) if any_weight else (bisect_right, -low)
        first = bisect_left(counts.by_df, -high, key=lambda column: -counts.df[column])
        last = end(counts.by_df, least, key=lambda column: -counts.df[column])
        return counts.by_df[first:last], kept
    rare = counts.df <= 0 if any_weight else counts.df < low
    eligible = ~(rare | (counts.df > high))
    eligible[kept] = True
    eligible[dropped] = False
    return counts.by_df[eligible[counts.by_df]], kept[eligible[kept]]


def _check(scores: Scores, side: Any, ratio: Any, alpha: Any, combine: Any) -> None:
    if side not in get_args(Side):
        raise unknown_name("side", side, get_args(Side))
    if combine not in get_args(Combine):
        raise unknown_name("combine", combine, get_args(Combine))
    for name, share in (("ratio", ratio), ("alpha", alpha)):
        if share is not None and not (isinstance(share, (int, float, np.number)) and 0 <= share <= 1):
            raise ParameterError(f"{name} must lie between 0 and 1, not {share!r}")
    chosen = [
        f"{name}={value!r}" for name, value in (("ratio", ratio), ("alpha", alpha)) if value is not None
    ]
    if side != "both":
        chosen.append(f"side={side!r}")
    if combine == "joint":
        chosen.append("combine='joint'")
    if len(chosen) > 1:
        raise ParameterError(f"{' and '.join(chosen)} exclude each other; choose one")
    if scores.counts.n_classes == 0:
        raise InputError("there is no class to rank for; y must hold at least one label")


def _joint(scores: Scores) -> Floats:
    """Return one score per term: the metric's form over all classes."""
    counts, metric = scores.counts, scores.metric
    if metric.joint is None:
        having = ", ".join(name for name, entry in METRICS.items() if entry.joint)
        raise ParameterError(f"metric '{metric}' has no joint form; these metrics have one: {having}")
    if counts.multilabel or counts.pos.sum() != counts.n_docs:
        raise InputError("combine='joint' needs exactly one label per document; use 'max' or 'round_robin'")
    tables = [tp for _, tp, _ in counts.blocks()]
    if len(tables) > 1:
        raise InputError("combine='joint' needs all classes at once, and there are too many; use 'max'")
    return metric.joint(tables[0].astype(np.float64), counts.pos.astype(np.float64), **metric.parameters)


def _sorted(base: Columns, key: Key, kind: Kinds) -> Columns:
    """Return the columns of `base` by decreasing key; ties keep the order of `base`."""
    value = np.ascontiguousarray(key.value, dtype=np.float64)
    return kernel.ordered(base, kind, value, NO_GROUPS if key.group is None else key.group)


def _spread(key: Key, kind: Kinds) -> Floats:
    """Return the value of each column."""
    return kernel.spread(np.ascontiguousarray(key.value, dtype=np.float64), kind)


def interleaved(positive: Columns, negative: Columns, ratio: float) -> Columns:
    """Return the order in which any first l terms contain ratio * l, rounded half up, of `positive`.

    Parameters
    ----------
    positive : ndarray of int
        The columns of positive terms, the best first.
    negative : ndarray of int
        The columns of negative terms, the best first.
    ratio : float
        Share of positive terms.

    Returns
    -------
    ndarray of int
        The columns in their order.
    """
    steps = np.arange(len(positive) + 1)
    n_positive = np.floor(np.round(ratio * steps, 9) + 0.5)
    return kernel.interleaved(positive, negative, (np.diff(n_positive) > 0).astype(np.uint8))


def _by_key(
    scores: Scores, base: Columns, side: str, ratio: float | None, alpha: float | None, combine: str
) -> Ranking:
    if ratio is None:
        key, kind = combined_key(scores, side, alpha, combine)
        return Ranking(_sorted(base, key, kind), _spread(key, kind), scores.counts)
    key, kind = combined_key(scores, "positive", None, combine)
    negative, _ = combined_key(scores, "negative", None, combine)
    order = interleaved(_sorted(base, key, kind), _sorted(base, negative, kind), ratio)
    return Ranking(order, _spread(key, kind), scores.counts)


def _round_robin(
    scores: Scores, base: Columns, side: str, ratio: float | None, alpha: float | None
) -> Ranking:
    counts = scores.counts
    if counts.n_classes * len(base) > 8 * layout.DENSE_CELLS:
        raise InputError(
            "combine='round_robin' needs all rankings at once, and there are too many; use 'max'"
        )
    orders = [
        _by_key(Scores(counts.take([c]), scores.metric, scores.folded), base, side, ratio, alpha, "max").order
        for c in range(counts.n_classes)
    ]
    key, kind = combined_key(scores, side if ratio is None else "positive", alpha, "max")
    return Ranking(kernel.round_robin(np.array(orders, dtype=np.int64)), _spread(key, kind), counts)
