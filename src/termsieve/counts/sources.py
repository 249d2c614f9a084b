"""A Corpus, paths of tables or an iterator of batches in; bounded batches of labelled texts out."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from termsieve.columns import Wanted
from termsieve.corpus import Corpus
from termsieve.counts.counter import Texts, labelled, listed_texts
from termsieve.counts.windows import window_column, window_of, windowed_labels
from termsieve.errors import InputError
from termsieve.labels import check_missing, split_labels
from termsieve.readers.files import MAX_BYTES
from termsieve.readers.layout import SAMPLE_ROWS, Layout, Reading
from termsieve.readers.tables import batches, first_layout, stream_batches, table_paths, warn_labels

_log = logging.getLogger("termsieve")
BATCH_CHARACTERS = 4 << 20
BATCH_DOCUMENTS = 20_000


class Batch(NamedTuple):
    """Documents with their labels: rows `start` to `stop` of the file with number `file`.

    `by` holds the values of the column by which windows are kept apart, if they are.
    """

    texts: Texts
    labels: list[Any]
    file: int
    start: int
    stop: int
    where: str
    by: list[Any] | None = None

    def halves(self, n: int) -> tuple[Batch, Batch]:
        """Return the first `n` documents and the rest."""
        middle = self.start + n
        return self._part(slice(n), self.start, middle), self._part(slice(n, None), middle, self.stop)

    def _part(self, rows: slice, start: int, stop: int) -> Batch:
        by = self.by and self.by[rows]
        return Batch(self.texts[rows], self.labels[rows], self.file, start, stop, self.where, by)


class Source:
    """Where documents come from and how their labels are read; `where` names it in messages."""

    def __init__(
        self,
        given: Any,
        text: Wanted = None,
        label: Wanted = None,
        *,
        separator: str | None = None,
        missing: str = "error",
        header: bool | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        encoding: str | None = None,
        max_bytes: int = MAX_BYTES,
        by: str | None = None,
        where: str | None = None,
    ) -> None:
        check_missing(missing)
        split_labels([], separator)
        self._given, self._where = given, where
        self._separator, self._missing = separator, missing
        self._reading = Reading(delimiter, quote, header, encoding, max_bytes)
        self._stream: Iterator[Any] | None = None
        self.layout: Layout | None = None
        self.files: list[str] = []
        self.reading = 0  # the number of the file that the next batch comes from
        self.columns: dict[str, Any] = {}
        self._wanted = {"text": text, "label": label}
        self._by_given = by
        self._by: str | None = None
        self._unit: str | None = None
        if by is not None:
            self._by, self._unit = window_column(by)
        if by is not None and not _are_paths(given):
            raise InputError(f"by={by!r} names a column of tables in files, and these are no files")
        if _are_paths(given):
            self.files = table_paths(given)
            self.layout = first_layout(self.files, text, label, None, self._reading.checked())
            self.columns = dict(self.layout.columns)
            # The other files have a header if the first has; all else is recognised file by file.
            self._reading = self._reading._replace(header=self.layout.reading.header)
        elif hasattr(given, "read"):
            self._open_stream()
        elif not isinstance(given, Corpus | Iterable):
            raise InputError(
                f"a {type(given).__name__} cannot be counted; give a Corpus, paths of tables, "
                "or an iterator of (texts, labels)"
            )

    def __getstate__(self) -> dict[str, Any]:
        # A worker of a cluster needs no sample of the rows.
        return self.__dict__ | {"layout": None}

    @property
    def options(self) -> dict[str, Any]:
        """The options that make a Source of another part: how it is read, with what was recognised."""
        how = {"separator": self._separator, "missing": self._missing, "by": self._by_given}
        return self.columns | how | self._reading._asdict()

    @property
    def phrase(self) -> str:
        """What was understood of a table, for the one-line form; empty for documents in memory."""
        if self.layout is None:
            return ""
        more = f", {len(self.files):,} files" if len(self.files) > 1 else ""
        return self.layout.phrase() + more

    def warn(self) -> None:
        """Log what was guessed of a table, and what is doubtful about its labels, by its first part."""
        if self.layout is None:
            return
        for guess in self.layout.sample.guesses:
            _log.warning("%s", guess)
        if self._separator is None:
            warn_labels(self.layout.labels, self.layout.path)

    def texts(self) -> list[str]:
        """Return the first texts, or some of a corpus; those of an iterator are not looked at."""
        if self.layout is not None:
            return self.layout.texts
        held = self._given.texts if isinstance(self._given, Corpus) else None
        return list(held[:: max(len(held) // SAMPLE_ROWS, 1)]) if held else []

    def batches(self, file: int = 0, row: int = 0) -> Iterator[Batch]:
        """Yield all documents from a row of a file on, with their labels as they are."""
        if self.files:
            return self._from_files(file, row)
        return self._from_stream() if hasattr(self._given, "read") else self._from_memory()

    def documents(self, batch: Batch) -> tuple[list[Any], list[Any]]:
        """Return the texts and labels of a batch; documents without a label are refused or left out."""
        texts, labels = self.held_documents(batch)
        return listed_texts(texts), labels

    def held_documents(self, batch: Batch) -> tuple[Texts, list[Any]]:
        """Return the same, but the texts of files as a column, so that no str is made of each."""
        labels = split_labels(batch.labels, self._separator)
        if batch.by is None:
            return labelled(batch.texts, labels, self._missing, batch.where, batch.start)
        together = list(zip(listed_texts(batch.texts), batch.by, strict=True))
        held, labels = labelled(together, labels, self._missing, batch.where, batch.start)
        pairs = listed_texts(held)
        if self._missing == "drop":
            kept = [i for i, (_, value) in enumerate(pairs) if value is not None]
            pairs, labels = [pairs[i] for i in kept], [labels[i] for i in kept]
        return [text for text, _ in pairs], windowed_labels(labels, self._windows(pairs, batch.where))

    def _windows(self, pairs: list[tuple[Any, Any]], where: str) -> list[str]:
        """Return the window of each document."""
        known: dict[Any, str] = {}
        for _, value in pairs:
            if value is None:
                raise InputError(
                    f"{where}: a document has nothing in column {self._by!r}; fill it, or leave such "
                    "documents out with missing='drop'"
                )
            if value not in known:
                try:
                    known[value] = window_of(value, self._unit)
                except InputError as error:
                    raise InputError(f"{where}, column {self._by!r}: {error}") from None
        return [known[value] for _, value in pairs]

    def _from_files(self, file: int, row: int) -> Iterator[Batch]:
        for number in range(file, len(self.files)):
            self.reading, path, start = number, self.files[number], 0
            # What was guessed of the first file is logged by `warn`.
            known = self._reading._asdict()
            for frame in batches(path, **self.columns, by=self._by, **known, quiet=number == 0):
                for part in _bounded(frame):
                    skipped = min(max(row - start, 0), part.height)
                    start += part.height
                    if skipped == part.height:
                        continue
                    part = part[skipped:]
                    texts, labels = _texts(part), part["label"].to_list()
                    by = None if self._by is None else part["by"].to_list()
                    yield Batch(texts, labels, number, start - part.height, start, path, by)
            row = 0

    def _open_stream(self) -> None:
        name = getattr(self._given, "name", "<stdin>")
        self._where = "standard input" if name == "<stdin>" else str(name)
        self.layout, self._stream = stream_batches(
            self._given, **self._wanted, max_bytes=self._reading.max_bytes, where=self._where
        )

    def _from_stream(self) -> Iterator[Batch]:
        start = 0
        assert self._stream is not None
        assert self._where is not None
        for frame in self._stream:
            for part in _bounded(frame):
                start += part.height
                texts, labels = _texts(part), part["label"].to_list()
                yield Batch(texts, labels, 0, start - part.height, start, self._where)

    def _from_memory(self) -> Iterator[Batch]:
        pairs: Iterable[Any] = self._given
        if isinstance(self._given, Corpus):
            pairs = [(self._given.texts, self._given.labels)]
        start = 0
        for number, pair in enumerate(pairs):
            try:
                texts, labels = pair
            except (TypeError, ValueError):
                raise InputError(
                    f"batch {number} is a {type(pair).__name__}; each batch must be a pair: texts and labels"
                ) from None
            where = self._where or ("the corpus" if isinstance(self._given, Corpus) else f"batch {number}")
            texts, labels = _listed(texts, where), _listed(labels, where)
            if len(texts) != len(labels):
                raise InputError(f"{where}: {len(texts):,} texts came with {len(labels):,} labels")
            for first, last in _cuts(texts):
                yield Batch(texts[first:last], labels[first:last], number, start + first, start + last, where)
            start += len(texts)


def _are_paths(given: Any) -> bool:
    if isinstance(given, str | Path | os.PathLike):
        return True
    return isinstance(given, list | tuple) and all(isinstance(path, str | os.PathLike) for path in given)


def _bounded(frame: Any) -> Iterator[Any]:
    """Yield slices of a frame that are short enough for the memory."""
    n_slices = max(frame.estimated_size() // BATCH_CHARACTERS, frame.height // BATCH_DOCUMENTS, 1)
    return iter(frame.iter_slices(-(-frame.height // n_slices) or 1))


def _texts(frame: Any) -> Texts:
    import polars as pl

    texts = frame["text"]
    if texts.null_count():
        texts = texts.fill_null("")
    return texts if texts.dtype == pl.String else list(texts.to_list())


def _listed(values: Any, where: str) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{where}: texts and labels must be lists, not a {type(values).__name__}")
    for method in ("to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def _cuts(texts: list[Any]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of the parts into which a list of texts is cut."""
    first = size = 0
    for i, text in enumerate(texts, 1):
        size += len(text) if isinstance(text, str) else 1
        if size >= BATCH_CHARACTERS or i - first >= BATCH_DOCUMENTS:
            yield first, i
            first, size = i, 0
    if first < len(texts):
        yield first, len(texts)


def n_fitting(lengths: list[int], room: int) -> int:
    """Return how many of the texts with these lengths it takes to reach `room` characters."""
    for i, size in enumerate(accumulate(lengths), 1):
        if size >= room:
            return i
    return len(lengths)


def text_lengths(texts: Texts) -> list[int]:
    """Return the number of characters of each text; anything else than a text counts as one."""
    if isinstance(texts, list):
        return [len(text) if isinstance(text, str) else 1 for text in texts]
    return list(texts.str.len_chars().to_list())
