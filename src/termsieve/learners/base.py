"""The base of the package's learners: documents and labels come in; decisions go out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from termsieve.errors import InputError
from termsieve.learners.registry import check_parameter
from termsieve.matrices import check_indices


class Classifier(ClassifierMixin, BaseEstimator):
    """A classifier with checked input, sorted classes, and one decision value per class (one for two)."""

    def check_parameters(self) -> None:
        """Raise ParameterError if a parameter is not a number above 0."""
        defaults = type(self)().get_params()
        for key, value in self.get_params().items():
            check_parameter(type(self).__name__, key, value, defaults[key])

    def _checked_fit_input(self, X: Any, y: Any) -> tuple[Any, NDArray[np.intp]]:
        self.check_parameters()
        check_indices(X)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"{type(self).__name__} needs at least 2 classes; the labels have one class only"
            )
        return X, codes

    def _checked_input(self, X: Any) -> Any:
        check_is_fitted(self)
        check_indices(X)
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the decision values: one per document for two classes, otherwise one per class."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each document; of two classes, the second if the decision value is above 0."""
        values = self.decision_function(X)
        codes = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
