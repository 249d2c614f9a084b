"""Points and lines of the ROC plane come in; the ROC map of a class and families of isoclines go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from termsieve.charts.theme import FAINT, FOUND, HEIGHT, LABEL_LIMIT, PALETTE, layered, records

if TYPE_CHECKING:
    from termsieve.analysis import RocMap


def roc_map(table: RocMap) -> alt.LayerChart:
    """Return the map of `analysis.roc_map`: every term a point at (fp, tp), and the metrics' isoclines.

    Hovering shows the words of a point, the search box finds a word, a list chooses k, one check box per
    metric shows or hides its line, and a switch enlarges the corner near the origin, where most terms are.

    Parameters
    ----------
    table : RocMap
        The result of `analysis.roc_map`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    points, lines, metrics, pos, neg = table
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
    return [every.add_params(search), found]


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
    scale = alt.Scale(domain=numbers, range=list(PALETTE[: len(metrics)]))
    legend = alt.Legend(labelExpr="metrics[datum.value]", labelLimit=LABEL_LIMIT)
    chart = alt.Chart(records(rows)).transform_filter(f"datum.k == k && ({wanted})")
    return (
        chart.mark_line(strokeWidth=2.5)
        .encode(
            x=x,
            y=y,
            color=alt.Color("metric:N", scale=scale, legend=legend, title="best k by"),
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
