"""Verdicts of models of more and more documents come in; what twice as many labels would bring goes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from termsieve.adviser.goals import Floats, Goal
from termsieve.adviser.promise import Calibration, Difference, Promise, resample_weights
from termsieve.adviser.verdicts import Verdicts

SHARES = (0.25, 0.5, 1.0)  # of the training documents of a fold: each is twice the one before
RESAMPLES = 300
LEAST_RATIO, GREATEST_RATIO = 0.2, 1.2


@dataclass(frozen=True)
class LearningCurve:
    """Figures with a quarter, a half and all of a fold's training documents; the gain that is to come.

    The steps are those of tf-idf + svm with a tuned threshold, below the measured figure of the choice.
    `gain` is what twice as many labelled documents are expected to bring. On other corpora a doubling brought
    about `ratio` times what the doubling before it brought; its 95 % interval resamples the documents, and
    the ratio within its spread over those corpora, and is widened by what that left unexplained there.
    """

    documents: tuple[int, ...]
    figures: tuple[float, ...]
    gain: Difference

    @classmethod
    def of(cls, verdicts: Sequence[Verdicts], n_train: int, promise: Promise) -> LearningCurve:
        """Return the curve with the steps of verdicts at SHARES of `n_train` documents."""
        goal, known = promise.goal, promise.calibration
        documents = tuple(round(share * n_train) for share in SHARES)
        steps = [part.figure(goal) for part in verdicts]
        figures = tuple(float(np.clip(promise.measured - steps[-1] + step, 0, 1)) for step in steps)
        found = foreseen(verdicts, goal, known)
        mean = found.mean
        down, up = (known.gain_reach * max(0.0, way) for way in (mean - found.low, found.high - mean))
        room = 1.0 - promise.measured  # no figure is above 1
        mean, low, high = (min(room, gain) for gain in (mean, mean - down, mean + up))
        return cls(documents, figures, Difference(mean, low, high, found.chance))

    @property
    def sentence(self) -> str:
        """What more labels would bring, in words."""
        gain = self.gain
        steps = ", ".join(
            f"{n:,}: {figure:.3f}" for n, figure in zip(self.documents, self.figures, strict=True)
        )
        return (
            f"Twice as many labelled documents would bring {gain.mean:+.3f} ({gain.low:+.3f} to "
            f"{gain.high:+.3f}); figures by number of training documents so far: {steps}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {"documents": list(self.documents), "figures": list(self.figures), "gain": vars(self.gain)}


def foreseen(verdicts: Sequence[Verdicts], goal: Goal, known: Calibration) -> Difference:
    """Return the gain of the next doubling by verdicts at SHARES, with a 95 % interval by resamples alone."""
    generator = np.random.default_rng(0)
    weights = resample_weights(len(verdicts[0]), goal, generator, RESAMPLES)
    drawn = [part.resampled(goal, weights) for part in verdicts]
    ratios = np.clip(
        generator.normal(known.ratio, known.ratio_spread, size=len(weights)), LEAST_RATIO, GREATEST_RATIO
    )
    gains = next_gain(np.stack(drawn), ratios)
    low, high = np.quantile(gains, [0.025, 0.975])
    mean = float(next_gain(np.array([part.figure(goal) for part in verdicts]), known.ratio))
    return Difference(mean, float(low), float(high), float((gains > 0).mean()))


def next_gain(figures: Floats, ratio: Floats | float) -> Floats:
    """Return the least-squares gain of the next doubling, if each brings `ratio` times the last."""
    quarter, half, full = figures
    return np.asarray(((full - half) * ratio**3 + (half - quarter) * ratio**2) / (ratio**2 + 1))
