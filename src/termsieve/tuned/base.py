"""What the learned selectors share: checked documents and their counts in, a mask of columns out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from termsieve.counts import Counts
from termsieve.errors import ParameterError
from termsieve.labels import Labels, encode_labels

Columns = NDArray[np.int64]


class LearnedSelector(SelectorMixin, BaseEstimator):
    """A selector whose `selected_` columns, best first, come from training a learner."""

    selected_: Columns

    def _documents(self, X: Any, y: Any) -> tuple[Any, Labels]:
        """Return X, dense or CSR, and the labels."""
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric")
        labels = encode_labels(y)
        self.classes_ = labels.classes
        return X, labels

    def _counted(self, X: Any, y: Any, occurrences: bool = False) -> Counts:
        counts = Counts.from_matrix(X, y, getattr(self, "feature_names_in_", None), occurrences)
        self.counts_ = counts
        return counts

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def checked_shares(name: str, shares: Any) -> list[float]:
    """Return numbers between 0 and 1, ascending, or raise ParameterError."""
    values = np.atleast_1d(np.asarray(shares))
    if values.ndim != 1 or not values.size or values.dtype.kind not in "iuf":
        raise ParameterError(f"{name} must be one or more numbers between 0 and 1, not {shares!r}")
    if not ((values >= 0) & (values <= 1)).all():
        raise ParameterError(f"{name} must lie between 0 and 1, not {shares!r}")
    return sorted({float(value) for value in values})
