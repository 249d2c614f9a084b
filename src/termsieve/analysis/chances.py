"""Result rows come in; how often one or two methods are near the best goes out (forman2003)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from termsieve.analysis.values import PROBLEM, Measure, Rows, by_method, goal_values, per_learner
from termsieve.errors import ParameterError, unknown_name

_ROUNDING = 1e-12


def tolerances_of(measure: Measure) -> list[float]:
    """Return forman2003's tolerances: 1 % to 10 %, and for accuracy a tenth of that.

    Parameters
    ----------
    measure : str or callable
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).

    Returns
    -------
    list of float
        The tolerances, the smallest first.
    """
    unit = 0.001 if measure == "accuracy" else 0.01
    return [round(unit * step, 4) for step in range(1, 11)]


def best_chances(
    rows: Rows,
    measure: Measure = "f1",
    tolerances: Sequence[float] | None = None,
    size: float | None = None,
) -> pl.DataFrame:
    """Return the share of problems on which a method is within a tolerance of the best of all methods.

    The average maxima are compared, or the values at `size`. Only problems with results of all methods count.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).
    tolerances : sequence of float, optional
        The distances from the best value that count as near; by default those of `tolerances_of`.
    size : float, optional
        The size at which values are compared; without it, each problem at its best size (the average
        maximum).

    Returns
    -------
    polars.DataFrame
        One row per method, learner and tolerance: method, learner, tolerance, share, n_problems.
    """
    tables = []
    for learner, methods, gaps in _gaps(rows, measure, size):
        for tolerance in _checked(measure, tolerances):
            shares = _near(gaps, tolerance).mean(axis=0)
            tables.append(_table(learner, tolerance, len(gaps), method=methods, share=shares.tolist()))
    return _joined(tables, ["method", "learner", "tolerance", "share", "n_problems"])


def pair_chances(
    rows: Rows,
    measure: Measure = "f1",
    tolerances: Sequence[float] | None = None,
    size: float | None = None,
) -> pl.DataFrame:
    """Return for each pair of methods the share of problems on which one of them is near the best.

    `first_alone` and `second_alone` are the shares of the two single methods, the stronger first; `gain` is
    what the second adds to the first.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).
    tolerances : sequence of float, optional
        The distances from the best value that count as near; by default those of `tolerances_of`.
    size : float, optional
        The size at which values are compared; without it, each problem at its best size (the average
        maximum).

    Returns
    -------
    polars.DataFrame
        One row per pair, learner and tolerance: first, second, learner, tolerance, share, first_alone,
        second_alone, gain, n_problems.
    """
    tables = []
    for learner, methods, gaps in _gaps(rows, measure, size):
        pairs = list(combinations(range(len(methods)), 2))
        for tolerance in _checked(measure, tolerances):
            near = _near(gaps, tolerance)
            alone = near.mean(axis=0)
            # The stronger of the two is named first.
            ordered = [(a, b) if alone[a] >= alone[b] else (b, a) for a, b in pairs]
            both = [float((near[:, a] | near[:, b]).mean()) for a, b in ordered]
            tables.append(
                _table(
                    learner,
                    tolerance,
                    len(gaps),
                    first=[methods[a] for a, _ in ordered],
                    second=[methods[b] for _, b in ordered],
                    share=both,
                    first_alone=[float(alone[a]) for a, _ in ordered],
                    second_alone=[float(alone[b]) for _, b in ordered],
                    gain=[share - float(alone[a]) for share, (a, _) in zip(both, ordered, strict=True)],
                )
            )
    columns = ["first", "second", "learner", "tolerance", "share", "first_alone", "second_alone", "gain"]
    columns.append("n_problems")
    order = ["learner", "tolerance", "share", "first", "second"]
    return _joined(tables, columns).sort(order, descending=[False, False, True, False, False])


def best_pairs(
    rows: Rows,
    measure: Measure = "f1",
    tolerances: Sequence[float] | None = None,
    size: float | None = None,
) -> pl.DataFrame:
    """Return the best pair of methods for each learner and tolerance.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).
    tolerances : sequence of float, optional
        The distances from the best value that count as near; by default those of `tolerances_of`.
    size : float, optional
        The size at which values are compared; without it, each problem at its best size (the average
        maximum).

    Returns
    -------
    polars.DataFrame
        One row per learner and tolerance, with the columns of `pair_chances`.
    """
    every = pair_chances(rows, measure, tolerances, size)
    return every.group_by("learner", "tolerance", maintain_order=True).first().select(every.columns)


def backups(
    rows: Rows,
    leader: str | None = None,
    measure: Measure = "f1",
    tolerances: Sequence[float] | None = None,
    size: float | None = None,
) -> pl.DataFrame:
    """Return the residual wins: where `leader` is not near the best, how often each other method is.

    If no leader is given, it is, for each learner, the method that is most often within the smallest
    tolerance of the best. The best backup comes first; `n_failed` is the number of those problems; where it
    is 0, `share` is null.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    leader : str, optional
        The method to find a backup for.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).
    tolerances : sequence of float, optional
        The distances from the best value that count as near; by default those of `tolerances_of`.
    size : float, optional
        The size at which values are compared; without it, each problem at its best size (the average
        maximum).

    Returns
    -------
    polars.DataFrame
        One row per leader, method and tolerance: leader, method, learner, tolerance, share, n_failed,
        n_problems.
    """
    tables = []
    for learner, methods, gaps in _gaps(rows, measure, size):
        steps = _checked(measure, tolerances)
        chosen = _leader(methods, gaps, min(steps)) if leader is None else leader
        if chosen not in methods:
            raise unknown_name("method", chosen, methods)
        at = methods.index(chosen)
        others = [name for name in methods if name != chosen]
        for tolerance in steps:
            near = _near(gaps, tolerance)
            failed = near[~near[:, at]]
            rest = np.delete(failed, at, axis=1)
            shares = rest.mean(axis=0).tolist() if len(failed) else [None] * len(others)
            table = _table(learner, tolerance, len(gaps), method=others, share=shares)
            tables.append(
                table.with_columns(
                    leader=pl.lit(chosen),
                    n_failed=pl.lit(len(failed)),
                    share=pl.col("share").cast(pl.Float64),
                )
            )
    columns = ["leader", "method", "learner", "tolerance", "share", "n_failed", "n_problems"]
    order = ["learner", "tolerance", "share", "method"]
    return _joined(tables, columns).sort(order, descending=[False, False, True, False], nulls_last=True)


def _gaps(
    rows: Rows, measure: Measure, size: float | None
) -> list[tuple[str, list[str], NDArray[np.float64]]]:
    """Return per learner its methods, and how far each is below the best (problems x methods)."""
    gaps = []
    for learner, values in per_learner(goal_values(rows, measure, size)):
        wide = by_method(values)
        table = wide.drop(PROBLEM).to_numpy()
        gaps.append((learner, wide.columns[len(PROBLEM) :], table.max(axis=1, keepdims=True) - table))
    return gaps


def _leader(methods: list[str], gaps: NDArray[np.float64], tolerance: float) -> str:
    shares = _near(gaps, tolerance).mean(axis=0)
    return min(zip(-shares, methods, strict=True))[1]


def _near(gaps: NDArray[np.float64], tolerance: float) -> NDArray[np.bool_]:
    return np.asarray(gaps <= tolerance + _ROUNDING)


def _checked(measure: Measure, tolerances: Sequence[float] | None) -> list[float]:
    chosen = tolerances_of(measure) if tolerances is None else [float(value) for value in tolerances]
    wrong = [value for value in chosen if not 0 <= value <= 1]
    if wrong or not chosen:
        raise ParameterError(f"tolerances must be numbers between 0 and 1, not {wrong or chosen!r}")
    return chosen


def _table(learner: str, tolerance: float, n_problems: int, **columns: list) -> pl.DataFrame:
    return pl.DataFrame(columns).with_columns(
        learner=pl.lit(learner), tolerance=pl.lit(tolerance), n_problems=pl.lit(n_problems)
    )


def _joined(tables: list[pl.DataFrame], columns: list[str]) -> pl.DataFrame:
    return pl.concat([table for table in tables if table.height] or tables).select(columns)
