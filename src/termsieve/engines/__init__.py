"""Documents of any number come in; threads, Dask or Spark count them, and Counts go out."""

from __future__ import annotations

import inspect
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, overload

import numpy as np

from termsieve.columns import Wanted
from termsieve.corpus import Corpus
from termsieve.counts import Counts, Windows
from termsieve.counts.counter import analysis_of
from termsieve.counts.sources import Source
from termsieve.counts.tally import Pruned
from termsieve.counts.windows import window_of, windowed_labels
from termsieve.engines.protocol import Engine, Job, is_distributed, positive
from termsieve.errors import FormatError, ParameterError, unknown_name
from termsieve.frames import is_frame
from termsieve.readers.files import MAX_BYTES
from termsieve.readers.format import one_line
from termsieve.terms import suited_options, term_matrix

_log = logging.getLogger("termsieve")

__all__ = ["ENGINES", "Engine", "Job", "PrunedWarning", "count", "get_engine"]

#: Name -> the module and the class of an engine, which is imported when it is used. The arguments of its
#: constructor are the options of ``count`` that only this engine takes.
ENGINES = {
    "threads": "termsieve.engines.threads:Threads",
    "dask": "termsieve.engines.dask:Dask",
    "spark": "termsieve.engines.spark:Spark",
}


class PrunedWarning(UserWarning):
    """Rare terms were dropped because of `max_terms`: how many, and the largest error of a count.

    Parameters
    ----------
    max_terms : int
        The limit.
    n_dropped : int
        Number of terms that were left out.
    at_most : int
        Largest number of documents by which a count may be too small.
    """

    def __init__(self, max_terms: int, n_dropped: int, at_most: int) -> None:
        super().__init__(
            f"max_terms={max_terms:,} left out {n_dropped:,} rare terms; none of them was in more than "
            f"{at_most:,} documents, and no count of a kept term is too small by more"
        )
        self.n_dropped = n_dropped
        self.at_most = at_most


def get_engine(engine: str | Engine, **options: Any) -> Engine:
    """Return the engine with a name and options; an engine object is returned as it is.

    Parameters
    ----------
    engine : str or Engine
        One of :data:`ENGINES`, or an object with the method ``tally(job)``.
    **options
        The options that only this engine takes, such as ``workers`` of "threads" or ``address`` of "dask".

    Returns
    -------
    Engine
        The engine.

    Examples
    --------
    >>> get_engine("threads", workers=2)
    Threads(workers=2, checkpoint=None, whole_files=False)
    """
    if not isinstance(engine, str):
        if not isinstance(engine, Engine):
            raise ParameterError(f"engine={engine!r} must be one of {', '.join(ENGINES)}, or have tally(job)")
        if options:
            raise ParameterError(
                f"{next(iter(options))!r} can be given only with the name of an engine; {engine!r} is one"
            )
        return engine
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    module, _, name = ENGINES[engine].partition(":")
    factory = getattr(import_module(module), name)
    own = list(inspect.signature(factory).parameters)
    for option in options:
        if option not in own:
            its = f"its own options are {', '.join(own)}" if own else "it has no options of its own"
            raise ParameterError(f"the engine {engine!r} takes no {option!r}; {its}")
    chosen: Engine = factory(**options)
    return chosen


@overload
def count(
    source: Any, text: str | None = None, label: str | None = None, *, by: None = None, **options: Any
) -> Counts: ...
@overload
def count(
    source: Any, text: str | None = None, label: str | None = None, *, by: str | Sequence[Any], **options: Any
) -> Windows: ...
def count(
    source: Any,
    text: Wanted = None,
    label: Wanted = None,
    *,
    by: str | Sequence[Any] | None = None,
    sample_weight: Any = None,
    engine: str | Engine = "threads",
    address: str | None = None,
    occurrences: bool = False,
    separator: str | None = None,
    missing: str = "error",
    workers: int | None = None,
    max_terms: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    whole_files: bool = False,
    progress: bool | Callable[[int], None] = False,
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
    **term_options: Any,
) -> Counts | Windows:
    """Return the Counts of documents that need not fit into memory; the terms are sorted.

    Equal documents give equal counts, with any engine and any partition.

    Parameters
    ----------
    source : Corpus, frame, path, list of paths, iterator, or a collection of the engine
        A Corpus; a dataframe in memory, as in `Corpus.from_frame`; the path, glob, folder or list of paths of
        Parquet, JSON lines or CSV tables; an iterator of pairs (texts, labels); an open binary file of JSON
        lines, such as a pipe. "dask" takes tables that its workers reach, or a dataframe or bag of Dask, and
        "spark" a Spark dataframe.
    text, label : str, optional
        The columns with the text and the label; those with a usual name by default. For a bag of dicts they
        are keys.
    by : str or sequence, optional
        Keeps counts apart and returns Windows: the column of a table in files, such as "source", or of dates
        with a unit, such as "date:week" (day, week, month or year); for a Corpus, one value per document.
    sample_weight : array-like, optional
        For a Corpus, how much each document counts; see `Counts.from_matrix`.
    engine : {"threads", "dask", "spark"} or Engine, default="threads"
        The engine that counts: a name, or an object such as ``termsieve.engines.dask.Dask(client)``.
    address : str, optional
        With "dask", the address of a scheduler, such as "tcp://127.0.0.1:8786"; without it Dask's own default
        is used.
    occurrences : bool, default=False
        Whether to count also how often terms occur.
    separator, missing, header, delimiter, quote, encoding, max_bytes
        As in :func:`termsieve.read`.
    workers : int, optional
        With "threads", their number; one per processor by default. The result is the same for any number.
    max_terms : int, optional
        Largest number of terms to keep, which limits the memory. The result is then not exact: after every
        piece of the documents only the most frequent terms are kept (of equally frequent ones those that sort
        first). A PrunedWarning says how many terms were left out, and how large the error of a count can be.
        With "threads" a piece is 512 million characters, or ends with a file after 64 million; with the other
        engines it is a partition or a file. The result depends on the documents and their pieces only.
    checkpoint : path, optional
        With "threads", a file from which an interrupted run continues; the result is the same. Files that
        have changed in the meantime are an error.
    whole_files : bool, default=False
        Whether the checkpoint detects changed files by their whole content, not only by size, time and both
        ends.
    progress : bool or callable, default=False
        True shows the number of documents on stderr; a callable is called with it. Only for "threads".
    **term_options
        The options of TermVectorizer that define terms, such as `lowercase` or `stop_words`. If none of them
        says how texts are cut, and most texts have no spaces between words, as in Chinese, a segmenter or
        sequences of characters are used, and a log message says so. Texts of an iterator or on a cluster are
        not examined for this.

    Returns
    -------
    Counts or Windows
        The counts of all documents; with `by`, those of each window.

    Examples
    --------
    >>> counts = count([(["cheap pills", "see you"], ["spam", "ham"]), (["cheap watches"], ["spam"])])
    >>> counts.terms.tolist(), counts.tp.tolist()
    (['cheap', 'pills', 'see', 'watches', 'you'], [[0, 0, 1, 0, 1], [2, 1, 0, 1, 0]])
    """
    own = {"address": address, "workers": workers, "checkpoint": checkpoint, "whole_files": whole_files}
    given = {name: value for name, value in own.items() if value is not None and value is not False}
    counter = get_engine(engine, **given)
    analysis_of({name: value for name, value in term_options.items() if value != "auto"})
    if is_frame(source) and not is_distributed(source):
        source = Corpus.from_frame(source, text=text, label=label, separator=separator, missing=missing)
        text = label = separator = None
    _check_ways(source, by, sample_weight, occurrences)
    if by is not None and isinstance(source, Corpus):
        options: dict[str, Any] = {"engine": counter, "max_terms": max_terms, "progress": progress}
        return Windows(count(_windowed(source, by), **options, **term_options), several=source.multilabel)
    if isinstance(source, Corpus) and (source.matrix is not None or sample_weight is not None):
        suited = suited_options(term_options, source.texts or ())
        return _matrix_counts(source, occurrences, sample_weight, suited)
    positive("max_terms", max_terms)
    reading: dict[str, Any] = {
        "separator": separator,
        "missing": missing,
        "header": header,
        "delimiter": delimiter,
        "quote": quote,
        "encoding": encoding,
        "max_bytes": max_bytes,
    } | ({} if by is None else {"by": by})
    held = None if is_distributed(source) else Source(source, text, label, **reading)
    if held is not None:
        held.warn()
    term_options = suited_options(term_options, [] if held is None else held.texts())
    analysis = analysis_of(term_options)
    job = Job(source, text, label, reading, term_options, analysis, occurrences, max_terms, held)
    with _shown(progress) as told:
        total = counter.tally(replace(job, progress=told))
    if held is not None and held.files and total.tally.n_docs == 0 and missing == "error":
        raise FormatError(f"{held.files[0]} has a header but no row")
    counts = _counts(total, max_terms)
    phrase = held.phrase if held is not None else ""
    if by is not None:
        return _windows(counts, str(by), separator, phrase)
    if phrase:
        _log.info("%s", one_line(counts.n_docs, len(counts.classes), phrase, counts.multilabel))
    return counts


def _check_ways(source: Any, by: Any, sample_weight: Any, occurrences: bool) -> None:
    """Raise ParameterError for ways to count that exclude each other or do not suit the source."""
    in_memory = isinstance(source, Corpus)
    if sample_weight is not None and not in_memory:
        raise ParameterError("sample_weight= is for a Corpus; read the documents first")
    if by is None:
        return
    if occurrences or sample_weight is not None:
        raise ParameterError("by= counts documents; leave out occurrences= and sample_weight=")
    if isinstance(by, str) == in_memory:
        what = "one value per document" if in_memory else "the name of a column"
        raise ParameterError(f"by= must be {what} for a {type(source).__name__}, not {by!r:.40}")
    if in_memory and len(by) != len(source):
        raise ParameterError(f"by= has {len(by):,} values for {len(source):,} documents")


def _windows(counts: Counts, by: str, separator: str | None, phrase: str) -> Windows:
    """Return counts whose labels are windows as Windows; what was read is logged."""
    n_docs = Windows(counts, by).n_docs
    _log.info("read %s documents, by %s, from %s", f"{n_docs:,}", by, phrase or "parts")
    # A document with one label is counted twice: in its window, and in its class there.
    return Windows(counts, by, separator is not None or bool(counts.pos.sum() != 2 * n_docs))


def _windowed(corpus: Corpus, by: Sequence[Any]) -> Corpus:
    """Return the corpus with its windows, and the classes in them, as labels."""
    windows = [window_of(value, None) for value in by]
    labels = windowed_labels(corpus.labels.tolist(), windows)
    if corpus.matrix is not None:
        return Corpus(matrix=corpus.matrix, terms=corpus.terms, labels=labels)
    return Corpus(corpus.texts, labels)


def _matrix_counts(
    corpus: Corpus, occurrences: bool, sample_weight: Any, term_options: dict[str, Any]
) -> Counts:
    """Return the counts of a corpus by way of its term matrix, without terms that are in no document."""
    X, terms = corpus.matrix, corpus.terms
    if X is None:
        X, terms = term_matrix(corpus, **term_options)
    counts = Counts.from_matrix(X, corpus.labels, terms, occurrences, sample_weight)
    if sample_weight is None or counts.df.all():
        return counts
    there = np.flatnonzero(counts.df)
    named = {} if counts.terms is None else {"terms": counts.terms[there]}
    tables = {
        name: None if (table := getattr(counts, name)) is None else table[..., there]
        for name in ("tp", "df", "tf", "tf_total", "squares")
    }
    return counts.replace(**tables, **named)


def _counts(pruned: Pruned, max_terms: int | None) -> Counts:
    """Return the counts of a tally; if terms were dropped, the caller of `count` gets a warning."""
    if pruned.n_dropped and max_terms is not None:
        warnings.warn(PrunedWarning(max_terms, pruned.n_dropped, pruned.at_most), stacklevel=3)
    return pruned.tally.counts()


@contextmanager
def _shown(progress: bool | Callable[[int], None]) -> Iterator[Callable[[int], None] | None]:
    """Give the function that is called with the number of documents so far, or None."""
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield None
    else:
        from rich.console import Console
        from rich.progress import Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("counted {task.completed:,.0f} documents"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("count", total=None)
            yield lambda n_docs: bar.update(task, completed=n_docs)
