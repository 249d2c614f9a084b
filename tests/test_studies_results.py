"""Results: reading, filtering, comparing, and directories that are none."""

import json

import polars as pl
import pytest

from termsieve.errors import StudyError
from termsieve.studies.results import ROWS, SELECTIONS, Results, Store, schema, write_whole

MANIFEST = {"name": "tiny", "plan": "", "hash": "0", "corpora": {"a": {"documents": 4}}, "runs": []}


def rows(**changes):
    values = {
        name: {"String": "x", "Int32": 0, "Int64": 1, "Float64": 0.5}[kind] for name, kind in ROWS.items()
    }
    return pl.DataFrame([values | changes], schema=schema(ROWS))


def selections(**changes):
    values = dict.fromkeys(SELECTIONS) | {"corpus": "a", "trial": 0, "fold": 0, "terms": [2, 0]}
    return pl.DataFrame([values | changes], schema=schema(SELECTIONS))


def stored(path, *parts):
    store = Store(path)
    store.write_manifest(MANIFEST)
    store.write_vocabulary("a", ["one", "two", "three"])
    for number, (part, terms) in enumerate(parts):
        store.write_unit(f"u{number}", part, terms)
    store.close()
    return Results.open(path)


def test_rows_are_scanned_and_filtered(tmp_path):
    made = stored(
        tmp_path, (rows(corpus="a"), selections()), (rows(corpus="b", size=None), selections(corpus="b"))
    )
    assert len(made) == 2
    assert isinstance(made.frame(), pl.LazyFrame)
    assert made.frame().collect_schema() == schema(ROWS)
    assert made.frame(corpus="b").collect().height == 1
    assert made.frame(corpus=["a", "b"], fold=0).collect().height == 2
    assert made.frame(size=[0.5, 10]).collect()["corpus"].to_list() == ["a"]
    assert made.frame(size=[10, None]).collect()["corpus"].to_list() == ["b"]
    assert made.frame(trial=[0, 1]).collect().height == 2
    assert made.frame(size=None).collect()["corpus"].to_list() == ["b"]
    assert made.selections(corpus="a").collect()["terms"].to_list() == [[2, 0]]
    assert made.vocabulary("a") == ["one", "two", "three"]
    assert repr(made) == f"<Results of 'tiny' at {tmp_path}: 2 rows>"
    with pytest.raises(StudyError, match="column 'korpus' is not in the results"):
        made.frame(korpus="a")
    with pytest.raises(StudyError, match="no corpus 'z'"):
        made.vocabulary("z")


def test_no_rows_yet(tmp_path):
    made = stored(tmp_path)
    assert len(made) == 0
    assert made.selections().collect().height == 0
    assert made.failures == {}


def test_equality_leaves_out_seconds_and_order(tmp_path):
    first, second = (rows(corpus="a"), selections()), (rows(corpus="b"), selections(corpus="b"))
    one = stored(tmp_path / "1", first, second)
    slower = tuple((part.with_columns(fit_seconds=pl.lit(9.0)), terms) for part, terms in (second, first))
    assert one.equals(stored(tmp_path / "2", *slower))
    assert not one.equals(stored(tmp_path / "3", first))
    assert not one.equals(stored(tmp_path / "4", first, (rows(corpus="b", tp=7), selections(corpus="b"))))
    assert not one.equals(stored(tmp_path / "5", first, (second[0], selections(corpus="b", terms=[0, 2]))))


def test_selections_without_rows_are_not_there(tmp_path):
    made = stored(tmp_path, (rows(), selections()))
    (tmp_path / "rows" / "u0.parquet").unlink()
    assert made.selections().collect().height == 0
    (tmp_path / "rows" / ".u1.parquet.1.tmp").write_text("cut off")
    Store(tmp_path).close()
    assert not list(tmp_path.glob("selections/*"))
    assert not list(tmp_path.glob("**/*.tmp"))


def test_failures_are_kept_until_the_unit_succeeds(tmp_path):
    store = Store(tmp_path)
    store.write_manifest(MANIFEST)
    store.write_failure("u1", "Traceback: no")
    assert Results.open(tmp_path).failures == {"u1": "Traceback: no"}
    store.write_unit("u1", rows(), selections())
    assert Results.open(tmp_path).failures == {}
    store.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no manifest.json"),
        ("{", "damaged"),
        ('{"format": "other"}', "damaged"),
        ("[]", "damaged"),
        (json.dumps({"format": "termsieve-results", "version": 99}), "newer termsieve"),
    ],
)
def test_directories_that_hold_no_results(tmp_path, content, message):
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(StudyError, match=message):
        Results.open(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="not a directory"):
        Results.open(tmp_path / "file")


def test_a_file_is_there_whole_or_not_at_all(tmp_path, monkeypatch):
    write_whole(tmp_path / "x", b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StudyError, match=r"cannot write .*x: No space left on device; what was finished"):
        write_whole(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["x"]
