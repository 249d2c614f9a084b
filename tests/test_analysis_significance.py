"""Paired tests, Holm, Friedman and Nemenyi against scipy and scikit-posthocs."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.releases import before

from termsieve import analysis
from termsieve.errors import InputError, ParameterError, UnknownNameError

METHODS = ["bns", "chi_squared", "document_frequency", "information_gain"]


def wide(rows, size, unit):
    values = analysis.problem_values(rows).filter(pl.col("size") == size)
    if unit == "problem":
        values = values.group_by("corpus", "problem", "method").agg(pl.col("value").mean())
    key = ["corpus", "problem"] + (["trial"] if unit == "trial" else [])
    return values.sort(key).pivot(on="method", index=key, values="value", maintain_order=True)


@pytest.mark.parametrize("unit", ["trial", "problem"])
def test_paired_tests_are_scipys(study_rows, unit):
    tests = analysis.paired_tests(study_rows, 50, unit=unit)
    assert tests.height == 6
    table = wide(study_rows, 50, unit)
    for row in tests.to_dicts():
        a, b = table[row["first"]].to_numpy(), table[row["second"]].to_numpy()
        assert row["n"] == (24 if unit == "trial" else 12)
        assert row["difference"] == pytest.approx(np.mean(a - b))
        assert (row["t"], row["p_t"]) == pytest.approx(tuple(stats.ttest_rel(a, b)))
        test = stats.wilcoxon(a, b)
        assert (row["w"], row["p_wilcoxon"]) == pytest.approx((test.statistic, test.pvalue))


def test_against_a_reference(study_rows):
    tests = analysis.paired_tests(study_rows, 50, reference="bns")
    assert tests["first"].unique().to_list() == ["bns"]
    assert tests.height == 3
    with pytest.raises(UnknownNameError, match="method 'x' is unknown"):
        analysis.paired_tests(study_rows, 50, reference="x")
    with pytest.raises(UnknownNameError, match="unit 'fold'"):
        analysis.paired_tests(study_rows, 50, unit="fold")


def test_holm_by_hand():
    # Sorted .005 .01 .03 .04 times 4 3 2 1 = .02 .03 .06 .04, then never falling.
    assert analysis.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert analysis.holm([]).tolist() == []
    assert analysis.holm([0.9, 0.8]).tolist() == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_by_its_definition(p):
    """Adjusted p of a hypothesis: the least alpha at which Holm's procedure rejects it."""
    ordered = sorted(p)
    for value, adjusted in zip(p, analysis.holm(p), strict=True):
        steps = [min(1.0, (len(p) - i) * q) for i, q in enumerate(ordered) if q <= value]
        assert adjusted == pytest.approx(max(steps))


def test_values_without_variance(made_rows):
    cells = [
        (f"p{p}", 0, 0, m, 10, tp, 0, 10 - tp, 9)
        for p in range(4)
        for m, tp in [("a", 5), ("b", 5), ("c", 7)]
    ]
    tests = {
        (r["first"], r["second"]): r for r in analysis.paired_tests(made_rows(cells), 10, "recall").to_dicts()
    }
    assert tests["a", "b"]["p_t"] == 1
    assert tests["a", "b"]["p_wilcoxon"] == 1
    assert tests["a", "b"]["t"] == 0
    assert tests["a", "c"]["p_t"] == 0
    assert tests["a", "c"]["t"] is None
    assert tests["a", "c"]["difference"] == pytest.approx(-0.2)


@pytest.mark.skipif(before("scipy", 1, 15), reason="SciPy took the normal approximation for few values")
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9))
def test_wilcoxon_with_ties_and_zeros_is_scipys(differences):
    from termsieve.analysis.significance import _wilcoxon

    values = np.array(differences) / 8
    if values.any():
        test = stats.wilcoxon(values)
        assert _wilcoxon(values) == pytest.approx((test.statistic, test.pvalue))


def test_one_observation_has_no_p_value(made_rows):
    cells = [("p", 0, 0, m, 10, tp, 0, 10 - tp, 9) for m, tp in [("a", 5), ("b", 6)]]
    row = analysis.paired_tests(made_rows(cells), 10, "recall").row(0, named=True)
    assert row["p_t"] is None
    assert row["p_wilcoxon_holm"] is None
    assert row["n"] == 1
    with pytest.raises(InputError, match="only one method"):
        analysis.paired_tests(made_rows(cells[:1]), 10)


def test_mean_ranks_are_those_of_scipy_and_scikit_posthocs(study_rows):
    import scikit_posthocs  # brings statsmodels and Matplotlib, which no other test needs

    ranks = analysis.mean_ranks(study_rows, size=50)
    table = wide(study_rows, 50, "problem").select(METHODS).to_numpy()
    test = stats.friedmanchisquare(*table.T)
    assert (ranks.statistic, ranks.p_value) == pytest.approx((test.statistic, test.pvalue))
    wanted = stats.rankdata(-table, axis=1).mean(axis=0)
    assert dict(ranks.ranks.select("method", "rank").iter_rows()) == pytest.approx(
        dict(zip(METHODS, wanted, strict=True))
    )
    oracle = scikit_posthocs.posthoc_nemenyi_friedman(table).to_numpy()
    for row in ranks.pairs.to_dicts():
        i, j = METHODS.index(row["first"]), METHODS.index(row["second"])
        assert row["p_value"] == pytest.approx(oracle[i, j], abs=1e-6)


def test_the_critical_difference_is_demsars(made_rows):
    # Demšar (2006), Table 5: q .05 for 4 classifiers is 2.569, and his example with 14 data sets gives 1.25.
    recalls = np.random.default_rng(1).integers(0, 1000, (14, 4)).tolist()
    cells = [
        (f"p{p}", 0, 0, f"m{m}", 10, recalls[p][m], 0, 1000 - recalls[p][m], 9)
        for p in range(14)
        for m in range(4)
    ]
    ranks = analysis.mean_ranks(made_rows(cells), "recall", size=10)
    assert ranks.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)
    assert ranks.critical_difference == pytest.approx(1.25, abs=0.005)
    assert ranks.n_problems == 14


def test_a_tie_everywhere_has_p_1(made_rows):
    cells = [(f"p{p}", 0, 0, m, 10, 5, 0, 5, 9) for p in range(4) for m in "abc"]
    ranks = analysis.mean_ranks(made_rows(cells), "recall")
    assert (ranks.statistic, ranks.p_value) == (0, 1)
    assert ranks.ranks["rank"].to_list() == [2, 2, 2]
    assert set(ranks.pairs["p_value"]) == {1.0}


def test_too_little_to_rank(study_rows, made_rows):
    few = study_rows.filter(pl.col("method").is_in(["bns", "chi_squared"]))
    with pytest.raises(InputError, match="need 3 methods and 2 problems or more; there are 2 and 12"):
        analysis.mean_ranks(few)
    two = pl.concat([study_rows, study_rows.with_columns(learner=pl.lit("nb"))])
    with pytest.raises(ParameterError, match="several learners; choose one with learner=: nb, svm"):
        analysis.mean_ranks(two)
    assert analysis.mean_ranks(two, learner="nb").learner == "nb"
    with pytest.raises(UnknownNameError, match="learner 'lr'"):
        analysis.mean_ranks(two, learner="lr")
    with pytest.raises(ParameterError, match="alpha"):
        analysis.mean_ranks(study_rows, alpha=5)
