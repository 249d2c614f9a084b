"""Changed files of every kind are read: the outcome is a result or one sentence, in little memory."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.__main__ import NAMES
from tests.fuzz.judging import TARGETS, judged, run_examples

ROOT = Path(__file__).parents[1]
CRASHERS = sorted(path for path in (ROOT / "tests/data/crashers").glob("*") if path.is_dir())
EXAMPLES = 60


def test_every_target_has_its_name():
    assert set(NAMES) == set(TARGETS)


@pytest.mark.parametrize("target", NAMES)
def test_a_changed_file_is_read_or_refused(tmp_path, target):
    assert run_examples(target, 8, 0, tmp_path, tmp_path / "found", 0) == 8
    assert [path.read_text() for path in tmp_path.glob("found/*.txt")] == []


@pytest.mark.slow
@pytest.mark.parametrize("target", NAMES)
def test_many_changed_files_are_read_in_little_memory(tmp_path, target):
    words = ["--target", target, "--examples", str(EXAMPLES), "--seed", "0", "--crashers", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *words], cwd=ROOT, capture_output=True, text=True
    )
    found = "\n".join(path.read_text() for path in tmp_path.glob("*.txt"))
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{found}"
    assert f"{target}: {EXAMPLES} inputs" in done.stdout


@pytest.mark.parametrize("kept", CRASHERS, ids=[path.name for path in CRASHERS])
def test_what_was_found_once_is_mended(tmp_path, kept):
    target = kept.name.partition("-")[0]
    shutil.copytree(kept, tmp_path / "input")
    assert judged(target, tmp_path / "input") is None
