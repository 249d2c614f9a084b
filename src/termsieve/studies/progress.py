"""The progress of a run comes in; a bar on the terminal, or a line now and then, goes out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Progress(NamedTuple):
    """The progress of a run; the counts are of this run, `seconds` since it began.

    Parameters
    ----------
    trainings : int
        Trainings that are done.
    all_trainings : int
        Trainings of this run.
    units : int
        Units of work that are done.
    all_units : int
        Units of this run.
    failed : int
        Units that failed.
    seconds : float
        Seconds since the run began.
    """

    trainings: int
    all_trainings: int
    units: int
    all_units: int
    failed: int
    seconds: float

    @property
    def rate(self) -> float:
        """Trainings per second."""
        return self.trainings / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The time for the rest at this rate, or None if nothing is done yet."""
        return (self.all_trainings - self.trainings) / self.rate if self.trainings else None

    def __str__(self) -> str:
        failed = f", {self.failed} units failed" if self.failed else ""
        return (
            f"{self.trainings:,} of {self.all_trainings:,} trainings, {self.rate:,.0f} per second, "
            f"{clock(self.seconds_left)} left{failed}"
        )


@contextmanager
def reporter(progress: bool | Callable[[Progress], None]) -> Iterator[Callable[[Progress], None]]:
    """Give a function that reports a Progress: the caller's own, a bar on a terminal, lines, or nothing."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda state: None
    elif sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield _Lines()


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as RichProgress

    columns = BarColumn(), TextColumn("{task.description}")
    with RichProgress(*columns, console=Console(stderr=True), auto_refresh=False) as bar:
        task = bar.add_task("starting")

        def report(state: Progress) -> None:
            facts = {"completed": state.trainings, "total": state.all_trainings}
            bar.update(task, description=str(state), refresh=True, **facts)  # type: ignore[arg-type]

        yield report


class _Lines:
    """A line now and then, where there is no terminal to draw on."""

    def __init__(self, every_seconds: float = 30.0) -> None:
        self.every_seconds = every_seconds
        self.last = 0.0

    def __call__(self, state: Progress) -> None:
        if state.seconds - self.last >= self.every_seconds or state.units + state.failed == state.all_units:
            self.last = state.seconds
            print(state, file=sys.stderr, flush=True)


def clock(seconds: float | None) -> str:
    """Return seconds as hours, minutes and seconds.

    >>> clock(3725), clock(None)
    ('1:02:05', '?')
    """
    if seconds is None:
        return "?"
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
