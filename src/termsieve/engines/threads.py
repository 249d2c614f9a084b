"""Documents of any number come in, read once in batches; the Counts of their terms and classes go out."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.counts.counter import analysis_of
from termsieve.counts.sources import Source
from termsieve.counts.stream import Checkpoint, Reader, State, counted_piece
from termsieve.counts.tally import Pruned, empty_tally
from termsieve.errors import ParameterError
from termsieve.machine import processor_count
from termsieve.terms import Analysis

SAVE_SECONDS = 5.0  # between two writings of a checkpoint


class PrunedWarning(UserWarning):
    """Rare terms were dropped for `max_terms`: how often, and the highest count that may be missing."""

    def __init__(self, max_terms: int, n_dropped: int, at_most: int) -> None:
        super().__init__(
            f"max_terms={max_terms:,} left out {n_dropped:,} rare terms; none of them was in more than "
            f"{at_most:,} documents, and no count of a kept term is short by more"
        )
        self.n_dropped = n_dropped
        self.at_most = at_most


def count(
    source: Any,
    text: str | None = None,
    label: str | None = None,
    *,
    occurrences: bool = False,
    separator: str | None = None,
    missing: str = "error",
    workers: int | None = None,
    max_terms: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    whole_files: bool = False,
    progress: bool | Callable[[int], None] = False,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    **term_options: Any,
) -> Counts:
    """Return the Counts of documents that need not fit into memory; the terms are sorted.

    `source` is a Corpus, the path, glob, folder or list of paths of Parquet, JSON lines or CSV tables, or
    an iterator of pairs (texts, labels). `text`, `label`, `separator`, `missing`, `delimiter` and
    `encoding` are those of `read`; `term_options` are those of TermVectorizer that say what a term is, such
    as `lowercase` or `stop_words`.

    Each of `workers` threads (by default one a core) has a counter of its own. The result is exact and the
    same for any number of them. With `max_terms` it is not exact: after every piece of the documents (512
    million characters, or the end of a file after 64 million) only that many terms are kept, those in the
    most documents and of equals those that sort first; a PrunedWarning says how many were left out and
    what the counts may be short by. Pieces depend on the texts alone, so this too is the same for any number
    of workers.

    `checkpoint` names a file from which a run that was interrupted goes on; the result is the same. Files
    that changed in between are an error; they are known by size, time and the content of their two ends, or
    with `whole_files` by all of their content.
    `progress=True` shows the number of documents on stderr; a callable gets it instead.

    >>> counts = count([(["cheap pills", "see you"], ["spam", "ham"]), (["cheap watches"], ["spam"])])
    >>> counts.terms.tolist(), counts.tp.tolist()
    (['cheap', 'pills', 'see', 'watches', 'you'], [[0, 0, 1, 0, 1], [2, 1, 0, 1, 0]])
    """
    analysis = analysis_of(term_options)
    if isinstance(source, Corpus) and source.matrix is not None:
        return Counts.from_matrix(source.matrix, source.labels, source.terms, occurrences)
    n_workers = positive("workers", workers) or processor_count()
    positive("max_terms", max_terms)
    reading = {"separator": separator, "missing": missing, "delimiter": delimiter, "encoding": encoding}
    opened = Source(source, text, label, **reading)  # type: ignore[arg-type]
    kept = None
    if checkpoint is not None:
        if not opened.files:
            raise ParameterError("checkpoint= is for files; what is in memory cannot be gone back to")
        counting = {"occurrences": occurrences, "max_terms": max_terms, "whole_files": whole_files}
        options = term_options | reading | counting
        kept = Checkpoint(checkpoint, opened, options)
    with _shown(progress) as tell:
        state = _counted(opened, analysis, occurrences, n_workers, max_terms, kept, tell)
    return counts_of(Pruned(state.total, state.n_dropped, state.at_most), max_terms)


def counts_of(pruned: Pruned, max_terms: int | None) -> Counts:
    """Return the counts of a tally, with a warning to the caller's caller where terms were dropped."""
    if pruned.n_dropped and max_terms is not None:
        warnings.warn(PrunedWarning(max_terms, pruned.n_dropped, pruned.at_most), stacklevel=3)
    return pruned.tally.counts()


def _counted(
    source: Source,
    analysis: Analysis,
    occurrences: bool,
    workers: int,
    max_terms: int | None,
    kept: Checkpoint | None,
    progress: Callable[[int], None] | None,
) -> State:
    """Return the state after all documents; what was counted before a fault is kept in the checkpoint."""
    state = saved = State(empty_tally()) if kept is None else kept.load()
    reader = Reader(source, state, cuts=kept is not None or max_terms is not None, progress=progress)
    last = time.monotonic()
    try:
        while not state.ended:
            piece = counted_piece(reader, analysis, occurrences, workers)
            if reader.fault is None:
                state = state.plus(piece, reader, max_terms)
                if kept is not None and (state.ended or time.monotonic() - last >= SAVE_SECONDS):
                    kept.save(state)
                    saved, last = state, time.monotonic()
                continue
            # Where pieces are pruned, a piece is kept whole or not at all.
            if max_terms is None and reader.counted_all and reader.is_between_files():
                state = state.plus(piece, reader, None)
            raise reader.fault
    finally:
        if kept is not None and state is not saved:
            kept.save(state)
    return state


def positive(name: str, value: int | None) -> int | None:
    """Return an option that is None or a whole number from 1."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ParameterError(f"{name}={value!r} must be a whole number from 1")
    return value


@contextmanager
def _shown(progress: bool | Callable[[int], None]) -> Iterator[Callable[[int], None] | None]:
    """Give the function that is told the number of documents so far, if there is to be one."""
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
