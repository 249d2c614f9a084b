"""Labels of every kind against what a loop over the documents gives."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import termsieve
from termsieve import Corpus, Counts
from termsieve.errors import InputError
from termsieve.labels import document_labels, encode_labels

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
def test_one_string_per_document(y):
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
def test_several_labels_per_document(y):
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
        (["a", 1], "mix different types"),
        ([True, "x"], "mix different types"),
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


EXACT = [
    [2**63, 2**63 + 1, 0],
    [2**64 - 1, 2**64 - 2, 2**64 - 1],
    [2**53, 2**53 + 1, 2**53 + 2],
    [-(2**63), 2**63 - 1, -1],
    ["a\0", "a", "a\0\0"],
    ["", "\0", " "],
    ["ä", "a\u0308", "a"],
    np.array([-100, 100, 50] * 100, dtype=np.int8),
    np.array([-(2**31), 2**31 - 1] * 3, dtype=np.int32),
    np.array([2**64 - 1, 2**64 - 2, 2**64 - 1] * 4, dtype=np.uint64),
    np.array([250, 255, 253] * 5, dtype=np.uint8),
    pl.Series([2**63, 2**63 + 1, 0], dtype=pl.UInt64),
    pd.Series(["a\0", "a"]),
    [np.uint64(2**63), np.int8(3), 4],
]


@pytest.mark.parametrize("y", EXACT, ids=lambda y: repr(list(y[:3]))[:40])
def test_labels_are_exact(y):
    entries = y.tolist() if isinstance(y, np.ndarray) else list(y)
    expected = {c: [i for i, label in enumerate(entries) if label == c] for c in sorted(set(entries))}
    assert documents(encode_labels(y)) == expected
    labels, multilabel = document_labels(y)
    assert labels.tolist() == entries
    assert not multilabel
    several = encode_labels([(label,) for label in entries])
    assert documents(several) == expected
    assert Corpus([""] * len(entries), y).class_sizes == {c: len(rows) for c, rows in expected.items()}
    counts = termsieve.count([(["word"] * len(entries), entries)])
    assert dict(zip(counts.classes.tolist(), counts.pos.tolist(), strict=True)) == {
        c: len(rows) for c, rows in expected.items()
    }


@pytest.mark.parametrize(
    "y",
    [[2**64, 0], [-1, 2**63], [True, 1], [True, 2], ["1", 1], [1.0, True], [0, 1.5], [10**30, 10**30 + 1]],
)
def test_labels_that_cannot_be_kept_exactly_are_refused(y):
    for function in (encode_labels, document_labels, lambda y: termsieve.count([(["a"] * len(y), y)])):
        with pytest.raises(InputError) as told:
            function(y)
        assert "\n" not in str(told.value)


def test_dates_are_no_labels():
    with pytest.raises(InputError, match="not datetime64"):
        encode_labels(np.array(["2020-01-01", "2021-01-01"], dtype="M8[ns]"))


@pytest.mark.parametrize(
    "form", [np.array, sparse.csr_matrix, lambda x: pl.DataFrame(x, schema=["p", "q"], orient="row")]
)
def test_a_corpus_takes_an_indicator_matrix(form):
    corpus = Corpus(["a", "b", "c"], form([[0, 1], [1, 1], [0, 0]]))
    names = ("p", "q") if isinstance(form([[0, 1]]), pl.DataFrame) else (0, 1)
    assert corpus.multilabel
    assert corpus.labels.tolist() == [(names[1],), names, ()]


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(InputError, match="two columns of y have the same name"):
        encode_labels(pd.DataFrame([[0, 1]], columns=["x", "x"]))


texts = st.text(st.characters(codec="utf-8"), max_size=3)
singles = st.one_of(
    st.lists(texts, max_size=12),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=12),
    st.lists(st.integers(0, 2**64 - 1), max_size=12),
    st.lists(st.integers(-3, 3), max_size=12),
    st.lists(st.booleans(), max_size=12),
    st.lists(st.integers(-(2**53), 2**53).map(float), max_size=12),
)


@settings(max_examples=150)
@given(y=singles, form=st.sampled_from([list, tuple, "object", "array", "series"]))
def test_every_way_of_counting_single_labels_agrees_with_a_dict(y, form):
    expected = {}
    for i, label in enumerate(y):
        expected.setdefault(label, []).append(i)
    given_as = y
    if form in (list, tuple):
        given_as = form(y)
    elif form == "object" or not y or isinstance(y[0], str):
        given_as = np.fromiter(y, dtype=object, count=len(y))
    elif form == "series":
        given_as = pl.Series(y, dtype=pl.UInt64 if isinstance(y[0], int) and max(y) >= 2**63 else None)
    elif isinstance(y[0], int) and max(y) >= 2**63:
        given_as = np.array(y, dtype=np.uint64)
    else:
        given_as = np.array(y)
    found = encode_labels(given_as)
    assert documents(found) == expected
    assert found.classes.tolist() == sorted(expected)
    labels, _ = document_labels(given_as)
    assert Counter(labels.tolist()) == Counter(y)
    sizes = {label: len(rows) for label, rows in expected.items()}
    assert Corpus([""] * len(y), given_as).class_sizes == sizes


@settings(deadline=None, max_examples=200)
@given(
    y=st.one_of(
        st.lists(st.lists(texts, max_size=4), min_size=1, max_size=8),
        st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=4), min_size=1, max_size=8),
    ),
    form=st.sampled_from([list, tuple, set, frozenset]),
)
def test_every_way_of_counting_several_labels_agrees_with_a_dict(y, form):
    expected = {}
    for i, group in enumerate(y):
        for label in set(group):
            expected.setdefault(label, []).append(i)
    given_as = [form(group) for group in y]
    found = encode_labels(given_as)
    assert documents(found) == expected
    assert found.multilabel
    labels, _ = document_labels(given_as)
    assert [set(group) for group in labels] == [set(group) for group in y]
    assert all(len(set(group)) == len(group) for group in labels)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([2**63, 0], [5, 7]),
        ([2**63 + 1], [2**63, -0]),
        (["a"], ["a\0", "b"]),
        ([1.0, 2.0], [3.0]),
        ([True], [False]),
        (["x"], []),
    ],
)
def test_counts_of_other_classes_add_up_exactly(a, b):
    parts = [Counts.from_matrix(np.ones((len(y), 1)), y, terms=["w"]) for y in (a, b) if y]
    whole = parts[0] + parts[-1] if len(parts) == 2 else parts[0]
    assert whole.classes.tolist() == sorted({*a, *b})
    assert whole.pos.sum() == len(a) + len(b)


def test_counts_with_labels_of_different_types_do_not_add_up():
    for a, b in ([1], ["1"]), ([True], [1]), ([-1], [2**63]):
        with pytest.raises(InputError, match="labels of different types"):
            Counts.from_matrix([[1]], a, terms=["w"]) + Counts.from_matrix([[1]], b, terms=["w"])


@pytest.mark.parametrize("labels", [["a\0", "a"], [2**63, 2**63 + 1], [True, False], [-5, 3]])
def test_classes_are_exact_in_a_file(tmp_path, labels):
    counts = Counts.from_matrix([[1], [1]], labels, terms=["w"])
    counts.save(tmp_path / "counts.parquet")
    again = Counts.load(tmp_path / "counts.parquet")
    assert again == counts
    assert again.classes.tolist() == sorted(labels)
