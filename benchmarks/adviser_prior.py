"""The tuning corpora come in; the adviser's table of what settings gained on them goes out.

    TERMSIEVE_DATA=... python benchmarks/adviser_prior.py run --out prior.jsonl
    python benchmarks/adviser_prior.py table prior.jsonl > src/termsieve/adviser/prior.toml

`run` cross-validates every setting on the shown documents of each draw and tests it on the hidden ones.
`table` writes the gain of each setting over the reference on hidden documents (corpora weigh the same) and
how it changes with the features of the documents, shrunk as much as is best for corpora that are left out;
and the number of documents at which the cross-validated figure deserves as much trust as that gain: the one
whose choices are best on each corpus when the gains come from the others.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from adviser_corpora import TUNING, Draw, corpus_of, draws, lines_of, script_parser
from termsieve.adviser.folds import Split, Task
from termsieve.adviser.goals import get_goal
from termsieve.adviser.portfolio import portfolio
from termsieve.adviser.prior import REFERENCE_KEY, features_of, prior_key, standardised
from termsieve.adviser.question import asked
from termsieve.adviser.race import Race
from termsieve.adviser.verdicts import Verdicts
from termsieve.corpus import Corpus

GOALS = ("f1", "f2", "accuracy")
N_FOLDS = 5
RIDGES = (1.0, 3.0, 10.0, 30.0, 100.0, np.inf)  # of a ridge regression on standardised features
DOCUMENTS = (300, 2250)  # of a draw: they vary, for the number of documents is a feature
TRUSTED = (0, 30, 60, 125, 250, 500, 1000, 2000, 4000, 8000, 16000)  # documents


def facts_of(draw: Draw, name: str) -> list[dict[str, Any]]:
    """Return, for each goal, the cross-validated and the hidden figure of every setting."""
    together = _together(draw)
    whole = asked(together, draw.target, {}).task
    n_shown = len(draw.shown)
    fold = Split(whole, np.arange(n_shown), np.arange(n_shown, len(together)))
    shown = whole.part(fold.train)
    settings = portfolio(whole.pairs is not None)
    hidden = fold.values(settings)
    race = Race(shown, get_goal("f1"), N_FOLDS, np.random.default_rng(draw.number))
    for number in race.folds:
        race.run(settings, number)
        race.forget(number)
    return [_facts(race, fold, hidden, goal, draw, name) for goal in GOALS]


def _together(draw: Draw) -> Corpus:
    shown, hidden = draw.shown, draw.hidden
    labels = [*shown.labels.tolist(), *hidden.labels.tolist()]
    if shown.texts is not None and hidden.texts is not None:
        return Corpus([*shown.texts, *hidden.texts], labels)
    from scipy import sparse

    return Corpus(matrix=sparse.vstack([shown.matrix, hidden.matrix]), labels=labels)


def _facts(race: Race, fold: Split, hidden: Any, goal: str, draw: Draw, name: str) -> dict[str, Any]:
    race.goal = get_goal(goal)
    figures: dict[str, list[float]] = {}
    for setting, standing in race.standings.items():
        standing._tally = None
        for tuned in (False, True):
            decision = race.tally(setting).decision(race.folds, tuned)
            verdicts = Verdicts(fold.task.truth[fold.test], fold.said(hidden[setting], decision), True)
            figures[prior_key(setting, tuned)] = [
                race.figure(setting, tuned, race.folds),
                verdicts.figure(race.goal),
            ]
    task: Task = race.task
    return {
        "corpus": name,
        "kind": task.kind,
        "goal": goal,
        "target": draw.target,
        "documents": race._weight(race.folds),
        "features": features_of(task),
        "figures": figures,
    }


def run(names: list[str], n_classes: int, n_binary: int, seed: int, out: Path) -> None:
    """Append the facts of each draw to a file of JSON lines."""
    for name in names:
        for draw in draws(corpus_of(name).renamed(name), n_classes, n_binary, seed, DOCUMENTS):
            with out.open("a", encoding="utf-8") as file:
                for facts in facts_of(draw, name):
                    file.write(json.dumps(facts) + "\n")
            print(name, draw.number, draw.target, flush=True)


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table as TOML: features, shrinkage and documents serve all goals of a kind of problem."""
    known = {prior_key(setting, tuned) for setting in portfolio(True) for tuned in (False, True)}
    for row in rows:
        row["figures"] = {key: value for key, value in row["figures"].items() if key in known}
    lines = ["# Made by benchmarks/adviser_prior.py from the tuning corpora; see docs/adviser.md."]
    for kind in ("binary", "classes"):
        own = [row for row in rows if row["kind"] == kind]
        parts = {goal: [row for row in own if row["goal"] == goal] for goal in GOALS}
        features = known_features(own)
        errors = {ridge: left_out_error(parts, features, ridge) for ridge in RIDGES}
        reached = {
            ridge: np.mean([left_out_figures(part, features, ridge) for part in parts.values()], axis=0)
            for ridge in RIDGES
        }
        # In doubt features are trusted less, and then gains on other corpora more: the most shrinkage and
        # the most documents within .001 of the best.
        enough = max(figures.max() for figures in reached.values()) - 0.001
        ridge = max(r for r, figures in reached.items() if figures.max() >= enough)
        documents = max(n for n, figure in zip(TRUSTED, reached[ridge], strict=True) if figure >= enough)
        lines += [
            "",
            f"# {kind}: mean figure chosen on left-out corpora by documents {', '.join(map(str, TRUSTED))}",
        ]
        for r, figures in reached.items():
            told = ", ".join(f"{figure:.4f}" for figure in figures)
            lines.append(
                f"# shrinkage {r:g}: {told}; error of the gains, of the plain mean's: {errors[r]:.3f}"
            )
        lines += [
            f"[{kind}]",
            f"documents = {documents}",
            f"shrinkage = {ridge:g}",
            "",
            f"[{kind}.features] # their mean and standard deviation on the draws",
        ]
        lines += [f'"{name}" = [{mean:.3f}, {spread:.3f}]' for name, (mean, spread) in features.items()]
        for goal, part in parts.items():
            made = fitted_gains(part, features, ridge)
            lines += ["", f"[{kind}.{goal}.gains] # of {len(part)} draws: at the mean, and per deviation"]
            for key in sorted(made, key=lambda key: -made[key][0]):
                lines.append(f'"{key}" = [{", ".join(f"{value:.4f}" for value in made[key])}]')
    return "\n".join(lines)


def known_features(rows: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of each feature that differs between draws."""
    values = {name: np.array([row["features"][name] for row in rows]) for name in rows[0]["features"]}
    return {
        name: (float(found.mean()), float(found.std())) for name, found in values.items() if found.std() > 0
    }


def fitted_gains(
    rows: list[dict[str, Any]], features: dict[str, tuple[float, float]], ridge: float
) -> dict[str, list[float]]:
    """Return the gain of each setting over the reference on hidden documents, and its slopes on the features.

    Corpora weigh the same. The slopes are those of ridge regression: with growing `ridge` the gain is the
    plain mean.
    """
    places = np.stack([standardised(row["features"], features) for row in rows])
    n_draws = Counter(row["corpus"] for row in rows)
    made = {}
    for key in sorted({key for row in rows for key in row["figures"]}):
        there = [i for i, row in enumerate(rows) if key in row["figures"]]
        gains = np.array([_gain(rows[i], key) for i in there])
        weights = np.array([1 / n_draws[rows[i]["corpus"]] for i in there])
        mean, centre = np.average(gains, weights=weights), np.average(places[there], axis=0, weights=weights)
        z = places[there] - centre
        slopes = np.zeros(len(features))
        if np.isfinite(ridge):
            square = (z * weights[:, None]).T @ z + ridge * np.eye(len(features))
            slopes = np.linalg.solve(square, (z * weights[:, None]).T @ (gains - mean))
        made[key] = [float(value) for value in (mean - slopes @ centre, *slopes)]
    return made


def _gain(row: dict[str, Any], key: str) -> float:
    return float(row["figures"][key][1] - row["figures"][REFERENCE_KEY][1])


def _expected(made: dict[str, list[float]], row: dict[str, Any], features: Any) -> dict[str, float]:
    place = standardised(row["features"], features)
    return {key: gain + float(np.dot(slopes, place)) for key, (gain, *slopes) in made.items()}


def _error(row: dict[str, Any], expected: dict[str, float]) -> float:
    there = [key for key in row["figures"] if key in expected]
    return float(np.mean([(_gain(row, key) - expected[key]) ** 2 for key in there]))


def left_out_error(parts: dict[str, list[dict[str, Any]]], features: Any, ridge: float) -> float:
    """Return the squared error of the gains of left-out corpora, that of the plain mean being 1."""
    errors = np.zeros((len(parts), 2))
    for place, rows in enumerate(parts.values()):
        for corpus in sorted({row["corpus"] for row in rows}):
            others = [row for row in rows if row["corpus"] != corpus]
            made = [fitted_gains(others, features, strength) for strength in (ridge, np.inf)]
            own = [row for row in rows if row["corpus"] == corpus]
            for which, gains in enumerate(made):
                errors[place, which] += np.mean([_error(row, _expected(gains, row, features)) for row in own])
    return float(np.mean(errors[:, 0] / errors[:, 1]))


def left_out_figures(
    rows: list[dict[str, Any]], features: dict[str, tuple[float, float]], ridge: float
) -> list[float]:
    """Return the mean hidden figure of what would be chosen, for each number of documents of TRUSTED.

    Each corpus is judged with the gains of the others.
    """
    found = []
    for corpus in sorted({row["corpus"] for row in rows}):
        made = fitted_gains([row for row in rows if row["corpus"] != corpus], features, ridge)
        for row in (row for row in rows if row["corpus"] == corpus):
            gains = _expected(made, row, features)
            keys = [key for key in row["figures"] if key in gains]
            known = np.array([gains[key] for key in keys])
            measured, hidden = np.array([row["figures"][key] for key in keys]).T
            trust = row["documents"] / (row["documents"] + np.array(TRUSTED, dtype=float))[:, None]
            found.append(hidden[((1 - trust) * known + trust * measured).argmax(axis=1)])
    return np.mean(found, axis=0).tolist()


def main() -> None:
    """Run draws, or print the table of a file of them."""
    parser, commands, runner = script_parser(__doc__, classes=2, binary=5)
    runner.add_argument("--corpora", default=",".join(TUNING))
    runner.add_argument("--seed", type=int, default=1)
    runner.add_argument("--out", type=Path, default=Path("prior.jsonl"))
    commands.add_parser("table").add_argument("file", type=Path)
    given = parser.parse_args()
    if given.command == "table":
        print(table(lines_of(given.file)))
        return
    warnings.simplefilter("ignore")
    run(given.corpora.split(","), given.classes, given.binary, given.seed, given.out)


if __name__ == "__main__":
    main()
