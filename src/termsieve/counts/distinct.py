"""Counts come in; their distinct columns, and the distinct 2x2 tables of these, go out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from termsieve.counts.cells import bits
from termsieve.kernels import distinct, ranking

if TYPE_CHECKING:
    from termsieve.counts.table import Counts

Ints = NDArray[np.int64]


class Tables(NamedTuple):
    """Distinct 2x2 tables, each with a class and a column that have it, and perhaps with its occurrences.

    `at` holds for each class and distinct column the position of its table.
    """

    at: NDArray[np.int32]
    of_class: NDArray[np.int32]
    of_column: Ints
    tp: Ints
    fp: Ints
    tf: Ints | None = None


def order_of_ties(counts: Counts) -> NDArray[np.intp]:
    """Return the columns by decreasing document frequency, then by index."""
    first, kind = distinct.distinct_columns([bits(counts.df)[None, :]])
    frequencies = counts.df[first].astype(np.float64)
    return ranking.ordered(np.arange(counts.n_terms), kind, frequencies, np.zeros(0, dtype=np.int8))


def distinct_columns(counts: Counts, occurrences: bool = False) -> tuple[Ints, NDArray[np.int32]]:
    """Return the first of each group of columns that are equal in all classes, and each column's group.

    Most terms are rare and have the same counts in all classes as many others, so functions of counts are
    computed on the distinct columns only.
    """
    if occurrences:
        kinds = counts.distinct[1]
        tables = [kinds, counts.as_counted("tf"), counts.tf_total, counts.squares]
    else:
        tables = [counts.as_counted("tp"), counts.df]
    first, kind = distinct.distinct_columns([np.atleast_2d(bits(table)) for table in tables])
    return first, kind


def distinct_tables(counts: Counts, first: Ints, totals: list[Any], *more: Any) -> Tables:
    """Return the tables of the columns `first` that differ in tp, in `more` tables or in their `totals`.

    Classes of the same size share their tables, unless there are `more` tables: occurrences of all terms in a
    class are not compared.
    """
    _, group = distinct.distinct_columns([total[None, first] for total in totals])
    tables = [counts.as_counted("tp"), *more]
    sizes = np.arange(counts.n_classes) if more else counts.pos
    of_class, of_first, (tp, *tf), at = distinct.distinct_cells(tables, first, group, sizes)
    of_column = first[of_first]
    return Tables(at, of_class, of_column, tp, counts.df[of_column] - tp, *tf)
