"""Which column is the text and which the label: one rule for files and for frames of every make."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from termsieve import Corpus, read
from termsieve.columns import OTHER_NAMES, USUAL_NAMES, find_column, find_columns
from termsieve.errors import InputError

ROWS = {"id": [1, 2, 3], "Body": ["a b", None, "c"], "tag": ["x", "y", "x"], "part": ["train", "test", None]}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars-lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_frame_finds_its_columns(make):
    corpus = Corpus.from_frame(make(ROWS), split="part")
    assert corpus.texts == ("a b", "", "c")
    assert corpus.labels.tolist() == ["x", "y", "x"]
    assert corpus.parts.tolist() == ["train", "test", ""]


def test_files_and_frames_find_the_same_columns(tmp_path):
    path = tmp_path / "rows.csv"
    for text in USUAL_NAMES["text"]:
        for label in USUAL_NAMES["label"]:
            rows = pl.DataFrame({"n": [1], text.upper(): ["hi"], label: ["x"]})
            rows.write_csv(path)
            for corpus in (read(path), Corpus.from_frame(rows), Corpus.from_frame(rows.to_pandas())):
                assert corpus.texts == ("hi",)
                assert corpus.labels.tolist() == ["x"]


def test_other_names_count_where_no_name_is_usual():
    for role, names in OTHER_NAMES.items():
        for name in names:
            assert find_column(["id", name.title(), "n"], role, None, "the frame") == name.title()
            for usual in USUAL_NAMES[role]:
                assert find_column([name, usual], role, None, "the frame") == usual
    with pytest.raises(InputError, match="which column is the text"):
        find_column(["headline", "article"], "text", None, "the frame")
    assert not set(OTHER_NAMES["text"]) & set(OTHER_NAMES["label"])


def test_names_are_compared_without_case_spaces_and_hyphens():
    for name in ("Review Text", "reviewText", "review-text", " REVIEW_TEXT "):
        assert find_column(["id", name], "text", None, "the frame") == name


@pytest.mark.parametrize(
    ("names", "options", "sentence"),
    [
        (
            ["text", "label"],
            {"text": "txet"},
            "the frame has no column 'txet' for text=; did you mean 'text'?",
        ),
        (["text", "label"], {"label": "lable"}, "did you mean 'label'? its columns: 'text', 'label'"),
        (["text", "label"], {"label": "zzzzz"}, "no column 'zzzzz' for label=; its columns: 'text', 'label'"),
        (["text", "label"], {"split": "parts"}, "no column 'parts' for split="),
        (["words", "label"], {}, "which column is the text? Give text=, none has a usual name"),
        (["words", "kind"], {}, "which columns are the text and the label? Give text= and label="),
        (["text", "tag", "tag"], {"label": "3"}, "the frame has 2 columns named 'tag'; rename all but one"),
        (["text", "tag", "class"], {}, "which column is the label? Give label=, several could be it"),
        (["text", "label"], {"label": "text"}, "text and label are both column 'text'"),
        (["text", "text", "label"], {"text": "text"}, "the frame has 2 columns named 'text'"),
    ],
)
def test_a_doubt_is_a_sentence(names, options, sentence):
    with pytest.raises(InputError) as told:
        find_columns(names, **({"text": None, "label": None} | options), where="the frame")
    assert sentence in str(told.value)
    assert "\n" not in str(told.value)


def test_pandas_names_need_not_be_strings():
    assert Corpus.from_frame(pd.DataFrame({0: ["hi"], 1: ["x"]}), text="0", label="1").texts == ("hi",)


def test_a_frame_with_two_columns_of_one_name():
    twice = pd.DataFrame([["a", "x", 1, 2]], columns=["text", "label", "n", "n"])
    with pytest.raises(InputError, match="two columns of the same name"):
        Corpus.from_frame(twice)


@pytest.mark.parametrize("what", [[], {"text": ["a"]}, "text", None, 3])
def test_what_is_no_frame_is_refused(what):
    with pytest.raises(InputError, match="dataframe is needed"):
        Corpus.from_frame(what)


def test_a_role_without_usual_names_must_be_named():
    with pytest.raises(InputError, match="which column is the split"):
        find_column(["split"], "split", None, "the frame")


@pytest.mark.parametrize(
    "labels",
    [
        ["x", "y", "x"],
        [1, 2, 1],
        [2**63, 1, 0],
        [True, False, True],
        [("x", "y"), (), ("y",)],
        ["a\0", "a", "b"],
    ],
)
def test_a_corpus_goes_into_a_frame_and_back(labels):
    corpus = Corpus(["a b", "", "c"], labels, split=["train", "test", ""])
    again = Corpus.from_frame(corpus.to_frame(), split="split")
    assert again.texts == corpus.texts
    assert again.labels.tolist() == corpus.labels.tolist()
    assert again.parts.tolist() == corpus.parts.tolist()
    assert Corpus(["a"], ["x"]).to_frame().columns == ["text", "label"]


def test_what_no_frame_can_hold_is_told():
    with pytest.raises(InputError, match="term matrix and no texts"):
        Corpus(matrix=[[1]], labels=["x"]).to_frame()
    with pytest.raises(InputError, match="lone surrogate"):
        Corpus(["\ud800"], ["x"]).to_frame()
