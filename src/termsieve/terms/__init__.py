"""Texts come in; terms, and the sparse matrix of their counts, go out."""

from termsieve.terms.alphabet import TOKEN_PATTERN, linear_pattern
from termsieve.terms.languages import (
    LANGUAGES,
    STEMMERS,
    detected_language,
    stemmer,
    stop_word_names,
    stop_word_set,
)
from termsieve.terms.matrix import Names, count_known, count_named, count_terms, decoded, term_matrix
from termsieve.terms.options import ANALYZERS, FORMS, Analysis
from termsieve.terms.scripts import SEGMENTERS, is_unsegmented
from termsieve.terms.suited import suited_options
from termsieve.terms.vocabulary import check_term_limits, kept_columns, term_numbers

__all__ = [
    "ANALYZERS",
    "FORMS",
    "LANGUAGES",
    "SEGMENTERS",
    "STEMMERS",
    "TOKEN_PATTERN",
    "Analysis",
    "Names",
    "check_term_limits",
    "count_known",
    "count_named",
    "count_terms",
    "decoded",
    "detected_language",
    "is_unsegmented",
    "kept_columns",
    "linear_pattern",
    "stemmer",
    "stop_word_names",
    "stop_word_set",
    "suited_options",
    "term_matrix",
    "term_numbers",
]
