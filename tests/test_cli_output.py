"""What reaches the terminal and the spreadsheet: escape sequences are shown, formulas are not run."""

import csv
import io
import json
import os
import pty
import sys
import threading
import tty
from contextlib import suppress

import numpy as np
import polars as pl
import pytest

from termsieve import Counts
from termsieve.cli.app import app
from termsieve.cli.output import without_formulas
from termsieve.cli.shell import exit_code, shown

# Clears the screen; sets the title; the same begun by a C1 control; reverses the line; hides what follows.
HOSTILE = ["\x1b[2J", "\x1b]0;owned\x07", "\x9b2J", "\u202egpj", "\u2066", "\r", "\x08", "\x7f", "\U000e0041"]
HARMLESS = ["naïve", "日本", "می\u200cخواهم", "👩\u200d🔬", "two words", "no\u00a0break"]


@pytest.mark.parametrize("text", HOSTILE)
def test_characters_that_act_on_a_terminal_are_escaped(text):
    assert shown(f"a{text}b").isprintable()
    assert shown(f"a{text}b").isascii()


@pytest.mark.parametrize("text", HARMLESS)
def test_words_of_every_language_stay_as_they_are(text):
    assert shown(text) == text


def saved_counts(path, terms, labels):
    """Save counts of documents that hold one term each."""
    Counts.from_matrix(np.eye(len(terms), dtype=int), labels, terms=terms).save(path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved_counts("odd.parquet", [f"{odd}pills" for odd in HOSTILE], [f"spam{odd}" for odd in HOSTILE])
    saved_counts("sums.parquet", ["=cmd|calc", "@sum(a1)", "plain words"], ["+1", "-2", "=3"])
    return tmp_path


def on_a_terminal(words, monkeypatch):
    """Run a command with stdout and stderr on a terminal; give what the terminal got."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    pieces = []

    def listen():
        with suppress(OSError):  # a terminal without a writer ends so on Linux
            while piece := os.read(master, 65536):
                pieces.append(piece)

    listener = threading.Thread(target=listen)
    listener.start()
    with open(slave, "w", encoding="utf-8") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        patch.setattr(sys, "stderr", terminal)
        exit_code(app, words)
    listener.join()
    os.close(master)
    return b"".join(pieces).decode()


@pytest.mark.parametrize(
    "line",
    [
        "rank odd.parquet --csv",
        "rank odd.parquet --json",
        "show odd.parquet --json",
        "select odd.parquet -k 30",
        "rank no\x1b[2Jfile\u202e.csv",
        "rank odd.parquet --class no\x1b[2Jclass",
        "rank odd.parquet --no\x1b[2Joption",
        "\x1b[2J",
    ],
)
def test_a_terminal_gets_no_escape_sequence_from_data_names_or_arguments(folder, monkeypatch, line):
    printed = on_a_terminal(line.split(" "), monkeypatch)
    assert printed.strip()
    assert all(c.isprintable() or c in "\n" for c in printed), ascii(printed)


def test_tables_on_a_terminal_hold_only_the_styles_of_the_table(folder, monkeypatch):
    printed = on_a_terminal(["show", "odd.parquet"], monkeypatch)
    assert "\\x1b[2J" in printed
    assert "\x1b[2J" not in printed
    assert not {"\x9b", "\u202e", "\x08", "\x7f"} & set(printed)


def test_a_pipe_gets_the_data_unchanged(folder, capsys):
    assert exit_code(app, ["rank", "odd.parquet", "--json"]) == 0
    printed = capsys.readouterr().out
    assert "\u202e" not in printed
    assert "\u202egpjpills" in {row["term"] for row in json.loads(printed)}
    assert exit_code(app, ["rank", "odd.parquet", "--csv"]) == 0
    assert "\u202egpjpills" in capsys.readouterr().out


@pytest.mark.parametrize("cell", ["=1", "+1", "-1", "@a", "\t=1", "\r=1", "\n=1", "＝1"])
def test_texts_like_formulas_get_an_apostrophe(cell):
    assert without_formulas({"term": cell}) == {"term": f"'{cell}"}


@pytest.mark.parametrize("cell", [-1, -1.5, None, True, "a=1", "", "1-2"])
def test_numbers_and_other_texts_stay(cell):
    assert without_formulas({"cell": cell}) == {"cell": cell}


def test_no_spreadsheet_runs_a_word_or_a_label(folder, capsys):
    line = ["rank", "sums.parquet"]
    plain = {"=cmd|calc", "@sum(a1)", "plain words"}
    guarded = {"'=cmd|calc", "'@sum(a1)", "plain words"}
    for name, separator in (("words.csv", ","), ("words.tsv", "\t")):
        assert exit_code(app, [*line, "-o", name]) == 0
        frame = pl.read_csv(name, separator=separator)
        assert set(frame["term"]) == guarded
        assert set(frame["class"]) <= {"'+1", "'-2", "'=3"}
        assert exit_code(app, [*line, "-o", name, "--raw-cells"]) == 0
        assert set(pl.read_csv(name, separator=separator)["term"]) == plain
    capsys.readouterr()
    for options, expected in (([], guarded), (["--raw-cells"], plain)):
        assert exit_code(app, [*line, "--csv", *options]) == 0
        printed = csv.DictReader(io.StringIO(capsys.readouterr().out))
        assert {row["term"] for row in printed} == expected
    for name, read in (("w.json", pl.read_json), ("w.jsonl", pl.read_ndjson), ("w.parquet", pl.read_parquet)):
        assert exit_code(app, [*line, "-o", name]) == 0
        assert set(read(name)["term"]) == plain
