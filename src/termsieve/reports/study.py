"""Results of a study come in; the study report goes out: claims, curves, chances, tests, the method."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import polars as pl

from termsieve import analysis
from termsieve.analysis.ratios import PARAMETERS
from termsieve.analysis.values import BREAK_EVEN, SharedRows, by_learner
from termsieve.charts.of_results import SETTING_LABELS, SIZE_LABELS
from termsieve.charts.of_tuning import PARAMETER_LABELS
from termsieve.charts.theme import measure_label
from termsieve.corpus import Corpus
from termsieve.errors import InputError
from termsieve.reports.claims import study_claims
from termsieve.reports.figures import Report
from termsieve.reports.page import Choice, Chooser, Page, Section, write
from termsieve.reports.planes import Plane, study_plane
from termsieve.reports.sections import SECTIONS
from termsieve.studies.results import Results

MEASURES = ("f1", "precision", "recall", "accuracy")
PACKAGES = ("termsieve", "numpy", "scipy", "scikit-learn", "polars")
MIN_SKEWS = 4  # with fewer different skews there is no trend


def study_report(
    results: Results | pl.DataFrame | pl.LazyFrame,
    path: str | os.PathLike[str] | None = None,
    *,
    selections: pl.DataFrame | pl.LazyFrame | None = None,
    measure: str = "f1",
    skew: float | None = None,
    title: str | None = None,
    data: str | os.PathLike[str] | None = None,
    corpora: Mapping[str, Corpus] | None = None,
    corpus: str | None = None,
    target: str | None = None,
) -> str:
    """Return the report of a study as one HTML document that needs no network.

    The figures over the ROC plane are about one problem. Its corpus is read for the map of words; also for
    the largest scores and the ratios that metrics imply, if methods choose ratios or metrics are signed; and
    for the sparsity by number of terms, if sizes are sparsities. Where the corpus is not found, the page says
    what is missing.

    Parameters
    ----------
    results : Results or polars frame
        The results of a study, or its rows.
    path : path, optional
        The file to write.
    selections : polars frame, optional
        The selections, if `results` is a frame of rows.
    measure : str, default="f1"
        The goal by which methods are compared, such as "f1", "recall" or "f1_break_even".
    skew : float, optional
        The skew (neg / pos) that separates less skewed from more skewed problems, such as 67 in forman2003;
        by default nine tenths of the problems count as less skewed.
    title : str, optional
        The title of the page.
    data : path, optional
        The folder that the plan's paths are relative to; by default the one that TERMSIEVE_DATA names, or
        the current folder.
    corpora : mapping of str to Corpus, optional
        Corpora in memory, by name, instead of reading them from files.
    corpus, target : str, optional
        The corpus and the class of the figures over the ROC plane; by default, of those that are left, the
        class of median skew.

    Returns
    -------
    str
        The HTML document.

    Examples
    --------
    >>> from termsieve import Results
    >>> page = study_report(Results.open("results"), "report.html", measure="f1")  # doctest: +SKIP
    """
    manifest: dict[str, Any] = {}
    study = results if isinstance(results, Results) else None
    if isinstance(results, Results):
        manifest, selections = results.manifest, results.selections() if selections is None else selections
        results = results.frame()
    elif not isinstance(results, pl.DataFrame | pl.LazyFrame):
        raise InputError(f"a report needs Results or a polars frame of rows, not {type(results).__name__}")
    rows = results.lazy().collect()
    if rows.is_empty():
        raise InputError("the results have no rows; run the study first")
    chosen = None if selections is None else selections.lazy().collect()
    plane = study_plane(rows, study, data=data, corpora=corpora, corpus=corpus, target=target)
    parts = by_learner(rows)
    report = study_figures(rows, chosen, measure, manifest.get("corpora", {}), skew, plane, parts)
    sections, notes = report.sections()
    page = Page(
        title=title or (f"Study {manifest['name']}" if manifest.get("name") else "Study"),
        facts=_facts(rows),
        claims=study_claims(parts, measure),
        sections=[*sections, _method_section(manifest)],
        notes=[*notes, *plane.notes],
    )
    return write(page.to_html(), path)


def study_figures(
    rows: pl.DataFrame,
    selections: pl.DataFrame | None = None,
    measure: str = "f1",
    corpora: Mapping[str, Mapping[str, Any]] | None = None,
    skew: float | None = None,
    plane: Plane | None = None,
    parts: Mapping[str, SharedRows] | None = None,
) -> Report:
    """Return the declared figures with the sources from result rows; see `study_report`.

    `corpora` describes the corpora by name, as a study's manifest does; `terms` is the size of a vocabulary.
    `parts` are the rows of each learner, if they are shared with something else.
    """
    plane = study_plane(rows) if plane is None else plane
    parts = by_learner(rows) if parts is None else parts
    vocabulary = {name: int(facts["terms"]) for name, facts in (corpora or {}).items() if "terms" in facts}
    tried = selections if selections is not None and not selections.is_empty() else None
    curves = _curves(rows, measure)
    return Report(
        SECTIONS,
        sources={
            "measure": measure,
            "goal": measure_label(measure),
            "threshold": skew,
            "corpora": dict(corpora or {}),
            "n_terms": vocabulary or None,
            "studied": rows.filter(pl.col("size_kind") == "k")["size"].unique().sort().to_list(),
            **plane.sources,
        },
        choosers=[
            Chooser("learner", "Learner", [Choice(str(name)) for name in parts]),
            Chooser("metric", "Metric", [Choice(name) for name in plane.metrics]),
        ],
        chosen={
            "learner": [_of_learner(own, tried, name) for name, own in parts.items()],
            "metric": [{"metric": name, "one_metric": [name]} for name in plane.metrics],
        },
        each={
            "curves": curves,
            "sparsities": [
                {**curve, "terms_column": "n_terms"}
                for curve in curves
                if (curve["size_kind"], curve["measure"]) == ("sparsity", measure)
            ],
            "sides": [
                {"side": "low", "side_label": "the less skewed problems"},
                {"side": "high", "side_label": _skewed_label(skew)},
            ],
            "settings": [
                {"setting": name, "setting_label": SETTING_LABELS[name]} | curve
                for name in analysis.setting_names(rows)
                for curve in curves[:4]
            ],
            "parameters": [
                {"parameter": name, "parameter_label": PARAMETER_LABELS[name]}
                for name in PARAMETERS
                if tried is not None and tried[name].null_count() < tried.height
            ],
        },
        lacking=_lacking(rows, tried, corpora or {}) | dict(plane.lacking),
    )


def _skewed_label(skew: float | None) -> str:
    return "the most skewed tenth" if skew is None else f"the problems of a skew above {skew:g}"


def _of_learner(rows: SharedRows, selections: pl.DataFrame | None, learner: str) -> dict[str, Any]:
    """Return the rows of a learner, and the selections that it was trained on."""
    sources: dict[str, Any] = {"rows": rows}
    if selections is not None:
        own = pl.col("learner").is_null() | (pl.col("learner") == learner)
        sources["selections"] = selections.filter(own).with_columns(learner=pl.lit(learner))
    return sources


def _curves(rows: pl.DataFrame, measure: str) -> list[dict[str, Any]]:
    """Return the curves to draw: for each kind of size the goal and the usual measures."""
    measures = list(MEASURES) if measure in MEASURES else [measure, *MEASURES]
    if rows["be_tp"].null_count() < rows.height and BREAK_EVEN not in measures:
        measures.append(BREAK_EVEN)
    kinds = rows.filter(pl.col("size_kind") != "all")["size_kind"].unique().sort()
    return [
        {
            "size_kind": kind,
            "size_label": SIZE_LABELS.get(kind, kind),
            "measure": name,
            "goal": measure_label(name),
        }
        for kind in kinds
        for name in measures
    ]


def _lacking(
    rows: pl.DataFrame, selections: pl.DataFrame | None, corpora: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    lacking = {}
    if not corpora or not all({"documents", "terms", "cells"} <= set(facts) for facts in corpora.values()):
        lacking["corpora"] = "Rows alone do not describe their corpora; give the results of a study."
    skews = (rows["neg"] / rows["pos"]).n_unique()
    if skews < MIN_SKEWS:
        lacking["skews"] = (
            f"F1 against skew needs problems of {MIN_SKEWS} different skews; there are {skews}."
        )
    if rows.filter(pl.col("size_kind") != "all")["method"].n_unique() < 2:
        lacking["methods"] = "Chances and tests compare methods; there is only one."
    if selections is None:
        lacking["selections"] = (
            "The selections are missing, so there are no figures of stability and of chosen ratios."
        )
    return lacking


def _facts(rows: pl.DataFrame) -> list[tuple[str, str]]:
    sized = rows.filter(pl.col("size_kind") != "all")
    sizes = sized.select("size_kind", "size").unique().sort("size_kind", "size")
    names = [f"{size:g}" if kind == "k" else f"{kind} {size:g}" for kind, size in sizes.iter_rows()]
    return [
        ("corpora", f"{rows['corpus'].n_unique():,}"),
        ("problems", f"{rows.select('corpus', 'problem').n_unique():,}"),
        ("methods", f"{sized['method'].n_unique():,}"),
        ("learners", ", ".join(map(str, rows["learner"].unique().sort()))),
        ("sizes", ", ".join(names)),
        ("trials x test parts", f"{rows['trial'].n_unique():,} x {rows['fold'].n_unique():,}"),
        ("rows", f"{rows.height:,}"),
    ]


def _method_section(manifest: Mapping[str, Any]) -> Section:
    used = manifest.get("versions") or {
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }
    when = "Studied with " if "versions" in manifest else "Reported with "
    text = [
        "Confusion counts are summed over the test parts of a trial, the measure is computed for each trial "
        "and averaged over trials; macro averages give every problem the same weight. The average maximum of "
        "a method on a problem is the mean over trials of its best value over the sizes.",
        when + ", ".join(f"{name} {number}" for name, number in used.items()) + ".",
    ]
    plan = str(manifest.get("plan", ""))
    if plan:
        run = "termsieve study run plan.toml -o results"
        text.append(f"To repeat it, save the plan below as plan.toml and run: {run}")
    return Section("method", "Method", text=text, code=plan)
