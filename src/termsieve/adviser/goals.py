"""The name of a goal comes in; how confusion counts or decision values become its figure goes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.errors import ParameterError, unknown_name
from termsieve.measures import MEASURES, precision, recall
from termsieve.spec import parse_spec

Floats = NDArray[np.float64]


def _bounded_recall(tp: Any, fp: Any, fn: Any, tn: Any, bound: float) -> Any:
    return recall(tp, fp, fn) * np.minimum(1.0, precision(tp, fp) / bound)


def _bounded_precision(tp: Any, fp: Any, fn: Any, tn: Any, bound: float) -> Any:
    return precision(tp, fp) * np.minimum(1.0, recall(tp, fp, fn) / bound)


def _cost_avoided(tp: Any, fp: Any, fn: Any, tn: Any, cost_fp: float, cost_fn: float) -> Any:
    most = (fp + tn) * cost_fp + (tp + fn) * cost_fn
    return 1.0 - (fp * cost_fp + fn * cost_fn) / np.maximum(most, 1e-12)


@dataclass(frozen=True)
class Goal:
    """What a user wants high, between 0 and 1.

    `of_counts` judges one problem by tp, fp, fn and tn; a goal of the order of the documents has none.
    """

    name: str
    meaning: str
    of_counts: Callable[..., Any] | None = field(default=None, compare=False, repr=False)
    pooled: bool = False  # the counts of all problems are added first, instead of a mean over problems

    def __str__(self) -> str:
        return self.name

    @property
    def degenerate(self) -> str:
        """Advice for a goal that a useless model can reach, or an empty string."""
        if self.name == "recall":
            return (
                "Recall alone is highest for a model that says yes to every document: consider the goal "
                '"recall(precision=0.8)", the recall that is left where precision must be 0.8.'
            )
        if self.name == "precision":
            return (
                "Precision alone is highest for a model that says yes to one sure document: consider the "
                'goal "precision(recall=0.5)", the precision that is left where recall must be 0.5.'
            )
        return ""

    def figures(self, sums: Floats, n_docs: Any, one_label: bool) -> Floats:
        """Return the figure of each row of sums (..., 3, problems) of tp, fp and fn over `n_docs` documents.

        It is the mean over the problems that have a document, or what the counts of all problems together
        give. The accuracy of classes that exclude each other is the share of documents that are right.
        """
        assert self.of_counts is not None
        tp, fp, fn = sums[..., 0, :], sums[..., 1, :], sums[..., 2, :]
        total = np.asarray(n_docs, dtype=np.float64)[..., None]
        if self.name == "accuracy" and one_label and tp.shape[-1] > 1:
            return np.asarray(tp.sum(axis=-1) / total[..., 0])
        tn = total - tp - fp - fn
        if self.pooled:
            return np.asarray(self.of_counts(*(cell.sum(axis=-1) for cell in (tp, fp, fn, tn))))
        values = np.asarray(self.of_counts(tp, fp, fn, tn))
        there = tp + fn > 0
        if self.name == "accuracy" or self.name.startswith("cost"):
            there = np.ones_like(there)
        return np.asarray((values * there).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1))


def _average_precision(truth: NDArray[np.bool_], values: Floats, weights: Floats) -> Floats:
    """Return the mean of the precision at each positive document, under each row of document weights."""
    order = np.argsort(-values, kind="stable")
    truth, weights = truth[order], weights[:, order]
    last = np.append(np.diff(values[order]) != 0, True)  # equal values are one step
    tp = np.cumsum(weights * truth, axis=1)[:, last]
    said = np.cumsum(weights, axis=1)[:, last]
    gained = np.diff(tp, axis=1, prepend=0.0)
    return np.asarray((gained * tp / np.maximum(said, 1e-12)).sum(axis=1) / np.maximum(tp[:, -1], 1e-12))


def _roc_area(truth: NDArray[np.bool_], values: Floats, weights: Floats) -> Floats:
    """Return the chance that a positive document comes before a negative one, under each row of weights."""
    order = np.argsort(-values, kind="stable")
    truth, weights = truth[order], weights[:, order]
    last = np.append(np.diff(values[order]) != 0, True)
    tp = np.cumsum(weights * truth, axis=1)[:, last]
    fp = np.cumsum(weights * ~truth, axis=1)[:, last]
    steps = np.diff(fp, axis=1, prepend=0.0)
    before = np.concatenate([np.zeros((len(tp), 1)), tp[:, :-1]], axis=1)
    area = (steps * (tp + before) / 2).sum(axis=1)
    return np.asarray(area / np.maximum(tp[:, -1] * fp[:, -1], 1e-12))


ORDERED = {"average_precision": _average_precision, "roc_auc": _roc_area}
_PLAIN = {
    "f1": "the harmonic mean of precision and recall",
    "f2": "F with recall counting four times as much as precision",
    "accuracy": "the share of documents with the right prediction",
    "precision": "the share of the documents predicted to have the class that have it",
    "recall": "the share of the documents of the class that are found",
}
#: The goals that ``advise`` knows: name -> goal.
GOALS = {
    **_PLAIN,
    "micro_f1": "F1 of the counts of all classes together",
    "average_precision": "the mean precision down the ranking of the documents",
    "roc_auc": "the chance that a document of the class is ranked before one outside it",
    "recall(precision=P)": "recall where precision is P; below P it shrinks in proportion",
    "precision(recall=R)": "precision where recall is R; below R it shrinks in proportion",
    "cost(fp=A, fn=B)": "the share of the highest possible cost that is avoided",
}


def get_goal(text: str | Goal) -> Goal:
    """Return the goal of a name.

    Parameters
    ----------
    text : str or Goal
        A key of :data:`GOALS`, with its parameter if it has one.

    Returns
    -------
    Goal
        The goal.

    Examples
    --------
    >>> str(get_goal("recall(precision=0.9)")), get_goal("f1").meaning
    ('recall(precision=0.9)', 'the harmonic mean of precision and recall')
    """
    if isinstance(text, Goal):
        return text
    name, args, given = parse_spec(text) if "(" in str(text) else (str(text), (), {})
    if args:
        raise ParameterError(f"{text!r} is no goal; name its parameters, as in 'recall(precision=0.9)'")
    if not given and name in _PLAIN:
        return Goal(name, GOALS[name], MEASURES[name])
    if not given and name == "micro_f1":
        return Goal(name, GOALS[name], MEASURES["f1"], pooled=True)
    if not given and name in ORDERED:
        return Goal(name, GOALS[name])
    if name in ("recall", "precision") and list(given) == [
        {"recall": "precision", "precision": "recall"}[name]
    ]:
        return _bounded(name, *given.items())
    if name == "cost" and set(given) == {"fp", "fn"}:
        return _costly(given)
    raise unknown_name("goal", str(text), GOALS)


def _bounded(name: str, bound: tuple[str, Any]) -> Goal:
    other, value = bound
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise ParameterError(f"{other}={value!r} of the goal must be a number above 0 and at most 1")
    function = _bounded_recall if name == "recall" else _bounded_precision
    return Goal(
        f"{name}({other}={value:g})",
        f"{name} where {other} is {value:g}; below that it shrinks in proportion",
        lambda tp, fp, fn, tn: function(tp, fp, fn, tn, value),
    )


def _costly(given: dict[str, Any]) -> Goal:
    for key, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise ParameterError(f"{key}={value!r} of the goal must be a number above 0")
    fp, fn = given["fp"], given["fn"]
    return Goal(
        f"cost(fp={fp:g}, fn={fn:g})",
        f"the share of the highest possible cost that is avoided, at {fp:g} per false positive and "
        f"{fn:g} per false negative",
        lambda tp, false, missed, tn: _cost_avoided(tp, false, missed, tn, fp, fn),
    )
