"""Counts and some of their columns come in; their distinct 2x2 tables go out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from termsieve.kernels import counting

if TYPE_CHECKING:
    from termsieve.counts.table import Counts

Ints = NDArray[np.int64]


class Tables(NamedTuple):
    """Distinct 2x2 tables, each with a class and a column that have it, and perhaps with its occurrences.

    `at` holds for each class and distinct column the position of its table.
    """

    at: NDArray[np.int32]
    of_class: NDArray[np.int64]
    of_column: NDArray[np.int64]
    tp: Ints
    fp: Ints
    pos: Ints
    neg: Ints
    tf: Ints | None = None


def distinct_tables(counts: Counts, first: Ints, totals: list[Any], *more: Any) -> Tables:
    """Return the tables of the columns `first` that differ in tp, in `more` tables or in their `totals`."""
    _, group = counting.distinct_columns([total[None, first] for total in totals])
    tables = [np.take(table, first, axis=1) for table in (counts.tp, *more)]
    of_class, of_first, at = counting.distinct_cells(tables, group)
    tp, *tf = (table[of_class, of_first] for table in tables)
    of_column, pos = first[of_first], counts.pos[of_class]
    return Tables(at, of_class, of_column, tp, counts.df[of_column] - tp, pos, counts.n_docs - pos, *tf)
