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

from termsieve.cli.options import DropPassages, Json
from termsieve.cli.output import check_output, show_json, show_table, working
from termsieve.cli.shell import put, say, wrong
from termsieve.cli.source import Source, takes_source
from termsieve.spec import READING

app = typer.Typer()
COMMON = 20  # words that `show --json` lists
SHOWN_CLASSES = 100  # that a table has; --json lists all
Output = Annotated[
    Path, Option("-o", "--output", metavar="FILE", help="Write the counts to this .parquet file.")
]


@app.command(epilog="\b\nExample: termsieve count january.csv february.csv -o counts.parquet")
@takes_source
def count(
    source: Source,
    more: Annotated[
        list[str] | None, Argument(metavar="[FILE]...", help="More files.", show_default=False)
    ] = None,
    output: Output = Path("counts.parquet"),
    occurrences: Annotated[bool, Option("--occurrences", help="Also count how often words occur.")] = False,
    drop_passages: DropPassages = False,
    by: Annotated[
        str | None,
        Option(
            "--by",
            metavar="COL[:UNIT]",
            help="Keep counts apart by this column: source, or dates with day, week, month or year "
            "(date:week), for diff and trend.",
        ),
    ] = None,
    workers: Annotated[
        int | None, Option("--workers", metavar="N", help="Number of threads; one per processor by default.")
    ] = None,
    max_terms: Annotated[
        int | None,
        Option("--max-terms", metavar="N", help="Keep only about N words, the most frequent ones."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        Option(
            "--checkpoint", metavar="FILE", help="File with the state; an interrupted run continues from it."
        ),
    ] = None,
    whole_files: Annotated[
        bool,
        Option(
            "--whole-files",
            help="With --checkpoint: detect changed files by their whole content, not only by both ends.",
        ),
    ] = False,
    engine: Annotated[
        str,
        Option("--engine", metavar="NAME", help="The engine that counts: threads, or dask for a cluster."),
    ] = "threads",
    address: Annotated[
        str | None,
        Option(
            "--address", metavar="ADDRESS", help="With --engine dask: the scheduler, such as tcp://HOST:8786."
        ),
    ] = None,
) -> None:
    """Count words once, and write the counts to a file for the other commands.

    rank, compare, select, show and report work on this file without the text. It is small, and `merge` adds
    up the counts of several files. Tables are read in pieces, so they need not fit into memory. With --by the
    file also holds the counts of each window, which `diff` and `trend` compare.
    """
    check_output(output, (".parquet", ".pq"))
    if drop_passages and (more or by or checkpoint or engine != "threads"):
        raise wrong(
            "--drop-passages compares the documents of one file with each other; "
            "leave out more files, --by, --checkpoint and --engine"
        )
    how: dict[str, Any] = {"occurrences": occurrences, "max_terms": max_terms, "workers": workers}
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        if drop_passages:
            counts = source.counted_without_passages(**how)
        else:
            counts = source.counted(
                [source.file, *(more or [])],
                engine=engine,
                address=address,
                by=by,
                checkpoint=checkpoint,
                whole_files=whole_files,
                progress=sys.stderr.isatty(),
                **how,
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
    from termsieve.counts.storage import load_all

    check_output(output, (".parquet", ".pq"))
    with working("adding counts"):
        counts = reduce(add, load_all(files))
        counts.save(output)
    say(f"wrote {output}: {counts}")


@app.command(epilog="\b\nExample: termsieve show counts.parquet")
@takes_source
def show(
    source: Source,
    drop_passages: DropPassages = False,
    as_json: Json = False,
) -> None:
    """Show the classes, their skew, the best words for each, and the most frequent words.

    The words are those that `rank --each` lists first, by its default metric.
    """
    from termsieve.telling import class_words, common_terms

    counts = source.counted_without_passages() if drop_passages else source.counts()
    summary, common = class_words(counts), common_terms(counts, COMMON).to_dicts()
    if as_json:
        show_json(
            {
                "documents": counts.n_docs,
                "terms": counts.n_terms,
                "multilabel": counts.multilabel,
                "occurrences": counts.occurrences,
                "classes": summary.to_dicts(),
                "commonest": common,
            }
        )
        return
    several = ", documents with several labels" if counts.multilabel else ""
    first = summary.head(SHOWN_CLASSES).to_dicts()
    title = f"{counts.n_docs:,} documents, {counts.n_terms:,} words{several}; words by {READING}"
    show_table(first, title)
    if summary.height > SHOWN_CLASSES:
        put(f"and {summary.height - SHOWN_CLASSES:,} more classes; --json lists all\n")
    show_table(common[:10], "the commonest words")
