"""The command line on a Dask cluster: the same counts and rows as without, and sentences if there is none."""

import csv
import socket

import pytest
from tests.generated import MAIL, MAIL_PLAN

from termsieve import Counts, Results
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code

distributed = pytest.importorskip("distributed")
FAILURE, USAGE = 1, 2
ON = "--engine dask --address"
DOCUMENTS = [*MAIL, ("cheap cheap flights", "spam")]
KEY = ["problem", "trial", "fold", "method", "size_kind", "size"]


@pytest.fixture
def address(dask_cluster):
    return dask_cluster.scheduler_address


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TERMSIEVE_DATA", raising=False)
    for name, rows in (("mail.csv", DOCUMENTS), ("more.csv", MAIL[1:4])):
        with open(name, "w", newline="") as file:
            csv.writer(file).writerows([("body", "folder"), *rows])
    (tmp_path / "tiny.toml").write_text(MAIL_PLAN)
    return tmp_path


def run(capsys, line, code=0):
    assert exit_code(app, line.split()) == code, capsys.readouterr().err
    return capsys.readouterr()


@pytest.mark.slow
def test_counts_are_those_of_one_machine(address, folder, capsys):
    # The workers were started elsewhere: the files are found although their names are relative.
    for options in ("", "--occurrences --ngrams 2 --stop-words english"):
        words = f"count mail.csv more.csv --label folder {options}"
        run(capsys, f"{words} -o here.parquet")
        told = run(capsys, f"{words} -o there.parquet {ON} {address}").err
        assert Counts.load("there.parquet") == Counts.load("here.parquet")
        assert "\nwrote there.parquet: " in told


def test_words_left_out_on_the_cluster_are_told(address, folder, capsys):
    told = run(
        capsys, f"count mail.csv more.csv --label folder --max-terms 3 -o few.parquet {ON} {address}"
    ).err
    assert "left out" in told
    assert Counts.load("few.parquet").n_terms <= 3


def test_a_study_has_the_rows_of_one_machine(address, folder, capsys):
    run(capsys, "study run tiny.toml -o here --workers 1")
    run(capsys, f"study run tiny.toml -o there --dask {address}")
    run(capsys, f"study resume there --dask {address}")
    frames = [
        Results.open(path).frame().collect().drop("select_seconds", "fit_seconds").sort(KEY)
        for path in ("here", "there")
    ]
    assert frames[0].equals(frames[1])


@pytest.mark.parametrize(
    "line", [f"count mail.csv --label folder -o c.parquet {ON}", "study run tiny.toml -o out --dask"]
)
def test_a_scheduler_that_does_not_answer_is_a_failure(folder, capsys, monkeypatch, line):
    monkeypatch.setattr("termsieve.engines.dask.CONNECT_SECONDS", 0.5)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        where = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        err = run(capsys, f"{line} {where}", FAILURE).err
    assert err == (
        f"termsieve: no Dask scheduler answers at {where}; check the address, or start one with: "
        "dask scheduler\n"
    )


@pytest.mark.parametrize("file", ["-", "docs"])
def test_what_workers_cannot_read_in_parts_is_wrong_usage(folder, capsys, file):
    for label in ("spam", "ham"):
        (folder / "docs" / label).mkdir(parents=True)
        (folder / "docs" / label / "1.txt").write_text(label)
    err = run(capsys, f"count {file} -o c.parquet {ON} 127.0.0.1:8786", USAGE).err
    assert f"not {file}\n" in err


@pytest.mark.parametrize(
    "line", [f"count mail.csv --label folder -o c.parquet {ON}", "study run tiny.toml -o out --dask"]
)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            "nonsense",
            "'nonsense' is not the address of a Dask scheduler, which looks like tcp://127.0.0.1:8786",
        ),
        ("foo://host:8786", "'foo://host:8786' is not the address"),
        ("tcp://127.0.0.1:65536", "'tcp://127.0.0.1:65536' is not the address"),
        ("tcp://127.0.0.1:8786 --workers 2", "workers"),
    ],
)
def test_what_is_no_address_is_wrong_usage(folder, capsys, line, options, sentence):
    err = run(capsys, f"{line} {options}", USAGE).err
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("options", ["--workers 2", "--checkpoint c.npz"])
def test_options_of_another_engine_are_wrong_usage(folder, capsys, options):
    err = run(capsys, f"count mail.csv --label folder {ON} tcp://127.0.0.1:8786 {options}", USAGE).err
    assert "the engine 'dask' takes no" in err
    err = run(capsys, "count mail.csv --label folder --address tcp://127.0.0.1:8786", USAGE).err
    assert "the engine 'threads' takes no 'address'" in err
