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


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
@pytest.mark.parametrize("shift", [0, 100])
def test_whole_numbers_are_grouped_as_a_loop_groups_them(dtype, shift):
    y = (np.random.default_rng(0).integers(0, 7, 60) * 3 + shift).astype(dtype)
    labels = encode_labels(y)
    assert labels.classes.dtype == dtype
    assert documents(labels) == {c: np.flatnonzero(y == c).tolist() for c in sorted(set(y.tolist()))}


@pytest.mark.parametrize("y", [[-5, 3, -5], [2**62, -(2**62), 2**62], [127, -128, 127]])
def test_negative_and_distant_numbers_are_labels(y):
    dtype = np.int8 if max(y) < 128 else np.int64
    expected = {c: [i for i, label in enumerate(y) if label == c] for c in sorted(set(y))}
    assert documents(encode_labels(np.array(y, dtype=dtype))) == expected


def test_more_classes_than_sixteen_bits_count():
    y = np.random.default_rng(0).permutation(70_000)
    labels = encode_labels(y)
    assert len(labels.classes) == 70_000
    np.testing.assert_array_equal(labels.docs, np.argsort(y))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float64, object])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_and_sparse_indicators_are_one(dtype, order):
    dense = np.asarray(np.random.default_rng(0).random((30, 5)) < 0.4, dtype=dtype, order=order)
    ours, expected = encode_labels(dense), encode_labels(sparse.csr_array(dense.astype(np.int64)))
    assert documents(ours) == documents(expected)
    assert ours.multilabel


@pytest.mark.parametrize("value", [2, -1, 0.5, np.nan, np.inf])
def test_an_indicator_holds_nothing_but_0_and_1(value):
    with pytest.raises(InputError, match="indicator matrix of 0 and 1"):
        encode_labels(np.array([[0, 1], [value, 0]]))
