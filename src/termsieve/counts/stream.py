"""Batches come in, and threads count them; one Tally per piece goes out, and a checkpoint file."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from termsieve.counts.archive import read_arrays, write_arrays
from termsieve.counts.counter import Classes, Counter, LabelCodes, Texts
from termsieve.counts.sources import Batch, Source, n_fitting, text_lengths
from termsieve.counts.tally import Pruned, Tally, empty_tally, joined
from termsieve.errors import FormatError, InputError
from termsieve.files import fingerprint, whole_file
from termsieve.kernels.streaming import MAX_DOCUMENTS
from termsieve.terms import Analysis

# A piece of the documents ends after this many characters, or with a file after this many.
PIECE_CHARACTERS = 512 << 20
PIECE_LEAST = 64 << 20
PIECE_DOCUMENTS = MAX_DOCUMENTS  # number of documents that one counter can hold
READ_AHEAD = 8  # number of batches of files that one thread reads while others count
FORMAT = "termsieve-checkpoint 2"  # version 1 knew files by size and time only
LISTS = ("files", "stamps")  # of a checkpoint's head


@dataclass(frozen=True)
class State:
    """The counts up to row `row` of file `file`, and the error by pruning so far.

    `between` says that this row is the last of its file.
    """

    total: Tally
    file: int = 0
    row: int = 0
    between: bool = True
    ended: bool = False
    n_dropped: int = 0
    at_most: int = 0

    def is_possible(self, n_files: int) -> bool:
        """Return whether the state can belong to a count of this number of files."""
        numbers = (self.file, self.row, self.n_dropped, self.at_most)
        return (
            all(isinstance(number, int) and number >= 0 for number in numbers)
            and self.file < n_files
            and isinstance(self.between, bool)
            and isinstance(self.ended, bool)
        )

    def plus(self, piece: Tally, reader: Reader, max_terms: int | None) -> State:
        """Return the state after one more piece, pruned to `max_terms` terms."""
        so_far = Pruned(self.total, self.n_dropped, self.at_most)
        total, n_dropped, at_most = joined([so_far, Pruned(piece)], max_terms)
        place = *reader.position, reader.is_between_files(), reader.ended
        return State(total, *place, n_dropped, at_most)


Read = tuple[Batch, int]  # a batch, and the number of the file that was being read then


def _in_advance(read: Callable[[], Read | None]) -> Iterator[Read]:
    """Yield what `read` returns, up to None; a thread of its own reads some batches in advance."""
    pool = ThreadPoolExecutor(1)
    try:
        coming = deque(pool.submit(read) for _ in range(READ_AHEAD))
        while (found := coming.popleft().result()) is not None:
            coming.append(pool.submit(read))
            yield found
    finally:
        pool.shutdown(cancel_futures=True)


class Reader:
    """Hands out batches to several threads, in order, up to the end of a piece or the first fault.

    With `ahead`, files are read while the batches before are counted; one worker alone reads and counts in
    turns, so that it needs one core.
    """

    def __init__(
        self,
        source: Source,
        state: State,
        *,
        cuts: bool,
        ahead: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.codes = LabelCodes()
        self.position = state.file, state.row
        self.ended = False
        self.fault: BaseException | None = None
        self.counted_all = True
        self._source, self._cuts, self._progress = source, cuts, progress
        self._batches: Iterator[Batch] = source.batches(state.file, state.row)
        advances = ahead and bool(source.files)  # an iterator of the caller is read when it has to be
        self._found = _in_advance(self._read) if advances else iter(self._read, None)
        self._reading = state.file
        self._held: Batch | None = None
        self._size = self._n_in_piece = 0
        self._full = False
        self._n_docs = state.total.n_docs
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begin a piece."""
        self._size, self._n_in_piece, self._full = 0, 0, False

    def take(self) -> tuple[Texts, Classes, int] | None:
        """Return the texts of the next batch, their classes and the number of the first; None at the end."""
        with self._lock:
            if self.fault is not None:
                return None
            try:
                return self._next()
            except Exception as error:
                self.fault = error
                return None

    def stop(self, fault: BaseException) -> None:
        """Hand out no more batches, because counting has failed."""
        with self._lock:
            self.counted_all = False
            if self.fault is None:
                self.fault = fault

    def is_between_files(self) -> bool:
        """Return whether the last row handed out is the last of its file, or the last that can be read."""
        return self.ended or self._reading > self.position[0]

    def _read(self) -> Read | None:
        batch = next(self._batches, None)
        return None if batch is None else (batch, self._source.reading)

    def _fetch(self) -> Batch | None:
        """Return the next batch, or None after the last."""
        try:
            found = next(self._found, None)
        except BaseException:
            self._reading = self._source.reading
            raise
        if found is None:
            return None
        batch, self._reading = found
        return batch

    def _next(self) -> tuple[Texts, Classes, int] | None:
        batch = self._cut()
        if batch is None:
            return None
        texts, labels = self._source.held_documents(batch)
        classes = self.codes.classes(labels, batch.where)
        self.position = batch.file, batch.stop
        self._n_docs += len(texts)
        if self._progress is not None:
            self._progress(self._n_docs)
        return texts, classes, batch.start

    def _cut(self) -> Batch | None:
        """Return the next batch of the piece, or None at its end, which depends on the texts only."""
        if self._full or self.ended:
            return None
        batch, self._held = self._held or self._fetch(), None
        if batch is None:
            self.ended = True
            return None
        if self._cuts and batch.file != self.position[0] and self._size >= PIECE_LEAST:
            self._held, self._full = batch, True
            return None
        n = min(len(batch.texts), PIECE_DOCUMENTS - self._n_in_piece)
        if self._cuts:
            lengths = text_lengths(batch.texts)
            n = min(n, n_fitting(lengths, PIECE_CHARACTERS - self._size))
            self._size += sum(lengths[:n])
        if n < len(batch.texts):
            batch, self._held = batch.halves(n)
        self._n_in_piece += n
        self._full = self._size >= PIECE_CHARACTERS or self._n_in_piece == PIECE_DOCUMENTS
        return batch


def counted_piece(reader: Reader, analysis: Analysis, occurrences: bool, workers: int) -> Tally:
    """Return the tally of all that `reader` hands out; with `reader.fault` the piece is incomplete, and
    without `reader.counted_all` it is empty.
    """
    counters = [Counter(analysis, occurrences) for _ in range(workers)]

    def work(counter: Counter) -> None:
        try:
            while (job := reader.take()) is not None:
                counter.add(*job)
        except BaseException as error:
            reader.stop(error)

    reader.begin()
    if workers == 1:
        work(counters[0])
    else:
        with ThreadPoolExecutor(workers) as pool:
            try:
                list(pool.map(work, counters))
            except BaseException as error:
                # Only this thread gets an interrupt, and leaving the pool waits for the other threads.
                reader.stop(error)
                raise
    # A counter that has failed in the middle of a batch knows terms without cells.
    return _joined(counters, reader.codes) if reader.counted_all else empty_tally()


def _joined(counters: list[Counter], codes: LabelCodes) -> Tally:
    """Return the tally of all counters, which are merged in pairs."""
    workers = len(counters)
    while len(counters) > 2:
        half = -(-len(counters) // 2)
        with ThreadPoolExecutor(half) as pool:
            list(pool.map(Counter.absorb, counters, counters[half:]))
        del counters[half:]
    first, *last = counters
    tally = first.tally(codes, workers, *last)
    return tally if tally.n_docs else empty_tally()


def tally_of(source: Source, analysis: Analysis, occurrences: bool, max_terms: int | None = None) -> Pruned:
    """Return the tally of all documents of a source, counted by one worker and pruned at the end."""
    reader = Reader(source, State(empty_tally()), cuts=False)
    tally = empty_tally()
    while not reader.ended:
        tally += counted_piece(reader, analysis, occurrences, workers=1)
        if reader.fault is not None:
            raise reader.fault
    return joined([Pruned(tally)], max_terms)


class Checkpoint:
    """A file with the State of a run; another run over the same files can continue from it."""

    def __init__(self, path: str | os.PathLike[str], source: Source, options: dict[str, Any]) -> None:
        self._path = Path(path)
        self._whole_files = bool(options.get("whole_files"))
        self._known: dict[str, tuple[Any, Any]] = {}  # files that were read once in this run
        self._within = self._path.with_name(f"{self._path.name}.within")
        self._files = source.files
        # Callables are compared by name, because nothing else is the same in another process.
        plain = {name: _named(value) for name, value in sorted(options.items())}
        self._options = json.loads(json.dumps({**plain, "columns": source.columns}))

    def load(self) -> State:
        """Return the state where the last run stopped, or the initial state if there was none."""
        for path in (self._within, self._path):
            if path.exists():
                head, state = _read(path)
                self._check(head)
                if changed := self._changed_file(head, state):
                    # The other checkpoint has nothing of the file that was being read.
                    if path == self._within and changed == self._files[state.file]:
                        continue
                    raise InputError(
                        f"{changed} has changed since it was counted; count again with another checkpoint"
                    )
                return state
        return State(empty_tally())

    def _check(self, head: dict[str, Any]) -> None:
        for name, now in self._options.items():
            if head["options"].get(name) != now:
                raise InputError(
                    f"{self._path} belongs to a count with {name}={head['options'].get(name)!r}, "
                    f"not {now!r}; use the same options or another checkpoint"
                )
        if head["files"] != self._files:
            raise InputError(
                f"{self._path} belongs to a count of other files; use the same files or another checkpoint"
            )

    def _changed_file(self, head: dict[str, Any], state: State) -> str | None:
        begun = len(self._files) if state.ended else state.file + (state.row > 0)
        stamps = zip(self._files[:begun], head["stamps"], strict=False)
        return next((path for path, stamp in stamps if self._stamp(path) != stamp), None)

    def _stamp(self, path: str) -> Any:
        """Return the fingerprint of a file, computed again only if its size or time has changed."""
        try:
            status = os.stat(path)
        except OSError:
            return None
        seen = status.st_size, status.st_mtime_ns, status.st_ino
        if path not in self._known or self._known[path][0] != seen:
            self._known[path] = seen, fingerprint(path, self._whole_files)
        return self._known[path][1]

    def save(self, state: State) -> None:
        """Write the state; the file is complete at any moment.

        A state in the middle of a file is kept together with the last state between two files, which can
        still be used if that file has to be corrected.
        """
        path = self._path if state.between else self._within
        fields = {field: getattr(state, field) for field in State.__dataclass_fields__ if field != "total"}
        head = {
            "format": FORMAT,
            "options": self._options,
            "files": self._files,
            "stamps": [self._stamp(file) for file in self._files],
            "state": fields,
        }
        checkpoint = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
        try:
            with whole_file(path) as file:
                write_arrays(file, {"checkpoint": checkpoint, **state.total.arrays()})
        except OSError as error:
            raise InputError(f"the checkpoint {path} cannot be written: {error.strerror}") from error
        if state.between:
            self._within.unlink(missing_ok=True)


def _read(path: Path) -> tuple[dict[str, Any], State]:
    """Return the header of a checkpoint and its state, both checked."""
    try:
        arrays = read_arrays(path)
        head = json.loads(arrays.pop("checkpoint").tobytes())
        known = head["format"] == FORMAT
        state = State(Tally.from_arrays(arrays), **head["state"]) if known else None
        whole = isinstance(head["options"], dict) and all(isinstance(head[key], list) for key in LISTS)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError(
            f"{path} is not a checkpoint of a count, or is damaged ({error}); count again without it"
        ) from None
    if state is None:
        raise FormatError(f"{path} is a checkpoint of another version; count again without it")
    if not whole or not state.is_possible(len(head["files"])):
        raise FormatError(f"{path} is damaged: it contradicts itself; count again without it")
    return head, state


def _named(value: Any) -> Any:
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(type(value)))}"
    return sorted(value) if isinstance(value, set | frozenset) else value
