"""Two corpora or their counts come in; the words that came, went, rose and fell go out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import false_discovery_control

from termsieve.counts import Counts
from termsieve.counts.cells import dense_rows
from termsieve.counts.table import Ints
from termsieve.display import plain_text
from termsieve.errors import ParameterError
from termsieve.intervals import term_intervals
from termsieve.ranking import check_cut, p_values, rank
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
        Most words of all documents, and of each class.
    fdr : float
        The share of the words listed that may be there by chance: the false discovery rate (Benjamini and
        Hochberg) over all words compared in all documents, and over those in each class.
    interval : float
        The probability of the interval of the ratio.
    min_df : int or float
        Words in fewer documents of both together, or in a smaller share, are not compared: they could hardly
        show a change.
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
    if not 0 < fdr <= 1:
        raise ParameterError(f"fdr must be above 0 and at most 1, not {fdr!r}")
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
    evidence = score(pair, "fisher_exact")
    ranking = rank(evidence, min_df=min_df)
    p = p_values(ranking)
    adjusted = false_discovery_control(p) if len(p) else p
    n = min(k, int((adjusted <= fdr).sum()))  # both fall along the ranking
    best = ranking[:n]
    ratios = rank(score(pair, "log_ratio"), side="positive", min_df=min_df)
    bounds = term_intervals(replace(ratios, order=best.order), n, interval)
    _, now, then, n_now, n_then = best.tables(best.order)
    change = np.select([then == 0, now == 0, now * n_then > then * n_now], ["came", "went", "rose"], "fell")
    return pl.DataFrame(
        {
            "class": pl.Series([label] * n, dtype=None if label is not None else pl.Null),
            "term": pl.Series([plain_text(term) for term in best.terms], dtype=pl.String),
            "change": pl.Series(change.tolist(), dtype=pl.String),
            "ratio": 2.0 ** ratios.scores[best.order],
            "low": 2.0**bounds.low,
            "high": 2.0**bounds.high,
            "before": then,
            "after": now,
            "of_before": n_then,
            "of_after": n_now,
            "p_value": p[:n],
            "p_adjusted": adjusted[:n],
        }
    )
