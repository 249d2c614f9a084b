"""Windows with planted changes in, the tables of docs/reading.md about found and false changes out.

python -m reproductions.shifts --data DIR

Each repetition doubles the rate of 200 words in the last window. Found is the share of those in at least 100,
and 300, documents before that are flagged, false is the share of the flagged rows (of a window and a word)
whose word was not doubled. In shuffled time nothing was doubled, and every flagged row is false. `diff`
compares the last window with all before it, `trend` every window with all others. Documents are drawn with
each word on its own, or are real ones (20 Newsgroups; without --data SciPy's docstrings) in random order,
whose words depend on each other.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from reproductions.reading import markdown, presence
from termsieve import Counts, difference, load_docstrings, read, term_matrix
from termsieve.counts import Windows
from termsieve.counts.windows import windowed_labels
from termsieve.differences import shifts

REPETITIONS, PLANTED, COMMON = 50, 200, (100, 300)
WORDS, DOCUMENTS = 1200, 1500
WAYS = ((2, "diff", 5), (6, "diff", 5), (6, "trend", 5), (6, "diff", 100), (6, "trend", 100))

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def independent(generator: np.random.Generator, n_windows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the documents with each word (windows x words) and those of each window, words on their own."""
    rates = np.exp(generator.uniform(np.log(0.005), np.log(0.3), WORDS))
    sizes = np.full(n_windows, DOCUMENTS)
    return generator.binomial(sizes[:, None], rates), sizes


def shuffled(X: Any) -> Draw:
    """Return the function that deals real documents to windows at random."""

    def draw(generator: np.random.Generator, n_windows: int) -> tuple[np.ndarray, np.ndarray]:
        window = generator.permutation(np.arange(X.shape[0]) % n_windows)
        to = sparse.csr_array((np.ones(len(window)), (window, np.arange(len(window)))))
        return np.asarray((to @ X).todense()).astype(np.int64), np.bincount(window)

    return draw


def plant(df: np.ndarray, sizes: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts with the rates of some words doubled in the last window, and these words."""
    possible = np.flatnonzero(2 * df[-1] <= sizes[-1])
    planted = generator.choice(possible, min(PLANTED, len(possible) // 4), replace=False)
    changed = df.copy()
    # The other documents get the word with the probability that doubles its rate.
    rest = sizes[-1] - df[-1, planted]
    changed[-1, planted] += generator.binomial(rest, df[-1, planted] / rest)
    return changed, planted


def flagged(df: np.ndarray, sizes: np.ndarray, command: str, min_df: int) -> list[int]:
    """Return the word of each flagged row: of the last window against those before, or of every window."""
    terms = [str(i) for i in range(df.shape[1])]
    if command == "diff":
        windows = [(df[:-1].sum(axis=0), sizes[:-1].sum()), (df[-1], sizes[-1])]
        parts = [Counts(row[None, :], [n], row, n, ["x"], terms) for row, n in windows]
        return [int(term) for term in difference(*parts, k=df.size, min_df=min_df)["term"]]
    names = [f"W{i}" for i in range(len(sizes))]
    keys = windowed_labels(["x"] * len(names), names)
    order = sorted((key, i) for i, pair in enumerate(keys) for key in pair)
    rows = [i for _, i in order]
    counts = Counts(
        df[rows], sizes[rows], df.sum(axis=0), sizes.sum(), [key for key, _ in order], terms, multilabel=True
    )
    return [int(term) for term in shifts(Windows(counts), k=df.size, min_df=min_df)["term"]]


def repetitions(draw: Draw, n_windows: int, command: str, min_df: int, n: int) -> dict[str, Any]:
    """Return the means over repetitions, with planted changes and without."""
    found: dict[int, list[float]] = {least: [] for least in COMMON}
    false, chance, any_false = [], [], 0
    for seed in range(n):
        generator = np.random.default_rng(seed)
        df, sizes = draw(generator, n_windows)
        before = df[:-1].sum(axis=0)
        changed, planted = plant(df, sizes, generator)
        marked = flagged(changed, sizes, command, min_df)
        for least, shares in found.items():
            common = {int(word) for word in planted if before[word] >= least}
            if common:
                shares.append(len(common.intersection(marked)) / len(common))
        false.append(float(np.mean(~np.isin(marked, planted))) if marked else 0.0)
        by_chance = flagged(df, sizes, command, min_df)
        chance.append(len(by_chance))
        any_false += bool(by_chance)
    return {
        "windows": n_windows,
        "command": command,
        "min_df": min_df,
        **{f"found in {least}": float(np.mean(shares)) for least, shares in found.items()},
        "false": float(np.mean(false)),
        "flagged in shuffled time": float(np.mean(chance)),
        "repetitions with any": any_false / n,
    }


def main() -> None:
    """Run the repetitions and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of the papers' corpora; without it, docstrings")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    given = parser.parse_args()
    corpus = load_docstrings()
    if given.data is not None:
        corpus = read(given.data / "20_newsgroups", "folder", name="20_newsgroups", strip=("headers",))
    X, _ = term_matrix(corpus, min_df=20)
    draws = {"independent words": independent, corpus.name: shuffled(presence(sparse.csr_matrix(X)))}
    rows = [
        {"documents": name} | repetitions(draw, *way, given.repetitions)
        for name, draw in draws.items()
        for way in WAYS
    ]
    print(markdown(pl.DataFrame(rows)))


if __name__ == "__main__":
    main()
