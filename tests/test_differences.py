"""What changed between two corpora: against scipy's test, planted shifts and shuffled documents."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import fisher_exact

from termsieve import Corpus, Counts, count, difference, shifts
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.differences import marked_rates
from termsieve.errors import ParameterError

WORDS = 1200


def window(generator, rates, n_docs=1500):
    """Counts of a window whose documents have each word with its rate."""
    X = generator.random((n_docs, len(rates))) < rates
    labels = np.where(generator.random(n_docs) < 0.3, "a", "b")
    return Counts.from_matrix(X.astype(int), labels, terms=[f"w{i}" for i in range(len(rates))])


def test_planted_shifts_are_found_and_little_else():
    found, missed, false, listed = 0, 0, 0, 0
    for seed in range(5):
        generator = np.random.default_rng(seed)
        rates = np.exp(generator.uniform(np.log(0.005), np.log(0.3), WORDS))
        planted = generator.choice(WORDS, 200, replace=False)
        doubled = rates.copy()
        doubled[planted] *= 2
        before, after = window(generator, rates), window(generator, doubled)
        flagged = set(difference(before, after, k=WORDS)["term"])
        common = {f"w{i}" for i in planted if before.df[i] >= 100}
        found, missed = found + len(common & flagged), missed + len(common - flagged)
        false, listed = false + len(flagged - {f"w{i}" for i in planted}), listed + len(flagged)
    assert found / (found + missed) >= 0.9
    assert false / listed <= 0.05


def test_shuffled_windows_have_no_change():
    generator = np.random.default_rng(0)
    rates = np.exp(generator.uniform(np.log(0.005), np.log(0.3), WORDS))
    for _ in range(5):
        frame = difference(window(generator, rates), window(generator, rates), k=WORDS, each=True)
        assert len(frame) <= 3  # each of three families may have one by chance


@pytest.fixture(scope="module")
def months():
    may = Corpus(["cat and dog"] * 30 + ["cat"] * 20 + ["tax"] * 50, ["pets"] * 50 + ["news"] * 50)
    june = Corpus(["cat and fox"] * 40 + ["tax"] * 10 + ["vote"] * 50, ["pets"] * 40 + ["news"] * 60)
    return may, june


def test_rows_have_the_documents_and_scipys_p_value(months):
    frame = difference(*months)
    assert dict(frame.select("term", "change").iter_rows()) == {
        "vote": "came",
        "fox": "came",
        "tax": "fell",
        "dog": "went",
    }
    for row in frame.to_dicts():
        for column, corpus in zip(("before", "after"), months, strict=True):
            assert row[column] == sum(row["term"] in text.split() for text in corpus.texts)
            assert row[f"of_{column}"] == len(corpus)
        table = [[row["after"], 100 - row["after"]], [row["before"], 100 - row["before"]]]
        side = "greater" if row["after"] > row["before"] else "less"
        assert row["p_value"] == pytest.approx(min(1, 2 * fisher_exact(table, side).pvalue), rel=1e-9)
        assert row["ratio"] == pytest.approx(max(row["after"], 0.5) / max(row["before"], 0.5))
        assert row["low"] < row["ratio"] < row["high"]


def test_each_class_is_compared_with_itself(months):
    frame = difference(*months, each=True)
    pets = frame.filter(pl.col("class") == "pets")
    assert set(pets.select("term", "change").iter_rows()) == {
        ("and", "rose"),
        ("dog", "went"),
        ("fox", "came"),
    }
    assert set(pets.select("of_before", "of_after").iter_rows()) == {(50, 40)}
    assert frame.filter(pl.col("class").is_null()).equals(
        difference(*months).with_columns(pl.col("class").cast(pl.String))
    )


def test_the_command_prints_the_table(months, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, corpus in zip(("may", "june"), months, strict=True):
        count(corpus).save(f"{name}.parquet")
        corpus.to_frame().write_csv(f"{name}.csv")
    expected = difference(*months, each=True).to_dicts()
    for kind in ("parquet", "csv"):
        assert exit_code(app, ["diff", f"may.{kind}", f"june.{kind}", "--each", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == expected


def test_wrong_calls_are_told(months):
    with pytest.raises(ParameterError, match="fdr must be above 0"):
        difference(*months, fdr=0)


def test_windows_without_any_change_have_rates_and_no_mark():
    weeks = count(Corpus(["the cat", "a dog"] * 20, ["pets"] * 40), by=["W1", "W1", "W2", "W2"] * 10)
    assert shifts(weeks).is_empty()
    rates = marked_rates(weeks, ["cat"])
    assert rates.select("window", "rate", "change").rows() == [("W1", 0.5, None), ("W2", 0.5, None)]
