"""Figures of selections of growing size come in; how few terms stay within a distance of the best go out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from termsieve.adviser.race import Choice

DISTANCES = (0.005, 0.01, 0.02)


@dataclass(frozen=True)
class Point:
    """A model of the frontier: its terms, what they cost, and its cross-validated figure."""

    choice: Choice
    terms: int
    sparsity: float  # mean distinct terms per document
    matrix_bytes: int
    figure: float
    steadied: float  # the mean with its neighbours in size: a lone peak is more often luck

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {
            "setting": str(self.choice),
            "terms": self.terms,
            "distinct_terms_per_document": self.sparsity,
            "matrix_bytes": self.matrix_bytes,
            "cross_validated": self.figure,
            "steadied": self.steadied,
        }


def steadied(figures: Sequence[float]) -> list[float]:
    """Return each figure averaged with its neighbours, which count half."""
    raw = np.asarray(figures, dtype=np.float64)
    padded = np.concatenate([raw[:1], raw, raw[-1:]])
    return ((padded[:-2] + 2 * raw + padded[2:]) / 4).tolist() if len(raw) else []


def fewest_terms(points: Sequence[Point], best: float, distance: float) -> Point | None:
    """Return the point with the fewest terms whose steadied figure is within a distance of the best."""
    near = [point for point in points if point.steadied >= best - distance]
    return min(near, key=lambda point: point.terms, default=None)
