"""Verdicts on documents that the choice did not see come in; the promised figure and its interval go out.

The table calibration.toml is made by `benchmarks/adviser.py calibrate` on the tuning corpora; nobody types
it in.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from termsieve.adviser.goals import ORDERED, Floats, Goal
from termsieve.adviser.prior import table_name
from termsieve.adviser.verdicts import Verdicts, figures_of_cells
from termsieve.errors import ParameterError

ENOUGH = 500  # documents: with fewer, the spread grows as the square root of the documents that lack
RESAMPLES = 2000
ORDER_RESAMPLES = 300  # of goals that sort the documents
BLOCK_CELLS = 2**24  # weights that are held at a time


@dataclass(frozen=True)
class Calibration:
    """What was found on other corpora.

    `lack` is the part of the distance to 1 that the measured figure misses on average; an interval reaches
    `reach` times as far as resamples of the documents do, and `spread` for what they cannot tell, such as
    that other training documents give another model; the two are added as squares. A doubling of the
    documents gains `ratio` times what the doubling before it gained, give or take `ratio_spread`; the
    interval of that gain reaches `gain_reach` times as far as resamples do.
    """

    lack: float = 0.0
    reach: float = 1.0
    spread: float = 0.0
    ratio: float = 0.6
    ratio_spread: float = 0.1
    gain_reach: float = 1.0

    def spread_with(self, n_docs: int) -> float:
        """Return the spread for so many documents: models of few documents vary more."""
        return self.spread * max(1.0, math.sqrt(ENOUGH / n_docs))


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
    it.
    """

    verdicts: Verdicts
    goal: Goal
    calibration: Calibration
    repeated: Sequence[Verdicts] = ()

    @property
    def measured(self) -> float:
        """The mean figure of the verdicts, from models that all but a part of the documents trained."""
        return float(np.mean([part.figure(self.goal) for part in (self.verdicts, *self.repeated)]))

    @property
    def figure(self) -> float:
        """The figure expected of the model that all documents train."""
        measured = self.measured
        return float(np.clip(measured + self.calibration.lack * (1.0 - measured), 0.0, 1.0))

    def interval(self, n_documents: int, level: float = 0.95) -> tuple[float, float]:
        """Return where the figure on `n_documents` new documents is expected to lie."""
        low, high = raw_interval(self.verdicts, self.goal, n_documents, level)
        used, measured, centre = self.calibration, self.verdicts.figure(self.goal), self.figure
        spread = used.spread_with(len(self.verdicts))
        spread *= float(ndtri((1 + level) / 2) / ndtri(0.975))  # it is calibrated at 95 %
        down, up = (
            float(np.hypot(used.reach * max(0.0, way), spread)) for way in (measured - low, high - measured)
        )
        return max(0.0, centre - down), min(1.0, centre + up)


def raw_interval(
    verdicts: Verdicts, goal: Goal, n_documents: int, level: float = 0.95, random_state: int = 0
) -> tuple[float, float]:
    """Return quantiles of the figure on `n_documents` documents like these.

    The documents at hand are resampled, for what they do not tell, and from each such sample as many as asked
    are drawn. Where a class has no mistake of a kind, one is added: that none was seen does not mean that
    there is none.
    """
    if isinstance(n_documents, bool) or not isinstance(n_documents, (int, np.integer)) or n_documents < 1:
        raise ParameterError(f"n_documents must be a whole number of at least 1, not {n_documents!r}")
    if not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, not {level!r}")
    generator = np.random.default_rng(random_state)
    ordered = goal.of_counts is None
    cells = verdicts.cells() if ordered else np.concatenate([verdicts.cells(), _assumed(verdicts)])
    n, rounds = len(cells), ORDER_RESAMPLES if ordered else RESAMPLES
    step = max(1, min(rounds, BLOCK_CELLS // n))
    drawn = []
    for start in range(0, rounds, step):
        shares = generator.multinomial(n, np.full(n, 1 / n), size=min(step, rounds - start)) / n
        weights = generator.multinomial(n_documents, shares)
        drawn.append(
            verdicts.resampled(goal, weights)
            if ordered
            else figures_of_cells(goal, weights, cells, verdicts.one_label)
        )
    low, high = np.quantile(np.concatenate(drawn), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


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
