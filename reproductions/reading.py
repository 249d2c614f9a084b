"""Corpora in, the tables of docs/reading.md out: which metric lists the words that a person should read.

python -m reproductions.reading --data DIR [--quick] [--rows FILE]

Every corpus is cut into two halves of documents, three times. Each half gives a list of the best words *for*
each class; the other half judges it: how well a linear SVM classifies with these words alone, whether it
would have listed the same words, and whether a listed word still speaks for its class. The second and third
part, for the default of `TermSelector`, train classifiers on 100 and 1,000 terms: of all classes at once, and
of each class against the rest. Five minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from termsieve import Corpus, Counts, load_docstrings, rank, read, score, term_matrix
from termsieve.metrics import get_metric
from termsieve.ranking import Ranking
from termsieve.redundancy import distinct_cut

READ_METRICS = (
    "g2",
    "chi_squared",
    "wllr",
    "fisher_exact",
    "conservative_log_ratio",
    "conservative_log_ratio(tests=10000)",
    "dirichlet_log_odds",
    "balanced_accuracy",
    "f1",
    "bns",
    "odds_ratio",
)
DISTINCT = {"g2": 0.5, "chi_squared": 0.5}  # metric -> a limit of redundancy that is tried beside none
READ_SIZES = (5, 10, 20)
LISTED = 10  # words of each class, for all but F1
TRAINED_METRICS = ("bns", "information_gain", "chi_squared", "wllr", "odds_ratio")
PROBLEM_METRICS = ("bns", "information_gain", "chi_squared")
TRAINED_SIZES = (100, 1000)
COMBINED = ("max", "round_robin")
MIN_DF = 3
SURE = -np.log(0.01)  # Fisher's test on the other half, one-sided
FORMAN = ("fbis", "la1", "oh0", "ohscal", "re1", "tr41", "wap")
MOST_DOCUMENTS, MOST_CLASSES = 1600, 12
REPETITIONS = 3


def corpora(data: Path | None) -> Iterator[Corpus]:
    """Yield the corpora, each with one label per document."""
    yield load_docstrings()
    if data is None:
        return
    yield read(data / "20_newsgroups", "folder", name="20_newsgroups", strip=("headers",))
    yield _single_label(read(data / "reuters21578", "reuters", name="reuters"))
    yield read(data / "movie_reviews", "folder", name="movie_reviews")
    yield read(data / "dvd_reviews", "reviews", name="dvd_reviews")
    for name in FORMAN:
        yield read(data / "forman" / f"{name}.wc.arff", name=name)


def _single_label(corpus: Corpus) -> Corpus:
    """Return the documents that have exactly one label, with it."""
    assert corpus.texts is not None
    kept = [i for i, labels in enumerate(corpus.labels) if len(labels) == 1]
    return Corpus([corpus.texts[i] for i in kept], [corpus.labels[i][0] for i in kept], name=corpus.name)


def sampled(corpus: Corpus, seed: int) -> Corpus:
    """Return some documents of the largest classes, drawn at random."""
    labels = np.array([str(label) for label in corpus.labels])
    names, sizes = np.unique(labels, return_counts=True)
    large = names[np.argsort(-sizes, kind="stable")[:MOST_CLASSES]]
    places = np.flatnonzero(np.isin(labels, large))
    drawn = np.random.default_rng(seed).permutation(places)[:MOST_DOCUMENTS]
    names, sizes = np.unique(labels[drawn], return_counts=True)
    return corpus.subset(drawn[np.isin(labels[drawn], names[sizes >= 20])])


def halves(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two halves of the documents, each with half of every class."""
    generator = np.random.default_rng(seed)
    first = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        places = generator.permutation(np.flatnonzero(y == label))
        first[places[: (len(places) + 1) // 2]] = True
    return np.flatnonzero(first), np.flatnonzero(~first)


def presence(X: Any) -> Any:
    """Return the matrix of ones where terms are present."""
    return sparse.csr_matrix((np.ones(X.nnz), X.indices, X.indptr), X.shape)


class Half:
    """One half of the documents: its counts, and the list of each class by each way."""

    def __init__(self, X: Any, y: np.ndarray) -> None:
        self.X, self.y = X, y
        self.counts = Counts.from_matrix(X, y, occurrences=True)
        self.evidence = score(self.counts, "fisher_exact").values
        self.one_class = [self.counts.take([c]) for c in range(self.counts.n_classes)]

    def lists(self, metric: str, limit: float | None) -> list[np.ndarray]:
        """Return for each class the columns of its best words, more than any size needs."""
        return [self._cut(self._ranking(own, metric), limit) for own in self.one_class]

    def _ranking(self, own: Counts, metric: str) -> Ranking:
        return rank(score(own, metric, fold=False), side="positive", min_df=MIN_DF)

    def _cut(self, ranking: Ranking, limit: float | None) -> np.ndarray:
        if limit is None:
            return ranking.order[: max(READ_SIZES)]
        return distinct_cut(self.X, ranking[:400], limit, k=max(READ_SIZES))


def mean_correlation(X: Any, columns: np.ndarray) -> float:
    """Return the mean phi of the pairs of some columns' presence."""
    table = presence(X[:, columns]).toarray()
    table = table[:, table.std(axis=0) > 0]
    if table.shape[1] < 2:
        return 0.0
    phi = np.abs(np.corrcoef(table, rowvar=False))
    return float((phi.sum() - len(phi)) / (len(phi) * (len(phi) - 1)))


def trained_f1(train: Half, test: Half, columns: np.ndarray, weighted: bool, label: Any = None) -> float:
    """Return F1 on `test` of a balanced linear SVM on some columns of `train`, tf-idf or presence.

    It is the mean of all classes, or that of the class `label` against the rest.
    """
    if weighted:
        weights = TfidfTransformer().fit(train.X[:, columns])
        fit, judge = weights.transform(train.X[:, columns]), weights.transform(test.X[:, columns])
    else:
        fit, judge = presence(train.X[:, columns]), presence(test.X[:, columns])
    model = LinearSVC(class_weight="balanced", max_iter=5000, tol=1e-3, random_state=0)
    if label is None:
        found = model.fit(fit, train.y).predict(judge)
        return float(f1_score(test.y, found, average="macro", zero_division=0))
    found = model.fit(fit, train.y == label).predict(judge)
    return float(f1_score(test.y == label, found, zero_division=0))


def read_rows(one: Half, other: Half) -> Iterator[dict[str, Any]]:
    """Yield what a half's lists are worth by the other half, one row per metric and limit."""
    ways = [(metric, None) for metric in READ_METRICS] + list(DISTINCT.items())
    for metric, limit in ways:
        own, others = one.lists(metric, limit), other.lists(metric, limit)
        shared = [len(set(a[:LISTED]) & set(b[:LISTED])) / LISTED for a, b in zip(own, others, strict=True)]
        holds = [np.mean(other.evidence[c, a[:LISTED]] > SURE) for c, a in enumerate(own)]
        repeated = [mean_correlation(one.X, a[:LISTED]) for a in own]
        documents = [np.median(one.counts.df[a[:LISTED]]) for a in own]
        row = {"metric": metric if limit is None else f"{metric}, distinct", "agreement": np.mean(shared)}
        row |= {"holds": np.mean(holds), "redundancy": np.mean(repeated), "documents": np.median(documents)}
        for k in READ_SIZES:
            union = np.unique(np.concatenate([a[:k] for a in own]))
            row[f"F1 {k}"] = trained_f1(one, other, union, weighted=False)
        yield row


def trained_rows(one: Half, other: Half) -> Iterator[dict[str, Any]]:
    """Yield macro F1 with the best terms over all classes, one row per metric, combination and features."""
    everything = np.flatnonzero(one.counts.df > 0)
    problems = one.counts.take(one.counts.problems)
    orders = {
        (metric, combine): rank(score(problems, metric), combine=combine).order  # type: ignore[arg-type]
        for metric in TRAINED_METRICS
        for combine in COMBINED
    }
    for weighted in (True, False):
        features = "tf-idf" if weighted else "presence"
        yield {
            "metric": "all terms",
            "combine": "",
            "features": features,
            "k": 0,
            "F1": trained_f1(one, other, everything, weighted),
        }
        for (metric, combine), order in orders.items():
            for k in TRAINED_SIZES:
                found = trained_f1(one, other, order[:k], weighted)
                yield {"metric": metric, "combine": combine, "features": features, "k": k, "F1": found}


def problem_rows(one: Half, other: Half) -> Iterator[dict[str, Any]]:
    """Yield the F1 of each class against the rest, with the best terms for that problem alone."""
    for at, own in enumerate(one.one_class):
        label = one.counts.classes[at]
        for metric in PROBLEM_METRICS:
            order = rank(score(own, metric)).order
            for weighted in (True, False):
                for k in TRAINED_SIZES:
                    found = trained_f1(one, other, order[:k], weighted, label)
                    features = "tf-idf" if weighted else "presence"
                    yield {"metric": metric, "combine": "", "features": features, "k": k, "F1": found}


def study(data: Path | None, repetitions: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the rows of the three parts, for every corpus, repetition and half."""
    listed, trained, problems = [], [], []
    for corpus in corpora(data):
        small = sampled(corpus, seed=0)
        X, _ = term_matrix(small)
        X = sparse.csr_matrix(X)
        y = np.array([str(label) for label in small.labels])
        print(f"{corpus.name}: {len(y):,} documents, {len(set(y))} classes", file=sys.stderr, flush=True)
        for seed in range(repetitions):
            a, b = (Half(X[places], y[places]) for places in halves(y, seed))
            for one, other in ((a, b), (b, a)):
                key = {"corpus": corpus.name, "seed": seed}
                listed += [key | row for row in read_rows(one, other)]
                if seed == 0:
                    trained += [key | row for row in trained_rows(one, other)]
                    problems += [key | row for row in problem_rows(one, other)]
    return pl.DataFrame(listed), pl.DataFrame(trained), pl.DataFrame(problems)


def listed_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the means over corpora of what lists are worth, and the mean rank of F1 with ten words."""
    by_corpus = rows.group_by("corpus", "metric", maintain_order=True).mean().drop("seed")
    ranks = by_corpus.with_columns(
        pl.col(f"F1 {LISTED}").rank(descending=True).over("corpus").alias("mean rank")
    )
    means = ranks.drop("corpus").group_by("metric", maintain_order=True).mean()
    figures = [f"F1 {k}" for k in READ_SIZES]
    columns = ["metric", *figures, "mean rank", "agreement", "holds", "redundancy", "documents"]
    return means.select(columns).sort(f"F1 {LISTED}", descending=True)


def corpus_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return macro F1 with ten words of each class, one row per corpus and one column per metric."""
    chosen = ["g2", "chi_squared", "wllr", "fisher_exact", "balanced_accuracy", "bns"]
    means = rows.filter(pl.col("metric").is_in(chosen)).group_by("corpus", "metric", maintain_order=True)
    return means.agg(pl.col(f"F1 {LISTED}").mean()).pivot(on="metric", index="corpus", values=f"F1 {LISTED}")


def trained_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the mean over corpora of F1 by metric and combination, one column per features and k."""
    rows = rows.group_by("corpus", "metric", "combine", "features", "k", maintain_order=True).mean()
    named = rows.with_columns(
        (
            pl.col("features") + pl.when(pl.col("k") > 0).then(pl.format(" {}", "k")).otherwise(pl.lit(""))
        ).alias("at")
    )
    wide = named.group_by("metric", "combine", "at", maintain_order=True).agg(pl.col("F1").mean())
    return wide.pivot(on="at", index=["metric", "combine"], values="F1")


def duels(rows: pl.DataFrame) -> pl.DataFrame:
    """Return on how many corpora information gain trains a better classifier than bns, with the maximum."""
    chosen = rows.filter(pl.col("metric").is_in(["information_gain", "bns"]), pl.col("combine") == "max")
    means = chosen.group_by("corpus", "features", "k", "metric", maintain_order=True).agg(pl.col("F1").mean())
    wide = means.pivot(on="metric", index=["corpus", "features", "k"], values="F1")
    better = (pl.col("information_gain") > pl.col("bns")).sum().alias("information_gain above bns")
    return wide.group_by("features", "k", maintain_order=True).agg(better, pl.len().alias("corpora"))


def markdown(frame: pl.DataFrame) -> str:
    """Return a frame as a Markdown table, shares with three digits."""
    lines = [" | ".join(frame.columns), " | ".join("---" for _ in frame.columns)]
    for row in frame.iter_rows():
        lines.append(" | ".join(_cell(value) for value in row))
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.1f}" if value >= 1.05 else f"{value:.3f}".removeprefix("0")


def main() -> None:
    """Run the study and print its tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of the papers' corpora; without it, docstrings")
    parser.add_argument("--quick", action="store_true", help="one repetition instead of three")
    parser.add_argument("--rows", type=Path, help="write the rows of the first part as CSV")
    given = parser.parse_args()
    for metric in READ_METRICS:
        get_metric(metric)
    listed, trained, problems = study(given.data, 1 if given.quick else REPETITIONS)
    if given.rows:
        listed.write_csv(given.rows)
    print("## Lists\n", markdown(listed_table(listed)), sep="\n")
    print("\n## Corpus by corpus\n", markdown(corpus_table(listed)), sep="\n")
    print("\n## Classifiers of all classes\n", markdown(trained_table(trained)), sep="\n")
    print("\n## Corpora where the first is better\n", markdown(duels(trained)), sep="\n")
    print("\n## One class against the rest\n", markdown(trained_table(problems)), sep="\n")


if __name__ == "__main__":
    main()
