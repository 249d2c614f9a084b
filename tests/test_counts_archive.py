"""Checkpoints, shards and tallies: damaged in any way they are refused by name, and never reach a kernel."""

import io
import json
import random
import zipfile

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from termsieve.kernels.streaming import are_sorted, merged_terms
from termsieve.kernels.tokenise import place_rows

from termsieve import Corpus, count
from termsieve.counts.archive import read_arrays, write_arrays
from termsieve.counts.shards import read_shards, shard_terms, write_shards
from termsieve.counts.tally import Tally
from termsieve.errors import FormatError, InputError

TEXTS = ["cheap pills now", "see you at noon", "cheap watches", "you see pills"]
LABELS = ["spam", "ham", "spam", "ham"]


@pytest.fixture
def table(tmp_path):
    pl.DataFrame({"text": TEXTS, "label": LABELS}).write_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


@pytest.fixture
def checkpoint(table, tmp_path):
    count(table, checkpoint=tmp_path / "run.npz", occurrences=True)
    return tmp_path / "run.npz"


@pytest.fixture
def shards(tmp_path):
    write_shards(Corpus(TEXTS, LABELS), ["cheap", "pills", "you"], tmp_path / "shards")
    return tmp_path / "shards"


def changed(path, **arrays):
    """Write an archive again with some arrays changed, and checksums that fit; None removes one."""
    kept = {**read_arrays(path), **arrays}
    with open(path, "wb") as file:
        write_arrays(file, {name: array for name, array in kept.items() if array is not None})


def head_with(path, member, **changes):
    head = json.loads(read_arrays(path)[member].tobytes())
    return {member: np.frombuffer(json.dumps(head | changes).encode(), dtype=np.uint8)}


def test_arrays_come_back():
    arrays = {"a": np.arange(5), "b": np.zeros((0, 3)), "c": np.array(["x", "größe"]), "d": np.array(7)}
    file = io.BytesIO()
    write_arrays(file, arrays)
    again = read_arrays(file)
    assert list(again) == list(arrays)
    assert all(np.array_equal(again[name], arrays[name]) for name in arrays)
    assert all(again[name].flags.writeable for name in arrays)


def resumed(table, checkpoint):
    return count(table, checkpoint=checkpoint, occurrences=True)


def outcome(source, checkpoint=None):
    """What comes of a checkpoint or of shards: counts, matrices, or the name of the file that is refused."""
    try:
        if checkpoint is not None:
            return resumed(source, checkpoint)
        return [X.toarray().tolist() for X, _ in read_shards(source)]
    except FormatError as error:
        named = [name for name in ("run.npz", "shard-00000.npz") if name in str(error)]
        return f"{named[0]} is refused" if len(named) == 1 and "\n" not in str(error) else str(error)


@pytest.mark.slow
def test_flipped_bits_of_checkpoints_and_shards_are_noticed(table, checkpoint, shards):
    shard = next(shards.glob("*.npz"))
    want = {checkpoint: outcome(table, checkpoint), shard: outcome(shards)}
    rng = random.Random(0)
    refused = 0
    for path in (checkpoint, shard):
        content = path.read_bytes()
        for _ in range(400):
            damaged = bytearray(content)
            damaged[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            path.write_bytes(damaged)
            found = outcome(table, checkpoint) if path is checkpoint else outcome(shards)
            assert found in (want[path], f"{path.name} is refused")
            refused += found != want[path]
        path.write_bytes(content)
    assert refused > 400  # the others change what nobody reads, such as the time of an array


def test_archives_cut_short_are_refused(table, checkpoint, shards):
    shard = next(shards.glob("*.npz"))
    for path in (checkpoint, shard):
        content = path.read_bytes()
        for size in range(0, len(content), 211):
            path.write_bytes(content[:size])
            with pytest.raises(FormatError, match=path.name):
                resumed(table, checkpoint) if path is checkpoint else list(read_shards(shards))
        path.write_bytes(content)


@pytest.mark.parametrize(
    "change",
    [
        {"ends": np.array([2**40, 3, 4, 5, 6, 7, 8, 9])},
        {"ends": np.arange(8) * -1},
        {"tp_indices": np.full(9, 10**8, dtype=np.int32)},
        {"tp_indices": np.full(9, -1, dtype=np.int32)},
        {"tp_indptr": np.full(9, 2**50)},
        {"df": np.arange(3)},
        {"df": np.full(8, -5)},
        {"pos": np.array([1.5, 2.5])},
        {"spelling": np.zeros(3, dtype=np.uint8)},
        {"tf_data": np.zeros(1, dtype=np.int64)},
        {"squares": None},
        {"head": None},
        {"head": np.frombuffer(b"[" * 100_000, dtype=np.uint8)},
        {"checkpoint": None},
        {"checkpoint": np.frombuffer(b"{}", dtype=np.uint8)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_checkpoint_with_wild_arrays_is_refused(table, checkpoint, change):
    changed(checkpoint, **change)
    with pytest.raises(FormatError, match=r"run\.npz"):
        resumed(table, checkpoint)


@pytest.mark.parametrize(
    ("member", "change", "sentence"),
    [
        ("head", {"classes": ["a"]}, "impossible"),
        ("head", {"classes": ["spam", "ham"]}, "not sorted"),
        ("head", {"classes": [1, 2]}, "not of the type"),
        ("head", {"n_docs": -1}, "documents is impossible"),
        ("head", {"kind": []}, "damaged"),
        ("checkpoint", {"options": None}, "contradicts itself"),
        ("checkpoint", {"files": 3}, "damaged"),
        ("checkpoint", {"state": {"file": 9}}, "contradicts itself"),
        ("checkpoint", {"state": {"row": "x"}}, "contradicts itself"),
        ("checkpoint", {"state": {"column": 1}}, "damaged"),
        ("checkpoint", {"format": "termsieve-checkpoint 1"}, "another version; count again without it"),
        ("checkpoint", {"format": "termsieve-checkpoint 9"}, "another version; count again without it"),
    ],
)
def test_a_checkpoint_that_contradicts_itself_is_refused(table, checkpoint, member, change, sentence):
    changed(checkpoint, **head_with(checkpoint, member, **change))
    with pytest.raises(FormatError, match=rf"run\.npz .*{sentence}"):
        resumed(table, checkpoint)


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.full(4, 10**8, dtype=np.int32)},
        {"indices": np.full(4, -1, dtype=np.int32)},
        {"indptr": np.array([0, 2**30, 1, 2, 4], dtype=np.int32)},
        {"indptr": np.array([0, 4], dtype=np.int32)},
        {"shape": np.array([4, 10**9])},
        {"shape": np.array([4])},
        {"shape": np.array([-1, 3])},
        {"labels": np.array(["spam"])},
        {"labels": None},
        {"label_ptr": np.array([0, 9, 1, 2, 4])},
        {"format": np.array(b"coo")},
        {"data": None},
        {"version": np.array(99)},
        {"version": np.array("x")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_shard_with_wild_arrays_is_refused(shards, change):
    changed(next(shards.glob("*.npz")), **change)
    with pytest.raises(FormatError, match=r"shard-00000\.npz"):
        list(read_shards(shards))


def test_shards_of_before_there_were_versions_are_read(shards):
    want = [X.toarray().tolist() for X, _ in read_shards(shards)]
    changed(next(shards.glob("*.npz")), version=None)
    (shards / "terms.json").write_text(json.dumps(["cheap", "pills", "you"]))
    assert [X.toarray().tolist() for X, _ in read_shards(shards)] == want
    assert shard_terms(shards) == ["cheap", "pills", "you"]


@pytest.mark.parametrize(
    "content", ["", "3", "{}", "[1]", '{"version": 1}', '{"version": 9, "terms": ["a"]}']
)
def test_damaged_lists_of_terms_are_refused(shards, content):
    (shards / "terms.json").write_text(content)
    with pytest.raises(FormatError, match=r"terms\.json"):
        list(read_shards(shards))


def test_archives_of_other_makers_are_refused(tmp_path, shards):
    shard = next(shards.glob("*.npz"))
    arrays = read_arrays(shard)
    with open(shard, "wb") as file:
        np.savez_compressed(file, **arrays)
    with pytest.raises(FormatError, match="shard-00000"):
        list(read_shards(shards))
    for member in (b"no array", b"\x93NUMPY\x03\x00" + bytes(100), b"\x93NUMPY\x01\x00\x02\x00{("):
        with zipfile.ZipFile(shard, "w") as archive:
            archive.writestr("shape.npy", member)
        with pytest.raises(FormatError, match="shard-00000"):
            list(read_shards(shards))


def test_a_shard_is_still_what_scipy_reads(shards):
    ((X, _),) = read_shards(shards)
    assert (sparse.load_npz(next(shards.glob("*.npz"))) != X).nnz == 0


def test_sums_beyond_64_bits_are_refused_when_tallies_merge():
    tally = Tally.from_bytes(_tally(2**62))
    assert tally.tf_total.tolist() == [2**62]
    with pytest.raises(InputError, match="do not fit into 64 bits"):
        tally + tally


def _tally(occurrences):
    head = json.dumps({"n_docs": 1, "kind": ["str", False], "classes": ["a"]}).encode()
    one = np.ones(1, dtype=np.int64)
    many = one * occurrences
    file = io.BytesIO()
    write_arrays(
        file,
        {
            "head": np.frombuffer(head, dtype=np.uint8), "pos": one, "ends": one, "df": one,
            "spelling": np.frombuffer(b"t", dtype=np.uint8), "tp_data": one,
            "tp_indices": np.zeros(1, dtype=np.int32), "tp_indptr": np.array([0, 1]),
            "tf_data": many, "tf_total": many, "squares": many,
        },
    )  # fmt: skip
    return file.getvalue()


def test_the_kernels_refuse_ends_and_columns_that_lie_outside():
    data, good = np.frombuffer(b"abcd", dtype=np.uint8), np.array([1, 4])
    for ends in ([5, 4], [3, 2], [-1, 4], [1, 2**40], [1, 3]):
        with pytest.raises(ValueError, match="ends of the terms"):
            merged_terms(data, np.array(ends), data, good)
        assert not are_sorted(data, np.array(ends))
    assert are_sorted(data, good)
    assert not are_sorted(np.frombuffer(b"baba", dtype=np.uint8), np.array([2, 4]))
    assert not are_sorted(np.frombuffer(b"ba", dtype=np.uint8), np.array([1, 2]))
    room = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    one, ids = np.ones(1, dtype=np.int32), np.zeros(1, dtype=np.int32)
    with pytest.raises(IndexError, match="beyond the 3"):
        place_rows(np.array([0, 1]), ids, one, np.array([10**8], dtype=np.int32), 3, *room)
