"""Ranking: the terms from best to worst, with their scores and the counts behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from termsieve.counts.table import Counts
from termsieve.display import SHOWN_ROWS, html_table, plain_text
from termsieve.errors import ParameterError
from termsieve.metrics import Floats
from termsieve.scores import Scores

if TYPE_CHECKING:
    import polars

#: Which terms come first: all alike, those for the class, or those against it.
Side = Literal["both", "positive", "negative"]
#: How the scores of several classes become one ranking.
Combine = Literal["max", "mean", "round_robin", "joint"]
#: An array of columns of a term matrix.
Columns = NDArray[np.int64]


class Tables(NamedTuple):
    """For some terms: the class that each tells most about, and its 2x2 table for that class.

    Parameters
    ----------
    own : ndarray of int
        The class of each table.
    tp : ndarray of int
        Documents of the class with the term.
    fp : ndarray of int
        Documents outside the class with the term.
    pos : ndarray of int
        All documents of the class.
    neg : ndarray of int
        All documents outside the class.
    """

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
    combine, alpha
        How the scores of the classes became one; see :func:`termsieve.rank`.
    keep : ndarray of int
        Columns that every cut-off keeps.

    Examples
    --------
    >>> from termsieve.ranking import rank
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
    combine: Combine = "max"
    alpha: float | None = None
    keep: Columns = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

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
        if not isinstance(place, int | np.integer):
            raise ParameterError(
                f"a ranking is read by place, as in ranking[0] or ranking[:10], not {place!r}"
            )
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
        tp = np.zeros(len(columns), dtype=self.counts.df.dtype)
        for rows, table, _ in self.counts.blocks(columns=columns):
            here = np.flatnonzero((own >= rows.start) & (own < rows.stop))
            tp[here] = table[own[here] - rows.start, here]
        pos = self.counts.pos[own]
        fp = np.maximum(self.counts.df[columns] - tp, 0)
        return Tables(own, tp, fp, pos, self.counts.n_docs - pos)

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
