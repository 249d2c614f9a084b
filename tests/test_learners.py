"""Learners: scikit-learn's own checks, independent oracles, names, and the paths through a ranking."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from termsieve.learners import LEARNERS, learner, learner_name


@parametrize_with_checks([learner(name) for name in LEARNERS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "name",
    [
        *LEARNERS,
        "perceptron(passes=3)",
        "svm(C=10.0)",
        "svm(hinge, C=0.5)",
        "nb(quotient, alpha=0.5)",
        "lr(penalty=0.01)",
    ],
)
def test_printed_names_parse_back(name):
    estimator = learner(name)
    assert learner_name(estimator) == name
    assert repr(learner(learner_name(estimator))) == repr(estimator)
