"""All commands come in from their modules; the one application goes out."""

from __future__ import annotations

from copy import copy
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


def app_for(words: list[str]) -> typer.Typer:
    """Return the application with only the command that the first word names, or with all commands.

    The command-line library prepares the options of every command that it is given, which takes longer than
    ranking a small table.
    """
    narrow = copy(app)
    narrow.registered_commands = [
        info for info in app.registered_commands if getattr(info.callback, "__name__", "") in words[:1]
    ]
    narrow.registered_groups = [info for info in app.registered_groups if info.name in words[:1]]
    return narrow if narrow.registered_commands or narrow.registered_groups else app
