"""Documents and labels come in; linear models, one by one or along a ranking, go out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from termsieve.errors import InputError
from termsieve.kernels import linear, smo
from termsieve.learners.base import Classifier
from termsieve.learners.registry import TrainingCost, register_learner
from termsieve.learners.rows import ColumnSets, Floats, Ints, Merged, Rows, canonical, threads

# With more rows the Gram matrix (576 MB in single precision) is too large, and LIBSVM is used instead.
MAX_GRAM_ROWS = 12000
# Steps of svm(hinge), each of which changes two documents. On presence or tf-idf a few steps per document
# are enough; on dense rows with values of 1e8 even this number (5 s for 1,000 documents) is not.
MAX_ROUNDS = 10**6
# Length of the gradient at which training ends; by strong convexity the weights are at most as far from the
# solution. The active rows of the squared hinge are known long before, so its last digits cost little. The
# logistic loss pays for each digit; its decision values are still nearer to the solution's than liblinear's
# are with its default tolerance.
TOLERANCE = 1e-4
LOGISTIC_TOLERANCE = 2e-4


class LinearClassifier(Classifier):
    """One weight vector for two classes, otherwise one per class against the rest."""

    def _improve(self, rows: Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        """Improve the weights `w` (the intercept first) to the solution, in place."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Any:
        """Learn `coef_` and `intercept_`."""
        X, codes = self._checked_fit_input(X, y)
        targets = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        weights = np.zeros((len(targets), X.shape[1] + 1))
        rows, space = Rows.of(X), linear.Workspace()
        with threads().limit(limits=1, user_api="blas"):
            for target, w in zip(targets, weights, strict=True):
                self._improve(rows, codes == target, w, space)
        self.coef_, self.intercept_ = weights[:, 1:].copy(), weights[:, 0].copy()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return w.x + b: one value per document for two classes, otherwise one per class."""
        X = self._checked_input(X)
        values: Floats = np.asarray(X @ self.coef_.T) + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values


def _set_values(
    estimator: LinearClassifier,
    X_train: Any,
    positive: NDArray[np.bool_],
    X_test: Any,
    column_sets: list[Ints],
) -> Floats:
    """Train on each set, starting from the solution of the set before."""
    sets = ColumnSets.of(X_train, X_test, column_sets)
    values = np.empty((len(sets.positions), X_test.shape[0]))
    everything, space = np.zeros(len(sets.candidates) + 1), linear.Workspace()
    for out, (positions, train) in zip(values, sets.each(), strict=True):
        weights = np.concatenate([[0], positions + 1])
        w = everything[weights]
        estimator._improve(train, positive, w, space)
        everything[weights] = w
        out[:] = sets.decisions(positions, w)
    return values


def _minimise(logistic: bool, merged: Merged, cost: Floats, w: Floats, space: Any) -> None:
    rows = merged.rows
    given = space, logistic, rows.column, rows.value, rows.start, rows.end, merged.sign, cost, w
    tolerance = LOGISTIC_TOLERANCE if logistic else TOLERANCE
    linear.solve(*given, tolerance)
    if not np.isfinite(w).all():
        # A Cholesky factorisation of very large values can fail; conjugate gradients do not need one.
        w[:] = 0.0
        linear.solve(*given, tolerance, linear.ITERATIVE)
        _check_finite(w, rows)


def _check_finite(w: Floats, rows: Rows) -> None:
    if not np.isfinite(w).all():
        largest = np.abs(rows.value).max(initial=1.0)
        raise InputError(
            f"no linear model can be found for values as large as {largest:.2g}; scale the documents, with "
            "tf-idf or to unit length"
        )


@register_learner(
    "lr",
    "penalty",
    formula="mean log-loss + penalty * |w|^2, the intercept in w; classes against the rest",
    cite="zheng2004",
    several="rest",
    along=_set_values,
    by_columns=True,
    cost=TrainingCost(6e-4, 4.3e-8),
)
class LogisticL2(LinearClassifier):
    """Logistic regression that minimises mean log-loss + penalty * (``|w|^2`` + b^2).

    Parameters
    ----------
    penalty : float, default=0.0001
        Weight of the penalty.
    """

    def __init__(self, penalty: float = 0.0001) -> None:
        self.penalty = penalty

    def _improve(self, rows: Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        merged = rows.merged(positive)
        _minimise(True, merged, merged.weight / (2.0 * self.penalty * len(positive)), w, space)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class; more than two are taken against the rest and scaled.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.

        Returns
        -------
        ndarray of shape (n_docs, n_classes)
            The probabilities.
        """
        share = expit(self.decision_function(X))
        if share.ndim == 1:
            return np.column_stack([1.0 - share, share])
        return np.asarray(share / share.sum(axis=1, keepdims=True))


@register_learner(
    "svm",
    "C",
    formula="|w|^2 / 2 + C * sum of squared hinge losses, the intercept in w; classes against the rest",
    cite="LinearSVC",
    several="rest",
    along=_set_values,
    by_columns=True,
    cost=TrainingCost(3e-4, 2.4e-8),
)
class SquaredHingeSVM(LinearClassifier):
    """Linear SVM that minimises (``|w|^2`` + b^2) / 2 + C * sum max(0, 1 - y (w.x + b))^2, as LinearSVC.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the size of the weights; must be above 0.
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def _improve(self, rows: Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        merged = rows.merged(positive)
        _minimise(False, merged, 2.0 * self.C * merged.weight, w, space)


def _hinge_set_values(
    estimator: HingeSVM, X_train: Any, positive: NDArray[np.bool_], X_test: Any, column_sets: list[Ints]
) -> Floats:
    """Train on each set; if it contains the set before, the Gram matrix is updated with the new columns."""
    sets = ColumnSets.of(X_train, X_test, column_sets)
    values = np.empty((len(sets.positions), X_test.shape[0]))
    n, reached = len(positive), sets.train.start
    gram = np.zeros((n, n), dtype=np.float32) if sets.nested and n <= MAX_GRAM_ROWS else None
    for out, (positions, train) in zip(values, sets.each(), strict=True):
        if gram is not None:
            if (train.end < reached).any():
                gram[:], reached = 0.0, train.start
            _add_gram(gram, train, reached, len(positions))
            reached = train.end
        w = _hinge_solution(estimator.C, train, positive, len(positions), gram)
        out[:] = sets.decisions(positions, w)
    return values


@register_learner(
    "svm(hinge)",
    "C",
    formula="|w|^2 / 2 + C * sum of hinge losses, the intercept free; classes one against one",
    cite="forman2003, li2009",
    several="pairs",
    along=_hinge_set_values,
    by_columns=True,
    cost=TrainingCost(3e-4, 8e-8),
)
class HingeSVM(Classifier):
    """Linear SVM that minimises ``|w|^2`` / 2 + C * sum max(0, 1 - y (w.x + b)), as SVC(kernel="linear").

    More than two classes are decided one against one: by the most votes, then by the sum of the values.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the size of the weights; must be above 0.
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any) -> HingeSVM:
        """Learn `coef_` and `intercept_`: one row for two classes, otherwise one per pair of classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.
        y : array-like
            The labels of the documents.

        Returns
        -------
        Self
            The fitted estimator.
        """
        X, codes = self._checked_fit_input(X, y)
        X = canonical(X)
        pairs = list(combinations(range(len(self.classes_)), 2))
        weights = np.zeros((len(pairs), X.shape[1] + 1))
        with threads().limit(limits=1, user_api="blas"):
            for (first, second), w in zip(pairs, weights, strict=True):
                chosen = np.flatnonzero((codes == first) | (codes == second))
                rows, positive = Rows.of(X[chosen]), codes[chosen] == second
                w[:] = _hinge_solution(self.C, rows, positive, X.shape[1])
        self.coef_, self.intercept_ = weights[:, 1:].copy(), weights[:, 0].copy()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return w.x + b for two classes; otherwise each class's votes plus its values scaled below 1/2.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.

        Returns
        -------
        ndarray of float
            The decision values.
        """
        X = self._checked_input(X)
        values: Floats = np.asarray(X @ self.coef_.T) + self.intercept_
        if len(self.classes_) == 2:
            return values[:, 0]
        return class_votes(values.T, len(self.classes_), values.shape[:1]).T


def class_votes(values: Iterable[Floats], n_classes: int, shape: tuple[int, ...]) -> Floats:
    """Return the votes of each class plus the sum of its values, scaled below 1/2; values come per pair."""
    votes = np.zeros((n_classes, *shape))
    margin = np.zeros_like(votes)
    for (first, second), value in zip(combinations(range(n_classes), 2), values, strict=True):
        votes[second] += value > 0
        votes[first] += value <= 0
        margin[second] += value
        margin[first] -= value
    return np.asarray(votes + margin / (3.0 * (np.abs(margin) + 1.0)))


def _hinge_solution(
    C: float,
    rows: Rows,
    positive: NDArray[np.bool_],
    n_columns: int,
    gram: NDArray[np.float32] | None = None,
) -> Floats:
    """Return the weights, the intercept first; `gram` holds the documents' inner products, if known."""
    merged = rows.merged(positive)
    if len(merged.first) > MAX_GRAM_ROWS:
        matrix = merged.rows.matrix(n_columns)
        model = SVC(kernel="linear", C=C, max_iter=10 * MAX_ROUNDS)
        model.fit(matrix, merged.sign, sample_weight=merged.weight)
        return np.concatenate([model.intercept_, model.coef_.toarray()[0]])
    if gram is None:
        n, rows, sign, bound = len(merged.first), merged.rows, merged.sign, C * merged.weight
        chosen, gram = np.arange(n), np.zeros((n, n), dtype=np.float32)
        _add_gram(gram, rows, rows.start, n_columns)
    else:
        n, chosen, sign = len(positive), merged.first, np.where(positive, 1.0, -1.0)
        bound = np.zeros(n)
        bound[chosen] = C * merged.weight
        if 4 * len(chosen) > 3 * n:
            chosen = np.arange(n)  # the others have bound 0; rows without gaps are read faster
    alpha, bias, done = smo.solve(gram, chosen, sign, bound, 1e-3, MAX_ROUNDS)
    w = rows.summed(sign * alpha, n_columns)
    w[0] = bias
    _check_finite(w, rows)
    if not done:
        warnings.warn(
            f"svm(hinge) ended after {MAX_ROUNDS:,} steps without the solution; scale the documents, with "
            "tf-idf or to unit length, or choose a smaller C",
            ConvergenceWarning,
            stacklevel=2,
        )
    return w


def _add_gram(gram: NDArray[np.float32], rows: Rows, start: Ints, n_columns: int) -> None:
    """Add the inner products of the rows' entries from `start` on."""
    smo.add_gram(start, rows.end, rows.column, rows.value, n_columns, gram)


@register_learner(
    "perceptron",
    "passes",
    formula="from w = 0, in document order, y x is added on a mistake (w.x = 0 is one), no intercept",
    cite="mladenic2004",
    several="rest",
    along=_set_values,
    by_columns=True,
    cost=TrainingCost(2e-4, 4.5e-9),
)
class DocumentPerceptron(LinearClassifier):
    """The perceptron of mladenic2004: `passes` passes through the documents in order, without intercept.

    Parameters
    ----------
    passes : int, default=1
        Number of passes through the training documents.
    """

    def __init__(self, passes: int = 1) -> None:
        self.passes = passes

    def _improve(self, rows: Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        w[:] = 0.0
        linear.perceptron(
            rows.start, rows.end, rows.column, rows.value, np.where(positive, 1.0, -1.0), self.passes, w
        )
