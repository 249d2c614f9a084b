"""Wrong invocations: one sentence on stderr, the right exit code, never a traceback."""

import os
import signal
import subprocess
import sys
from functools import partial

import polars as pl
import pytest

from termsieve.cli.app import app
from termsieve.cli.shell import exit_code

FAILURE, USAGE, INTERRUPTED = 1, 2, 130
MAIL = "mail.csv --label folder"

# The command line, its exit code, and what its sentence says.
WRONG = [
    ("rank missing.csv", FAILURE, "missing.csv does not exist; check the path"),
    ("rank mail.csv", FAILURE, "which column is the label? Give --label"),
    ("rank mail.csv --label nope", FAILURE, "no column 'nope'"),
    (f"rank {MAIL} --text nope", FAILURE, "no column 'nope' for --text"),
    ("rank mail.csv --label body --text body", FAILURE, "name two different ones"),
    ("rank one.csv", FAILURE, "only one class 'spam'; at least two classes are needed"),
    (
        "rank gaps.csv",
        FAILURE,
        "document 2 has no label; label it or leave such documents out with --drop-missing",
    ),
    ("rank empty.csv", FAILURE, "empty.csv is empty"),
    ("rank header.csv", FAILURE, "header.csv has a header but no row"),
    ("rank ragged.csv", FAILURE, "line 2: 3 fields where the header has 2"),
    ("rank russian.csv", FAILURE, "neither UTF-8 nor a Western European encoding; give --encoding"),
    ("rank broken.parquet", FAILURE, "no readable Parquet file"),
    ("rank broken.jsonl", FAILURE, "line 1: not a JSON object"),
    ("rank nothing", FAILURE, "empty folder"),
    ("rank noise.bin", FAILURE, "none of the known formats"),
    (f"rank {MAIL} --metric bnz", USAGE, "metric 'bnz' is unknown; did you mean 'bns'?"),
    (f"rank {MAIL} --metric power(k=-1)", USAGE, "power"),
    (f"rank {MAIL} --metric bns(", USAGE, "not a name with arguments"),
    (f"rank {MAIL} -k 0", USAGE, "k must be a whole number of at least 1, not 0"),
    (f"rank {MAIL} -k many", USAGE, "Invalid value for '-k'"),
    (f"rank {MAIL} --side left", USAGE, "side 'left' is unknown"),
    (f"rank {MAIL} --ratio 2", USAGE, "ratio must lie between 0 and 1, not 2.0"),
    (f"rank {MAIL} --ratio 0.5 --side positive", USAGE, "exclude each other"),
    (f"rank {MAIL} --combine best", USAGE, "combine 'best' is unknown"),
    (f"rank {MAIL} --class eggs", USAGE, "class 'eggs' is unknown"),
    (f"rank {MAIL} --class spam --each", USAGE, "leave out --class"),
    (f"rank {MAIL} --min-df -1", USAGE, "min_df is -1; it must be a whole number"),
    (f"rank {MAIL} --max-df 1.5", USAGE, "a share of them from 0.0 to 1.0"),
    (f"rank {MAIL} --ngrams 0", USAGE, "--ngrams must be 1 or more, not 0"),
    (f"rank {MAIL} --stop-words none.txt", USAGE, "there is no file none.txt"),
    (f"rank {MAIL} --stem latin", USAGE, "'latin' is unknown"),
    (f"rank {MAIL} --format xls", USAGE, "format 'xls' is unknown"),
    (f"rank {MAIL} -o words.xlsx", USAGE, "words.xlsx must end with one of .csv"),
    (f"rank {MAIL} -o far/words.csv", USAGE, "the folder far for words.csv does not exist"),
    (f"rank {MAIL} -o folder.csv", USAGE, "folder.csv is a folder; name a file to write"),
    (f"rank {MAIL} --colour", USAGE, "No such option: --colour"),
    ("rank", USAGE, "Missing argument 'FILE'"),
    ("rnak mail.csv", USAGE, "No such command 'rnak'. Did you mean 'rank'?"),
    ("--nope", USAGE, "No such option: --nope"),
    ("rank counts.parquet --text body", USAGE, "--text is for documents, but counts.parquet holds counts"),
    (f"compare {MAIL} --metrics bns", USAGE, "at least two different metrics"),
    (f"compare {MAIL} --metrics bns,igg", USAGE, "did you mean 'ig'?"),
    ("merge mail.csv -o both.parquet", FAILURE, "mail.csv is not a readable Parquet file"),
    ("merge counts.parquet -o both.csv", USAGE, "both.csv must end with one of .parquet"),
    ("merge counts.parquet", USAGE, "Missing option '-o'"),
    (f"count {MAIL} --workers 0", USAGE, "workers=0 must be a whole number from 1"),
    ("show table.parquet", FAILURE, "table.parquet"),
    (f"select {MAIL} -k 5 --fraction 0.1", USAGE, "give one cut-off, not k and fraction together"),
    (f"select {MAIL} --memory -5", USAGE, "memory must be a number of bytes above 0, not -5.0"),
    (f"select {MAIL} --threshold 1e9", USAGE, "the cut-off keeps no word"),
    (f"select {MAIL} -k 2 --pipeline m.skops --learner bush", USAGE, "learner 'bush' is unknown"),
    ("select counts.parquet -k 2 --pipeline m.skops", USAGE, "needs the documents"),
    ("predict none.skops mail.csv", FAILURE, "none.skops: No such file or directory"),
    ("predict mail.csv mail.csv", FAILURE, "mail.csv is no readable skops file"),
    (f"advise {MAIL} --goal win", USAGE, "goal 'win' is unknown"),
    (f"advise {MAIL} --budget-terms -5", USAGE, "k must be a whole number of at least 1, not -5"),
    (f"advise {MAIL} --budget-terms 5 --budget-memory 9", USAGE, "give one budget"),
    (f"advise {MAIL} --minutes 0", USAGE, "minutes must be a number above 0, not 0.0"),
    (f"advise {MAIL} --held-out 0", USAGE, "held_out must be a whole number of at least 1"),
    (f"advise {MAIL}", FAILURE, "too few documents for advice"),
    ("study run nothere -o results", FAILURE, "plan 'nothere' is unknown"),
    ("study run bad.toml -o results", FAILURE, "the plan 'bad' is not valid TOML"),
    ("study run quick -o results --share half", USAGE, "--share must be like 1/2, not 'half'"),
    ("study run quick -o results --workers 0", FAILURE, "workers must be a whole number of at least 1"),
    ("study status nothing", FAILURE, "nothing holds no results of a study"),
    ("study resume nothing", FAILURE, "nothing holds no results of a study"),
    (f"report {MAIL} -o report.pdf", USAGE, "report.pdf must end with one of .html"),
    ("demo -o far/report.html", USAGE, "the folder far"),
    ("metrics bnz", USAGE, "metric 'bnz' is unknown"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    files = {
        "mail.csv": b"body,folder\ncheap pills,spam\nsee you,ham\n",
        "one.csv": b"text,label\ncheap pills,spam\nbuy now,spam\n",
        "gaps.csv": b"text,label\ncheap pills,spam\nbuy now,\n",
        "empty.csv": b"",
        "header.csv": b"text,label\n",
        "ragged.csv": b"text,label\na,b,c\n",
        "russian.csv": "text,label\nПривет, как дела сегодня вечером,a\n".encode("cp1251"),
        "broken.parquet": b"PAR1 no more",
        "broken.jsonl": b"{text: 1}\n",
        "noise.bin": bytes(range(256)),
        "bad.toml": b"corpora = 3\n[[[",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "nothing").mkdir()
    (folder / "folder.csv").mkdir()
    pl.DataFrame({"x": [1]}).write_parquet(folder / "table.parquet")
    before = os.getcwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.fixture(scope="module")
def _counts(folder):
    assert exit_code(app, f"count {MAIL} -o counts.parquet".split()) == 0


@pytest.mark.usefixtures("_counts")
@pytest.mark.parametrize(("line", "code", "sentence"), WRONG, ids=[line for line, _, _ in WRONG])
def test_a_wrong_invocation_gets_one_sentence(capsys, line, code, sentence):
    capsys.readouterr()
    assert exit_code(app, line.split()) == code
    out, err = capsys.readouterr()
    told = "".join(line for line in err.splitlines(keepends=True) if not line.startswith("read "))
    assert sentence in told
    assert told.startswith("termsieve: ")
    assert told.count("\n") == 1
    assert "Traceback" not in out + err


def command(*words):
    return [sys.executable, "-m", "termsieve", *words]


def test_debug_shows_where_an_error_comes_from(folder):
    with pytest.raises(ValueError, match="bnz"):
        exit_code(app, ["rank", "mail.csv", "--metric", "bnz", "--debug"])
    done = subprocess.run(
        command("rank", "missing.csv", "--debug"), capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_a_failure(folder):
    with open("/dev/full", "w") as full:
        words = command("rank", "mail.csv", "--label", "folder")
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, cwd=folder)
    assert done.returncode == FAILURE
    assert done.stderr.endswith("\ntermsieve: the output cannot be written: No space left on device\n")


def test_a_reader_that_has_enough_is_no_failure(folder):
    words = command("metrics", "--json")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as process:
        process.stdout.close()
        assert process.wait(timeout=120) == 0
        assert process.stderr.read() == b""


# A shell starts background jobs with interrupts ignored, and a test run may be one.
heed_interrupts = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def test_an_interrupted_command_says_so(folder):
    with subprocess.Popen(command("rank", "-"), cwd=folder, preexec_fn=heed_interrupts, **PIPES) as process:
        # More than a pipe holds: once it is written, the command is reading.
        process.stdin.write(b"\n" * 1_000_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED
    assert err == b"termsieve: stopped\n"


@pytest.mark.parametrize("module", ["termsieve.cli.app", "typer", "termsieve.telling"])
def test_an_interrupt_while_modules_are_loaded_is_answered_alike(folder, module):
    """Interrupted in a module's generated code, Python ends by the signal even if the error is caught."""
    code = f"""
import sys, termsieve.cli

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            exec("import os, signal; os.kill(os.getpid(), signal.SIGINT)")

sys.meta_path.insert(0, Finder())
termsieve.cli.main()
"""
    words = [sys.executable, "-c", code, "rank", "mail.csv", "--label", "folder"]
    done = subprocess.run(words, cwd=folder, preexec_fn=heed_interrupts, capture_output=True)
    assert done.returncode == INTERRUPTED
    assert done.stderr == b"termsieve: stopped\n"


def test_a_file_that_cannot_be_read_is_a_failure(capsys, folder):
    if not os.path.exists("/proc/self/mem"):
        pytest.skip("needs /proc")
    assert exit_code(app, ["rank", "/proc/self/mem"]) == FAILURE
    assert "cannot be read: Input/output error" in capsys.readouterr().err


def test_what_nobody_foresaw_is_still_one_sentence(capsys, monkeypatch, folder):
    from termsieve.cli.source import Source

    def fail(self, *metrics):
        raise ZeroDivisionError("by nothing\nat all")

    monkeypatch.setattr(Source, "counts", fail)
    assert exit_code(app, ["rank", "mail.csv"]) == FAILURE
    assert (
        capsys.readouterr().err
        == "termsieve: unexpected ZeroDivisionError: by nothing; --debug shows where\n"
    )
    monkeypatch.setattr(Source, "counts", lambda self, *metrics: (_ for _ in ()).throw(MemoryError))
    assert exit_code(app, ["rank", "mail.csv"]) == FAILURE
    assert "not enough memory" in capsys.readouterr().err
