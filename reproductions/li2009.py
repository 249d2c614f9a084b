"""The tables of docs/reproduction-li2009.md: accuracies and lambdas from the plan li2009, and preferences.

termsieve study run li2009 --data DATA -o RESULTS
python -m reproductions.li2009 RESULTS --data DATA
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import polars as pl

from termsieve import Counts, read, term_matrix
from termsieve.analysis import problem_values
from termsieve.analysis.preference import preferences
from termsieve.studies.results import Results

WORDS = r"(?u)\b\w+\b"
PAPER_LAMBDAS = {
    "movies": {500: 0.50},
    "dvd": {500: 0.34},
    "20_newsgroups": {500: 0.42, 10000: 0.28, 15000: 0.20, 20000: 0.08, 30000: 0.01},
}
PAPER_PREFERENCES = {
    "movies": {
        "mi": (0.003, 0.888),
        "bns": (0.008, 0.881),
        "chi_squared": (0.092, 0.572),
        "information_gain": (0.095, 0.559),
        "wllr": (0.168, 0.414),
        "document_frequency": (0.419, 0.090),
    },
    "20_newsgroups": {
        "mi": (0.004, 0.870),
        "bns": (0.005, 0.864),
        "chi_squared": (0.015, 0.814),
        "information_gain": (0.087, 0.525),
        "wllr": (0.026, 0.764),
        "document_frequency": (0.122, 0.252),
    },
}


def accuracy_table(rows: pl.DataFrame, selections: pl.DataFrame, corpus: str) -> Iterator[str]:
    """Yield the lines of a corpus's table: methods x sizes, and the learned lambdas beside the paper's."""
    values = problem_values(rows.filter(corpus=corpus), "accuracy")
    sizes = [*values["size"].drop_nulls().unique().sort(), None]
    heads = ["all" if size is None else f"{size:.0f}" for size in sizes]
    yield f"| accuracy | {' | '.join(heads)} |"
    yield "| --- " * (len(sizes) + 1) + "|"
    every = values.filter(size_kind="all")["value"].item()
    chosen = values.filter(pl.col("size_kind") != "all").partition_by("method", as_dict=True)
    by_size = {
        method: dict(zip(part["size"], part["value"], strict=True)) | {None: every}
        for (method,), part in chosen.items()
    }
    best = {size: max(cells[size] for cells in by_size.values()) for size in sizes}
    for method, cells in by_size.items():
        shown = [f"**{cells[s]:.3f}**" if cells[s] == best[s] else f"{cells[s]:.3f}" for s in sizes]
        yield f"| {method} | {' | '.join(shown)} |"
    learned = selections.filter(pl.col("lam").is_not_null(), corpus=corpus)
    lams = dict(zip(learned["size"], learned["lam"], strict=True))
    paper = PAPER_LAMBDAS.get(corpus, {})
    shown = [
        f"{lams[size]:.2f}" + (f" ({paper[size]:.2f})" if size in paper else "") if size in lams else ""
        for size in sizes
    ]
    yield f"| *lambda (paper)* | {' | '.join(shown)} |"


def counts_of(data: Path, corpus: str) -> Counts:
    """Return the counts of all documents of a corpus."""
    if corpus == "movies":
        documents = read(data / "movie_reviews")
    else:
        documents = read(data / "20_newsgroups", strip="headers")
    X, _ = term_matrix(documents.texts, token_pattern=WORDS, binary=True)
    return Counts.from_matrix(X, documents.labels)


def preference_table(counts: Counts, corpus: str) -> Iterator[str]:
    """Yield the preference table of a corpus beside the paper's."""
    paper = PAPER_PREFERENCES[corpus]
    yield "| metric | df | paper | mi | paper |"
    yield "| --- " * 5 + "|"
    gaps = []
    for row in preferences(counts).iter_rows(named=True):
        df, mi = paper[row["metric"]]
        gaps += [abs(row["df"] - df), abs(row["mi"] - mi)]
        yield f"| {row['metric']} | {row['df']:.3f} | {df:.3f} | {row['mi']:.3f} | {mi:.3f} |"
    yield f"\nGreatest difference {max(gaps):.3f}, mean {mean(gaps):.3f}."


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", help="what the plan's run wrote")
    parser.add_argument("--data", type=Path, required=True, help="folder of the unpacked corpora")
    options = parser.parse_args()
    results = Results.open(options.results)
    rows, selections = results.frame().collect(), results.selections().collect()
    for corpus in rows["corpus"].unique(maintain_order=True):
        print(f"\n## {corpus}\n")
        print("\n".join(accuracy_table(rows, selections, corpus)), flush=True)
    for corpus in PAPER_PREFERENCES:
        print(f"\n### Preference of the top 2 % of terms, {corpus}\n")
        print("\n".join(preference_table(counts_of(options.data, corpus), corpus)), flush=True)


if __name__ == "__main__":
    main()
