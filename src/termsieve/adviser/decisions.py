"""Decision values of documents that a model did not see come in; tuned thresholds and their figures go out.

All figures are computed from counts of each fold, so that a threshold is always tuned on other folds than
those it is judged on, and any subset of the folds can be judged without looking at the documents again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.adviser.goals import Floats, Goal, get_goal
from termsieve.adviser.verdicts import Flags, Verdicts, joined

Folds = Sequence[int]
NEVER = -1e9  # the decision value of a class that no training document has
STEPS = 200  # thresholds that are looked at
SMOOTHING = 0.5  # of the usual bandwidth of a density estimate: a threshold between two documents is luck
TILTS = np.linspace(-0.2, 0.6, 17)  # of the decision values' standard deviation, per unit of log share


@dataclass(frozen=True)
class Decision:
    """Where decision values are cut: thresholds for one or several labels, a tilt for several classes."""

    thresholds: tuple[float, ...] = (0.0,)
    tilt: float = 0.0

    def said(self, values: Floats, log_shares: Floats, several_classes: bool) -> Flags:
        """Return documents x problems of predictions."""
        if not several_classes:
            return np.asarray(values > np.asarray(self.thresholds))
        best = (values - self.tilt * log_shares).argmax(axis=1)
        return np.asarray(best[:, None] == np.arange(values.shape[1]))


class ThresholdTally:
    """How many documents of each fold lie above each threshold, for one problem or several labels."""

    def __init__(
        self, values: Floats, truth: Flags, fold: NDArray[np.int64], n_folds: int, goal: Goal
    ) -> None:
        n_problems = truth.shape[1]
        self.goal = goal if goal.of_counts is not None else get_goal("f1")
        self.n_docs = np.bincount(fold, minlength=n_folds)
        self._known: dict[frozenset[int], NDArray[np.int64]] = {}  # the same folds are asked for many times
        self.grids: list[Floats] = []
        self.above = np.zeros((n_folds, n_problems, STEPS + 3, 2))
        self.moments = np.zeros((n_folds, n_problems, 2, 3))
        self.zero = np.zeros(n_problems, dtype=np.int64)
        for p in range(n_problems):
            column, sides = values[:, p], (truth[:, p], ~truth[:, p])
            self.grids.append(_grid(column))
            self.zero[p] = int(np.argmin(np.abs(self.grids[p])))
            place = np.searchsorted(self.grids[p], column, side="left")  # the thresholds that a value exceeds
            for side, inside in enumerate(sides):
                counts = np.bincount(
                    fold[inside] * (STEPS + 4) + place[inside], minlength=n_folds * (STEPS + 4)
                ).reshape(n_folds, -1)
                self.above[:, p, :, side] = counts[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
                for power in range(3):
                    self.moments[:, p, side, power] = np.bincount(
                        fold[inside], column[inside] ** power, minlength=n_folds
                    )

    def decision(self, folds: Folds, tuned: bool) -> Decision:
        """Return the thresholds that the given folds suggest, or 0."""
        at = self._tuned(folds) if tuned else self.zero
        return Decision(tuple(float(grid[j]) for grid, j in zip(self.grids, at, strict=True)))

    def cross_sums(self, folds: Folds, tuned: bool) -> tuple[Floats, int]:
        """Return tp, fp, fn of each problem, a fold cut where the others suggest; and the documents."""
        sums = np.zeros((3, len(self.grids)))
        problems = np.arange(len(self.grids))
        for fold in folds:
            at = self._tuned([f for f in folds if f != fold]) if tuned else self.zero
            tp, fp = self.above[fold, problems, at].T
            sums += np.stack([tp, fp, self.moments[fold, :, 0, 0] - tp])
        return sums, int(self.n_docs[list(folds)].sum())

    def _tuned(self, folds: Folds) -> NDArray[np.int64]:
        key = frozenset(folds)
        if key not in self._known:
            self._known[key] = self._best(sorted(key))
        return self._known[key]

    def _best(self, chosen: list[int]) -> NDArray[np.int64]:
        above, moments = self.above[chosen].sum(axis=0), self.moments[chosen].sum(axis=0)
        found = self.zero.copy()
        for p, grid in enumerate(self.grids):
            inside, outside = moments[p, :, 0]
            if inside == 0 or outside == 0:
                continue
            tp, fp = (_smoothed(above[p], grid, _bandwidth(moments[p]))).T
            assert self.goal.of_counts is not None
            curve = np.asarray(self.goal.of_counts(tp, fp, inside - tp, outside - fp))
            found[p] = int(np.argmax(curve))
        return found


class TiltTally:
    """The confusion counts of each fold at each tilt, for several classes that exclude each other."""

    def __init__(
        self,
        values: Floats,
        truth: Flags,
        fold: NDArray[np.int64],
        n_folds: int,
        goal: Goal,
        log_shares: Floats,
    ) -> None:
        self.goal = goal if goal.of_counts is not None else get_goal("f1")
        self.n_docs = np.bincount(fold, minlength=n_folds)
        self._known: dict[frozenset[int], int] = {}
        n_classes = truth.shape[1]
        seen = values[values > NEVER / 2]
        self.tilts = TILTS * float(seen.std() if len(seen) else 1.0)
        codes = truth.argmax(axis=1)
        self.counts = np.zeros((n_folds, len(TILTS), 3, n_classes))
        actual = np.bincount(fold * n_classes + codes, minlength=n_folds * n_classes).reshape(n_folds, -1)
        for t, tilt in enumerate(self.tilts):
            said = (values - tilt * log_shares).argmax(axis=1)
            right = said == codes
            tp = np.bincount((fold * n_classes + codes)[right], minlength=n_folds * n_classes)
            all_said = np.bincount(fold * n_classes + said, minlength=n_folds * n_classes)
            tp, all_said = tp.reshape(n_folds, -1), all_said.reshape(n_folds, -1)
            self.counts[:, t] = np.stack([tp, all_said - tp, actual - tp], axis=1)
        self.zero = int(np.argmin(np.abs(TILTS)))

    def decision(self, folds: Folds, tuned: bool) -> Decision:
        """Return the tilt that the given folds suggest, or none."""
        return Decision(tilt=float(self.tilts[self._tuned(folds)]) if tuned else 0.0)

    def cross_sums(self, folds: Folds, tuned: bool) -> tuple[Floats, int]:
        """Return tp, fp, fn of each class, a fold cut where the others suggest; and the documents."""
        sums = np.zeros(self.counts.shape[2:])
        for fold in folds:
            at = self._tuned([f for f in folds if f != fold]) if tuned else self.zero
            sums += self.counts[fold, at]
        return sums, int(self.n_docs[list(folds)].sum())

    def _tuned(self, folds: Folds) -> int:
        key = frozenset(folds)
        if key not in self._known:
            self._known[key] = self._best(sorted(key))
        return self._known[key]

    def _best(self, chosen: list[int]) -> int:
        curve = self.goal.figures(
            self.counts[chosen].sum(axis=0), np.full(len(TILTS), self.n_docs[chosen].sum()), one_label=True
        )
        padded = np.concatenate([curve[:1], curve, curve[-1:]])
        steadied = (padded[:-2] + 2 * curve + padded[2:]) / 4
        near = np.flatnonzero(steadied >= steadied.max() - 1e-9)
        return int(near[np.argmin(np.abs(TILTS[near]))])


def cross_figure(
    tally: ThresholdTally | TiltTally, folds: Folds, tuned: bool, verdicts: Verdicts, goal: Goal, fold: Any
) -> float:
    """Return the goal's figure over some folds, each fold cut where the others suggest."""
    if goal.of_counts is None:
        assert verdicts.values is not None
        truth, said, values = verdicts.truth, verdicts.said, verdicts.values
        rows = [fold == number for number in folds]
        parts = [Verdicts(truth[row], said[row], verdicts.one_label, values[row]) for row in rows]
        return joined(parts).figure(goal)
    sums, n_docs = tally.cross_sums(folds, tuned)
    return float(goal.figures(sums[None], np.array([n_docs]), verdicts.one_label)[0])


def _grid(values: Floats) -> Floats:
    """Return equal steps from below the least value to above the greatest, 0 among them."""
    seen = values[values > NEVER / 2]
    low, high = (min(0.0, seen.min()), max(0.0, seen.max())) if len(seen) else (0.0, 1.0)
    step = max((high - low) / STEPS, 1e-9)
    first = np.floor(low / step) - 1
    return np.asarray((first + np.arange(STEPS + 3)) * step)


def _bandwidth(moments: Floats) -> float:
    """Return the width of the smoothing, from count, sum and sum of squares of both sides."""
    n, total, squares = moments.T
    variance = np.maximum(squares / np.maximum(n, 1) - (total / np.maximum(n, 1)) ** 2, 0.0)
    common = float(np.sqrt((variance * n).sum() / n.sum()))
    own = float(np.sqrt(variance[0])) if n[0] > 2 else common
    return SMOOTHING * min(own, 3 * common) * max(float(n[0]), 2.0) ** -0.2


def _smoothed(above: Floats, grid: Floats, width: float) -> Floats:
    """Return the counts above each threshold, averaged over thresholds at a normal distribution's weights."""
    step = grid[1] - grid[0]
    reach = int(min(STEPS, np.ceil(4 * width / step)))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / max(width, step / 4)) ** 2)
    padded = np.pad(above, ((reach, reach), (0, 0)), mode="edge")
    return np.stack([np.convolve(side, kernel / kernel.sum(), "valid") for side in padded.T], axis=1)
