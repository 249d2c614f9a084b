"""Finished units of a study come in as frames; a directory of Parquet parts, read by Results, goes out."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from termsieve.display import html_table
from termsieve.errors import StudyError
from termsieve.files import checksum
from termsieve.studies.manifest import UNKNOWN, read_manifest

if TYPE_CHECKING:
    import polars as pl

# Column -> polars type, by name so that importing this module does not import polars.
_RUN = {
    "trial": "Int32",
    "fold": "Int32",
    "method": "String",
    "learner": "String",
    "size_kind": "String",
    "size": "Float64",
}
ROWS = {
    "corpus": "String",
    "problem": "String",
    "target": "String",
    **_RUN,
    "n_terms": "Int64",
    "n_train": "Int64",
    "pos": "Int64",
    "neg": "Int64",
    "tp": "Int64",
    "fp": "Int64",
    "fn": "Int64",
    "tn": "Int64",
    "be_tp": "Float64",
    "be_fp": "Float64",
    "be_fn": "Float64",
    "sparsity": "Float64",
    "select_seconds": "Float64",
    "fit_seconds": "Float64",
}
SELECTIONS = {
    "corpus": "String",
    "problem": "String",
    **_RUN,
    "terms": "List(Int32)",
    "ratio": "Float64",
    "lam": "Float64",
    "curve": "List(Float64)",
}
ROW_KEYS = ("corpus", "problem", "target", "trial", "fold", "method", "learner", "size_kind", "size")
SELECTION_KEYS = ("corpus", "problem", "trial", "fold", "method", "learner", "size_kind", "size")

PART_KINDS = ("rows", "selections")  # the folders of parts
PART_MARK = "termsieve-part"  # the key of the part's name in its Parquet metadata


def schema(columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the polars schema of ROWS or SELECTIONS."""
    import polars as pl

    types: dict[str, Any] = {"List(Int32)": pl.List(pl.Int32), "List(Float64)": pl.List(pl.Float64)}
    return {name: types.get(kind) or getattr(pl, kind) for name, kind in columns.items()}


class Results:
    """The results of a study so far: rows of confusion counts, the selections, and the manifest.

    In the directory, `rows/` and `selections/` hold one Parquet part per finished unit of work, `vocabulary/`
    the terms of each corpus in the order of its columns, and `failed/` the traceback of each failed unit.
    `manifest.json` describes what was run and holds the checksums of these files. A file that has changed
    since it was written is never read: an error names it.

    Parameters
    ----------
    path : path
        The directory.
    manifest : dict
        The content of its manifest; `Results.open(path)` reads it.

    Attributes
    ----------
    path, manifest
        As given.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from termsieve import Corpus, Plan, run_study
    >>> mail = Corpus(["buy cheap", "see you", "buy now", "see me"] * 2, ["spam", "ham"] * 4)
    >>> plan = Plan.parse('''
    ... corpora = [{name = "mail"}]
    ... methods = [{metric = "bns"}]
    ... learners = [{name = "nb"}]
    ... protocol = {folds = 2, trials = 1}
    ... sizes = {k = [2]}
    ... ''')
    >>> with TemporaryDirectory() as folder:
    ...     results = run_study(plan, folder, corpora={"mail": mail}, workers=1)
    ...     rows = results.frame(size_kind="k").collect()
    >>> int(rows["fp"].sum() + rows["fn"].sum())
    0
    """

    def __init__(self, path: str | os.PathLike[str], manifest: dict[str, Any]) -> None:
        self.path = Path(path)
        self.manifest = manifest
        self._checked: set[str] = set()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Results:
        """Return the results in a directory that a study wrote.

        Parameters
        ----------
        path : path
            The directory.

        Returns
        -------
        Results
            The results.
        """
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

        known = [entry["n_rows"] for entry in self.manifest["parts"].values()]
        if None not in known:
            return sum(known)
        return int(self.frame().select(pl.len()).collect().item())

    @property
    def plan_text(self) -> str:
        """The plan, in TOML, as it was given."""
        return str(self.manifest["plan"])

    @property
    def parts(self) -> list[Path]:
        """The Parquet parts of the rows."""
        return [self.path / "rows" / f"{name}.parquet" for name in sorted(self.manifest["parts"])]

    @property
    def failures(self) -> dict[str, str]:
        """The traceback of each unit that failed."""
        return {
            file.stem: file.read_text(encoding="utf-8") for file in sorted(self.path.glob("failed/*.txt"))
        }

    def frame(self, **equal: Any) -> pl.LazyFrame:
        """Return the rows as a lazy polars frame.

        Parameters
        ----------
        **equal
            Keep only rows whose column has this value, or one of these values, as in
            ``results.frame(corpus="fbis", method=["bns", "information_gain"], size_kind="k")``.

        Returns
        -------
        polars.LazyFrame
            The rows.
        """
        return self._scan(self._sound_parts("rows"), ROWS, equal)

    def selections(self, **equal: Any) -> pl.LazyFrame:
        """Return the selections as a lazy polars frame; `terms` holds column numbers in rank order.

        `vocabulary(corpus)` gives the terms of the columns. The parameters are those of `frame`.

        Parameters
        ----------
        **equal
            Keep only rows whose column has this value, or one of these values.

        Returns
        -------
        polars.LazyFrame
            The selections.
        """
        return self._scan(self._sound_parts("selections"), SELECTIONS, equal)

    def _sound_parts(self, kind: str) -> list[Path]:
        """Return the files of "rows" or "selections"; they are checked at the first use."""
        listed = {name: (file, digest) for name, part, file, digest in self._listed() if part == kind}
        if kind not in self._checked:
            for file, digest in listed.values():
                if fault := file_fault(file, digest):
                    raise StudyError(
                        f"{file} {fault}; `termsieve study resume {self.path}` runs this part again"
                    )
            self._checked.add(kind)
        return [file for _, (file, _) in sorted(listed.items())]

    def _listed(self) -> Iterator[tuple[str, str, Path, str]]:
        """Yield each part's name, kind, file and checksum."""
        for name, entry in self.manifest["parts"].items():
            for kind in PART_KINDS:
                if entry[kind] is not None:
                    yield name, kind, self.path / kind / f"{name}.parquet", entry[kind]

    def verify(self) -> dict[str, str]:
        """Return what is wrong with the files of the results, by their path in the directory.

        Every file is compared with its checksum. Missing files, and files among the parts that no study
        wrote, are listed, too. An empty dictionary means that the results are complete and undamaged.
        """
        faults = {}
        files = [(file, digest) for _, _, file, digest in self._listed()]
        for corpus, digest in self.manifest["vocabulary"].items():
            files.append((self.path / "vocabulary" / f"{corpus}.parquet", digest))
        for file, digest in files:
            if fault := file_fault(file, digest):
                faults[file.relative_to(self.path).as_posix()] = fault
        known = {file for file, _ in files}
        for kind in PART_KINDS:
            for file in sorted((self.path / kind).glob("*.parquet")):
                if file not in known and not is_own_part(file):
                    faults[file.relative_to(self.path).as_posix()] = "is not a part of this study; remove it"
        return faults

    def damaged_parts(self) -> list[str]:
        """Return the names of the parts with a missing or damaged file."""
        return sorted({name for name, _, file, digest in self._listed() if file_fault(file, digest)})

    def _scan(self, parts: list[Path], columns: Mapping[str, str], equal: Mapping[str, Any]) -> pl.LazyFrame:
        import polars as pl

        unknown = [name for name in equal if name not in columns]
        if unknown:
            raise StudyError(f"column {unknown[0]!r} is not in the results; they have: {', '.join(columns)}")
        types = schema(columns)
        # The counts at break-even were whole numbers in formats 1 and 2.
        casts = pl.ScanCastOptions(integer_cast="allow-float")
        frame = (
            pl.scan_parquet(parts, schema=types, cast_options=casts) if parts else pl.LazyFrame(schema=types)
        )
        for name, value in equal.items():
            if isinstance(value, list | tuple | set | frozenset):
                wanted = pl.Series([*value], dtype=types[name], strict=False)
                frame = frame.filter(pl.col(name).is_in(wanted.implode(), nulls_equal=True))
            else:
                frame = frame.filter(pl.col(name).eq_missing(value))
        return frame

    def vocabulary(self, corpus: str) -> list[str]:
        """Return the terms of a corpus in the order of its columns.

        Parameters
        ----------
        corpus : str
            The name of a corpus.

        Returns
        -------
        list of str
            The terms.
        """
        import polars as pl

        file = self.path / "vocabulary" / f"{corpus}.parquet"
        if corpus not in self.manifest["vocabulary"]:
            raise StudyError(f"the results at {self.path} have no corpus {corpus!r}")
        if fault := file_fault(file, self.manifest["vocabulary"][corpus]):
            raise StudyError(f"{file} {fault}; `termsieve study resume {self.path}` writes it again")
        return pl.read_parquet(file)["term"].to_list()

    @cached_property
    def corpora(self) -> dict[str, dict[str, Any]]:
        """For each corpus of the study: its fingerprint, documents, terms and class sizes."""
        return dict(self.manifest["corpora"])

    def sorted_rows(self) -> pl.DataFrame:
        """Return all rows in the order of their keys, without the seconds."""
        return _ordered(self.frame(), ROW_KEYS)

    def equals(self, other: Results) -> bool:
        """Return whether two runs have the same rows and selections, apart from the columns of seconds.

        Parameters
        ----------
        other : Results
            The results of the other run.

        Returns
        -------
        bool
            Whether they are equal.
        """
        return self.sorted_rows().equals(other.sorted_rows()) and _ordered(
            self.selections(), SELECTION_KEYS
        ).equals(_ordered(other.selections(), SELECTION_KEYS))


def file_fault(file: Path, digest: str) -> str | None:
    """Return what is wrong with a Parquet file, or None; a file without a known checksum must be readable."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if digest != UNKNOWN:
        return None if checksum(content) == digest else "is damaged: its content has another checksum"
    return "is damaged" if _unreadable(content) else None


def _unreadable(content: bytes) -> bool:
    import polars as pl

    try:
        pl.read_parquet(io.BytesIO(content))
    except (Exception, pl.exceptions.PanicException):
        return True
    return False


def is_own_part(file: Path) -> bool:
    """Return whether the metadata of a Parquet file say that a study wrote it under this name."""
    import polars as pl

    try:
        return pl.read_parquet_metadata(file).get(PART_MARK) == file.stem
    except (Exception, pl.exceptions.PanicException):
        return False


def _ordered(frame: pl.LazyFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    names = [name for name in frame.collect_schema().names() if not name.endswith("_seconds")]
    return frame.select(names).sort(list(keys), nulls_last=True, maintain_order=True).collect()
