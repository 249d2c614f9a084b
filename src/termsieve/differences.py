"""Two corpora, or counts of windows, come in; the words that came, went, rose and fell go out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from scipy.special import betaincinv
from scipy.stats import false_discovery_control

from termsieve.counts import Counts, Windows
from termsieve.counts.cells import dense_rows
from termsieve.counts.table import Ints
from termsieve.display import plain_text
from termsieve.errors import ParameterError, unknown_name
from termsieve.intervals import term_intervals
from termsieve.limits import document_limits
from termsieve.metrics import Floats
from termsieve.ranking import Columns, check_cut, p_values, rank
from termsieve.scores import score
from termsieve.sources import Source, counts_of


def difference(
    before: Source,
    after: Source,
    *,
    each: bool = False,
    k: int = 30,
    fdr: float = 0.05,
    interval: float = 0.95,
    min_df: float = 5,
    **options: Any,
) -> pl.DataFrame:
    """Return the words that more or fewer documents contain than before, beyond what chance explains.

    Parameters
    ----------
    before, after : Counts, Corpus, frame, path or list of paths
        The two corpora, or their counts: last month and this one, one source and another.
    each : bool
        Whether to compare the documents of each class, too.
    k : int
        Largest number of words for all documents, and for each class.
    fdr : float
        The share of the words listed that may be there by chance: the false discovery rate (Benjamini and
        Hochberg) over all words compared in all documents, and over those in each class.
    interval : float
        The probability of the interval of the ratio.
    min_df : int or float
        Words in fewer documents of both corpora together, or in a smaller share of them, are not compared,
        because they could hardly show a change.
    **options
        How documents are read and cut into terms; see `telling_words`.

    Returns
    -------
    polars.DataFrame
        One row per word, the surest change first: class (null for all documents), term, change ("came": no
        document had it before, "went": none has it now, "rose" or "fell"), ratio of the shares of documents
        with it (a count of 0 as half a document), low and high (its interval), before and after (documents
        with it), of_before and of_after (all documents compared), p_value (Fisher's exact test, two-sided)
        and p_adjusted.

    Examples
    --------
    >>> from termsieve.corpus import Corpus
    >>> may = Corpus(["the cat"] * 20 + ["the dog"] * 20, ["pets"] * 40)
    >>> june = Corpus(["the cat"] * 20 + ["the fox"] * 20, ["pets"] * 40)
    >>> difference(may, june).select("term", "change", "before", "after").rows()
    [('dog', 'went', 20, 0), ('fox', 'came', 0, 20)]
    """
    check_cut("k", k)
    _check_fdr(fdr)
    first, second = (_documents_only(counts_of(source, **options)) for source in (before, after))
    together = first + second
    first = together - second  # laid out over the terms and classes of both
    second = together - first
    parts = [_part(None, first.df, first.n_docs, second.df, second.n_docs, together)]
    for at, label in enumerate(together.classes.tolist() if each else []):
        a, b = (dense_rows(counts.tp, slice(at, at + 1))[0] for counts in (first, second))
        parts.append(_part(label, a, int(first.pos[at]), b, int(second.pos[at]), together))
    return pl.concat(
        [_changes(label, pair, k, fdr, interval, min_df) for label, pair in parts], how="vertical_relaxed"
    )


def _documents_only(counts: Counts) -> Counts:
    """Return the counts of documents, without occurrences: only one of two may have these."""
    return counts.replace(tf=None, tf_total=None, squares=None)


def _part(label: Any, a: Ints, n_a: int, b: Ints, n_b: int, together: Counts) -> tuple[Any, Counts]:
    """Return a class and its documents after against those before, as counts of one problem."""
    return label, Counts(b[None, :], [n_b], a + b, n_a + n_b, ["after"], together.terms)


def _changes(label: Any, pair: Counts, k: int, fdr: float, interval: float, min_df: float) -> pl.DataFrame:
    """Return the table of the changes of one class that pass `fdr`."""
    ranking = rank(score(pair, "fisher_exact"), min_df=min_df)
    p = p_values(ranking)
    adjusted = false_discovery_control(p) if len(p) else p
    n = min(k, int((adjusted <= fdr).sum()))  # both fall along the ranking
    return _table(label, pair, ranking.order[:n], p[:n], adjusted[:n], interval)


def _table(
    label: Any, pair: Counts, columns: Columns, p: Floats, adjusted: Floats, interval: float
) -> pl.DataFrame:
    """Return the rows of some words: what changed, by how much, and how sure that is."""
    n = len(columns)
    ratios = replace(rank(score(pair, "log_ratio"), side="positive"), order=columns)
    bounds = term_intervals(ratios, n, interval)
    _, now, then, n_now, n_then = ratios.tables(columns)
    change = np.select([then == 0, now == 0, now * n_then > then * n_now], ["came", "went", "rose"], "fell")
    return pl.DataFrame(
        {
            "class": pl.Series([label] * n, dtype=pl.Series([label]).dtype),  # also where there is no row
            "term": pl.Series([plain_text(term) for term in ratios.terms], dtype=pl.String),
            "change": pl.Series(change.tolist(), dtype=pl.String),
            "ratio": 2.0 ** ratios.scores[columns],
            "low": 2.0**bounds.low,
            "high": 2.0**bounds.high,
            "before": then,
            "after": now,
            "of_before": n_then,
            "of_after": n_now,
            "p_value": p,
            "p_adjusted": adjusted,
        }
    )


def shifts(
    windows: Windows, *, k: int = 30, fdr: float = 0.05, interval: float = 0.95, min_df: float = 5
) -> pl.DataFrame:
    """Return the words that a window has more or less often than all other windows together, beyond chance.

    Parameters
    ----------
    windows : Windows
        Counts that were kept apart by day, week, month or source.
    k : int
        Largest number of rows.
    fdr : float
        The share of the rows that may be there by chance: the false discovery rate (Benjamini and Hochberg)
        over all words in all windows.
    interval : float
        The probability of the interval of the ratio.
    min_df : int or float
        Words in fewer documents, or in a smaller share of them, are not compared.

    Returns
    -------
    polars.DataFrame
        One row per window and word, the surest first: window, term, change ("came": only this window has it,
        "went": only the others have it, "rose" or "fell"), ratio of the shares of documents with it here and
        elsewhere, low and high (its interval), here and elsewhere (documents with it), of_here and
        of_elsewhere (all documents), p_value (Fisher's exact test, two-sided) and p_adjusted.

    Examples
    --------
    >>> from termsieve import Corpus, count
    >>> texts = ["the cat", "the dog"] * 30 + ["the fox"] * 30
    >>> weeks = count(Corpus(texts, ["pets"] * 90), by=["W1", "W2"] * 30 + ["W3"] * 30)
    >>> shifts(weeks).select("window", "term", "change").head(2).rows()
    [('W1', 'cat', 'came'), ('W2', 'dog', 'came')]
    """
    check_cut("k", k)
    _check_fdr(fdr)
    counts = windows.as_classes()
    low, _ = document_limits(counts.n_docs, min_df, 1.0)
    evidence = score(counts, "fisher_exact")
    common = np.flatnonzero(counts.df >= low)
    parts = [evidence.metric.p_value(values, 1) for _, values, _ in evidence.blocks(common)]  # type: ignore[misc]
    p = np.concatenate(parts) if parts else np.ones((0, len(common)))
    adjusted = false_discovery_control(p.ravel()).reshape(p.shape) if p.size else p
    surest = np.argsort(p.ravel(), kind="stable")[: min(k, int((adjusted <= fdr).sum()))]
    place, at = np.unravel_index(surest, p.shape)
    tables = []
    for window in np.unique(place):
        here = at[place == window]
        inside, n_inside = dense_rows(counts.tp, slice(window, window + 1))[0], int(counts.pos[window])
        outside, n_outside = counts.df - inside, counts.n_docs - n_inside
        label, pair = _part(counts.classes[window].item(), outside, n_outside, inside, n_inside, counts)
        tables.append(_table(label, pair, common[here], p[window, here], adjusted[window, here], interval))
    if not tables:
        _, pair = _part("", counts.df, counts.n_docs, counts.df, counts.n_docs, counts)
        none = np.zeros(0)
        tables = [_table("", pair, none.astype(np.int64), none, none, interval)]
    named = {"class": "window", "before": "elsewhere", "after": "here"}
    named |= {"of_before": "of_elsewhere", "of_after": "of_here"}
    return pl.concat(tables).rename(named).sort("p_value", "window", maintain_order=True)


def word_rates(windows: Windows, words: Sequence[str], interval: float = 0.95) -> pl.DataFrame:
    """Return for each word and window the share of documents with the word, and its interval.

    Parameters
    ----------
    windows : Windows
        Counts that were kept apart, by week for example.
    words : sequence of str
        The words; one that no document has is an error.
    interval : float
        The probability of the interval (Jeffreys).

    Returns
    -------
    polars.DataFrame
        One row per word and window: term, window, rate, low, high, documents (with the word), of (documents).
    """
    if not 0 < interval < 1:
        raise ParameterError(f"interval must be a number between 0 and 1, such as 0.95, not {interval!r}")
    counts = windows.as_classes()
    places = {str(name): at for at, name in enumerate(counts.names())}
    for word in words:
        if word not in places:
            raise unknown_name("word", word, list(places))
    tails = np.array([(1 - interval) / 2, (1 + interval) / 2])
    tables = []
    for word in words:
        found = dense_rows(counts.tp[:, [places[word]]], slice(None)).ravel()
        of = counts.pos
        low, high = betaincinv(found[:, None] + 0.5, (of - found)[:, None] + 0.5, tails).T
        tables.append(
            pl.DataFrame(
                {
                    "term": pl.Series([plain_text(word)] * len(of), dtype=pl.String),
                    "window": pl.Series([plain_text(name) for name in windows.names], dtype=pl.String),
                    "rate": found / np.maximum(of, 1),
                    "low": np.where(found == 0, 0.0, low),
                    "high": np.where(found == of, 1.0, high),
                    "documents": found,
                    "of": of,
                }
            )
        )
    return pl.concat(tables)


def marked_rates(
    windows: Windows,
    words: Sequence[str],
    *,
    fdr: float = 0.05,
    interval: float = 0.95,
    min_df: float = 5,
) -> pl.DataFrame:
    """Return the rows of `word_rates` with the column change, which marks what is more than chance.

    Parameters
    ----------
    windows, words, interval
        As in `word_rates`.
    fdr, min_df
        As in `shifts`, which compares all words of all windows.

    Returns
    -------
    polars.DataFrame
        The rows of `word_rates`; change is null where a window is as the others.
    """
    rates = word_rates(windows, words, interval)
    every = max(1, len(windows) * windows.counts.n_terms)
    found = shifts(windows, k=every, fdr=fdr, interval=interval, min_df=min_df)
    return rates.join(
        found.select("term", "window", "change"), on=["term", "window"], how="left", maintain_order="left"
    )


def _check_fdr(fdr: float) -> None:
    if not 0 < fdr <= 1:
        raise ParameterError(f"fdr must be above 0 and at most 1, not {fdr!r}")
