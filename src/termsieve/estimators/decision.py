"""DecisionClassifier: a classifier and its thresholds come in; predictions for any kind of labels go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from termsieve.errors import InputError
from termsieve.estimators.base import decided_classes
from termsieve.labels import encode_labels
from termsieve.matrices import check_indices
from termsieve.measures import decision_values

NEVER = -1e9  # the decision value of a class that no training document has


def stratified_rows(stratum: Any, share: float) -> NDArray[np.int64]:
    """Return a share of the rows of each stratum, at least one, in their order; the same for equal input."""
    codes = np.asarray(stratum)
    order = np.random.default_rng(0).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    _, starts, sizes = np.unique(codes[order], return_index=True, return_counts=True)
    place = np.arange(len(codes)) - np.repeat(starts, sizes)
    return np.sort(order[place < np.repeat(np.ceil(share * sizes), sizes)])


def probabilities(values: Any, sigmoids: Any, one_label: bool) -> NDArray[np.float64]:
    """Return probabilities of decision values; of classes that exclude each other they add up to 1."""
    slope, offset = np.asarray(sigmoids, dtype=np.float64).T
    share = expit(np.asarray(values).reshape(len(values), -1) * slope + offset)
    if not one_label:
        return np.asarray(share)
    if share.shape[1] == 1:
        return np.concatenate([1.0 - share, share], axis=1)
    return np.asarray(share / np.maximum(share.sum(axis=1, keepdims=True), np.finfo(float).tiny))


def _has_sigmoids(model: DecisionClassifier) -> bool:
    return model.sigmoids is not None


class DecisionClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier with decision thresholds of its own, for two classes, several classes or several labels.

    Parameters
    ----------
    estimator : classifier
        The classifier that gives the decision values; it is cloned.
    thresholds : float or sequence of float, default=0.0
        What a decision value must exceed: one number for two classes, or one per label if documents have
        several.
    tilt : float, default=0.0
        For several classes: the logarithm of a class's share of the training documents, times this number, is
        subtracted from its decision value. A number above 0 helps rare classes, one below 0 frequent classes.
    sigmoids : sequence of pairs of float, optional
        One pair (slope, offset) per class or label; with two classes, one pair for the second. slope * v +
        offset is the log-odds of the probability, where v is the decision value before the threshold is
        subtracted. `predict_proba` exists only if they are given.
    share : float, default=1.0
        Share of the documents to train on, the same of each class; they are chosen by a fixed seed.
    target : optional
        The class to tell from the rest. Then `fit` takes the original labels of any kind, and `predict`
        returns the class itself, or "not " and the class if there are several others. Labels that are already
        0 and 1 are taken as they are.

    Attributes
    ----------
    classes_ : ndarray
        The classes that `predict` returns; for several labels, its columns.
    models_ : list
        The fitted classifiers: one, or one for each label.

    Examples
    --------
    >>> from termsieve.learners import SquaredHingeSVM
    >>> X = [[1, 0], [1, 1], [0, 1], [0, 0]]
    >>> model = DecisionClassifier(SquaredHingeSVM(), target="spam").fit(X, ["spam", "spam", "news", "work"])
    >>> model.predict(X).tolist()
    ['spam', 'spam', 'not spam', 'not spam']
    """

    def __init__(
        self,
        estimator: Any,
        thresholds: float | Sequence[float] = 0.0,
        tilt: float = 0.0,
        target: Any = None,
        sigmoids: Sequence[tuple[float, float]] | None = None,
        share: float = 1.0,
    ) -> None:
        self.estimator = estimator
        self.thresholds = thresholds
        self.tilt = tilt
        self.sigmoids = sigmoids
        self.share = share
        self.target = target

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier, or one for each label.

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
        check_indices(X)
        if self.target is not None:
            return self._fit_target(X, y)
        labels = encode_labels(y)
        if labels.multilabel:
            return self._fit_labels(X, labels)
        X, y = self._sampled(X, np.asarray(y), labels.indicator().argmax(axis=1))
        model = clone(self.estimator).fit(X, y)
        self.models_, self.classes_, self.several_labels_ = [model], model.classes_, False
        self.log_shares_ = np.log(np.maximum(labels.sizes, 1) / labels.n_docs)
        return self

    def _fit_target(self, X: Any, y: Any) -> Self:
        labels = encode_labels(y)
        names = [str(label) for label in labels.classes]
        plain = labels.classes.tolist()
        if str(self.target) in names:
            at = names.index(str(self.target))
            member = labels.indicator()[:, at]
            others = [label for i, label in enumerate(plain) if i != at]
            rest = others[0] if len(others) == 1 and not labels.multilabel else f"not {self.target}"
            said = [rest, plain[at]]
        elif not labels.multilabel and set(plain) <= {0, 1}:
            member, said = np.asarray(y).astype(bool), [0, 1]
        else:
            raise InputError(
                f"no document has the label {self.target!r}; give the original labels, or 0 and 1"
            )
        if member.all() or not member.any():
            raise InputError(f"all documents or none have the label {self.target!r}; both kinds are needed")
        self.models_ = [clone(self.estimator).fit(*self._sampled(X, member.astype(np.int64), member))]
        same = len({type(name) for name in said}) == 1
        self.classes_ = np.array(said) if same else np.array(said, dtype=object)
        self.several_labels_ = False
        return self

    def _fit_labels(self, X: Any, labels: Any) -> Self:
        """Fit one classifier per label; the steps before it in a pipeline are fitted once, to all labels."""
        member = labels.indicator()
        X, member = self._sampled(X, member, np.zeros(len(member), dtype=np.int64))
        self.several_labels_, self.classes_ = True, labels.classes
        model = clone(self.estimator)
        if isinstance(model, Pipeline):
            self.shared_ = model[:-1].fit(X, member.astype(np.int64))
            X, model = self.shared_.transform(X), model[-1]
        self.models_ = [
            bool(side.all()) if side.all() or not side.any() else clone(model).fit(X, side.astype(np.int64))
            for side in member.T
        ]
        return self

    def _sampled(self, X: Any, y: Any, stratum: Any) -> tuple[Any, Any]:
        if self.share == 1:
            return X, y
        rows = stratified_rows(stratum, self.share)
        return (X if hasattr(X, "shape") else np.asarray(X))[rows], y[rows]

    def _values(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "models_")
        check_indices(X)
        return self._label_values(X) if self.several_labels_ else decision_values(self.models_[0], X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return decision values minus thresholds: one per document for two classes, else one per class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.

        Returns
        -------
        ndarray of float
            The decision values.
        """
        values = self._values(X)
        if self.several_labels_:
            return values - np.asarray(self.thresholds)
        if len(self.classes_) == 2:
            return values - float(np.ravel(self.thresholds)[0])
        return values - self.tilt * self.log_shares_

    @available_if(_has_sigmoids)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, or of each label where documents have several.

        They come from the decision values alone: `predict` cuts at its thresholds, not at .5.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.

        Returns
        -------
        ndarray of shape (n_docs, n_classes)
            The probabilities.
        """
        assert self.sigmoids is not None
        return probabilities(self._values(X), self.sigmoids, not self.several_labels_)

    def _label_values(self, X: Any) -> NDArray[np.float64]:
        if hasattr(self, "shared_"):
            X = self.shared_.transform(X)
        columns = [
            np.full(X.shape[0], 1.0 if model else NEVER)
            if isinstance(model, bool)
            else decision_values(model, X)
            for model in self.models_
        ]
        return np.stack(columns, axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each document; of several labels, an indicator matrix of 0 and 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.

        Returns
        -------
        ndarray
            The predicted classes.
        """
        return decided_classes(self.decision_function(X), self.classes_, self.several_labels_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
