"""Counts and a word come in; its rate in every class, its score and rank by metrics, go out."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri

from termsieve.counts import Counts
from termsieve.counts.cells import dense_rows
from termsieve.errors import InputError
from termsieve.metrics import get_metric
from termsieve.scores import score
from termsieve.telling import MetricSpec

LEVEL = 0.95
COMPARED_WORDS = 20_000  # the most frequent ones, of which a similar one is suggested


def rate_interval(hits: Any, total: Any, level: float = LEVEL) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return Wilson's interval of the rate hits / total.

    Parameters
    ----------
    hits, total : int or array
        Number of documents with the property, and of all.
    level : float, default=0.95
        The probability of the interval.

    Returns
    -------
    tuple of arrays
        The lower and the upper bound.

    Examples
    --------
    >>> low, high = rate_interval(8, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.49, 0.943)
    """
    z = ndtri((1 + level) / 2)
    n = np.maximum(np.asarray(total, dtype=np.float64), 1e-300)
    rate = np.asarray(hits, dtype=np.float64) / n
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def column_of(counts: Counts, word: str) -> int:
    """Return the column of a term; an unknown one is an error that names a similar term."""
    found = np.flatnonzero(counts.names() == word)
    if not len(found):
        frequent = counts.names()[counts.by_df[:COMPARED_WORDS]].tolist()
        near = get_close_matches(word, frequent, n=1)
        raise InputError(
            f"no document has the word {word!r}"
            + (
                f"; did you mean {near[0]!r}?"
                if near
                else "; words are in lower case unless you changed that"
            )
        )
    return int(found[0])


def word_rates(counts: Counts, word: str, metrics: Sequence[MetricSpec] = ()) -> pl.DataFrame:
    """Return the rate of a word in every class, the highest first, and its rank there by each metric.

    Parameters
    ----------
    counts : Counts
        The counts of all documents.
    word : str
        The term.
    metrics : sequence of str, Metric or callable
        The metrics that rank the words of each class.

    Returns
    -------
    polars.DataFrame
        One row per class: class, documents (of the class), with_word, rate, low and high (the bounds of its
        95 % interval), rest (the rate outside the class), speaks ("for" or "against" the class), and for each
        metric its score and its rank among all words for and against the class; words with equal scores share
        the best rank.

    Examples
    --------
    >>> counts = Counts.from_matrix([[1, 1], [1, 0], [0, 1]], ["spam", "spam", "ham"], terms=["buy", "now"])
    >>> word_rates(counts, "buy", ["bns"]).select("class", "with_word", "speaks", "rank_bns").rows()
    [('spam', 2, 'for', 1), ('ham', 0, 'against', 1)]
    """
    at = column_of(counts, word)
    tp = dense_rows(counts.tp[:, [at]], slice(None)).ravel()
    fp = counts.df[at] - tp
    low, high = rate_interval(tp, counts.pos)
    sign = np.sign(tp * counts.n_docs - counts.df[at] * counts.pos)
    columns: dict[str, Any] = {
        "class": [str(label) for label in counts.classes.tolist()],
        "documents": counts.pos,
        "with_word": tp,
        "rate": tp / np.maximum(counts.pos, 1),
        "low": low,
        "high": high,
        "rest": fp / np.maximum(counts.neg, 1),
        "speaks": [{1: "for", -1: "against"}.get(int(each), "") for each in sign],
    }
    for metric in metrics:
        name = str(get_metric(metric))
        values, ranks = [], []
        for _, block, _ in score(counts, metric).blocks():
            heights = np.abs(block)
            values += block[:, at].tolist()
            ranks += (1 + (heights[:, counts.df > 0] > heights[:, [at]]).sum(axis=1)).tolist()
        columns |= {f"score_{name}": values, f"rank_{name}": ranks}
    return pl.DataFrame(columns).sort("rate", descending=True, maintain_order=True)


def class_likeness(counts: Counts) -> NDArray[np.float64]:
    """Return classes x classes: the cosine of the rates of their words, each weighted by its rarity.

    Parameters
    ----------
    counts : Counts
        The counts of all documents.

    Returns
    -------
    array of shape (n_classes, n_classes)
        1 for equal rates, 0 for no word in common.
    """
    rarity = np.log(counts.n_docs / np.maximum(counts.df, 1) + 1e-12).clip(0)
    rates = np.concatenate(
        [tp / np.maximum(counts.pos[rows, None], 1) * rarity for rows, tp, _ in counts.blocks()]
    )
    unit = rates / np.maximum(np.linalg.norm(rates, axis=1, keepdims=True), 1e-300)
    return unit @ unit.T
