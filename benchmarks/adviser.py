"""Corpora come in; how advised pipelines do against four baselines, and whether promises hold, go out.

Each draw takes 900 to 1,500 documents of a corpus and a question (one class against the rest, or all
classes), hides a third of them, asks for advice on the others, fits the recommended pipeline to them and
tests it on that third. The baselines are scikit-learn's: tf-idf + LinearSVC; the same with balanced class
weights; with C by cross-validation; and, for one class, with the threshold tuned out of fold. All figures
are scikit-learn's.

    TERMSIEVE_DATA=... python benchmarks/adviser.py run --tuning --out tuning.jsonl
    python benchmarks/adviser.py calibrate tuning.jsonl curve.jsonl > src/termsieve/adviser/calibration.toml
    TERMSIEVE_DATA=... python benchmarks/adviser.py run --out check.jsonl
    python benchmarks/adviser.py table check.jsonl
    TERMSIEVE_DATA=... python benchmarks/adviser.py large
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import resource
import time
import warnings
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    fbeta_score,
    make_scorer,
    precision_recall_fscore_support,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from adviser_calibration import calibration, promise_of, written
from adviser_corpora import CHECKING, TUNING, Draw, corpus_of, draws
from termsieve.adviser import advise
from termsieve.corpus import Corpus
from termsieve.spec import parse_spec

BASELINES = ("svm", "balanced", "C by cv", "threshold")


def score(goal: str, truth: Any, said: Any, values: Any = None) -> float:
    """Return scikit-learn's figure: of class 1 where labels are 0 and 1, else the mean over the classes.

    A recall at a precision, a precision at a recall and a cost are computed from scikit-learn's precision and
    recall or confusion counts, as docs/adviser.md defines them.
    """
    if goal == "accuracy":
        return float(accuracy_score(truth, said))
    labels = [1] if truth.dtype.kind in "bi" else np.unique(truth).tolist()
    if goal in ("average_precision", "roc_auc"):
        area = average_precision_score if goal == "average_precision" else roc_auc_score
        return float(np.mean([area(truth == label, values[label]) for label in labels]))
    precision, recall, f1, _ = precision_recall_fscore_support(truth, said, labels=labels, zero_division=0)
    if goal == "f1":
        return float(f1.mean())
    if goal == "f2":
        return float(fbeta_score(truth, said, beta=2, labels=labels, average="macro", zero_division=0))
    name, _, given = parse_spec(goal)
    if name == "recall":
        return float((recall * np.minimum(1, precision / given["precision"])).mean())
    if name == "precision":
        return float((precision * np.minimum(1, recall / given["recall"])).mean())
    false, missed = given["fp"], given["fn"]
    avoided = []
    for label in labels:
        there, stated = truth == label, said == label
        most = (~there).sum() * false + there.sum() * missed
        avoided.append(1 - ((stated & ~there).sum() * false + (there & ~stated).sum() * missed) / most)
    return float(np.mean(avoided))


def labels_of(part: Corpus, target: str | None) -> Any:
    """Return the class names, or 0 and 1 for a class against the rest."""
    names = np.array([str(label) for label in part.labels])
    return names if target is None else (names == target).astype(int)


def documents_of(part: Corpus) -> Any:
    """Return the texts, or the counts of terms."""
    return list(part.texts) if part.texts is not None else part.matrix


def baselines(draw: Draw, goal: str) -> dict[str, float]:
    """Return the figures of what a practitioner gets in three lines."""
    shown, hidden = documents_of(draw.shown), documents_of(draw.hidden)
    if draw.shown.texts is not None:  # counted once; the pipelines weigh the counts in each of their folds
        words = CountVectorizer()
        shown, hidden = words.fit_transform(shown), words.transform(hidden)
    y, truth = labels_of(draw.shown, draw.target), labels_of(draw.hidden, draw.target)
    tfidf = TfidfTransformer()
    scoring = make_scorer(partial(_scored, goal))
    models = {
        "svm": make_pipeline(tfidf, LinearSVC()),
        "balanced": make_pipeline(tfidf, LinearSVC(class_weight="balanced")),
        "C by cv": GridSearchCV(
            make_pipeline(tfidf, LinearSVC()), {"linearsvc__C": [0.1, 1, 10]}, scoring=scoring, cv=5
        ),
    }
    if draw.target is not None:
        models["threshold"] = TunedThresholdClassifierCV(
            make_pipeline(tfidf, LinearSVC()), scoring=scoring, cv=5
        )
    return {name: score(goal, truth, model.fit(shown, y).predict(hidden)) for name, model in models.items()}


def _scored(goal: str, truth: Any, said: Any) -> float:
    return score(goal, np.asarray(truth), np.asarray(said))


def draw_facts(draw: Draw, goal: str) -> dict[str, Any]:
    """Ask for advice and follow it."""
    start, cpu = time.perf_counter(), time.process_time()
    advice = advise(draw.shown, goal, target=draw.target)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    promise, small = advice.promise, advice.within(0.01)
    return {
        "corpus": draw.shown.name,
        "number": draw.number,
        "target": draw.target,
        "kind": "classes" if draw.target is None else "binary",
        "goal": goal,
        "documents": len(draw.shown),
        "hidden": len(draw.hidden),
        "inside": int(promise.verdicts.truth.sum(axis=0).min()),
        "skew": advice.skew,
        "choice": str(advice.choice),
        "stability": advice.stability,
        "duplicates": advice.duplicates.n_documents,
        "terms": advice.cost.terms,
        "all_terms": advice.cost.all_terms,
        "small_terms": None if small is None else small.terms,
        "small_figure": None if small is None else followed(advice, draw, goal, small.choice),
        "measured": promise.measured,
        "verdicts": written(promise.as_drawn[0], promise.goal),
        "figure": followed(advice, draw, goal),
        "lacking": float(np.mean([followed(advice, draw, goal, *part) for part in advice.evidence.outer])),
        "seconds": seconds,
        "cpu": cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def followed(advice: Any, draw: Draw, goal: str, choice: Any = None, rows: Any = None) -> float:
    """Return the figure on the hidden documents of a pipeline that the shown documents, or some, train."""
    hidden = documents_of(draw.hidden)
    part = draw.shown if rows is None else draw.shown.subset(rows)
    model = advice.pipeline(choice).fit(documents_of(part), part.labels)
    said, truth = model.predict(hidden).astype(str), labels_of(draw.hidden, draw.target)
    values = model.decision_function(hidden)
    if draw.target is not None:
        return score(goal, truth, (said == draw.target).astype(int), {1: values})
    columns = {str(label): values[:, i] for i, label in enumerate(model.classes_)} if values.ndim > 1 else {}
    return score(goal, truth, said, columns)


def run(
    names: list[str], counts: tuple[int, int], goals: list[str], seed: int, out: Path, compare: bool
) -> None:
    """Append the facts of each draw to a file of JSON lines; goals take turns."""
    for name in names:
        corpus = corpus_of(name).renamed(name)
        for draw in draws(corpus, *counts, seed):
            goal = goals[draw.number % len(goals)]
            facts = draw_facts(draw, goal)
            if compare and goal not in ("average_precision", "roc_auc"):
                facts |= baselines(draw, goal)
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(facts) + "\n")
            print(name, draw.target, goal, f"{facts['figure']:.3f}", flush=True)


def promise_again(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with the promise of the installed calibration, on which the choice does not depend."""
    promise = promise_of(row)
    low, high = promise.interval(row["hidden"])
    return row | {"promised": promise.expected(row["hidden"]), "low": low, "high": high}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the gains and the promises: by kind and goal, and by corpus."""
    rows = [promise_again(row) for row in rows]
    lines = [
        "| goal | draws | adviser | " + " | ".join(f"gain over {name}" for name in BASELINES) + " |",
        "| --- | --- | --- |" + " --- |" * len(BASELINES),
    ]
    groups = {f"{row['goal']}, {row['kind']}": None for row in rows}
    for name in sorted(groups):
        part = [row for row in rows if f"{row['goal']}, {row['kind']}" == name]
        lines.append(_gains(name, part))
    for name, part in _by_corpus([row for row in rows if row["goal"] == "f1"]):
        lines.append(_gains(f"f1, {name}", part))
    lines += [
        "",
        "| goal | draws | inside | mean width | bias | terms | terms within .01 | it reaches | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in sorted(groups):
        lines.append(_promises(name, [row for row in rows if f"{row['goal']}, {row['kind']}" == name]))
    for name, part in _by_corpus(rows):
        lines.append(_promises(name, part))
    return "\n".join([*lines, _promises("all", rows)])


def _by_corpus(rows: list[dict[str, Any]]) -> Any:
    ordered = sorted(rows, key=lambda row: str(row["corpus"]))
    return [(name, list(part)) for name, part in groupby(ordered, key=lambda row: str(row["corpus"]))]


def _gains(name: str, part: list[dict[str, Any]]) -> str:
    cells = []
    for baseline in BASELINES:
        gaps = np.array([row["figure"] - row[baseline] for row in part if baseline in row])
        error = gaps.std(ddof=1) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
        cells.append(f"{gaps.mean():+.3f} ± {error:.3f}" if len(gaps) else "")
    mean = np.mean([row["figure"] for row in part])
    return f"| {name} | {len(part)} | {mean:.3f} | {' | '.join(cells)} |"


def _promises(name: str, part: list[dict[str, Any]]) -> str:
    inside = np.mean([row["low"] <= row["figure"] <= row["high"] for row in part])
    width = np.mean([row["high"] - row["low"] for row in part])
    gaps = np.array([row["promised"] - row["figure"] for row in part])
    error = gaps.std(ddof=1) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
    terms = np.median([row["terms"] / row["all_terms"] for row in part])
    small = [row for row in part if row["small_terms"] is not None]
    share = np.median([row["small_terms"] / row["all_terms"] for row in small]) if small else math.nan
    loss = np.mean([row["small_figure"] - row["figure"] for row in small]) if small else math.nan
    cpu = np.median([row["cpu"] for row in part])
    facts = (
        f"{inside:.1%} | {width:.3f} | {gaps.mean():+.4f} ± {error:.4f} | {terms:.0%} | {share:.0%} | "
        f"{loss:+.3f} | {cpu:.1f}"
    )
    return f"| {name} | {len(part)} | {facts} |"


def large(n_documents: int = 5000) -> None:
    """Time the advice on 5,000 documents of 20 classes, and test it on 2,000 others."""
    import os

    import termsieve

    corpus = termsieve.read(Path(os.environ["TERMSIEVE_DATA"]) / "20_newsgroups", strip="headers")
    rows = np.random.default_rng(0).permutation(len(corpus))
    draw = Draw(
        0, None, corpus.subset(rows[:n_documents]), corpus.subset(rows[n_documents : n_documents + 2000])
    )
    facts = draw_facts(draw, "f1") | baselines(draw, "f1")
    print(json.dumps(facts, indent=1))


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines, compressed or not."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.decode("utf-8").splitlines()]


def main() -> None:
    """Run draws, or print the table or the calibration of a file of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--classes", type=int, default=4, help="draws about all classes, per corpus")
    runner.add_argument("--binary", type=int, default=8, help="draws about one class, per corpus")
    runner.add_argument("--tuning", action="store_true", help="the corpora that the rules were settled on")
    runner.add_argument("--corpora", default="", help="only these, separated by commas")
    runner.add_argument("--goals", default="f1", help="separated by semicolons; they take turns")
    runner.add_argument("--alone", action="store_true", help="without the baselines, for the calibration")
    runner.add_argument("--seed", type=int, default=2)
    runner.add_argument("--out", type=Path, default=Path("adviser.jsonl"))
    commands.add_parser("table").add_argument("file", type=Path)
    calibrator = commands.add_parser("calibrate")
    calibrator.add_argument("file", type=Path)
    calibrator.add_argument("curves", type=Path)
    commands.add_parser("large")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.command == "large":
        large()
    elif given.command == "run":
        names = given.corpora.split(",") if given.corpora else list(TUNING if given.tuning else CHECKING)
        run(
            names,
            (given.classes, given.binary),
            given.goals.split(";"),
            given.seed,
            given.out,
            not given.alone,
        )
    else:
        rows = lines_of(given.file)
        if given.command == "table":
            print(table(rows))
        else:
            print(calibration(rows, lines_of(given.curves)))


if __name__ == "__main__":
    main()
