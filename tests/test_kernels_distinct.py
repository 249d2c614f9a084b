"""The kernels that find equal columns and cells, against plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from termsieve.kernels import distinct


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
    st.integers(0, 200),
    st.integers(0, 2),
    st.integers(0, 99),
    st.sampled_from([np.uint16, np.int32, np.uint32, np.int64]),
)
def test_distinct_columns(heights, n, most, seed, number):
    rng = np.random.default_rng(seed)
    tables = [rng.integers(0, most + 1, (height, n)).astype(number) for height in heights]
    first, kind = distinct.distinct_columns(tables)
    columns = np.concatenate(tables).T
    assert columns[first][kind].tolist() == columns.tolist()
    assert len({tuple(column) for column in columns.tolist()}) == len(first)
    assert first.tolist() == sorted(first.tolist())


def test_distinct_columns_of_many_kinds():
    tables = [np.arange(5000)[None, :] // 2, np.full((1, 5000), 2**40)]
    first, kind = distinct.distinct_columns(tables)
    assert first.tolist() == list(range(0, 5000, 2))
    assert kind.tolist() == tables[0][0].tolist()


def test_columns_with_equal_hashes_are_told_apart():
    # The hash is a * factor(1) + b * factor(2), so these two columns of (a, b) have the same one.
    factors = np.array([_scrambled(1) | 1, _scrambled(2) | 1], dtype=np.uint64).view(np.int64)
    tables = [np.array([[factors[1], 0, 0, factors[1]], [0, factors[0], 0, 0]])]
    first, kind = distinct.distinct_columns(tables)
    assert (first.tolist(), kind.tolist()) == ([0, 1, 2], [0, 1, 2, 0])


def _scrambled(number):
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % 2**64
    return number ^ (number >> 31)


@given(st.data(), st.integers(1, 3), st.integers(0, 12), st.integers(1, 2))
def test_distinct_cells(data, n_rows, n, n_tables):
    cells = arrays(np.int64, (n_rows, n), elements=st.sampled_from([0, 0, 0, 1, 2, -1, 2**40]))
    wholes = [data.draw(cells) for _ in range(n_tables)]
    columns = data.draw(arrays(np.int64, n, elements=st.integers(0, max(n - 1, 0))))
    tables = [whole[:, columns] for whole in wholes]
    group = data.draw(arrays(np.int32, n, elements=st.integers(0, 2)))
    size = data.draw(arrays(np.int64, n_rows, elements=st.integers(0, 2)))
    of_row, of_column, values, at = distinct.distinct_cells(wholes, columns, group, size)

    def content(r, t):
        return size[r], group[t], *(table[r, t] for table in tables)

    for own, table in zip(values, tables, strict=True):
        assert own.tolist() == table[of_row, of_column].tolist()

    assert [content(*cell) for cell in np.ndindex(n_rows, n)] == [
        content(of_row[own], of_column[own]) for own in at.ravel()
    ]
    assert len(of_row) == len({content(*cell) for cell in np.ndindex(n_rows, n)})


def test_distinct_cells_of_many_rows_of_one_size():
    rng = np.random.default_rng(0)
    table, group = rng.integers(0, 300, (9, 40), dtype=np.uint16), np.zeros(40, dtype=np.int32)
    of_row, of_column, (values,), at = distinct.distinct_cells([table], np.arange(40), group, np.full(9, 7))
    assert values[at].tolist() == table.tolist()
    assert sorted(values.tolist()) == np.unique(table).tolist()
    assert table[of_row, of_column].tolist() == values.tolist()
