"""Counts come in; tables of the classes, of their telling terms and of what metrics share go out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from termsieve.analysis.stability import overlaps
from termsieve.counts import Counts
from termsieve.errors import ParameterError, unknown_name
from termsieve.metrics import Metric, get_metric
from termsieve.ranking import rank, sparsity_curve
from termsieve.scores import score

MetricSpec = str | Metric | Callable[..., Any]
MAX_LETTERS = 60  # of a term or a class in a table that people read
BAR_TERMS = 12  # per direction, what a chart of bars has room for


def shown(text: Any, letters: int = MAX_LETTERS) -> str:
    """Return a text as it can be shown: valid Unicode, and cut where it is very long.

    >>> shown("a" * 9, letters=5), shown("\\ud800x")
    ('aaaa…', '?x')
    """
    clean = str(text).encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= letters else clean[: letters - 1] + "…"


def class_counts(counts: Counts, label: Any = None) -> Counts:
    """Return the counts of one class against all other documents; without a label, of the only problem."""
    if label is None:
        if len(counts.problems) != 1:
            raise ParameterError(f"there are {counts.n_classes} classes; choose one with label=")
        return counts if counts.n_classes == 1 else counts.take(counts.problems)
    found = [i for i, known in enumerate(counts.classes.tolist()) if known == label]
    if not found:
        raise unknown_name("class", label, [str(known) for known in counts.classes])
    return counts if counts.n_classes == 1 else counts.take(found)


def class_sizes(counts: Counts) -> pl.DataFrame:
    """Return each class with its documents, their share and the skew, the largest class first.

    The skew is the number of documents outside the class for one inside.
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
    counts: Counts, label: Any = None, metric: MetricSpec = "bns", n: int = BAR_TERMS
) -> pl.DataFrame:
    """Return the n best positive and the n best negative terms of a class by a metric, with their counts.

    `speaks` is "for" or "against" the `class`, `score` is the magnitude, `rank` counts both kinds together.
    """
    own = class_counts(counts, label)
    scores = score(own, metric)
    order = rank(scores).order
    signs, values, names = scores.direction[0], np.abs(scores.values[0]), own.names()
    rows = [
        {
            "term": shown(names[order[place]]),
            "speaks": speaks,
            "score": float(values[order[place]]),
            "tp": int(own.tp[0, order[place]]),
            "fp": int(own.df[order[place]] - own.tp[0, order[place]]),
            "rank": int(place) + 1,
            "class": shown(own.classes[0]),
            "metric": str(scores.metric),
        }
        for sign, speaks in ((1, "for"), (-1, "against"))
        for place in np.flatnonzero(signs[order] == sign)[:n]
    ]
    schema = {"term": pl.String, "speaks": pl.String, "score": pl.Float64}
    schema |= dict.fromkeys(("tp", "fp", "rank"), pl.Int64) | {"class": pl.String, "metric": pl.String}
    return pl.DataFrame(rows, schema=schema)


def metric_overlaps(counts: Counts, metrics: Sequence[MetricSpec], k: int = 100) -> pl.DataFrame:
    """Return what the best k terms over all classes of every two metrics have in common."""
    return overlaps({str(get_metric(each)): rank(score(counts, each)).order[:k].tolist() for each in metrics})


def sparsity_table(counts: Counts, metrics: Sequence[MetricSpec], points: int = 60) -> pl.DataFrame:
    """Return the mean number of distinct terms per document with each metric's best 1, 2, ... terms."""
    rows = []
    for each in metrics:
        curve = sparsity_curve(counts, rank(score(counts, each)))
        sizes = np.unique(np.geomspace(1, max(len(curve), 1), points).astype(int))
        rows += [
            {"metric": str(get_metric(each)), "terms": int(n), "sparsity": float(curve[n - 1])}
            for n in sizes[: len(curve)]
        ]
    return pl.DataFrame(rows, schema={"metric": pl.String, "terms": pl.Int64, "sparsity": pl.Float64})
