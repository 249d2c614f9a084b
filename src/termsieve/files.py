"""Content comes in; a complete file, or none, goes out; and checksums."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

MARK = ".termsieve-part"  # the ending of unfinished files, by which a later run recognises leftovers
END_BYTES = 1 << 16  # bytes of each end of a large file that are part of its fingerprint


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give an open binary file that becomes `path` when the block ends without an error.

    The content is written under a new name in the same folder, synced to the disk and renamed, so that
    `path` holds either the old or the complete new content, also after a crash. Symbolic links are never
    followed: the temporary name must not exist, and a link at `path` is replaced. A device or a pipe at
    `path` is written to, because it cannot be replaced.

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
    """Write `content` to `path`; a failed write leaves no incomplete file (see `whole_file`)."""
    with whole_file(path) as file:
        file.write(content)


def kept_file(name: str) -> bytes | None:
    """Return what `keep_file` kept under a name; None if there is none, or if others may have written it."""
    try:
        folder = _cache_folder()
        if not (_only_ours(folder) and _only_ours(folder / name)):
            return None
        return (folder / name).read_bytes()
    except (OSError, RuntimeError):
        return None


def keep_file(name: str, content: bytes) -> None:
    """Keep content that can be made again in the user's cache folder, if that can be written."""
    with suppress(OSError, RuntimeError):
        folder = _cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _only_ours(folder):
            write_whole(folder / name, content)
            (folder / name).chmod(0o600)  # whatever the user's mask leaves to others


def _cache_folder() -> Path:
    """Return the folder of this user for files that can be made again; RuntimeError if there is no home."""
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"], "termsieve", "Cache")
    given = os.environ.get("XDG_CACHE_HOME", "")
    usual = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return (Path(given) if os.path.isabs(given) else usual) / "termsieve"


def _only_ours(path: Path) -> bool:
    """Return whether a file or folder is the user's own, and nobody else may write to it."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return False
    # Windows has no such owners and rights; its folders of a user are that user's.
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def leftovers(folder: Path) -> Iterator[Path]:
    """Yield the unfinished files that killed runs left in a folder; no other file has their ending."""
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
    """Return a fingerprint of a file: size, time, and a digest of both ends or, if `whole`, of all bytes.

    A changed file may have the same size and time, but its ends rarely stay the same. The fingerprint of a
    file that does not exist is None.
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
    """Return whether there is something at a path that is neither a file nor a link."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISLNK(mode))


def _sync_folder(folder: Path) -> None:
    """Make a rename durable, on systems that can sync a folder."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
