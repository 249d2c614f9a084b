"""Counts, a corpus, a frame or paths of any format come in; Counts, or the documents as a Corpus, go out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any, Protocol

from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.counts.sources import Source as TableSource
from termsieve.counts.storage import holds_counts
from termsieve.engines import count
from termsieve.errors import InputError, ParameterError
from termsieve.frames import is_frame
from termsieve.readers import FORMATS, get_format, read


class Frame(Protocol):
    """A table in memory: a dataframe of pandas or polars, an Arrow table, a Hugging Face dataset."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    def __getitem__(self, key: str, /) -> Any: ...


BATCH_DOCUMENTS = 5000  # of a corpus in memory
Location = str | os.PathLike[str]
Source = Counts | Corpus | Frame | Location | Sequence[Location]
# The options of `count` that say how documents are counted, not how they are read or split into terms.
COUNTING = ("engine", "address", "workers", "max_terms", "checkpoint", "whole_files", "progress")
# The options that say how documents are read, of the formats that people give without naming them.
READING = tuple(
    dict.fromkeys(
        option
        for format in ("table", "lines", "folder")
        for option in FORMATS[format].options
        if option != "split"
    )
)
FRAME_READING = ("text", "label", "separator", "missing")


def counts_of(
    source: Source, *, occurrences: bool = False, format: str | None = None, **options: Any
) -> Counts:
    """Return the counts of a source: counts, a corpus, a frame of any library, or one or several paths.

    A path may be a counts file or documents in any format of `read`; tables are counted in pieces and need
    not fit into memory.

    Parameters
    ----------
    source : Counts, Corpus, frame, path or list of paths
        Where the documents come from. Counts are returned as they are.
    occurrences : bool
        Whether to count also how often terms occur.
    format : str, optional
        The format of the files, if it cannot be recognised by their names and contents.
    **options
        Options of `count` and `read`, such as text=, label=, separator= or stop_words=.

    Examples
    --------
    >>> counts_of(Corpus(["cheap pills", "see you"], ["spam", "ham"]))
    <Counts of 2 documents: 2 classes, 4 terms>
    """
    if isinstance(source, Counts):
        return _refuse_options(source, "this", options, format)
    if isinstance(source, Corpus) or is_frame(source):
        return count(corpus_of(source, options, format), occurrences=occurrences, **options)
    paths: list[Any] = list(source) if isinstance(source, list | tuple) else [source]
    if not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise InputError(
            f"a {type(source).__name__} holds no documents; give Counts, a Corpus, a frame, or paths"
        )
    loaded = [holds_counts(path) for path in paths]
    if any(loaded):
        counts_at = os.fspath(paths[loaded.index(True)])
        if not all(loaded):
            raise InputError(f"{counts_at} holds counts and others hold documents; give one kind at a time")
        parts = (_refuse_options(Counts.load(path), counts_at, options, format) for path in paths)
        return reduce(add, parts)
    if options.get("label_from") is not None:
        # Which part of a file's name is its class is told by the other names.
        corpus = corpus_of(paths if len(paths) > 1 else paths[0], options, format)
        return count(corpus, occurrences=occurrences, **options)
    if all(get_format(path, format).streams for path in paths):
        if options.get("strip") is not None:
            raise ParameterError("strip= is for folders of mails or news posts; leave it out")
        return count(paths, occurrences=occurrences, **options)
    return _counts_of_corpora(paths, occurrences, format, options)


def corpus_of(
    source: Corpus | Frame | Location | Sequence[Location], options: dict[str, Any], format: str | None = None
) -> Corpus:
    """Return the documents of a source; the options that say how to read them are taken out of `options`."""
    if isinstance(source, Corpus):
        _refuse_reading(options, format)
        return source
    reading = {name: value for name in READING if (value := options.pop(name, None)) is not None}
    if isinstance(source, str | os.PathLike):
        if holds_counts(source):
            raise ParameterError(f"{os.fspath(source)} holds counts, but the documents are needed")
        return read(source, format, **reading)
    if isinstance(source, list | tuple) and all(isinstance(path, str | os.PathLike) for path in source):
        return read(source, format, **reading)
    if not is_frame(source):
        raise InputError(f"a {type(source).__name__} holds no documents; give a Corpus, a frame, or a path")
    for name in reading:
        if name not in FRAME_READING:
            raise ParameterError(f"{name}= is for files; a frame is read already")
    return Corpus.from_frame(source, **reading)


def document_batches(
    source: Corpus | Frame | Location | Sequence[Location], options: dict[str, Any], format: str | None = None
) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the texts and labels of a source in batches; tables are read in pieces, everything else whole.

    Reading twice gives the same batches. The options that say how to read are taken out of `options`.
    """
    paths: list[Any] = list(source) if isinstance(source, list | tuple) else [source]
    if all(isinstance(path, str | os.PathLike) for path in paths) and all(
        not holds_counts(path) and get_format(path, format).streams for path in paths
    ):
        reading = {name: value for name in READING if (value := options.pop(name, None)) is not None}
        table = TableSource(paths, **reading)
        return (table.documents(batch) for batch in table.batches())
    corpora = [corpus_of(path, options.copy(), format) for path in paths]
    for name in READING:
        options.pop(name, None)
    return (pair for corpus in corpora for pair in _slices(corpus))


def _slices(corpus: Corpus) -> Iterator[tuple[list[Any], list[Any]]]:
    if corpus.texts is None:
        raise InputError("this corpus holds a term matrix and no texts, so there are no documents to show")
    for start in range(0, len(corpus), BATCH_DOCUMENTS):
        rows = slice(start, start + BATCH_DOCUMENTS)
        yield list(corpus.texts[rows]), list(corpus.labels[rows])


def _counts_of_corpora(
    paths: list[Any], occurrences: bool, format: str | None, options: dict[str, Any]
) -> Counts:
    """Return the counts of files that are read whole, one after the other."""
    for name in ("checkpoint", "max_terms", "by"):
        if options.pop(name, None) is not None:
            raise ParameterError(f"{name}= is for tables: CSV, JSON lines or Parquet")
    reading = {name: options.pop(name) for name in READING if name in options}
    corpora = (corpus_of(path, reading.copy(), format) for path in paths)
    return reduce(add, (count(corpus, occurrences=occurrences, **options) for corpus in corpora))


def _refuse_options(counts: Counts, name: str, options: dict[str, Any], format: str | None) -> Counts:
    """Return the counts, or raise an error if options for documents were given."""
    ignored = {"format": format} | {key: value for key, value in options.items() if key not in COUNTING}
    given = sorted(key for key, value in ignored.items() if value is not None)
    if given:
        raise ParameterError(f"{given[0]}= is for documents, but {name} holds counts; leave it out")
    return counts


def _refuse_reading(options: dict[str, Any], format: str | None) -> None:
    given = [name for name in READING if options.get(name) is not None]
    if given or format is not None:
        raise ParameterError(f"{(given or ['format'])[0]}= is for files and frames; a Corpus is read already")
