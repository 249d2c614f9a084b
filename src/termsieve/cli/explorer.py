"""The commands that show words in their documents: report, words, documents."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from termsieve.cli.options import Csv, DropPassages, Json, MinDf, RawCells, Table
from termsieve.cli.output import check_output, emit, sharing, show_json, show_table
from termsieve.cli.shell import put, say, shown, wrong
from termsieve.cli.source import Source, takes_source
from termsieve.cli.studies import Html, study_report_command
from termsieve.cli.terms import split_specs
from termsieve.display import readable
from termsieve.spec import READING

app = typer.Typer()
METRICS = f"{READING},bns,odds_ratio"
SHOWN_LETTERS = 400  # of a document in the terminal

Metrics = Annotated[
    str, Option("--metrics", metavar="A,B,...", help="The metrics that score words, separated by commas.")
]


@app.command(epilog="\b\nExample: termsieve report mail.csv --text body --label folder -o report.html")
@takes_source
def report(
    source: Source,
    output: Html = Path("report.html"),
    target: Annotated[
        str | None, Option("--class", "-c", metavar="NAME", help="The class that is shown first.")
    ] = None,
    metrics: Metrics = METRICS,
    k: Annotated[int, Option("-k", metavar="N", help="Number of words for and against a class.")] = 20,
    min_df: MinDf = 1,
    drop_passages: DropPassages = False,
    examples: Annotated[
        int,
        Option(
            "--examples",
            metavar="N",
            help="Largest number of example documents per word and class; 0 for none.",
        ),
    ] = 3,
    no_text: Annotated[
        bool, Option("--no-text", help="Put no text of a document into the file, only its words.")
    ] = False,
    mask: Annotated[
        bool,
        Option(
            "--mask",
            help="Replace numbers, mail and web addresses in documents; leave out words with digits.",
        ),
    ] = False,
    max_megabytes: Annotated[
        float, Option("--max-megabytes", metavar="N", help="Largest size of the file.")
    ] = 5.0,
) -> None:
    """Write an HTML report on documents, counts or a study.

    It shows the classes, warnings, the telling words, a map of all words, the documents behind a word, and
    where a small classifier goes wrong. FILE may also be the directory of a study's results.
    """
    from termsieve.ranking import check_cut

    check_output(output, (".html",))
    check_cut("k", k)
    if os.path.isfile(os.path.join(source.file, "manifest.json")):
        study_report_command(Path(source.file), output, "f1", target=target)
        return
    how: dict[str, Any] = {"metrics": split_specs(metrics), "target": target, "k": k, "min_df": min_df}
    how |= {
        "drop_passages": drop_passages,
        "examples": examples,
        "mask": mask,
        "max_megabytes": max_megabytes,
    }
    with source.on_disk() as found, sharing() as told:
        from termsieve.reports import corpus_report

        options = found.reader_options() | found.term_options() | {"format": found.format}
        title = "standard input" if source.file == "-" else None
        corpus_report(found.file, output, title=title, show_text=not no_text, progress=told, **how, **options)
    say(f"wrote {output}; open it in a browser")


@app.command(epilog="\b\nExample: termsieve words mail.csv invoice --text body --label folder")
@takes_source
def words(
    source: Source,
    word: Annotated[str, Argument(metavar="WORD", help="The word.", show_default=False)],
    metrics: Metrics = METRICS,
    n: Annotated[int, Option("-n", metavar="N", help="Largest number of lines of context.")] = 10,
    as_json: Json = False,
) -> None:
    """Print how often a word stands in each class, and lines that show it in context.

    rate is the share of the documents of the class that have the word, low and high are its bounds with a
    probability of 95 %, rest is the rate in all other documents. Each metric has the rank of the word among
    all words for and against the class; --json prints the scores as well.
    """
    from termsieve.analysis import word_rates
    from termsieve.analysis.context import context_line, found_documents

    chosen = split_specs(metrics)
    with source.on_disk() as found:
        rates = word_rates(found.counts(*chosen), word, chosen).to_dicts()
        lines: list[dict[str, Any]] = []
        if not source.is_counts:
            documents = found_documents(found.batches(), found.analysis(), word)
            for each in islice(documents, n):
                before, here, after = context_line(each)
                lines.append({"document": each.number, "labels": each.labels, "line": (before, here, after)})
    if as_json:
        rows = [line | {"line": "".join(line["line"])} for line in lines]
        show_json({"word": word, "rates": rates, "lines": rows})
        return
    columns = [name for name in rates[0] if not name.startswith("score_")]
    as_read = [
        row | {name: readable(row[name], share=True) for name in ("rate", "low", "high", "rest")}
        for row in rates
    ]
    show_table(as_read, f"{word}, in every class", columns)
    for line in lines:
        before, here, after = line["line"]
        put(shown(f"{before:>40}[{here}]{after:<40}  {', '.join(line['labels'])}").rstrip() + "\n")
    if source.is_counts:
        say(f"{source.file} holds counts and no text, so there are no lines of context")


@app.command(epilog="\b\nExample: termsieve documents mail.csv --class spam --word invoice")
@takes_source
def documents(
    source: Source,
    target: Annotated[
        str | None, Option("--class", "-c", metavar="NAME", help="Only documents of this class.")
    ] = None,
    word: Annotated[str | None, Option("--word", "-w", help="Only documents with this word.")] = None,
    n: Annotated[int, Option("-n", metavar="N", help="Largest number of documents to print.")] = 10,
    output: Table = None,
    as_json: Json = False,
    as_csv: Csv = False,
    raw_cells: RawCells = False,
) -> None:
    """Print the documents of a class, those with a word, or both.

    On a terminal long documents are shown in passages around the word; files, --json and --csv have the
    whole texts.
    """
    from termsieve.analysis.context import found_documents, passages

    check_output(output)
    if source.is_counts:
        raise wrong(f"{source.file} holds counts, but this command needs the documents")
    with source.on_disk() as found:
        listed = list(islice(found_documents(found.batches(), found.analysis(), word, target), n))
    if output or as_json or as_csv:
        rows = [
            {"document": each.number, "labels": ";".join(each.labels), "text": each.text} for each in listed
        ]
        emit(rows, as_json=as_json, as_csv=as_csv, output=output, raw_cells=raw_cells)
        return
    for each in listed:
        put(shown(f"document {each.number:,} ({', '.join(each.labels)})") + "\n")
        put(shown(passages(each.text, each.spans, SHOWN_LETTERS)) + "\n\n")
    if not listed:
        say("no document has that word and class")
