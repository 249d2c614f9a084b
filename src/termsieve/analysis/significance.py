"""Result rows come in; paired tests between methods, and their mean ranks, go out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from termsieve.analysis.curves import best_size
from termsieve.analysis.values import (
    PROBLEM,
    Measure,
    Rows,
    by_method,
    goal_values,
    per_learner,
    problem_values,
    values_at,
)
from termsieve.errors import InputError, ParameterError, unknown_name

Unit = Literal["trial", "problem"]
FEW_PAIRS = 13  # up to which scipy's p-value is exact even with ties


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values corrected for their number by Holm's step-down method.

    Parameters
    ----------
    p_values : array-like
        The p-values of all tests.

    Returns
    -------
    ndarray of float
        The corrected p-values, in the given order.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def paired_tests(
    rows: Rows,
    size: float | None = None,
    measure: Measure = "f1",
    reference: str | None = None,
    unit: Unit = "trial",
    size_kind: str | None = None,
) -> pl.DataFrame:
    """Return paired t and Wilcoxon signed-rank tests between methods at one size, corrected by Holm.

    Every pair is compared, or every method with `reference`. A pair's observations are its (problem, trial)
    values as in forman2003, or the problems' means with `unit="problem"`: the trials of a problem share their
    documents, so tests over trials find differences significant more easily than they should. Without a size
    the average maxima of the problems are compared. `difference` is first minus second.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    size : float, optional
        The size at which values are compared; without it, each problem at its best size (the average
        maximum).
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).
    reference : str, optional
        The method that all others are compared with; by default every pair is compared.
    unit : {"trial", "problem"}, default="trial"
        What one observation of a test is.
    size_kind : str, optional
        The kind of that size, such as "k" or "sparsity"; by default sizes of every kind are taken.

    Returns
    -------
    polars.DataFrame
        One row per pair: first, second, learner, n, difference, t, p_t, p_t_holm, w, p_wilcoxon,
        p_wilcoxon_holm.
    """
    if unit not in get_args(Unit):
        raise unknown_name("unit", unit, get_args(Unit))
    key: tuple[str, ...] = PROBLEM
    if size is None or unit == "problem":
        values = goal_values(rows, measure, size, size_kind)
    else:
        key = (*PROBLEM, "trial")
        values = values_at(problem_values(rows, measure), size, size_kind)
    tables = []
    for learner, part in per_learner(values):
        wide = by_method(part, key)
        tests = [
            {"first": a, "second": b, "learner": learner, **_paired(wide[a].to_numpy(), wide[b].to_numpy())}
            for a, b in _compared(wide.columns[len(key) :], reference)
        ]
        if tests:
            tables.append(_with_holm(pl.DataFrame(tests, infer_schema_length=None)))
    if not tables:
        raise InputError("there is only one method; at least two are needed")
    return pl.concat(tables)


def paired_at_best_size(rows: Rows, measure: Measure = "f1", reference: str | None = None) -> pl.DataFrame:
    """Return `paired_tests` over problems at the size at which some method has the greatest macro value.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).
    reference : str, optional
        The method that all others are compared with; by default every pair is compared.

    Returns
    -------
    polars.DataFrame
        One row per pair: first, second, learner, n, difference, t, p_t, p_t_holm, w, p_wilcoxon,
        p_wilcoxon_holm.
    """
    kind, size = best_size(rows, measure)
    return paired_tests(rows, size, measure, reference, unit="problem", size_kind=kind)


def _compared(methods: Sequence[str], reference: str | None) -> list[tuple[str, str]]:
    if reference is None:
        return list(combinations(methods, 2))
    if reference not in methods:
        raise unknown_name("method", reference, methods)
    return [(reference, other) for other in methods if other != reference]


def _paired(a: NDArray[Any], b: NDArray[Any]) -> dict[str, Any]:
    """Return both tests; if all values are equal, p is 1, and a single pair has no p."""
    difference = a - b
    facts: dict[str, Any] = {"n": len(a), "difference": float(difference.mean())}
    spread = np.ptp(difference)
    if len(a) < 2:
        return facts | {"t": None, "p_t": None, "w": None, "p_wilcoxon": None}
    if spread <= 1e-12 * max(1.0, np.abs(difference).max()):  # no variance: t is 0 or infinite
        zero = bool(np.abs(difference).max() <= 1e-12)
        t, p_t = (0.0, 1.0) if zero else (None, 0.0)
    else:
        test = stats.ttest_rel(a, b)
        t, p_t = float(test.statistic), float(test.pvalue)
    moved = np.where(np.abs(difference) <= 1e-12, 0.0, difference)
    if not moved.any():
        return facts | {"t": t, "p_t": p_t, "w": 0.0, "p_wilcoxon": 1.0}
    w, p_wilcoxon = _wilcoxon(moved)
    return facts | {"t": t, "p_t": p_t, "w": w, "p_wilcoxon": p_wilcoxon}


def _wilcoxon(difference: NDArray[np.float64]) -> tuple[float, float]:
    """Return the smaller sum of signed ranks and its two-sided p-value, exact for few pairs."""
    moved = difference[difference != 0]
    ranks = stats.rankdata(np.abs(moved))
    tied = len(np.unique(ranks)) < len(ranks) or len(moved) < len(difference)
    if not tied or len(difference) > FEW_PAIRS:
        test = stats.wilcoxon(difference)
        return float(test.statistic), float(test.pvalue)
    # All sign patterns are equally likely. scipy would enumerate them one by one.
    doubled = np.round(2 * ranks).astype(int)
    ways = np.ones(1)
    for rank in doubled:
        ways = np.concatenate([ways, np.zeros(rank)]) + np.concatenate([np.zeros(rank), ways])
    positive = int(doubled[moved > 0].sum())
    tail = min(ways[: positive + 1].sum(), ways[positive:].sum()) / ways.sum()
    return min(positive, int(doubled.sum()) - positive) / 2, min(1.0, 2 * float(tail))


def _with_holm(table: pl.DataFrame) -> pl.DataFrame:
    columns = []
    for name in ("p_t", "p_wilcoxon"):
        p = table[name].cast(pl.Float64)
        known = p.is_not_null()
        adjusted: list[float | None] = [None] * len(p)
        for place, value in zip(known.arg_true(), holm(p.drop_nulls().to_numpy()), strict=True):
            adjusted[place] = float(value)
        columns.append(pl.Series(f"{name}_holm", adjusted, dtype=pl.Float64))
    with_holm = table.with_columns(pl.col("t", "p_t", "w", "p_wilcoxon").cast(pl.Float64)).with_columns(
        columns
    )
    return with_holm.select(
        "first",
        "second",
        "learner",
        "n",
        "difference",
        "t",
        "p_t",
        "p_t_holm",
        "w",
        "p_wilcoxon",
        "p_wilcoxon_holm",
    )


class MeanRanks(NamedTuple):
    """Friedman's test over problems with Nemenyi's post-hoc test.

    `ranks` has one row per method (method, rank: the mean rank, 1 best; value: the mean), `pairs` one row per
    pair (first, second, difference of ranks, p_value). Methods whose mean ranks differ by less than
    `critical_difference` do not differ significantly at the level `alpha`.

    Parameters
    ----------
    learner : str
        The learner.
    statistic : float
        Friedman's statistic.
    p_value : float
        Its p-value.
    critical_difference : float
        Nemenyi's critical difference of mean ranks.
    alpha : float
        Significance level.
    n_problems : int
        Number of problems.
    ranks : polars.DataFrame
        One row per method.
    pairs : polars.DataFrame
        One row per pair of methods.
    """

    learner: str
    statistic: float
    p_value: float
    critical_difference: float
    alpha: float
    n_problems: int
    ranks: pl.DataFrame
    pairs: pl.DataFrame

    @property
    def table(self) -> pl.DataFrame:
        """The pairs: the numbers that are shown as a table."""
        return self.pairs


def mean_ranks(
    rows: Rows,
    measure: Measure = "f1",
    size: float | None = None,
    alpha: float = 0.05,
    learner: str | None = None,
    size_kind: str | None = None,
) -> MeanRanks:
    """Return Friedman's test and Nemenyi's pairwise tests of three or more methods with one learner.

    Each problem ranks the methods by the value at `size`, or by the average maximum; ties share their ranks.
    Demšar, JMLR 7 (2006), recommends these tests for comparisons over several data sets.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).
    size : float, optional
        The size at which values are compared; without it, each problem at its best size (the average
        maximum).
    alpha : float, default=0.05
        Significance level.
    learner : str, optional
        The learner; needed if the rows have several.
    size_kind : str, optional
        The kind of that size, such as "k" or "sparsity"; by default sizes of every kind are taken.

    Returns
    -------
    MeanRanks
        The tests, the mean ranks and the pairs.
    """
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must lie between 0 and 1, not {alpha!r}")
    learners = dict(per_learner(goal_values(rows, measure, size, size_kind)))
    if learner is None and len(learners) > 1:
        raise ParameterError(f"there are several learners; choose one with learner=: {', '.join(learners)}")
    if learner is not None and learner not in learners:
        raise unknown_name("learner", learner, learners)
    chosen = learner if learner is not None else next(iter(learners))
    wide = by_method(learners[chosen]).drop(PROBLEM)
    methods, table = wide.columns, wide.to_numpy()
    n, k = table.shape
    if k < 3 or n < 2:
        raise InputError(f"mean ranks need 3 methods and 2 problems or more; there are {k} and {n}")
    ranked = stats.rankdata(-np.round(table, 12), axis=1)
    means = ranked.mean(axis=0)
    statistic, p_value = _friedman(ranked)
    unit = np.sqrt(k * (k + 1) / (6 * n))
    ranks = pl.DataFrame({"method": methods, "rank": means, "value": table.mean(axis=0)}).sort(
        "rank", "method"
    )
    return MeanRanks(
        learner=chosen,
        statistic=statistic,
        p_value=p_value,
        critical_difference=float(stats.studentized_range.isf(alpha, k, np.inf) / np.sqrt(2) * unit),
        alpha=alpha,
        n_problems=n,
        ranks=ranks,
        pairs=_nemenyi(methods, means, unit),
    )


def _friedman(ranked: NDArray[np.float64]) -> tuple[float, float]:
    """Return Friedman's statistic, corrected for ties, and its p-value; 0 and 1 if all values are tied."""
    if (ranked == ranked[:, :1]).all():
        return 0.0, 1.0
    test = stats.friedmanchisquare(*ranked.T)
    return float(test.statistic), float(test.pvalue)


def _nemenyi(methods: list[str], means: NDArray[np.float64], unit: float) -> pl.DataFrame:
    pairs = list(combinations(range(len(methods)), 2))
    difference = np.array([means[a] - means[b] for a, b in pairs])
    p = stats.studentized_range.sf(np.abs(difference) / unit * np.sqrt(2), len(methods), np.inf)
    return pl.DataFrame(
        {
            "first": [methods[a] for a, _ in pairs],
            "second": [methods[b] for _, b in pairs],
            "difference": difference,
            "p_value": np.clip(p, 0, 1),
        }
    )
