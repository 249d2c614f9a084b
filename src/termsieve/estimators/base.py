"""What the learned estimators share: checked documents and counts; the classes that decision values mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from termsieve.counts import Counts
from termsieve.errors import InputError, ParameterError
from termsieve.estimators.selector import ColumnSelector
from termsieve.labels import Labels, encode_labels
from termsieve.matrices import check_indices

Columns = NDArray[np.int64]


class LearnedSelector(ColumnSelector):
    """A selector whose `selected_` columns, best first, come from training a learner."""

    def _documents(self, X: Any, y: Any) -> tuple[Any, Labels]:
        """Return X, dense or CSR, and the labels."""
        check_indices(X)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric")
        labels = encode_labels(y)
        self.classes_ = labels.classes
        return X, labels

    def _counted(self, X: Any, y: Any, occurrences: bool = False) -> Counts:
        """Return the counts of documents of which at least one has a label."""
        counts = Counts.from_matrix(X, y, getattr(self, "feature_names_in_", None), occurrences)
        if counts.n_classes == 0:
            raise InputError("y has no label; at least one document needs one")
        self.counts_ = counts
        return counts


def decided_classes(values: NDArray[Any], classes: NDArray[Any], several_labels: bool) -> NDArray[Any]:
    """Return the class of each document by its decision values; of several labels, an indicator matrix."""
    if several_labels:
        return (values > 0).astype(np.int64)
    codes = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
    return np.asarray(classes[codes])


def checked_shares(name: str, shares: Any) -> list[float]:
    """Return numbers between 0 and 1, ascending, or raise ParameterError."""
    values = np.atleast_1d(np.asarray(shares))
    if values.ndim != 1 or not values.size or values.dtype.kind not in "iuf":
        raise ParameterError(f"{name} must be one or more numbers between 0 and 1, not {shares!r}")
    if not ((values >= 0) & (values <= 1)).all():
        raise ParameterError(f"{name} must lie between 0 and 1, not {shares!r}")
    return sorted({float(value) for value in values})
