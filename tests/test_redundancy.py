from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from termsieve import Counts, TermSelector, cut, rank, score
from termsieve.errors import ParameterError
from termsieve.redundancy import BLOCK, distinct_cut


@parametrize_with_checks([TermSelector(redundancy=0.9), TermSelector("ig", k=3, redundancy="mrmr")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def by_hand(X, order, limit):
    """The rule, one pair of columns at a time, with numpy's correlation."""
    present = X > 0
    constant = present.all(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.abs(np.corrcoef(present, rowvar=False))
    kept = []
    for column in order:
        repeats = constant[kept] if constant[column] else correlation[column, kept] >= limit - 1e-9
        if not np.any(repeats):
            kept.append(int(column))
    return kept


def documents(seed, n_docs=60, n_terms=40, density=0.3):
    random = np.random.default_rng(seed)
    X = (random.random((n_docs, n_terms)) < density).astype(int)
    copies = random.integers(0, n_terms, n_terms // 2)
    X[:, random.permutation(n_terms)[: len(copies)]] = X[:, copies]
    return X, random.integers(0, 2, n_docs)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 1.0), st.integers(1, 45))
def test_equals_the_rule_applied_to_one_pair_after_another(seed, limit, k):
    X, y = documents(seed)
    ranking = rank(score(Counts.from_matrix(X, y).take([-1]), "chi"))
    assert distinct_cut(X, ranking, limit, k=k).tolist() == by_hand(X, ranking.order, limit)[:k]


@pytest.mark.parametrize("limit", [0.3, 0.8, 1.0])
def test_blocks_of_candidates_do_not_show(limit):
    X, y = documents(5, n_docs=40, n_terms=3 * BLOCK + 7, density=0.15)
    X[:, 0] = 1
    X[:, 7] = 1
    ranking = rank(score(Counts.from_matrix(X, y).take([1]), "bns"))
    expected = by_hand(X, ranking.order, limit)
    assert len(expected) < len(ranking)
    assert distinct_cut(sparse.csr_matrix(X), ranking, limit, k=10**6).tolist() == expected


def test_ten_copies_take_one_place():
    X, y = documents(1, n_terms=20)
    X = np.column_stack([np.repeat(y[:, None], 10, axis=1), X])
    plain = TermSelector("chi", k=5).fit(X, y)
    sieved = TermSelector("chi", k=5, redundancy=1.0).fit(X, y)
    assert (plain.selected_ < 10).sum() == 5
    assert (sieved.selected_ < 10).sum() == 1
    assert len(sieved.selected_) == 5
    assert sieved.get_support().sum() == 5
    np.testing.assert_array_equal(sieved.ranking_, plain.ranking_)


def test_other_cut_offs_count_what_is_left():
    X, y = documents(2, n_terms=60)
    counts = Counts.from_matrix(X, y)
    ranking = rank(score(counts.take([1]), "chi"))
    left = np.array(by_hand(X, ranking.order, 0.9))
    spread = np.cumsum(counts.df[left])
    for name, value, expected in (
        ("fraction", 0.25, left[:15]),
        ("threshold", 1.0, left[ranking.scores[left] >= 1.0]),
        ("sparsity", 2.0, left[spread <= 2 * len(y)]),
        ("memory", 1500, left[spread * 12 + (len(y) + 1) * 4 <= 1500]),
    ):
        assert 0 < len(expected) < len(left)
        fitted = TermSelector("chi", redundancy=0.9, **{name: value}).fit(X, y)
        np.testing.assert_array_equal(fitted.selected_, expected, err_msg=name)


def test_a_limit_that_nothing_reaches_changes_nothing():
    random = np.random.default_rng(3)
    X, y = random.integers(0, 2, (200, 30)), random.integers(0, 3, 200)
    ranking = rank(score(Counts.from_matrix(X, y), "ig"))
    np.testing.assert_array_equal(distinct_cut(X, ranking, 0.99, k=12), cut(ranking, k=12))


@pytest.mark.parametrize("limit", [0, -0.5, 1.5, "high", True, float("nan")])
def test_a_limit_outside_its_rule_is_refused(limit):
    X, y = documents(4)
    with pytest.raises(ParameterError, match="redundancy must be a number above 0 and at most 1"):
        TermSelector(redundancy=limit).fit(X, y)


def test_counts_alone_are_not_enough():
    X, y = documents(4)
    selector = TermSelector(redundancy=0.9)
    with pytest.raises(
        ParameterError, match="redundancy needs the documents, but fit_counts has only counts"
    ):
        selector.fit_counts(Counts.from_matrix(X, y))
    with pytest.raises(
        ParameterError, match="redundancy needs the documents, but partial_fit has only counts"
    ):
        selector.partial_fit(X, y)


def mutual_information(a, b):
    """The information of one presence about another, in bits, from the four joint shares."""
    joint = np.array([[np.mean((a == i) & (b == j)) for j in (0, 1)] for i in (0, 1)])
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = joint * np.log2(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    return np.nansum(parts)


@pytest.mark.parametrize("seed", range(3))
def test_mrmr_equals_the_rule_applied_to_one_term_after_another(seed):
    X, y = documents(seed)
    ranking = rank(score(Counts.from_matrix(X, y).take([1]), "ig"))
    relevance = [mutual_information(X[:, c], y) for c in range(X.shape[1])]
    chosen, left = [], [int(c) for c in ranking.order]
    while len(chosen) < 8:
        value = [
            relevance[c] - (np.mean([mutual_information(X[:, c], X[:, d]) for d in chosen]) if chosen else 0)
            for c in left
        ]
        best = left[int(np.argmax(np.round(value, 12)))]
        chosen.append(best)
        left = [c for c in left if (X[:, c] != X[:, best]).any()]
    assert distinct_cut(X, ranking, "mrmr", k=8).tolist() == chosen


def test_by_mrmr_ten_copies_take_one_place():
    X, y = documents(1, n_terms=20)
    X = np.column_stack([np.repeat(y[:, None], 10, axis=1), X])
    sieved = TermSelector("chi", k=15, redundancy="mrmr").fit(X, y)
    assert (sieved.selected_ < 10).sum() == 1
    assert sieved.selected_[0] == 0
