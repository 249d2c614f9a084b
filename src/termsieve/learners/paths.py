"""A learner, documents and a ranking come in; its decision values at every size of the ranking go out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from termsieve.errors import InputError
from termsieve.learners.base import Classifier
from termsieve.learners.linear import class_votes
from termsieve.learners.registry import get_learner, learner_declaration
from termsieve.learners.rows import Columns, Floats, Ints, are_nested, threads
from termsieve.measures import decision_values


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
    size above the length of `order` takes all of it). A value above 0 predicts class 1. If
    `y_train` has one class only, every value predicts it: -1 or 1.

    Parameters
    ----------
    learner_or_name : str or classifier
        A learner's name, such as "svm" or "nb", or a scikit-learn classifier.
    X_train : array-like or sparse matrix of shape (n_train, n_terms)
        The training documents.
    y_train : array-like
        The classes of the training documents, 0 and 1.
    X_test : array-like or sparse matrix of shape (n_test, n_terms)
        The documents to decide.
    order : array-like
        The columns, the best first.
    sizes : sequence of int
        Numbers of the best columns to train on.

    Returns
    -------
    ndarray of shape (n_sizes, n_test)
        The decision values.

    Examples
    --------
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

    The general form of `decision_path`, for sets that are not prefixes of one ranking, such as the ratios of
    zheng2004. Learners that declare `along` share work between the sets; any other classifier is fitted once
    per set.

    Parameters
    ----------
    learner_or_name : str or classifier
        A learner's name, such as "svm" or "nb", or a scikit-learn classifier.
    X_train : array-like or sparse matrix of shape (n_train, n_terms)
        The training documents.
    y_train : array-like
        The classes of the training documents, 0 and 1.
    X_test : array-like or sparse matrix of shape (n_test, n_terms)
        The documents to decide.
    column_sets : iterable of array-like
        The sets of columns to train on.

    Returns
    -------
    ndarray of shape (n_sets, n_test)
        The decision values.
    """
    estimator = get_learner(learner_or_name)
    ready = sp.sparray, sp.spmatrix, Columns
    X_train, X_test = (X if isinstance(X, ready) else np.asarray(X) for X in (X_train, X_test))
    if isinstance(estimator, Classifier):
        estimator.check_parameters()
    y, sets = _checked_task(X_train, y_train, X_test, column_sets)
    if not len(sets) or not X_test.shape[0] or y.all() or not y.any():
        return np.full((len(sets), X_test.shape[0]), 1.0 if len(y) and y.all() else -1.0)
    along = learner_declaration(estimator).along
    if along is not None:
        with threads().limit(limits=1, user_api="blas"):
            return along(estimator, X_train, y, X_test, sets)
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

    Like `decision_sets`, for any number of classes: each against the rest, pairs that vote, or the
    classifier's own `predict`, as the learner declares.

    Parameters
    ----------
    learner_or_name : str or classifier
        A learner's name, such as "svm" or "nb", or a scikit-learn classifier.
    X_train : array-like or sparse matrix of shape (n_train, n_terms)
        The training documents.
    y_train : array-like
        The classes of the training documents.
    X_test : array-like or sparse matrix of shape (n_test, n_terms)
        The documents to decide.
    column_sets : sequence of array-like
        The sets of columns to train on.

    Returns
    -------
    ndarray of shape (n_sets, n_test)
        The predicted classes.
    """
    estimator = get_learner(learner_or_name)
    classes, codes = np.unique(np.asarray(y_train), return_inverse=True)
    numbers = range(len(classes))

    def decided(rows: Any, positive: NDArray[np.bool_]) -> Floats:
        return decision_sets(estimator, X_train[rows], positive.astype(np.int64), X_test, column_sets)

    if len(classes) <= 2:
        return np.asarray(classes[(decided(slice(None), codes == 1) > 0).astype(np.intp)])
    several = learner_declaration(estimator).several
    if several == "pairs":
        pairs = (
            (np.flatnonzero((codes == first) | (codes == second)), second)
            for first, second in combinations(numbers, 2)
        )
        values = (decided(rows, codes[rows] == second) for rows, second in pairs)
        votes = class_votes(values, len(classes), (len(column_sets), X_test.shape[0]))
        return np.asarray(classes[votes.argmax(axis=0)])
    if several == "rest":
        against_rest = [decided(slice(None), codes == c) for c in numbers]
        return np.asarray(classes[np.argmax(against_rest, axis=0)])
    models = separate_fits(estimator, X_train, codes, X_test, column_sets)
    return np.stack([classes[model.predict(test)] for model, test in models])


def _checked_task(
    X_train: Any, y_train: ArrayLike, X_test: Any, column_sets: Iterable[ArrayLike]
) -> tuple[NDArray[np.bool_], list[Ints]]:
    y = np.asarray(y_train)
    if y.ndim != 1 or len(y) != X_train.shape[0] or not ((y == 0) | (y == 1)).all():
        raise InputError("y_train must hold 0 or 1 for each training document")
    n_columns = X_train.shape[1]
    if X_test.shape[1] != n_columns:
        raise InputError(f"X_test has {X_test.shape[1]} columns and X_train {n_columns}; give equal columns")
    sets = [np.asarray(columns, dtype=np.int64) for columns in column_sets]
    for columns in [max(sets, key=len)] if are_nested(sets) else sets:
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
    """Yield for each set of columns a model fitted to it, and the test documents with these columns.

    Parameters
    ----------
    estimator : classifier
        What is cloned and fitted.
    X_train : array-like or sparse matrix of shape (n_train, n_terms)
        The training documents.
    y : array-like
        The classes of the training documents.
    X_test : array-like or sparse matrix of shape (n_test, n_terms)
        The documents to decide.
    sets : iterable of array-like
        The sets of columns.

    Yields
    ------
    tuple
        The fitted model, and the test documents with these columns.
    """
    X_train, X_test = (X.tocsr() if sp.issparse(X) else X for X in (X_train, X_test))
    for columns in map(np.asarray, sets):
        if len(columns):
            train, test = X_train[:, columns], X_test[:, columns]
        else:
            # No classifier takes a matrix without columns; one column of zeros has no information either.
            train, test = np.zeros((X_train.shape[0], 1)), np.zeros((X_test.shape[0], 1))
        yield clone(estimator).fit(train, y), test
