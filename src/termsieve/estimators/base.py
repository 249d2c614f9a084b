"""The base of the learned selectors: documents come in, checked documents and their counts go out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from termsieve.counts import Counts
from termsieve.counts.weights import checked_weights, some_labels
from termsieve.errors import ParameterError
from termsieve.estimators.selector import ColumnSelector
from termsieve.labels import Labels, encode_labels
from termsieve.matrices import check_indices

Columns = NDArray[np.int64]


class LearnedSelector(ColumnSelector):
    """A selector whose `selected_` columns, best first, come from training a learner."""

    def _documents(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Labels]:
        """Return X, dense or CSR, y and the labels; documents are repeated by their weights."""
        check_indices(X)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric")
        labels = encode_labels(y)
        weights = checked_weights(sample_weight, labels.n_docs) if labels.n_docs == X.shape[0] else None
        if weights is not None:
            if weights.dtype.kind == "f":
                raise ParameterError(
                    f"{type(self).__name__} tunes on repeated documents, so sample_weight must be whole "
                    "numbers; TermSelector takes real ones"
                )
            rows = np.repeat(np.arange(len(weights)), weights)
            X, y = X[rows], some_labels(y, rows)
            labels = encode_labels(y)
        self.classes_ = labels.classes
        return X, y, labels

    def _counted(self, X: Any, y: Any, occurrences: bool = False) -> Counts:
        counts = Counts.from_matrix(X, y, getattr(self, "feature_names_in_", None), occurrences)
        self.counts_ = counts
        return counts


def checked_shares(name: str, shares: Any) -> list[float]:
    """Return numbers between 0 and 1, ascending, or raise ParameterError."""
    values = np.atleast_1d(np.asarray(shares))
    if values.ndim != 1 or not values.size or values.dtype.kind not in "iuf":
        raise ParameterError(f"{name} must be one or more numbers between 0 and 1, not {shares!r}")
    if not ((values >= 0) & (values <= 1)).all():
        raise ParameterError(f"{name} must lie between 0 and 1, not {shares!r}")
    return sorted({float(value) for value in values})
