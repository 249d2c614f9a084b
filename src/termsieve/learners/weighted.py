"""BalancedSVM, in which classes have equal weight; and decision values of several SVMs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.kernels import linear
from termsieve.learners.linear import SquaredHingeSVM, _minimise, _set_values
from termsieve.learners.registry import TrainingCost, register_learner
from termsieve.learners.rows import Floats, Merged, Rows, threads


@register_learner(
    "svm(balanced)",
    "C",
    formula="as svm, the losses of a class and of the rest weighing the same: times n / (2 * documents)",
    cite="LinearSVC",
    several="rest",
    along=_set_values,
    by_columns=True,
    cost=TrainingCost(3e-4, 2.4e-8),
)
class BalancedSVM(SquaredHingeSVM):
    """Linear SVM whose losses give a class and the rest equal weight, however rare the class is.

    For two classes it is LinearSVC(class_weight="balanced").

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the size of the weights; must be above 0.
    """

    def _improve(self, rows: Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        merged = rows.merged(positive)
        _minimise(False, merged, _costs(self, merged, positive), w, space)


def _costs(estimator: SquaredHingeSVM, merged: Merged, positive: NDArray[np.bool_]) -> Floats:
    cost = 2.0 * estimator.C * merged.weight
    if not isinstance(estimator, BalancedSVM):
        return cost
    n, inside = len(positive), int(np.count_nonzero(positive))
    return cost * np.where(merged.sign > 0, n / (2.0 * max(inside, 1)), n / (2.0 * max(n - inside, 1)))


def values_of_learners(
    estimators: Sequence[SquaredHingeSVM],
    X_train: Any,
    positive: NDArray[np.bool_],
    X_test: Any,
    tolerance: float = 1e-4,
) -> Floats:
    """Return the decision values (estimators x test documents) of SVMs on the same documents.

    Each starts from the solution of the one before: give the strongest regularisation first. The weights are
    within `tolerance` of the solution.
    """
    train, test = Rows.of(X_train), Rows.of(X_test)
    values = np.empty((len(estimators), X_test.shape[0]))
    merged = train.merged(np.ascontiguousarray(positive))
    rows, w, space = merged.rows, np.zeros(X_train.shape[1] + 1), linear.Workspace()
    with threads().limit(limits=1, user_api="blas"):
        for estimator, out in zip(estimators, values, strict=True):
            cost = _costs(estimator, merged, positive)
            linear.solve(
                space, False, rows.column, rows.value, rows.start, rows.end, merged.sign, cost, w, tolerance
            )
            out[:] = test.decisions(w)
    return values
