"""JSON lines or a JSON array come in; the objects, one row each, go out."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from typing import IO, Any

from termsieve.errors import FormatError, shown
from termsieve.readers.encodings import first_part, taken, text_lines
from termsieve.readers.files import check_line, open_binary
from termsieve.readers.layout import SAMPLE_ROWS, Reading, Sample

_CHUNK = 1 << 20
_ARRAY = re.compile(r"\s*\[\s*([{\]]|$)")  # of objects, or empty
_BETWEEN = re.compile(r"[\s,]*")  # two elements
Row = tuple[dict[str, Any], int]  # an object, and the line or the place where it is


def sample(path: str, reading: Reading) -> Sample:
    """Return the first rows of a file; the fields of objects within objects are columns, such as doc.body."""
    text, encoding, _ = first_part(path, reading.encoding)
    kind = "JSON array" if text.lstrip().startswith("[") else "JSON lines"
    known = reading._replace(encoding=encoding)
    with closing(rows(path, known)) as found:
        first = [row for row, _ in islice(found, SAMPLE_ROWS)]
    if not first:
        raise FormatError(f"{path} is empty")
    said = encoding not in (None, "utf-8", reading.encoding)
    return row_sample(kind, first, known, (f"{path} {taken(str(encoding))}",) if said else ())


def row_sample(
    kind: str, first: list[dict[str, Any]], reading: Reading, said: tuple[str, ...] = ()
) -> Sample:
    """Return the sample of rows that were read; the columns are those of the first row."""
    names = tuple(flat_names(first[0]))
    cells = [[field(row, name) for name in names] for row in first]
    return Sample(kind, names, cells, reading, details=(kind,), guesses=said)


def flat_names(row: dict[str, Any], before: str = "") -> Iterator[str]:
    """Yield the names of an object's fields; those of objects within it have a dot.

    >>> list(flat_names({"id": 1, "doc": {"title": "a", "body": "b"}}))
    ['id', 'doc.title', 'doc.body']
    """
    for name, value in row.items():
        if isinstance(value, dict) and value:
            yield from flat_names(value, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def field(row: dict[str, Any], name: str, missing: Any = None) -> Any:
    """Return the field of an object, or of an object within it if the name has a dot."""
    if name in row:
        return row[name]
    head, dot, rest = name.partition(".")
    while dot:
        if isinstance(row.get(head), dict):
            return field(row[head], rest, missing)
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    return missing


_ABSENT = object()


def picked(path: str, found: Iterable[Row], text: str, names: Sequence[str]) -> Iterator[list[Any]]:
    """Yield the wanted fields of each object; a missing one, or a text that is none, names the line."""
    for row, number in found:
        values = [row[name] if name in row else field(row, name, _ABSENT) for name in names]
        for name, value in zip(names, values, strict=True):
            if value is _ABSENT:
                raise FormatError(f"{path}, line {number}: no {name!r} here; the row has: {shown(row)}")
            if name == text and value is not None and not isinstance(value, str):
                raise FormatError(f"{path}, line {number}: {name!r} is {value!r:.40}, not text")
        yield [_whole(value) for value in values]


def rows(path: str, reading: Reading) -> Generator[Row, None, None]:
    """Yield the objects of a file and the numbers of their lines, or of their places in an array."""
    with open_binary(path) as raw:
        yield from objects(path, raw, reading)


def objects(path: str, raw: IO[bytes], reading: Reading) -> Iterator[Row]:
    """Yield the objects of an open file, JSON lines or one array."""
    lines = text_lines(path, raw, reading.encoding, reading.max_bytes)
    begun = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if not begun and _ARRAY.match(line):
            yield from _elements(path, chain([line.lstrip()[1:]], lines), reading.max_bytes)
            return
        begun = True
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(
                f"{path}, line {number}: not a JSON object ({_fault(error)}); there must be one "
                "on each line, or one array of them"
            ) from error
        if not isinstance(row, dict):
            raise FormatError(f"{path}, line {number}: a JSON object was expected, one on each line")
        yield row, number


def _elements(path: str, lines: Iterator[str], max_bytes: int) -> Iterator[Row]:
    """Yield the objects of an array after its bracket; only some of its text is held at a time."""
    decode, buffer, place, ended, number = json.JSONDecoder().raw_decode, "", 0, False, 0
    while True:
        place = _BETWEEN.match(buffer, place).end()  # type: ignore[union-attr]
        if buffer.startswith("]", place):
            return
        try:
            row, place = decode(buffer, place)
        except (ValueError, RecursionError) as error:
            if ended or isinstance(error, RecursionError):
                raise FormatError(
                    f"{path}, element {number + 1} of the array: not a JSON object ({_fault(error)})"
                ) from error
            check_line(len(buffer) - place, f"{path}, element {number + 1} of the array", max_bytes)
            more, ended = _more(lines, max(len(buffer) - place, _CHUNK))
            buffer, place = buffer[place:] + more, 0
            continue
        number += 1
        if not isinstance(row, dict):
            raise FormatError(f"{path}, element {number} of the array: an object was expected")
        yield row, number


def _more(lines: Iterator[str], size: int) -> tuple[str, bool]:
    """Return the next lines with about `size` characters, and whether they are the last."""
    parts, held = [], 0
    for line in lines:
        parts.append(line)
        held += len(line)
        if held >= size:
            return "".join(parts), False
    return "".join(parts), True


def _fault(error: Exception) -> str:
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
