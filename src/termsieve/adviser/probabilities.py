"""Decision values of documents that the models did not see come in; calibrated probabilities go out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from termsieve.adviser.decisions import NEVER
from termsieve.adviser.goals import Floats
from termsieve.adviser.verdicts import Flags
from termsieve.estimators.decision import probabilities

BINS = 10  # of the calibration error
STEPS = 100  # of Newton's method at most
Sigmoids = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Calibrated:
    """How decision values become probabilities, and how good these are on documents that no model saw.

    `sigmoids` holds a slope and an offset per problem. `brier` is the mean squared error of the
    probabilities, `brier_of_shares` that of always saying a class's share; `error` is the mean distance
    between a probability and the share of documents that belong, over ten groups of like probabilities.
    """

    sigmoids: Sigmoids
    brier: float
    brier_of_shares: float
    error: float

    @property
    def sentence(self) -> str:
        """How good the probabilities are, in words."""
        return (
            f"Probabilities are off by {self.error:.3f} on average (calibration error on unseen documents); "
            f"their mean squared error is {self.brier:.3f}, that of always saying a class's share "
            f"{self.brier_of_shares:.3f}."
        )


def calibrated(
    values: Floats, truth: Flags, fold: NDArray[np.int64], folds: Sequence[int], one_label: bool
) -> Calibrated:
    """Return sigmoids of all folds' decision values, judged by those that the other folds suggest."""
    said = np.zeros(truth.shape)
    for number in folds:
        others, rows = np.isin(fold, [f for f in folds if f != number]), fold == number
        found = probabilities(values[rows], sigmoids_of(values[others], truth[others]), one_label)
        said[rows] = found[:, -truth.shape[1] :]
    tested = np.isin(fold, list(folds))
    shares = truth[tested].mean(axis=0)
    belong, stated = truth[tested], said[tested]
    return Calibrated(
        sigmoids_of(values[tested], belong),
        float(((stated - belong) ** 2).mean()),
        float(((shares - belong) ** 2).mean()),
        calibration_error(stated.ravel(), belong.ravel()),
    )


def calibration_error(stated: Any, belong: Any) -> float:
    """Return the mean distance of probability and share, over groups of equal size in their order."""
    order = np.argsort(stated, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    gaps = [abs(stated[part].mean() - belong[part].mean()) * len(part) for part in parts]
    return float(sum(gaps) / len(order))


def sigmoids_of(values: Floats, truth: Flags) -> Sigmoids:
    """Return slope and offset of the log-odds of each problem (platt1999)."""
    return tuple(_sigmoid(*column) for column in zip(values.T, truth.T, strict=True))


def _sigmoid(values: Floats, inside: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the sigmoid with the least log-loss; each side is trusted only as far as its documents allow."""
    seen = values > NEVER / 2
    values, inside = values[seen], inside[seen]
    n_inside, n_outside = int(inside.sum()), int((~inside).sum())
    prior = float(np.log((n_inside + 1) / (n_outside + 1)))
    scale = float(values.std()) if len(values) else 0.0
    if scale == 0 or n_inside == 0 or n_outside == 0:
        return 0.0, prior
    wanted = np.where(inside, (n_inside + 1) / (n_inside + 2), 1 / (n_outside + 2))
    rows = np.column_stack([values / scale, np.ones(len(values))])
    found, loss = np.array([0.0, prior]), np.inf
    for _ in range(STEPS):
        share = expit(rows @ found)
        slope = rows.T @ (share - wanted)
        if np.abs(slope).max() < 1e-8 * len(rows):
            break
        curve = (rows * (share * (1 - share))[:, None]).T @ rows + 1e-9 * np.eye(2)
        step, loss = np.linalg.solve(curve, slope), _log_loss(rows @ found, wanted)
        length = 1.0
        while _log_loss(rows @ (found - length * step), wanted) > loss and length > 1e-6:
            length /= 2
        found = found - length * step
    return float(found[0] / scale), float(found[1])


def _log_loss(odds: Floats, wanted: Floats) -> float:
    return float((np.logaddexp(0.0, odds) - wanted * odds).sum())
