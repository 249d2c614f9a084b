"""A plan and facts about its corpora come in; the remaining work goes out, divided into units."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from termsieve.learners import learner_declaration
from termsieve.ranking import Size
from termsieve.studies.plan import Plan
from termsieve.studies.prepared import problems_of
from termsieve.studies.results import Results
from termsieve.studies.selection import trainings

# The size of a unit, by the learners' declared costs: a killed run loses at most about this much work per
# process, and starting a unit (about 0.1 s for the counts of its fold) stays below 1 % of it.
UNIT_SECONDS = 20.0
# Sizes of a learned lambda are run together up to this: along a ranking a learner shares work between sizes
# (the documents' inner products), which saves more than a killed run can lose.
SHARED_SECONDS = 1800.0
UNIT_NAME = re.compile(r"[\w.+-]+-\d+-\d+-[0-9a-f]{10}")  # corpus, trial, fold, digest of the tasks
Described = Mapping[str, Mapping[str, Any]]  # per corpus: documents, cells, classes, fingerprint, ...


class Task(NamedTuple):
    """One problem and method, and for each learner the sizes to run."""

    problem: str
    method: str
    runs: tuple[tuple[str, tuple[Size, ...]], ...]


@dataclass(frozen=True)
class Unit:
    """The tasks that are run and written together; they share a corpus, a trial and a fold."""

    corpus: str
    trial: int
    fold: int
    tasks: tuple[Task, ...]

    @property
    def name(self) -> str:
        """A file name that belongs to this work only; `UNIT_NAME` matches it."""
        digest = hashlib.sha256(repr(self).encode()).hexdigest()[:10]
        return f"{self.corpus}-{self.trial}-{self.fold}-{digest}"


Placed = tuple[str, int, int, Task]  # corpus, trial, fold, task


def all_tasks(plan: Plan, described: Described) -> Iterator[Placed]:
    """Yield every task of the plan, corpus by corpus."""
    for entry in plan.corpora:
        facts = described[entry.name]
        problems = problems_of(plan, entry.name, list(facts["classes"]), facts["one_label"])
        learners = plan.learners_for(facts["documents"])
        methods = [(m, plan.sizes_for(entry.name, m)) for m in plan.methods_for(entry.name)]
        for trial in range(plan.protocol.trials):
            for fold in range(plan.protocol.parts):
                for problem in problems:
                    for method, sizes in methods:
                        runs = tuple((run.name, sizes) for run in learners)
                        if runs and sizes:
                            yield entry.name, trial, fold, Task(problem, method.name, runs)


def remaining_tasks(plan: Plan, described: Described, results: Results) -> list[Placed]:
    """Return the tasks, or parts of them, that have no rows yet."""
    finished = _finished(results)
    left = []
    for corpus, trial, fold, task in all_tasks(plan, described):
        runs = []
        for run, sizes in task.runs:
            done = finished.get((corpus, trial, fold, task.problem, task.method, run), set())
            missing = tuple(size for size in sizes if (size.kind, size.value) not in done)
            if missing:
                runs.append((run, missing))
        if runs:
            left.append((corpus, trial, fold, task._replace(runs=tuple(runs))))
    return left


def _finished(results: Results) -> dict[tuple[Any, ...], set[tuple[str, float | None]]]:
    """Return for each corpus, trial, fold, problem, method and learner the sizes that have rows."""
    keys = ["corpus", "trial", "fold", "problem", "method", "learner"]
    frame = results.frame().select(*keys, "size_kind", "size").unique()
    grouped = frame.group_by(keys).agg("size_kind", "size").collect()
    return {row[:6]: set(zip(row[6], row[7], strict=True)) for row in grouped.iter_rows()}


def task_trainings(plan: Plan, corpus: str, task: Task) -> int:
    """Return how many models a task trains."""
    method = plan.method(task.method, corpus)
    return sum(trainings(method, len(sizes)) for _, sizes in task.runs)


def task_seconds(plan: Plan, facts: Mapping[str, Any], corpus: str, task: Task) -> float:
    """Return a rough, fixed estimate of a task's time, to divide the work; it never changes a row."""
    method = plan.method(task.method, corpus)
    pairs = max(1, len(facts["classes"]) - 1) if plan.problems.kind == "multi-class" else 1
    total = 0.0
    for run, sizes in task.runs:
        cost = learner_declaration(run).cost.of(facts["cells"])
        total += trainings(method, len(sizes)) * pairs * cost
    return total


def cut_units(plan: Plan, described: Described, tasks: list[Placed]) -> Iterator[Unit]:
    """Yield units of about UNIT_SECONDS: tasks of one corpus, trial and fold, those of a problem together.

    Corpora with much work come first, so that a run does not end with one long unit.
    """
    work: dict[str, float] = {}
    apart = [run for placed in tasks for run in shared_runs(plan, described[placed[0]], placed)]
    seconds = [task_seconds(plan, described[p[0]], p[0], p[3]) for p in apart]
    for placed, cost in zip(apart, seconds, strict=True):
        work[placed[0]] = work.get(placed[0], 0.0) + cost
    order = sorted(range(len(apart)), key=lambda i: -work[apart[i][0]])
    for (corpus, trial, fold), group in groupby(order, key=lambda i: apart[i][:3]):
        block: list[Task] = []
        total = 0.0
        for i in group:
            if block and total + seconds[i] > UNIT_SECONDS:
                yield Unit(corpus, trial, fold, tuple(block))
                block, total = [], 0.0
            block.append(apart[i][3])
            total += seconds[i]
        yield Unit(corpus, trial, fold, tuple(block))


def pieces(plan: Plan, placed: Placed) -> Iterator[Placed]:
    """Yield a task that tunes by training divided by learner and size, other tasks as they are."""
    corpus, trial, fold, task = placed
    if not plan.method(task.method, corpus).needs_learner:
        yield placed
        return
    for run, sizes in task.runs:
        for size in sizes:
            yield corpus, trial, fold, task._replace(runs=((run, (size,)),))


def shared_runs(plan: Plan, facts: Mapping[str, Any], placed: Placed) -> Iterator[Placed]:
    """Yield the pieces of a task; sizes of a learned lambda stay together up to SHARED_SECONDS."""
    corpus, trial, fold, task = placed
    if plan.method(task.method, corpus).select != "wfo":
        yield from pieces(plan, placed)
        return
    for run, sizes in task.runs:
        together: tuple[Size, ...] = ()
        for size in sizes:
            longer = task._replace(runs=((run, (*together, size)),))
            if together and task_seconds(plan, facts, corpus, longer) > SHARED_SECONDS:
                yield corpus, trial, fold, task._replace(runs=((run, together),))
                together = ()
            together = (*together, size)
        yield corpus, trial, fold, task._replace(runs=((run, together),))
