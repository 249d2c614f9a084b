"""Result rows come in; the value of a measure for each problem, trial, method, learner and size goes out."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
import polars as pl

from termsieve.errors import InputError
from termsieve.measures import accuracy, f1, get_measure

Made = TypeVar("Made")


class SharedRows:
    """Result rows that many analyses read; the tables that they have in common are made once.

    Every function that takes rows takes these as well, and returns the same numbers.

    Parameters
    ----------
    rows : polars.DataFrame
        The rows.
    """

    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = rows
        self._tables: dict[Hashable, Any] = {}

    def lazy(self) -> pl.LazyFrame:
        """Return the rows as a lazy frame."""
        return self.rows.lazy()

    def table(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what was made under this key, or make it."""
        if key not in self._tables:
            self._tables[key] = make()
        made: Made = self._tables[key]
        return made


Rows = pl.DataFrame | pl.LazyFrame | SharedRows
Measure = str | Callable[..., Any]

PROBLEM = ("corpus", "problem")
RUN = ("method", "learner", "size_kind", "size")
BREAK_EVEN = "f1_break_even"
_CELLS = ("tp", "fp", "fn", "tn")
_BREAK_EVEN_CELLS = ("be_tp", "be_fp", "be_fn")


def problem_values(rows: Rows, measure: Measure = "f1") -> pl.DataFrame:
    """Return the `value` of a measure, one row per problem, trial, method, learner and size.

    The confusion counts of a trial are pooled over its folds before the measure is taken (forman2003). A
    problem with several target classes has the mean over them, or for accuracy the share of documents put
    into their own class. `n_terms`, `n_train` and `sparsity` are means over the folds, `skew` is neg / pos.
    `measure` is a name, "f1_break_even" among them, or a function of (tp, fp, fn, tn).

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).

    Returns
    -------
    polars.DataFrame
        One row per problem, trial, method, learner and size: corpus, problem, trial, method, learner,
        size_kind, size, value, n_terms, n_train, sparsity, skew.
    """
    return _shared(rows, ("values", measure), lambda: _problem_values(rows, measure))


def _problem_values(rows: Rows, measure: Measure) -> pl.DataFrame:
    pooled = _shared(
        rows,
        ("pooled", measure == BREAK_EVEN),
        lambda: _pooled(rows, measure, [*PROBLEM, "target", "trial", *RUN]),
    )
    function = _function(measure)
    value = np.asarray(function(*(pooled[cell].to_numpy() for cell in _CELLS)), dtype=float)
    pooled = pooled.with_columns(value=pl.Series(value))
    mean = pl.col("value").mean()
    if function is accuracy:
        right = pl.col("tp").sum() / (pl.col("tp") + pl.col("fn")).sum()
        mean = pl.when(pl.len() > 1).then(right.fill_nan(0.0)).otherwise(mean)
    return (
        pooled.group_by([*PROBLEM, "trial", *RUN])
        .agg(
            mean.alias("value"),
            pl.col("n_terms", "n_train", "sparsity").mean(),
            skew=pl.col("neg").sum() / pl.col("pos").sum(),
        )
        .sort(in_order(*PROBLEM, "trial"))
    )


def problem_means(rows: Rows, measure: Measure = "f1") -> pl.DataFrame:
    """Return `problem_values` averaged over the trials: one row per problem, method, learner and size.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).

    Returns
    -------
    polars.DataFrame
        One row per problem, method, learner and size, with the columns of `problem_values` but `trial`.
    """
    return _shared(rows, ("means", measure), lambda: _problem_means(problem_values(rows, measure)))


def _problem_means(values: pl.DataFrame) -> pl.DataFrame:
    columns = pl.col("value", "n_terms", "n_train", "sparsity", "skew").mean()
    return values.group_by([*PROBLEM, *RUN]).agg(columns).sort(in_order(*PROBLEM))


def micro_values(rows: Rows, measure: Measure = "f1") -> pl.DataFrame:
    """Return the measure of the counts summed over all problems, one row per method, learner and size.

    It is the mean over the trials.
    """
    pooled = _pooled(rows, measure, ["trial", *RUN])
    value = np.asarray(_function(measure)(*(pooled[cell].to_numpy() for cell in _CELLS)), dtype=float)
    columns = pl.col("value", "n_terms", "n_train", "sparsity").mean()
    keyed = pooled.with_columns(value=pl.Series(value)).group_by(list(RUN))
    return keyed.agg(columns).sort(in_order())


def average_maximum(rows: Rows, measure: Measure = "f1") -> pl.DataFrame:
    """Return for each problem, method and learner the mean over trials of the best value over the sizes.

    forman2003 compares these values, because a user would look for the best number of terms. Training with
    all features does not count as a size.

    Parameters
    ----------
    rows : polars frame
        The result rows of a study, as :meth:`termsieve.Results.frame` gives them.
    measure : str or callable, default="f1"
        A name such as "f1", "recall" or "f1_break_even", or a function of (tp, fp, fn, tn).

    Returns
    -------
    polars.DataFrame
        One row per problem, method and learner: corpus, problem, method, learner, value, skew.
    """
    return _shared(rows, ("maximum", measure), lambda: _average_maximum(problem_values(rows, measure)))


def _average_maximum(values: pl.DataFrame) -> pl.DataFrame:
    values = values.filter(pl.col("size_kind") != "all")
    keys = [*PROBLEM, "method", "learner"]
    best = values.group_by([*keys, "trial"]).agg(pl.col("value").max(), pl.col("skew").first())
    return best.group_by(keys).agg(pl.col("value", "skew").mean()).sort(keys)


def values_at(values: pl.DataFrame, size: float, size_kind: str | None = None) -> pl.DataFrame:
    """Return the rows of one size, of the kind `size_kind` or, without it, of any kind."""
    chosen = values.filter(pl.col("size") == size)
    if size_kind is not None:
        chosen = chosen.filter(pl.col("size_kind") == size_kind)
    if chosen.is_empty():
        known = ", ".join(f"{known:g}" for known in values["size"].drop_nulls().unique().sort())
        raise InputError(f"there are no results of size {size:g}; the sizes are: {known}")
    return chosen


def main_kind(rows: Rows) -> str:
    """Return the kind of size that most rows have."""
    sized = rows.lazy().filter(pl.col("size_kind") != "all")
    kinds = sized.group_by("size_kind").len().sort("len", "size_kind", descending=[True, False]).collect()
    if kinds.is_empty():
        raise InputError("there are no sizes to compare")
    return str(kinds["size_kind"][0])


def of_kind(rows: Rows, size_kind: str) -> Rows:
    """Return the rows of all features and of one kind of size."""
    wanted = pl.col("size_kind").is_in([size_kind, "all"])
    if not isinstance(rows, SharedRows):
        return rows.lazy().filter(wanted)
    if rows.rows.select(wanted.all()).item():
        return rows
    return rows.table(("kind", size_kind), lambda: SharedRows(rows.rows.filter(wanted)))


def by_learner(rows: pl.DataFrame) -> dict[str, SharedRows]:
    """Return the rows of each learner, sorted by its name."""
    names = rows["learner"].unique().sort().to_list()
    return {name: SharedRows(rows.filter(pl.col("learner") == name)) for name in names}


def goal_values(
    rows: Rows, measure: Measure = "f1", size: float | None = None, size_kind: str | None = None
) -> pl.DataFrame:
    """Return one value per problem, method and learner: at a size, or the average maximum without one."""
    if size is None:
        return average_maximum(rows, measure)
    return values_at(problem_means(rows, measure), size, size_kind).drop("size_kind", "size")


def by_method(values: pl.DataFrame, unit: tuple[str, ...] = PROBLEM) -> pl.DataFrame:
    """Return a wide table of one learner: one row per unit that every method has, one column per method."""
    methods = values["method"].unique().sort().to_list()
    twice = values.group_by([*unit, "method"]).len().filter(pl.col("len") > 1)
    if not twice.is_empty():
        raise InputError(
            "a method has several values for one problem; choose one learner and one kind of size"
        )
    wide = values.pivot(on="method", index=list(unit), values="value").drop_nulls(methods)
    if wide.is_empty():
        raise InputError("no problem has results for every method, so the methods cannot be compared")
    return wide.select(*unit, *methods).sort(unit)


def per_learner(values: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return the learners, sorted, each with its own rows."""
    parts = values.partition_by("learner", as_dict=True)
    return sorted((str(key[0]), part) for key, part in parts.items())


def in_order(*first: str) -> list[pl.Expr]:
    """Return the sort key: the columns `first`, method, learner, then size with all features last."""
    size = (pl.col("size").is_null(), pl.col("size_kind"), pl.col("size"))
    return [*map(pl.col, first), pl.col("method"), pl.col("learner"), *size]


def _shared(rows: Rows, key: Hashable, make: Callable[[], Made]) -> Made:
    return rows.table(key, make) if isinstance(rows, SharedRows) else make()


def _function(measure: Measure) -> Callable[..., Any]:
    return f1 if measure == BREAK_EVEN else get_measure(measure)


def _pooled(rows: Rows, measure: Measure, keys: list[str]) -> pl.DataFrame:
    """Return the sums of the confusion counts and the means of the other columns for each key."""
    cells = _BREAK_EVEN_CELLS if measure == BREAK_EVEN else _CELLS
    lazy = _checked(rows, [*keys, *cells, "n_terms", "n_train", "sparsity", "pos", "neg"])
    if measure == BREAK_EVEN:
        lazy = lazy.with_columns(tp="be_tp", fp="be_fp", fn="be_fn", tn=pl.lit(0.0)).filter(
            pl.col("tp").is_not_null()
        )
    kind = pl.Float64 if measure == BREAK_EVEN else pl.Int64
    pooled = (
        lazy.group_by(keys)
        .agg(
            *(pl.col(cell).cast(kind).sum() for cell in _CELLS),
            pl.col("n_terms", "n_train", "sparsity").mean(),
            pl.col("pos", "neg").first(),
        )
        .collect()
    )
    if pooled.is_empty():
        lack = "counts at break-even" if measure == BREAK_EVEN else "rows"
        raise InputError(f"the results have no {lack}; run the study first")
    return pooled


def _checked(rows: Rows, columns: list[str]) -> pl.LazyFrame:
    if not isinstance(rows, Rows):
        raise InputError(f"results must be a polars frame of rows, not {type(rows).__name__}")
    lazy = rows.lazy()
    known = lazy.collect_schema().names()
    missing = [column for column in columns if column not in known]
    if missing:
        raise InputError(f"the results lack the column {missing[0]!r}; give rows as a study writes them")
    return lazy
