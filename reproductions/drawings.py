"""The stored tables of a paper come in; charts of termsieve with the paper's printed numbers go out.

A drawing is made from reproductions/results alone (the maps of terms from SciPy's docstrings), so that
`python -m reproductions pictures` needs no corpus and no run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import altair as alt
import polars as pl

from reproductions.pages import table
from termsieve import Counts, analysis, charts, load_docstrings, term_matrix
from termsieve.analysis.findings import forman2003, li2009, mladenic2004, zheng2004
from termsieve.analysis.findings.evidence import paper_figures
from termsieve.analysis.roc import usual_cutoffs, usual_stop_words
from termsieve.charts.of_results import methods_in
from termsieve.charts.theme import (
    FOUND,
    HEIGHT,
    colour,
    layered,
    measure_label,
    records,
    shape,
)

PRINTED = "Hollow signs are the numbers that the paper prints."


def stored(paper: str, kind: str, **where: Any) -> pl.DataFrame:
    """Return the rows of a stored table with these values."""
    own = table(paper, kind)
    for column, value in where.items():
        own = own.filter(pl.col(column) == value)
    if own.is_empty():
        raise ValueError(f"reproductions/results/{paper}_{kind}.csv has no row of: {where}")
    return own


def curve_table(own: pl.DataFrame, size_kind: str = "k") -> pl.DataFrame:
    """Return stored averages as the table that `charts.curves` draws."""
    kind = pl.when(pl.col("size").is_null()).then(pl.lit("all")).otherwise(pl.lit(size_kind))
    band = pl.lit(None, dtype=pl.Float64)
    return own.with_columns(pl.col("size").cast(pl.Float64), size_kind=kind, low=band, high=band)


def renamed(own: pl.DataFrame, names: Mapping[str, str], column: str = "method") -> pl.DataFrame:
    """Return the rows of some methods under shorter names; all features stay."""
    known = {**names, "all": "all"}
    return own.filter(pl.col(column).is_in(list(known))).with_columns(pl.col(column).replace(known))


def with_printed(
    chart: alt.LayerChart,
    names: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    x: str = "size",
    y: str = "value",
) -> alt.LayerChart:
    """Return the chart with the paper's numbers as hollow signs; rows hold method, x and y."""
    points = alt.Chart(records([dict(row) for row in rows])).mark_point(
        filled=False, size=110, strokeWidth=1.6, opacity=0.9
    )
    points = points.encode(x=alt.X(f"{x}:Q"), y=alt.Y(f"{y}:Q"), color=colour(names), shape=shape(names))
    return layered(chart, points, title=alt.Title(PRINTED, fontSize=11, fontWeight="normal"))


# forman2003

WEAK = ("document_frequency", "random")


def forman_curves(measure: str, plan: str = forman2003.PAPER, learner: str = "svm") -> alt.LayerChart:
    """Return the twelve metrics by number of terms."""
    own = stored("forman2003", "curves", plan=plan, learner=learner, measure=measure)
    return charts.curves(curve_table(_without_weak(own)), measure)


def _without_weak(own: pl.DataFrame) -> pl.DataFrame:
    """Return the rows without the two metrics far below the others, which would press these together."""
    return own.filter(~pl.col("method").is_in(WEAK))


def forman_precision_recall() -> alt.LayerChart:
    """Return precision against recall at 1,000 terms."""
    own = stored("forman2003", "curves", plan="forman2003", learner="svm", size=1000.0)
    wide = own.pivot(on="measure", index="method", values="value").with_columns(learner=pl.lit("svm"))
    return charts.precision_recall(wide)


def forman_by_skew() -> alt.LayerChart:
    """Return F1 of each problem at its best size against its skew."""
    own = stored("forman2003", "problems", learner=forman2003.SMO)
    return charts.skew(own, "f1")


def forman_side(measure: str, side: str) -> alt.LayerChart:
    """Return the curves of the problems on one side of 1:67."""
    own = stored("forman2003", "skew", plan="forman2003", measure=measure, skew_side=side)
    return charts.curves(curve_table(_without_weak(own)), measure)


def forman_chances(goal: str) -> Any:
    """Return the share of problems within each tolerance of the best; the paper prints two of F1."""
    own = stored("forman2003", "chances", learner=forman2003.SMO, goal=goal)
    chart = charts.chances(own, goal)
    if goal != "f1":
        return chart
    rows = [{"method": name, "tolerance": 0.01, "share": share} for name, share in forman2003.CHANCES.items()]
    return with_printed(alt.layer(chart), methods_in(own), rows, "tolerance", "share")


def forman_pairs(goal: str) -> alt.LayerChart:
    """Return how often either of two metrics is near the best; the paper names the best pair."""
    own = stored("forman2003", "pairs", learner=forman2003.SMO, goal=goal)
    first, second = forman2003.PAIRS[goal]
    named = f"The paper's best pair: {first} + {second}."
    return charts.pairs(own).properties(title=alt.Title(named, fontSize=11, fontWeight="normal"))


def forman_backups() -> alt.Chart:
    """Return how often another metric is near the best precision where information gain is not."""
    own = stored("forman2003", "backups", learner=forman2003.SMO)
    return charts.backups(own.with_columns(leader=pl.lit(forman2003.IG), tolerance=pl.lit(0.01)), "precision")


def forman_setting(plan: str, setting: str, measure: str, size: float) -> alt.LayerChart:
    """Return a measure of bns on two data sets by the rare-word cut-off or by alpha."""
    own = stored("forman2003", "curves", plan=plan, measure=measure, size=size)
    plain = {"min_df": 1.0, "alpha": 0.5}[setting]
    value = pl.col("method").str.extract(rf"^bns {setting}=([\d.]+)$", 1).cast(pl.Float64)
    value = pl.when(pl.col("method") == "bns").then(plain).otherwise(value)
    own = own.with_columns(setting=value, method="corpus").drop_nulls("setting").sort("method", "setting")
    return charts.setting_curves(own, setting, measure)


def forman_pilot() -> alt.LayerChart:
    """Return F1 of the four learners by number of terms, ranked by bns."""
    own = stored("forman2003", "curves", plan=forman2003.PILOT, measure="f1", method="bns")
    own = own.with_columns(method="learner", learner=pl.lit(""))
    return charts.curves(curve_table(own), "f1")


@cache
def docstring_counts() -> Counts:
    """Return the counts of SciPy's docstrings, which every installation has."""
    documents = load_docstrings()
    X, terms = term_matrix(documents)
    return Counts.from_matrix(X, documents.labels, terms=terms)


METRICS = ("acc", "acc2", "bns", "chi", "dfreq", "f1", "ig", "oddn", "odds", "pow", "pr")


def roc_map(near: bool) -> alt.LayerChart:
    """Return the map of one class with all words, eleven metrics, stop words and two cut-offs."""
    counts = docstring_counts()
    marks = {"stop_words": usual_stop_words(counts), "cutoffs": usual_cutoffs(counts.n_docs)}
    found = analysis.roc_map(counts, "stats", METRICS, [100], max_points=240, **marks)
    chart = charts.roc_map(found)
    for parameter in chart.params:
        if parameter.name == "near" and not near:
            parameter.value = "whole plane"
    return chart


def contour_map(metric: str) -> alt.Chart:
    """Return the lines of equal score of a metric for a class of 100 documents among 1,100."""
    return charts.isocline_family(analysis.isocline_family(metric, 100, 1000))


def bns_surface() -> alt.LayerChart:
    """Return the surface of bns above the ROC plane."""
    return charts.score_surface(analysis.score_surface("bns"))


# zheng2004


def zheng_curves(learner: str, average: str, methods: Sequence[str]) -> alt.LayerChart:
    """Return F1 at break-even by number of terms, with all numbers that the paper's tables print."""
    names = {zheng2004.METHODS[name]: name for name in methods}
    where = {"plan": "zheng2004", "learner": zheng2004.LEARNERS[learner], "average": average}
    own = renamed(stored("zheng2004", "curves", **where), names)
    paper = paper_figures("zheng2004").filter(
        pl.col("learner") == learner,
        pl.col("average") == average,
        pl.col("method").is_in(list(methods)),
        pl.col("terms").is_not_null(),
    )
    rows = paper.select("method", size="terms", value="f1").to_dicts()
    return with_printed(charts.curves(curve_table(own), "f1_break_even"), sorted(methods), rows)


def zheng_ratios(chosen_by: Sequence[str]) -> alt.LayerChart:
    """Return the share of positive terms of each category, the largest category first."""
    own = stored("zheng2004", "ratios").filter(
        pl.col("chosen_by").is_in(list(chosen_by)), ~pl.col("problem").is_in(zheng2004.LARGEST)
    )
    names = sorted(chosen_by)
    order = own["problem"].unique(maintain_order=True).to_list()
    x = alt.X("problem:N", sort=order, title="categories, the largest first", axis=alt.Axis(labelAngle=-90))
    y = alt.Y("ratio:Q", scale=alt.Scale(domain=[0, 1]), title="share of positive terms among 50")
    base = alt.Chart(records(own.select("problem", "ratio", method="chosen_by"))).encode(x=x, y=y)
    dots = base.mark_point(filled=True, size=45, opacity=0.85).encode(color=colour(names), shape=shape(names))
    layers = [dots]
    if "icc ideal, nb" in chosen_by:
        rows = [{"problem": p, "ratio": r, "method": "icc ideal, nb"} for p, r in zheng2004.RATIOS.items()]
        paper = alt.Chart(records(rows)).mark_point(filled=False, size=150, strokeWidth=2)
        layers.append(paper.encode(x=x, y=y, color=colour(names), shape=shape(names)))
    title = PRINTED if len(layers) > 1 else ""
    return layered(*layers, width=760, title=alt.Title(title, fontSize=11, fontWeight="normal"))


def zheng_tuning(learner: str) -> alt.LayerChart:
    """Return F1 against the ratio for four categories; a line is the best ratio that the paper prints."""
    own = stored("zheng2004", "tuning", learner=learner).with_columns(method="problem")
    names = sorted(zheng2004.RATIOS)
    base = alt.Chart(records(own)).encode(
        x=alt.X("candidate:Q", title="share of positive terms among 50"),
        y=alt.Y("value:Q", title=measure_label("f1_break_even")),
        color=colour(names),
    )
    layers: list[Any] = [
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=40).encode(shape=shape(names)),
    ]
    title = ""
    if learner == "nb":
        rows = [{"candidate": ratio, "method": name} for name, ratio in zheng2004.RATIOS.items()]
        rule = alt.Chart(records(rows)).mark_rule(strokeDash=[5, 3], strokeWidth=1.6)
        layers.append(rule.encode(x=alt.X("candidate:Q"), color=colour(names)))
        title = "Dashed lines are the best ratios that the paper prints."
    return layered(*layers, title=alt.Title(title, fontSize=11, fontWeight="normal"))


def zheng_scores(metric: str) -> alt.LayerChart:
    """Return the largest scores of Table 7, ours against the paper's, one point per category and side."""
    own = stored("zheng2004", "cells", table="Table 7")
    own = own.filter(pl.col("column").str.starts_with(f"{metric} "), pl.col("paper") > 0, pl.col("ours") > 0)
    own = own.with_columns(method=pl.format("{} terms", pl.col("column").str.split(" ").list.last()))
    names = methods_in(own)
    values = [*own["paper"], *own["ours"]]
    low, high = min(values), max(values)
    scale = alt.Scale(type="log", domain=[low, high])
    axis = alt.Axis(format="~g", labelOverlap="greedy", grid=False)
    x = alt.X("paper:Q", scale=scale, axis=axis, title="the paper's Table 7")
    y = alt.Y("ours:Q", scale=scale, axis=axis, title="ours")
    points = alt.Chart(records(own.select("method", "paper", "ours"))).mark_point(filled=True, size=45)
    points = points.encode(x=x, y=y, color=colour(names), shape=shape(names))
    ends = records([{"paper": low, "ours": low}, {"paper": high, "ours": high}])
    line = alt.Chart(ends).mark_line(color=FOUND, strokeWidth=0.8, strokeDash=[4, 3]).encode(x=x, y=y)
    return layered(line, points, width=HEIGHT)


# uchyigit2007


def uchyigit_curves(measure: str, plan: str, learner: str) -> alt.LayerChart:
    """Return the ten metrics by number of terms in one reading."""
    own = stored("uchyigit2007", "curves", plan=plan, learner=learner, measure=measure)
    own = own.with_columns(pl.col("method").str.replace(" side=positive", ""))
    own = own.with_columns(pl.col("method").replace({"correlation_coefficient": "ngl"}))
    return charts.curves(curve_table(own), measure)


# mladenic2004

BEST_LEVELS = {"odds ratio": 20.0, "ig": 2.5, "svm-1": 5.0, "svm-1/4": 5.0, "svm-1/16": 5.0}
BEST_LEVELS |= dict.fromkeys(("perceptron-1", "perceptron-1/4", "perceptron-1/16"), 10.0)
RANKINGS = {method: name for name, method in mladenic2004.RANKINGS.items()}


def mladenic_curves(plan: str, learner: str, measure: str) -> alt.LayerChart:
    """Return the eight rankings by sparsity; on RCV1 with naive Bayes, the paper's best of each."""
    own = stored("mladenic2004", "curves", plan=plan, learner=learner, measure=measure, average="macro")
    chart = charts.curves(curve_table(renamed(own, RANKINGS), "sparsity"), measure)
    if (plan, learner) != (mladenic2004.PAPER, "nb"):
        return chart
    rows = [
        {"method": name, "size": BEST_LEVELS[name], "value": value}
        for name, value in mladenic2004.BEST_NB.items()
    ]
    return with_printed(chart, sorted(mladenic2004.BEST_NB), rows)


def mladenic_by_terms() -> alt.LayerChart:
    """Return F1 of naive Bayes against the number of terms instead of the sparsity."""
    own = curve_table(
        renamed(stored("mladenic2004", "terms", plan="mladenic2004_reuters"), RANKINGS), "sparsity"
    )
    return charts.curves(own, "f1", x="n_terms")


def mladenic_sparsity() -> alt.Chart:
    """Return the sparsity as a function of the number of terms."""
    own = renamed(
        stored("mladenic2004", "terms", plan="mladenic2004_reuters").filter(pl.col("method") != "all"),
        RANKINGS,
    )
    return charts.sparsity(own.select("sparsity", metric="method", terms="n_terms").sort("metric", "terms"))


def mladenic_memory(plan: str, learner: str, measure: str) -> alt.LayerChart:
    """Return F1 by the share of the documents that a memory budget is spent on; the paper's for its SVM."""
    own = stored("mladenic2004", "curves", plan=plan, learner=learner, measure=measure, average="macro")
    budgets = {f"memory({model}, {a})": f"M/{a}" for model in ("svm", "perceptron") for a in (1, 2, 4, 8, 16)}
    own = renamed(own.filter(pl.col("method") != "all", pl.col("method").str.contains("svm")), budgets)
    chart = charts.curves(curve_table(own, "documents"), measure)
    if (plan, learner) != (mladenic2004.MEMORY[0], "svm"):
        return chart
    rows = [
        {"method": f"M/{budget}", "size": share, "value": value}
        for (budget, share), value in mladenic2004.MEMORY_SVM.items()
    ]
    return with_printed(chart, sorted(own["method"].unique()), rows)


# li2009


def li_curves(corpus: str) -> alt.LayerChart:
    """Return the accuracies of one split by number of terms."""
    own = stored("li2009", "curves", plan=li2009.PAPER, corpus=corpus, measure="accuracy")
    return charts.curves(curve_table(_plain(own)), "accuracy")


def li_splits(corpus: str) -> alt.LayerChart:
    """Return the mean accuracies of ten splits with their standard errors."""
    own = curve_table(_plain(stored("li2009", "splits", corpus=corpus)))
    low, high = (pl.col("value") + sign * pl.col("error") for sign in (-1, 1))
    return charts.curves(own.with_columns(low=low, high=high), "accuracy")


def _plain(own: pl.DataFrame) -> pl.DataFrame:
    return own.with_columns(pl.col("method").str.replace(r" (side|combine)=\w+", ""))


def li_lambdas() -> alt.LayerChart:
    """Return the learned lambda by number of terms, with the paper's."""
    own = stored("li2009", "lambdas", table="Lambda").select(
        method="row", size=pl.col("column").cast(pl.Float64), value="ours", paper="paper"
    )
    chart = charts.curves(curve_table(own.sort("method", "size")), "lambda")
    paper = own.drop_nulls("paper").select("method", "size", value="paper").to_dicts()
    return with_printed(chart, methods_in(own), paper)


CORPORA = list(li2009.CORPORA.values())
