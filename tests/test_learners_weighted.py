"""The balanced SVM against LinearSVC, and several learners at once against each alone."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from termsieve.learners import get_learner
from termsieve.learners.weighted import values_of_learners


def documents(seed=0):
    generator = np.random.default_rng(seed)
    X = sparse.csr_matrix(generator.random((150, 40)) * (generator.random((150, 40)) < 0.2))
    return X, generator.random(150) < 0.15 + 0.5 * (X[:, 0].toarray()[:, 0] > 0.3)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_the_balanced_svm_is_linear_svc_with_balanced_weights(C):
    X, y = documents()
    own = get_learner(f"svm(balanced, C={C})").fit(X, y)
    oracle = LinearSVC(C=C, class_weight="balanced", tol=1e-9, max_iter=100_000).fit(X, y)
    assert own.coef_ == pytest.approx(oracle.coef_, abs=1e-3)
    assert own.intercept_ == pytest.approx(oracle.intercept_, abs=1e-3)


def test_learners_along_a_path_are_as_each_alone():
    X, y = documents(1)
    learners = [get_learner(f"svm(balanced, C={C})") for C in (0.1, 1.0, 10.0)]
    together = values_of_learners(learners, X[:100], y[:100], X[100:])
    for learner, values in zip(learners, together, strict=True):
        assert values == pytest.approx(learner.fit(X[:100], y[:100]).decision_function(X[100:]), abs=1e-3)
