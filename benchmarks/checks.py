"""What the entry checks and checksums cost: each work with them and without them, in turns, in CPU seconds.

python -m benchmarks.checks [--repeats N]
"""

from __future__ import annotations

import argparse
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
from termsieve import Corpus, Counts, TermSelector
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


class NoDigest:
    """A digest that reads nothing."""

    def __init__(self, content: bytes = b"") -> None:
        pass

    def update(self, content: bytes) -> None:
        """Read nothing."""

    def hexdigest(self) -> str:
        """Return a text as long as a SHA-256 digest."""
        return "1" * 64


@contextmanager
def without_checks() -> Iterator[None]:
    """Leave out the bounds checks of matrices and the checksums of files."""
    with ExitStack() as stack:
        for name in ("_check_compressed", "_check_places"):
            stack.enter_context(patch(f"termsieve.matrices.{name}", lambda *_: None))
        for module in ("files", "parquet"):
            stack.enter_context(patch(f"termsieve.{module}.hashlib", SimpleNamespace(sha256=NoDigest)))
        yield


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
    texts = generated(2)
    corpus = Corpus(texts, [f"class {i % 5}" for i in range(len(texts))], name="generated")

    def study() -> None:
        with TemporaryDirectory(dir=folder) as out:
            run_study(Plan.parse(PLAN), Path(out, "study"), corpora={"generated": corpus}, workers=1)

    yield f"a study, {len(texts):,} documents", study


def cpu_seconds(call: Callable[[], Any]) -> float:
    """Return how much processor time one call takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


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
                with without_checks():
                    plain = cpu_seconds(call)
                pairs.append((plain, cpu_seconds(call)))
            plain, checked = (median(column) for column in zip(*pairs, strict=True))
            share = median(whole / bare - 1 for bare, whole in pairs)
            print(f"{name}: {plain:.3f} s without, {checked:.3f} s with, {share:+.1%} (median of pairs)")


if __name__ == "__main__":
    main()
