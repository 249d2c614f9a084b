"""The data sets of forman2003 in; the CPU time of a training with the hinge loss and the squared one, out.

    python -m reproductions.hinge_cost --data DIR

One fold, bns, the eight sizes of the plan, of each set the largest class and the one in the middle. The table
goes to reproductions/results, from where the page of forman2003 takes it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.model_selection import StratifiedKFold

from reproductions.tables import DIGITS, FOLDER
from termsieve import Counts, rank, read, score
from termsieve.analysis.findings.forman2003 import SMO
from termsieve.learners import decision_path
from termsieve.studies.plan import load_plan

SETS = ("re1", "fbis", "la1", "ohscal")


def main() -> None:
    """Write one row per data set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the unpacked corpora")
    folder = parser.parse_args().data
    plan = load_plan("forman2003")
    sizes = [int(size.value) for size in plan.sizes if size.value is not None]
    records = []
    for name in SETS:
        corpus = read(folder / "forman" / f"{name}.wc.arff")
        X = (corpus.matrix > 0).astype(np.int64).tocsr()
        y = np.unique(np.asarray(corpus.labels.tolist(), dtype=str), return_inverse=True)[1].ravel()
        train, test = next(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
        counts = Counts.from_matrix(X[train], y[train])
        by_size = np.argsort(-counts.pos, kind="stable")
        seconds = dict.fromkeys(("svm", SMO), 0.0)
        classes = by_size[[0, len(by_size) // 2]]
        for c in classes:
            order = rank(score(counts.take([int(c)]), "bns")).order
            target = (y == c).astype(np.int64)
            for learner in seconds:
                start = time.process_time()
                decision_path(learner, X[train], target[train], X[test], order, sizes)
                seconds[learner] += (time.process_time() - start) / (len(classes) * len(sizes))
        facts = {"corpus": name, "documents": X.shape[0], "classes": counts.n_classes}
        records.append(facts | {"squared": seconds["svm"], "hinge": seconds[SMO]})
    pl.DataFrame(records).write_csv(FOLDER / "forman2003_hinge_cost.csv", float_precision=DIGITS)


if __name__ == "__main__":
    main()
