"""All commands come in from their modules; the one application goes out."""

from __future__ import annotations

from typing import Annotated

import typer

from termsieve import __version__
from termsieve.cli import (
    advice,
    changes,
    counting,
    demo,
    explorer,
    export,
    inspecting,
    models,
    studies,
    terms,
)
from termsieve.cli.shell import Guarded

app = typer.Typer(
    cls=Guarded,
    name="termsieve",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 100},
    epilog="\b\nExample: termsieve demo",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"termsieve {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show where an error comes from; may stand anywhere in the command."),
    ] = False,
) -> None:
    """Find the words that separate classes of documents, how many are needed, and which method suits."""


for part in (demo, inspecting, terms, changes, explorer, counting, models, export, advice):
    app.registered_commands += part.app.registered_commands
app.add_typer(studies.study, name="study")
