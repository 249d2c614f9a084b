"""Scores come in; a Ranking of the terms goes out, and the terms of it that a cut-off keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, overload

import numpy as np
from numpy.typing import NDArray

from termsieve.counts.table import DENSE_CELLS, Counts
from termsieve.display import SHOWN_ROWS, html_table, plain_text
from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.kernels import ranking as kernel
from termsieve.limits import document_limits
from termsieve.metrics import METRICS, Floats
from termsieve.scores import Block, Scores

if TYPE_CHECKING:
    import polars

Side = Literal["both", "positive", "negative"]
Combine = Literal["max", "mean", "round_robin", "joint"]
Columns = NDArray[np.int64]
CUTS = ("k", "fraction", "threshold", "sparsity", "memory")
CELL_BYTES = 12  # per cell of a CSR matrix: a float64 value and a 32-bit column index
ROW_BYTES = 4  # per row of a CSR matrix: the row pointer


class Tables(NamedTuple):
    """For some terms: the class that each tells most about, and its 2x2 table for that class."""

    own: NDArray[np.intp]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Ranking:
    """Terms from best to worst.

    A ranking has a length, can be sliced like a list (`ranking[:10]` is the ranking of the best ten terms,
    `ranking[0]` is the best term), and iterates over its terms.

    Attributes
    ----------
    order : ndarray of int
        The columns of the ranked terms, best first; terms outside min_df and max_df are left out.
    scores : ndarray of float
        One combined score for every column of `counts`.
    counts : Counts
        The counts of the classes that were ranked for.
    class_scores : Scores or None
        The scores of every class, from which `scores` was combined.
    prefers : {"both", "positive", "negative"}
        The kind of term that was ranked first.

    Examples
    --------
    >>> from termsieve.scores import score
    >>> counts = Counts.from_matrix([[1, 1, 0], [0, 1, 1]], ["ham", "spam"], terms=["see", "now", "buy"])
    >>> ranking = rank(score(counts.take([1]), "chi_squared"))
    >>> ranking
    <Ranking of 3 terms by chi_squared: see, buy, now>
    >>> list(ranking[:2]), ranking[0]
    (['see', 'buy'], 'see')
    """

    order: Columns
    scores: Floats
    counts: Counts
    class_scores: Scores | None = None
    prefers: Side = "both"

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[str]:
        return (str(term) for term in self.terms)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Ranking: ...
    def __getitem__(self, place: int | slice) -> str | Ranking:
        if isinstance(place, slice):
            return replace(self, order=self.order[place])
        return str(self.counts.names()[self.order[place]])

    def head(self, n: int = 10) -> Ranking:
        """Return the ranking of the best `n` terms.

        Parameters
        ----------
        n : int, default=10
            Number of terms.

        Returns
        -------
        Ranking
            The best terms.
        """
        return self[:n]

    @property
    def terms(self) -> NDArray[np.object_]:
        """The names of the ranked terms, best first."""
        return self.counts.names()[self.order]

    def __repr__(self) -> str:
        by = f" by {self.class_scores.metric}" if self.class_scores is not None else ""
        some = ", ".join(self[:5]) + (", ..." if len(self) > 5 else "")
        return f"<Ranking of {len(self):,} terms{by}: {some}>"

    def _repr_html_(self) -> str:
        by = f" by {self.class_scores.metric}" if self.class_scores is not None else ""
        title = f"Ranking of {len(self):,} terms{by}"
        return html_table(self.head(SHOWN_ROWS).to_frame().to_dicts(), title, total=len(self))

    def to_frame(self, places: Columns | None = None) -> polars.DataFrame:
        """Return one row per ranked term: rank, term, score, class, direction, tp, fp, pos, neg.

        `class` is the class that the term tells most about, on the side that was ranked first; direction
        (+1: the term speaks for the class, -1: against it), tp, fp, pos and neg are of that class. Where the
        ranking was made without scores per class, it is the class in which the share of documents with the
        term differs most from that in the rest. `places` keeps the rows at some places of the ranking.

        Parameters
        ----------
        places : array of int, optional
            Places of the ranking; all by default.

        Returns
        -------
        polars.DataFrame
            One row per term.
        """
        import polars as pl

        at = np.arange(len(self)) if places is None else np.asarray(places, dtype=np.int64)
        columns, counts = self.order[at], self.counts
        own, tp, fp, pos, neg = self.tables(columns)
        return pl.DataFrame(
            {
                "rank": at + 1,
                "term": pl.Series([plain_text(name) for name in counts.names()[columns]], dtype=pl.String),
                "score": self.scores[columns].astype(np.float64),
                "class": pl.Series(counts.classes.tolist()).gather(own),
                "direction": self.directions(columns, own),
                "tp": tp,
                "fp": fp,
                "pos": pos,
                "neg": neg,
            }
        )

    def tables(self, columns: Columns) -> Tables:
        """Return the 2x2 tables of some columns, each for the class that `to_frame` names.

        Parameters
        ----------
        columns : array of int
            The columns of terms.

        Returns
        -------
        Tables
            The tables.
        """
        own = self._telling_classes(columns)
        tp = np.zeros(len(columns), dtype=np.int64)
        for rows, table, _ in self.counts.blocks(columns=columns):
            here = np.flatnonzero((own >= rows.start) & (own < rows.stop))
            tp[here] = table[own[here] - rows.start, here]
        pos = self.counts.pos[own]
        return Tables(own, tp, self.counts.df[columns] - tp, pos, self.counts.n_docs - pos)

    def directions(self, columns: Columns, own: NDArray[np.intp] | None = None) -> NDArray[np.int64]:
        """Return the direction of some columns for one class each, by default that which `to_frame` names.

        Parameters
        ----------
        columns : array of int
            The columns of terms.
        own : array of int, optional
            The class of each column.

        Returns
        -------
        ndarray of int
            +1, -1 or 0.
        """
        own = self._telling_classes(columns) if own is None else own
        directions = np.zeros(len(columns), dtype=np.int64)
        for rows, _, signs in self._heights(columns):
            here = np.flatnonzero((own >= rows.start) & (own < rows.stop))
            directions[here] = signs[own[here] - rows.start, here]
        return directions

    def _telling_classes(self, columns: Columns) -> NDArray[np.intp]:
        """Return for each column the class with its highest score on the side that was ranked first."""
        best = np.zeros(len(columns), dtype=np.intp)
        if self.counts.n_classes == 1:
            return best
        top = np.full(len(columns), -np.inf)
        each = np.arange(len(columns))
        for rows, height, signs in self._heights(columns):
            if self.prefers != "both":
                wanted = signs == (1 if self.prefers == "positive" else -1)
                # A class on the other side is the second choice, whatever its score.
                height = np.where(wanted, height, -1.0 / (1.0 + height))
            at = height.argmax(axis=0)
            higher = height[at, each] > top
            best[higher] = at[higher] + rows.start
            top[higher] = height[at, each][higher]
        return best

    def _heights(self, columns: Columns) -> Iterator[tuple[slice, Floats, NDArray[np.int8]]]:
        """Yield for blocks of classes how much each column tells about a class, and in which direction."""
        if self.class_scores is not None:
            for rows, values, signs in self.class_scores.blocks(columns):
                yield rows, np.abs(values), signs
            return
        for rows, tp, fp in self.counts.blocks(columns=columns):
            pos, neg = (np.maximum(size[rows, None], 1) for size in (self.counts.pos, self.counts.neg))
            difference = tp / pos - fp / neg
            yield rows, np.abs(difference), np.sign(difference).astype(np.int8)


def rank(
    scores: Scores,
    side: Side = "both",
    ratio: float | None = None,
    alpha: float | None = None,
    combine: Combine = "max",
    min_df: float = 1,
    max_df: float = 1.0,
) -> Ranking:
    """Return the terms from best to worst.

    Terms with equal scores are ordered by document frequency, the most frequent first, then by column.

    Parameters
    ----------
    scores : Scores
        The scores of the terms for each class; see :func:`termsieve.score`.
    side : {"both", "positive", "negative"}, default="both"
        Which terms come first: those that speak for the class, those that speak against it, or both alike.
    ratio : float, optional
        Of any number of best terms, this share has the greatest signed scores and the rest the smallest
        (zheng2004).
    alpha : float, optional
        The scores of positive terms are multiplied by alpha, those of negative terms by 1 - alpha
        (forman2003).
    combine : {"max", "mean", "round_robin", "joint"}, default="max"
        How the scores of several classes become one ranking: by the greatest score, by the mean weighted by
        class size, in turns (each class takes its best term that is not yet taken), or by the metric's own
        form over all classes.
    min_df, max_df : int or float, default=1 and 1.0
        Terms in fewer than `min_df` or in more than `max_df` documents are left out; a float is a share of
        the documents.

    Returns
    -------
    Ranking
        The ranked terms.

    Examples
    --------
    >>> from termsieve.scores import score
    >>> X, y = [[1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0]], ["spam", "spam", "ham"]
    >>> counts = Counts.from_matrix(X, y, terms=["buy", "now", "hi", "ltd"])
    >>> rank(score(counts, "chi_squared")).terms.tolist()
    ['buy', 'hi', 'ltd', 'now']
    """
    _check(scores, side, ratio, alpha, combine)
    counts = scores.counts
    low, high = document_limits(counts.n_docs, min_df, max_df)
    eligible = (counts.df >= low) & (counts.df <= high)
    base = counts.by_df if eligible.all() else counts.by_df[eligible[counts.by_df]]
    if combine == "joint":
        value = _joint(scores)
        ranking = Ranking(_sorted(base, Key(None, value), np.arange(len(value))), value, counts)
    elif combine == "round_robin":
        ranking = _round_robin(scores, base, side, ratio, alpha)
    else:
        ranking = _by_combined_key(scores, base, side, ratio, alpha, combine)
    return replace(ranking, class_scores=scores, prefers=side if ratio is None else "positive")


def cut(
    ranking: Ranking,
    k: int | None = None,
    fraction: float | None = None,
    threshold: float | None = None,
    sparsity: float | None = None,
    memory: float | None = None,
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

    Returns
    -------
    ndarray of int
        The columns of the selected terms.

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
    given = one_cut(k=k, fraction=fraction, threshold=threshold, sparsity=sparsity, memory=memory)
    name, value = next(iter(given.items()), ("k", 1000))
    counts, order = ranking.counts, ranking.order
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
    return order[:n]


def one_cut(
    *,
    k: int | None = None,
    fraction: float | None = None,
    threshold: float | None = None,
    sparsity: float | None = None,
    memory: float | None = None,
) -> dict[str, Any]:
    """Return the given cut-off by its name, or nothing; several cut-offs and wrong values are errors.

    >>> one_cut(fraction=0.1), one_cut()
    ({'fraction': 0.1}, {})
    """
    every = zip(CUTS, (k, fraction, threshold, sparsity, memory), strict=True)
    given = {name: value for name, value in every if value is not None}
    if len(given) > 1:
        raise ParameterError(f"give one cut-off, not {' and '.join(given)} together")
    for name, value in given.items():
        check_cut(name, value)
    return given


def check_cut(name: str, value: Any) -> None:
    """Raise ParameterError unless `value` is one that the cut-off `name` can take."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    number = whole or (isinstance(value, (float, np.floating)) and np.isfinite(value))
    rules = {
        "k": (whole and value >= 1, "a whole number of at least 1"),
        "fraction": (number and 0 < value <= 1, "a number above 0 and at most 1"),
        "threshold": (number, "a finite number"),
        "sparsity": (number and value > 0, "a number above 0"),
        "memory": (number and value > 0, "a number of bytes above 0"),
    }
    holds, rule = rules[name]
    if not holds:
        raise ParameterError(f"{name} must be {rule}, not {value!r}")


@dataclass(frozen=True)
class Size:
    """A cut-off as data: its kind and its value.

    `kind` is one of `CUTS`; or "all", without a value: no cut-off; or "documents", which is a share of the
    training documents and belongs to the memory scenario of studies.

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
        """Return the cut-off with its value times `factor`."""
        return self if self.value is None else replace(self, value=self.value * factor)

    def kept(self, ranking: Ranking) -> int:
        """Return how many of the ranked terms the cut-off keeps."""
        return len(ranking) if self.value is None else len(cut(ranking, **self.options()))


ALL = Size("all")


def sparsity_curve(counts: Counts, ranking: Ranking | NDArray[Any]) -> Floats:
    """Return the mean number of distinct selected terms per document with the best 1, 2, ... terms."""
    order = ranking.order if isinstance(ranking, Ranking) else np.asarray(ranking)
    return np.cumsum(counts.df[order]) / counts.n_docs


def _check(scores: Scores, side: Any, ratio: Any, alpha: Any, combine: Any) -> None:
    if side not in get_args(Side):
        raise unknown_name("side", side, get_args(Side))
    if combine not in get_args(Combine):
        raise unknown_name("combine", combine, get_args(Combine))
    for name, share in (("ratio", ratio), ("alpha", alpha)):
        if share is not None and not (isinstance(share, (int, float, np.number)) and 0 <= share <= 1):
            raise ParameterError(f"{name} must lie between 0 and 1, not {share!r}")
    chosen = [
        f"{name}={value!r}" for name, value in (("ratio", ratio), ("alpha", alpha)) if value is not None
    ]
    if side != "both":
        chosen.append(f"side={side!r}")
    if combine == "joint":
        chosen.append("combine='joint'")
    if len(chosen) > 1:
        raise ParameterError(f"{' and '.join(chosen)} exclude each other; choose one")
    if scores.counts.n_classes == 0:
        raise InputError("there is no class to rank for; y must hold at least one label")


def _joint(scores: Scores) -> Floats:
    """Return one score per term: the metric's form over all classes."""
    counts, metric = scores.counts, scores.metric
    if metric.joint is None:
        having = ", ".join(name for name, entry in METRICS.items() if entry.joint)
        raise ParameterError(f"metric '{metric}' has no joint form; these metrics have one: {having}")
    if counts.multilabel or counts.pos.sum() != counts.n_docs:
        raise InputError("combine='joint' needs exactly one label per document; use 'max' or 'round_robin'")
    tables = [tp for _, tp, _ in counts.blocks()]
    if len(tables) > 1:
        raise InputError("combine='joint' needs all classes at once, and there are too many; use 'max'")
    return metric.joint(tables[0].astype(np.float64), counts.pos.astype(np.float64), **metric.parameters)


class Key(NamedTuple):
    """The sort key of terms: the group, if there are groups, then the value, both decreasing."""

    group: NDArray[np.int8] | None
    value: Floats


def _keys(
    scores: Scores, blocks: Iterator[Block], side: str, alpha: float | None
) -> Iterator[tuple[slice, Key]]:
    """Yield the keys of blocks of classes.

    The positive side sorts signed metrics by value, the others by direction and then by signed score; the
    negative side is its mirror image.
    """
    metric = scores.metric
    for block in blocks:
        rows, values = block.rows, block.values
        if side == "both":
            value = np.abs(values) if metric.kind == "signed" else values
            if alpha is not None:
                value = value * np.where(block.direction > 0, alpha, 1 - alpha)
            yield rows, Key(None, value)
            continue
        sign = 1 if side == "positive" else -1
        if metric.kind == "signed":
            yield rows, Key(None, sign * values)
        else:
            signs = block.direction
            signed = values * signs if metric.kind == "two-sided" or scores.folded else values
            yield rows, Key(sign * signs, sign * signed)


def _combined_key(scores: Scores, side: str, alpha: float | None, combine: str) -> tuple[Key, Columns]:
    """Return one key over all classes per distinct column, and for each column its distinct column."""
    blocks, kind = scores.distinct()
    pos = scores.counts.pos
    keys = _keys(scores, blocks, side, alpha)
    if combine == "mean":
        # Added class by class, so that equal terms have exactly equal sums.
        weighed = (size * row for rows, key in keys for size, row in zip(pos[rows], key.value, strict=True))
        return Key(None, sum(weighed, start=np.float64(0)) / max(1, pos.sum())), kind
    return reduce(_greater, (_greatest(key) for _, key in keys)), kind


def _greatest(key: Key) -> Key:
    """Return the greatest key of each column."""
    if key.group is None:
        return Key(None, key.value.max(axis=0))
    group = key.group.max(axis=0)
    return Key(group, np.where(key.group == group, key.value, -np.inf).max(axis=0))


def _greater(a: Key, b: Key) -> Key:
    """Return the greater of two keys, column by column."""
    if a.group is None or b.group is None:
        return Key(None, np.maximum(a.value, b.value))
    return _greatest(Key(np.stack([a.group, b.group]), np.stack([a.value, b.value])))


def _sorted(base: Columns, key: Key, kind: Columns) -> Columns:
    """Return the columns of `base` by decreasing key; ties keep the order of `base`."""
    by_key = np.argsort(-key.value)  # equal keys in any order, because they share a place
    group = np.zeros(0, dtype=np.int8)
    if key.group is not None:
        group = key.group
        by_key = by_key[np.argsort(-group[by_key], kind="stable")]
    return kernel.ordered(base, kind, kernel.places(by_key, key.value, group))


def interleaved(positive: Columns, negative: Columns, ratio: float) -> Columns:
    """Return the order in which any first l terms contain ratio * l, rounded half up, of `positive`."""
    steps = np.arange(len(positive) + 1)
    n_positive = np.floor(np.round(ratio * steps, 9) + 0.5)
    return kernel.interleaved(positive, negative, (np.diff(n_positive) > 0).astype(np.uint8))


def _by_combined_key(
    scores: Scores, base: Columns, side: str, ratio: float | None, alpha: float | None, combine: str
) -> Ranking:
    if ratio is None:
        key, kind = _combined_key(scores, side, alpha, combine)
        return Ranking(_sorted(base, key, kind), key.value[kind], scores.counts)
    key, kind = _combined_key(scores, "positive", None, combine)
    negative, _ = _combined_key(scores, "negative", None, combine)
    order = interleaved(_sorted(base, key, kind), _sorted(base, negative, kind), ratio)
    return Ranking(order, key.value[kind], scores.counts)


def _round_robin(
    scores: Scores, base: Columns, side: str, ratio: float | None, alpha: float | None
) -> Ranking:
    counts = scores.counts
    if counts.n_classes * len(base) > 8 * DENSE_CELLS:
        raise InputError(
            "combine='round_robin' needs all rankings at once, and there are too many; use 'max'"
        )
    orders = [
        _by_combined_key(
            Scores(counts.take([c]), scores.metric, scores.folded), base, side, ratio, alpha, "max"
        ).order
        for c in range(counts.n_classes)
    ]
    key, kind = _combined_key(scores, side if ratio is None else "positive", alpha, "max")
    return Ranking(kernel.round_robin(np.array(orders, dtype=np.int64)), key.value[kind], counts)


def _kept_within(ranking: Ranking, cells: float) -> int:
    """Return how many of the best terms have together at most `cells` nonzero cells."""
    # A share of the documents times their number may fall a rounding error short of a whole number.
    return int(
        np.searchsorted(np.cumsum(ranking.counts.df[ranking.order]), cells * (1 + 1e-12), side="right")
    )
