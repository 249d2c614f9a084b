"""KeptTerms: a selector in; its choice of columns, without the counts it came from, out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from termsieve.matrices import check_indices


class KeptTerms(MetaEstimatorMixin, SelectorMixin, BaseEstimator):
    """Keep the columns that a selector chooses, but not its counts, so that saved models are small.

    Parameters
    ----------
    selector : selector
        The selector, such as TermSelector. A clone of it is fitted, and only its choice of columns is kept.

    Attributes
    ----------
    support_ : ndarray of bool
        Which columns are kept.

    Examples
    --------
    >>> from termsieve.estimators import TermSelector
    >>> X = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]]
    >>> KeptTerms(TermSelector(k=1)).fit(X, ["spam", "spam", "ham", "ham"]).get_support().tolist()
    [True, False, False]
    """

    def __init__(self, selector: Any) -> None:
        self.selector = selector

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the selector and keep its choice.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.
        y : array-like, optional
            The labels of the documents.

        Returns
        -------
        Self
            The fitted estimator.
        """
        check_indices(X)
        validate_data(self, X, accept_sparse=("csr", "csc"), dtype="numeric")
        self.support_ = clone(self.selector).fit(X, y).get_support()
        return self

    def transform(self, X: Any) -> Any:
        """Return the kept columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.

        Returns
        -------
        array or sparse matrix
            The changed matrix.
        """
        check_indices(X)
        return super().transform(X)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
