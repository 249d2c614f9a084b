"""Result rows come in; averages by size, by skew and by memory go out, as small tables."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import polars as pl
from scipy import stats

from termsieve.analysis.values import (
    PROBLEM,
    RUN,
    Measure,
    Rows,
    goal_values,
    in_order,
    main_kind,
    micro_values,
    of_kind,
    problem_means,
    values_at,
)
from termsieve.errors import ParameterError, unknown_name

Average = Literal["macro", "micro"]
Side = Literal["low", "high"]


def size_curves(
    rows: Rows,
    measure: Measure = "f1",
    average: Average = "macro",
    confidence: float = 0.95,
    size_kind: str | None = None,
) -> pl.DataFrame:
    """Return for each method, learner and size the average `value` and its band `low` to `high`.

    "macro" is the mean over problems, each the mean over its trials; the band is the t interval of that mean
    over problems, null for a single one. "micro" pools the counts of all problems and has no band. Rows of
    size_kind "all" are the lines of all features. With `size_kind`, only sizes of that kind are used.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).
    average : {"macro", "micro"}, default="macro"
        How problems are averaged.
    confidence : float, default=0.95
        Probability that the band contains the mean.
    size_kind : str, optional
        The kind of that size, such as "k" or "sparsity"; by default sizes of every kind are taken.

    Returns
    -------
    polars.DataFrame
        One row per method, learner and size: method, learner, size_kind, size, value, low, high,
        n_problems, n_terms, sparsity.
    """
    if average not in get_args(Average):
        raise unknown_name("average", average, get_args(Average))
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must lie between 0 and 1, not {confidence!r}")
    rows = rows if size_kind is None else of_kind(rows, size_kind)
    if average == "micro":
        nothing = pl.lit(None, dtype=pl.Float64)
        table = micro_values(rows, measure).with_columns(low=nothing, high=nothing)
        return table.select(*RUN, "value", "low", "high", "n_terms", "sparsity")
    return _banded(problem_means(rows, measure), list(RUN), confidence)


def _banded(means: pl.DataFrame, keys: list[str], confidence: float) -> pl.DataFrame:
    columns = [
        pl.col("value").std().alias("spread"),
        pl.col("value", "n_terms", "sparsity").mean(),
        pl.len().alias("n_problems"),
    ]
    bands = means.group_by(keys).agg(columns).sort(in_order(*keys[: -len(RUN)]))
    n = bands["n_problems"].to_numpy()
    width = stats.t.ppf(0.5 + confidence / 2, np.maximum(n - 1, 1)) / np.sqrt(n)
    half = pl.col("spread") * pl.Series(width)
    return bands.with_columns(
        low=(pl.col("value") - half).clip(0, 1), high=(pl.col("value") + half).clip(0, 1)
    ).select(*keys, "value", "low", "high", "n_problems", "n_terms", "sparsity")


def selected_sparsity(rows: Rows, size_kind: str = "sparsity") -> pl.DataFrame:
    """Return the mean number of terms that each method selected at each size, and their sparsity.

    A method is named as in the column `metric` of :func:`termsieve.analysis.sparsity_table`, so that
    `charts.sparsity` draws both. Each is the macro mean over problems.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    size_kind : str, default="sparsity"
        The kind of size, such as "k" or "sparsity".

    Returns
    -------
    polars.DataFrame
        One row per method and size: metric, terms, sparsity.
    """
    sized = size_curves(rows, size_kind=size_kind).filter(pl.col("size_kind") == size_kind)
    means = sized.group_by("method", "size", maintain_order=True).agg(pl.col("n_terms", "sparsity").mean())
    named = means.sort("method", "size").rename({"method": "metric", "n_terms": "terms"})
    return named.select("metric", "terms", "sparsity")


def best_size(rows: Rows, measure: Measure = "f1") -> tuple[str, float]:
    """Return the kind and the size at which some method has the greatest macro value.

    If there are several kinds of size, the kind that most rows have is searched.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).

    Returns
    -------
    tuple of str and float
        The kind of size, and the size.
    """
    kind = main_kind(rows)
    sized = size_curves(rows, measure, size_kind=kind).filter(pl.col("size_kind") != "all")
    return kind, float(sized.sort("value", "size", descending=[True, False])["size"][0])


def precision_recall(rows: Rows, size: float | None = None, size_kind: str | None = None) -> pl.DataFrame:
    """Return the macro precision, recall and F1 of each method and learner at one size.

    Without `size` the best size for F1 is taken.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    size : float, optional
        The size; by default the best one for F1.
    size_kind : str, optional
        The kind of that size, such as "k" or "sparsity"; by default sizes of every kind are taken.

    Returns
    -------
    polars.DataFrame
        One row per method and learner: method, learner, precision, recall, f1, size.
    """
    if size is None:
        size_kind, size = best_size(rows)
    keys = ["method", "learner"]
    joined = None
    for name in ("precision", "recall", "f1"):
        values = values_at(problem_means(rows, name), size, size_kind)
        part = values.group_by(keys).agg(pl.col("value").mean().alias(name))
        joined = part if joined is None else joined.join(part, on=keys)
    assert joined is not None
    return joined.sort(keys).with_columns(size=pl.lit(float(size)))


def by_skew(
    rows: Rows, measure: Measure = "f1", size: float | None = None, size_kind: str | None = None
) -> pl.DataFrame:
    """Return the value and the skew (neg / pos) of each problem, method and learner.

    The value is the one at `size`; without `size`, the average maximum over the sizes.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).
    size : float, optional
        The size at which values are compared; without it, each problem at its best size (the average
        maximum).
    size_kind : str, optional
        The kind of that size, such as "k" or "sparsity"; by default sizes of every kind are taken.

    Returns
    -------
    polars.DataFrame
        One row per problem, method and learner: corpus, problem, method, learner, skew, value.
    """
    keys = [*PROBLEM, "method", "learner"]
    return goal_values(rows, measure, size, size_kind).select(*keys, "skew", "value").sort("skew", *keys)


def skew_curves(
    rows: Rows,
    threshold: float | None = None,
    measure: Measure = "f1",
    confidence: float = 0.95,
    side: Side | None = None,
) -> pl.DataFrame:
    """Return `size_curves` of the problems up to a skew ("low") and of those above it ("high").

    The default threshold is the 90th percentile of the problems' skews, which for forman2003 is 1:67. With
    `side` only one of the two is returned, and only the kind of size that most rows have.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    threshold : float, optional
        The skew that separates low from high.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).
    confidence : float, default=0.95
        Probability that the band contains the mean.
    side : {"low", "high"}, optional
        Only the curves of this side.

    Returns
    -------
    polars.DataFrame
        One row per side and row of `size_curves`, with the columns skew_side and threshold.
    """
    if side is not None:
        rows = of_kind(rows, main_kind(rows))
    means = problem_means(rows, measure)
    if threshold is None:
        threshold = skew_percentile(rows)
    half = pl.when(pl.col("skew") <= threshold).then(pl.lit("low")).otherwise(pl.lit("high"))
    bands = _banded(means.with_columns(skew_side=half), ["skew_side", *RUN], confidence)
    bands = bands if side is None else bands.filter(pl.col("skew_side") == side)
    return bands.with_columns(threshold=pl.lit(float(threshold)))


def skew_percentile(rows: Rows, share: float = 0.9) -> float:
    """Return the skew that a share of the problems does not exceed.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    share : float, default=0.9
        Share of the problems.

    Returns
    -------
    float
        The skew.
    """
    skews = problem_means(rows).group_by(list(PROBLEM)).agg(pl.col("skew").first())["skew"]
    value = skews.quantile(share, interpolation="lower")
    assert value is not None
    return float(value)


def size_needed(rows: Rows, share: float = 0.95, measure: Measure = "f1") -> pl.DataFrame:
    """Return for each method, learner and kind of size the smallest size that reaches a share of the best.

    The best is the greatest macro value of any method with that learner and kind of size (`best`); `size`
    is null where a method never reaches it.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    share : float, default=0.95
        Share of the best value that is enough.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).

    Returns
    -------
    polars.DataFrame
        One row per method, learner and kind of size: method, learner, size_kind, size, own_best,
        own_best_size, best.
    """
    if not 0 < share <= 1:
        raise ParameterError(f"share must be above 0 and at most 1, not {share!r}")
    curves = size_curves(rows, measure).filter(pl.col("size_kind") != "all")
    curves = curves.with_columns(best=pl.col("value").max().over("learner", "size_kind"))
    reached = pl.col("value") >= share * pl.col("best") - 1e-12
    keys = ["method", "learner", "size_kind"]
    return (
        curves.group_by(keys)
        .agg(
            pl.col("size").filter(reached).min(),
            pl.col("value").max().alias("own_best"),
            pl.col("size").sort_by("value", "size", descending=[True, False]).first().alias("own_best_size"),
            pl.col("best").first(),
        )
        .sort("learner", "size_kind", "size", "method", nulls_last=True)
    )


def trade_offs(rows: Rows, measure: Measure = "f1") -> pl.DataFrame:
    """Return the value and the cost (documents, sparsity, matrix cells) of each method, learner and size.

    `cells` = n_train * sparsity are the nonzero cells of the training matrix, which is how mladenic2004
    measures memory. `best` marks the rows that no other row of the learner beats at equal or lower cost.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).

    Returns
    -------
    polars.DataFrame
        One row per method, learner and size: method, learner, size_kind, size, n_terms, n_train,
        sparsity, cells, value, best.
    """
    columns = pl.col("value", "n_terms", "n_train", "sparsity").mean()
    means = problem_means(rows, measure).group_by(list(RUN)).agg(columns)
    means = means.with_columns(cells=pl.col("n_train") * pl.col("sparsity"))
    means = means.sort(
        "learner", "cells", "value", "method", descending=[False, False, True, False], nulls_last=True
    )
    before = pl.col("value").cum_max().shift(1).over("learner")
    best = (pl.col("value") > before).fill_null(True)
    return means.with_columns(best=best).select(
        *RUN, "n_terms", "n_train", "sparsity", "cells", "value", "best"
    )
