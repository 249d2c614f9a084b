"""Results of a study come in as readings; the tests of findings read their figures from them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import polars as pl

from termsieve.analysis.curves import Average, size_curves
from termsieve.counts import Counts
from termsieve.errors import StudyError
from termsieve.studies.folds import Fold
from termsieve.studies.plan import Plan, load_plan
from termsieve.studies.results import Results
from termsieve.studies.sources import Sources, data_folder
from termsieve.studies.tasks import Placed, all_tasks, remaining_tasks, task_trainings

Holds = Literal["holds", "partly", "fails"]
UNTESTED = "not tested"
VERDICTS = (*get_args(Holds), UNTESTED)


class Verdict(NamedTuple):
    """Whether a finding holds, and the figures that say so."""

    holds: Holds
    figures: str


Test = Callable[["Reading"], Verdict]
Register = Callable[[Test], Test]


class UntestedError(Exception):
    """The results lack what a finding's test reads."""


class Reading:
    """The results of one plan, or of one learner in them, as the tests of findings read them.

    Parameters
    ----------
    results : Results
        The results of a plan.
    learner : str, optional
        The only learner whose rows are read.
    data : path, optional
        The folder of the corpora, for findings about the scores of terms.
    leave_out : tuple of str
        The problems that no average is taken over.
    """

    def __init__(
        self,
        results: Results,
        learner: str | None = None,
        data: str | os.PathLike[str] | None = None,
        leave_out: tuple[str, ...] = (),
    ) -> None:
        self.results, self.learner, self.data, self.leave_out = results, learner, data, leave_out
        self._curves: dict[tuple[str, str, str | None], pl.DataFrame] = {}

    @property
    def plan(self) -> str:
        """The name of the plan."""
        return str(self.results.manifest["name"])

    @cached_property
    def every_row(self) -> pl.DataFrame:
        """The rows of all problems."""
        rows = self.results.frame().collect()
        return rows if self.learner is None else rows.filter(pl.col("learner") == self.learner)

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The rows of the problems that averages are taken over."""
        return self.every_row.filter(~pl.col("problem").is_in(self.leave_out))

    def curves(
        self, measure: str = "f1", average: Average = "macro", corpus: str | None = None
    ) -> pl.DataFrame:
        """Return `size_curves` of the rows, or of those of one corpus.

        A run that has not yet reached all problems of its learner is left out: its average would be over
        other problems than those of the rest.
        """
        key = measure, average, corpus
        if key not in self._curves:
            rows = self.rows if corpus is None else self.rows.filter(pl.col("corpus") == corpus)
            if rows.is_empty():
                raise UntestedError(f"the results have no rows{'' if corpus is None else f' of {corpus}'}")
            self._curves[key] = size_curves(whole_runs(rows), measure, average)
        return self._curves[key]

    def value(
        self,
        method: str,
        size: float | None,
        measure: str = "f1",
        average: Average = "macro",
        learner: str | None = None,
        corpus: str | None = None,
    ) -> float:
        """Return the average of a measure at one size; without a size, with all features."""
        chosen = self.curves(measure, average, corpus).filter(
            pl.col("method") == method, pl.col("size").eq_missing(size)
        )
        if learner is not None:
            chosen = chosen.filter(pl.col("learner") == learner)
        if chosen.height != 1:
            raise UntestedError(f"the results have no single value of {method} at {size or 'all terms'}")
        return float(chosen["value"][0])

    def by_method(self, size: float | None, measure: str = "f1", **where: Any) -> dict[str, float]:
        """Return the value of every method at one size, the best first; all features are no method."""
        average, corpus = where.pop("average", "macro"), where.pop("corpus", None)
        table = self.curves(measure, average, corpus).filter(
            pl.col("size").eq_missing(size), pl.col("method") != "all"
        )
        if "learner" in where:
            table = table.filter(pl.col("learner") == where["learner"])
        if table.is_empty():
            raise UntestedError(f"the results have no size {size:g}")
        table = table.sort("value", "method", descending=[True, False])
        return dict(zip(table["method"], table["value"], strict=True))

    @cached_property
    def sizes(self) -> list[float]:
        """The sizes of the rows, ascending."""
        return self.rows["size"].drop_nulls().unique().sort().to_list()

    def counts(self, corpus: str, whole: bool = False) -> Counts:
        """Return the counts of the first training part of a corpus, or of all its documents.

        The files of the corpus are read. Counts of all documents have all terms, the rare ones too.
        """
        plan = Plan.parse(self.results.plan_text, self.plan)
        if corpus not in {entry.name for entry in plan.corpora}:
            raise UntestedError(f"the results have no {corpus}")
        try:
            data = Sources(plan, data_folder(self.data), {}, self.results.corpora)[corpus]
        except StudyError as error:
            raise UntestedError(str(error)) from None
        terms = np.array(data.terms, dtype=object)
        if whole:
            return data.whole_counts(False).replace(classes=data.classes, terms=terms)
        fold = Fold(plan, data, 0, 0)
        return fold.counts.replace(classes=data.classes, terms=terms[fold.columns])


def whole_runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the methods, learners and sizes that have results of as many problems as any."""
    run = ["method", "learner", "size"]
    reached = rows.group_by(run).agg(n=pl.struct("corpus", "problem").n_unique())
    whole = reached.filter(pl.col("n") == pl.col("n").max().over("learner"))
    return rows.join(whole, on=run, how="semi", nulls_equal=True)


def lacking(
    results: Results,
    learner: str | None = None,
    methods: tuple[str, ...] = (),
    corpora: tuple[str, ...] = (),
) -> str:
    """Return what results lack of the built-in plan of their name, or "" if they have all of it.

    With a learner, methods or corpora, only their part of the plan is looked at.
    """
    plan, known = load_plan(str(results.manifest["name"])), results.corpora
    wanted = [entry for entry in plan.corpora if not corpora or entry.name in corpora]
    absent = [entry.name for entry in wanted if entry.name not in known]
    present = tuple(entry for entry in wanted if entry.name in known)
    learners = tuple(run for run in plan.learners if learner in (None, run.name))
    read = tuple(method for method in plan.methods if not methods or method.name in methods)
    part = replace(plan, corpora=present, learners=learners, methods=read)
    every, left = (
        _trainings(part, tasks) for tasks in (all_tasks(part, known), remaining_tasks(part, known, results))
    )
    absent += [method for method in every if left[method] == every[method]]
    begun = [method for method in every if left[method] < every[method]]
    said = []
    if any(left[method] for method in begun):
        said.append(f"{100 * (every.total() - left.total()) // every.total()} % of the trainings")
    return ", ".join(said + ([f"without {', '.join(absent)}"] if absent else []))


def _trainings(plan: Plan, tasks: Iterable[Placed]) -> Counter[str]:
    """Return the trainings of some tasks, by method."""
    found: Counter[str] = Counter()
    for corpus, _, _, task in tasks:
        found[task.method] += task_trainings(plan, corpus, task)
    return found


@dataclass(frozen=True)
class Finding:
    """One finding of a paper: where the paper has it, the claim, and the test that decides it.

    `plans` are the plans whose results can decide it, each for itself; with `per_learner` each learner of
    the results is a reading of its own. `methods` and `corpora` are those whose results the test reads, if
    not all: a run that lacks others is whole for this finding.
    """

    paper: str
    where: str
    claim: str
    plans: tuple[str, ...]
    test: Test
    per_learner: bool = False
    leave_out: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()

    def readings(self, results: Iterable[Results], data: Any) -> list[tuple[str, Reading]]:
        """Return what the finding is tested on: a label and the results, one by one."""
        own = [found for found in results if found.manifest["name"] in self.plans]
        readings = []
        for found in own:
            learners: list[str | None] = [None]
            if self.per_learner:
                learners = found.frame().select("learner").unique().collect()["learner"].sort().to_list()
            for learner in learners:
                label = [str(found.manifest["name"])] * (len(self.plans) > 1)
                label += [] if learner is None else [learner]
                readings.append((", ".join(label), Reading(found, learner, data, self.leave_out)))
        return readings


FINDINGS: list[Finding] = []


def finding(paper: str, where: str, claim: str, *plans: str, **facts: Any) -> Register:
    """Register the decorated test as the one that decides a claim of a paper."""

    def register(test: Test) -> Test:
        FINDINGS.append(Finding(paper, where, claim, plans or (paper,), test, **facts))
        return test

    return register


def judged(parts: Sequence[bool], figures: str) -> Verdict:
    """Return the verdict on a claim of several parts: it holds if all do, and fails if none does."""
    if all(parts):
        return Verdict("holds", figures)
    return Verdict("partly" if any(parts) else "fails", figures)


def told(value: float, digits: int = 3) -> str:
    """Return a figure between 0 and 1 as the papers print it: .742."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def best_of(values: dict[str, float], n: int = 3) -> str:
    """Return the best methods with their values, three of them or `n`."""
    return ", ".join(f"{name} {told(value)}" for name, value in list(values.items())[:n])


@cache
def paper_figures(name: str) -> pl.DataFrame:
    """Return a table of figures that a paper prints; docs/reproduction.md cites the papers."""
    file = resources.files("termsieve.analysis.findings").joinpath(f"{name}.csv")
    return pl.read_csv(file.read_bytes())
