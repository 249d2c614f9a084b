"""Counts and tables of the analyses come in; Altair charts for a notebook, a file or a report go out."""

from termsieve.charts.of_counts import (
    bar_panel,
    metric_overlaps,
    overlap,
    sparsity,
    sparsity_table,
    telling_terms,
    term_bars,
)
from termsieve.charts.of_results import (
    chances,
    chosen_parameters,
    critical_difference,
    curves,
    pairs,
    precision_recall,
    skew,
    stability,
    trade_off,
    tuning_curves,
)
from termsieve.charts.roc import isocline_family, isoclines, roc_chart, roc_map, term_points
from termsieve.charts.theme import PALETTE, save

__all__ = [
    "PALETTE",
    "bar_panel",
    "chances",
    "chosen_parameters",
    "critical_difference",
    "curves",
    "isocline_family",
    "isoclines",
    "metric_overlaps",
    "overlap",
    "pairs",
    "precision_recall",
    "roc_chart",
    "roc_map",
    "save",
    "skew",
    "sparsity",
    "sparsity_table",
    "stability",
    "telling_terms",
    "term_bars",
    "term_points",
    "trade_off",
    "tuning_curves",
]
