"""An iterator comes in; pieces of bounded size go out, or what several threads make of them, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from termsieve.machine import processor_count

PIECE_CHARACTERS = 4 << 20  # in smaller pieces, looking up the distinct words takes longer
PIECE_TEXTS = 16_384
MOST_THREADS = 4
Given = TypeVar("Given")
Found = TypeVar("Found")


def pieces(texts: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield the texts in lists of a few megabytes."""
    piece: list[str] = []
    size = 0
    for text in texts:
        piece.append(text)
        size += len(text) if isinstance(text, str) else 0
        if size >= PIECE_CHARACTERS or len(piece) >= PIECE_TEXTS:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def in_order(work: Callable[[Given], Found], items: Iterable[Given]) -> Iterator[Found]:
    """Yield work(item) for each item, in order; a few items ahead are worked on, on all cores.

    >>> list(in_order(abs, [-2, 3]))
    [2, 3]
    """
    threads = min(processor_count(), MOST_THREADS)
    waiting: deque[Future[Found]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
