"""True and predicted classes of documents come in; the goal's figure and what to expect of it go out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.errors import ParameterError, unknown_name
from termsieve.measures import MEASURES

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
GOALS = tuple(MEASURES)
RESAMPLES = 2000
BLOCK_CELLS = 2**24  # weights that are held at a time
# An interval of resampled documents leaves out that another training sample gives another model, and that
# few documents stand for all. The factor: `benchmarks/adviser.py calibrate` on the tuning corpora.
WIDENING = 1.21


def check_goal(goal: str) -> None:
    """Refuse a goal that is no measure."""
    if goal not in MEASURES:
        raise unknown_name("goal", goal, GOALS)


@dataclass(frozen=True)
class Verdicts:
    """Documents x problems: which belong (`truth`) and which were said to (`said`).

    `one_label` says that the problems are classes that exclude each other.
    """

    truth: Flags
    said: Flags
    one_label: bool

    def __len__(self) -> int:
        return len(self.truth)

    def __add__(self, other: Verdicts) -> Verdicts:
        return Verdicts(
            np.concatenate([self.truth, other.truth]), np.concatenate([self.said, other.said]), self.one_label
        )

    def cells(self) -> Floats:
        """Return what each document adds to tp, fp and fn of each problem: documents x (3 problems)."""
        truth, said = self.truth, self.said
        return np.concatenate([truth & said, ~truth & said, truth & ~said], axis=1).astype(np.float32)

    def figure(self, goal: str) -> float:
        """Return the goal's figure over all documents."""
        return float(
            _figures(goal, self.cells().sum(axis=0, dtype=np.float64)[None], len(self), self.one_label)[0]
        )

    def resampled(self, goal: str, weights: NDArray[np.int64]) -> Floats:
        """Return the figure under each row of document weights."""
        return _resampled(goal, weights, self.cells(), self.one_label)


def _figures(goal: str, sums: Floats, n_docs: Any, one_label: bool) -> Floats:
    """Return the figure of each row of sums: the mean over problems with a document, or accuracy."""
    tp, fp, fn = np.split(sums, 3, axis=1)
    total = np.broadcast_to(np.asarray(n_docs, dtype=np.float64), (len(sums),))[:, None]
    if goal == "accuracy":
        several = tp.shape[1] > 1 and one_label
        right = tp.sum(axis=1, keepdims=True) if several else total - fp - fn
        return np.asarray((right / total).mean(axis=1))
    values = np.asarray(MEASURES[goal](tp, fp, fn))
    there = tp + fn > 0
    return np.asarray((values * there).sum(axis=1) / np.maximum(there.sum(axis=1), 1))


def _resampled(goal: str, weights: NDArray[np.int64], cells: Floats, one_label: bool) -> Floats:
    sums = (weights.astype(np.float32) @ cells).astype(np.float64)
    return _figures(goal, sums, weights.sum(axis=1), one_label)


def interval(
    verdicts: Verdicts,
    goal: str,
    n_documents: int,
    level: float = 0.95,
    random_state: int = 0,
    widening: float = WIDENING,
) -> tuple[float, float]:
    """Return where the figure on `n_documents` further documents is expected to lie.

    The documents at hand are resampled, for what they do not tell, and from each such sample as many as
    asked are drawn. The quantiles' distances from the figure are multiplied by `widening`. Of a class with
    no mistake of a kind one is imagined, for none having been seen does not mean that there is none.
    """
    if isinstance(n_documents, bool) or not isinstance(n_documents, (int, np.integer)) or n_documents < 1:
        raise ParameterError(f"n_documents must be a whole number of at least 1, not {n_documents!r}")
    if not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, not {level!r}")
    cells = np.concatenate([verdicts.cells(), _imagined(verdicts)])
    generator = np.random.default_rng(random_state)
    n = len(cells)
    step = max(1, min(RESAMPLES, BLOCK_CELLS // n))
    drawn = []
    for start in range(0, RESAMPLES, step):
        shares = generator.multinomial(n, np.full(n, 1 / n), size=min(step, RESAMPLES - start)) / n
        weights = generator.multinomial(n_documents, shares)
        drawn.append(_resampled(goal, weights, cells, verdicts.one_label))
    low, high = np.quantile(np.concatenate(drawn), [(1 - level) / 2, (1 + level) / 2])
    centre = verdicts.figure(goal)
    made = centre - widening * max(0.0, centre - low), centre + widening * max(0.0, high - centre)
    return max(0.0, float(made[0])), min(1.0, float(made[1]))


def _imagined(verdicts: Verdicts) -> Floats:
    """Return a document of each kind of mistake that no document of a class is."""
    n_problems = verdicts.truth.shape[1]
    absent = verdicts.cells().sum(axis=0) == 0
    absent[:n_problems] = False
    absent &= np.tile(verdicts.truth.any(axis=0), 3)
    return np.eye(3 * n_problems, dtype=np.float32)[absent]


def chance_to_win(leader: Verdicts, other: Verdicts, goal: str, generator: np.random.Generator) -> float:
    """Return in which share of resamples of the same documents `other` reaches the leader."""
    n = len(leader)
    weights = generator.multinomial(n, np.full(n, 1 / n), size=min(200, max(1, BLOCK_CELLS // n)))
    return float((other.resampled(goal, weights) >= leader.resampled(goal, weights)).mean())
