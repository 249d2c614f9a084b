"""The commands about changes between corpora or windows: diff, trend."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from termsieve.cli.options import Csv, Json, RawCells, Table
from termsieve.cli.output import SUFFIXES, aligned, check_output, emit, with_share
from termsieve.cli.shell import say, wrong
from termsieve.cli.source import Source, takes_source
from termsieve.display import readable

app = typer.Typer()
CHARTS = (".html", ".svg", ".png")


@app.command(epilog="\b\nExample: termsieve diff january.parquet february.parquet")
@takes_source
def diff(
    source: Source,
    other: Annotated[
        str | None,
        Argument(
            metavar="[AFTER]",
            help="The later documents or counts; leave it out to compare the windows of FILE.",
            show_default=False,
        ),
    ] = None,
    before: Annotated[
        str | None,
        Option(
            "--before", metavar="SPAN", help="With windows: the earlier ones, such as 2024-W01..2024-W04."
        ),
    ] = None,
    after: Annotated[
        str | None,
        Option("--after", metavar="SPAN", help="With windows: the later ones; the last window by default."),
    ] = None,
    each: Annotated[bool, Option("--each", help="Also compare the documents of each class.")] = False,
    k: Annotated[
        int,
        Option(
            "-k", metavar="N", help="Largest number of words to list, for all documents and for each class."
        ),
    ] = 30,
    fdr: Annotated[
        float, Option("--fdr", metavar="SHARE", help="Share of the listed words that may be there by chance.")
    ] = 0.05,
    min_df: Annotated[
        int,
        Option(
            "--min-df",
            metavar="N",
            help="Leave out words that fewer than N documents of the two sides together have.",
        ),
    ] = 5,
    output: Table = None,
    as_json: Json = False,
    as_csv: Csv = False,
    raw_cells: RawCells = False,
) -> None:
    """Print the words that came, went, rose and fell from FILE to AFTER, or between windows of FILE.

    Windows are in files that `count --by` wrote; by default the last one is compared with all before.
    Only changes that are more than chance are listed, the surest first. before and after are the documents
    that have the word, with their share; ratio is the share after divided by the share before, with its 95 %
    interval. JSON, CSV and files have the plain numbers, with the documents of either side (of_before,
    of_after).
    """
    from termsieve.counts import Windows
    from termsieve.differences import difference

    check_output(output)
    if other is None:
        first, second = Windows.load(source.file).pair(before, after)
    elif before is None and after is None:
        first, second = source.counted([source.file]), source.counted([other])
    else:
        raise wrong("--before and --after are for the windows of one file; leave out AFTER")
    found = difference(first, second, each=each, k=k, fdr=fdr, min_df=min_df)
    rows = found.to_dicts()
    title = f"{first.n_docs:,} documents before, {second.n_docs:,} after; changes that pass fdr {fdr:g}"
    if not (as_json or as_csv or output):
        rows = _changes_for_reading(rows if each else [_without(row, "class") for row in rows], 0.95)
    emit(rows, as_json=as_json, as_csv=as_csv, output=output, title=title, raw_cells=raw_cells)


def _without(row: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a row without one of its columns."""
    return {key: value for key, value in row.items() if key != name}


def _changes_for_reading(rows: list[dict[str, Any]], interval: float) -> list[dict[str, Any]]:
    """Return the rows of `difference` or `shifts` as a table shows them: shares, and bounds side by side."""
    shown = []
    for row in rows:
        known = ("window", "class", "term", "change")
        cells: dict[str, Any] = {name: row[name] for name in known if name in row}
        for name in ("before", "after", "elsewhere", "here"):
            if name in row:
                cells[name] = with_share(row[name], row[f"of_{name}"])
        cells["ratio"] = row["ratio"]
        cells[f"ratio, {interval:.0%}"] = _ratio_bounds(row)
        cells["p_adjusted"] = row["p_adjusted"]
        shown.append(cells)
    return aligned(shown, ("before", "after", "elsewhere", "here"))


def _ratio_bounds(row: dict[str, Any]) -> str:
    """Return the bounds of a ratio; where one of the rates may be zero, only one bound means anything."""
    low, high = readable(row["low"]), readable(row["high"])
    return {"came": f"{low} or more", "went": f"{high} or less"}.get(row["change"], f"{low} to {high}")


@app.command(epilog="\b\nExample: termsieve trend weeks.parquet outage login -o trend.html")
def trend(
    file: Annotated[
        str, Argument(metavar="FILE", help="Counts that `count --by` wrote.", show_default=False)
    ],
    words: Annotated[
        list[str] | None,
        Argument(metavar="[WORD]...", help="Words whose rates are wanted.", show_default=False),
    ] = None,
    k: Annotated[int, Option("-k", metavar="N", help="Largest number of rows, if no words are given.")] = 30,
    fdr: Annotated[
        float, Option("--fdr", metavar="SHARE", help="Share of the marked changes that may be chance.")
    ] = 0.05,
    min_df: Annotated[
        int, Option("--min-df", metavar="N", help="Compare only words in at least N documents.")
    ] = 5,
    interval: Annotated[
        float, Option("--interval", metavar="SHARE", help="Probability of the bounds low and high.")
    ] = 0.95,
    output: Annotated[
        Path | None,
        Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write a chart (.html, .svg, .png; needs words), or the table (.csv, .tsv, .json, .jsonl, "
            ".parquet).",
        ),
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
    raw_cells: RawCells = False,
) -> None:
    """Print how the rate of words changes from window to window, or which words change the most.

    With words: the share of documents with each word in each window with its bounds (in files rate, low and
    high), and what is more than chance (change: came, went, rose, fell, against all other windows). Without
    words: the surest changes of all words; --fdr applies to all words and windows together.
    """
    from termsieve.counts import Windows
    from termsieve.differences import marked_rates, shifts

    check_output(output, (*SUFFIXES, *(CHARTS if words else ())))
    windows = Windows.load(file)
    title = f"{windows.n_docs:,} documents in {len(windows):,} windows"
    if words:
        rates = marked_rates(windows, words, fdr=fdr, interval=interval, min_df=min_df)
        if output is not None and output.suffix in CHARTS:
            from termsieve import charts

            charts.save(charts.word_rates(rates), output)
            say(f"wrote {output}")
            return
        rows = rates.to_dicts()
        if not (as_json or as_csv or output):
            rows = [_rates_for_reading(row, interval) for row in rows]
    else:
        rows = shifts(windows, k=k, fdr=fdr, interval=interval, min_df=min_df).to_dicts()
        if not (as_json or as_csv or output):
            rows = _changes_for_reading(rows, interval)
    emit(rows, as_json=as_json, as_csv=as_csv, output=output, title=title, raw_cells=raw_cells)


def _rates_for_reading(row: dict[str, Any], interval: float) -> dict[str, Any]:
    """Return a row of `marked_rates` as a table shows it: rates as percentages, and bounds side by side."""
    return {
        "term": row["term"],
        "window": row["window"],
        "documents": row["documents"],
        "of": row["of"],
        "share": row["rate"],
        f"share, {interval:.0%}": f"{row['low']:.1%} to {row['high']:.1%}",
        "change": row["change"],
    }
