"""Finished units of a study come in as frames; a directory of Parquet parts and its manifest go out."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from termsieve.errors import StudyError
from termsieve.files import checksum, leftovers, write_whole
from termsieve.studies.manifest import MANIFEST, UNKNOWN, manifest_text
from termsieve.studies.results import PART_KINDS, PART_MARK, Results, file_fault, is_own_part
from termsieve.studies.tasks import UNIT_NAME

if TYPE_CHECKING:
    import polars as pl

FOLDERS = (*PART_KINDS, "failed", "vocabulary")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn errors of writing into one clear error."""
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"cannot write {path}: {error.strerror or error}; finished work is kept, "
            "so free some space or change the permissions, then resume"
        ) from error


def _write(path: Path, content: bytes) -> str:
    """Write a file whole and return its checksum."""
    with _writing(path):
        write_whole(path, content)
    return checksum(content)


def _parquet(frame: pl.DataFrame, name: str) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", metadata={PART_MARK: name})
    return buffer.getvalue()


class Store:
    """Writes a results directory; only one process at a time may have it.

    `manifest` is the content of the manifest file after each method that writes. A part is valid when the
    manifest lists it with its checksum, so a unit is either finished or not.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.manifest: dict[str, Any] = {"parts": {}, "vocabulary": {}}
        with _writing(self.path):
            for folder in FOLDERS:
                (self.path / folder).mkdir(parents=True, exist_ok=True)
        self._lock = self._locked()

    def _locked(self) -> io.BufferedWriter:
        with _writing(self.path / ".lock"):
            # A symbolic link is not followed.
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            file = open(os.open(self.path / ".lock", flags, 0o666), "wb")  # noqa: SIM115 - held until close()
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # pragma: no cover - Windows has no flock
            pass
        except OSError:
            file.close()
            raise StudyError(f"another process is writing to {self.path}; wait for it or end it") from None
        return file

    def close(self) -> None:
        """Release the directory for other processes."""
        self._lock.close()

    def adopt(self, manifest: dict[str, Any]) -> None:
        """Continue with the parts of a manifest; drop damaged parts, and remove leftovers of killed runs.

        Only files are removed that the manifest lists, or whose metadata say that a study wrote them.
        """
        own = {key: dict(manifest[key]) for key in ("parts", "vocabulary")}
        self.manifest = manifest | own
        for name in Results(self.path, self.manifest).damaged_parts():
            warnings.warn(
                f"part '{name}' of {self.path} is missing or damaged; it is run again", stacklevel=2
            )
            del self.manifest["parts"][name]
            for kind in PART_KINDS:
                (self.path / kind / f"{name}.parquet").unlink(missing_ok=True)
        self._add_checksums()
        for folder in (self.path, *(self.path / name for name in FOLDERS)):
            for file in leftovers(folder):
                file.unlink(missing_ok=True)
        for kind in PART_KINDS:
            for file in (self.path / kind).glob("*.parquet"):
                if file.stem not in self.manifest["parts"] and is_own_part(file):
                    file.unlink(missing_ok=True)

    def _add_checksums(self) -> None:
        """Add the checksums that format 1 did not record."""
        import polars as pl

        for name, entry in self.manifest["parts"].items():
            for kind in PART_KINDS:
                if entry[kind] == UNKNOWN:
                    content = (self.path / kind / f"{name}.parquet").read_bytes()
                    entry[kind] = checksum(content)
                    if kind == "rows":
                        entry["n_rows"] = pl.read_parquet(io.BytesIO(content)).height
        for corpus, digest in list(self.manifest["vocabulary"].items()):
            file = self.path / "vocabulary" / f"{corpus}.parquet"
            if digest == UNKNOWN and not file_fault(file, UNKNOWN):
                self.manifest["vocabulary"][corpus] = checksum(file.read_bytes())

    def has_vocabulary(self, corpus: str) -> bool:
        """Return whether the terms of a corpus are there and undamaged."""
        digest = self.manifest["vocabulary"].get(corpus)
        return digest is not None and not file_fault(self.path / "vocabulary" / f"{corpus}.parquet", digest)

    def write_manifest(self, **changes: Any) -> None:
        """Write the manifest with these changes."""
        self.manifest |= changes
        _write(self.path / MANIFEST, manifest_text(self.manifest).encode())

    def write_vocabulary(self, corpus: str, terms: list[str]) -> None:
        """Write the terms of a corpus in column order; the next write of the manifest lists them."""
        import polars as pl

        frame = pl.DataFrame({"term": pl.Series(terms, dtype=pl.String)})
        file = self.path / "vocabulary" / f"{corpus}.parquet"
        self.manifest["vocabulary"][corpus] = _write(file, _parquet(frame, corpus))

    def write_unit(self, name: str, rows: pl.DataFrame, selections: pl.DataFrame) -> None:
        """Write the parts of a finished unit, and list them."""
        entry: dict[str, Any] = {"n_rows": rows.height, "rows": None, "selections": None}
        for kind, frame in (("selections", selections), ("rows", rows)):
            if frame.height or kind == "rows":
                entry[kind] = _write(self.path / kind / f"{name}.parquet", _parquet(frame, name))
        self.manifest["parts"][name] = entry
        self.write_manifest()
        (self.path / "failed" / f"{name}.txt").unlink(missing_ok=True)

    def write_failure(self, name: str, traceback: str) -> None:
        """Write the traceback of a failed unit."""
        _write(self.path / "failed" / f"{name}.txt", traceback.encode())

    def forget_failures(self) -> None:
        """Remove the records of failed units, which are about to run again."""
        for file in (self.path / "failed").glob("*.txt"):
            if UNIT_NAME.fullmatch(file.stem):
                file.unlink(missing_ok=True)
