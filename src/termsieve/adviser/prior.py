"""A task and a goal come in; what each setting gained on corpora like it, and how far to trust it, go out.

The table, prior.toml, is made by `benchmarks/adviser_prior.py table`; nobody types it in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from termsieve.adviser.folds import Task
from termsieve.adviser.goals import Floats, Goal
from termsieve.adviser.portfolio import REFERENCE, STRENGTHS, Setting, typical_skew

SELECTED = 0.002  # of the figure: a tie goes to all terms
FARTHEST = 2.0  # standard deviations of a feature: beyond it the draws have nothing to say
FEW = 0.3  # of the figure, divided by the number of terms


@dataclass(frozen=True)
class Prior:
    """Mean gains over the reference setting, and the documents that weigh as much as they do."""

    gains: dict[str, float]
    documents: float

    def gain(self, setting: Setting, tuned: bool) -> float:
        """Return what a setting is expected to gain over the reference.

        Between two known values of C it is between their gains; the least known gain if nothing is near.
        """
        plain = setting.everything
        if (key := prior_key(plain, tuned)) in self.gains:
            return self.gains[key]
        keys = {C: prior_key(plain.with_strength(C), tuned) for C in STRENGTHS}
        known = {C: self.gains[key] for C, key in keys.items() if key in self.gains}
        if not known:
            return min(self.gains.values(), default=0.0)
        return float(np.interp(np.log(setting.strength), np.log(list(known)), list(known.values())))

    def trust(self, n_docs: float) -> float:
        """Return the weight of what the documents at hand say, between 0 and 1."""
        return n_docs / (n_docs + self.documents)


def risk(setting: Setting) -> float:
    """Return what a selection must gain to be chosen: a few terms that shine in cross-validation often fail
    later.

    On a tuning corpus ten terms, chosen for a class of 19 documents, reached F1 .87 in cross-validation and
    .31 on hidden documents.
    """
    if setting.method is None or setting.size is None:
        return 0.0
    return SELECTED + (FEW / setting.size.limit if setting.size.kind == "k" else 0.0)


def prior_key(setting: Setting, tuned: bool) -> str:
    """Return the name of a setting and a way to decide in the table."""
    return f"{setting.representation}, {setting.learner}, {'tuned' if tuned else 'own'}"


def features_of(task: Task) -> dict[str, float]:
    """Return what is known of documents before a model is trained, as logarithms to the base 2."""
    facts = {
        "documents": len(task),
        "classes": task.truth.shape[1],
        "skew": typical_skew(task.truth.sum(axis=0), len(task)),
        "terms per document": task.words.nnz / len(task),
    }
    return {name: float(np.log2(max(value, 0.01))) for name, value in facts.items()}


@cache
def _tables() -> dict[str, Any]:
    text = (resources.files("termsieve.adviser") / "prior.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def prior_for(task: Task, goal: Goal) -> Prior:
    """Return what is known for documents like these, of the goal that is nearest among those studied."""
    tables = _tables()[task.kind]
    table = tables[table_name(task.kind, goal)]
    place = standardised(features_of(task), tables["features"])
    gains = {key: gain + float(np.dot(slopes, place)) for key, (gain, *slopes) in table["gains"].items()}
    return Prior(gains, float(tables["documents"]))


def standardised(features: Mapping[str, float], known: Mapping[str, Any]) -> Floats:
    """Return the features less their mean on the draws, in standard deviations, at most FARTHEST of them."""
    raw = [(features[name] - mean) / spread for name, (mean, spread) in known.items()]
    return np.clip(raw, -FARTHEST, FARTHEST)


def table_name(kind: str, goal: Goal) -> str:
    """Return the studied goal that is nearest to a goal: f1, f2 or accuracy."""
    if goal.name in ("accuracy", "precision") or (goal.name == "micro_f1" and kind == "classes"):
        return "accuracy"
    return "f2" if goal.name in ("f2", "recall") else "f1"


REFERENCE_KEY = prior_key(REFERENCE, True)
