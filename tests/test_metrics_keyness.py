"""Keyness statistics against scipy, exact integer arithmetic and per-word loops."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency, fisher_exact
from scipy.stats.contingency import relative_risk

from termsieve import Counts, get_metric, score
from termsieve.errors import InputError
from termsieve.metrics import Occurrences
from termsieve.metrics.keyness import dirichlet_log_odds_prior

VECTORS = json.loads(Path(__file__).with_name("data").joinpath("metrics.json").read_text())["rows"]
TABLES = [(row["tp"], row["fp"], row["pos"], row["neg"]) for row in VECTORS]
EXTREME = [
    (1, 0, 1, 10**6),
    (0, 1, 1, 10**6),
    (500, 20, 1000, 10**6),
    (90_000, 100_000, 200_000, 800_000),
    (200_000, 0, 200_000, 800_000),
    (0, 800_000, 200_000, 800_000),
]


@st.composite
def tables(draw, largest=400):
    pos, neg = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    return draw(st.integers(0, pos)), draw(st.integers(0, neg)), pos, neg


def exact_log_p(tp, fp, pos, neg):
    """The one-sided probability as a fraction of integers, summed table by table, and its logarithm."""
    df = tp + fp
    mean_side = Fraction(tp, pos) - Fraction(fp, neg)
    tail = range(tp, min(pos, df) + 1) if mean_side > 0 else range(max(0, df - neg), tp + 1)
    ways = sum(math.comb(pos, x) * math.comb(neg, df - x) for x in tail)
    return math.log(ways) - math.log(math.comb(pos + neg, df)), np.sign(float(mean_side))


@given(table=tables())
def test_g2_is_the_likelihood_ratio_statistic(table):
    tp, fp, pos, neg = table
    observed = np.array([[tp, fp], [pos - tp, neg - fp]])
    if (observed.sum(axis=1) == 0).any():
        assert get_metric("g2")(*table) == 0
    else:
        expected = chi2_contingency(observed, correction=False, lambda_="log-likelihood").statistic
        assert get_metric("g2")(*table) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(table=tables())
def test_fisher_exact_is_the_sum_of_the_tail(table):
    log_p, sign = exact_log_p(*table)
    assert get_metric("fisher_exact")(*table) == pytest.approx(-sign * log_p, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("table", [(8, 2, 10, 90), (3, 40, 60, 70), (12, 3, 500, 900)])
def test_fisher_exact_agrees_with_scipy(table):
    tp, fp, pos, neg = table
    side = "greater" if tp * neg > fp * pos else "less"
    p = fisher_exact([[tp, fp], [pos - tp, neg - fp]], alternative=side).pvalue
    assert abs(get_metric("fisher_exact")(*table)) == pytest.approx(-math.log(p), rel=1e-9)


def test_fisher_exact_is_stable_for_large_tables():
    table = (300, 1700, 1000, 9000)
    log_p, sign = exact_log_p(*table)
    assert get_metric("fisher_exact")(*table) == pytest.approx(-sign * log_p, rel=1e-9)
    for extreme in EXTREME:
        value = get_metric("fisher_exact")(*extreme)
        assert np.isfinite(value)
        # Half of G2 is -log p up to the logarithm of a polynomial in the table's numbers.
        assert abs(value) == pytest.approx(0.5 * get_metric("g2")(*extreme), abs=20)


@given(table=tables())
def test_the_conservative_log_ratio_is_a_bound_of_the_exact_interval(table):
    tp, fp, pos, neg = table
    value = get_metric("lrc")(*table)
    if tp + fp == 0:
        assert value == 0
        return
    low, high = binomtest(tp, tp + fp).proportion_ci(0.95, method="exact")
    even = pos / (pos + neg)
    bound = low if low > even else high if high < even else even
    expected = 0 if bound == even else math.log2(bound / (1 - bound) * neg / pos)
    assert value == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert value * get_metric("log_ratio")(*table) >= 0 or value == 0


def test_more_tests_make_the_conservative_log_ratio_more_cautious():
    values = [get_metric(f"lrc(tests={n})")(30, 20, 100, 900) for n in (1, 100, 10_000)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0
    assert get_metric("lrc(level=0.5)")(30, 20, 100, 900) > values[0]


@given(table=tables())
def test_ratios_and_differences_are_what_they_say(table):
    tp, fp, pos, neg = table
    assert get_metric("risk_difference")(*table) == pytest.approx(tp / pos - fp / neg, abs=1e-15)
    if tp and fp:
        expected = relative_risk(tp, pos, fp, neg).relative_risk
        assert get_metric("relative_risk")(*table) == pytest.approx(expected)
        assert get_metric("log_ratio")(*table) == pytest.approx(math.log2(expected), abs=1e-12)


def test_zeros_count_as_half_a_document():
    assert get_metric("relative_risk")(4, 0, 10, 20) == pytest.approx(0.4 / (0.5 / 20))
    assert get_metric("relative_risk")(0, 4, 10, 20) == pytest.approx((0.5 / 10) / 0.2)
    assert get_metric("log_ratio")(0, 0, 10, 20) == 0


@pytest.mark.parametrize(
    "name", ["g2", "fisher_exact", "lrc", "log_ratio", "relative_risk", "risk_difference"]
)
def test_every_table_of_the_vectors_and_the_extreme_ones_score_finitely(name):
    chosen = get_metric(name)
    for table in [*TABLES, *EXTREME]:
        assert np.isfinite(chosen(*table)), table
    columns = np.array([*TABLES, *EXTREME]).T
    np.testing.assert_array_equal(chosen(*columns), [chosen(*table) for table in [*TABLES, *EXTREME]])


@given(
    inside=st.lists(st.integers(0, 50), min_size=2, max_size=8),
    outside=st.lists(st.integers(0, 50), min_size=2, max_size=8),
    weight=st.sampled_from([0.01, 0.1, 1.0]),
)
def test_the_dirichlet_log_odds_equal_a_loop_over_the_words(inside, outside, weight):
    size = min(len(inside), len(outside))
    inside, outside = inside[:size], outside[:size]
    occurrences = Occurrences(
        np.array([inside], dtype=float),
        np.array([outside], dtype=float),
        np.array([[float(sum(inside))]]),
        np.array([[float(sum(outside))]]),
        np.zeros((1, size)),
        size,
    )
    values = get_metric(f"dirichlet_log_odds(weight={weight})")(
        np.ones((1, size)), np.ones((1, size)), 5, 5, occurrences=occurrences
    )
    everything = sum(inside) + sum(outside)
    for word in range(size):
        y, z, a = inside[word], outside[word], weight * (inside[word] + outside[word])
        rest = [sum(inside) + weight * everything - y - a, sum(outside) + weight * everything - z - a]
        if a == 0 or min(rest) <= 0:
            assert values[0, word] == 0
            continue
        difference = math.log((y + a) / rest[0]) - math.log((z + a) / rest[1])
        error = math.sqrt(1 / (y + a) + 1 / (z + a))
        assert values[0, word] == pytest.approx(difference / error, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("spec", ["lrc(level=1)", "lrc(tests=0)"])
def test_parameters_outside_their_rule_are_told(spec):
    with pytest.raises(ValueError, match="conservative_log_ratio"):
        get_metric(spec)


def test_the_prior_of_the_log_odds_may_come_from_other_counts():
    """Against the formula of Monroe, Colaresi and Quinn, written out term by term."""
    names = ["buy", "now", "see", "new"]
    X = np.array([[3, 1, 0, 0], [2, 0, 1, 1], [0, 1, 4, 0]])
    counts = Counts.from_matrix(X, ["spam", "spam", "ham"], terms=names, occurrences=True)
    other = Counts.from_matrix([[5, 9, 7]], ["any"], terms=["see", "now", "buy"], occurrences=True)
    values = score(counts.take(["spam"]), dirichlet_log_odds_prior(other, weight=0.5)).values[0]
    inside, outside, prior = X[:2].sum(axis=0), X[2], {"see": 2.5, "now": 4.5, "buy": 3.5, "new": 0.5}
    n, m, a0 = inside.sum(), outside.sum(), 10.5
    for i, name in enumerate(names):
        y, z, a = int(inside[i]), int(outside[i]), prior[name]
        delta = math.log((y + a) / (n + a0 - y - a)) - math.log((z + a) / (m + a0 - z - a))
        assert values[i] == pytest.approx(delta / math.sqrt(1 / (y + a) + 1 / (z + a)), rel=1e-12)


def test_a_prior_needs_occurrences_and_names():
    plain = Counts.from_matrix([[1], [1]], ["a", "b"], terms=["x"])
    with pytest.raises(InputError, match="occurrences=True"):
        dirichlet_log_odds_prior(plain)
