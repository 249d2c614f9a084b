"""Predictions of files: streamed, in order, with names, scores and the measures of known labels."""

import gzip
import io
import json

import numpy as np
import polars as pl
import pytest
from tests.test_models import LABELS, TEXTS

from termsieve import Corpus, train_model
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.errors import InputError, ParameterError
from termsieve.pieces import in_order, pieces
from termsieve.predictions import judged, table_column


@pytest.fixture(scope="module")
def model():
    return train_model(Corpus(TEXTS, LABELS), learner="lr", k=6)


def test_pieces_are_bounded_and_in_order(monkeypatch):
    monkeypatch.setattr("termsieve.pieces.PIECE_CHARACTERS", 10)
    monkeypatch.setattr("termsieve.pieces.PIECE_TEXTS", 3)
    assert list(pieces(["aaaaaaaaaaaa", "b", "c", "d", "e"])) == [["aaaaaaaaaaaa"], ["b", "c", "d"], ["e"]]


def test_work_ahead_is_bounded():
    taken = []
    results = in_order(lambda item: item * 2, (taken.append(i) or i for i in range(1000)))
    assert [next(results) for _ in range(3)] == [0, 2, 4]
    assert len(taken) < 30
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda item: 1 / item, [1, 0, 1]))


def test_a_stream_says_what_the_pipeline_says(model, monkeypatch):
    monkeypatch.setattr("termsieve.pieces.PIECE_TEXTS", 2)
    found = list(model.stream(iter(TEXTS * 3), scores=True, probabilities=True))
    assert [each.label for each in found] == model.pipeline.predict(TEXTS * 3).tolist()
    assert np.array([each.values[0] for each in found]) == pytest.approx(
        model.pipeline.decision_function(TEXTS * 3)
    )
    assert np.array([each.probabilities for each in found]) == pytest.approx(
        model.pipeline.predict_proba(TEXTS * 3)
    )
    assert model.classes == ("ham", "spam")
    with pytest.raises(ParameterError, match="gives no probabilities"):
        list(train_model(Corpus(TEXTS, LABELS), k=4).stream(TEXTS, probabilities=True))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_rows_have_names_and_labels(tmp_path, model, suffix):
    frame = pl.DataFrame({"key": [f"d{i}" for i in range(5)], "body": TEXTS, "kind": LABELS})
    path = tmp_path / f"new.{suffix}"
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[suffix](path)
    rows = list(model.rows(path, text="body", id="key", label="kind"))
    assert [row.id for row in rows] == frame["key"].to_list()
    assert [row.label for row in rows] == LABELS
    assert [row.prediction.label for row in rows] == LABELS
    assert [row.label for row in model.rows(path, text="body")] == [None] * 5
    with pytest.raises(InputError, match="no column 'ky'"):
        list(model.rows(path, text="body", id="ky"))


def test_standard_input_is_read_once(model):
    lines = "".join(
        json.dumps({"text": text, "label": label}) + "\n" for text, label in zip(TEXTS, LABELS, strict=True)
    )
    rows = list(model.rows(io.BytesIO(lines.encode())))
    assert [row.prediction.label for row in rows] == [row.label for row in rows] == LABELS


def test_labels_are_compared_as_texts():
    assert judged([0, 1], False, ["1", "0", None], [1, 1, 1]).table == ((0, 1), (0, 1))
    assert judged(["a", "b"], False, ["x", "y"], ["a", "b"]) is None
    found = judged(["a", "b"], True, [["a"], ("b", "c")], [("a",), ("a",)])
    assert (found.classes, found.tp, found.fn) == (("a", "b", "c"), (1, 0, 0), (0, 1, 1))
    target = judged(["not a", "a"], False, [("a", "b"), ("b",), ()], ["a", "a", "not a"])
    assert target.table == ((1, 1), (0, 1))


def test_a_column_is_read_as_its_table_is(tmp_path):
    """Numbers are numbers, so that 10 comes after 9; dates and names stay as they are."""
    rows = "text;label;day;who;when\nwört;a;10;ann;2024-01-02\nsee;b;9;;2024-01-01\n"
    path = tmp_path / "mail.csv.gz"
    path.write_bytes(gzip.compress(rows.encode("cp1252")))
    assert table_column(path, "day") == [10.0, 9.0]
    assert table_column(path, "when", encoding="cp1252") == ["2024-01-02", "2024-01-01"]
    with pytest.raises(InputError, match="did you mean 'day'"):
        table_column(path, "dya")
    (tmp_path / "folder" / "spam").mkdir(parents=True)
    with pytest.raises(ParameterError, match="is no table, so it has no column 'day'"):
        table_column(tmp_path / "folder", "day", "folder")


def test_the_command_line_groups_and_orders_by_a_column(tmp_path, capsys):
    words = ["cheap", "noon", "buy", "see", "now", "you"]
    rows = [f"{words[i % 6]} {words[i % 5]} {words[i % 2]},{'ab'[i % 2]},{i},g{i % 9}" for i in range(90)]
    path = tmp_path / "mail.csv"
    path.write_text("text,label,day,who\n" + "\n".join(rows) + "\n")
    for option in ("--group who", "--time day"):
        assert exit_code(app, ["advise", str(path), *option.split(), "--json"]) == 0, capsys.readouterr().err
        assert json.loads(capsys.readouterr().out)
    assert exit_code(app, ["advise", str(path), "--group", "whom"]) == 1
    assert "did you mean 'who'" in capsys.readouterr().err
