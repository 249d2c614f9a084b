"""BalancedSVM, in which classes weigh the same; and decision values of several linear learners at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.kernels import linear
from termsieve.learners.linear import SquaredHingeSVM, _minimise, _set_values
from termsieve.learners.registry import TrainingCost, register_learner
from termsieve.learners.rows import Floats, Rows, threads


@register_learner(
    "svm(balanced)",
    "C",
    objective="as svm, the losses of a class and of the rest weighing the same: times n / (2 * documents)",
    cite="LinearSVC",
    several="rest",
    along=_set_values,
    cost=TrainingCost(3e-4, 2.4e-8),
)
class BalancedSVM(SquaredHingeSVM):
    """Linear SVM in whose sum of losses a class and the rest weigh the same, however rare the class is.

    For two classes it is LinearSVC(class_weight="balanced").
    """

    def _improve(self, rows: Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        merged = rows.merged(positive)
        n, inside = len(positive), int(np.count_nonzero(positive))
        side = np.where(merged.sign > 0, n / (2.0 * max(inside, 1)), n / (2.0 * max(n - inside, 1)))
        _minimise(False, merged, 2.0 * self.C * merged.weight * side, w, space)


def values_of_learners(
    estimators: Sequence[SquaredHingeSVM], X_train: Any, positive: NDArray[np.bool_], X_test: Any
) -> Floats:
    """Return the decision values (estimators x test documents) of linear learners on the same documents.

    Each starts from the solution of the one before: give the strongest regularisation first.
    """
    train, test = Rows.of(X_train), Rows.of(X_test)
    values = np.empty((len(estimators), X_test.shape[0]))
    positive = np.ascontiguousarray(positive)
    w, space = np.zeros(X_train.shape[1] + 1), linear.Workspace()
    with threads().limit(limits=1, user_api="blas"):
        for estimator, out in zip(estimators, values, strict=True):
            estimator._improve(train, positive, w, space)
            out[:] = test.decisions(w)
    return values
