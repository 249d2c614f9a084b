"""RatioSelector and RatioClassifier: learn the best share of positive terms for each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from termsieve.counts import Counts
from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.estimators.base import Columns, LearnedSelector, checked_shares, decided_classes
from termsieve.estimators.evaluate import (
    Floats,
    Part,
    check_goal,
    middle_of_best,
    set_values,
    training_counts,
    tuning_parts,
)
from termsieve.estimators.selector import with_occurrences
from termsieve.labels import encode_labels
from termsieve.learners import get_learner
from termsieve.matrices import check_indices
from termsieve.measures import decision_values
from termsieve.metrics import Metric
from termsieve.ranking import check_cut, interleaved, rank
from termsieve.scores import score

RATIOS = tuple(round(i / 20, 2) for i in range(21))
TUNE = ("cv", "train")


class Tuned(NamedTuple):
    """What was learned for one class: all terms in order, the ratio, and the figure for each ratio."""

    order: Columns
    ratio: float
    curve: Floats
    scores: Floats


class RatioSelector(LearnedSelector):
    """Select k terms per class, with a learned share of positive and negative terms.

    For each ratio r, the r * k (rounded half up) terms with the greatest signed scores are joined with the
    remaining terms, up to k, with the smallest scores. The ratio with the best figure is chosen; if
    several are equally good, the middle one (the improved methods of zheng2004). If there are more than two
    classes, or several labels per document, each class against the rest has its own ratio and its own k
    terms, and their union is selected.

    Parameters
    ----------
    metric : str, Metric or callable, default="correlation_coefficient"
        The metric, as for TermSelector. Two-sided metrics are given a sign by their direction.
    k : int, default=50
        Number of terms per class.
    ratios : sequence of float
        The shares of positive terms to try; by default 0, .05, ..., 1.
    learner : str or classifier, default="nb(quotient)"
        The learner that is trained with each ratio: a name, or any scikit-learn classifier.
    goal : str or callable, default="f1_break_even"
        What to maximise: "f1_break_even", the name of a measure, or any `scoring` of scikit-learn.
    tune : {"cv", "train"}, default="cv"
        How the ratios are evaluated: by cross-validation, or on the documents that the learner was trained
        on.
    cv : int, default=5
        Number of stratified folds, but at most the size of the smaller class. Below 2, as ``tune="train"``.
    random_state : int, RandomState or None, default=None
        With None the documents are assigned to the folds in their order, otherwise they are shuffled first.

    Attributes
    ----------
    ratio_ : float or ndarray
        The learned ratio; one per class if there are several problems.
    curve_ : ndarray
        The figure for each of `ratios`; one row per class if there are several problems.
    selections_ : list of ndarray of int
        The k columns of each problem, in the order of its ranking.
    ranking_ : ndarray of int
        All columns, ordered by their best place for any class; the selected columns come first.
    scores_ : ndarray of shape (n_features,)
        The signed score of each term, of the class for which its absolute value is greatest.
    counts_, classes_
        As in TermSelector.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 0], [0, 1, 1]]
    >>> selector = RatioSelector(k=2).fit(X, ["spam", "spam", "ham", "ham"])
    >>> selector.ratio_, selector.get_support().tolist()
    (0.65, [True, True, False])
    """

    def __init__(
        self,
        metric: str | Metric | Callable[..., Any] = "correlation_coefficient",
        k: int = 50,
        ratios: Sequence[float] = RATIOS,
        learner: Any = "nb(quotient)",
        goal: Any = "f1_break_even",
        tune: str = "cv",
        cv: int = 5,
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.k = k
        self.ratios = ratios
        self.learner = learner
        self.goal = goal
        self.tune = tune
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the ratio for each class, and select.

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
        check_cut("k", self.k)
        check_goal(self.goal)
        if self.tune not in TUNE:
            raise unknown_name("tune", self.tune, TUNE)
        ratios = checked_shares("ratios", self.ratios)
        X, labels = self._documents(X, y)
        counts = self._counted(X, y, with_occurrences(self.metric, X))
        members = labels.indicator()
        tuned = [
            self._tuned(X, members[:, [c]].astype(np.int64), _one_problem(counts, c), ratios)
            for c in counts.problems
        ]
        self.selections_ = [found.order[: self.k] for found in tuned]
        self.ranking_ = _by_best_place([found.order for found in tuned])
        self.selected_ = self.ranking_[: len(np.unique(np.concatenate(self.selections_)))]
        ratio, curve, scores = (
            np.array([getattr(t, name) for t in tuned]) for name in ("ratio", "curve", "scores")
        )
        several = len(tuned) > 1
        self.ratio_ = ratio if several else float(ratio[0])
        self.curve_ = curve if several else curve[0]
        self.scores_ = scores[np.abs(scores).argmax(axis=0), np.arange(counts.n_terms)]
        return self

    def implied_ratio(self, metric: str | Metric | Callable[..., Any]) -> Any:
        """Return the share of positive terms among the k best terms of another, two-sided metric.

        zheng2004 compares the learned ratio with it.

        Parameters
        ----------
        metric : str, Metric or callable
            The two-sided metric, such as "chi_squared".

        Returns
        -------
        float or ndarray
            The share; one per class if there are several problems.
        """
        check_is_fitted(self)
        shares = []
        for c in self.counts_.problems:
            scores = score(self.counts_.take([c]), metric)
            best = rank(scores).order[: self.k]
            shares.append(float((scores.direction[0, best] > 0).mean()) if len(best) else 0.0)
        return np.array(shares) if len(shares) > 1 else shares[0]

    def _tuned(self, X: Any, member: NDArray[np.int64], counts: Counts, ratios: list[float]) -> Tuned:
        """Return the ratio for one class; `member` is a column of 0 and 1."""
        target = member[:, 0]
        parts = tuning_parts(target, self.cv if self.tune == "cv" else 1, self.random_state)
        curve = np.mean([self._values(X, member, counts, part, ratios) for part in parts], axis=0)
        ratio = ratios[middle_of_best(curve)]
        positive, negative, scores = sided_orders(counts, self.metric)
        return Tuned(interleaved(positive, negative, ratio), ratio, curve, scores)

    def _values(
        self, X: Any, member: NDArray[np.int64], counts: Counts, part: Part, ratios: list[float]
    ) -> Floats:
        known = training_counts(counts, X, member, part)
        positive, negative, _ = sided_orders(known, self.metric)
        sets = [interleaved(positive, negative, ratio)[: self.k] for ratio in ratios]
        return set_values(self.learner, self.goal, X, member[:, 0], part, sets)


def sided_orders(
    counts: Counts, metric: str | Metric | Callable[..., Any]
) -> tuple[Columns, Columns, Floats]:
    """Return the columns from most positive to most negative, the reverse order, and the signed scores."""
    scores = score(counts, metric)
    positive, negative = rank(scores, side="positive"), rank(scores, side="negative")
    return positive.order, negative.order, positive.scores


def _one_problem(counts: Counts, c: int) -> Counts:
    """Return the counts of one class against the rest, named 0 and without term names."""
    return counts.take([c]).replace(classes=[0], terms=None, multilabel=True)


def _by_best_place(orders: list[Columns]) -> Columns:
    """Return the columns by their best place in any of the orders; of equal places, by the order's number."""
    if len(orders) == 1:
        return orders[0]
    turns = np.array(orders).T.ravel()
    return turns[np.sort(np.unique(turns, return_index=True)[1])]


class RatioClassifier(ClassifierMixin, BaseEstimator):
    """One classifier per class, trained on the terms that a RatioSelector selects for that class.

    The selections are those of ``OneVsRestClassifier(make_pipeline(RatioSelector(...), classifier))``, but
    the documents are counted only once. A RatioSelector in front of a classifier would give every class the
    terms of all classes; here each class has only its own.

    Parameters
    ----------
    selector : RatioSelector, optional
        The selector; ``RatioSelector()`` by default.
    classifier : str or classifier, optional
        The name of a learner, or a scikit-learn classifier; by default the learner of the selector.

    Attributes
    ----------
    selector_ : RatioSelector
        The fitted selector.
    estimators_ : list
        The fitted classifiers, one per problem.
    classes_ : ndarray
        The classes; if there are two, the second is the positive one.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 0], [0, 1, 1]]
    >>> RatioClassifier(RatioSelector(k=2)).fit(X, ["spam", "spam", "ham", "ham"]).predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    def __init__(self, selector: RatioSelector | None = None, classifier: Any = None) -> None:
        self.selector = selector
        self.classifier = classifier

    def fit(self, X: Any, y: Any) -> Self:
        """Select for each class, and train a classifier on its terms.

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
        if self.selector is not None and not isinstance(self.selector, RatioSelector):
            raise ParameterError(f"selector must be a RatioSelector, not {type(self.selector).__name__}")
        selector = RatioSelector() if self.selector is None else clone(self.selector)
        model = get_learner(selector.learner if self.classifier is None else self.classifier)
        check_indices(X)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric")
        y = _classifier_target(y)
        labels = encode_labels(y)
        if len(labels.classes) < 2 and not labels.multilabel:
            raise InputError("a classifier needs at least 2 classes; the labels have one class only")
        self.selector_ = selector.fit(X, y)
        self.classes_ = labels.classes
        self.multilabel_ = labels.multilabel
        members = labels.indicator()
        problems = zip(selector.counts_.problems, selector.selections_, strict=True)
        self.estimators_ = [_trained(model, X[:, chosen], members[:, c]) for c, chosen in problems]
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return one decision value per document for two classes, otherwise one per document and class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.

        Returns
        -------
        ndarray of float
            The decision values.
        """
        check_is_fitted(self)
        check_indices(X)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        chosen = zip(self.estimators_, self.selector_.selections_, strict=True)
        values = np.column_stack([_decisions(model, X[:, columns]) for model, columns in chosen])
        return values[:, 0] if len(self.estimators_) == 1 and not self.multilabel_ else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each document; if documents have several labels, an indicator matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.

        Returns
        -------
        ndarray
            The predicted classes.
        """
        return decided_classes(self.decision_function(X), self.classes_, self.multilabel_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_label = True
        # The data of scikit-learn's checks are measurements, in which nearly every term is present.
        tags.classifier_tags.poor_score = True
        return tags


def _classifier_target(y: Any) -> Any:
    """Return y; a matrix of one column and lists of 0 and 1, which scikit-learn accepts, are converted."""
    if isinstance(y, list) and y and all(isinstance(row, (list, np.ndarray)) for row in y):
        lengths = {len(row) for row in y}
        if len(lengths) == 1 and np.isin(np.asarray(y), (0, 1)).all():
            return np.asarray(y)
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if isinstance(y, np.ndarray) and y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
    return y


def _trained(model: Any, X: Any, member: NDArray[np.bool_]) -> Any:
    """Return a classifier of 0 and 1, or its constant decision value if all documents have the same class."""
    if member.all() or not member.any():
        return 1.0 if member.all() else -1.0
    return clone(model).fit(X, member.astype(np.int64))


def _decisions(model: Any, X: Any) -> Floats:
    return np.full(X.shape[0], model) if isinstance(model, float) else decision_values(model, X)
