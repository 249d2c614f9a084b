"""Counts and a metric come in; Scores go out: a value and a direction for every class and term."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from termsieve.counts.cells import dense_rows, wide
from termsieve.counts.table import Counts
from termsieve.display import SHOWN_ROWS, html_table
from termsieve.errors import InputError
from termsieve.kernels import ranking as kernel
from termsieve.metrics import Floats, Metric, Occurrences, direction, get_metric

if TYPE_CHECKING:
    import polars

Kinds = NDArray[np.signedinteger[Any]]  # for each column the number of its distinct column
BEST_TERMS = 5  # terms per class in a notebook
BLOCK_CELLS = 2**15  # classes x terms scored at a time; intermediate arrays stay in the cache


class Block(NamedTuple):
    """The scores of some classes and columns; the directions are computed when they are used."""

    rows: slice
    values: Floats
    counts: Counts
    columns: Any = slice(None)
    signed: bool = False

    @property
    def direction(self) -> NDArray[np.int8]:
        """+1 where the term speaks for the class, -1 where against, 0 where neither.

        Under a signed metric that is the sign of the score, which smoothing may turn where counts are tiny.
        """
        if self.signed:
            return np.sign(self.values).astype(np.int8)
        return self.counts.direction(self.rows, self.columns)


class Scores:
    """The scores of each class and term by one metric, computed when they are used.

    Parameters
    ----------
    counts : Counts
        The counts that are scored.
    metric : Metric
        The metric.
    folded : bool
        Whether negative terms are scored by their mirror image.

    Attributes
    ----------
    values : ndarray of shape (n_classes, n_terms)
        The score of each term for each class. If this table is too large, use `blocks()`, which yields it for
        some classes at a time.
    direction : ndarray of shape (n_classes, n_terms)
        +1 where the term speaks for the class, -1 where it speaks against it, 0 where it does neither.
    classes : ndarray
        The classes, in the order of the rows.

    Examples
    --------
    >>> from termsieve import Corpus, count, score
    >>> mail = Corpus(["buy cheap", "buy now", "see you"], ["spam", "spam", "ham"])
    >>> scores = score(count(mail), "chi_squared")
    >>> scores.classes.tolist(), scores.values.shape
    (['ham', 'spam'], (2, 5))
    >>> scores.direction[1].tolist()
    [1, 1, 1, -1, -1]
    """

    def __init__(self, counts: Counts, metric: Metric, folded: bool) -> None:
        self.counts = counts
        self.metric = metric
        self.folded = folded

    @cached_property
    def values(self) -> Floats:
        """The score of each term for each class."""
        return self._whole()[0]

    @cached_property
    def direction(self) -> NDArray[np.int8]:
        """+1 where the term speaks for the class, -1 where against, 0 where neither."""
        return self._whole()[1]

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, in the order of the rows."""
        return self.counts.classes

    def __getstate__(self) -> dict[str, Any]:
        # A registered metric is kept by its name: its functions belong to the library, not to a file.
        metric = str(self.metric) if self.metric.registered else self.metric
        return {"counts": self.counts, "metric": metric, "folded": self.folded}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["counts"], get_metric(state["metric"]), state["folded"])  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"<Scores by {self.metric}: {self.counts.n_classes:,} classes, {self.counts.n_terms:,} terms>"

    def _repr_html_(self) -> str:
        first = self.counts.take(range(min(SHOWN_ROWS, self.counts.n_classes)))
        shown = Scores(first, self.metric, self.folded)
        names = self.counts.names()
        rows = []
        for block, values, signs in shown.blocks():
            for at, row, sign in zip(range(block.start, block.stop), values, signs, strict=True):
                best = np.argsort(-np.where(sign > 0, np.abs(row), -1.0), kind="stable")[:BEST_TERMS]
                terms = [str(names[column]) for column in best if sign[column] > 0]
                rows.append(
                    {
                        "class": str(shown.classes[at]),
                        "documents": int(shown.counts.pos[at]),
                        "highest score": float(row[best[0]]) if terms else None,
                        "best terms for it": terms,
                    }
                )
        return html_table(rows, repr(self)[1:-1], total=self.counts.n_classes)

    def _whole(self) -> tuple[Floats, NDArray[np.int8]]:
        if self.counts.is_sparse:
            shape = f"{self.counts.n_classes:,} classes x {self.counts.n_terms:,} terms"
            raise InputError(f"scores of {shape} are too large for one table; take them from blocks()")
        blocks, kind = self.distinct()
        parts = [(block.values[:, kind], block.direction[:, kind]) for block in blocks]
        values, direction = (np.concatenate(part) for part in zip(*parts, strict=True))
        self.__dict__.update(values=values, direction=direction)
        return values, direction

    def blocks(self, columns: Any = slice(None)) -> Iterator[tuple[slice, Floats, NDArray[np.int8]]]:
        """Yield (classes, values, direction) of some columns for blocks of classes of a bounded size.

        Parameters
        ----------
        columns : slice or array of int, optional
            The columns; all by default.

        Yields
        ------
        tuple
            A slice of classes, and the arrays of values and directions.
        """
        if self.metric.reads == "terms":  # it may number them, so it sees all
            for block in self._blocks():
                yield block.rows, block.values[:, columns], block.direction[:, columns]
            return
        for block in self._blocks(columns):
            yield block.rows, block.values, block.direction

    def _blocks(self, columns: Any = slice(None)) -> Iterator[Block]:
        counts = self.counts
        if self.metric.kind == "no class" and not counts.is_sparse and counts.n_classes > 1:
            # All classes score alike.
            (one,) = Scores(counts.take([0]), self.metric, self.folded)._blocks(columns)
            values = np.broadcast_to(one.values, (counts.n_classes, one.values.shape[1]))
            yield Block(slice(0, counts.n_classes), values, counts, columns)
            return
        for rows, tp, fp in counts.blocks(BLOCK_CELLS, columns):
            pos, neg = counts.pos[rows, None], counts.neg[rows, None]
            values = self.values_of(tp, fp, pos, neg, self._extra(rows, columns))
            yield Block(rows, values, counts, columns, self.metric.kind == "signed")

    def distinct(self) -> tuple[Iterator[Block], Kinds]:
        """Return the blocks of the distinct columns, and for each column which of these it is."""
        first, kind = self._distinct_columns()
        if self._reads_tables_only:
            values, at = self._table_values()
            signed = self.metric.kind == "signed"
            return iter([Block(slice(0, len(at)), values[at], self.counts, first, signed)]), kind
        return self._blocks(first), kind

    def greatest(self) -> tuple[Floats, Kinds]:
        """Return the greatest score of each distinct column, and for each column which of these it is.

        The scores of a signed metric count by their absolute value.
        """
        signed = self.metric.kind == "signed"
        if self._reads_tables_only:
            values, at = self._table_values()
            return kernel.greatest(np.abs(values) if signed else values, at), self._distinct_columns()[1]
        blocks, kind = self.distinct()
        parts = [(np.abs(block.values) if signed else block.values).max(axis=0) for block in blocks]
        return reduce(np.maximum, parts), kind

    def _distinct_columns(self) -> tuple[Any, Kinds]:
        """Return the columns that can differ in their scores, and for each column which of these it is."""
        counts = self.counts
        if counts.is_sparse or self.metric.reads == "terms" or self.metric.by_name:
            return slice(None), np.arange(counts.n_terms, dtype=np.int32)
        return counts.distinct_occurrences if self._reads_occurrences else counts.distinct

    @property
    def _reads_occurrences(self) -> bool:
        return self.metric.reads == "occurrences" and self.counts.occurrences

    @property
    def elementwise(self) -> bool:
        """Whether a score depends on nothing but the 2x2 table of its class and term."""
        metric = self.metric
        if metric.reads == "terms" or metric.by_name or metric.needs or self._reads_occurrences:
            return False
        return not self.counts.weighted

    @property
    def _reads_tables_only(self) -> bool:
        """Whether a score depends on the counts of its cell alone, so that equal cells are scored once.

        The classes of a sparse table are too many for that, and without a class one row is scored for all.
        """
        counts, metric = self.counts, self.metric
        if counts.is_sparse or metric.kind == "no class":
            return False
        return self.elementwise or (self._reads_occurrences and not counts.weighted and not metric.by_name)

    def _table_values(self) -> tuple[Floats, Kinds]:
        """Return the scores of the distinct tables, and where each class and distinct column has its own."""
        found = self.counts.occurrence_tables if self._reads_occurrences else self.counts.tables
        values = np.empty(len(found.tp))
        for start in range(0, len(values), BLOCK_CELLS):
            block = slice(start, start + BLOCK_CELLS)
            tp, fp, pos = found.tp[block], found.fp[block], self.counts.pos[found.of_class[block]]
            extra: dict[str, Any] = {}
            if found.tf is not None:
                extra = self._extra(found.of_class[block], found.of_column[block], found.tf[block])
            values[block] = self.values_of(tp, fp, pos, self.counts.n_docs - pos, extra)
        return values, found.at

    def values_of(self, tp: Any, fp: Any, pos: Any, neg: Any, extra: Mapping[str, Any] = {}) -> Floats:
        """Return the scores of tables, folded as these scores are; `extra` is what the metric reads.

        Parameters
        ----------
        tp : array-like
            Documents of the class with the term.
        fp : array-like
            Documents outside the class with the term.
        pos : array-like
            All documents of the class.
        neg : array-like
            All documents outside the class.
        extra : mapping, optional
            What the metric reads beyond the table.

        Returns
        -------
        ndarray of float
            The scores.
        """
        if self.folded:
            mirrored = direction(tp, fp, pos, neg) < 0
            tp, fp = np.where(mirrored, pos - tp, tp), np.where(mirrored, neg - fp, fp)
        values = np.broadcast_to(self.metric(tp, fp, pos, neg, **extra), tp.shape)
        if not np.isfinite(values).all():
            raise InputError(
                f"metric '{self.metric}' gave NaN or infinity; a score must be finite for every table"
            )
        return values

    def _extra(self, rows: Any, columns: Any, tf: Any = None) -> dict[str, Any]:
        """Return what the metric reads beyond the tables of some classes and columns.

        The rows are a slice of classes, or an array with a class for each of the columns; then their
        occurrences `tf` are given.
        """
        reads, counts = self.metric.reads, self.counts
        if reads == "terms":
            return {"terms": counts.terms}
        if reads != "occurrences" or not (counts.occurrences or self.metric.needs):
            return {}
        if (
            not counts.occurrences
            or counts.tf_total is None
            or counts.squares is None
            or counts.tf_pos is None
        ):
            raise InputError(f"metric '{self.metric}' needs word occurrences; count with occurrences=True")
        inside = counts.tf_pos[rows].astype(np.float64)
        if tf is None:
            tf, inside = wide(dense_rows(counts.as_counted("tf"), rows)[:, columns]), inside[:, None]
        occurrences = Occurrences(
            tf_pos=tf.astype(np.float64),
            tf_neg=(counts.tf_total[columns] - tf).astype(np.float64),
            all_pos=inside,
            all_neg=counts.tf_total.sum() - inside,
            squares=counts.squares[columns].astype(np.float64),
            n_terms=counts.n_terms,
            names=None if counts.terms is None else counts.terms[columns],
        )
        return {"occurrences": occurrences}

    def to_frame(self) -> polars.DataFrame:
        """Return one row per class and term: class, term, score, direction, tp, fp, df, and any p-values.

        `p_value` is that of the metric's two-sided test, `p_adjusted` its Benjamini-Hochberg correction over
        the terms of the class.
        """
        import polars as pl

        frame = self.counts.to_frame().select("class", "term", "tp", "fp", "df")
        columns = [pl.Series("score", self.values.ravel()), pl.Series("direction", self.direction.ravel())]
        frame = frame.select("class", "term").with_columns(columns).hstack(frame.select("tp", "fp", "df"))
        if self.metric.p_value is None:
            return frame
        from scipy.stats import false_discovery_control

        p = self.metric.p_value(self.values, 1)
        adjusted = false_discovery_control(p, axis=1) if p.size else p
        return frame.with_columns(p_value=pl.Series(p.ravel()), p_adjusted=pl.Series(adjusted.ravel()))


def score(counts: Counts, metric: str | Metric | Callable[..., Any] = "bns", fold: bool = True) -> Scores:
    """Return the scores of each class and term by a metric.

    Parameters
    ----------
    counts : Counts
        The counts to score.
    metric : str, Metric or callable, default="bns"
        The name of a metric, such as "bns" or "wfo(0.3)", or a function of (tp, fp, pos, neg).
    fold : bool, default=True
        Whether metrics that declare it score a negative term by its mirror image (forman2003).

    Returns
    -------
    Scores
        The scores and directions.

    Examples
    --------
    >>> counts = Counts.from_matrix([[1, 1, 0], [0, 1, 0], [0, 1, 1]], ["spam", "spam", "ham"])
    >>> score(counts, "accuracy").values.tolist()
    [[0.0, -1.0, 1.0], [1.0, 1.0, 2.0]]
    """
    chosen = get_metric(metric)
    return Scores(counts, chosen, fold and chosen.folds)
