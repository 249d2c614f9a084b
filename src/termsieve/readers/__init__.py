"""Files of labelled documents in public formats come in; a Corpus goes out."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError, shown, unknown_name
from termsieve.readers import arff, delimited, excel, folders, lines, reuters, reviews, svmlight, tables
from termsieve.readers.docstrings import load_docstrings
from termsieve.readers.encodings import plain_start
from termsieve.readers.files import check_regular, clean_name, file_names, is_archive, plain_suffix
from termsieve.readers.foreign import PARQUET, foreign, foreign_text
from termsieve.readers.format import Format, one_line
from termsieve.readers.layout import Paths

__all__ = ["FORMATS", "Format", "get_format", "guessed_format", "load_docstrings", "read"]

_log = logging.getLogger("termsieve")

#: The file formats: name -> declaration. The first one that recognises a file reads it.
FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT for module in (arff, reuters, reviews, svmlight, lines, tables, folders)
}


def read(path: Paths, format: str | None = None, *, name: str | None = None, **options: Any) -> Corpus:
    """Return the corpus at a path.

    What was understood is logged at level INFO, and what was guessed at level WARNING, which Python shows.

    Parameters
    ----------
    path : path, or list of paths for tables and lines
        A file, a folder or an archive.
    format : str, optional
        The name of a format, one of `FORMATS`; recognised by names and contents by default.
    name : str, optional
        The name of the corpus; by default made from the path.
    **options
        The options of the format (see docs/corpora.md). All formats have `max_bytes`, the largest number of
        bytes to read after decompression, which protects against archives that are much larger than they
        seem.

    Returns
    -------
    Corpus
        Its `source`, also part of its repr, says how it was read.

    Raises
    ------
    FormatError
        If the file is damaged or of an unknown format.
    InputError
        If there is nothing at the path, or no document in it.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "mail.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("body,label\\ncheap pills,spam\\nsee you,ham\\n")
    ...     read(path)
    <Corpus 'mail': 2 texts, 2 classes, read as table of columns 'body' (text) and 'label' (label)>
    """
    chosen = get_format(path, format, options.get("label_from"))
    for option in options:
        if option not in chosen.options:
            raise unknown_name(f"option of format {chosen.name!r}", option, [*chosen.options, "name"])
    corpus = chosen.reader(path, **options)
    corpus = corpus.renamed(clean_name(corpus.name) if name is None else name)
    _log.info("%s", one_line(len(corpus), len(corpus.classes), corpus.source, corpus.multilabel))
    return corpus


def get_format(path: Paths, name: str | None = None, label_from: str | None = None) -> Format:
    """Return the format with a name or, without a name, the format recognised by names and contents.

    Parameters
    ----------
    path : path, or list of paths
        What is to be read.
    name : str, optional
        One of :data:`FORMATS`.
    label_from : str, optional
        "file" tells a folder or list of text files, one per class, from one of documents.

    Returns
    -------
    Format
        The declaration of the format.
    """
    if name is None and label_from == "file" and not _are_tables(path):
        return lines.FORMAT
    chosen = guessed_format(path) if name is None else name
    if chosen not in FORMATS:
        raise unknown_name("format", str(chosen), FORMATS)
    return FORMATS[chosen]


def _are_tables(path: Paths) -> bool:
    if not isinstance(path, str | os.PathLike):
        return all(map(_are_tables, path))
    names = os.listdir(path) if os.path.isdir(path) else [os.fspath(path)]
    return any(plain_suffix(name) in tables.KINDS for name in names)


def guessed_format(path: Paths) -> str:
    """Return the name of the format that is recognised by a path's names and contents.

    Parameters
    ----------
    path : path, or list of paths
        What is to be read.

    Returns
    -------
    str
        One of :data:`FORMATS`.
    """
    if not isinstance(path, str | os.PathLike):
        return tables.FORMAT.name
    if not os.path.exists(path):
        if any(sign in os.fspath(path) for sign in "*?["):
            return tables.FORMAT.name
        raise InputError(f"{path} does not exist; check the path")
    check_regular(path)
    if excel.is_office_document(path):
        if excel.is_workbook(path):
            return tables.FORMAT.name
        raise FormatError(f"{path} is a document of an office program; save it as .xlsx or CSV first")
    if os.path.isdir(path) or is_archive(path):
        return _guessed_collection(path)
    for name, format in FORMATS.items():
        if plain_suffix(path) in format.extensions:
            return name
    start = plain_start(path)
    if not start.strip():
        raise FormatError(f"{path} is empty")
    kind = foreign(start)
    for name, format in FORMATS.items() if kind is None or start.startswith(PARQUET) else ():
        if format.start and format.start.match(start) and _holds(name, os.fspath(path)):
            return name
    kind = kind or foreign_text(start)
    if kind is not None:
        raise FormatError(f"{path} is {kind.what}; {kind.advice}")
    raise FormatError(
        f"{path} is in none of the known formats by name or content; give format= one of "
        f"{', '.join(FORMATS)}, such as 'lines' if each line is a label and a text"
    )


def _holds(name: str, path: str) -> bool:
    """Return whether more of a file than its start looks like the format; prose has commas, too."""
    return name != tables.FORMAT.name or tables.table_kind(path) != "csv" or delimited.looks_cut(path)


def _guessed_collection(path: str | os.PathLike[str]) -> str:
    names, is_folder = file_names(path), os.path.isdir(path)
    if any(plain_suffix(name) == ".arrow" for name in names):
        raise FormatError(
            f"{Path(path)} holds Arrow files; load them in Python, with datasets.load_from_disk if they were "
            "saved by it, and give what comes of it"
        )
    held = [name for name in names if plain_suffix(name) in tables.KINDS]
    if not is_folder and held and len(held) >= len(names) / 2:
        raise FormatError(f"{Path(path)} is an archive of tables ({shown(held, 5)}); unpack it, and give one")
    for name, format in FORMATS.items():
        if format.collection and format.collection(names, is_folder):
            return name
    if not names:
        raise FormatError(f"{Path(path)} is an empty folder or archive")
    unpacked = "" if is_folder else "unpack it, and "
    raise FormatError(
        f"{Path(path)} has no directory for each class; {unpacked}put the files of each class into one, or "
        "give label_from='file' if each file is a class with one document per line"
    )
