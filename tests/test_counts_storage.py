"""Counts files: what was saved comes back or is refused by name, whatever happened to the bytes."""

import json
import os
import random
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from termsieve import Counts
from termsieve.counts import storage
from termsieve.counts.storage import holds_counts
from termsieve.errors import FormatError
from termsieve.parquet import BLANK, CHECKSUM, Parquet, _checksum_place, _digest, sealed

X = np.array([[2, 1, 0, 0], [0, 3, 0, 1], [1, 0, 5, 0], [0, 0, 0, 0]])
Y = ["spam", "ham", "spam", "größe"]
TERMS = ["buy", "naïve", "\U0001f600", "zzz"]


@pytest.fixture
def path(tmp_path):
    saved = tmp_path / "c.parquet"
    Counts.from_matrix(X, Y, TERMS, occurrences=True).save(saved)
    return saved


def repaired(content):
    """The bytes with the checksum that they should have."""
    place = _checksum_place(content)
    return content[:place] + _digest(content, place) + content[place + len(BLANK) :]


def test_a_file_of_version_1_is_read():
    old = Path(__file__).parent / "data" / "counts-version-1.parquet"
    assert CHECKSUM not in pl.read_parquet_metadata(old)
    assert Counts.load(old) == Counts.from_matrix(X, Y, TERMS, occurrences=True)


def test_every_flipped_bit_is_noticed(path):
    content = path.read_bytes()
    rng = random.Random(0)
    for _ in range(300):
        damaged = bytearray(content)
        damaged[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"c\.parquet"):
            Counts.load(path)


def test_a_file_cut_short_anywhere_is_refused(path):
    content = path.read_bytes()
    for size in range(0, len(content), 97):
        path.write_bytes(content[:size])
        with pytest.raises(FormatError, match=r"c\.parquet is not a readable Parquet file"):
            Counts.load(path)


def test_a_removed_checksum_is_no_way_around_it(path):
    metadata = pl.read_parquet_metadata(path)
    pl.read_parquet(path).write_parquet(path, metadata={storage.FORMAT: metadata[storage.FORMAT]})
    with pytest.raises(FormatError, match="the checksum is missing"):
        Counts.load(path)


HOSTILE = """
import random, sys
from termsieve import Counts
from termsieve.errors import FormatError
from tests.test_counts_storage import mutated, repaired
content, path, rng = open(sys.argv[1], "rb").read(), sys.argv[1], random.Random(int(sys.argv[2]))
for number in range(int(sys.argv[3])):
    with open(path, "wb") as file:
        file.write(repaired(mutated(content, rng)))
    try:
        Counts.load(path)
    except FormatError as error:
        assert path in str(error) and "\\n" not in str(error), error
print("alive")
"""


def mutated(content, rng):
    """The bytes of a file with a few fields changed, mostly in the footer and in the heads of pages."""
    changed = bytearray(content)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = (
            rng.randrange(4, len(content) - 8)
            if rng.random() < 0.5
            else rng.randrange(footer, len(content) - 8)
        )
        if rng.random() < 0.5:
            changed[at] ^= 1 << rng.randrange(8)
        else:
            size = rng.randrange(1, 10)
            changed[at : at + size] = bytes([0xFF] * (size - 1) + [rng.choice([0, 1, 0x7F])])
    return bytes(changed)[: len(content)]


def test_files_with_changed_sizes_and_a_fitting_checksum_are_refused_without_harm(path):
    # In a process of its own, because it is the process that such a file has killed.
    root = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    command = [sys.executable, "-c", HOSTILE, str(path), "1", "250"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "alive\n", (done.returncode, done.stderr[-2000:])


def test_sizes_beyond_reason_are_refused_before_anything_is_read(path):
    # Rows and most values are 4 here, and stand so in the footer; 2**61 of them would need as much memory.
    content = path.read_bytes()
    huge = b"\x16" + b"\x80" * 8 + b"\x40"
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    length = (len(content) - 8 - footer + len(huge) - 2).to_bytes(4, "little")
    places = [found.start() for found in re.finditer(b"\x16\x08", content[:-8]) if found.start() >= footer]
    assert len(places) > 5
    for at in places:
        changed = content[:at] + huge + content[at + 2 : -8] + length + b"PAR1"
        path.write_bytes(repaired(changed))
        with pytest.raises(
            FormatError,
            match=r"c\.parquet is not a readable Parquet file: .*(impossible|outside|another number|unpack)",
        ):
            Counts.load(path)


def test_terms_with_lone_surrogates_come_back(tmp_path):
    counts = Counts.from_matrix([[1, 1, 1]], ["a"], ["\ud800", "x\udfff", "plain"])
    counts.save(tmp_path / "c.parquet")
    assert Counts.load(tmp_path / "c.parquet") == counts


def test_labels_with_lone_surrogates_come_back(tmp_path):
    counts = Counts.from_matrix([[1], [1]], ["\ud800", "b"], ["t"])
    counts.save(tmp_path / "c.parquet")
    assert Counts.load(tmp_path / "c.parquet") == counts


@pytest.mark.parametrize(
    "change",
    [
        {"df": [2, 2, None, 1]},
        {"df": [2.0, 2.0, 1.0, 1.0]},
        {"term": ["a", None, "c", "d"]},
        {"tp": [[2], [1], [1], [1]]},
        {"class_at": [[2], [0, 2], [2], [9]]},
        {"class_at": [[2], [0, None], [2], [0]]},
        {"tf": [[3], [3, -1], [5], [1]]},
        {"tf_total": [-1, 4, 5, 1]},
    ],
    ids=repr,
)
def test_columns_that_cannot_be_are_refused(path, change):
    frame, metadata = pl.read_parquet(path), Parquet.open(path).metadata
    frame = frame.with_columns(**{name: pl.Series(values) for name, values in change.items()})
    path.write_bytes(sealed(frame, {storage.FORMAT: metadata[storage.FORMAT]}))
    with pytest.raises(FormatError, match=r"c\.parquet holds damaged counts"):
        Counts.load(path)


@pytest.mark.parametrize("name", ["df", "tp", "class_at"])
def test_columns_that_are_missing_are_refused(path, name):
    frame, metadata = pl.read_parquet(path), Parquet.open(path).metadata
    path.write_bytes(sealed(frame.drop(name), {storage.FORMAT: metadata[storage.FORMAT]}))
    with pytest.raises(FormatError, match=r"c\.parquet holds damaged counts"):
        Counts.load(path)


def test_a_newer_version_says_what_to_do(path):
    frame, head = pl.read_parquet(path), json.loads(Parquet.open(path).metadata[storage.FORMAT])
    path.write_bytes(sealed(frame, {storage.FORMAT: json.dumps(head | {"version": 4})}))
    with pytest.raises(FormatError, match=r"counts format 4, .* install a newer termsieve, or count again"):
        Counts.load(path)


def test_only_counts_files_are_told_to_be_some(path, tmp_path):
    assert holds_counts(path)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "table.parquet")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("a", "b")
    (tmp_path / "cut.parquet").write_bytes(path.read_bytes()[:50])
    os.mkfifo(tmp_path / "pipe")
    for name in ("table.parquet", "archive.zip", "cut.parquet", "absent.parquet", "pipe"):
        assert not holds_counts(tmp_path / name)
    with pytest.raises(FormatError, match="no regular file"):
        Counts.load(tmp_path / "pipe")


def test_a_link_at_the_name_is_replaced_and_not_followed(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("precious")
    (tmp_path / "c.parquet").symlink_to(other)
    Counts.from_matrix(X, Y).save(tmp_path / "c.parquet")
    assert other.read_text() == "precious"
    assert Counts.load(tmp_path / "c.parquet") == Counts.from_matrix(X, Y)
