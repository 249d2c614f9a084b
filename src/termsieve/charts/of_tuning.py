"""Tables of what selections learned come in; pictures of the ratios and lams tried and chosen go out."""

from __future__ import annotations

import altair as alt
import polars as pl

from termsieve.charts.of_results import methods_in, one_learner
from termsieve.charts.theme import HEIGHT, WIDTH, colour, dash, layered, measure_label, records, shape, tips
from termsieve.errors import InputError

PARAMETER_LABELS = {"ratio": "share of positive terms", "lam": "lam"}


def _with_runs(table: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return the table with a column `run`, "method at size", and the runs by method and size."""
    size = pl.col("size").map_elements(lambda size: f"{size:g}", return_dtype=pl.String)
    named = table.with_columns(run=pl.format("{} at {}", pl.col("method"), size))
    return named, named.sort("method", "size")["run"].unique(maintain_order=True).to_list()


def tuning_curves(table: pl.DataFrame, parameter: str = "ratio", measure: str = "goal") -> alt.Chart:
    """Return the goal for each ratio or lam that was tried, one problem at a time, from `tuning_curves`.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.tuning_curves`.
    parameter : {"ratio", "lam"}, default="ratio"
        Which of the two is drawn.
    measure : str, default="goal"
        The name of the goal, for the axis.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    rows, names = _with_runs(one_learner(table))
    if rows.is_empty():
        raise InputError("the selections have no tuning curves")
    problems = methods_in(rows, "problem")
    choose = alt.selection_point(
        fields=["problem"],
        value=problems[0],
        bind=alt.binding_select(options=problems, name="problem "),
        name="problem",
    )
    chart = alt.Chart(records(rows)).transform_filter(choose).mark_line(point={"size": 40}, strokeWidth=2)
    return (
        chart.encode(
            x=alt.X("candidate:Q", title=PARAMETER_LABELS[parameter]),
            y=alt.Y("value:Q", scale=alt.Scale(zero=False), title=measure_label(measure)),
            color=colour(names, "run"),
            strokeDash=dash(names, "run"),
            tooltip=tips("problem", "run", candidate=".2f", value=".4f"),
        )
        .properties(name="marks")
        .add_params(choose)
        .properties(width=WIDTH, height=HEIGHT)
    )


def chosen_parameters(table: pl.DataFrame, parameter: str = "ratio") -> alt.LayerChart:
    """Return the ratio (or lam) chosen for each problem and its range over folds.

    Parameters
    ----------
    table : polars.DataFrame
        The table of `analysis.chosen_parameters`.
    parameter : {"ratio", "lam"}, default="ratio"
        Which of the two is drawn.

    Returns
    -------
    altair.Chart
        The chart; `save` writes it to a file.
    """
    rows, names = _with_runs(one_learner(table).filter(pl.col(parameter).is_not_null()))
    if rows.is_empty():
        raise InputError(f"no selection chose a {parameter}")
    order = rows.group_by("problem").agg(pl.col(parameter).mean()).sort(parameter)["problem"].to_list()
    title = f"{PARAMETER_LABELS[parameter]} chosen"
    base = alt.Chart(records(rows)).encode(
        y=alt.Y("problem:N", sort=order, title=None),
        color=colour(names, "run"),
        tooltip=tips(
            "problem", "run", **dict.fromkeys((parameter, f"{parameter}_low", f"{parameter}_high"), ".2f")
        ),
    )
    span = base.mark_rule(opacity=0.5).encode(x=alt.X(f"{parameter}_low:Q"), x2=alt.X2(f"{parameter}_high:Q"))
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X(f"{parameter}:Q", scale=alt.Scale(domain=[0, 1]), title=title), shape=shape(names, "run")
    )
    return layered(span, dots, height=16 * len(order) + 10)
