"""A CSV or TSV file comes in; how it is laid out, and its rows, go out."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from termsieve.columns import is_usual, long_column
from termsieve.errors import FormatError
from termsieve.readers.encodings import FIRST_PART, first_part, taken, text_lines
from termsieve.readers.files import LINES_PER_LIMIT, check_line, check_lines, open_binary, plain_suffix
from termsieve.readers.layout import SAMPLE_ROWS, Reading, Sample, column_names, rows_before, said_before

_DELIMITERS = ",\t;|"
_LEAST_CONSISTENCY = 0.6  # share of rows of a table that have the same number of fields
_OPEN_LINES = 50  # that a cell in quotes may have where the first part of a file ends
_NAMES = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}


class _Parse(NamedTuple):
    """The first rows of a file, cut with a delimiter and a quote; `sound` if there was no error."""

    delimiter: str
    quote: str
    rows: list[list[str]]
    sound: bool
    escape: str | None = None
    spaced: bool = False

    @property
    def even(self) -> bool:
        """Whether all rows have the same number of fields, more than one, and there was no error."""
        return self.sound and len({len(row) for row in self.rows}) == 1 and len(self.rows[0]) > 1

    @property
    def consistency(self) -> float:
        """The share of rows that have the usual number of fields, which must be more than one."""
        widths = Counter(map(len, self.rows))
        width, n = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return n / len(self.rows) if width > 1 else 0.0


def sample(path: str, reading: Reading, wanted: Collection[Any] = ()) -> Sample:
    """Return the first part of a CSV or TSV file; `wanted` are the columns that were asked for by name."""
    text, encoding, whole = first_part(path, reading.encoding)
    if not text.strip():
        raise FormatError(f"{path} is empty")
    lines = _lines(text, whole)
    check_lines(lines, path, reading.max_bytes)
    chosen = _chosen(lines, whole, reading, path)
    rows = chosen.rows or [[]]
    header = reading.header
    names_wanted = {str(name) for name in wanted}
    # Spreadsheets write the delimiter into a line of its own.
    n_separator = int(len(rows) > 1 and rows[0][0].lower().startswith("sep=") and not any(rows[0][1:]))
    before = n_separator
    if header is not False:
        before += rows_before(rows[n_separator:], names_wanted)
    rows = rows[before:]
    if header is None:
        header = has_header(rows, names_wanted)
    guesses = said_before(before if before > n_separator else 0, path)
    if encoding not in (None, "utf-8", reading.encoding):
        guesses.append(f"{path} {taken(str(encoding))}")
    if not header and reading.header is None:
        guesses.append(
            f"the first row of {path} looks like a document, so it is read as a table without a header; "
            "give header=True if it is one"
        )
    if header and reading.header is None and len(rows) > 1 and _looks_like_data(rows[0], rows[1:]):
        guesses.append(f"the first row of {path} may be a document; give header=False if it is no header")
    names = column_names(rows[0]) if header else tuple(str(n + 1) for n in range(len(rows[0])))
    body = rows[1:] if header else rows
    return Sample(
        "CSV",
        names,
        [row for row in body if len(row) == len(names)][:SAMPLE_ROWS],
        reading._replace(delimiter=chosen.delimiter, quote=chosen.quote, header=header, encoding=encoding),
        details=tuple(_details(chosen, header, encoding)),
        guesses=tuple(guesses),
        before=before,
        escape=chosen.escape,
        spaced=chosen.spaced,
    )


def looks_cut(path: str) -> bool:
    """Return whether most lines of a file have the same number of fields, as those of a table have."""
    text, _, whole = first_part(path, None)
    return _chosen(_lines(text, whole), whole, Reading(), path).consistency > _LEAST_CONSISTENCY


def _details(chosen: _Parse, header: bool, encoding: str | None) -> Iterator[str]:
    if chosen.delimiter != ",":
        yield f"delimiter {_NAMES.get(chosen.delimiter, chosen.delimiter)}"
    if chosen.quote == "'":
        yield "single quotes"
    if chosen.escape:
        yield "a backslash before quotes"
    if not header:
        yield "no header"
    if encoding not in (None, "utf-8"):
        yield str(encoding)


def _lines(text: str, whole: bool) -> list[str]:
    lines = list(io.StringIO(text, newline=""))
    return lines if whole or len(lines) < 2 else lines[:-1]


def _chosen(lines: list[str], whole: bool, reading: Reading, path: str) -> _Parse:
    """Return the parse with the delimiter that cuts most rows alike; of equals, the one the header uses."""
    delimiters = _DELIMITERS if reading.delimiter is None else reading.delimiter
    parses = [_parse(lines, whole, delimiter, reading.quote) for delimiter in delimiters]
    by_name = "\t" if plain_suffix(path) in (".tsv", ".tab") else ","

    def merit(parse: _Parse) -> tuple[float, int, int, bool]:
        first = parse.rows[0] if parse.rows else []
        n_usual = sum(map(is_usual, first))
        return round(parse.consistency, 2), n_usual, len(first), parse.delimiter == by_name

    return max(parses, key=merit)


def _parse(lines: list[str], whole: bool, delimiter: str, quote: str | None) -> _Parse:
    if quote is not None:
        return _cut(lines, whole, delimiter, quote)
    quoted = _cut(lines, whole, delimiter, '"')
    if delimiter != "\t":
        return quoted if quoted.even else next(_others(lines, whole, delimiter), quoted)
    # Most files with tabs have no quoting: a quote at the start of a cell is text, unless all of them fit.
    plain = _cut(lines, whole, delimiter, "")
    has_quotes = any(cell.startswith('"') for row in plain.rows for cell in row)
    widths = {len(row) for row in quoted.rows}
    return quoted if has_quotes and quoted.sound and len(widths) == 1 else plain


def _others(lines: list[str], whole: bool, delimiter: str) -> Iterator[_Parse]:
    """Yield the ways of quoting that fit a file which the usual one does not fit."""
    text = "".join(lines)
    ways: list[tuple[str, str | None, bool]] = []
    if f'{delimiter} "' in text:
        ways.append(('"', None, True))
    if '\\"' in text:
        ways.append(('"', "\\", False))
    if f"'{delimiter}" in text or f"{delimiter}'" in text:
        ways.append(("'", None, False))
    for quote, escape, spaced in ways:
        parse = _cut(lines, whole, delimiter, quote, escape, spaced)
        if parse.even:
            yield parse


def _cut(
    lines: list[str],
    whole: bool,
    delimiter: str,
    quote: str,
    escape: str | None = None,
    spaced: bool = False,
) -> _Parse:
    rows: list[list[str]] = []
    reader = csv.reader(iter(lines), strict=True, **_format(delimiter, quote, escape, spaced))
    with _wide_fields(FIRST_PART):
        while True:
            start = reader.line_num
            try:
                row = next(reader)
            except StopIteration:
                return _Parse(delimiter, quote, rows, True, escape, spaced)
            except csv.Error as error:
                # Where the first part ends, a cell may be open; one that swallowed many lines is a mistake.
                is_open = "unexpected end" in str(error) and len(lines) - start < _OPEN_LINES and not whole
                return _Parse(delimiter, quote, rows, is_open, escape, spaced)
            if row:
                rows.append(row)


def _format(delimiter: str, quote: str, escape: str | None = None, spaced: bool = False) -> dict[str, Any]:
    if not quote:
        return {"delimiter": delimiter, "quoting": csv.QUOTE_NONE}
    return {"delimiter": delimiter, "quotechar": quote, "escapechar": escape, "skipinitialspace": spaced}


def has_header(rows: list[list[str]], wanted: set[str]) -> bool:
    """Return whether the first row is a header: it has a wanted or usual name, or looks like no document."""
    first, rest = rows[0], rows[1:]
    names = {cell.strip() for cell in first}
    if wanted & names or any(map(is_usual, names)):
        return True
    places = [str(n) for n in range(len(first))]
    whole = [row for row in rest if len(row) == len(first)]
    return long_column(places, whole) is None or not _looks_like_data(first, whole)


def _looks_like_data(first: list[str], rest: list[list[str]]) -> bool:
    """Return whether a cell of the first row recurs below it, or is a number in a column of numbers."""
    whole = [row for row in rest if len(row) == len(first)]
    text = long_column([str(n) for n in range(len(first))], whole)
    for place, cell in enumerate(first):
        below = [row[place] for row in whole]
        if str(place) == text or not cell.strip() or not below:
            continue
        if cell in below or (_is_number(cell) and all(map(_is_number, below))):
            return True
    return False


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@contextmanager
def opened(path: str, sampled: Sample) -> Iterator[Iterator[list[str]]]:
    """Open a file as its rows, each as long as the first, which may be the header."""
    reading = sampled.reading
    assert reading.delimiter is not None
    assert reading.quote is not None
    max_bytes = reading.max_bytes
    how = _format(reading.delimiter, reading.quote, sampled.escape, sampled.spaced)
    with open_binary(path) as raw, _wide_fields(max_bytes // LINES_PER_LIMIT):
        lines = text_lines(path, raw, reading.encoding, max_bytes)
        rows = _checked_rows(path, csv.reader(lines, strict=True, **how), reading, sampled.before)
        if reading.header:
            next(rows, None)
        yield rows


@contextmanager
def _wide_fields(limit: int) -> Iterator[None]:
    before = csv.field_size_limit(min(limit, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _checked_rows(path: str, reader: Any, sampled: Reading, before: int) -> Iterator[list[str]]:
    width = None
    start = 1
    other = ", or give quote='none' if quotes are text" if sampled.quote else ""
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "field larger" in str(error):
                check_line(sampled.max_bytes, f"{path}, line {start}: a cell", sampled.max_bytes)
            raise FormatError(
                f"{path}, line {start}: {error}; check the quotes of this row{other}"
            ) from error
        if row:
            if before:
                before -= 1
                start = reader.line_num + 1
                continue
            if width is None:
                width = len(row)
            elif len(row) != width:
                first = "the header" if sampled.header else "the first row"
                raise FormatError(
                    f"{path}, line {start}: {len(row)} fields where {first} has {width}; "
                    "check the quotes and the delimiter of this row"
                )
            yield row
        start = reader.line_num + 1
