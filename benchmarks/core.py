"""Counting, scoring, ranking, selecting and starting up, beside scikit-learn."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, chi2, mutual_info_classif

from benchmarks.measure import Row, compared
from benchmarks.text import generated
from termsieve import METRICS, Corpus, Counts, TermSelector, count, rank, read, score

SCIKIT = "scikit-learn chi2"
PAPERS = [name for name, each in METRICS.items() if each.function.__module__ == "termsieve.metrics.papers"]
RANK = "termsieve rank, 1 MB CSV, whole command"
MI_COLUMNS = 200  # mutual_info_classif is timed on so many columns; its cost grows in proportion


def newsgroups(quick: bool) -> Corpus:
    """Return 20 Newsgroups, or as much generated text of 20 classes where TERMSIEVE_DATA is not set.

    For a quick comparison only a quarter of it.
    """
    data = os.environ.get("TERMSIEVE_DATA")
    if data:
        corpus = read(Path(data, "20_newsgroups"))
    else:
        texts = generated(46)
        corpus = Corpus(texts, [f"class {i % 20}" for i in range(len(texts))], name="generated")
    return corpus.subset(np.arange(0, len(corpus), 4)) if quick else corpus


def matrix_of(corpus: Corpus) -> tuple[Any, Any]:
    """Return the term matrix of a corpus and its labels."""
    return CountVectorizer().fit_transform(corpus.texts), np.asarray(corpus.labels)


def zipfian(n_docs: int, n_terms: int, per_doc: int, seed: int = 0) -> sparse.csr_matrix:
    """Return a presence matrix whose columns' frequencies fall like 1 / rank."""
    rng = np.random.default_rng(seed)
    columns = np.exp(rng.random((n_docs, per_doc)) * np.log(n_terms)).astype(np.int32) - 1
    columns.sort(axis=1)
    fresh = np.ones(columns.shape, dtype=bool)
    fresh[:, 1:] = columns[:, 1:] != columns[:, :-1]
    indptr = np.concatenate([[0], np.cumsum(fresh.sum(axis=1))]).astype(np.int32)
    indices = columns[fresh]
    return sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(n_docs, n_terms))


def labels(n_docs: int, n_labels: int, per_doc: int, seed: int = 1) -> sparse.csr_matrix:
    """Return an indicator matrix of skewed labels."""
    return (zipfian(n_docs, n_labels, per_doc, seed) > 0).astype(np.int64)


def samples(X: Any, y: Any) -> Iterator[tuple[Any, Any, str]]:
    """Yield a quarter, a half and all of the documents, and what to call them."""
    order = np.random.default_rng(0).permutation(X.shape[0])
    for n in (len(order) // 4, len(order) // 2, len(order)):
        yield X[order[:n]], y[order[:n]], f"20 Newsgroups, {n:,} documents"


def counting(quick: bool) -> Iterator[Row]:
    """Counts of all classes beside one chi2, on three corpora and at three sizes of the first."""
    corpus = newsgroups(quick)
    yield from text_to_counts(corpus)
    X, y = matrix_of(corpus)
    for part, its, on in samples(X, y):
        yield compared(
            "counts of all classes", on, (SCIKIT, partial(chi2, part, its)),
            partial(Counts.from_matrix, part, its), "10x, stretch 15x", size=len(its),
        )  # fmt: skip
    size = 80_000 if quick else 800_000
    many, tags = zipfian(size, 47_000, 90), labels(size, 103, 4).toarray()
    yield compared(
        "counts of all classes", f"{size:,} x 47,000, 103 labels", (SCIKIT, lambda: chi2(many, tags)),
        lambda: Counts.from_matrix(many, tags), "10x, stretch 15x",
    )  # fmt: skip
    size = 100_000 if quick else 1_000_000
    wide, its = zipfian(size, size, 130), np.arange(size) % 10
    yield compared(
        "counts of all classes", f"{size:,} x {size:,}, {wide.nnz / 1e6:.0f}M entries, 10 classes",
        (SCIKIT, lambda: chi2(wide, its)), lambda: Counts.from_matrix(wide, its), "10x, stretch 15x",
    )  # fmt: skip


def every_score(X: Any, y: Any) -> list[Any]:
    """Return the best score over the classes of every term by every metric."""
    counts = Counts.from_matrix(X, y, occurrences=True)
    return [rank(score(counts, name)).scores for name in PAPERS]


def scoring(quick: bool) -> Iterator[Row]:
    """All metrics of all classes beside one chi2, and information gain beside scikit-learn's."""
    X, y = matrix_of(newsgroups(quick))
    for part, its, on in samples(X, y):
        yield compared(
            f"counting, {len(PAPERS)} metrics x 20 classes, maximum, ranking", on,
            (SCIKIT + ", one call", partial(chi2, part, its)), partial(every_score, part, its),
            "whole 1.5x, parts 1x, stretch 2x", size=len(its),
        )  # fmt: skip
    some = np.random.default_rng(0).permutation(X.shape[1])[:MI_COLUMNS]
    part = X[:, some]
    yield compared(
        "information gain ranking", f"20 Newsgroups, {len(y):,} documents",
        ("mutual_info_classif", lambda: mutual_info_classif(part, y, discrete_features=True)),
        lambda: rank(score(Counts.from_matrix(X, y), "ig"), combine="joint"), "1000x",
        scale=X.shape[1] / MI_COLUMNS, memory=False, note=f"the peer on {MI_COLUMNS} columns, scaled to all",
    )  # fmt: skip


def selecting(quick: bool) -> Iterator[Row]:
    """TermSelector beside SelectKBest."""
    X, y = matrix_of(newsgroups(quick))
    for part, its, on in samples(X, y):
        yield compared(
            "fit_transform, 1,000 terms", on,
            ("SelectKBest(chi2)", partial(SelectKBest(chi2, k=1000).fit_transform, part, its)),
            partial(TermSelector("bns", k=1000).fit_transform, part, its), "3x, stretch 5x", size=len(its),
        )  # fmt: skip


def text_to_counts(corpus: Corpus) -> Iterator[Row]:
    """Text to the counts of all classes."""
    texts, y = list(corpus.texts), np.asarray(corpus.labels)
    yield compared(
        "text to counts of 20 classes", f"20 Newsgroups, {len(corpus):,} documents",
        ("CountVectorizer + chi2", lambda: chi2(CountVectorizer().fit_transform(texts), y)),
        lambda: count(corpus, workers=1), "10x",
    )  # fmt: skip


def starting(quick: bool) -> Iterator[Row]:
    """Importing the package, and one whole command, beside importing scikit-learn's selectors.

    Every process finds the compiled bytecode of all modules, as after an installation.
    """
    with TemporaryDirectory(prefix="termsieve-start-") as folder:
        scikit = fresh(Path(folder), "-c", "import sklearn.feature_selection")
        scikit()
        peer, on = ("import sklearn.feature_selection", scikit), "a fresh process"
        ours = fresh(Path(folder), "-c", "import termsieve")
        yield compared("import termsieve", on, peer, ours, "not slower, stretch 3x", memory=False)
        yield compared(RANK, on, peer, ranking_command(Path(folder)), ".6 s", memory=False)


def ranking_command(folder: Path) -> Callable[[], None]:
    """Return what runs `termsieve rank` on a table of a megabyte, which is written into a folder."""
    table = folder / "mail.csv"
    lines = [f'{"spam" if i % 3 else "ham"},"{text[:2000]}"' for i, text in enumerate(generated(1))]
    table.write_text("label,text\n" + "\n".join(lines), encoding="utf-8")
    return fresh(folder, "-m", "termsieve", "rank", str(table), "--text", "text", "--label", "label")


def fresh(folder: Path, *arguments: str) -> Callable[[], None]:
    """Return what runs Python in a new process, which keeps its bytecode in a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")

    def run() -> None:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)

    return run
