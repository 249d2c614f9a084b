"""Every operation on a file, or on memory, fails once: the old file stays whole, or the new one is there."""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fault_commands import COMMANDS, STUDY, fresh, leftovers, made_template, one_sentence, same_bytes
from tests.faults import DISK, MEMORY, failing

from termsieve import Counts, count
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.files import MARK
from termsieve.studies.results import Results


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    return made_template(tmp_path_factory.mktemp("faults") / "template")


QUICK = {("merge", "disk"), ("select", "memory")}
CASES = [
    pytest.param(name, kinds, id=f"{name}-{what}", marks=() if (name, what) in QUICK else pytest.mark.slow)
    for name in COMMANDS
    for what, kinds in (("disk", DISK), ("memory", MEMORY))
]


def run(folder, line, monkeypatch, capsys):
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.chdir(folder)
        code = exit_code(app, line.split())
    return code, capsys.readouterr().err


# With TERMSIEVE_THOROUGH=1 every operation fails once; otherwise only some of the many that are alike.
THOROUGH = os.environ.get("TERMSIEVE_THOROUGH") == "1"
STEPS = {
    "report": {DISK: 2, MEMORY: 199},
    "study": {DISK: 2, MEMORY: 41},
    "checkpoint": {DISK: 2, MEMORY: 13},
    "merge": {DISK: 1, MEMORY: 3},
}
USUAL_STEPS = {DISK: 1, MEMORY: 13}


def step(name, kinds):
    """How many operations further the next fault is."""
    return 1 if THOROUGH else STEPS.get(name, USUAL_STEPS)[kinds]


def runs_that_fail(template, folder, line, name, kinds, monkeypatch, capsys):
    """Run a command with one fault, in each operation in turn; give exit code, message and fault."""
    at = 1
    while True:
        fresh(template, folder)
        with failing(folder, at, kinds) as faults:
            code, err = run(folder, line, monkeypatch, capsys)
        if not faults.reached:
            return
        yield code, err, f"operation {at}, {faults.done[at - 1]}: exit code {code}, {err}"
        at += step(name, kinds)


@pytest.mark.parametrize(("name", "kinds"), CASES)
def test_a_command_that_fails_leaves_the_old_file_or_the_new_one(
    template, tmp_path, monkeypatch, capsys, name, kinds
):
    line, output, is_right = COMMANDS[name]
    fresh(template, tmp_path / "clean")
    assert run(tmp_path / "clean", line, monkeypatch, capsys)[0] == 0
    folder, failures = tmp_path / "tried", 0
    for code, err, failed in runs_that_fail(template, folder, line, name, kinds, monkeypatch, capsys):
        old = same_bytes(folder / output, template / output)
        assert old or is_right(folder / output, tmp_path / "clean" / output), failed
        assert code == 0 or one_sentence(code, err), failed
        assert not leftovers(folder, template, "point", "point.within"), failed
        failures += code != 0
        if kinds == DISK:
            # What was left is no hindrance: the command now does what it would have done.
            again, err = run(folder, line, monkeypatch, capsys)
            assert again == 0, f"{failed}; and again: {err}"
            assert is_right(folder / output, tmp_path / "clean" / output), failed
    assert failures > 2


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [DISK, MEMORY], ids=["disk", "memory"])
def test_a_study_that_fails_goes_on_to_the_same_rows(template, tmp_path, monkeypatch, capsys, kinds):
    line = STUDY
    fresh(template, tmp_path / "clean")
    assert run(tmp_path / "clean", line, monkeypatch, capsys)[0] == 0
    expected = Results.open(tmp_path / "clean" / "out")
    folder, failures = tmp_path / "tried", 0
    for code, err, failed in runs_that_fail(template, folder, line, "study", kinds, monkeypatch, capsys):
        assert "Traceback" not in err, failed
        assert "unexpected" not in err, failed
        failures += code != 0
        words = "study resume out --workers 1 --data ."
        again, err = run(
            folder, words if (folder / "out/manifest.json").exists() else line, monkeypatch, capsys
        )
        assert again == 0, f"{failed}; and again: {err}"
        assert Results.open(folder / "out").equals(expected), failed
    assert failures > 2


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc" or not shutil.which("cc"), reason="needs glibc and cc")
def test_an_allocation_that_fails_below_python_is_told():
    """A third of them; `python -m tests.allocations` lets each fail."""
    line = [sys.executable, "-m", "tests.allocations", "--command", "count", "select", "--step", "3"]
    done = subprocess.run(line, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
    assert "FINDING" not in done.stdout
    for told in done.stdout.splitlines():
        assert re.search(r"(\d+) failed .*; \1 ended the command; arrays \d+, .*tokenise \d", told), told


def test_counts_that_cannot_be_saved_leave_the_old_file(template, tmp_path):
    counts = count(template / "mails.csv")
    path, at = tmp_path / "counts.parquet", 1
    while True:
        shutil.copy(template / "older.parquet", path)
        with failing(tmp_path, at) as faults:
            try:
                counts.save(path)
            except OSError:
                assert Counts.load(path) == Counts.load(template / "older.parquet")
        if not faults.reached:
            break
        assert [file.name for file in tmp_path.iterdir() if not file.name.endswith(MARK)] == [
            "counts.parquet"
        ]
        at += 1
    assert at > 4
    assert Counts.load(path) == counts
