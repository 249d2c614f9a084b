"""Counts by window: against counting the windows' documents alone; commands, charts, flags."""

import datetime
import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta, false_discovery_control, fisher_exact

from termsieve import Corpus, Counts, count, difference
from termsieve.charts import word_rates as rates_chart
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.counts import Windows
from termsieve.counts.windows import window_of
from termsieve.differences import marked_rates, shifts, word_rates
from termsieve.errors import InputError, ParameterError, TermsieveError

N_DOCS = 300


def table(several=False):
    random = np.random.default_rng(0)
    days = [
        datetime.date(2024, 1, 29) + datetime.timedelta(int(day)) for day in random.integers(0, 28, N_DOCS)
    ]
    late = np.array([day >= datetime.date(2024, 2, 19) for day in days])
    texts = [
        " ".join([*random.choice(["cat", "dog", "fox", "owl"], 3), *(["storm"] if wet else [])])
        for wet in late & (random.random(N_DOCS) < 0.5)
    ]
    labels = random.choice(["pets", "wild"], N_DOCS).tolist()
    if several:
        labels = [f"{label};all" if i % 3 else label for i, label in enumerate(labels)]
    return pl.DataFrame({"text": texts, "label": labels, "date": days, "source": ["mail", "web"] * 150})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("windows")
    table().write_parquet(folder / "one.parquet")
    table().write_csv(folder / "one.csv")
    table(several=True).write_ndjson(folder / "several.jsonl")
    return folder


def alone(frame, keep, separator=None):
    """The counts of some documents, counted without the others."""
    some = frame.filter(pl.Series(keep))
    labels = some["label"].to_list()
    if separator:
        labels = [tuple(label.split(separator)) for label in labels]
    return count(Corpus(some["text"].to_list(), labels))


@pytest.mark.parametrize("name", ["one.parquet", "one.csv"])
def test_every_sum_of_windows_is_the_count_of_their_documents(files, name):
    frame, weeks = table(), count(str(files / name), by="date:week")
    week = ["{}-W{:02}".format(*day.isocalendar()) for day in frame["date"]]
    assert weeks.names == sorted(set(week))
    assert weeks.sum() == alone(frame, [True] * N_DOCS)
    for names in ([weeks.names[0]], weeks.names[1:3], [weeks.names[0], weeks.names[3]]):
        assert weeks.sum(names) == alone(frame, [one in names for one in week])
    assert weeks["2024-W06..2024-W07"] == weeks.sum(weeks.names[1:3])
    assert repr(weeks) == "<Windows of 300 documents: 4 windows, 5 terms>"


def test_documents_with_several_labels_keep_them(files):
    frame = table(several=True)
    found = count(str(files / "several.jsonl"), by="source", separator=";")
    assert found.sum(["web"]) == alone(frame, (frame["source"] == "web").to_list(), ";")
    assert found["web"].multilabel


def test_values_beside_a_corpus_are_windows_too(files):
    frame = table()
    corpus = Corpus(frame["text"].to_list(), frame["label"].to_list())
    assert (
        count(corpus, by=frame["source"].to_list()).counts
        == count(str(files / "one.csv"), by="source").counts
    )
    X, terms = np.array([[1, 0], [0, 1], [1, 1]]), ["a", "b"]
    matrix = count(Corpus(matrix=X, terms=terms, labels=["x", "y", "x"]), by=["W1", "W1", "W2"])
    assert matrix["W2"] == Counts.from_matrix([[1, 1]], ["x"], terms=terms)


def test_one_file_holds_all_windows_and_reads_as_their_sum(files, tmp_path):
    weeks = count(str(files / "one.csv"), by="date:week")
    weeks.save(tmp_path / "weeks.parquet")
    assert Windows.load(tmp_path / "weeks.parquet") == weeks
    assert Counts.load(tmp_path / "weeks.parquet") == weeks.sum()
    weeks.sum().save(tmp_path / "sum.parquet")
    with pytest.raises(InputError, match="has no windows; count with by="):
        Windows.load(tmp_path / "sum.parquet")


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        ("2024-12-30", "week", "2025-W01"),
        ("2024-12-30T23:59:59+02:00", "day", "2024-12-30"),
        (datetime.datetime(2024, 3, 1, 5), "month", "2024-03"),
        (datetime.date(999, 3, 1), "year", "0999"),
        (7, None, "7"),
    ],
)
def test_dates_fall_into_windows(value, unit, expected):
    assert window_of(value, unit) == expected


def test_flags_are_scipys_test_with_one_false_discovery_rate_over_all():
    frame = table()
    weeks = count(
        Corpus(frame["text"].to_list(), frame["label"].to_list()),
        by=["{}-W{:02}".format(*day.isocalendar()) for day in frame["date"]],
    )
    counts = weeks.as_classes()
    p = {}
    for at, window in enumerate(weeks.names):
        for column, term in enumerate(counts.terms):
            a, n = counts.tp[at, column], counts.pos[at]
            rest, n_rest = counts.df[column] - a, N_DOCS - n
            sides = [
                fisher_exact([[a, rest], [n - a, n_rest - rest]], side).pvalue for side in ("less", "greater")
            ]
            p[window, term] = min(1, 2 * min(sides))
    adjusted = dict(zip(p, false_discovery_control(list(p.values())), strict=True))
    found = shifts(weeks, k=100)
    assert {(w, t) for w, t in found.select("window", "term").rows()} == {
        key for key, value in adjusted.items() if value <= 0.05
    }
    assert ("2024-W08", "storm") in adjusted
    for row in found.to_dicts():
        key = row["window"], row["term"]
        assert row["p_value"] == pytest.approx(p[key], rel=1e-9)
        assert row["p_adjusted"] == pytest.approx(adjusted[key], rel=1e-9)
        assert row["of_here"] + row["of_elsewhere"] == N_DOCS
    storm = marked_rates(weeks, ["storm", "cat"]).filter(pl.col("term") == "storm")
    assert storm["change"].to_list() == ["went", "went", "went", "came"]
    assert shifts(weeks, fdr=1e-300).height == 0


def test_rates_have_jeffreys_interval_and_a_chart():
    weeks = count(Corpus(["cat dog"] * 3 + ["dog"] * 7, ["x"] * 10), by=["W1"] * 5 + ["W2"] * 5)
    rates = word_rates(weeks, ["cat", "dog"], interval=0.9)
    assert rates.select("term", "window", "rate", "documents", "of").rows() == [
        ("cat", "W1", 0.6, 3, 5),
        ("cat", "W2", 0.0, 0, 5),
        ("dog", "W1", 1.0, 5, 5),
        ("dog", "W2", 1.0, 5, 5),
    ]
    assert rates.row(0)[3:5] == pytest.approx(beta(3.5, 2.5).ppf([0.05, 0.95]))
    assert rates.row(1)[3] == 0
    assert rates.row(2)[4] == 1
    drawn = rates_chart(rates).to_dict()
    assert [layer["mark"]["type"] for layer in drawn["layer"]] == ["area", "line"]


def test_the_commands(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        assert exit_code(app, [*words]) == 0
        return capsys.readouterr().out

    run("count", str(files / "one.csv"), "--by", "date:week", "-o", "weeks.parquet")
    weeks = Windows.load("weeks.parquet")
    rows = json.loads(run("diff", "weeks.parquet", "--json"))
    assert rows == difference(weeks.sum(weeks.names[:3]), weeks["2024-W08"]).to_dicts()
    rows = json.loads(run("diff", "weeks.parquet", "--before", "..2024-W06", "--after", "2024-W08", "--json"))
    assert rows == difference(weeks["..2024-W06"], weeks["2024-W08"]).to_dicts()
    assert json.loads(run("trend", "weeks.parquet", "--json")) == shifts(weeks).to_dicts()
    assert json.loads(run("trend", "weeks.parquet", "storm", "--json"))[-1]["change"] == "came"
    run("trend", "weeks.parquet", "storm", "-o", "storm.svg")
    assert "<svg" in (tmp_path / "storm.svg").read_text()
    assert json.loads(run("rank", "weeks.parquet", "--json")) == json.loads(
        run("rank", str(files / "one.csv"), "--json")
    )
    run("count", str(files / "one.csv"), "--by", "source", "-o", "sources.parquet")
    run("merge", "weeks.parquet", "weeks.parquet", "-o", "twice.parquet")
    assert Windows.load("twice.parquet") == weeks + weeks


WRONG = [
    (lambda f: count(f, by="day"), "no column 'day' for by="),
    (lambda f: count(f, by="text:week"), "is no date"),
    (lambda f: count(f, by="date:weak"), "unit 'weak' is unknown; did you mean 'week'"),
    (lambda f: count(f, by="source", occurrences=True), "leave out occurrences="),
    (lambda f: count(f, by=["a"]), "the name of a column"),
    (lambda f: count(Corpus(["a"], ["x"]), by=["a", "b"]), "2 values for 1 documents"),
    (lambda f: count([(["a"], ["x"])], by="source"), "these are no files"),
    (lambda f: count(f, sample_weight=[1]), "is for a Corpus"),
    (lambda f: count(f, by="source")["post"], "window 'post' is unknown"),
    (lambda f: count(f, by="source")["x..y"], "there is no window in"),
    (lambda f: count(f, by="source").pair("mail", "mail"), "both before and after"),
    (lambda f: count(f, by="source").pair(after="mail"), "no window before"),
    (lambda f: count(f, by="source") + count(f, by="date"), "cannot be added"),
    (lambda f: word_rates(count(f, by="source"), ["stork"]), "word 'stork' is unknown"),
    (lambda f: word_rates(count(f, by="source"), ["cat"], 2), "between 0 and 1"),
]


@pytest.mark.parametrize(("call", "sentence"), WRONG, ids=[s for _, s in WRONG])
def test_wrong_calls_are_told(files, call, sentence):
    with pytest.raises(TermsieveError, match=sentence):
        call(str(files / "one.csv"))


def test_documents_without_a_date_are_told_or_left_out(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("text,label,date\ncat,x,2024-01-01\ndog,y,\n")
    with pytest.raises(InputError, match="nothing in column 'date'"):
        count(str(path), by="date:day")
    assert count(str(path), by="date:day", missing="drop").n_docs == 1


def test_weights_of_a_corpus_are_counted():
    corpus = Corpus(["buy now", "see you", "buy it"], ["spam", "ham", "spam"])
    weighed = count(corpus, sample_weight=[2, 1, 0])
    assert weighed == count(Corpus(["buy now", "buy now", "see you"], ["spam", "spam", "ham"]))
    with pytest.raises(ParameterError, match="leave out occurrences= and sample_weight="):
        count(corpus, by=["a", "b", "c"], sample_weight=[1, 1, 1])
