"""A frame becomes Parquet bytes with their own checksum; such bytes are checked and become a frame again.

The library that decodes Parquet trusts the sizes it finds there: a wrong one can make it ask for more memory
than there is, which ends the process. So the footer and the page headers are read here first.
"""

from __future__ import annotations

import hashlib
import io
import mmap
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from termsieve.errors import FormatError

if TYPE_CHECKING:
    import polars

MAGIC = b"PAR1"
CHECKSUM = "termsieve-checksum"
BLANK = b"0" * 64  # in the place of the checksum while it is computed
DEPTH = 16  # depth of nested structures; Parquet itself needs 6
# A file may unpack to this number of bytes and values, or to a multiple of its own size, whichever is more.
LEAST_BYTES, TIMES_BYTES = 2**30, 256
LEAST_VALUES, TIMES_VALUES = 2**26, 64

Buffer = bytes | mmap.mmap
Fields = dict[int, Any]


def sealed(frame: polars.DataFrame, metadata: dict[str, str]) -> bytes:
    """Return a frame as Parquet whose metadata hold the SHA-256 of all its bytes.

    The checksum is computed with 64 zeros in its own place.
    """
    buffer = io.BytesIO()
    # The first level of zstd takes three quarters of the default level's time, for the same size.
    frame.write_parquet(buffer, compression_level=1, metadata={**metadata, CHECKSUM: BLANK.decode()})
    content = buffer.getvalue()
    place = _checksum_place(content)
    return content[:place] + _digest(content, place) + content[place + len(BLANK) :]


@dataclass(frozen=True)
class Parquet:
    """The bytes of a Parquet file, and the metadata in its footer."""

    path: str
    content: bytes
    footer: Fields

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Parquet:
        """Read a file; a FormatError is raised if it is not Parquet."""
        where = os.fspath(path)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                _refuse(where, "it is no regular file")
            content = Path(path).read_bytes()
            return cls(where, content, footer_of(content))
        except FileNotFoundError:
            raise
        except OSError as error:
            _refuse(where, error.strerror or str(error))
        except ValueError as error:
            _refuse(where, str(error))

    @property
    def metadata(self) -> dict[str, str]:
        """The texts that the writer put into the footer, by name."""
        return metadata_of(self.footer)

    def verify(self) -> None:
        """Raise FormatError if the bytes are not those that `sealed` returned."""
        place = _checksum_place(self.content)
        if place < 0 or self.content[place : place + len(BLANK)] != _digest(self.content, place):
            raise FormatError(f"{self.path} is damaged: its checksum is wrong; copy it or write it again")

    def frame(self) -> polars.DataFrame:
        """Return the table, after its sizes were checked."""
        import polars as pl

        try:
            check_sizes(self.content, self.footer)
            return pl.read_parquet(io.BytesIO(self.content))
        except pl.exceptions.PanicException:
            _refuse(self.path, "its content is damaged")
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            _refuse(self.path, (str(error).strip().splitlines() or [type(error).__name__])[0])


def _refuse(path: str, reason: str) -> NoReturn:
    raise FormatError(f"{path} is not a readable Parquet file: {reason}") from None


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _checksum_place(content: bytes) -> int:
    """Return the position of the checksum, a text of 64 bytes in the footer; -1 if it is not there."""
    field = CHECKSUM.encode() + bytes([0x18, len(BLANK)])
    found = content.rfind(field)
    return found if found < 0 else found + len(field)


def _digest(content: bytes, place: int) -> bytes:
    digest = hashlib.sha256(memoryview(content)[:place])
    digest.update(BLANK)
    digest.update(memoryview(content)[place + len(BLANK) :])
    return digest.hexdigest().encode()


def file_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the texts in a Parquet file's footer, by name; none if it is not a Parquet file.

    Only the footer is read, so that this is quick for files of any size.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return {}
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return metadata_of(footer_of(content))
    except (OSError, ValueError):
        return {}


def metadata_of(footer: Fields) -> dict[str, str]:
    """Return the texts that the writer put into a footer, by name."""
    pairs = footer.get(5)
    if not isinstance(pairs, list):
        return {}
    return {_text(pair.get(1)): _text(pair.get(2)) for pair in pairs if isinstance(pair, dict)}


def footer_of(content: Buffer) -> Fields:
    """Return the fields of a Parquet file's footer by their numbers; ValueError if there is none."""
    size = len(content)
    if size < 12 or bytes(content[:4]) != MAGIC or bytes(content[size - 4 :]) != MAGIC:
        raise ValueError("its beginning or its end is missing")
    length = int.from_bytes(content[size - 8 : size - 4], "little")
    if length > size - 12:
        raise ValueError("its footer is longer than the file")
    return _structure(content, size - 8 - length)[0]


def check_file(path: str | os.PathLike[str], least_bytes: int = LEAST_BYTES) -> None:
    """Raise ValueError if a size in a Parquet file of any origin is impossible; see `check_sizes`."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        check_sizes(content, footer_of(content), least_bytes)


def check_sizes(content: Buffer, footer: Fields, least_bytes: int = LEAST_BYTES) -> None:
    """Raise ValueError if a size in a Parquet file is impossible; every size is checked before it is used.

    Rows, values, chunks of columns and pages must lie within the file and agree, and what they unpack to must
    not be out of proportion to the file: at most `least_bytes`, or a fixed multiple of its own size.
    """
    most_values = max(LEAST_VALUES, TIMES_VALUES * len(content))
    room = max(least_bytes, TIMES_BYTES * len(content))
    n_rows = _size(footer, 3)
    groups = _structures(footer, 4)
    if n_rows > most_values or sum(_size(group, 3) for group in groups) != n_rows:
        raise ValueError("its number of rows is impossible")
    for group in groups:
        for chunk in _structures(group, 1):
            for page, n_values in _pages(content, chunk, most_values):
                room -= _size(page, 2) + 8 * n_values
                if room < 0:
                    raise ValueError("it would unpack to far more than its own size")


def _pages(content: Buffer, chunk: Fields, most_values: int) -> Iterator[tuple[Fields, int]]:
    """Yield the header and the number of values of each page of a column chunk."""
    column = chunk.get(3)
    if not isinstance(column, dict):
        raise ValueError("a column has no description")
    n_values, size = _size(column, 5), _size(column, 7)
    first = min(_size(column, 9), _size(column, 11)) if column.get(11) else _size(column, 9)
    if n_values > most_values or first < len(MAGIC) or first + size > len(content) - 8:
        raise ValueError("a column lies outside the file")
    at, stop, found = first, first + size, 0
    while at < stop:
        page, at = _structure(content, at)
        at += _size(page, 3)
        held = [page[field] for field in (5, 7, 8) if isinstance(page.get(field), dict)]
        if at > stop or len(held) != 1:
            raise ValueError("a page lies outside its column")
        n_held = _size(held[0], 1)
        if n_held > most_values:
            raise ValueError("a page has an impossible number of values")
        found += n_held if 7 not in page else 0
        yield page, n_held
    if found != n_values:
        raise ValueError("a column has another number of values than its pages")


def _size(fields: Fields, number: int) -> int:
    value = fields.get(number)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a size is missing or below zero")
    return value


def _structures(fields: Fields, number: int) -> list[Fields]:
    value = fields.get(number)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("a part of its footer is missing")
    return value


def _structure(data: Buffer, at: int) -> tuple[Fields, int]:
    """Return the fields of the structure at a place, in Thrift's compact protocol, and where it ends."""
    reader = _Compact(data, at)
    try:
        return reader.fields(), reader.at
    except IndexError:
        raise ValueError("its description ends too early") from None


class _Compact:
    """A reader of Thrift's compact protocol, which Parquet uses for its footer and its page headers."""

    def __init__(self, data: Buffer, at: int) -> None:
        self.data = data
        self.at = at

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _number(self) -> int:
        value = shift = 0
        while (byte := self._byte()) >= 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")
        return value | byte << shift

    def _signed(self) -> int:
        value = self._number()
        return (value >> 1) ^ -(value & 1)

    def _bytes(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise IndexError
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def fields(self, depth: int = 0) -> Fields:
        fields: Fields = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > DEPTH:
            raise ValueError("it is nested too deep")
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._number())
        if kind in (9, 10):
            head = self._byte()
            size = self._number() if head >> 4 == 15 else head >> 4
            return [self._value(head & 15, depth + 1) for _ in range(size)]
        if kind == 12:
            return self.fields(depth + 1)
        raise ValueError("it has a field of an unknown kind")
