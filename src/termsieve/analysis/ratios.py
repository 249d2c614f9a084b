"""Selections or counts come in; the shares of positive terms chosen, tried or implied go out (zheng2004)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from termsieve.analysis.of_counts import shown
from termsieve.counts import Counts
from termsieve.errors import InputError
from termsieve.metrics import Metric, get_metric
from termsieve.ranking import rank
from termsieve.scores import score

Parameter = Literal["ratio", "lam"]
PARAMETERS = get_args(Parameter)
_RUN = ("corpus", "problem", "method", "learner", "size_kind", "size")


def chosen_parameters(selections: pl.DataFrame, parameter: Parameter | None = None) -> pl.DataFrame:
    """Return the ratio and the lam that tuned selections chose, for each problem, method and size.

    Each is the mean over trials and folds (`ratio`, `lam`), with its least and greatest value. With
    `parameter` ("ratio" or "lam") only the selections that chose this parameter are used.

    Parameters
    ----------
    selections : polars.DataFrame
        The selections of a study, collected from :meth:`termsieve.Results.selections`.
    parameter : {"ratio", "lam"}, optional
        Only the selections that chose this parameter; by default either.

    Returns
    -------
    polars.DataFrame
        One row per problem, method and size.
    """
    _check(selections, list(PARAMETERS))
    tuned = selections.filter(_chosen(parameter))
    columns = []
    for name in PARAMETERS:
        column = pl.col(name).cast(pl.Float64)
        columns += [column.mean(), column.min().alias(f"{name}_low"), column.max().alias(f"{name}_high")]
    return tuned.group_by(list(_RUN)).agg(columns).sort(_RUN, nulls_last=True)


def tuning_curves(selections: pl.DataFrame, parameter: Parameter | None = None) -> pl.DataFrame:
    """Return the goal's value (`value`) at each candidate ratio or lam, averaged over trials and folds.

    The candidates are evenly spaced from 0 to 1: a curve of m values belongs to 0, 1/(m-1), ..., 1. With
    `parameter` ("ratio" or "lam") only the selections that chose this parameter are used.

    Parameters
    ----------
    selections : polars.DataFrame
        The selections of a study, collected from :meth:`termsieve.Results.selections`.
    parameter : {"ratio", "lam"}, optional
        Only the selections that chose this parameter; by default either.

    Returns
    -------
    polars.DataFrame
        One row per problem, method, size and candidate.
    """
    _check(selections, ["curve"])
    tuned = selections if parameter is None else selections.filter(_chosen(parameter))
    tuned = tuned.filter(pl.col("curve").list.len() > 1)
    steps = pl.int_ranges(pl.col("curve").list.len()).alias("step")
    points = tuned.with_columns(steps, n=pl.col("curve").list.len() - 1).explode("step", "curve")
    points = points.with_columns(candidate=pl.col("step") / pl.col("n"))
    keys = [*_RUN, "candidate"]
    return points.group_by(keys).agg(value=pl.col("curve").mean()).sort(keys, nulls_last=True)


def implied_ratios(
    counts: Counts, metrics: Sequence[str | Metric | Callable[..., Any]], sizes: Sequence[int]
) -> pl.DataFrame:
    """Return for each class, metric and size the share of positive terms among the metric's best terms.

    A two-sided metric has this ratio without any choice of the user.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    metrics : sequence of str, Metric or callable
        The metrics, by name or as objects.
    sizes : sequence of int
        The numbers of terms.

    Returns
    -------
    polars.DataFrame
        One row per class, metric and size: class, metric, size, ratio.
    """
    records = []
    for c in counts.problems.tolist():
        own = counts.take([c])
        for chosen in map(get_metric, metrics):
            scores = score(own, chosen)
            signs = scores.direction[0][rank(scores).order]
            positive = np.cumsum(signs > 0)
            for size in sizes:
                n = min(int(size), len(signs))
                share = float(positive[n - 1] / n) if n else None
                records.append(
                    {
                        "class": shown(counts.classes[c]),
                        "metric": str(chosen),
                        "size": int(size),
                        "ratio": share,
                    }
                )
    schema = {"class": pl.String, "metric": pl.String, "size": pl.Int64, "ratio": pl.Float64}
    return pl.DataFrame(records, schema=schema)


def largest_scores(counts: Counts, metrics: Sequence[str | Metric | Callable[..., Any]]) -> pl.DataFrame:
    """Return for each class and metric the best positive and the best negative term with their scores.

    Signed scores are given as absolute values; null if the class has no term of that direction.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    metrics : sequence of str, Metric or callable
        The metrics, by name or as objects.

    Returns
    -------
    polars.DataFrame
        One row per class and metric: class, metric, positive_term, positive_score, negative_term,
        negative_score.
    """
    names = counts.names()
    records = []
    for c in counts.problems.tolist():
        own = counts.take([c])
        for chosen in map(get_metric, metrics):
            scores = score(own, chosen)
            row: dict[str, Any] = {"class": shown(counts.classes[c]), "metric": str(chosen)}
            order = rank(scores).order
            signs, values = scores.direction[0], np.abs(scores.values[0])
            for side, sign in (("positive", 1), ("negative", -1)):
                best = next(iter(order[signs[order] == sign]), None)
                row |= {
                    f"{side}_term": None if best is None else shown(names[best]),
                    f"{side}_score": None if best is None else float(values[best]),
                }
            records.append(row)
    schema: dict[str, Any] = {"class": pl.String, "metric": pl.String}
    for side in ("positive", "negative"):
        schema |= {f"{side}_term": pl.String, f"{side}_score": pl.Float64}
    return pl.DataFrame(records, schema=schema)


def _chosen(parameter: Parameter | None) -> pl.Expr:
    names = PARAMETERS if parameter is None else (parameter,)
    return pl.any_horizontal(pl.col(name).is_not_null() for name in names)


def _check(selections: pl.DataFrame, columns: list[str]) -> None:
    missing = [name for name in (*_RUN, *columns) if name not in selections.columns]
    if missing:
        raise InputError(f"the selections lack the column {missing[0]!r}; give them as a study writes them")
