"""The data sets of forman2003 in; what clipping every rate in bns changes, against the paper's rule, out.

    python -m reproductions.bns_clip --data DIR

The table goes to reproductions/results, from where the page of forman2003 takes it.
The paper replaces only a rate of 0; here every rate is clipped to [.0005, .9995]. They differ where more
than 2,000 documents are outside a class, because there fp = 1 has a rate below .0005: by the paper's rule a
term that never occurs outside the class is then scored below one that occurs there once.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import ndtri
from sklearn.model_selection import StratifiedKFold

from reproductions.tables import DIGITS, FOLDER
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
    """Write one row per data set and size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the unpacked corpora")
    folder = parser.parse_args().data
    records = []
    for name in SETS:
        n, shared, (ours, theirs) = compared(folder, name)
        for k, share, own, paper in zip(SIZES, shared, ours, theirs, strict=True):
            records.append({"corpus": name, "problems": n, "terms": k, "shared": share})
            records[-1] |= {"clipped": own, "paper": paper}
    pl.DataFrame(records).write_csv(FOLDER / "forman2003_bns_clip.csv", float_precision=DIGITS)


if __name__ == "__main__":
    main()
