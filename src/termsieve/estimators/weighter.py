"""TermWeighter: a term matrix comes in; the matrix with each term weighted by its score goes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from termsieve.counts import Counts
from termsieve.errors import unknown_name
from termsieve.estimators.selector import TermMatrixMixin, ranked, with_occurrences
from termsieve.matrices import check_indices, sound_csr
from termsieve.metrics import Metric
from termsieve.ranking import Combine

VALUES = ("presence", "tf")


class TermWeighter(TermMatrixMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Weight terms by how well they separate the classes, instead of by inverse document frequency.

    If there are two classes, the second is the positive one, as everywhere in scikit-learn. Where a metric
    gives a score below 0, the weight is 0.

    Parameters
    ----------
    metric : str, Metric or callable, default="bns"
        The metric, as for TermSelector. The weight of a term is the absolute value of a signed score.
    values : {"presence", "tf"}, default="presence"
        What is multiplied by the score: 1 where the term occurs, or the value in X.
    combine : {"max", "mean", "round_robin", "joint"}, default="max"
        How the scores of several classes become one score per term; see :func:`termsieve.rank`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        The weight of each term, 0 or more.
    counts_ : Counts
        The counts that the weights were computed from.
    classes_ : ndarray
        The classes.

    Examples
    --------
    >>> X = [[2, 1, 0], [1, 1, 0], [0, 1, 3], [0, 1, 0]]
    >>> TermWeighter("chi_squared", values="tf").fit_transform(X, ["spam", "spam", "ham", "ham"]).round(2)
    array([[8., 0., 0.],
           [4., 0., 0.],
           [0., 0., 4.],
           [0., 0., 0.]])
    """

    _loadable: ClassVar = {"values": VALUES}  # what a loaded model may have

    def __init__(
        self,
        metric: str | Metric | Callable[..., Any] = "bns",
        values: str = "presence",
        combine: Combine = "max",
    ) -> None:
        self.metric = metric
        self.values = values
        self.combine = combine

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Count the documents of X and score the terms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.
        y : array-like, optional
            The labels of the documents.
        sample_weight : array-like of shape (n_docs,), optional
            How much each document counts.

        Returns
        -------
        Self
            The fitted estimator.
        """
        if self.values not in VALUES:
            raise unknown_name("values", self.values, VALUES)
        check_indices(X)
        X = validate_data(self, X, accept_sparse=("csr", "csc", "coo"), dtype="numeric")
        names = getattr(self, "feature_names_in_", None)
        occurrences = with_occurrences(self.metric, X)
        self.counts_ = Counts.from_matrix(X, y, names, occurrences, sample_weight)
        self.classes_ = self.counts_.classes
        self.weights_ = np.maximum(ranked(self.counts_, self.metric, combine=self.combine).scores, 0.0)
        return self

    def transform(self, X: Any) -> Any:
        """Return X, or the presence of its terms, multiplied by the weights; a sparse X stays sparse.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.

        Returns
        -------
        array or sparse matrix
            The changed matrix.
        """
        check_is_fitted(self)
        check_indices(X)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype="numeric", reset=False)
        if sparse.issparse(X):
            weighed = sound_csr(X).asformat(X.format).astype(np.float64)
            if self.values == "presence":
                weighed.data = (weighed.data > 0).astype(np.float64)
            return weighed.multiply(self.weights_).asformat(weighed.format)
        return (X > 0 if self.values == "presence" else X) * self.weights_
