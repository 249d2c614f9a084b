"""Texts come in; terms, and the sparse matrix of their counts, go out."""

from termsieve.terms.alphabet import TOKEN_PATTERN, linear_pattern
from termsieve.terms.languages import STEMMERS, stemmer, stop_word_set
from termsieve.terms.matrix import (
    check_term_limits,
    count_known,
    count_terms,
    decoded,
    kept_columns,
    term_matrix,
    term_numbers,
)
from termsieve.terms.options import ANALYZERS, Analysis

__all__ = [
    "ANALYZERS",
    "STEMMERS",
    "TOKEN_PATTERN",
    "Analysis",
    "check_term_limits",
    "count_known",
    "count_terms",
    "decoded",
    "kept_columns",
    "linear_pattern",
    "stemmer",
    "stop_word_set",
    "term_matrix",
    "term_numbers",
]
