"""What one training of each learner costs: the numbers of the learners' declarations, measured.

    python -m benchmarks.training_costs FOLDER [NAME ...]

FOLDER holds forman2003's corpora (ARFF), of which NAME chooses some. For each learner the processor seconds
of a path of sizes (10 to 2,000 terms and all, ranked by information gain), for the first classes of each
corpus against the rest, are divided by the number of trainings. `TrainingCost` holds what a training on a
few documents takes, and the slope over the nonzero cells of the other corpora.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from termsieve import Counts, rank, read, score
from termsieve.learners import LEARNERS, decision_path
from termsieve.terms import term_matrix

CORPORA = ("tr12", "oh0", "re0", "la1")
SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000)
CLASSES = 3
TINY = 40  # documents of the first corpus, taken as a corpus that costs hardly more than the calls


def seconds_per_training(learner: str, X: object, y: np.ndarray) -> float:
    """Return the mean processor seconds of a training along the ranking, for the first classes."""
    counts = Counts.from_matrix(X, y)
    presence = (X > 0).astype(float)
    spent, trainings = 0.0, 0
    for target in counts.classes[:CLASSES]:
        order = rank(score(counts.take([list(counts.classes).index(target)]), "information_gain")).order
        sizes = [*SIZES, len(order)]
        start = time.process_time()
        decision_path(learner, presence, (y == target).astype(int), presence, order, sizes)
        spent += time.process_time() - start
        trainings += len(sizes)
    return spent / trainings


def main() -> None:
    """Print the two numbers of each learner."""
    folder, names = Path(sys.argv[1]), list(sys.argv[2:] or CORPORA)
    corpora = [read(folder / f"{name}.wc.arff") for name in names]
    matrices = [(term_matrix(corpus)[0], np.asarray(corpus.labels.tolist())) for corpus in corpora]
    X, y = matrices[0]
    matrices, names = [(X[:TINY], y[:TINY]), *matrices], [f"its first {TINY} documents,", *names]
    cells = np.array([X.nnz for X, _ in matrices], dtype=float)
    print("cells:", ", ".join(f"{name} {n:,.0f}" for name, n in zip(names, cells, strict=True)))
    for learner, entry in LEARNERS.items():
        with threadpool_limits(1):
            seconds = np.array([seconds_per_training(learner, X, y) for X, y in matrices])
        fixed = seconds[0]
        # Neither the small corpora nor the large ones decide the slope alone.
        per_cell = ((seconds - fixed) * cells / seconds).sum() / (cells**2 / seconds).sum()
        told = ", ".join(f"{name} {1e3 * s:.2f}" for name, s in zip(names, seconds, strict=True))
        print(f"{learner}: {fixed:.1e} s + {per_cell:.1e} s per cell ({told} ms); declared {entry.cost}")


if __name__ == "__main__":
    main()
