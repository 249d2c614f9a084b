"""The tuning corpora come in; the adviser's table of what settings gained on them goes out.

    TERMSIEVE_DATA=... python benchmarks/adviser_prior.py run --out prior.jsonl
    python benchmarks/adviser_prior.py table prior.jsonl > src/termsieve/adviser/prior.toml

`run` cross-validates every setting on the shown documents of each draw and tests it on the hidden ones.
`table` writes the mean gain of each setting over the reference on hidden documents (corpora weigh the
same), and the number of documents at which the cross-validated figure deserves as much trust as that mean:
the one whose choices are best on each corpus when the gains come from the others.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from adviser_corpora import TUNING, Draw, corpus_of, draws
from termsieve.adviser.folds import Split, Task
from termsieve.adviser.goals import get_goal
from termsieve.adviser.portfolio import portfolio
from termsieve.adviser.prior import REFERENCE_KEY, prior_key
from termsieve.adviser.question import asked
from termsieve.adviser.race import Race
from termsieve.adviser.verdicts import Verdicts
from termsieve.corpus import Corpus

GOALS = ("f1", "f2", "accuracy")
N_FOLDS = 5
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
        "figures": figures,
    }


def run(names: list[str], n_classes: int, n_binary: int, seed: int, out: Path) -> None:
    """Append the facts of each draw to a file of JSON lines."""
    for name in names:
        for draw in draws(corpus_of(name).renamed(name), n_classes, n_binary, seed):
            with out.open("a", encoding="utf-8") as file:
                for facts in facts_of(draw, name):
                    file.write(json.dumps(facts) + "\n")
            print(name, draw.number, draw.target, flush=True)


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table as TOML: the documents serve all goals of a kind of problem, for steadiness."""
    known = {prior_key(setting, tuned) for setting in portfolio(True) for tuned in (False, True)}
    for row in rows:
        row["figures"] = {key: value for key, value in row["figures"].items() if key in known}
    lines = ["# Made by benchmarks/adviser_prior.py from the tuning corpora; see docs/adviser.md."]
    for kind in ("binary", "classes"):
        parts = {goal: [row for row in rows if row["kind"] == kind and row["goal"] == goal] for goal in GOALS}
        reached = {n: float(np.mean([left_out_figure(part, n) for part in parts.values()])) for n in TRUSTED}
        # In doubt the gains on other corpora are trusted more: the most documents within .001 of the best.
        documents = max(n for n in TRUSTED if reached[n] >= max(reached.values()) - 0.001)
        found = ", ".join(f"{n}: {figure:.4f}" for n, figure in reached.items())
        lines += ["", f"# {kind}: mean figure chosen on left-out corpora by documents: {found}"]
        for goal, part in parts.items():
            gains = mean_gains(part)
            lines += ["", f"[{kind}.{goal}]", f"# {len(part)} draws", f"documents = {documents}"]
            lines += ["", f"[{kind}.{goal}.gains]"]
            lines += [f'"{key}" = {gains[key]:.4f}' for key in sorted(gains, key=lambda key: -gains[key])]
    return "\n".join(lines)


def mean_gains(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the mean gain of each setting over the reference on hidden documents; corpora weigh the same."""
    made = {}
    for key in sorted({key for row in rows for key in row["figures"]}):
        by_corpus: dict[str, list[float]] = {}
        for row in rows:
            if key in row["figures"]:
                gain = row["figures"][key][1] - row["figures"][REFERENCE_KEY][1]
                by_corpus.setdefault(row["corpus"], []).append(gain)
        made[key] = float(np.mean([np.mean(gains) for gains in by_corpus.values()]))
    return made


def left_out_figure(rows: list[dict[str, Any]], documents: float) -> float:
    """Return the mean hidden figure of what would be chosen, each corpus with the gains of the others."""
    found = []
    for corpus in sorted({row["corpus"] for row in rows}):
        gains = mean_gains([row for row in rows if row["corpus"] != corpus])
        for row in (row for row in rows if row["corpus"] == corpus):
            trust = row["documents"] / (row["documents"] + documents)
            best = max(
                row["figures"],
                key=lambda key: (1 - trust) * gains.get(key, -1.0) + trust * row["figures"][key][0],
            )
            found.append(row["figures"][best][1])
    return float(np.mean(found))


def main() -> None:
    """Run draws, or print the table of a file of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--classes", type=int, default=2, help="draws about all classes, per corpus")
    runner.add_argument("--binary", type=int, default=5, help="draws about one class, per corpus")
    runner.add_argument("--corpora", default=",".join(TUNING))
    runner.add_argument("--seed", type=int, default=1)
    runner.add_argument("--out", type=Path, default=Path("prior.jsonl"))
    commands.add_parser("table").add_argument("file", type=Path)
    given = parser.parse_args()
    if given.command == "table":
        print(table([json.loads(line) for line in given.file.read_text(encoding="utf-8").splitlines()]))
        return
    warnings.simplefilter("ignore")
    run(given.corpora.split(","), given.classes, given.binary, given.seed, given.out)


if __name__ == "__main__":
    main()
