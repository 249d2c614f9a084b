"""An Excel workbook comes in; the names of its columns and its rows go out."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, time
from typing import Any

from termsieve.errors import FormatError, require
from termsieve.readers.delimited import has_header
from termsieve.readers.files import readable, too_large
from termsieve.readers.layout import SAMPLE_ROWS, Reading, Sample, column_names, rows_before, said_before

# The part of a zip file that every document of an office program has.
_PARTS = ("[Content_Types].xml", "META-INF/manifest.xml")


def is_office_document(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a zip of an office program, such as a workbook, and not one of folders."""
    return any(name in _PARTS for name in _members(path))


def is_workbook(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is an Excel workbook."""
    return "xl/workbook.xml" in _members(path)


def _members(path: str | os.PathLike[str]) -> list[str]:
    if not os.path.isfile(path) or not zipfile.is_zipfile(path):
        return []
    with readable(path), zipfile.ZipFile(path) as archive:
        return archive.namelist()


def sample(path: str, reading: Reading, wanted: Sequence[Any] = ()) -> Sample:
    """Return the first rows of the first sheet that has a table."""
    names_of_sheets, sheet, found = _sheet(path, reading.max_bytes)
    header = reading.header
    shown = [[_cell(value) for value in row] for row in found[: SAMPLE_ROWS + 1]]
    words = [["" if cell is None else str(cell) for cell in row] for row in shown]
    names_wanted = {str(name) for name in wanted}
    before = 0 if header is False else rows_before(words, names_wanted)
    shown, words = shown[before:], words[before:]
    if header is None:
        header = has_header(words, names_wanted)
    names = column_names(words[0]) if header else tuple(str(n + 1) for n in range(len(words[0])))
    guesses = said_before(before, path)
    n_sheets = len(names_of_sheets)
    if n_sheets > 1:
        guesses.append(
            f"{path} has {n_sheets} sheets, and only {sheet!r} was read; save another one as CSV to read it"
        )
    if not header and reading.header is None:
        guesses.append(
            f"the first row of {path} looks like a document, so it is read as a table without a header; "
            "give header=True if it is one"
        )
    details = ("Excel", *(("no header",) if not header else ()))
    return Sample(
        "Excel",
        names,
        shown[1:] if header else shown,
        reading._replace(header=header),
        details,
        tuple(guesses),
        before=before,
        sheet=sheet,
    )


def rows(path: str, sampled: Sample, places: Sequence[int], text: int) -> Iterator[list[Any]]:
    """Yield the cells at the wanted places of each row; the cell at place `text` as a text."""
    _, _, found = _sheet(path, sampled.reading.max_bytes, sampled.sheet)
    for row in found[sampled.before + bool(sampled.reading.header) :]:
        cells = [_cell(row[place]) for place in places]
        if any(cell is not None for cell in cells):
            cells[text] = None if cells[text] is None else str(cells[text])
            yield cells


def _sheet(path: str, max_bytes: int, wanted: str | None = None) -> tuple[list[str], str, list[list[Any]]]:
    """Return the names of the sheets, that of the wanted or first one with a table, and its rows.

    A table has two columns and two rows; if there is none, it is the first sheet that has rows.
    """
    calamine = require("python_calamine", "excel")
    with readable(path), zipfile.ZipFile(path) as archive:
        if sum(part.file_size for part in archive.infolist()) > max_bytes:
            raise too_large(f"{path} holds more bytes", max_bytes)
    first = None
    try:
        workbook = calamine.CalamineWorkbook.from_path(path)
        names: list[str] = workbook.sheet_names
        for name in names if wanted is None else [wanted]:
            rows: list[list[Any]] = workbook.get_sheet_by_name(name).to_python()
            if rows and (wanted is not None or (len(rows) > 1 and len(rows[0]) > 1)):
                return names, name, rows
            first = first or ((name, rows) if rows else None)
    except calamine.CalamineError as error:
        raise FormatError(f"{path} is no readable Excel workbook: {error}") from error
    if first is None:
        raise FormatError(f"{path} has no row")
    return names, *first


def _cell(value: Any) -> Any:
    """Return a cell: an empty one as None, a whole number as an integer, a date as a text."""
    if value == "":
        return None
    if isinstance(value, date | time):
        return value.isoformat()
    return int(value) if isinstance(value, float) and value.is_integer() else value
