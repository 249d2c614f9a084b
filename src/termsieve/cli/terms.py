"""The commands about words: rank, compare, metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from termsieve.cli.options import (
    Alpha,
    Class,
    Combine,
    Csv,
    Drop,
    DropPassages,
    Json,
    Keep,
    ListSide,
    MaxDf,
    Method,
    MetricName,
    MinDf,
    Ratio,
    RawCells,
    Side,
    Table,
)
from termsieve.cli.output import aligned, check_output, emit, show_json, show_table, with_share
from termsieve.cli.shell import say, wrong
from termsieve.cli.source import Source, takes_source
from termsieve.display import readable
from termsieve.spec import READING

if TYPE_CHECKING:
    from termsieve.corpus import Corpus

app = typer.Typer()


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
    from termsieve.ranking import check_cut

    check_output(output)
    check_cut("k", k)
    how: dict[str, Any] = {"side": side, "ratio": ratio, "alpha": alpha, "combine": combine}
    how |= {"target": target, "k": k, "min_df": min_df, "max_df": max_df}
    how |= {"keep": listed_terms(keep), "drop": listed_terms(drop)}
    if method is not None and (each or redundancy is not None or drop_passages or interval is not None):
        raise wrong(
            f"--method {method} has one list of all documents; leave out --each, --redundancy, "
            "--drop-passages and --interval"
        )
    alike: list[str] = []
    if method is not None:
        rows, title = _by_method(source, method, metric, how)
    elif redundancy is not None or drop_passages:
        how |= {"each": each, "interval": interval, "drop_passages": drop_passages}
        rows, title = _by_documents(source, metric, redundancy, how)
    else:
        rows, title, alike = _by_counts(source, metric, how | {"each": each, "interval": interval})
    if not (as_json or as_csv or output or method):
        rows = _for_reading(rows, interval)
    emit(rows, as_json=as_json, as_csv=as_csv, output=output, title=title, raw_cells=raw_cells)
    if alike:
        say(
            f"{', '.join(alike[:5])} are in equally many documents, perhaps because of a passage that these "
            "share, such as a signature; in texts, --drop-passages does not count it"
        )


def _by_method(
    source: Source, method: str, metric: str, how: dict[str, Any]
) -> tuple[list[dict[str, Any]], str]:
    """Return the rows and the title of a selection that learns its parameter."""
    found, corpus = learned(source, method, None if metric == READING else metric, **how)
    rows = found.frame.head(how["k"]).drop("selected").to_dicts()
    return rows, f"{len(corpus):,} documents, by the method {method}"


def _by_documents(
    source: Source, metric: str, redundancy: str | None, how: dict[str, Any]
) -> tuple[list[dict[str, Any]], str]:
    """Return the rows and the title of a list without redundant words or shared passages."""
    from termsieve.metrics import get_metric
    from termsieve.telling import telling_words

    limit = None if redundancy is None else _redundancy(redundancy)
    corpus = source.corpus()
    rows = telling_words(corpus, metric, redundancy=limit, **how, **source.term_options()).to_dicts()
    left_out = ["words that repeat better ones"] if redundancy is not None else []
    left_out += ["passages that documents share"] if how["drop_passages"] else []
    return rows, f"{len(corpus):,} documents, by {get_metric(metric)}, without {' and '.join(left_out)}"


def _by_counts(
    source: Source, metric: str, how: dict[str, Any]
) -> tuple[list[dict[str, Any]], str, list[str]]:
    """Return the rows and the title of a list from counts, and words that may come from one passage."""
    from termsieve.metrics import get_metric
    from termsieve.passages import words_of_one_passage
    from termsieve.telling import telling_words

    counts = source.counts(metric)
    words = telling_words(counts, metric, **how)
    alike = [] if source.is_counts else words_of_one_passage(words)
    title = f"{counts.n_docs:,} documents, {counts.n_terms:,} words, by {get_metric(metric)}"
    return words.to_dicts(), title, alike


def _for_reading(rows: list[dict[str, Any]], interval: float | None) -> list[dict[str, Any]]:
    """Return the rows of `telling_words` as a table shows them: shares, and bounds side by side."""
    marked = any(row["direction"] != 1 for row in rows)
    shown: list[dict[str, Any]] = []
    for row in rows:
        cells: dict[str, Any] = {"rank": row["rank"], "term": row["term"], "class": row["class"]}
        if marked:
            cells["direction"] = {1: "+", -1: "-"}.get(row["direction"], "")
        cells["in_class"] = with_share(row["tp"], row["pos"])
        cells["outside"] = with_share(row["fp"], row["neg"])
        cells["score"] = row["score"]
        if interval is not None:
            cells[f"score, {interval:.0%}"] = f"{readable(row['low'])} to {readable(row['high'])}"
            cells[f"rank, {interval:.0%}"] = f"{row['rank_low']:,} to {row['rank_high']:,}"
            cells["in_list"] = row["in_list"]
        shown.append(cells)
    return aligned(shown, ("in_class", "outside"))


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


def _redundancy(given: str) -> Any:
    try:
        return float(given)
    except ValueError:
        return given


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
