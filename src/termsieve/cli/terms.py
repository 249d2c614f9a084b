"""The commands about words: rank, compare, metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from termsieve.cli.output import check_output, emit, show_json, show_table
from termsieve.cli.shell import say, wrong
from termsieve.cli.source import Source, takes_source

app = typer.Typer()


def metric_names() -> list[str]:
    """Return the registry's names, for completion."""
    from termsieve.metrics import METRICS

    return list(METRICS)


MetricName = Annotated[
    str,
    Option("--metric", "-m", help="The score; `termsieve metrics` lists them.", autocompletion=metric_names),
]
Class = Annotated[
    str | None,
    Option("--class", "-c", metavar="NAME", help="The class to tell from the rest; all classes by default."),
]
Side = Annotated[
    str, Option("--side", help="both kinds of word, or first the positive or the negative ones.")
]
Ratio = Annotated[
    float | None, Option("--ratio", metavar="SHARE", help="Share of words that speak for the class.")
]
Combine = Annotated[
    str, Option("--combine", help="How classes make one ranking: max, mean, round_robin or joint.")
]
MinDf = Annotated[int, Option("--min-df", metavar="N", help="Leave out words in fewer documents.")]
MaxDf = Annotated[
    float, Option("--max-df", metavar="SHARE", help="Leave out words in a larger share of them.")
]
Json = Annotated[bool, Option("--json", help="Print JSON.")]
Csv = Annotated[bool, Option("--csv", help="Print CSV.")]
RawCells = Annotated[
    bool,
    Option(
        "--raw-cells",
        help="In CSV and TSV, write texts that begin with = + - @ without the apostrophe that keeps "
        "spreadsheets from running them.",
    ),
]


@app.command(epilog="\b\nExample: termsieve rank mail.csv --text body --label folder --class spam -k 10")
@takes_source
def rank(
    source: Source,
    target: Class = None,
    metric: MetricName = "bns",
    k: Annotated[int, Option("-k", metavar="N", help="How many words.")] = 30,
    side: Side = "both",
    ratio: Ratio = None,
    combine: Combine = "max",
    each: Annotated[bool, Option("--each", help="The words of each class on their own.")] = False,
    min_df: MinDf = 1,
    max_df: MaxDf = 1.0,
    output: Annotated[
        Path | None,
        Option("-o", "--output", metavar="FILE", help="Write .csv, .tsv, .json, .jsonl or .parquet."),
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
    raw_cells: RawCells = False,
) -> None:
    """Print the words that tell the classes apart.

    Each with its score, the class it tells about, whether it speaks for (+1) or against it (-1), and the
    documents inside (tp, of pos) and outside the class (fp, of neg) that contain it.
    """
    from termsieve.cli.telling import Way, problems, telling_rows
    from termsieve.metrics import get_metric
    from termsieve.ranking import check_cut

    check_output(output)
    chosen = get_metric(metric)
    check_cut("k", k)
    if each and target is not None:
        raise wrong("--each is for all classes; leave out --class")
    way = Way(side, ratio, None, combine, min_df, max_df)
    counts = source.counts(occurrences=chosen.reads == "occurrences")
    if each:
        problems(counts, None)
        parts = [counts.take([position]) for position in range(counts.n_classes)]
        rows = [row for part in parts for row in telling_rows(part, metric, way, k=k)]
    else:
        rows = telling_rows(problems(counts, target, combine), metric, way, k=k)
    title = f"{counts.n_docs:,} documents, {counts.n_terms:,} words, by {chosen}"
    if not (as_json or as_csv or output):
        rows = [row | {"direction": {1: "+", -1: "-"}.get(row["direction"], "")} for row in rows]
    emit(rows, as_json=as_json, as_csv=as_csv, output=output, title=title, raw_cells=raw_cells)


@app.command(epilog="\b\nExample: termsieve compare mail.csv --metrics bns,ig,chi -k 50")
@takes_source
def compare(
    source: Source,
    metrics: Annotated[
        str, Option("--metrics", metavar="A,B,...", help="The metrics to compare, parted by commas.")
    ] = "bns,ig,chi",
    target: Class = None,
    k: Annotated[int, Option("-k", metavar="N", help="How many of the best words.")] = 50,
    side: Side = "both",
    combine: Combine = "max",
    min_df: MinDf = 1,
    max_df: MaxDf = 1.0,
    n_shown: Annotated[int, Option("--show", metavar="N", help="Words in the printed list.")] = 20,
    as_json: Json = False,
) -> None:
    """Show where metrics agree and differ.

    First what their best words share, pair by pair, then each word's ranks. Words that all metrics choose
    come first, those of one metric alone last; --json has them all.
    """
    from termsieve.cli.telling import Way, compared, problems
    from termsieve.metrics import get_metric
    from termsieve.ranking import check_cut

    specs = split_specs(metrics)
    reads = {get_metric(spec).reads for spec in specs}
    check_cut("k", k)
    counts = source.counts("occurrences" in reads)
    found = compared(
        problems(counts, target, combine), specs, Way(side, None, None, combine, min_df, max_df), k
    )
    if as_json:
        show_json(found)
        return
    show_table(found["overlap"], f"the best {k} words of each metric")
    rows = found["terms"]
    if len(rows) > n_shown:
        half = n_shown // 2
        rows = rows[: n_shown - half] + rows[len(rows) - half :]
        say(f"{len(found['terms']) - len(rows):,} more words between; --json has them all")
    show_table(rows, "rank by each metric, agreement first, differences last")


def split_specs(text: str) -> list[str]:
    """Return the names in a list with commas; those in brackets belong to a name.

    >>> split_specs("bns, gu(proportions=True),wfo(0.3)")
    ['bns', 'gu(proportions=True)', 'wfo(0.3)']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


@app.command(epilog="\b\nExample: termsieve metrics bns")
def metrics(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One metric in full.")] = None,
    as_json: Json = False,
) -> None:
    """List the metrics and what each is good for."""
    from termsieve.metrics import METRICS, get_metric

    chosen = METRICS.values() if name is None else [get_metric(name)]
    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "aliases": list(entry.aliases),
            "kind": entry.kind + (", folds" if entry.folds else ""),
            "use": entry.use,
        }
        | ({} if name is None and not as_json else {"formula": entry.formula, "source": entry.cite})
        for entry in chosen
    ]
    if as_json:
        show_json(rows if name is None else rows[0])
    elif name is None:
        show_table(rows)
    else:
        show_table([{"": key, " ": value} for key, value in rows[0].items()])
