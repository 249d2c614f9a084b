"""The counting kernels against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from termsieve.kernels import counting

SMALL = st.tuples(st.integers(0, 9), st.integers(1, 6))


@st.composite
def csr(draw, index=np.int32):
    """A presence matrix as CSR arrays, each row's indices in any order."""
    dense = draw(arrays(np.int64, SMALL, elements=st.integers(0, 3)))
    matrix = sparse.csr_array(dense)
    rows = [
        draw(st.permutations(matrix.indices[a:b].tolist()))
        for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)
    ]
    indices = np.array([column for row in rows for column in row], dtype=index)
    return dense, matrix.indptr.astype(index), indices


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("number", [np.uint16, np.uint32, np.int64])
@given(data=st.data())
def test_class_counts_and_sums(index, number, data):
    dense, indptr, indices = data.draw(csr(index))
    members = data.draw(
        st.lists(
            st.sets(st.integers(0, len(dense) - 1)) if len(dense) else st.just(set()), min_size=1, max_size=4
        )
    )
    class_ptr = np.cumsum([0, *(len(docs) for docs in members)]).astype(np.int64)
    docs = np.array([d for group in members for d in sorted(group)], dtype=np.int64)
    counted = np.ones((len(members), dense.shape[1]), dtype=number)
    counting.class_counts(indptr, indices, class_ptr, docs, counted)
    summed = counted.copy()
    values = np.array(
        [dense[d, t] for d in range(len(dense)) for t in indices[indptr[d] : indptr[d + 1]]], dtype=np.int64
    )
    counting.class_sums(indptr, indices, values, class_ptr, docs, summed)
    for c, group in enumerate(members):
        assert counted[c].tolist() == [1 + sum(dense[d, t] > 0 for d in group) for t in range(dense.shape[1])]
        assert summed[c].tolist() == [1 + sum(dense[d, t] for d in group) for t in range(dense.shape[1])]
    assert counting.column_totals(counted).tolist() == counted.sum(axis=0, dtype=np.int64).tolist()
    assert counting.row_totals(counted).tolist() == counted.sum(axis=1, dtype=np.int64).tolist()
    df = np.zeros(dense.shape[1], dtype=np.int64)
    counting.column_counts(indices, df)
    assert df.tolist() == (dense > 0).sum(axis=0).tolist()


@pytest.mark.parametrize("number", [np.uint16, np.uint32])
def test_class_counts_over_several_blocks_of_documents(number):
    rng = np.random.default_rng(0)
    n_docs = 45_000  # more than two blocks, and documents in two classes each
    indices = rng.integers(0, 5, n_docs).astype(np.int32)
    indptr = np.arange(n_docs + 1, dtype=np.int32)
    chosen = rng.random((3, n_docs)) < 0.6
    class_ptr = np.cumsum([0, *chosen.sum(axis=1)]).astype(np.int64)
    docs = np.concatenate([np.flatnonzero(row) for row in chosen]).astype(np.int64)
    out = np.zeros((3, 5), dtype=number)
    counting.class_counts(indptr, indices, class_ptr, docs, out)
    assert out.tolist() == [np.bincount(indices[row], minlength=5).tolist() for row in chosen]


@given(st.lists(st.lists(st.integers(0, 7), max_size=6), max_size=6), st.sampled_from([np.int32, np.int64]))
def test_repeated_columns(rows, index):
    indptr = np.cumsum([0, *map(len, rows)]).astype(index)
    indices = np.array([column for row in rows for column in row], dtype=index)
    expected = any(len(set(row)) < len(row) for row in rows)
    assert counting.repeats_columns(indptr, indices, 8) == expected


@given(st.sampled_from([np.int32, np.int64]), st.integers(0, 5), st.integers(0, 3))
def test_an_index_outside_the_columns_is_refused(index, place, row):
    indptr = np.array([0, 2, 2, 5, 6], dtype=index)
    for outside in (-1, 8, np.iinfo(index).max, np.iinfo(index).min):
        for indices in ([0, 1, 2, 3, 4, 5], [1, 0, 4, 2, 3, 5]):
            columns = np.array(indices, dtype=index)
            assert not counting.repeats_columns(indptr, columns, 8)
            columns[place] = outside
            with pytest.raises(IndexError, match=f"row {[0, 0, 2, 2, 2, 3][place]} "):
                counting.repeats_columns(indptr, columns, 8)


def test_repeated_columns_after_more_rows_than_there_are_stamps():
    rows = [[3, 1]] * 255 + [[2, 0]] * 300 + [[3, 1]]
    for n_columns in (4, 10_000):
        indptr = np.cumsum([0, *map(len, rows)]).astype(np.int32)
        assert not counting.repeats_columns(indptr, np.concatenate(rows).astype(np.int32), n_columns)
        twice = [*rows, [1, 0, 1]]
        indptr = np.cumsum([0, *map(len, twice)]).astype(np.int32)
        assert counting.repeats_columns(indptr, np.concatenate(twice).astype(np.int32), n_columns)


@pytest.mark.parametrize("number", [np.int32, np.int64, np.float32, np.float64])
def test_all_positive(number):
    sound = np.array(
        [1, 2, 3, np.iinfo(number).max if np.issubdtype(number, np.integer) else np.finfo(number).max]
    )
    assert counting.all_positive(sound.astype(number))
    assert counting.all_positive(np.zeros(0, dtype=number))
    wrong = (
        [0, -1, np.iinfo(number).min]
        if np.issubdtype(number, np.integer)
        else [0.0, -0.0, -1, np.inf, -np.inf, np.nan]
    )
    for value in wrong:
        for place in range(5):
            assert not counting.all_positive(np.insert(sound.astype(number), min(place, 4), value))
    if not np.issubdtype(number, np.integer):
        assert counting.all_positive(np.array([np.finfo(number).smallest_subnormal]))


def test_classes_of_more_documents_than_16_bits_count():
    n_docs = 2 * 65_535 + 3
    indptr, indices = np.arange(n_docs + 1, dtype=np.int32), np.zeros(n_docs, dtype=np.int32)
    class_ptr, docs = np.array([0, n_docs]), np.arange(n_docs)
    out = np.zeros((1, 2), dtype=np.uint32)
    counting.class_counts(indptr, indices, class_ptr, docs, out)
    assert out.tolist() == [[n_docs, 0]]


@given(st.lists(st.tuples(st.integers(0, 4), st.one_of(st.just(1), st.integers(1, 2**30))), max_size=2100))
def test_column_moments(cells):
    indices = np.array([column for column, _ in cells], dtype=np.int32)
    values = np.array([value for _, value in cells], dtype=np.int64)
    total, squares = np.tile(np.bincount(indices, minlength=5).astype(np.int64), (2, 1))
    most = counting.column_moments(indices, values, total, squares)
    for t in range(5):
        own = [value for column, value in cells if column == t]
        assert (total[t], squares[t]) == (sum(own), sum(value**2 for value in own))
    assert most >= max(values.tolist(), default=0)


@given(arrays(np.int64, SMALL, elements=st.integers(-2, 2)))
def test_nonzero_cells_by_column(table):
    indptr, rows, values = counting.nonzero_cells(table)
    n_rows, n_columns = table.shape
    cells = [[(r, table[r, c]) for r in range(n_rows) if table[r, c]] for c in range(n_columns)]
    assert np.diff(indptr).tolist() == [len(column) for column in cells]
    assert list(zip(rows, values, strict=True)) == [cell for column in cells for cell in column]
    np.testing.assert_array_equal(counting.dense_cells(indptr, rows, values, n_rows), table)


@pytest.mark.parametrize("indptr", [[0, 1, 3], [0, 2, 1], [1, 1, 2], [0, 1]])
def test_cells_outside_a_table_are_refused(indptr):
    with pytest.raises(ValueError, match="outside"):
        counting.dense_cells(np.array(indptr), np.array([0, 1], dtype=np.int32), np.array([5, 6]), 2)
    with pytest.raises(ValueError, match="outside"):
        counting.dense_cells(np.array([0, 1, 2]), np.array([0, 2], dtype=np.int32), np.array([5, 6]), 2)
