"""Texts or a term matrix, and labels, come in; selected or weighted terms go out: scikit-learn estimators."""

from __future__ import annotations

from termsieve.estimators.decision import DecisionClassifier
from termsieve.estimators.kept import KeptTerms
from termsieve.estimators.methods import learned_terms
from termsieve.estimators.ratio import RatioClassifier, RatioSelector
from termsieve.estimators.scaler import TermScaler
from termsieve.estimators.selector import TermSelector, score_func
from termsieve.estimators.vectorizer import TermVectorizer
from termsieve.estimators.weighter import TermWeighter
from termsieve.estimators.weights import WeightSelector
from termsieve.estimators.wfo import WFOSelector

__all__ = [
    "DecisionClassifier",
    "KeptTerms",
    "RatioClassifier",
    "RatioSelector",
    "TermScaler",
    "TermSelector",
    "TermVectorizer",
    "TermWeighter",
    "WFOSelector",
    "WeightSelector",
    "learned_terms",
    "score_func",
]
