"""A tuning corpus comes in; with which power of the documents the time of a training grows goes out.

The settings of the portfolio without pairs of words are trained on samples of the tuning half of 20
Newsgroups, each twice as large as the one before, with four fifths of it as a fold's training documents.
Times are processor times, as they are in a race: the documents are scaled once per representation, and the
values of C share a path.

    TERMSIEVE_DATA=... python benchmarks/adviser_growth.py
"""

from __future__ import annotations

import time

import numpy as np

from adviser_corpora import corpus_of
from termsieve.adviser.folds import Split, Task
from termsieve.adviser.portfolio import portfolio
from termsieve.adviser.question import asked

CORPUS = "20ng-talk"
DOCUMENTS = (500, 1000, 2000, 4000)


def seconds_of(task: Task, n_docs: int, generator: np.random.Generator) -> float:
    """Return the processor seconds that the settings take on a fold of so many documents."""
    rows = generator.permutation(len(task))[:n_docs]
    part, cut = task.part(np.sort(rows)), 4 * n_docs // 5
    shuffled = generator.permutation(n_docs)
    fold = Split(part, np.sort(shuffled[:cut]), np.sort(shuffled[cut:]))
    begun = time.process_time()
    fold.values(portfolio(False))
    return time.process_time() - begun


def table(seconds: dict[int, float]) -> str:
    """Return the time by number of documents, and the power of the documents from each to the next."""
    lines = ["| documents | processor seconds | power |", "| --- | --- | --- |"]
    before: tuple[int, float] | None = None
    for n_docs, taken in seconds.items():
        power = ""
        if before is not None:
            power = f"{np.log(taken / before[1]) / np.log(n_docs / before[0]):.2f}"
        lines.append(f"| {n_docs:,} | {taken:.2f} | {power} |")
        before = n_docs, taken
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    task = asked(corpus_of(CORPUS), None, {}).task
    generator = np.random.default_rng(0)
    print(table({n: seconds_of(task, n, generator) for n in DOCUMENTS}))


if __name__ == "__main__":
    main()
