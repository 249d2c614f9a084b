"""Tables of the analyses come in; the pictures of a study go out."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from termsieve.charts.theme import (
    FAINT,
    FOUND,
    HEIGHT,
    LABEL_LIMIT,
    LOG_AXIS,
    PALETTE,
    WIDTH,
    colour,
    dash,
    layered,
    measure_label,
    picked,
    records,
    shape,
    tips,
)
from termsieve.errors import InputError

if TYPE_CHECKING:
    from termsieve.analysis import MeanRanks

SIZE_LABELS = {
    "k": "number of terms",
    "sparsity": "distinct terms per document",
    "fraction": "share of the vocabulary",
    "documents": "share of the training documents",
}
TITLE_LETTERS = 32  # of a line of a long title, so that it is whole on a telephone
SETTING_LABELS = {"min_df": "least number of documents with the term", "alpha": "weight of positive terms"}


def methods_in(table: pl.DataFrame, column: str = "method") -> list[str]:
    """Return the names in a column, sorted, so that a name has one colour in all charts of a study."""
    return sorted(table[column].unique(), key=lambda name: (name == "all", name))


def one_learner(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table, or raise an error if it holds several learners."""
    learners = table["learner"].unique().sort().to_list() if "learner" in table.columns else []
    if len(learners) > 1:
        raise InputError(f"a chart shows one learner; choose one of: {', '.join(map(str, learners))}")
    return table


def curves(
    table: pl.DataFrame, measure: str = "f1", x: str = "size", marked: tuple[float, float, str] | None = None
) -> alt.LayerChart:
    """Return the curves of `analysis.size_curves` with their bands; all features are a dashed line across.

    `x="sparsity"` or `x="n_terms"` draws them against the sparsity or the number of terms of the selections.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.size_curves`.
    measure : str, default="f1"
        The name of the measure, for the axis.
    x : {"size", "sparsity", "n_terms"}, default="size"
        The column of the horizontal axis.
    marked : tuple of float, float and str, optional
        A point, by its place, its value and a name, that gets a ring and the name.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    sized = one_learner(table).filter(pl.col("size_kind") != "all")
    if sized.is_empty():
        raise InputError("there is no curve to draw: the table has no sizes")
    names = methods_in(sized)
    kind = sized["size_kind"][0] if x == "size" else {"n_terms": "k", "sparsity": "sparsity"}[x]
    pick = picked()
    strong = alt.condition(pick, alt.value(1), alt.value(0.12))
    base = alt.Chart(records(sized)).encode(
        x=_size_x(x, sized, SIZE_LABELS[kind]),
        color=colour(names),
    )
    y = alt.Y("value:Q", scale=alt.Scale(zero=False), title=measure_label(measure))
    hover = tips("method", **{x: "~g", "value": ".4f", "low": ".4f", "high": ".4f"})
    lines = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dash(names), opacity=strong)
    dots = base.mark_point(filled=True, size=45).encode(
        y=y, shape=shape(names), tooltip=hover, opacity=strong
    )
    layers: list[Any] = [lines, dots.properties(name="marks").add_params(pick)]
    if sized["low"].null_count() < sized.height:
        # Bands that lie over each other are told apart by their edges, dashed as the lines are.
        faint = alt.condition(pick, alt.value(0.07), alt.value(0.01))
        edge = alt.condition(pick, alt.value(0.55), alt.value(0.03))
        layers.insert(0, base.mark_area().encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), opacity=faint))
        for bound in ("low", "high"):
            line = base.mark_line(strokeWidth=0.8).encode(y=alt.Y(f"{bound}:Q"), strokeDash=dash(names))
            layers.insert(1, line.encode(opacity=edge))
    whole = table.filter(pl.col("size_kind") == "all")
    if not whole.is_empty():
        layers += _all_features(whole)
    if marked is not None:
        layers += _marked_point(x, *marked)
    return layered(*layers)


def _size_x(field: str, table: pl.DataFrame, title: str) -> alt.X:
    """Return a logarithmic axis; its ticks are the sizes of the plan if these are few."""
    sizes = table[field].unique().sort().to_list()
    axis = alt.Axis(format="~g", labelOverlap="greedy")
    if field == "size" and len(sizes) < 16:  # means of terms or cells are no round numbers
        axis = alt.Axis(format="~g", labelOverlap="greedy", values=sizes)
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", nice=False, padding=12), title=title, axis=axis)


def _all_features(whole: pl.DataFrame) -> list[alt.Chart]:
    """Return the dashed line of all features and its name."""
    value = float(whole["value"].mean())  # type: ignore[arg-type]
    base = alt.Chart(records([{"value": value, "line": f"all features: {value:.3f}"}])).encode(
        y=alt.Y("value:Q"), tooltip=tips("line", value=".4f")
    )
    name = base.mark_text(align="right", dx=-4, dy=-7, fontSize=11).encode(
        x=alt.value("width"), text=alt.Text("line:N")
    )
    return [base.mark_rule(strokeDash=[6, 4], strokeWidth=1.5, color=FAINT), name]


def _marked_point(x: str, place: float, value: float, name: str) -> list[alt.Chart]:
    """Return a ring around a point of the curves, with its name."""
    base = alt.Chart(records([{x: place, "value": value, "name": name}])).encode(
        x=alt.X(f"{x}:Q"), y=alt.Y("value:Q"), tooltip=tips("name", **{x: "~g", "value": ".4f"})
    )
    ring = base.mark_point(size=320, strokeWidth=2.5, color=FOUND, filled=False)
    return [ring, base.mark_text(dy=-17, fontWeight="bold", color=FOUND).encode(text=alt.Text("name:N"))]


def precision_recall(table: pl.DataFrame) -> alt.LayerChart:
    """Return precision against recall, one point per method, from `analysis.precision_recall`.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.precision_recall`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    names = methods_in(one_learner(table))
    base = alt.Chart(records(table)).encode(
        x=alt.X("recall:Q", scale=alt.Scale(zero=False, padding=25), title="Recall"),
        y=alt.Y("precision:Q", scale=alt.Scale(zero=False, padding=20), title="Precision"),
        tooltip=tips("method", precision=".4f", recall=".4f", f1=".4f"),
    )
    points = base.mark_point(filled=True, size=110, opacity=1).encode(color=colour(names), shape=shape(names))
    return layered(points)


def skew(table: pl.DataFrame, measure: str = "f1") -> alt.LayerChart:
    """Return a measure against the skew of each problem, with one smooth line per method, from `by_skew`.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.by_skew`.
    measure : str, default="f1"
        The name of the measure, for the axis.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    names = methods_in(one_learner(table))
    pick = picked()
    base = alt.Chart(records(table)).encode(
        x=alt.X(
            "skew:Q",
            scale=alt.Scale(type="log", nice=False, padding=8),
            title="negative documents for one positive",
        ),
        y=alt.Y("value:Q", title=measure_label(measure)),
        color=colour(names),
    )
    points = base.mark_point(filled=True, size=28).encode(
        shape=shape(names),
        opacity=alt.condition(pick, alt.value(0.55), alt.value(0.05)),
        tooltip=tips("corpus", "problem", "method", skew=".1f", value=".4f"),
    )
    layers: list[Any] = [points.properties(name="marks").add_params(pick)]
    if table["skew"].n_unique() >= 8:  # with fewer points there is no trend
        smooth = base.transform_loess("skew", "value", groupby=["method"], bandwidth=0.6).mark_line(
            strokeWidth=2.5
        )
        faint = alt.condition(pick, alt.value(1), alt.value(0.05))
        layers.append(smooth.encode(strokeDash=dash(names), opacity=faint))
    return layered(*layers)


def chances(table: pl.DataFrame, measure: str = "f1") -> alt.Chart:
    """Return the share of problems on which each method is near the best, from `best_chances`.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.best_chances`.
    measure : str, default="f1"
        The name of the measure, for the axis.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    names = methods_in(one_learner(table))
    pick = picked()
    steps = table["tolerance"].unique().sort().to_list()
    percent = alt.Axis(values=steps, format=".1%" if steps[-1] < 0.05 else ".0%", labelOverlap=True)
    chart = alt.Chart(records(table)).mark_line(point={"size": 45}, strokeWidth=2)
    return (
        chart.encode(
            x=alt.X(
                "tolerance:Q", axis=percent, title=f"within this much of the best {measure_label(measure)}"
            ),
            y=alt.Y(
                "share:Q",
                axis=alt.Axis(format=".0%"),
                scale=alt.Scale(domain=[0, 1]),
                title="share of the problems",
            ),
            color=colour(names),
            strokeDash=dash(names),
            opacity=alt.condition(pick, alt.value(1), alt.value(0.12)),
            tooltip=tips("method", tolerance=".1%", share=".1%"),
        )
        .properties(name="marks")
        .add_params(pick)
        .properties(width=WIDTH, height=HEIGHT)
    )


def pairs(table: pl.DataFrame, tolerance: float | None = None) -> alt.LayerChart:
    """Return a square of `pair_chances`: how often either of two methods, or one alone, is near the best.

    The smallest tolerance is drawn unless another is named.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.pair_chances`.
    tolerance : float, optional
        The tolerance to draw.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    one_learner(table)
    chosen = float(table["tolerance"].min()) if tolerance is None else tolerance  # type: ignore[arg-type]
    near = table.filter((pl.col("tolerance") - chosen).abs() < 1e-9)
    two = near.select("first", "second", "share")
    one = [near.select(first=name, second=name, share=f"{name}_alone") for name in ("first", "second")]
    both = pl.concat(
        [pl.concat(one).unique("first"), two, two.select(first="second", second="first", share="share")]
    )
    both = both.sort("first", "second")
    names = methods_in(both, "first")
    base = alt.Chart(records(both)).encode(
        x=alt.X("first:N", sort=names, title=None, axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("second:N", sort=names, title=None),
        tooltip=tips("first", "second", share=".1%"),
    )
    scale = alt.Scale(scheme="blues", domain=[0, 1])
    squares = base.mark_rect().encode(
        color=alt.Color("share:Q", scale=scale, legend=alt.Legend(format=".0%"), title=f"within {chosen:.1%}")
    )
    ink = alt.condition("datum.share > 0.55", alt.value("white"), alt.value("black"))
    numbers = base.mark_text(fontSize=11).encode(text=alt.Text("share:Q", format=".0%"), color=ink)
    return layered(squares, numbers, height=30 * len(names))


def backups(table: pl.DataFrame, measure: str = "f1") -> alt.LayerChart:
    """Return the residual wins of `analysis.backups` as bars: who is near the best where the leader is not.

    The smallest tolerance is drawn. There are no bars if the leader is near the best on every problem.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.backups`.
    measure : str, default="f1"
        The name of the measure, for the axis.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    near = one_learner(table).filter(pl.col("tolerance") == pl.col("tolerance").min())
    leader, n, tolerance = near.row(0, named=True)["leader"], near["n_failed"][0], near["tolerance"][0]
    failed = f"share of the {n} problems where {leader} is not within {tolerance:.1%} of the best "
    base = alt.Chart(records(near)).encode(
        x=alt.X(
            "share:Q",
            axis=alt.Axis(format=".0%"),
            scale=alt.Scale(domain=[0, 1]),
            title=wrap(failed + measure_label(measure), TITLE_LETTERS),
        ),
        y=alt.Y("method:N", sort=near["method"].to_list(), title=None),
        tooltip=tips("method", share=".1%"),
    )
    numbers = base.mark_text(align="left", dx=4, fontSize=11).encode(text=alt.Text("share:Q", format=".0%"))
    return layered(base.mark_bar(color=PALETTE[0]), numbers, height=24 * near.height)


def trade_off(table: pl.DataFrame, measure: str = "f1") -> alt.LayerChart:
    """Return a measure against the cells of the matrix, with a line through the best, from `trade_offs`.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.trade_offs`.
    measure : str, default="f1"
        The name of the measure, for the axis.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    rows = one_learner(table).filter(pl.col("cells") > 0)
    names = methods_in(rows)
    base = alt.Chart(records(rows)).encode(
        x=alt.X(
            "cells:Q",
            scale=alt.Scale(type="log"),
            axis=LOG_AXIS,
            title="cells of the training matrix",
        ),
        y=alt.Y("value:Q", scale=alt.Scale(zero=False), title=measure_label(measure)),
    )
    hover = tips("method", "size_kind", size="~g", value=".4f", n_train=",.1f", sparsity=",.1f", cells=",.1f")
    front = base.transform_filter("datum.best").mark_line(
        color=FAINT, strokeDash=[5, 3], interpolate="step-after"
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        color=colour(names), shape=shape(names), tooltip=hover
    )
    return layered(front, dots)


def setting_curves(table: pl.DataFrame, setting: str, measure: str = "f1") -> alt.LayerChart:
    """Return a measure against a setting of the methods, from `analysis.setting_curves`.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.setting_curves`.
    setting : {"min_df", "alpha"}
        The setting.
    measure : str, default="f1"
        The measure, for the title of the axis.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    names = methods_in(one_learner(table))
    base = alt.Chart(records(table)).encode(
        x=alt.X("setting:Q", scale=alt.Scale(zero=False), title=SETTING_LABELS[setting]),
        y=alt.Y("value:Q", scale=alt.Scale(zero=False), title=measure_label(measure)),
        color=colour(names),
    )
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dash(names))
    dots = base.mark_point(filled=True, size=45).encode(
        shape=shape(names), tooltip=tips("method", setting="~g", value=".4f", size="~g")
    )
    return layered(lines, dots)


def stability(table: pl.DataFrame, index: str | None = None) -> alt.Chart:
    """Return the mean similarity of the selections of folds by size, from `fold_stability`.

    `index` is "kuncheva" by default, or "jaccard" if the table does not have it.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.fold_stability`.
    index : {"kuncheva", "jaccard"}, optional
        The column to draw.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    if index is None:
        index = "jaccard" if table["kuncheva"].null_count() == table.height else "kuncheva"
    keys = ["method", "size"]
    rows = table.filter(pl.col(index).is_not_null() & pl.col("size").is_not_null())
    rows = rows.group_by(keys).agg(pl.col(index).mean()).sort(keys)
    names = methods_in(rows)
    chart = alt.Chart(records(rows)).mark_line(point={"size": 45}, strokeWidth=2)
    title = {"jaccard": "Jaccard index", "kuncheva": "Kuncheva's index"}[index]
    return chart.encode(
        x=_size_x("size", rows, "size"),
        y=alt.Y(f"{index}:Q", title=f"{title} over folds"),
        color=colour(names),
        strokeDash=dash(names),
        tooltip=tips("method", **{"size": "~g", index: ".3f"}),
    ).properties(width=WIDTH, height=HEIGHT)


def critical_difference(ranks: MeanRanks) -> alt.LayerChart:
    """Return Demšar's diagram: the mean ranks, and bars over methods without a significant difference.

    Parameters
    ----------
    ranks : MeanRanks
        The result of `analysis.mean_ranks`.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    rows = ranks.ranks.sort("rank", "method").to_dicts()
    n = len(rows)
    groups = _untold_groups([row["rank"] for row in rows], ranks.critical_difference)
    left = (n + 1) // 2
    low, high = 1 - 0.2 * n, n + 0.2 * n  # space for the names
    for i, row in enumerate(rows):
        best = i < left
        row |= {"side": "left" if best else "right", "edge": low if best else high, "top": 0.0}
        row["row"] = len(groups) + 1.4 + (i if best else n - 1 - i)
        row["name"] = f"{row['method']}  {row['rank']:.2f}"
    depth = len(groups) + 1.4 + left
    axis = alt.Axis(orient="top", grid=False, values=list(range(1, n + 1)), format="d")
    span = alt.Scale(domain=[low, high], nice=False)
    x = alt.X("rank:Q", scale=span, axis=axis, title="mean rank (1 is best)")
    rows_scale = alt.Scale(domain=[depth, 0], nice=False)
    y, top = (alt.Y(field, scale=rows_scale, axis=None) for field in ("row:Q", "top:Q"))
    base = alt.Chart(records(rows)).encode(tooltip=tips("method", rank=".2f", value=".4f"))
    stems = base.mark_rule(color=FAINT).encode(x=x, y=top, y2=alt.Y2("row:Q"))
    leads = base.mark_rule(color=FAINT).encode(x=x, x2=alt.X2("edge:Q"), y=y)
    dots = base.mark_point(filled=True, size=50, color=PALETTE[0]).encode(x=x, y=top)
    words = [
        base.transform_filter(f"datum.side == '{side}'")
        .mark_text(align=side, dy=9, fontSize=13, limit=LABEL_LIMIT + 40)
        .encode(x=alt.X("edge:Q"), y=y, text=alt.Text("name:N"))
        for side in ("left", "right")
    ]
    layers: list[Any] = [stems, leads, dots, *words]
    if groups:
        bars = [{"rank": a, "end": b, "row": 0.7 + i} for i, (a, b) in enumerate(groups)]
        bar = alt.Chart(records(bars)).mark_rule(strokeWidth=5, color=PALETTE[1], strokeCap="round")
        layers.append(bar.encode(x=x, x2=alt.X2("end:Q"), y=y))
    near = f"{ranks.critical_difference:.2f} ranks apart (Nemenyi, {ranks.alpha:g})"
    title = alt.Title(["bars join methods less than", near], fontSize=11, fontWeight="normal")
    return layered(*layers, height=26 * depth + 10, title=title)


def _untold_groups(ranks: list[float], critical: float) -> list[tuple[float, float]]:
    """Return the spans of the largest groups of two or more methods less than `critical` ranks apart."""
    groups: list[tuple[float, float]] = []
    for i, start in enumerate(ranks):
        close = [j for j in range(i, len(ranks)) if ranks[j] - start < critical]
        end = ranks[close[-1]]
        if len(close) > 1 and not (groups and end <= groups[-1][1]):
            groups.append((start, end))
    return groups
