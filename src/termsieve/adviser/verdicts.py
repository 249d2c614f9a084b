"""True classes, predictions and decision values of documents come in; figures and their resamples go out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from termsieve.adviser.goals import ORDERED, Floats, Goal

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Verdicts:
    """Documents x problems: which belong (`truth`), which were said to (`said`), with which decision value.

    `one_label` says that the problems are classes that exclude each other.
    """

    truth: Flags
    said: Flags
    one_label: bool
    values: Floats | None = None

    def __len__(self) -> int:
        return len(self.truth)

    def cells(self) -> Floats:
        """Return what each document adds to tp, fp and fn of each problem: documents x (3 problems)."""
        truth, said = self.truth, self.said
        return np.concatenate([truth & said, ~truth & said, truth & ~said], axis=1).astype(np.float32)

    def problem(self, number: int) -> Verdicts:
        """Return the verdicts on one of the problems."""
        part = slice(number, number + 1)
        values = None if self.values is None else self.values[:, part]
        return Verdicts(self.truth[:, part], self.said[:, part], self.one_label, values)

    def kinds(self, goal: Goal) -> tuple[Verdicts, NDArray[np.int64]]:
        """Return one document of each kind that the goal tells apart, and how many there are of it."""
        if goal.of_counts is None:  # the order of the documents matters
            return self, np.ones(len(self), dtype=np.int64)
        both = np.concatenate([self.truth, self.said], axis=1)
        _, first, sizes = np.unique(np.packbits(both, axis=1), axis=0, return_index=True, return_counts=True)
        return Verdicts(self.truth[first], self.said[first], self.one_label), sizes

    def figure(self, goal: Goal) -> float:
        """Return the goal's figure over all documents."""
        return float(self.resampled(goal, np.ones((1, len(self))))[0])

    def resampled(self, goal: Goal, weights: NDArray) -> Floats:
        """Return the figure under each row of document weights."""
        if goal.of_counts is None:
            return self._ordered(goal, np.asarray(weights, dtype=np.float64))
        return figures_of_cells(goal, weights, self.cells(), self.one_label)

    def _ordered(self, goal: Goal, weights: Floats) -> Floats:
        assert self.values is not None
        area, truth = ORDERED[goal.name], self.truth
        found = np.stack([area(side, self.values[:, p], weights) for p, side in enumerate(truth.T)], axis=1)
        there = (weights @ truth > 0) & (weights @ ~truth > 0)
        return np.asarray((found * there).sum(axis=1) / np.maximum(there.sum(axis=1), 1))


def figures_of_cells(goal: Goal, weights: NDArray, cells: Floats, one_label: bool) -> Floats:
    """Return the figure under each row of weights of the documents' cells."""
    sums = (weights.astype(np.float32) @ cells).astype(np.float64)
    return goal.figures(sums.reshape(len(sums), 3, -1), weights.sum(axis=1), one_label)


def ranks(values: Floats) -> Floats:
    """Return the place of each value in its column, between 0 and 1; equal values have equal places."""
    return np.asarray(rankdata(values, axis=0) / max(1, len(values)))


def joined(parts: list[Verdicts]) -> Verdicts:
    """Return the verdicts of all parts, one below the other; decision values become ranks within their part.

    Each part has a model of its own, whose values cannot be compared with those of another.
    """
    values = [ranks(part.values) for part in parts if part.values is not None]
    return Verdicts(
        np.concatenate([part.truth for part in parts]),
        np.concatenate([part.said for part in parts]),
        parts[0].one_label,
        np.concatenate(values) if len(values) == len(parts) else None,
    )
