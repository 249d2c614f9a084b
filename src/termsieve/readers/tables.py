"""Tables of all kinds come in; a Corpus, or batches of texts and labels, goes out."""

from __future__ import annotations

import glob
import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, cast

from termsieve.columns import Columns, Wanted, find_column
from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError, ParameterError, shown
from termsieve.labels import check_missing, indicator_labels, label_doubts, present_labels, split_labels
from termsieve.readers import delimited, excel, json_rows, parquet_rows
from termsieve.readers.encodings import plain_start
from termsieve.readers.files import (
    MAX_BYTES,
    check_regular,
    compression,
    file_names,
    plain_stem,
    plain_suffix,
    too_large,
    zipped_file,
)
from termsieve.readers.format import Format
from termsieve.readers.layout import Layout, Paths, Reading, Sample, file_labels, laid_out
from termsieve.readers.splits import part_of

if TYPE_CHECKING:
    import polars as pl

# Suffix -> kind of table. Files with other suffixes are recognised by their content.
KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "excel",
}
_BATCH_CHARACTERS = 16 << 20  # of the rows that are parsed here, in one batch

_log = logging.getLogger("termsieve")


def read_table(
    paths: Paths,
    *,
    text: Wanted = None,
    label: Wanted = None,
    split: str | None = None,
    separator: str | None = None,
    missing: str = "error",
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    label_from: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Corpus:
    """Return the texts and labels of one table or of several: a path, a glob, a folder of tables, or a list.

    Without `text` and `label` the columns are recognised by their usual names or, in a table without a
    header, by what they hold; columns without names are numbered from 1. Several names in `label` are
    indicator columns of 0 and 1. `separator` splits a cell into several labels; lists in JSON and Parquet are
    several labels without it. With `label_from="file"` the class is the name of the file. A missing text is a
    document without terms. A missing label (null or an empty cell) is an error, or left out with
    `missing="drop"`. `split` names a column with "train" and "test"; files named so are a split as well.
    `header`, `delimiter`, `quote` and `encoding` are for CSV and recognised by default; `quote="none"` makes
    quotes a part of the text.
    """
    check_missing(missing)
    if label_from not in (None, "file"):
        raise ParameterError(f"label_from={label_from!r} is unknown; it is 'file' or left out")
    if label_from is not None and label is not None:
        raise ParameterError("label= and label_from='file' exclude each other; give one of them")
    files = table_paths(paths)
    reading = Reading(delimiter, quote, header, encoding, max_bytes).checked()
    first = first_layout(files, text, label, split, reading, unlabelled=label_from is not None)
    classes = file_labels(files) if label_from is not None else []
    texts: list[str] = []
    labels: list[Any] = []
    parts: list[str] = []
    n_bytes = 0
    for number, path in enumerate(files):
        for frame in _file_frames(path, first):
            n_bytes += int(frame.estimated_size())
            if n_bytes > max_bytes:
                raise too_large(f"{files[0]} holds more bytes of text and labels", max_bytes)
            texts += frame["text"].fill_null("").to_list()
            labels += frame["label"].to_list() if not classes else [classes[number]] * frame.height
            if split is not None:
                parts += frame["split"].cast(str).fill_null("").to_list()
            else:
                parts += [_part_of_file(path)] * frame.height
    if not texts:
        raise FormatError(f"{files[0]} has a header but no row")
    if separator is None and not classes:
        warn_labels(labels, files[0])
    labels, kept = present_labels(split_labels(labels, separator), missing)
    if len(kept) < len(texts):
        texts, parts = [texts[i] for i in kept], [parts[i] for i in kept]
    source = f"table of {first.phrase()}{_more_files(files, classes)}"
    name = plain_stem(files[0]) if len(files) == 1 else Path(files[0]).resolve().parent.name
    has_parts = split is not None or len(set(parts)) > 1
    return Corpus(texts, labels, split=parts if has_parts else None, name=name, source=source)


def _part_of_file(path: str) -> str:
    """Return the part of a split that a file, or the folder that it is in, is named for."""
    return part_of(plain_stem(path)) or part_of(Path(path).parent.name) or ""


def first_layout(
    files: Sequence[str],
    text: Wanted,
    label: Wanted,
    split: str | None,
    reading: Reading,
    *,
    unlabelled: bool = False,
) -> Layout:
    """Return the layout of the first of several tables, which the others have as well."""
    try:
        return table_layout(files[0], text, label, split, reading, unlabelled=unlabelled)
    except InputError as error:
        if len(files) == 1:
            raise
        names = shown([Path(path).name for path in files], 5)
        raise InputError(
            f"{error}; give one of the {len(files):,} tables ({names}) if they differ"
        ) from error


def warn_labels(labels: Sequence[Any], where: str) -> None:
    """Log a warning for each doubt about the labels of a table."""
    for doubt in label_doubts(labels):
        _log.warning("%s: %s", where, doubt)


def _more_files(files: Sequence[str], classes: Sequence[str] = ()) -> str:
    words = f", {len(files):,} files" if len(files) > 1 else ""
    return words + (", labels from the names of the files" if classes else "")


def batches(
    paths: Paths,
    *,
    text: Wanted = None,
    label: Wanted = None,
    by: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
    quiet: bool = False,
) -> Iterator[pl.DataFrame]:
    """Yield frames with the columns `text` and `label`, file by file, a bounded number of rows at a time.

    Texts are strings or null, labels are as the table has them: strings, numbers, lists or null. With `by`,
    the frames have that column, too. With `quiet`, what is recognised by the first part of a file is not
    logged.
    """
    files = table_paths(paths)
    reading = Reading(delimiter, quote, header, encoding, max_bytes).checked()
    first = first_layout(files, text, label, None, reading)
    if by is not None:
        first = replace(first, columns=first.columns | {"by": by})
    for path in files:
        yield from _file_frames(path, first, quiet)


def document_batches(
    source: Paths | IO[bytes],
    *,
    text: Wanted = None,
    label: str | None = None,
    id: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Iterator[pl.DataFrame]:
    """Yield frames of tables that need not have labels, or of an open file of JSON lines.

    They have the column `text`; `label`, if it is named or one column has a usual name; and `id`, if named.
    """
    reading = Reading(delimiter, quote, header, encoding, max_bytes).checked()
    n_docs = 0
    if hasattr(source, "read"):
        layout, found = _stream_layout(cast(IO[bytes], source), text, None, reading, unlabelled=True)
        layout = _with_document_columns(layout, label, id)
        frames, files = _stream_frames(layout, found), []
    else:
        files = table_paths(source)
        named = [name for name in (text, label, id) if name is not None]
        sample = table_sample(files[0], reading, named)
        first = laid_out(files[0], sample, text, None, given=reading, unlabelled=True)
        layout = _with_document_columns(first, label, id)
        frames = (frame for path in files for frame in _file_frames(path, layout))
    for frame in frames:
        n_docs += frame.height
        yield frame
    _log.info("read %s documents, from %s%s", f"{n_docs:,}", layout.phrase(), _more_files(files))


def _with_document_columns(layout: Layout, label: str | None, id: str | None) -> Layout:
    """Return the layout with the columns of names and labels; labels need not be there."""
    found: Columns = {}
    names, where = layout.sample.names, layout.path
    if id is not None:
        found["id"] = find_column(names, "id", id, where)
    if label is not None:
        found["label"] = find_column(names, "label", label, where)
    else:
        with suppress(InputError):  # then nothing is compared with labels
            found["label"] = find_column(names, "label", None, where)
    return replace(layout, columns=layout.columns | found)


def table_paths(paths: Paths) -> list[str]:
    """Return the files of a path, a glob, a folder of tables or a list of these, sorted by name."""
    if isinstance(paths, str | os.PathLike):
        path = os.fspath(paths)
        if os.path.isdir(path):
            return _folder_tables(path)
        if not os.path.exists(path) and glob.has_magic(path):
            found = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
            if not found:
                raise InputError(f"no file matches {path!r}")
            return found
        check_regular(path)
        return [path]
    listed = [file for path in paths for file in table_paths(path)]
    if not listed:
        raise InputError("the list of paths is empty; name at least one table")
    return listed


def _folder_tables(path: str) -> list[str]:
    """Return the tables of a folder or, if it has none, of the folder below it, or of a split below it."""
    found = [name for name in file_names(path) if plain_suffix(name) in KINDS]
    folders = {PurePosixPath(name).parent for name in found}
    if not found:
        raise FormatError(f"{path} holds no table; a table ends with one of {', '.join(KINDS)}")
    if PurePosixPath() in folders:
        folders = {PurePosixPath()}
    if len(folders) > 1 and not all(part_of(folder.name) for folder in folders):
        raise FormatError(
            f"{path} holds tables in several directories ({shown(sorted(map(str, folders)), 5)}); give one "
            "of them, or format='folder' if each file is a document, and each directory is a class"
        )
    return [os.path.join(path, name) for name in found if PurePosixPath(name).parent in folders]


def table_kind(path: str) -> str:
    """Return the kind of a table, by the suffix of a file or, if it is unknown, its first bytes."""
    if plain_suffix(path) in KINDS:
        return KINDS[plain_suffix(path)]
    start = plain_start(path, 64).lstrip()
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"PK\x03\x04"):
        return "excel"
    return "json" if start.startswith((b"{", b"[")) else "csv"


def table_layout(
    path: str,
    text: Wanted,
    label: Wanted,
    split: str | None,
    reading: Reading,
    *,
    unlabelled: bool = False,
) -> Layout:
    """Return how a table is laid out and which columns to read; only its first part is looked at."""
    wanted: list[Any] = []
    for names in (text, label, split):
        wanted += names if isinstance(names, list | tuple) else [] if names is None else [names]
    sample = table_sample(path, reading, wanted)
    return laid_out(path, sample, text, label, split, given=reading, unlabelled=unlabelled)


def table_sample(path: str, reading: Reading, wanted: Sequence[Any] = ()) -> Sample:
    """Return the first part of a table; columns that are `wanted` by name tell a header."""
    kind = table_kind(path)
    packed = compression(path)
    if packed is not None and kind in ("parquet", "excel"):
        raise FormatError(f"{path} is a {kind.title()} file within a {packed} file; unpack it first")
    if kind == "parquet":
        return parquet_rows.sample(path, reading)
    if kind == "json":
        sample = json_rows.sample(path, reading)
    else:
        sample = (excel if kind == "excel" else delimited).sample(path, reading, wanted)
    if packed == "zip":
        sample = replace(sample, details=(*sample.details, f"zip of {zipped_file(path)!r}"))
    return sample


def _file_frames(path: str, first: Layout, quiet: bool = False) -> Iterator[pl.DataFrame]:
    """Yield the frames of one file, which has the columns of the first file; what was guessed is logged."""
    sample = first.sample
    if path != first.path:
        sample = table_sample(path, first.given._replace(header=first.reading.header), first.sample.names)
    columns = dict(_own_columns(path, sample, first.columns))
    for guess in () if quiet else sample.guesses:
        _log.warning("%s", guess)
    names = list(columns.values())
    kind = table_kind(path)
    if kind == "parquet":
        found = parquet_rows.frames(path, columns, sample.reading)
    elif kind == "json":
        rows = json_rows.rows(path, sample.reading)
        found = _framed(json_rows.picked(path, rows, names), list(columns))
    elif kind == "excel":
        found = _framed(excel.rows(path, sample, _places(sample, names), 0), list(columns))
    else:
        found = _delimited_frames(path, sample, list(columns), _places(sample, names))
    for frame in found:
        yield _with_labels(frame, first.columns)


def _own_columns(path: str, sample: Sample, columns: Columns) -> Iterator[tuple[str, str]]:
    """Yield each role and its column; each indicator column has a role of its own."""
    for role, names in columns.items():
        if isinstance(names, tuple):
            for name in names:
                yield f"label {name}", find_column(sample.names, role, name, path)
        else:
            yield role, find_column(sample.names, role, names, path)


def _places(sample: Sample, names: Sequence[str]) -> list[int]:
    return [sample.names.index(name) for name in names]


def _delimited_frames(
    path: str, sample: Sample, roles: list[str], places: list[int]
) -> Iterator[pl.DataFrame]:
    with delimited.opened(path, sample) as rows:
        yield from _framed(([row[place] or None for place in places] for row in rows), roles)


def _with_labels(frame: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Return the frame with one column of labels: names without spaces around them, or indicators joined."""
    import polars as pl

    names = columns.get("label")
    if not isinstance(names, tuple):
        if names is None or frame["label"].dtype != pl.String:
            return frame
        # No class is told from another by the spaces around its name.
        label = pl.col("label").str.strip_chars()
        return frame.with_columns(pl.when(label != "").then(label).alias("label"))
    marks = {name: frame[f"label {name}"].to_list() for name in names}
    labels = pl.Series("label", [list(group) for group in indicator_labels(marks)], dtype=pl.List(pl.String))
    return frame.drop([f"label {name}" for name in names]).with_columns(labels)


def stream_batches(
    file: IO[bytes],
    *,
    text: Wanted = None,
    label: Wanted = None,
    max_bytes: int = MAX_BYTES,
    where: str = "standard input",
) -> tuple[Layout, Iterator[pl.DataFrame]]:
    """Return the layout of an open file of JSON lines, such as a pipe, and its frames, read once."""
    reading = Reading(max_bytes=max_bytes).checked()
    layout, rows = _stream_layout(file, text, label, reading, where=where)
    return layout, _stream_frames(layout, rows)


def _stream_layout(
    file: IO[bytes],
    text: Wanted,
    label: Wanted,
    reading: Reading,
    *,
    unlabelled: bool = False,
    where: str = "standard input",
) -> tuple[Layout, Iterator[json_rows.Row]]:
    """Return the layout of an open file of JSON lines, by its first row, and all its rows."""
    reading = reading._replace(encoding="utf-8")  # nothing can be read again, and JSON is UTF-8
    kind, rows = json_rows.kind_and_rows(where, file, reading)
    first = next(rows, None)
    if first is None:
        raise FormatError(f"{where} is empty")
    sample = json_rows.row_sample(kind, [first[0]], reading)
    layout = laid_out(where, sample, text, label, given=reading, unlabelled=unlabelled)
    return layout, chain([first], rows)


def _stream_frames(layout: Layout, rows: Iterator[json_rows.Row]) -> Iterator[pl.DataFrame]:
    columns = dict(_own_columns(layout.path, layout.sample, layout.columns))
    names = list(columns.values())
    for frame in _framed(json_rows.picked(layout.path, rows, names), list(columns)):
        yield _with_labels(frame, layout.columns)


def _framed(rows: Iterable[list[Any]], names: list[str]) -> Iterator[pl.DataFrame]:
    batch: list[list[Any]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row[0] or "") + 64
        if size >= _BATCH_CHARACTERS:
            yield _frame(batch, names)
            batch, size = [], 0
    if batch:
        yield _frame(batch, names)


def _frame(rows: list[list[Any]], names: list[str]) -> pl.DataFrame:
    import polars as pl

    columns = []
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        kind = pl.String if name == "text" or all(value is None for value in values) else None
        try:
            columns.append(pl.Series(name, values, dtype=kind, strict=True))
        except (TypeError, OverflowError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(f"column {name!r} holds values of mixed types; make them all strings") from error
    return pl.DataFrame(columns)


def _holds_tables(names: Sequence[str], is_folder: bool) -> bool:
    """Return whether a folder, not an archive, has a table at its top level, or only tables below it."""
    if not is_folder:
        return False
    kinds = {name: plain_suffix(name) in KINDS for name in names}
    below = [is_table for name, is_table in kinds.items() if "/" in name]
    return any(is_table for name, is_table in kinds.items() if "/" not in name) or (
        bool(below) and all(below)
    )


FORMAT = Format(
    name="table",
    reader=read_table,
    contents="CSV, TSV, JSON lines or arrays, Parquet, Excel: a file, a glob, a folder or a list of files",
    extensions=tuple(KINDS),
    start=re.compile(rb"PAR1|\s*\[?\s*\{\s*\"|[^\n\0,;\t|]*+[,;\t|]"),
    collection=_holds_tables,
    streams=True,
)
