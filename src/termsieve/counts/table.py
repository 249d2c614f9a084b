"""Counts: a term matrix and labels in, additive document counts for every class and term out."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.counts import matrix as layout
from termsieve.counts.alignment import TABLES, combined
from termsieve.counts.cells import are_same, dense_rows, outside, row_sums, wide
from termsieve.counts.distinct import Tables, distinct_columns, distinct_tables, order_of_ties
from termsieve.counts.documents import tables_of
from termsieve.counts.late import LateTables
from termsieve.display import SHOWN_ROWS, html_table
from termsieve.errors import InputError, ParameterError
from termsieve.labels import class_position

if TYPE_CHECKING:
    import polars

FIELDS = (*TABLES, "n_docs", "classes", "multilabel", "weighted")
Ints = NDArray[np.int64]  # of real weights, float64


class Counts(LateTables):
    """For each class and term, the number of documents inside and outside the class that contain the term.

    Make them with :func:`termsieve.count` or `Counts.from_matrix`. Counts of disjoint documents can be added,
    and the counts of a part can be subtracted from those of the whole.

    Parameters
    ----------
    tp : array of shape (n_classes, n_terms)
        Number of documents of the class that contain the term. Above 2**25 cells it is a sparse csr_array.
    pos : array of shape (n_classes,)
        Number of documents of the class.
    df : array of shape (n_terms,)
        Number of documents that contain the term.
    n_docs : int
        Number of documents.
    classes : array of shape (n_classes,)
        The classes, sorted.
    terms : sequence of str, optional
        The terms.
    multilabel : bool, default=False
        Whether documents may have several labels.
    tf : array of shape (n_classes, n_terms), optional
        Number of occurrences of the term in the class.
    tf_total, squares : array of shape (n_terms,), optional
        The sum, and the sum of squares, of the term's occurrences per document.
    weighted : bool, default=False
        Whether documents have real weights; all tables are then float64. Otherwise they are exact integers.

    Attributes
    ----------
    fp, neg : ndarray
        As `tp` and `pos`, for the documents outside the class. If `fp` is too large, use `blocks()`.

    Examples
    --------
    >>> spam = Counts.from_matrix([[1, 1, 0], [0, 1, 0]], ["spam", "spam"], terms=["buy", "now", "hi"])
    >>> ham = Counts.from_matrix([[0, 1, 1]], ["ham"], terms=["buy", "now", "hi"])
    >>> both = spam + ham
    >>> both
    <Counts of 3 documents: 2 classes, 3 terms>
    >>> both.tp.tolist(), both.fp.tolist(), (both - ham) + ham == both
    ([[0, 1, 1], [1, 2, 0]], [[1, 2, 0], [0, 1, 1]], True)

    The counts of one class, by its name:

    >>> both["spam"].tp.tolist()
    [[1, 2, 0]]
    """

    __iter__ = None  # a loop must say whether it is over classes or terms

    def __init__(
        self,
        tp: Any,
        pos: Any,
        df: Any,
        n_docs: int,
        classes: Any,
        terms: Sequence[str] | NDArray[Any] | None = None,
        *,
        multilabel: bool = False,
        tf: Any = None,
        tf_total: Any = None,
        squares: Any = None,
        weighted: bool = False,
    ) -> None:
        dtype: Any = np.float64 if weighted else np.int64
        self.weighted = weighted
        self.classes = np.asarray(classes)
        self.pos: Ints = np.asarray(pos, dtype=dtype)
        self.df: Ints = np.ascontiguousarray(df, dtype=dtype)
        self.n_docs: int = float(n_docs) if weighted else int(n_docs)  # type: ignore[assignment]
        self.multilabel = multilabel
        self._hold(tp, tf, terms, (len(self.classes), len(self.df)), dtype)
        self.tf_total: Ints | None = None if tf_total is None else np.asarray(tf_total, dtype=dtype)
        self.squares: Ints | None = None if squares is None else np.asarray(squares, dtype=dtype)

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        y: Any,
        terms: Sequence[str] | NDArray[Any] | None = None,
        occurrences: bool = False,
        sample_weight: Any = None,
    ) -> Counts:
        """Return the counts of a term matrix.

        Parameters
        ----------
        X : sparse matrix, array or dataframe of shape (n_docs, n_terms)
            The term matrix; a term is present where its value is above 0.
        y : array-like
            The labels of the documents.
        terms : sequence of str, optional
            The names of the columns; by default those of a dataframe.
        occurrences : bool, default=False
            Whether to sum the values of X, too; they must be whole numbers.
        sample_weight : array-like of shape (n_docs,), optional
            How much each document counts, 0 or more. With whole numbers the counts are those of repeated
            documents. With others the counts are float64 and say so; the weights are then rounded to nine
            digits of their mean, so that sums and differences of counts have no rounding errors.

        Returns
        -------
        Counts
            The counts.
        """
        return cls(**tables_of(X, y, terms, occurrences, sample_weight))

    def replace(self, **changes: Any) -> Counts:
        """Return the counts with some of the constructor's arguments changed.

        Parameters
        ----------
        **changes
            Arguments of the constructor.

        Returns
        -------
        Counts
            The changed counts.

        Examples
        --------
        >>> counts = Counts.from_matrix([[1, 0], [1, 1]], ["a", "b"], terms=["one", "two"])
        >>> counts.replace(classes=["x", "y"]).classes.tolist()
        ['x', 'y']
        """
        counts = Counts(**{name: self.as_counted(name) for name in FIELDS} | changes)
        if "terms" not in changes and self.terms is not None:
            if counts.n_terms != self.n_terms:
                raise InputError(f"{self.n_terms:,} term names for {counts.n_terms:,} columns")
            counts.terms = self.terms  # known to be distinct, so they need not be compared again
        return counts

    def position(self, label: Any) -> int:
        """Return the position of a class among `classes`, by its label or by the label's text.

        Parameters
        ----------
        label : label
            The class.

        Returns
        -------
        int
            The position.

        Examples
        --------
        >>> Counts.from_matrix([[1], [0]], ["ham", "spam"]).position("spam")
        1
        """
        return class_position(label, self.classes.tolist())

    @property
    def is_sparse(self) -> bool:
        """Whether the table of classes x terms is too large to be dense."""
        return sparse.issparse(self.as_counted("tp"))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.df)

    @property
    def neg(self) -> Ints:
        """Documents outside each class."""
        return self.n_docs - self.pos

    @property
    def fp(self) -> Ints:
        """Documents outside each class that contain each term."""
        if self.is_sparse:
            shape = f"{self.n_classes:,} classes x {self.n_terms:,} terms"
            raise InputError(f"fp of {shape} is too large for one table; take it from blocks()")
        return outside(self.df, self.tp)

    @cached_property
    def tf_pos(self) -> Ints | None:
        """Occurrences of all terms in each class, if they were counted."""
        return row_sums(self.as_counted("tf"))

    @property
    def problems(self) -> NDArray[np.intp]:
        """Positions of the classes that are problems.

        The two classes of a single-label target are one problem, that of the second class, which is what
        scikit-learn calls the positive one; otherwise every class is a problem.
        """
        return np.arange(1 if self.n_classes == 2 and not self.multilabel else 0, self.n_classes)

    @cached_property
    def by_df(self) -> NDArray[np.intp]:
        """Columns by decreasing document frequency, then by index: the order of ties."""
        return order_of_ties(self)

    @cached_property
    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The first of each group of columns that are equal in all classes, and each column's group."""
        return distinct_columns(self)

    @cached_property
    def distinct_occurrences(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The first of each group of columns equal in documents and occurrences, and each column's group."""
        return distinct_columns(self, occurrences=True)

    def direction(self, classes: slice = slice(None), columns: Any = slice(None)) -> NDArray[np.int8]:
        """Return classes x terms: +1 where a term speaks for the class, -1 where against, 0 where neither.

        Parameters
        ----------
        classes : slice, optional
            The classes; all by default.
        columns : slice or array of int, optional
            The columns; all by default.

        Returns
        -------
        ndarray of int8
            +1, -1 or 0.
        """
        tp = wide(dense_rows(self.as_counted("tp"), classes)[:, columns])
        return np.sign(tp * self.n_docs - self.df[columns] * self.pos[classes, None]).astype(np.int8)

    @cached_property
    def tables(self) -> Tables:
        """The distinct 2x2 tables of all classes and of the columns of `distinct`."""
        return distinct_tables(self, self.distinct[0], [self.df])

    @cached_property
    def occurrence_tables(self) -> Tables:
        """The tables that differ in documents or occurrences, of the columns of `distinct_occurrences`."""
        totals = [self.df, self.tf_total, self.squares]
        return distinct_tables(self, self.distinct_occurrences[0], totals, self.as_counted("tf"))

    def names(self) -> NDArray[Any]:
        """Return the terms, or x0, x1, ... where they have no names."""
        if self.terms is not None:
            return self.terms
        return np.array([f"x{i}" for i in range(self.n_terms)], dtype=object)

    def columns(self, terms: Iterable[str | int], name: str = "terms") -> NDArray[np.int64]:
        """Return the columns of some terms, given by name or by column; those that are not there are ignored.

        Parameters
        ----------
        terms : iterable of str or int
            Terms, or their columns.
        name : str
            The name of the argument, for errors.

        Returns
        -------
        ndarray of int
            The columns, ascending.

        Examples
        --------
        >>> Counts.from_matrix([[1, 0], [0, 1]], ["a", "b"], terms=["one", "two"]).columns(["two", "ten"])
        array([1])
        """
        if isinstance(terms, str):
            raise ParameterError(f"{name} must be a list of terms, not the text {terms!r}")
        wanted = list(terms)
        named = {one for one in wanted if isinstance(one, str)}
        if named and self.terms is None:
            raise ParameterError(
                f"{name} has the term {min(named)!r}, but the columns have no names; give their numbers"
            )
        at = [operator.index(one) for one in wanted if not isinstance(one, str)]
        if named and self.terms is not None:
            at += [i for i, term in enumerate(self.terms) if term in named]
        return np.array(sorted({i for i in at if 0 <= i < self.n_terms}), dtype=np.int64)

    def take(self, classes: Iterable[Any]) -> Counts:
        """Return the counts of some classes, against all other documents.

        A string is the name of a class; a whole number is a position, also where the labels are numbers.

        Parameters
        ----------
        classes : iterable
            Names or positions.

        Returns
        -------
        Counts
            The counts of these classes.
        """
        given = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
        at = np.array([self._place(one) for one in given], dtype=np.intp)
        return self.replace(
            tp=self.as_counted("tp")[at],
            pos=self.pos[at],
            classes=self.classes[at],
            tf=self.as_counted("tf")[at] if self.occurrences else None,
        )

    def __getitem__(self, name: str | int) -> Counts:
        """Return the counts of one class, by name or position, against all other documents."""
        return self.take([name])

    def _place(self, name: Any) -> int:
        if isinstance(name, str):
            return self.position(name)
        place = operator.index(name)
        if not -self.n_classes <= place < self.n_classes:
            raise InputError(f"there is no class at position {place}; there are {self.n_classes:,} classes")
        return place

    def blocks(
        self, cells: int | None = None, columns: Any = slice(None)
    ) -> Iterator[tuple[slice, Ints, Ints]]:
        """Yield (classes, tp, fp) of some columns for blocks of classes, dense, each of about `cells` cells.

        By default dense counts are one block.

        Parameters
        ----------
        cells : int, optional
            Largest number of cells of a block.
        columns : slice or array of int, optional
            The columns; all by default.

        Yields
        ------
        tuple
            A slice of classes, and the arrays tp and fp of these classes.
        """
        df = self.df[columns]
        if cells is None:
            cells = layout.DENSE_CELLS if self.is_sparse else self.n_classes * len(df)
        step = max(1, cells // max(1, len(df)))
        table = self.as_counted("tp")
        if sparse.issparse(table):
            table, columns = table[:, columns], slice(None)
        for start in range(0, self.n_classes, step):
            rows = slice(start, min(start + step, self.n_classes))
            tp = wide(dense_rows(table, rows)[:, columns])
            yield rows, tp, outside(df, tp)

    def __repr__(self) -> str:
        extra = ", with occurrences" if self.occurrences else ""
        extra += ", multi-label" if self.multilabel else ""
        size = f"{self.n_classes:,} class{'' if self.n_classes == 1 else 'es'}, {self.n_terms:,} terms"
        total = f"documents with real weights, {self.n_docs:,.6g} in all" if self.weighted else ""
        return f"<Counts of {total or f'{self.n_docs:,} documents'}: {size}{extra}>"

    def __getstate__(self) -> dict[str, Any]:
        # Without cached values: they are larger than the counts and quickly computed again.
        return {name: getattr(self, name) for name in (*FIELDS, "terms")}

    def _repr_html_(self) -> str:
        largest = np.argsort(-self.pos, kind="stable")[:SHOWN_ROWS].tolist()
        rows = [
            {
                "class": str(self.classes[at]),
                "documents": int(self.pos[at]),
                "share": int(self.pos[at]) / max(1, self.n_docs),
                "skew": int(self.neg[at]) / int(self.pos[at]) if self.pos[at] else None,
            }
            for at in largest
        ]
        return html_table(rows, repr(self)[1:-1], shares=("share",), total=self.n_classes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self.n_docs == other.n_docs
            and self.multilabel == other.multilabel
            and self.occurrences == other.occurrences
            and self.weighted == other.weighted
            and are_same(self.classes, other.classes)
            and are_same(self.terms, other.terms)
            and all(are_same(getattr(self, name), getattr(other, name)) for name in TABLES)
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Counts) -> Counts:
        return self._combined(other, 1)

    def __sub__(self, other: Counts) -> Counts:
        return self._combined(other, -1)

    def _combined(self, other: Counts, sign: int) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        return self.replace(**combined(self, other, sign))

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with one row per class and term: class, term, tp, fp, df, pos, neg."""
        import polars as pl

        tp, fp = self.tp, self.fp
        return pl.DataFrame(
            {
                "class": np.repeat(self.classes, self.n_terms),
                "term": pl.Series(self.names().tolist() * self.n_classes, dtype=pl.String),
                "tp": tp.ravel(),
                "fp": fp.ravel(),
                "df": np.tile(self.df, self.n_classes),
                "pos": np.repeat(self.pos, self.n_terms),
                "neg": np.repeat(self.neg, self.n_terms),
            }
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to one Parquet file with one row per term.

        If writing fails, no file is left behind. `load` detects damaged files.

        Parameters
        ----------
        path : path
            The file to write.
        """
        from termsieve.counts.storage import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Counts:
        """Read the counts that `save` wrote; a damaged or foreign file is a FormatError.

        Parameters
        ----------
        path : path
            The file to read.

        Returns
        -------
        Counts
            The counts.
        """
        from termsieve.counts.storage import load

        return load(path)
