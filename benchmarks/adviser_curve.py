"""Corpora come in; what doublings of the training documents gain, and how well the next is foreseen, go out.

On each draw tf-idf + svm, with its own and with a tuned threshold, is cross-validated with an eighth, a
quarter, a half and all of the training documents of five folds, and judged by every goal.

    TERMSIEVE_DATA=... python benchmarks/adviser_curve.py run --out curve.jsonl
    python benchmarks/adviser_curve.py table curve.jsonl
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from adviser_corpora import TUNING, Draw, corpus_of, draws, lines_of, script_parser
from termsieve.adviser.curve import foreseen, next_gain
from termsieve.adviser.goals import get_goal
from termsieve.adviser.promise import Calibration
from termsieve.adviser.question import asked
from termsieve.adviser.race import Race
from termsieve.adviser.stages import BASELINE, Raced, values_with

GOALS = (
    "f1",
    "f2",
    "accuracy",
    "average_precision",
    "roc_auc",
    "recall(precision=0.9)",
    "precision(recall=0.8)",
    "cost(fp=1, fn=5)",
)
SHARES = (0.125, 0.25, 0.5, 1.0)
N_FOLDS = 5
FIRST_GUESS = Calibration(ratio=0.7, ratio_spread=0.2)  # of the ratio, before it was measured


def facts_of(draw: Draw) -> list[dict[str, Any]]:
    """Return, for each goal, the figures by share, and the last gain as the shares before foresee it."""
    task = asked(draw.shown, draw.target, {}).task
    generator = np.random.default_rng(draw.number)
    race = Race(task, get_goal("f1"), N_FOLDS, generator)
    for number in race.folds:
        race.run([BASELINE], number)
        race.forget(number)
    found = Raced(race, np.arange(len(task)), race.folds)
    values = [values_with(found, BASELINE, share, generator) for share in SHARES]
    facts = []
    for name in GOALS:
        goal = race.goal = get_goal(name)
        verdicts = [race.cross_verdicts(*given, race.folds) for given in values]
        gain = foreseen(verdicts[:-1], goal, FIRST_GUESS)
        facts.append(
            {
                "corpus": draw.shown.name,
                "kind": task.kind,
                "goal": name,
                "figures": [part.figure(goal) for part in verdicts],
                "foreseen": [gain.mean, gain.low, gain.high],
            }
        )
    return facts


def run(names: list[str], n_classes: int, n_binary: int, seed: int, out: Path) -> None:
    """Append the facts of each draw to a file of JSON lines."""
    for name in names:
        for draw in draws(corpus_of(name).renamed(name), n_classes, n_binary, seed):
            with out.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(facts) + "\n" for facts in facts_of(draw))
            print(name, draw.number, draw.target, flush=True)


def gains_of(rows: list[dict[str, Any]]) -> Any:
    """Return the gains of each doubling: rows x 3."""
    return np.diff([row["figures"] for row in rows], axis=1)


def ratio_of(rows: list[dict[str, Any]]) -> float:
    """Return what a doubling gains for each part that the doubling before it gained."""
    gains = gains_of(rows).mean(axis=0)
    return float(gains[1:].sum() / gains[:-1].sum())


def ratio_spread_of(rows: list[dict[str, Any]]) -> float:
    """Return how far the ratios of the corpora are from each other: half of what two thirds of them span."""
    corpora = sorted({row["corpus"] for row in rows})
    apart = [ratio_of([row for row in rows if row["corpus"] == name]) for name in corpora]
    low, high = np.quantile(apart, [1 / 6, 5 / 6])
    return float(high - low) / 2


def gain_reach(rows: list[dict[str, Any]], ratio: float) -> float:
    """Return how many times as far as resamples the intervals must reach to hold 95 % of the last gains."""
    needed = []
    for row in rows:
        mean, low, high = row["foreseen"]
        figures = np.array(row["figures"])
        distance = figures[3] - figures[2] - float(next_gain(figures[:3], ratio))
        needed.append(abs(distance) / max(high - mean if distance > 0 else mean - low, 1e-3))
    return float(np.quantile(needed, 0.95))


def table(rows: list[dict[str, Any]]) -> str:
    """Return the gains by kind and goal, and how well the last was foreseen."""
    lines = [
        f"ratio {ratio_of(rows):.2f}, give or take {ratio_spread_of(rows):.2f} by corpus",
        "",
        "| kind, goal | draws | gain to 1/4 | to 1/2 | to all | foreseen | inside |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind in ("binary", "classes"):
        for goal in GOALS:
            part = [row for row in rows if (row["kind"], row["goal"]) == (kind, goal)]
            if not part:
                continue
            gains, foreseen = gains_of(part), np.array([row["foreseen"] for row in part])
            inside = np.mean((foreseen[:, 1] <= gains[:, 2]) & (gains[:, 2] <= foreseen[:, 2]))
            cells = " | ".join(f"{gain:+.3f}" for gain in [*gains.mean(axis=0), foreseen[:, 0].mean()])
            lines.append(f"| {kind}, {goal} | {len(part)} | {cells} | {inside:.0%} |")
    return "\n".join(lines)


def main() -> None:
    """Run draws, or print the table of a file of them."""
    parser, commands, runner = script_parser(__doc__, classes=1, binary=4)
    runner.add_argument("--corpora", default=",".join(TUNING))
    runner.add_argument("--seed", type=int, default=3)
    runner.add_argument("--out", type=Path, default=Path("curve.jsonl"))
    commands.add_parser("table").add_argument("file", type=Path)
    given = parser.parse_args()
    if given.command == "table":
        print(table(lines_of(given.file)))
    else:
        run(given.corpora.split(","), given.classes, given.binary, given.seed, given.out)


if __name__ == "__main__":
    main()
