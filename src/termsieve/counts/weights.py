"""Weights of documents come in, checked; the counts of a term matrix in which documents have them go out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.counts import matrix as layout
from termsieve.counts.matrix import too_many_occurrences, whole_numbers
from termsieve.errors import InputError
from termsieve.labels import Labels

GRID_BITS = 30  # real weights are multiples of their mean's power of 2, divided by 2 to this power
MOST = 2**53  # whole numbers below this are exact in float64


def checked_weights(given: Any, n_docs: int) -> NDArray[Any] | None:
    """Return the weights of documents, as int64 if all are whole numbers and as float64 otherwise.

    >>> checked_weights([1, 2.0, 0], 3), checked_weights([1, 0.5, 0], 3)
    (array([1, 2, 0]), array([1. , 0.5, 0. ]))
    """
    if given is None:
        return None
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold one number per document") from None
    if weights.shape != (n_docs,):
        raise InputError(f"sample_weight has the shape {weights.shape}, but there are {n_docs:,} documents")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("sample_weight must hold finite numbers of 0 and above")
    if not weights.any():
        raise InputError("sample_weight is zero for every document; at least one must count")
    whole = weights.sum() < MOST and (weights == np.floor(weights)).all()
    return weights.astype(np.int64) if whole else weights


def some_labels(y: Any, rows: NDArray[np.intp]) -> Any:
    """Return the labels of some documents, of a list, an array, a series or a frame."""
    if hasattr(y, "iloc"):
        return y.iloc[rows]
    return y[rows] if hasattr(y, "dtype") or hasattr(y, "format") else [list(y)[i] for i in rows]


def grid_weights(weights: NDArray[Any]) -> NDArray[Any]:
    """Return real weights rounded to multiples of a power of 2, so that sums of millions of them are exact.

    Without it a term in all documents of a class would be in more or fewer of them by a rounding error.
    """
    if weights.dtype.kind == "i":
        return weights
    some = weights > 0
    step = 2.0 ** (np.floor(np.log2(weights[some].mean())) - GRID_BITS)
    return np.maximum(np.round(weights / step), some) * step


def weighted_tables(matrix: Any, labels: Labels, weights: NDArray[Any], occurrences: bool) -> dict[str, Any]:
    """Return the tables of Counts, by name, of documents that count as much as their weights."""
    n_classes, n_docs = len(labels.classes), len(weights)
    of_class = sparse.csr_array(
        (weights[labels.docs], labels.docs, labels.class_ptr), shape=(n_classes, n_docs)
    )
    ones = np.ones(len(matrix.data), dtype=weights.dtype)
    present = sparse.csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)
    tables: dict[str, Any] = {
        "tp": _table(of_class @ present),
        "pos": np.asarray(of_class.sum(axis=1)).ravel(),
        "df": weights @ present,
        "n_docs": weights.sum(),
    }
    if occurrences:
        values = whole_numbers(matrix.data)
        if (values.astype(np.float64) ** 2).sum() * float(weights.max()) >= 2.0**63:
            raise too_many_occurrences()
        often = sparse.csr_array((values.astype(weights.dtype), matrix.indices, matrix.indptr), matrix.shape)
        tables |= {"tf": _table(of_class @ often), "tf_total": weights @ often}
        tables["squares"] = weights @ often.power(2)
    return tables


def _table(cells: sparse.csr_array) -> Any:
    return cells.toarray() if cells.shape[0] * cells.shape[1] <= layout.DENSE_CELLS else cells
