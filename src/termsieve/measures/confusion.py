"""Confusion counts come in; accuracy, precision, recall and F go out, per problem or over problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from termsieve.errors import unknown_name


class Confusion(NamedTuple):
    """The numbers of test documents by actual and predicted class; each field is a number or an array.

    Parameters
    ----------
    tp : array-like
        Documents that have the class and were predicted to have it.
    fp : array-like
        Documents that were predicted to have the class and do not.
    fn : array-like
        Documents that have the class and were not predicted to.
    tn : array-like
        Documents that do not have the class and were not predicted to.
    """

    tp: Any
    fp: Any
    fn: Any
    tn: Any


def share_of(part: ArrayLike, whole: ArrayLike) -> Any:
    """Return part / whole, or 0 if the whole is 0."""
    part, whole = np.broadcast_arrays(np.asarray(part, dtype=float), np.asarray(whole, dtype=float))
    share = np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
    return share if share.ndim else float(share)


def accuracy(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> Any:
    """Return the share of documents on which prediction and truth agree; 0 for no documents.

    Parameters
    ----------
    tp : array-like
        Documents that have the class and were predicted to have it.
    fp : array-like
        Documents that were predicted to have the class and do not.
    fn : array-like
        Documents that have the class and were not predicted to.
    tn : array-like
        Documents that do not have the class and were not predicted to.

    Returns
    -------
    float or ndarray
        The value, of the shape of the counts.

    Examples
    --------
    >>> accuracy(3, 1, 2, 4)
    0.7
    """
    tp, fp, fn, tn = map(np.asarray, (tp, fp, fn, tn))
    return share_of(tp + tn, tp + fp + fn + tn)


def precision(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike = 0, tn: ArrayLike = 0) -> Any:
    """Return the share of the predicted positives that are positive; 0 when none is predicted.

    Parameters
    ----------
    tp : array-like
        Documents that have the class and were predicted to have it.
    fp : array-like
        Documents that were predicted to have the class and do not.
    fn : array-like
        Documents that have the class and were not predicted to.
    tn : array-like
        Documents that do not have the class and were not predicted to.

    Returns
    -------
    float or ndarray
        The value, of the shape of the counts.

    Examples
    --------
    >>> precision([3, 0], [1, 0])
    array([0.75, 0.  ])
    """
    return share_of(tp, np.asarray(tp) + np.asarray(fp))


def recall(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike = 0) -> Any:
    """Return the share of the positives that are predicted; 0 when there is none.

    Parameters
    ----------
    tp : array-like
        Documents that have the class and were predicted to have it.
    fp : array-like
        Documents that were predicted to have the class and do not.
    fn : array-like
        Documents that have the class and were not predicted to.
    tn : array-like
        Documents that do not have the class and were not predicted to.

    Returns
    -------
    float or ndarray
        The value, of the shape of the counts.

    Examples
    --------
    >>> recall(3, 1, 2)
    0.6
    """
    return share_of(tp, np.asarray(tp) + np.asarray(fn))


def f_beta(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike = 0, beta: float = 1.0) -> Any:
    """Return (1 + beta²) p r / (beta² p + r), p the precision and r the recall; 0 without a true positive.

    Parameters
    ----------
    tp : array-like
        Documents that have the class and were predicted to have it.
    fp : array-like
        Documents that were predicted to have the class and do not.
    fn : array-like
        Documents that have the class and were not predicted to.
    tn : array-like
        Documents that do not have the class and were not predicted to.
    beta : float, default=1.0
        Weight of recall: it counts beta squared times as much as precision.

    Returns
    -------
    float or ndarray
        The value, of the shape of the counts.

    Examples
    --------
    >>> f_beta(3, 1, 2, beta=2)
    0.625
    """
    tp, fp, fn = map(np.asarray, (tp, fp, fn))
    return share_of((1 + beta**2) * tp, (1 + beta**2) * tp + beta**2 * fn + fp)


def f1(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike = 0) -> Any:
    """Return the harmonic mean of precision and recall; 0 without a true positive.

    Parameters
    ----------
    tp : array-like
        Documents that have the class and were predicted to have it.
    fp : array-like
        Documents that were predicted to have the class and do not.
    fn : array-like
        Documents that have the class and were not predicted to.
    tn : array-like
        Documents that do not have the class and were not predicted to.

    Returns
    -------
    float or ndarray
        The value, of the shape of the counts.

    Examples
    --------
    >>> round(f1(3, 1, 2), 3)
    0.667
    """
    return f_beta(tp, fp, fn, tn)


def f2(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike = 0) -> Any:
    """Return F_beta with beta = 2: recall counts four times as much as precision.

    Parameters
    ----------
    tp : array-like
        Documents that have the class and were predicted to have it.
    fp : array-like
        Documents that were predicted to have the class and do not.
    fn : array-like
        Documents that have the class and were not predicted to.
    tn : array-like
        Documents that do not have the class and were not predicted to.

    Returns
    -------
    float or ndarray
        The value, of the shape of the counts.

    Examples
    --------
    >>> f2(3, 1, 2)
    0.625
    """
    return f_beta(tp, fp, fn, tn, beta=2.0)


MEASURES: dict[str, Callable[..., Any]] = {
    "accuracy": accuracy,
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "f2": f2,
}


def get_measure(name: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the function (tp, fp, fn, tn) -> value of that name; a callable is taken as it is.

    Parameters
    ----------
    name : str or callable
        A name such as "f1", or a function.

    Returns
    -------
    callable
        The function of (tp, fp, fn, tn).

    Examples
    --------
    >>> get_measure("recall")(3, 1, 2, 4)
    0.6
    """
    if callable(name):
        return name
    if name not in MEASURES:
        raise unknown_name("measure", name, MEASURES)
    return MEASURES[name]


def micro(
    name: str | Callable[..., Any], confusion: tuple[Any, ...], axis: int | tuple[int, ...] | None = None
) -> Any:
    """Return a measure of the counts summed over problems: every document has the same weight.

    Parameters
    ----------
    name : str or callable
        A name such as "f1", or a function of (tp, fp, fn, tn).
    confusion : Confusion
        The counts, one problem per cell.
    axis : int or tuple of int, optional
        The axes of the problems; all by default.

    Returns
    -------
    float or ndarray
        The value.

    Examples
    --------
    >>> micro("precision", Confusion([8, 0], [2, 1], [0, 1], [0, 8]))  # 8 of 11
    0.7272727272727273
    """
    return get_measure(name)(*(np.sum(cell, axis=axis) for cell in confusion))


def macro(
    name: str | Callable[..., Any], confusion: tuple[Any, ...], axis: int | tuple[int, ...] | None = None
) -> Any:
    """Return the mean over problems of a measure: every problem has the same weight; 0 without problems.

    Parameters
    ----------
    name : str or callable
        A name such as "f1", or a function of (tp, fp, fn, tn).
    confusion : Confusion
        The counts, one problem per cell.
    axis : int or tuple of int, optional
        The axes of the problems; all by default.

    Returns
    -------
    float or ndarray
        The value.

    Examples
    --------
    >>> macro("precision", Confusion([8, 0], [2, 1], [0, 1], [0, 8]))  # .8 and 0
    0.4
    """
    values = np.asarray(get_measure(name)(*confusion))
    return share_of(values.sum(axis=axis), values.size if axis is None else _length(values, axis))


def _length(values: NDArray, axis: int | tuple[int, ...]) -> int:
    axes = (axis,) if isinstance(axis, int) else axis
    return int(np.prod([values.shape[a] for a in axes]))
