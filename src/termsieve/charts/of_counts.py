"""Counts come in; pictures of the telling terms of a class, of what metrics share and of sparsity go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import altair as alt
import numpy as np
import polars as pl

from termsieve.analysis.stability import overlaps
from termsieve.charts.roc import MetricSpec, shown
from termsieve.charts.theme import (
    HEIGHT,
    LOG_AXIS,
    NEGATIVE,
    POSITIVE,
    WIDTH,
    colour,
    dash,
    layered,
    records,
    tips,
)
from termsieve.counts import Counts
from termsieve.errors import ParameterError
from termsieve.metrics import get_metric
from termsieve.ranking import rank, sparsity_curve
from termsieve.scores import score
from termsieve.telling import words_for_and_against


def telling_terms(counts: Counts, label: Any = None, metric: MetricSpec = "bns", n: int = 12) -> pl.DataFrame:
    """Return the n best positive and the n best negative terms of a class by a metric, with their counts.

    `speaks` is "for" or "against" the class, `score` is the magnitude, `rank` counts both kinds together.
    """
    words = words_for_and_against(counts, label, metric, n)
    return words.select(
        pl.Series("term", [shown(term) for term in words["term"]], dtype=pl.String),
        pl.when(pl.col("direction") > 0).then(pl.lit("for")).otherwise(pl.lit("against")).alias("speaks"),
        pl.col("score").abs(),
        "rank",
        "tp",
        "fp",
    )


def term_bars(
    counts: Counts,
    label: Any = None,
    metrics: Sequence[MetricSpec] = ("bns", "information_gain"),
    n: int = 12,
) -> alt.HConcatChart:
    """Return the best terms for and against a class as bars, one panel a metric, side by side."""
    if not metrics:
        raise ParameterError("there is no metric to draw; name one")
    panels = [bar_panel(telling_terms(counts, label, each, n), str(get_metric(each))) for each in metrics]
    return alt.hconcat(*(panel.properties(width=WIDTH // 2) for panel in panels)).resolve_scale(
        y="independent"
    )


def bar_panel(terms: pl.DataFrame, title: str) -> alt.Chart:
    """Return the bars of one table of telling terms: for the class to the right, against it to the left."""
    # Places, not terms, make the rows: a term that is cut short may look like another.
    rows = terms.sort("speaks", "score", descending=True).with_row_index("place").to_dicts()
    for row in rows:
        row["bar"] = row["score"] if row["speaks"] == "for" else -row["score"]
    names = alt.param(name=f"names_{crc32(title.encode())}", value=[row["term"] for row in rows])
    labels = alt.Axis(title=None, labelExpr=f"{names.name}[datum.value]", ticks=False)
    numbers = alt.Axis(format=".3~g", tickCount=6)
    kinds = alt.Scale(domain=["for", "against"], range=[POSITIVE, NEGATIVE])
    chart = alt.Chart(records(rows), title=title).mark_bar()
    return (
        chart.encode(
            x=alt.X(
                "bar:Q",
                title="score",
                axis=numbers,
            ),
            y=alt.Y("place:O", axis=labels),
            color=alt.Color("speaks:N", scale=kinds, title="speaks"),
            tooltip=tips("term", "speaks", score=".4g", rank=",d", tp=",d", fp=",d"),
        )
        .add_params(names)
        .properties(width=WIDTH, height=17 * len(rows))
    )


def metric_overlaps(counts: Counts, metrics: Sequence[MetricSpec], k: int = 100) -> pl.DataFrame:
    """Return what the best k terms over all classes of every two metrics have in common."""
    chosen = {str(get_metric(each)): rank(score(counts, each)).order[:k].tolist() for each in metrics}
    return overlaps(chosen)


def overlap(table: pl.DataFrame) -> alt.LayerChart:
    """Return the table of `overlaps` as a square of shares: how much of two selections is in both."""
    names = table["first"].unique(maintain_order=True).to_list()
    base = alt.Chart(records(table)).encode(
        x=alt.X("first:N", sort=names, title=None, axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("second:N", sort=names, title=None),
        tooltip=tips("first", "second", shared=",d", jaccard=".2f"),
    )
    squares = base.mark_rect().encode(
        color=alt.Color("jaccard:Q", scale=alt.Scale(scheme="blues", domain=[0, 1]), title="Jaccard index")
    )
    ink = alt.condition("datum.jaccard > 0.55", alt.value("white"), alt.value("black"))
    numbers = base.mark_text(fontSize=11).encode(text=alt.Text("jaccard:Q", format=".2f"), color=ink)
    return layered(squares, numbers, height=30 * len(names))


def sparsity_table(counts: Counts, metrics: Sequence[MetricSpec], points: int = 60) -> pl.DataFrame:
    """Return the mean number of distinct terms a document keeps with each metric's best 1, 2, ... terms."""
    made = []
    for each in metrics:
        curve = sparsity_curve(counts, rank(score(counts, each)))
        sizes = np.unique(np.geomspace(1, max(len(curve), 1), points).astype(int))
        made += [
            {"metric": str(get_metric(each)), "terms": int(n), "sparsity": float(curve[n - 1])}
            for n in sizes[: len(curve)]
        ]
    return pl.DataFrame(made, schema={"metric": pl.String, "terms": pl.Int64, "sparsity": pl.Float64})


def sparsity(table: pl.DataFrame) -> alt.Chart:
    """Return the curves of a `sparsity_table`, both axes logarithmic."""
    names = table["metric"].unique(maintain_order=True).to_list()
    decimals = alt.Axis(format="~g", grid=False)
    chart = alt.Chart(records(table.filter(pl.col("sparsity") > 0))).mark_line(strokeWidth=2)
    return chart.encode(
        x=alt.X("terms:Q", scale=alt.Scale(type="log"), title="terms kept", axis=LOG_AXIS),
        y=alt.Y(
            "sparsity:Q",
            scale=alt.Scale(type="log"),
            title="distinct terms a document",
            axis=decimals,
        ),
        color=colour(names, "metric"),
        strokeDash=dash(names, "metric"),
        tooltip=tips("metric", terms=",d", sparsity=".2f"),
    ).properties(width=WIDTH, height=HEIGHT)
