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

from adviser_corpora import CHECKING, TUNING, Draw, corpus_of, draws, lines_of, script_parser
from adviser_curve import GOALS, gain_reach, ratio_of, ratio_spread_of
from termsieve.adviser import advise
from termsieve.adviser.curve import next_gain
from termsieve.adviser.goals import get_goal
from termsieve.adviser.prior import table_name
from termsieve.adviser.promise import Calibration, calibration_for, calibration_name, raw_interval
from termsieve.corpus import Corpus
from termsieve.spec import parse_spec

BASELINES = ("svm", "balanced", "C by cv", "threshold")
REACHES = (0.6, 0.7, 0.8, 0.9, 1.0)  # of the resamples' distances; the narrowest intervals decide
FEW = 20  # draws
STEADY = 300  # draws
LEVEL = 0.95  # of the figures that an interval is to hold


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
    low, high = advice.interval(len(draw.hidden))
    promise, curve, small = advice.promise, advice.learning_curve, advice.within(0.01)
    raw_low, raw_high = raw_interval(promise.verdicts, promise.goal, len(draw.hidden))
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
        "small_figure": None if small is None else followed(advice, small.choice, draw, goal),
        "measured": promise.measured,
        "curve": None if curve is None else list(curve.figures),
        "gain": None if curve is None else [curve.gain.mean, curve.gain.low, curve.gain.high],
        "promised": advice.figure,
        "low": low,
        "high": high,
        "raw_low": raw_low,
        "raw_high": raw_high,
        "figure": followed(advice, None, draw, goal),
        "seconds": seconds,
        "cpu": cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def followed(advice: Any, choice: Any, draw: Draw, goal: str) -> float:
    """Return the figure on the hidden documents of a pipeline that the shown documents train."""
    hidden = documents_of(draw.hidden)
    model = advice.pipeline(choice).fit(documents_of(draw.shown), draw.shown.labels)
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


def calibration(rows: list[dict[str, Any]], curves: list[dict[str, Any]], labels: bool = False) -> str:
    """Return the calibrations as TOML: for one class and for several classes, for each goal.

    A spread is that of its own kind and goal, or of both kinds where there are fewer than FEW draws, or of
    the nearest goal as well, but not below that of its own draws. Where there are no such draws, rise and
    spread stay what they are; so does what twice as many labels bring, unless `labels`.
    """
    ratio, ratio_spread = ratio_of(curves), ratio_spread_of(curves)
    reach = {
        kind: gain_reach([c for c in curves if c["kind"] == kind], ratio) for kind in ("binary", "classes")
    }
    lines = ["# Made by benchmarks/adviser.py calibrate from the tuning corpora; see docs/adviser.md."]
    for kind in ("binary", "classes"):
        for goal in GOALS:
            same = [row for row in rows if row["goal"] == goal]
            own = [row for row in same if row["kind"] == kind]
            near = [row for row in rows if row["goal"] in (goal, table_name(kind, get_goal(goal)))]
            part = next((p for p in (own, same, near) if len(p) >= FEW), near)
            used, told = calibration_for(kind, get_goal(goal)), "rise and spread are of draws before"
            lack, reached, spread = used.lack, used.reach, used.spread
            there = [c for c in curves if (c["kind"], c["goal"]) == (kind, goal)]
            if part:
                lack = mean_lack(same, curve_lack([c for c in curves if c["goal"] == goal], ratio))
                reached, spread = sharpest(part, own, lack)
                told = f"{len(own)} draws; the spread is from {len(part)}"
            lines += ["", f"[{kind}.{calibration_name(kind, get_goal(goal))}]"]
            lines += [f"# {told}; {len(there)} learning curves"]
            lines += [f"lack = {lack:.3f}", f"reach = {reached}", f"spread = {spread:.4f}"]
            gains = (ratio, ratio_spread, reach[kind])
            if not labels:
                gains = (used.ratio, used.ratio_spread, used.gain_reach)
            names = ("ratio", "ratio_spread", "gain_reach")
            lines += [f"{name} = {value:.2f}" for name, value in zip(names, gains, strict=True)]
    return "\n".join(lines)


def curve_lack(curves: list[dict[str, Any]], ratio: float) -> float:
    """Return the part of the distance to 1 that four fifths of the documents lack, by their learning curve.

    All documents are a quarter more, so that they gain the first part of the next doubling.
    """
    figures = np.array([row["figures"] for row in curves])
    doubling = float(next_gain(figures[:, 1:].T, ratio).mean())
    part = (1 - ratio ** math.log2(1.25)) / (1 - ratio)
    return part * doubling / float((1 - figures[:, -1]).mean())


def mean_lack(rows: list[dict[str, Any]], expected: float) -> float:
    """Return the part of the distance to 1 by which promises must rise to be right on average.

    Single draws say little: what the learning curves say counts as much as STEADY draws.
    """
    if not rows:
        return expected
    gaps = [row["figure"] - row["measured"] for row in rows]
    lack = float(np.mean(gaps) / np.mean([1 - row["measured"] for row in rows]))
    return (lack * len(rows) + expected * STEADY) / (len(rows) + STEADY)


def sharpest(part: list[dict[str, Any]], own: list[dict[str, Any]], lack: float) -> tuple[float, float]:
    """Return the reach and the spread whose intervals are the narrowest on average."""
    found = []
    for reach in REACHES:
        spread = max(calibrated_spread(group, lack, reach) for group in (part, own) if group)
        used = Calibration(lack=lack, reach=reach, spread=spread)
        bounds = [interval_of(row, used) for row in own or part]
        found.append((float(np.mean([high - low for low, high in bounds])), reach, spread))
    return min(found)[1:]


def interval_of(row: dict[str, Any], used: Calibration) -> tuple[float, float]:
    """Return the interval that a calibration gives to a draw."""
    measured = row["measured"]
    centre = min(1.0, max(0.0, measured + used.lack * (1 - measured)))
    spread = used.spread_with(row["documents"])
    down = math.hypot(used.reach * max(0.0, measured - row["raw_low"]), spread)
    up = math.hypot(used.reach * max(0.0, row["raw_high"] - measured), spread)
    return max(0.0, centre - down), min(1.0, centre + up)


def needed_spread(row: dict[str, Any], lack: float, reach: float) -> float:
    """Return the spread that would just have put the figure of a draw inside its interval."""
    measured = row["measured"]
    distance = row["figure"] - (measured + lack * (1 - measured))
    resampled = row["raw_high"] - measured if distance > 0 else measured - row["raw_low"]
    needed = math.sqrt(max(0.0, distance**2 - (reach * max(0.0, resampled)) ** 2))
    return needed / Calibration(spread=1.0).spread_with(row["documents"])


def calibrated_spread(rows: list[dict[str, Any]], lack: float, reach: float) -> float:
    """Return the quantile of the needed spreads, at the level of split conformal prediction."""
    needed = [needed_spread(row, lack, reach) for row in rows]
    return float(np.quantile(needed, min(1.0, LEVEL * (len(rows) + 1) / len(rows))))


def promise_again(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with the promise of the installed calibration, on which the choice does not depend."""
    used = calibration_for(row["kind"], get_goal(row["goal"]))
    centre = min(1.0, max(0.0, row["measured"] + used.lack * (1 - row["measured"])))
    low, high = interval_of(row, used)
    return row | {"promised": centre, "low": low, "high": high}


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


def main() -> None:
    """Run draws, or print the table or the calibration of a file of them."""
    parser, commands, runner = script_parser(__doc__, classes=4, binary=8)
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
    calibrator.add_argument("--labels", action="store_true", help="also what twice as many labels bring")
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
            print(calibration(rows, lines_of(given.curves), given.labels))


if __name__ == "__main__":
    main()
