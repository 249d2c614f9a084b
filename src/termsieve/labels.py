"""Labels of any kind come in; exact labels, and the documents of each class, go out.

This is the only place that knows what may be a label: a string, an integer or a boolean, one or several per
document, given as a list, an array, a column, or an indicator matrix of 0 and 1. Two different
labels never become equal: a label that cannot be kept exactly is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.matrices import canonical_csr

COLLECTIONS = (tuple, list, Set, np.ndarray)
NOT_AN_INDICATOR = "a two-dimensional y must be an indicator matrix of 0 and 1"
_ALLOWED = "labels must be strings, integers or booleans"
_MISSING_TYPES = ("NoneType", "NAType", "NaTType")
# The cells of an indicator column, in lower case, and whether they mean that the document is in the class.
_MARKS = {
    **dict.fromkeys(("1", "1.0", "true", "yes"), True),
    **dict.fromkeys(("0", "0.0", "false", "no", ""), False),
}
# Separators between labels in a cell, and the names of the parts of a split, which are not classes.
SEPARATORS = ("|", ";", ",")
PART_NAMES = {"train", "training", "test", "testing", "dev", "val", "valid", "validation"}
# What programs write for a value that is missing; in a cell of text it is a word like any other.
NO_VALUES = {"nan", "na", "n/a", "#n/a", "<na>", "null"}
LEAST_DISTINCT = 20  # documents; fewer may well have a label each
_LEAST, _GREATEST = -(2**63), 2**64 - 1


@dataclass(frozen=True)
class Labels:
    """The sorted classes, and the rows of each class's documents: docs[class_ptr[c]:class_ptr[c + 1]]."""

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
        """Return documents x classes: whether a document has a label."""
        member = np.zeros((self.n_docs, len(self.classes)), dtype=bool)
        member[self.docs, np.repeat(np.arange(len(self.classes)), self.sizes)] = True
        return member


def encode_labels(y: Any) -> Labels:
    """Return the Labels of `y`: one label per document, a 0/1 indicator matrix, or collections of labels.

    Numbers keep their type: whole numbers that are floats stay floats, as in scikit-learn.

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
        return _from_sparse(y)
    if getattr(y, "columns", None) is not None:
        return _from_dense(np.asarray(y.to_numpy()), y.columns)
    entries = _entries(y)
    if isinstance(entries, np.ndarray):
        if entries.ndim == 2:
            return _from_dense(entries, None)
        return _grouped(*_numbered_array(entries), np.arange(len(entries)), len(entries), multilabel=False)
    types = set(map(type, entries))
    if any(issubclass(kind, COLLECTIONS) for kind in types):
        return _from_collections(entries)
    return _grouped(*_numbered(entries, types), np.arange(len(entries)), len(entries), multilabel=False)


def document_labels(labels: Any) -> tuple[NDArray[Any], bool]:
    """Return the labels of each document, and whether a document may have several.

    Single labels become one array: strings as objects, integers as int64 (or uint64 if necessary), or
    booleans. Several become an array of tuples. A float that is an integer becomes that integer.

    >>> document_labels([3.0, 1.0])[0].tolist(), document_labels([{"b", "a"}, ()])[0].tolist()
    ([3, 1], [('a', 'b'), ()])
    """
    if sparse.issparse(labels) or getattr(labels, "ndim", 1) == 2 or hasattr(labels, "columns"):
        return _indicated_labels(encode_labels(labels)), True
    values = as_list(labels, "labels")
    present_labels(values, "error")
    if not are_several(values):
        return _plain_array(checked_labels(values)), False
    groups = [listed(value) for value in values]
    stream = iter(checked_labels(list(chain.from_iterable(groups))))
    tuples = (tuple(dict.fromkeys(next(stream) for _ in group)) for group in groups)
    return np.fromiter(tuples, dtype=object, count=len(groups)), True


def checked_labels(values: list[Any]) -> list[Any]:
    """Return single labels as plain strings, whole numbers or booleans, all of one type, or raise.

    >>> checked_labels([2, 1.0])
    [2, 1]
    """
    kinds = {_kind(kind) for kind in set(map(type, values))}
    if kinds <= {"str"}:
        return values if set(map(type, values)) <= {str} else [str(value) for value in values]
    if "missing" in kinds or ("float" in kinds and any(map(is_missing, values))):
        raise InputError("one of several labels of a document is missing; leave it out of the tuple")
    if len(kinds - {"float", "int"}) + bool(kinds & {"float", "int"}) > 1:
        raise InputError(
            f"the labels mix different types ({', '.join(sorted(kinds))}); make them all strings"
        )
    if kinds == {"bool"}:
        return [bool(value) for value in values]
    if "float" in kinds:
        _refuse_fractions(values)
    whole = [int(value) for value in values]
    if whole and not (min(whole) >= _LEAST and max(whole) <= _GREATEST and _one_word(whole)):
        raise InputError("some labels are numbers too large to be exact; use strings as labels")
    return whole


def class_array(classes: Sequence[Any]) -> NDArray[Any]:
    """Return checked labels as an array that holds each of them exactly.

    >>> class_array([0, 2**63]).dtype, class_array(["a", "a\\0"]).tolist()
    (dtype('uint64'), ['a', 'a\\x00'])
    """
    if classes and isinstance(classes[0], str) and not any(label.endswith("\0") for label in classes):
        return np.array(classes)
    return _plain_array(classes) if len(classes) else np.array([], dtype=np.str_)


def class_position(label: Any, classes: Sequence[Any], kind: str = "class") -> int:
    """Return the position of a class, by its label or by the label's text; `kind` is for the error.

    >>> class_position("2", [1, 2])
    1
    """
    if label in classes:
        return classes.index(label)
    names = [str(known) for known in classes]
    if str(label) not in names:
        raise unknown_name(kind, label, names)
    return names.index(str(label))


def joined_classes(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the classes that are in either of two arrays, sorted and exact.

    >>> joined_classes(np.array([-1, 3]), np.array([3, 2**62])).tolist()
    [-1, 3, 4611686018427387904]
    """
    if a.dtype.kind == b.dtype.kind == "f":
        return np.union1d(a, b)
    return class_array(sorted(set(checked_labels([*a.tolist(), *b.tolist()]))))


def are_several(values: Iterable[Any]) -> bool:
    """Return whether each document has a collection of labels; a mixture is an error."""
    kinds = {issubclass(kind, COLLECTIONS) for kind in set(map(type, values))}
    if len(kinds) > 1:
        raise InputError("some documents have one label and others a list; give a list for every document")
    return kinds == {True}


def listed(group: Any) -> list[Any]:
    """Return a document's collection of labels as a list; a set in the order of its labels' spelling."""
    if isinstance(group, np.ndarray):
        return list(group.tolist()) if group.ndim == 1 else [group]
    return sorted(group, key=str) if isinstance(group, Set) else list(group)


def check_missing(missing: str) -> None:
    """Raise an error unless `missing` is "error" or "drop"."""
    if missing not in ("error", "drop"):
        raise ParameterError(f"missing={missing!r} is unknown; it is 'error' or 'drop'")


def split_labels(labels: list[Any], separator: str | None) -> list[Any]:
    """Return the labels; with a `separator`, each text is split into a tuple.

    A text may also be a list as Python or JSON spells it.

    >>> split_labels(["a;b", "a"], ";"), split_labels(["['joy', 'fear']", "[]"], ",")
    ([('a', 'b'), ('a',)], [('joy', 'fear'), ()])
    """
    if separator is None:
        return labels
    if not separator:
        raise ParameterError(
            "separator='' cannot separate labels; give the text between two labels, such as ';'"
        )
    return [_label_parts(value, separator) if isinstance(value, str) else value for value in labels]


def _label_parts(cell: str, separator: str) -> tuple[str, ...]:
    blanks = None
    if cell[:1] == "[" and cell[-1:] == "]":
        cell, blanks = cell[1:-1], " \t\r\n'\""
    return tuple(word for part in cell.split(separator) if (word := part.strip(blanks)))


def label_doubts(labels: Sequence[Any]) -> list[str]:
    """Return sentences about single labels that are probably meant otherwise.

    >>> label_doubts(["a;b", "b", "a;c", "c;b"])
    ["most labels hold ';'; give separator=';' if a cell holds several labels"]
    """
    # Each distinct label is looked at once, because there may be millions of documents.
    words = Counter([label for label in labels if isinstance(label, str)])
    n = words.total()
    doubts = []
    for separator in SEPARATORS if any(mark in label for label in words for mark in SEPARATORS) else ():
        parts = {label: label.split(separator) for label in words}
        n_several = sum(
            words[label] for label, part in parts.items() if len(part) > 1 and all(map(str.strip, part))
        )
        n_parts = sum(words[label] * len(part) for label, part in parts.items())
        distinct = {word.strip() for part in parts.values() for word in part}
        # Parts of labels recur in other labels; those of a sentence do not.
        if 2 * n_several > n and 2 * len(distinct) < n_parts + 2:
            doubts.append(
                f"most labels hold {separator!r}; give separator={separator!r} if a cell holds several labels"
            )
            break
    distinct = {word.strip().lower() for word in words}
    if len(distinct) > 1 and distinct <= PART_NAMES:
        doubts.append(
            f"the labels {', '.join(sorted(distinct))} are a split, not classes; give label= another column"
        )
    if n >= LEAST_DISTINCT and len(distinct) > 0.9 * n:
        doubts.append(
            f"{n:,} labels have {len(distinct):,} values; give label= another column if they are ids or "
            "measurements"
        )
    else:
        doubts += _spelling_doubts(words)
    return doubts


def _spelling_doubts(words: Counter[str]) -> Iterator[str]:
    """Yield sentences about labels that differ only in case or spaces, or that stand for no label."""
    spellings: dict[str, list[str]] = {}
    for label in sorted(words):
        spellings.setdefault(" ".join(label.casefold().split()), []).append(label)
    alike = [group for group in spellings.values() if len(group) > 1]
    if alike:
        named = ", ".join(map(repr, alike[0][:3]))
        more = " (and others)" if len(alike) > 1 else ""
        yield (
            f"the labels {named}{more} differ only in case or spaces; spell them alike if they are one class"
        )
    for plain in sorted(spellings.keys() & NO_VALUES):
        n = sum(words[label] for label in spellings[plain])
        yield (
            f"{n:,} documents have the label {spellings[plain][0]!r}; leave the cell empty if they have none"
        )


def indicator_labels(marks: dict[str, list[Any]]) -> list[tuple[str, ...]]:
    """Return the labels of each document from indicator columns: the names of those that are 1 or true.

    >>> indicator_labels({"toxic": ["1", "0"], "threat": [True, None]})
    [('toxic', 'threat'), ()]
    """
    groups: list[list[str]] = [[] for _ in next(iter(marks.values()), [])]
    for name, cells in marks.items():
        for group, cell in zip(groups, cells, strict=True):
            mark = _MARKS.get(str(cell).strip().lower()) if not is_missing(cell) else False
            if mark is None:
                raise InputError(
                    f"column {name!r} holds {cell!r:.40}; each of several label columns must hold 0 and 1"
                )
            if mark:
                group.append(name)
    return [tuple(group) for group in groups]


def present_labels(labels: list[Any], missing: str) -> tuple[list[Any], list[int]]:
    """Return the present labels and their positions, or raise an error that counts the missing ones."""
    if set(map(type, labels)) <= {str}:
        return labels, list(range(len(labels)))
    kept = [i for i, value in enumerate(labels) if not is_missing(value)]
    if len(kept) == len(labels):
        return labels, kept
    if missing == "error":
        first = next(i for i, value in enumerate(labels) if is_missing(value))
        raise InputError(
            f"{len(labels) - len(kept):,} of {len(labels):,} documents have no label, the first is document "
            f"{first + 1:,}; label them or leave them out with missing='drop'"
        )
    return [labels[i] for i in kept], kept


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, or what pandas writes for them."""
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    return isinstance(value, float | np.floating) and value != value


def as_list(values: Any, what: str) -> list[Any]:
    """Return a column, an array or any other iterable as a list; `what` names it in an error."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{what} must be a list, an array or a column, not {type(values).__name__}")
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            found = getattr(values, method)()
            return found if isinstance(found, list) else [found]
    return list(values)


def _entries(y: Any) -> NDArray[Any] | list[Any]:
    """Return an array that is a matrix or holds numbers exactly; otherwise a list of the entries."""
    array = y.to_numpy() if hasattr(y, "to_numpy") else y
    if not isinstance(array, np.ndarray):
        array = y if isinstance(y, Sequence) or not hasattr(y, "__array__") else np.asarray(y)
    if not isinstance(array, np.ndarray):
        # numpy would turn numbers into text, and large whole numbers into floats.
        return list(array)
    if array.ndim not in (1, 2):
        raise InputError(f"y must have one or two dimensions, not {array.ndim}")
    if array.dtype.kind in "mM":
        raise InputError(f"{_ALLOWED}, not {array.dtype}")
    if array.ndim == 2 or array.dtype.kind in "biufcU":
        return array
    return list(array.tolist())


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


def _from_sparse(y: Any) -> Labels:
    by_document = canonical_csr(y, "y")
    if by_document.nnz and not (by_document.data == 1).all():
        raise InputError(NOT_AN_INDICATOR)
    columns = by_document.tocsc()
    columns.sort_indices()
    return _indicated(columns.indptr, columns.indices, columns.shape, None)


def _indicated(
    class_ptr: NDArray[Any], docs: NDArray[Any], shape: tuple[int, ...], names: Iterable[Any] | None
) -> Labels:
    classes = np.arange(shape[1]) if names is None else class_array(checked_labels(list(names)))
    if names is not None and len(set(classes.tolist())) < len(classes):
        raise InputError("two columns of y have the same name; each class needs a name of its own")
    return Labels(classes, class_ptr.astype(np.int64), docs.astype(np.int64), shape[0], True)


def _indicated_labels(labels: Labels) -> NDArray[Any]:
    """Return for each document the tuple of its classes."""
    groups: list[list[Any]] = [[] for _ in range(labels.n_docs)]
    for label, first, last in zip(
        labels.classes.tolist(), labels.class_ptr[:-1].tolist(), labels.class_ptr[1:].tolist(), strict=True
    ):
        for doc in labels.docs[first:last].tolist():
            groups[doc].append(label)
    return np.fromiter(map(tuple, groups), dtype=object, count=labels.n_docs)


def _from_collections(entries: list[Any]) -> Labels:
    odd = next((entry for entry in entries if not isinstance(entry, COLLECTIONS)), None)
    if odd is not None:
        raise InputError(f"y mixes collections of labels with single ones, such as {odd!r}")
    groups = [listed(entry) for entry in entries]
    flat = list(chain.from_iterable(groups))
    classes, codes = _numbered(flat, set(map(type, flat)))
    docs = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    # A repeated label of a document counts once.
    pairs = np.unique(docs * max(len(classes), 1) + codes)
    return _grouped(
        classes, pairs % max(len(classes), 1), pairs // max(len(classes), 1), len(entries), multilabel=True
    )


def _grouped(
    classes: NDArray[Any], codes: NDArray[Any], docs: NDArray[Any], n_docs: int, multilabel: bool
) -> Labels:
    # numpy sorts 16 bits by counting, wider ones by comparing.
    order = np.argsort(codes.astype(np.uint16) if len(classes) < 2**16 else codes, kind="stable")
    class_ptr = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(classes)))])
    return Labels(classes, class_ptr.astype(np.int64), docs[order].astype(np.int64), n_docs, multilabel)


def _numbered(entries: list[Any], types: set[type]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted distinct labels, whose types are given, and the position of each label among them."""
    if types != {str}:
        _refuse_missing(np.fromiter(map(is_missing, entries), dtype=bool, count=len(entries)))
        if types and types <= {float, np.float64, np.float32, np.float16}:
            return _numbered_array(np.array(entries, dtype=np.float64))
        entries = checked_labels(entries)
    seen = sorted(set(entries))
    place = {label: i for i, label in enumerate(seen)}
    codes = np.fromiter(map(place.__getitem__, entries), dtype=np.int64, count=len(entries))
    return class_array(seen), codes


def _numbered_array(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted distinct labels of an array and the position of each label among them."""
    if labels.dtype.kind == "c":
        raise InputError(f"complex data not supported: {_ALLOWED}")
    if labels.dtype.kind == "f":
        _refuse_missing(np.isnan(labels))
        whole = np.isfinite(labels) & (labels == np.floor(labels))
        if not whole.all():
            _refuse_fractions(labels[~whole][:1].tolist())
    if labels.dtype.kind in "iu" and len(labels) and (narrow := _small_numbers(labels)) is not None:
        return narrow
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes


def _small_numbers(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the distinct numbers and each label's position, without sorting; None for a wide range."""
    least, greatest = int(labels.min()), int(labels.max())
    if greatest - least > len(labels):
        return None
    # Subtracting the least keeps unsigned numbers in their type; signed ones need a wider type.
    wide = labels if labels.dtype.kind == "u" else labels.astype(np.int64)
    shifted = (wide - wide.dtype.type(least)).astype(np.intp)
    found = np.bincount(shifted) > 0
    classes = (np.flatnonzero(found).astype(wide.dtype) + wide.dtype.type(least)).astype(labels.dtype)
    return classes, (np.cumsum(found) - 1)[shifted]


def _plain_array(labels: Sequence[Any]) -> NDArray[Any]:
    """Return checked labels as an array of objects (strings), of booleans or of whole numbers."""
    if not len(labels) or isinstance(labels[0], str):
        return np.fromiter(labels, dtype=object, count=len(labels))
    if isinstance(labels[0], bool):
        return np.array(labels, dtype=bool)
    return np.array(labels, dtype=np.int64 if max(labels) < 2**63 else np.uint64)


def _one_word(numbers: list[int]) -> bool:
    """Return whether one type of 64 bits, signed or unsigned, holds all the numbers."""
    return min(numbers) >= 0 or max(numbers) < 2**63


def _refuse_missing(missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise InputError(
            f"{missing.sum():,} of {len(missing):,} labels are missing (None or NaN); drop or fill them"
        )


def _refuse_fractions(values: Iterable[Any]) -> None:
    for value in values:
        if value in (np.inf, -np.inf) or value != int(value):
            raise InputError(f"{_ALLOWED}, not measurements: {value!r} is a fraction or infinite")


def _kind(kind: type) -> str:
    """Return the name of a type of labels: str, bool, int, float or missing."""
    if kind.__name__ in _MISSING_TYPES:
        return "missing"
    for family, name in (
        (str, "str"),
        (bool | np.bool_, "bool"),
        (Integral, "int"),
        (Real, "float"),
    ):
        if issubclass(kind, family):
            return name
    if issubclass(kind, complex | np.complexfloating):
        raise InputError(f"complex data not supported: {_ALLOWED}")
    raise InputError(f"{_ALLOWED}, not {kind.__name__}")
