"""The first bytes of a file come in; if it cannot be read, what it is and what to do goes out."""

from __future__ import annotations

from typing import NamedTuple

_FRAME = "load it in Python and give the frame, or save it as Parquet or CSV"
_AS_TEXT = "save its text as .txt, or as a column of a table"
PARQUET = b"PAR1"  # how a file begins that can be read, but is no text
_PART = 4096  # bytes that are looked at
_MOST_NULS = 0.01  # share of the bytes of a text, or this number
_FEW_NULS = 16


class Foreign(NamedTuple):
    """A kind of file that holds no plain text, and what to do with it."""

    what: str
    advice: str


# How such files begin.
_STARTS: dict[bytes, Foreign] = {
    b"%PDF-": Foreign("a PDF document", f"{_AS_TEXT}, for example with pdftotext"),
    b"{\\rtf": Foreign("an RTF document", _AS_TEXT),
    b"\xd0\xcf\x11\xe0": Foreign("a file of an old office program", "save it as .xlsx or CSV first"),
    b"\x89PNG": Foreign("an image", _AS_TEXT),
    b"\xff\xd8\xff": Foreign("an image", _AS_TEXT),
    b"GIF8": Foreign("an image", _AS_TEXT),
    b"SQLite format 3\0": Foreign("an SQLite database", "export its table as CSV"),
    b"\x89HDF": Foreign("an HDF5 file", _FRAME),
    b"ARROW1": Foreign("an Arrow file", _FRAME),
    b"\xff\xff\xff\xff": Foreign("an Arrow stream", _FRAME),
    b"FEA1": Foreign("a Feather file", _FRAME),
    b"ORC": Foreign("an ORC file", _FRAME),
    b"Obj\x01": Foreign("an Avro file", _FRAME),
    PARQUET: Foreign("a Parquet file", "give the path of the file itself, or of a folder of such files"),
    **{b"\x80" + bytes([version]): Foreign("a pickle of Python objects", _FRAME) for version in (2, 3, 4, 5)},
    b"PK\x03\x04": Foreign("a document of an office program, or a zip file", _AS_TEXT),
    b"\x1f\x8b": Foreign("a packed file", "unpack it first"),
}
# Text, but neither a table nor documents.
_TEXTS: dict[bytes, Foreign] = {
    b"From ": Foreign("a mailbox", "save its messages as files, in one directory per class"),
    b"<?xml": Foreign("an XML file", "make a table of it, with a column for the text and one for the label"),
    b"<!doctype html": Foreign("a web page", _AS_TEXT),
    b"<html": Foreign("a web page", _AS_TEXT),
}


def foreign(content: bytes) -> Foreign | None:
    """Return what a file is that holds no text, by its first bytes; None for a text.

    >>> foreign(b"%PDF-1.7 ...").what, foreign(b"Dear all, ...")
    ('a PDF document', None)
    """
    found = next((kind for start, kind in _STARTS.items() if content.startswith(start)), None)
    part = content[:_PART]
    if found is None and part.count(0) > max(_FEW_NULS, _MOST_NULS * len(part)) and utf16_of(part) is None:
        return Foreign("a file of bytes that are no text", _AS_TEXT)
    return found


def foreign_text(content: bytes) -> Foreign | None:
    """Return what a file of text is that is neither a table nor lines of documents, by its first bytes."""
    start = content.lstrip()[:20].lower()
    return next((kind for begin, kind in _TEXTS.items() if start.startswith(begin.lower())), None)


def utf16_of(content: bytes) -> str | None:
    """Return "utf-16-le" or "utf-16-be" for bytes of which every second one is mostly 0; otherwise None.

    Files with a mark, which begin with another byte, and texts in other scripts are not looked at.

    >>> utf16_of("text,label".encode("utf-16-le")), utf16_of(b"text,label")
    ('utf-16-le', None)
    """
    part = content[:_PART]
    even, odd = part[::2].count(0), part[1::2].count(0)
    half = max(len(part) // 2, 1)
    for name, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros > 0.5 * half and others < 0.05 * half:
            return name
    return None
