"""The command that shows what was understood of a source: inspect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from termsieve.cli.options import Json, RawCells
from termsieve.cli.output import check_output, emit, show_json, show_table
from termsieve.cli.shell import in_options, put, say, wrong
from termsieve.cli.source import Source, takes_source

app = typer.Typer()
SHOWN_CLASSES = 20


@app.command(epilog="\b\nExample: termsieve inspect mail.csv")
@takes_source
def inspect(
    source: Source,
    output: Annotated[
        Path | None,
        Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the documents that occur several times to this .csv, .tsv, .json, .jsonl or .parquet "
            "file.",
        ),
    ] = None,
    as_json: Json = False,
    raw_cells: RawCells = False,
) -> None:
    """Show what is understood of a file: columns, classes, split, three documents, and what may be wrong.

    Nothing is counted or trained. The warnings name scripts without spaces between words, HTML, labels that
    look like several, classes with few documents, and equal documents with different labels.
    """
    from termsieve.inspection import inspect as inspected

    check_output(output)
    if source.is_counts:
        raise wrong(f"{source.file} holds counts, not documents; `termsieve show` shows them")
    source.term_options()
    with source.on_disk() as found:
        seen = inspected(found.file, format=found.format, **found.reader_options())
    if output is not None:
        emit(seen.duplicates, as_json=False, as_csv=False, output=output, title="", raw_cells=raw_cells)
        say(f"wrote {output}: {len(seen.duplicates):,} documents that occur several times")
    if as_json:
        show_json(seen.to_dict())
        return
    put(f"read as {seen.source}\n")
    largest = sorted(seen.class_sizes.items(), key=lambda item: -item[1])
    n_docs = sum(seen.class_sizes.values()) or 1
    classes = [{"class": str(c), "documents": n, "share": n / n_docs} for c, n in largest[:SHOWN_CLASSES]]
    show_table(classes, "classes")
    if len(largest) > SHOWN_CLASSES:
        put(f"and {len(largest) - SHOWN_CLASSES:,} more classes; --json lists all\n")
    if seen.split:
        show_table([{"part": part, "documents": n} for part, n in seen.split.items()], "split")
    if seen.samples:
        show_table(seen.samples, "documents")
    for doubt in seen.warnings:
        put(f"warning: {in_options(doubt)}\n")
