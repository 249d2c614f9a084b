"""The commands about words: rank, compare, metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from termsieve.cli.output import check_output, emit, show_json, show_table
from termsieve.cli.shell import say, wrong
from termsieve.cli.source import Source, takes_source
from termsieve.display import readable
from termsieve.spec import READING

if TYPE_CHECKING:
    from termsieve.corpus import Corpus

app = typer.Typer()


def metric_names() -> list[str]:
    """Return the registry's names, for completion."""
    from termsieve.metrics import METRICS

    return list(METRICS)


MetricName = Annotated[
    str,
    Option("--metric", "-m", help="The metric; `termsieve metrics` lists them.", autocompletion=metric_names),
]
Class = Annotated[
    str | None,
    Option(
        "--class", "-c", metavar="NAME", help="The class to separate from the rest; all classes by default."
    ),
]
Side = Annotated[
    str,
    Option(
        "--side",
        help="List first the words for the class (positive), those against it (negative), or both in one "
        "order (both).",
    ),
]
ListSide = Annotated[
    str | None,
    Option(
        "--side",
        help="List first the words for the class (positive, the default), those against it (negative), or "
        "both in one order (both). --ratio lists both.",
        show_default=False,
    ),
]
Ratio = Annotated[
    float | None, Option("--ratio", metavar="SHARE", help="Share of the words that speak for the class.")
]
Alpha = Annotated[
    float | None,
    Option(
        "--alpha",
        metavar="SHARE",
        help="Weight of words that speak for the class, against 1 - SHARE for those that speak against it.",
    ),
]
Method = Annotated[
    str | None,
    Option(
        "--method",
        metavar="ratio|wfo|weights",
        help="Learn the selection from the documents: the share of words for a class, the parameter of wfo, "
        "or the weights of a linear SVM.",
    ),
]
Combine = Annotated[
    str,
    Option(
        "--combine", help="How the scores of the classes become one ranking: max, mean, round_robin or joint."
    ),
]
MinDf = Annotated[int, Option("--min-df", metavar="N", help="Leave out words in fewer than N documents.")]
MaxDf = Annotated[
    float,
    Option("--max-df", metavar="SHARE", help="Leave out words in more than this share of the documents."),
]
Keep = Annotated[
    str | None,
    Option(
        "--keep",
        metavar="A,B|FILE",
        help="Words to list in any case: separated by commas, or a file with one word per line.",
    ),
]
Drop = Annotated[
    str | None,
    Option(
        "--drop",
        metavar="A,B|FILE",
        help="Words to leave out: separated by commas, or a file with one word per line.",
    ),
]
DropPassages = Annotated[
    bool,
    Option(
        "--drop-passages",
        help="Do not count passages of 8 words or more that 3 documents or more share: boilerplate, "
        "signatures, quoted mails. Needs documents, not counts.",
        show_default=False,
    ),
]
Table = Annotated[
    Path | None,
    Option(
        "-o", "--output", metavar="FILE", help="Write to this .csv, .tsv, .json, .jsonl or .parquet file."
    ),
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
    metric: MetricName = READING,
    k: Annotated[int, Option("-k", metavar="N", help="Number of words.")] = 30,
    side: ListSide = None,
    ratio: Ratio = None,
    alpha: Alpha = None,
    method: Method = None,
    combine: Combine = "max",
    each: Annotated[bool, Option("--each", help="List the words of each class separately.")] = False,
    min_df: MinDf = 1,
    max_df: MaxDf = 1.0,
    redundancy: Annotated[
        str | None,
        Option(
            "--redundancy",
            metavar="LIMIT|mrmr",
            help="Leave out words whose documents correlate with those of a better word by LIMIT or more, "
            "such as 0.5; or choose words by what they tell beyond the others (mrmr). Needs documents, not "
            "counts.",
        ),
    ] = None,
    drop_passages: DropPassages = False,
    keep: Keep = None,
    drop: Drop = None,
    interval: Annotated[
        float | None,
        Option(
            "--interval",
            metavar="SHARE",
            help="Also say how sure scores and ranks are: bounds with this probability, such as 0.95.",
        ),
    ] = None,
    output: Table = None,
    as_json: Json = False,
    as_csv: Csv = False,
    raw_cells: RawCells = False,
) -> None:
    """Print the words that best separate the classes.

    Each word has its score, the class that it tells most about, and the documents that contain it, in the
    class and outside, with their share. Where words against a class are listed, too, the direction says which
    (+: it speaks for the class, -: against it). JSON, CSV and files have the plain numbers: tp of the pos
    documents in the class, and fp of the neg documents outside. The default metric is one of the best for
    short lists on twelve corpora (docs/reading.md); `select` has a different default, for classifiers.

    With --method a classifier is trained to learn the selection; the metric of ratio is then
    correlation_coefficient unless you name one, and the scores have the sign of the direction.

    --interval adds the bounds of the score and of the rank, and in_list, the probability that the word would
    be listed again.
    """
    from termsieve.metrics import get_metric
    from termsieve.passages import words_of_one_passage
    from termsieve.ranking import check_cut
    from termsieve.telling import telling_words

    check_output(output)
    check_cut("k", k)
    how: dict[str, Any] = {"side": side, "ratio": ratio, "alpha": alpha, "combine": combine}
    how |= {"interval": interval, "min_df": min_df, "max_df": max_df}
    how |= {"keep": listed_terms(keep), "drop": listed_terms(drop)}
    alike: list[str] = []
    if method is not None:
        if each or redundancy is not None or drop_passages or how.pop("interval") is not None:
            raise wrong(
                f"--method {method} has one list of all documents; leave out --each, --redundancy, "
                "--drop-passages and --interval"
            )
        found, corpus = learned(
            source, method, None if metric == READING else metric, target=target, k=k, **how
        )
        rows = found.frame.head(k).drop("selected").to_dicts()
        title = f"{len(corpus):,} documents, by the method {method}"
    elif redundancy is not None or drop_passages:
        limit = None if redundancy is None else _redundancy(redundancy)
        corpus = source.corpus()
        how |= {"redundancy": limit, "drop_passages": drop_passages} | source.term_options()
        rows = telling_words(corpus, metric, target=target, each=each, k=k, **how).to_dicts()
        left_out = ["words that repeat better ones"] if redundancy is not None else []
        left_out += ["passages that documents share"] if drop_passages else []
        title = f"{len(corpus):,} documents, by {get_metric(metric)}, without {' and '.join(left_out)}"
    else:
        counts = source.counts(metric)
        words = telling_words(counts, metric, target=target, each=each, k=k, **how)
        rows, alike = words.to_dicts(), [] if source.is_counts else words_of_one_passage(words)
        title = f"{counts.n_docs:,} documents, {counts.n_terms:,} words, by {get_metric(metric)}"
    if not (as_json or as_csv or output or method):
        rows = _for_reading(rows, interval)
    emit(rows, as_json=as_json, as_csv=as_csv, output=output, title=title, raw_cells=raw_cells)
    if alike:
        say(
            f"{', '.join(alike[:5])} are in equally many documents, perhaps because of a passage that these "
            "share, such as a signature; in texts, --drop-passages does not count it"
        )


def _for_reading(rows: list[dict[str, Any]], interval: float | None) -> list[dict[str, Any]]:
    """Return the rows of `telling_words` as a table shows them: shares, and bounds side by side."""
    marked = any(row["direction"] != 1 for row in rows)
    shown: list[dict[str, Any]] = []
    for row in rows:
        cells: dict[str, Any] = {"rank": row["rank"], "term": row["term"], "class": row["class"]}
        if marked:
            cells["direction"] = {1: "+", -1: "-"}.get(row["direction"], "")
        cells["in_class"] = _of(row["tp"], row["pos"])
        cells["outside"] = _of(row["fp"], row["neg"])
        cells["score"] = row["score"]
        if interval is not None:
            cells[f"score, {interval:.0%}"] = f"{readable(row['low'])} to {readable(row['high'])}"
            cells[f"rank, {interval:.0%}"] = f"{row['rank_low']:,} to {row['rank_high']:,}"
            cells["in_list"] = row["in_list"]
        shown.append(cells)
    return _aligned(shown, ("in_class", "outside"))


def _of(found: float, of: float) -> str:
    """Return a number of documents and their share.

    >>> _of(200, 1000), _of(0, 0)
    ('200 (20.0%)', '0')
    """
    return f"{readable(found)} ({readable(found / of, share=True)})" if of else readable(found)


def learned(source: Source, method: str, metric: str | None, **how: Any) -> tuple[Any, Corpus]:
    """Return the terms of a selection that learns its parameter, and the corpus; print what was learned."""
    from termsieve.estimators import learned_terms

    ways = ("side", "ratio", "alpha", "keep", "drop")
    given = sorted(f"--{name}" for name in ways if how.pop(name) not in (None, "both", []))
    if given:
        raise wrong(f"--method {method} decides how words are ranked; leave out {', '.join(given)}")
    if how["combine"] == "max":  # the default of every method
        del how["combine"]
    corpus = source.corpus()
    found = learned_terms(corpus, method, metric=metric, options=source.term_options(), **how)
    say(found.sentence)
    return found, corpus


def listed_terms(given: str | None) -> list[str]:
    """Return the words of a file, one per line, or of a list with commas.

    >>> listed_terms("free, offer"), listed_terms(None)
    (['free', 'offer'], [])
    """
    if given is None:
        return []
    path = Path(given)
    if path.is_file():
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [word.strip() for word in given.split(",") if word.strip()]


def _redundancy(given: str) -> float | str:
    try:
        return float(given)
    except ValueError:
        return given


@app.command(epilog="\b\nExample: termsieve diff january.parquet february.parquet")
@takes_source
def diff(
    source: Source,
    other: Annotated[
        str | None,
        typer.Argument(
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
        rows = changes_for_reading(rows if each else [without(row, "class") for row in rows], 0.95)
    emit(rows, as_json=as_json, as_csv=as_csv, output=output, title=title, raw_cells=raw_cells)


def without(row: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a row without one of its columns."""
    return {key: value for key, value in row.items() if key != name}


def changes_for_reading(rows: list[dict[str, Any]], interval: float) -> list[dict[str, Any]]:
    """Return the rows of `difference` or `shifts` as a table shows them: shares, and bounds side by side."""
    shown = []
    for row in rows:
        known = ("window", "class", "term", "change")
        cells: dict[str, Any] = {name: row[name] for name in known if name in row}
        for name in ("before", "after", "elsewhere", "here"):
            if name in row:
                cells[name] = _of(row[name], row[f"of_{name}"])
        cells["ratio"] = row["ratio"]
        cells[f"ratio, {interval:.0%}"] = _ratio_bounds(row)
        cells["p_adjusted"] = row["p_adjusted"]
        shown.append(cells)
    return _aligned(shown, ("before", "after", "elsewhere", "here"))


def _ratio_bounds(row: dict[str, Any]) -> str:
    """Return the bounds of a ratio; where one of the rates may be zero, only one bound means anything."""
    low, high = readable(row["low"]), readable(row["high"])
    return {"came": f"{low} or more", "went": f"{high} or less"}.get(row["change"], f"{low} to {high}")


def _aligned(rows: list[dict[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return rows whose texts in some columns end at the same place."""
    for name in names:
        width = max((len(row[name]) for row in rows if name in row), default=0)
        rows = [row | {name: row[name].rjust(width)} if name in row else row for row in rows]
    return rows


@app.command(epilog="\b\nExample: termsieve compare mail.csv --metrics bns,ig,chi -k 50")
@takes_source
def compare(
    source: Source,
    metrics: Annotated[
        str, Option("--metrics", metavar="A,B,...", help="The metrics to compare, separated by commas.")
    ] = "bns,ig,chi",
    target: Class = None,
    k: Annotated[int, Option("-k", metavar="N", help="Number of best words to compare.")] = 50,
    side: Side = "both",
    combine: Combine = "max",
    min_df: MinDf = 1,
    max_df: MaxDf = 1.0,
    n_shown: Annotated[int, Option("--show", metavar="N", help="Number of words in the printed list.")] = 20,
    as_json: Json = False,
) -> None:
    """Show where metrics agree and differ.

    The first table says how many of their best words each two metrics share, the second lists the rank of
    each word by each metric. Words that all metrics choose come first, words of a single metric last; --json
    prints all words.
    """
    from termsieve.comparison import compare_metrics
    from termsieve.ranking import check_cut

    check_cut("k", k)
    specs = split_specs(metrics)
    how: dict[str, Any] = {"side": side, "combine": combine, "min_df": min_df, "max_df": max_df}
    found = compare_metrics(source.counts(*specs), specs, target=target, k=k, **how)
    if as_json:
        show_json(found.to_dict())
        return
    show_table(found.overlap.to_dicts(), f"the best {k} words of each metric")
    rows = found.terms.to_dicts()
    if len(rows) > n_shown:
        half = n_shown // 2
        rows = rows[: n_shown - half] + rows[len(rows) - half :]
        say(f"{found.terms.height - len(rows):,} more words in between; --json prints them all")
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
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Describe this metric.")] = None,
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
