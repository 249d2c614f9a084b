"""BalancedSVM, whose classes weigh the same; and decision values of several linear learners, one from another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.kernels import linear
from termsieve.learners import (
    _SHARED,
    Floats,
    SquaredHingeSVM,
    _declare,
    _linear_sets,
    _LinearClassifier,
    _minimise,
    _Rows,
    _threads,
)


@_declare(
    "svm(balanced)",
    "C",
    objective="as svm, but the losses of a class and of the rest weigh the same: times n / (2 documents of the side)",
    cite="LinearSVC",
)
class BalancedSVM(SquaredHingeSVM):
    """Linear SVM in whose sum of losses a class and the rest weigh the same, however rare the class is.

    For two classes it is LinearSVC(class_weight="balanced").
    """

    def _improve(self, rows: _Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        merged = rows.merged(positive)
        n, inside = len(positive), np.count_nonzero(positive)
        side = np.where(merged.sign > 0, n / (2.0 * max(inside, 1)), n / (2.0 * max(n - inside, 1)))
        _minimise(False, merged, 2.0 * self.C * merged.weight * side, w, space)


_SHARED[BalancedSVM] = _linear_sets


def values_of_learners(
    estimators: Sequence[Any], X_train: Any, positive: NDArray[np.bool_], X_test: Any
) -> Floats:
    """Return the decision values (estimators x test documents) of linear learners on the same documents.

    Each starts from the solution of the one before: give the strongest regularisation first.
    """
    train, test = _Rows.of(X_train), _Rows.of(X_test)
    values = np.empty((len(estimators), X_test.shape[0]))
    positive = np.ascontiguousarray(positive)
    w, space = np.zeros(X_train.shape[1] + 1), linear.Workspace()
    with _threads().limit(limits=1, user_api="blas"):
        for estimator, out in zip(estimators, values, strict=True):
            assert isinstance(estimator, _LinearClassifier)
            estimator._improve(train, positive, w, space)
            out[:] = test.decisions(w)
    return values
