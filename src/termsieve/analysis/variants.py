"""Result rows come in; how a measure changes with a setting of the methods, such as min_df, goes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import polars as pl

from termsieve.analysis.curves import best_size, size_curves
from termsieve.analysis.values import Measure, Rows
from termsieve.errors import InputError, unknown_name

Setting = Literal["min_df", "alpha"]
SETTINGS = get_args(Setting)


def setting_names(rows: Rows) -> list[str]:
    """Return the settings with which a method of the rows was run at several values.

    Parameters
    ----------
    rows : polars frame
        Rows of results.

    Returns
    -------
    list of str
        Some of `SETTINGS`.

    Examples
    --------
    >>> setting_names(pl.DataFrame({"method": ["bns", "bns min_df=2", "bns min_df=3"]}))
    ['min_df']
    """
    methods = rows.lazy().select("method").unique().collect()["method"]
    return [name for name in SETTINGS if methods.str.contains(rf" {name}=").sum() > 1]


def setting_curves(
    rows: Rows, setting: Setting, measure: Measure = "f1", size: float | None = None
) -> pl.DataFrame:
    """Return the macro average of a measure by the value of a setting, at one size.

    forman2003 has two such side studies: only words in at least 1, 2, ..., 25 documents (`min_df`), and bns
    weighed by alpha for positive and 1 - alpha for negative terms. A method without the setting has the value
    that changes nothing: 1, or alpha .5.

    Parameters
    ----------
    rows : polars frame
        Rows of results.
    setting : {"min_df", "alpha"}
        The setting.
    measure : str or callable, default="f1"
        The measure.
    size : float, optional
        The size; by default the best one for the measure.

    Returns
    -------
    polars.DataFrame
        method, learner, setting (its value), value, low, high, n_problems, size.
    """
    if setting not in SETTINGS:
        raise unknown_name("setting", setting, SETTINGS)
    chosen = best_size(rows, measure)[1] if size is None else size
    curves = size_curves(rows, measure).filter(pl.col("size") == chosen)
    value = pl.col("method").str.extract(rf" {setting}=([\d.]+)", 1).cast(pl.Float64)
    plain = pl.col("method").str.replace(rf" {setting}=[\d.]+", "")
    curves = curves.with_columns(setting=value.fill_null(0.5 if setting == "alpha" else 1.0), method=plain)
    curves = curves.filter(pl.len().over("method", "learner") > 1)
    if curves.is_empty():
        raise InputError(f"no method was run with several values of {setting}")
    # Unweighted bns and alpha = .5 rank alike, so one of the two is enough.
    curves = curves.unique(["method", "learner", "setting"], keep="first", maintain_order=True)
    columns = ["method", "learner", "setting", "value", "low", "high", "n_problems"]
    return (
        curves.select(columns).with_columns(size=pl.lit(float(chosen))).sort("learner", "method", "setting")
    )


def corpus_table(corpora: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """Return one row per corpus of a study: documents, terms, classes, and the sizes of the classes.

    Parameters
    ----------
    corpora : mapping
        The corpora by name, described as in the manifest of results.

    Returns
    -------
    polars.DataFrame
        corpus, documents, terms, terms_per_document, classes, and the size of the smallest and of the largest
        class; skew is that of the smallest.
    """
    rows = []
    for name, facts in corpora.items():
        sizes = sorted(facts.get("classes", {}).values())
        n = int(facts["documents"])
        rows.append(
            {
                "corpus": name,
                "documents": n,
                "terms": int(facts["terms"]),
                "terms_per_document": facts["cells"] / n,
                "classes": len(sizes),
                "smallest": sizes[0] if sizes else None,
                "largest": sizes[-1] if sizes else None,
                "skew": (n - sizes[0]) / sizes[0] if sizes and sizes[0] else None,
            }
        )
    return pl.DataFrame(rows)
