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
@given(data=st.data())
def test_class_counts_and_sums(index, data):
    dense, indptr, indices = data.draw(csr(index))
    members = data.draw(
        st.lists(
            st.sets(st.integers(0, len(dense) - 1)) if len(dense) else st.just(set()), min_size=1, max_size=4
        )
    )
    class_ptr = np.cumsum([0, *(len(docs) for docs in members)]).astype(np.int64)
    docs = np.array([d for group in members for d in sorted(group)], dtype=np.int64)
    counted, summed = np.ones((2, len(members), dense.shape[1]), dtype=np.int64)
    counting.class_counts(indptr, indices, class_ptr, docs, counted)
    values = np.array(
        [dense[d, t] for d in range(len(dense)) for t in indices[indptr[d] : indptr[d + 1]]], dtype=np.int64
    )
    counting.class_sums(indptr, indices, values, class_ptr, docs, summed)
    for c, group in enumerate(members):
        assert counted[c].tolist() == [1 + sum(dense[d, t] > 0 for d in group) for t in range(dense.shape[1])]
        assert summed[c].tolist() == [1 + sum(dense[d, t] for d in group) for t in range(dense.shape[1])]
    df = np.zeros(dense.shape[1], dtype=np.int64)
    counting.column_counts(indices, df)
    assert df.tolist() == (dense > 0).sum(axis=0).tolist()


def test_class_counts_over_several_blocks_of_documents():
    rng = np.random.default_rng(0)
    n_docs = 45_000  # more than two blocks, and documents in two classes each
    indices = rng.integers(0, 5, n_docs).astype(np.int32)
    indptr = np.arange(n_docs + 1, dtype=np.int32)
    chosen = rng.random((3, n_docs)) < 0.6
    class_ptr = np.cumsum([0, *chosen.sum(axis=1)]).astype(np.int64)
    docs = np.concatenate([np.flatnonzero(row) for row in chosen]).astype(np.int64)
    out = np.zeros((3, 5), dtype=np.int64)
    counting.class_counts(indptr, indices, class_ptr, docs, out)
    assert out.tolist() == [np.bincount(indices[row], minlength=5).tolist() for row in chosen]


@given(st.lists(st.lists(st.integers(0, 7), max_size=6), max_size=6), st.sampled_from([np.int32, np.int64]))
def test_repeated_columns(rows, index):
    indptr = np.cumsum([0, *map(len, rows)]).astype(index)
    indices = np.array([column for row in rows for column in row], dtype=index)
    expected = any(len(set(row)) < len(row) for row in rows)
    assert counting.repeats_columns(indptr, indices, 8) == expected


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
    st.integers(0, 200),
    st.integers(0, 2),
    st.integers(0, 99),
)
def test_distinct_columns(heights, n, most, seed):
    rng = np.random.default_rng(seed)
    tables = [rng.integers(0, most + 1, (height, n)) for height in heights]
    first, kind = counting.distinct_columns(tables)
    columns = np.concatenate(tables).T
    assert columns[first][kind].tolist() == columns.tolist()
    assert len({tuple(column) for column in columns.tolist()}) == len(first)
    assert first.tolist() == sorted(first.tolist())


def test_distinct_columns_of_many_kinds():
    tables = [np.arange(5000)[None, :] // 2, np.full((1, 5000), 2**40)]
    first, kind = counting.distinct_columns(tables)
    assert first.tolist() == list(range(0, 5000, 2))
    assert kind.tolist() == tables[0][0].tolist()


def test_column_moments():
    total, squares = np.zeros((2, 3), dtype=np.int64)
    counting.column_moments(np.array([2, 0, 2], dtype=np.int32), np.array([3, 1, 4]), total, squares)
    assert (total.tolist(), squares.tolist()) == ([1, 0, 7], [1, 0, 25])


def test_columns_with_equal_hashes_are_told_apart():
    # The hash is a * factor(1) + b * factor(2), so these two columns of (a, b) have the same one.
    factors = np.array([_scrambled(1) | 1, _scrambled(2) | 1], dtype=np.uint64).view(np.int64)
    tables = [np.array([[factors[1], 0, 0, factors[1]], [0, factors[0], 0, 0]])]
    first, kind = counting.distinct_columns(tables)
    assert (first.tolist(), kind.tolist()) == ([0, 1, 2], [0, 1, 2, 0])


def _scrambled(number):
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % 2**64
    return number ^ (number >> 31)


@given(st.data(), st.integers(1, 3), st.integers(0, 12), st.integers(1, 2))
def test_distinct_cells(data, n_rows, n, n_tables):
    cells = arrays(np.int64, (n_rows, n), elements=st.sampled_from([0, 0, 0, 1, 2, -1, 2**40]))
    tables = [data.draw(cells) for _ in range(n_tables)]
    group = data.draw(arrays(np.int64, n, elements=st.integers(0, 2)))
    of_row, of_column, at = counting.distinct_cells(tables, group)

    def content(r, t):
        return r, group[t], *(table[r, t] for table in tables)

    assert [content(*cell) for cell in np.ndindex(n_rows, n)] == [
        content(of_row[own], of_column[own]) for own in at.ravel()
    ]
    assert len(of_row) == len({content(*cell) for cell in np.ndindex(n_rows, n)})


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
