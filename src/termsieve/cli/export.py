"""The commands about models in use: export, watch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from termsieve.cli.models import ModelFile, Trust
from termsieve.cli.options import Json
from termsieve.cli.output import check_output, show_json, show_table, working, write_text
from termsieve.cli.shell import put, say, wrong
from termsieve.cli.source import Delimiter, Encoding, Format, Source, Text

app = typer.Typer()
CHANGED = 3  # the exit code of `watch` when something has changed
SUFFIXES = {"json": ".json", "python": ".py", "js": ".js", "sql": ".sql", "html": ".html"}


@app.command(epilog="\b\nExample: termsieve export model.skops -o model.json --card card.md")
def export(
    model: ModelFile,
    output: Annotated[
        Path | None, Option("-o", "--output", metavar="FILE", help="Write the model to this file.")
    ] = None,
    to: Annotated[
        str | None,
        Option(
            "--to",
            metavar="json|python|js|sql|html",
            help="The form: a description, a scorer with the model in it, a script for a database, or a page "
            "to try the model. By default the suffix of the file decides.",
        ),
    ] = None,
    dialect: Annotated[
        str, Option("--dialect", metavar="duckdb|postgres", help="The database, for SQL.")
    ] = "duckdb",
    card: Annotated[Path | None, Option("--card", metavar="FILE", help="Write a model card, as .md.")] = None,
    trust: Trust = False,
) -> None:
    """Write a model that runs without termsieve.

    The file makes the same decisions as the model: in Python without dependencies, in JavaScript, in SQL, or
    in a page that needs no network. A model that a form cannot express is an error; no form decides
    differently.
    """
    from termsieve.models import export as content_of
    from termsieve.models import load_model, model_card

    if output is None and card is None:
        raise wrong("say where the model is to go: -o FILE, --card FILE, or both")
    kinds = {suffix: kind for kind, suffix in SUFFIXES.items()}
    if output is not None:
        form = to or kinds.get(output.suffix.lower(), "json")
        if form not in SUFFIXES:
            raise wrong(f"--to is one of {', '.join(SUFFIXES)}, not {form}")
        check_output(output, (SUFFIXES[form],))
    check_output(card, (".md",))
    trained = load_model(model, trust=trust)
    with working("exporting"):
        content = None if output is None else content_of(trained, form, dialect=dialect)
        described = None if card is None else model_card(trained)
    if output is not None and content is not None:
        write_text(output, content)
    if card is not None and described is not None:
        write_text(card, described)


@app.command(epilog="\b\nExample: termsieve watch model.skops may.csv june.csv -o drift.html")
def watch(
    model: ModelFile,
    files: Annotated[
        list[str],
        Argument(
            metavar="FILE...",
            help="The new documents, one file per period, the earliest first; they need no labels.",
            show_default=False,
        ),
    ],
    text: Text = None,
    false_alarms: Annotated[
        float,
        Option("--false-alarms", metavar="P", help="Probability of an alarm where nothing has changed."),
    ] = 0.05,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    format: Format = None,
    output: Annotated[
        Path | None, Option("-o", "--output", metavar="FILE", help="Write a page with charts, as .html.")
    ] = None,
    as_json: Json = False,
    trust: Trust = False,
) -> None:
    """Tell whether new documents are still like those of training.

    It compares which words the documents contain, how many of these words the training documents had, and
    which classes the model predicts. The exit code is 3 when something has changed, so that a scheduled job
    can tell.
    """
    from termsieve.models import drift, load_model

    check_output(output, (".html",))
    trained = load_model(model, trust=trust)
    with working("comparing"):
        texts = [
            Source(file, text=text, delimiter=delimiter, encoding=encoding, format=format).texts()
            for file in files
        ]
        found = drift(trained, *texts, names=[Path(file).name for file in files], false_alarms=false_alarms)
    if output is not None:
        from termsieve.reports.drift import drift_report

        drift_report(found, output)
        say(f"wrote {output}; open it in a browser")
    if as_json:
        show_json(found.to_dict())
    else:
        show_table([period.row() for period in found.periods], "New documents against those of training")
        put("\n".join(found.sentences()) + "\n")
    if found.changed:
        raise typer.Exit(CHANGED)
