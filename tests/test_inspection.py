"""inspect: what was understood, samples, and a warning for each kind of doubt."""

from __future__ import annotations

import json

import polars as pl
import pytest

from termsieve import Corpus, inspect
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.errors import ParameterError

FRUIT = ["apples", "pears", "plums", "figs", "dates", "limes"]
TEXTS = [f"a message about {word} and more" for word in FRUIT]


def corpus(texts=TEXTS, labels=("x", "y") * 3, **options):
    return Corpus(list(texts), list(labels), **options)


def test_what_is_fine_gets_no_warning():
    seen = inspect(corpus(TEXTS * 2, ["x", "y"] * 6).subset(range(12)))
    assert [w for w in seen.warnings if "the text of another" not in w] == []
    seen = inspect(corpus([f"{text} {i}" for i, text in enumerate(TEXTS * 2)], ["x", "y"] * 6))
    assert (seen.warnings, seen.guesses, seen.duplicates) == ([], [], [])
    assert seen.class_sizes == {"x": 6, "y": 6}
    assert len(seen.samples) == 3
    assert seen.line == "read 12 documents, 2 classes, from memory"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (corpus(["今天天气很好我们去公园玩吧"] * 6), "100 % of the documents are in a script without spaces"),
        (corpus(["fish &amp; chips", *TEXTS[1:]]), "17 % of the documents hold HTML entities, such as &amp;"),
        (corpus(["nice<br />day", *TEXTS[1:]]), "17 % of the documents hold HTML markup, such as <br />"),
        (corpus(["Text", *TEXTS[1:]], ["Label", "x", "y", "x", "y", "x"]), "looks like the name of a column"),
        (
            corpus(["From: a@b.org\nSubject: hello\n\nsee you", *TEXTS[1:]]),
            "17 % of the documents begin with the headers of a mail or post",
        ),
        (
            corpus(["Subject: hi\nContent-Transfer-Encoding: base64\n\nc2VlIHlvdQ==", *TEXTS[1:]]),
            "17 % of the documents hold parts in base64",
        ),
        (corpus(labels=["x", "X", "y"] * 2), "the labels 'X', 'x' differ only in case or spaces"),
        (corpus(labels=["x", "null", "y"] * 2), "2 documents have the label 'null'; leave the cell empty"),
        (corpus(labels=["a;b", "b;c", "a;c"] * 2), "most labels hold ';'; give separator=';'"),
        (corpus(labels=["a,b", "b,c", "a,c"] * 2), "most labels hold ','; give separator=','"),
        (corpus(labels=["x"] * 5 + ["y"]), "1 of 2 classes have fewer than 5 documents: y (1)"),
        (corpus(labels=["train"] * 4 + ["test"] * 2), "the labels test, train are a split, not classes"),
        (corpus(labels=["x"] * 6), "there is only one class"),
        (corpus([*TEXTS[:5], "  "]), "documents without text: 1 of 6"),
        (
            corpus([*TEXTS[:4], TEXTS[0], TEXTS[2]]),
            "documents with the text of another one: 4 (distinct texts: 2)",
        ),
        (
            corpus([*TEXTS[:5], TEXTS[0].upper()]),
            "equal texts with different labels: 1, such as document 1 (x, y)",
        ),
        (
            corpus([f"{t} {i}" for i in range(5) for t in TEXTS], [f"id{i}" for i in range(30)]),
            "30 labels have 30 values; give label= another column if they are ids",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_doubt_is_told(given, sentence):
    assert any(sentence in warning for warning in inspect(given).warnings)


def test_labels_with_a_comma_in_them_are_no_lists():
    places = [
        "Paris, France",
        "Lyon, France",
        "Rome, Italy",
        "Bonn, Germany",
        "Oslo, Norway",
        "Bern, Schweiz",
    ]
    assert not any("separator" in warning for warning in inspect(corpus(labels=places)).warnings)


def test_guesses_of_the_reader_are_part_of_it(tmp_path):
    path = tmp_path / "mail.tsv"
    path.write_text("".join(f"{label}\t{text}\n" for text, label in zip(TEXTS, ("x", "y") * 3, strict=True)))
    seen = inspect(path)
    assert "without a header" in seen.guesses[0]
    assert "no header" in seen.source
    assert "guess: " in repr(seen)
    with pytest.raises(ParameterError, match="is for files and frames"):
        inspect(corpus(), text="body")


def test_duplicates_are_listed_and_written(tmp_path, capsys):
    path = tmp_path / "mail.csv"
    texts = [*TEXTS[:5], TEXTS[0].upper()]
    pl.DataFrame({"text": texts, "label": ["x", "y"] * 3}).write_csv(path)
    rows = inspect(path).duplicates_frame()
    assert rows.select("group", "document", "label", "conflict").rows() == [
        (1, 1, "x", True),
        (1, 6, "y", True),
    ]
    assert inspect(corpus()).duplicates_frame().height == 0
    assert exit_code(app, ["inspect", str(path), "-o", str(tmp_path / "twice.csv")]) == 0
    out, err = capsys.readouterr()
    assert pl.read_csv(tmp_path / "twice.csv")["document"].to_list() == [1, 6]
    assert "read 6 documents, 2 classes, from columns 'text' (text) and 'label' (label)" in err
    assert "warning: equal texts with different labels: 1," in out
    assert exit_code(app, ["inspect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["class_sizes"] == {"x": 3, "y": 3}


def test_counts_are_no_documents(tmp_path, capsys):
    path = tmp_path / "mail.csv"
    pl.DataFrame({"text": TEXTS, "label": ["x", "y"] * 3}).write_csv(path)
    assert exit_code(app, ["count", str(path), "-o", str(tmp_path / "c.parquet")]) == 0
    assert exit_code(app, ["inspect", str(tmp_path / "c.parquet")]) != 0
    assert "holds counts, not documents" in capsys.readouterr().err
