"""The declaration of a reader: its function, its extensions, how its files are recognised."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from termsieve.corpus import Corpus
from termsieve.readers.files import plain_suffix


@dataclass(frozen=True)
class Format:
    """A public format and its reader; each reader's module declares one as FORMAT.

    Attributes
    ----------
    name : str
        The name that `read(path, format)` takes.
    reader : callable
        The function from a path to a Corpus; its keyword-only parameters are the format's options.
    contents : str
        A description of the contents, for the documentation.
    extensions : tuple of str
        The endings of its files' names, in lower case and without compression.
    start : re.Pattern, optional
        A pattern of the first bytes, to recognise files with other extensions.
    collection : callable, optional
        A function of the relative names of the files in a folder or archive, and whether it is a folder; it
        returns whether these are documents of this format. None for formats that are single files.
    streams : bool
        Whether documents can be counted batch by batch, without holding all of them in memory.
    """

    name: str
    reader: Callable[..., Corpus]
    contents: str
    extensions: tuple[str, ...] = ()
    start: re.Pattern[bytes] | None = None
    collection: Callable[[Sequence[str], bool], bool] | None = None
    streams: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The reader's options with their defaults."""
        parameters = inspect.signature(self.reader).parameters.values()
        return {option.name: option.default for option in parameters if option.kind is option.KEYWORD_ONLY}


def any_of(extensions: tuple[str, ...]) -> Callable[[Sequence[str], bool], bool]:
    """Return the function that says whether any of the names has one of the extensions."""

    def found(name: str) -> bool:
        low = name.lower()
        return any(extension in low for extension in extensions) and plain_suffix(name) in extensions

    return lambda names, _: any(map(found, names))


def one_line(n_docs: int, n_classes: int, source: str, several: bool = False) -> str:
    """Return one line about what was read: documents, classes, and how the source was understood.

    >>> one_line(5574, 2, "table of columns 2 (text) and 1 (label), no header")
    'read 5,574 documents, 2 classes, from columns 2 (text) and 1 (label), no header'
    """
    documents = f"{n_docs:,} document{'' if n_docs == 1 else 's'}"
    classes = f"{n_classes:,} class{'' if n_classes == 1 else 'es'}"
    more = " (several per document)" if several else ""
    return f"read {documents}, {classes}{more}, from {source.removeprefix('table of ') or 'memory'}"
