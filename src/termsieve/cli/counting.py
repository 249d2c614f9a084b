"""The commands about counts files: count, merge, show."""

from __future__ import annotations

import sys
import warnings
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from termsieve.cli.output import check_output, show_json, show_table, working
from termsieve.cli.shell import say
from termsieve.cli.source import Source, takes_source
from termsieve.cli.terms import Json

app = typer.Typer()
Output = Annotated[
    Path, Option("-o", "--output", metavar="FILE", help="The counts file to write, as .parquet.")
]


@app.command(epilog="\b\nExample: termsieve count january.csv february.csv -o counts.parquet")
@takes_source
def count(
    source: Source,
    more: Annotated[
        list[str] | None, Argument(metavar="[FILE]...", help="More files.", show_default=False)
    ] = None,
    output: Output = Path("counts.parquet"),
    occurrences: Annotated[bool, Option("--occurrences", help="Count how often words occur, too.")] = False,
    workers: Annotated[
        int | None, Option("--workers", metavar="N", help="Threads; one a core by default.")
    ] = None,
    max_terms: Annotated[
        int | None, Option("--max-terms", metavar="N", help="Keep about so many words, the commonest.")
    ] = None,
    checkpoint: Annotated[
        Path | None, Option("--checkpoint", metavar="FILE", help="Where an interrupted run goes on from.")
    ] = None,
    whole_files: Annotated[
        bool,
        Option(
            "--whole-files",
            help="With --checkpoint: notice changed files by all of their content, not only its two ends.",
        ),
    ] = False,
    engine: Annotated[
        str, Option("--engine", metavar="NAME", help="Who counts: threads or dask.")
    ] = "threads",
    address: Annotated[
        str | None,
        Option("--address", metavar="ADDRESS", help="With --engine dask: its scheduler, as tcp://HOST:8786."),
    ] = None,
) -> None:
    """Count words once, into a file for the other commands.

    rank, compare, select, show and report work on it without the text. Counts are small, and those of
    several files add up to those of all documents. Tables are read in pieces and need not fit into
    memory.
    """
    check_output(output, (".parquet", ".pq"))
    files = [source.file, *(more or [])]
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        counts = source.counted(
            files,
            engine=engine,
            address=address,
            occurrences=occurrences,
            max_terms=max_terms,
            workers=workers,
            checkpoint=checkpoint,
            whole_files=whole_files,
            progress=sys.stderr.isatty(),
        )
    for doubt in doubts:
        if isinstance(doubt.message, UserWarning):
            say(str(doubt.message))
    counts.save(output)
    say(f"wrote {output}: {counts}")


@app.command(epilog="\b\nExample: termsieve merge january.parquet february.parquet -o both.parquet")
def merge(
    files: Annotated[list[str], Argument(metavar="FILE...", help="Counts files.", show_default=False)],
    output: Output,
) -> None:
    """Add up counts files of different documents."""
    from termsieve.counts import Counts

    check_output(output, (".parquet", ".pq"))
    with working("adding counts"):
        counts = reduce(add, (Counts.load(file) for file in files))
        counts.save(output)
    say(f"wrote {output}: {counts}")


@app.command(epilog="\b\nExample: termsieve show counts.parquet")
@takes_source
def show(
    source: Source,
    as_json: Json = False,
) -> None:
    """Show the classes, their skew and the commonest words."""
    counts = source.counts()
    classes = class_rows(counts)
    best = counts.by_df[:20]
    common = [
        {"term": str(term), "documents": int(df)}
        for term, df in zip(counts.names()[best], counts.df[best], strict=True)
    ]
    if as_json:
        show_json(
            {
                "documents": counts.n_docs,
                "terms": counts.n_terms,
                "multilabel": counts.multilabel,
                "occurrences": counts.occurrences,
                "classes": classes,
                "commonest": common,
            }
        )
        return
    several = ", several labels a document" if counts.multilabel else ""
    show_table(classes, f"{counts.n_docs:,} documents, {counts.n_terms:,} words{several}")
    show_table(common[:10], "the commonest words")


def class_rows(counts: Any) -> list[dict[str, Any]]:
    """Return a row for each class: its documents, and how many others come to one of it."""
    return [
        {
            "class": label.item() if hasattr(label, "item") else label,
            "documents": int(pos),
            "share": int(pos) / max(1, counts.n_docs),
            "skew": int(neg) / int(pos) if pos else None,
        }
        for label, pos, neg in zip(counts.classes, counts.pos, counts.neg, strict=True)
    ]
