"""The bytes of a file come in; its text, and the name of the encoding that was taken, go out."""

from __future__ import annotations

import codecs
import io
import logging
import os
from collections.abc import Iterator
from typing import IO, cast

from termsieve.errors import FormatError, InputError
from termsieve.readers.files import check_line, open_binary, readable, start_of
from termsieve.readers.foreign import utf16_of

FIRST_PART = 1 << 18  # bytes of a file that recognition looks at
# By its mark at the start of a file an encoding is known; the marks of UTF-32 begin with those of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = ("cp1252", "latin-1")  # in this order, for what is not UTF-8
_ASCII_LETTERS = bytes((*range(65, 91), *range(97, 123)))
_ASCII = bytes(range(128))
# Encodings of scripts other than Latin; those in which the bytes are valid are suggested.
_FOREIGN = ("shift_jis", "gb18030", "euc_kr", "big5", "cp1251", "cp1256", "cp1253", "cp1255", "cp874")
_MOST_FOREIGN = 1 / 3  # share of bytes above ASCII among the letters, which no Western language reaches
_LEAST_FOREIGN = 20  # bytes above ASCII; fewer say nothing

_log = logging.getLogger("termsieve")


def encoding_of(start: bytes, where: str, *, whole: bool = False) -> str | None:
    """Return the encoding of a file by its first bytes; None if they are ASCII, which leaves it open.

    UTF-8, UTF-16 and UTF-32 are known by their marks, UTF-8 also by its bytes, and UTF-16 by its zeros.
    Anything else is cp1252 if its bytes are valid there, otherwise Latin-1. Bytes that are mostly not ASCII
    are neither: that is an error.

    >>> encoding_of("Grüße".encode("cp1252"), "a.csv")
    'cp1252'
    """
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    if b"\0" in start and (unmarked := utf16_of(start)) is not None:
        return unmarked
    if start.isascii():
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=whole)
        return "utf-8"
    except UnicodeDecodeError:
        if _damaged_utf8(start):
            return "utf-8"  # decoding names the line of the damage
    check_western(start, where)
    return next(name for name in WESTERN if _fits(start, name))


def _damaged_utf8(content: bytes) -> bool:
    """Return whether most of the bytes above ASCII are valid UTF-8, so that the others are damage."""
    text = content.decode("utf-8", "replace")
    n_bad = text.count("\ufffd")
    return sum(not character.isascii() for character in text) >= 2 * n_bad


def check_western(content: bytes, where: str) -> None:
    """Raise an error for bytes that are not UTF-8 and cannot be a language in Latin letters either."""
    n_letters = len(content) - len(content.translate(None, _ASCII_LETTERS))
    n_high = len(content.translate(None, _ASCII))
    if n_high < _LEAST_FOREIGN or n_high <= _MOST_FOREIGN * (n_high + n_letters):
        return
    fitting = [name for name in _FOREIGN if _fits(content, name)]
    such = ", ".join(map(repr, fitting[:3] or _FOREIGN[:3]))
    raise FormatError(
        f"{where} is neither UTF-8 nor a Western European encoding; give encoding=, such as {such}"
    )


def _fits(content: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(content)
    except UnicodeDecodeError:
        return False
    return True


def taken(encoding: str) -> str:
    """Return the sentence about an encoding that was only guessed."""
    return f"is not UTF-8 and was read as {encoding}; give encoding= if it is another"


def decoded(content: bytes, encoding: str | None, where: str) -> str:
    """Return bytes as text, without a byte-order mark: in `encoding`, or in the one that is recognised.

    An encoding that does not fit is an error that names the line.
    """
    name = encoding or encoding_of(content, where, whole=True) or "utf-8"
    try:
        return content.decode(_without_mark(name))
    except LookupError as error:
        raise _unknown(name) from error
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        line = content.count(b"\n", 0, start) + 1
        raise FormatError(f"{where}, line {line}: not valid {name}; give the right encoding=") from error


def said_and_decoded(content: bytes, encoding: str | None, where: str) -> str:
    """Return bytes as text like `decoded`; an encoding that was only guessed is logged as a warning."""
    found = encoding or encoding_of(content, where, whole=True)
    if encoding is None and found not in (None, "utf-8"):
        _log.warning("%s %s", where, taken(str(found)))
    return decoded(content, found, where)


def _without_mark(encoding: str) -> str:
    return "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding


def _unknown(encoding: str) -> InputError:
    return InputError(f"encoding {encoding!r} is unknown to Python; try 'utf-8' or 'cp1252'")


class _Bytes(io.BufferedIOBase):
    """The bytes of a file; a line that is too long is an error before it fills the memory.

    With `opens`, the first bytes that are not ASCII decide whether the file is UTF-8; if it is not, what
    follows is turned into UTF-8. What came before is ASCII, which is the same in both.
    """

    def __init__(self, raw: IO[bytes], path: str, max_bytes: int, opens: bool) -> None:
        self._read_some = getattr(raw, "read1", raw.read)
        self._path, self._max_bytes = path, max_bytes
        self._line, self._length = 1, 0
        self._open, self._other = opens, ""

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        chunk: bytes = self._read_some(size)
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        self._line += chunk.count(b"\n")
        self._length = len(chunk) - end - 1 + (self._length if end < 0 else 0)
        check_line(self._length, f"{self._path}, line {self._line}", self._max_bytes)
        if self._open and not chunk.isascii():
            return self._decided(chunk)
        return chunk.decode(self._other).encode() if self._other else chunk

    def _decided(self, chunk: bytes) -> bytes:
        """Return the first bytes that are not all ASCII, as UTF-8."""
        whole = False
        if chunk[:-3].isascii():  # the only letter that is not ASCII may be cut in two
            more: bytes = self._read_some(1 << 12)
            chunk, whole = chunk + more, not more
        self._open = False
        found = encoding_of(chunk, self._path, whole=whole)
        if found in (None, "utf-8"):
            return chunk
        _log.warning("%s %s", self._path, taken(str(found)))
        self._other = str(found)
        return chunk.decode(self._other).encode()


def plain_start(path: str | os.PathLike[str], size: int = 65536) -> bytes:
    """Return the first bytes of a file as UTF-8 without a mark, if a mark or zeros say what they are."""
    start = start_of(path, size)
    for mark, name in _MARKS:
        if start.startswith(mark):
            return codecs.getincrementaldecoder(_without_mark(name))("replace").decode(start).encode()
    if b"\0" in start and (unmarked := utf16_of(start)) is not None:
        return codecs.getincrementaldecoder(unmarked)("replace").decode(start).encode()
    return start


def first_part(path: str, encoding: str | None) -> tuple[str, str | None, bool]:
    """Return the text of the first part of a file, its encoding, and whether the part is the whole file.

    The encoding is None if all bytes are ASCII and none was given.
    """
    start = start_of(path, FIRST_PART + 1)
    whole, start = len(start) <= FIRST_PART, start[:FIRST_PART]
    found = encoding or encoding_of(start, path, whole=whole)
    try:
        decoder = codecs.getincrementaldecoder(_without_mark(found or "utf-8"))("replace")
    except LookupError as error:
        raise _unknown(str(found)) from error
    return decoder.decode(start, final=whole), found, whole


def text_lines(path: str, raw: IO[bytes], encoding: str | None, max_bytes: int) -> Iterator[str]:
    """Yield decoded lines with their ends; a byte that cannot be decoded is an error that names the line.

    Without an `encoding` the file began with ASCII only, and is UTF-8 unless later bytes say otherwise.
    """
    fitting = _without_mark(encoding or "utf-8")
    source = _Bytes(raw, path, max_bytes, opens=encoding is None)
    try:
        text = io.TextIOWrapper(cast(IO[bytes], source), fitting, newline="")
    except LookupError as error:
        raise _unknown(str(encoding)) from error
    number = 0
    with text, readable(path):
        try:
            for line in text:
                number += 1
                yield line
        except UnicodeError as error:
            name = encoding or "utf-8"
            if not os.path.isfile(path):  # a pipe cannot be read again for the line
                raise FormatError(f"{path}, after line {number}: not valid {name}") from error
            raise FormatError(
                f"{path}, line {_undecodable_line(path, fitting) or number + 1}: not valid {name}; "
                "give encoding=, or correct the line"
            ) from error


def _undecodable_line(path: str, encoding: str) -> int | None:
    """Return the first line whose bytes do not decode; the decoder itself works in blocks of many lines."""
    if encoding.lower().startswith(("utf-16", "utf16", "utf-32", "utf32")):
        return None
    with open_binary(path) as raw, readable(path):
        for number, line in enumerate(raw, 1):
            try:
                line.decode(encoding)
            except UnicodeError:
                return number
    return None
