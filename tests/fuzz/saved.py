"""Targets whose files termsieve writes itself: counts, checkpoints, shards, results, models, exported models.

Where the content is guarded by a checksum, the changed content is written by the function that makes the
checksum, so that a reader gets to see the change.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st
from scipy import sparse
from tests.fuzz.changes import changed_array, changed_bytes, changed_value

from termsieve import Corpus, Counts, count, rank, read, score, train_model
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.counts.shards import read_shards, write_shards
from termsieve.counts.storage import FORMAT as COUNTS_FORMAT
from termsieve.errors import FormatError
from termsieve.models import export
from termsieve.parquet import sealed
from termsieve.portable import scorer
from termsieve.studies import load_plan, run_study, study_status
from termsieve.studies.results import Results

MAILS = "text,label\n" + "".join(
    f"{text},{label}\n"
    for text, label in [
        *[("cheap pills now", "spam"), ("buy cheap watches", "spam"), ("pills pills buy", "spam")] * 2,
        *[("see you at noon", "ham"), ("the meeting is at noon", "ham"), ("minutes of the meeting", "ham")]
        * 2,
        *[("goal and goal again", "sport"), ("a meeting of teams", "sport")] * 2,
    ]
)
PLAN = """name = "tiny"
[[corpora]]
name = "mails"
path = "mails.csv"
options = { text = "text", label = "label" }
[protocol]
folds = 2
seed = 1
[[methods]]
metric = ["bns"]
[sizes]
k = [2]
[[learners]]
name = "nb"
"""
Files = dict[str, bytes]


def _contents(folder: Path) -> Files:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


@cache
def _made(make: Callable[[Path], None]) -> Files:
    """Return the files that a function writes into a folder."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "mails.csv").write_text(MAILS)
        make(Path(name))
        return _contents(Path(name))


def _changed_file(files: Files) -> st.SearchStrategy[Files]:
    """Return a strategy of the same files with the bytes of one of them changed, or one of them missing."""
    names = st.sampled_from([name for name in files if name != "mails.csv"])
    bytes_changed = names.flatmap(
        lambda name: changed_bytes(files[name]).map(lambda new: {**files, name: new})
    )
    missing = names.map(lambda name: {other: files[other] for other in files if other != name})
    return st.one_of(bytes_changed, bytes_changed, bytes_changed, missing)


# Counts files.


def _counts_made(folder: Path) -> None:
    count(folder / "mails.csv").save(folder / "plain.parquet")
    count(folder / "mails.csv", occurrences=True).save(folder / "with.parquet")


@st.composite
def _counts_files(draw: Any) -> Files:
    content = _made(_counts_made)[draw(st.sampled_from(["plain.parquet", "with.parquet"]))]
    kind = draw(st.sampled_from(["bytes", "head", "column", "column"]))
    if kind == "bytes":
        return {"counts.parquet": draw(changed_bytes(content))}
    frame, head = _frame_and_head(content)
    if kind == "head":
        head = draw(changed_value(head))
    else:
        frame = draw(_changed_frame(frame))
    return {"counts.parquet": sealed(frame, {COUNTS_FORMAT: json.dumps(head)})}


def _frame_and_head(content: bytes) -> tuple[pl.DataFrame, Any]:
    head = pl.read_parquet_metadata(io.BytesIO(content))[COUNTS_FORMAT]
    return pl.read_parquet(io.BytesIO(content)), json.loads(head)


@st.composite
def _changed_frame(draw: Any, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with one column left out, renamed, cast, moved, given gaps or other numbers."""
    name = draw(st.sampled_from(frame.columns))
    column = frame[name]
    kind = draw(st.sampled_from(["drop", "rename", "cast", "reverse", "gap", "number", "number", "double"]))
    if kind == "drop":
        return frame.drop(name)
    if kind == "rename":
        return frame.rename({name: draw(st.sampled_from([*"abc", "term2", ""]))})
    if kind == "double":
        return pl.concat([frame, frame[:1]])
    if kind == "gap":
        return frame.with_columns(column.set(pl.Series([True] + [False] * (frame.height - 1)), None))
    if kind == "reverse":
        return frame.with_columns(column.reverse())
    if kind == "cast":
        types = [
            pl.Float64,
            pl.Int8,
            pl.UInt64,
            pl.String,
            pl.Binary,
            pl.Boolean,
            pl.List(pl.Float32),
            pl.Null,
        ]
        try:
            return frame.with_columns(column.cast(draw(st.sampled_from(types)), strict=False))
        except pl.exceptions.PolarsError:  # not every type goes into every other
            return frame
    return frame.with_columns(draw(_changed_numbers(column)))


@st.composite
def _changed_numbers(draw: Any, column: pl.Series) -> pl.Series:
    values = column.to_list()
    at = draw(st.integers(0, len(values) - 1))
    wild = st.sampled_from([-1, 0, 1, 3, 100, 2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**63)])
    inner = column.dtype.inner if isinstance(column.dtype, pl.List) else column.dtype
    if not inner.is_integer():
        return column.reverse()
    if isinstance(values[at], list):
        values[at] = draw(st.lists(wild, max_size=4))
    else:
        values[at] = draw(wild)
    return pl.Series(column.name, values, dtype=column.dtype, strict=False)


def _counts_read(folder: Path) -> None:
    counts = Counts.load(folder / "counts.parquet")
    for metric in ("bns", "chi_squared"):
        rank(score(counts, metric))
    assert (counts + counts).n_docs == 2 * counts.n_docs
    counts.save(folder / "again.parquet")
    Counts.load(folder / "again.parquet")


# Checkpoints of a count.


def _checkpoint_made(folder: Path) -> None:
    with chdir(folder):
        os.utime("mails.csv", (0, 0))  # so that the table is known again
        count("mails.csv", checkpoint="point", occurrences=True)


@st.composite
def _checkpoint_files(draw: Any) -> Files:
    files = _made(_checkpoint_made)
    return draw(_changed_npz(files) if draw(st.booleans()) else _changed_file(files))


def _checkpoint_read(folder: Path) -> None:
    with chdir(folder):
        os.utime("mails.csv", (0, 0))
        counts = count("mails.csv", checkpoint="point", occurrences=True)
    rank(score(counts, "bns"))


# Shards of a term matrix.


def _shards_made(folder: Path) -> None:
    write_shards(folder / "mails.csv", ["cheap", "pills", "noon"], folder / "shards", rows=9)


@st.composite
def _shard_files(draw: Any) -> Files:
    files = _made(_shards_made)
    return draw(_changed_npz(files) if draw(st.booleans()) else _changed_file(files))


def _shards_read(folder: Path) -> None:
    for X, labels in read_shards(folder / "shards"):
        assert sparse.issparse(X)
        Counts.from_matrix(X, labels)


@st.composite
def _changed_npz(draw: Any, files: Files) -> Files:
    """Return files of which one archive has one array, or its JSON head, changed, left out or renamed."""
    name = draw(st.sampled_from([name for name, content in files.items() if content[:2] == b"PK"]))
    with np.load(io.BytesIO(files[name]), allow_pickle=False) as archive:
        arrays = dict(archive)
    key = draw(st.sampled_from(sorted(arrays)))
    kind = draw(st.sampled_from(["array"] * 6 + ["delete", "rename"]))
    if kind == "delete":
        del arrays[key]
    elif kind == "rename":
        arrays["other"] = arrays.pop(key)
    elif arrays[key].dtype == np.uint8 and arrays[key][:1].tobytes() == b"{":
        text = json.dumps(draw(changed_value(json.loads(arrays[key].tobytes()))))
        arrays[key] = np.frombuffer(text.encode(), dtype=np.uint8)
    else:
        arrays[key] = draw(changed_array(np.atleast_1d(arrays[key])))
    file = io.BytesIO()
    np.savez(file, **arrays)
    return {**files, name: file.getvalue()}


# Results of a study.


def _study_made(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN)
    run_study(load_plan(folder / "plan.toml"), folder / "out", data=folder, workers=1)


@st.composite
def _results_files(draw: Any) -> Files:
    files = _made(_study_made)
    if draw(st.booleans()):
        return draw(_changed_file(files))
    manifest = draw(changed_value(json.loads(files["out/manifest.json"])))
    return {**files, "out/manifest.json": json.dumps(manifest).encode()}


def _results_read(folder: Path) -> None:
    found = Results.open(folder / "out")
    study_status(folder / "out")
    found.sorted_rows()
    found.selections().collect()
    for corpus in found.corpora:
        found.vocabulary(corpus)
    run_study(load_plan(folder / "plan.toml"), folder / "out", data=folder, workers=1)


# Saved models.


def _model_made(folder: Path) -> None:
    with chdir(folder):
        for learner in ("svm", "nb"):
            words = ["select", "mails.csv", "-k", "5", "--pipeline", f"{learner}.skops", "--learner", learner]
            assert exit_code(app, words) == 0


@st.composite
def _model_files(draw: Any) -> Files:
    content = _made(_model_made)[draw(st.sampled_from(["svm.skops", "nb.skops"]))]
    if draw(st.integers(0, 3)) == 0:
        return {"model.skops": draw(changed_bytes(content)), "mails.csv": MAILS.encode()}
    members = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            members[name] = archive.read(name)
    name = draw(st.sampled_from(sorted(members)))
    if name == "schema.json":
        members[name] = json.dumps(draw(changed_value(json.loads(members[name])))).encode()
    elif name.endswith(".npy"):
        array = np.load(io.BytesIO(members[name]), allow_pickle=False)
        file = io.BytesIO()
        np.save(file, draw(changed_array(np.atleast_1d(array))))
        members[name] = file.getvalue()
    else:
        members[name] = draw(changed_bytes(members[name]))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, inner in members.items():
            archive.writestr(name, inner)
    return {"model.skops": file.getvalue(), "mails.csv": MAILS.encode()}


def _model_read(folder: Path) -> None:
    said = io.StringIO()
    with chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(said):
        code = exit_code(app, ["predict", "model.skops", "mails.csv"])
    if code:
        raise answered(said.getvalue())


# Exported models.


def _portable_made(folder: Path) -> None:
    mails = read(folder / "mails.csv")
    texts, labels = list(mails.texts or ()), [str(label) for label in mails.labels]
    several = [
        (label, "long") if len(text) > 15 else (label,) for text, label in zip(texts, labels, strict=True)
    ]
    files = {
        "words": train_model(mails, learner="lr", k=5, ngram_range=(1, 2), stop_words=["the"], folds=2),
        "stems": train_model(Corpus([f"{text} \u03c3" for text in texts], several), k=5, stem="porter"),
        "characters": train_model(mails, learner="nb", target="spam", k=5, analyzer="char_wb"),
    }
    for name, model in files.items():
        (folder / f"{name}.json").write_text(export(model))


@st.composite
def _portable_files(draw: Any) -> Files:
    files = _made(_portable_made)
    content = files[draw(st.sampled_from(["words.json", "stems.json", "characters.json"]))]
    if draw(st.integers(0, 3)) == 0:
        return {"model.json": draw(changed_bytes(content))}
    return {"model.json": json.dumps(draw(_changed_description(json.loads(content)))).encode()}


@st.composite
def _changed_description(draw: Any, found: Any) -> Any:
    """Return a description with a change anywhere, in its long tables no more often than elsewhere."""
    place = draw(st.sampled_from(["anywhere", *sorted(found), *(f"text.{name}" for name in found["text"])]))
    if place == "anywhere":
        return draw(changed_value(found))
    inside, _, name = place.rpartition(".")
    part = found[inside] if inside else found
    changed = draw(changed_value({name: part[name]}))
    del part[name]
    part.update(changed)
    return found


def _portable_read(folder: Path) -> None:
    try:
        model = scorer.load(folder / "model.json")
        for text in ("Cheap PILLS, now!", "\u0130\u03a3 the meetings", ""):
            model.decide(text)
            model.explain(text)
        model.probabilities("cheap")
    except scorer.ModelError as error:
        raise FormatError(str(error)) from None


def answered(said: str) -> Exception:
    """Return what the command line said as the error it stands for; one that nobody foresaw is not ours."""
    lines = [line for line in said.splitlines() if not line.startswith("read ")]
    sentence = "\n".join(lines).removeprefix("termsieve: ")
    return RuntimeError(sentence) if sentence.startswith("unexpected ") else FormatError(sentence)


SAVED_TARGETS: dict[str, tuple[Any, Callable[[Path], None]]] = {
    "counts": (_counts_files(), _counts_read),
    "checkpoint": (_checkpoint_files(), _checkpoint_read),
    "shards": (_shard_files(), _shards_read),
    "results": (_results_files(), _results_read),
    "model": (_model_files(), _model_read),
    "portable": (_portable_files(), _portable_read),
}
