"""Decision values come in; confusion counts at a threshold or at break-even, and goals of tuning, go out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from termsieve.errors import InputError, unknown_name
from termsieve.measures.confusion import MEASURES, Confusion, f1, share_of

Ties = Literal["divided", "whole"]


def _checked(y: ArrayLike, scores: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    y, scores = np.asarray(y), np.asarray(scores, dtype=np.float64)
    if y.ndim != 1 or scores.ndim == 0 or scores.shape[-1] != len(y):
        raise InputError(
            f"scores of shape {scores.shape} do not fit labels of shape {y.shape}; give one score per label"
        )
    if not np.isin(y, (0, 1)).all():
        raise InputError("break-even needs labels 0 and 1; give one binary problem at a time")
    if np.isnan(scores).any():
        raise InputError("a decision value is NaN; every document needs a number")
    return y.astype(bool), scores


def _cut(y: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> Confusion:
    tp = predicted[..., y].sum(axis=-1)
    marked = predicted.sum(axis=-1)
    pos = int(y.sum())
    return Confusion(tp, marked - tp, pos - tp, len(y) - pos - marked + tp)


def at_threshold(y: ArrayLike, scores: ArrayLike, threshold: float = 0.0) -> Confusion:
    """Return the confusion counts of predicting positive where the decision value is above `threshold`.

    `scores` holds one value per document along its last axis; the counts have the shape of the other axes.

    Parameters
    ----------
    y : array-like
        The true classes, 0 and 1.
    scores : array-like
        The decision values: one per document along the last axis.
    threshold : float, default=0.0
        What a decision value must exceed.

    Returns
    -------
    Confusion
        The counts.

    Examples
    --------
    >>> [int(cell) for cell in at_threshold([1, 1, 0, 0], [2.0, -1.0, 0.5, 0.0])]
    [1, 1, 1, 1]
    """
    labels, values = _checked(y, scores)
    return _cut(labels, values > threshold)


def break_even(y: ArrayLike, scores: ArrayLike, ties: Ties = "divided") -> Confusion:
    """Return the confusion counts where precision equals recall: as many predicted as positive documents.

    The documents with the highest scores are predicted, as many as are positive (zheng2004). Documents with
    equal scores may lie across that number. With ``ties="divided"`` only the share of them that fits is
    predicted, and their positives count in expectation: the counts are real numbers, which can be added up.
    With ``ties="whole"`` all or none of them are predicted, as a threshold would do: whatever brings FP and
    FN nearer together, then the greater F1, then fewer predicted documents. Neither result depends on the
    order of the documents.

    `scores` holds one value per document along its last axis; the counts have the shape of the other axes.

    Parameters
    ----------
    y : array-like
        The true classes, 0 and 1.
    scores : array-like
        The decision values: one per document along the last axis.
    ties : {"divided", "whole"}, default="divided"
        The rule for documents with equal scores.

    Returns
    -------
    Confusion
        The counts.

    Examples
    --------
    >>> [round(float(cell), 3) for cell in break_even([1, 1, 0, 0, 0], [0.9, 0.4, 0.4, 0.4, 0.1])]
    [1.333, 0.667, 0.667, 2.333]
    >>> [int(cell) for cell in break_even([1, 1, 0, 0, 0], [0.9, 0.4, 0.4, 0.4, 0.1], ties="whole")]
    [1, 0, 1, 3]
    """
    if ties not in get_args(Ties):
        raise unknown_name("ties", ties, get_args(Ties))
    labels, values = _checked(y, scores)
    pos, n = int(labels.sum()), len(labels)
    if pos == 0:
        return _cut(labels, np.zeros(values.shape, dtype=bool))
    # The document at rank `pos` is in a group of equal scores, which is divided, excluded or included.
    edge = np.partition(values, n - pos, axis=-1)[..., n - pos, None]
    few, many = _cut(labels, values > edge), _cut(labels, values >= edge)
    if ties == "divided":
        outside = few.tp + few.fp
        share = share_of(pos - outside, many.tp + many.fp - outside)
        tp = few.tp + share * (many.tp - few.tp)
        return Confusion(tp, pos - tp, pos - tp, n - 2 * pos + tp)
    near_few, near_many = np.abs(few.fp - few.fn), np.abs(many.fp - many.fn)
    take_many = (near_many < near_few) | ((near_many == near_few) & (f1(*many) > f1(*few)))
    return Confusion(*(np.where(take_many, a, b)[()] for a, b in zip(many, few, strict=True)))


def f1_break_even_score(y: ArrayLike, scores: ArrayLike, ties: Ties = "divided") -> Any:
    """Return F1 at the break-even point of one binary problem (the score-function form).

    Parameters
    ----------
    y : array-like
        The true classes, 0 and 1.
    scores : array-like
        The decision values: one per document along the last axis.
    ties : {"divided", "whole"}, default="divided"
        The rule for documents with equal scores.

    Returns
    -------
    float
        The value.

    Examples
    --------
    >>> f1_break_even_score([1, 1, 0, 0, 0], [0.9, 0.4, 0.6, 0.1, 0.1])
    0.5
    """
    return f1(*break_even(y, scores, ties))


def f1_break_even(estimator: Any, X: Any, y: ArrayLike) -> float:
    """Return F1 at break-even of a fitted classifier: a scorer for `scoring=f1_break_even`.

    The greater of the two classes is the positive one. With more than two classes it is the mean over the
    classes, each against the rest; with a multi-label `y` (documents x labels) the mean over the labels.

    Parameters
    ----------
    estimator : classifier
        A fitted classifier.
    X : array-like or sparse matrix of shape (n_docs, n_terms)
        The term matrix.
    y : array-like
        The labels of the documents.

    Returns
    -------
    float
        The value.
    """
    values = decision_values(estimator, X)
    y = np.asarray(y)
    first = 1 if values.ndim == 1 else 0
    targets = y if y.ndim == 2 else y[:, None] == estimator.classes_[first:]
    values = values.reshape(len(y), -1)
    return float(np.mean([f1_break_even_score(t, v) for t, v in zip(targets.T, values.T, strict=True)]))


def decision_values(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return a fitted classifier's decision values: above 0 where it predicts the positive class.

    They are the decision function if there is one, otherwise the log-odds of the predicted probabilities,
    otherwise 1 and -1 for the predicted class. There is one column per class if there are more than two.

    Parameters
    ----------
    estimator : classifier
        A fitted classifier.
    X : array-like or sparse matrix of shape (n_docs, n_terms)
        The term matrix.

    Returns
    -------
    ndarray of float
        One value per document, or one per document and class.
    """
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    if hasattr(estimator, "predict_proba"):
        return _log_odds(estimator, X)
    predicted = np.asarray(estimator.predict(X))
    if len(estimator.classes_) == 2:
        return np.where(predicted == estimator.classes_[1], 1.0, -1.0)
    return np.where(predicted[:, None] == estimator.classes_, 1.0, -1.0)


def _log_odds(estimator: Any, X: Any) -> NDArray[np.float64]:
    # A joint log-probability is still exact where the probability rounds to 0 or 1.
    if hasattr(estimator, "predict_joint_log_proba") and len(estimator.classes_) == 2:
        joint = np.asarray(estimator.predict_joint_log_proba(X))
        return np.asarray(joint[:, 1] - joint[:, 0])
    tiny = np.finfo(float).tiny
    share = np.clip(np.asarray(estimator.predict_proba(X), dtype=np.float64), tiny, 1.0)
    rest = np.clip(1.0 - share, tiny, 1.0) if share.shape[1] != 2 else share[:, ::-1]
    odds = np.log(share) - np.log(rest)
    return np.asarray(odds[:, 1] if odds.shape[1] == 2 else odds)


Goal = Callable[[ArrayLike, ArrayLike], Any]
BREAK_EVEN_GOALS: dict[str, Goal] = {
    "f1_break_even": f1_break_even_score,
    "f1_break_even_whole": partial(f1_break_even_score, ties="whole"),
}


def get_goal(name: str | Goal) -> Goal:
    """Return the function (labels, decision values) -> value of a name; a callable is returned as it is.

    A measure is computed at the threshold 0, `f1_break_even` at the break-even point, where tied documents
    are divided; `f1_break_even_whole` does not divide them.

    Parameters
    ----------
    name : str or callable
        A measure's name, "f1_break_even", or a function.

    Returns
    -------
    callable
        The function of (labels, decision values).

    Examples
    --------
    >>> get_goal("recall")([1, 1, 0], [2.0, -1.0, -3.0])
    0.5
    >>> get_goal("f1_break_even")([1, 1, 0], [2.0, -1.0, -3.0])
    1.0
    """
    if callable(name):
        return name
    if name in BREAK_EVEN_GOALS:
        return BREAK_EVEN_GOALS[name]
    if name not in MEASURES:
        raise unknown_name("goal", name, [*MEASURES, *BREAK_EVEN_GOALS])
    return partial(_at_zero, MEASURES[name])


def _at_zero(function: Callable[..., Any], y: ArrayLike, scores: ArrayLike) -> Any:
    return function(*at_threshold(y, scores))
