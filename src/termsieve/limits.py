"""Limits of a term's document frequency come in, as numbers or shares; the least and greatest go out."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from termsieve.errors import ParameterError


def check_limit(name: str, limit: Any) -> None:
    """Raise unless `limit` is a whole number of documents from 1 on, or a share of them as a float.

    This is the rule of CountVectorizer, so that a limit means the same wherever one is given.
    """
    if limit < 1 if isinstance(limit, Integral) else not (isinstance(limit, Real) and 0 <= limit <= 1):
        raise ParameterError(
            f"{name} is {limit!r}; it must be a whole number of documents from 1, "
            "or a share of them from 0.0 to 1.0"
        )


def document_limits(n_docs: int, min_df: float, max_df: float) -> tuple[float, float]:
    """Return the least and the greatest number of documents that a term may be in.

    Parameters
    ----------
    n_docs : int
        The number of documents that a share refers to.
    min_df, max_df : int or float
        A whole number of documents, or a share of them from 0.0 to 1.0.

    Returns
    -------
    least, greatest : float
        `least` is 1 at least: a term that is in no document tells nothing.

    Examples
    --------
    >>> document_limits(200, 0.05, 150)
    (10.0, 150)
    """
    limits = []
    for name, limit in (("min_df", min_df), ("max_df", max_df)):
        check_limit(name, limit)
        limits.append(limit if isinstance(limit, Integral) else limit * n_docs)
    least, greatest = limits
    if greatest < least:
        raise ParameterError(
            f"max_df={max_df!r} allows fewer documents than min_df={min_df!r}; "
            "raise the one or lower the other"
        )
    return max(least, 1), greatest
