"""A corpus in, how many planted changes `difference` finds out, for docs/reading.md.

python -m reproductions.shifts --data DIR

The documents of 20 Newsgroups (or the docstrings) are dealt into two windows at random, 50 times. In the
second the rate of 200 words is doubled: random documents without a word get it. Then how many of these are
listed, and how many others; and the same without any change.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from reproductions.reading import presence
from termsieve import Counts, difference, load_docstrings, read, term_matrix

REPETITIONS, PLANTED, ENOUGH = 50, 200, 100
MOST_DOCUMENTS = 6000


def window(X: Any, terms: np.ndarray) -> Counts:
    """Return the counts of some documents, as one class."""
    return Counts.from_matrix(X, ["all"] * X.shape[0], terms=terms)


def doubled(X: Any, words: np.ndarray, generator: np.random.Generator) -> Any:
    """Return the documents after as many as have each of the words, among those without it, got it."""
    columns = sparse.csc_matrix(X)
    rows, places = [], []
    for word in words:
        has = columns.indices[columns.indptr[word] : columns.indptr[word + 1]]
        without = np.setdiff1d(np.arange(X.shape[0]), has)
        drawn = generator.choice(without, min(len(has), len(without)), replace=False)
        rows.append(drawn)
        places.append(np.full(len(drawn), word))
    at = (np.concatenate(rows), np.concatenate(places))
    return sparse.csr_matrix(X + sparse.csr_matrix((np.ones(len(at[0])), at), X.shape))


def main() -> None:
    """Plant, look, and print the shares."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of the papers' corpora; without it, docstrings")
    given = parser.parse_args()
    corpus = load_docstrings()
    if given.data:
        corpus = read(given.data / "20_newsgroups", "folder", strip=("headers",))
    X, terms = term_matrix(corpus, min_df=5)
    X = presence(sparse.csr_matrix(X))
    found, common, shares, chance = 0, 0, [], []
    for seed in range(REPETITIONS):
        generator = np.random.default_rng(seed)
        order = generator.permutation(X.shape[0])[:MOST_DOCUMENTS]
        a, b = X[order[::2]], X[order[1::2]]
        before = window(a, terms)
        words = generator.choice(np.flatnonzero((before.df >= 5) & (before.df < a.shape[0] / 3)), PLANTED)
        planted = set(terms[words])
        listed = set(difference(before, window(doubled(b, words, generator), terms), k=X.shape[1])["term"])
        frequent = set(terms[words[before.df[words] >= ENOUGH]])
        found, common = found + len(frequent & listed), common + len(frequent)
        shares.append(len(listed - planted) / max(1, len(listed)))
        chance.append(len(difference(before, window(b, terms), k=X.shape[1])) > 0)
    print(
        f"of words in {ENOUGH} or more documents before, {found} of {common} are found ({found / common:.1%})"
    )
    print(f"of the words listed, {np.mean(shares):.1%} had not changed (mean of {REPETITIONS})")
    print(f"without a change, {np.mean(chance):.1%} of {REPETITIONS} lists have any word")


if __name__ == "__main__":
    main()
