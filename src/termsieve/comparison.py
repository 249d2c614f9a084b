"""Documents or their counts come in; where several metrics agree on the best terms goes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from termsieve.counts import Counts
from termsieve.display import html_table, plain_text
from termsieve.errors import ParameterError
from termsieve.metrics import get_metric
from termsieve.ranking import Combine, Side, check_cut
from termsieve.sources import Source
from termsieve.telling import MetricSpec, Way, counted_for, problem_counts

COMPARED = ("bns", "information_gain", "chi_squared")  # the defaults of `compare_metrics`


@dataclass(frozen=True)
class Comparison:
    """Where metrics agree and differ on their best `k` terms.

    Attributes
    ----------
    k : int
        Number of best terms of each metric.
    metrics : tuple of str
        The metrics' names.
    overlap : polars.DataFrame
        One row per pair of metrics: metric, other, both (the number of terms among the best of either),
        shared (their share of the best terms), correlation (Spearman's, over the best terms of the two).
    terms : polars.DataFrame
        One row per term that any metric has among its best: term, chosen_by (the number of metrics), the
        term's rank by each metric, df. Terms that all metrics choose come first.

    Examples
    --------
    >>> from termsieve import Corpus, compare_metrics
    >>> mail = Corpus(["buy cheap", "buy now", "see you", "see me"], ["spam", "spam", "ham", "ham"])
    >>> found = compare_metrics(mail, ["bns", "chi_squared"], target="spam", k=2)
    >>> found.overlap["both"].to_list(), found.terms["term"].to_list()
    ([2], ['buy', 'see'])
    """

    k: int
    metrics: tuple[str, ...]
    overlap: pl.DataFrame
    terms: pl.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, for JSON."""
        return {
            "k": self.k,
            "metrics": list(self.metrics),
            "overlap": self.overlap.to_dicts(),
            "terms": self.terms.to_dicts(),
        }

    def __repr__(self) -> str:
        return f"<Comparison of the best {self.k:,} terms of {', '.join(self.metrics)}>"

    def _repr_html_(self) -> str:
        title = f"The best {self.k:,} terms of {', '.join(self.metrics)}"
        return html_table(self.overlap.to_dicts(), title, shares=("shared",))


def compare_metrics(
    source: Source,
    metrics: Sequence[MetricSpec] = COMPARED,
    *,
    target: Any = None,
    k: int = 50,
    side: Side = "both",
    combine: Combine = "max",
    min_df: float = 1,
    max_df: float = 1.0,
    **options: Any,
) -> Comparison:
    """Return where metrics agree and differ on the best `k` terms of a source.

    Parameters
    ----------
    source, target, side, combine, min_df, max_df, **options
        As in :func:`termsieve.telling_words`.
    metrics : sequence of str, Metric or callable
        At least two metrics.
    k : int, default=50
        Number of best terms to compare.

    Returns
    -------
    Comparison
        The overlap of each two metrics, and the rank of each term by each metric.

    Examples
    --------
    >>> from termsieve.corpus import Corpus
    >>> corpus = Corpus(["buy cheap", "buy now", "see you"], ["spam", "spam", "ham"])
    >>> compare_metrics(corpus, ["bns", "ig"], k=2).overlap.select("metric", "other", "both").rows()
    [('bns', 'information_gain', 2)]
    """
    check_cut("k", k)
    chosen = {str(found): found for found in map(get_metric, metrics)}
    if len(chosen) < 2:
        raise ParameterError("a comparison needs at least two different metrics, such as bns and ig")
    counts = counted_for(source, list(chosen.values()), options)
    counts = problem_counts(counts, target, combine, *chosen.values())
    way = Way(side, None, None, combine, min_df, max_df)
    places = {
        name: {column: i for i, column in enumerate(way.ranking(counts, each).order.tolist(), 1)}
        for name, each in chosen.items()
    }
    best = {name: {column for column, place in found.items() if place <= k} for name, found in places.items()}
    return Comparison(k, tuple(chosen), _overlap(places, best, k), _ranks(counts, places, best))


def _overlap(places: dict[str, dict[int, int]], best: dict[str, set[int]], k: int) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "metric": a,
                "other": b,
                "both": len(best[a] & best[b]),
                "shared": len(best[a] & best[b]) / max(1, min(k, len(places[a]), len(places[b]))),
                "correlation": _rank_correlation(places[a], places[b], best[a] | best[b]),
            }
            for a, b in combinations(places, 2)
        ],
        schema_overrides={"correlation": pl.Float64},
    )


def _ranks(counts: Counts, places: dict[str, dict[int, int]], best: dict[str, set[int]]) -> pl.DataFrame:
    """Return the ranks of every term that is among the best of any metric, agreement first."""
    names, df, last = counts.names(), counts.df, counts.n_terms + 1
    rows: list[dict[str, Any]] = [
        {"term": plain_text(names[column]), "chosen_by": sum(column in found for found in best.values())}
        | {name: found.get(column) for name, found in places.items()}
        | {"df": int(df[column])}
        for column in set().union(*best.values())
    ]
    rows.sort(key=lambda row: (-row["chosen_by"], sum(row[name] or last for name in places), row["term"]))
    ranks = dict.fromkeys(places, pl.Int64)
    return pl.DataFrame(rows, schema={"term": pl.String, "chosen_by": pl.Int64, **ranks, "df": pl.Int64})


def _rank_correlation(a: dict[int, int], b: dict[int, int], columns: set[int]) -> float | None:
    """Return Spearman's correlation of two rankings over some columns."""
    shared = sorted(column for column in columns if column in a and column in b)
    if len(shared) < 2:
        return None
    x, y = (np.argsort(np.argsort([ranks[column] for column in shared])) for ranks in (a, b))
    return float(np.corrcoef(x, y)[0, 1])
