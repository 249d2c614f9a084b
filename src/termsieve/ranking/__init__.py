"""Scores come in; a Ranking of the terms goes out, and the terms of it that a cut-off keeps."""

from __future__ import annotations

from termsieve.ranking.cutoffs import (
    ALL,
    CELL_BYTES,
    CUTS,
    ROW_BYTES,
    Size,
    check_cut,
    cut,
    one_cut,
    sparsity_curve,
)
from termsieve.ranking.ordering import Combine, interleaved, rank
from termsieve.ranking.ranked import Columns, Ranking, Side, Tables

__all__ = [
    "ALL",
    "CELL_BYTES",
    "CUTS",
    "ROW_BYTES",
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
    "rank",
    "sparsity_curve",
]
