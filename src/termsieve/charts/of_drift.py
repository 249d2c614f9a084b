"""A table of periods comes in; charts of what changed over time go out."""

from __future__ import annotations

import altair as alt
import polars as pl

from termsieve.charts.theme import colour, layered, records, tips


def over_time(table: pl.DataFrame, value: str, title: str, by: str | None = None) -> alt.LayerChart:
    """Return the line of a share over periods, in the order of the table.

    Parameters
    ----------
    table : polars.DataFrame
        The columns period, changed ("yes" where something has changed beyond chance), and those named here.
    value : str
        The column of the share.
    title : str
        The title of the vertical axis.
    by : str, optional
        A column with one line per value.

    Returns
    -------
    altair.LayerChart
        The lines and their points.
    """
    order = table["period"].unique(maintain_order=True).to_list()
    x = alt.X("period:N", sort=order, title=None, axis=alt.Axis(labelAngle=-30, labelLimit=160))
    # From 0 on: otherwise a tenth of a percent, which is chance, would look like a fall.
    percent = alt.Axis(format=".0%", tickMinStep=0.01)
    y = alt.Y(f"{value}:Q", title=title, axis=percent, scale=alt.Scale(zero=True))
    shapes = alt.Scale(domain=["no", "yes"], range=["circle", "triangle-up"])
    base = alt.Chart(records(table)).encode(x=x, y=y)
    if by is not None:
        base = base.encode(color=colour(table[by].unique(maintain_order=True).to_list(), by))
    names = ["period", *([] if by is None else [by]), "changed"]
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        shape=alt.Shape("changed:N", scale=shapes, title="changed"),
        tooltip=tips(*names, **{value: ".1%"}),
    )
    return layered(base.mark_line(), points)
