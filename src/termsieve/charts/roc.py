"""Counts of a class come in; its ROC map and families of isoclines go out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from termsieve.charts.contours import RESOLUTION, score_grid
from termsieve.charts.theme import FAINT, FOUND, HEIGHT, LABEL_LIMIT, PALETTE, layered, records
from termsieve.counts import Counts
from termsieve.errors import InputError, ParameterError
from termsieve.metrics import Metric, get_metric
from termsieve.ranking import rank
from termsieve.scores import score

MetricSpec = str | Metric | Callable[..., Any]
SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000)
MAX_METRICS = 5
MAX_LETTERS = 60  # of a word in a tooltip
POINT_LETTERS = 160  # of all words of a point


def class_position(counts: Counts, label: Any = None) -> int:
    """Return where a class stands in `counts`; without a label the only problem there is."""
    if label is None:
        if len(counts.problems) == 1:
            return int(counts.problems[0])
        raise ParameterError(f"there are {counts.n_classes} classes; choose one with label=")
    return counts.position(label)


def class_counts(counts: Counts, label: Any = None) -> Counts:
    """Return the counts of one class against all other documents."""
    position = class_position(counts, label)
    return counts if counts.n_classes == 1 else counts.take([position])


def shown(text: Any, letters: int = MAX_LETTERS) -> str:
    """Return a text as it can be shown: valid Unicode, and cut where it is very long.

    >>> shown("a" * 9, letters=5), shown("\\ud800x")
    ('aaaa…', '?x')
    """
    clean = str(text).encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= letters else clean[: letters - 1] + "…"


def term_points(
    counts: Counts,
    label: Any = None,
    metrics: Sequence[MetricSpec] = ("bns", "information_gain"),
    max_points: int = 3000,
    max_words: int = 8,
) -> pl.DataFrame:
    """Return the distinct points (fp, tp) of a class: how many terms share each, and the first of them.

    Of more than `max_points` the best by any of the metrics are kept. `words` holds up to `max_words` terms.
    """
    own = class_counts(counts, label)
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
    words = []
    for g in kept:
        some = [shown(names[present[t]]) for t in groups[g][:max_words]]
        letters = np.cumsum([len(word) for word in some])
        some = some[: max(1, int((letters <= POINT_LETTERS).sum()))]
        more = size[g] - len(some)
        words.append(", ".join(some) + (f" and {more:,} more" if more > 0 else ""))
    at = present[first[kept]]
    return pl.DataFrame(
        {"fp": fp[at], "tp": tp[at], "terms": size[kept], "words": pl.Series(words, dtype=pl.String)}
    )


def isoclines(
    counts: Counts,
    label: Any = None,
    metrics: Sequence[MetricSpec] = ("bns", "information_gain"),
    sizes: Sequence[int] = SIZES,
    resolution: int = RESOLUTION,
) -> pl.DataFrame:
    """Return for each metric and size k the lines of the tables that score as the class's k-th best term.

    Terms above are among the best k, terms below are not, terms on the line may be either. A two-sided
    metric has a line for positive and one for negative terms. `line` numbers the lines, `step` their points;
    sizes beyond the number of terms have no line, and neither has a level that every table reaches.
    """
    own = class_counts(counts, label)
    pos, neg = int(own.pos[0]), int(own.neg[0])
    made: list[dict[str, Any]] = []
    n_lines = 0
    for chosen in map(get_metric, metrics):
        grid = score_grid(chosen, pos, neg, resolution)
        ranking = rank(score(own, chosen))
        for k in sizes:
            if not 0 < k <= len(ranking):
                continue
            level = float(ranking.scores[ranking.order[k - 1]])
            for line in grid.level_lines(level):
                n_lines += 1
                base = {"metric": str(chosen), "k": int(k), "level": level, "line": n_lines}
                made += [
                    base | {"step": i, "fp": fp, "tp": tp}
                    for i, (fp, tp) in enumerate(line.round(2).tolist())
                ]
    schema = {"metric": pl.String, "k": pl.Int64, "level": pl.Float64, "line": pl.Int64, "step": pl.Int64}
    return pl.DataFrame(made, schema=schema | {"fp": pl.Float64, "tp": pl.Float64})


def roc_map(
    counts: Counts,
    label: Any = None,
    metrics: Sequence[MetricSpec] = ("bns", "information_gain"),
    sizes: Sequence[int] = SIZES,
    max_points: int = 3000,
    max_words: int = 8,
) -> alt.LayerChart:
    """Return the ROC map of a class: every term a point at (fp, tp), and the isoclines of up to five metrics.

    Hovering shows a point's words, the search box finds a word, a list chooses k, a box for each metric shows
    or hides its line, and a switch stretches the corner near the origin, where most terms are.
    """
    if not 1 <= len(metrics) <= MAX_METRICS:
        raise ParameterError(f"a map holds 1 to {MAX_METRICS} metrics, not {len(metrics)}")
    chosen = [get_metric(each) for each in metrics]
    position = class_position(counts, label)
    points = term_points(counts, label, chosen, max_points, max_words)
    lines = isoclines(counts, label, chosen, sizes)
    return roc_chart(
        points, lines, [str(each) for each in chosen], int(counts.pos[position]), int(counts.neg[position])
    )


def roc_chart(
    points: pl.DataFrame, lines: pl.DataFrame, metrics: Sequence[str], pos: int, neg: int
) -> alt.LayerChart:
    """Return the map of ready points and lines."""
    near = alt.param(
        name="near",
        value="near the origin",
        bind=alt.binding_radio(options=["near the origin", "whole plane"], name="show "),
    )
    # A symlog scale with an immense constant is a linear one, so one scale serves both.
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
    """Return the line of the tables that say nothing: tpr = fpr."""
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
    # indexof, not a regular expression: what is typed is a word, and every text is a valid one.
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
    # The words of thousands of points are for the search box and the table, not to be read out one by one.
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
    # Numbers for names, and the order of the rows for that of the points: maps of many classes stay small.
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


def isocline_family(
    metric: MetricSpec, pos: int = 100, neg: int = 1000, levels: int | Sequence[float] = 9
) -> alt.Chart:
    """Return the contour map of one metric over the ROC plane (forman2003, Appendix C).

    Of a number of levels each divides the plane's tables into equal parts; or give the levels themselves.
    """
    chosen = get_metric(metric)
    grid = score_grid(chosen, pos, neg)
    if isinstance(levels, int):
        area = np.outer(np.gradient(grid.tp), np.gradient(grid.fp))
        shares = np.arange(1, levels + 1) / (levels + 1)
        values = np.unique(np.quantile(grid.values, shares, weights=area, method="inverted_cdf"))
    else:
        values = np.asarray(levels, dtype=float)
    rows = [
        {"level": round(float(level), 6), "line": f"{i}.{j}", "step": s, "fpr": fp / neg, "tpr": tp / pos}
        for i, level in enumerate(values)
        for j, line in enumerate(grid.level_lines(float(level)))
        for s, (fp, tp) in enumerate(line.tolist())
    ]
    chart = alt.Chart(records(rows)).mark_line(strokeWidth=2)
    return chart.encode(
        x=alt.X("fpr:Q", scale=alt.Scale(domain=[0, 1]), title="false positive rate"),
        y=alt.Y("tpr:Q", scale=alt.Scale(domain=[0, 1]), title="true positive rate"),
        color=alt.Color("level:Q", scale=alt.Scale(scheme="viridis"), title=str(chosen)),
        detail=alt.Detail("line:N"),
        order=alt.Order("step:Q"),
        tooltip=[alt.Tooltip("level:Q", title=str(chosen), format=".4g")],
    ).properties(width=HEIGHT, height=HEIGHT)
