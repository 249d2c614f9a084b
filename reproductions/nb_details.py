"""Reuters-21578 in; how far readings of naive Bayes are from the cells of zheng2004's Tables 1 and 2, out.

    python -m reproductions.nb_details --data DIR

Six metrics without tuned ratios, 11 sizes, micro and macro: 132 cells. The terms and their rankings are those
of the plan zheng2004; only the first row reads "vs" and "reuter" too, and Table 7 is made with them as well.
Both tables go to reproductions/results, from where the page of zheng2004 takes them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from reproductions.tables import DIGITS, FOLDER
from termsieve import Corpus, read
from termsieve.analysis.findings.evidence import paper_figures
from termsieve.analysis.findings.zheng2004 import (
    LARGEST,
    METHODS,
    SIZES,
    STANDARD,
    largest_score_cells,
)
from termsieve.measures import break_even
from termsieve.ranking import rank
from termsieve.scores import score
from termsieve.studies.folds import Fold, Problem
from termsieve.studies.plan import Plan, load_plan
from termsieve.studies.prepared import prepared_corpus

NAMES = [name for pair in STANDARD.values() for name in pair]
EVERY_WORD = r"(?u)\b[^\W\d_][^\W\d_]+\b"


@dataclass(frozen=True)
class Reading:
    """One reading of naive Bayes; the defaults are those of the learner nb(quotient)."""

    says: str
    titles: int = 1  # how often the words of the title count
    words: str | None = None  # a token pattern instead of the plan's
    alpha: float = 1.0
    prior: bool = True
    all_terms: bool = False  # smooth over all terms, not over the selected ones
    quotient: bool = True
    per_word: bool = False  # divide by the number of words
    values: Callable[[Any], Any] | None = None


READINGS = (
    Reading("with the words vs and reuter", words=EVERY_WORD),
    Reading("as in the plan"),
    Reading("words of the title counted twice", titles=2),
    Reading("words of the title counted three times", titles=3),
    Reading("smoothing by .5", alpha=0.5),
    Reading("smoothing over all terms", all_terms=True),
    Reading("presence instead of counts", values=lambda counts: counts.sign()),
    Reading("log2(1 + count) instead of counts", values=lambda counts: counts.log1p() / np.log(2)),
    Reading("without the class prior", prior=False),
    Reading("difference instead of quotient", quotient=False),
    Reading("difference per word of the document", quotient=False, per_word=True),
)


def folds(data: Path) -> Iterator[tuple[Reading, Fold]]:
    """Yield each reading with its documents; readings with the same words share them."""
    plan = load_plan("zheng2004")
    corpus = read(data / "reuters21578", format="reuters")
    known: dict[Any, Fold] = {}
    for reading in READINGS:
        key = reading.titles, reading.words
        if key not in known:
            known[key] = _fold(plan, corpus, *key)
        yield reading, known[key]


def _fold(plan: Plan, corpus: Corpus, titles: int, words: str | None) -> Fold:
    terms = {**plan.representation.terms, **({"token_pattern": words} if words else {})}
    plan = replace(plan, representation=replace(plan.representation, terms=terms))
    # A text is the title, a line break, and the body.
    texts = [(text.split("\n", 1)[0] + "\n") * (titles - 1) + text for text in corpus.texts]
    again = Corpus(texts=texts, labels=corpus.labels, split=corpus.parts)
    data = prepared_corpus(plan, "reuters", again)
    fold = Fold(plan, data, 0, 0)
    fold.counts = fold.counts.replace(classes=data.classes)
    return fold


def decisions(reading: Reading, train: Any, y: np.ndarray, test: Any, kept: np.ndarray) -> np.ndarray:
    """Return the decision values of the test documents, by the kept terms."""
    logs = []
    for member in (y == 1, y == 0):
        found = np.asarray(member.astype(np.float64) @ train).ravel()
        spread = train.shape[1] if reading.all_terms else len(kept)
        known = np.log(found[kept] + reading.alpha) - np.log(found[kept].sum() + reading.alpha * spread)
        prior = np.log(member.mean()) if reading.prior else 0.0
        logs.append(test[:, kept] @ known + prior)
    if reading.quotient:
        # Without prior and without a selected word both sums are 0: such a document is the last.
        return np.divide(-logs[0], -logs[1], out=np.full(len(logs[0]), np.inf), where=logs[1] < 0) * -1.0
    words = np.asarray(test[:, kept].sum(axis=1)).ravel() if reading.per_word else 1.0
    return (logs[0] - logs[1]) / np.maximum(words, 1.0)


def cells(reading: Reading, fold: Fold) -> dict[tuple[str, str, int], float]:
    """Return F1 at break-even by average, method and size."""
    train, test = (sparse.csc_array(X, dtype=np.float64) for X in (fold.train, fold.test))
    if reading.values is not None:
        train, test = reading.values(train), reading.values(test)
    methods = {name: fold.plan.method(METHODS[name], "reuters") for name in NAMES}
    hits: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for category in (name for name in fold.plan.problems.classes or () if name not in LARGEST):
        problem = Problem(fold, category)
        for name, method in methods.items():
            order = rank(score(problem.counts, str(method.metric)), method.side).order
            for size in SIZES:
                values = decisions(reading, train, problem.y_train, test, order[:size])
                even = break_even(problem.y_test, np.round(values, 12))
                hits.setdefault((name, size), []).append((float(even.tp), float(problem.y_test.sum())))
    table = {key: np.array(found) for key, found in hits.items()}
    micro = {("micro", *key): float(f[:, 0].sum() / f[:, 1].sum()) for key, f in table.items()}
    return micro | {("macro", *key): float((f[:, 0] / f[:, 1]).mean()) for key, f in table.items()}


def main() -> None:
    """Write one row per reading."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the unpacked corpora")
    paper = paper_figures("zheng2004").filter(pl.col("learner") == "nb", pl.col("method").is_in(NAMES))
    printed = {tuple(row[:3]): row[3] for row in paper.select("average", "method", "terms", "f1").iter_rows()}
    records = []
    for reading, fold in folds(parser.parse_args().data):
        gaps = {key: ours - printed[key] for key, ours in cells(reading, fold).items()}
        all_gaps = np.array([*gaps.values()])
        few, more = (
            np.mean([gap for key, gap in gaps.items() if (key[2] <= 50) == small]) for small in (True, False)
        )
        facts = {"naive_bayes": reading.says, "mean": np.abs(all_gaps).mean(), "few": few, "more": more}
        facts |= {"largest": np.abs(all_gaps).max(), "terms": fold.train.shape[1]}
        records.append(facts | {"training": fold.train.shape[0], "test": fold.test.shape[0]})
        if reading.words is not None:
            scores = largest_score_cells(fold.counts, "Table 7")
            pl.DataFrame(scores).write_csv(FOLDER / "zheng2004_every_word.csv", float_precision=DIGITS)
    pl.DataFrame(records).write_csv(FOLDER / "zheng2004_nb_details.csv", float_precision=DIGITS)


if __name__ == "__main__":
    main()
