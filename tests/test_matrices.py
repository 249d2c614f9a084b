"""Matrices of every kind and make, sound and damaged, against their dense form."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from termsieve.errors import InputError
from termsieve.matrices import canonical_csr, sound_csr

DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0]])


def strided(array):
    """The same numbers, every second of a longer array."""
    return np.repeat(array, 2)[::2]


def is_sound(matrix):
    assert matrix.format == "csr"
    for array in (matrix.data, matrix.indices, matrix.indptr):
        assert array.flags.c_contiguous
        assert array.dtype.isnative
    assert matrix.indices.dtype == matrix.indptr.dtype
    assert matrix.indices.dtype in (np.int32, np.int64)
    assert matrix.dtype not in (np.float16, np.longdouble)
    assert len(matrix.data) == len(matrix.indices) == matrix.indptr[-1]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
def test_every_sparse_format(kind, form):
    matrix = sound_csr(form(DENSE).asformat(kind))
    is_sound(matrix)
    assert matrix.toarray().tolist() == DENSE.tolist()
    assert isinstance(matrix, sparse.sparray) == isinstance(form(DENSE), sparse.sparray)


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u8", ">i4", "f2", ">f2", "f4", "f8", ">f8", "g"], ids=lambda name: f"dtype-{name}"
)
@pytest.mark.parametrize("kind", ["dense", "csr", "coo"])
def test_every_type_of_value(dtype, kind):
    values = (DENSE > 0).astype(dtype)
    given = values if kind == "dense" else sparse.csr_array(DENSE > 0).asformat(kind)
    if kind != "dense":
        given.data = given.data.astype(dtype)  # scipy makes no matrix of some types, but it lets them in
    matrix = canonical_csr(given)
    is_sound(matrix)
    assert matrix.toarray().astype(float).tolist() == (DENSE > 0).astype(float).tolist()


def test_views_into_longer_arrays_become_contiguous():
    X = sparse.csr_matrix(DENSE)
    X.data, X.indices = strided(X.data), strided(X.indices)
    assert not X.data.flags.c_contiguous
    matrix = sound_csr(X)
    is_sound(matrix)
    assert matrix.toarray().tolist() == DENSE.tolist()
    assert not X.data.flags.c_contiguous, "the matrix given was changed"


@pytest.mark.parametrize("types", [(np.int64, np.int32), (np.int32, np.int64), (np.uint16, np.int8)])
def test_index_types_are_made_one(types):
    X = sparse.csr_matrix(DENSE)
    X.indices, X.indptr = X.indices.astype(types[0]), X.indptr.astype(types[1])
    matrix = sound_csr(X)
    is_sound(matrix)
    assert matrix.toarray().tolist() == DENSE.tolist()


def test_room_behind_the_last_cell_is_left_out():
    X = sparse.csr_matrix(DENSE)
    X.indices, X.data = np.append(X.indices, 10**6).astype(np.int32), np.append(X.data, np.nan)
    assert canonical_csr(X).toarray().tolist() == DENSE.tolist()


def test_a_fine_matrix_is_not_copied():
    X = sparse.csr_matrix(DENSE)
    assert sound_csr(X) is X
    assert canonical_csr(X) is X


def damaged(kind, form, **arrays):
    X = form(DENSE).asformat(kind)
    for name, values in arrays.items():
        setattr(X, name, np.array(values, dtype=np.int32))
    return X


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize(
    ("kind", "arrays"),
    [
        ("csr", {"indices": [1, 3, 4]}),
        ("csr", {"indices": [1, 3, 2**31 - 1]}),
        ("csr", {"indices": [1, -1, 0]}),
        ("csr", {"indptr": [0, 2, 1, 3]}),
        ("csr", {"indptr": [1, 2, 2, 3]}),
        ("csr", {"indptr": [0, 2, 2, 4]}),
        ("csr", {"indptr": [0, 2, 2, 2**31 - 1]}),
        ("csr", {"indptr": [0, 2, 3]}),
        ("csr", {"indptr": [-5, 2, 2, 3]}),
        ("csr", {"indices": [1, 3]}),
        ("csc", {"indices": [2, 0, 3]}),
        ("csc", {"indices": [2, -2, 0]}),
        ("csc", {"indptr": [0, 1, 2, 2, 9]}),
        ("bsr", {"indices": [1, 3, 99]}),
        ("coo", {"row": [0, 0, 3]}),
        ("coo", {"col": [1, -1, 0]}),
    ],
)
def test_a_damaged_matrix_is_refused(kind, form, arrays):
    X = damaged(kind, form, **arrays)
    for function in (sound_csr, canonical_csr):
        with pytest.raises(InputError, match="damaged sparse matrix"):
            function(X)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.zeros(3), "Expected 2D array, got 1D"),
        (np.zeros((2, 2, 2)), "Expected 2D array, got 3D"),
        ([["a"]], "must hold real numbers"),
        (np.array([["a"]], dtype=object), "must hold real numbers"),
        (np.array([[1j]]), "complex data not supported"),
        (sparse.csr_array(np.array([[1j]])), "complex data not supported"),
        ([[1], [1, 2]], "must hold real numbers"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(X, sentence):
    with pytest.raises(InputError, match=sentence):
        canonical_csr(X, "the term matrix")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_must_be_finite(value):
    X = sparse.csr_array(DENSE.astype(float))
    X.data[1] = value
    with pytest.raises(InputError, match="NaN or infinity"):
        canonical_csr(X)


def test_what_a_matrix_says_of_itself_is_not_believed():
    X = sparse.csr_array((np.array([1, 2, 4, 0]), np.array([3, 1, 3, 0]), np.array([0, 3, 4])), shape=(2, 4))
    X.has_canonical_format = X.has_sorted_indices = True
    matrix = canonical_csr(X)
    assert matrix.indices.tolist() == [1, 3]
    assert matrix.data.tolist() == [2, 5]
    assert X.indices.tolist() == [3, 1, 3, 0]


@settings(deadline=None)
@given(data=st.data())
def test_any_cells_in_any_order_give_the_dense_sums(data):
    n_rows, n_columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    lengths = data.draw(st.lists(st.integers(0, 6), min_size=n_rows, max_size=n_rows))
    n_cells = sum(lengths)
    indices = data.draw(hnp.arrays(np.int32, n_cells, elements=st.integers(0, n_columns - 1)))
    values = data.draw(hnp.arrays(np.int64, n_cells, elements=st.integers(0, 3)))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    expected = np.zeros((n_rows, n_columns), dtype=np.int64)
    for row in range(n_rows):
        for cell in range(indptr[row], indptr[row + 1]):
            expected[row, indices[cell]] += values[cell]
    matrix = canonical_csr(sparse.csr_matrix((strided(values), indices, indptr), shape=expected.shape))
    is_sound(matrix)
    assert (matrix.toarray() == expected).all()
    assert matrix.nnz == np.count_nonzero(expected)
    assert all((np.diff(matrix.indices[a:b]) > 0).all() for a, b in pairwise(matrix.indptr))
