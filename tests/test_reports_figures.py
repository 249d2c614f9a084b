"""The declared figures: each is whole, each is drawn by the real renderer, and the gallery shows them."""

import inspect
import re
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from termsieve import Counts, analysis, charts, study_report
from termsieve.analysis import values
from termsieve.reports import corpus, study
from termsieve.reports.planes import study_plane, word_sources
from termsieve.reports.reading import Documents

ROOT = Path(__file__).parents[1]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style>",
    "\u202eevil",
    "x" * 300,
    "🐘",
    "\ud800",
]
DECLARED = [figure for part in (corpus, study) for section in part.SECTIONS for figure in section.figures]


def of(names):
    return [name.partition("=")[0] for name in names]


@pytest.mark.parametrize("figure", DECLARED, ids=lambda figure: figure.name)
def test_a_figure_is_a_table_of_the_analysis_and_a_chart_of_charts(figure):
    assert getattr(analysis, figure.table.__name__) is figure.table
    assert set(of(figure.needs)) <= set(inspect.signature(figure.table).parameters)
    if figure.chart is not None:
        assert getattr(charts, figure.chart.__name__) is figure.chart
        assert set(of(figure.reads)) <= set(list(inspect.signature(figure.chart).parameters)[1:])


def test_every_chart_belongs_to_a_figure():
    drawn = {figure.chart.__name__ for figure in DECLARED if figure.chart}
    over_windows = {"over_time", "word_rates"}  # of `watch` and of windows: one page or file each
    assert drawn | over_windows == set(charts.__all__) - {"PALETTE", "save"}
    assert not drawn & over_windows


@pytest.fixture(scope="module")
def reports(study_rows):
    generator = np.random.default_rng(3)
    y = np.array(["<b>ham</b>", "spam", "eggs"])[generator.integers(0, 3, 90)]
    rates = 0.1 + 0.8 * generator.random((3, 60)) * generator.random(60)
    X = generator.random((90, 60)) < rates[np.unique(y, return_inverse=True)[1]]
    terms = HOSTILE + [f"w{i}" for i in range(60 - len(HOSTILE))]
    counts = Counts.from_matrix(X.astype(int), y, terms=terms)
    fixed = {"corpus": "one", "trial": 0, "method": "icc", "learner": "svm", "size_kind": "k"}
    selections = pl.DataFrame(
        [
            {**fixed, "problem": problem, "fold": fold, "size": size, "ratio": 0.2 * fold, "lam": 0.5}
            | {"curve": [0.1 * i for i in range(11)], "terms": list(range(fold, fold + int(size)))}
            for problem in "pqr"
            for fold in (0, 1)
            for size in (5.0, 10.0)
        ]
    )
    repeated = analysis.duplicate_documents([b"x", b"x"], ["ham", "spam"])
    documents = {"validation": analysis.cross_validated(X, y), "found": Documents(counts, repeated=repeated)}
    facts = {"documents": 90, "terms": 100, "cells": 900, "classes": {"p": 20, "q": 70}}
    bns = study_rows.filter(pl.col("method") == "bns", pl.col("size_kind") == "k")
    rare = [bns.with_columns(method=pl.lit(f"bns min_df={n}")) for n in (5, 20)]
    spread = study_rows.filter(pl.col("size_kind") == "k").with_columns(size_kind=pl.lit("sparsity"))
    rows = pl.concat([study_rows, *rare, spread])
    plane = study_plane(rows)
    drawn = {"counts": counts, "label": "spam", "metrics": plane.metrics, "sizes": [10], "max_points": 50}
    drawn |= {"resolution": 40, **word_sources(counts), "corpus": "one", "target": "spam"}
    drawn |= {"training": counts, "training_of_class": counts.take([0]), "implying": ["chi_squared"]}
    drawn["implied_sizes"] = [5, 10]
    plane = replace(plane, sources={**plane.sources, **drawn}, lacking={})
    return [
        corpus.corpus_figures(counts, sizes=(5, 10), **documents),
        study.study_figures(rows, selections, corpora={"one": facts}, plane=plane),
    ]


def test_every_figure_is_on_the_page(reports):
    for report in reports:
        sections, notes = report.sections()
        assert notes == []
        assert [section.id for section in sections] == [section.name for section in report.declared]
        for section in sections:
            for figure in section.figures:
                choices = [len(report.chosen[key]) for key in figure.by]
                assert len(figure.variants) == (0 if figure.script else np.prod(choices, initial=1))
    names = {figure.id for section in sections for figure in section.figures}
    assert {"setting-min-df-recall", "corpora"} <= names
    assert {"k-f1", "skew-low", "skew-high", "stability", "chosen-lam", "tuning-ratio"} <= names
    assert {"words", "isoclines", "surface", "largest", "implied"} <= names
    assert {"sparsity-f1", "terms-f1", "selected-sparsity", "sparsity"} <= names


@pytest.fixture(scope="module")
def pictures(reports):
    drawn = [picture for report in reports for picture in report.pictures({"class": "spam"})]
    return {picture.figure.chart.__name__: picture.chart for picture in drawn}


@pytest.mark.parametrize("name", sorted({figure.chart.__name__ for figure in DECLARED if figure.chart}))
def test_every_chart_renders(name, pictures, tmp_path):
    charts.save(pictures[name], tmp_path / "chart.svg")
    svg = (tmp_path / "chart.svg").read_text()
    assert svg.startswith("<svg")
    assert svg.count("<path") > 3
    assert "<script" not in svg
    assert "NaN" not in svg


@pytest.mark.slow
def test_the_gallery_shows_every_chart(tmp_path):
    runpy.run_path(str(ROOT / "examples" / "gallery.py"))["main"](tmp_path)
    written = {file.name for file in (tmp_path / "pictures").iterdir()}
    assert written == {f"{figure.chart.__name__}.svg" for figure in DECLARED if figure.chart}
    assert all(file.stat().st_size < 100_000 for file in (tmp_path / "pictures").iterdir())
    page = (tmp_path / "gallery.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(pictures/([\w.]+)\)", page)) == written
    assert page == (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert {file.name for file in (ROOT / "docs" / "pictures").iterdir()} == written


@pytest.mark.parametrize("measure", ["f1", "recall", "f1_break_even"])
def test_shared_tables_change_no_number(study_rows, measure):
    """Every table from rows whose tables are shared, in two orders, beside the same one made alone."""
    other = study_rows.filter(pl.col("size_kind") == "k").with_columns(size_kind=pl.lit("sparsity"))
    rows = pl.concat([study_rows, other.with_columns(pl.col("tp") // 2, size=pl.col("size") / 10)])
    even = {f"be_{cell}": pl.col(cell).cast(pl.Float64) for cell in ("tp", "fp", "fn")}
    rows = rows.with_columns(**even).with_columns(be_fp=pl.col("be_fn") + 1)
    figures = [figure for section in study.SECTIONS for figure in section.figures if "rows" in figure.needs]
    own = {"measure": measure, "size_kind": "sparsity", "side": "high", "threshold": None}
    calls = [
        (figure.table, {name: own[name] for name in figure.needs if name != "rows"})
        for figure in figures
        if figure.table is not analysis.setting_curves
    ]
    assert len(calls) > 9
    alone = [table(rows, **given) for table, given in calls]
    for step in (1, -1):
        (shared,) = values.by_learner(rows).values()
        for (table, given), want in list(zip(calls, alone, strict=True))[::step]:
            found = table(shared, **given)
            found, want = (each if isinstance(each, pl.DataFrame) else each.table for each in (found, want))
            assert found.equals(want), table.__name__


def test_what_figures_share_is_made_once(study_rows, monkeypatch):
    pooled = []

    def counted(*given, made=values._pooled):
        pooled.append(given[1])
        return made(*given)

    monkeypatch.setattr(values, "_pooled", counted)
    study_report(study_rows)
    assert pooled == ["f1", "f1_break_even"]  # precision, recall and accuracy are made of F1's sums
