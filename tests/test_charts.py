"""Charts of tables: what no report draws, refusals, files; test_reports_figures.py draws the others."""

import ast
import json
import re
import sys
from pathlib import Path

import polars as pl
import pytest

from termsieve import Counts, analysis, charts
from termsieve.charts.theme import script_json, vega_bundle
from termsieve.errors import InputError, ParameterError

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style>", "\u202eevil", "\ud800"]


@pytest.fixture(scope="module")
def counts():
    X = [[1, 1, 0, 1, 0], [1, 1, 0, 0, 1], [0, 0, 1, 1, 0], [0, 1, 1, 1, 0]]
    return Counts.from_matrix(X, ["<b>ham</b>", "<b>ham</b>", "spam", "spam"], terms=HOSTILE)


def test_charts_only_draw():
    """A chart knows tables: no module of `charts` imports what tables are made from."""
    for path in Path(charts.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("termsieve."):
                part = node.module.split(".")[1]
                typing_only = part == "analysis" and node.col_offset > 0
                assert part in ("charts", "errors", "files") or typing_only, (
                    f"{path.name} imports {node.module}"
                )


def test_a_micro_average_has_no_band(study_rows, tmp_path):
    micro = analysis.size_curves(study_rows, average="micro")
    charts.save(charts.curves(micro, x="sparsity"), tmp_path / "curves.svg")
    svg = (tmp_path / "curves.svg").read_text()
    assert "distinct terms per document" in svg
    assert "mark-area" not in svg


def test_pairs_show_each_method_alone_on_the_diagonal(study_rows):
    chart = charts.pairs(analysis.pair_chances(study_rows)).to_dict()
    (cells,) = chart["datasets"].values()
    alone = analysis.best_chances(study_rows, tolerances=[0.01])
    diagonal = {cell["first"]: cell["share"] for cell in cells if cell["first"] == cell["second"]}
    assert diagonal == dict(zip(alone["method"], alone["share"], strict=True))
    assert len(cells) == len(diagonal) ** 2


def test_backups_are_those_of_the_smallest_tolerance(study_rows):
    weakest = analysis.best_chances(study_rows, tolerances=[0.01]).sort("share")["method"][0]
    table = analysis.backups(study_rows, weakest, tolerances=[0.05, 0.01])
    nearest = table.filter(pl.col("tolerance") == 0.01)
    chart = charts.backups(table, "recall").to_dict()
    (bars,) = chart["datasets"].values()
    assert [(bar["method"], bar["share"]) for bar in bars] == nearest.select("method", "share").rows()
    title = " ".join(chart["layer"][0]["encoding"]["x"]["title"])
    assert f"the {nearest['n_failed'][0]} problems where {nearest['leader'][0]} is not within 1.0%" in title
    none = table.with_columns(share=pl.lit(None, dtype=pl.Float64), n_failed=pl.lit(0))
    assert "the 0 problems" in " ".join(charts.backups(none).to_dict()["layer"][0]["encoding"]["x"]["title"])


def test_files(counts, tmp_path):
    chart = charts.roc_map(analysis.roc_map(counts, "spam", sizes=(2, 3)))
    for kind in ("html", "png", "json"):
        charts.save(chart, tmp_path / f"chart.{kind}")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    assert "$schema" in json.loads((tmp_path / "chart.json").read_text())
    page = (tmp_path / "chart.html").read_text(encoding="utf-8")
    assert page.count("<script>") == 2
    assert "</script>alert" not in page
    assert "alert(1)\\u003c/script\\u003e" in page
    with pytest.raises(ParameterError, match="saved as"):
        charts.save(chart, tmp_path / "chart.gif")


def test_the_map_marks_stop_words_cutoffs_and_twelve_metrics(counts, tmp_path):
    metrics = ["bns", "ig", "chi", "odds", "pr", "acc", "acc2", "f1", "oddn", "pow", "cc", "gss"]
    table = analysis.roc_map(counts, "spam", metrics, sizes=[3], stop_words=HOSTILE[1:3], cutoffs=[3])
    charts.save(charts.roc_map(table), tmp_path / "map.svg")
    plain = charts.roc_map(analysis.roc_map(counts, "spam", metrics, sizes=[3]))
    charts.save(plain, tmp_path / "plain.svg")
    svg, without = ((tmp_path / name).read_text() for name in ("map.svg", "plain.svg"))
    assert "in 3 documents" in svg
    assert "in 3 documents" not in without
    assert all(name in svg for name in table.metrics)
    assert svg.count("mark-symbol role-mark layer_") == without.count("mark-symbol role-mark layer_") + 1
    dashes = set(re.findall(r'stroke-dasharray="([\d,]+)"', without))
    assert "6,3" in dashes  # the eighth metric and those after it share colours with the first


def test_classes_with_terms_of_one_direction_only_have_no_point():
    rows = [("a", 4.0, 2.0), ("b", 3.0, None), ("c", None, 1.0)]
    rows = [{"class": c, "metric": "x", "positive_score": p, "negative_score": n} for c, p, n in rows]
    table = pl.DataFrame(rows).with_columns(positive_term=pl.lit("p"), negative_term=pl.lit("n"))
    drawn = charts.largest_scores(table).to_dict()["datasets"].values()
    assert [row["class"] for part in drawn for row in part if "class" in row] == ["a"]
    with pytest.raises(InputError, match="no class has both a positive and a negative term"):
        charts.largest_scores(table.filter(pl.col("class") != "a"))


def test_implied_ratios_are_shown_first_at_the_size_nearest_to_50():
    rows = [{"class": "a", "metric": "x", "size": n, "ratio": 0.5} for n in (10, 40, 100)]
    (choose,) = charts.implied_ratios(pl.DataFrame(rows)).to_dict()["params"]
    assert choose["value"] == [{"size": 40}] or choose["value"] == 40
    assert choose["bind"]["options"] == [10, 40, 100]
    with pytest.raises(InputError, match="nothing to draw"):
        charts.implied_ratios(pl.DataFrame(rows).clear())


def test_script_json_cannot_end_its_element():
    text = script_json({"a": "</script><!--&", "b": [1.5, None]})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"a": "</script><!--&", "b": [1.5, None]}
    assert "</script" not in vega_bundle()
    assert "<!--" not in vega_bundle()


def test_the_critical_difference_joins_the_largest_groups():
    from termsieve.charts.of_results import _untold_groups

    assert _untold_groups([1.0, 1.5, 2.4, 2.6, 5.0], 1.2) == [(1.0, 1.5), (1.5, 2.6)]
    assert _untold_groups([1.0, 3.0], 1.2) == []


def test_refusals(study_rows):
    two = pl.concat([study_rows, study_rows.with_columns(learner=pl.lit("nb"))])
    with pytest.raises(InputError, match="one learner; choose one of: nb, svm"):
        charts.curves(analysis.size_curves(two))
    only_all = analysis.size_curves(study_rows).filter(pl.col("size_kind") == "all")
    with pytest.raises(InputError, match="no sizes"):
        charts.curves(only_all)
    with pytest.raises(InputError, match="nothing to draw"):
        charts.overlap(analysis.overlaps({}))


@pytest.mark.slow
def test_the_script_is_put_together_once_for_all_processes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    script = vega_bundle.__wrapped__()
    monkeypatch.setitem(sys.modules, "vl_convert", None)  # it cannot be imported any more
    assert vega_bundle.__wrapped__() == script


def test_a_share_over_time_is_drawn_from_zero():
    table = pl.DataFrame({"period": ["a", "b"], "share": [0.875, 0.874], "changed": ["no", "no"]})
    for layer in charts.over_time(table, "share", "share").to_dict()["layer"]:
        assert layer["encoding"]["y"]["scale"] == {"zero": True}
        assert layer["encoding"]["y"]["axis"]["tickMinStep"] == 0.01
