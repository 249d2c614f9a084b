"""Best chances, pairs and backups against examples worked by hand."""

import polars as pl
import pytest

from termsieve import analysis
from termsieve.errors import InputError, ParameterError, UnknownNameError

# Recall in percent of three methods on four problems.
TABLE = {"bns": (90, 80, 70, 50), "ig": (89, 85, 60, 55), "df": (50, 50, 70, 60)}


@pytest.fixture(scope="module")
def rows(made_rows):
    cells = [
        (f"p{p}", 0, 0, method, 10, tp, 0, 100 - tp, 900)
        for method, values in TABLE.items()
        for p, tp in enumerate(values)
    ]
    return made_rows(cells)


def shares(table, *names):
    return {tuple(row[name] for name in names): row["share"] for row in table.to_dicts()}


def test_best_chances(rows):
    table = analysis.best_chances(rows, "recall", [0.0, 0.01, 0.05, 0.1])
    found = shares(table, "method", "tolerance")
    assert found["bns", 0.0] == 0.5
    assert found["ig", 0.0] == 0.25
    assert found["df", 0.0] == 0.5
    assert found["bns", 0.01] == 0.5
    assert found["ig", 0.01] == 0.5
    assert found["bns", 0.05] == 0.75
    assert found["ig", 0.05] == 0.75
    assert found["bns", 0.1] == 1.0
    assert found["ig", 0.1] == 1.0
    assert found["df", 0.1] == 0.5
    assert table["n_problems"].unique().to_list() == [4]


def test_tolerances_are_the_papers():
    assert analysis.tolerances_of("f1") == [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1]
    assert analysis.tolerances_of("accuracy")[0] == 0.001
    assert analysis.tolerances_of("accuracy")[-1] == 0.01


def test_pairs(rows):
    table = analysis.pair_chances(rows, "recall", [0.0])
    found = shares(table, "first", "second")
    assert found == {("bns", "ig"): 0.75, ("bns", "df"): 0.75, ("df", "ig"): 0.75}
    wide = analysis.pair_chances(rows, "recall", [0.01, 0.05])
    assert shares(wide.filter(pl.col("tolerance") == 0.01), "first", "second")["bns", "df"] == 0.75
    best = analysis.best_pairs(rows, "recall", [0.05])
    assert best.select("first", "second", "share", "gain").rows() == [("bns", "df", 1.0, 0.25)]


def test_gain_is_over_the_better_of_the_two(rows):
    table = analysis.pair_chances(rows, "recall", [0.0]).filter(pl.col("second") == "ig")
    assert set(table["gain"]) == {0.25}


def test_backups(rows):
    table = analysis.backups(rows, "bns", "recall", [0.0, 0.1])
    strict = table.filter(pl.col("tolerance") == 0.0)
    assert strict.select("method", "share", "n_failed").rows() == [("df", 0.5, 2), ("ig", 0.5, 2)]
    assert table.filter(pl.col("tolerance") == 0.1)["share"].to_list() == [None, None]
    with pytest.raises(UnknownNameError, match="did you mean 'bns'"):
        analysis.backups(rows, "bnss", "recall")


def test_problems_that_a_method_lacks_are_left_out(rows):
    partial = rows.filter(~((pl.col("method") == "df") & (pl.col("problem") == "p3")))
    table = analysis.best_chances(partial, "recall", [0.0])
    assert table["n_problems"].unique().to_list() == [3]
    assert shares(table, "method")["bns",] == pytest.approx(2 / 3)
    apart = rows.filter((pl.col("method") == "df") != (pl.col("problem") == "p3"))
    with pytest.raises(InputError, match="no problem has results for every method"):
        analysis.best_chances(apart.filter(pl.col("method") != "ig"), "recall")


def test_learners_are_compared_apart(rows):
    both = pl.concat([rows, rows.with_columns(learner=pl.lit("nb"))])
    table = analysis.best_chances(both, "recall", [0.01])
    assert (
        table.filter(pl.col("learner") == "nb")
        .drop("learner")
        .equals(table.filter(pl.col("learner") == "svm").drop("learner"))
    )


def test_a_share_never_falls_with_the_tolerance_and_a_pair_is_no_worse_than_one(study_rows):
    alone = analysis.best_chances(study_rows)
    for _, part in alone.group_by("method"):
        assert part.sort("tolerance")["share"].is_sorted()
    one = shares(alone, "method", "tolerance")
    for row in analysis.pair_chances(study_rows).to_dicts():
        assert row["share"] >= max(one[row["first"], row["tolerance"]], one[row["second"], row["tolerance"]])
        assert one[row["first"], row["tolerance"]] >= one[row["second"], row["tolerance"]]


def test_tolerances_outside_0_to_1_are_refused(rows):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        analysis.best_chances(rows, tolerances=[1, 10])
