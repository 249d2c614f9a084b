"""Verdicts on documents that the choice did not see come in; the promised figure and its interval go out.

The table calibration.toml is made by `benchmarks/adviser.py calibrate` on the tuning corpora; nobody types
it in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.adviser.goals import ORDERED, Floats, Goal
from termsieve.adviser.prior import table_name
from termsieve.adviser.verdicts import Verdicts, figures_of_cells
from termsieve.errors import ParameterError

RESAMPLES = 2000
ORDER_RESAMPLES = 300  # of goals that sort the documents
BLOCK_CELLS = 2**23  # weights that are held at a time


@dataclass(frozen=True)
class Calibration:
    """What was found on other corpora.

    Models of four fifths of the documents miss, of a class with n documents, `lack` * n ** -`lack_power` of
    the distance to 1. An interval reaches `reach` times as far as resamples of the documents do: they cannot
    tell that other training documents give another model. A doubling of the documents gains `ratio` times
    what the doubling before it gained, give or take `ratio_spread`; the interval of that gain reaches
    `gain_reach` times as far as resamples do.
    """

    lack: float = 0.0
    lack_power: float = 0.0
    reach: float = 1.0
    ratio: float = 0.6
    ratio_spread: float = 0.1
    gain_reach: float = 1.0

    def rise(self, room: float, verdicts: Verdicts, goal: Goal) -> float:
        """Return what the documents that the measured models lacked bring, at a distance `room` from 1."""
        sizes, shares = rooms(verdicts, goal)
        return room * self.lack * float((shares * sizes**-self.lack_power).sum())


def rooms(verdicts: Verdicts, goal: Goal) -> tuple[Floats, Floats]:
    """Return the documents of each class, or of the rarer side, and its share of the distance to 1."""
    inside = verdicts.truth.sum(axis=0)
    there = np.flatnonzero((inside > 0) & (inside < len(verdicts)))
    sizes = np.minimum(inside, len(verdicts) - inside)[there].astype(np.float64)
    if goal.pooled or (goal.name == "accuracy" and verdicts.one_label and verdicts.truth.shape[1] > 1):
        missed = (verdicts.truth & ~verdicts.said).sum(axis=0)[there].astype(np.float64)
    else:
        missed = np.array([1.0 - verdicts.problem(int(p)).figure(goal) for p in there])
    return sizes, missed / max(float(missed.sum()), 1e-12)


@cache
def _tables() -> dict[str, Any]:
    text = (resources.files("termsieve.adviser") / "calibration.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def calibration_for(kind: str, goal: Goal) -> Calibration:
    """Return the calibration of the goal that is nearest among those that were studied."""
    return Calibration(**_tables().get(kind, {}).get(calibration_name(kind, goal), {}))


def calibration_name(kind: str, goal: Goal) -> str:
    """Return the name of the goal's table.

    >>> from termsieve.adviser.goals import get_goal
    >>> calibration_name("binary", get_goal("recall(precision=0.9)"))
    'recall_at'
    """
    head = goal.name.split("(")[0]
    if "(" in goal.name:
        return head if head == "cost" else f"{head}_at"
    return head if head in ORDERED else table_name(kind, goal)


@dataclass(frozen=True)
class Promise:
    """What to expect of the model that all documents train; `verdicts` are of documents that no model saw.

    `repeated` are verdicts on the same documents from other folds; they move the interval, and do not narrow
    it. `as_drawn` are all these verdicts where new documents repeat known ones as often as these documents
    repeat each other; without them nothing repeats.
    """

    verdicts: Verdicts
    goal: Goal
    calibration: Calibration
    repeated: Sequence[Verdicts] = ()
    as_drawn: Sequence[Verdicts] = ()

    @property
    def measured(self) -> float:
        """The mean figure of the verdicts, from models that all but a part of the documents trained."""
        return float(np.mean([part.figure(self.goal) for part in (self.verdicts, *self.repeated)]))

    def expected(self, n_documents: int) -> float:
        """Return the figure expected on `n_documents` new documents of the model that all documents train."""
        parts = self.as_drawn or (self.verdicts, *self.repeated)
        figure = float(np.mean([expected_figure(part, self.goal, n_documents) for part in parts]))
        return min(1.0, figure + self.calibration.rise(1.0 - figure, parts[0], self.goal))

    def repeats_sentence(self, n_documents: int) -> str:
        """What is expected of documents that repeat none of these, where others would be; or nothing."""
        if not self.as_drawn or self.as_drawn[0] is self.verdicts:
            return ""
        alone = replace(self, as_drawn=()).expected(n_documents)
        return (
            "New documents are expected to repeat these as often as these repeat each other; for documents "
            f"that repeat none, expect {alone:.3f}."
        )

    def interval(self, n_documents: int, level: float = 0.95) -> tuple[float, float]:
        """Return where the figure on `n_documents` new documents is expected to lie."""
        if not 0 < level < 1:
            raise ParameterError(f"level must lie between 0 and 1, not {level!r}")
        verdicts = self.as_drawn[0] if self.as_drawn else self.verdicts
        away = deviations(verdicts, self.goal, n_documents)
        return bounds(self.expected(n_documents), away, self.calibration.reach, level)


def bounds(centre: float, away: Floats, reach: float, level: float = 0.95) -> tuple[float, float]:
    """Return the quantiles of deviations, `reach` times as far from the centre, within 0 and 1."""
    low, high = centre + reach * np.quantile(away, [(1 - level) / 2, (1 + level) / 2])
    return max(0.0, min(float(low), centre)), min(1.0, max(float(high), centre))


def expected_figure(verdicts: Verdicts, goal: Goal, n_documents: int, random_state: int = 0) -> float:
    """Return the mean figure over sets of `n_documents` of the documents.

    The figure of few documents is not that of many: a class of which none of them is leaves the mean over the
    classes, and F1 is no mean over documents. For independent documents the mean over subsets has no bias;
    it ends at the figure of all documents, also where more are asked for.
    """
    _check_documents(n_documents)
    if n_documents >= len(verdicts):
        return verdicts.figure(goal)
    kinds, sizes = verdicts.kinds(goal)
    rounds = _rounds(goal, len(sizes))
    weights = np.random.default_rng(random_state).multivariate_hypergeometric(
        sizes, n_documents, size=rounds, method="marginals"
    )
    return float(kinds.resampled(goal, weights).mean())


def deviations(verdicts: Verdicts, goal: Goal, n_documents: int, random_state: int = 0) -> Floats:
    """Return how far figures on `n_documents` documents like these are from their mean.

    The documents at hand are resampled, for what they do not tell, and from each such sample as many as asked
    are drawn. Where a class has no mistake of a kind, one is added: that none was seen does not mean that
    there is none.
    """
    _check_documents(n_documents)
    generator = np.random.default_rng(random_state)
    kinds, sizes = verdicts.kinds(goal)
    cells = None
    if goal.of_counts is not None:
        assumed = _assumed(verdicts)
        cells = np.concatenate([kinds.cells(), assumed])
        sizes = np.append(sizes, np.ones(len(assumed), dtype=np.int64))
    n = int(sizes.sum())
    shares = generator.multinomial(n, sizes / n, size=_rounds(goal, len(sizes))) / n
    weights = generator.multinomial(n_documents, shares)
    if cells is None:
        drawn = kinds.resampled(goal, weights)
    else:
        drawn = figures_of_cells(goal, weights, cells, verdicts.one_label)
    return np.asarray(drawn - drawn.mean())


def _rounds(goal: Goal, n_kinds: int) -> int:
    return ORDER_RESAMPLES if goal.of_counts is None else min(RESAMPLES, max(100, BLOCK_CELLS // n_kinds))


def _check_documents(n_documents: int) -> None:
    if isinstance(n_documents, bool) or not isinstance(n_documents, (int, np.integer)) or n_documents < 1:
        raise ParameterError(f"n_documents must be a whole number of at least 1, not {n_documents!r}")


def _assumed(verdicts: Verdicts) -> Floats:
    """Return one document for each kind of mistake that no document of a class is."""
    n_problems = verdicts.truth.shape[1]
    absent = verdicts.cells().sum(axis=0) == 0
    absent[:n_problems] = False
    absent &= np.tile(verdicts.truth.any(axis=0), 3)
    return np.eye(3 * n_problems, dtype=np.float32)[absent]


def resample_weights(
    n: int, goal: Goal, generator: np.random.Generator, most: int = 1000
) -> NDArray[np.int64]:
    """Return how often each of `n` documents is in each of at most so many resamples of them."""
    rounds = ORDER_RESAMPLES if goal.of_counts is None else min(most, max(100, BLOCK_CELLS // n))
    return generator.multinomial(n, np.full(n, 1 / n), size=rounds)


@dataclass(frozen=True)
class Difference:
    """By how much the first of two verdicts on the same documents is better, and how surely."""

    mean: float
    low: float
    high: float
    chance: float  # share of resamples in which the first is better; equal ones count half

    @classmethod
    def of(cls, own: Verdicts, other: Verdicts, goal: Goal, random_state: int = 0) -> Difference:
        """Return the difference of the figures, with its 95 % interval over resamples of the documents."""
        weights = resample_weights(len(own), goal, np.random.default_rng(random_state))
        gaps = own.resampled(goal, weights) - other.resampled(goal, weights)
        low, high = np.quantile(gaps, [0.025, 0.975])
        chance = float((gaps > 0).mean() + (gaps == 0).mean() / 2)
        return cls(own.figure(goal) - other.figure(goal), float(low), float(high), chance)

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ({self.low:+.3f} to {self.high:+.3f})"
