"""Corpus: what it holds, derives, refuses, splits and selects."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import termsieve
from termsieve import Corpus
from termsieve.errors import InputError, ParameterError

TEXTS = ["a b", "b c", "", "c d", "d e", "e"]


def test_exports():
    assert termsieve.Corpus is Corpus
    assert callable(termsieve.read)
    assert callable(termsieve.load_docstrings)


def test_holds_texts_and_derives_classes():
    corpus = Corpus(TEXTS, ["x", "y", "x", "x", "z", "x"], name="six")
    assert corpus.texts == tuple(TEXTS)
    assert len(corpus) == 6
    assert corpus.classes.tolist() == ["x", "y", "z"]
    assert corpus.class_sizes == {"x": 4, "y": 1, "z": 1}
    assert corpus.skew == {"x": 0.5, "y": 5.0, "z": 5.0}
    assert not corpus.multilabel
    assert corpus.matrix is None
    assert repr(corpus) == "<Corpus 'six': 6 texts, 3 classes>"


def test_several_labels():
    corpus = Corpus(["a", "b", "c"], [("x", "y", "x"), (), {"y", "w"}], source="lists")
    assert corpus.multilabel
    assert corpus.labels.tolist() == [("x", "y"), (), ("w", "y")]
    assert corpus.classes.tolist() == ["w", "x", "y"]
    assert corpus.class_sizes == {"w": 1, "x": 1, "y": 2}
    assert repr(corpus) == "<Corpus: 3 texts, 3 classes (several per document), read as lists>"


def test_several_integer_labels_keep_their_type():
    corpus = Corpus(["a", "b"], [(2, 1), (1,)])
    assert corpus.classes.tolist() == [1, 2]
    assert corpus.classes.dtype.kind == "i"
    assert corpus.labels[0] == (2, 1)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([3, 1, 2], int),
        ([3.0, 1.0, 2.0], int),
        (np.array([3, 1, 2], dtype=np.uint8), int),
        (["b", "a", "b"], str),
        (np.array(["b", "a", "b"]), str),
        ([True, False, True], bool),
        (pd.Series(["b", "a", "b"], dtype="category"), str),
        (pl.Series([3, 1, 2]), int),
    ],
)
def test_labels_keep_their_type(labels, kind):
    corpus = Corpus(["a", "b", "c"], labels)
    assert {type(label) for label in corpus.labels.tolist()} == {kind}
    assert corpus.classes.tolist() == sorted(set(corpus.labels.tolist()))


def test_a_label_keeps_its_trailing_nul():
    assert Corpus(["a", "b"], ["x\0", "x"]).class_sizes == {"x": 1, "x\0": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": ["x"]}, "either texts or a term matrix"),
        ({"texts": ["a"]}, "needs labels"),
        ({"texts": ["a"], "labels": ["x"], "matrix": np.eye(1)}, "not both"),
        ({"texts": ["a", "b"], "labels": ["x"]}, "2 documents but 1 labels"),
        ({"texts": ["a", "b", "c"], "labels": ["x", None, float("nan")]}, "2 of 3 documents have no label"),
        ({"texts": ["a", "b"], "labels": ["x", pd.NA]}, "the first is document 2"),
        ({"texts": ["a", "b"], "labels": ["x", 1]}, r"mix different types \(int, str\)"),
        ({"texts": ["a", "b"], "labels": ["x", ("y",)]}, "others a list"),
        ({"texts": ["a"], "labels": [("x", None)]}, "one of several labels"),
        ({"texts": ["a"], "labels": [0.5]}, "fraction"),
        ({"texts": ["a"], "labels": [float("inf")]}, "fraction"),
        ({"texts": ["a"], "labels": [2**70]}, "too large"),
        ({"texts": ["a"], "labels": [b"x"]}, "not bytes"),
        ({"texts": ["a"], "labels": [{"x": 1}]}, "not dict"),
        ({"texts": ["a", None], "labels": ["x", "y"]}, "document 2 is NoneType"),
        ({"texts": [b"a"], "labels": ["x"]}, "document 1 is bytes"),
        ({"texts": "abc", "labels": ["x", "y", "z"]}, "texts must be a list"),
        ({"texts": ["a"], "labels": "x"}, "labels must be a list"),
        ({"texts": ["a"], "labels": 7}, "labels must be a list"),
        ({"texts": ["a"], "labels": ["x"], "terms": ["t"]}, "a corpus of texts has none"),
        (
            {"matrix": np.eye(2), "labels": ["x", "y"], "terms": ["t"]},
            "2 columns in the term matrix but 1",
        ),
        ({"matrix": np.eye(2), "labels": ["x", "y"], "terms": ["t", 3]}, "every term must be a string"),
        ({"matrix": np.array([[np.nan]]), "labels": ["x"]}, "NaN or infinity"),
        ({"matrix": [["a"]], "labels": ["x"]}, "must hold real numbers"),
        ({"matrix": np.zeros((1, 1, 1)), "labels": ["x"]}, "Expected 2D array, got 3D"),
        ({"texts": ["a"], "labels": ["x"], "split": ["train", "test"]}, "each of the 1 documents"),
        ({"texts": ["a"], "labels": ["x"], "split": [3]}, "each of the 1 documents"),
    ],
)
def test_refuses_with_one_sentence(arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        Corpus(**arguments)
    assert "\n" not in str(caught.value)


def test_cannot_be_changed():
    corpus = Corpus(["a"], ["x"])
    with pytest.raises(AttributeError, match="immutable"):
        corpus.name = "other"
    with pytest.raises(AttributeError, match="immutable"):
        del corpus.texts
    with pytest.raises(ValueError, match="read-only"):
        corpus.labels[0] = "y"
    assert corpus.renamed("other").name == "other"
    assert corpus.name == ""


def test_survives_pickling():
    corpus = Corpus(matrix=np.eye(2), labels=[("x",), ("y", "x")], terms=["t", "u"], split=["train", "test"])
    again = pickle.loads(pickle.dumps(corpus))
    assert repr(again) == repr(corpus)
    assert (again.matrix != corpus.matrix).nnz == 0


def test_matrix_is_csr_without_duplicates():
    doubled = sparse.coo_matrix(([1, 1, 2], ([0, 0, 1], [1, 1, 0])), shape=(2, 3))
    corpus = Corpus(matrix=doubled, labels=["x", "y"], terms=["t", "u", "v"])
    assert corpus.matrix.toarray().tolist() == [[0, 2, 0], [2, 0, 0]]
    assert corpus.terms.tolist() == ["t", "u", "v"]
    assert repr(corpus) == "<Corpus: 2 documents x 3 terms, 2 classes>"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([4, 0], ["d e", "a b"]),
        ([-1], ["e"]),
        (np.array([True, False, False, True, False, False]), ["a b", "c d"]),
        (slice(4, None), ["d e", "e"]),
        ([], []),
        (range(2), ["a b", "b c"]),
    ],
)
def test_subset(rows, expected):
    corpus = Corpus(TEXTS, list("xyxyxy"), split=["train"] * 3 + ["test"] * 3, name="n")
    part = corpus.subset(rows)
    assert list(part.texts) == expected
    assert len(part.labels) == len(part.parts) == len(expected)
    assert part.name == "n"


@pytest.mark.parametrize("rows", [[6], [-7], [0.5], ["a"], [[0]], [True], None, 3])
def test_subset_refuses(rows):
    with pytest.raises(InputError):
        Corpus(TEXTS, list("xyxyxy")).subset(rows)


def test_an_empty_subset_of_several_labels_stays_one():
    part = Corpus(["a"], [("x",)]).subset([])
    assert part.multilabel
    assert part.classes.tolist() == []


def test_subset_of_a_matrix():
    corpus = Corpus(matrix=np.arange(6).reshape(3, 2), labels=[1, 2, 3], terms=["t", "u"])
    assert corpus.subset([2, 0]).matrix.toarray().tolist() == [[4, 5], [0, 1]]


def test_split_of_the_source():
    corpus = Corpus(TEXTS, list("xyxyxy"), split=["test", "train", "other", "train", None, "test"])
    train, test = corpus.split()
    assert train.texts == ("b c", "c d")
    assert test.texts == ("a b", "e")
    assert "2 train + 1 in no part + 1 other + 2 test" in repr(corpus)


def test_split_without_one_says_what_to_do():
    with pytest.raises(InputError, match=r"give test_size, for example 0\.25"):
        Corpus(TEXTS, list("xyxyxy")).split()
    with pytest.raises(InputError, match="no 'test' document"):
        Corpus(["a"], ["x"], split=["train"]).split()
    with pytest.raises(ParameterError, match="give test_size, too"):
        Corpus(["a"], ["x"], split=["train"]).split(random_state=1)


@pytest.mark.parametrize("test_size", [0.0, 1.0, -1, 6, 7, 0.01, True, "half", float("nan")])
def test_split_refuses(test_size):
    with pytest.raises(ParameterError, match="test_size"):
        Corpus(TEXTS, list("xyxyxy")).split(test_size)


def test_stratify_needs_one_label():
    corpus = Corpus(["a", "b"], [("x",), ("y",)])
    with pytest.raises(ParameterError, match="one label"):
        corpus.split(1, stratify=True)
    train, test = corpus.split(1, random_state=0)
    assert len(train) == len(test) == 1


@settings(deadline=None)
@given(
    labels=st.lists(st.sampled_from("abcd"), min_size=2, max_size=60),
    share=st.floats(0.1, 0.9),
    seed=st.integers(0, 5),
)
def test_random_split_is_a_stratified_partition(labels, share, seed):
    corpus = Corpus([str(i) for i in range(len(labels))], labels)
    n_test = round(share * len(labels))
    if not 0 < n_test < len(labels):
        return
    train, test = corpus.split(share, random_state=seed)
    assert sorted((*train.texts, *test.texts), key=int) == list(corpus.texts)
    assert len(test) == n_test
    for label, size in corpus.class_sizes.items():
        assert abs(test.class_sizes.get(label, 0) - size * n_test / len(labels)) < 1
    again = corpus.split(share, random_state=seed)
    assert again[1].texts == test.texts


def test_split_without_strata_takes_the_number_asked_for():
    corpus = Corpus([str(i) for i in range(100)], ["x"] * 90 + ["y"] * 10)
    sizes = Counter(len(corpus.split(10, random_state=seed, stratify=False)[1]) for seed in range(5))
    assert sizes == {10: 5}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_from_frame(frame):
    rows = frame({"body": ["a", None, "c"], "tag": ["x", "y", "x"], "part": ["train", "test", None]})
    corpus = Corpus.from_frame(rows, text="body", label="tag", split="part", name="f")
    assert corpus.texts == ("a", "", "c")
    assert corpus.labels.tolist() == ["x", "y", "x"]
    assert corpus.parts.tolist() == ["train", "test", ""]
    assert corpus.name == "f"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_from_frame_with_missing_labels(frame):
    rows = frame({"body": ["a", "b", "c"], "tag": ["x", None, "x; y ;"]})
    with pytest.raises(InputError, match="1 of 3 documents have no label"):
        Corpus.from_frame(rows, text="body", label="tag")
    corpus = Corpus.from_frame(rows, text="body", label="tag", missing="drop", separator=";")
    assert corpus.texts == ("a", "c")
    assert corpus.labels.tolist() == [("x",), ("x", "y")]


def test_from_frame_with_integers_that_pandas_made_floats():
    rows = pd.DataFrame({"body": ["a", "b", "c"], "tag": [1, None, 2]})
    assert Corpus.from_frame(rows, text="body", label="tag", missing="drop").labels.tolist() == [1, 2]


def test_from_frame_with_a_column_of_lists():
    rows = pl.DataFrame({"body": ["a", "b"], "tag": [["x", "y"], []]})
    assert Corpus.from_frame(rows, text="body", label="tag").labels.tolist() == [("x", "y"), ()]


def test_from_frame_refuses():
    rows = pl.DataFrame({"body": ["a"], "tag": ["x"]})
    with pytest.raises(
        InputError, match=r"the frame has no column 'txt' for text=; .*its columns: 'body', 'tag'"
    ):
        Corpus.from_frame(rows, text="txt", label="tag")
    with pytest.raises(InputError, match="2 columns named 't'"):
        Corpus.from_frame(pd.DataFrame([["a", "b"]], columns=["t", "t"]), text="t", label="t")
    with pytest.raises(InputError, match="dataframe is needed, not list"):
        Corpus.from_frame([], text="t", label="l")
    with pytest.raises(ParameterError, match="'error' or 'drop'"):
        Corpus.from_frame(rows, text="body", label="tag", missing="keep")
    with pytest.raises(ParameterError, match="separator"):
        Corpus.from_frame(rows, text="body", label="tag", separator="")
    with pytest.raises(InputError, match="document 1 is int"):
        Corpus.from_frame(pd.DataFrame({"t": [1], "l": ["x"]}), text="t", label="l")


scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(max_size=3))
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.tuples(inner), max_leaves=8)


@settings(deadline=None)
@given(labels=st.lists(anything, max_size=6))
def test_any_labels_give_a_corpus_or_an_input_error(labels):
    try:
        corpus = Corpus([""] * len(labels), labels)
    except InputError:
        return
    assert sum(corpus.class_sizes.values()) >= 0
    assert len(corpus.classes) == len(corpus.class_sizes) == len(corpus.skew)
