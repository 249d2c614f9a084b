"""Reuters-21578, 20 Newsgroups and RCV1 in, the comparisons of mladenic2004 out, as Markdown.

python -m reproductions.mladenic2004 --data DIR [--quick] [--corpora reuters,20ng,rcv1] [--rows FILE]

Three learners on the terms of eight rankings cut at eight sparsity levels, and a memory budget spent on many
documents with few terms or on few documents with many. Every category is a binary problem of its own.
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
from sklearn.feature_extraction.text import TfidfTransformer

from termsieve import Counts, Ranking, WeightSelector, cut, rank, read, score, term_matrix
from termsieve.estimators.weights import sample_rows
from termsieve.learners import decision_path
from termsieve.measures import at_threshold, break_even, f1, precision, recall
from termsieve.metrics import Occurrences, get_metric

LEVELS = (2, 2.5, 5, 10, 20, 40, 80)
LEARNERS = ("nb", "perceptron", "svm")
MODELS = {
    f"{model}-{name}": (model, share)
    for model in ("svm", "perceptron")
    for name, share in (("1", 1.0), ("1/4", 0.25), ("1/16", 0.0625))
}
RANKINGS = ("odds ratio", "ig", *MODELS)
BUDGETS = (1, 2, 4, 8, 16)
# The paper's categories; its M143 is not among the archive's topics.
RCV1 = ["GODD", "C313", "GPOL", "GHEA", "C15", "E121", "GOBIT", "M14"]
RCV1 += ["GSPO", "E132", "E13", "C183", "E21", "E142", "C13"]
PAPER_NB = {
    "odds ratio": (0.468, "20"),
    "ig": (0.465, "2.5"),
    "svm-1/16": (0.521, "5"),
    "svm-1/4": (0.536, "5"),
    "svm-1": (0.542, "5"),
    "perceptron-1": (0.501, "10"),
    "perceptron-1/4": (0.489, "10"),
    "perceptron-1/16": (0.472, "10"),
}


@dataclass
class Task:
    """Training and test documents as counts (or weights) and as unit vectors, and the categories' members."""

    name: str
    counts: tuple[Any, Any]
    vectors: tuple[Any, Any]
    members: tuple[np.ndarray, np.ndarray]
    categories: list[str]

    def matrices(self, learner: str) -> tuple[Any, Any]:
        """Return training and test matrix: counts for naive Bayes, unit vectors for the others."""
        return self.counts if learner == "nb" else self.vectors


def task(data: Path, name: str) -> Task:
    """Read a corpus by its short name."""
    if name == "rcv1":
        corpus = read(data / "rcv1" / "rcv1_subset.svm", labels=data / "rcv1" / "topics.txt")
        rows = np.random.default_rng(0).permutation(len(corpus))
        train, test = np.sort(rows[: 2 * len(rows) // 3]), np.sort(rows[2 * len(rows) // 3 :])
        X = corpus.matrix[:, np.bincount(corpus.matrix[train].indices, minlength=corpus.matrix.shape[1]) >= 4]
        members = np.array([[topic in labels for topic in RCV1] for labels in corpus.labels])
        pair = X[train], X[test]
        return Task(name, pair, pair, (members[train], members[test]), RCV1)
    if name == "reuters":
        train_part, test_part = read(data / "reuters21578", format="reuters").split()
        sizes = train_part.class_sizes
        # The sixty with ten training documents or more.
        categories = sorted(sizes, key=lambda label: (-sizes[label], label))[:60]
        texts = train_part.texts, test_part.texts
        labels = train_part.labels, test_part.labels
    else:
        corpus = read(data / "20_newsgroups")
        # In random order: a perceptron that meets one class after another remembers only the last.
        rows = np.random.default_rng(0).permutation(len(corpus))
        parts = rows[: 2 * len(rows) // 3], rows[2 * len(rows) // 3 :]
        texts = tuple([corpus.texts[i].partition("\n\n")[2] for i in part] for part in parts)
        labels = tuple([(corpus.labels[i],) for i in part] for part in parts)
        categories = list(corpus.classes)
    X, terms = term_matrix(texts[0], stop_words="english", min_df=4)
    X_test, _ = term_matrix(texts[1], stop_words="english", vocabulary=terms)
    weigher = TfidfTransformer(smooth_idf=False).fit(X)
    members = tuple(np.array([[c in document for c in categories] for document in part]) for part in labels)
    return Task(name, (X, X_test), (weigher.transform(X), weigher.transform(X_test)), members, categories)


def rankings(task: Task, member: np.ndarray) -> dict[str, Ranking]:
    """Return the eight rankings of the terms for one category."""
    X, vectors = task.counts[0], task.vectors[0]
    counts = Counts.from_matrix(X, member.astype(np.int64)[:, None])
    made = {"odds ratio": odds_ratio_ranking(X, member, counts), "ig": rank(score(counts, "ig"))}
    for name, (model, share) in MODELS.items():
        selector = WeightSelector(model, sample=share, k=1, random_state=0).fit(vectors, member)
        made[name] = Ranking(selector.ranking_, selector.scores_, counts)
    return made


def odds_ratio_ranking(X: Any, member: np.ndarray, counts: Counts) -> Ranking:
    """Return the ranking by word_odds_ratio, by value; weights are taken as they are, whole or not."""
    inside, total = np.asarray(X[member].sum(axis=0)).ravel(), np.asarray(X.sum(axis=0)).ravel()
    occurrences = Occurrences(
        inside, total - inside, inside.sum(), total.sum() - inside.sum(), total, counts.n_terms
    )
    tp = counts.tp[0]
    pos, neg = counts.pos[0], counts.neg[0]
    value = get_metric("word_odds_ratio")(tp, counts.df - tp, pos, neg, occurrences=occurrences)
    base = counts.by_df[counts.df[counts.by_df] > 0]
    return Ranking(base[np.argsort(-value[base], kind="stable")], value, counts)


def measures(y: np.ndarray, values: np.ndarray) -> list[list[float]]:
    """Return F1, precision and recall at the learner's own threshold, and F1 at break-even, for each row."""
    own = at_threshold(y, values)
    columns = [f1(*own), precision(*own), recall(*own), f1(*break_even(y, values))]
    return np.round(np.column_stack(columns), 5).tolist()


def category_row(task: Task, c: int) -> dict[str, Any]:
    """Return the results of one category: by learner and ranking at each level, and of the memory budgets."""
    member, y_test = task.members[0][:, c], task.members[1][:, c]
    row: dict[str, Any] = {"corpus": task.name, "category": task.categories[c], "results": {}, "terms": {}}
    made = rankings(task, member)
    y = member.astype(np.int64)
    for name, ranking in made.items():
        sizes = [len(cut(ranking, sparsity=level)) for level in LEVELS] + [len(ranking)]
        row["terms"][name] = sizes
        for learner in LEARNERS:
            X, X_test = task.matrices(learner)
            values = decision_path(learner, X, y, X_test, ranking.order, sizes)
            row["results"][f"{learner}|{name}"] = measures(y_test, values)
    row["memory"] = memory_results(task, member, y_test)
    return row


def memory_results(task: Task, member: np.ndarray, y_test: np.ndarray) -> dict[str, list[float]]:
    """Return F1 for each learner, budget 1/A and share 1/a of the documents, which leaves sparsity S a/A."""
    found = {}
    full = task.vectors[0].nnz / task.vectors[0].shape[0]
    for part in BUDGETS:
        selector = WeightSelector("svm", sample=1 / part, k=1, random_state=0).fit(task.vectors[0], member)
        for fewer in BUDGETS[: BUDGETS.index(part) + 1]:
            rows = sample_rows(member, 1 / fewer, 0)
            counts = Counts.from_matrix(task.vectors[0][rows], member[rows].astype(np.int64)[:, None])
            ranking = Ranking(selector.ranking_, selector.scores_, counts)
            chosen = cut(ranking, sparsity=full * fewer / part)
            for learner in LEARNERS:
                X, X_test = task.matrices(learner)
                y = member[rows].astype(np.int64)
                values = decision_path(learner, X[rows], y, X_test, chosen, [len(chosen)])
                found[f"{learner}|{part}|{fewer}"] = measures(y_test, values)[0]
    return found


def computed_rows(task: Task, path: Path | None, n: int | None) -> list[dict]:
    """Return a row a category, those already in the file as they stand there."""
    done = {}
    if path is not None and path.exists():
        lines = map(json.loads, path.read_text().splitlines())
        done = {row["category"]: row for row in lines if row["corpus"] == task.name}
    for c, name in enumerate(task.categories[:n]):
        if name not in done:
            began = time.perf_counter()
            done[name] = category_row(task, c)
            print(task.name, name, f"{time.perf_counter() - began:.1f} s", file=sys.stderr, flush=True)
            if path is not None:
                with path.open("a") as out:
                    out.write(json.dumps(done[name]) + "\n")
    return [done[name] for name in task.categories[:n]]


def level_tables(rows: list[dict], measure: int, title: str) -> Iterator[str]:
    """Yield a table for each learner: rankings by sparsity levels, macro over the categories."""
    heads = [*(f"{level:g}" for level in LEVELS), "all"]
    for learner in LEARNERS:
        yield f"\n| {learner}, {title} | " + " | ".join(heads) + " | best |"
        yield "| --- " * (len(heads) + 2) + "|"
        for name in RANKINGS:
            values = np.mean(
                [np.array(row["results"][f"{learner}|{name}"])[:, measure] for row in rows], axis=0
            )
            best = int(values.argmax())
            paper = PAPER_NB.get(name) if learner == "nb" and measure == 0 else None
            note = f" (paper {paper[0]:.3f} at {paper[1]})" if paper else ""
            cells = [f"{value:.3f}" for value in values]
            yield f"| {name} | " + " | ".join(cells) + f" | {values[best]:.3f} at {heads[best]}{note} |"


def term_table(rows: list[dict]) -> Iterator[str]:
    """Yield the mean number of terms that each ranking keeps at each sparsity level."""
    yield "\n| mean number of terms | " + " | ".join(f"{level:g}" for level in LEVELS) + " | all |"
    yield "| --- " * (len(LEVELS) + 2) + "|"
    for name in RANKINGS:
        values = np.mean([row["terms"][name] for row in rows], axis=0)
        yield f"| {name} | " + " | ".join(f"{value:,.0f}" for value in values) + " |"


def memory_table(rows: list[dict]) -> Iterator[str]:
    """Yield macro F1 for each budget and share of the documents; bold is the best of a budget."""
    yield "\n| learner, budget | " + " | ".join(f"1/{a} of the documents" for a in BUDGETS) + " |"
    yield "| --- " * (len(BUDGETS) + 1) + "|"
    for learner in LEARNERS:
        for part in BUDGETS:
            fits = BUDGETS[: BUDGETS.index(part) + 1]
            values = [np.mean([row["memory"][f"{learner}|{part}|{a}"][0] for row in rows]) for a in fits]
            cells = [f"**{v:.3f}**" if v == max(values) else f"{v:.3f}" for v in values]
            cells += [""] * (len(BUDGETS) - len(cells))
            yield f"| {learner}, M/{part} | " + " | ".join(cells) + " |"


def main() -> None:
    """Compute what is not in the file of rows yet, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the unpacked corpora")
    parser.add_argument("--quick", action="store_true", help="three categories of Reuters")
    parser.add_argument("--corpora", default="reuters,20ng,rcv1", help="some of reuters,20ng,rcv1")
    parser.add_argument("--rows", type=Path, help="JSON lines, one a category: read if there, and added to")
    options = parser.parse_args()
    for name in ["reuters"] if options.quick else options.corpora.split(","):
        made = task(options.data, name)
        rows = computed_rows(made, options.rows, 3 if options.quick else None)
        documents = " and ".join(f"{part.shape[0]:,}" for part in made.counts)
        print(
            f"\n### {name}: {documents} documents, {made.counts[0].shape[1]:,} terms, {len(rows)} categories"
        )
        print("\n".join(level_tables(rows, 0, "macro F1")))
        print("\n".join(level_tables(rows, 3, "macro break-even F1")))
        print("\n".join(term_table(rows)))
        print("\n".join(memory_table(rows)), flush=True)


if __name__ == "__main__":
    main()
