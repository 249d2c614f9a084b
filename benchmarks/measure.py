"""Two functions in, one row of a comparison out: medians, their ratio with its spread, peak memory."""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Row:
    """One comparison: seconds are medians, ratios are the peer's time over ours, peaks are in MB.

    `size` is the amount of input, where the same work is measured at several; `group` names the function that
    measured the row.
    """

    work: str
    input: str
    peer: str
    peer_seconds: float
    seconds: float
    ratio: float
    ratio_low: float
    ratio_high: float
    goal: str
    peer_peak: float | None = None
    peak: float | None = None
    note: str = ""
    size: float | None = None
    group: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return asdict(self)


def seconds(call: Callable[[], Any]) -> float:
    """Return how long one call takes."""
    gc.collect()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compared(
    work: str,
    on: str,
    peer: tuple[str, Callable[[], Any]],
    ours: Callable[[], Any],
    goal: str,
    repeats: int = 5,
    scale: float = 1.0,
    memory: bool = True,
    note: str = "",
    size: float | None = None,
) -> Row:
    """Run the peer and ours in turns; `scale` turns the peer's time on a sample into that of the whole."""
    return all_compared(on, peer, [(work, ours, goal)], repeats, scale, memory, note, size)[0]


def all_compared(
    on: str,
    peer: tuple[str, Callable[[], Any]],
    works: list[tuple[str, Callable[[], Any], str]],
    repeats: int = 5,
    scale: float = 1.0,
    memory: bool = True,
    note: str = "",
    size: float | None = None,
) -> list[Row]:
    """Run a peer and several of our works, each with its goal, in turns; return a row for each work."""
    name, call = peer
    for _, ours, _ in works:
        ours()
    runs = [[seconds(call) * scale, *[seconds(ours) for _, ours, _ in works]] for _ in range(repeats)]
    theirs = [run[0] for run in runs]
    peer_peak = peak(call) if memory else None
    rows = []
    for i, (work, ours, goal) in enumerate(works, 1):
        own = [run[i] for run in runs]
        ratios = [a / b for a, b in zip(theirs, own, strict=True)]
        own_peak = peak(ours) if memory else None
        times = median(theirs), median(own), median(ratios), min(ratios), max(ratios)
        rows.append(Row(work, on, name, *times, goal, peer_peak, own_peak, note, size))
    return rows


def peak(call: Callable[[], Any]) -> float | None:
    """Return the MB that a call needs at most beyond what is there, in a forked process; None off Linux."""
    if not Path("/proc/self/clear_refs").exists():
        return None
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)  # what was freed before must not hide what is taken now
            Path("/proc/self/clear_refs").write_text("5")
            before = _resident("VmRSS")
            call()
            os.write(writer, f"{_resident('VmHWM') - before}".encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return max(float(text), 0.1) if text else None


def _resident(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise LookupError(field)
