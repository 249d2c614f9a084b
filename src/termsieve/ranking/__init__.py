"""Scores come in; a Ranking of the terms goes out, and the terms of it that a cut-off keeps."""

from __future__ import annotations

from termsieve.ranking.cutoffs import (
    ALL,
    CELL_BYTES,
    CUTS,
    ROW_BYTES,
    TESTS,
    Size,
    check_cut,
    cut,
    one_cut,
    p_values,
    sparsity_curve,
)
from termsieve.ranking.ordering import interleaved, rank
from termsieve.ranking.ranked import Columns, Combine, Ranking, Side, Tables

__all__ = [
    "ALL",
    "CELL_BYTES",
    "CUTS",
    "ROW_BYTES",
    "TESTS",
    "Columns",
    "Combine",
    "Ranking",
    "Side",
    "Size",
    "Tables",
    "check_cut",
    "cut",
    "interleaved",
    "one_cut",
    "p_values",
    "rank",
    "sparsity_curve",
]
