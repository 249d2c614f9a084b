"""An Excel workbook comes in; the names of its columns and its rows go out."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from termsieve.errors import FormatError, require
from termsieve.readers.delimited import has_header
from termsieve.readers.files import readable, too_large
from termsieve.readers.layout import SAMPLE_ROWS, Reading, Sample

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
    """Return the first rows of the first sheet that has any."""
    sheet, n_sheets, found = _sheet(path, reading.max_bytes)
    header = reading.header
    shown = [[_cell(value) for value in row] for row in found[: SAMPLE_ROWS + 1]]
    words = [["" if cell is None else str(cell) for cell in row] for row in shown]
    if header is None:
        header = has_header(words, {str(name) for name in wanted})
    names = [cell.strip() for cell in words[0]] if header else [str(n + 1) for n in range(len(words[0]))]
    guesses = []
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
    known = reading._replace(header=header)
    return Sample("Excel", tuple(names), shown[1:] if header else shown, known, details, tuple(guesses))


def rows(path: str, sampled: Reading, places: Sequence[int], text: int) -> Iterator[list[Any]]:
    """Yield the cells at the wanted places of each row; the cell at place `text` as a text."""
    _, _, found = _sheet(path, sampled.max_bytes)
    for row in found[1:] if sampled.header else found:
        cells = [_cell(row[place]) for place in places]
        if any(cell is not None for cell in cells):
            cells[text] = None if cells[text] is None else str(cells[text])
            yield cells


def _sheet(path: str, max_bytes: int) -> tuple[str, int, list[list[Any]]]:
    """Return the name of the first sheet that has rows, the number of sheets, and its rows."""
    calamine = require("python_calamine", "excel")
    with readable(path), zipfile.ZipFile(path) as archive:
        if sum(part.file_size for part in archive.infolist()) > max_bytes:
            raise too_large(f"{path} holds more bytes", max_bytes)
    try:
        workbook = calamine.CalamineWorkbook.from_path(path)
        for name in workbook.sheet_names:
            rows: list[list[Any]] = workbook.get_sheet_by_name(name).to_python()
            if rows:
                return name, len(workbook.sheet_names), rows
    except calamine.CalamineError as error:
        raise FormatError(f"{path} is no readable Excel workbook: {error}") from error
    raise FormatError(f"{path} has no row")


def _cell(value: Any) -> Any:
    """Return a cell: an empty one as None, a whole number as an integer."""
    if value == "":
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value
