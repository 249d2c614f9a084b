"""The first part of a table comes in; how it is laid out, and which columns to read, goes out."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePath
from typing import Any, NamedTuple

from termsieve.columns import Columns, Wanted, column_phrase, find_columns, is_usual, likely_columns
from termsieve.errors import InputError, ParameterError
from termsieve.readers.files import MAX_BYTES, check_max_bytes, clean_name, plain_stem

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
SAMPLE_ROWS = 500  # of a table, that recognition looks at
_MOST_BEFORE = 20  # rows from which the header of a table is looked for
_TABS = ("\t", "\\t", "tab")
_NO_QUOTE = ("none", "")


class Reading(NamedTuple):
    """How the bytes of a table are read; what is None is recognised."""

    delimiter: str | None = None
    quote: str | None = None
    header: bool | None = None
    encoding: str | None = None
    max_bytes: int = MAX_BYTES

    def checked(self) -> Reading:
        """Return it in one spelling, or raise an error for the first wrong option."""
        delimiter, quote = self.delimiter, self.quote
        if delimiter in _TABS:
            delimiter = "\t"
        if quote is not None and quote.lower() in _NO_QUOTE:
            quote = ""
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n"\0'):
            raise ParameterError(
                f"delimiter={self.delimiter!r} must be one character that ends a field, such as ';', or 'tab'"
            )
        if quote is not None and (len(quote) > 1 or quote in ("\r", "\n", "\0", delimiter)):
            raise ParameterError(f"quote={self.quote!r} must be 'none' or one character, such as '\"'")
        if self.header not in (None, True, False):
            raise ParameterError(f"header={self.header!r} must be True, False or None")
        check_max_bytes(self.max_bytes)
        return self._replace(delimiter=delimiter, quote=quote)


@dataclass(frozen=True)
class Sample:
    """The first part of a table.

    `kind` is the format as a person calls it, `names` are those of the columns, `rows` are the first rows.
    `reading` has what was recognised of the bytes, `details` are words about it for the one-line form, and
    `guesses` are sentences about what may be wrong. `before` is the number of rows above the table, such as a
    title. In a CSV, `escape` is the character before quotes within a cell, and `spaced` says whether spaces
    follow the delimiter. `sheet` is the name of the sheet of a workbook.
    """

    kind: str
    names: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    reading: Reading
    details: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    before: int = 0
    escape: str | None = None
    spaced: bool = False
    sheet: str = ""


@dataclass(frozen=True)
class Layout:
    """A table's sample, the columns to read of it, and the options that were given."""

    path: str
    sample: Sample
    columns: Columns
    given: Reading

    @property
    def reading(self) -> Reading:
        """How this file is read, with what was recognised."""
        return self.sample.reading

    @property
    def texts(self) -> list[str]:
        """The first texts."""
        place = self.sample.names.index(str(self.columns["text"]))
        return [row[place] for row in self.sample.rows if isinstance(row[place], str)]

    @property
    def labels(self) -> list[Any]:
        """The first labels; none if they are in several columns."""
        name = self.columns.get("label")
        if not isinstance(name, str):
            return []
        place = self.sample.names.index(name)
        cells = [row[place] for row in self.sample.rows if row[place] is not None]
        return [cell.strip() if isinstance(cell, str) else cell for cell in cells]

    def phrase(self) -> str:
        """Return what was understood, for the one-line form: the columns, and what is not as usual."""
        by_number = self.sample.reading.header is False
        return ", ".join([column_phrase(self.columns, by_number), *self.sample.details])


def laid_out(
    path: str,
    sample: Sample,
    text: Wanted,
    label: Wanted,
    split: str | None = None,
    *,
    given: Reading,
    unlabelled: bool = False,
) -> Layout:
    """Return the layout of a table; columns that are not named are recognised by their names.

    If the table has no names, the columns are recognised by what they hold. `unlabelled` tables need no
    column of labels.
    """
    if sample.reading.header is False:
        text, label = likely_columns(sample.names, sample.rows, text, label, unlabelled, path)
    one_column = sample.kind == "CSV" and len(sample.names) == 1
    hint = "; give delimiter= if another character separates its cells" if one_column else ""
    columns = find_columns(
        sample.names, text, label, split, where=path, rows=sample.rows, unlabelled=unlabelled, hint=hint
    )
    return Layout(path, sample, columns, given)


def rows_before(rows: Sequence[Sequence[str]], wanted: Collection[str]) -> int:
    """Return the number of rows above the header: those of a title or a note, which fill fewer cells.

    A header is known by the usual names of a text and a label, or by the names that are `wanted`.

    >>> rows_before([["Survey 2024", ""], ["text", "label"], ["cheap pills", "spam"]], ())
    1
    """
    for place, row in enumerate(rows[:_MOST_BEFORE]):
        names = [cell.strip() for cell in row]
        usual = any(is_usual(name, "text") for name in names) and any(is_usual(n, "label") for n in names)
        if usual or (wanted and set(wanted) <= set(names)):
            n_filled = sum(map(bool, names))
            return place if all(sum(map(bool, above)) < n_filled for above in rows[:place]) else 0
    return 0


def said_before(n: int, path: str) -> list[str]:
    """Return the sentence about rows above a header, if there are any."""
    return (
        [f"the table of {path} begins with row {n + 1}; what is above its header was left out"] if n else []
    )


def column_names(first: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns by the header; a column without a name has its number.

    >>> column_names(["", " text "])
    ('1', 'text')
    """
    return tuple(cell.strip() or str(place) for place, cell in enumerate(first, 1))


def file_labels(paths: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return the class that each file is named for: the part of its name that differs from the others'.

    >>> file_labels(["data/plot.tok.gt9.5000", "data/quote.tok.gt9.5000"]), file_labels(["spam.csv.gz"])
    (['plot', 'quote'], ['spam'])
    >>> file_labels(["rt-polarity.neg", "rt-polarity.pos"])
    ['neg', 'pos']
    """
    names = [clean_name(PurePath(path).name).split(".") for path in paths]
    differing = [len(set(parts)) > 1 for parts in zip_longest(*names, fillvalue="")]
    if len(set(map(len, names))) > 1 or not any(differing):
        labels = [name[0] or plain_stem(path) for name, path in zip(names, paths, strict=True)]
    else:
        labels = [
            ".".join(part for part, differs in zip(name, differing, strict=True) if differs) for name in names
        ]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InputError(f"two files would both be class {twice!r}; rename one, or give their labels")
    return labels
