"""The figures of a study beside its rows are declared here; the rows and one of its corpora come in for them.

The contour maps and the surface of a metric need only the sizes of a class. The map of words, the largest
scores, the ratios that metrics imply, and the sparsity of every number of terms need the documents.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from termsieve import analysis, charts
from termsieve.analysis.contours import RESOLUTION
from termsieve.analysis.of_counts import shown
from termsieve.analysis.roc import MAX_METRICS, SIZES, usual_cutoffs, usual_stop_words
from termsieve.analysis.surface import STEPS
from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.errors import ParameterError, StudyError, unknown_name
from termsieve.metrics import get_metric
from termsieve.reports.figures import DeclaredFigure
from termsieve.studies.folds import Fold
from termsieve.studies.plan import Plan
from termsieve.studies.prepared import Prepared
from termsieve.studies.results import Results
from termsieve.studies.sources import Sources, data_folder

LINE_SIZE = 100  # terms: the lines of a study's map are drawn for the nearest size of its plan
# Of a study's contour maps and surfaces, of which there are many: their resolution, and cells per side.
CONTOURS, CELLS = 80, 10
POINTS = 2000  # of a map that Vega draws
MAX_CLASSES = 100  # with largest scores and implied ratios, the largest classes
LINES = 110  # resolution of the lines of a map: enough for a page, with half the bytes of the default

WORD_MAP = DeclaredFigure(
    "map",
    "ROC map: one point per term",
    analysis.roc_map,
    needs=("counts", "label", "metrics", "sizes", "max_points", "resolution", "stop_words", "cutoffs"),
    chart=charts.roc_map,
    note="Terms up and left speak for the class, down and right against it; terms on the dashed "
    "line say nothing. Larger points hold several terms. A metric's line goes through the tables "
    "that score like its k-th best term of this class: the best k terms lie beyond it.{marks}",
    by=("class", "metric"),
    script="wordmap",
    wide=True,
)
CONTOUR_MAP = DeclaredFigure(
    "isoclines",
    "Lines of equal score of a metric",
    analysis.isocline_family,
    needs=("metric", "pos", "neg", "resolution=contours"),
    chart=charts.isocline_family,
    note="For a class of {pos:,} documents among {n_docs:,}{of}. Terms up and left are frequent in the class "
    "and rare outside; a metric with lines in both corners also takes words against the class.",
    by=("metric",),
)
SURFACE = DeclaredFigure(
    "surface",
    "The score of a metric above the ROC plane",
    analysis.score_surface,
    needs=("metric", "pos", "neg", "steps"),
    chart=charts.score_surface,
    note="The same scores as in the lines, seen from the corner of words that are nowhere.",
    by=("metric",),
)
SPARSITY = DeclaredFigure(
    "sparsity",
    "Sparsity by number of terms",
    analysis.sparsity_table,
    needs=("counts", "metrics=compared"),
    chart=charts.sparsity,
    note="Mean number of distinct selected terms per document; the training matrix grows with it.",
)
SPARSITY_OF_CLASS: DeclaredFigure = replace(
    SPARSITY,
    title="Sparsity by number of terms, for {target} of {corpus}",
    needs=("counts=training_of_class", "metrics"),
    note=f"{SPARSITY.note} Terms ranked on the training documents of the first split.",
    requires="sparsity",
)
SIDES_FIGURES: tuple[DeclaredFigure, ...] = (
    DeclaredFigure(
        "largest",
        "The largest scores of positive and of negative terms, classes of {corpus}",
        analysis.largest_scores,
        needs=("counts=training", "metrics=one_metric"),
        chart=charts.largest_scores,
        note="One point per class, counted on the training documents of the first split; both axes "
        "logarithmic. Above the dashed line, the best positive term has the larger score.",
        by=("metric",),
        requires="sides",
    ),
    DeclaredFigure(
        "implied",
        "The share of positive terms that metrics imply, classes of {corpus}",
        analysis.implied_ratios,
        needs=("counts=training", "metrics=implying", "sizes=implied_sizes"),
        chart=charts.implied_ratios,
        note="Among the best terms for and against a class alike, on the training documents of the first "
        "split; the largest class first.",
        requires="sides",
        wide=True,
    ),
)
STUDY_FIGURES: tuple[DeclaredFigure, ...] = (
    replace(
        WORD_MAP,
        name="words",
        title="ROC map of the words of {corpus}, for and against {target}",
        by=(),
        script="",
        requires="words",
    ),
    replace(CONTOUR_MAP, requires="plane"),
    replace(SURFACE, requires="plane"),
)


def marks(stop_words: str | None, cutoffs: Sequence[int]) -> str:
    """Return what the crosses and the dotted lines of a map are.

    >>> marks("english", (3, 50)), marks(None, ())
    (' Crosses: English stop words. Dotted lines: terms in 3 and in 50 documents.', '')
    """
    crosses = f" Crosses: {stop_words.capitalize()} stop words." if stop_words else ""
    lines = " and ".join(f"in {cut:,}" for cut in cutoffs)
    return crosses + (f" Dotted lines: terms {lines} documents." if lines else "")


def class_sources(
    pos: int, neg: int, of: str = "", contours: int = RESOLUTION, cells: int = STEPS
) -> dict[str, Any]:
    """Return the sources of the contour maps and of the surface for a class of this size."""
    sizes = {"pos": pos, "neg": neg, "n_docs": pos + neg, "steps": min(cells, pos, neg)}
    return {**sizes, "of": of, "contours": contours}


def word_sources(counts: Counts) -> dict[str, Any]:
    """Return which stop words and document frequencies the map of these counts marks."""
    stop_words, cutoffs = usual_stop_words(counts), usual_cutoffs(counts.n_docs)
    return {"stop_words": stop_words, "cutoffs": cutoffs, "marks": marks(stop_words, cutoffs)}


@dataclass(frozen=True)
class Plane:
    """What a study shows over the ROC plane: the sources of its figures, and why some are lacking."""

    metrics: Sequence[str] = ()
    sources: Mapping[str, Any] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


def study_plane(
    rows: pl.DataFrame,
    results: Results | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    corpora: Mapping[str, Corpus] | None = None,
    corpus: str | None = None,
    target: str | None = None,
) -> Plane:
    """Return the figures over the ROC plane for one class of a study: the chosen one, or that of median skew.

    If the study chooses shares of positive terms, or has signed metrics, there are the largest scores and the
    implied ratios of all classes of the same corpus; if its sizes are sparsities, the sparsity by number of
    terms. Only this corpus is read; where it is not found, a sentence says what is missing.
    """
    problem = _problem(rows, corpus, target)
    metrics, notes = _metrics(rows, results)
    drawn = {"words": "the ROC map of words"}
    if _has_sides(rows, results, metrics):
        drawn["sides"] = "the largest scores and implied ratios of classes"
    if (rows["size_kind"] == "sparsity").any():
        drawn["sparsity"] = "the sparsity of every number of terms"
    absent = {name: "" for name in ("words", "sides", "sparsity") if name not in drawn}
    if problem is None or not metrics:
        why = "no class has two documents and two others"
        if not metrics:
            why = "no method ranks terms by a function of their documents inside and outside a class"
        no_maps = {"plane": f"There are no maps over the ROC plane: {why}."}
        return Plane(lacking=no_maps | dict.fromkeys(("words", "sides", "sparsity"), ""))
    name, of_class = shown(problem["corpus"]), shown(problem["target"])
    chosen = corpus is not None and target is not None
    of = f": {of_class} of {name}" + ("" if chosen else ", the class of median skew")
    sources = class_sources(problem["pos"], problem["neg"], of, CONTOURS, CELLS)
    sources |= {"corpus": name, "target": of_class}
    try:
        plan, held = _held(results, problem["corpus"], problem["target"], data, corpora or {})
        counts, label = _named(held.whole_counts(False), held.terms), held.classes.index(problem["target"])
        sources |= {"counts": counts, "label": label, "metrics": list(metrics), "sizes": [_size(rows)]}
        sources |= {"max_points": POINTS, "resolution": LINES} | word_sources(counts)
        if len(drawn) > 1:
            fold = Fold(plan, held, 0, 0)
            training = _named(fold.counts, np.array(held.terms, dtype=object)[fold.columns], held.classes)
            sources |= {"training_of_class": training.take([label])}
            targets = rows.filter(pl.col("corpus") == problem["corpus"])["target"].unique()
            positions = _largest(training, set(targets))
            sources |= {"training": training.take(positions)} | _implied_sources(rows, metrics)
            if "sides" in drawn and len(positions) < len(targets):
                notes += [
                    f"Largest scores and implied ratios are those of the {MAX_CLASSES} largest classes."
                ]
    except StudyError as error:
        *first, last = drawn.values()
        told = f"{', '.join(first)} and {last} are" if first else f"{last} is"
        missing = f"{told[0].upper()}{told[1:]} drawn from the documents: {error}."
        return Plane(metrics, sources, absent | dict.fromkeys(drawn, "") | {"words": missing}, notes)
    return Plane(metrics, sources, absent, notes)


def _problem(rows: pl.DataFrame, corpus: str | None, target: str | None) -> dict[str, Any] | None:
    """Return corpus, class and sizes of the problem of median skew, among those that are asked for."""
    table = rows.select("corpus", "target", "pos", "neg").unique()
    for column, kind, wanted in (("corpus", "corpus", corpus), ("target", "class", target)):
        if wanted is not None:
            known = table[column].unique().sort().to_list()
            if wanted not in known:
                raise unknown_name(kind, wanted, known)
            table = table.filter(pl.col(column) == wanted)
    table = table.filter(pl.col("pos") > 1, pl.col("neg") > 1)
    ordered = table.sort(pl.col("neg") / pl.col("pos"), "corpus", "target")
    return ordered.row((ordered.height - 1) // 2, named=True) if ordered.height else None


def _metrics(rows: pl.DataFrame, results: Results | None) -> tuple[list[str], list[str]]:
    """Return the metrics whose scores follow from the table alone, in the order of the plan, and a note."""
    names: list[str] = []
    for name in _metric_names(rows, results):
        try:
            metric = get_metric(name)
        except ParameterError:  # the name of another method, or a metric of the user's own
            continue
        if metric.elementwise and not metric.by_name and str(metric) not in names:
            names.append(str(metric))
    left_out = len(names) - MAX_METRICS
    note = f"Contour maps and the ROC map show {MAX_METRICS} metrics, and leave {left_out} out."
    return names[:MAX_METRICS], [note] if left_out > 0 else []


def _metric_names(rows: pl.DataFrame, results: Results | None) -> list[str]:
    if results is not None:
        try:
            return [method.metric for method in _plan(results).methods if method.metric]
        except StudyError:  # of another version
            pass
    return [str(name).partition(" ")[0] for name in rows["method"].unique().sort()]


def _has_sides(rows: pl.DataFrame, results: Results | None, metrics: Sequence[str]) -> bool:
    """Return whether methods choose the share of positive terms, or metrics are signed."""
    chosen = [str(name).startswith("ratio(") for name in rows["method"].unique()]
    if results is not None:
        with suppress(StudyError):  # a plan of another version
            chosen = [method.select == "ratio" for method in _plan(results).methods]
    return any(chosen) or any(get_metric(name).kind == "signed" for name in metrics)


def _implied_sources(rows: pl.DataFrame, metrics: Sequence[str]) -> dict[str, Any]:
    """Return the metrics that take positive and negative terms alike, if there are any, and the sizes."""
    implying = [name for name in metrics if get_metric(name).kind == "two-sided"]
    sizes = rows.filter(pl.col("size_kind") == "k")["size"].unique().sort().to_list()
    return {"implying": implying or list(metrics), "implied_sizes": sizes or list(SIZES)}


def _largest(counts: Counts, targets: set[str]) -> list[int]:
    """Return the positions of these classes, the largest first."""
    order = np.argsort(-counts.pos, kind="stable").tolist()
    return [c for c in order if str(counts.classes[c]) in targets][:MAX_CLASSES]


def _named(counts: Counts, terms: Any, classes: Sequence[str] | None = None) -> Counts:
    named = counts.replace(terms=np.array(terms, dtype=object))
    return named if classes is None else named.replace(classes=classes)


def _plan(results: Results) -> Plan:
    return Plan.parse(results.manifest["plan"], results.manifest["name"])


def _held(
    results: Results | None,
    corpus: str,
    target: str,
    data: str | os.PathLike[str] | None,
    corpora: Mapping[str, Corpus],
) -> tuple[Plan, Prepared]:
    """Return the plan of a study, and its one corpus that has this class."""
    if results is None:
        raise StudyError("rows alone do not say where these are; give the results of a study")
    plan = _plan(results)
    if all(entry.name != corpus for entry in plan.corpora):
        raise StudyError(f"the plan of these results has no corpus '{corpus}'")
    held = Sources(plan, data_folder(data), corpora, results.corpora)[corpus]
    if target not in held.classes:
        raise StudyError(f"corpus '{corpus}' has no class '{target}'")
    return plan, held


def _size(rows: pl.DataFrame) -> int:
    """Return the number of terms, of those studied, that is nearest to 100."""
    sizes = rows.filter(pl.col("size_kind") == "k")["size"].unique().sort().to_list()
    return int(min(sizes, key=lambda size: abs(np.log(size / LINE_SIZE)), default=LINE_SIZE))
