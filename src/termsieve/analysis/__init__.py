"""Result rows, selections or counts come in; small tables that answer a reader's questions go out."""

from termsieve.analysis.chances import backups, best_chances, best_pairs, pair_chances, tolerances_of
from termsieve.analysis.curves import (
    best_size,
    by_skew,
    precision_recall,
    selected_sparsity,
    size_curves,
    size_needed,
    skew_curves,
    skew_percentile,
    trade_offs,
)
from termsieve.analysis.documents import DocumentFacts, document_facts, giveaways
from termsieve.analysis.duplicates import duplicate_documents, repeated_documents, row_keys, text_keys
from termsieve.analysis.mistakes import class_figures, confused_pairs, cross_validated
from termsieve.analysis.of_counts import class_sizes, metric_overlaps, sparsity_table, telling_terms
from termsieve.analysis.preference import li2009_rankings, preferences
from termsieve.analysis.ratios import chosen_parameters, implied_ratios, largest_scores, tuning_curves
from termsieve.analysis.roc import RocMap, cutoff_lines, isocline_family, isoclines, roc_map, term_points
from termsieve.analysis.significance import MeanRanks, holm, mean_ranks, paired_at_best_size, paired_tests
from termsieve.analysis.stability import fold_stability, jaccard, kuncheva, overlaps, prefixes
from termsieve.analysis.surface import Surface, score_surface
from termsieve.analysis.values import average_maximum, problem_means, problem_values
from termsieve.analysis.variants import corpus_table, setting_curves, setting_names
from termsieve.analysis.words import class_likeness, rate_interval, word_rates

__all__ = [
    "DocumentFacts",
    "MeanRanks",
    "RocMap",
    "Surface",
    "average_maximum",
    "backups",
    "best_chances",
    "best_pairs",
    "best_size",
    "by_skew",
    "chosen_parameters",
    "class_figures",
    "class_likeness",
    "class_sizes",
    "confused_pairs",
    "corpus_table",
    "cross_validated",
    "cutoff_lines",
    "document_facts",
    "duplicate_documents",
    "fold_stability",
    "giveaways",
    "holm",
    "implied_ratios",
    "isocline_family",
    "isoclines",
    "jaccard",
    "kuncheva",
    "largest_scores",
    "li2009_rankings",
    "mean_ranks",
    "metric_overlaps",
    "overlaps",
    "pair_chances",
    "paired_at_best_size",
    "paired_tests",
    "precision_recall",
    "preferences",
    "prefixes",
    "problem_means",
    "problem_values",
    "rate_interval",
    "repeated_documents",
    "roc_map",
    "row_keys",
    "score_surface",
    "selected_sparsity",
    "setting_curves",
    "setting_names",
    "size_curves",
    "size_needed",
    "skew_curves",
    "skew_percentile",
    "sparsity_table",
    "telling_terms",
    "term_points",
    "text_keys",
    "tolerances_of",
    "trade_offs",
    "tuning_curves",
    "word_rates",
]
