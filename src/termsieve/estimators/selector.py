"""TermSelector: counts, scores, rankings and cut-offs as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from termsieve.counts.cells import refuse_repeated
from termsieve.counts.table import Counts
from termsieve.errors import InputError, ParameterError
from termsieve.matrices import check_indices
from termsieve.metrics import Metric, get_metric
from termsieve.ranking import CUTS, TESTS, Combine, Ranking, Side, check_cut, cut, rank
from termsieve.redundancy import distinct_cut
from termsieve.scores import Scores, score
from termsieve.spec import TRAINING

WAY = ("side", "ratio", "alpha", "combine", "min_df", "max_df", "keep", "drop")  # parameters of `rank`


class _NeedsDocumentsError(ParameterError, AttributeError):
    """`redundancy` was given, but the method has only counts: scikit-learn sees no such method."""


class _counts_suffice:  # noqa: N801, a decorator
    """A method that needs only counts; a selector with `redundancy` does not have it."""

    def __init__(self, method: Any) -> None:
        self.method = method

    def __get__(self, selector: Any, owner: Any) -> Any:
        if selector is not None and selector.redundancy is not None:
            name = self.method.__name__
            raise _NeedsDocumentsError(
                f"redundancy needs the documents, but {name} has only counts; use fit, or redundancy=None"
            )
        return self.method.__get__(selector, owner)


class TermMatrixMixin:
    """The scikit-learn tags of an estimator that takes term matrices and labels."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


class ColumnSelector(TermMatrixMixin, SelectorMixin, BaseEstimator):
    """A selector that keeps the `selected_` columns."""

    selected_: NDArray[np.int64]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X."""
        check_indices(X)
        return super().transform(X)


class TermSelector(ColumnSelector):
    """Select the terms that best separate the classes.

    If there are two classes, the second is the positive one, as everywhere in scikit-learn. If there are more
    classes, or several labels per document, each class has its own scores, and `combine` says how these
    become one ranking.

    Parameters
    ----------
    metric : str, Metric or callable, default="information_gain"
        The metric that scores each term for each class: a name such as "bns" or "wfo(0.3)", or a function
        of (tp, fp, pos, neg). :data:`termsieve.METRICS` holds all names. docs/reading.md
        compares metrics for classifiers; the default was the best on twelve corpora.
    k : int, optional
        Number of terms to keep. Give at most one cut-off; without any, ``k=1000``.
    fraction : float, optional
        Share of the ranked terms to keep.
    threshold : float, optional
        Keep the terms with at least this score.
    sparsity : float, optional
        Keep as many terms as possible while the mean number of distinct selected terms per document is at
        most this.
    memory : float, optional
        Keep as many terms as possible while the training matrix takes at most this many bytes.
    fpr, fdr, fwe : float, optional
        Keep the terms whose p-value passes this false positive rate, false discovery rate, or probability of
        any false positive, for metrics with a p-value; see :func:`termsieve.cut`.
    side : {"both", "positive", "negative"}, default="both"
        Which terms come first: those that speak for the class, those that speak against it, or both alike.
    ratio : float, optional
        Share of positive terms among the selected ones.
    alpha : float, optional
        Weight of the scores of positive terms; those of negative terms have the weight ``1 - alpha``.
    combine : {"max", "mean", "round_robin", "joint"}, default="max"
        How the scores of several classes become one ranking; see :func:`termsieve.rank`.
    min_df, max_df : int or float, default=1 and 1.0
        Rank only terms whose document frequency is within these limits: a whole number of documents, or a
        float for a share of them.
    redundancy : float or "mrmr", optional
        Leave out a term whose presence has a correlation of at least this absolute value with the presence
        of a better selected term; above 0 and at most 1. With "mrmr", choose the terms one after the other,
        by information about the classes less the mean information about the terms chosen before. It needs
        the documents, so `fit_counts` and `partial_fit` refuse it.
    keep, drop : sequence of str or int, optional
        Terms that are selected in addition to those of the cut-off, and terms that are never selected: names,
        if X has names, or column numbers. Terms that X does not have are ignored.

    Attributes
    ----------
    ranking_ : ndarray of int
        The columns in order, the best first, without those outside `min_df` and `max_df`.
    scores_ : ndarray of shape (n_features,)
        The combined score of each term.
    selected_ : ndarray of int
        The selected columns, the best first.
    class_scores_ : Scores
        The scores of each class.
    counts_ : Counts
        The counts that the scores were computed from.
    classes_ : ndarray
        The classes.

    See Also
    --------
    RatioSelector : Learns the share of positive terms.
    WFOSelector : Learns the parameter of the metric wfo.
    WeightSelector : Ranks terms by the weights of a linear model.

    Examples
    --------
    >>> X = [[1, 1, 0, 2], [1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0]]
    >>> selector = TermSelector("chi_squared", k=2).fit(X, ["spam", "spam", "ham", "ham"])
    >>> selector.ranking_.tolist(), selector.get_support().tolist()
    ([0, 2, 3, 1], [True, False, True, False])
    """

    def __init__(
        self,
        metric: str | Metric | Callable[..., Any] = TRAINING,
        *,
        k: int | None = None,
        fraction: float | None = None,
        threshold: float | None = None,
        sparsity: float | None = None,
        memory: float | None = None,
        fpr: float | None = None,
        fdr: float | None = None,
        fwe: float | None = None,
        side: Side = "both",
        ratio: float | None = None,
        alpha: float | None = None,
        combine: Combine = "max",
        min_df: float = 1,
        max_df: float = 1.0,
        redundancy: float | Literal["mrmr"] | None = None,
        keep: Sequence[str | int] = (),
        drop: Sequence[str | int] = (),
    ) -> None:
        self.metric = metric
        self.k = k
        self.fraction = fraction
        self.threshold = threshold
        self.sparsity = sparsity
        self.memory = memory
        self.fpr = fpr
        self.fdr = fdr
        self.fwe = fwe
        self.side = side
        self.ratio = ratio
        self.alpha = alpha
        self.combine = combine
        self.min_df = min_df
        self.max_df = max_df
        self.redundancy = redundancy
        self.keep = keep
        self.drop = drop

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Count the documents of X, score the terms and select.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.
        y : array-like, optional
            The labels of the documents.
        sample_weight : array-like of shape (n_docs,), optional
            How much each document counts; whole weights are as good as repeated documents.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_cut()
        ranking = self._rank(self._counted(X, y, sample_weight, reset=True))
        if self.redundancy is not None:
            self.selected_ = distinct_cut(X, ranking, self.redundancy, sample_weight, **self._cut())
        else:
            self.selected_ = cut(ranking, **self._cut())
        return self

    @_counts_suffice
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add documents with the same columns, of known or new classes, and select again.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.
        y : array-like, optional
            The labels of the documents.
        sample_weight : array-like of shape (n_docs,), optional
            How much each document counts.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_cut()
        if not hasattr(self, "counts_"):
            return self.fit(X, y, sample_weight)
        return self._select(self.counts_ + self._counted(X, y, sample_weight, reset=False))

    @_counts_suffice
    def fit_counts(self, counts: Counts) -> Self:
        """Select from existing Counts instead of documents."""
        self._check_cut()
        if not isinstance(counts, Counts):
            raise InputError(f"fit_counts takes Counts, not {type(counts).__name__}; use fit for a matrix")
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = counts.n_terms
        return self._select(counts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the selected terms, in column order.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns; needed only where `fit` saw no names.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        if (
            input_features is None
            and not hasattr(self, "feature_names_in_")
            and self.counts_.terms is not None
        ):
            return self.counts_.terms[self.get_support()]
        return super().get_feature_names_out(input_features)

    def _check_cut(self) -> None:
        given = [name for name in (*CUTS, *TESTS) if getattr(self, name) is not None]
        if len(given) > 1:
            raise ParameterError(f"give one cut-off, not {' and '.join(given)} together")
        for name in given:
            check_cut(name, getattr(self, name))

    def _counted(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Counts:
        if getattr(X, "format", "") != "csr":  # the indices of a CSR are first read, and checked, by Counts
            check_indices(X)
        refuse_repeated(getattr(X, "columns", ()))
        X = validate_data(self, X, accept_sparse=("csr", "csc", "coo"), dtype="numeric", reset=reset)
        return Counts.from_matrix(
            X,
            y,
            terms=getattr(self, "feature_names_in_", None),
            occurrences=with_occurrences(self.metric, X),
            sample_weight=sample_weight,
        )

    def _rank(self, counts: Counts) -> Ranking:
        """Set what is learned but the selection, and return the ranking."""
        ranking = ranked(counts, self.metric, **{name: getattr(self, name) for name in WAY})
        self.counts_ = counts
        self.classes_ = counts.classes
        self.class_scores_: Scores = score(counts, self.metric)
        self.scores_ = ranking.scores
        self.ranking_ = ranking.order
        return ranking

    def _select(self, counts: Counts) -> Self:
        self.selected_ = cut(self._rank(counts), **self._cut())
        return self

    def _cut(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*CUTS, *TESTS)}


def with_occurrences(spec: str | Metric | Callable[..., Any], X: Any) -> bool:
    """Return whether the metric reads occurrences, and X has them."""
    found = get_metric(spec)
    if found.reads != "occurrences" or found.needs:
        return bool(found.needs == "occurrences")
    values = X.data if hasattr(X, "format") else X
    return values.dtype.kind != "f" or bool((values == np.floor(values)).all())


def ranked(
    counts: Counts,
    metric: str | Metric | Callable[..., Any],
    side: Side = "both",
    combine: Combine = "max",
    **way: Any,
) -> Ranking:
    """Return the ranking of the terms for the problems of `counts`; the parameters are those of `rank`."""
    if combine != "joint" and len(counts.problems) < counts.n_classes:
        counts = counts.take(counts.problems)
    return rank(score(counts, metric, fold=side != "positive"), side, combine=combine, **way)


class ScoreFunction:
    """A metric in the form of scikit-learn's score functions: (X, y) in, one score per column out."""

    def __init__(self, metric: str | Metric | Callable[..., Any]) -> None:
        self.metric = metric

    def __call__(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return one score per column."""
        return TermSelector(self.metric).fit(X, y).scores_

    def __repr__(self) -> str:
        return f"score_func({str(get_metric(self.metric))!r})"


def score_func(spec: str | Metric | Callable[..., Any]) -> ScoreFunction:
    """Return the metric as a score function for scikit-learn's own selectors.

    Parameters
    ----------
    spec : str, Metric or callable
        The metric.

    Returns
    -------
    callable
        A function of (X, y) that returns the scores and, where the metric has them, p-values.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> SelectKBest(score_func("bns"), k=2)
    SelectKBest(k=2, score_func=score_func('bns'))
    """
    return ScoreFunction(get_metric(spec))
