"""A plan, a corpus and a unit of work come in; its rows and selections go out, without I/O."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from termsieve.learners import decision_path, predicted_sets
from termsieve.measures import Confusion, at_threshold, break_even
from termsieve.ranking import Size
from termsieve.studies.folds import Fold, Problem
from termsieve.studies.plan import LearnerPlan, Method, Plan
from termsieve.studies.prepared import Prepared
from termsieve.studies.results import ROWS, SELECTIONS, schema
from termsieve.studies.selection import Choice, method_choices
from termsieve.studies.tasks import Task, Unit

if TYPE_CHECKING:
    import polars as pl

Row = tuple[Any, ...]
Counted = tuple[int, Confusion, Confusion | None]  # a class, its confusion counts and those at break-even


def unit_result(plan: Plan, data: Prepared, unit: Unit) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows and the selections of one unit: a pure function of plan, corpus and seed."""
    import polars as pl

    fold = Fold(plan, data, unit.trial, unit.fold)
    rows: list[Row] = []
    selections: list[Row] = []
    problem: Problem | None = None
    for task in unit.tasks:
        # The tasks of a problem follow each other and share its counts.
        if problem is None or problem.name != task.problem:
            problem = Problem(fold, task.problem)
        more_rows, more_selections = task_result(problem, task)
        rows += more_rows
        selections += more_selections
    return (
        pl.DataFrame(rows, schema=schema(ROWS), orient="row"),
        pl.DataFrame(selections, schema=schema(SELECTIONS), orient="row"),
    )


def task_result(problem: Problem, task: Task) -> tuple[list[Row], list[Row]]:
    """Return the rows and the selections of one task."""
    fold, plan = problem.fold, problem.fold.plan
    method = plan.method(task.method, fold.data.name)
    rows: list[Row] = []
    selections: list[Row] = []
    head = (fold.data.name, problem.name, fold.trial, fold.fold, method.name)
    shared: dict[tuple[Size, ...], list[Choice]] = {}
    for run, sizes in ((plan.learner(name), sizes) for name, sizes in task.runs):
        start = perf_counter()
        choices = shared.get(sizes)
        if choices is None or method.needs_learner:
            choices = shared[sizes] = list(method_choices(problem, method, run, sizes))
            if plan.selections and method.select != "all":
                noted = run.name if method.needs_learner else None
                selections += [(*head, noted, *_selection(fold, choice)) for choice in choices]
        select_seconds = (perf_counter() - start) / len(choices)
        for choice in choices:
            rows += _rows(problem, method, run, choice, select_seconds)
    return rows, selections


def _selection(fold: Fold, choice: Choice) -> tuple[Any, ...]:
    """Return the entry of a choice in the selections table: its largest set, with the others as prefixes."""
    largest = int(np.argmax(choice.kept))
    size = choice.sizes[largest]
    terms = fold.columns[choice.order[: choice.kept[largest]]].tolist()
    return size.kind, size.value, terms, choice.ratio, choice.lam, choice.curve


def _rows(
    problem: Problem, method: Method, run: LearnerPlan, choice: Choice, select_seconds: float
) -> list[tuple[Any, ...]]:
    fold = problem.fold
    sizes_of_classes = fold.data.member.sum(axis=0)
    n_docs = len(fold.data)
    lengths = sorted(set(choice.kept))
    start = perf_counter()
    results = dict(zip(lengths, _confusions(problem, run, choice, lengths), strict=True))
    fit_seconds = (perf_counter() - start) / len(lengths)
    occupied = np.concatenate([[0], np.cumsum(problem.counts.df[choice.order])]) / problem.counts.n_docs
    n_train = len(problem.y_train) if choice.rows is None else len(choice.rows)
    rows = []
    for size, n_terms in zip(choice.sizes, choice.kept, strict=True):
        for target, cells, even in results[n_terms]:
            pos = int(sizes_of_classes[target])
            rows.append(
                (
                    fold.data.name,
                    problem.name,
                    fold.data.classes[target],
                    fold.trial,
                    fold.fold,
                    method.name,
                    run.name,
                    size.kind,
                    size.value,
                    n_terms,
                    n_train,
                    pos,
                    n_docs - pos,
                    *(int(cell) for cell in cells),
                    *((None, None, None) if even is None else even[:3]),
                    float(occupied[n_terms]),
                    select_seconds,
                    fit_seconds,
                )
            )
    return rows


def _confusions(
    problem: Problem, run: LearnerPlan, choice: Choice, lengths: list[int]
) -> list[list[Counted]]:
    """Return for each number of terms the confusion counts of each target class, and those at break-even."""
    if not problem.multi and choice.rows is None:
        return _binary(problem, problem.path(run, choice.order, lengths))
    train, test = problem.values(run)
    y = problem.y_train
    if choice.rows is not None:
        train, y = train[choice.rows], y[choice.rows]
    if not problem.multi:
        return _binary(problem, decision_path(run.name, train, y, test, choice.order, lengths))
    predicted = predicted_sets(run.name, train, y, test, [choice.order[:n] for n in lengths])
    return [
        [
            (c, at_threshold(problem.y_test == c, np.where(codes == c, 1.0, -1.0)), None)
            for c in problem.targets
        ]
        for codes in predicted
    ]


def _binary(problem: Problem, values: NDArray[np.float64]) -> list[list[Counted]]:
    plain = at_threshold(problem.y_test, values)
    plan = problem.fold.plan
    even = break_even(problem.y_test, values, plan.ties) if plan.break_even else None
    return [
        [(problem.targets[0], _at(plain, i), None if even is None else _at(even, i))]
        for i in range(len(values))
    ]


def _at(cells: Confusion, i: int) -> Confusion:
    return Confusion(*(float(cell[i]) for cell in cells))
