"""The ranking kernels against plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from termsieve.kernels import ranking


@given(st.lists(st.tuples(st.integers(-1, 1), st.floats(-2, 2)), max_size=12), st.booleans())
def test_places_number_the_distinct_keys(keys, grouped):
    keys = [(group if grouped else 0, value) for group, value in keys]
    order = sorted(range(len(keys)), key=lambda i: keys[i], reverse=True)
    group = np.array([group for group, _ in keys] if grouped else [], dtype=np.int8)
    found = ranking.places(
        np.array(order, dtype=np.int64), np.array([v for _, v in keys], dtype=float), group
    )
    distinct = sorted(set(keys), reverse=True)
    assert found.tolist() == [distinct.index(key) for key in keys]


@given(st.data())
def test_ordered_is_a_stable_sort(data):
    n = data.draw(st.integers(0, 12))
    base = np.array(data.draw(st.permutations(range(n))), dtype=np.int64)
    kind = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=np.int64)
    ranks = np.array(data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=4)), dtype=np.int64)
    expected = sorted(base.tolist(), key=lambda t: ranks[kind[t]])
    assert ranking.ordered(base, kind, ranks).tolist() == expected


@given(st.data())
def test_interleaved_takes_the_next_unused_item(data):
    n = data.draw(st.integers(0, 10))
    first, second = (np.array(data.draw(st.permutations(range(n))), dtype=np.int64) for _ in range(2))
    turns = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    taken: list[int] = []
    for turn in turns:
        taken.append(next(t for t in (first if turn else second).tolist() if t not in taken))
    assert ranking.interleaved(first, second, np.array(turns, dtype=np.uint8)).tolist() == taken


@given(st.data())
def test_round_robin(data):
    n, n_orders = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    orders = np.array([data.draw(st.permutations(range(n))) for _ in range(n_orders)], dtype=np.int64)
    taken: list[int] = []
    while len(taken) < n:
        for order in orders.tolist():
            taken += [t for t in order if t not in taken][:1]
    assert ranking.round_robin(orders).tolist() == taken


@given(st.data(), st.lists(st.floats(-2, 2), min_size=1, max_size=6), st.integers(1, 4), st.integers(0, 5))
def test_the_greatest_value_of_each_column(data, values, n_rows, n_columns):
    places = st.lists(st.integers(0, len(values) - 1), min_size=n_columns, max_size=n_columns)
    at = data.draw(st.lists(places, min_size=n_rows, max_size=n_rows))
    found = ranking.greatest(np.array(values), np.array(at, dtype=np.int32).reshape(n_rows, n_columns))
    assert found.tolist() == [max(values[row[c]] for row in at) for c in range(n_columns)]
