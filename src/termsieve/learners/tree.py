"""Documents and labels come in; a decision tree, held as plain arrays, goes out."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

from termsieve.learners.base import Classifier
from termsieve.learners.registry import TrainingCost, register_learner
from termsieve.learners.rows import Floats


@register_learner(
    "tree",
    "min_leaf",
    formula="each split has the greatest information gain; a leaf has at least min_leaf documents",
    cite="forman2003",
    several="own",
    cost=TrainingCost(1e-3, 2e-7),
)
class EntropyTree(Classifier):
    """Decision tree that splits by information gain, as C4.5 does, without pruning.

    It is scikit-learn's DecisionTreeClassifier(criterion="entropy", min_samples_leaf=min_leaf), kept as
    arrays. The decision value of two classes is the share of the second class in the document's leaf, minus
    one half; otherwise the shares of all classes.

    Parameters
    ----------
    min_leaf : int, default=2
        The least number of training documents in a leaf.
    """

    def __init__(self, min_leaf: int = 2) -> None:
        self.min_leaf = min_leaf

    def fit(self, X: Any, y: Any) -> EntropyTree:
        """Learn `feature_`, `threshold_` and children of each node, and its `share_` of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_features)
            The documents.
        y : array-like of shape (n_docs,)
            The classes.

        Returns
        -------
        EntropyTree
            The learner itself.
        """
        X, codes = self._checked_fit_input(X, y)
        grower = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=self.min_leaf, random_state=0)
        tree = grower.fit(X, codes).tree_
        self.feature_, self.threshold_ = tree.feature.copy(), tree.threshold.copy()
        self.left_, self.right_ = tree.children_left.copy(), tree.children_right.copy()
        weight = tree.value[:, 0, :]
        self.share_ = weight / weight.sum(axis=1, keepdims=True)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_features)
            The documents.

        Returns
        -------
        ndarray
            One value per document for two classes, otherwise one per class.
        """
        X = self._checked_input(X)
        share = self.share_[self._leaves(X)]
        return share[:, 1] - 0.5 if share.shape[1] == 2 else share

    def _leaves(self, X: Any) -> Any:
        """Return the leaf of each document; only the columns that the tree asks about are looked at."""
        asked = np.unique(self.feature_[self.left_ >= 0])
        values = X[:, asked]
        values = (values.toarray() if sp.issparse(values) else np.asarray(values)).astype(np.float32)
        place = np.searchsorted(asked, self.feature_)
        node = np.zeros(X.shape[0], dtype=np.intp)
        inner = np.flatnonzero(self.left_[node] >= 0)
        while len(inner):
            at = node[inner]
            goes_left = values[inner, place[at]] <= self.threshold_[at]
            node[inner] = np.where(goes_left, self.left_[at], self.right_[at])
            inner = inner[self.left_[node[inner]] >= 0]
        return node
