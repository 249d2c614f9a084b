"""Counts and rankings come in; whether metrics prefer frequent or class-specific terms goes out (li2009)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from termsieve.counts import Counts
from termsieve.errors import InputError, ParameterError
from termsieve.ranking import Ranking, rank
from termsieve.scores import score


def li2009_rankings(counts: Counts, min_df: int = 4) -> dict[str, Ranking]:
    """Return the rankings of li2009's six metrics over all classes, of terms in `min_df` documents or more.

    ig takes its joint form if each document has one label; df does not depend on the class; bns keeps its
    sign before the maximum over the classes is taken; mi is smoothed by 1; the others take their maximum over
    the classes.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    min_df : int, default=4
        Least document frequency of a ranked term.

    Returns
    -------
    dict of str to Ranking
        The rankings by the name of their metric.
    """
    joint = not counts.multilabel and int(counts.pos.sum()) == counts.n_docs
    return {
        "mi": rank(score(counts, _mutual_information(counts)), min_df=min_df),
        "bns": rank(score(counts, "bns"), side="positive", min_df=min_df),
        "chi_squared": rank(score(counts, "chi_squared"), min_df=min_df),
        "information_gain": rank(
            score(counts, "information_gain"), combine="joint" if joint else "max", min_df=min_df
        ),
        "wllr": rank(score(counts, "wllr"), min_df=min_df),
        "document_frequency": rank(score(counts, "document_frequency"), min_df=min_df),
    }


def preferences(
    counts: Counts,
    rankings: Mapping[str, Ranking] | None = None,
    share: float = 0.02,
    mi: str | None = None,
) -> pl.DataFrame:
    """Return for each ranking the mean document frequency and mutual information of its top share of terms.

    Both are scaled to 0 .. 1 over all ranked terms: a metric near 1 in `df` prefers frequent words, one near
    1 in `mi` prefers words of one class. The default rankings are those of Table 1 of li2009.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    rankings : mapping of str to Ranking, optional
        Rankings by name; by default `li2009_rankings`.
    share : float, default=0.02
        Share of the ranked terms that counts as the top.
    mi : str, optional
        The metric of the column `mi`; by default mutual information smoothed by 1, as in li2009.

    Returns
    -------
    polars.DataFrame
        One row per ranking: metric, n_terms, df, mi.
    """
    if not 0 < share <= 1:
        raise ParameterError(f"share must be above 0 and at most 1, not {share!r}")
    rankings = li2009_rankings(counts) if rankings is None else rankings
    information = rank(score(counts, mi or _mutual_information(counts))).scores
    rows = []
    for name, ranking in rankings.items():
        if len(ranking) == 0:
            raise InputError(f"the ranking {name!r} has no terms; lower its min_df")
        top = ranking.order[: max(1, round(share * len(ranking)))]
        row = {"metric": name, "n_terms": len(top)}
        for column, values in (("df", counts.df.astype(float)), ("mi", information)):
            row[column] = float(_scaled(values, ranking.order)[top].mean())
        rows.append(row)
    return pl.DataFrame(rows)


def _mutual_information(counts: Counts) -> str:
    return f"mutual_information(smoothing=1.0, classes={max(2, counts.n_classes)})"


def _scaled(values: NDArray[np.float64], among: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the values scaled so that the least of `among` is 0 and the greatest 1; 0 if all are equal."""
    low, high = values[among].min(), values[among].max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)
