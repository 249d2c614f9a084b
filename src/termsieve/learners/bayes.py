"""Documents and labels come in; naive Bayes models, one by one or along a ranking, go out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import MultinomialNB
from sklearn.utils.validation import check_non_negative

from termsieve.errors import InputError
from termsieve.kernels import bayes
from termsieve.learners.base import Classifier
from termsieve.learners.registry import TrainingCost, register_learner
from termsieve.learners.rows import Floats, Ints, canonical
from termsieve.matrices import check_indices

COST = TrainingCost(3e-4, 4e-9)


def _set_values(
    estimator: Any, X_train: Any, positive: NDArray[np.bool_], X_test: Any, sets: list[Ints]
) -> Floats:
    """Train naive Bayes on all sets at once: only the sums over a set depend on it."""
    train, test = canonical(X_train), canonical(X_test)
    if any(X.nnz and X.data.min() < 0 for X in (train, test)):
        raise InputError("naive Bayes takes counts or weights of at least 0; a value is negative")
    rest, member = bayes.class_sums(*_arrays(train), positive.view(np.uint8), train.shape[1])
    counts = np.stack([member, rest])
    weight = np.log(np.maximum(counts + estimator.alpha, np.finfo(float).tiny))
    sums = bayes.set_sums(*_arrays(test), *_memberships(sets, train.shape[1]), weight, len(sets))
    # The occurrences of all terms in each class: of the selected ones, or of all in the documents.
    among = [np.arange(train.shape[1])] * len(sets) if isinstance(estimator, AllTermsNB) else sets
    total = np.stack(
        [counts[:, columns].sum(axis=1) + estimator.alpha * len(columns) for columns in among], axis=1
    )
    norm = np.log(np.maximum(total, np.finfo(float).tiny))
    prior = np.log([positive.mean(), 1.0 - positive.mean()])
    joint = sums[:, :2] - sums[:, 2:] * norm + prior[:, None]
    quotient = isinstance(estimator, QuotientNB)
    values = 1.0 - joint[:, 0] / joint[:, 1] if quotient else joint[:, 0] - joint[:, 1]
    return np.ascontiguousarray(values.T)


def _arrays(X: Any) -> tuple[Ints, NDArray[np.int32], NDArray[Any]]:
    data = X.data.view(np.uint8) if X.dtype == bool else X.data
    if data.dtype.type not in (np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64):
        data = data.astype(np.float64)
    return X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), data


def _memberships(sets: list[Ints], n_columns: int) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
    """Return the runs of consecutive sets that contain each column: the begin and end of each run."""
    member = np.zeros((n_columns, len(sets) + 2), dtype=np.int8)
    for number, columns in enumerate(sets, start=1):
        member[columns, number] = 1
    used = np.flatnonzero(member.any(axis=1))
    change = np.diff(member[used], axis=1)
    runs = np.zeros(n_columns + 1, dtype=np.int64)
    runs[used + 1] = (change == 1).sum(axis=1)
    low, high = (np.nonzero(change == sign)[1].astype(np.int32) for sign in (1, -1))
    return np.cumsum(runs), low, high


@register_learner(
    "nb",
    "alpha",
    formula="multinomial: P(t|c) = (occurrences in c + alpha) / (all occurrences in c + alpha * terms)",
    cite="uchyigit2007, mladenic2004",
    reads="counts",
    along=_set_values,
    cost=COST,
    same=(MultinomialNB,),
)
class CheckedNB(MultinomialNB):
    """scikit-learn's MultinomialNB, which checks the indices of a sparse matrix before it reads the matrix.

    Parameters
    ----------
    alpha : float, default=1.0
        What is added to the occurrences of each term (Laplace smoothing).
    force_alpha : bool, default=True
        Whether an `alpha` below 1e-10 is kept as it is.
    fit_prior : bool, default=True
        Whether the shares of the classes are learned; otherwise all classes are equally likely.
    class_prior : array-like, optional
        The shares of the classes, if they are not to be learned.
    """

    def _check_X_y(self, X: Any, y: Any, reset: bool = True) -> Any:  # noqa: N802
        check_indices(X)
        return super()._check_X_y(X, y, reset=reset)

    def _check_X(self, X: Any) -> Any:  # noqa: N802
        check_indices(X)
        return super()._check_X(X)


@register_learner(
    "nb(all)",
    "alpha",
    formula="nb, P(t|c) among all terms of the documents: along a ranking, also those not selected",
    cite="uchyigit2007",
    reads="counts",
    along=_set_values,
    cost=COST,
)
class AllTermsNB(CheckedNB):
    """Multinomial naive Bayes whose P(t|c) is a share of all terms of the documents, selected or not.

    Along a ranking, the occurrences and the number of terms in the denominator are those of all columns, so
    that the probabilities of the selected terms do not add up to 1. Fitted to a matrix, it is MultinomialNB:
    it cannot know of terms that the matrix does not hold.

    Parameters
    ----------
    alpha : float, default=1.0
        What is added to the occurrences of each term.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__(alpha=alpha)


@register_learner(
    "nb(quotient)",
    "alpha",
    formula="nb, scored by the quotient of the log-probabilities of class and rest, not their difference",
    cite="zheng2004",
    reads="counts",
    along=_set_values,
    cost=COST,
)
class QuotientNB(Classifier):
    """Multinomial naive Bayes whose decision value is 1 - q for a class c against the rest.

    q = (log P(c) + sum log P(t|c)) / (log P(rest) + sum log P(t|rest)), each sum over the document's
    occurrences. Both are negative: q < 1 if c is more likely. So the decision for two classes is that of
    naive Bayes, and only the order of the documents differs: dividing removes most of the influence of their
    length.

    Parameters
    ----------
    alpha : float, default=1.0
        What is added to each count (Laplace smoothing).
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> QuotientNB:
        """Learn `prior_log_prob_` and `feature_log_prob_`: for each problem, of the class and of the rest.

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
        check_non_negative(X, "QuotientNB")
        targets = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        member = np.stack([codes == target for target in targets])
        sides = np.stack([member, ~member], axis=1).astype(np.float64)
        self.prior_log_prob_ = np.log(sides.mean(axis=2))
        counts = np.stack([np.asarray(side @ X) for side in sides]) + self.alpha
        self.feature_log_prob_ = np.log(counts) - np.log(counts.sum(axis=2, keepdims=True))
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return 1 - quotient: one value per document for two classes, otherwise one per class.

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
        check_non_negative(X, "QuotientNB")
        problems, _, n_terms = self.feature_log_prob_.shape
        joint = np.asarray(X @ self.feature_log_prob_.reshape(-1, n_terms).T) + self.prior_log_prob_.ravel()
        joint = joint.reshape(-1, problems, 2)
        values: Floats = 1.0 - joint[:, :, 0] / joint[:, :, 1]
        return values[:, 0] if problems == 1 else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # As in scikit-learn's discrete naive Bayes: counts are expected, but the checks use measurements.
        tags.classifier_tags.poor_score = True
        return tags
