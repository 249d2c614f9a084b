"""Counts: a term matrix and labels in, additive document counts for every class and term out."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.errors import FormatError, InputError
from termsieve.kernels import counting
from termsieve.labels import Labels, encode_labels

if TYPE_CHECKING:
    import polars

DENSE_CELLS = 2**25  # classes x terms up to which a table is kept dense (256 MiB of int64)
LISTED_TERMS = 2**17  # terms whose cells are made lists at a time when they are saved
NUMBERED_DF = 1024  # terms in fewer documents share their tables with others, and these are numbered
FORMAT = "termsieve-counts"
FORMAT_VERSION = 1
CLASS_TYPES = {"U": np.str_, "i": np.int64, "u": np.uint64, "f": np.float64, "b": np.bool_}
ONE_PASS = (np.int32, np.int64, np.float32, np.float64)  # values that the kernel looks through
Ints = NDArray[np.int64]


class Tables(NamedTuple):
    """Distinct 2x2 tables, and for classes x terms the position of each one's table."""

    tp: Ints
    fp: Ints
    pos: Ints
    neg: Ints
    at: NDArray[np.int32]


class Counts:
    """For each class and term, the documents inside and outside the class that contain the term.

    `tp`, `fp`: classes x terms; `pos`, `neg`: one a class; `df`: one a term; `classes`: sorted; `terms`:
    names, or None. Above 2**25 cells `tp` is a scipy csr_array and `fp` comes in `blocks()` of classes only.
    With `occurrences=True` there are also `tf` (classes x terms), `tf_total` and `squares` (one a term).

    Counts of disjoint documents add up, and whole - part is the rest:

    >>> spam = Counts.from_matrix([[1, 1, 0], [0, 1, 0]], ["spam", "spam"], terms=["buy", "now", "hi"])
    >>> ham = Counts.from_matrix([[0, 1, 1]], ["ham"], terms=["buy", "now", "hi"])
    >>> both = spam + ham
    >>> both
    <Counts of 3 documents: 2 classes, 3 terms>
    >>> both.tp.tolist(), both.fp.tolist(), (both - ham) + ham == both
    ([[0, 1, 1], [1, 2, 0]], [[1, 2, 0], [0, 1, 1]], True)
    """

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
    ) -> None:
        self.classes = np.asarray(classes)
        self.pos: Ints = np.asarray(pos, dtype=np.int64)
        self.df: Ints = np.ascontiguousarray(df, dtype=np.int64)
        self.n_docs = int(n_docs)
        self.terms = _term_names(terms, len(self.df))
        self.multilabel = multilabel
        shape = (len(self.classes), len(self.df))
        self.tp = _table(tp, shape)
        self.tf = None if tf is None else _table(tf, shape)
        self.tf_total: Ints | None = None if tf_total is None else np.asarray(tf_total, dtype=np.int64)
        self.squares: Ints | None = None if squares is None else np.asarray(squares, dtype=np.int64)

    @classmethod
    def from_matrix(
        cls, X: Any, y: Any, terms: Sequence[str] | NDArray[Any] | None = None, occurrences: bool = False
    ) -> Counts:
        """Count the documents x terms matrix `X` (sparse, dense or a frame) with the labels `y`.

        A term is present where its value is above 0; `occurrences=True` also sums the values themselves.
        """
        names, matrix = presence_matrix(X)
        if terms is None:
            terms = names
        labels = encode_labels(y)
        if labels.n_docs != matrix.shape[0]:
            raise InputError(f"X has {matrix.shape[0]:,} documents but y has {labels.n_docs:,} labels")
        if labels.n_docs == 0:
            raise InputError("X has no documents; give at least one")
        n_terms = matrix.shape[1]
        tp = _class_table(matrix, labels, None)
        if labels.multilabel:
            df = np.zeros(n_terms, dtype=np.int64)
            counting.column_counts(matrix.indices, df)
        else:
            df = np.asarray(tp.sum(axis=0), dtype=np.int64)
        made = cls(tp, labels.sizes, df, labels.n_docs, labels.classes, terms, multilabel=labels.multilabel)
        if occurrences:
            values = _whole_numbers(matrix.data)
            made.tf = _class_table(matrix, labels, values)
            made.tf_total, made.squares = np.zeros((2, n_terms), dtype=np.int64)
            counting.column_moments(matrix.indices, values, made.tf_total, made.squares)
        return made

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
        if sparse.issparse(self.tp):
            shape = f"{self.n_classes:,} classes x {self.n_terms:,} terms"
            raise InputError(f"fp of {shape} is too large for one table; take it from blocks()")
        return self.df - self.tp

    @property
    def occurrences(self) -> bool:
        """Whether term occurrences were counted beside documents."""
        return self.tf is not None

    @property
    def problems(self) -> NDArray[np.intp]:
        """Positions of the classes that make problems of their own.

        The two classes of a single-label target are one problem, that of the second class, which is what
        scikit-learn calls the positive one; otherwise every class is a problem.
        """
        return np.arange(1 if self.n_classes == 2 and not self.multilabel else 0, self.n_classes)

    @cached_property
    def by_df(self) -> NDArray[np.intp]:
        """Columns by falling document frequency, then rising index: the order in which ties are settled."""
        return np.argsort(-self.df, kind="stable")

    @cached_property
    def distinct(self) -> tuple[Counts, NDArray[np.int64]]:
        """The document counts of the distinct columns only, and which of these each column is like.

        Most terms are rare and share their counts in all classes with many others, so whatever depends on
        counts alone is computed on these.
        """
        first, kind = counting.distinct_columns([self.tp, self.df[None, :]])
        made = Counts(
            self.tp[:, first],
            self.pos,
            self.df[first],
            self.n_docs,
            self.classes,
            multilabel=self.multilabel,
        )
        return made, kind

    @cached_property
    def distinct_occurrences(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first column of each kind, alike in documents and occurrences, and the kind of each column."""
        assert self.tf is not None
        assert self.tf_total is not None
        assert self.squares is not None
        _, by_documents = self.distinct
        tables = [by_documents[None, :], self.tf, self.tf_total[None, :], self.squares[None, :]]
        first, kind = counting.distinct_columns(tables)
        return first, kind

    def direction(self, classes: slice = slice(None), columns: Any = slice(None)) -> NDArray[np.int8]:
        """Return classes x terms: +1 where a term speaks for the class, -1 where against, 0 where neither."""
        tp = dense_rows(self.tp, classes)[:, columns]
        return np.sign(tp * self.n_docs - self.df[columns] * self.pos[classes, None]).astype(np.int8)

    @cached_property
    def tables(self) -> Tables:
        """The distinct 2x2 tables of all classes, and where among them each class and term finds its own."""
        of_class, of_term, at = counting.distinct_tables(self.tp, self.df, NUMBERED_DF)
        tp, df, pos = self.tp[of_class, of_term], self.df[of_term], self.pos[of_class]
        return Tables(tp, df - tp, pos, self.n_docs - pos, at)

    def names(self) -> NDArray[Any]:
        """Return the terms, or x0, x1, ... where they have no names."""
        if self.terms is not None:
            return self.terms
        return np.array([f"x{i}" for i in range(self.n_terms)], dtype=object)

    def take(self, classes: Any) -> Counts:
        """Return the counts of the classes at the given positions, against all other documents."""
        at = np.asarray(classes, dtype=np.intp)
        return Counts(
            self.tp[at],
            self.pos[at],
            self.df,
            self.n_docs,
            self.classes[at],
            self.terms,
            multilabel=self.multilabel,
            tf=None if self.tf is None else self.tf[at],
            tf_total=self.tf_total,
            squares=self.squares,
        )

    def blocks(
        self, cells: int | None = None, columns: Any = slice(None)
    ) -> Iterator[tuple[slice, Ints, Ints]]:
        """Yield (classes, tp, fp) of some columns for blocks of classes, dense, each of about `cells` cells.

        By default dense counts are one block.
        """
        df = self.df[columns]
        if cells is None:
            cells = DENSE_CELLS if sparse.issparse(self.tp) else self.n_classes * len(df)
        step = max(1, cells // max(1, len(df)))
        for start in range(0, self.n_classes, step):
            rows = slice(start, min(start + step, self.n_classes))
            tp = dense_rows(self.tp, rows)[:, columns]
            yield rows, tp, df - tp

    def __repr__(self) -> str:
        extra = ", with occurrences" if self.occurrences else ""
        extra += ", multi-label" if self.multilabel else ""
        size = f"{self.n_classes:,} classes, {self.n_terms:,} terms"
        return f"<Counts of {self.n_docs:,} documents: {size}{extra}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self.n_docs == other.n_docs
            and self.multilabel == other.multilabel
            and self.occurrences == other.occurrences
            and _same(self.classes, other.classes)
            and _same(self.terms, other.terms)
            and all(_same(a, b) for a, b in zip(self._tables(), other._tables(), strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Counts) -> Counts:
        return self._combined(other, 1)

    def __sub__(self, other: Counts) -> Counts:
        return self._combined(other, -1)

    def _tables(self) -> tuple[Any, ...]:
        return self.tp, self.pos, self.df, self.tf, self.tf_total, self.squares

    def _combined(self, other: Counts, sign: int) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.occurrences != other.occurrences:
            raise InputError("only one of the two Counts has occurrences; count both with occurrences=True")
        if sign > 0:
            classes, terms = _union(self.classes, other.classes), _union_terms(self, other)
        else:
            classes, terms = self.classes, self.terms
        a, b = self._aligned(classes, terms), other._aligned(classes, terms)
        if other.df.sum() != b[2].sum() or other.pos.sum() != b[1].sum():
            raise InputError(
                "the part has terms or classes that the whole lacks; subtract only what was added"
            )
        tables = [None if x is None else x + sign * y for x, y in zip(a, b, strict=True)]
        n_docs = self.n_docs + sign * other.n_docs
        if sign < 0 and (n_docs < 0 or any(_least(table) < 0 for table in tables if table is not None)):
            raise InputError(
                "the difference falls below zero: the documents of the part are not all in the whole"
            )
        tp, pos, df, tf, tf_total, squares = tables
        return Counts(
            tp,
            pos,
            df,
            n_docs,
            classes,
            terms,
            multilabel=self.multilabel or other.multilabel,
            tf=tf,
            tf_total=tf_total,
            squares=squares,
        )

    def _aligned(self, classes: NDArray[Any], terms: NDArray[Any] | None) -> list[Any]:
        """Return the tables laid out over `classes` and `terms`; what is not among them is left out."""
        rows, columns = _places(self.classes, classes), _places(self.terms, terms, self.n_terms)
        n_classes, n_terms = len(classes), self.n_terms if terms is None else len(terms)
        return [
            _moved(self.tp, rows, columns, (n_classes, n_terms)),
            _spread(self.pos, rows, n_classes),
            _spread(self.df, columns, n_terms),
            None if self.tf is None else _moved(self.tf, rows, columns, (n_classes, n_terms)),
            None if self.tf_total is None else _spread(self.tf_total, columns, n_terms),
            None if self.squares is None else _spread(self.squares, columns, n_terms),
        ]

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with a row for each class and term: class, term, tp, fp, df, pos, neg."""
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
        """Write the counts to one Parquet file: a row a term, the classes and the version in its metadata."""
        import polars as pl

        columns: dict[str, Any] = {}
        if self.terms is not None:
            columns["term"] = pl.Series(self.terms.tolist(), dtype=pl.String)
        columns["df"] = self.df
        columns |= _list_columns(self.tp, "class_at", "tp")
        if self.tf is not None:
            columns |= _list_columns(self.tf, "tf_class_at", "tf")
            columns |= {"tf_total": self.tf_total, "squares": self.squares}
        head = {
            "version": FORMAT_VERSION,
            "n_docs": self.n_docs,
            "pos": self.pos.tolist(),
            "classes": self.classes.tolist(),
            "class_kind": self.classes.dtype.kind,
            "multilabel": self.multilabel,
        }
        target = Path(path)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            pl.DataFrame(columns).write_parquet(part, metadata={FORMAT: json.dumps(head)})
            os.replace(part, target)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Counts:
        """Read what `save` wrote."""
        import polars as pl

        try:
            metadata = pl.read_parquet_metadata(Path(path))
            frame = pl.read_parquet(Path(path)) if FORMAT in metadata else None
        except FileNotFoundError:
            raise
        except (OSError, pl.exceptions.PolarsError) as error:
            raise FormatError(f"{path} is not a readable Parquet file: {_first_line(error)}") from None
        if frame is None:
            raise FormatError(
                f"{path} is a Parquet file without termsieve counts; write one with Counts.save"
            )
        try:
            head = json.loads(metadata[FORMAT])
            if head["version"] > FORMAT_VERSION:
                raise FormatError(
                    f"{path} has counts format {head['version']}; this termsieve reads {FORMAT_VERSION}"
                )
            made = cls._from_parquet(frame, head)
            made._check()
        except FormatError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, pl.exceptions.PolarsError) as error:
            raise FormatError(f"{path} holds damaged counts: {_first_line(error)}") from None
        return made

    @classmethod
    def _from_parquet(cls, frame: polars.DataFrame, head: dict[str, Any]) -> Counts:
        classes: NDArray[Any] = np.array(head["classes"], dtype=CLASS_TYPES[head["class_kind"]])
        occurrences = "tf" in frame.columns
        return cls(
            _from_lists(frame, "class_at", "tp", len(classes)),
            head["pos"],
            frame["df"].to_numpy(),
            head["n_docs"],
            classes,
            frame["term"].to_list() if "term" in frame.columns else None,
            multilabel=head["multilabel"],
            tf=_from_lists(frame, "tf_class_at", "tf", len(classes)) if occurrences else None,
            tf_total=frame["tf_total"].to_numpy() if occurrences else None,
            squares=frame["squares"].to_numpy() if occurrences else None,
        )

    def _check(self) -> None:
        """Raise InputError where the numbers contradict each other."""
        if len(self.pos) != self.n_classes:
            raise InputError("class sizes and classes differ in number")
        for rows, tp, fp in self.blocks():
            if tp.size and (tp.min() < 0 or fp.min() < 0 or (tp > self.pos[rows, None]).any()):
                raise InputError("a term is in more documents than there are")
        if self.n_terms and (self.df.min() < 0 or self.df.max() > self.n_docs):
            raise InputError("a document frequency is impossible")


def presence_matrix(X: Any) -> tuple[list[str] | None, Any]:
    """Return the column names, if X is a frame, and X as a CSR of its values, all above 0, each cell once."""
    names = None
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = [str(column) for column in X.columns]
        X = X.sparse.to_coo() if _is_sparse_frame(X) else X.to_numpy()
    if not sparse.issparse(X):
        X = np.asarray(X)
        if X.ndim != 2:
            raise InputError(
                f"Expected 2D array, got {X.ndim}D array instead: X must be documents x terms. "
                "Reshape your data, for example with X.reshape(1, -1) for one document"
            )
        if X.dtype == object:
            X = _numeric(X)
    if X.dtype.kind not in "biuf":
        raise InputError(
            f"X must hold real numbers, not {X.dtype}"
            + ": complex data not supported" * (X.dtype.kind == "c")
        )
    if not sparse.issparse(X):
        _refuse_bad_values(X)
    matrix = X if sparse.issparse(X) and X.format == "csr" else sparse.csr_array(X)
    if counting.repeats_columns(matrix.indptr, matrix.indices, matrix.shape[1]):
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if not (matrix.dtype in ONE_PASS and counting.all_positive(matrix.data)):
        _refuse_bad_values(matrix.data)
        if not matrix.data.all():
            matrix = matrix.copy()
            matrix.eliminate_zeros()
    return names, matrix


def _is_sparse_frame(X: Any) -> bool:
    """Whether X is a pandas frame all of whose columns are sparse."""
    return hasattr(X, "iloc") and X.shape[1] > 0 and all(hasattr(dtype, "fill_value") for dtype in X.dtypes)


def _numeric(X: NDArray[Any]) -> NDArray[Any]:
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X must hold real numbers: {error}") from None


def _refuse_bad_values(values: NDArray[Any]) -> None:
    if values.size == 0 or values.dtype.kind in "bu":
        return
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("X contains NaN or infinity; a term's value must be a finite number")
    if values.min() < 0:
        raise InputError("Negative values in data: X must hold term counts or weights of 0 and above")


def _whole_numbers(values: NDArray[Any]) -> Ints:
    if values.dtype.kind == "f" and not (values == np.floor(values)).all():
        raise InputError("occurrences=True needs whole numbers in X; give word counts, not weights")
    return np.ascontiguousarray(values, dtype=np.int64)


def _class_table(matrix: Any, labels: Labels, values: Ints | None) -> Any:
    """Return classes x terms: documents that hold a term, or sums of `values`; sparse where large."""
    n_classes, n_terms = len(labels.classes), matrix.shape[1]
    step = max(1, DENSE_CELLS // max(1, n_terms))
    blocks = []
    for start in range(0, max(n_classes, 1), step):
        stop = min(start + step, n_classes)
        block = np.zeros((stop - start, n_terms), dtype=np.int64)
        class_ptr = labels.class_ptr[start : stop + 1]
        if values is None:
            counting.class_counts(matrix.indptr, matrix.indices, class_ptr, labels.docs, block)
        else:
            counting.class_sums(matrix.indptr, matrix.indices, values, class_ptr, labels.docs, block)
        blocks.append(block if stop - start == n_classes else sparse.csr_array(block))
    return blocks[0] if len(blocks) == 1 else sparse.vstack(blocks, format="csr")


def _table(table: Any, shape: tuple[int, int]) -> Any:
    """Return `table` as int64, dense or CSR as its size asks."""
    if not sparse.issparse(table):
        table = np.asarray(table)
    if table.shape != shape:
        raise InputError(f"a table of shape {table.shape} does not fit {shape[0]} classes x {shape[1]} terms")
    if shape[0] * shape[1] > DENSE_CELLS:
        return sparse.csr_array(table, dtype=np.int64)
    return np.ascontiguousarray(table.toarray() if sparse.issparse(table) else table, dtype=np.int64)


def _term_names(terms: Sequence[str] | NDArray[Any] | None, n_terms: int) -> NDArray[Any] | None:
    if terms is None:
        return None
    names = np.empty(len(terms), dtype=object)
    names[:] = [str(term) for term in terms]
    if len(names) != n_terms:
        raise InputError(f"{len(names):,} term names for {n_terms:,} columns")
    refuse_repeated(names)
    return names


def refuse_repeated(names: Collection[Any]) -> None:
    """Raise InputError where a term's name stands twice."""
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(f"the term {twice!r} names more than one column; term names must be distinct")


def _same(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if sparse.issparse(a) or sparse.issparse(b):
        return a.shape == b.shape and abs(sparse.csr_array(a) - sparse.csr_array(b)).nnz == 0
    return np.array_equal(a, b)


def dense_rows(table: Any, rows: slice) -> Any:
    """Return some rows of a table, dense whatever the table is."""
    return table[rows].toarray() if sparse.issparse(table) else table[rows]


def _least(table: Any) -> int:
    values = table.data if sparse.issparse(table) else table
    return int(values.min()) if values.size else 0


def _union(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    if np.array_equal(a, b):
        return a
    text = {kind in "US" for kind in (a.dtype.kind, b.dtype.kind)}
    if len(text) > 1 and len(a) and len(b):
        raise InputError("the two Counts have labels of different types; use one type")
    return np.union1d(a, b)


def _union_terms(a: Counts, b: Counts) -> NDArray[Any] | None:
    if a.terms is None or b.terms is None:
        if (a.terms is None) != (b.terms is None) or a.n_terms != b.n_terms:
            raise InputError(
                "Counts without term names add up only when all have the same columns; give terms="
            )
        return None
    if np.array_equal(a.terms, b.terms):
        return a.terms
    merged = np.empty(len(every := sorted(set(a.terms) | set(b.terms))), dtype=object)
    merged[:] = every
    return merged


def _places(own: NDArray[Any] | None, among: NDArray[Any] | None, n: int = 0) -> NDArray[np.intp]:
    """Return where each of `own` stands in `among`; -1 where it does not."""
    if own is None or among is None:
        if (own is None) != (among is None):
            raise InputError(
                "one of the two Counts has term names and the other has none; give terms= to both"
            )
        return np.arange(n)
    if own is among or np.array_equal(own, among):
        return np.arange(len(own))
    at = {name: i for i, name in enumerate(among.tolist())}
    return np.array([at.get(name, -1) for name in own.tolist()], dtype=np.intp)


def _spread(vector: Ints, places: NDArray[np.intp], size: int) -> Ints:
    """Return a vector of `size` with the entries of `vector` at their new places."""
    made = np.zeros(size, dtype=np.int64)
    made[places[places >= 0]] = vector[places >= 0]
    return made


def _moved(table: Any, rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> Any:
    """Return a classes x terms table of `shape` with the cells of `table` at their new places."""
    if sparse.issparse(table) or shape[0] * shape[1] > DENSE_CELLS:
        cells = sparse.coo_array(table)
        row, column = rows[cells.row], columns[cells.col]
        kept = (row >= 0) & (column >= 0)
        return sparse.csr_array((cells.data[kept], (row[kept], column[kept])), shape=shape)
    made = np.zeros(shape, dtype=np.int64)
    made[np.ix_(rows[rows >= 0], columns[columns >= 0])] = table[np.ix_(rows >= 0, columns >= 0)]
    return made


def _list_columns(table: Any, at: str, value: str) -> dict[str, Any]:
    """Return two polars list columns: for each term, the positions and values of its nonzero cells."""
    import polars as pl

    cells = sparse.csc_array(table)
    cells.sort_indices()
    lists = pl.concat(
        [_lists(cells, start, at, value) for start in range(0, max(cells.shape[1], 1), LISTED_TERMS)]
    )
    return {at: lists[at], value: lists[value]}


def _lists(cells: sparse.csc_array, start: int, at: str, value: str) -> polars.DataFrame:
    """Return the lists of LISTED_TERMS terms from `start` on."""
    import polars as pl

    indptr = cells.indptr[start : start + LISTED_TERMS + 1]
    n_terms, here = len(indptr) - 1, slice(int(indptr[0]), int(indptr[-1]))
    # A key that is known to be sorted is grouped without hashing.
    flat = pl.DataFrame(
        {
            "row": pl.Series(np.repeat(np.arange(n_terms), np.diff(indptr))).set_sorted(),
            at: cells.indices[here].astype(np.int32),
            value: cells.data[here].astype(np.int64),
        }
    )
    lists = flat.group_by("row", maintain_order=True).agg(at, value)
    if lists.height < n_terms:
        every = pl.DataFrame({"row": np.arange(n_terms)})
        empty = pl.lit([], dtype=pl.List(pl.Int64))
        lists = every.join(lists, on="row", how="left", maintain_order="left").with_columns(
            pl.col(at).fill_null(empty.cast(pl.List(pl.Int32))), pl.col(value).fill_null(empty)
        )
    return lists.select(at, value)


def _from_lists(frame: polars.DataFrame, at: str, value: str, n_classes: int) -> Any:
    """Return the classes x terms table of two list columns."""
    import polars as pl

    lengths = frame[at].list.len().to_numpy()
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    rows = frame[at].explode().drop_nulls().to_numpy()
    data = frame[value].explode().drop_nulls().cast(pl.Int64).to_numpy()
    if len(rows) and (rows.min() < 0 or rows.max() >= n_classes):
        raise InputError("a class position is out of range")
    return sparse.csc_array((data, rows, indptr), shape=(n_classes, frame.height)).tocsr()


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
