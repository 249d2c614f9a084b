"""Counts come in; tables of the classes, of their telling terms and of what metrics share go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from termsieve.analysis.stability import overlaps
from termsieve.counts import Counts
from termsieve.display import plain_text
from termsieve.metrics import get_metric
from termsieve.ranking import rank, sparsity_curve
from termsieve.scores import score
from termsieve.spec import READING
from termsieve.telling import MetricSpec, words_for_and_against

MAX_LETTERS = 60  # of a term or a class in a table that people read
BAR_TERMS = 12  # bars per direction that a chart has room for


def shown(text: Any, letters: int = MAX_LETTERS) -> str:
    """Return a text that can be shown: valid Unicode, and shortened if it is very long.

    >>> shown("a" * 9, letters=5), shown("\\ud800x")
    ('aaaa…', '?x')
    """
    clean = plain_text(text)
    return clean if len(clean) <= letters else clean[: letters - 1] + "…"


def class_sizes(counts: Counts) -> pl.DataFrame:
    """Return each class with its documents, their share and the skew, the largest class first.

    The skew is the number of documents outside the class divided by the number in it.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.

    Returns
    -------
    polars.DataFrame
        One row per class: class, documents, share, skew.
    """
    order = np.argsort(-counts.pos, kind="stable")
    return pl.DataFrame(
        {
            "class": [shown(counts.classes[c]) for c in order],
            "documents": counts.pos[order],
            "share": counts.pos[order] / max(1, counts.n_docs),
            "skew": counts.neg[order] / np.maximum(counts.pos[order], 1),
        }
    )


def telling_terms(
    counts: Counts, label: Any = None, metric: MetricSpec = READING, n: int = BAR_TERMS
) -> pl.DataFrame:
    """Return the n best positive and the n best negative terms of a class by a metric, with their counts.

    `speaks` is "for" or "against" the `class`, `score` is the magnitude, `rank` counts both kinds together.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    label : label, optional
        The class; it can be left out if there is only one problem, as with two classes.
    metric : str, Metric or callable, default="correlation_coefficient"
        The metric.
    n : int, default=12
        Number of terms of each kind.

    Returns
    -------
    polars.DataFrame
        One row per term: term, speaks, score, tp, fp, rank, class, metric.
    """
    words = words_for_and_against(counts, label, metric, n)
    return words.select(
        _shown("term", words),
        pl.when(pl.col("direction") > 0).then(pl.lit("for")).otherwise(pl.lit("against")).alias("speaks"),
        pl.col("score").abs(),
        "tp",
        "fp",
        "rank",
        _shown("class", words),
        pl.lit(str(get_metric(metric))).alias("metric"),
    )


def _shown(column: str, table: pl.DataFrame) -> pl.Series:
    return pl.Series(column, [shown(text) for text in table[column]], dtype=pl.String)


def metric_overlaps(counts: Counts, metrics: Sequence[MetricSpec], k: int = 100) -> pl.DataFrame:
    """Return for each two metrics what their best k terms, over all classes, have in common.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    metrics : sequence of str, Metric or callable
        The metrics, by name or as objects.
    k : int, default=100
        Number of terms that each metric selects.

    Returns
    -------
    polars.DataFrame
        One row per pair of metrics: first, second, shared, jaccard.
    """
    return overlaps({str(get_metric(each)): rank(score(counts, each)).order[:k].tolist() for each in metrics})


def sparsity_table(counts: Counts, metrics: Sequence[MetricSpec], points: int = 60) -> pl.DataFrame:
    """Return the mean number of distinct terms per document with each metric's best 1, 2, ... terms.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    metrics : sequence of str, Metric or callable
        The metrics, by name or as objects.
    points : int, default=60
        Largest number of sizes per metric.

    Returns
    -------
    polars.DataFrame
        One row per metric and number of terms: metric, terms, sparsity.
    """
    rows = []
    for each in metrics:
        curve = sparsity_curve(counts, rank(score(counts, each)))
        sizes = np.unique(np.geomspace(1, max(len(curve), 1), points).astype(int))
        rows += [
            {"metric": str(get_metric(each)), "terms": int(n), "sparsity": float(curve[n - 1])}
            for n in sizes[: len(curve)]
        ]
    return pl.DataFrame(rows, schema={"metric": pl.String, "terms": pl.Int64, "sparsity": pl.Float64})
