"""Labels of any kind in, the documents of each class out."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.errors import InputError

COLLECTIONS = (tuple, list, Set, np.ndarray)
NOT_AN_INDICATOR = "a two-dimensional y must be an indicator matrix of 0 and 1"


@dataclass(frozen=True)
class Labels:
    """The classes, sorted, and for each the rows of its documents: docs[class_ptr[c]:class_ptr[c + 1]]."""

    classes: NDArray[Any]
    class_ptr: NDArray[np.int64]
    docs: NDArray[np.int64]
    n_docs: int
    multilabel: bool

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Documents of each class."""
        return np.diff(self.class_ptr)

    def indicator(self) -> NDArray[np.bool_]:
        """Return documents x classes: which document has which label."""
        made = np.zeros((self.n_docs, len(self.classes)), dtype=bool)
        made[self.docs, np.repeat(np.arange(len(self.classes)), self.sizes)] = True
        return made


def encode_labels(y: Any) -> Labels:
    """Return the Labels of `y`: one label a document, a 0/1 indicator matrix, or collections of labels.

    >>> encode_labels(["b", "a", "b"]).classes.tolist()
    ['a', 'b']
    >>> encode_labels([("b",), (), ("a", "b")]).sizes.tolist()
    [1, 2]
    """
    if y is None:
        raise InputError(
            "this requires y to be passed, but the target y is None; give a label for each document"
        )
    if isinstance(y, (str, bytes)) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        raise InputError(f"y must hold one label for each document, not {type(y).__name__}")
    if sparse.issparse(y):
        return _from_sparse(sparse.csc_array(y))
    columns = getattr(y, "columns", None)
    if columns is not None:
        return _from_dense(np.asarray(y.to_numpy()), columns)
    if isinstance(y, Sequence) and any(issubclass(kind, COLLECTIONS) for kind in set(map(type, y))):
        return _from_collections(y)
    array = y if isinstance(y, np.ndarray) else _array(y)
    if array.ndim == 2:
        return _from_dense(array, None)
    if array.ndim != 1:
        raise InputError(f"y must have one or two dimensions, not {array.ndim}")
    if array.dtype == object and any(
        issubclass(kind, COLLECTIONS) for kind in set(map(type, array.tolist()))
    ):
        return _from_collections(array)
    return _from_single(array)


def _array(y: Any) -> NDArray[Any]:
    """Return a 1-d array that keeps every entry's own type."""
    array = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if array.dtype.kind in "US" and isinstance(y, Sequence) and not all(isinstance(e, str) for e in y):
        array = np.empty(len(y), dtype=object)
        array[:] = y
    return array


def _is_collection(entry: Any) -> bool:
    return isinstance(entry, COLLECTIONS) and not (isinstance(entry, np.ndarray) and entry.ndim != 1)


def _from_dense(array: NDArray[Any], names: Iterable[Any] | None) -> Labels:
    try:
        array = array if array.dtype.kind in "biuf" else array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(NOT_AN_INDICATOR) from None
    member = array != 0
    if not (array == member).all():
        raise InputError(NOT_AN_INDICATOR)
    n_docs, n_classes = array.shape
    cells = np.flatnonzero(member.T)
    class_ptr = np.searchsorted(cells, np.arange(n_classes + 1) * n_docs)
    docs = cells - np.repeat(np.arange(n_classes) * n_docs, np.diff(class_ptr))
    return _indicated(class_ptr, docs, array.shape, names)


def _from_sparse(columns: Any) -> Labels:
    columns.sum_duplicates()
    if columns.nnz and not np.isin(columns.data, (0, 1)).all():
        raise InputError(NOT_AN_INDICATOR)
    columns.eliminate_zeros()
    columns.sort_indices()
    return _indicated(columns.indptr, columns.indices, columns.shape, None)


def _indicated(
    class_ptr: NDArray[Any], docs: NDArray[Any], shape: tuple[int, ...], names: Iterable[Any] | None
) -> Labels:
    classes = np.arange(shape[1]) if names is None else np.asarray(list(names))
    return Labels(classes, class_ptr.astype(np.int64), docs.astype(np.int64), shape[0], True)


def _from_collections(y: Iterable[Any]) -> Labels:
    entries = list(y)
    odd = next((entry for entry in entries if not _is_collection(entry)), None)
    if odd is not None:
        raise InputError(f"y mixes collections of labels with single ones, such as {odd!r}")
    lengths = [len(set(entry)) for entry in entries]
    flat = np.empty(sum(lengths), dtype=object)
    flat[:] = [label for entry in entries for label in dict.fromkeys(entry)]
    classes, codes = _factorised(flat)
    return _grouped(
        classes, codes, np.repeat(np.arange(len(entries)), lengths), len(entries), multilabel=True
    )


def _from_single(array: NDArray[Any]) -> Labels:
    classes, codes = _factorised(array)
    return _grouped(classes, codes, np.arange(len(array)), len(array), multilabel=False)


def _grouped(
    classes: NDArray[Any], codes: NDArray[Any], docs: NDArray[Any], n_docs: int, multilabel: bool
) -> Labels:
    # numpy sorts 16 bits by counting, wider ones by comparing.
    order = np.argsort(codes.astype(np.uint16) if len(classes) < 2**16 else codes, kind="stable")
    class_ptr = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(classes)))])
    return Labels(classes, class_ptr.astype(np.int64), docs[order].astype(np.int64), n_docs, multilabel)


def _factorised(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted distinct labels and the position of each label among them."""
    if labels.dtype.kind in "iu" and len(labels) and (narrow := _small_numbers(labels)) is not None:
        return narrow
    if labels.dtype.kind in "biuU":
        classes, codes = np.unique(labels, return_inverse=True)
        return classes, codes
    if labels.dtype.kind == "f":
        _refuse_missing(np.isnan(labels))
        if not (np.isfinite(labels) & (labels == np.floor(labels))).all():
            raise InputError(
                "y holds fractions: labels must be strings, integers or booleans, not measurements"
            )
        classes, codes = np.unique(labels, return_inverse=True)
        return classes, codes
    if labels.dtype.kind == "c":
        raise InputError("complex data not supported: labels must be strings, integers or booleans")
    entries = labels.tolist()
    if set(map(type, entries)) != {str}:
        _refuse_missing(np.fromiter((e is None or e != e for e in entries), dtype=bool, count=len(entries)))
        kinds = {_label_kind(entry) for entry in entries}
        if len(kinds) > 1:
            raise InputError(f"y mixes labels of different types ({', '.join(sorted(kinds))}); use one type")
        if kinds and (odd := kinds - {"str", "int", "bool"}):
            if odd == {"float"}:
                return _factorised(np.asarray(entries, dtype=np.float64))
            raise InputError(f"labels must be strings, integers or booleans, not {odd.pop()}")
    seen = sorted(set(entries))
    place = {label: i for i, label in enumerate(seen)}
    return np.array(seen), np.fromiter(map(place.__getitem__, entries), dtype=np.int64, count=len(entries))


def _small_numbers(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the distinct numbers and each one's position, without sorting; None where they spread wide."""
    least, greatest = int(labels.min()), int(labels.max())
    if greatest - least > len(labels):
        return None
    shifted = (labels - labels.dtype.type(least)).astype(np.intp)
    found = np.bincount(shifted) > 0
    classes = (np.flatnonzero(found) + least).astype(labels.dtype)
    return classes, (np.cumsum(found) - 1)[shifted]


def _refuse_missing(missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise InputError(
            f"{missing.sum():,} of {len(missing):,} labels are missing (None or NaN); drop or fill them"
        )


def _label_kind(entry: Any) -> str:
    if isinstance(entry, (bool, np.bool_)):
        return "bool"
    if isinstance(entry, numbers.Integral):
        return "int"
    if isinstance(entry, numbers.Real):
        return "float"
    return type(entry).__name__ if not isinstance(entry, str) else "str"
