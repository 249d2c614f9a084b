"""The ranking kernels against plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from termsieve.kernels import ranking

NUMBERS = st.one_of(st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf]), st.floats(allow_nan=False))


@given(st.data(), st.booleans())
def test_ordered_is_a_stable_sort(data, grouped):
    n, n_kinds = data.draw(st.integers(0, 12)), data.draw(st.integers(1, 6))
    base = np.array(data.draw(st.permutations(range(n))), dtype=np.int64)
    kind = np.array(data.draw(st.lists(st.integers(0, n_kinds - 1), min_size=n, max_size=n)), dtype=np.int64)
    value = data.draw(st.lists(NUMBERS, min_size=n_kinds, max_size=n_kinds))
    group = data.draw(st.lists(st.integers(-128, 127), min_size=n_kinds, max_size=n_kinds)) if grouped else []
    expected = sorted(base.tolist(), key=lambda t: (-group[kind[t]] if grouped else 0, -value[kind[t]]))
    found = ranking.ordered(base, kind, np.array(value), np.array(group, dtype=np.int8))
    assert found.tolist() == expected


def test_many_kinds_are_ordered_by_all_their_digits():
    rng = np.random.default_rng(0)
    bits = rng.integers(-(2**63), 2**63, 5000, dtype=np.int64).view(np.float64)
    value = np.concatenate([bits[np.isfinite(bits)], rng.normal(size=5000), rng.integers(-3, 3, 5000)])
    base = rng.permutation(len(value))
    expected = base[np.argsort(-value[base], kind="stable")]
    found = ranking.ordered(base, np.arange(len(value)), value, np.zeros(0, dtype=np.int8))
    assert found.tolist() == expected.tolist()


def test_values_that_differ_in_their_last_bits_only():
    for n in (20, 500):  # few are compared, many are sorted by all digits
        value = 1.0 + np.random.default_rng(n).permutation(n) * 2.0**-52
        found = ranking.ordered(np.arange(n), np.arange(n), value, np.zeros(0, dtype=np.int8))
        assert found.tolist() == np.argsort(-value).tolist()


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=4), st.data())
def test_each_item_has_the_value_of_its_kind(value, data):
    kind = data.draw(st.lists(st.integers(0, len(value) - 1), max_size=6))
    found = ranking.spread(np.array(value), np.array(kind, dtype=np.int32))
    assert found.tolist() == [value[k] for k in kind]


def test_what_is_not_a_number_comes_last():
    value = np.array([np.nan, -np.inf, 2.0, -np.nan])
    found = ranking.ordered(np.array([3, 2, 1, 0]), np.arange(4), value, np.zeros(0, dtype=np.int8))
    assert found.tolist() == [2, 1, 3, 0]


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
