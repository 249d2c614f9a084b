"""The command about windows: trend."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from termsieve.cli.output import SUFFIXES, check_output, emit
from termsieve.cli.shell import say
from termsieve.cli.terms import Csv, Json, RawCells, changes_for_reading

app = typer.Typer()
CHARTS = (".html", ".svg", ".png")


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
            rows = [_for_reading(row, interval) for row in rows]
    else:
        rows = shifts(windows, k=k, fdr=fdr, interval=interval, min_df=min_df).to_dicts()
        if not (as_json or as_csv or output):
            rows = changes_for_reading(rows, interval)
    emit(rows, as_json=as_json, as_csv=as_csv, output=output, title=title, raw_cells=raw_cells)


def _for_reading(row: dict[str, Any], interval: float) -> dict[str, Any]:
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
