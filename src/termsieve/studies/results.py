"""Finished units of a study come in as frames; a directory of Parquet parts, read by Results, goes out."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from termsieve.display import html_table
from termsieve.errors import StudyError

if TYPE_CHECKING:
    import polars as pl

FORMAT = "termsieve-results"
FORMAT_VERSION = 1
# Column -> polars type, by name so that importing this module does not import polars.
ROWS = {
    "corpus": "String",
    "problem": "String",
    "target": "String",
    "trial": "Int32",
    "fold": "Int32",
    "method": "String",
    "learner": "String",
    "size_kind": "String",
    "size": "Float64",
    "n_terms": "Int64",
    "n_train": "Int64",
    "pos": "Int64",
    "neg": "Int64",
    "tp": "Int64",
    "fp": "Int64",
    "fn": "Int64",
    "tn": "Int64",
    "be_tp": "Int64",
    "be_fp": "Int64",
    "be_fn": "Int64",
    "sparsity": "Float64",
    "select_seconds": "Float64",
    "fit_seconds": "Float64",
}
SELECTIONS = {
    "corpus": "String",
    "problem": "String",
    "trial": "Int32",
    "fold": "Int32",
    "method": "String",
    "learner": "String",
    "size_kind": "String",
    "size": "Float64",
    "terms": "List(Int32)",
    "ratio": "Float64",
    "lam": "Float64",
    "curve": "List(Float64)",
}
ROW_KEYS = ("corpus", "problem", "target", "trial", "fold", "method", "learner", "size_kind", "size")
SELECTION_KEYS = ("corpus", "problem", "trial", "fold", "method", "learner", "size_kind", "size")


def schema(columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the polars schema of ROWS or SELECTIONS."""
    import polars as pl

    types: dict[str, Any] = {"List(Int32)": pl.List(pl.Int32), "List(Float64)": pl.List(pl.Float64)}
    return {name: types.get(kind) or getattr(pl, kind) for name, kind in columns.items()}


class Results:
    """What a study has found so far: rows of confusion counts, the selections behind them, the manifest.

    `rows/` and `selections/` hold one Parquet part a finished unit, `vocabulary/` the terms of each
    corpus by column, `failed/` the traceback of each unit that failed, `manifest.json` what was run.
    """

    def __init__(self, path: str | os.PathLike[str], manifest: dict[str, Any]) -> None:
        self.path = Path(path)
        self.manifest = manifest

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Results:
        """Return the results in a directory that a study wrote."""
        return cls(path, read_manifest(Path(path)))

    def __repr__(self) -> str:
        return f"<Results of '{self.manifest.get('name')}' at {self.path}: {len(self):,} rows>"

    def _repr_html_(self) -> str:
        import polars as pl

        names = ("corpus", "method", "learner", "size")
        found = self.frame().select(pl.col(*names).n_unique()).collect().row(0, named=True)
        rows = [{"": "rows", "number": len(self)}, {"": "failed units", "number": len(self.failures)}]
        rows += [{"": f"different values of {name}", "number": found[name]} for name in names]
        return html_table(rows, repr(self)[1:-1])

    def __len__(self) -> int:
        import polars as pl

        return int(self.frame().select(pl.len()).collect().item())

    @property
    def plan_text(self) -> str:
        """The plan, in TOML, as it was given."""
        return str(self.manifest["plan"])

    @property
    def parts(self) -> list[Path]:
        """The Parquet parts of the rows."""
        return sorted((self.path / "rows").glob("*.parquet"))

    @property
    def failures(self) -> dict[str, str]:
        """The traceback of each unit that failed."""
        return {
            file.stem: file.read_text(encoding="utf-8") for file in sorted(self.path.glob("failed/*.txt"))
        }

    def frame(self, **equal: Any) -> pl.LazyFrame:
        """Return the rows, lazily; keywords keep those with the given value, or one of the given values.

        `results.frame(corpus="fbis", method=["bns", "information_gain"], size_kind="k")`
        """
        return self._scan(self.parts, ROWS, equal)

    def selections(self, **equal: Any) -> pl.LazyFrame:
        """Return the selections, lazily; `terms` holds columns in rank order, which `vocabulary` names."""
        # A part without its rows was cut off between the two writes, and its unit will run again.
        parts = [file for part in self.parts if (file := self.path / "selections" / part.name).exists()]
        return self._scan(parts, SELECTIONS, equal)

    def _scan(self, parts: list[Path], columns: Mapping[str, str], equal: Mapping[str, Any]) -> pl.LazyFrame:
        import polars as pl

        unknown = [name for name in equal if name not in columns]
        if unknown:
            raise StudyError(f"column {unknown[0]!r} is not in the results; they have: {', '.join(columns)}")
        frame = pl.scan_parquet(parts) if parts else pl.LazyFrame(schema=schema(columns))
        types = schema(columns)
        for name, value in equal.items():
            if isinstance(value, list | tuple | set | frozenset):
                wanted = pl.Series([*value], dtype=types[name], strict=False)
                frame = frame.filter(pl.col(name).is_in(wanted.implode(), nulls_equal=True))
            else:
                frame = frame.filter(pl.col(name).eq_missing(value))
        return frame

    def vocabulary(self, corpus: str) -> list[str]:
        """Return the terms of a corpus by column."""
        import polars as pl

        file = self.path / "vocabulary" / f"{corpus}.parquet"
        if not file.exists():
            raise StudyError(f"the results at {self.path} have no corpus {corpus!r}")
        return pl.read_parquet(file)["term"].to_list()

    @cached_property
    def corpora(self) -> dict[str, dict[str, Any]]:
        """For each corpus of the study: its fingerprint, documents, terms and class sizes."""
        return dict(self.manifest["corpora"])

    def sorted_rows(self) -> pl.DataFrame:
        """Return all rows in the order of their keys, without the seconds."""
        return _ordered(self.frame(), ROW_KEYS)

    def equals(self, other: Results) -> bool:
        """Whether two runs hold the same rows and selections; how many seconds they took does not count."""
        return self.sorted_rows().equals(other.sorted_rows()) and _ordered(
            self.selections(), SELECTION_KEYS
        ).equals(_ordered(other.selections(), SELECTION_KEYS))


def _ordered(frame: pl.LazyFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    names = [name for name in frame.collect_schema().names() if not name.endswith("_seconds")]
    return frame.select(names).sort(list(keys), nulls_last=True, maintain_order=True).collect()


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a results directory."""
    try:
        manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise KeyError("format")
    except FileNotFoundError:
        raise StudyError(f"{path} holds no results of a study: there is no manifest.json") from None
    except NotADirectoryError:
        raise StudyError(f"{path} is not a directory; results of a study are one") from None
    except (KeyError, TypeError, ValueError):
        raise StudyError(f"{path / 'manifest.json'} is damaged or not the manifest of a study") from None
    except OSError as error:
        raise StudyError(f"{path / 'manifest.json'} cannot be read: {error.strerror}") from None
    if manifest.get("version", 0) > FORMAT_VERSION:
        raise StudyError(
            f"{path} was written by a newer termsieve (results format {manifest['version']}, "
            f"this one reads {FORMAT_VERSION})"
        )
    return dict(manifest)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn what goes wrong while writing into one clear error."""
    try:
        yield
    except OSError as error:
        raise StudyError(
            f"cannot write {path}: {error.strerror or error}; what was finished before is kept, "
            "so make room or rights and resume"
        ) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and rename it, so that it is there whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with _writing(path):
        try:
            with open(temporary, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


class Store:
    """The writing side of a results directory; one process at a time holds it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with _writing(self.path):
            for folder in ("rows", "selections", "failed", "vocabulary"):
                (self.path / folder).mkdir(parents=True, exist_ok=True)
        self._lock = self._locked()
        self._sweep()

    def _locked(self) -> io.BufferedWriter:
        with _writing(self.path / ".lock"):
            file = open(self.path / ".lock", "wb")  # noqa: SIM115 - held until close()
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # pragma: no cover - Windows has no flock
            pass
        except OSError:
            file.close()
            raise StudyError(f"another process is writing to {self.path}; wait for it or end it") from None
        return file

    def _sweep(self) -> None:
        """Remove what a killed run left: corpora, temporary files, and selections without their rows."""
        shutil.rmtree(self.prepared, ignore_errors=True)
        for file in self.path.glob("**/.*.tmp"):
            file.unlink(missing_ok=True)
        rows = {part.name for part in (self.path / "rows").glob("*.parquet")}
        for part in (self.path / "selections").glob("*.parquet"):
            if part.name not in rows:
                part.unlink(missing_ok=True)

    @property
    def prepared(self) -> Path:
        """Where corpora may be laid for worker processes; it does not outlive a run."""
        return self.path / ".prepared"

    def close(self) -> None:
        """Let another process write."""
        self._lock.close()

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write the manifest."""
        text = json.dumps({"format": FORMAT, "version": FORMAT_VERSION, **manifest}, indent=1)
        write_whole(self.path / "manifest.json", text.encode())

    def write_vocabulary(self, corpus: str, terms: list[str]) -> None:
        """Write the terms of a corpus by column."""
        import polars as pl

        frame = pl.DataFrame({"term": pl.Series(terms, dtype=pl.String)})
        write_whole(self.path / "vocabulary" / f"{corpus}.parquet", _parquet(frame))

    def write_unit(self, name: str, rows: pl.DataFrame, selections: pl.DataFrame) -> None:
        """Write the parts of a finished unit: the rows last, for they say that it is finished."""
        if selections.height:
            write_whole(self.path / "selections" / f"{name}.parquet", _parquet(selections))
        write_whole(self.path / "rows" / f"{name}.parquet", _parquet(rows))
        (self.path / "failed" / f"{name}.txt").unlink(missing_ok=True)

    def write_failure(self, name: str, traceback: str) -> None:
        """Write down why a unit failed."""
        write_whole(self.path / "failed" / f"{name}.txt", traceback.encode())

    def forget_failures(self) -> None:
        """Remove the records of failed units, which are about to run again."""
        for file in (self.path / "failed").glob("*.txt"):
            file.unlink(missing_ok=True)
