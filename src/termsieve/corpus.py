"""Labelled documents come in, as texts or as a term matrix; one immutable Corpus goes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import chain
from typing import Any, Self

import numpy as np
from scipy import sparse

from termsieve.display import html_table
from termsieve.errors import InputError, ParameterError

_SEVERAL = (tuple, list, set, frozenset, np.ndarray)


class Corpus:
    """Labelled documents: texts or a ready term matrix, with one label a document or a tuple of several.

    `parts` is the split the source came with: "train", "test" or another word for each document, or None.
    `source` says in words how the corpus was read. A corpus is never changed after it was made; its matrix is
    shared, not copied, and is not to be written to.

    >>> corpus = Corpus(["cheap pills", "see you", "cheap watches"], ["spam", "ham", "spam"], name="mail")
    >>> corpus
    <Corpus 'mail': 3 texts, 2 classes>
    >>> corpus.class_sizes
    {'ham': 1, 'spam': 2}
    """

    texts: tuple[str, ...] | None
    matrix: sparse.csr_matrix | None
    terms: np.ndarray | None
    labels: np.ndarray
    multilabel: bool
    parts: np.ndarray | None
    name: str
    source: str

    def __init__(
        self,
        texts: Iterable[str] | None = None,
        labels: Iterable[Any] | None = None,
        *,
        matrix: Any = None,
        terms: Iterable[str] | None = None,
        split: Iterable[str] | None = None,
        name: str = "",
        source: str = "",
    ) -> None:
        if (texts is None) == (matrix is None):
            raise InputError("a corpus needs either texts or a term matrix, and not both")
        if labels is None:
            raise InputError("a corpus needs labels, one for each document or a tuple of several")
        clean, multilabel = _clean_labels(labels)
        held = None if texts is None else _clean_texts(texts)
        table = None if matrix is None else _clean_matrix(matrix)
        n_docs = table.shape[0] if held is None else len(held)  # type: ignore[union-attr]
        if len(clean) != n_docs:
            raise InputError(
                f"there are {n_docs:,} documents but {len(clean):,} labels; each document needs its own"
            )
        self._set(
            texts=held,
            matrix=table,
            terms=None if terms is None else _clean_terms(terms, table),
            labels=clean,
            multilabel=multilabel,
            parts=None if split is None else _clean_parts(split, n_docs),
            name=str(name),
            source=str(source),
        )

    def _set(self, **values: Any) -> None:
        for name in ("labels", "terms", "parts"):
            if values[name] is not None:
                values[name].flags.writeable = False
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Corpus is immutable: {name!r} cannot be set; make a new Corpus instead")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Corpus is immutable: {name!r} cannot be deleted")

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        if self.texts is not None:
            parts = [f"{len(self):,} texts"]
        else:
            assert self.matrix is not None
            parts = [f"{len(self):,} documents x {self.matrix.shape[1]:,} terms"]
        several = " (several a document)" if self.multilabel else ""
        parts.append(f"{len(self.classes):,} class{'' if len(self.classes) == 1 else 'es'}{several}")
        if self.parts is not None:
            sizes = sorted(
                Counter(self.parts.tolist()).items(), key=lambda item: (item[0] != "train", item[0])
            )
            parts.append(" + ".join(f"{size:,} {part or 'in no part'}" for part, size in sizes))
        if self.source:
            parts.append(f"read as {self.source}")
        return f"<Corpus {self.name!r}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        largest = sorted(self.class_sizes.items(), key=lambda item: -item[1])
        rows = [{"class": name, "documents": n, "share": n / len(self)} for name, n in largest]
        return html_table(rows, repr(self)[1:-1], shares=("share",))

    @cached_property
    def classes(self) -> np.ndarray:
        """The distinct labels, sorted."""
        classes = np.array(sorted(self.class_sizes), dtype=object if self.multilabel else self.labels.dtype)
        if classes.dtype == object and len(classes) and not isinstance(classes[0], str):
            classes = np.array(classes.tolist())
        classes.flags.writeable = False
        return classes

    @cached_property
    def class_sizes(self) -> dict[Any, int]:
        """The number of documents of each class, in the order of `classes`."""
        labels = self.labels.tolist()
        sizes = Counter(chain.from_iterable(labels) if self.multilabel else labels)
        return dict(sorted(sizes.items()))

    @cached_property
    def skew(self) -> dict[Any, float]:
        """For each class the documents outside it for one inside it: neg / pos."""
        return {label: (len(self) - size) / size for label, size in self.class_sizes.items()}

    def subset(self, rows: Any) -> Corpus:
        """Return the corpus of the given rows, in the given order: positions, a mask, or a slice.

        >>> Corpus(["a", "b", "c"], [1, 2, 1]).subset([2, 0]).texts
        ('c', 'a')
        """
        chosen = _row_numbers(rows, len(self))
        part = Corpus.__new__(Corpus)
        part._set(
            texts=None if self.texts is None else tuple(self.texts[i] for i in chosen.tolist()),
            matrix=None if self.matrix is None else self.matrix[chosen],
            terms=self.terms,
            labels=self.labels[chosen],
            multilabel=self.multilabel,
            parts=None if self.parts is None else self.parts[chosen],
            name=self.name,
            source=self.source,
        )
        return part

    def renamed(self, name: str) -> Corpus:
        """Return this corpus under another name."""
        other = Corpus.__new__(Corpus)
        other._set(**{key: self.__dict__[key] for key in Corpus.__annotations__} | {"name": str(name)})
        return other

    def split(
        self,
        test_size: float | None = None,
        random_state: int | np.random.Generator | None = None,
        stratify: bool | None = None,
    ) -> tuple[Corpus, Corpus]:
        """Return (train, test): the source's own split, or with `test_size` a random one.

        `test_size` is a share between 0 and 1 or a number of documents. A random split keeps the class shares
        (`stratify`) unless documents have several labels; equal seeds give equal splits.
        """
        if test_size is None:
            if random_state is not None or stratify is not None:
                raise ParameterError("random_state and stratify shape a random split: give test_size as well")
            return self._own_split()
        if stratify and self.multilabel:
            raise ParameterError("stratify=True needs one label a document; leave it out for several")
        n_test = _test_count(test_size, len(self))
        generator = np.random.default_rng(random_state)
        strata = self.labels if (stratify is None or stratify) and not self.multilabel else None
        test = _test_rows(strata, len(self), n_test, generator)
        mask = np.zeros(len(self), dtype=bool)
        mask[test] = True
        return self.subset(~mask), self.subset(mask)

    def _own_split(self) -> tuple[Corpus, Corpus]:
        if self.parts is None:
            raise InputError(
                "this corpus came without a split; say how to split it, for example test_size=0.25"
            )
        train, test = self.parts == "train", self.parts == "test"
        for part, mask in (("train", train), ("test", test)):
            if not mask.any():
                raise InputError(f"the split of this corpus has no {part!r} document; give test_size instead")
        return self.subset(train), self.subset(test)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        text: str,
        label: str,
        split: str | None = None,
        separator: str | None = None,
        missing: str = "error",
        name: str = "",
        source: str = "",
    ) -> Self:
        """Return the corpus of a pandas or polars frame with a `text` and a `label` column.

        Missing text is a document without terms. Missing labels are an error, or dropped with
        `missing="drop"`. With `separator` the label column holds several labels; a column of lists does
        so by itself.
        """
        check_missing(missing)
        texts = ["" if _is_missing(value) else value for value in _column(frame, text)]
        labels = _column(frame, label)
        parts = None if split is None else ["" if _is_missing(v) else str(v) for v in _column(frame, split)]
        labels, kept = present_labels(split_labels(labels, separator), missing)
        if len(kept) < len(texts):
            texts = [texts[i] for i in kept]
            parts = None if parts is None else [parts[i] for i in kept]
        return cls(texts, labels, split=parts, name=name, source=source)


def check_missing(missing: str) -> None:
    """Refuse a `missing` that is neither "error" nor "drop"."""
    if missing not in ("error", "drop"):
        raise ParameterError(f"missing={missing!r} is unknown; it is 'error' or 'drop'")


def split_labels(labels: list[Any], separator: str | None) -> list[Any]:
    """Return the labels, each text cut at `separator` into a tuple; without one, as they are."""
    if separator is None:
        return labels
    if not separator:
        raise ParameterError("separator='' cannot cut labels; give the text between two labels, such as ';'")
    return [
        tuple(word for part in value.split(separator) if (word := part.strip()))
        if isinstance(value, str)
        else value
        for value in labels
    ]


def present_labels(labels: list[Any], missing: str) -> tuple[list[Any], list[int]]:
    """Return the labels that are there and their positions, or raise an error that counts the others."""
    kept = [i for i, value in enumerate(labels) if not _is_missing(value)]
    if len(kept) == len(labels):
        return labels, kept
    if missing == "error":
        first = next(i for i, value in enumerate(labels) if _is_missing(value))
        raise InputError(
            f"{len(labels) - len(kept):,} of {len(labels):,} documents have no label, the first is document "
            f"{first + 1:,}; label them or leave them out with missing='drop'"
        )
    return [labels[i] for i in kept], kept


def _column(frame: Any, column: str) -> list[Any]:
    names = [str(name) for name in frame.columns] if hasattr(frame, "columns") else None
    if names is None:
        raise InputError(f"a pandas or polars frame is needed, not {type(frame).__name__}")
    if names.count(str(column)) != 1:
        state = "is there more than once" if str(column) in names else "is missing"
        raise InputError(f"column {column!r} {state}; the frame has: {', '.join(names)}")
    values: list[Any] = frame[column].to_list()
    return values


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and value != value


def _as_list(values: Any, what: str) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{what} must be a list, an array or a column, not {type(values).__name__}")
    for method in ("to_list", "tolist"):
        if hasattr(values, method):
            found = getattr(values, method)()
            return found if isinstance(found, list) else [found]
    return list(values)


def _clean_texts(texts: Iterable[str]) -> tuple[str, ...]:
    held = tuple(_as_list(texts, "texts"))
    if not set(map(type, held)) <= {str}:
        for i, text in enumerate(held):
            if not isinstance(text, str):
                raise InputError(
                    f"document {i + 1:,} is {type(text).__name__}, not a string; an empty document is ''"
                )
        held = tuple(str(text) for text in held)
    return held


def _clean_matrix(matrix: Any) -> sparse.csr_matrix:
    try:
        table = sparse.csr_matrix(matrix)
        finite = bool(np.isfinite(table.data).all())
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the term matrix must be two-dimensional and numeric, not {type(matrix).__name__}"
        ) from error
    if not finite:
        raise InputError("the term matrix holds NaN or infinity; every cell must be a finite number")
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    return table


def _clean_terms(terms: Iterable[str], matrix: sparse.csr_matrix | None) -> np.ndarray:
    if matrix is None:
        raise InputError("terms name the columns of a term matrix; a corpus of texts has none")
    names = _as_list(terms, "terms")
    if len(names) != matrix.shape[1]:
        raise InputError(f"there are {matrix.shape[1]:,} columns in the term matrix but {len(names):,} terms")
    if not all(isinstance(name, str) for name in names):
        raise InputError("every term must be a string")
    return np.fromiter((str(name) for name in names), dtype=object, count=len(names))


def _clean_parts(split: Iterable[str], n_docs: int) -> np.ndarray:
    parts = ["" if part is None else part for part in _as_list(split, "split")]
    if len(parts) != n_docs or not all(isinstance(part, str) for part in parts):
        raise InputError(
            f"split must say 'train', 'test' or another word for each of the {n_docs:,} documents"
        )
    return np.fromiter((str(part) for part in parts), dtype=object, count=n_docs)


def _clean_labels(labels: Iterable[Any]) -> tuple[np.ndarray, bool]:
    """Return the labels as an array of their own type, or of tuples, and whether they are tuples."""
    values = _as_list(labels, "labels")
    present_labels(values, "error")
    several = sum(isinstance(value, _SEVERAL) for value in values)
    if several not in (0, len(values)):
        raise InputError("some documents have one label and some a tuple; give a tuple for each of them")
    if not several:
        return _plain_labels(values), False
    groups = [
        sorted(value, key=str) if isinstance(value, set | frozenset) else list(value) for value in values
    ]
    flat = _plain_labels(list(chain.from_iterable(groups))).tolist()
    stream = iter(flat)
    tuples = (tuple(dict.fromkeys(next(stream) for _ in group)) for group in groups)
    return np.fromiter(tuples, dtype=object, count=len(groups)), True


def _plain_labels(values: list[Any]) -> np.ndarray:
    kinds = {_label_kind(kind) for kind in set(map(type, values))}
    if float in kinds and any(map(_is_missing, values)):
        raise InputError("a label among several of one document is missing; leave it out of the tuple")
    if float in kinds:
        if not all(float(value).is_integer() for value in values if isinstance(value, float | np.floating)):
            raise InputError("labels must be strings or whole numbers; a fraction is no class")
        kinds = kinds - {float} | {int}
    if len(kinds) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(
            f"labels of mixed types ({names}) cannot be told apart reliably; make them all strings"
        )
    kind = kinds.pop() if kinds else str
    if kind is str:
        return np.fromiter((str(value) for value in values), dtype=object, count=len(values))
    try:
        return np.array([kind(value) for value in values], dtype=np.int64 if kind is int else bool)
    except OverflowError as error:
        raise InputError("a label is too large a number; make the labels strings") from error


def _label_kind(kind: type) -> type:
    """Return the plain type of a label's type; what stands for a missing label counts as float."""
    if kind.__name__ in ("NoneType", "NAType", "NaTType"):
        return float
    for family, plain in (
        (str, str),
        (bool | np.bool_, bool),
        (int | np.integer, int),
        (float | np.floating, float),
    ):
        if issubclass(kind, family):
            return plain
    raise InputError(f"a label is {kind.__name__}; labels must be strings or whole numbers")


def _row_numbers(rows: Any, n_docs: int) -> np.ndarray:
    if isinstance(rows, slice):
        return np.arange(n_docs)[rows]
    chosen = np.asarray(rows)
    if chosen.size == 0 and chosen.dtype != bool:
        chosen = chosen.astype(np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
        raise InputError("rows must be positions, a mask of True and False, or a slice")
    if chosen.dtype == bool:
        if len(chosen) != n_docs:
            raise InputError(f"the mask has {len(chosen):,} entries for {n_docs:,} documents")
        return np.flatnonzero(chosen)
    if chosen.size and not (-n_docs <= int(chosen.min()) and int(chosen.max()) < n_docs):
        raise InputError(f"a row is outside the {n_docs:,} documents")
    return np.arange(n_docs)[chosen]


def _test_count(test_size: float, n_docs: int) -> int:
    if isinstance(test_size, bool) or not isinstance(test_size, int | float | np.integer | np.floating):
        raise ParameterError(
            f"test_size={test_size!r} must be a share between 0 and 1 or a number of documents"
        )
    share = isinstance(test_size, float | np.floating)
    if share and not 0 < test_size < 1:
        raise ParameterError(f"test_size={test_size!r} as a share must lie between 0 and 1")
    count = round(float(test_size) * n_docs) if share else int(test_size)
    if not 0 < count < n_docs:
        raise ParameterError(f"test_size={test_size!r} leaves no test or no training document of {n_docs:,}")
    return count


def _test_rows(
    strata: np.ndarray | None, n_docs: int, n_test: int, generator: np.random.Generator
) -> np.ndarray:
    """Return the rows of a random test part; with strata each class gives its share, by largest remainder."""
    order = generator.permutation(n_docs)
    if strata is None:
        return order[:n_test]
    _, codes, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    quota = sizes * n_test / n_docs
    take = np.floor(quota).astype(np.int64)
    # Ties in the remainder go to the larger class, then to the earlier one: a seed settles everything.
    by_remainder = np.lexsort((np.arange(len(sizes)), -sizes, -(quota - take)))
    take[by_remainder[: n_test - int(take.sum())]] += 1
    grouped = order[np.argsort(codes[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    rank = np.arange(n_docs) - np.repeat(starts, sizes)
    return grouped[rank < np.repeat(take, sizes)]
