"""A metric comes in; its score as a surface above the ROC plane, in perspective, goes out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from termsieve.analysis.contours import grid_at
from termsieve.errors import ParameterError
from termsieve.metrics import get_metric
from termsieve.telling import MetricSpec

Floats = NDArray[np.float64]
TURN, TILT = np.radians(-62.0), np.radians(28.0)  # where the plane is seen from
STEPS = 14  # cells per side of the plane
RISE = 0.75  # height of the greatest score; a side of the plane is 1 long
# Both axes begin in the corner of the rates (0, 0) and end a little beyond the plane.
AXES = (("false positive rate", (1.1, 0.0)), ("true positive rate", (0.0, 1.1)))


class Surface(NamedTuple):
    """The content of a drawing of `score_surface`.

    Parameters
    ----------
    cells : polars.DataFrame
        Four points per cell of the plane, the farthest cell first: cell, step, x, y, score.
    axes : polars.DataFrame
        Two points per axis: axis, x, y, text.
    points : polars.DataFrame
        The scores themselves: fpr, tpr, score.
    metric : str
        The name of the metric.
    """

    cells: pl.DataFrame
    axes: pl.DataFrame
    points: pl.DataFrame
    metric: str

    @property
    def table(self) -> pl.DataFrame:
        """The scores: the numbers that are shown as a table."""
        return self.points


def score_surface(metric: MetricSpec = "bns", pos: int = 100, neg: int = 1000, steps: int = STEPS) -> Surface:
    """Return the score of a metric as a surface above the ROC plane (forman2003 draws that of bns).

    Parameters
    ----------
    metric : str, Metric or callable, default="bns"
        The metric.
    pos : int, default=100
        Number of documents in the class.
    neg : int, default=1000
        Number of documents outside the class.
    steps : int, default=14
        Number of cells per side of the plane.

    Returns
    -------
    Surface
        The cells in perspective, and the scores.
    """
    if not 2 <= steps <= min(pos, neg):
        raise ParameterError(
            f"steps must be between 2 and {min(pos, neg)}, the smaller number of documents, not {steps!r}"
        )
    chosen = get_metric(metric)
    tp, fp = (np.round(np.linspace(0, total, steps + 1)).astype(np.int64) for total in (pos, neg))
    grid = grid_at(chosen, pos, neg, tp, fp)
    tpr, fpr = np.meshgrid(grid.tp / pos, grid.fp / neg, indexing="ij")
    span = float(np.ptp(grid.values)) or 1.0
    x, y, far = _seen(fpr, tpr, (grid.values - grid.values.min()) / span * RISE)
    points = pl.DataFrame({"fpr": fpr.ravel(), "tpr": tpr.ravel(), "score": grid.values.ravel()})
    return Surface(_cells(x, y, far, grid.values), _axes(), points, str(chosen))


def _seen(fpr: Any, tpr: Any, height: Any) -> tuple[Any, Any, Any]:
    """Return where a point is drawn, and how far away it is."""
    u, v = np.asarray(fpr) - 0.5, np.asarray(tpr) - 0.5
    far = np.cos(TURN) * v - np.sin(TURN) * u
    return np.cos(TURN) * u + np.sin(TURN) * v, far * np.sin(TILT) + height * np.cos(TILT), far


def _cells(x: Floats, y: Floats, far: Floats, values: Floats) -> pl.DataFrame:
    """Return the corners of every cell, the farthest cells first, so that nearer ones are drawn over them."""
    corners = ((0, 0), (0, 1), (1, 1), (1, 0))
    rows, columns = (size - 1 for size in values.shape)

    def around(array: Floats) -> Floats:
        shifted = [array[a : a + rows, b : b + columns] for a, b in corners]
        return np.stack(shifted, axis=-1).reshape(-1, 4)

    order = np.argsort(-around(far).mean(axis=1), kind="stable")
    n = len(order)
    return pl.DataFrame(
        {
            "cell": np.repeat(np.arange(n), 4),
            "step": np.tile(np.arange(4), n),
            "x": around(x)[order].ravel().round(4),
            "y": around(y)[order].ravel().round(4),
            "score": np.repeat(around(values)[order].mean(axis=1), 4),
        }
    )


def _axes() -> pl.DataFrame:
    """Return the axes of both rates, each from (0, 0) to its end."""
    rows = []
    for name, end in AXES:
        for (fpr, tpr), text in (((0.0, 0.0), ""), (end, name)):
            x, y, _ = _seen(fpr, tpr, 0.0)
            rows.append({"axis": name, "x": round(float(x), 4), "y": round(float(y), 4), "text": text})
    return pl.DataFrame(rows)
