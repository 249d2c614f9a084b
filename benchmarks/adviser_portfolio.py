"""Corpora come in; whether learners that are not in the adviser's portfolio would make its choice better.

Naive Bayes, complement naive Bayes, logistic regression (also with balanced classes) and n-grams of
characters are cross-validated and tested on hidden documents, on the draws of adviser_prior.py.

    TERMSIEVE_DATA=... python benchmarks/adviser_prior.py run --out prior.jsonl
    TERMSIEVE_DATA=... python benchmarks/adviser_portfolio.py run --out candidates.jsonl
    python benchmarks/adviser_portfolio.py table prior.jsonl candidates.jsonl
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB

from adviser_corpora import TUNING, Draw, corpus_of, draws, lines_of, script_parser
from adviser_prior import GOALS, N_FOLDS, _facts, _together
from termsieve.adviser.decisions import NEVER
from termsieve.adviser.folds import Split, Task
from termsieve.adviser.goals import get_goal
from termsieve.adviser.portfolio import Representation, Setting, portfolio
from termsieve.adviser.prior import prior_key
from termsieve.adviser.question import asked
from termsieve.adviser.race import Race

FAMILIES = ("nb", "complement nb", "lr", "lr balanced", "characters")
LOG, BNS, COUNTS = Representation(), Representation(weight="bns"), Representation("tf", None, False)
LOG_COUNTS = Representation("log", None, False)
CHARACTERS = {"analyzer": "char_wb", "ngram_range": (3, 5), "min_df": 2}


def candidates() -> Iterator[tuple[Setting, Any]]:
    """Yield settings, named for their family, and the scikit-learn classifiers that they stand for."""
    for alpha in (0.03, 0.1, 0.3, 1.0):
        yield Setting(LOG, f"complement nb {alpha}"), ComplementNB(alpha=alpha)
        yield Setting(LOG, f"nb {alpha}"), MultinomialNB(alpha=alpha)
    for representation in (COUNTS, LOG_COUNTS):
        for alpha in (0.1, 1.0):
            yield Setting(representation, f"nb {alpha}"), MultinomialNB(alpha=alpha)
    for representation in (LOG, BNS):
        for C in (3.0, 30.0, 300.0):
            plain = LogisticRegression(C=C, solver="liblinear")
            yield Setting(representation, f"lr {C}"), plain
            balanced = LogisticRegression(C=C, solver="liblinear", class_weight="balanced")
            yield Setting(representation, f"lr balanced {C}"), balanced


def candidate_values(split: Split, characters: Any) -> dict[Setting, Any]:
    """Return the decision values of all candidates on the test documents."""
    found = {setting: _values(model, split, setting.representation) for setting, model in candidates()}
    if characters is not None:
        part = Split(Task(characters, split.task.truth, split.task.one_label), split.train, split.test)
        learners = ("svm(C=1.0)", "svm(balanced, C=1.0)", "svm(C=3.0)")
        for setting, values in part.values([Setting(LOG, name) for name in learners]).items():
            found[Setting(LOG, f"characters {setting.learner}")] = values
    return found


def _values(model: Any, split: Split, representation: Representation) -> Any:
    train, test = split.scaled(representation)
    truth = split.task.truth[split.train]
    out = np.full((len(split.test), truth.shape[1]), NEVER)
    if truth.shape[1] > 1 and hasattr(model, "predict_joint_log_proba"):
        model.fit(train, truth.argmax(axis=1))
        out[:, model.classes_] = model.predict_joint_log_proba(test)
        return out
    for p, side in enumerate(truth.T):
        if side.any():
            odds = model.fit(train, side).predict_log_proba(test)
            out[:, p] = odds[:, 1] - odds[:, 0]
    return out


def facts_of(draw: Draw, name: str) -> list[dict[str, Any]]:
    """Return, for each goal, the cross-validated and the hidden figure of every candidate."""
    together, n_shown = _together(draw), len(draw.shown)
    whole = asked(together, draw.target, {}).task
    characters = None
    if together.texts is not None:
        counts = CountVectorizer(**CHARACTERS).fit_transform(together.texts)
        characters = sparse.csr_matrix(counts, dtype=np.float64)
    fold = Split(whole, np.arange(n_shown), np.arange(n_shown, len(together)))
    race = Race(whole.part(fold.train), get_goal("f1"), N_FOLDS, np.random.default_rng(draw.number))
    for number in race.folds:
        split = race.at(number)
        shown = None if characters is None else characters[:n_shown]
        for setting, values in candidate_values(split, shown).items():
            standing = race._standing(setting)
            standing.values[split.test] = values
            standing.folds.append(number)
        race.forget(number)
    hidden = candidate_values(fold, characters)
    return [_facts(race, fold, hidden, goal, draw, name) for goal in GOALS]


def table(known: list[dict[str, Any]], rows: list[dict[str, Any]]) -> str:
    """Return how each family compares with the portfolio, both chosen by cross-validation."""
    ours = {prior_key(setting, tuned) for setting in portfolio(True) for tuned in (False, True)}
    lines = ["| kind, goal, family | draws | it alone | added to the portfolio | chosen |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    for kind in ("binary", "classes"):
        for goal in GOALS:
            for family in FAMILIES:
                alone, added, chosen = [], [], 0
                for row in (r for r in rows if (r["kind"], r["goal"]) == (kind, goal)):
                    base = {k: v for k, v in _partner(row, known)["figures"].items() if k in ours}
                    others = {k: v for k, v in row["figures"].items() if _family(k) == family}
                    if not others:
                        continue
                    best, other = (max(f, key=lambda k, f=f: f[k][0]) for f in (base, others))
                    alone.append(others[other][1] - base[best][1])
                    wins = others[other][0] > base[best][0]
                    added.append(alone[-1] * wins)
                    chosen += wins
                if alone:
                    cells = f"{np.mean(alone):+.3f} | {np.mean(added):+.4f} | {chosen}"
                    lines.append(f"| {kind}, {goal}, {family} | {len(alone)} | {cells} |")
    return "\n".join(lines)


def _family(key: str) -> str:
    return next((f for f in sorted(FAMILIES, key=len, reverse=True) if f", {f} " in key), "")


def _partner(row: dict[str, Any], known: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row of the portfolio on the same draw."""
    same = ("corpus", "goal", "target", "documents")
    return next(other for other in known if all(other[key] == row[key] for key in same))


def main() -> None:
    """Run draws, or print the table of two files of them."""
    parser, commands, runner = script_parser(__doc__)
    runner.add_argument("--corpora", default=",".join(TUNING))
    runner.add_argument("--numbers", default="0,2,3", help="which of the draws of adviser_prior.py")
    runner.add_argument("--out", type=Path, default=Path("candidates.jsonl"))
    printer = commands.add_parser("table")
    printer.add_argument("prior", type=Path)
    printer.add_argument("candidates", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.command == "table":
        print(table(lines_of(given.prior), lines_of(given.candidates)))
        return
    for name in given.corpora.split(","):
        for draw in draws(corpus_of(name).renamed(name), 2, 5, 1):
            if str(draw.number) in given.numbers.split(","):
                with given.out.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(facts) + "\n" for facts in facts_of(draw, name))
                print(name, draw.number, draw.target, flush=True)


if __name__ == "__main__":
    main()
