"""Counts against a loop over the documents, in every format, and their arithmetic and files."""

import copy
import json
import os
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from termsieve import METRICS, Counts, rank, score
from termsieve.counts import matrix as counts_module
from termsieve.counts import storage
from termsieve.counts.table import FIELDS
from termsieve.errors import FormatError, InputError, UnknownNameError
from termsieve.parquet import sealed

TERMS = ["buy", "now", "hi", "ltd"]
X = np.array([[1, 1, 0, 3], [2, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]])
Y = ["spam", "spam", "ham", "ham"]


def looped(X, y):
    """tp, fp, tf by a loop over documents and cells."""
    classes = sorted(set(y))
    tp = np.zeros((len(classes), X.shape[1]), dtype=int)
    fp, tf = tp.copy(), tp.copy()
    for row, label in zip(X, y, strict=True):
        for t, value in enumerate(row):
            for c, name in enumerate(classes):
                if value > 0:
                    (tp if name == label else fp)[c, t] += 1
                tf[c, t] += value if name == label else 0
    return tp, fp, tf


def untidy(dense, index_dtype, rng):
    """A csr_array of `dense` with explicit zeros, split entries and unsorted indices."""
    rows, columns, values = [], [], []
    for (d, t), value in np.ndenumerate(dense):
        parts = [value] if value < 2 else [1, value - 1]
        rows += [d] * len(parts)
        columns += [t] * len(parts)
        values += parts
    order = rng.permutation(len(rows))
    rows, columns, values = (np.array(v)[order] for v in (rows, columns, values))
    order = np.argsort(rows, kind="stable")
    indptr = np.searchsorted(rows[order], np.arange(len(dense) + 1)).astype(index_dtype)
    return sparse.csr_array((values[order], columns[order].astype(index_dtype), indptr), shape=dense.shape)


FORMATS = {
    "dense": lambda X: X,
    "float": lambda X: X.astype(np.float32),
    "list": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "coo_array": sparse.coo_array,
    "lil": sparse.lil_matrix,
    "untidy-32": lambda X: untidy(X, np.int32, np.random.default_rng(0)),
    "untidy-64": lambda X: untidy(X, np.int64, np.random.default_rng(0)),
    "pandas": pd.DataFrame,
    "pandas-sparse": lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)),
    "polars": lambda X: pl.DataFrame(X, schema=[f"t{i}" for i in range(X.shape[1])]),
}


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=30)
@given(data=st.data())
def test_counts_equal_a_loop_over_documents(form, data):
    dense = data.draw(
        arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(0, 3))
    )
    y = data.draw(st.lists(st.sampled_from("abc"), min_size=len(dense), max_size=len(dense)))
    counts = Counts.from_matrix(FORMATS[form](dense), y, occurrences=True)
    tp, fp, tf = looped(dense, y)
    np.testing.assert_array_equal(counts.tp, tp)
    np.testing.assert_array_equal(counts.fp, fp)
    np.testing.assert_array_equal(counts.tf, tf)
    np.testing.assert_array_equal(counts.df, (dense > 0).sum(axis=0))
    np.testing.assert_array_equal(counts.tf_total, dense.sum(axis=0))
    np.testing.assert_array_equal(counts.squares, (dense**2).sum(axis=0))
    assert counts.pos.tolist() == [y.count(c) for c in sorted(set(y))]
    assert (counts.pos + counts.neg == len(y)).all()
    assert counts.tp.dtype == np.int64


@pytest.mark.parametrize("form", FORMATS)
def test_the_matrix_is_left_as_it_was(form):
    given_matrix = FORMATS[form](X)
    before = copy.deepcopy(given_matrix)
    Counts.from_matrix(given_matrix, Y, occurrences=True)
    if sparse.issparse(before):
        assert before.nnz == given_matrix.nnz
    else:
        assert np.array_equal(before, given_matrix)


@given(y=st.lists(st.frozensets(st.sampled_from("abc")), min_size=4, max_size=4))
def test_multi_label_counts_equal_one_problem_per_label(y):
    counts = Counts.from_matrix(X, y)
    for c, label in enumerate(counts.classes.tolist()):
        inside = np.array([label in labels for labels in y])
        assert counts.tp[c].tolist() == (X[inside] > 0).sum(axis=0).tolist()
        assert counts.fp[c].tolist() == (X[~inside] > 0).sum(axis=0).tolist()
        assert counts.pos[c] == inside.sum()
    assert counts.df.tolist() == (X > 0).sum(axis=0).tolist()


def test_a_frame_names_the_terms():
    for frame in (pd.DataFrame(X, columns=TERMS), pl.DataFrame(X, schema=TERMS)):
        assert Counts.from_matrix(frame, Y).terms.tolist() == TERMS
    assert Counts.from_matrix(X, Y).terms is None
    assert Counts.from_matrix(X, Y).names().tolist() == ["x0", "x1", "x2", "x3"]


def test_weights_count_as_presence():
    assert Counts.from_matrix(X * 0.25, Y) == Counts.from_matrix(X > 0, Y)


def test_problems():
    assert Counts.from_matrix(X, Y).problems.tolist() == [1]
    assert Counts.from_matrix(X, ["a"] * 4).problems.tolist() == [0]
    assert Counts.from_matrix(X, list("abca")).problems.tolist() == [0, 1, 2]
    assert Counts.from_matrix(X, [("a",), ("b",), (), ()]).problems.tolist() == [0, 1]


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_parts_add_up_to_the_whole_and_subtract_again(seed, occurrences):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (12, 5))
    y = rng.choice(list("abc"), 12)
    parts = np.sort(rng.integers(0, 13, 2))
    whole = Counts.from_matrix(X, y, terms=list("vwxyz"), occurrences=occurrences)
    pieces = [
        Counts.from_matrix(X[a:b], y[a:b], terms=list("vwxyz"), occurrences=occurrences)
        for a, b in zip([0, *parts], [*parts, 12], strict=True)
        if a < b
    ]
    total = pieces[0]
    for piece in pieces[1:]:
        total = total + piece
    assert total == whole
    rest = whole - pieces[0]
    assert rest + pieces[0] == whole
    assert rest.n_docs == whole.n_docs - pieces[0].n_docs


def test_different_vocabularies_and_classes_are_united():
    a = Counts.from_matrix([[1, 1]], ["x"], terms=["one", "two"])
    b = Counts.from_matrix([[1, 0, 1]], ["y"], terms=["two", "four", "three"])
    both = a + b
    assert both.terms.tolist() == ["four", "one", "three", "two"]
    assert both.classes.tolist() == ["x", "y"]
    assert both.tp.tolist() == [[0, 1, 0, 1], [0, 0, 1, 1]]
    assert both == b + a
    assert (both - b).tp.tolist() == [[0, 1, 0, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("a", "b", "sign", "sentence"),
    [
        ({}, {"occurrences": True}, 1, "only one of the two Counts has occurrences"),
        ({"terms": TERMS}, {}, 1, "without term names add up only"),
        ({"y": [1, 1, 2, 2]}, {}, 1, "labels of different types"),
        ({}, {"X": X + 1}, -1, "falls below zero"),
        ({"terms": TERMS}, {"terms": [*TERMS[:3], "new"]}, -1, "that the whole does not have"),
        ({}, {"y": ["spam", "spam", "ham", "new"]}, -1, "that the whole does not have"),
    ],
)
def test_counts_that_do_not_fit_are_told(a, b, sign, sentence):
    first, second = (Counts.from_matrix(**({"X": X, "y": Y} | kwargs)) for kwargs in (a, b))
    with pytest.raises(InputError, match=sentence):
        first + second if sign > 0 else first - second


def test_counts_are_unequal_to_other_things():
    counts = Counts.from_matrix(X, Y)
    assert counts != 3
    assert counts != Counts.from_matrix(X, Y, terms=TERMS)
    assert counts != Counts.from_matrix(X, Y, occurrences=True)
    with pytest.raises(TypeError):
        counts + 3


BAD = [
    ({"X": X[:3]}, "X has 3 documents but y has 4 labels"),
    ({"X": X[0]}, "Expected 2D array, got 1D array"),
    ({"X": np.zeros((2, 2, 2))}, "Expected 2D array, got 3D array"),
    ({"X": np.zeros((0, 3)), "y": []}, "no documents"),
    ({"X": -X}, "Negative values in data"),
    ({"X": sparse.csr_array(-X)}, "Negative values in data"),
    ({"X": sparse.csc_array(-X)}, "Negative values in data"),
    ({"X": np.where(X > 2, np.nan, X)}, "NaN or infinity"),
    ({"X": sparse.csr_array(np.where(X > 2, np.nan, X))}, "NaN or infinity"),
    ({"X": sparse.csr_array(np.where(X > 2, np.inf, X))}, "NaN or infinity"),
    ({"X": X.astype(complex)}, "complex data not supported"),
    ({"X": [["a"] * 4] * 4}, "X must hold real numbers"),
    ({"terms": ["a", "b"]}, "2 term names for 4 columns"),
    ({"terms": ["a", "b", "c", "a"]}, "the term 'a' names more than one column"),
    ({"X": X * 0.5, "occurrences": True}, "needs whole numbers"),
    ({"y": [None, "a", "a", "b"]}, "1 of 4 labels are missing"),
]


@pytest.mark.parametrize(("arguments", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_unusable_input_is_told(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        Counts.from_matrix(**({"X": X, "y": Y} | arguments))


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((3, 2)), [1, 1, 2]),  # empty documents, all-zero columns
        (np.ones((3, 2)), ["a", "a", "a"]),  # one class, terms in every document
        (np.ones((3, 0)), ["a", "b", "a"]),  # no terms
        (np.ones((1, 1)), ["a"]),  # one document
    ],
)
def test_degenerate_input_is_counted(X, y):
    counts = Counts.from_matrix(X, y)
    assert counts.tp.tolist() == looped(X, y)[0].tolist()
    assert counts.df.tolist() == (X > 0).sum(axis=0).tolist()


@pytest.mark.parametrize("y", [Y, [3, 3, 1, 1], [True, True, False, False], [("b", "a"), (), ("c",), ("a",)]])
@pytest.mark.parametrize("terms", [None, ["a", "naïve", "\U0001f600", 'q"'], ["", " ", "\n", "\0"]])
@pytest.mark.parametrize("occurrences", [True, False])
def test_files_give_back_what_was_saved(tmp_path, y, terms, occurrences):
    counts = Counts.from_matrix(X, y, terms, occurrences)
    counts.save(tmp_path / "c.parquet")
    again = Counts.load(tmp_path / "c.parquet")
    assert again == counts
    assert again.classes.dtype.kind == counts.classes.dtype.kind
    assert os.listdir(tmp_path) == ["c.parquet"]


def test_a_saved_file_is_an_ordinary_table(tmp_path):
    Counts.from_matrix(X, Y, TERMS).save(tmp_path / "c.parquet")
    frame = pl.read_parquet(tmp_path / "c.parquet")
    assert frame["term"].to_list() == TERMS
    assert frame["df"].to_list() == [2, 3, 1, 1]
    assert frame["tp"].to_list() == [[2], [1, 2], [1], [1]]
    assert frame["class_at"].to_list() == [[1], [0, 1], [0], [1]]


def test_damaged_and_foreign_files_are_told(tmp_path):
    path = tmp_path / "c.parquet"
    with pytest.raises(FileNotFoundError):
        Counts.load(path)
    path.write_bytes(b"")
    with pytest.raises(FormatError, match="not a readable Parquet file"):
        Counts.load(path)
    Counts.from_matrix(X, Y).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match="not a readable Parquet file"):
        Counts.load(path)
    pl.DataFrame({"a": [1]}).write_parquet(path)
    with pytest.raises(FormatError, match="without termsieve counts"):
        Counts.load(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": 99}, "counts format 99"),
        ({"n_docs": 1}, "damaged counts"),
        ({"pos": [1]}, "damaged counts"),
        ({"pos": [0, 0]}, "more documents than there are"),
        ({"pos": [2**70, 0]}, "damaged counts"),
        ({"pos": [-1, 2]}, "a class has more documents than there are"),
        ({"n_docs": 2**70}, "the number of documents is impossible"),
        ({"n_docs": "many"}, "damaged counts"),
        ({"class_kind": "O"}, "damaged counts"),
        ({"classes": ["one"]}, "damaged counts"),
        ({"classes": None}, "damaged counts"),
    ],
)
def test_counts_that_contradict_themselves_are_told(tmp_path, change, sentence):
    path = tmp_path / "c.parquet"
    Counts.from_matrix(X, Y).save(path)
    frame, head = pl.read_parquet(path), json.loads(pl.read_parquet_metadata(path)[storage.FORMAT])
    path.write_bytes(sealed(frame, {storage.FORMAT: json.dumps(head | change)}))
    with pytest.raises(FormatError, match=sentence):
        Counts.load(path)


def test_saving_where_it_cannot_be_leaves_nothing_behind(tmp_path):
    (tmp_path / "c.parquet").mkdir()
    with pytest.raises(OSError, match=r"c\.parquet"):
        Counts.from_matrix(X, Y).save(tmp_path / "c.parquet")
    assert os.listdir(tmp_path) == ["c.parquet"]


def test_many_classes_and_terms_stay_sparse():
    rng = np.random.default_rng(0)
    n_docs, n_classes, n_terms = 2000, 1000, 100_000
    X = sparse.csr_array(
        (np.ones(40_000), rng.integers(0, n_terms, 40_000), np.arange(0, 40_001, 20)), shape=(n_docs, n_terms)
    )
    y = np.arange(n_docs) % n_classes
    counts = Counts.from_matrix(X, y)
    assert sparse.issparse(counts.tp)
    assert counts.tp.nnz <= 40_000
    assert counts.tp.sum() == counts.df.sum()
    with pytest.raises(InputError, match=r"take it from blocks\(\)"):
        _ = counts.fp
    seen = 0
    for rows, tp, fp in counts.take(range(0, n_classes, 200)).blocks():
        assert tp.shape == (rows.stop - rows.start, n_terms)
        assert ((tp + fp) == counts.df).all()
        seen += tp.sum()
    assert seen == counts.tp[::200].sum()


def test_large_and_small_tables_agree(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (30, 40)), rng.integers(0, 6, 30)
    terms = [f"t{i:02}" for i in range(40)]
    small, part = (Counts.from_matrix(X[:n], y[:n], terms, True) for n in (30, 10))
    monkeypatch.setattr(counts_module, "DENSE_CELLS", 100)
    large, large_part = (Counts.from_matrix(X[:n], y[:n], terms, True) for n in (30, 10))
    assert sparse.issparse(large.tp)
    assert large == small
    assert large - large_part == small - part
    assert (large - large_part) + large_part == small
    assert len(list(large.blocks())) == 3
    np.testing.assert_array_equal(np.vstack([fp for _, _, fp in large.blocks()]), small.df - small.tp)
    large.save(tmp_path / "c.parquet")
    assert Counts.load(tmp_path / "c.parquet") == small


def test_frame_and_repr():
    counts = Counts.from_matrix(X, Y, TERMS)
    assert repr(counts) == "<Counts of 4 documents: 2 classes, 4 terms>"
    assert counts.to_frame().row(4, named=True) == {
        "class": "spam", "term": "buy", "tp": 2, "fp": 0, "df": 2, "pos": 2, "neg": 2,
    }  # fmt: skip


def damaged_csr(**arrays):
    matrix = sparse.csr_array(np.array([[1, 2, 0], [0, 1, 3]]))
    for name, values in arrays.items():
        setattr(matrix, name, np.array(values, dtype=getattr(matrix, name).dtype))
    return matrix


@pytest.mark.parametrize(
    "arrays",
    [
        {"indices": [0, 1, 1, 3]},
        {"indices": [0, 1, 1, 10**8]},
        {"indices": [0, 10**8, 1, 2]},
        {"indices": [1, -1, 1, 2]},
        {"indices": [-5, 1, 1, 2]},
        {"indices": [2, 10**8, 1, 2]},
        {"indptr": [0, 3, 2]},
        {"indptr": [0, 10**6, 4]},
        {"indptr": [0, 2, 10**6]},
        {"indptr": [-1, 2, 4]},
        {"indptr": [1, 2, 4]},
        {"indptr": [0, 4]},
    ],
    ids=repr,
)
def test_a_matrix_with_an_index_outside_is_refused(arrays):
    with pytest.raises(InputError, match="X is a damaged sparse matrix"):
        Counts.from_matrix(damaged_csr(**arrays), ["a", "b"])


def test_other_formats_with_an_index_outside_are_refused():
    for kind in (sparse.csc_array, sparse.bsr_array):
        matrix = kind(np.array([[1, 2, 0], [0, 1, 3]]))
        matrix.indices[-1] = 10**8
        with pytest.raises(InputError, match="X is a damaged sparse matrix"):
            Counts.from_matrix(matrix, ["a", "b"])
    matrix = sparse.coo_array(np.array([[1, 2, 0], [0, 1, 3]]))
    matrix.coords[1][-1] = 10**8
    with pytest.raises(InputError, match="X is a damaged sparse matrix"):
        Counts.from_matrix(matrix, ["a", "b"])


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float16, ">i8", ">f4", np.uint8, bool])
@pytest.mark.parametrize("index", [np.int32, np.int64, np.uint16, ">i4"])
def test_strided_foreign_and_trailing_arrays_are_counted(dtype, index):
    plain = sparse.csr_array(X)
    twice = np.repeat(np.append(plain.data, 9), 2).astype(dtype)
    strided = sparse.csr_array(X)
    strided.data = twice[::2]
    strided.indices = np.repeat(np.append(plain.indices, 77), 2).astype(index)[::2]
    strided.indptr = np.repeat(plain.indptr, 2).astype(index)[::2]
    values = np.where(X > 0, np.asarray(X, dtype=dtype), 0).astype(np.int64)
    assert Counts.from_matrix(strided, Y, occurrences=True) == Counts.from_matrix(values, Y, occurrences=True)


@pytest.mark.parametrize(
    "X",
    [
        [[2**62], [2**62]],
        [[2**32], [1]],
        [[3_037_000_500], [1]],
        [[3_037_000_499], [3_037_000_499]],
        np.array([[2.0**63], [1.0]]),
        np.array([[2**63], [1]], dtype=np.uint64),
    ],
    ids=repr,
)
def test_occurrences_beyond_64_bits_are_refused(X):
    with pytest.raises(InputError, match="do not fit into 64 bits"):
        Counts.from_matrix(X, ["a", "b"], occurrences=True)


def test_the_largest_occurrences_that_fit_are_exact():
    counts = Counts.from_matrix([[3_037_000_499], [1]], ["a", "b"], occurrences=True)
    assert counts.squares.tolist() == [3_037_000_499**2 + 1]
    assert counts.tf.tolist() == [[3_037_000_499], [1]]
    with pytest.raises(InputError, match="do not fit into 64 bits"):
        counts + counts


def test_impossible_tables_reach_no_memory_of_others():
    # Where tp is above df there is no 2x2 table to be numbered; such counts can only be made by hand.
    counts = Counts([[10**6, 1], [-(10**6), 0]], [1, 1], [1, 1], 2, ["a", "b"])
    assert counts.tables.at.shape == (2, 2)


def test_replace_changes_what_is_named_and_keeps_the_rest():
    counts = Counts.from_matrix(X, Y, TERMS, occurrences=True)
    assert counts.replace() == counts
    other = counts.replace(classes=["x", "y"], n_docs=9)
    assert other.classes.tolist() == ["x", "y"]
    assert (other.n_docs, counts.n_docs) == (9, 4)
    assert other.replace(classes=Y[::-2], n_docs=4).tf.tolist() == counts.tf.tolist()
    assert counts.replace(terms=None).terms is None
    with pytest.raises(InputError, match="4 term names for 2 columns"):
        counts.replace(tp=counts.tp[:, :2], df=counts.df[:2], tf=None)
    with pytest.raises(TypeError, match="tpp"):
        counts.replace(tpp=1)


def test_classes_are_taken_by_name_or_position():
    counts = Counts.from_matrix(X, list("abca"), TERMS, occurrences=True)
    assert counts["b"] == counts[1] == counts.take([1]) == counts.take(["b"]) == counts.take(np.array([1]))
    assert counts.take(["c", 0]).classes.tolist() == ["c", "a"]
    assert counts[-1].classes.tolist() == ["c"]
    assert counts["b"].tf.tolist() == counts.tf[[1]].tolist()
    with pytest.raises(UnknownNameError, match="class 'bb' is unknown; did you mean 'b'"):
        counts["bb"]
    with pytest.raises(InputError, match="no class at position 3"):
        counts[3]
    with pytest.raises(TypeError):
        list(counts)


def test_labels_that_are_numbers_have_names_and_positions():
    counts = Counts.from_matrix(X, [7, 3, 7, 5])
    assert [counts.position(label) for label in (3, 5, 7)] == [0, 1, 2]
    assert counts.position("7") == 2
    assert counts["7"].classes.tolist() == [7]
    assert counts[0].classes.tolist() == [3]
    with pytest.raises(UnknownNameError, match="class 4 is unknown"):
        counts.position(4)


def test_a_pickled_copy_is_equal_and_holds_no_caches():
    counts = Counts.from_matrix([[2, 0], [1, 1]], ["a", "b"], terms=["x", "y"], occurrences=True)
    assert counts.tables.at.shape == (2, 2)
    copy = pickle.loads(pickle.dumps(counts))
    assert copy == counts
    assert copy.terms.tolist() == ["x", "y"]
    assert "tables" not in vars(copy)


def test_tables_of_a_matrix_are_narrow_until_they_are_read():
    X, y = np.array([[3, 0, 1], [1, 0, 0], [0, 70_000, 2]]), ["a", "a", "b"]
    counts = Counts.from_matrix(X, y, occurrences=True)
    assert (counts.as_counted("tp").dtype, counts.as_counted("tf").dtype) == (np.uint16, np.uint32)
    one = counts.take(["b"])
    assert one.as_counted("tp").dtype == np.uint16
    assert "tp" not in vars(counts)
    assert "tp" not in vars(one)
    assert (counts.tp.dtype, counts.tf.dtype, counts.tf_pos.dtype) == (np.int64,) * 3
    assert (counts.tp.tolist(), one.tf.tolist()) == ([[2, 0, 1], [0, 1, 1]], [[0, 70_000, 2]])
    assert counts.tf_pos.tolist() == [5, 70_002]
    assert counts.tp is counts.tp
    wide = Counts(**{name: getattr(counts, name) for name in FIELDS})
    assert wide == counts == pickle.loads(pickle.dumps(Counts.from_matrix(X, y, occurrences=True)))
    counts.tp[0, 0] = 1  # whoever reads a table may change it
    assert counts.as_counted("tp")[0, 0] == counts.direction()[1, 0] + 2 == 1


@pytest.mark.parametrize("extra", [0, 1, 2])
def test_occurrences_around_32_bits(extra):
    X = np.array([[2**30, 1], [2**30, 0], [2**30, 0], [2**30 - 1 + extra, 0], [3, 2]])
    counts = Counts.from_matrix(X, [*"aaaab"], occurrences=True)
    assert counts.tf.tolist() == [[2**32 - 1 + extra, 1], [3, 2]]
    assert counts.tf_total.tolist() == [2**32 + 2 + extra, 3]
    assert counts.squares.tolist() == [3 * 2**60 + (2**30 - 1 + extra) ** 2 + 9, 5]
    alone = Counts.from_matrix(X[:4], [*"aaaa"], occurrences=True)
    assert alone.as_counted("tf").dtype == (np.int64 if extra else np.uint32)
    assert alone.tf.tolist() == [[2**32 - 1 + extra, 1]]


def test_a_class_of_more_documents_than_16_bits_hold():
    n_docs = 70_000
    X = sparse.csr_array(np.ones((n_docs, 1)))
    counts = Counts.from_matrix(X, np.arange(n_docs) < n_docs - 1)
    assert (counts.tp.tolist(), counts.df.tolist()) == ([[1], [n_docs - 1]], [n_docs])


@pytest.mark.parametrize("multilabel", [False, True])
def test_scores_of_narrow_and_wide_tables_are_the_same(multilabel):
    rng = np.random.default_rng(5)
    X = rng.poisson(0.4, (60, 40))
    y = rng.integers(0, 2, (60, 4)) if multilabel else np.arange(60) % 4  # classes of equal size
    narrow = Counts.from_matrix(X, y, occurrences=True)
    wide = Counts(**{name: getattr(Counts.from_matrix(X, y, occurrences=True), name) for name in FIELDS})
    for metric in METRICS:
        a, b = score(narrow, metric), score(wide, metric)
        np.testing.assert_array_equal(rank(a).order, rank(b).order)
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.direction, b.direction)
