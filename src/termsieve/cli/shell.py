"""The outcome of a command comes in; one sentence for the terminal and an exit code go out."""

from __future__ import annotations

import logging
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import typer
from typer.core import TyperGroup

from termsieve.cli import INTERRUPTED
from termsieve.errors import ParameterError, TermsieveError

GOOD, FAILURE, USAGE = 0, 1, 2
# The library's keywords, as its errors spell them, and the options that stand for them.
_SAME = ("text", "label", "separator", "delimiter", "encoding", "format", "stem", "checkpoint", "language")
OPTIONS = {
    "header=False": "--no-header",
    "header=True": "--header",
    "separator='([^']*)'": r"--separator '\1'",
    "quote='none'": "--quote none",
    "label_from='(file|top|inner)'": r"--label-from \1",
    "format='(lines|folder)'": r"--format \1",
    "strip='(headers|none)'": r"--strip \1",
    "analyzer='char'": "--analyzer char",
    "learner='lr'": "--learner lr",
    "label='([^']*)'": r"--label '\1'",
    **{f"{name}=": f"--{name}" for name in _SAME},
    "missing='drop'": "--drop-missing",
    "stop_words=": "--stop-words",
    "ngram_range=": "--ngrams",
    "max_terms=": "--max-terms",
    "max_bytes=": "--max-bytes",
    "each=True": "--each",
    "target=": "--class",
    "interval=": "--interval",
    "redundancy=": "--redundancy",
    "drop_passages=": "--drop-passages",
    "strip=": "--strip",
}
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"  # in words of Persian and Hindi, and in emoji


def escaped(character: str) -> str:
    """Return a character as Python writes it in a string."""
    return character.encode("unicode_escape").decode()


class CarriedError(Exception):
    """Carries an error past the command-line library, which would answer it in its own way."""


class Guarded(TyperGroup):
    """A group of commands that leaves interruptions and system errors to `exit_code`."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except TermsieveError:
            raise
        except (KeyboardInterrupt, EOFError, OSError) as error:
            raise CarriedError from error


def exit_code(app: Callable[..., Any], args: list[str]) -> int:
    """Run the command line `args` and return its exit code; a traceback is shown with `--debug` only."""
    try:
        words = [word for word in args if word != "--debug"]
        with _log_said():
            code = app(words, prog_name="termsieve", standalone_mode=False)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        if "--debug" in args and not _is_usage_error(error):
            raise
        return _answered(error.__cause__ or error if isinstance(error, CarriedError) else error)
    if code == INTERRUPTED:  # so the command-line library answers Ctrl-C before a command runs
        return _told("stopped", INTERRUPTED)
    return code if isinstance(code, int) else GOOD


class _Said(logging.Handler):
    """Writes what the library logs, with its keywords as options, to stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        say(in_options(record.getMessage()))


@contextmanager
def _log_said() -> Iterator[None]:
    """Show what the library understood and guessed while a command runs."""
    log, handler = logging.getLogger("termsieve"), _Said()
    level, propagates = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagates


def _answered(error: BaseException) -> int:
    """Say what went wrong in one sentence and return the exit code for it."""
    if isinstance(error, BrokenPipeError):
        _drop(sys.stdout)
        return GOOD  # the reader, such as `head`, closed the pipe because it has enough
    if isinstance(error, KeyboardInterrupt):
        return _told("stopped", INTERRUPTED)
    if isinstance(error, TermsieveError):
        return _told(in_options(str(error)), USAGE if isinstance(error, ParameterError) else FAILURE)
    if isinstance(error, OSError):
        _drop(sys.stdout)
        where = f"{error.filename}: " if error.filename else "the output cannot be written: "
        return _told(f"{where}{error.strerror or error}", FAILURE)
    if isinstance(error, MemoryError):
        return _told("there is not enough memory; count in pieces with `termsieve count`", FAILURE)
    if _is_usage_error(error):
        return _usage_told(error)
    line = next(iter(str(error).splitlines()), "") or "no message"
    return _told(f"unexpected {type(error).__name__}: {line}; --debug shows where", FAILURE)


def in_options(sentence: str) -> str:
    """Return a sentence of the library with its keywords as the options of the command line."""
    for keyword, option in OPTIONS.items():
        sentence = re.sub(rf"\b{keyword}(?=[,;. ]|$)", option, sentence)
    return sentence


def _is_usage_error(error: BaseException) -> bool:
    # The command-line library keeps these classes to itself and has moved them between versions.
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def _usage_told(error: Any) -> int:
    ctx = getattr(error, "ctx", None)
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(f"{shown(message)}\n")
        return USAGE
    sentence = " ".join(message.split()).rstrip(".")
    if ctx is not None:
        sentence += f"{' See' if sentence.endswith('?') else '; see'} `{ctx.command_path} --help`"
    return _told(sentence, int(error.exit_code))


def _told(sentence: str, code: int) -> int:
    with suppress(OSError):
        sys.stderr.write(f"termsieve: {shown(sentence)}\n")
        sys.stderr.flush()
    return code


def _drop(stream: IO[str]) -> None:
    """Discard what is still to be written, so that closing the stream cannot fail a second time."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say(message: str) -> None:
    """Write a message for the user to stderr."""
    typer.echo(shown(message), err=True)


def put(text: str) -> None:
    """Write to stdout: on a terminal as `shown`, anywhere else unchanged but for what cannot be encoded."""
    if sys.stdout.isatty():
        text = shown(text)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def shown(text: str, kept: str = "\n\t", escape: Callable[[str], str] = escaped) -> str:
    r"""Return a text whose characters that act on a terminal, or reorder a line, are escaped.

    Words, labels and names of files may hold any character, among them those that move the cursor, change
    the title or turn the direction of writing.

    >>> shown("\x1b[2Jred \u202etxt.exe")
    '\\x1b[2Jred \\u202etxt.exe'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept or _is_harmless(c) else escape(c) for c in text)


def _is_harmless(character: str) -> bool:
    """Whether a character that Python does not call printable is a space or joins letters."""
    return unicodedata.category(character) == "Zs" or character in JOINERS


def wrong(sentence: str) -> ParameterError:
    """Return the error for a wrong use of the command line."""
    return ParameterError(sentence)
