"""A ranking comes in; how sure its scores and ranks are goes out, from the counts alone."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from termsieve.errors import ParameterError
from termsieve.metrics import Floats, direction
from termsieve.ranking import Columns, Ranking, Tables
from termsieve.scores import Scores

# Where quantiles of a score are computed: a lattice of points in the unit square, by two neighbours of
# Fibonacci's series, that is even in each rate and in both together.
POINTS, STEP = 377, 233
# Where quantiles of a rate are computed; between these nodes they are interpolated to eight digits.
NODES = 25
BLOCK_TERMS = 500  # whose points are computed at a time
DRAWS = 200  # of all rates together, where ranks are compared
COMPETITORS = 500  # terms at least that are ranked against each other, the best ones; 5 per listed one


class Intervals(NamedTuple):
    """Of each of the best terms: bounds of its score and rank, and how often it is among the best."""

    low: Floats
    high: Floats
    rank_low: NDArray[np.int64]
    rank_high: NDArray[np.int64]
    in_list: Floats


def term_intervals(ranking: Ranking, k: int, level: float) -> Intervals:
    """Return the intervals of the scores and ranks of the best `k` terms, each of probability `level`.

    Given the class sizes, a term's document counts inside and outside its class are binomial. Their two rates
    are given Jeffreys' prior, so that a term that no document outside contains is not taken to be impossible
    there; an interval holds the middle `level` of the scores of such rates. The bounds of a score are
    computed on the scale with the direction's sign, so that chance does not push them away from zero.

    For ranks, the rates of the best terms (500, or five times `k`) are drawn 200 times, with a fixed seed, as
    if terms were independent given the class; the other terms keep their scores. `in_list` is the share of
    draws in which a term is among the best `k`. A term counts for the class that it tells most about.

    >>> from termsieve.counts import Counts
    >>> from termsieve.ranking import rank
    >>> from termsieve.scores import score
    >>> X = [[1, 0], [1, 1], [1, 0], [0, 0], [0, 1], [0, 0]]
    >>> counts = Counts.from_matrix(X, ["spam"] * 3 + ["ham"] * 3)
    >>> found = term_intervals(rank(score(counts.take(["spam"]), "risk_difference")), 2, 0.9)
    >>> found.low.round(2).tolist(), found.high.round(2).tolist()
    ([0.34, 0.0], [0.98, 0.51])
    """
    scores = _checked(ranking, level)
    n = min(len(ranking), max(COMPETITORS, 5 * k))
    columns = ranking.order[:n]
    tables = ranking.tables(columns)
    listed = slice(0, min(k, n))
    tails = ((1 - level) / 2, (1 + level) / 2)
    generator = np.random.default_rng(0)
    if scores.metric.standardised:
        from scipy.special import ndtri  # here, because importing it takes longer than most commands

        at = _shown_signed(ranking, columns)
        low, high = (at[listed] + ndtri(tail) for tail in tails)
        null = np.zeros(len(low))
        drawn = at + generator.standard_normal((DRAWS, n))
    else:
        low, high, null = _score_bounds(scores, tables, listed, tails)
        drawn = _signed(scores, *_drawn_tables(tables, generator))
    low, high = _shown_bounds(ranking, scores, low, high, null)
    drawn = _shown(ranking, scores, drawn)
    others = np.sort(ranking.scores[ranking.order[n:]])
    # The terms that are not drawn have their own scores.
    better = len(others) - np.searchsorted(others, drawn[:, listed], side="right")
    ranks = _ranks(drawn)[:, listed] + better
    rank_low, rank_high = np.quantile(ranks, tails, axis=0, method="inverted_cdf").astype(np.int64)
    return Intervals(low, high, rank_low, rank_high, (ranks <= k).mean(axis=0))


def _checked(ranking: Ranking, level: float) -> Scores:
    """Return the scores of each class, if intervals of them can be computed."""
    if not (isinstance(level, float) and 0 < level < 1):
        raise ParameterError(f"interval must be a number between 0 and 1, such as 0.95, not {level!r}")
    scores = ranking.class_scores
    if scores is None:
        raise ParameterError("an interval needs the scores of each class; rank with rank(score(...))")
    metric = scores.metric
    more = metric.needs or (metric.reads if scores.counts.occurrences else "")
    if more and not metric.standardised:
        raise ParameterError(f"metric '{metric}' reads {more}, and intervals need one of document counts")
    return scores


def _score_bounds(
    scores: Scores, tables: Tables, listed: slice, tails: tuple[float, float]
) -> tuple[Floats, Floats, Floats]:
    """Return both quantiles of the listed terms' signed scores, and the least score that has no sign."""
    swapped = np.arange(POINTS) * STEP % POINTS
    tp, fp, pos, neg = (np.asarray(part[listed], dtype=np.float64) for part in tables[1:])
    bounds = np.empty((2, len(tp)))
    for start in range(0, len(tp), BLOCK_TERMS):
        some = slice(start, start + BLOCK_TERMS)
        a, b, p, q = (part[some] for part in (tp, fp, pos, neg))
        inside = p[:, None] * _rate_quantiles(a, p)
        outside = q[:, None] * _rate_quantiles(b, q)[:, swapped]
        values = _signed(scores, *np.broadcast_arrays(inside, outside, p[:, None], q[:, None]))
        bounds[:, some] = np.quantile(values, tails, axis=1)
    share = (tp + fp) / np.maximum(pos + neg, 1)
    # A signed score passes through zero, which smoothing moves away from equal rates.
    null = 0.0 if scores.metric.kind == "signed" else scores.values_of(pos * share, neg * share, pos, neg)
    return bounds[0], bounds[1], np.broadcast_to(null, tp.shape)


def _rate_quantiles(found: Floats, of: Floats) -> Floats:
    """Return POINTS quantiles, even in probability, of rates with Jeffreys' prior: terms x points."""
    from scipy.special import betaincinv, logit

    at, matrix = _interpolation()
    nodes = logit(betaincinv(found[:, None] + 0.5, (of - found)[:, None] + 0.5, at))
    return 1 / (1 + np.exp(-(nodes @ matrix)))


@cache
def _interpolation() -> tuple[Floats, Floats]:
    """Return the probabilities of the nodes, and the matrix from values there to values at all points.

    The logarithm of a rate's odds is a smooth function of the normal quantile, almost a line.
    """
    from scipy.interpolate import BarycentricInterpolator
    from scipy.special import ndtr, ndtri

    points = ndtri((np.arange(POINTS) + 0.5) / POINTS)
    nodes = points[-1] * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES) / np.cos(np.pi / 2 / NODES)
    return ndtr(nodes), BarycentricInterpolator(nodes, np.eye(NODES))(points).T


def _drawn_tables(tables: Tables, generator: np.random.Generator) -> list[NDArray[np.float64]]:
    """Return tables with rates drawn from what is known of them, draws x terms."""
    _, tp, fp, pos, neg = tables
    size = (DRAWS, len(tp))
    inside = pos * generator.beta(tp + 0.5, pos - tp + 0.5, size)
    outside = neg * generator.beta(fp + 0.5, neg - fp + 0.5, size)
    return [np.broadcast_to(part, size).astype(np.float64) for part in (inside, outside, pos, neg)]


def _has_sign(scores: Scores) -> bool:
    """Whether terms for and against a class score on one scale, in opposite directions."""
    return scores.folded or scores.metric.kind in ("signed", "two-sided")


def _signed(scores: Scores, tp: Floats, fp: Floats, pos: Floats, neg: Floats) -> Floats:
    """Return the scores of tables, with the direction's sign where the metric has one for both kinds."""
    values = scores.values_of(tp, fp, pos, neg)
    if scores.metric.kind == "signed" or not _has_sign(scores):
        return values
    return values * direction(tp, fp, pos, neg)


def _shown_signed(ranking: Ranking, columns: Columns) -> Floats:
    """Return the signed scores of the terms' own classes, as they are in the ranking's scores."""
    assert ranking.class_scores is not None
    own = ranking.tables(columns).own
    values = np.empty(len(columns))
    for rows, block, _ in ranking.class_scores.blocks(columns):
        here = np.flatnonzero((own >= rows.start) & (own < rows.stop))
        values[here] = block[own[here] - rows.start, here]
    return values


def _shown(ranking: Ranking, scores: Scores, signed: Floats) -> Floats:
    """Return signed scores on the scale of the ranking's scores."""
    if ranking.prefers == "both":
        return np.abs(signed) if _has_sign(scores) else signed
    return signed if ranking.prefers == "positive" else -signed


def _shown_bounds(
    ranking: Ranking, scores: Scores, low: Floats, high: Floats, null: Floats
) -> tuple[Floats, Floats]:
    """Return signed bounds on the scale of the ranking's scores."""
    a, b = _shown(ranking, scores, low), _shown(ranking, scores, high)
    lower, upper = np.minimum(a, b), np.maximum(a, b)
    if ranking.prefers == "both" and _has_sign(scores):
        lower = np.where((low < 0) & (high > 0), np.minimum(null, lower), lower)
    return lower, upper


def _ranks(drawn: Floats) -> NDArray[np.int64]:
    """Return the rank of each term in each draw; of equal scores the better ranked stays first."""
    order = np.argsort(-drawn, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, drawn.shape[1] + 1)[None, :], axis=1)
    return ranks
