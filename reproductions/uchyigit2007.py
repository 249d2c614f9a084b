"""The tables of docs/reproduction-uchyigit2007.md, from the results of the plan uchyigit2007.

termsieve study run uchyigit2007 --data DATA -o RESULTS
python -m reproductions.uchyigit2007 RESULTS [--data DATA]

With --data, one split is also judged by naive Bayes whose word probabilities are those among all training
words, not among the selected ones: the paper does not say which it means.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.model_selection import train_test_split

from reproductions.forman2003 import markdown
from termsieve import Counts, rank, read, score, term_matrix
from termsieve.analysis import size_curves
from termsieve.measures import at_threshold, f1, f_beta, precision, recall
from termsieve.studies import load_plan
from termsieve.studies.results import Results

MEASURES = {"precision": precision, "recall": recall, "f1": f1, "f2": lambda *cells: f_beta(*cells, beta=2)}
SHOWN = (10, 50, 100, 200, 500, 1000)


def study_tables(path: str) -> None:
    """Print the means over all sizes, and for each measure some of the sizes."""
    rows = Results.open(path).frame().collect()
    curves = {measure: size_curves(rows, measure).select("method", "size", "value") for measure in MEASURES}
    means = pl.concat(
        curve.group_by("method").agg(pl.col("value").mean()).with_columns(measure=pl.lit(measure))
        for measure, curve in curves.items()
    ).pivot(on="measure", index="method", values="value")
    print(f"Mean over the sizes 10, 20, ..., 1000\n\n{markdown(means.sort('f1', descending=True))}")
    for measure, curve in curves.items():
        print_by_size(measure, curve)


def print_by_size(title: str, curve: pl.DataFrame) -> None:
    """Print methods x some sizes, the best with most terms first."""
    shown = curve.filter(pl.col("size").is_in([float(size) for size in SHOWN]))
    wide = shown.with_columns(pl.col("size").cast(pl.Int64)).pivot(on="size", index="method", values="value")
    wide = wide.select("method", *map(str, SHOWN)).sort(str(SHOWN[-1]), descending=True)
    print(f"\n{title}\n\n{markdown(wide)}")


def all_words_tables(data: Path) -> None:
    """Print the measures of one split with word probabilities among all words of the training documents."""
    corpus = read(data / "20_newsgroups", strip="headers")
    X, _ = term_matrix(corpus.texts, stop_words="english", min_df=3)
    y = np.unique(np.asarray(corpus.labels), return_inverse=True)[1]
    train, test = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=0)
    counts, held_out = Counts.from_matrix(X[train], y[train], occurrences=True), X[test].tocsr()
    rows = []
    for method in load_plan("uchyigit2007").methods:
        for c in range(counts.n_classes):
            one = counts.take([c])
            order = rank(score(one, method.metric, fold=method.side != "positive"), method.side).order
            inside, outside = one.tf[0] + 1.0, one.tf_total - one.tf[0] + 1.0
            weight = np.log(inside / inside.sum()) - np.log(outside / outside.sum())
            prior = np.log(one.pos[0] / one.neg[0])
            for k in SHOWN:
                values = held_out[:, order[:k]] @ weight[order[:k]] + prior
                cells = at_threshold(y[test] == c, values)
                found = {name: float(measure(*cells)) for name, measure in MEASURES.items()}
                rows.append({"method": method.name, "size": float(k), **found})
    means = pl.DataFrame(rows).group_by("method", "size").mean()
    for measure in MEASURES:
        print_by_size(f"{measure}, among all words", means.select("method", "size", value=measure))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", help="what the plan's run wrote")
    parser.add_argument("--data", type=Path, help="folder of the unpacked corpora, for the other reading")
    options = parser.parse_args()
    study_tables(options.results)
    if options.data:
        all_words_tables(options.data)


if __name__ == "__main__":
    main()
