"""Content comes in; a file that is whole or absent goes out, and checksums that prove it."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

MARK = ".termsieve-part"  # the ending of every unfinished file, by which a later run knows its own leftovers
END_BYTES = 1 << 16  # of each end of a large file, by which it is known again


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give an open binary file that becomes `path` when the block ends without an error.

    The content is written under a new name in the same folder, synced to the disk and renamed, so that
    `path` holds either what it held before or the whole new content, also after a crash. A link planted at
    either name is never followed: the temporary name must not exist, and a link at `path` is replaced. A
    device or a pipe at `path` is written to, for it cannot be replaced.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "note.txt") as file:
    ...         _ = file.write(b"whole")
    ...     (Path(folder) / "note.txt").read_bytes()
    b'whole'
    """
    target = Path(path)
    if _is_device(target):
        with open(target, "wb") as file:
            yield file
        return
    temporary = target.with_name(f".{target.name[:80]}.{secrets.token_hex(8)}{MARK}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` to `path`; the file is whole or absent (see `whole_file`)."""
    with whole_file(path) as file:
        file.write(content)


def leftovers(folder: Path) -> Iterator[Path]:
    """Yield the unfinished files that killed runs left in a folder; no other file carries the mark."""
    for path in folder.glob(f".*{MARK}"):
        if path.is_file() and not path.is_symlink():
            yield path


def checksum(content: bytes) -> str:
    """Return the SHA-256 digest of `content`.

    >>> checksum(b"")[:12]
    'e3b0c44298fc'
    """
    return hashlib.sha256(content).hexdigest()


def fingerprint(path: str | os.PathLike[str], whole: bool = False) -> list[Any] | None:
    """Return what a file is known by later: size, time, and a digest of its two ends or, if `whole`, of all.

    A file whose content was exchanged can keep size and time; its ends then seldom stay the same. None
    stands for a file that does not exist.
    """
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if whole or status.st_size <= 2 * END_BYTES:
                digest = hashlib.file_digest(file, "sha256")
            else:
                digest = hashlib.sha256(file.read(END_BYTES))
                file.seek(-END_BYTES, os.SEEK_END)
                digest.update(file.read(END_BYTES))
    except FileNotFoundError:
        return None
    return [status.st_size, status.st_mtime_ns, digest.hexdigest()]


def _is_device(path: Path) -> bool:
    """Whether there is something at a path that is neither a file nor a link; a folder cannot be opened."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISLNK(mode))


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; systems that cannot sync a folder do without."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
