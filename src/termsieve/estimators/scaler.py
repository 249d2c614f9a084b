"""TermScaler: term counts in; the values that a linear classifier reads, weighed and of unit length, out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from termsieve.counts import Counts
from termsieve.counts.weights import checked_weights, grid_weights
from termsieve.errors import ParameterError, unknown_name
from termsieve.estimators.selector import ranked
from termsieve.matrices import check_indices
from termsieve.metrics import Metric

VALUES = ("presence", "tf", "log")


class TermScaler(TransformerMixin, BaseEstimator):
    """Turn term counts into values for a linear classifier, and leave out rare terms.

    Parameters
    ----------
    values : {"log", "tf", "presence"}, default="log"
        What a count becomes: 1 + log(count), the count itself, or 1.
    weight : str, callable or None, default="idf"
        What each term is multiplied by: "idf" for the inverse document frequency of TfidfTransformer, the
        name of a metric for its score (the greatest over the classes; a negative score counts as 0), or
        nothing.
    unit_length : bool, default=True
        Divide each document by its Euclidean length.
    min_df : int, default=1
        Leave out terms that occur in fewer training documents. With 1, only terms without any are left out.

    Attributes
    ----------
    kept_ : ndarray of int
        The columns that are kept.
    weights_ : ndarray of float
        The weight of each kept column.

    See Also
    --------
    TermWeighter : Weighs terms by a metric, and keeps all columns and lengths.

    Examples
    --------
    >>> X = [[2, 0, 1, 0], [0, 1, 0, 0], [1, 1, 0, 0]]
    >>> TermScaler().fit_transform(X).toarray().round(2)
    array([[0.79, 0.  , 0.61],
           [0.  , 1.  , 0.  ],
           [0.71, 0.71, 0.  ]])
    """

    _loadable: ClassVar = {"values": VALUES}  # what a loaded model may have

    def __init__(
        self,
        values: str = "log",
        weight: str | Metric | Callable[..., Any] | None = "idf",
        unit_length: bool = True,
        min_df: int = 1,
    ) -> None:
        self.values = values
        self.weight = weight
        self.unit_length = unit_length
        self.min_df = min_df

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn which terms are kept and what each weighs; `y` is needed where the weight is a metric.

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
            raise unknown_name("values", str(self.values), VALUES)
        if isinstance(self.min_df, bool) or not isinstance(self.min_df, int) or self.min_df < 1:
            raise ParameterError(f"min_df must be a whole number of at least 1, not {self.min_df!r}")
        X = self._counts(X, reset=True)
        counted = checked_weights(sample_weight, X.shape[0])
        each = np.ones(X.shape[0], dtype=np.int64) if counted is None else grid_weights(counted)
        df = each @ (X != 0)
        enough = df > 0 if self.min_df == 1 else df >= self.min_df
        self.kept_ = np.flatnonzero(enough)
        self.weights_ = self._weights(X, y, df, each.sum(), sample_weight)[self.kept_]
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the kept columns, scaled.

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
        X = self._counts(X, reset=False)
        if len(self.kept_) < X.shape[1]:
            X = X[:, self.kept_]
        data = X.data
        if self.values == "log":
            data = 1.0 + np.log(np.where(data > 0, data, 1.0))
        elif self.values == "presence":
            data = np.ones(len(data))
        data = np.where(X.data > 0, data * self.weights_[X.indices], 0.0)
        scaled = sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)
        return unit_rows(scaled) if self.unit_length else scaled

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the kept terms.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns; needed only where `fit` saw no names.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None) if input_features is None else input_features
        if names is None:
            names = np.array([f"x{i}" for i in range(self.n_features_in_)], dtype=object)
        return np.asarray(names, dtype=object)[self.kept_]

    def _counts(self, X: Any, reset: bool) -> sparse.csr_matrix:
        check_indices(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        check_non_negative(X, "TermScaler")
        return sparse.csr_matrix(X)

    def _weights(
        self, X: sparse.csr_matrix, y: Any, df: NDArray[Any], n_docs: float, sample_weight: Any
    ) -> NDArray[np.float64]:
        if self.weight is None:
            return np.ones(X.shape[1])
        if self.weight == "idf":
            return np.log((1 + n_docs) / (1 + df)) + 1.0
        counts = Counts.from_matrix(X, y, sample_weight=sample_weight)
        return np.maximum(ranked(counts, self.weight, combine="max").scores, 0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = self.weight not in (None, "idf")
        return tags


def unit_rows(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the rows divided by their Euclidean lengths; an empty row stays as it is."""
    squares = np.add.reduceat(np.append(X.data**2, 0.0), X.indptr[:-1]) if X.shape[0] else np.empty(0)
    squares[np.diff(X.indptr) == 0] = 0.0
    length = np.sqrt(squares)
    length[length == 0] = 1.0
    data = X.data / np.repeat(length, np.diff(X.indptr))
    return sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)
