"""Reviews, R2 and 20 Newsgroups in, the accuracies, lambdas and preferences of li2009 out, as Markdown.

python -m benchmarks.reproduce_li --data DIR [--quick] [--corpora movie,dvd,r2] [--trials 3] [--rows FILE]

Presence features, 90 % of the documents for training, terms in more than 3 of them, a linear SVM with
hinge loss and C = 1. 20 Newsgroups is decided one against the rest by the squared hinge loss, and its lambda
is learned at two sizes in one of the nine folds, because one against one means 190 machines each time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedShuffleSplit

from termsieve import Counts, decision_path, read, term_matrix
from termsieve.analysis.preference import li2009_rankings, preferences
from termsieve.tuned.evaluate import middle_of_best, tuning_parts
from termsieve.tuned.wfo import LAMBDAS, wfo_ranking

ALL = 10**9
SIZES = {
    "movie": (50, 200, 500, 1000, 4000, 7000, 10000, 13000, ALL),
    "dvd": (20, 50, 100, 500, 1000, 1500, 2000, 3000, 4000, ALL),
    "r2": (10, 20, 50, 100, 200, 500, 1000, 2000, 3000, ALL),
    "20ng": (200, 500, 1000, 2000, 5000, 10000, 15000, 20000, 30000, ALL),
}
LAMBDA_SIZES = {"20ng": (500, 10000)}
FOLDS = {"20ng": 1}
TRIALS = {"20ng": 1}
WORDS = r"(?u)\b\w+\b"
PAPER_LAMBDAS = {
    "movie": {500: 0.50},
    "dvd": {500: 0.34},
    "20ng": {500: 0.42, 10000: 0.28, 15000: 0.20, 20000: 0.08, 30000: 0.01},
}
PAPER_PREFERENCES = {
    "movie": {
        "mi": (0.003, 0.888),
        "bns": (0.008, 0.881),
        "chi_squared": (0.092, 0.572),
        "information_gain": (0.095, 0.559),
        "wllr": (0.168, 0.414),
        "document_frequency": (0.419, 0.090),
    },
    "20ng": {
        "mi": (0.004, 0.870),
        "bns": (0.005, 0.864),
        "chi_squared": (0.015, 0.814),
        "information_gain": (0.087, 0.525),
        "wllr": (0.026, 0.764),
        "document_frequency": (0.122, 0.252),
    },
}


@dataclass
class Documents:
    """Presence of words and a class number for each document."""

    name: str
    X: Any
    y: np.ndarray

    @property
    def learner(self) -> str:
        """The SVM: with hinge loss for two classes."""
        return "svm(hinge)" if self.y.max() == 1 else "svm"


def documents(data: Path, name: str) -> Documents:
    """Read a corpus by its short name."""
    if name == "r2":
        corpus = read(data / "reuters21578", format="reuters", categories="all")
        rows = [i for topic in ("earn", "acq") for i in _drawn(corpus, topic)]
        corpus = corpus.subset(rows)
        texts, labels = corpus.texts, [labels[0] for labels in corpus.labels]
    else:
        folder = {"movie": "movie_reviews", "dvd": "dvd_reviews", "20ng": "20_newsgroups"}[name]
        corpus = read(data / folder)
        texts, labels = corpus.texts, corpus.labels
    if name == "20ng":
        texts = [text.partition("\n\n")[2] for text in texts]
    X, _ = term_matrix(texts, token_pattern=WORDS, binary=True)
    return Documents(name, sparse.csr_matrix(X), np.unique(labels, return_inverse=True)[1])


def _drawn(corpus: Any, topic: str) -> np.ndarray:
    """Return 1,000 random documents whose only topic is this one."""
    rows = [i for i, labels in enumerate(corpus.labels) if tuple(labels) == (topic,)]
    return np.sort(np.random.default_rng(0).choice(rows, 1000, replace=False))


def accuracies(
    docs: Documents, train: np.ndarray, test: np.ndarray, order: np.ndarray, sizes: Any
) -> np.ndarray:
    """Return the accuracy for each number of top terms."""
    X, y = docs.X, docs.y
    if y.max() == 1:
        values = decision_path(docs.learner, X[train], y[train], X[test], order, sizes)
        return ((values > 0) == y[test]).mean(axis=1)
    X_train, X_test = X[train], X[test]
    values = [
        decision_path(docs.learner, X_train, (y[train] == c).astype(np.int64), X_test, order, sizes)
        for c in range(y.max() + 1)
    ]
    return (np.argmax(values, axis=0) == y[test]).mean(axis=1)


def frequent(counts: Counts, order: np.ndarray) -> np.ndarray:
    """Return the columns that are in more than 3 of the counted documents."""
    return order[counts.df[order] > 3]


def learned_lambdas(docs: Documents, train: np.ndarray, sizes: tuple[int, ...]) -> dict[int, float]:
    """Return lam for each size: the mean of the folds' best; every ranking serves all sizes at once."""
    parts = tuning_parts(docs.y[train], 9, 0)[: FOLDS.get(docs.name)]
    whole = Counts.from_matrix(docs.X[train], docs.y[train])
    folds = []
    for part in parts:
        counts = whole - Counts.from_matrix(docs.X[train[part.test]], docs.y[train[part.test]])
        rankings = [frequent(counts, wfo_ranking(counts, lam).order) for lam in LAMBDAS]
        tried = [accuracies(docs, train[part.train], train[part.test], order, sizes) for order in rankings]
        folds.append([LAMBDAS[middle_of_best(values)] for values in np.array(tried).T])
        print(f"{docs.name}: fold done", file=sys.stderr, flush=True)
    return dict(zip(sizes, np.mean(folds, axis=0).tolist(), strict=True))


def trial(docs: Documents, seed: int) -> tuple[dict[str, np.ndarray], dict[int, float]]:
    """Return the accuracies of the seven methods on one split, and the learned lambdas."""
    splitter = StratifiedShuffleSplit(1, test_size=0.1, random_state=seed)
    train, test = next(splitter.split(docs.X, docs.y))
    train, test = np.sort(train), np.sort(test)
    counts = Counts.from_matrix(docs.X[train], docs.y[train])
    sizes = SIZES[docs.name]
    found = {
        name: accuracies(docs, train, test, ranking.order, sizes)
        for name, ranking in li2009_rankings(counts).items()
    }
    lambdas = learned_lambdas(docs, train, LAMBDA_SIZES.get(docs.name, sizes[:-1]))
    wfo = np.full(len(sizes), np.nan)
    for size, lam in lambdas.items():
        order = frequent(counts, wfo_ranking(counts, lam).order)
        wfo[sizes.index(size)] = accuracies(docs, train, test, order, [size])[0]
    wfo[-1] = found["information_gain"][-1]
    return found | {"wfo": wfo}, lambdas


def trials_of(docs: Documents, n_trials: int, path: Path | None) -> list[tuple[dict, dict]]:
    """Return the trials, those already in the file as they stand there."""
    done = {}
    if path is not None and path.exists():
        lines = map(json.loads, path.read_text().splitlines())
        done = {row["seed"]: row for row in lines if row["corpus"] == docs.name}
    for seed in range(n_trials):
        if seed not in done:
            found, lambdas = trial(docs, seed)
            found = {name: values.tolist() for name, values in found.items()}
            done[seed] = {"corpus": docs.name, "seed": seed, "found": found, "lambdas": list(lambdas.items())}
            if path is not None:
                with path.open("a") as out:
                    out.write(json.dumps(done[seed]) + "\n")
    return [(done[seed]["found"], dict(map(tuple, done[seed]["lambdas"]))) for seed in range(n_trials)]


def accuracy_tables(docs: Documents, n_trials: int, path: Path | None) -> Iterator[str]:
    """Yield the lines of a corpus's tables."""
    trials = trials_of(docs, n_trials, path)
    sizes = SIZES[docs.name]
    heads = ["all" if size == ALL else str(size) for size in sizes]
    yield f"| accuracy, mean of {n_trials} split{'s' * (n_trials > 1)} | " + " | ".join(heads) + " |"
    yield "| --- " * (len(sizes) + 1) + "|"
    means = {name: np.mean([found[name] for found, _ in trials], axis=0) for name in trials[0][0]}
    best = np.nanmax(list(means.values()), axis=0)
    for name, values in means.items():
        cells = [
            "" if np.isnan(value) else f"**{value:.3f}**" if value >= top - 1e-9 else f"{value:.3f}"
            for value, top in zip(values, best, strict=True)
        ]
        yield f"| {name} | " + " | ".join(cells) + " |"
    learned = {size: np.mean([lambdas[size] for _, lambdas in trials]) for size in trials[0][1]}
    paper = PAPER_LAMBDAS.get(docs.name, {})
    cells = [
        f"{learned[size]:.2f}" + (f" ({paper[size]:.2f})" if size in paper else "") if size in learned else ""
        for size in sizes
    ]
    yield "| *lambda (paper)* | " + " | ".join(cells) + " |"


def preference_table(docs: Documents) -> Iterator[str]:
    """Yield the preference table of a corpus beside the paper's."""
    paper = PAPER_PREFERENCES[docs.name]
    yield "| metric | df | paper | mi | paper |"
    yield "| --- " * 5 + "|"
    gaps = []
    for row in preferences(Counts.from_matrix(docs.X, docs.y)).iter_rows(named=True):
        df, mi = paper[row["metric"]]
        gaps += [abs(row["df"] - df), abs(row["mi"] - mi)]
        yield f"| {row['metric']} | {row['df']:.3f} | {df:.3f} | {row['mi']:.3f} | {mi:.3f} |"
    yield f"\nGreatest difference {max(gaps):.3f}, mean {np.mean(gaps):.3f}."


def main() -> None:
    """Print the tables of the chosen corpora."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the unpacked corpora")
    parser.add_argument("--quick", action="store_true", help="movie and DVD reviews, one split")
    parser.add_argument("--corpora", help="some of movie,dvd,r2,20ng; all of them by default")
    parser.add_argument("--trials", type=int, default=3, help="random splits; 20ng always has one")
    parser.add_argument("--rows", type=Path, help="JSON lines, one a split: read if there, and added to")
    options = parser.parse_args()
    names = (
        options.corpora.split(",") if options.corpora else ["movie", "dvd"] if options.quick else list(SIZES)
    )
    for name in names:
        began = time.perf_counter()
        docs = documents(options.data, name)
        print(f"\n### {name}: {docs.X.shape[0]:,} documents, {docs.learner}\n")
        n_trials = TRIALS.get(name, 1 if options.quick else options.trials)
        print("\n".join(accuracy_tables(docs, n_trials, options.rows)), flush=True)
        if name in PAPER_PREFERENCES:
            print(f"\n#### Preference of the top 2 % of terms, {name}\n")
            print("\n".join(preference_table(docs)), flush=True)
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
