"""RatioSelector and RatioClassifier: for each class the share of positive terms that serves it best."""

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
from termsieve.estimators.base import Columns, LearnedSelector, checked_shares
from termsieve.estimators.evaluate import (
    Floats,
    Part,
    check_objective,
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
    """What was learned for one class: all terms in order, the ratio, the objective for each ratio."""

    order: Columns
    ratio: float
    curve: Floats
    scores: Floats


class RatioSelector(LearnedSelector):
    """Select k terms for a class, positive and negative ones in the ratio that serves a learner best.

    For each ratio r the r * k (rounded half up) terms with the greatest signed scores are united with the
    remaining k with the smallest; the ratio with the best objective is kept, of equally good ones the middle
    one (zheng2004's improved methods). More than two classes, or several labels a document: each class
    against the rest has its own ratio and k terms, and their union is selected.

    Parameters
    ----------
    metric : a name or callable, as for TermSelector; two-sided ones are signed by their direction
    k : terms for each class
    ratios : the shares of positive terms to try
    learner : a name such as "nb(quotient)" or "lr", or any scikit-learn classifier
    objective : "f1_break_even", a measure's name, or a scorer as scikit-learn takes it
    tune : "cv", by folds of the documents, or "train", on the documents the learner was trained on
    cv : number of folds, stratified; at most the documents of the smaller class, and below 2 as "train"
    random_state : None deals the documents in their order, otherwise they are shuffled

    Attributes
    ----------
    ratio_ : the ratio; one a class where there are several problems
    curve_ : the objective for each of `ratios`; a row a class where there are several problems
    selections_ : for each problem its k columns, those of the ratio's ranking
    ranking_ : all columns by their best place for any class; the selected ones come first
    counts_, classes_, scores_ : as of TermSelector; scores_ are signed

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
        objective: Any = "f1_break_even",
        tune: str = "cv",
        cv: int = 5,
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.k = k
        self.ratios = ratios
        self.learner = learner
        self.objective = objective
        self.tune = tune
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the ratio for each class, and select."""
        check_cut("k", self.k)
        check_objective(self.objective)
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
        if not tuned:
            raise InputError("y has no label; at least one document needs one")
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
        """Return the share of positive terms among the k best of a two-sided metric, one a problem.

        What zheng2004 compares the learned ratio with: the one that chi_squared, say, takes unasked.
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
        return set_values(self.learner, self.objective, X, member[:, 0], part, sets)


def sided_orders(
    counts: Counts, metric: str | Metric | Callable[..., Any]
) -> tuple[Columns, Columns, Floats]:
    """Return the columns from the most positive, from the most negative, and their signed scores."""
    scores = score(counts, metric)
    positive, negative = rank(scores, side="positive"), rank(scores, side="negative")
    return positive.order, negative.order, positive.scores


def _one_problem(counts: Counts, c: int) -> Counts:
    """Return the counts of one class against the rest, named 0 and without term names."""
    return counts.take([c]).replace(classes=[0], terms=None, multilabel=True)


def _by_best_place(orders: list[Columns]) -> Columns:
    """Return the columns by their best place in any of the orders, then by the order's number."""
    if len(orders) == 1:
        return orders[0]
    turns = np.array(orders).T.ravel()
    return turns[np.sort(np.unique(turns, return_index=True)[1])]


class RatioClassifier(ClassifierMixin, BaseEstimator):
    """One classifier a class, each on the terms a RatioSelector finds for it; documents are counted once.

    The same selections as OneVsRestClassifier(make_pipeline(RatioSelector(...), classifier)), and, unlike
    a selector of the union in front of a classifier, no class sees another's terms.

    Parameters
    ----------
    selector : a RatioSelector; None is RatioSelector()
    classifier : a learner's name or a scikit-learn classifier; None is the selector's own learner

    Attributes
    ----------
    selector_ : the fitted RatioSelector
    estimators_ : the fitted classifiers, one a problem
    classes_ : the classes; of two, the second is the positive one

    >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 0], [0, 1, 1]]
    >>> RatioClassifier(RatioSelector(k=2)).fit(X, ["spam", "spam", "ham", "ham"]).predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    def __init__(self, selector: RatioSelector | None = None, classifier: Any = None) -> None:
        self.selector = selector
        self.classifier = classifier

    def fit(self, X: Any, y: Any) -> Self:
        """Select for each class, and train a classifier on its terms."""
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
        """Return the decision values: one a document for two classes, else one a class."""
        check_is_fitted(self)
        check_indices(X)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        chosen = zip(self.estimators_, self.selector_.selections_, strict=True)
        values = np.column_stack([_decisions(model, X[:, columns]) for model, columns in chosen])
        return values[:, 0] if len(self.estimators_) == 1 and not self.multilabel_ else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each document; with several labels a document, an indicator matrix."""
        values = self.decision_function(X)
        if self.multilabel_:
            return (values > 0).astype(np.int64)
        codes = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_label = True
        # scikit-learn's checks bring measurements, in which every term is present nearly everywhere.
        tags.classifier_tags.poor_score = True
        return tags


def _classifier_target(y: Any) -> Any:
    """Return y with the forms that scikit-learn's classifiers take beside ours: a column, rows of lists."""
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
    """Return a classifier of 0 and 1, or the one value that a target without a choice allows."""
    if member.all() or not member.any():
        return 1.0 if member.all() else -1.0
    return clone(model).fit(X, member.astype(np.int64))


def _decisions(model: Any, X: Any) -> Floats:
    return np.full(X.shape[0], model) if isinstance(model, float) else decision_values(model, X)
