"""Tables of the analyses come in; Altair charts for a notebook, a file or a report go out."""

from termsieve.charts.of_counts import (
    implied_ratios,
    largest_scores,
    overlap,
    sparsity,
    term_bars,
    word_rates,
)
from termsieve.charts.of_drift import over_time
from termsieve.charts.of_results import (
    backups,
    chances,
    critical_difference,
    curves,
    pairs,
    precision_recall,
    setting_curves,
    skew,
    stability,
    trade_off,
)
from termsieve.charts.of_tuning import chosen_parameters, tuning_curves
from termsieve.charts.roc import isocline_family, roc_map, score_surface
from termsieve.charts.theme import PALETTE, save

__all__ = [
    "PALETTE",
    "backups",
    "chances",
    "chosen_parameters",
    "critical_difference",
    "curves",
    "implied_ratios",
    "isocline_family",
    "largest_scores",
    "over_time",
    "overlap",
    "pairs",
    "precision_recall",
    "roc_map",
    "save",
    "score_surface",
    "setting_curves",
    "skew",
    "sparsity",
    "stability",
    "term_bars",
    "trade_off",
    "tuning_curves",
    "word_rates",
]
