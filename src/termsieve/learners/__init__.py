"""A learner's name comes in; a scikit-learn classifier, or its decision values along a ranking, goes out."""

from __future__ import annotations

# A module that registers learners is imported here; nothing else has to know of it.
from termsieve.learners.bayes import AllTermsNB, CheckedNB, QuotientNB
from termsieve.learners.linear import DocumentPerceptron, HingeSVM, LogisticL2, SquaredHingeSVM
from termsieve.learners.paths import decision_path, decision_sets, predicted_sets, separate_fits
from termsieve.learners.registry import (
    LEARNERS,
    Learner,
    TrainingCost,
    get_learner,
    learner_declaration,
    learner_name,
    register_learner,
)
from termsieve.learners.tree import EntropyTree
from termsieve.learners.weighted import BalancedSVM

__all__ = [
    "LEARNERS",
    "AllTermsNB",
    "BalancedSVM",
    "CheckedNB",
    "DocumentPerceptron",
    "EntropyTree",
    "HingeSVM",
    "Learner",
    "LogisticL2",
    "QuotientNB",
    "SquaredHingeSVM",
    "TrainingCost",
    "decision_path",
    "decision_sets",
    "get_learner",
    "learner_declaration",
    "learner_name",
    "predicted_sets",
    "register_learner",
    "separate_fits",
]
