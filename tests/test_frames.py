"""Tables in memory of every make: dataframes, lazy ones, Arrow, Hugging Face datasets, columns of texts."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from termsieve import Corpus, TermVectorizer, count, inspect, telling_words, term_matrix, train_model
from termsieve.errors import InputError, ParameterError
from termsieve.frames import is_frame
from termsieve.sources import counts_of

ROWS = {
    "text": ["cheap pills", "see you", "cheap watches", "see them"],
    "label": ["spam", "ham", "spam", "ham"],
}
FRAMES = {
    "pandas": pd.DataFrame,
    "pandas-arrow": lambda rows: pd.DataFrame(rows).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars-lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "categorical": lambda rows: pl.DataFrame(rows).with_columns(pl.col("label").cast(pl.Categorical)),
    "pandas-categorical": lambda rows: pd.DataFrame(rows).astype({"label": "category"}),
}
COLUMNS = {
    "list": list,
    "tuple": tuple,
    "pandas": pd.Series,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow-chunked": lambda values: pa.chunked_array([values[:1], values[1:]]),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_frame_goes_in_wherever_documents_do(make):
    frame = make(ROWS)
    assert is_frame(frame)
    expected = counts_of(Corpus(ROWS["text"], ROWS["label"]))
    assert counts_of(frame) == expected
    assert telling_words(frame, k=1)["term"].to_list() == ["cheap"]
    assert train_model(frame, k=2).predict(["cheap cheap"]) == ["spam"]
    assert inspect(frame).class_sizes == {"ham": 2, "spam": 2}
    with pytest.raises(ParameterError, match="delimiter= is for files; a frame is read already"):
        counts_of(frame, delimiter=";")


@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
def test_a_column_of_texts_is_a_list_of_texts(make):
    texts, labels = make(ROWS["text"]), make(ROWS["label"])
    corpus = Corpus(texts, labels)
    assert corpus.texts == tuple(ROWS["text"])
    assert corpus.labels.tolist() == ROWS["label"]
    expected, _ = term_matrix(ROWS["text"])
    assert (term_matrix(texts)[0] != expected).nnz == 0
    assert (TermVectorizer().fit_transform(texts) != expected).nnz == 0


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_indicator_columns(make):
    rows = {"text": ["a", "b", "c"], "toxic": [1, 0, 1], "threat": [True, False, False]}
    corpus = Corpus.from_frame(make(rows), label=["toxic", "threat"])
    assert corpus.labels.tolist() == [("toxic", "threat"), (), ("toxic",)]
    assert Corpus.from_frame(make(rows), label="toxic,threat").labels.tolist() == corpus.labels.tolist()
    with pytest.raises(InputError, match=r"'toxic', 'threat' hold 0 and 1: give label='toxic,threat'"):
        Corpus.from_frame(make(rows))
    with pytest.raises(InputError, match="column 'toxic' holds 2; each of several label columns"):
        Corpus.from_frame(make(rows | {"toxic": [2, 0, 1]}), label=["toxic", "threat"])


@pytest.mark.parametrize("what", [[], ["a"], "text", None, 3, {"text": ["a"]}, Corpus(["a"], ["x"])])
def test_what_is_no_frame(what):
    assert not is_frame(what)


def test_datasets_of_hugging_face(tmp_path):
    import datasets  # here, because it takes seconds

    names = datasets.ClassLabel(names=["ham", "spam"])
    features = datasets.Features({"text": datasets.Value("string"), "label": names})
    whole = datasets.Dataset.from_dict({"text": ROWS["text"], "label": [1, 0, 1, -1]}, features=features)
    assert Corpus.from_frame(whole, missing="drop").labels.tolist() == ["spam", "ham", "spam"]
    parts = datasets.DatasetDict({"train": whole.select([0, 1]), "test": whole.select([2])})
    corpus = Corpus.from_frame(parts)
    assert corpus.labels.tolist() == ["spam", "ham", "spam"]
    assert corpus.parts.tolist() == ["train", "train", "test"]
    assert counts_of(parts).n_docs == 3
    one_by_one = whole.select([0, 1, 2]).to_iterable_dataset()
    assert Corpus.from_frame(one_by_one).labels.tolist() == ["spam", "ham", "spam"]


def test_a_frame_is_counted_as_it_is():
    frame = pl.DataFrame({"tweet": ["a b", "c d", "a"], "topics": ["x|y", "y", None]})
    counts = count(frame.lazy(), separator="|", missing="drop", token_pattern=r"\w")
    assert counts.terms.tolist() == ["a", "b", "c", "d"]
    assert dict(zip(counts.classes.tolist(), counts.pos.tolist(), strict=True)) == {"x": 1, "y": 2}
    assert count(frame.to_pandas(), "tweet", "topics", missing="drop").n_docs == 2


def test_a_record_batch_is_a_frame():
    batch = pa.record_batch({"text": ["a b", "c"], "label": ["x", "y"]})
    assert Corpus.from_frame(batch).texts == ("a b", "c")


def test_a_missing_value_of_pandas_in_a_label():
    frame = pd.DataFrame({"text": ["a", "b", "c"], "label": pd.array([True, None, False], dtype="boolean")})
    assert Corpus.from_frame(frame, missing="drop").labels.tolist() == [True, False]


def test_doubts_about_the_labels_of_a_frame_are_said(caplog):
    Corpus.from_frame(pl.DataFrame({"text": ["a", "b", "c"], "label": ["x", "x ", "y"]}))
    assert "the frame: the labels 'x', 'x ' differ only in case or spaces" in caplog.text


@pytest.mark.parametrize("what", [{"text": ["a"], "label": ["x"]}, [{"text": "a", "label": "x"}]])
def test_rows_that_are_no_frame_are_told_how_to_become_one(what):
    with pytest.raises(InputError, match=r"polars\.DataFrame makes one of it"):
        Corpus.from_frame(what)
