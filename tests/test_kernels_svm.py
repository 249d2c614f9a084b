"""The solvers' kernels against plain implementations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from termsieve.kernels import bayes, linear, rows, smo

NONE = np.empty(0)


def rows_of(X):
    """The kernels' form of a matrix: start, end, column (from 1), value (empty if all are 1)."""
    X = sp.csr_array(X)
    X.sum_duplicates()
    indptr = X.indptr.astype(np.int64)
    value = NONE if (X.data == 1).all() else X.data.astype(float)
    return indptr[:-1], indptr[1:], X.indices.astype(np.int32) + 1, value


def problem(n, k, valued, seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.5 / np.arange(1, k + 1) ** 0.7, (n, k)).astype(float)
    X = X * rng.choice([-1.5, 0.5, 1.0], k) if valued else (X > 0).astype(float)
    sign = np.where(X @ rng.normal(size=k) + rng.normal(size=n) > 0.3, 1.0, -1.0)
    return X, sign, rng.integers(1, 4, n).astype(float)


def gradient(w, A, sign, cost, logistic):
    margin = sign * (A @ w)
    slope = -1 / (1 + np.exp(margin)) if logistic else -np.maximum(0, 1 - margin)
    return w + (cost * slope * sign) @ A


CASES = [
    (logistic, method)
    for logistic, method in itertools.product(
        [False, True], [linear.CHOSEN, linear.DENSE, linear.DUAL, linear.ITERATIVE, linear.GRAM]
    )
    if not (logistic and method == linear.DUAL)
]


@pytest.mark.parametrize(("logistic", "method"), CASES)
@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("shape", [(40, 8), (60, 90), (1, 3)])
def test_solve_finds_the_minimum(logistic, method, valued, shape):
    X, sign, weight = problem(*shape, valued, seed=1)
    A, cost = np.column_stack([np.ones(len(X)), X]), 0.7 * weight
    start, end, column, value = rows_of(X)
    w = np.random.default_rng(2).normal(size=A.shape[1])
    linear.solve(linear.Workspace(), logistic, column, value, start, end, sign, cost, w, 1e-8, method)
    # The objective is strongly convex: the minimum is no farther away than the gradient is long.
    assert np.linalg.norm(gradient(w, A, sign, cost, logistic)) < 1e-6


@pytest.mark.parametrize("method", [linear.DENSE, linear.ITERATIVE, linear.GRAM])
def test_solve_starts_where_no_row_bends(method):
    X, sign, cost = np.eye(4), np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4)
    w = np.concatenate([[0.0], 100 * sign])
    A = np.column_stack([np.ones(4), X])
    start, end, column, value = rows_of(X)
    linear.solve(linear.Workspace(), False, column, value, start, end, sign, cost, w, 1e-8, method)
    assert np.linalg.norm(gradient(w, A, sign, cost, False)) < 1e-6


@pytest.mark.parametrize("valued", [False, True])
def test_one_workspace_solves_problems_of_all_shapes(valued):
    # What is kept for one problem has room for the next, up to the last place; some rows have no entry.
    space = linear.Workspace()
    for n, k in [(20, 10), (41, 21), (40, 20), (5, 43), (83, 3)]:
        X, sign, cost = problem(n, k, valued, seed=n)
        X[::7] = 0.0
        A = np.column_stack([np.ones(n), X])
        start, end, column, value = rows_of(X)
        w = np.zeros(k + 1)
        linear.solve(space, False, column, value, start, end, sign, cost, w, 1e-8, linear.ITERATIVE)
        assert np.linalg.norm(gradient(w, A, sign, cost, False)) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("valued", [False, True])
def test_rows_too_many_to_be_packed(valued):
    rng = np.random.default_rng(0)
    n, k, length = 1_100_000, 48, 16  # more entries than are packed
    column = (np.sort(rng.integers(0, 3, (n, length)), axis=1) + 3 * np.arange(length)).astype(np.int32) + 1
    value = rng.choice([0.5, 2.0], n * length) if valued else NONE
    start = length * np.arange(n)
    X = sp.csr_array(
        (value if valued else np.ones(n * length), column.ravel() - 1, [*start, n * length]), (n, k)
    )
    sign = np.where(X @ rng.normal(size=k) > 0, 1.0, -1.0)
    w, cost = np.zeros(k + 1), np.full(n, 1e-3)
    linear.solve(
        linear.Workspace(), False, column.ravel(), value, start, start + length, sign, cost, w, 1e-6,
        linear.ITERATIVE,
    )  # fmt: skip
    pull = -np.maximum(0, 1 - sign * (X @ w[1:] + w[0])) * cost * sign
    assert np.linalg.norm(w + np.concatenate([[pull.sum()], X.T @ pull])) < 1e-5


def test_more_rows_bend_than_inner_products_are_kept():
    X, sign, cost = problem(2100, 3, True, seed=5)
    A = np.column_stack([np.ones(len(X)), X])
    start, end, column, value = rows_of(X)
    w = np.zeros(4)
    linear.solve(linear.Workspace(), True, column, value, start, end, sign, cost, w, 1e-8, linear.GRAM)
    assert np.linalg.norm(gradient(w, A, sign, cost, True)) < 1e-6


def test_inner_products_are_kept_anew_when_other_rows_bend():
    # Newton's first step has the rows below 1, its next one most of the others: together more than are kept.
    X, sign, cost = problem(3000, 6, True, seed=8)
    A = np.column_stack([np.ones(len(X)), X])
    start, end, column, value = rows_of(X)
    w = np.random.default_rng(8).normal(size=7) * 3
    linear.solve(linear.Workspace(), False, column, value, start, end, sign, cost, w, 1e-8, linear.GRAM)
    assert np.linalg.norm(gradient(w, A, sign, cost, False)) < 1e-6


def test_inner_products_beyond_single_precision_end_with_conjugate_gradients():
    # Squares of 1e25 are infinite in single precision, in which the inner products are kept.
    X, sign, cost = problem(30, 40, True, seed=7)
    X = 1e25 * X
    start, end, column, value = rows_of(X)
    found = []
    for method in (linear.GRAM, linear.ITERATIVE):
        w = np.zeros(41)
        linear.solve(linear.Workspace(), False, column, value, start, end, sign, cost, w, 1e-4, method)
        found.append(w)
    assert np.isfinite(found[0]).all()
    assert (found[0] == found[1]).all()


def test_dual_descent_that_runs_out_ends_with_newton_steps():
    # One column, many almost equal documents: coordinate descent is slow, and it gives up.
    X, sign, _ = problem(300, 2, True, seed=3)
    cost = np.full(300, 1000.0)
    A = np.column_stack([np.ones(300), X])
    start, end, column, value = rows_of(X)
    w = np.zeros(3)
    linear.solve(linear.Workspace(), False, column, value, start, end, sign, cost, w, 1e-8, linear.DUAL)
    assert np.linalg.norm(gradient(w, A, sign, cost, False)) < 1e-4


@pytest.mark.parametrize("method", [linear.CHOSEN, linear.DUAL, linear.ITERATIVE, linear.GRAM])
def test_rows_of_both_labels_with_huge_values_and_costs_stay_near_the_best(method):
    # The inner products are singular up to the 14th digit: a factor of them may fail.
    X, sign, _ = problem(400, 600, True, seed=1)
    X, sign = 1000 * np.vstack([X, X[:20]]), np.concatenate([sign, -sign[:20]])
    A, cost = np.column_stack([np.ones(len(X)), X]), np.full(len(X), 2e7)
    start, end, column, value = rows_of(X)

    def objective(chosen):
        w = np.zeros(A.shape[1])
        linear.solve(linear.Workspace(), False, column, value, start, end, sign, cost, w, 1e-4, chosen)
        return w @ w / 2 + cost @ np.maximum(0, 1 - sign * (A @ w)) ** 2 / 2

    assert objective(method) < 1.01 * objective(linear.DENSE)


def test_solve_of_no_rows_is_zero():
    w, ints = np.ones(3), np.empty(0, dtype=np.int64)
    linear.solve(linear.Workspace(), False, np.empty(0, np.int32), NONE, ints, ints, NONE, NONE, w, 1e-6)
    assert (w == 0).all()


def test_a_workspace_carries_nothing_over():
    space, fresh = linear.Workspace(), []
    for shape in [(30, 40), (80, 5), (10, 60)]:
        X, sign, cost = problem(*shape, False, seed=4)
        start, end, column, value = rows_of(X)
        for reused in (space, linear.Workspace()):
            w = np.zeros(shape[1] + 1)
            linear.solve(reused, False, column, value, start, end, sign, cost, w, 1e-6)
            fresh.append(w)
        assert (fresh[-1] == fresh[-2]).all()


matrices = st.integers(0, 7).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 2), min_size=k, max_size=k), min_size=1, max_size=10).map(
        lambda rows: np.array(rows, dtype=float).reshape(len(rows), k)
    )
)


@settings(max_examples=80, deadline=None)
@given(matrices, st.data())
def test_ranked_rows_are_the_columns_in_order(X, data):
    k = X.shape[1]
    order = np.array(data.draw(st.permutations(range(k)))[: data.draw(st.integers(0, k))], dtype=np.int64)
    shorter = data.draw(st.sets(st.integers(0, len(order))))
    lengths = np.array(sorted(shorter | {len(order)}), dtype=np.int64)
    M = sp.csc_array(X)
    for values in (M.data.astype(float), NONE):
        start, ends, column, value = rows.ranked_rows(
            M.indptr.astype(np.int64), M.indices.astype(np.int32), values, order, len(X), lengths
        )
        held = value if len(values) else np.ones(len(column))
        indptr = np.concatenate([start, ends[-1][-1:]])
        back = sp.csr_array((held, column - 1, indptr), shape=(len(X), len(order))).toarray()
        chosen = (X if len(values) else (X > 0))[:, order]
        assert (back == chosen).all()
        for row in range(len(X)):
            assert (np.diff(column[indptr[row] : indptr[row + 1]]) > 0).all()
        for length, end in zip(lengths, ends, strict=True):
            assert (end - start == (chosen[:, :length] != 0).sum(axis=1)).all()


@settings(max_examples=80, deadline=None)
@given(matrices, st.data())
def test_filters_keep_the_right_columns(X, data):
    start, end, column, value = rows_of(X)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=X.shape[1], max_size=X.shape[1])), dtype=bool)
    renamed = np.concatenate([[0], np.where(kept, np.cumsum(kept), 0)]).astype(np.int32)
    indptr, column, value = rows.filtered_rows(np.concatenate([start, end[-1:]]), column, value, renamed)
    held = value if len(value) else np.ones(len(column))
    back = sp.csr_array((held, column - 1, indptr), shape=(len(X), int(kept.sum()))).toarray()
    assert (back == X[:, kept]).all()


@settings(max_examples=80, deadline=None)
@given(matrices, st.data())
def test_merged_rows_are_the_distinct_ones(X, data):
    label = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(X), max_size=len(X))), dtype=np.uint8)
    start, end, column, value = rows_of(X)
    first, weight, group = rows.merged_rows(start, end, column, value, label)
    keys = [(*row, c) for row, c in zip(X.tolist(), label, strict=True)]
    assert len(first) == len(set(keys))
    assert weight.sum() == len(X)
    for document, (key, g) in enumerate(zip(keys, group, strict=True)):
        assert keys[first[g]] == key
        assert first[g] <= document
    assert (np.bincount(group, minlength=len(first)) == weight).all()


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("n", [6, 60])
def test_gram_is_the_matrix_of_inner_products(valued, n):
    X, _, _ = problem(n, 90, valued, seed=5)
    start, end, column, value = rows_of(X)
    gram, middle = np.zeros((n, n), dtype=np.float32), start + (X[:, :30] != 0).sum(axis=1)
    smo.add_gram(start, middle, column, value, 30, gram)
    assert gram == pytest.approx(X[:, :30] @ X[:, :30].T, rel=1e-5)
    smo.add_gram(middle, end, column, value, 90, gram)
    assert gram == pytest.approx(X @ X.T, rel=1e-5)


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("shape", [(2, 1), (40, 6), (70, 100), (1500, 10), (1500, 250)])
def test_smo_satisfies_the_optimality_conditions(valued, shape):
    X, sign, weight = problem(*shape, valued, seed=6)
    sign[:2] = 1.0, -1.0
    rows = np.flatnonzero(np.arange(len(X)) % 5 != 4)
    gram = (X @ X.T).astype(np.float32)
    assert not smo.solve(gram, rows, sign, weight, 1e-5, 0)[2]
    alpha, bias, done = smo.solve(gram, rows, sign, weight, 1e-5, 10**7)
    assert done
    assert (alpha[np.setdiff1d(np.arange(len(X)), rows)] == 0).all()
    alpha, sign, weight, X = alpha[rows], sign[rows], weight[rows], X[rows]
    assert ((alpha >= 0) & (alpha <= weight)).all()
    assert sign @ alpha == pytest.approx(0, abs=1e-9)
    margin = sign * (X @ ((sign * alpha) @ X) + bias)
    assert (margin[alpha == 0] >= 1 - 1e-3).all()
    assert (margin[alpha == weight] <= 1 + 1e-3).all()
    assert margin[(alpha > 0) & (alpha < weight)] == pytest.approx(1, abs=1e-3)


def test_smo_leaves_rows_with_bound_zero_out():
    X, sign, weight = problem(1300, 80, False, seed=9)
    sign[:2] = 1.0, -1.0
    gram, rows = (X @ X.T).astype(np.float32), np.flatnonzero(np.arange(len(X)) % 5 != 4)
    bound = np.zeros(len(X))
    bound[rows] = weight[rows]
    with_some = smo.solve(gram, rows, sign, weight, 1e-7, 10**7)
    with_all = smo.solve(gram, np.arange(len(X)), sign, bound, 1e-7, 10**7)
    assert with_some[2]
    assert with_all[2]
    assert (with_all[0][bound == 0] == 0).all()
    weights = [(sign * alpha) @ X for alpha, _, _ in (with_some, with_all)]
    assert weights[0] == pytest.approx(weights[1], abs=1e-4)
    assert with_some[1] == pytest.approx(with_all[1], abs=1e-4)


def test_newton_steps_end_smo_early():
    """Of rounds that change two rows each, the solution takes more than 100,000."""
    X, sign, _ = problem(1600, 300, True, seed=3)
    gram, bound = (X @ X.T).astype(np.float32), np.full(len(X), 100.0)
    assert smo.solve(gram, np.arange(len(X)), sign, bound, 1e-3, 20_000)[2]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64])
def test_naive_bayes_sums_are_matrix_products(dtype):
    rng = np.random.default_rng(7)
    M = sp.csr_array(rng.poisson(0.4, (30, 12)).astype(dtype))
    arrays = M.indptr.astype(np.int64), M.indices.astype(np.int32), M.data
    X, label = M.toarray().astype(float), rng.integers(0, 2, 30).astype(np.uint8)
    assert bayes.class_sums(*arrays, label, 12) == pytest.approx(np.stack([(label == c) @ X for c in (0, 1)]))
    nothing = sp.csr_array((30, 0), dtype=dtype)
    empty = nothing.indptr.astype(np.int64), nothing.indices.astype(np.int32), nothing.data
    assert bayes.class_sums(*empty, label, 0).shape == (2, 0)
    member = rng.random((12, 5)) < 0.5
    change = np.diff(np.pad(member.astype(int), ((0, 0), (1, 1))), axis=1)
    first = np.concatenate([[0], np.cumsum((change == 1).sum(axis=1))])
    low, high = (np.nonzero(change == s)[1].astype(np.int32) for s in (1, -1))
    weight = rng.normal(size=(2, 12))
    sums = bayes.set_sums(*arrays, first, low, high, weight, 5)
    for kind, w in enumerate([*weight, np.ones(12)]):
        assert sums[:, kind] == pytest.approx((X * w) @ member)


def test_perceptron_and_sums_of_rows():
    X, sign, weight = problem(50, 7, True, seed=8)
    start, end, column, value = rows_of(X)
    w, expected = np.zeros(8), np.zeros(7)
    linear.perceptron(start, end, column, value, sign, 2, w)
    for _ in range(2):
        for x, s in zip(X, sign, strict=True):
            if s * (expected @ x) <= 0:
                expected += s * x
    assert w[1:] == pytest.approx(expected)
    assert w[0] == 0
    total, out = np.zeros(8), np.empty(50)
    rows.add_rows(start, end, column, value, weight, total)
    assert total == pytest.approx(weight @ np.column_stack([np.ones(50), X]))
    rows.decisions(start, end, column, value, total, out)
    assert out == pytest.approx(np.column_stack([np.ones(50), X]) @ total)
