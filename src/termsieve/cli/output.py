"""Rows come in; a table, CSV or JSON on stdout, or a file, goes out."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from termsieve import files
from termsieve.cli.shell import put, say, shown, wrong
from termsieve.display import readable

Row = Mapping[str, Any]
SHARES = ("share", "shared", "in_list")  # columns that a table shows as percentages
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
PADDING = 3  # characters between two columns of a table
UNBOUNDED = 10_000  # columns: a table that is not for a screen is never wrapped
# How a cell begins that a spreadsheet runs as a formula; the wide forms do so in East Asian editions.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def show(renderable: Any, aside: bool = False) -> None:
    """Print what rich can draw, `aside` to stderr; where it is no terminal, without wrapping and blanks."""
    from rich.console import Console

    screen = Console(highlight=False, stderr=aside)
    if screen.is_terminal:
        screen.print(renderable)
        return
    page = Console(highlight=False, width=UNBOUNDED, file=io.StringIO(), color_system=None)
    page.print(renderable)
    lines = page.file.getvalue().splitlines()  # type: ignore[attr-defined]
    (sys.stderr if aside else sys.stdout).write("".join(f"{line.rstrip()}\n" for line in lines))


def show_table(
    rows: Sequence[Row], title: str = "", columns: Sequence[str] | None = None, aside: bool = False
) -> None:
    """Print rows as an aligned table, numbers to the right; `aside` to stderr, beside data on stdout."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    names = list(columns or (rows[0] if rows else ()))
    if title:  # a line of its own: the title of a table is wrapped to the table's width
        say(title) if aside else put(shown(title) + "\n")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    cells: dict[str, list[str]] = {}
    for name in names:
        cells[name] = [shown(readable(row[name], share=name in SHARES), kept="") for row in rows]
    widths = _word_widths(cells, Console().width)
    for name in names:
        numeric = all(isinstance(row[name], int | float) or row[name] is None for row in rows)
        side: Any = "right" if numeric else "left"
        table.add_column(Text(name), justify=side, overflow="fold", min_width=widths.get(name))
    for row in zip(*cells.values(), strict=True):
        table.add_row(*map(Text, row))
    show(table, aside)


def _word_widths(cells: Mapping[str, Sequence[str]], room: int) -> dict[str, int]:
    """Return the width of each column below which words would be broken; none if there is no room for all."""
    widths = {
        name: max(len(word) for cell in (name, *column) for word in cell.split() or [""])
        for name, column in cells.items()
    }
    return widths if sum(widths.values()) + PADDING * len(widths) <= room else {}


def show_json(value: Any, indent: int = 2) -> None:
    """Print a value as indented JSON; characters that would act on a terminal are escaped, as JSON may."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=_plain)
    put(shown(text, escape=lambda character: json.dumps(character)[1:-1]) + "\n")


def show_csv(rows: Sequence[Row], raw_cells: bool = False) -> None:
    """Print rows as CSV with a header."""
    import csv

    page = io.StringIO()
    writer = csv.DictWriter(page, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows if raw_cells else map(without_formulas, rows))
    put(page.getvalue())


def without_formulas(row: Row) -> dict[str, Any]:
    """Return a row whose texts no spreadsheet runs: one that begins like a formula gets an apostrophe.

    >>> without_formulas({"term": "=1+1", "class": "spam", "tp": -1})
    {'term': "'=1+1", 'class': 'spam', 'tp': -1}
    """
    return {
        name: f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
        for name, value in row.items()
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no JSON")


def emit(
    rows: Sequence[Row],
    *,
    as_json: bool,
    as_csv: bool = False,
    output: Path | None = None,
    title: str = "",
    raw_cells: bool = False,
) -> None:
    """Print rows as a table, JSON or CSV, or write them to a file whose suffix says how."""
    if output is not None:
        write_rows(rows, output, raw_cells)
    elif as_json:
        show_json(list(rows))
    elif as_csv:
        show_csv(rows, raw_cells)
    else:
        show_table(rows, title)


def with_share(found: float, of: float) -> str:
    """Return a number of documents and their share.

    >>> with_share(200, 1000), with_share(0, 0)
    ('200 (20.0%)', '0')
    """
    return f"{readable(found)} ({readable(found / of, share=True)})" if of else readable(found)


def aligned(rows: list[dict[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return rows whose texts in some columns end at the same place."""
    for name in names:
        width = max((len(row[name]) for row in rows if name in row), default=0)
        rows = [row | {name: row[name].rjust(width)} if name in row else row for row in rows]
    return rows


def check_output(output: Path | None, suffixes: Sequence[str] = SUFFIXES) -> None:
    """Raise an error before any work is done if the file could not be written afterwards."""
    if output is None:
        return
    if suffixes and output.suffix.lower() not in suffixes:
        raise wrong(f"{output} must end with one of {', '.join(suffixes)}")
    if output.is_dir():
        raise wrong(f"{output} is a folder; name a file to write")
    if not output.parent.is_dir():
        raise wrong(f"the folder {output.parent} for {output.name} does not exist; create it first")


def write_rows(rows: Sequence[Row], output: Path, raw_cells: bool = False) -> None:
    """Write rows to a file: CSV, TSV, JSON, JSON lines or Parquet by its suffix."""
    kind = output.suffix.lower()
    if kind == ".json":
        write_text(output, json.dumps(list(rows), indent=2, ensure_ascii=False, default=_plain) + "\n")
        return
    import polars as pl

    guarded = kind in (".csv", ".tsv") and not raw_cells
    frame = pl.DataFrame(list(map(without_formulas, rows) if guarded else rows))
    with whole_file(output) as file:
        if kind == ".parquet":
            frame.write_parquet(file)
        elif kind == ".jsonl":
            frame.write_ndjson(file)
        else:
            frame.write_csv(file, separator="\t" if kind == ".tsv" else ",")
    say(f"wrote {output}")


def write_text(output: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with whole_file(output) as file:
        file.write(text.encode("utf-8", "backslashreplace"))
    say(f"wrote {output}")


@contextmanager
def whole_file(output: Path) -> Iterator[BinaryIO]:
    """Give an open file that becomes `output` only when all went well."""
    if output.exists() and not output.is_file():  # a device or a pipe cannot be replaced
        with open(output, "wb") as device:
            yield device
        return
    with files.whole_file(output) as file:
        yield file


@contextmanager
def working(message: str) -> Iterator[None]:
    """Show that work is in progress: an animation on a terminal, nothing otherwise."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield


@contextmanager
def sharing() -> Iterator[Callable[[float, str], None]]:
    """Give a function that is called with the share that is done and what is being done.

    On a terminal it shows both, with the time left; otherwise it does nothing.
    """
    if not sys.stderr.isatty():
        yield lambda share, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share, what: bar.update(task, completed=share, description=what)
