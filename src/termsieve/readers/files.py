"""A path comes in, plain or compressed, a folder or an archive; its bytes or its files' bytes go out."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from numbers import Integral
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from termsieve.errors import FormatError, InputError, ParameterError, TermsieveError

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_ZIP = b"PK\x03\x04"
# Files beside the data of an archive, by the start of their names.
_NOTES = ("readme", "license", "licence", "changelog", "citation")
# Largest number of bytes that are read of one source by default. A text takes up to ten times its bytes in
# memory, as str, lists and counts.
MAX_BYTES = 2 << 30
# A line may have max_bytes divided by this, and a column of a term matrix counts as this number of bytes.
LINES_PER_LIMIT = 16
BYTES_PER_COLUMN = 128
_CHUNK = 1 << 20
# Packed bytes at a time; zstd can make 128 kB of 4 bytes.
_ZSTD_CHUNK = 1 << 11
_TAR_BLOCK = 512

COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
_BROKEN = (EOFError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile)


def plain_suffix(path: str | os.PathLike[str]) -> str:
    """Return the lower-case suffix below any compression.

    >>> plain_suffix("posts.CSV.gz")
    '.csv'
    """
    # Not by Path, which takes seconds for a hundred thousand files.
    name = os.path.basename(os.fspath(path).rstrip(os.sep)).lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[1]


def plain_stem(path: str | os.PathLike[str]) -> str:
    """Return the name of a path without folder, suffix and compression.

    >>> plain_stem("data/20_newsgroups.tar.xz")
    '20_newsgroups'
    """
    name = Path(path).name
    for ending in COMPRESSED:
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    return Path(name).stem or name


@contextmanager
def readable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of reading `path` into one clear error."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist; check the path") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a folder where a file is needed") from error
    except _BROKEN as error:
        raise FormatError(f"{path} is damaged or truncated ({error}); fetch it again") from error
    except NotImplementedError as error:
        raise FormatError(
            f"{path} uses a compression that cannot be read ({error}); pack it again"
        ) from error
    except OSError as error:
        # gzip and bz2 report damage as an OSError without a number; other errors come from the system.
        if error.errno is None:
            raise FormatError(f"{path} is damaged or truncated ({error}); fetch it again") from error
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (RuntimeError, ValueError) as error:
        if isinstance(error, TermsieveError):
            raise
        raise FormatError(f"{path} cannot be read: {error}") from error


def check_max_bytes(max_bytes: Any) -> int:
    """Return the limit, which must be a whole number of bytes from 1."""
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, Integral) or max_bytes < 1:
        raise ParameterError(f"max_bytes={max_bytes!r} must be a whole number of bytes from 1")
    return int(max_bytes)


def too_large(what: str, max_bytes: int) -> FormatError:
    """Return the error for something beyond the limit, which says how to raise it."""
    limit = f"max_bytes={max_bytes:,}"
    return FormatError(f"{what} than {limit} allows; give a larger max_bytes= if that is meant")


def check_line(n_bytes: int, where: str, max_bytes: int) -> None:
    """Raise an error for a line that is longer than the limit allows."""
    if n_bytes > max_bytes // LINES_PER_LIMIT:
        at_most = f"{max_bytes // LINES_PER_LIMIT:,} bytes (a {LINES_PER_LIMIT}th of the limit)"
        raise too_large(f"{where} is longer than {at_most}, more", max_bytes)


def check_lines(lines: Sequence[str | bytes], where: str, max_bytes: int) -> None:
    """Raise an error for the first line of a file that is longer than the limit allows."""
    longest = max(lines, key=len, default="")
    if len(longest) > max_bytes // LINES_PER_LIMIT:
        check_line(len(longest), f"{where}, line {lines.index(longest) + 1}", max_bytes)


def check_regular(path: str | os.PathLike[str]) -> None:
    """Raise an error for a pipe or a device, which may never end."""
    if is_special(path):
        raise InputError(f"{path} is a pipe or a device, not a file; write its content to a file first")


def is_special(path: str | os.PathLike[str]) -> bool:
    """Return whether there is something at a path, also behind a link, that is neither file nor folder."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def compression(path: str | os.PathLike[str]) -> str | None:
    """Return the name of a file's compression by its first bytes, or None."""
    check_regular(path)
    with readable(path), open(path, "rb") as file:
        start = file.read(6)
    if start.startswith(_ZIP):
        return "zip" if zipped_file(path) is not None else None
    return next((name for magic, name in _MAGIC if start.startswith(magic)), None)


def zipped_file(path: str | os.PathLike[str]) -> str | None:
    """Return the name of the only file in a zip archive, a readme aside: the archive is that file packed."""
    if not os.path.isfile(path) or not zipfile.is_zipfile(path):
        return None
    with readable(path), zipfile.ZipFile(path) as archive:
        held = list(_zip_files(path, archive, []))
        data = [info for name, info in held if not PurePosixPath(name).name.lower().startswith(_NOTES)]
        return data[0].filename if len(data) == 1 else None


def _zip_open(path: str | os.PathLike[str], mode: str) -> IO[bytes]:
    with zipfile.ZipFile(path) as archive:  # an open member keeps the file
        return archive.open(cast(str, zipped_file(path)))


def open_binary(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading its bytes, without its compression."""
    openers: dict[str | None, Callable[..., Any]] = {
        None: open,
        "gzip": gzip.open,
        "bzip2": bz2.open,
        "xz": lzma.open,
        "zstd": _zstd_open,
        "zip": _zip_open,
    }
    opener = openers[compression(path)]
    with readable(path):
        opened: IO[bytes] = opener(path, "rb")
    return opened


class _ZstdFile(io.RawIOBase):
    """The content of a file that zstd packed; damage is an OSError, a missing end an EOFError."""

    def __init__(self, path: str | os.PathLike[str], mode: str) -> None:
        self._file = open(path, mode)  # noqa: SIM115, close() closes it
        self._frame = _zstd_decompressor()
        self._packed = self._plain = b""
        self._within = False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        while not self._plain:
            packed = self._packed or self._file.read(_ZSTD_CHUNK)
            if not packed:
                if self._within:
                    raise EOFError("the zstd stream ends too early")
                return 0
            self._plain = self._unpacked(packed)
        n = min(len(buffer), len(self._plain))
        buffer[:n], self._plain = self._plain[:n], self._plain[n:]
        return n

    def _unpacked(self, packed: bytes) -> bytes:
        try:
            plain: bytes = self._frame.decompress(packed)
        except Exception as error:  # ZstdError is known only once the module is loaded
            raise OSError(f"zstd: {error}") from error
        self._within, self._packed = not self._frame.eof, b""
        if self._frame.eof:
            self._packed, self._frame = self._frame.unused_data, _zstd_decompressor()
        return plain


def _zstd_decompressor() -> Any:
    try:
        module = import_module("compression.zstd")  # of Python 3.14
    except ImportError:
        module = import_module("backports.zstd")
    return module.ZstdDecompressor()


def _zstd_open(path: str | os.PathLike[str], mode: str) -> IO[bytes]:
    return io.BufferedReader(_ZstdFile(path, mode), _CHUNK)


def read_bytes(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> bytes:
    """Return the whole content of a file, without its compression; more than `max_bytes` is an error."""
    check_max_bytes(max_bytes)
    with open_binary(path) as file, readable(path):
        return _read_at_most(file, max_bytes, path, max_bytes)


def _read_at_most(file: Any, room: int, path: str | os.PathLike[str], max_bytes: int) -> bytes:
    chunks: list[bytes] = []
    while chunk := file.read(min(_CHUNK, room + 1)):
        chunks.append(chunk)
        room -= len(chunk)
        if room < 0:
            raise too_large(f"{path} holds more bytes", max_bytes)
    return b"".join(chunks)


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a zip of several files or a tar archive, compressed or not."""
    if not os.path.isfile(path):
        return False
    if zipfile.is_zipfile(path):
        return zipped_file(path) is None
    if ".tar" in Path(path).name.lower() or plain_suffix(path) in (".tar", ".tgz", ".tbz2", ".txz"):
        return True
    try:
        with open_binary(path) as file:
            start = file.read(262)
    except (InputError, FormatError, *_BROKEN, OSError):
        return False
    return start[257:262] == b"ustar"


def file_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the sorted relative names of the files in a folder or archive, hidden ones left out."""
    if os.path.isdir(path):
        return sorted(_folder_files(path, []))
    with readable(path):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return sorted(name for name, _ in _zip_files(path, archive, []))
        with _opened_tar(path) as tar:
            return sorted(name for name, _ in _tar_files(path, tar, []))


def contents(
    path: str | os.PathLike[str],
    wanted: Callable[[str], bool] = lambda name: True,
    max_bytes: int = MAX_BYTES,
    hidden: list[str] | None = None,
) -> dict[str, bytes]:
    """Return the content of each wanted file below a folder or in an archive, by relative name, sorted.

    Nothing is unpacked to disk. Links in an archive are ignored. An archive with a member whose name is
    absolute or leads out with `..` is refused. More than `max_bytes` in total are an error. The names of
    hidden files and folders, which are left out, are added to `hidden`.
    """
    check_max_bytes(max_bytes)
    if not os.path.exists(path):
        raise InputError(f"{path} does not exist; check the path")
    check_regular(path)
    found: dict[str, bytes] = {}
    room = max_bytes
    with readable(path):
        for name, file in _opened_files(path, wanted, [] if hidden is None else hidden):
            found[name] = _read_at_most(file, room, path, max_bytes)
            room -= len(found[name])
    return dict(sorted(found.items()))


def _opened_files(
    path: str | os.PathLike[str], wanted: Callable[[str], bool], hidden: list[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the name of each wanted file below a folder or in an archive, and the file opened."""
    if os.path.isdir(path):
        for name in sorted(_folder_files(path, hidden)):
            if wanted(name):
                full = Path(path, name)
                with readable(full), open(full, "rb") as file:
                    yield name, file
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name, info in _zip_files(path, archive, hidden):
                if wanted(name):
                    with archive.open(info) as member:
                        yield name, member
    else:
        with _opened_tar(path) as tar:
            for name, entry in _tar_files(path, tar, hidden):
                extracted = tar.extractfile(entry) if wanted(name) else None
                if extracted is not None:
                    yield name, extracted


@contextmanager
def _opened_tar(path: str | os.PathLike[str]) -> Iterator[tarfile.TarFile]:
    """Open a tar archive, to be read through; afterwards its end must be there.

    tarfile takes the end of the file for that of the archive, and does not read on to the checksum of the
    compression.
    """
    with open_binary(path) as raw:
        ending = _Ending(raw)
        with tarfile.open(fileobj=cast(IO[bytes], ending), mode="r|") as tar:
            yield tar
        while ending.read(_CHUNK):
            pass
        if ending.last.strip(b"\0"):
            raise EOFError("the end of the archive is missing")


class _Ending:
    """A file that remembers the last block that was read; a tar archive ends with an empty one."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self.last = b""

    def read(self, size: int) -> bytes:
        chunk = self._raw.read(size)
        self.last = (self.last + chunk)[-_TAR_BLOCK:]
        return chunk


def _hidden(name: str) -> bool:
    if "/." not in f"/{name}" and "__MACOSX" not in name:
        return False  # nearly every name; taking it apart is slow
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def _folder_files(root: str | os.PathLike[str], hidden: list[str]) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}") from error

    seen: set[str] = set()
    for folder, below, files in os.walk(root, followlinks=True, onerror=refuse):
        # A link may lead to a parent folder; each real folder is visited once.
        real = os.path.realpath(folder)
        if real in seen:
            below.clear()
            continue
        seen.add(real)
        hidden += filter(_hidden, [*below, *files])
        below[:] = sorted(name for name in below if not _hidden(name))
        prefix = Path(os.path.relpath(folder, root)).as_posix()
        for name in files:
            # Pipes and devices, also behind links, are not documents and may never end.
            if not _hidden(name) and not is_special(os.path.join(folder, name)):
                yield name if prefix == "." else f"{prefix}/{name}"


def _safe_name(archive: str | os.PathLike[str], name: str) -> str:
    plain = name.replace("\\", "/")
    if plain.startswith("/") or plain[1:2] == ":" or ".." in plain.split("/"):
        raise FormatError(
            f"{archive} has a member with an absolute or parent path ({name!r}); it is not read"
        )
    return str(PurePosixPath(plain))


def _zip_files(
    path: str | os.PathLike[str], archive: zipfile.ZipFile, hidden: list[str]
) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    for info in archive.infolist():
        name = _safe_name(path, info.filename)
        is_link = (info.external_attr >> 28) == 0o12
        if not info.is_dir() and not is_link:
            if _hidden(name):
                hidden.append(name)
            else:
                yield name, info


def _tar_files(
    path: str | os.PathLike[str], tar: tarfile.TarFile, hidden: list[str]
) -> Iterator[tuple[str, tarfile.TarInfo]]:
    for member in tar:
        name = _safe_name(path, member.name)
        if member.isfile():
            if _hidden(name):
                hidden.append(name)
            else:
                yield name, member


def clean_name(name: str) -> str:
    """Return a file name whose undecodable bytes are read as Latin-1."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(name).decode("latin-1")
    return name


def start_of(path: str | os.PathLike[str], size: int = 65536) -> bytes:
    """Return the first bytes of a file, without its compression."""
    with open_binary(path) as file, readable(path):
        return file.read(size)
