"""Counts become a Parquet file with a checksum, and such a file becomes Counts again."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.counts.alignment import ROUNDING
from termsieve.counts.cells import least
from termsieve.counts.late import ByTerm, Cells
from termsieve.counts.table import Counts
from termsieve.counts.windows import Windows
from termsieve.errors import FormatError, InputError, TermsieveError
from termsieve.files import write_whole
from termsieve.kernels import counting
from termsieve.kernels.arrow import Column
from termsieve.labels import checked_labels, class_array
from termsieve.parquet import CHECKSUM, Parquet, file_metadata, sealed

if TYPE_CHECKING:
    import polars

FORMAT = "termsieve-counts"
FORMAT_VERSION = 3  # version 1 had no checksum and could not hold terms with lone surrogates
WHOLE_VERSION = 2  # without weights and windows, which came with version 3, so that older releases read it
CLASS_TYPES = {"U": np.str_, "i": np.int64, "u": np.uint64, "f": np.float64, "b": np.bool_}
MOST_DOCUMENTS = 2**62  # sums of two such numbers fit into 64 bits
MALFORMED = (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError)


def save(counts: Counts, path: str | os.PathLike[str], more: dict[str, Any] | None = None) -> None:
    """Write counts to one Parquet file: one row per term, the classes and the version in its metadata.

    `more` is what else its metadata say.
    """
    import polars as pl

    columns: dict[str, Any] = {}
    held = counts.by_term
    if held is not None:
        columns["term"] = _spelled_column(held)
    elif counts.terms is not None:
        columns["term"] = _term_column(counts.terms.tolist())
    columns["df"] = counts.df
    columns |= _list_columns(counts.tp if held is None else held.tp, "class_at", "tp")
    tf = counts.tf if held is None else held.tf
    if tf is not None:
        columns |= _list_columns(tf, "tf_class_at", "tf")
        columns |= {"tf_total": counts.tf_total, "squares": counts.squares}
    extra = ({"weighted": True} if counts.weighted else {}) | (more or {})
    head = {
        "version": FORMAT_VERSION if extra else WHOLE_VERSION,
        "n_docs": counts.n_docs,
        "pos": counts.pos.tolist(),
        "classes": counts.classes.tolist(),
        "class_kind": counts.classes.dtype.kind,
        "multilabel": counts.multilabel,
    } | extra
    write_whole(path, sealed(pl.DataFrame(columns), {FORMAT: json.dumps(head)}))


def load(path: str | os.PathLike[str]) -> Counts:
    """Read the counts that `save` wrote, in this version or an older one; of windows, their sum."""
    found = load_any(path)
    return found.sum() if isinstance(found, Windows) else found


def load_any(path: str | os.PathLike[str]) -> Counts | Windows:
    """Read counts or windows."""
    from polars.exceptions import PolarsError

    file = Parquet.open(path)
    if FORMAT not in file.metadata:
        raise FormatError(f"{path} is a Parquet file without termsieve counts; write one with Counts.save")
    if CHECKSUM in file.metadata:
        file.verify()
    try:
        head = json.loads(file.metadata[FORMAT])
        version = head["version"]
        if version > FORMAT_VERSION:
            raise FormatError(
                f"{path} has counts format {version}, and this termsieve reads up to {FORMAT_VERSION}; "
                "install a newer termsieve, or count again"
            )
        if version > 1 and CHECKSUM not in file.metadata:
            raise InputError("the checksum is missing")
        counts = _counts(file.frame(), head)
        refuse_contradictions(counts)
        kept = head.get("windows")
        return counts if kept is None else Windows(counts, str(kept["by"]), bool(kept["several"]))
    except FormatError:
        raise
    except (*MALFORMED, TermsieveError, PolarsError) as error:
        raise FormatError(f"{path} holds damaged counts: {_first_line(error)}") from None


def load_all(paths: Sequence[str | os.PathLike[str]]) -> list[Any]:
    """Read counts files; windows stay windows if all files hold some, otherwise each becomes its sum."""
    found = [load_any(path) for path in paths]
    if all(isinstance(part, Windows) for part in found):
        return found
    return [part.sum() if isinstance(part, Windows) else part for part in found]


def holds_counts(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a Parquet file with counts; anything else is not, readable or not."""
    return FORMAT in file_metadata(path)


def _counts(frame: polars.DataFrame, head: dict[str, Any]) -> Counts:
    if head["class_kind"] == "O":  # strings of which one ends with NUL, which numpy's strings would lose
        classes: NDArray[Any] = class_array(checked_labels(head["classes"]))
        if classes.dtype != object:
            raise InputError("the classes are of another type than the file says")
    else:
        classes = np.array(head["classes"], dtype=CLASS_TYPES[head["class_kind"]])
    if classes.ndim != 1:
        raise InputError("the classes are no list")
    occurrences, weighted = "tf" in frame.columns, head.get("weighted", False) is True
    return Counts(
        _from_lists(frame, "class_at", "tp", len(classes), weighted),
        head["pos"],
        _numbers(frame, "df", weighted),
        head["n_docs"],
        classes,
        _terms(frame["term"]) if "term" in frame.columns else None,
        multilabel=bool(head["multilabel"]),
        tf=_from_lists(frame, "tf_class_at", "tf", len(classes), weighted) if occurrences else None,
        tf_total=_numbers(frame, "tf_total", weighted) if occurrences else None,
        squares=_numbers(frame, "squares", weighted) if occurrences else None,
        weighted=weighted,
    )


def refuse_contradictions(counts: Counts) -> None:
    """Raise InputError where the numbers contradict each other."""
    if counts.pos.shape != (counts.n_classes,):
        raise InputError("class sizes and classes differ in number")
    rounding = ROUNDING * counts.n_docs if counts.weighted else 0
    if not 0 <= counts.n_docs <= MOST_DOCUMENTS:
        raise InputError("the number of documents is impossible")
    if counts.n_classes and not 0 <= counts.pos.min() <= counts.pos.max() <= counts.n_docs + rounding:
        raise InputError("a class has more documents than there are")
    if counts.n_terms and not 0 <= counts.df.min() <= counts.df.max() <= counts.n_docs + rounding:
        raise InputError("a document frequency is impossible")
    for rows, tp, fp in counts.blocks():
        fits = tp <= counts.pos[rows, None] + rounding
        if tp.size and (tp.min() < 0 or fp.min() < 0 or not fits.all()):
            raise InputError("a term is in more documents than there are")
    for table in (counts.tf, counts.tf_total, counts.squares):
        if table is not None and least(table) < 0:
            raise InputError("a number of occurrences is below zero")


def _term_column(terms: list[str]) -> polars.Series:
    """Return the terms as strings, or as bytes if some have lone surrogates, which are not UTF-8."""
    import polars as pl

    try:
        "".join(terms).encode()
    except UnicodeEncodeError:
        return pl.Series([term.encode("utf-8", "surrogatepass") for term in terms], dtype=pl.Binary)
    return pl.Series(terms, dtype=pl.String)


def _spelled_column(held: ByTerm) -> polars.Series:
    """Return the terms without making a str of each."""
    import polars as pl

    ends = np.concatenate([[0], held.ends])
    starts = ends[:-1][ends[:-1] < len(held.spelling)]
    try:
        str(held.spelling.data, "utf-8")
        whole = not (held.spelling[starts] & 0xC0 == 0x80).any()  # no term begins within a character
    except UnicodeDecodeError:
        whole = False
    return pl.Series(Column(held.spelling, ends)) if whole else _term_column(held.terms())


def _terms(column: polars.Series) -> list[str]:
    import polars as pl

    if column.null_count():
        raise InputError("a term has no name")
    if column.dtype == pl.Binary:
        return [term.decode("utf-8", "surrogatepass") for term in column.to_list()]
    return list(column.cast(pl.String).to_list())


def _numbers(frame: polars.DataFrame, name: str, weighted: bool) -> NDArray[Any]:
    """Return a column of whole numbers without gaps; with weights, of finite numbers."""
    column = frame[name]
    if not _are_numbers(column, weighted) or column.null_count():
        raise InputError(f"the column {name!r} must hold {_kind(weighted)} numbers without gaps")
    return column.to_numpy()


def _are_numbers(column: polars.Series, weighted: bool) -> bool:
    if weighted:
        return column.dtype.is_float() and bool(column.is_finite().all())
    return column.dtype.is_integer()


def _kind(weighted: bool) -> str:
    return "finite" if weighted else "whole"


def _list_columns(table: Any, at: str, value: str) -> dict[str, Any]:
    """Return two polars list columns: for each term, the positions and values of its nonzero cells."""
    import polars as pl

    if isinstance(table, Cells):
        indptr, rows, values = table.indptr, table.indices, table.data
    elif sparse.issparse(table) or table.dtype != np.int64:
        cells = sparse.csc_array(table)
        cells.sort_indices()
        indptr, rows, values = cells.indptr.astype(np.int64), cells.indices.astype(np.int32), cells.data
    else:
        indptr, rows, values = counting.nonzero_cells(table)
    return {at: pl.Series(Column(rows, indptr)), value: pl.Series(Column(values, indptr))}


def _from_lists(frame: polars.DataFrame, at: str, value: str, n_classes: int, weighted: bool) -> Any:
    """Return the classes x terms table of two list columns."""
    lengths = frame[at].list.len()
    if frame[at].null_count() or not lengths.equals(frame[value].list.len()):
        raise InputError(f"the columns {at!r} and {value!r} do not belong together")
    indptr = np.concatenate([[0], np.cumsum(lengths.to_numpy(), dtype=np.int64)])
    cells = [frame[name].explode().drop_nulls() for name in (at, value)]
    if not (cells[0].dtype.is_integer() and _are_numbers(cells[1], weighted)):
        raise InputError(f"the columns {at!r} and {value!r} must hold lists of {_kind(weighted)} numbers")
    rows, data = (column.to_numpy() for column in cells)
    if not len(rows) == len(data) == indptr[-1]:
        raise InputError(f"the columns {at!r} and {value!r} have gaps")
    if len(rows) and (rows.min() < 0 or rows.max() >= n_classes):
        raise InputError("a class position is out of range")
    return sparse.csc_array((data, rows, indptr), shape=(n_classes, frame.height)).tocsr()


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
