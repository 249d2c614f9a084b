"""Settings of methods, and the table of corpora."""

import polars as pl
import pytest

from termsieve import analysis
from termsieve.errors import InputError, UnknownNameError


@pytest.fixture
def rows(made_rows):
    """F1 of two methods at three values of min_df: precision 1, recall 8, 6 and 4 tenths."""
    cells = [
        ("p", 0, 0, name, 100, tp, 0, 10 - tp, 90)
        for name, tp in (("bns", 8), ("bns min_df=2", 6), ("bns min_df=25", 4), ("gss", 9))
    ]
    return made_rows(cells)


def test_a_curve_has_a_point_per_value_of_the_setting(rows):
    assert analysis.setting_names(rows) == ["min_df"]
    table = analysis.setting_curves(rows, "min_df", "recall", size=100)
    assert table.select("method", "setting", "value").rows() == [
        ("bns", 1.0, 0.8),
        ("bns", 2.0, 0.6),
        ("bns", 25.0, 0.4),
    ]
    assert set(table["size"]) == {100.0}
    assert analysis.setting_curves(rows, "min_df", "recall").equals(table)


def test_alpha_one_half_is_the_unweighted_metric(made_rows):
    names = ("bns", "bns alpha=0.1", "bns alpha=0.5")
    cells = [("p", 0, 0, name, 10, 5, 0, 5, 90) for name in names]
    table = analysis.setting_curves(made_rows(cells), "alpha")
    assert table["setting"].to_list() == [0.1, 0.5]


def test_settings_that_were_not_studied_are_refused(rows):
    with pytest.raises(InputError, match="no method was run with several values of alpha"):
        analysis.setting_curves(rows, "alpha")
    with pytest.raises(UnknownNameError, match="did you mean 'min_df'"):
        analysis.setting_curves(rows, "mindf")


def test_corpora_are_described_by_their_classes():
    facts = {"documents": 100, "terms": 500, "cells": 2000, "classes": {"a": 90, "b": 10}}
    expected = ("mails", 100, 500, 20.0, 2, 10, 90, 9.0)
    assert analysis.corpus_table({"mails": facts}).rows() == [expected]
    assert isinstance(analysis.corpus_table({"mails": facts}), pl.DataFrame)
