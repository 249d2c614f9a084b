"""Every exception termsieve raises on purpose, and helpers that make their messages.

TermsieveError
├── InputError            data that cannot be used: a matrix, labels, texts (also a ValueError)
├── ParameterError        an argument outside its rule (also a ValueError)
│   └── UnknownNameError  a name that is not in its registry
├── FormatError           a file that is damaged, foreign or not what it claims to be (also a ValueError)
├── StudyError            a study that cannot start, continue or be merged (also a RuntimeError)
└── MissingExtraError     an optional dependency that is not installed (also an ImportError)
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from difflib import get_close_matches
from types import ModuleType

__all__ = [
    "FormatError",
    "InputError",
    "MissingExtraError",
    "ParameterError",
    "StudyError",
    "TermsieveError",
    "UnknownNameError",
]


class TermsieveError(Exception):
    """The base class of all exceptions that termsieve raises on purpose.

    Examples
    --------
    >>> from termsieve import get_metric
    >>> try:
    ...     get_metric("bnz")
    ... except TermsieveError as error:
    ...     print(str(error).partition(" Known")[0])
    metric 'bnz' is unknown; did you mean 'bns'?
    """


class InputError(TermsieveError, ValueError):
    """Data that cannot be used."""


class ParameterError(TermsieveError, ValueError):
    """An argument outside its rule."""


class UnknownNameError(ParameterError):
    """A name that is not in its registry."""


class FormatError(TermsieveError, ValueError):
    """A file that is damaged, foreign or not what it claims to be."""


class StudyError(TermsieveError, RuntimeError):
    """A study that cannot start, continue or be merged."""


class MissingExtraError(TermsieveError, ImportError):
    """An optional dependency that is not installed."""


def unknown_name(kind: str, name: str, known: Iterable[str], aliases: Iterable[str] = ()) -> UnknownNameError:
    """Return the error for an unknown `name` of a `kind`, with the nearest known name as a suggestion.

    >>> print(unknown_name("metric", "bnz", ["bns", "chi_squared"]))
    metric 'bnz' is unknown; did you mean 'bns'? Known: bns, chi_squared
    """
    known = list(known)
    hint = near_name(name, [*known, *aliases])
    listed = f"{hint}Known" if hint else "known"
    return UnknownNameError(f"{kind} {name!r} is unknown; {listed}: {', '.join(known)}")


def near_name(name: str, known: Iterable[str]) -> str:
    """Return "did you mean 'x'? " for the nearest known name, or nothing if none is near."""
    near = get_close_matches(str(name), list(known), n=1, cutoff=0.5)
    return f"did you mean '{near[0]}'? " if near else ""


def shown(names: Iterable[str], limit: int = 20) -> str:
    """Return names for a message: quoted, long ones shortened, at most `limit` of them.

    >>> shown(["text", "x" * 100], limit=1)
    "'text', ..."
    """
    listed = list(names)
    short = [repr(name if len(name) <= 40 else name[:37] + "...") for name in listed[:limit]]
    return ", ".join(short + ["..."] * (len(listed) > limit))


def beyond_python(error: Exception) -> str:
    """Return why Python's own reader of JSON or TOML gave up on a text that may be valid.

    >>> beyond_python(RecursionError())
    'it is nested too deep'
    """
    # A plain ValueError is raised for a whole number of more than 4,300 digits.
    return "it is nested too deep" if isinstance(error, RecursionError) else "a number has too many digits"


def require(module: str, extra: str) -> ModuleType:
    """Import an optional `module`, or raise an error with the pip command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = MissingExtraError(
            f'{module} is not installed; add it with: pip install "termsieve[{extra}]"'
        )
        raise missing from error
