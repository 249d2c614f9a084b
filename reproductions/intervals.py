"""Corpora in, the tables of docs/reading.md about intervals out: do they hold what they promise?

python -m reproductions.intervals --data DIR

Coverage: the whole corpus is the population; 200 samples of 2,000 documents are drawn with replacement, and
an interval of 95 % should hold the score of the population's rates for 95 % of the words in at least 10
documents of the sample: with the sign of the direction, as words for a class are ranked, and without, as
words for and against it are; once more by the documents of the class that a word is expected in. Ranks: the
intervals from counts beside those of a bootstrap of the documents themselves, and how often they hold the
rank of the population.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from reproductions.reading import markdown, presence
from termsieve import Corpus, Counts, load_docstrings, rank, read, score, term_matrix
from termsieve.intervals import term_intervals
from termsieve.metrics import direction, get_metric
from termsieve.ranking import Ranking, Side

METRICS = ("log_odds_ratio", "bns", "information_gain", "g2", "correlation_coefficient")
SAMPLES, SAMPLE_SIZE, LEAST = 200, 2000, 10
WORDS = 40  # of those in enough documents, drawn anew for each sample
EXPECTED = (1, 4, 10)  # bounds of the groups of words, by expected documents of the class
GROUPS = ("below 1", "1 to 4", "4 to 10", "10 and more")
SIDES: dict[Side, str] = {"positive": "with sign", "both": "without"}
BOOTSTRAPS, LISTED, RANK_SAMPLES = 200, 20, 100


def corpora(data: Path | None) -> Iterator[Corpus]:
    """Yield the corpora, or only the docstrings."""
    if data is None:
        yield load_docstrings()
        return
    yield read(data / "20_newsgroups", "folder", name="20_newsgroups", strip=("headers",))
    yield read(data / "reuters21578", "reuters", name="reuters")
    yield read(data / "movie_reviews", "folder", name="movie_reviews")


def one_problem(corpus: Corpus) -> tuple[Any, np.ndarray]:
    """Return the term matrix, and whether each document is in the largest class."""
    X, _ = term_matrix(corpus, min_df=5)
    sizes = corpus.class_sizes
    largest = max(sizes, key=lambda label: sizes[label])
    inside = [largest in label if isinstance(label, tuple) else label == largest for label in corpus.labels]
    return presence(sparse.csr_matrix(X)), np.array(inside)


def coverage(X: Any, inside: np.ndarray, seed: int) -> Iterator[dict[str, Any]]:
    """Yield for each sample, metric and scale how many intervals hold the population's score."""
    generator = np.random.default_rng(seed)
    rates = [np.asarray(X[part].mean(axis=0)).ravel() for part in (inside, ~inside)]
    for _ in range(SAMPLES):
        drawn = generator.integers(0, len(inside), SAMPLE_SIZE)
        whole = Counts.from_matrix(X[drawn], np.where(inside[drawn], "yes", "no")).take(["yes"])
        enough = generator.permutation(np.flatnonzero(whole.df >= LEAST))[:WORDS]
        counts = whole.replace(tp=whole.tp[:, enough], df=whole.df[enough], terms=None)
        pos, neg = counts.pos[0], counts.neg[0]
        for name, (side, scale) in product(METRICS, SIDES.items()):
            ranking = rank(score(counts, name), side=side)
            found = term_intervals(ranking, counts.n_terms, 0.95)
            columns = enough[ranking.order]
            true = signed_score(name, pos * rates[0][columns], neg * rates[1][columns], pos, neg)
            true = true if side == "positive" else np.abs(true)
            held = (found.low <= true) & (true <= found.high)
            group = np.searchsorted(EXPECTED, pos * rates[0][columns], side="right")
            for at in np.unique(group):
                words = {"words": int((group == at).sum()), "held": int(held[group == at].sum())}
                yield {"metric": name, "scale": scale, "expected": GROUPS[at]} | words


def signed_score(name: str, tp: Any, fp: Any, pos: int, neg: int) -> np.ndarray:
    """Return the scores of tables with the sign of the direction."""
    metric = get_metric(name)
    values = metric(tp, fp, pos, neg)
    return values if metric.kind == "signed" else values * direction(tp, fp, pos, neg)


def rank_agreement(X: Any, inside: np.ndarray, seed: int) -> dict[str, Any]:
    """Return how the intervals of the listed words' ranks compare with those of the bootstrap."""
    generator = np.random.default_rng(seed)
    some = generator.permutation(len(inside))[:SAMPLE_SIZE]
    X, y = X[some], np.where(inside[some], "yes", "no")
    ranking = rank(score(Counts.from_matrix(X, y).take(["yes"]), "correlation_coefficient"), side="positive")
    found = term_intervals(ranking, LISTED, 0.95)
    parts = [np.flatnonzero(y == label) for label in ("yes", "no")]
    ranks = np.empty((BOOTSTRAPS, LISTED))
    for i in range(BOOTSTRAPS):
        drawn = np.concatenate([generator.choice(part, len(part)) for part in parts])
        again = Counts.from_matrix(X[drawn], y[drawn]).take(["yes"])
        order = rank(score(again, "correlation_coefficient"), side="positive").order
        place = np.full(X.shape[1], len(order) + 1)
        place[order] = np.arange(1, len(order) + 1)
        ranks[i] = place[ranking.order[:LISTED]]
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0)
    return {
        "low, counts": float(np.mean(found.rank_low)),
        "low, documents": float(low.mean()),
        "high, counts": float(np.mean(found.rank_high)),
        "high, documents": float(high.mean()),
        "in list, counts": float(found.in_list.mean()),
        "in list, documents": float((ranks <= LISTED).mean()),
    }


def rank_coverage(X: Any, inside: np.ndarray, seed: int) -> dict[str, Any]:
    """Return the share of listed words whose interval holds their rank in the population."""
    generator = np.random.default_rng(seed)
    labels = np.where(inside, "yes", "no")
    order = _for_class(X, labels).order
    place = np.full(X.shape[1], len(order) + 1)
    place[order] = np.arange(1, len(order) + 1)
    held, below, above = [], [], []
    for _ in range(RANK_SAMPLES):
        drawn = generator.integers(0, len(inside), SAMPLE_SIZE)
        ranking = _for_class(X[drawn], labels[drawn])
        found, true = term_intervals(ranking, LISTED, 0.95), place[ranking.order[:LISTED]]
        below.append((true < found.rank_low).mean())
        above.append((true > found.rank_high).mean())
        held.append(1 - below[-1] - above[-1])
    means = {"held": held, "rank better": below, "rank worse": above}
    return {name: float(np.mean(values)) for name, values in means.items()}


def _for_class(X: Any, y: np.ndarray) -> Ranking:
    return rank(score(Counts.from_matrix(X, y).take(["yes"]), "correlation_coefficient"), side="positive")


def main() -> None:
    """Run both experiments and print their tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of the papers' corpora; without it, docstrings")
    given = parser.parse_args()
    rows, ranks = [], []
    for corpus in corpora(given.data):
        X, inside = one_problem(corpus)
        print(
            f"{corpus.name}: {len(inside):,} documents, {inside.sum():,} inside", file=sys.stderr, flush=True
        )
        rows += [{"corpus": corpus.name} | row for row in coverage(X, inside, seed=0)]
        ranks.append(
            {"corpus": corpus.name} | rank_agreement(X, inside, seed=0) | rank_coverage(X, inside, seed=1)
        )
    share = (pl.col("held").sum() / pl.col("words").sum()).alias("coverage")
    table = pl.DataFrame(rows).group_by("corpus", "scale", "metric", maintain_order=True).agg(share)
    wide = table.pivot(on="metric", index=["corpus", "scale"], values="coverage")
    print("## Coverage\n", markdown(wide), sep="\n")
    table = pl.DataFrame(rows).filter(pl.col("scale") == SIDES["positive"])
    table = table.group_by("corpus", "expected", "metric", maintain_order=True).agg(share)
    table = table.sort("corpus", pl.col("expected").cast(pl.Enum(GROUPS)), maintain_order=True)
    wide = table.pivot(on="metric", index=["corpus", "expected"], values="coverage")
    print("\n## Coverage by expected documents of the class\n", markdown(wide), sep="\n")
    print("\n## Ranks\n", markdown(pl.DataFrame(ranks)), sep="\n")


if __name__ == "__main__":
    main()
