"""Labelled documents come in, as texts or as a term matrix; one immutable Corpus goes out."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from termsieve import sparse
from termsieve.columns import Wanted
from termsieve.display import html_table
from termsieve.errors import InputError, ParameterError
from termsieve.frames import frame_columns
from termsieve.labels import (
    as_list,
    check_missing,
    document_labels,
    is_missing,
    label_doubts,
    present_labels,
    split_labels,
)
from termsieve.matrices import canonical_csr

if TYPE_CHECKING:
    import polars

_log = logging.getLogger("termsieve")


class Corpus:
    """Labelled documents, as texts or as a term matrix.

    A corpus never changes. Its matrix is shared, not copied, so do not write to it.

    Parameters
    ----------
    texts : iterable of str, optional
        The texts of the documents. Give either texts or a matrix.
    labels : iterable
        One label per document, or one tuple of labels per document.
    matrix : sparse or dense matrix, optional
        The counts of terms, documents x terms.
    terms : iterable of str, optional
        The names of the columns of the matrix.
    split : iterable of str, optional
        The part of each document: "train", "test" or another word.
    name : str, optional
        The name of the corpus.
    source : str, optional
        A description of how the corpus was read.

    Attributes
    ----------
    texts, labels, matrix, terms, name, source
        As given.
    parts : ndarray or None
        The split as given: the part of each document.
    multilabel : bool
        Whether documents have tuples of labels.

    Examples
    --------
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
        clean, multilabel = document_labels(labels)
        held = None if texts is None else _clean_texts(texts)
        table = None if matrix is None else sparse.csr_matrix(canonical_csr(matrix, "the term matrix"))
        n_docs = table.shape[0] if held is None else len(held)  # type: ignore[union-attr]
        if len(clean) != n_docs:
            raise InputError(
                f"there are {n_docs:,} documents but {len(clean):,} labels; give one label per document"
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
        raise AttributeError(f"a Corpus is immutable: {name!r} cannot be set; create a new Corpus instead")

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
        several = " (several per document)" if self.multilabel else ""
        parts.append(f"{len(self.classes):,} class{'' if len(self.classes) == 1 else 'es'}{several}")
        if self.parts is not None:
            sizes = sorted(
                Counter(self.parts.tolist()).items(), key=lambda item: (item[0] != "train", item[0])
            )
            parts.append(" + ".join(f"{size:,} {part or 'in no part'}" for part, size in sizes))
        if self.source:
            parts.append(f"read as {self.source}")
        name = f" {self.name!r}" if self.name else ""
        return f"<Corpus{name}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        largest = sorted(self.class_sizes.items(), key=lambda item: -item[1])
        rows = [{"class": name, "documents": n, "share": n / len(self)} for name, n in largest]
        return html_table(rows, repr(self)[1:-1], shares=("share",))

    @cached_property
    def classes(self) -> np.ndarray:
        """The distinct labels, sorted."""
        classes, _ = document_labels(list(self.class_sizes))
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
        """The skew of each class: the number of documents outside it divided by the number in it."""
        return {label: (len(self) - size) / size for label, size in self.class_sizes.items()}

    def subset(self, rows: Any) -> Corpus:
        """Return the corpus of the given rows, in the given order: positions, a mask, or a slice.

        Parameters
        ----------
        rows : array-like or slice
            Positions, a mask, or a slice.

        Returns
        -------
        Corpus
            The chosen documents.

        Examples
        --------
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

    def with_texts(self, texts: Iterable[str]) -> Corpus:
        """Return this corpus with other texts for its documents.

        Parameters
        ----------
        texts : iterable of str
            One text per document.

        Returns
        -------
        Corpus
            The same labels, split, name and source.

        Examples
        --------
        >>> Corpus(["cheap!", "see you"], ["spam", "ham"]).with_texts(["cheap", "see you"]).texts
        ('cheap', 'see you')
        """
        given = _clean_texts(texts)
        if self.texts is None or len(given) != len(self):
            raise InputError(
                f"there are {len(given):,} texts; give one for each of the {len(self):,} documents of "
                "a corpus that holds texts"
            )
        other = Corpus.__new__(Corpus)
        other._set(**{key: self.__dict__[key] for key in Corpus.__annotations__} | {"texts": given})
        return other

    def renamed(self, name: str) -> Corpus:
        """Return this corpus under another name.

        Parameters
        ----------
        name : str
            The new name.

        Returns
        -------
        Corpus
            The same documents.
        """
        other = Corpus.__new__(Corpus)
        other._set(**{key: self.__dict__[key] for key in Corpus.__annotations__} | {"name": str(name)})
        return other

    def split(
        self,
        test_size: float | None = None,
        random_state: int | np.random.Generator | None = None,
        stratify: bool | None = None,
    ) -> tuple[Corpus, Corpus]:
        """Return the training and the test part: the corpus's own split, or a random one.

        Parameters
        ----------
        test_size : float or int, optional
            The size of the test part of a random split: a share between 0 and 1, or a number of documents.
            Without it, the corpus's own split is returned.
        random_state : int or Generator, optional
            The seed of a random split; equal seeds give equal splits.
        stratify : bool, optional
            Whether a random split keeps the shares of the classes. By default it does, unless documents have
            several labels.

        Returns
        -------
        tuple of Corpus
            The training part and the test part.
        """
        if test_size is None:
            if random_state is not None or stratify is not None:
                raise ParameterError("random_state and stratify are for a random split; give test_size, too")
            return self._own_split()
        if stratify and self.multilabel:
            raise ParameterError("stratify=True needs one label per document; leave it out for several")
        n_test = _test_count(test_size, len(self))
        generator = np.random.default_rng(random_state)
        strata = self.labels if (stratify is None or stratify) and not self.multilabel else None
        test = _test_rows(strata, len(self), n_test, generator)
        mask = np.zeros(len(self), dtype=bool)
        mask[test] = True
        return self.subset(~mask), self.subset(mask)

    def _own_split(self) -> tuple[Corpus, Corpus]:
        if self.parts is None:
            raise InputError("this corpus has no split of its own; give test_size, for example 0.25")
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
        text: Wanted = None,
        label: Wanted = None,
        split: str | None = None,
        separator: str | None = None,
        missing: str = "error",
        name: str = "",
        source: str = "",
    ) -> Self:
        """Return the corpus of a dataframe with a text and a label column.

        Parameters
        ----------
        frame : dataframe of pandas or polars, Arrow table, Hugging Face dataset, or any that narwhals knows
            One row per document. A missing text is a document without terms. The numbers of a dataset's
            classes become their names, and the parts of a DatasetDict a split.
        text, label : str, optional
            The columns; without them those with a usual name, such as "text" and "label", are taken. Several
            label columns, as a list, hold 0 and 1, and their names are the classes.
        split : str, optional
            The column that says "train" or "test".
        separator : str, optional
            Separator between labels when a cell holds several, for example ";". A column of lists needs none.
        missing : {"error", "drop"}, default="error"
            What happens to documents without a label.
        name, source : str, optional
            The name of the corpus, and where it came from.

        Returns
        -------
        Corpus
            The documents.

        Examples
        --------
        >>> import polars
        >>> Corpus.from_frame(polars.DataFrame({"id": [1, 2], "body": ["hi", "bye"], "tag": ["x", "y"]}))
        <Corpus: 2 texts, 2 classes>
        """
        check_missing(missing)
        columns = frame_columns(frame, text, label, split)
        texts = ["" if is_missing(value) else value for value in columns["text"]]
        parts = None
        if "split" in columns:
            parts = ["" if is_missing(value) else str(value) for value in columns["split"]]
        if separator is None:
            for doubt in label_doubts(columns["label"]):
                _log.warning("the frame: %s", doubt)
        labels, kept = present_labels(split_labels(columns["label"], separator), missing)
        if len(kept) < len(texts):
            texts = [texts[i] for i in kept]
            parts = None if parts is None else [parts[i] for i in kept]
        return cls(texts, labels, split=parts, name=name, source=source)

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with one row per document: text, label, and split if there is one.

        Several labels of a document are a list. `from_frame` reads this frame.

        >>> Corpus(["hi", "bye"], ["x", "y"]).to_frame().rows()
        [('hi', 'x'), ('bye', 'y')]
        """
        import polars as pl

        if self.texts is None:
            raise InputError(
                "this corpus holds a term matrix and no texts; take corpus.matrix and corpus.labels"
            )
        labels = [list(group) for group in self.labels] if self.multilabel else self.labels.tolist()
        columns = {"text": self.texts, "label": labels}
        if self.parts is not None:
            columns["split"] = self.parts.tolist()
        try:
            return pl.DataFrame(columns, strict=True)
        except UnicodeEncodeError:
            raise InputError(
                "a text or label has a lone surrogate, which no dataframe can hold; replace it first"
            ) from None


def _clean_texts(texts: Iterable[str]) -> tuple[str, ...]:
    held = tuple(as_list(texts, "texts"))
    if not set(map(type, held)) <= {str}:
        for i, text in enumerate(held):
            if not isinstance(text, str):
                raise InputError(
                    f"document {i + 1:,} is {type(text).__name__}, not a string; an empty document is ''"
                )
        held = tuple(str(text) for text in held)
    return held


def _clean_terms(terms: Iterable[str], matrix: sparse.csr_matrix | None) -> np.ndarray:
    if matrix is None:
        raise InputError("terms name the columns of a term matrix; a corpus of texts has none")
    names = as_list(terms, "terms")
    if len(names) != matrix.shape[1]:
        raise InputError(f"there are {matrix.shape[1]:,} columns in the term matrix but {len(names):,} terms")
    if not all(isinstance(name, str) for name in names):
        raise InputError("every term must be a string")
    return np.fromiter((str(name) for name in names), dtype=object, count=len(names))


def _clean_parts(split: Iterable[str], n_docs: int) -> np.ndarray:
    parts = ["" if part is None else part for part in as_list(split, "split")]
    if len(parts) != n_docs or not all(isinstance(part, str) for part in parts):
        raise InputError(
            f"split must say 'train', 'test' or another word for each of the {n_docs:,} documents"
        )
    return np.fromiter((str(part) for part in parts), dtype=object, count=n_docs)


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
    """Return the rows of a random test part; strata keep their shares, by largest remainder."""
    order = generator.permutation(n_docs)
    if strata is None:
        return order[:n_test]
    _, codes, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    quota = sizes * n_test / n_docs
    take = np.floor(quota).astype(np.int64)
    # Ties in the remainder go to the larger class, then to the earlier one, so the seed decides everything.
    by_remainder = np.lexsort((np.arange(len(sizes)), -sizes, -(quota - take)))
    take[by_remainder[: n_test - int(take.sum())]] += 1
    grouped = order[np.argsort(codes[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    rank = np.arange(n_docs) - np.repeat(starts, sizes)
    return grouped[rank < np.repeat(take, sizes)]
