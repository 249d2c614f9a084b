"""Files of labelled documents in public formats come in; a Corpus goes out."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError, unknown_name
from termsieve.readers import arff, folders, reuters, reviews, svmlight, tables
from termsieve.readers.docstrings import load_docstrings
from termsieve.readers.files import check_regular, clean_name, file_names, is_archive, plain_suffix, start_of
from termsieve.readers.format import Format
from termsieve.readers.tables import Paths

__all__ = ["FORMATS", "Format", "get_format", "guessed_format", "load_docstrings", "read"]

_log = logging.getLogger("termsieve")

#: The file formats: name -> declaration. The first one that recognises a file reads it.
FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT for module in (arff, reuters, reviews, svmlight, tables, folders)
}


def read(path: Paths, format: str | None = None, *, name: str | None = None, **options: Any) -> Corpus:
    """Return the corpus at a path.

    Parameters
    ----------
    path : path, or list of paths for tables
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
    <Corpus 'mail': 2 texts, 2 classes, read as table (CSV, text='body', label='label')>
    """
    chosen = get_format(path, format)
    for option in options:
        if option not in chosen.options:
            raise unknown_name(f"option of format {chosen.name!r}", option, [*chosen.options, "name"])
    corpus = chosen.reader(path, **options)
    corpus = corpus.renamed(clean_name(corpus.name) if name is None else name)
    _log.info("read %s", corpus)
    return corpus


def get_format(path: Paths, name: str | None = None) -> Format:
    """Return the format with a name or, without a name, the format recognised by names and contents.

    Parameters
    ----------
    path : path, or list of paths
        What is to be read.
    name : str, optional
        One of :data:`FORMATS`.

    Returns
    -------
    Format
        The declaration of the format.
    """
    chosen = guessed_format(path) if name is None else name
    if chosen not in FORMATS:
        raise unknown_name("format", str(chosen), FORMATS)
    return FORMATS[chosen]


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
    if os.path.isdir(path) or is_archive(path):
        return _guessed_collection(path)
    for name, format in FORMATS.items():
        if plain_suffix(path) in format.extensions:
            return name
    start = start_of(path).removeprefix(b"\xef\xbb\xbf")
    if not start.strip():
        raise FormatError(f"{path} is empty")
    for name, format in FORMATS.items():
        if format.start and format.start.match(start):
            return name
    raise FormatError(
        f"{path} is in none of the known formats by name or content; give format= one of {', '.join(FORMATS)}"
    )


def _guessed_collection(path: str | os.PathLike[str]) -> str:
    names, is_folder = file_names(path), os.path.isdir(path)
    for name, format in FORMATS.items():
        if format.collection and format.collection(names, is_folder):
            return name
    what = "has no directory for each class" if names else "is an empty folder or archive"
    raise FormatError(f"{Path(path)} {what}; give format= one of {', '.join(FORMATS)} if it holds documents")
