"""Files of labelled documents in public formats come in; a Corpus goes out."""

from __future__ import annotations

import inspect
import logging
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError, unknown_name
from termsieve.readers.arff import read_arff
from termsieve.readers.docstrings import load_docstrings
from termsieve.readers.files import clean_name, file_names, is_archive, plain_suffix, start_of
from termsieve.readers.folders import read_folder
from termsieve.readers.reuters import read_reuters
from termsieve.readers.reviews import read_reviews
from termsieve.readers.svmlight import read_svmlight
from termsieve.readers.tables import KINDS, Paths, read_table

__all__ = ["FORMATS", "Format", "guessed_format", "load_docstrings", "read"]

_log = logging.getLogger("termsieve")


@dataclass(frozen=True)
class Format:
    """A public format: its name, the function that reads it, and how its files are recognised."""

    name: str
    reader: Callable[..., Corpus]
    suffixes: tuple[str, ...]
    start: re.Pattern[bytes] | None
    contents: str

    @property
    def options(self) -> dict[str, Any]:
        """The reader's options with their defaults."""
        parameters = inspect.signature(self.reader).parameters.values()
        return {option.name: option.default for option in parameters if option.kind is option.KEYWORD_ONLY}


_NUMBER = rb"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
FORMATS = {
    format.name: format
    for format in (
        Format(
            "arff",
            read_arff,
            (".arff",),
            re.compile(rb"\s*(?:%[^\n]*\n\s*)*@relation\b", re.IGNORECASE),
            "word counts with a class, or a string attribute; dense or sparse",
        ),
        Format(
            "reuters",
            read_reuters,
            (".sgm", ".sgml"),
            re.compile(rb"\s*(?:<!DOCTYPE\s+lewis|<REUTERS\b)"),
            "the SGML files of Reuters-21578: a folder, an archive or one file",
        ),
        Format(
            "reviews",
            read_reviews,
            (".review",),
            re.compile(rb"\s*(?:<reviews>\s*)?<review>"),
            "positive.review and negative.review: a folder, an archive or one file",
        ),
        Format(
            "svmlight",
            read_svmlight,
            (".svm", ".svmlight", ".libsvm"),
            re.compile(
                rb"(?:\s*#[^\n]*\n)*(?:%b(?:,%b)*)?[ \t]+(?:qid:\S+\s+)?[0-9]+:%b(?=\s)"
                % (_NUMBER, _NUMBER, _NUMBER)
            ),
            "labels and index:value pairs, one line a document",
        ),
        Format(
            "table",
            read_table,
            tuple(KINDS),
            re.compile(rb"PAR1|\s*\{\s*\"|[^\n\0,;\t|]*+[,;\t|]"),
            "CSV, TSV, JSON lines or Parquet: a file, a glob, a folder or a list of files",
        ),
        Format(
            "folder",
            read_folder,
            (),
            None,
            "one directory a class, one file a document: a folder or an archive",
        ),
    )
}


def read(path: Paths, format: str | None = None, *, name: str | None = None, **options: Any) -> Corpus:
    """Return the corpus at a path, in a named format or in the one its names and contents suggest.

    `corpus.source`, also part of its repr, says how it was read. `FORMATS` lists the formats and their
    options; `name` names the corpus, otherwise the path does.
    """
    chosen = guessed_format(path) if format is None else format
    if chosen not in FORMATS:
        raise unknown_name("format", str(chosen), FORMATS)
    known = FORMATS[chosen].options
    for option in options:
        if option not in known:
            raise unknown_name(f"option of format {chosen!r}", option, [*known, "name"])
    corpus = FORMATS[chosen].reader(path, **options)
    corpus = corpus.renamed(clean_name(corpus.name) if name is None else name)
    _log.info("read %s", corpus)
    return corpus


def guessed_format(path: Paths) -> str:
    """Return the name of the format that a path's names and contents suggest."""
    if not isinstance(path, str | os.PathLike):
        return "table"
    if not os.path.exists(path):
        if any(sign in os.fspath(path) for sign in "*?["):
            return "table"
        raise InputError(f"{path} does not exist; check the path")
    if os.path.isdir(path) or is_archive(path):
        return _guessed_collection(path)
    for name, format in FORMATS.items():
        if plain_suffix(path) in format.suffixes:
            return name
    start = start_of(path).removeprefix(b"\xef\xbb\xbf")
    if not start.strip():
        raise FormatError(f"{path} is empty")
    for name, format in FORMATS.items():
        if format.start and format.start.match(start):
            return name
    raise FormatError(
        f"{path} is in none of the known formats by name or content; give format= one of {_names()}"
    )


def _guessed_collection(path: str | os.PathLike[str]) -> str:
    names = file_names(path)
    for format in ("reuters", "reviews"):
        if any(plain_suffix(name) in FORMATS[format].suffixes for name in names):
            return format
    if os.path.isdir(path) and any("/" not in name and plain_suffix(name) in KINDS for name in names):
        return "table"
    if any("/" in name for name in names):
        return "folder"
    what = "is an empty folder or archive" if not names else "has no directory for each class"
    raise FormatError(f"{Path(path)} {what}; give format= one of {_names()} if it holds documents")


def _names() -> str:
    return ", ".join(FORMATS)
