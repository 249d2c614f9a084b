"""A job comes in; threads of this process, each with its own counter, count it, and its tally goes out."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from termsieve.counts.stream import Checkpoint, Reader, State, counted_piece
from termsieve.counts.tally import Pruned, empty_tally
from termsieve.engines.protocol import Job, positive
from termsieve.errors import ParameterError
from termsieve.machine import processor_count

SAVE_SECONDS = 5.0  # seconds between two writes of a checkpoint


@dataclass(frozen=True)
class Threads:
    """Counts in this process.

    `workers` is the number of threads, by default one per processor. `checkpoint` names a file from which an
    interrupted run continues; with `whole_files` changes are detected by the whole content of the files.
    """

    workers: int | None = None
    checkpoint: str | os.PathLike[str] | None = None
    whole_files: bool = False

    def tally(self, job: Job) -> Pruned:
        """Return the tally of all documents of a job, which are read once, in batches."""
        workers = positive("workers", self.workers) or processor_count()
        source = job.opened()
        kept = None
        if self.checkpoint is not None:
            if not source.files:
                raise ParameterError(
                    "checkpoint= is for files; what comes through a pipe or from memory cannot be read again"
                )
            counting = {
                "occurrences": job.occurrences,
                "max_terms": job.max_terms,
                "whole_files": self.whole_files,
            }
            # The limit does not change the counts, and a refused run continues with a higher one.
            reading = {name: value for name, value in job.reading.items() if name != "max_bytes"}
            kept = Checkpoint(self.checkpoint, source, job.term_options | reading | counting)
        state = State(empty_tally()) if kept is None else kept.load()
        cuts = kept is not None or job.max_terms is not None
        reader = Reader(source, state, cuts=cuts, ahead=workers > 1, progress=job.progress)
        state = _counted(job, state, reader, workers, kept)
        return Pruned(state.total, state.n_dropped, state.at_most)


def _counted(job: Job, state: State, reader: Reader, workers: int, kept: Checkpoint | None) -> State:
    """Return the state after all documents; on an error the checkpoint keeps the state before it."""
    saved, last = state, time.monotonic()
    try:
        while not state.ended:
            piece = counted_piece(reader, job.analysis, job.occurrences, workers)
            if reader.fault is None:
                state = state.plus(piece, reader, job.max_terms)
                if kept is not None and (state.ended or time.monotonic() - last >= SAVE_SECONDS):
                    kept.save(state)
                    saved, last = state, time.monotonic()
                continue
            # If pieces are pruned, only complete pieces are kept.
            if job.max_terms is None and reader.counted_all and reader.is_between_files():
                state = state.plus(piece, reader, None)
            raise reader.fault
    finally:
        if kept is not None and state is not saved:
            kept.save(state)
    return state
