"""Counts of a class come in; its terms as points of the ROC plane and lines of equal score go out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from termsieve.analysis.contours import RESOLUTION, score_grid
from termsieve.analysis.of_counts import shown
from termsieve.counts import Counts
from termsieve.errors import InputError, ParameterError
from termsieve.metrics import Metric, get_metric
from termsieve.ranking import rank
from termsieve.scores import score
from termsieve.telling import MetricSpec, one_problem
from termsieve.terms.languages import stop_word_language, stop_word_set

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000)
MAX_METRICS = 12  # as many as forman2003 compares
POINT_LETTERS = 160  # letters of all words of a point
METRICS = ("bns", "information_gain")
FREQUENT = 50  # terms whose language is that of the stop words
RARE = 3  # documents: the usual limit of rare words


class RocMap(NamedTuple):
    """The content of the ROC map of one class: its terms as `points`, and `lines` per metric and size k.

    `pos` and `neg` are the numbers of documents inside and outside the class.

    Parameters
    ----------
    points : polars.DataFrame
        The terms, as `term_points` gives them.
    lines : polars.DataFrame
        The lines, as `isoclines` gives them.
    metrics : tuple of str
        The names of the metrics.
    pos : int
        Number of documents in the class.
    neg : int
        Number of documents outside the class.
    cutoffs : polars.DataFrame, optional
        The lines of equal document frequency, as `cutoff_lines` gives them.
    """

    points: pl.DataFrame
    lines: pl.DataFrame
    metrics: tuple[str, ...]
    pos: int
    neg: int
    cutoffs: pl.DataFrame | None = None

    @property
    def table(self) -> pl.DataFrame:
        """The points: the numbers that are shown as a table."""
        return self.points


def roc_map(
    counts: Counts,
    label: Any = None,
    metrics: Sequence[MetricSpec] = METRICS,
    sizes: Sequence[int] = SIZES,
    max_points: int = 3000,
    resolution: int = RESOLUTION,
    stop_words: str | Collection[str] | None = None,
    cutoffs: Sequence[int] = (),
) -> RocMap:
    """Return `term_points` of a class and the `isoclines` of up to twelve metrics.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    label : label, optional
        The class; it can be left out if there is only one problem, as with two classes.
    metrics : sequence of str, Metric or callable, default=("bns", "information_gain")
        At most twelve metrics.
    sizes : sequence of int, default=(10, 20, 50, 100, 200, 500, 1000, 2000)
        The numbers of terms that lines are drawn for.
    max_points : int, default=3000
        Largest number of points.
    resolution : int, default=160
        Number of grid points per axis of the lines.
    stop_words : str or collection of str, optional
        The stop words to mark: the name of a language, such as "english", or the words.
    cutoffs : sequence of int, default=()
        Document frequencies whose lines are drawn, such as the limits of rare and of common words.

    Returns
    -------
    RocMap
        The points, the lines and the numbers of documents.
    """
    if not 1 <= len(metrics) <= MAX_METRICS:
        raise ParameterError(f"a map holds 1 to {MAX_METRICS} metrics, not {len(metrics)}")
    own = one_problem(counts, label)
    chosen = [get_metric(each) for each in metrics]
    return RocMap(
        term_points(own, own.classes[0], chosen, max_points, stop_words=stop_words),
        isoclines(own, own.classes[0], chosen, sizes, resolution),
        tuple(map(str, chosen)),
        int(own.pos[0]),
        int(own.neg[0]),
        cutoff_lines(int(own.pos[0]), int(own.neg[0]), cutoffs) if len(cutoffs) else None,
    )


def term_points(
    counts: Counts,
    label: Any = None,
    metrics: Sequence[MetricSpec] = METRICS,
    max_points: int = 3000,
    max_words: int = 8,
    stop_words: str | Collection[str] | None = None,
) -> pl.DataFrame:
    """Return the distinct points (fp, tp) of a class: how many terms share each, and the first of them.

    If there are more than `max_points`, the best by any of the metrics are kept. `words` holds up to
    `max_words` terms.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    label : label, optional
        The class; it can be left out if there is only one problem, as with two classes.
    metrics : sequence of str, Metric or callable, default=("bns", "information_gain")
        The metrics, by name or as objects.
    max_points : int, default=3000
        Largest number of points.
    max_words : int, default=8
        Largest number of words named per point.
    stop_words : str or collection of str, optional
        The stop words to count: the name of a language, such as "english", or the words.

    Returns
    -------
    polars.DataFrame
        One row per point: fp, tp, terms, words, and with `stop_words` how many of the terms are stop words
        (`stop`).
    """
    own = one_problem(counts, label)
    tp, fp = own.tp[0], own.df - own.tp[0]
    present = np.flatnonzero(own.df)
    if not len(present):
        raise InputError("no term occurs in any document, so there is no point to draw")
    place = tp[present] * (own.n_docs + 1) + fp[present]
    _, first, which, size = np.unique(place, return_index=True, return_inverse=True, return_counts=True)
    best = np.full(len(first), np.inf)
    for chosen in metrics:
        position = np.empty(own.n_terms)
        order = rank(score(own, chosen)).order
        position[order] = np.arange(len(order))
        np.minimum.at(best, which, position[present])
    kept = np.sort(np.argsort(best, kind="stable")[:max_points])
    groups = np.split(np.argsort(which, kind="stable"), np.cumsum(size)[:-1])
    names = own.names()
    words = [_listed(names[present[groups[g][:max_words]]], int(size[g])) for g in kept]
    at = present[first[kept]]
    points = pl.DataFrame(
        {"fp": fp[at], "tp": tp[at], "terms": size[kept], "words": pl.Series(words, dtype=pl.String)}
    )
    listed = stop_word_set(stop_words)
    if listed is None:
        return points
    stop = np.bincount(which, [name in listed for name in names[present].tolist()], len(first))
    return points.with_columns(stop=pl.Series(stop[kept].astype(np.int64)))


def _listed(names: NDArray[Any], total: int) -> str:
    """Return as many of the names as fit into a line, and the number of the others."""
    words = [shown(name) for name in names]
    letters = np.cumsum([len(word) for word in words])
    words = words[: max(1, int((letters <= POINT_LETTERS).sum()))]
    more = total - len(words)
    return ", ".join(words) + (f" and {more:,} more" if more > 0 else "")


def cutoff_lines(pos: int, neg: int, cutoffs: Sequence[int]) -> pl.DataFrame:
    """Return one line per document frequency: the tables in which tp + fp is that frequency.

    Parameters
    ----------
    pos : int
        Number of documents in the class.
    neg : int
        Number of documents outside the class.
    cutoffs : sequence of int
        The document frequencies.

    Returns
    -------
    polars.DataFrame
        One row per point of a line: cutoff, fp, tp.
    """
    rows = []
    for cutoff in cutoffs:
        if not 0 < cutoff < pos + neg:
            raise ParameterError(f"a cut-off must be between 1 and {pos + neg - 1} documents, not {cutoff!r}")
        low, high = max(0, cutoff - pos), min(neg, cutoff)
        # Near its ends a line bends where the axes are logarithmic.
        steps = np.unique(np.concatenate([[0], np.geomspace(0.1, max(high - low, 1), 40)]))
        for step in [*steps, *(high - low - steps)]:
            if 0 <= step <= high - low:
                fp = float(low + step)
                rows.append({"cutoff": int(cutoff), "fp": round(fp, 3), "tp": round(cutoff - fp, 3)})
    schema = {"cutoff": pl.Int64, "fp": pl.Float64, "tp": pl.Float64}
    return pl.DataFrame(rows, schema=schema).unique().sort("cutoff", "fp")


def usual_cutoffs(n_docs: int) -> tuple[int, ...]:
    """Return the document frequencies that a map marks if nothing else is asked for.

    Words in fewer than 3 documents are usually left out as rare, those in more than half as common.

    >>> usual_cutoffs(1000), usual_cutoffs(7), usual_cutoffs(3)
    ((3, 500), (3,), ())
    """
    return tuple(sorted({cut for cut in (RARE, n_docs // 2) if RARE <= cut < n_docs}))


def usual_stop_words(counts: Counts) -> str | None:
    """Return the language of the stop words that a map marks: that of the most frequent terms.

    There is none if these terms are no words of a language, or if its stop words were left out.
    """
    most = np.argsort(-counts.df, kind="stable")[:FREQUENT]
    return stop_word_language([str(name) for name in counts.names()[most[counts.df[most] > 0]]])


def isoclines(
    counts: Counts,
    label: Any = None,
    metrics: Sequence[MetricSpec] = METRICS,
    sizes: Sequence[int] = SIZES,
    resolution: int = RESOLUTION,
) -> pl.DataFrame:
    """Return for each metric and size k the line of tables with the score of the class's k-th best term.

    Terms above are among the best k, terms below are not, terms on the line may be either. A two-sided
    metric has a line for positive and one for negative terms. `line` numbers the lines, `step` their points;
    sizes beyond the number of terms have no line, and neither has a level that every table reaches.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    label : label, optional
        The class; it can be left out if there is only one problem, as with two classes.
    metrics : sequence of str, Metric or callable, default=("bns", "information_gain")
        The metrics, by name or as objects.
    sizes : sequence of int, default=(10, 20, 50, 100, 200, 500, 1000, 2000)
        The numbers of terms that lines are drawn for.
    resolution : int, default=160
        Number of grid points per axis; more of them give smoother lines.

    Returns
    -------
    polars.DataFrame
        One row per point of a line: metric, k, level, line, step, fp, tp.
    """
    lines = score_lines(one_problem(counts, label), metrics, sizes, resolution)
    rows = [
        (str(line.metric), line.k, line.level, number, step, fp, tp)
        for number, line in enumerate(lines, start=1)
        for step, (fp, tp) in enumerate(line.points.tolist())
    ]
    schema = {"metric": pl.String, "k": pl.Int64, "level": pl.Float64, "line": pl.Int64, "step": pl.Int64}
    return pl.DataFrame(rows, schema=schema | {"fp": pl.Float64, "tp": pl.Float64}, orient="row")


class ScoreLine(NamedTuple):
    """A line of tables that score like the k-th best term: its `points` are rows of (fp, tp)."""

    metric: Metric
    k: int
    level: float
    points: NDArray[np.float64]


def score_lines(
    own: Counts, metrics: Sequence[MetricSpec], sizes: Sequence[int], resolution: int
) -> Iterator[ScoreLine]:
    """Yield the lines of `isoclines` for counts of a single class."""
    pos, neg = int(own.pos[0]), int(own.neg[0])
    for chosen in map(get_metric, metrics):
        grid = score_grid(chosen, pos, neg, resolution)
        ranking = rank(score(own, chosen))
        for k in sizes:
            if 0 < k <= len(ranking):
                level = float(ranking.scores[ranking.order[k - 1]])
                for line in grid.level_lines(level):
                    yield ScoreLine(chosen, int(k), level, line.round(2))


def isocline_family(
    metric: MetricSpec = "bns",
    pos: int = 100,
    neg: int = 1000,
    levels: int | Sequence[float] = 9,
    resolution: int = RESOLUTION,
) -> pl.DataFrame:
    """Return lines of equal score of one metric over the ROC plane (forman2003, Appendix C).

    `levels` is a number of levels, which divide the tables of the plane into equal parts, or the levels
    themselves. `fpr` and `tpr` are rates; `line` numbers the lines, `step` their points.

    Parameters
    ----------
    metric : str, Metric or callable, default="bns"
        The metric.
    pos : int, default=100
        Number of documents in the class.
    neg : int, default=1000
        Number of documents outside the class.
    levels : int or sequence of float, default=9
        The number of levels, or the levels.
    resolution : int, default=160
        Number of grid points per axis; more of them give smoother lines.

    Returns
    -------
    polars.DataFrame
        One row per point of a line: metric, level, line, step, fpr, tpr.
    """
    chosen = get_metric(metric)
    grid = score_grid(chosen, pos, neg, resolution)
    if isinstance(levels, int):
        area = np.outer(np.gradient(grid.tp), np.gradient(grid.fp))
        shares = np.arange(1, levels + 1) / (levels + 1)
        values = np.unique(np.quantile(grid.values, shares, weights=area, method="inverted_cdf"))
    else:
        values = np.asarray(levels, dtype=float)
    lines = [(float(level), line) for level in values for line in grid.level_lines(float(level))]
    rows = [
        {
            "metric": str(chosen),
            "level": round(level, 6),
            "line": number,
            "step": step,
            "fpr": fp / neg,
            "tpr": tp / pos,
        }
        for number, (level, line) in enumerate(lines, start=1)
        for step, (fp, tp) in enumerate(line.tolist())
    ]
    schema = {"metric": pl.String, "level": pl.Float64, "line": pl.Int64, "step": pl.Int64}
    return pl.DataFrame(rows, schema=schema | {"fpr": pl.Float64, "tpr": pl.Float64})
