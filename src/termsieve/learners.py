"""A learner's name comes in; a scikit-learn classifier, or its decision values along a ranking, goes out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from .errors import InputError, ParameterError, unknown_name
from .measures import decision_values

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Learner:
    """What the registry knows of a learner: how to make it, and what it minimises."""

    name: str
    estimator: Callable[..., Any] = field(repr=False)
    parameters: tuple[str, ...]
    objective: str
    cite: str

    def defaults(self) -> dict[str, Any]:
        """Return the default of each parameter a name may set."""
        return {key: getattr(self.estimator(), key) for key in self.parameters}


LEARNERS: dict[str, Learner] = {}


def _declare(name: str, *parameters: str, objective: str, cite: str) -> Callable[[Any], Any]:
    """Enter an estimator class in the registry."""

    def enter(estimator: Any) -> Any:
        LEARNERS[name] = Learner(name, estimator, parameters, objective, cite)
        return estimator

    return enter


class _Classifier(ClassifierMixin, BaseEstimator):
    """What the learners share: checked input, sorted classes, one score a class or one for two classes."""

    def _checked_fit_input(self, X: Any, y: Any) -> tuple[Any, NDArray[np.intp]]:
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
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values: one a document for two classes, else one a class."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray:
        """Return the class of each document: the second of two where the decision value is above 0."""
        values = self.decision_function(X)
        codes = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _LinearClassifier(_Classifier):
    """One weight vector for two classes, otherwise one a class against the rest."""

    def _solution(self, X: Any, positive: NDArray[np.bool_]) -> tuple[Floats, float]:
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Any:
        """Learn `coef_` and `intercept_`."""
        X, codes = self._checked_fit_input(X, y)
        targets = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        solutions = [self._solution(X, codes == target) for target in targets]
        self.coef_ = np.vstack([weights for weights, _ in solutions])
        self.intercept_ = np.array([bias for _, bias in solutions])
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return w.x + b: one value a document for two classes, else one a class."""
        X = self._checked_input(X)
        values: Floats = np.asarray(X @ self.coef_.T) + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values


_declare(
    "nb",
    "alpha",
    objective="multinomial: P(t|c) = (occurrences in c + alpha) / (all occurrences in c + alpha * terms)",
    cite="uchyigit2007, mladenic2004",
)(MultinomialNB)


@_declare(
    "nb(quotient)",
    "alpha",
    objective="nb, scored by the quotient of the log-probabilities of class and rest, not their difference",
    cite="zheng2004",
)
class QuotientNB(_Classifier):
    """Multinomial naive Bayes whose decision value is 1 - q for a class c against the rest.

    q = (log P(c) + sum log P(t|c)) / (log P(rest) + sum log P(t|rest)), each sum over the document's
    occurrences. Both are negative: q < 1 where c is the likelier, so the decision for two classes is naive
    Bayes' own, and only the order of the documents differs: dividing takes out most of their length.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> QuotientNB:
        """Learn `prior_log_prob_` and `feature_log_prob_`: for each problem, of the class and of the rest."""
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
        """Return 1 - quotient: one value a document for two classes, else one a class."""
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
        # As scikit-learn's discrete naive Bayes: counts are expected, and its checks bring measurements.
        tags.classifier_tags.poor_score = True
        return tags


@_declare(
    "lr",
    "penalty",
    objective="mean log-loss + penalty * |w|^2, the intercept in w; classes against the rest",
    cite="zheng2004",
)
class LogisticL2(_LinearClassifier):
    """Logistic regression that minimises mean log-loss + penalty * (|w|^2 + b^2)."""

    def __init__(self, penalty: float = 0.0001) -> None:
        self.penalty = penalty

    def _solution(self, X: Any, positive: NDArray[np.bool_]) -> tuple[Floats, float]:
        model = LogisticRegression(
            C=1.0 / (2.0 * self.penalty * X.shape[0]), solver="liblinear", tol=1e-6, max_iter=1000
        ).fit(X, positive)
        return model.coef_[0], float(model.intercept_[0])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class; of more than two, those against the rest made to sum to 1."""
        share = expit(self.decision_function(X))
        if share.ndim == 1:
            return np.column_stack([1.0 - share, share])
        return np.asarray(share / share.sum(axis=1, keepdims=True))


@_declare(
    "svm",
    "C",
    objective="|w|^2 / 2 + C * sum of squared hinge losses, the intercept in w; classes against the rest",
    cite="LinearSVC",
)
class SquaredHingeSVM(_LinearClassifier):
    """Linear SVM that minimises (|w|^2 + b^2) / 2 + C * sum max(0, 1 - y (w.x + b))^2, as LinearSVC does."""

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def _solution(self, X: Any, positive: NDArray[np.bool_]) -> tuple[Floats, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LinearSVC(C=self.C, dual=True, tol=1e-4, max_iter=2000, random_state=0).fit(X, positive)
        return model.coef_[0], float(model.intercept_[0])


@_declare(
    "svm(hinge)",
    "C",
    objective="|w|^2 / 2 + C * sum of hinge losses, the intercept free; classes one against one",
    cite="forman2003, li2009",
)
class HingeSVM(_Classifier):
    """Linear SVM that minimises |w|^2 / 2 + C * sum max(0, 1 - y (w.x + b)), as SVC(kernel="linear") does.

    More than two classes are decided one against one: most votes, equal votes by the sum of the values.
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def _solution(self, X: Any, positive: NDArray[np.bool_]) -> tuple[Floats, float]:
        model = SVC(C=self.C, kernel="linear").fit(X, positive)
        coef = model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_
        return coef[0], float(model.intercept_[0])

    def fit(self, X: Any, y: Any) -> HingeSVM:
        """Learn `coef_` and `intercept_`: one row for two classes, else one a pair of classes."""
        X, codes = self._checked_fit_input(X, y)
        solutions = []
        for first, second in self._pairs():
            rows = np.flatnonzero((codes == first) | (codes == second))
            solutions.append(self._solution(X[rows], codes[rows] == second))
        self.coef_ = np.vstack([weights for weights, _ in solutions])
        self.intercept_ = np.array([bias for _, bias in solutions])
        return self

    def _pairs(self) -> list[tuple[int, int]]:
        n = len(self.classes_)
        return [(first, second) for first in range(n) for second in range(first + 1, n)]

    def decision_function(self, X: Any) -> Floats:
        """Return w.x + b for two classes; else for each class its votes, and below 1/2 its values."""
        X = self._checked_input(X)
        values: Floats = np.asarray(X @ self.coef_.T) + self.intercept_
        if len(self.classes_) == 2:
            return values[:, 0]
        votes = np.zeros((values.shape[0], len(self.classes_)))
        margin = np.zeros_like(votes)
        for column, (first, second) in enumerate(self._pairs()):
            for_second = values[:, column] > 0
            votes[:, second] += for_second
            votes[:, first] += ~for_second
            margin[:, second] += values[:, column]
            margin[:, first] -= values[:, column]
        return np.asarray(votes + margin / (3.0 * (np.abs(margin) + 1.0)))


@_declare(
    "perceptron",
    "passes",
    objective="none: from w = 0, in document order, y x is added on a mistake (w.x = 0 is one), no intercept",
    cite="mladenic2004",
)
class DocumentPerceptron(_LinearClassifier):
    """The perceptron of mladenic2004: `passes` times through the documents in order, without intercept."""

    def __init__(self, passes: int = 1) -> None:
        self.passes = passes

    def _solution(self, X: Any, positive: NDArray[np.bool_]) -> tuple[Floats, float]:
        X = sp.csr_array(X)
        weights = np.zeros(X.shape[1])
        for _ in range(self.passes):
            for row in range(X.shape[0]):
                cells = slice(X.indptr[row], X.indptr[row + 1])
                columns, values = X.indices[cells], X.data[cells]
                sign = 1.0 if positive[row] else -1.0
                if sign * (weights[columns] @ values) <= 0:
                    weights[columns] += sign * values
        return weights, 0.0


def _parsed(name: str) -> tuple[str, dict[str, Any]]:
    """Return the registry's name and the parameters that `name` spells: nb(quotient, alpha=0.5)."""
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", name)
    if match is None:
        raise unknown_name("learner", name, LEARNERS)
    parts = [part.strip() for part in (match[2] or "").split(",") if part.strip()]
    flags = [part for part in parts if "=" not in part]
    key = f"{match[1]}({', '.join(flags)})" if flags else match[1]
    if key not in LEARNERS:
        raise unknown_name("learner", name, LEARNERS)
    known = LEARNERS[key].defaults()
    given: dict[str, Any] = {}
    for part in parts:
        if "=" in part:
            parameter, value = (side.strip() for side in part.split("=", 1))
            if parameter not in known:
                raise unknown_name(f"parameter of learner '{key}'", parameter, known)
            given[parameter] = _number(key, parameter, value, type(known[parameter]))
    return key, given


def _number(name: str, parameter: str, value: str, kind: type) -> Any:
    try:
        number = kind(value)
    except ValueError:
        number = None
    if number is None or not 0 < number < float("inf"):
        wanted = "a whole number" if kind is int else "a number"
        raise ParameterError(f"{parameter}={value} of learner '{name}' is not {wanted} above 0")
    return number


def learner(name: Any) -> Any:
    """Return a new, unfitted scikit-learn classifier: by name, or a clone of the classifier given.

    >>> learner("nb(quotient)"), learner("perceptron(passes=3)")
    (QuotientNB(), DocumentPerceptron(passes=3))
    """
    if isinstance(name, str):
        key, parameters = _parsed(name)
        return LEARNERS[key].estimator(**parameters)
    if isinstance(name, type) or not hasattr(name, "fit") or not is_classifier(name):
        raise ParameterError(
            f"{name!r} is not a learner; give a scikit-learn classifier or one of {', '.join(LEARNERS)}"
        )
    return clone(name)


def learner_name(name: Any) -> str:
    """Return the printed form of a learner; of the registry's own it parses back to an equal one.

    >>> learner_name("perceptron(passes = 1)"), learner_name(SquaredHingeSVM(C=10.0))
    ('perceptron', 'svm(C=10.0)')
    """
    estimator = learner(name)
    for entry in LEARNERS.values():
        if type(estimator) is entry.estimator:
            plain = entry.estimator().get_params()
            changed = {k: v for k, v in estimator.get_params().items() if v != plain[k]}
            if set(changed) <= set(entry.parameters):
                return _printed(entry.name, changed)
    return re.sub(r"\s+", " ", repr(estimator))


def _printed(name: str, parameters: dict[str, Any]) -> str:
    parts = [f"{key}={value!r}" for key, value in parameters.items()]
    if not parts:
        return name
    head, _, flag = name.partition("(")
    return f"{head}({', '.join([*filter(None, [flag.rstrip(')')]), *parts])})"


def decision_path(
    learner_or_name: Any,
    X_train: Any,
    y_train: ArrayLike,
    X_test: Any,
    order: ArrayLike,
    sizes: Sequence[int],
) -> Floats:
    """Return the decision values (sizes x test documents) of a learner trained on each prefix of a ranking.

    `y_train` is binary, 0 and 1; `order` holds columns, best first; `sizes` are lengths of its prefixes (a
    size above the length of `order` takes all of it). A value above 0 predicts class 1. With one class only
    in `y_train` every value is that class's: -1 or 1.
    """
    order = np.asarray(order, dtype=np.intp)
    return decision_sets(learner_or_name, X_train, y_train, X_test, [order[: int(size)] for size in sizes])


def decision_sets(
    learner_or_name: Any,
    X_train: Any,
    y_train: ArrayLike,
    X_test: Any,
    column_sets: Iterable[ArrayLike],
) -> Floats:
    """Return the decision values (sets x test documents) of a learner trained on each set of columns.

    The general form of `decision_path`, for sets that are not prefixes of one ranking: the ratios of
    zheng2004, for instance.
    """
    estimator = learner(learner_or_name)
    y = np.asarray(y_train)
    X_train, X_test = _rows(X_train), _rows(X_test)
    if y.ndim != 1 or len(y) != X_train.shape[0] or not np.isin(y, (0, 1)).all():
        raise InputError("y_train must hold 0 or 1 for each training document")
    if X_test.shape[1] != X_train.shape[1]:
        raise InputError(
            f"X_test has {X_test.shape[1]} columns and X_train {X_train.shape[1]}; give equal columns"
        )
    sets = [np.asarray(columns, dtype=np.intp) for columns in column_sets]
    y = y.astype(np.int64)
    if len(y) == 0 or y.min() == y.max():
        return np.full((len(sets), X_test.shape[0]), 1.0 if len(y) and y[0] else -1.0)
    return _separate_fits(estimator, X_train, y, X_test, sets)


def _rows(X: Any) -> Any:
    if sp.issparse(X):
        return sp.csr_array(X)
    return np.asarray(X)


def _separate_fits(
    estimator: Any, X_train: Any, y: NDArray[np.int64], X_test: Any, sets: list[NDArray[np.intp]]
) -> Floats:
    values = np.empty((len(sets), X_test.shape[0]))
    for row, columns in enumerate(sets):
        if len(columns):
            train, test = X_train[:, columns], X_test[:, columns]
        else:
            # No classifier takes a matrix without columns; one column of zeros says as little.
            train, test = np.zeros((X_train.shape[0], 1)), np.zeros((X_test.shape[0], 1))
        if X_test.shape[0]:
            values[row] = decision_values(clone(estimator).fit(train, y), test)
    return values
