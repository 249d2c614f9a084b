"""Limits of a term's document frequency come in, as numbers or shares; numbers of documents go out."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from termsieve.errors import ParameterError


def check_limit(name: str, limit: Any) -> None:
    """Raise an error unless `limit` is a whole number of documents from 1, or a float share of them.

    This is the rule of CountVectorizer; it holds for all limits in termsieve.
    """
    share = isinstance(limit, Real)
    if limit < 1 if _is_whole(limit) else not (share and 0 <= limit <= 1):
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
    given: dict[str, Any] = {"min_df": min_df, "max_df": max_df}
    for name, limit in given.items():
        check_limit(name, limit)
    least, greatest = (limit * (1 if _is_whole(limit) else n_docs) for limit in given.values())
    if greatest < least:
        raise ParameterError(
            f"max_df={max_df!r} allows fewer documents than min_df={min_df!r}; "
            "raise the one or lower the other"
        )
    return max(least, 1), greatest


def _is_whole(limit: Any) -> bool:
    return isinstance(limit, Integral)
