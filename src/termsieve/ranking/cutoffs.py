"""A Ranking comes in; the terms of it that a cut-off keeps go out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.counts.table import Counts
from termsieve.errors import ParameterError
from termsieve.metrics import METRICS, Floats
from termsieve.ranking.ranked import Columns, Ranking

#: The names of the cut-offs.
CUTS = ("k", "fraction", "threshold", "sparsity", "memory")
#: The names of the cut-offs by p-value.
TESTS = ("fpr", "fdr", "fwe")
#: Bytes per cell of a CSR matrix: a float64 value and a 32-bit column index.
CELL_BYTES = 12
#: Bytes per row of a CSR matrix: the row pointer.
ROW_BYTES = 4


def cut(
    ranking: Ranking,
    k: int | None = None,
    fraction: float | None = None,
    threshold: float | None = None,
    sparsity: float | None = None,
    memory: float | None = None,
    fpr: float | None = None,
    fdr: float | None = None,
    fwe: float | None = None,
) -> Columns:
    """Return the columns of the terms that a cut-off keeps, the best first.

    Parameters
    ----------
    ranking : Ranking
        The ranked terms. Give at most one of the following cut-offs; without any, ``k=1000``.
    k : int, optional
        Number of terms to keep.
    fraction : float, optional
        Share of the ranked terms to keep; at least one term is kept.
    threshold : float, optional
        Keep the terms with at least this score.
    sparsity : float, optional
        Keep as many terms as possible while the mean number of distinct selected terms per document is at
        most this (mladenic2004).
    memory : float, optional
        Keep as many terms as possible while the training matrix (CSR, float64, 32-bit indices) takes at most
        this many bytes.
    fpr, fdr, fwe : float, optional
        Keep the terms whose p-value passes this false positive rate, this false discovery rate (Benjamini and
        Hochberg), or this probability of any false positive (Bonferroni) over all ranked terms; see
        :func:`termsieve.ranking.p_values`.

    Returns
    -------
    ndarray of int
        The columns of the selected terms: those of the cut-off, and those that the ranking keeps.

    Raises
    ------
    ParameterError
        If more than one cut-off is given, or one outside its range.

    Examples
    --------
    >>> from termsieve import Counts, rank, score
    >>> counts = Counts.from_matrix([[1, 0, 1], [1, 1, 0], [0, 1, 1]], ["spam", "spam", "ham"])
    >>> ranking = rank(score(counts, "bns"))
    >>> cut(ranking, k=1).tolist(), len(cut(ranking, fraction=0.7))
    ([0], 2)
    """
    given = one_cut(
        k=k,
        fraction=fraction,
        threshold=threshold,
        sparsity=sparsity,
        memory=memory,
        fpr=fpr,
        fdr=fdr,
        fwe=fwe,
    )
    name, value = next(iter(given.items()), ("k", 1000))
    counts, order = ranking.counts, ranking.order
    if name in TESTS:
        passing = _passing(p_values(ranking), name, value)
        return order[passing | np.isin(order, ranking.keep)]
    if name == "k":
        n = int(value)
    elif name == "fraction":
        n = max(1, int(np.floor(value * len(order) + 0.5)))
    elif name == "threshold":
        n = int(np.argmin(np.append(ranking.scores[order] >= value, False)))
    elif name == "sparsity":
        n = _kept_within(ranking, value * counts.n_docs)
    else:
        n = _kept_within(ranking, (value - ROW_BYTES * (counts.n_docs + 1)) / CELL_BYTES)
    if not len(ranking.keep):
        return order[:n]
    return order[(np.arange(len(order)) < n) | np.isin(order, ranking.keep)]


def p_values(ranking: Ranking) -> Floats:
    """Return the p-value of each ranked term, for the hypothesis that it tells nothing about any class.

    If the score is the greatest over several classes, its p-value is multiplied by the number of classes
    (Bonferroni) and is at most 1. The metric's form over all classes has as many degrees of freedom as there
    are classes, minus one.

    Parameters
    ----------
    ranking : Ranking
        The ranked terms, by a metric with a p-value.

    Returns
    -------
    ndarray of float
        One p-value per ranked term, in the order of the ranking.

    Examples
    --------
    >>> from termsieve.ranking import rank
    >>> from termsieve.scores import score
    >>> X, y = [[1, 0], [1, 1], [0, 1], [0, 0]], ["spam", "spam", "ham", "ham"]
    >>> p_values(rank(score(Counts.from_matrix(X, y).take(["spam"]), "chi_squared"))).round(4).tolist()
    [0.0455, 1.0]
    """
    metric = None if ranking.class_scores is None else ranking.class_scores.metric
    if metric is None or metric.p_value is None:
        having = ", ".join(name for name, entry in METRICS.items() if entry.p_value)
        what = "this ranking has no test" if metric is None else f"metric '{metric}' has no p-value"
        raise ParameterError(f"{what}; these metrics have one, for fpr=, fdr= and fwe=: {having}")
    if ranking.combine == "mean" or ranking.alpha is not None:
        raise ParameterError("a mean or weighted score has no p-value; leave out alpha= and combine='mean'")
    n_classes = ranking.counts.n_classes
    values = np.abs(ranking.scores[ranking.order])
    if ranking.combine == "joint":
        return metric.p_value(values, max(1, n_classes - 1))
    return np.minimum(1.0, n_classes * metric.p_value(values, 1))


def _passing(p: Floats, name: str, rate: float) -> NDArray[np.bool_]:
    """Return which p-values pass a cut-off, as in scikit-learn's SelectFpr, SelectFdr and SelectFwe."""
    if name == "fpr":
        return p < rate
    if name == "fwe":
        return p < rate / max(1, len(p))
    ascending = np.sort(p)
    below = ascending[ascending <= rate / max(1, len(p)) * np.arange(1, len(p) + 1)]
    return p <= below.max(initial=-1.0)


def one_cut(
    *,
    k: int | None = None,
    fraction: float | None = None,
    threshold: float | None = None,
    sparsity: float | None = None,
    memory: float | None = None,
    fpr: float | None = None,
    fdr: float | None = None,
    fwe: float | None = None,
) -> dict[str, Any]:
    """Return the given cut-off by its name, or nothing; several cut-offs and wrong values are errors.

    Parameters
    ----------
    k : int, optional
        Number of terms.
    fraction : float, optional
        Share of the terms.
    threshold : float, optional
        Least score.
    sparsity : float, optional
        Largest mean number of distinct terms per document.
    memory : float, optional
        Largest number of bytes of the training matrix.
    fpr : float, optional
        Largest p-value.
    fdr : float, optional
        Largest share of false discoveries.
    fwe : float, optional
        Largest probability of any false discovery.

    Returns
    -------
    dict
        The name and the value of the cut-off, or nothing.

    Examples
    --------
    >>> one_cut(fraction=0.1), one_cut()
    ({'fraction': 0.1}, {})
    """
    values = (k, fraction, threshold, sparsity, memory, fpr, fdr, fwe)
    every = zip((*CUTS, *TESTS), values, strict=True)
    given = {name: value for name, value in every if value is not None}
    if len(given) > 1:
        raise ParameterError(f"give one cut-off, not {' and '.join(given)} together")
    for name, value in given.items():
        check_cut(name, value)
    return given


def check_cut(name: str, value: Any) -> None:
    """Raise ParameterError unless `value` is one that the cut-off `name` can take.

    Parameters
    ----------
    name : str
        The name of a cut-off.
    value : object
        What was given.
    """
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    number = whole or (isinstance(value, (float, np.floating)) and np.isfinite(value))
    rules = {
        "k": (whole and value >= 1, "a whole number of at least 1"),
        "fraction": (number and 0 < value <= 1, "a number above 0 and at most 1"),
        "threshold": (number, "a finite number"),
        "sparsity": (number and value > 0, "a number above 0"),
        "memory": (number and value > 0, "a number of bytes above 0"),
    } | dict.fromkeys(TESTS, (number and 0 < value < 1, "a number between 0 and 1"))
    holds, rule = rules[name]
    if not holds:
        raise ParameterError(f"{name} must be {rule}, not {value!r}")


@dataclass(frozen=True)
class Size:
    """A cut-off as data: its kind and its value.

    `kind` is one of `CUTS`; or "all", which has no value and means no cut-off; or "documents", a share of the
    training documents, which the memory scenario of studies uses.

    Parameters
    ----------
    kind : str
        One of `CUTS`, "all" or "documents".
    value : float, optional
        The value of the cut-off.

    Examples
    --------
    >>> str(Size("k", 50)), str(Size("sparsity", 2.5)), str(ALL)
    ('k=50', 'sparsity=2.5', 'all features')
    """

    kind: str
    value: float | None = None

    def __str__(self) -> str:
        return "all features" if self.value is None else f"{self.kind}={self.value:g}"

    @property
    def limit(self) -> float:
        """The value; infinity where there is no cut-off."""
        return float("inf") if self.value is None else self.value

    def options(self) -> dict[str, Any]:
        """Return the cut-off as `cut` and the selectors take it."""
        if self.value is None:
            return {}
        return {self.kind: int(self.value) if self.kind == "k" else self.value}

    def scaled(self, factor: float) -> Size:
        """Return the cut-off with its value times `factor`.

        Parameters
        ----------
        factor : float
            What the value is multiplied with.

        Returns
        -------
        Size
            The changed cut-off.
        """
        return self if self.value is None else replace(self, value=self.value * factor)

    def kept(self, ranking: Ranking) -> int:
        """Return how many of the ranked terms the cut-off keeps.

        Parameters
        ----------
        ranking : Ranking
            The ranked terms.

        Returns
        -------
        int
            The number of terms.
        """
        return len(ranking) if self.value is None else len(cut(ranking, **self.options()))


#: No cut-off.
ALL = Size("all")


def sparsity_curve(counts: Counts, ranking: Ranking | NDArray[Any]) -> Floats:
    """Return the mean number of distinct selected terms per document with the best 1, 2, ... terms.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.
    ranking : Ranking or array of int
        The terms, or their columns, the best first.

    Returns
    -------
    ndarray of float
        One value per number of terms.
    """
    order = ranking.order if isinstance(ranking, Ranking) else np.asarray(ranking)
    return np.cumsum(counts.df[order]) / counts.n_docs


def _kept_within(ranking: Ranking, cells: float) -> int:
    """Return how many of the best terms have together at most `cells` nonzero cells."""
    # A share of the documents times their number may fall a rounding error short of a whole number.
    return int(
        np.searchsorted(np.cumsum(ranking.counts.df[ranking.order]), cells * (1 + 1e-12), side="right")
    )
