"""Isoclines against the metrics themselves and contourpy; every chart drawn by the real renderer."""

import itertools
import json
import re
import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from contourpy import contour_generator
from hypothesis import given, settings
from hypothesis import strategies as st

from termsieve import METRICS, Counts, analysis, charts, cut, get_metric, rank, score
from termsieve.charts.contours import Grid, score_grid
from termsieve.charts.theme import script_json, vega_bundle
from termsieve.errors import InputError, ParameterError, UnknownNameError

ELEMENTWISE = [name for name, each in METRICS.items() if each.elementwise]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style>",
    "\u202eevil",
    "x" * 300,
    "🐘",
    "\ud800",
]


def random_counts(seed, n_terms=60, pos=25, neg=40):
    generator = np.random.default_rng(seed)
    tp = generator.binomial(pos, generator.beta(0.3, 1, n_terms))
    fp = generator.binomial(neg, generator.beta(0.3, 1, n_terms))
    return Counts([tp], [pos], tp + fp, pos + neg, ["c"], [f"w{i}" for i in range(n_terms)], multilabel=True)


def key(name, tp, fp, pos, neg):
    """What a ranking of both sides sorts by, from the definition alone."""
    chosen = get_metric(name)
    tp, fp = np.asarray(tp, dtype=float), np.asarray(fp, dtype=float)
    if chosen.folds:
        mirrored = tp * neg < fp * pos
        tp, fp = np.where(mirrored, pos - tp, tp), np.where(mirrored, neg - fp, fp)
    value = chosen(tp, fp, pos, neg)
    return np.abs(value) if chosen.kind == "signed" else value


@pytest.mark.parametrize("name", ELEMENTWISE)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 40))
def test_the_level_divides_selected_from_unselected_terms(name, seed, k):
    counts = random_counts(seed)
    ranking = rank(score(counts, name))
    k = min(k, len(ranking))
    chosen = cut(ranking, k=k)
    rest = np.setdiff1d(ranking.order, chosen)
    level = ranking.scores[ranking.order[k - 1]]
    values = key(name, counts.tp[0], counts.fp[0], 25, 40)
    slack = 1e-9 * max(1, abs(level))
    assert (values[chosen] >= level - slack).all()
    assert (values[rest] <= level + slack).all()


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize(("pos", "neg"), [(7, 30), (300, 4000)])
def test_a_drawn_line_is_within_a_grid_cell_of_the_exact_level_set(name, pos, neg):
    grid = score_grid(get_metric(name), pos, neg)
    values = key(name, grid.tp[:, None], grid.fp[None, :], pos, neg)
    levels = np.quantile(values, [0.5, 0.8, 0.97])
    # A value a hair above the level may be drawn on either side.
    slack = 1e-9 * max(1, np.abs(levels).max())
    for level in levels:
        high, low = values >= level - slack, values < level + slack
        lines = grid.level_lines(float(level))
        for line in lines:
            for point in densely(line):
                i, j = cell(grid.tp, point[1]), cell(grid.fp, point[0])
                near = np.s_[max(i - 1, 0) : i + 3, max(j - 1, 0) : j + 3]
                assert high[near].any(), (level, point)
                assert low[near].any(), (level, point)
        assert bool(lines) == bool(high.all() != low.any() and high.any() and (values < level).any())


def cell(ticks, value):
    return int(np.clip(np.searchsorted(ticks, value, side="right") - 1, 0, len(ticks) - 2))


def densely(line, n=5):
    return np.concatenate([np.linspace(a, b, n) for a, b in itertools.pairwise(line)])


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_every_step_across_the_level_between_two_tables_has_a_line(name):
    """On a full lattice the lines cross exactly the edges whose ends are on different sides."""
    pos, neg = 9, 14
    values = key(name, np.arange(pos + 1)[:, None], np.arange(neg + 1)[None, :], pos, neg)
    level = float(np.quantile(values, 0.8))
    grid = Grid(np.arange(neg + 1.0), np.arange(pos + 1.0), values)
    above = values >= level
    steps = int((above[1:] != above[:-1]).sum() + (above[:, 1:] != above[:, :-1]).sum())
    points = [
        line[:-1] if (line[0] == line[-1]).all() else line for line in grid.level_lines(level, tolerance=-1)
    ]
    assert sum(map(len, points)) == steps
    for fp, tp in np.concatenate(points) if points else []:
        ends = above[int(np.floor(tp)) : int(np.ceil(tp)) + 1, int(np.floor(fp)) : int(np.ceil(fp)) + 1]
        on_node = float(fp).is_integer() and float(tp).is_integer()
        assert on_node or ends.any() != ends.all()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), shape=st.tuples(st.integers(2, 9), st.integers(2, 9)))
def test_lines_are_those_of_contourpy(seed, shape):
    """Away from saddles, which contourpy settles its own way, the two agree point for point."""
    generator = np.random.default_rng(seed)
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    a, b, c = generator.normal(size=3)
    values = a * rows + b * columns + 0.1 * c * rows * columns + generator.uniform()
    level = float(np.median(values) + 1e-6)
    wanted = contour_generator(z=values, name="serial").lines(level)
    found = Grid(np.arange(shape[1], dtype=float), np.arange(shape[0], dtype=float), values).level_lines(
        level, -1
    )
    points = [
        sorted(map(tuple, np.concatenate([*lines, np.empty((0, 2))]).tolist())) for lines in (found, wanted)
    ]
    assert np.allclose(*points)


def test_a_line_keeps_its_shape_when_it_is_thinned():
    values = np.hypot(*np.meshgrid(np.linspace(-1, 1, 81), np.linspace(-1, 1, 81)))
    grid = Grid(np.linspace(-1, 1, 81), np.linspace(-1, 1, 81), values)
    (whole,), (thin,) = grid.level_lines(0.7, tolerance=-1), grid.level_lines(0.7)
    assert len(thin) < len(whole) / 3
    assert (thin[0] == thin[-1]).all()  # a closed line stays closed
    assert np.abs(np.hypot(*densely(thin).T) - 0.7).max() < 0.1 * 0.025 * 1.5


def test_both_branches_of_a_two_sided_metric_are_drawn():
    counts = random_counts(1, n_terms=200)
    lines = charts.isoclines(counts, metrics=["bns", "wllr"], sizes=[20])
    sides = {}
    for (name, _), part in lines.group_by("metric", "line"):
        middle = part.sort("step").row(part.height // 2, named=True)
        sides.setdefault(name, set()).add(bool(middle["tp"] * 40 > middle["fp"] * 25))
    assert sides["bns"] == {True, False}
    assert sides["wllr"] == {True}


def test_sizes_beyond_the_terms_have_no_line_and_other_metrics_none_at_all():
    counts = random_counts(2)
    assert charts.isoclines(counts, metrics=["bns"], sizes=[5000]).is_empty()
    with pytest.raises(ParameterError, match="metric 'random' has no isoclines"):
        charts.isoclines(counts, metrics=["random"])
    with pytest.raises(ParameterError, match="1 to 5 metrics, not 6"):
        charts.roc_map(counts, metrics=["bns"] * 6)
    assert not charts.isoclines(counts, metrics=[lambda tp, fp, pos, neg: tp - 2 * fp], sizes=[9]).is_empty()


def test_points_group_the_terms_that_share_a_table():
    X = [[1, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]]
    counts = Counts.from_matrix(X, ["a", "a", "b"], terms=["w", "v", "u", "t"])
    made = charts.term_points(counts, "a")
    assert sorted(made.rows()) == [(0, 2, 2, "w, v"), (1, 0, 1, "u"), (1, 1, 1, "t")]
    assert (
        charts.term_points(counts, "a", max_words=1).filter(pl.col("terms") == 2)["words"].item()
        == "w and 1 more"
    )
    kept = charts.term_points(counts, "a", metrics=["accuracy"], max_points=1)
    assert kept["words"].to_list() == ["w, v"]
    with pytest.raises(UnknownNameError, match="class 'c' is unknown"):
        charts.term_points(counts, "c")
    three = Counts.from_matrix(X, ["a", "b", "c"])
    with pytest.raises(ParameterError, match="3 classes; choose one with label="):
        charts.roc_map(three)


def test_points_count_every_present_term_once():
    counts = random_counts(5, n_terms=500)
    made = charts.term_points(counts)
    assert made["terms"].sum() == int((counts.df > 0).sum())
    assert made.select("fp", "tp").n_unique() == made.height


@pytest.fixture(scope="module")
def counts():
    generator = np.random.default_rng(3)
    y = np.array(["<b>ham</b>", "spam", "eggs"])[generator.integers(0, 3, 90)]
    rates = 0.1 + 0.8 * generator.random((3, 60)) * generator.random(60)
    X = generator.random((90, 60)) < rates[np.unique(y, return_inverse=True)[1]]
    return Counts.from_matrix(X.astype(int), y, terms=HOSTILE + [f"w{i}" for i in range(60 - len(HOSTILE))])


@pytest.fixture(scope="module")
def selections():
    runs = [(p, fold, size) for p in "pqr" for fold in (0, 1) for size in (5.0, 10.0)]
    fixed = {"corpus": "c", "trial": 0, "method": "icc", "learner": "nb", "size_kind": "k", "lam": 0.5}
    curve = [0.1 * i for i in range(11)]
    return pl.DataFrame(
        [
            fixed
            | {"problem": p, "fold": f, "size": size, "ratio": 0.2 * f, "curve": curve}
            | {"terms": list(range(f, f + int(size)))}
            for p, f, size in runs
        ]
    )


CHARTS = {
    "roc_map": lambda counts, rows, chosen: charts.roc_map(counts, "spam", sizes=(5, 10)),
    "isocline_family": lambda counts, rows, chosen: charts.isocline_family("ig", levels=3),
    "term_bars": lambda counts, rows, chosen: charts.term_bars(counts, "spam"),
    "overlap": lambda counts, rows, chosen: charts.overlap(
        charts.metric_overlaps(counts, ["bns", "chi"], 10)
    ),
    "sparsity": lambda counts, rows, chosen: charts.sparsity(charts.sparsity_table(counts, ["bns", "df"])),
    "curves": lambda counts, rows, chosen: charts.curves(analysis.size_curves(rows)),
    "curves micro": lambda counts, rows, chosen: charts.curves(
        analysis.size_curves(rows, average="micro"), x="sparsity"
    ),
    "precision_recall": lambda counts, rows, chosen: charts.precision_recall(
        analysis.precision_recall(rows, 50)
    ),
    "skew": lambda counts, rows, chosen: charts.skew(analysis.by_skew(rows)),
    "chances": lambda counts, rows, chosen: charts.chances(analysis.best_chances(rows)),
    "pairs": lambda counts, rows, chosen: charts.pairs(
        analysis.pair_chances(rows), analysis.best_chances(rows)
    ),
    "trade_off": lambda counts, rows, chosen: charts.trade_off(analysis.trade_offs(rows)),
    "critical_difference": lambda counts, rows, chosen: charts.critical_difference(analysis.mean_ranks(rows)),
    "tuning_curves": lambda counts, rows, chosen: charts.tuning_curves(analysis.tuning_curves(chosen)),
    "chosen_parameters": lambda counts, rows, chosen: charts.chosen_parameters(
        analysis.chosen_parameters(chosen), "lam"
    ),
    "stability": lambda counts, rows, chosen: charts.stability(analysis.fold_stability(chosen)),
}


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_renders(name, counts, study_rows, selections, tmp_path):
    chart = CHARTS[name](counts, study_rows, selections)
    charts.save(chart, tmp_path / "chart.svg")
    svg = (tmp_path / "chart.svg").read_text()
    assert svg.startswith("<svg")
    assert svg.count("<path") > 3
    assert "<script" not in svg
    assert "NaN" not in svg


def test_every_chart_function_is_drawn_here():
    makers = {name for name in charts.__all__ if name not in ("PALETTE", "save", "roc_chart", "bar_panel")}
    tables = {"isoclines", "term_points", "telling_terms", "metric_overlaps", "sparsity_table"}
    assert makers - tables == {name.split()[0] for name in CHARTS}


def test_files(counts, tmp_path):
    chart = CHARTS["roc_map"](counts, None, None)
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


def test_telling_terms_are_the_best_of_each_direction(counts):
    made = charts.telling_terms(counts, "eggs", "chi_squared", n=3)
    assert made["speaks"].to_list() == ["for"] * 3 + ["against"] * 3
    c = counts.classes.tolist().index("eggs")
    tp, fp, pos, neg = counts.tp[c], counts.fp[c], counts.pos[c], counts.neg[c]
    values = get_metric("chi_squared")(tp, fp, pos, neg)
    best = values[tp * neg > fp * pos].max()
    assert made["score"][0] == pytest.approx(best)
    assert made["rank"].min() == 1


def test_refusals(study_rows):
    two = pl.concat([study_rows, study_rows.with_columns(learner=pl.lit("nb"))])
    with pytest.raises(InputError, match="one learner; choose one of: nb, svm"):
        charts.curves(analysis.size_curves(two))
    only_all = analysis.size_curves(study_rows).filter(pl.col("size_kind") == "all")
    with pytest.raises(InputError, match="no sizes"):
        charts.curves(only_all)
    with pytest.raises(InputError, match="nothing to draw"):
        charts.overlap(analysis.overlaps({}))


def test_the_gallery_shows_every_chart(tmp_path):
    root = Path(__file__).parents[1]
    runpy.run_path(str(root / "examples" / "gallery.py"))["main"](tmp_path)
    made = {file.name for file in tmp_path.iterdir()}
    assert {file.split(".")[0] for file in made} == {name.split()[0] for name in CHARTS}
    assert all(file.stat().st_size < 100_000 for file in tmp_path.iterdir())
    page = (root / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(pictures/([\w.]+)\)", page)) == made
    assert {file.name for file in (root / "docs" / "pictures").iterdir()} == made
