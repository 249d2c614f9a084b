"""Tables of counts come in; charts of telling terms, scores, ratios, overlaps and sparsity go out."""

from __future__ import annotations

from zlib import crc32

import altair as alt
import polars as pl

from termsieve.charts.theme import (
    FOUND,
    HEIGHT,
    LOG_AXIS,
    NEGATIVE,
    POSITIVE,
    WIDTH,
    colour,
    dash,
    layered,
    records,
    shape,
    tips,
)
from termsieve.errors import InputError

USUAL_SIZE = 50  # terms: the size of implied ratios that is shown first, if it is one of them


def term_bars(table: pl.DataFrame) -> alt.Chart:
    """Return the bars of `analysis.telling_terms`: for the class to the right, against it to the left.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.telling_terms`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    # The rows are places, not terms, because a shortened term may look like another.
    rows = table.sort("speaks", "score", descending=True).with_row_index("place").to_dicts()
    for row in rows:
        row["bar"] = row["score"] if row["speaks"] == "for" else -row["score"]
    about = f"{rows[0]['class']}, by {rows[0]['metric']}" if rows else ""
    names = alt.param(name=f"names_{crc32(about.encode())}", value=[row["term"] for row in rows])
    labels = alt.Axis(title=None, labelExpr=f"{names.name}[datum.value]", ticks=False)
    kinds = alt.Scale(domain=["for", "against"], range=[POSITIVE, NEGATIVE])
    chart = alt.Chart(records(rows), title=f"for and against {about}").mark_bar()
    return (
        chart.encode(
            x=alt.X("bar:Q", title="score", axis=alt.Axis(format=".3~g", tickCount=6)),
            y=alt.Y("place:O", axis=labels),
            color=alt.Color("speaks:N", scale=kinds, title="speaks"),
            tooltip=tips("term", "speaks", "class", score=".4g", rank=",d", tp=",d", fp=",d"),
        )
        .add_params(names)
        .properties(width=WIDTH, height=17 * len(rows))
    )


def overlap(table: pl.DataFrame) -> alt.LayerChart:
    """Return the table of `analysis.overlaps` as a square: the overlap of each two selections.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.overlaps`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
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


def word_rates(table: pl.DataFrame) -> alt.LayerChart:
    """Return the lines of `differences.word_rates`: the share of documents with each word, with its band.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `differences.word_rates`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    names = table["term"].unique(maintain_order=True).to_list()
    windows = table["window"].unique(maintain_order=True).to_list()
    base = alt.Chart(records(table)).encode(
        x=alt.X("window:O", sort=windows, title=None), color=colour(names, "term", "word")
    )
    share = alt.Axis(format="~%", grid=False)
    band = base.mark_area(opacity=0.2).encode(
        y=alt.Y("low:Q", title="documents with the word", axis=share), y2="high:Q"
    )
    line = base.mark_line(strokeWidth=2, point=True).encode(
        y=alt.Y("rate:Q"),
        strokeDash=dash(names, "term", "word"),
        tooltip=tips("term", "window", rate=".2%", low=".2%", high=".2%", documents=",d", of=",d"),
    )
    return layered(band, line)


def sparsity(table: pl.DataFrame) -> alt.Chart:
    """Return the curves of `analysis.sparsity_table`, both axes logarithmic.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.sparsity_table`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    names = table["metric"].unique(maintain_order=True).to_list()
    chart = alt.Chart(records(table.filter(pl.col("sparsity") > 0))).mark_line(strokeWidth=2)
    return chart.encode(
        x=alt.X("terms:Q", scale=alt.Scale(type="log"), title="terms kept", axis=LOG_AXIS),
        y=alt.Y(
            "sparsity:Q",
            scale=alt.Scale(type="log"),
            title="distinct terms per document",
            axis=alt.Axis(format="~g", grid=False),
        ),
        color=colour(names, "metric"),
        strokeDash=dash(names, "metric"),
        tooltip=tips("metric", terms=",d", sparsity=".2f"),
    ).properties(width=WIDTH, height=HEIGHT)


def largest_scores(table: pl.DataFrame) -> alt.LayerChart:
    """Return the best positive against the best negative term of each class, from `largest_scores`.

    Above the dashed line the best positive term of a class has the larger score. Classes without a term of
    one of the two directions are left out.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.largest_scores`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    both = table.filter(pl.col("positive_score") > 0, pl.col("negative_score") > 0)
    if both.is_empty():
        raise InputError("no class has both a positive and a negative term with a score")
    names = both["metric"].unique(maintain_order=True).to_list()
    values = [*both["positive_score"], *both["negative_score"]]
    scale = alt.Scale(type="log", domain=[min(values), max(values)], nice=False, padding=12)
    axis = alt.Axis(format="~g", labelOverlap="greedy", grid=False)
    x = alt.X("negative_score:Q", scale=scale, axis=axis, title="largest score of a negative term")
    y = alt.Y("positive_score:Q", scale=scale, axis=axis, title="largest score of a positive term")
    points = alt.Chart(records(both)).mark_point(filled=True, size=45, opacity=0.85)
    points = points.encode(
        x=x,
        y=y,
        color=colour(names, "metric"),
        shape=shape(names, "metric"),
        tooltip=tips(
            "class",
            "metric",
            "positive_term",
            "negative_term",
            positive_score=".4g",
            negative_score=".4g",
        ),
    )
    ends = [{"positive_score": value, "negative_score": value} for value in (min(values), max(values))]
    line = alt.Chart(records(ends)).mark_line(color=FOUND, strokeWidth=0.8, strokeDash=[4, 3])
    return layered(line.encode(x=x, y=y), points.properties(name="marks"), width=HEIGHT)


def implied_ratios(table: pl.DataFrame) -> alt.Chart:
    """Return the share of positive terms that each metric takes for each class, one size at a time.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.implied_ratios`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    rows = table.filter(pl.col("ratio").is_not_null())
    names = rows["metric"].unique(maintain_order=True).to_list()
    classes = rows["class"].unique(maintain_order=True).to_list()
    sizes = rows["size"].unique().sort().to_list()
    choose = alt.selection_point(
        fields=["size"],
        value=min(sizes, key=lambda size: abs(size - USUAL_SIZE), default=None),
        bind=alt.binding_select(options=sizes, name="number of terms "),
        name="terms",
    )
    chart = alt.Chart(records(rows)).transform_filter(choose).mark_point(filled=True, size=60, opacity=0.85)
    return (
        chart.encode(
            x=alt.X("ratio:Q", scale=alt.Scale(domain=[0, 1]), title="share of positive terms"),
            y=alt.Y("class:N", sort=classes, title=None),
            color=colour(names, "metric"),
            shape=shape(names, "metric"),
            tooltip=tips("class", "metric", size=",d", ratio=".3f"),
        )
        .properties(name="marks")
        .add_params(choose)
        .properties(width=WIDTH, height=16 * len(classes) + 10)
    )
