"""Results: reading, filtering, comparing, and directories that are none."""

import copy
import json

import polars as pl
import pytest

import termsieve.studies.store
from termsieve.errors import StudyError
from termsieve.files import MARK, checksum
from termsieve.studies import Plan
from termsieve.studies.manifest import FORMAT_VERSION, manifest_text
from termsieve.studies.results import ROWS, SELECTIONS, Results, schema
from termsieve.studies.status import stored_plan
from termsieve.studies.store import Store

CORPUS = {
    "fingerprint": "f",
    "documents": 4,
    "terms": 3,
    "cells": 5,
    "classes": {"x": 2, "y": 2},
    "one_label": True,
}
MANIFEST = {"name": "tiny", "plan": "", "hash": "0", "corpora": {"a": CORPUS}, "runs": []}


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
    store.write_vocabulary("a", ["one", "two", "three"])
    store.write_manifest(**MANIFEST)
    for number, (part, terms) in enumerate(parts):
        store.write_unit(f"u{number}", part, terms)
    store.close()
    return Results.open(path)


def test_rows_are_scanned_and_filtered(tmp_path):
    results = stored(
        tmp_path, (rows(corpus="a"), selections()), (rows(corpus="b", size=None), selections(corpus="b"))
    )
    assert len(results) == 2
    assert isinstance(results.frame(), pl.LazyFrame)
    assert results.frame().collect_schema() == schema(ROWS)
    assert results.frame(corpus="b").collect().height == 1
    assert results.frame(corpus=["a", "b"], fold=0).collect().height == 2
    assert results.frame(size=[0.5, 10]).collect()["corpus"].to_list() == ["a"]
    assert results.frame(size=[10, None]).collect()["corpus"].to_list() == ["b"]
    assert results.frame(trial=[0, 1]).collect().height == 2
    assert results.frame(size=None).collect()["corpus"].to_list() == ["b"]
    assert results.selections(corpus="a").collect()["terms"].to_list() == [[2, 0]]
    assert results.vocabulary("a") == ["one", "two", "three"]
    assert repr(results) == f"<Results of 'tiny' at {tmp_path}: 2 rows>"
    with pytest.raises(StudyError, match="column 'korpus' is not in the results"):
        results.frame(korpus="a")
    with pytest.raises(StudyError, match="no corpus 'z'"):
        results.vocabulary("z")


def test_no_rows_yet(tmp_path):
    results = stored(tmp_path)
    assert len(results) == 0
    assert results.selections().collect().height == 0
    assert results.failures == {}


def test_equality_leaves_out_seconds_and_order(tmp_path):
    first, second = (rows(corpus="a"), selections()), (rows(corpus="b"), selections(corpus="b"))
    one = stored(tmp_path / "1", first, second)
    slower = tuple((part.with_columns(fit_seconds=pl.lit(9.0)), terms) for part, terms in (second, first))
    assert one.equals(stored(tmp_path / "2", *slower))
    assert not one.equals(stored(tmp_path / "3", first))
    assert not one.equals(stored(tmp_path / "4", first, (rows(corpus="b", tp=7), selections(corpus="b"))))
    assert not one.equals(stored(tmp_path / "5", first, (second[0], selections(corpus="b", terms=[0, 2]))))


def test_failures_are_kept_until_the_unit_succeeds(tmp_path):
    store = Store(tmp_path)
    store.write_manifest(**MANIFEST)
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
        ("\udcff", "damaged"),
        ("9" * 5000, "damaged"),
        ("[" * 100_000, "damaged"),
        ('{"format": "termsieve-results"}', "version"),
        (json.dumps({"format": "termsieve-results", "version": 99}), "newer termsieve.*; update termsieve"),
    ],
)
def test_directories_that_hold_no_results(tmp_path, content, message):
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(StudyError, match=message):
        Results.open(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="not a directory"):
        Results.open(tmp_path / "file")


@pytest.fixture
def whole(tmp_path):
    """Two parts with selections."""
    return stored(
        tmp_path / "study", (rows(corpus="a"), selections()), (rows(corpus="b"), selections(corpus="b"))
    )


def flipped(file, bit):
    content = bytearray(file.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("rows/u0.parquet", Results.frame),
        ("selections/u1.parquet", Results.selections),
        ("vocabulary/a.parquet", lambda found: found.vocabulary("a")),
    ],
)
def test_every_flipped_bit_is_noticed(whole, name, read):
    file = whole.path / name
    content = file.read_bytes()
    assert whole.verify() == {}
    for bit in range(0, 8 * len(content), 97):
        flipped(file, bit)
        found = Results.open(whole.path)
        assert list(found.verify()) == [name]
        with pytest.raises(StudyError, match=rf"{name} is damaged: .*; `termsieve study resume .*` "):
            read(found)
        file.write_bytes(content)
    assert Results.open(whole.path).frame().collect().height == 2


def test_missing_truncated_and_copied_parts_are_named(whole):
    (whole.path / "rows" / "u0.parquet").unlink()
    part = whole.path / "selections" / "u1.parquet"
    part.write_bytes(part.read_bytes()[:-9])
    (whole.path / "rows" / "copy.parquet").write_bytes((whole.path / "rows" / "u1.parquet").read_bytes())
    found = Results.open(whole.path)
    assert {file: fault.split(":")[0] for file, fault in found.verify().items()} == {
        "rows/u0.parquet": "is missing",
        "selections/u1.parquet": "is damaged",
        "rows/copy.parquet": "is not a part of this study; remove it",
    }
    assert found.damaged_parts() == ["u0", "u1"]
    with pytest.raises(StudyError, match=r"u0\.parquet is missing"):
        found.frame()


def test_every_flipped_bit_of_the_manifest_is_noticed(whole):
    file = whole.path / "manifest.json"
    content = file.read_bytes()
    for bit in range(0, 8 * len(content), 31):
        flipped(file, bit)
        try:
            unnoticed = json.loads(file.read_bytes()) == json.loads(content)  # other white space, say
        except ValueError:
            unnoticed = False
        if unnoticed:
            assert Results.open(whole.path).manifest == whole.manifest
        else:
            with pytest.raises(StudyError, match=r"manifest\.json|newer termsieve"):
                Results.open(whole.path)
        file.write_bytes(content)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.pop("hash"), "'hash' is missing"),
        (lambda m: m.update(runs={}), "'runs' is {}"),
        (lambda m: m["corpora"]["a"].pop("cells"), "'cells' of corpora 'a' is missing"),
        (lambda m: m["corpora"].update(a=[]), "an entry of corpora 'a' is not a table"),
        (lambda m: m["parts"]["u0"].pop("rows"), "'rows' of parts 'u0' is missing"),
        (lambda m: m["vocabulary"].update(a=1), "'a' of the vocabulary is 1"),
        (lambda m: m["parts"].update({"../../u0": m["parts"]["u0"]}), "'../../u0' is not the name of"),
    ],
)
def test_a_manifest_that_lacks_something_is_damaged(whole, change, message):
    changed = copy.deepcopy(whole.manifest)
    change(changed)
    (whole.path / "manifest.json").write_text(manifest_text(changed))
    with pytest.raises(StudyError) as caught:
        Results.open(whole.path)
    assert "manifest.json is damaged" in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def as_format_1(path):
    """Write a manifest as the first format had it: files are not listed."""
    (path / "manifest.json").write_text(json.dumps({"format": "termsieve-results", "version": 1, **MANIFEST}))


def test_the_first_format_is_read_and_brought_up_to_date(whole):
    as_format_1(whole.path)
    old = Results.open(whole.path)
    assert old.equals(whole)
    assert len(old) == 2
    assert old.vocabulary("a") == ["one", "two", "three"]
    assert old.verify() == {}
    store = Store(whole.path)
    store.adopt(old.manifest)
    store.write_manifest()
    store.close()
    assert json.loads((whole.path / "manifest.json").read_text())["version"] == FORMAT_VERSION
    assert Results.open(whole.path).manifest == whole.manifest


def test_format_2_had_whole_counts_at_break_even(tmp_path):
    """Its plan did not name the rule for ties, its counts were integers; both are read, and the hash fits."""
    text = """
    corpora = [{ name = "a", format = "docstrings" }]
    methods = [{ metric = "bns" }]
    learners = ["svm"]
    sizes = { k = [10] }
    measures = { break_even = true, ties = "whole" }
    """
    plan = Plan.parse(text, "tiny")
    old = {**MANIFEST, "plan": plan.to_toml().replace('ties = "whole"\n', ""), "hash": plan.hash}
    assert "ties" not in old["plan"]
    stored(tmp_path, (rows(be_tp=3.0), selections()), (rows(be_tp=2.5), selections()))
    file = tmp_path / "rows" / "u0.parquet"
    pl.read_parquet(file).with_columns(pl.col("be_tp", "be_fp", "be_fn").cast(pl.Int64)).write_parquet(file)
    manifest = Results.open(tmp_path).manifest | old
    manifest["parts"]["u0"]["rows"] = checksum(file.read_bytes())
    written = json.loads(manifest_text(manifest)) | {"version": 2}
    (tmp_path / "manifest.json").write_text(json.dumps(written))
    found = Results.open(tmp_path)
    assert found.frame().collect_schema() == schema(ROWS)
    assert found.frame().collect()["be_tp"].to_list() == [3.0, 2.5]
    assert stored_plan(tmp_path) == plan
    assert Plan.parse(text.replace("whole", "divided"), "tiny").hash != plan.hash


def test_a_damaged_part_of_the_first_format_is_named(whole):
    as_format_1(whole.path)
    part = whole.path / "rows" / "u0.parquet"
    part.write_bytes(part.read_bytes()[:100])
    assert Results.open(whole.path).verify() == {"rows/u0.parquet": "is damaged"}
    with pytest.raises(StudyError, match=r"u0\.parquet is damaged; `termsieve study resume"):
        Results.open(whole.path).frame()


def adopted(path):
    store = Store(path)
    store.adopt(Results.open(path).manifest)
    store.forget_failures()
    store.write_manifest()
    store.close()
    return Results.open(path)


def test_only_own_leftovers_are_removed(whole):
    kept = ["rows/mine.parquet", "selections/mine.parquet", ".draft.tmp", "failed/notes.txt", "rows/.x.tmp"]
    for name in kept:
        (whole.path / name).write_text("mine")
    # What a killed run leaves: unfinished files, and parts that are not listed yet.
    left = [whole.path / f".manifest.json.0{MARK}", whole.path / "rows" / f".u9.parquet.1{MARK}"]
    for file in left:
        file.write_text("cut off")
    before = (whole.path / "manifest.json").read_bytes()
    store = Store(whole.path)
    store.manifest = whole.manifest | {"parts": dict(whole.manifest["parts"])}
    store.write_unit("u2", rows(), selections())
    store.close()
    (whole.path / "manifest.json").write_bytes(before)
    assert (whole.path / "rows" / "u2.parquet").exists()
    assert adopted(whole.path).equals(whole)
    assert all((whole.path / name).read_text() == "mine" for name in kept)
    assert not any(file.exists() for file in left)
    assert not list(whole.path.glob("*/u2.parquet"))


def test_a_planted_lock_is_not_followed(tmp_path):
    target = tmp_path / "precious"
    target.write_text("mine")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / ".lock").symlink_to(target)
    with pytest.raises(StudyError, match=r"cannot write .*\.lock"):
        Store(tmp_path / "study")
    assert target.read_text() == "mine"


def test_a_damaged_part_is_named_and_dropped(whole):
    part = whole.path / "selections" / "u1.parquet"
    part.write_bytes(part.read_bytes()[:50])
    with pytest.warns(UserWarning, match="part 'u1' of .* is missing or damaged; it is run again"):
        found = adopted(whole.path)
    assert list(found.manifest["parts"]) == ["u0"]
    assert found.verify() == {}
    assert not list(whole.path.glob("*/u1.parquet"))


def test_a_damaged_vocabulary_is_known_to_be(whole):
    store = Store(whole.path)
    store.adopt(whole.manifest)
    assert store.has_vocabulary("a")
    (whole.path / "vocabulary" / "a.parquet").write_text("cut off")
    assert not store.has_vocabulary("a")
    store.close()


def test_a_unit_that_cannot_be_listed_is_not_there(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.write_manifest(**MANIFEST)
    store.write_unit("u0", rows(), selections())
    real = termsieve.studies.store.write_whole

    def full(path, content):
        if path.name == "manifest.json":
            raise OSError(28, "No space left on device")
        real(path, content)

    monkeypatch.setattr(termsieve.studies.store, "write_whole", full)
    with pytest.raises(StudyError, match=r"cannot write .*manifest.json: No space left on device; finished"):
        store.write_unit("u1", rows(), selections())
    store.close()
    assert list(Results.open(tmp_path).manifest["parts"]) == ["u0"]
