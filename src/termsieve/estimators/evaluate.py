"""Documents, labels and sets of columns come in; the figure of a learner on each set goes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import KFold, StratifiedKFold

from termsieve.counts import Counts
from termsieve.errors import ParameterError, unknown_name
from termsieve.learners import decision_sets, get_learner, predicted_sets, separate_fits
from termsieve.measures import BREAK_EVEN_GOALS, MEASURES, f1_break_even, get_goal

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Sets = Sequence[NDArray[np.int64]]
EQUAL = 1e-12  # smaller differences between figures are only rounding errors
# Goals that are computed from decision values, without a scorer.
BINARY = (*MEASURES, *BREAK_EVEN_GOALS)


class Part(NamedTuple):
    """The rows that a learner is trained on and those that it is evaluated on."""

    train: Rows
    test: Rows


def middle_of_best(values: Floats) -> int:
    """Return the position of the greatest value; of several the middle one, of two middle ones the later.

    >>> middle_of_best(np.array([.1, .7, .7, .7, .2])), middle_of_best(np.array([.7, .7]))
    (2, 1)
    """
    best = np.flatnonzero(values >= values.max() - EQUAL)
    return int(best[len(best) // 2])


def tuning_parts(target: NDArray[Any], cv: Any, random_state: Any) -> list[Part]:
    """Return min(cv, smallest class) folds; below 2, one part that trains and tests on all documents.

    `target` holds one class per document, by which the folds are stratified, or one row of labels per
    document, and then they are not. Without a random state the documents are assigned to the folds in their
    order.
    """
    if isinstance(cv, bool) or not isinstance(cv, (int, np.integer)) or cv < 1:
        raise ParameterError(f"cv must be a whole number of folds of at least 1, not {cv!r}")
    n_docs = len(target)
    shuffle = {"shuffle": random_state is not None, "random_state": random_state}
    if target.ndim == 1:
        sizes = np.unique_counts(target).counts
        n_folds = min(int(cv), int(sizes.min())) if len(sizes) > 1 else 0
    else:
        n_folds = min(int(cv), n_docs)
    if n_folds < 2:
        everything = np.arange(n_docs)
        return [Part(everything, everything)]
    maker = StratifiedKFold if target.ndim == 1 else KFold
    return [Part(*rows) for rows in maker(n_folds, **shuffle).split(np.zeros(n_docs), target)]


def training_counts(whole: Counts, X: Any, y: Any, part: Part) -> Counts:
    """Return the counts of a part's training documents: those of all documents minus the held-out ones.

    `y` must hold labels that name the classes of `whole`, which has no term names.
    """
    if len(part.train) == X.shape[0]:
        return whole
    return whole - Counts.from_matrix(X[part.test], y[part.test], occurrences=whole.occurrences)


def set_values(estimator: Any, goal: Any, X: Any, y: NDArray[Any], part: Part, sets: Sets) -> Floats:
    """Return the figure of the learner on a part of the documents, one value per set of columns.

    `y` holds 0 and 1, or the numbers of more classes, or is an indicator matrix; then the figure is
    averaged over its columns. The goal is the name of a measure, "f1_break_even", or a scorer of
    scikit-learn: a name or a callable (estimator, X, y).
    """
    if y.ndim == 2:
        columns = [
            set_values(estimator, goal, X, y[:, c].astype(np.int64), part, sets) for c in range(y.shape[1])
        ]
        return np.mean(columns, axis=0)
    union = np.unique(np.concatenate([*sets, np.zeros(0, dtype=np.int64)]))
    # Only these columns are kept, so that taking the columns of each set is cheap.
    X_train, X_test = X[part.train][:, union], X[part.test][:, union]
    sets = [np.searchsorted(union, columns) for columns in sets]
    y_train, y_test = y[part.train], y[part.test]
    if isinstance(goal, str) and goal in BINARY and y.max(initial=0) <= 1:
        values = decision_sets(estimator, X_train, y_train, X_test, sets)
        return np.atleast_1d(np.asarray(get_goal(goal)(y_test, values), dtype=np.float64))
    if goal == "accuracy":
        predicted = predicted_sets(estimator, X_train, y_train, X_test, sets)
        return np.asarray((predicted == y_test).mean(axis=1))
    scorer = _scorer(goal)
    if len(np.unique(y_train)) < 2:
        return np.zeros(len(sets))
    models = separate_fits(get_learner(estimator), X_train, y_train, X_test, sets)
    return np.array([float(scorer(model, test, y_test)) for model, test in models])


def check_goal(goal: Any) -> None:
    """Raise UnknownNameError or ParameterError unless `goal` is valid."""
    if not (isinstance(goal, str) and goal in BINARY):
        _scorer(goal)


def _scorer(goal: Any) -> Callable[..., float]:
    if callable(goal):
        return goal
    if not isinstance(goal, str):
        raise ParameterError(f"goal must be a name or a scorer, not {type(goal).__name__}")
    if goal == "f1_break_even":
        return f1_break_even
    if goal not in get_scorer_names():
        raise unknown_name("goal", goal, BINARY, get_scorer_names())
    return get_scorer(goal)
