"""Counts and a metric in, Scores out: a value and a direction for every class and term."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.counts import Counts, Ints
from termsieve.errors import InputError
from termsieve.metrics import Floats, Metric, Occurrences, direction
from termsieve.metrics import metric as metric_of

if TYPE_CHECKING:
    import polars

COMMON = 1024  # from this document frequency on, tables rarely repeat


class Scores:
    """Scores of `counts` by `metric`, computed on demand.

    `values` and `direction` are classes x terms; where that is too large, `blocks()` yields them for some
    classes at a time.
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

    def __repr__(self) -> str:
        return f"<Scores by {self.metric}: {self.counts.n_classes:,} classes, {self.counts.n_terms:,} terms>"

    def _whole(self) -> tuple[Floats, NDArray[np.int8]]:
        if sparse.issparse(self.counts.tp):
            shape = f"{self.counts.n_classes:,} classes x {self.counts.n_terms:,} terms"
            raise InputError(f"scores of {shape} are too large for one table; take them from blocks()")
        nothing = np.zeros((0, self.counts.n_terms))
        _, values, signs = next(self.blocks(), (None, nothing, nothing.astype(np.int8)))
        self.__dict__.update(values=values, direction=signs)
        return values, signs

    def blocks(self) -> Iterator[tuple[slice, Floats, NDArray[np.int8]]]:
        """Yield (classes, values, direction) for blocks of classes, each of a bounded size."""
        for rows, tp, fp in self.counts.blocks():
            pos, neg = self.counts.pos[rows, None], self.counts.neg[rows, None]
            signs = direction(tp, fp, pos, neg)
            values = self._values(rows, tp, fp, pos, neg, signs)
            if not np.isfinite(values).all():
                raise InputError(
                    f"metric '{self.metric}' gave NaN or infinity; a score must be finite for every table"
                )
            yield rows, values, signs

    def _values(
        self, rows: slice, tp: Ints, fp: Ints, pos: Ints, neg: Ints, signs: NDArray[np.int8]
    ) -> Floats:
        if self.folded:
            mirrored = signs < 0
            tp, fp = np.where(mirrored, pos - tp, tp), np.where(mirrored, neg - fp, fp)
        extra = self._extra(rows)
        if extra:
            value = self.metric(tp, fp, pos, neg, **extra)
            return np.ascontiguousarray(np.broadcast_to(value, tp.shape), dtype=np.float64)
        if self.metric.kind == "no class" or tp.size < COMMON:
            return np.broadcast_to(self.metric(tp, fp, pos, neg), tp.shape)
        made = np.empty(tp.shape)
        for c in range(len(tp)):
            made[c] = _by_distinct_table(self.metric, tp[c], fp[c], int(pos[c, 0]), int(neg[c, 0]))
        return made

    def _extra(self, rows: slice) -> dict[str, Any]:
        """Return what the metric reads beyond the table."""
        counts, reads = self.counts, self.metric.reads
        if reads == "terms":
            return {"terms": counts.terms}
        if reads != "occurrences" or (counts.tf is None and not self.metric.needs):
            return {}
        if counts.tf is None or counts.tf_total is None or counts.squares is None:
            raise InputError(f"metric '{self.metric}' needs word occurrences; count with occurrences=True")
        tf = counts.tf[rows].toarray() if sparse.issparse(counts.tf) else counts.tf[rows]
        inside = tf.sum(axis=1, keepdims=True)
        total = counts.tf_total.astype(np.float64)
        occurrences = Occurrences(
            tf_pos=tf.astype(np.float64),
            tf_neg=total - tf,
            all_pos=inside.astype(np.float64),
            all_neg=total.sum() - inside,
            squares=counts.squares.astype(np.float64),
            n_terms=counts.n_terms,
        )
        return {"occurrences": occurrences}

    def to_frame(self) -> polars.DataFrame:
        """Return a row for each class and term: class, term, score, direction, tp, fp, df, and any p-values.

        `p_value` is that of the chi-squared statistic with one degree of freedom, `p_adjusted` its
        Benjamini-Hochberg correction over the terms of the class.
        """
        import polars as pl

        frame = self.counts.to_frame().select("class", "term", "tp", "fp", "df")
        columns = [pl.Series("score", self.values.ravel()), pl.Series("direction", self.direction.ravel())]
        frame = frame.select("class", "term").with_columns(columns).hstack(frame.select("tp", "fp", "df"))
        if self.metric.chi_squared is None:
            return frame
        from scipy.special import chdtrc

        p = chdtrc(1, self.metric.chi_squared(self.values))
        adjusted = np.array([_benjamini_hochberg(row) for row in p]).reshape(p.shape)
        return frame.with_columns(p_value=pl.Series(p.ravel()), p_adjusted=pl.Series(adjusted.ravel()))


def score(counts: Counts, metric: str | Metric | Callable[..., Any] = "bns", fold: bool = True) -> Scores:
    """Return the Scores of `counts` by a metric's name, a Metric or a callable m(tp, fp, pos, neg).

    With `fold`, metrics that fold score a negative term by its mirror image (forman2003).

    >>> counts = Counts.from_matrix([[1, 1, 0], [0, 1, 0], [0, 1, 1]], ["spam", "spam", "ham"])
    >>> score(counts, "accuracy").values.tolist()
    [[0.0, -1.0, 1.0], [1.0, 1.0, 2.0]]
    """
    chosen = metric_of(metric)
    return Scores(counts, chosen, fold and chosen.folds)


def _by_distinct_table(metric: Metric, tp: Ints, fp: Ints, pos: int, neg: int) -> Floats:
    """Score one class, each distinct table of its rarer terms once: most terms share a few thousand."""
    df = tp + fp
    rare = df < COMMON
    place = (df * (df + 1) // 2 + tp)[rare]  # a number for each (df, tp), without gaps
    seen = np.zeros(COMMON * (COMMON + 1) // 2, dtype=bool)
    seen[place] = True
    distinct = np.flatnonzero(seen)
    table_df = ((np.sqrt(8 * distinct + 1) - 1) / 2).astype(np.int64)
    table_tp = distinct - table_df * (table_df + 1) // 2
    at = np.empty(len(seen), dtype=np.int64)
    at[distinct] = np.arange(len(distinct))
    made = np.empty(len(tp))
    made[rare] = metric(table_tp, table_df - table_tp, pos, neg)[at[place]]
    made[~rare] = metric(tp[~rare], fp[~rare], pos, neg)
    return made


def _benjamini_hochberg(p: Floats) -> Floats:
    order = np.argsort(-p, kind="stable")
    scaled = p[order] * len(p) / np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled), 1)
    return adjusted
