"""Result rows, selections or counts come in; small tables that answer a study's questions go out."""

from termsieve.analysis.chances import backups, best_chances, best_pairs, pair_chances, tolerances_of
from termsieve.analysis.curves import (
    by_skew,
    precision_recall,
    size_curves,
    size_needed,
    skew_curves,
    skew_percentile,
    trade_offs,
)
from termsieve.analysis.preference import li2009_rankings, preferences
from termsieve.analysis.ratios import chosen_parameters, implied_ratios, largest_scores, tuning_curves
from termsieve.analysis.significance import MeanRanks, holm, mean_ranks, paired_tests
from termsieve.analysis.stability import fold_stability, jaccard, kuncheva, overlaps, prefixes
from termsieve.analysis.values import average_maximum, problem_means, problem_values

__all__ = [
    "MeanRanks",
    "average_maximum",
    "backups",
    "best_chances",
    "best_pairs",
    "by_skew",
    "chosen_parameters",
    "fold_stability",
    "holm",
    "implied_ratios",
    "jaccard",
    "kuncheva",
    "largest_scores",
    "li2009_rankings",
    "mean_ranks",
    "overlaps",
    "pair_chances",
    "paired_tests",
    "precision_recall",
    "preferences",
    "prefixes",
    "problem_means",
    "problem_values",
    "size_curves",
    "size_needed",
    "skew_curves",
    "skew_percentile",
    "tolerances_of",
    "trade_offs",
    "tuning_curves",
]
