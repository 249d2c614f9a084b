"""JSON lines, a JSON array or one object of rows come in; the objects, one row each, go out."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from typing import IO, Any

from termsieve.errors import FormatError, beyond_python, shown
from termsieve.readers.encodings import first_part, taken, text_lines
from termsieve.readers.files import LINES_PER_LIMIT, check_line, open_binary
from termsieve.readers.layout import SAMPLE_ROWS, Reading, Sample

_CHUNK = 1 << 20
_ARRAY = re.compile(r"\s*\[\s*([{\]]|$)")  # of objects, or empty
_BETWEEN = re.compile(r"[\s,]*")  # two elements
Row = tuple[dict[str, Any], int]  # an object, and the line or the place where it is


def sample(path: str, reading: Reading) -> Sample:
    """Return the first rows of a file; the fields of objects within objects are columns, such as doc.body."""
    _, encoding, _ = first_part(path, reading.encoding)
    known = reading._replace(encoding=encoding)
    with open_binary(path) as raw:
        kind, found = kind_and_rows(path, raw, known)
        with closing(found):
            first = [row for row, _ in islice(found, SAMPLE_ROWS)]
    if not first:
        raise FormatError(f"{path} is empty")
    said = encoding not in (None, "utf-8", reading.encoding)
    return row_sample(kind, first, known, (f"{path} {taken(str(encoding))}",) if said else ())


def row_sample(
    kind: str, first: list[dict[str, Any]], reading: Reading, said: tuple[str, ...] = ()
) -> Sample:
    """Return the sample of rows that were read; the columns are those of all of them."""
    names = tuple(dict.fromkeys(name for row in first for name in flat_names(row)))
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


def picked(path: str, found: Iterable[Row], names: Sequence[str]) -> Iterator[list[Any]]:
    """Yield the wanted fields of each object; the first is the text, and an error names a line without it.

    Other fields that are not there are None.
    """
    text = names[0]
    for row, number in found:
        values = [row[name] if name in row else field(row, name, _ABSENT) for name in names]
        if not isinstance(values[0], str) and values[0] is not None:
            if values[0] is _ABSENT:
                raise FormatError(f"{path}, line {number}: no {text!r} here; the row has: {shown(row)}")
            more = "; join its parts to one text" if isinstance(values[0], list) else ""
            raise FormatError(f"{path}, line {number}: {text!r} is {values[0]!r:.40}, not text{more}")
        yield [None if value is _ABSENT else _whole(value) for value in values]


def rows(path: str, reading: Reading) -> Iterator[Row]:
    """Yield the objects of a file and the numbers of their lines, or of their places in an array."""
    with open_binary(path) as raw:
        yield from kind_and_rows(path, raw, reading)[1]


def kind_and_rows(path: str, raw: IO[bytes], reading: Reading) -> tuple[str, Generator[Row, None, None]]:
    """Return how the objects of an open file are written, and an iterator of them."""
    lines = text_lines(path, raw, reading.encoding, reading.max_bytes)
    number, first = next(((n, line) for n, line in enumerate(lines, 1) if line.strip()), (0, ""))
    if _ARRAY.match(first):
        return "JSON array", _elements(path, chain([first.lstrip()[1:]], lines), reading.max_bytes)
    if _is_open(first):
        return "JSON", _document(path, chain([first], lines), reading.max_bytes)
    more = []
    for line in lines:
        more.append(line)
        if line.strip():
            break
    else:
        found = rows_within(_loaded(path, first, number)) if first else None
        if found is not None:
            return "JSON", ((row, place) for place, row in enumerate(found, 1))
    return "JSON lines", _line_objects(path, number, chain([first], more, lines))


def _line_objects(path: str, start: int, lines: Iterable[str]) -> Generator[Row, None, None]:
    for number, line in enumerate(lines, start):
        if not line.strip():
            continue
        row = _loaded(path, line, number)
        if not isinstance(row, dict):
            raise FormatError(
                f"{path}, line {number}: a JSON object was expected, one on each line, such as "
                '{"text": "...", "label": "..."}'
            )
        yield row, number


def _loaded(path: str, line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{path}, line {number}: not a JSON object ({_fault(error)}); there must be one "
            "on each line, or one array of them"
        ) from error


def _is_open(line: str) -> bool:
    """Return whether a line is the beginning of an object that goes on in the next line."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return line.lstrip().startswith("{") and error.pos >= len(line.rstrip())
    except (ValueError, RecursionError):
        pass
    return False


def _document(path: str, lines: Iterator[str], max_bytes: int) -> Generator[Row, None, None]:
    """Yield the rows of objects that are written over several lines: one that holds rows, or one per row."""
    text, _ = _more(lines, max_bytes // LINES_PER_LIMIT + 1)
    check_line(len(text), f"{path}: an object over several lines", max_bytes)
    decode, place, objects = json.JSONDecoder().raw_decode, 0, []
    while (place := _BETWEEN.match(text, place).end()) < len(text):  # type: ignore[union-attr]
        try:
            value, end = decode(text, place)
        except (ValueError, RecursionError) as error:
            at = error.pos if isinstance(error, json.JSONDecodeError) else place
            line = text.count("\n", 0, at) + 1
            raise FormatError(f"{path}, line {line}: not a JSON object ({_fault(error)})") from error
        objects.append((value, text.count("\n", 0, place) + 1))
        place = end
    found = rows_within(objects[0][0]) if len(objects) == 1 else None
    if found is not None:
        objects = [(row, number) for number, row in enumerate(found, 1)]
    for row, number in objects:
        if not isinstance(row, dict):
            raise FormatError(f"{path}, line {number}: a JSON object was expected")
        yield row, number


def rows_within(document: Any) -> list[dict[str, Any]] | None:
    """Return the rows that one object holds as a list of objects, or by columns as pandas writes them.

    >>> rows_within({"version": 1, "data": [{"text": "a"}, {"text": "b"}]})
    [{'text': 'a'}, {'text': 'b'}]
    >>> rows_within({"text": {"0": "a", "1": "b"}, "label": {"0": "x", "1": "y"}})
    [{'text': 'a', 'label': 'x'}, {'text': 'b', 'label': 'y'}]
    """
    if not isinstance(document, dict):
        return None
    lists = [value for value in document.values() if isinstance(value, list) and value]
    of_objects = [value for value in lists if all(isinstance(item, dict) for item in value)]
    if len(of_objects) == 1:
        return of_objects[0]
    names, cells = list(document), list(document.values())
    if isinstance(document.get("columns"), list) and isinstance(document.get("data"), list):
        names, table = [str(name) for name in document["columns"]], document["data"]
        whole = all(isinstance(row, list) and len(row) == len(names) for row in table)
        return [dict(zip(names, row, strict=True)) for row in table] if whole else None
    if cells and all(isinstance(value, dict) for value in cells):
        keys = list(cells[0])
        if not keys or not keys[0].isdecimal() or any(list(value) != keys for value in cells):
            return None
        cells = [list(value.values()) for value in cells]
    elif len(lists) < len(cells) or len(cells) < 2 or len({len(value) for value in lists}) != 1:
        return None
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]


def _elements(path: str, lines: Iterator[str], max_bytes: int) -> Generator[Row, None, None]:
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
    return error.msg if isinstance(error, json.JSONDecodeError) else beyond_python(error)


def _whole(value: Any) -> Any:
    """Return a JSON value with lone surrogates replaced by U+FFFD."""
    if isinstance(value, str):
        return (
            value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if not value.isascii()
            else value
        )
    return [_whole(item) for item in value] if isinstance(value, list) else value
