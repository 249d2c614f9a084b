"""Documents or their counts come in; the word tables that people read go out as polars frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.display import plain_text
from termsieve.errors import InputError, ParameterError
from termsieve.intervals import term_intervals
from termsieve.metrics import Metric, get_metric
from termsieve.passages import without_passages
from termsieve.ranking import Combine, Ranking, Side, check_cut, cut, one_cut, rank
from termsieve.redundancy import distinct_cut
from termsieve.scores import score
from termsieve.sources import Source, corpus_of, counts_of
from termsieve.spec import READING, TRAINING
from termsieve.terms import suited_options, term_matrix

MetricSpec = str | Metric | Callable[..., Any]
MOST_LISTS = 1000  # classes with a list of words each: every list is a ranking of its own
MOST_SCORES = 2**31  # classes x terms that are scored for a table: minutes; the largest corpora have 10**8


def telling_words(
    source: Source,
    metric: MetricSpec = READING,
    *,
    target: Any = None,
    each: bool = False,
    k: int = 30,
    side: Side | None = None,
    ratio: float | None = None,
    alpha: float | None = None,
    combine: Combine = "max",
    min_df: float = 1,
    max_df: float = 1.0,
    redundancy: float | Literal["mrmr"] | None = None,
    drop_passages: bool = False,
    interval: float | None = None,
    keep: Iterable[str | int] = (),
    drop: Iterable[str | int] = (),
    **options: Any,
) -> pl.DataFrame:
    """Return the words that best separate the classes, the best first.

    Parameters
    ----------
    source : Counts, Corpus, frame, path or list of paths
        The documents or their counts: anything that `read` or `Counts.load` reads.
    metric : str, Metric or callable
        The metric that scores each term for each class; see :data:`termsieve.METRICS`. The default lists
        words that people would name; docs/reading.md compares metrics for that.
    target : label, optional
        The class to separate from the rest; all classes by default.
    each : bool
        Whether to return the best `k` terms of each class, class by class.
    k : int
        Number of terms.
    side : {"positive", "negative", "both"}, optional
        Whether words for a class come first, words against it, or both in one order. By default words for
        a class come first, unless `ratio`, `alpha` or `combine="joint"` asks for both. If both are in one
        order and there are two classes, the second class is the target.
    ratio, alpha, combine, min_df, max_df
        How scores become a ranking; see `rank`.
    redundancy : float or "mrmr", optional
        Leave out a term whose presence has at least this correlation with the presence of a better term, so
        that the words of one repeated sentence take one place in the list; 0.5 is a good value. "mrmr"
        chooses words one after the other, by what they tell beyond the words before. It needs the documents
        themselves.
    drop_passages : bool
        Whether to leave out passages of eight words or more that three documents or more share, such as
        boilerplate, signatures and quoted mails, when words are counted. It needs the documents themselves;
        see `passages.without_passages`.
    interval : float, optional
        A probability such as 0.95: adds the columns low, high, rank_low, rank_high and in_list, which say how
        sure scores and ranks are; see `intervals.term_intervals`.
    keep, drop : iterable of str, optional
        Words that are listed in addition to the best ones, with their ranks, and words that are left out.
    **options
        How documents are read and split into terms: text=, label=, separator=, stop_words= and the other
        options of `read` and `count`.

    Returns
    -------
    polars.DataFrame
        One row per term: rank, term, score, class, direction, tp, fp, pos, neg. `class` is the class that the
        term tells most about; direction is +1 if the term speaks for that class and -1 if it speaks against
        it. tp of the pos documents in the class, and fp of the neg documents outside, contain the term.

    Examples
    --------
    >>> from termsieve.corpus import Corpus
    >>> corpus = Corpus(["buy cheap", "buy now", "see you"], ["spam", "spam", "ham"])
    >>> telling_words(corpus, "chi_squared", target="spam", k=1).rows()
    [(1, 'buy', 3.0, 'spam', 1, 2, 0, 2, 1)]
    """
    check_cut("k", k)
    if each and target is not None:
        raise ParameterError("each=True is for all classes; leave out target=")
    if interval is not None and (alpha is not None or combine not in ("max", "round_robin")):
        raise ParameterError("interval= is for scores of one class; leave out alpha= and use combine='max'")
    if interval is not None and redundancy is not None:
        raise ParameterError("interval= ranks all words, and redundancy= leaves some out; give one of them")
    chosen = get_metric(metric)
    if drop_passages:
        source = _without_passages(source, options)
    X, counts = _documents(source, chosen, options) if redundancy is not None else (None, None)
    if counts is None:
        counts = counted_for(source, [chosen], options)
    _require_two_classes(counts)
    if side is None:
        side = "both" if ratio is not None or alpha is not None or combine == "joint" else "positive"
    if each:
        _refuse_too_many(counts)
        parts = [counts.take([at]) for at in range(counts.n_classes)]
    elif target is None and side == "positive":
        _refuse_too_many(counts, combine, chosen)
        parts = [counts]  # of two classes either has words that speak for it
    else:
        parts = [problem_counts(counts, target, combine, chosen)]
    way = Way(side, ratio, alpha, combine, min_df, max_df, tuple(keep), tuple(drop))
    rankings = [way.ranking(part, chosen) for part in parts]
    if redundancy is not None:
        rankings = [replace(one, order=distinct_cut(X, one, redundancy, k=k)) for one in rankings]
    return pl.concat(_listed(ranking, k, interval) for ranking in rankings)


def _documents(source: Source, metric: Metric, options: dict[str, Any]) -> tuple[Any, Counts]:
    """Return the term matrix of a source and its counts."""
    corpus = _corpus(source, "redundancy", options)
    X, terms = term_matrix(corpus, **suited_options(options, corpus.texts or ()))
    occurrences = metric.reads == "occurrences"
    return X, Counts.from_matrix(X, corpus.labels, terms=terms, occurrences=occurrences)


def _corpus(source: Source, option: str, options: dict[str, Any]) -> Corpus:
    """Return the documents of a source, which an option needs; the options of reading are taken out."""
    if isinstance(source, Counts):
        raise ParameterError(f"{option}= needs the documents themselves, and these are counts; leave it out")
    return corpus_of(source, options, options.pop("format", None))


def _without_passages(source: Source, options: dict[str, Any]) -> Corpus:
    """Return the documents of a source without the passages that several of them share."""
    return without_passages(_corpus(source, "drop_passages", options))


def _listed(ranking: Ranking, k: int, interval: float | None) -> pl.DataFrame:
    """Return the table of a ranking's best terms, with intervals where these are wanted."""
    order = ranking.order
    places = np.flatnonzero((np.arange(len(order)) < k) | np.isin(order, ranking.keep))
    frame = ranking.to_frame(places)
    if interval is None:
        return frame
    if len(places) > min(k, len(order)):
        raise ParameterError("interval= is for the best words; leave out keep=, or raise k")
    bounds = term_intervals(ranking, k, interval)
    return frame.with_columns(**{name: pl.Series(part) for name, part in bounds._asdict().items()})


def words_for_and_against(
    counts: Counts, target: Any = None, metric: MetricSpec = READING, n: int = 12
) -> pl.DataFrame:
    """Return the `n` best terms for a class and the `n` best against it, in the columns of `telling_words`.

    `rank` counts both kinds together. Without `target` the counts must hold a single problem.
    """
    ranking = rank(score(one_problem(counts, target), metric))
    looked = 50 * n  # enough, but for metrics that put one kind first
    while True:
        signs = ranking.directions(ranking.order[:looked])
        places = [np.flatnonzero(signs == sign)[:n] for sign in (1, -1)]
        if looked >= len(ranking) or min(map(len, places)) == n:
            return ranking.to_frame(np.concatenate(places))
        looked *= 10


def select_terms(
    source: Source,
    metric: MetricSpec = TRAINING,
    *,
    target: Any = None,
    k: int | None = None,
    fraction: float | None = None,
    threshold: float | None = None,
    sparsity: float | None = None,
    memory: float | None = None,
    fpr: float | None = None,
    fdr: float | None = None,
    fwe: float | None = None,
    side: Side = "both",
    ratio: float | None = None,
    alpha: float | None = None,
    combine: Combine = "max",
    min_df: float = 1,
    max_df: float = 1.0,
    keep: Iterable[str | int] = (),
    drop: Iterable[str | int] = (),
    **options: Any,
) -> list[str]:
    """Return the terms that a cut-off keeps, the best first: a vocabulary for a vectorizer.

    Parameters
    ----------
    source, metric, target, side, ratio, alpha, combine, min_df, max_df, **options
        As in :func:`termsieve.telling_words`, but for the default metric, which trained the best classifiers
        on twelve corpora (docs/reading.md), and for `side`, which is "both".
    k, fraction, threshold, sparsity, memory, fpr, fdr, fwe : number, optional
        The cut-off; give at most one. Without any, ``k=1000``. See :func:`termsieve.cut`.
    keep, drop : iterable of str, optional
        Terms that are selected in addition to those of the cut-off, and terms that are left out.

    Returns
    -------
    list of str
        The selected terms.

    Examples
    --------
    >>> from termsieve.corpus import Corpus
    >>> select_terms(Corpus(["buy cheap", "buy now", "see you"], ["spam", "spam", "ham"]), k=2)
    ['buy', 'see']
    """
    chosen = get_metric(metric)
    sizes: dict[str, Any] = {"k": k, "fraction": fraction, "threshold": threshold}
    cuts = one_cut(**sizes, sparsity=sparsity, memory=memory, fpr=fpr, fdr=fdr, fwe=fwe)
    counts = problem_counts(counted_for(source, [chosen], options), target, combine, chosen)
    way = Way(side, ratio, alpha, combine, min_df, max_df, tuple(keep), tuple(drop))
    ranking = way.ranking(counts, chosen)
    terms = [str(term) for term in counts.names()[cut(ranking, **cuts)]]
    if not terms:
        raise ParameterError("the cut-off keeps no word; choose a less strict one")
    return terms


def class_summary(source: Source, **options: Any) -> pl.DataFrame:
    """Return the size of each class.

    Parameters
    ----------
    source, **options
        As in :func:`termsieve.telling_words`.

    Returns
    -------
    polars.DataFrame
        One row per class: class, documents, share of all documents, skew. The skew is the number of documents
        outside the class divided by the number in it, or None for an empty class.

    Examples
    --------
    >>> from termsieve.corpus import Corpus
    >>> class_summary(Corpus(["buy", "now", "see", "you"], ["spam", "ham", "ham", "ham"])).rows()
    [('ham', 3, 0.75, 0.3333333333333333), ('spam', 1, 0.25, 3.0)]
    """
    counts = counts_of(source, **options)
    pos = pl.Series(counts.pos)
    return pl.DataFrame(
        {
            "class": pl.Series(counts.classes.tolist()),
            "documents": pos,
            "share": pos / max(1, counts.n_docs),
            "skew": pl.Series(counts.neg) / pos.replace(0, None),
        }
    )


def class_words(
    source: Source,
    n: int = 6,
    *,
    min_df: float = 1,
    redundancy: float | Literal["mrmr"] | None = None,
    drop_passages: bool = False,
    **options: Any,
) -> pl.DataFrame:
    """Return the rows of `class_summary` with the `n` best words for each class, in the column words.

    The parameters are those of `telling_words`. A class that is alone has no words; no class has any if there
    are more than 1,000 classes, or too many classes and terms to score.

    >>> from termsieve.corpus import Corpus
    >>> mail = Corpus(["buy cheap", "buy now", "see you"], ["spam", "spam", "ham"])
    >>> class_words(mail, n=1).select("class", "words").rows()
    [('ham', 'see'), ('spam', 'buy')]
    """
    if drop_passages:
        source = _without_passages(source, options)
    if redundancy is None:
        source, options = counts_of(source, **options), {}
    elif not isinstance(source, Counts):
        source = corpus_of(source, options, options.pop("format", None))
    summary = class_summary(source, **options)
    best: dict[Any, list[str]] = {label: [] for label in summary["class"]}
    if 1 < len(best) <= MOST_LISTS and not (isinstance(source, Counts) and _are_too_many(source)):
        how: dict[str, Any] = {"each": True, "k": n, "min_df": min_df, "redundancy": redundancy}
        listed = telling_words(source, **how, **options).filter(pl.col("direction") > 0)
        for label, term in listed.select("class", "term").iter_rows():
            best[label].append(term)
    words = pl.Series("words", [", ".join(terms) for terms in best.values()], dtype=pl.String)
    return summary.with_columns(words)


def common_terms(source: Source, n: int = 20, **options: Any) -> pl.DataFrame:
    """Return the `n` terms that the most documents contain: term, documents.

    >>> from termsieve.corpus import Corpus
    >>> common_terms(Corpus(["buy cheap", "buy now", "see you"], ["spam", "spam", "ham"]), n=1).rows()
    [('buy', 2)]
    """
    counts = counts_of(source, **options)
    best = counts.by_df[:n]
    names = pl.Series([plain_text(name) for name in counts.names()[best]], dtype=pl.String)
    return pl.DataFrame({"term": names, "documents": counts.df[best]})


def problem_counts(counts: Counts, target: Any, combine: str, *metrics: Metric) -> Counts:
    """Return the counts of the class `target`, or of all classes that are problems."""
    _require_two_classes(counts)
    if target is not None:
        return counts.take([counts.position(target)])
    _refuse_too_many(counts, combine, *metrics)
    return counts if combine == "joint" else counts.take(counts.problems)


def _are_too_many(counts: Counts) -> bool:
    return counts.n_classes * counts.n_terms > MOST_SCORES


def _refuse_too_many(counts: Counts, combine: str = "", *metrics: Metric) -> None:
    """Refuse what would score too many classes and terms; the greatest score of a sparse table needs few."""
    is_quick = combine == "max" and all(score(counts, metric).elementwise for metric in metrics)
    if _are_too_many(counts) and not is_quick:
        raise InputError(
            f"{counts.n_classes:,} classes and {counts.n_terms:,} terms are too many to score all of them; "
            "choose one class with target=, or check that the labels are classes and not numbers of documents"
        )


def one_problem(counts: Counts, target: Any = None) -> Counts:
    """Return the counts of one class against all other documents; without `target`, of the only problem."""
    if target is not None:
        return counts if counts.n_classes == 1 else counts.take([counts.position(target)])
    if len(counts.problems) != 1:
        raise ParameterError(f"there are {counts.n_classes} classes; choose one with label=")
    return counts if counts.n_classes == 1 else counts.take(counts.problems)


def _require_two_classes(counts: Counts) -> None:
    if counts.n_classes < 2 and not counts.multilabel:
        only = f"class {str(counts.classes[0])!r}" if counts.n_classes else "class"
        raise InputError(f"there is only one {only}; at least two classes are needed")


@dataclass(frozen=True)
class Way:
    """How scores become a ranking; the fields are the parameters of `rank`."""

    side: Side
    ratio: float | None
    alpha: float | None
    combine: Combine
    min_df: float
    max_df: float
    keep: tuple[str | int, ...] = ()
    drop: tuple[str | int, ...] = ()

    def ranking(self, counts: Counts, metric: Metric) -> Ranking:
        """Return the ranking of counts by a metric."""
        # As published, the positive side of a one-sided metric is not folded.
        return rank(score(counts, metric, fold=self.side != "positive"), **vars(self))


def counted_for(source: Source, metrics: Sequence[Metric], options: dict[str, Any]) -> Counts:
    """Return the counts of a source, with occurrences if a metric reads them."""
    if isinstance(source, Counts):
        return counts_of(source, **options)
    reads = any(metric.reads == "occurrences" for metric in metrics)
    return counts_of(source, **{"occurrences": reads} | options)
