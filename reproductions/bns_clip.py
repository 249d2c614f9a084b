"""The data sets of forman2003 in; what clipping every rate in bns changes, against the paper's rule, out.

    python -m reproductions.bns_clip --data DIR

The paper replaces only a rate of 0; here every rate is clipped to [.0005, .9995]. They differ where more
than 2,000 documents are outside a class, because there fp = 1 has a rate below .0005: by the paper's rule a
term that never occurs outside the class is then scored below one that occurs there once.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.special import ndtri
from sklearn.model_selection import StratifiedKFold

from termsieve import Counts, rank, read, score
from termsieve.learners import decision_path
from termsieve.measures import at_threshold, f1

SETS = ("fbis", "la1", "ohscal")
SIZES = (100, 500, 1000)
LEAST = 0.0005


def paper_bns(tp, fp, pos, neg):
    """Return bns with only rates of 0 (and of 1, its mirror image) replaced."""
    rates = [np.where(x == 0, LEAST, np.where(x == n, 1 - LEAST, x / n)) for x, n in ((tp, pos), (fp, neg))]
    return np.abs(ndtri(rates[0]) - ndtri(rates[1]))


def compared(data: Path, name: str) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the number of problems, the share of terms in both selections, and F1 of both, by size."""
    corpus = read(data / "forman" / f"{name}.wc.arff")
    X = (corpus.matrix > 0).astype(np.int64).tocsr()
    y = np.unique(np.asarray(corpus.labels.tolist(), dtype=str), return_inverse=True)[1].ravel()
    train, test = next(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    counts = Counts.from_matrix(X[train], y[train])
    shared, values = [], []
    for c in range(counts.n_classes):
        one = counts.take([c])
        orders = [rank(score(one, metric)).order for metric in ("bns", paper_bns)]
        shared.append([len(np.intersect1d(*(order[:k] for order in orders))) / k for k in SIZES])
        target = (y == c).astype(np.int64)
        paths = [decision_path("svm", X[train], target[train], X[test], order, SIZES) for order in orders]
        values.append([f1(*at_threshold(target[test], path)) for path in paths])
    return counts.n_classes, np.mean(shared, axis=0), np.mean(values, axis=0)


def main() -> None:
    """Print one row per data set and size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the unpacked corpora")
    folder = parser.parse_args().data
    print(
        "| data set | problems | terms | in both selections | F1, every rate clipped | F1, as in the paper |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for name in SETS:
        n, shared, (ours, theirs) = compared(folder, name)
        for k, share, own, paper in zip(SIZES, shared, ours, theirs, strict=True):
            print(f"| {name} | {n} | {k} | {share:.0%} | {own:.3f} | {paper:.3f} |", flush=True)


if __name__ == "__main__":
    main()
