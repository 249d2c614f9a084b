"""What the entry checks and checksums cost: the processor time spent in them beside that of all the rest.

python -m benchmarks.checks [--repeats N]
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.core import zipfian
from benchmarks.text import generated
from termsieve import Corpus, Counts, TermSelector, count, files, matrices, parquet
from termsieve.studies import Plan, run_study

PLAN = """name = "checks"
[[corpora]]
name = "generated"
path = "."
[protocol]
trials = 1
folds = 4
seed = 1
[[methods]]
metric = ["bns", "information_gain"]
[sizes]
k = [10, 100, 1000]
[[learners]]
name = "svm"
"""


class Spent:
    """Adds up the processor time of this thread within some functions; calls within calls count once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0

    def within(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose time is added."""

        def timed(*given: Any, **named: Any) -> Any:
            start = time.thread_time()
            self._depth += 1
            try:
                return function(*given, **named)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.seconds += time.thread_time() - start

        return timed

    def digest(self, content: bytes = b"") -> Any:
        """Stand in for hashlib.sha256."""
        sha256 = self.within(hashlib.sha256)(content)
        return SimpleNamespace(update=self.within(sha256.update), hexdigest=sha256.hexdigest)


@contextmanager
def checks_timed() -> Iterator[Spent]:
    """Time the bounds checks of matrices and the checksums of files."""
    spent = Spent()
    with ExitStack() as stack:
        for name in ("_check_compressed", "_check_places"):
            real = getattr(matrices, name)
            stack.enter_context(patch.object(matrices, name, spent.within(real)))
        for module in (files, parquet):
            stack.enter_context(patch.object(module, "hashlib", SimpleNamespace(sha256=spent.digest)))
        yield spent


def works(folder: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each work's name and a call that does it."""
    n_docs = 80_000
    X, y = zipfian(n_docs, 47_000, 90), np.arange(n_docs) % 20
    yield f"counts of 20 classes, {n_docs:,} x 47,000", lambda: Counts.from_matrix(X, y)
    yield "TermSelector.fit_transform, the same", lambda: TermSelector("bns", k=1000).fit_transform(X, y)
    counts, file = Counts.from_matrix(X, y), Path(folder, "counts.parquet")

    def save_and_load() -> None:
        counts.save(file)
        Counts.load(file)

    yield "saving and loading counts, the same", save_and_load
    texts = generated(20)
    corpus = Corpus(texts, [f"class {i % 5}" for i in range(len(texts))], name="generated")
    yield f"text to a counts file, {len(texts):,} documents", lambda: count(corpus).save(file)
    texts = texts[:800]
    corpus = Corpus(texts, [f"class {i % 5}" for i in range(len(texts))], name="generated")

    def study() -> None:
        with TemporaryDirectory(dir=folder) as out:
            run_study(Plan.parse(PLAN), Path(out, "study"), corpora={"generated": corpus}, workers=1)

    yield f"a study, {len(texts):,} documents", study


def main() -> None:
    """Print, for each work, the seconds without checks and what the checks add."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    with TemporaryDirectory() as folder:
        for name, call in works(folder):
            call()
            pairs = []
            for _ in range(repeats):
                with checks_timed() as spent:
                    start = time.process_time()
                    call()
                    whole = time.process_time() - start
                pairs.append((whole - spent.seconds, spent.seconds))
            bare, checks = (median(column) for column in zip(*pairs, strict=True))
            share = median(checks / bare for bare, checks in pairs)
            print(f"{name}: {bare:.4f} s and {checks:.4f} s of checks, {share:+.1%} (median)", flush=True)


if __name__ == "__main__":
    main()
