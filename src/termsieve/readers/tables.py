"""CSV, TSV, JSON lines or Parquet files come in; a Corpus, or batches of texts and labels, goes out."""

from __future__ import annotations

import codecs
import csv
import glob
import io
import json
import os
import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from termsieve.columns import find_column, find_columns
from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError, ParameterError, TermsieveError, shown
from termsieve.labels import check_missing, present_labels, split_labels
from termsieve.parquet import check_file
from termsieve.readers.files import (
    LINES_PER_LIMIT,
    MAX_BYTES,
    check_line,
    check_max_bytes,
    check_regular,
    is_special,
    open_binary,
    plain_stem,
    plain_suffix,
    readable,
    start_of,
    too_large,
)
from termsieve.readers.format import Format

if TYPE_CHECKING:
    import polars as pl

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

# Suffix -> kind of table. Files with other suffixes are recognised by their content.
KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_DELIMITERS = ",\t;|"
# The size of a batch: characters of rows that are parsed here, rows of Parquet.
_BATCH_CHARACTERS = 16 << 20
_BATCH_ROWS = 20_000


def read_table(
    paths: Paths,
    *,
    text: str | None = None,
    label: str | None = None,
    split: str | None = None,
    separator: str | None = None,
    missing: str = "error",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    max_bytes: int = MAX_BYTES,
) -> Corpus:
    """Return the texts and labels of one table or of several: a path, a glob, a folder of tables, or a list.

    Without `text` and `label` the columns are recognised by their usual names. `separator` splits a cell into
    several labels; lists in JSON lines and Parquet are several labels without it. A missing text is a
    document without terms. A missing label (null or an empty cell) is an error, or left out with
    `missing="drop"`. `split` names a column with "train" and "test". `delimiter` and `encoding` are for CSV;
    by default the delimiter is the one of comma, tab, semicolon and bar that the header uses.
    """
    check_missing(missing)
    files = table_paths(paths)
    texts: list[str] = []
    labels: list[Any] = []
    parts: list[str] = []
    found = named_columns(files[0], text, label, split, delimiter, encoding, max_bytes)
    n_bytes = 0
    for frame in _frames(files, found, _Reading(delimiter, encoding, max_bytes)):
        n_bytes += int(frame.estimated_size())
        if n_bytes > max_bytes:
            raise too_large(f"{files[0]} holds more bytes of text and labels", max_bytes)
        texts += frame["text"].fill_null("").to_list()
        labels += frame["label"].to_list()
        if split is not None:
            parts += frame["split"].cast(str).fill_null("").to_list()
    if not texts:
        raise FormatError(f"{files[0]} has a header but no row")
    labels, kept = present_labels(split_labels(labels, separator), missing)
    if len(kept) < len(texts):
        texts = [texts[i] for i in kept]
        parts = [parts[i] for i in kept] if parts else []
    kind = {"csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet"}[table_kind(files[0])]
    source = f"table ({kind}, text={found['text']!r}, label={found['label']!r})"
    name = plain_stem(files[0]) if len(files) == 1 else Path(files[0]).resolve().parent.name
    return Corpus(texts, labels, split=parts or None, name=name, source=source)


def batches(
    paths: Paths,
    *,
    text: str | None = None,
    label: str | None = None,
    by: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    max_bytes: int = MAX_BYTES,
) -> Iterator[pl.DataFrame]:
    """Yield frames with the columns `text` and `label`, file by file, a bounded number of rows at a time.

    Texts are strings or null, labels are as the table has them: strings, numbers, lists or null. With `by`,
    the frames have that column, too.
    """
    files = table_paths(paths)
    found = named_columns(files[0], text, label, None, delimiter, encoding, max_bytes)
    found |= {} if by is None else {"by": by}
    yield from _frames(files, found, _Reading(delimiter, encoding, max_bytes))


def document_batches(
    source: Paths | IO[bytes],
    *,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    max_bytes: int = MAX_BYTES,
) -> Iterator[pl.DataFrame]:
    """Yield frames of tables that need not have labels, or of an open file of JSON lines.

    They have the column `text`; `label`, if it is named or one column has a usual name; and `id`, if named.
    """
    if hasattr(source, "read"):
        where, rows = "standard input", _json_objects("standard input", cast(IO[bytes], source), max_bytes)
        first = next(rows, None)
        if first is None:
            raise FormatError(f"{where} is empty")
        columns = _document_columns(list(first[0]), text, label, id, where)
        yield from _json_frames(where, chain([first], rows), columns)
        return
    files = table_paths(source)
    reading = _Reading(delimiter, encoding, check_max_bytes(max_bytes))
    columns = _document_columns(_column_names(files[0], reading), text, label, id, files[0])
    yield from _frames(files, columns, reading)


def _document_columns(
    names: list[str], text: str | None, label: str | None, id: str | None, where: str
) -> dict[str, str]:
    found = {"text": find_column(names, "text", text, where)}
    if id is not None:
        found["id"] = find_column(names, "id", id, where)
    if label is not None:
        return found | {"label": find_column(names, "label", label, where)}
    with suppress(InputError):  # then nothing is compared with labels
        found["label"] = find_column(names, "label", None, where)
    return found


def table_paths(paths: Paths) -> list[str]:
    """Return the files of a path, a glob, a folder of tables or a list of these, sorted by name."""
    if isinstance(paths, str | os.PathLike):
        path = os.fspath(paths)
        if os.path.isdir(path):
            found = sorted(
                file
                for name in os.listdir(path)
                if plain_suffix(name) in KINDS and not is_special(file := os.path.join(path, name))
            )
            if not found:
                raise FormatError(f"{path} holds no table; a table ends with one of {', '.join(KINDS)}")
            return found
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


def table_kind(path: str) -> str:
    """Return "csv", "jsonl" or "parquet", by the suffix of a file or, if it is unknown, its first bytes."""
    if plain_suffix(path) in KINDS:
        return KINDS[plain_suffix(path)]
    start = start_of(path, 64).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return "parquet"
    return "jsonl" if start.startswith(b"{") else "csv"


def named_columns(
    path: str,
    text: str | None,
    label: str | None,
    split: str | None,
    delimiter: str | None,
    encoding: str,
    max_bytes: int = MAX_BYTES,
) -> dict[str, str]:
    """Return the columns to read by role, those not given recognised by the names in the first table."""
    names = _column_names(path, _Reading(delimiter, encoding, check_max_bytes(max_bytes)))
    return find_columns(names, text, label, split, where=path)


class _Reading(NamedTuple):
    """How the bytes of a table are read."""

    delimiter: str | None
    encoding: str
    max_bytes: int


def _column_names(path: str, reading: _Reading) -> list[str]:
    """Return the names of a table's columns; for JSON lines, those of its first row."""
    kind = table_kind(path)
    if kind == "parquet":
        return list(_parquet_schema(path, reading.max_bytes))
    if kind == "csv":
        with _csv_rows(path, reading) as (header, _):
            return header
    with closing(_json_rows(path, reading.max_bytes)) as rows:
        for row, _ in rows:
            return list(row)
    raise FormatError(f"{path} is empty")


def _frames(files: list[str], columns: dict[str, str], reading: _Reading) -> Iterator[pl.DataFrame]:
    for path in files:
        kind = table_kind(path)
        if kind == "parquet":
            yield from _parquet_frames(path, columns, reading.max_bytes)
        elif kind == "csv":
            yield from _csv_frames(path, columns, reading)
        else:
            yield from _json_frames(path, _json_rows(path, reading.max_bytes), columns)


def _parquet_schema(path: str, max_bytes: int) -> Any:
    import polars as pl

    with readable(path), _parquet_errors(path):
        check_file(path, max_bytes)
        return pl.scan_parquet(path, glob=False).collect_schema()


def _parquet_frames(path: str, columns: dict[str, str], max_bytes: int) -> Iterator[pl.DataFrame]:
    import polars as pl

    schema = _parquet_schema(path, max_bytes)
    for role, name in columns.items():
        find_column(schema, role, name, path)
    if schema[columns["text"]] not in (pl.String, pl.Categorical, pl.Null) and not isinstance(
        schema[columns["text"]], pl.Enum
    ):
        raise InputError(f"{path}: column {columns['text']!r} holds {schema[columns['text']]}, not text")
    with readable(path), _parquet_errors(path):
        table = pl.scan_parquet(path, glob=False).select(
            pl.col(name).cast(pl.String).alias(role) if role == "text" else pl.col(name).alias(role)
            for role, name in columns.items()
        )
        yield from table.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=True)


@contextmanager
def _parquet_errors(path: str) -> Iterator[None]:
    from polars.exceptions import PanicException, PolarsError

    try:
        yield
    except PanicException:  # no Exception, so that nothing else would catch it
        raise FormatError(f"{path} is no readable Parquet file: its content is damaged") from None
    except TermsieveError:
        raise
    except (PolarsError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(f"{path} is no readable Parquet file: {reason}") from error


def _csv_frames(path: str, columns: dict[str, str], reading: _Reading) -> Iterator[pl.DataFrame]:
    with _csv_rows(path, reading) as (header, rows):
        places = [header.index(find_column(header, role, name, path)) for role, name in columns.items()]
        picked = ([row[place] or None for place in places] for row in rows)
        yield from _framed(picked, list(columns))


@contextmanager
def _csv_rows(path: str, reading: _Reading) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """Open a CSV file as its header and its rows, each row as long as the header."""
    delimiter, encoding, max_bytes = reading
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n"\0'):
        raise ParameterError(f"delimiter={delimiter!r} must be one character that ends a field, such as ';'")
    with open_binary(path) as raw, _wide_fields(max_bytes // LINES_PER_LIMIT):
        lines = _lines(path, raw, encoding, max_bytes)
        first = next(lines, None)
        if first is None:
            raise FormatError(f"{path} is empty")
        reader = csv.reader(_chained(first, lines), delimiter=delimiter or _delimiter(first), strict=True)
        rows = _checked_rows(path, reader, max_bytes)
        header = next(rows, None)
        if header is None:
            raise FormatError(f"{path} is empty")
        yield [name.strip() for name in header], rows


@contextmanager
def _wide_fields(limit: int) -> Iterator[None]:
    before = csv.field_size_limit(min(limit, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _chained(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


class _ShortLines(io.BufferedIOBase):
    """The bytes of a file; a line that is too long is an error before it fills the memory."""

    def __init__(self, raw: IO[bytes], path: str, max_bytes: int) -> None:
        self._read_some = getattr(raw, "read1", raw.read)
        self._path, self._max_bytes = path, max_bytes
        self._line, self._length = 1, 0

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        chunk: bytes = self._read_some(size)
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        self._line += chunk.count(b"\n")
        self._length = len(chunk) - end - 1 + (self._length if end < 0 else 0)
        check_line(self._length, f"{self._path}, line {self._line}", self._max_bytes)
        return chunk


def _lines(path: str, raw: IO[bytes], encoding: str, max_bytes: int) -> Iterator[str]:
    """Yield decoded lines with their ends; a byte that cannot be decoded is an error that names the line."""
    fitting = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
    try:
        text = io.TextIOWrapper(cast(IO[bytes], _ShortLines(raw, path, max_bytes)), fitting, newline="")
    except LookupError as error:
        raise InputError(f"encoding {encoding!r} is unknown to Python; try 'utf-8' or 'latin-1'") from error
    number = 0
    with text, readable(path):
        try:
            for line in text:
                number += 1
                yield line
        except UnicodeError as error:
            if not os.path.isfile(path):  # a pipe cannot be read again for the line
                raise FormatError(f"{path}, after line {number}: not valid {encoding}") from error
            raise FormatError(
                f"{path}, line {_undecodable_line(path, fitting) or number + 1}: not valid {encoding}; "
                f"give encoding=, such as {_likely_encoding(path)!r}"
            ) from error


def _likely_encoding(path: str) -> str:
    """Return the likely encoding of a table that is not UTF-8: UTF-16 if it begins with its mark."""
    return "utf-16" if start_of(path, 2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1"


def _undecodable_line(path: str, encoding: str) -> int | None:
    """Return the first line whose bytes do not decode; the decoder itself works in blocks of many lines."""
    if encoding.lower().startswith(("utf-16", "utf16", "utf-32", "utf32")):
        return None
    with open_binary(path) as raw, readable(path):
        for number, line in enumerate(raw, 1):
            try:
                line.decode(encoding)
            except UnicodeError:
                return number
    return None


def _delimiter(header: str) -> str:
    counts = Counter(character for character in _unquoted_part(header) if character in _DELIMITERS)
    return max(_DELIMITERS, key=lambda character: counts[character]) if counts else ","


def _unquoted_part(line: str) -> str:
    return "".join(line.split('"')[::2])


def _checked_rows(path: str, reader: Any, max_bytes: int) -> Iterator[list[str]]:
    width = None
    start = 1
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "field larger" in str(error):
                check_line(max_bytes, f"{path}, line {start}: a cell", max_bytes)
            raise FormatError(f"{path}, line {start}: {error}; check the quotes of this row") from error
        if row:
            if width is None:
                width = len(row)
            elif len(row) != width:
                raise FormatError(
                    f"{path}, line {start}: {len(row)} fields where the header has {width}; "
                    "check the quotes and the delimiter of this row"
                )
            yield row
        start = reader.line_num + 1


def stream_batches(
    file: IO[bytes],
    *,
    text: str | None = None,
    label: str | None = None,
    max_bytes: int = MAX_BYTES,
    where: str = "standard input",
) -> Iterator[pl.DataFrame]:
    """Yield frames like `batches` from an open file of JSON lines, such as a pipe, which is read once."""
    rows = _json_objects(where, file, check_max_bytes(max_bytes))
    first = next(rows, None)
    if first is None:
        raise FormatError(f"{where} is empty")
    columns = find_columns(list(first[0]), text, label, None, where=where)
    yield from _json_frames(where, chain([first], rows), columns)


def _json_frames(
    path: str, rows: Iterable[tuple[dict[str, Any], int]], columns: dict[str, str]
) -> Iterator[pl.DataFrame]:
    def picked() -> Iterator[list[Any]]:
        for row, number in rows:
            values = [row.get(name) for name in columns.values()]
            if values[0] is not None and not isinstance(values[0], str):
                raise FormatError(
                    f"{path}, line {number}: {columns['text']!r} is {values[0]!r:.40}, not text"
                )
            for name in columns.values():
                if name not in row:
                    raise FormatError(f"{path}, line {number}: no {name!r} here; the row has: {shown(row)}")
            yield [_whole(value) for value in values]

    yield from _framed(picked(), list(columns))


def _json_rows(path: str, max_bytes: int) -> Generator[tuple[dict[str, Any], int], None, None]:
    with open_binary(path) as raw:
        yield from _json_objects(path, raw, max_bytes)


def _json_objects(path: str, raw: IO[bytes], max_bytes: int) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the objects of JSON lines and the numbers of their lines."""
    for number, line in enumerate(_lines(path, raw, "utf-8", max_bytes), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{path}, line {number}: not a JSON object ({_json_fault(error)})") from error
        if not isinstance(row, dict):
            raise FormatError(f"{path}, line {number}: a JSON object was expected, one on each line")
        yield row, number


def _json_fault(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    # Python raises a plain ValueError for an integer of more than 4,300 digits.
    return "nested too deep" if isinstance(error, RecursionError) else "a number has too many digits"


def _whole(value: Any) -> Any:
    """Return a JSON value with lone surrogates replaced by U+FFFD."""
    if isinstance(value, str):
        return (
            value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if not value.isascii()
            else value
        )
    return [_whole(item) for item in value] if isinstance(value, list) else value


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
    """Return whether a folder, not an archive, has a table at its top level."""
    return is_folder and any("/" not in name and plain_suffix(name) in KINDS for name in names)


FORMAT = Format(
    name="table",
    reader=read_table,
    contents="CSV, TSV, JSON lines or Parquet: a file, a glob, a folder or a list of files",
    extensions=tuple(KINDS),
    start=re.compile(rb"PAR1|\s*\{\s*\"|[^\n\0,;\t|]*+[,;\t|]"),
    collection=_holds_tables,
    streams=True,
)
