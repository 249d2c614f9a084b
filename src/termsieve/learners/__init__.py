"""A learner's name comes in; a scikit-learn classifier, or its decision values along a ranking, goes out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data
from threadpoolctl import ThreadpoolController

from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.kernels import bayes, linear, smo
from termsieve.measures import decision_values
from termsieve.spec import parse_spec

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A Gram matrix of more rows (of single precision: 144 MB) is left to LIBSVM, which keeps a part of it.
MAX_GRAM_ROWS = 6000


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


@dataclass(frozen=True)
class _Rows:
    """Sparse rows as the kernels take them; see termsieve.kernels.linear."""

    start: Ints
    end: Ints
    column: NDArray[np.int32]
    value: Floats

    @classmethod
    def of(cls, X: Any) -> _Rows:
        X = _canonical(X)
        indptr = X.indptr.astype(np.int64)
        return cls(indptr[:-1], indptr[1:], X.indices.astype(np.int32) + np.int32(1), _values_unless_ones(X))

    def decisions(self, w: Floats) -> Floats:
        out = np.empty(len(self.start))
        linear.decisions(self.start, self.end, self.column, self.value, w, out)
        return out

    def summed(self, step: NDArray, n_columns: int) -> Floats:
        """Return the sum of step * row, the intercept's feature first."""
        total = np.zeros(n_columns + 1)
        step = step.astype(np.float64, copy=False)
        linear.add_rows(self.start, self.end, self.column, self.value, step, total)
        return total

    def merged(self, positive: NDArray[np.bool_]) -> _Merged:
        first, weight, group = linear.merged_rows(
            self.start, self.end, self.column, self.value, positive.view(np.uint8)
        )
        rows = _Rows(self.start[first], self.end[first], self.column, self.value)
        return _Merged(rows, np.where(positive[first], 1.0, -1.0), first, weight, group)

    def matrix(self, n_columns: int) -> sp.csr_array:
        """Return the rows as a matrix, column 1 first."""
        length = self.end - self.start
        indptr = np.concatenate([[0], np.cumsum(length)])
        entries = np.repeat(self.start - indptr[:-1], length) + np.arange(indptr[-1])
        data = self.value[entries] if len(self.value) else np.ones(len(entries))
        # LIBSVM takes indices of 32 bits only.
        return sp.csr_array(
            (data, self.column[entries] - 1, indptr.astype(np.int32)), shape=(len(length), n_columns)
        )


class _Merged(NamedTuple):
    """The distinct rows of either label."""

    rows: _Rows
    sign: Floats
    first: Ints  # a document of each
    weight: Floats  # the number of documents each stands for
    group: Ints  # the row of each document


def _canonical(X: Any) -> Any:
    if not sp.issparse(X):
        return sp.csr_array(np.asarray(X, dtype=np.float64))
    X = X if X.format == "csr" else X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _values_unless_ones(X: Any) -> Floats:
    if X.dtype == bool or (X.data == 1).all():
        return np.empty(0)
    return X.data.astype(np.float64, copy=False)


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

    def _check_parameters(self) -> None:
        for key, value in self.get_params().items():
            if not 0 < value < float("inf"):
                raise ParameterError(f"{key}={value!r} of {type(self).__name__} is not a number above 0")

    def _checked_fit_input(self, X: Any, y: Any) -> tuple[Any, NDArray[np.intp]]:
        self._check_parameters()
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

    def _improve(self, rows: _Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        """Turn the weights `w`, the intercept first, into the solution: in place, from where they are."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Any:
        """Learn `coef_` and `intercept_`."""
        X, codes = self._checked_fit_input(X, y)
        targets = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        weights = np.zeros((len(targets), X.shape[1] + 1))
        rows, space = _Rows.of(X), linear.Workspace()
        with _threads().limit(limits=1, user_api="blas"):
            for target, w in zip(targets, weights, strict=True):
                self._improve(rows, codes == target, w, space)
        self.coef_, self.intercept_ = weights[:, 1:].copy(), weights[:, 0].copy()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return w.x + b: one value a document for two classes, else one a class."""
        X = self._checked_input(X)
        values: Floats = np.asarray(X @ self.coef_.T) + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values


def _minimise(logistic: bool, merged: _Merged, cost: Floats, w: Floats, space: Any) -> None:
    rows = merged.rows
    # By strong convexity the weights are as near to the solution as the gradient is short.
    linear.solve(space, logistic, rows.column, rows.value, rows.start, rows.end, merged.sign, cost, w, 1e-4)


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

    def _improve(self, rows: _Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        merged = rows.merged(positive)
        _minimise(True, merged, merged.weight / (2.0 * self.penalty * len(positive)), w, space)

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

    def _improve(self, rows: _Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        merged = rows.merged(positive)
        _minimise(False, merged, 2.0 * self.C * merged.weight, w, space)


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

    def fit(self, X: Any, y: Any) -> HingeSVM:
        """Learn `coef_` and `intercept_`: one row for two classes, else one a pair of classes."""
        X, codes = self._checked_fit_input(X, y)
        X = _canonical(X)
        pairs = list(combinations(range(len(self.classes_)), 2))
        weights = np.zeros((len(pairs), X.shape[1] + 1))
        for (first, second), w in zip(pairs, weights, strict=True):
            chosen = np.flatnonzero((codes == first) | (codes == second))
            rows, positive = _Rows.of(X[chosen]), codes[chosen] == second
            w[:] = _hinge_solution(self.C, rows, positive, X.shape[1])
        self.coef_, self.intercept_ = weights[:, 1:].copy(), weights[:, 0].copy()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return w.x + b for two classes; else for each class its votes, and below 1/2 its values."""
        X = self._checked_input(X)
        values: Floats = np.asarray(X @ self.coef_.T) + self.intercept_
        if len(self.classes_) == 2:
            return values[:, 0]
        return _votes(values.T, len(self.classes_), values.shape[:1]).T


def _votes(values: Iterable[Floats], n_classes: int, shape: tuple[int, ...]) -> Floats:
    """Return for each class its votes and, below 1/2, the sum of its values, which come pair by pair."""
    votes = np.zeros((n_classes, *shape))
    margin = np.zeros_like(votes)
    for (first, second), value in zip(combinations(range(n_classes), 2), values, strict=True):
        votes[second] += value > 0
        votes[first] += value <= 0
        margin[second] += value
        margin[first] -= value
    return np.asarray(votes + margin / (3.0 * (np.abs(margin) + 1.0)))


def _hinge_solution(
    C: float,
    rows: _Rows,
    positive: NDArray[np.bool_],
    n_columns: int,
    gram: NDArray[np.float32] | None = None,
) -> Floats:
    """Return the weights, the intercept first; `gram` holds the documents' inner products, if known."""
    merged = rows.merged(positive)
    if len(merged.first) > MAX_GRAM_ROWS:
        matrix = merged.rows.matrix(n_columns)
        model = SVC(kernel="linear", C=C).fit(matrix, merged.sign, sample_weight=merged.weight)
        return np.concatenate([model.intercept_, model.coef_.toarray()[0]])
    chosen, sign, bound = merged.first, np.where(positive, 1.0, -1.0), np.empty(len(positive))
    bound[chosen] = C * merged.weight
    if gram is None:
        rows, chosen, sign, bound = merged.rows, np.arange(len(chosen)), merged.sign, C * merged.weight
        gram = np.zeros((len(chosen), len(chosen)), dtype=np.float32)
        _add_gram(gram, rows, rows.start, n_columns)
    alpha, bias = smo.solve(gram, chosen, sign, bound, 1e-3, 10**7)
    w = rows.summed(sign * alpha, n_columns)
    w[0] = bias
    return w


def _add_gram(gram: NDArray[np.float32], rows: _Rows, start: Ints, n_columns: int) -> None:
    """Add the inner products of the rows' entries from `start` on."""
    smo.add_gram(start, rows.end, rows.column, rows.value, n_columns, gram)


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

    def _improve(self, rows: _Rows, positive: NDArray[np.bool_], w: Floats, space: Any) -> None:
        w[:] = 0.0
        linear.perceptron(
            rows.start, rows.end, rows.column, rows.value, np.where(positive, 1.0, -1.0), self.passes, w
        )


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    """Return the registry's name and the parameters that `text` spells: nb(quotient, alpha=0.5)."""
    head, flags, given = parse_spec(text)
    name = f"{head}({', '.join(map(str, flags))})" if flags else head
    if name not in LEARNERS:
        raise unknown_name("learner", name, LEARNERS)
    known = LEARNERS[name].defaults()
    for parameter, value in given.items():
        if parameter not in known:
            raise unknown_name(f"parameter of learner '{name}'", parameter, known)
        whole = isinstance(known[parameter], int)
        if not isinstance(value, int if whole else int | float) or not 0 < value < float("inf"):
            wanted = "a whole number" if whole else "a number"
            raise ParameterError(f"{parameter}={value} of learner '{name}' is not {wanted} above 0")
    return name, {key: type(known[key])(value) for key, value in given.items()}


def get_learner(name: Any) -> Any:
    """Return a new, unfitted scikit-learn classifier: by name, or a clone of the classifier given.

    >>> get_learner("nb(quotient)"), get_learner("perceptron(passes=3)")
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
    estimator = get_learner(name)
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

    >>> X = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
    >>> decision_path("svm", X, [1, 1, 0, 0], X, order=[0, 1, 2], sizes=[1, 2]) > 0
    array([[ True,  True, False, False],
           [ True,  True, False, False]])
    """
    order = np.asarray(order, dtype=np.intp)
    return decision_sets(learner_or_name, X_train, y_train, X_test, [order[: max(int(k), 0)] for k in sizes])


def decision_sets(
    learner_or_name: Any,
    X_train: Any,
    y_train: ArrayLike,
    X_test: Any,
    column_sets: Iterable[ArrayLike],
) -> Floats:
    """Return the decision values (sets x test documents) of a learner trained on each set of columns.

    The general form of `decision_path`, for sets that are not prefixes of one ranking: the ratios of
    zheng2004, for instance. Learners of the registry share the work of all sets, and the iterative ones start
    each from the solution of the set before; any other classifier is fitted to each set anew.
    """
    estimator = get_learner(learner_or_name)
    X_train, X_test = (X if sp.issparse(X) else np.asarray(X) for X in (X_train, X_test))
    if isinstance(estimator, _Classifier):
        estimator._check_parameters()
    y, sets = _checked_task(X_train, y_train, X_test, column_sets)
    if not len(sets) or not X_test.shape[0] or y.all() or not y.any():
        return np.full((len(sets), X_test.shape[0]), 1.0 if len(y) and y.all() else -1.0)
    for kind, shared in _SHARED.items():
        if type(estimator) is kind:
            with _threads().limit(limits=1, user_api="blas"):
                return shared(estimator, X_train, y, X_test, sets)
    models = separate_fits(estimator, X_train, y.astype(np.int64), X_test, sets)
    return np.stack([decision_values(model, test) for model, test in models])


def predicted_sets(
    learner_or_name: Any,
    X_train: Any,
    y_train: ArrayLike,
    X_test: Any,
    column_sets: Sequence[ArrayLike],
) -> NDArray[Any]:
    """Return the class (sets x test documents) that a learner trained on each set of columns predicts.

    As `decision_sets`, for any number of classes: linear learners against the rest, `svm(hinge)` one against
    one, any other classifier in its own way.
    """
    estimator = get_learner(learner_or_name)
    classes, codes = np.unique(np.asarray(y_train), return_inverse=True)
    numbers = range(len(classes))

    def decided(rows: Any, positive: NDArray[np.bool_]) -> Floats:
        return decision_sets(estimator, X_train[rows], positive.astype(np.int64), X_test, column_sets)

    if len(classes) <= 2:
        return np.asarray(classes[(decided(slice(None), codes == 1) > 0).astype(np.intp)])
    if type(estimator) is HingeSVM:
        pairs = (
            (np.flatnonzero((codes == first) | (codes == second)), second)
            for first, second in combinations(numbers, 2)
        )
        values = (decided(rows, codes[rows] == second) for rows, second in pairs)
        votes = _votes(values, len(classes), (len(column_sets), X_test.shape[0]))
        return np.asarray(classes[votes.argmax(axis=0)])
    if type(estimator) in _SHARED and isinstance(estimator, _LinearClassifier):
        against_rest = [decided(slice(None), codes == c) for c in numbers]
        return np.asarray(classes[np.argmax(against_rest, axis=0)])
    models = separate_fits(estimator, X_train, codes, X_test, column_sets)
    return np.stack([classes[model.predict(test)] for model, test in models])


def _checked_task(
    X_train: Any, y_train: ArrayLike, X_test: Any, column_sets: Iterable[ArrayLike]
) -> tuple[NDArray[np.bool_], list[Ints]]:
    y = np.asarray(y_train)
    if y.ndim != 1 or len(y) != X_train.shape[0] or not np.isin(y, (0, 1)).all():
        raise InputError("y_train must hold 0 or 1 for each training document")
    n_columns = X_train.shape[1]
    if X_test.shape[1] != n_columns:
        raise InputError(f"X_test has {X_test.shape[1]} columns and X_train {n_columns}; give equal columns")
    sets = [np.asarray(columns, dtype=np.int64) for columns in column_sets]
    for columns in [max(sets, key=len)] if _nested(sets) else sets:
        if len(columns) and not 0 <= columns.min() <= columns.max() < n_columns:
            raise InputError(
                f"a column is outside 0 to {n_columns - 1}; select among the matrix's own columns"
            )
        if len(columns) > n_columns or np.bincount(columns, minlength=1).max() > 1:
            raise InputError("a column is selected twice; name each column once")
    return y.astype(bool), sets


def separate_fits(
    estimator: Any, X_train: Any, y: ArrayLike, X_test: Any, sets: Iterable[ArrayLike]
) -> Iterator[tuple[Any, Any]]:
    """Yield, for each set of columns, a model fitted to them and the test documents as it takes them."""
    X_train, X_test = (X.tocsr() if sp.issparse(X) else X for X in (X_train, X_test))
    for columns in map(np.asarray, sets):
        if len(columns):
            train, test = X_train[:, columns], X_test[:, columns]
        else:
            # No classifier takes a matrix without columns; one column of zeros says as little.
            train, test = np.zeros((X_train.shape[0], 1)), np.zeros((X_test.shape[0], 1))
        yield clone(estimator).fit(train, y), test


def _nested(sets: list[Ints]) -> bool:
    """Say whether every set is a prefix of the longest."""
    if not sets:
        return False
    longest = max(sets, key=len)
    return all(np.array_equal(columns, longest[: len(columns)]) for columns in sets)


@dataclass(frozen=True)
class _Sets:
    """Column sets over the rows that hold their candidates: the union of all sets, in one order.

    `positions` are each set's places in that order, ascending; `nested` says that each set is a prefix of it.
    """

    train: _Rows
    test: _Rows
    candidates: Ints
    positions: list[Ints]
    nested: bool

    @classmethod
    def of(cls, X_train: Any, X_test: Any, sets: list[Ints]) -> _Sets:
        nested = _nested(sets)
        candidates = max(sets, key=len) if nested else np.unique(np.concatenate(sets))
        place = np.full(X_train.shape[1], -1, dtype=np.int32)
        place[candidates] = np.arange(len(candidates))
        train, test = (_ranked(_canonical(X), place, len(candidates)) for X in (X_train, X_test))
        if nested:
            positions = [np.arange(len(columns)) for columns in sets]
        else:
            positions = [np.sort(place[columns]).astype(np.int64) for columns in sets]
        return cls(train, test, candidates, positions, nested)

    def each(self) -> Iterator[tuple[Ints, _Rows, _Rows]]:
        """Yield each set's positions and the training and test rows on it, columns renumbered from 1."""
        for positions in self.positions:
            yield positions, self._restricted(self.train, positions), self._restricted(self.test, positions)

    def _restricted(self, rows: _Rows, positions: Ints) -> _Rows:
        if self.nested:
            end = np.empty_like(rows.start)
            linear.prefix_ends(rows.start, rows.end, rows.column, len(positions), end)
            return _Rows(rows.start, end, rows.column, rows.value)
        renamed = np.zeros(len(self.candidates) + 1, dtype=np.int32)
        renamed[positions + 1] = np.arange(1, len(positions) + 1)
        indptr = np.concatenate([rows.start, rows.end[-1:]])
        indptr, column, value = linear.filtered_rows(indptr, rows.column, rows.value, renamed)
        return _Rows(indptr[:-1], indptr[1:], column, value)


def _ranked(X: Any, place: NDArray[np.int32], n_places: int) -> _Rows:
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
    indptr, column, value = linear.ranked_rows(indptr, indices, _values_unless_ones(X), place, n_places)
    return _Rows(indptr[:-1], indptr[1:], column, value)


def _linear_sets(
    estimator: Any, X_train: Any, positive: NDArray[np.bool_], X_test: Any, column_sets: list[Ints]
) -> Floats:
    sets = _Sets.of(X_train, X_test, column_sets)
    values = np.empty((len(sets.positions), len(sets.test.start)))
    everything, space = np.zeros(len(sets.candidates) + 1), linear.Workspace()
    for out, (positions, train, test) in zip(values, sets.each(), strict=True):
        weights = np.concatenate([[0], positions + 1])
        w = everything[weights]
        estimator._improve(train, positive, w, space)
        everything[weights] = w
        out[:] = test.decisions(w)
    return values


def _hinge_sets(
    estimator: HingeSVM, X_train: Any, positive: NDArray[np.bool_], X_test: Any, column_sets: list[Ints]
) -> Floats:
    """The Gram matrix of a set that holds the one before it grows by the new columns only."""
    sets = _Sets.of(X_train, X_test, column_sets)
    values = np.empty((len(sets.positions), len(sets.test.start)))
    n, reached = len(positive), sets.train.start
    gram = np.zeros((n, n), dtype=np.float32) if sets.nested and n <= MAX_GRAM_ROWS else None
    for out, (positions, train, test) in zip(values, sets.each(), strict=True):
        if gram is not None:
            if (train.end < reached).any():
                gram[:], reached = 0.0, train.start
            _add_gram(gram, train, reached, len(positions))
            reached = train.end
        out[:] = test.decisions(_hinge_solution(estimator.C, train, positive, len(positions), gram))
    return values


def _bayes_sets(
    estimator: Any, X_train: Any, positive: NDArray[np.bool_], X_test: Any, sets: list[Ints]
) -> Floats:
    """Naive Bayes for every set at once: only the sums over a set depend on it."""
    train, test = _canonical(X_train), _canonical(X_test)
    if any(X.nnz and X.data.min() < 0 for X in (train, test)):
        raise InputError("naive Bayes takes counts or weights of at least 0; a value is negative")
    rest, member = bayes.class_sums(*_arrays(train), positive.view(np.uint8), train.shape[1])
    counts = np.stack([member, rest])
    weight = np.log(np.maximum(counts + estimator.alpha, np.finfo(float).tiny))
    sums = bayes.set_sums(*_arrays(test), *_memberships(sets, train.shape[1]), weight, len(sets))
    total = np.stack(
        [counts[:, columns].sum(axis=1) + estimator.alpha * len(columns) for columns in sets], axis=1
    )
    norm = np.log(np.maximum(total, np.finfo(float).tiny))
    prior = np.log([positive.mean(), 1.0 - positive.mean()])
    joint = sums[:, :2] - sums[:, 2:] * norm + prior[:, None]
    quotient = isinstance(estimator, QuotientNB)
    values = 1.0 - joint[:, 0] / joint[:, 1] if quotient else joint[:, 0] - joint[:, 1]
    return np.ascontiguousarray(values.T)


def _arrays(X: Any) -> tuple[Ints, NDArray[np.int32], NDArray]:
    data = X.data.view(np.uint8) if X.dtype == bool else X.data
    if data.dtype.type not in (np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64):
        data = data.astype(np.float64)
    return X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), data


def _memberships(sets: list[Ints], n_columns: int) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
    """Return the runs of consecutive sets each column belongs to: where a column's runs begin, their ends."""
    member = np.zeros((n_columns, len(sets) + 2), dtype=np.int8)
    for number, columns in enumerate(sets, start=1):
        member[columns, number] = 1
    used = np.flatnonzero(member.any(axis=1))
    change = np.diff(member[used], axis=1)
    runs = np.zeros(n_columns + 1, dtype=np.int64)
    runs[used + 1] = (change == 1).sum(axis=1)
    low, high = (np.nonzero(change == sign)[1].astype(np.int32) for sign in (1, -1))
    return np.cumsum(runs), low, high


# The classes whose sets share work. Compared by type, not by isinstance: a subclass may decide otherwise.
_SHARED: dict[type, Callable[[Any, Any, NDArray[np.bool_], Any, list[Ints]], Floats]] = {
    MultinomialNB: _bayes_sets,
    QuotientNB: _bayes_sets,
    LogisticL2: _linear_sets,
    SquaredHingeSVM: _linear_sets,
    DocumentPerceptron: _linear_sets,
    HingeSVM: _hinge_sets,
}


from termsieve.learners import weighted as _weighted  # noqa: E402, F401  (enters its learner in the registry)
