"""Points and lines of the ROC plane come in; the ROC map of a class and families of isoclines go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from termsieve.charts.theme import (
    DASHES,
    FAINT,
    FOUND,
    HEIGHT,
    LABEL_LIMIT,
    NEGATIVE,
    PALETTE,
    layered,
    records,
)

if TYPE_CHECKING:
    from termsieve.analysis import RocMap, Surface


def roc_map(table: RocMap) -> alt.LayerChart:
    """Return the map of `analysis.roc_map`: every term a point at (fp, tp), and the metrics' isoclines.

    Hovering shows the words of a point, the search box finds a word, a list chooses k, one check box per
    metric shows or hides its line, and a switch enlarges the corner near the origin, where most terms are.
    Points of stop words are crossed, and dotted lines are document frequencies, if the table has them.

    Parameters
    ----------
    table : RocMap
        The result of `analysis.roc_map`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    points, lines, metrics, pos, neg, cutoffs = table
    near = alt.param(
        name="near",
        value="near the origin",
        bind=alt.binding_radio(options=["near the origin", "whole plane"], name="show "),
    )
    # A symlog scale with a huge constant is linear, so one scale serves both.
    constant = alt.ExprRef("near == 'near the origin' ? 1 : 1e9")
    x = alt.X(
        "fp:Q",
        scale=alt.Scale(type="symlog", constant=constant, domain=[0, max(neg, 1)], nice=False),
        axis=alt.Axis(values=_tick_choice(neg), format=",d", labelOverlap=True, grid=True),
        title="documents outside the class with the term (fp)",
    )
    y = alt.Y(
        "tp:Q",
        scale=alt.Scale(type="symlog", constant=constant, domain=[0, max(pos, 1)], nice=False),
        axis=alt.Axis(values=_tick_choice(pos), format=",d", labelOverlap=True, grid=True),
        title="documents of the class with the term (tp)",
    )
    layers: list[Any] = [_diagonal(pos, neg, x, y), *_point_layers(points, x, y)]
    if cutoffs is not None:
        layers += _cutoff_layers(cutoffs, x, y)
    if not lines.is_empty():
        layers.append(_line_layer(lines, metrics, x, y))
    chart = layered(*layers, height=HEIGHT + 60).add_params(near)
    beyond = alt.ExprRef("'the best ' + format(k, ',d') + ' terms lie beyond the lines'")
    return chart if lines.is_empty() else chart.properties(title=alt.Title(beyond))


def _diagonal(pos: int, neg: int, x: alt.X, y: alt.Y) -> alt.Chart:
    """Return the line of tables without information: tpr = fpr."""
    fp = np.unique(np.concatenate([np.geomspace(0.1, max(neg, 1), 60), [0]]))
    rows = [{"fp": float(round(f, 3)), "tp": float(round(f * pos / max(neg, 1), 5))} for f in fp]
    line = alt.Chart(records(rows)).mark_line(color=FAINT, strokeDash=[3, 3], strokeWidth=1)
    return line.encode(x=x, y=y, order=alt.Order("fp:Q"))


def _cutoff_layers(cutoffs: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return a dotted line per document frequency, and its number where it meets the axis of tp."""
    line = alt.Chart(records(cutoffs)).mark_line(color=FOUND, strokeDash=[1, 3], strokeWidth=1.5)
    line = line.encode(
        x=x, y=y, detail=alt.Detail("cutoff:N"), order=alt.Order("fp:Q"), tooltip=[alt.Tooltip("cutoff:Q")]
    )
    first = cutoffs.group_by("cutoff", maintain_order=True).first()
    first = first.with_columns(text=pl.format("in {} documents", "cutoff"))
    text = alt.Chart(records(first)).mark_text(align="left", dx=5, dy=-5, color=FOUND)
    return [line, text.encode(x=x, y=y, text=alt.Text("text:N"))]


def _point_layers(points: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    search = alt.param(
        name="search",
        value="",
        bind=alt.BindInput(input="search", placeholder="a word", name="find ", autocomplete="off"),
    )
    # indexof instead of a regular expression, because any typed text is then valid.
    hit = "search && indexof(lower(datum.words), lower(search)) >= 0"
    base = alt.Chart(records(points)).encode(
        x=x,
        y=y,
        size=alt.Size("terms:Q", scale=alt.Scale(type="sqrt", range=[18, 320]), legend=None),
        tooltip=[
            alt.Tooltip("words:N", title="terms"),
            alt.Tooltip("tp:Q", format=",d"),
            alt.Tooltip("fp:Q", format=",d"),
            alt.Tooltip("terms:Q", title="terms here", format=",d"),
        ],
    )
    # Screen readers should not read thousands of points; the search box and the table have their words.
    every = base.mark_circle(aria=False).encode(
        color=alt.condition(hit, alt.value(FOUND), alt.value(FAINT)),
        opacity=alt.condition(f"!search || ({hit})", alt.value(0.6), alt.value(0.15)),
    )
    found = base.transform_filter(hit).mark_text(dy=-9, fontWeight="bold", color=FOUND, limit=200)
    found = found.encode(text=alt.Text("words:N"), size=alt.value(12))
    layers = [every.add_params(search), found]
    if "stop" in points.columns:
        crosses = base.transform_filter("datum.stop > 0").mark_point(shape="cross", angle=45, aria=False)
        layers.insert(1, crosses.encode(size=alt.value(45), color=alt.value(NEGATIVE)))
    return layers


def _line_layer(lines: pl.DataFrame, metrics: Sequence[str], x: alt.X, y: alt.Y) -> alt.Chart:
    sizes = lines["k"].unique().sort().to_list()
    k = alt.param(name="k", value=sizes[len(sizes) // 2], bind=alt.binding_select(options=sizes, name="k "))
    toggles = [
        alt.param(name=f"show_{i}", value=True, bind=alt.binding_checkbox(name=name))
        for i, name in enumerate(metrics)
    ]
    names = alt.param(name="metrics", value=list(metrics))
    numbers = list(range(len(metrics)))
    wanted = " || ".join(f"(show_{i} && datum.metric == {i})" for i in numbers)
    # Names become numbers, and the row order is the order of points, so that maps of many classes stay small.
    at = pl.col("metric").replace_strict(list(metrics), numbers, return_dtype=pl.Int64)
    rows = lines.sort("line", "step").select(at, "k", "line", "fp", "tp")
    scale = alt.Scale(domain=numbers, range=[PALETTE[i % len(PALETTE)] for i in numbers])
    dashes = alt.Scale(domain=numbers, range=[DASHES[i // len(PALETTE) % len(DASHES)] for i in numbers])
    legend = alt.Legend(labelExpr="metrics[datum.value]", labelLimit=LABEL_LIMIT)
    chart = alt.Chart(records(rows)).transform_filter(f"datum.k == k && ({wanted})")
    return (
        chart.mark_line(strokeWidth=2.5)
        .encode(
            x=x,
            y=y,
            color=alt.Color("metric:N", scale=scale, legend=legend, title="best k by"),
            strokeDash=alt.StrokeDash("metric:N", scale=dashes, legend=legend, title="best k by"),
            detail=alt.Detail("line:N"),
            order=alt.OrderValue(None),
        )
        .add_params(names, k, *toggles)
    )


def _tick_choice(total: int) -> alt.ExprRef:
    """Return the axis values: 0 1 2 5 10 ... near the origin, even steps for the whole plane."""
    steps = [m * 10**e for e in range(len(str(total))) for m in (1, 2, 5)]
    near = [0, *(step for step in steps if step < total), total]
    unit = 10 ** max(0, len(str(total)) - 1)
    unit = next((unit // part for part in (5, 2, 1) if total // max(1, unit // part) >= 4), unit)
    even = list(range(0, total + 1, max(1, unit)))
    return alt.ExprRef(f"near == 'near the origin' ? {near} : {even}")


def isocline_family(table: pl.DataFrame) -> alt.Chart:
    """Return the contour map of one metric over the ROC plane, from `analysis.isocline_family`.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.isocline_family`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    metric = str(table["metric"][0]) if table.height else ""
    chart = alt.Chart(records(table)).mark_line(strokeWidth=2)
    return chart.encode(
        x=alt.X("fpr:Q", scale=alt.Scale(domain=[0, 1]), title="false positive rate"),
        y=alt.Y("tpr:Q", scale=alt.Scale(domain=[0, 1]), title="true positive rate"),
        color=alt.Color("level:Q", scale=alt.Scale(scheme="viridis"), title=metric),
        detail=alt.Detail("line:N"),
        order=alt.Order("step:Q"),
        tooltip=[alt.Tooltip("level:Q", title=metric, format=".4g")],
    ).properties(width=HEIGHT, height=HEIGHT)


def score_surface(table: Surface) -> alt.LayerChart:
    """Return the surface of a metric's score above the ROC plane, from `analysis.score_surface`.

    Parameters
    ----------
    table : Surface
        The result of `analysis.score_surface`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    scale = alt.Scale(zero=False, padding=12)
    x, y = alt.X("x:Q", scale=scale, axis=None), alt.Y("y:Q", scale=scale, axis=None)
    # The cells come the farthest first, and are drawn in this order.
    cells = alt.Chart(records(table.cells)).mark_line(
        filled=True, interpolate="linear-closed", stroke="white", strokeWidth=0.5, aria=False
    )
    cells = cells.encode(
        x=x,
        y=y,
        fill=alt.Fill("score:Q", scale=alt.Scale(scheme="viridis"), title=table.metric),
        detail=alt.Detail("cell:O"),
        order=alt.Order("step:Q"),
    )
    base = alt.Chart(records(table.axes)).encode(x=x, y=y)
    axes = base.mark_line(color=FAINT).encode(detail=alt.Detail("axis:N"))
    return layered(axes, cells, base.mark_text(color=FOUND, dy=10).encode(text="text:N"), height=HEIGHT)
