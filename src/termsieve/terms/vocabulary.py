"""A vocabulary, or limits of document frequency, come in; the columns of a term matrix go out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from termsieve import sparse
from termsieve.errors import InputError, ParameterError
from termsieve.limits import check_limit, document_limits


def known_columns(vocabulary: Mapping[Any, int], words: Iterable[Any]) -> np.ndarray:
    """Return the columns of words; -1 for words that are not in the vocabulary.

    A vocabulary may have been set by hand or come from a file, so columns outside the matrix are refused
    here.
    """
    found: list[Any] = [vocabulary.get(word, -1) for word in words]
    sound = all(issubclass(kind, Integral) for kind in set(map(type, found)))
    if sound and found:
        sound = min(found) >= -1 and max(found) < len(vocabulary)
    if not sound:
        given: Mapping[Any, Any] = vocabulary
        word, column = next(
            (word, column)
            for word, column in given.items()
            if not isinstance(column, Integral) or column not in range(-1, len(vocabulary))
        )
        raise ParameterError(
            f"the vocabulary has {len(vocabulary):,} terms but gives {word!r:.40} the column {column!r:.40}; "
            "the columns of a vocabulary must be 0, 1, 2, ..."
        )
    return np.array(found, dtype=np.int32)


def check_term_limits(min_df: Any, max_df: Any, max_features: Any) -> None:
    """Raise an error for invalid limits, before any text is read.

    Parameters
    ----------
    min_df : int or float, default=1
        Least document frequency: a number of documents, or a share of them.
    max_df : int or float, default=1.0
        Greatest document frequency: a number of documents, or a share of them.
    max_features : int, optional
        Number of terms to keep, the most frequent ones.
    """
    check_limit("min_df", min_df)
    check_limit("max_df", max_df)
    if max_features is not None and (not isinstance(max_features, Integral) or max_features < 1):
        raise ParameterError(f"max_features is {max_features!r}; it must be a positive integer or None")


def kept_columns(
    X: sparse.csr_matrix, min_df: float = 1, max_df: float = 1.0, max_features: int | None = None
) -> np.ndarray:
    """Return the columns with a document frequency within the limits, the most frequent of them, sorted.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_docs, n_terms)
        The term matrix.
    min_df : int or float, default=1
        Least document frequency: a number of documents, or a share of them.
    max_df : int or float, default=1.0
        Greatest document frequency: a number of documents, or a share of them.
    max_features : int, optional
        Number of terms to keep, the most frequent ones.

    Returns
    -------
    ndarray of int
        The columns.
    """
    least, greatest = document_limits(X.shape[0], min_df, max_df)
    df = np.bincount(X.indices, minlength=X.shape[1])
    kept = np.flatnonzero((df >= least) & (df <= greatest))
    if max_features is not None and len(kept) > max_features:
        # Ties are in the order of numpy's default sort, as in CountVectorizer.
        total = np.asarray(X.sum(axis=0)).ravel()
        kept = np.sort(kept[(-total[kept]).argsort()[:max_features]])
    if len(kept) == 0:
        raise InputError("no term is left within min_df and max_df; try a lower min_df or a higher max_df")
    return kept


def term_numbers(vocabulary: Mapping[Any, int] | Iterable[Any]) -> dict[Any, int]:
    """Return the column of each term of a vocabulary: a mapping, terms in order, or a set (sorted).

    Parameters
    ----------
    vocabulary : mapping or iterable
        The terms.

    Returns
    -------
    dict of str to int
        The column of each term.
    """
    if isinstance(vocabulary, Mapping):
        numbers = dict(vocabulary)
        if set(numbers.values()) != set(range(len(numbers))):
            raise ParameterError("the columns of a vocabulary must be 0, 1, 2, ... with each number once")
    else:
        words = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else list(vocabulary)
        numbers = {}
        for i, word in enumerate(words):
            if numbers.setdefault(word, i) != i:
                raise ParameterError(f"the vocabulary has {word!r} twice; each term may be there once")
    if not numbers:
        raise ParameterError("the vocabulary is empty; give at least one term")
    return numbers
