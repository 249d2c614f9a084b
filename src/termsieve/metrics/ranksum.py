"""A term matrix and labels come in; the rank-sum keyness of each term goes out.

It compares whole distributions of a word's relative frequency, so it is no function of the 2x2 table and no
metric of the registry. [kilgarriff2001] International Journal of Corpus Linguistics 6(1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from termsieve.errors import InputError
from termsieve.matrices import canonical_csr
from termsieve.metrics.registry import Floats


def rank_sum_keyness(X: Any, inside: Any) -> Floats:
    """Return for each term the z-score of the rank-sum test of its relative frequencies.

    Parameters
    ----------
    X : matrix of documents x terms
        How often each term occurs in each document.
    inside : array of bool
        Whether a document is in the class.

    Returns
    -------
    ndarray of float
        Mann and Whitney's U in standard errors, with the correction for ties: above 0 for terms that are more
        frequent in documents of the class, 0 for a term with one frequency in all documents.

    Examples
    --------
    >>> rank_sum_keyness([[4, 1], [3, 1], [1, 1], [0, 1]], [True, True, False, False]).round(3).tolist()
    [1.549, -1.549]
    """
    matrix = sparse.csr_matrix(canonical_csr(X, "X"), dtype=np.float64)
    chosen = np.asarray(inside, dtype=bool)
    if chosen.shape != (matrix.shape[0],):
        raise InputError(f"X has {matrix.shape[0]:,} documents but inside has the shape {chosen.shape}")
    n, n_inside = len(chosen), int(chosen.sum())
    if n_inside in (0, n):
        return np.zeros(matrix.shape[1])
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    lengths = np.asarray(matrix.sum(axis=1)).ravel()
    values, columns = matrix.data / np.maximum(lengths, 1)[rows], matrix.indices
    order = np.lexsort((values, columns))
    rows, values, columns = rows[order], values[order], columns[order]
    filled = np.bincount(columns, minlength=matrix.shape[1])
    zeros = n - filled  # they share the lowest ranks
    new = np.ones(len(columns), dtype=bool)
    new[1:] = (np.diff(columns) > 0) | (np.diff(values) > 0)
    group = np.cumsum(new) - 1
    start, size = np.flatnonzero(new), np.bincount(group)
    first = start - (np.cumsum(filled) - filled)[columns[start]]  # in its column, from 0
    ranks = (zeros[columns[start]] + first + (size + 1) / 2)[group]
    ours = chosen[rows]
    sums = np.bincount(columns[ours], weights=ranks[ours], minlength=matrix.shape[1])
    zeros_inside = n_inside - np.bincount(columns[ours], minlength=matrix.shape[1])
    tied = np.bincount(columns[start], weights=size**3.0 - size, minlength=matrix.shape[1])
    variance = n_inside * (n - n_inside) / 12 * (n + 1 - (tied + zeros**3.0 - zeros) / (n * (n - 1)))
    deviation = sums + zeros_inside * (zeros + 1) / 2 - n_inside * (n + 1) / 2
    known = variance > 1e-9
    return np.where(known, deviation / np.sqrt(np.where(known, variance, 1)), 0)
