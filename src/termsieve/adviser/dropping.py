"""Expected figures and resamples of them come in; which candidates are still worth a training go out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from termsieve.adviser.goals import Floats
from termsieve.adviser.verdicts import Flags

RESAMPLED = 2**22  # documents in all resamples together
WORTH = 0.03  # of the standard error of the leader's figure: an expected gain below that is lost in noise


def resamples(n_docs: int) -> NDArray[np.int64]:
    """Return how often each document is in each of 25 to 100 resamples, always the same ones."""
    rounds = int(np.clip(RESAMPLED // n_docs, 25, 100))
    return np.random.default_rng(0).multinomial(n_docs, np.full(n_docs, 1 / n_docs), size=rounds)


def worth_trying(expected: Floats, drawn: Floats, trust: float) -> Flags:
    """Return which candidates may still gain more over the leader than is worth a training.

    `drawn` has the figures of each candidate (rows) on resamples of the documents, the same for all. The gap
    between two candidates is taken to be normal about the gap of their expected figures; the prior knowledge,
    which weighs 1 - `trust`, takes that part off the variance of the resampled gaps. A candidate's expected
    gain is the mean of the part of that distribution in which it is ahead (expected improvement: mockus1978).
    It must reach WORTH of the standard error of the leader's own figure; the leader always stays.
    """
    leader = int(np.argmax(expected))
    gaps = expected[leader] - expected
    spread = np.sqrt(trust) * (drawn - drawn[leader]).std(axis=1)
    distance = gaps / np.maximum(spread, 1e-12)
    density = np.exp(-0.5 * distance**2) / np.sqrt(2 * np.pi)
    gains = spread * (density - distance * ndtr(-distance))
    kept = np.asarray(gains >= WORTH * drawn[leader].std())
    kept[leader] = True
    return kept
