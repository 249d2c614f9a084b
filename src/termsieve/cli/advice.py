"""The command that answers which method, size and learner to use: advise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from termsieve.cli.output import check_output, show_json, show_table, working
from termsieve.cli.shell import put, say
from termsieve.cli.source import Source, takes_source
from termsieve.cli.terms import Class, Json

app = typer.Typer()


@app.command(epilog="\b\nExample: termsieve advise mail.csv --goal recall --budget-terms 200 -o advice.html")
@takes_source
def advise(
    source: Source,
    goal: Annotated[str, Option("--goal", help="f1, f2, precision, recall or accuracy.")] = "f1",
    target: Class = None,
    budget_terms: Annotated[
        int | None, Option("--budget-terms", metavar="N", help="At most so many words.")
    ] = None,
    budget_sparsity: Annotated[
        float | None, Option("--budget-sparsity", metavar="S", help="At most so many words of a document.")
    ] = None,
    budget_memory: Annotated[
        float | None, Option("--budget-memory", metavar="BYTES", help="At most such a training matrix.")
    ] = None,
    minutes: Annotated[
        float | None, Option("--minutes", metavar="M", help="About how long it may take.")
    ] = None,
    held_out: Annotated[
        int | None, Option("--held-out", metavar="N", help="The further documents the interval is for.")
    ] = None,
    output: Annotated[
        Path | None, Option("-o", "--output", metavar="FILE", help="Write a report, as .html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Advise on the method, the number of words and the learner.

    A portfolio of them is cross-validated on the documents and what cannot win is dropped on the way. The
    promised figure is measured on documents that the choice never saw.
    """
    from termsieve.adviser import advise as advice_on
    from termsieve.adviser.figures import check_goal

    check_output(output, (".html",))
    check_goal(goal)
    corpus = source.corpus()
    with working("trying methods"):
        advice = advice_on(
            corpus,
            goal,
            target=target,
            budget_terms=budget_terms,
            budget_sparsity=budget_sparsity,
            budget_memory=budget_memory,
            minutes=minutes,
            held_out=held_out,
            **source.term_options(),
        )
    if output is not None:
        with working("writing the report"):
            advice.report(output)
        say(f"wrote {output}; open it in a browser")
    if as_json:
        show_json(advice.to_dict())
        return
    show_table(advice.summary(), f"{advice.problem}, {advice.n_docs:,} documents, goal {goal}")
    put(advice.explanation() + "\n")
