"""WeightSelector: terms ranked by the weights of a linear model trained on some of the documents."""

from __future__ import annotations

from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from termsieve.counts import Counts
from termsieve.errors import ParameterError, unknown_name
from termsieve.estimators.base import Columns, LearnedSelector
from termsieve.estimators.evaluate import Floats, Rows
from termsieve.kernels import ranking as kernel
from termsieve.learners import get_learner
from termsieve.learners.rows import threads
from termsieve.limits import document_limits
from termsieve.pieces import in_order
from termsieve.ranking import CUTS, Combine, Ranking, check_cut, cut

COMBINE = tuple(way for way in get_args(Combine) if way != "joint")  # which is computed from counts


class WeightSelector(LearnedSelector):
    """Select the terms with the greatest absolute weights in a linear model (mladenic2004).

    One model per class, the class against the rest, is trained on a random share of the documents;
    if there are two classes, only the second has a model. Terms are ranked by the absolute weight, then by
    document frequency, then by column. The cut-off uses the document frequencies of all documents.

    Parameters
    ----------
    model : str or estimator, default="svm"
        The name of a linear learner ("svm", "lr", "perceptron"), or an estimator that has `coef_` after
        `fit`.
    sample : float, default=1.0
        Share of the documents that the model is trained on; at least one document inside and one outside
        the class.
    stratify : bool, default=True
        Whether to draw the same share of the class and of the rest. Otherwise any documents are drawn; if
        none of the class is among them, all weights are 0.
    sparsity, k, fraction, threshold, memory : number, optional
        The cut-off, as for TermSelector; give at most one. Without any, ``k=1000``.
    negatives : bool, default=True
        Whether to rank terms with a negative weight, too.
    combine : {"max", "mean", "round_robin"}, default="max"
        How the weights of several classes become one ranking; the mean is weighted by the class sizes.
    min_df, max_df : int or float, default=1 and 1.0
        Limits of the document frequency: a whole number of documents, or a float for a share of them.
    random_state : int, RandomState or None, default=None
        Seed of the random sample.

    Attributes
    ----------
    weights_ : ndarray of shape (n_problems, n_features)
        The weights of the models.
    ranking_, scores_, selected_, counts_, classes_
        As in TermSelector.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 0], [0, 1, 1]]
    >>> selector = WeightSelector(k=2).fit(X, ["spam", "spam", "ham", "ham"])
    >>> selector.get_support().tolist()
    [True, True, False]
    """

    def __init__(
        self,
        model: Any = "svm",
        sample: float = 1.0,
        stratify: bool = True,
        sparsity: float | None = None,
        k: int | None = None,
        fraction: float | None = None,
        threshold: float | None = None,
        memory: float | None = None,
        negatives: bool = True,
        combine: Combine = "max",
        min_df: float = 1,
        max_df: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.sample = sample
        self.stratify = stratify
        self.sparsity = sparsity
        self.k = k
        self.fraction = fraction
        self.threshold = threshold
        self.memory = memory
        self.negatives = negatives
        self.combine = combine
        self.min_df = min_df
        self.max_df = max_df
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the model for each class, rank by its weights, and cut.

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
        given = {name: value for name in CUTS if (value := getattr(self, name)) is not None}
        for name, value in given.items():
            check_cut(name, value)
        if self.combine not in COMBINE:
            raise unknown_name("combine", self.combine, COMBINE)
        model = get_learner(self.model) if isinstance(self.model, str) else clone(self.model)
        X, labels = self._documents(X, y)
        counts = self._counted(X, y)
        members = labels.indicator()
        self.weights_ = self._class_weights(model, X, [members[:, c] for c in counts.problems])
        ranking = self._ranking(counts)
        self.ranking_, self.scores_ = ranking.order, ranking.scores
        self.selected_ = cut(ranking, **given)
        return self

    def _class_weights(self, model: Any, X: Any, members: list[NDArray[np.bool_]]) -> Floats:
        """Return the weights of the model of each class; the models are trained on all cores."""
        samples = [
            sample_rows(member, self.sample, self.random_state, self.stratify)
            if member.any() and not member.all()
            else np.empty(0, dtype=np.int64)
            for member in members
        ]

        def trained(place: int) -> Floats:
            rows, member = samples[place], members[place]
            if member[rows].all() or not member[rows].any():
                return np.zeros(X.shape[1])
            return _weights(model, X if len(rows) == X.shape[0] else X[rows], member[rows])

        # Set here, not only by each training: one that ends must not give the others more threads.
        with threads().limit(limits=1, user_api="blas"):
            return np.array(list(in_order(trained, range(len(members)))))

    def _ranking(self, counts: Counts) -> Ranking:
        value = np.abs(self.weights_) if self.negatives else np.maximum(self.weights_, 0)
        low, high = document_limits(counts.n_docs, self.min_df, self.max_df)
        eligible = (counts.df >= low) & (counts.df <= high)
        if not self.negatives:
            eligible &= (value > 0).any(axis=0)
        base = counts.by_df[eligible[counts.by_df]]
        pos = counts.pos[counts.problems]
        scores = pos @ value / max(1, pos.sum()) if self.combine == "mean" else value.max(axis=0)
        if self.combine == "round_robin":
            orders = np.array([_by_value(base, row) for row in value], dtype=np.int64)
            return Ranking(kernel.round_robin(orders), scores, counts)
        return Ranking(_by_value(base, scores), scores, counts)


def _weights(model: Any, X: Any, member: NDArray[np.bool_]) -> Floats:
    coef = getattr(clone(model).fit(X, member.astype(np.int64)), "coef_", None)
    if coef is None:
        raise ParameterError(f"{model!r} has no weights (coef_); choose a linear model, such as 'svm'")
    flat = coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
    return flat.astype(np.float64).ravel()


def sample_rows(member: NDArray[np.bool_], share: float, random_state: Any, stratify: bool = True) -> Rows:
    """Return a random share of the rows, in their order; stratified, the same share of members and of others.

    Each share is rounded half up and has at least one row.
    """
    if isinstance(share, bool) or not isinstance(share, (int, float, np.number)) or not 0 < share <= 1:
        raise ParameterError(f"sample must be a number above 0 and at most 1, not {share!r}")
    if share == 1:
        return np.arange(len(member))
    random = check_random_state(random_state)
    drawn = [
        random.choice(rows, max(1, int(np.floor(share * len(rows) + 0.5))), replace=False)
        for rows in (
            (np.flatnonzero(member), np.flatnonzero(~member)) if stratify else (np.arange(len(member)),)
        )
    ]
    return np.sort(np.concatenate(drawn))


def _by_value(base: Columns, value: Floats) -> Columns:
    """Return the columns of `base` by decreasing value; ties keep the order of `base`."""
    return base[np.argsort(-value[base], kind="stable")]
