"""Curves, skew, sizes needed and trade-offs against examples worked by hand."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from termsieve import analysis
from termsieve.errors import InputError, ParameterError, UnknownNameError

# Two problems, two trials of two folds, one method, two sizes and all features.
CELLS = [
    # problem trial fold method size tp fp fn tn
    ("p", 0, 0, "bns", 10, 4, 1, 1, 44),
    ("p", 0, 1, "bns", 10, 2, 3, 3, 42),
    ("p", 1, 0, "bns", 10, 5, 0, 0, 45),
    ("p", 1, 1, "bns", 10, 5, 0, 0, 45),
    ("p", 0, 0, "bns", 20, 5, 5, 0, 40),
    ("p", 0, 1, "bns", 20, 5, 5, 0, 40),
    ("p", 1, 0, "bns", 20, 0, 0, 5, 45),
    ("p", 1, 1, "bns", 20, 0, 0, 5, 45),
    ("q", 0, 0, "bns", 10, 0, 0, 5, 45),
    ("q", 0, 1, "bns", 10, 1, 0, 4, 45),
    ("q", 1, 0, "bns", 10, 0, 0, 5, 45),
    ("q", 1, 1, "bns", 10, 1, 0, 4, 45),
    ("q", 0, 0, "bns", 20, 5, 0, 0, 45),
    ("q", 0, 1, "bns", 20, 5, 0, 0, 45),
    ("q", 1, 0, "bns", 20, 5, 0, 0, 45),
    ("q", 1, 1, "bns", 20, 5, 0, 0, 45),
    ("p", 0, 0, "bns", None, 5, 0, 0, 45),
    ("p", 0, 1, "bns", None, 0, 0, 5, 45),
]
P10 = (2 * 6 / (12 + 4 + 4) + 1) / 2  # trial 0 pools to tp 6, fp 4, fn 4; trial 1 is perfect
P20 = (20 / 30 + 0) / 2
Q10 = 2 * 1 / (2 + 9)


@pytest.fixture(scope="module")
def rows(made_rows):
    return made_rows(CELLS)


def test_counts_are_pooled_over_the_folds_of_a_trial_before_the_measure(rows):
    values = analysis.problem_values(rows, "f1")
    assert values.height == 9
    found = (
        values.filter((pl.col("problem") == "p") & (pl.col("size") == 10)).sort("trial")["value"].to_list()
    )
    assert found == pytest.approx([12 / 20, 1.0])
    whole = analysis.problem_values(rows, "f1").filter(pl.col("size").is_null())["value"].to_list()
    assert whole == pytest.approx([2 / 3])  # the mean of the folds' own F1, 1 and 0, would be 1/2


def test_macro_is_the_mean_over_problems_of_the_mean_over_trials(rows):
    curve = analysis.size_curves(rows, "f1")
    assert curve["size"].to_list() == [10, 20, None]
    assert curve["size_kind"].to_list() == ["k", "k", "all"]
    assert curve["value"].to_list() == pytest.approx([(P10 + Q10) / 2, (P20 + 1) / 2, 2 / 3])
    low, high = stats.t.interval(0.95, 1, loc=(P10 + Q10) / 2, scale=stats.sem([P10, Q10]))
    assert curve["low"][0] == pytest.approx(max(low, 0))
    assert curve["high"][0] == pytest.approx(min(high, 1))
    assert curve["low"][2] is None
    assert curve["n_problems"].to_list() == [2, 2, 1]


def test_the_band_is_the_t_interval_over_problems(study_rows):
    curve = analysis.size_curves(study_rows, "f1", confidence=0.9).row(0, named=True)
    means = analysis.problem_means(study_rows, "f1").filter(
        (pl.col("method") == curve["method"]) & (pl.col("size") == curve["size"])
    )["value"]
    interval = stats.t.interval(0.9, len(means) - 1, loc=means.mean(), scale=stats.sem(means))
    assert (curve["low"], curve["high"]) == pytest.approx(interval)


def test_micro_pools_the_problems_as_well(rows):
    curve = analysis.size_curves(rows, "precision", average="micro")
    trial0, trial1 = 7 / 11, 11 / 11
    assert curve.filter(pl.col("size") == 10)["value"].item() == pytest.approx((trial0 + trial1) / 2)
    assert curve["low"].null_count() == curve.height


def test_averages_against_a_loop_over_the_rows(study_rows):
    frame = study_rows.to_dicts()
    wanted = {}
    for method in {row["method"] for row in frame}:
        per_problem = []
        for problem in {row["problem"] for row in frame}:
            trials = []
            for trial in (0, 1):
                cells = [
                    r
                    for r in frame
                    if (r["method"], r["problem"], r["trial"], r["size"]) == (method, problem, trial, 50.0)
                ]
                tp, fp, fn = (sum(r[c] for r in cells) for c in ("tp", "fp", "fn"))
                trials.append(2 * tp / (2 * tp + fp + fn))
            per_problem.append(np.mean(trials))
        wanted[method] = np.mean(per_problem)
    curve = analysis.size_curves(study_rows.lazy(), "f1").filter(pl.col("size") == 50)
    assert dict(curve.select("method", "value").iter_rows()) == pytest.approx(wanted)


def test_accuracy_of_a_problem_with_several_targets_is_the_share_put_right(made_rows):
    # Three classes of 10 documents: 8, 6 and 4 are right.
    cells = [("news", 0, 0, "ig", 10, tp, 4, 10 - tp, 16) for tp in (8, 6, 4)]
    rows = made_rows(cells).with_columns(target=pl.Series(["a", "b", "c"]))
    assert analysis.problem_values(rows, "accuracy")["value"].to_list() == pytest.approx([18 / 30])
    recall = analysis.problem_values(rows, "recall")
    assert recall["value"].to_list() == pytest.approx([(0.8 + 0.6 + 0.4) / 3])


def test_break_even_reads_its_own_counts(rows):
    moved = rows.with_columns(be_tp=pl.lit(3), be_fp=pl.lit(1), be_fn=pl.lit(1))
    assert set(analysis.problem_values(moved, "f1_break_even")["value"]) == {0.75}
    with pytest.raises(InputError, match="no counts at break-even"):
        analysis.problem_values(rows.with_columns(be_tp=pl.lit(None, dtype=pl.Int64)), "f1_break_even")


def test_a_callable_is_a_measure(rows):
    table = analysis.problem_values(rows, lambda tp, fp, fn, tn: tp + 0.0)
    assert table["value"].max() == 10


def test_average_maximum_takes_the_best_size_of_each_trial(rows):
    table = analysis.average_maximum(rows, "f1")
    assert table["problem"].to_list() == ["p", "q"]
    assert table["value"].to_list() == pytest.approx([(20 / 30 + 1) / 2, 1.0])  # not max of the averages


def test_precision_recall_at_a_size(rows):
    row = analysis.precision_recall(rows, 10).row(0, named=True)
    assert row["precision"] == pytest.approx(((0.6 + 1) / 2 + 1) / 2)
    assert row["recall"] == pytest.approx(((0.6 + 1) / 2 + 0.1) / 2)
    with pytest.raises(InputError, match="no results of size 7; the sizes are: 10, 20"):
        analysis.precision_recall(rows, 7)


def test_skew(rows):
    skewed = rows.with_columns(neg=pl.when(pl.col("problem") == "p").then(90).otherwise(900))
    table = analysis.by_skew(skewed, "f1", size=10)
    assert table.select("problem", "skew").rows() == [("p", 9.0), ("q", 90.0)]
    assert table["value"].to_list() == pytest.approx([P10, Q10])
    assert analysis.by_skew(skewed)["value"].to_list() == pytest.approx([(20 / 30 + 1) / 2, 1])
    halves = analysis.skew_curves(skewed, threshold=67)
    at_10 = halves.filter(pl.col("size") == 10)
    assert dict(at_10.select("skew_side", "value").iter_rows()) == pytest.approx({"low": P10, "high": Q10})
    assert analysis.skew_percentile(skewed, 0.5) == 9.0
    assert analysis.skew_curves(skewed)["threshold"].unique().to_list() == [9.0]


def test_size_needed(made_rows):
    cells = [("p", 0, 0, method, size, tp, 0, 10 - tp, 90) for method, size, tp in [
        ("bns", 10, 5), ("bns", 20, 9), ("bns", 50, 10), ("ig", 10, 8), ("ig", 20, 8), ("ig", 50, 7),
    ]]  # fmt: skip
    table = analysis.size_needed(made_rows(cells), share=0.85, measure="recall")
    by_method = {row["method"]: row for row in table.to_dicts()}
    assert by_method["bns"]["size"] == 20
    assert by_method["bns"]["own_best_size"] == 50
    assert by_method["ig"]["size"] is None
    assert by_method["ig"]["own_best_size"] == 10
    assert table["best"].to_list() == [1.0, 1.0]
    exact = analysis.size_needed(made_rows(cells), share=0.8, measure="recall").filter(
        pl.col("method") == "ig"
    )
    assert exact["size"].item() == 10
    with pytest.raises(ParameterError, match="share must be"):
        analysis.size_needed(made_rows(cells), share=1.5)


def test_trade_offs_mark_what_nothing_cheaper_beats(made_rows):
    cells = [("p", 0, 0, method, size, tp, 0, 10 - tp, 90) for method, size, tp in [
        ("bns", 10, 5), ("bns", 20, 4), ("bns", 50, 10), ("ig", 10, 6), ("ig", 50, 10),
    ]]  # fmt: skip
    table = analysis.trade_offs(made_rows(cells), "recall")
    best = table.filter("best").select("method", "size", "cells").rows()
    assert best == [("ig", 10.0, 100.0), ("bns", 50.0, 500.0)]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda rows: analysis.size_curves(rows, "f3"), UnknownNameError, "measure 'f3' is unknown"),
        (lambda rows: analysis.size_curves(rows, average="mean"), UnknownNameError, "average 'mean'"),
        (lambda rows: analysis.size_curves(rows, confidence=2), ParameterError, "confidence"),
        (lambda rows: analysis.size_curves(rows.drop("tp")), InputError, "lack the column 'tp'"),
        (lambda rows: analysis.size_curves(rows.head(0)), InputError, "no rows"),
        (lambda rows: analysis.size_curves([1]), InputError, "must be a polars frame"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(rows, call, error, words):
    with pytest.raises(error, match=words):
        call(rows)
