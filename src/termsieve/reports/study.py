"""Results of a study come in; the study report goes out: claims, curves, chances, tests, how to repeat it."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import polars as pl

from termsieve import analysis, charts
from termsieve.analysis.values import BREAK_EVEN
from termsieve.charts.theme import measure_label
from termsieve.errors import InputError, TermsieveError
from termsieve.reports.claims import study_claims
from termsieve.reports.page import Figure, Page, Section, Variant, rounded, write
from termsieve.studies.results import Results

MEASURES = ("f1", "precision", "recall", "accuracy")
PACKAGES = ("termsieve", "numpy", "scipy", "scikit-learn", "polars")
MIN_SKEWS = 4  # problems of fewer different skews show no trend


def study_report(
    results: Results | pl.DataFrame | pl.LazyFrame,
    path: str | os.PathLike[str] | None = None,
    *,
    selections: pl.DataFrame | pl.LazyFrame | None = None,
    measure: str = "f1",
    title: str | None = None,
) -> str:
    """Return the study report as one HTML document, and write it where a path is given.

    `results` are a study's Results or its rows; with rows alone, `selections` may come beside them. `measure`
    is the goal by which methods are compared, such as "f1", "recall" or "f1_break_even".
    """
    manifest: dict[str, Any] = {}
    if isinstance(results, Results):
        manifest, selections = results.manifest, results.selections() if selections is None else selections
        results = results.frame()
    elif not isinstance(results, pl.DataFrame | pl.LazyFrame):
        raise InputError(f"a report needs Results or a polars frame of rows, not {type(results).__name__}")
    rows = results.lazy().collect()
    if rows.is_empty():
        raise InputError("the results have no rows; run the study first")
    chosen = None if selections is None else selections.lazy().collect()
    title = title or f"Study {manifest['name']}" if manifest.get("name") else title or "Study"
    return write(_StudyReport(rows, chosen, measure, manifest).page(title).to_html(), path)


class _StudyReport:
    """The figures of one study; what the results do not allow is noted instead of drawn."""

    def __init__(
        self, rows: pl.DataFrame, selections: pl.DataFrame | None, measure: str, manifest: dict[str, Any]
    ) -> None:
        self.rows = rows
        self.selections = selections
        self.measure = measure
        self.manifest = manifest
        self.learners: list[str] = rows["learner"].unique().sort().to_list()
        self.notes: list[str] = []

    def page(self, title: str) -> Page:
        sections = [
            self._section("curves", "Curves by size", self._curve_figures()),
            self._section("trade", "Precision, recall and skew", self._trade_figures()),
            self._section("chances", "Best chances", self._chance_figures()),
            self._section("tests", "Differences that count", self._test_figures()),
            self._section("cost", "Sizes and cost", self._cost_figures()),
            self._section("selections", "What was selected", self._selection_figures()),
        ]
        return Page(
            title=title,
            facts=self._facts(),
            claims=study_claims(self.rows, self.measure),
            sections=[*(section for section in sections if section.figures), self._method_section()],
            notes=self.notes,
        )

    def _facts(self) -> list[tuple[str, str]]:
        rows = self.rows
        sized = rows.filter(pl.col("size_kind") != "all")
        return [
            ("corpora", f"{rows['corpus'].n_unique():,}"),
            ("problems", f"{rows.select('corpus', 'problem').n_unique():,}"),
            ("methods", f"{sized['method'].n_unique():,}"),
            ("learners", ", ".join(map(str, self.learners))),
            ("sizes", ", ".join(_size_names(sized))),
            ("trials x test parts", f"{rows['trial'].n_unique():,} x {rows['fold'].n_unique():,}"),
            ("rows", f"{rows.height:,}"),
        ]

    def _section(self, id: str, title: str, figures: Sequence[Figure | None]) -> Section:
        drawn = [figure for figure in figures if figure is not None]
        return Section(id, title, drawn, choices=self.learners, choose="Learner")

    def _figure(
        self, id: str, title: str, make: Callable[[pl.DataFrame], Variant], note: str = ""
    ) -> Figure | None:
        """Return a figure with a variant a learner, or None and a note where the results lack something."""
        variants = []
        for learner in self.learners:
            try:
                variants.append(make(self.rows.filter(pl.col("learner") == learner)))
            except TermsieveError as error:
                self.notes.append(f"{title}, {learner}: {error}.")
                variants.append(Variant(pl.DataFrame({"not drawn": [str(error)]})))
        if all(variant.chart is None and variant.table.columns == ["not drawn"] for variant in variants):
            return None
        return Figure(id, title, variants, note)

    def _curve_figures(self) -> list[Figure | None]:
        measures = list(MEASURES)
        if self.measure not in measures:
            measures.insert(0, self.measure)
        if self.rows["be_tp"].null_count() < self.rows.height and BREAK_EVEN not in measures:
            measures.append(BREAK_EVEN)
        made: list[Figure | None] = []
        for kind in self.rows.filter(pl.col("size_kind") != "all")["size_kind"].unique().sort():
            for name in measures:
                made.append(
                    self._figure(
                        f"{kind}-{name}".replace("_", "-"),
                        f"{measure_label(name)} by {_KINDS.get(kind, kind)}",
                        partial(_curves, kind=kind, measure=name),
                        "Macro average over problems, with its 95 % band; the dashed line has all features.",
                    )
                )
        return made

    def _trade_figures(self) -> list[Figure | None]:
        made = [
            self._figure(
                "precision-recall", "Precision against recall", _precision_recall, "At the best size."
            )
        ]
        skews = (self.rows["neg"] / self.rows["pos"]).n_unique()
        if skews < MIN_SKEWS:
            self.notes.append(
                f"F1 against skew needs problems of {MIN_SKEWS} different skews; there are {skews}."
            )
            return made
        label = measure_label(self.measure)
        return [
            *made,
            self._figure(
                "skew",
                f"{label} against skew",
                self._by_skew,
                "Best size of each problem.",
            ),
            self._figure(
                "skew-low",
                f"{label} of the less skewed problems",
                partial(self._skew_curves, side="low"),
            ),
            self._figure(
                "skew-high", f"{label} of the most skewed tenth", partial(self._skew_curves, side="high")
            ),
        ]

    def _by_skew(self, rows: pl.DataFrame) -> Variant:
        table = rounded(analysis.by_skew(rows, self.measure))
        return Variant(table, charts.skew(table, self.measure))

    def _skew_curves(self, rows: pl.DataFrame, side: str) -> Variant:
        table = rounded(
            analysis.skew_curves(_main_kind(rows), measure=self.measure).filter(pl.col("skew_side") == side)
        )
        return Variant(table, charts.curves(table, self.measure))

    def _chance_figures(self) -> list[Figure | None]:
        if self.rows.filter(pl.col("size_kind") != "all")["method"].n_unique() < 2:
            self.notes.append("Chances and tests compare methods; there is only one.")
            return []
        near = f"near the best {measure_label(self.measure)}"
        within = "Average maximum over sizes; share of the problems within a tolerance of the best method."
        pair = "On the diagonal a method alone. Trying both of a good pair is the safer choice."
        backup = "Of the problems where the leader fails, the share on which another method does not."
        return [
            self._figure("best-chances", f"How often a method is {near}", self._chances, within),
            self._figure("pairs", f"How often one of two is {near}", self._pairs, pair),
            self._figure("backups", "Backups of the leading method", self._backups, backup),
        ]

    def _chances(self, rows: pl.DataFrame) -> Variant:
        table = rounded(analysis.best_chances(rows, self.measure))
        return Variant(table, charts.chances(table, self.measure))

    def _pairs(self, rows: pl.DataFrame) -> Variant:
        table = rounded(analysis.pair_chances(rows, self.measure))
        return Variant(table, charts.pairs(table, analysis.best_chances(rows, self.measure)))

    def _backups(self, rows: pl.DataFrame) -> Variant:
        first = analysis.best_chances(rows, self.measure, analysis.tolerances_of(self.measure)[:1])
        leader = first.sort("share", "method", descending=[True, False])["method"][0]
        table = analysis.backups(rows, leader, self.measure).select(pl.lit(leader).alias("leader"), pl.all())
        return Variant(rounded(table))

    def _test_figures(self) -> list[Figure | None]:
        ranks = "Friedman's test, then Nemenyi's. Best size of each problem."
        paired = "t and Wilcoxon over problems, corrected for the number of pairs by Holm's method."
        return [
            self._figure("ranks", "Mean ranks over problems", self._ranks, ranks),
            self._figure("paired", "Paired tests at the best size", self._paired, paired),
        ]

    def _ranks(self, rows: pl.DataFrame) -> Variant:
        ranks = analysis.mean_ranks(rows, self.measure)
        return Variant(rounded(ranks.pairs), charts.critical_difference(ranks))

    def _paired(self, rows: pl.DataFrame) -> Variant:
        kind, size = best_size(rows, self.measure)
        return Variant(
            rounded(analysis.paired_tests(rows, size, self.measure, unit="problem", size_kind=kind))
        )

    def _cost_figures(self) -> list[Figure | None]:
        label = measure_label(self.measure)
        cells = "Cells: training documents times their mean number of selected terms. Dashed: the best buys."
        return [
            self._figure("needed", f"Least size that reaches 95 % of the best {label}", self._needed),
            self._figure("trade-off", f"{label} against memory", self._trade_off, cells),
        ]

    def _needed(self, rows: pl.DataFrame) -> Variant:
        return Variant(rounded(analysis.size_needed(rows, 0.95, self.measure)))

    def _trade_off(self, rows: pl.DataFrame) -> Variant:
        table = rounded(analysis.trade_offs(rows, self.measure))
        return Variant(table, charts.trade_off(table, self.measure))

    def _selection_figures(self) -> list[Figure | None]:
        if self.selections is None or self.selections.is_empty():
            self.notes.append("Selections did not come with the rows: no stability, no ratios chosen.")
            return []
        made = [self._figure("stability", "How alike the selections of different folds are", self._stability)]
        for name, words in (("ratio", "share of positive terms"), ("lam", "lam")):
            if self.selections[name].null_count() < self.selections.height:
                chosen = partial(self._chosen, name=name)
                tried = partial(self._tuning, name=name, words=words)
                made.append(self._figure(f"chosen-{name}", f"The {words} chosen", chosen))
                made.append(self._figure(f"tuning-{name}", f"The objective by {words}", tried))
        return made

    def _own_selections(self, rows: pl.DataFrame) -> pl.DataFrame:
        assert self.selections is not None
        learner = rows["learner"][0]
        return self.selections.filter(
            pl.col("learner").is_null() | (pl.col("learner") == learner)
        ).with_columns(learner=pl.lit(learner))

    def _stability(self, rows: pl.DataFrame) -> Variant:
        sizes = {name: int(facts["terms"]) for name, facts in self._described().items() if "terms" in facts}
        steps = rows.filter(pl.col("size_kind") == "k")["size"].unique().to_list()
        table = rounded(
            analysis.fold_stability(analysis.prefixes(self._own_selections(rows), steps), sizes or None)
        )
        return Variant(table, charts.stability(table, "kuncheva" if sizes else "jaccard"))

    def _described(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.manifest.get("corpora", {})
        return found

    def _chosen(self, rows: pl.DataFrame, name: str) -> Variant:
        table = rounded(
            analysis.chosen_parameters(self._own_selections(rows)).filter(pl.col(name).is_not_null())
        )
        return Variant(table, charts.chosen_parameters(table, name))

    def _tuning(self, rows: pl.DataFrame, name: str, words: str) -> Variant:
        own = self._own_selections(rows).filter(pl.col(name).is_not_null())
        table = rounded(analysis.tuning_curves(own))
        return Variant(table, charts.tuning_curves(table, "objective", words))

    def _method_section(self) -> Section:
        used = self.manifest.get("versions") or {
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        }
        made_with = "Studied with " if "versions" in self.manifest else "Reported with "
        text = [
            "Confusion counts are pooled over the test parts of a trial, the measure is taken for each trial "
            "and averaged over trials; macro averages weigh every problem alike. The average maximum of a "
            "method on a problem is the mean over trials of its best value over the sizes.",
            made_with + ", ".join(f"{name} {number}" for name, number in used.items()) + ".",
        ]
        plan = str(self.manifest.get("plan", ""))
        if plan:
            run = "termsieve study run plan.toml -o results"
            text.append(f"To repeat it, save the plan below as plan.toml and run: {run}")
        return Section("method", "Method", text=text, code=plan)


_KINDS = {
    "k": "number of terms",
    "sparsity": "terms a document",
    "fraction": "share of the vocabulary",
    "documents": "share of the documents",
}


def _size_names(sized: pl.DataFrame) -> list[str]:
    sizes = sized.select("size_kind", "size").unique().sort("size_kind", "size")
    return [f"{size:g}" if kind == "k" else f"{kind} {size:g}" for kind, size in sizes.iter_rows()]


def _main_kind(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of all features and of the kind of size that most rows have."""
    sized = rows.filter(pl.col("size_kind") != "all")
    if sized.is_empty():
        raise InputError("there are no sizes to compare")
    kinds = sized.group_by("size_kind").len().sort("len", "size_kind", descending=[True, False])
    return rows.filter(pl.col("size_kind").is_in(["all", kinds["size_kind"][0]]))


def best_size(rows: pl.DataFrame, measure: str) -> tuple[str, float]:
    """Return the kind and the size at which some method has the greatest macro value."""
    sized = analysis.size_curves(_main_kind(rows), measure).filter(pl.col("size_kind") != "all")
    best = sized.sort("value", "size", descending=[True, False]).row(0, named=True)
    return best["size_kind"], best["size"]


def _curves(rows: pl.DataFrame, kind: str, measure: str) -> Variant:
    table = rounded(analysis.size_curves(rows.filter(pl.col("size_kind").is_in([kind, "all"])), measure))
    return Variant(table, charts.curves(table, measure))


def _precision_recall(rows: pl.DataFrame) -> Variant:
    kind, size = best_size(rows, "f1")
    table = rounded(analysis.precision_recall(rows, size, kind))
    return Variant(table.with_columns(size=pl.lit(size)), charts.precision_recall(table))
