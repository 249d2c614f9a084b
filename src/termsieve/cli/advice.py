"""The command that answers how to represent, select, learn and decide: advise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from termsieve.cli.options import Class, Json
from termsieve.cli.output import check_output, show_json, show_table, working
from termsieve.cli.shell import put, say, wrong
from termsieve.cli.source import Source, takes_source

app = typer.Typer()


@app.command(epilog="\b\nExample: termsieve advise mail.csv --goal 'recall(precision=0.9)' -o advice.html")
@takes_source
def advise(
    source: Source,
    goal: Annotated[
        str,
        Option(
            "--goal",
            help="What to optimise: f1, f2, accuracy, micro_f1, average_precision, roc_auc, "
            "'recall(precision=0.9)', 'precision(recall=0.8)', 'cost(fp=1, fn=5)', precision or recall.",
        ),
    ] = "f1",
    target: Class = None,
    prefer: Annotated[
        str,
        Option(
            "--prefer", metavar="best|small", help="The best figure, or the fewest terms within .01 of it."
        ),
    ] = "best",
    budget_terms: Annotated[
        int | None, Option("--budget-terms", metavar="N", help="Largest number of terms allowed.")
    ] = None,
    budget_sparsity: Annotated[
        float | None,
        Option("--budget-sparsity", metavar="S", help="Largest mean number of distinct terms per document."),
    ] = None,
    budget_memory: Annotated[
        float | None,
        Option("--budget-memory", metavar="BYTES", help="Largest training matrix allowed, in bytes."),
    ] = None,
    rival: Annotated[
        list[str] | None,
        Option(
            "--rival",
            metavar="MODEL",
            help="A saved pipeline (.skops) to judge on the same documents; may be given several times.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        Option(
            "--group",
            metavar="COL",
            help="Column that says which documents belong together, such as the author or the thread.",
        ),
    ] = None,
    time: Annotated[
        str | None,
        Option(
            "--time",
            metavar="COL",
            help="Column of times: models are trained on earlier documents and tested on later ones.",
        ),
    ] = None,
    minutes: Annotated[float | None, Option("--minutes", metavar="M", help="Time limit, in minutes.")] = None,
    held_out: Annotated[
        int | None,
        Option("--held-out", metavar="N", help="Number of new documents that the interval is for."),
    ] = None,
    probabilities: Annotated[
        bool,
        Option(
            "--probabilities",
            help="Calibrate the probabilities of the classifier on documents that its models did not see.",
        ),
    ] = False,
    pipeline: Annotated[
        Path | None,
        Option("--pipeline", metavar="FILE", help="Train the recommended classifier and save it, as .skops."),
    ] = None,
    output: Annotated[
        Path | None, Option("-o", "--output", metavar="FILE", help="Write a report, as .html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Advise on representation, terms, learner and threshold.

    Settings are cross-validated on the documents, and those that are unlikely to win are dropped on the
    way. The expected figure is measured on documents that neither the choice nor its models saw.
    """
    from termsieve.adviser import advise as advice_on
    from termsieve.adviser import get_goal

    check_output(output, (".html",))
    check_output(pipeline, (".skops",))
    get_goal(goal)
    rivals = _rivals(rival or [])
    corpus = source.corpus()
    with _progress() as progress:
        advice = advice_on(
            corpus,
            goal,
            target=target,
            prefer=prefer,
            budget_terms=budget_terms,
            budget_sparsity=budget_sparsity,
            budget_memory=budget_memory,
            rivals=rivals,
            groups=_column(source, group, len(corpus)),
            times=_column(source, time, len(corpus)),
            minutes=minutes,
            held_out=held_out,
            probabilities=probabilities,
            progress=progress,
            **source.term_options(),
        )
    if pipeline is not None:
        _save(advice, corpus, pipeline)
    if output is not None:
        with working("writing the report"):
            advice.report(output, corpus=corpus)
        say(f"wrote {output}; open it in a browser")
    if as_json:
        show_json(advice.to_dict())
    else:
        _show(advice, goal)


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None] | None]:
    """Give a function that shows stage and share on a terminal, and None otherwise."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("counting terms") as status:
        yield lambda stage, share: status.update(f"{stage}: {share:.0%}")


def _rivals(paths: list[str]) -> dict[str, Any]:
    from termsieve.models import load_model

    return {Path(path).name: load_model(path).pipeline for path in paths}


def _column(source: Source, name: str | None, n_docs: int) -> list[Any] | None:
    """Return a column of the table that the documents come from."""
    if name is None:
        return None
    from termsieve.predictions import table_column

    values = table_column(source.file, name, source.format, **source.reader_options())
    if len(values) != n_docs:
        raise wrong("documents were left out while reading, so the column does not fit; label all documents")
    if any(value is None for value in values):
        raise wrong(f"column {name!r} has empty cells; fill them")
    return values


def _show(advice: Any, goal: str) -> None:
    """Print the advice: the settings compared, how few terms are enough, and sentences."""
    title = (
        f"{advice.problem}, {advice.n_docs:,} documents, goal {goal}: measured on documents that no model saw"
    )
    show_table(advice.summary(), title)
    if advice.frontier_rows():
        show_table(
            advice.frontier_rows(),
            "The fewest terms within a distance of the best figure (cross-validated, averaged with "
            "neighbouring sizes)",
        )
    put("\n".join(filter(None, advice.sentences())) + "\n")


def _save(advice: Any, corpus: Any, path: Path) -> None:
    if corpus.texts is None:
        raise wrong("the documents are word counts; --pipeline needs the texts themselves")
    with working("training"):
        advice.model(corpus).save(path)
    say(f"wrote {path}: {advice.choice}")
