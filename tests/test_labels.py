"""Labels of every kind against what a loop over the documents gives."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from termsieve.errors import InputError
from termsieve.labels import encode_labels

SINGLE = ["b", "a", "b", "c"]


def documents(labels):
    return {
        label: labels.docs[labels.class_ptr[i] : labels.class_ptr[i + 1]].tolist()
        for i, label in enumerate(labels.classes.tolist())
    }


@pytest.mark.parametrize(
    "y",
    [
        SINGLE,
        tuple(SINGLE),
        np.array(SINGLE),
        np.array(SINGLE, dtype=object),
        pd.Series(SINGLE),
        pd.Series(SINGLE, dtype="category"),
        pl.Series(SINGLE),
        pl.Series(SINGLE, dtype=pl.Categorical),
    ],
    ids=lambda y: f"{type(y).__module__}-{type(y).__name__}",
)
def test_one_string_a_document(y):
    labels = encode_labels(y)
    assert documents(labels) == {"a": [1], "b": [0, 2], "c": [3]}
    assert labels.sizes.tolist() == [1, 2, 1]
    assert not labels.multilabel


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([2, 1, 2], [1, 2]),
        ([True, False, True], [False, True]),
        ([1.0, 0.0, 1.0], [0.0, 1.0]),
        (np.array([3, 2, 3], dtype=np.uint8), [2, 3]),
        (np.array([3, 2, 3], dtype=object), [2, 3]),
        (np.array([3.0, 2.0], dtype=object), [2.0, 3.0]),
    ],
)
def test_numbers_and_booleans_keep_their_type(y, classes):
    found = encode_labels(y).classes.tolist()
    assert found == classes
    assert [type(c) for c in found] == [type(c) for c in classes]


@pytest.mark.parametrize(
    "y",
    [
        np.array([[0, 1], [1, 1], [0, 0]]),
        np.array([[False, True], [True, True], [False, False]]),
        sparse.csr_matrix([[0, 1], [1, 1], [0, 0]]),
        sparse.coo_array([[0, 1.0], [1, 1], [0, 0]]),
        [(1,), (0, 1), ()],
        [{1}, {0, 1}, set()],
        [[1], [1, 0, 1], []],
        [np.array([1]), np.array([0, 1]), np.array([], dtype=int)],
    ],
    ids=lambda y: type(y).__name__,
)
def test_several_labels_a_document(y):
    labels = encode_labels(y)
    assert labels.multilabel
    assert documents(labels) == {0: [1], 1: [0, 1]}
    assert labels.n_docs == 3
    assert labels.indicator().tolist() == [[False, True], [True, True], [False, False]]


def test_a_frame_names_its_classes():
    for frame in (pd.DataFrame({"x": [0, 1], "y": [1, 1]}), pl.DataFrame({"x": [0, 1], "y": [1, 1]})):
        assert documents(encode_labels(frame)) == {"x": [1], "y": [0, 1]}


def test_an_array_of_tuples_is_multi_label():
    y = np.empty(2, dtype=object)
    y[:] = [("a",), ("a", "b")]
    assert documents(encode_labels(y)) == {"a": [0, 1], "b": [1]}


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "the target y is None"),
        ("abc", "one label for each document, not str"),
        (7, "one label for each document, not int"),
        ([1.5, 2.0], "labels must be strings, integers or booleans, not measurements"),
        ([1.0, float("nan")], "1 of 2 labels are missing"),
        (["a", None], "1 of 2 labels are missing"),
        (["a", float("nan")], "1 of 2 labels are missing"),
        (pd.Series(["a", None, None]), "2 of 3 labels are missing"),
        (["a", 1], "mixes labels of different types"),
        ([True, "x"], "mixes labels of different types"),
        ([b"a", b"b"], "labels must be strings, integers or booleans, not bytes"),
        ([("a",), "b"], "mixes collections of labels with single ones"),
        ([("a", None)], "1 of 2 labels are missing"),
        ([object()], "labels must be strings, integers or booleans, not object"),
        ([1j], "complex data not supported"),
        (np.array([[0, 2]]), "an indicator matrix of 0 and 1"),
        (np.array([["a", "b"]]), "an indicator matrix of 0 and 1"),
        (np.zeros((2, 2, 2)), "one or two dimensions, not 3"),
    ],
)
def test_unusable_labels_are_told(y, sentence):
    with pytest.raises(InputError, match=sentence):
        encode_labels(y)
