"""WFOSelector: learn the best weight between frequency and ratio for a corpus and a number of terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from termsieve.counts import Counts
from termsieve.estimators.base import LearnedSelector, checked_shares
from termsieve.estimators.evaluate import (
    Floats,
    Part,
    check_goal,
    middle_of_best,
    set_values,
    training_counts,
    tuning_parts,
)
from termsieve.ranking import Combine, Ranking, check_cut, rank
from termsieve.scores import score

LAMBDAS = tuple(i / 10 for i in range(11))


class WFOSelector(LearnedSelector):
    """Select the k best terms by the metric wfo(lam), with lam learned for this k (li2009).

    The documents are divided into folds. For each fold, the terms are ranked by wfo on the other folds, and
    the lam with the best figure on the fold is chosen; if several are equally good, the middle one. The
    mean of the chosen values is `lambda_`. If documents have several labels, the figure is the mean over
    the labels.

    Parameters
    ----------
    k : int, default=1000
        Number of terms to select.
    lambdas : sequence of float
        The values of lam to try; by default 0, .1, ..., 1.
    cv : int, default=9
        Number of folds, but at most the size of the smallest class. Below 2, all documents are used for
        training and for evaluation.
    learner : str or classifier, default="svm"
        The learner that is trained with each lam: a name, or any scikit-learn classifier.
    goal : str or callable, default="accuracy"
        What to maximise: the name of a measure, "f1_break_even", or any `scoring` of scikit-learn.
    combine : {"max", "mean", "round_robin", "joint"}, default="max"
        How the scores of the classes become one ranking; see :func:`termsieve.rank`. Also with two classes,
        each class has its own scores.
    random_state : int, RandomState or None, default=None
        With None the documents are assigned to the folds in their order, otherwise they are shuffled first.

    Attributes
    ----------
    lambda_ : float
        The learned lam.
    curve_ : ndarray
        The figure for each of `lambdas`, as a mean over the folds.
    fold_lambdas_ : ndarray
        The best lam of each fold.
    ranking_, scores_, selected_, counts_, classes_
        As in TermSelector.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 0], [0, 1, 1]]
    >>> selector = WFOSelector(k=2).fit(X, ["spam", "spam", "ham", "ham"])
    >>> selector.lambda_, selector.get_support().tolist()
    (0.5, [True, True, False])
    """

    def __init__(
        self,
        k: int = 1000,
        lambdas: Sequence[float] = LAMBDAS,
        cv: int = 9,
        learner: Any = "svm",
        goal: Any = "accuracy",
        combine: Combine = "max",
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.lambdas = lambdas
        self.cv = cv
        self.learner = learner
        self.goal = goal
        self.combine = combine
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn lam, and select by it.

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
        lambdas = checked_shares("lambdas", self.lambdas)
        X, labels = self._documents(X, y)
        counts = self._counted(X, y)
        members = labels.indicator()
        target = members if labels.multilabel else members.argmax(axis=1)
        parts = tuning_parts(target, self.cv, self.random_state)
        (folds,) = lambda_curves(
            X, members, target, counts, parts, [self.k], lambdas, self.learner, self.goal, self.combine
        )
        self.fold_lambdas_ = best_lambdas(folds, lambdas)
        self.lambda_ = float(self.fold_lambdas_.mean())
        self.curve_ = folds.mean(axis=0)
        ranking = wfo_ranking(counts, self.lambda_, self.combine)
        self.ranking_, self.scores_ = ranking.order, ranking.scores
        self.selected_ = ranking.order[: self.k]
        return self


def lambda_curves(
    X: Any,
    members: NDArray[np.bool_],
    target: NDArray[Any],
    counts: Counts,
    parts: Sequence[Part],
    ks: Sequence[int],
    lambdas: Sequence[float],
    learner: Any,
    goal: Any,
    combine: Combine = "max",
) -> Floats:
    """Return the figure (ks x parts x lambdas) of a learner on the k best terms of each part by wfo(lam).

    `members` says which document has which class of `counts`; `target` is what the learner predicts.
    """
    numbered = _numbered(counts)
    curves = np.empty((len(ks), len(parts), len(lambdas)))
    for number, part in enumerate(parts):
        known = training_counts(numbered, X, members, part)
        orders = [wfo_ranking(known, lam, combine).order for lam in lambdas]
        if len(ks) == 1:  # learners share work between the sets of a call, most if the sets are similar
            sets = [order[: ks[0]] for order in orders]
            curves[0, number] = set_values(learner, goal, X, target, part, sets)
            continue
        for column, order in enumerate(orders):
            sets = [order[:k] for k in ks]
            curves[:, number, column] = set_values(learner, goal, X, target, part, sets)
    return curves


def best_lambdas(folds: Floats, lambdas: Sequence[float]) -> Floats:
    """Return the best of `lambdas` for each fold; of equally good ones the middle one."""
    return np.array([lambdas[middle_of_best(fold)] for fold in folds])


def wfo_ranking(counts: Counts, lam: float, combine: Combine = "max") -> Ranking:
    """Return the ranking by wfo(lam) over all classes; also with two classes, each has its own scores."""
    return rank(score(counts, f"wfo({lam!r})"), combine=combine)


def _numbered(counts: Counts) -> Counts:
    """Return the counts with classes 0, 1, ... and without term names, as for an indicator matrix."""
    return counts.replace(
        classes=np.arange(counts.n_classes), terms=None, multilabel=True, tf=None, tf_total=None, squares=None
    )
