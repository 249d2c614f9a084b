"""A term matrix, labels and weights come in; the tables of their Counts go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.counts.matrix import (
    class_table,
    presence_matrix,
    sum_table,
    too_many_occurrences,
    whole_numbers,
)
from termsieve.counts.weights import checked_weights, grid_weights, some_labels, weighted_tables
from termsieve.errors import InputError
from termsieve.kernels import counting
from termsieve.labels import Labels, encode_labels


def tables_of(
    X: Any, y: Any, terms: Sequence[str] | NDArray[Any] | None, occurrences: bool, sample_weight: Any
) -> dict[str, Any]:
    """Return the arguments of Counts; those of this function are in `Counts.from_matrix`."""
    names, matrix = presence_matrix(X)
    labels = encode_labels(y)
    if labels.n_docs != matrix.shape[0]:
        raise InputError(f"X has {matrix.shape[0]:,} documents but y has {labels.n_docs:,} labels")
    if labels.n_docs == 0:
        raise InputError("X has no documents; give at least one")
    weights = checked_weights(sample_weight, labels.n_docs)
    if weights is None:
        tables = _plain_tables(matrix, labels, occurrences)
    else:
        if not weights.all():  # documents without weight are as if they were not there
            there = np.flatnonzero(weights)
            matrix, labels, weights = matrix[there], encode_labels(some_labels(y, there)), weights[there]
        tables = weighted_tables(matrix, labels, grid_weights(weights), occurrences)
        tables["weighted"] = weights.dtype.kind == "f"
    return tables | {
        "classes": labels.classes,
        "terms": names if terms is None else terms,
        "multilabel": labels.multilabel,
    }


def _plain_tables(matrix: Any, labels: Labels, occurrences: bool) -> dict[str, Any]:
    """Return the tables of documents that all count alike."""
    n_terms = matrix.shape[1]
    tp = class_table(matrix, labels)
    if labels.multilabel:
        df = np.zeros(n_terms, dtype=np.int64)
        counting.column_counts(matrix.indices, df)
    else:
        df = _totals(tp)
    tables: dict[str, Any] = {"tp": tp, "pos": labels.sizes, "df": df, "n_docs": labels.n_docs}
    if not occurrences:
        return tables
    values = whole_numbers(matrix.data)
    tf_total, squares = df.copy(), df.copy()
    most = counting.column_moments(matrix.indices, values, tf_total, squares)
    # No sum is larger than the sum of squares of one column.
    doubtful = most**2 * matrix.shape[0] >= 2**63
    if doubtful and not counting.squares_fit(matrix.indices, values, n_terms):
        raise too_many_occurrences()
    tf = sum_table(matrix, labels, values, tp, tf_total)
    return tables | {"tf": tf, "tf_total": tf_total, "squares": squares}


def _totals(table: Any) -> NDArray[np.int64]:
    """Return the sum of each column of a dense or sparse table."""
    if sparse.issparse(table):
        return np.asarray(table.sum(axis=0), dtype=np.int64)
    return counting.column_totals(table)
