"""Prints docs/cli.md from the command line's own help: `python docs/cli_page.py > docs/cli.md`."""

from __future__ import annotations

import contextlib
import io
import os

from termsieve.cli.app import app
from termsieve.cli.shell import exit_code

HEAD = """\
# The command line

Data goes to standard output, messages and progress to standard error. The exit code is 0 if all went well,
1 for a failure (a file that cannot be read, documents of one class only, a full disk), 2 for wrong usage,
3 if `watch` finds a change and 130 after Ctrl-C; an error is one sentence, and `--debug` shows where it comes
from. `--json` prints data for programs. `NO_COLOR` is respected, and there are no animations if the output is
not a terminal. `termsieve --install-completion` makes your shell complete the commands.

Columns with a usual name (text, body, message, ...; label, class, category, ...) are found; others are named
with `--text` and `--label`. FILE may be any format of [corpora.md](corpora.md), or a counts file of
`termsieve count`.

This page is made from the help by `python docs/cli_page.py`.
"""


def commands() -> list[str]:
    """Return the words of every command, in the order of the help."""
    own = [str(entry.name or entry.callback.__name__) for entry in app.registered_commands if entry.callback]
    return own + [
        f"{group.name} {entry.name}"
        for group in app.registered_groups
        if group.typer_instance is not None
        for entry in group.typer_instance.registered_commands
    ]


def help_page(words: str) -> str:
    """Return what a command prints with --help, 80 columns wide."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exit_code(app, [*words.split(), "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())


def page() -> str:
    """Return the whole page."""
    text = HEAD
    for words in ("", *commands()):
        text += f"\n## termsieve{' ' if words else ''}{words}\n\n```text\n{help_page(words)}\n```\n"
    return text


if __name__ == "__main__":
    print(page(), end="")
