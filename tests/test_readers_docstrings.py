"""The demo corpus, and the registry of formats with its guesses."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import scipy

from termsieve import load_docstrings, read
from termsieve.errors import FormatError, InputError, UnknownNameError
from termsieve.readers import FORMATS, guessed_format


def test_docstrings():
    corpus = load_docstrings()
    assert corpus.texts == load_docstrings().texts
    assert len(corpus) > 800
    assert {"linalg", "stats", "signal", "special"} < set(corpus.classes)
    assert min(corpus.class_sizes.values()) >= 5
    assert corpus.source.endswith(scipy.__version__)
    assert not any(line.lstrip().startswith(">>>") for text in corpus.texts for line in text.split("\n"))
    assert not any(re.search(r"at 0x[0-9a-f]", text) for text in corpus.texts)


def test_docstrings_of_another_process_are_the_same_and_readers_need_no_scikit_learn(tmp_path):
    (tmp_path / "t.csv").write_text("text,label\na,x\n")
    code = f"""
import hashlib, sys, termsieve
found = termsieve.load_docstrings()
print(hashlib.sha256(repr((found.texts, found.labels.tolist())).encode()).hexdigest())
termsieve.read({str(tmp_path / "t.csv")!r})
sys.exit("sklearn" in sys.modules)
"""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # not the one of this process
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    here = load_docstrings()
    assert run.stdout.strip() == hashlib.sha256(repr((here.texts, here.labels.tolist())).encode()).hexdigest()


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.csv", "x", "table"),
        ("a.TSV.GZ", "x", "table"),
        ("a.parquet", "x", "table"),
        ("a.arff", "x", "arff"),
        ("a.svm", "x", "svmlight"),
        ("a.libsvm.bz2", "x", "svmlight"),
        ("a.sgm", "x", "reuters"),
        ("a.review", "x", "reviews"),
        ("a", "% c\n\n@RELATION x\n", "arff"),
        ("a", '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n', "reuters"),
        ("a", "<reviews>\n<review>\n", "reviews"),
        ("a.txt", "1,2 3:0.5 4:1\n", "svmlight"),
        ("a.txt", "-1 3:0.5\n", "svmlight"),
        ("a.txt", "# c\n+1 qid:3 3:0.5\n", "svmlight"),
        ("a.txt", '\ufeff{"text": "x"}\n', "table"),
        ("a.txt", "text;label\n", "table"),
    ],
)
def test_formats_are_guessed(tmp_path, name, content, format):
    (tmp_path / name).write_text(content)
    assert guessed_format(tmp_path / name) == format


def test_what_cannot_be_guessed(tmp_path):
    for content, message in (
        (b"", "is empty"),
        (b"\x00\x01", "none of the known formats"),
        (b"words\n", "format= one of"),
    ):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(FormatError, match=message):
            read(tmp_path / "a")
    with pytest.raises(InputError, match="nope does not exist"):
        read(tmp_path / "nope")


def test_unknown_formats_and_options(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,x\n")
    with pytest.raises(UnknownNameError, match="did you mean 'table'"):
        read(tmp_path / "a.csv", "tabel")
    with pytest.raises(
        UnknownNameError, match="option of format 'table' 'lable' is unknown; did you mean 'label'"
    ):
        read(tmp_path / "a.csv", lable="x")


@pytest.mark.parametrize("format", FORMATS)
def test_a_missing_path_is_said_in_every_format(tmp_path, format):
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "nope.x", format)


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_file_is_refused_in_every_format(tmp_path, format):
    (tmp_path / "empty").write_bytes(b"")
    options = {"text": "t", "label": "l"} if format == "table" else {}
    with pytest.raises(FormatError):
        read(tmp_path / "empty", format, **options)


def test_what_was_read_is_logged(tmp_path, caplog):
    (tmp_path / "a.csv").write_text("text,label\na,x\n")
    with caplog.at_level(logging.INFO, logger="termsieve"):
        read(tmp_path / "a.csv", name="mine")
    assert "read 1 document, 1 class, from columns 'text' (text) and 'label' (label)" in caplog.text


def test_the_formats_are_documented():
    page = (Path(__file__).parents[1] / "docs/corpora.md").read_text()
    for name, format in FORMATS.items():
        options = " ".join(f"`{option}`" for option in format.options)
        assert f"| `{name}` | {format.contents} | {options} |" in page
    assert page.count("\n| `") == len(FORMATS)
