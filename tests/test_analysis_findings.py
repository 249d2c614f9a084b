"""Findings of the papers: each verdict is that of its test, on a small study of a paper's plan."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from reproductions import pages, tables
from reproductions.__main__ import main as reproductions

from termsieve import Corpus
from termsieve.analysis.findings import FINDINGS, PAPERS, evidence, paper_cells, verify_findings
from termsieve.analysis.findings.evidence import (
    VERDICTS,
    Reading,
    UntestedError,
    judged,
    lacking,
    paper_figures,
    told,
)
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.errors import UnknownNameError
from termsieve.studies import Plan, Results, load_plan, run_study
from termsieve.studies.plan import Method

SIZES = "k = [10, 20, 50, 100, 500, 1000]"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The twelve metrics of forman2003 on 150 documents of three classes, two of them rare."""
    generator = np.random.default_rng(3)
    labels = np.repeat(["a", "b", "c"], [110, 30, 10])
    texts = [
        " ".join(
            [f"w{i}" for i in generator.integers(0, 80, 12)]
            + [f"{label}{i}" for i in range(6) if generator.random() < 0.3]
        )
        for label in labels
    ]
    metrics = [method.metric for method in load_plan("forman2003").methods]
    plan = Plan.parse(
        f"""
        corpora = [{{ name = "mails", path = "nowhere" }}]
        protocol = {{ kind = "kfold", trials = 2, folds = 3, seed = 1 }}
        methods = [{{ metric = {json.dumps(metrics)} }}]
        learners = ["svm"]
        [sizes]
        {SIZES}
        all = true
        """,
        "forman2003",
    )
    corpus = Corpus(texts=texts, labels=labels.tolist())
    return run_study(plan, tmp_path_factory.mktemp("study") / "out", corpora={"mails": corpus}, workers=1)


def verdicts(table):
    return dict(zip(table["claim"], table["verdict"], strict=True))


def test_every_finding_of_the_paper_has_a_verdict(small):
    table = verify_findings("forman2003", [small])
    own = [entry for entry in FINDINGS if entry.paper == "forman2003"]
    assert table["claim"].to_list() == [entry.claim for entry in own]
    assert set(table["verdict"]) <= set(VERDICTS)
    side = table.filter(pl.col("where").str.starts_with("side study"))
    assert set(side["verdict"]) == {"not tested"}
    assert side["figures"].str.contains("needs the results of the plan forman2003_(alpha|rare)").all()
    assert (table.filter(pl.col("reading") == "svm")["figures"] != "").all()


def test_verdicts_are_those_of_the_rows(small):
    """Two findings, decided once more by hand: F1 of counts pooled over folds, then means."""
    rows = small.frame().collect()
    sums = rows.group_by("problem", "trial", "method", "size").agg(pl.col("tp", "fp", "fn").sum())
    f1 = 2 * pl.col("tp") / (2 * pl.col("tp") + pl.col("fp") + pl.col("fn"))
    means = sums.with_columns(f1=f1.fill_nan(0.0)).group_by("method", "size").agg(pl.col("f1").mean())
    value = {(method, size): f1 for method, size, f1 in means.iter_rows()}
    found = verdicts(verify_findings("forman2003", [small]))
    wins = [value["information_gain", k] > value["chi_squared", k] for k in (10, 20, 50, 100, 500, 1000)]
    expected = "holds" if all(wins) else "partly" if any(wins) else "fails"
    assert found["ig is above chi at every number of terms"] == expected
    best = max(value["bns", k] for k in (10, 20, 50, 100, 500, 1000))
    expected = "holds" if best > value["all", None] else "fails"
    assert found["bns at its best size is above all features"] == expected


def test_the_page_says_what_the_tests_say(small, tmp_path, monkeypatch):
    """Stored, made into a page and verified once more: the same claims, verdicts and figures."""
    monkeypatch.setattr(tables, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(pages, "HERE", tmp_path)
    tables.write_tables("forman2003", [small], None)
    page = pages.findings_table("forman2003", "")
    again = verify_findings("forman2003", [small])
    for row in again.iter_rows(named=True):
        lacks = f" ({row['lacks']})" if row["lacks"] else ""
        assert f"| **{row['verdict']}**{lacks} | {row['figures']} |" in page
    tested = again.filter(pl.col("verdict") != "not tested")
    assert tested["lacks"].str.starts_with("without fbis, la1, ").all()  # of the built-in plan
    tally = pages.tally("forman2003")
    assert sum(tally[verdict] for verdict in VERDICTS) == again.select("where", "claim").n_unique()
    assert (
        tally[pages.EVERYWHERE] == tally["holds"] == (again["verdict"] == "holds").sum()
    )  # one reading each
    curves = pages.curves_table("forman2003", "learner=svm measure=f1")
    assert "| bns |" in curves
    with pytest.raises(ValueError, match="no row of: learner=lr"):
        pages.curves_table("forman2003", "learner=lr measure=f1")


def test_the_commands_store_what_verify_says_of_results_on_disk(small, tmp_path, monkeypatch, capsys):
    """`python -m reproductions tables`, then `study verify`, both on the results' directory."""
    monkeypatch.setattr(tables, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(pages, "HERE", tmp_path)
    reproductions(["tables", "forman2003", str(small.path)])
    stored = pages.table("forman2003", "findings").fill_null("")
    assert exit_code(app, ["study", "verify", "forman2003", str(small.path), "--json"]) == 0
    assert stored.drop("paper").to_dicts() == json.loads(capsys.readouterr().out)
    assert "| bns |" in pages.chances_table("forman2003", "svm")
    assert " + " in pages.pairs_table("forman2003", "svm")
    assert "150" in pages.corpora_table("forman2003", "")


def test_what_other_results_said_is_kept(small, tmp_path, monkeypatch):
    """With --keep a finding that these results cannot test keeps its verdict, and cells their table."""
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    monkeypatch.setattr(pages, "HERE", tmp_path.parent)
    tables.write_tables("forman2003", [small], None)
    path = tmp_path / "forman2003_findings.csv"
    before = pl.read_csv(path).fill_null("")
    rare = pl.col("where") == "side study of rare words"
    older = before.with_columns(
        verdict=pl.when(rare).then(pl.lit("holds")).otherwise("verdict"),
        figures=pl.when(rare).then(pl.lit("of an earlier run")).otherwise("figures"),
    )
    older.write_csv(path)
    cells = pl.read_csv(tmp_path / "forman2003_cells.csv")
    other = cells.with_columns(table=pl.lit("Table of an earlier run"))
    pl.concat([cells.with_columns(ours=pl.lit(0.0)), other]).write_csv(tmp_path / "forman2003_cells.csv")
    tables.write_tables("forman2003", [small], None, keep=True)
    assert pl.read_csv(path).fill_null("").equals(older)
    kept = pl.read_csv(tmp_path / "forman2003_cells.csv")
    assert kept.filter(pl.col("table") == "Table of an earlier run").height == other.height
    assert kept.filter(pl.col("table") != "Table of an earlier run").equals(cells)
    tables.write_tables("forman2003", [small], None)
    assert pl.read_csv(path).fill_null("").equals(before)


def test_kept_rows_keep_their_places(tmp_path, monkeypatch):
    """A plan that is run again does not move to the end of a table; a new one does."""
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    old = pl.DataFrame({"plan": ["b", "b", "a"], "value": [1.0, 2.0, 3.0]})
    tables._write(old, "curves.csv", False, "plan")
    tables._write(pl.DataFrame({"plan": ["c", "b"], "value": [5.0, 4.0]}), "curves.csv", True, "plan")
    kept = pl.read_csv(tmp_path / "curves.csv")
    assert kept.rows() == [("b", 4.0), ("a", 3.0), ("c", 5.0)]
    head = {"paper": "li2009", "where": "here", "claim": "so", "figures": "", "lacks": ""}
    stored = [{**head, "reading": name, "verdict": "holds"} for name in ("first", "second")]
    pl.DataFrame(stored).write_csv(tmp_path / "findings.csv")
    columns = pl.read_csv(tmp_path / "findings.csv").columns
    found = pl.DataFrame([{**head, "reading": "first", "verdict": "fails"}]).select(columns)
    merged = tables._kept_findings(found, tmp_path / "findings.csv")
    assert merged.select("reading", "verdict").rows() == [("first", "fails"), ("second", "holds")]


def test_only_whole_runs_are_timed(small, monkeypatch):
    assert tables._runs([small]).is_empty()  # the built-in plan of this name has 18 corpora
    whole = Plan.parse(small.plan_text, "forman2003")
    monkeypatch.setattr(evidence, "load_plan", lambda name: whole)
    ((plan, n, seconds),) = tables._runs([small]).iter_rows()
    assert (plan, n) == ("forman2003", len(small))
    assert seconds == sum(run["cpu_seconds"] for run in small.manifest["runs"]) > 0


def test_the_pilot_compares_learners(tmp_path):
    """A tree on one telling word of many is worse than an SVM, whatever the metric."""
    generator = np.random.default_rng(5)
    labels = np.repeat(["a", "b"], 60)
    texts = [
        " ".join([f"{label}{i}" for i in range(25) if generator.random() < 0.25] + ["w"]) for label in labels
    ]
    noisy = [text if generator.random() < 0.95 else texts[-i] for i, text in enumerate(texts)]
    plan = Plan.parse(
        """
        corpora = [{ name = "mails", path = "nowhere" }]
        protocol = { kind = "kfold", trials = 1, folds = 3, seed = 1 }
        methods = [{ metric = ["bns", "information_gain"] }]
        learners = ["svm(hinge)", "tree"]
        sizes = { k = [10, 40] }
        """,
        "forman2003_pilot",
    )
    corpus = Corpus(texts=noisy, labels=labels.tolist())
    study = run_study(plan, tmp_path / "out", corpora={"mails": corpus}, workers=1)
    (row,) = verify_findings("forman2003", [study]).filter(pl.col("where") == "pilot study").to_dicts()
    rows = study.frame().collect()
    sums = rows.group_by("learner", "method", "size").agg(pl.col("tp", "fp", "fn").sum())
    f1 = sums.with_columns(f1=2 * pl.col("tp") / (2 * pl.col("tp") + pl.col("fp") + pl.col("fn")))
    best = dict(f1.group_by("learner").agg(pl.col("f1").max()).iter_rows())
    leads = f1.sort("f1", descending=True).group_by("method", "size").first()["learner"].to_list()
    expected = [best["svm(hinge)"] > best["tree"], leads == ["svm(hinge)"] * 4]
    assert row["verdict"] == judged(expected, "").holds
    assert f"tree {told(best['tree'])}" in row["figures"]
    assert expected[0]


def test_cells_have_the_papers_figures(small):
    cells = paper_cells("forman2003", [small])
    assert cells.select("row", "paper").rows() == [("bns", 0.65), ("information_gain", 0.4)]
    assert (cells["difference"] - (cells["ours"] - cells["paper"])).abs().max() < 1e-12
    assert paper_cells("uchyigit2007", [small]).is_empty()


def test_the_command_prints_the_table(small, capsys):
    assert exit_code(app, ["study", "verify", "forman2003", str(small.path), "--json"]) == 0
    said = capsys.readouterr()
    table = verify_findings("forman2003", [small]).drop("paper")
    assert json.loads(said.out) == table.to_dicts()
    assert f"{(table['verdict'] == 'holds').sum()} holds" in said.err
    assert exit_code(app, ["study", "verify", "forman2003", str(small.path), "--cells"]) == 0
    assert "0.65" in capsys.readouterr().out
    assert exit_code(app, ["study", "verify", "forman1999", str(small.path)]) == 2


def test_other_papers_are_not_tested_by_these_results(small):
    for paper in PAPERS:
        if paper != "forman2003":
            assert set(verify_findings(paper, [small])["verdict"]) == {"not tested"}
    with pytest.raises(UnknownNameError, match="did you mean 'li2009'"):
        verify_findings("li2008", [small])


def test_a_claim_of_parts_holds_partly():
    assert judged([True, True], "").holds == "holds"
    assert judged([True, False], "").holds == "partly"
    assert judged([False, False], "").holds == "fails"


def test_an_unfinished_run_has_no_average(small):
    """bns at 50 terms lacks a problem: its mean over the others is not shown beside means over all."""
    rows = small.frame().collect()
    lacks = (pl.col("method") == "bns") & (pl.col("size") == 50) & (pl.col("problem") == "c")
    reading = Reading(small)
    reading.every_row = rows.filter(~lacks.fill_null(False))
    assert set(reading.by_method(20)) - set(reading.by_method(50)) == {"bns"}
    with pytest.raises(UntestedError, match="no single value of bns at 50"):
        reading.value("bns", 50)


def test_what_results_lack_of_their_plan_is_said(small, monkeypatch):
    """A whole run lacks nothing; a missing part is told in trainings, missing methods and corpora by name."""
    whole = Plan.parse(small.plan_text, "forman2003")
    monkeypatch.setattr(evidence, "load_plan", lambda name: whole)
    assert lacking(small) == lacking(small, "svm") == ""
    parts = dict(list(small.manifest["parts"].items())[1:])
    broken = Results(small.path, {**small.manifest, "parts": parts})
    done = sum(entry["n_rows"] for entry in parts.values())  # one row per training
    assert lacking(broken) == f"{100 * done // len(small)} % of the trainings"
    table = verify_findings("forman2003", [broken]).filter(pl.col("verdict") != "not tested")
    assert set(table["lacks"]) == {lacking(broken)}
    more = replace(
        whole,
        methods=(*whole.methods, Method("gu", metric="gu")),
        corpora=(*whole.corpora, replace(whole.corpora[0], name="letters")),
    )
    monkeypatch.setattr(evidence, "load_plan", lambda name: more)
    assert lacking(small) == "without letters, gu"
    assert lacking(small, methods=("bns",)) == "without letters"
    assert lacking(small, corpora=("mails",)) == "without gu"
    assert lacking(small, methods=("bns", "f1"), corpora=("mails",)) == ""


def test_what_a_test_reads_is_in_a_plan_of_its_finding():
    """A misspelt method or corpus would make every run look whole."""
    for entry in FINDINGS:
        plans = [load_plan(name) for name in entry.plans]
        assert set(entry.methods) <= {method.name for method in plans[0].methods}
        assert set(entry.corpora) <= {corpus.name for corpus in plans[0].corpora}
    assert any(entry.methods for entry in FINDINGS)
    assert any(entry.corpora for entry in FINDINGS)


def test_findings_of_a_part_are_counted(small, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(pages, "HERE", tmp_path)
    tables.write_tables("forman2003", [small], None)
    found = pages.table("forman2003", "findings")
    tested = found.filter(pl.col("verdict") != "not tested").height
    assert pages.tally("forman2003")[pages.UNFINISHED] == tested > 0
    found.with_columns(lacks=pl.lit(None)).write_csv(tmp_path / "results" / "forman2003_findings.csv")
    assert pages.tally("forman2003")[pages.UNFINISHED] == 0


def test_readings_refuse_what_the_results_lack(small):
    reading = Reading(small)
    with pytest.raises(UntestedError, match="no single value of gu"):
        reading.value("gu", 10)
    with pytest.raises(UntestedError, match="no size 77"):
        reading.by_method(77)
    with pytest.raises(UntestedError, match="corpus 'mails' is not at"):
        reading.counts("mails")
    with pytest.raises(UntestedError, match="the results have no letters"):
        reading.counts("letters")


def test_figures_are_told_as_the_papers_print_them():
    assert [told(value) for value in (0.7421, -0.05, 1.0, 12.5)] == [".742", "-.050", "1.000", "12.500"]


def test_the_papers_data_are_whole():
    assert paper_figures("zheng2004").height == 444
    assert paper_figures("zheng2004_table7").shape == (58, 7)
    assert paper_figures("li2009_table1").height == 24
