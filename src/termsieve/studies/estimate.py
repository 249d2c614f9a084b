"""A plan and its corpora come in; the amount of work, and its time by a short calibration, go out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from termsieve.corpus import Corpus
from termsieve.learners import learner_declaration
from termsieve.studies.folds import Fold, Problem
from termsieve.studies.plan import Plan, load_plan
from termsieve.studies.prepared import problems_of
from termsieve.studies.progress import clock
from termsieve.studies.rows import task_result
from termsieve.studies.sources import Sources, data_folder
from termsieve.studies.tasks import Task, all_tasks, cut_units, pieces, task_seconds, task_trainings

# To load the libraries in the process of a study and in that of a worker: on two cores the imports took 1.8 s
# of processor time in each (time.process_time() after them), rounded up for disks that are slower.
START_SECONDS = 5.0


class Estimate(NamedTuple):
    """The amount of work of a plan.

    Parameters
    ----------
    plan : Plan
        The plan.
    problems : dict
        Number of problems per corpus.
    units : int
        Number of units of work.
    trainings : int
        Number of trainings.
    seconds : float or None
        Seconds of the trainings on one core, by the calibration; None without one.
    start_seconds : float
        Seconds to start the processes and to read the corpora.
    memory_mb : float
        Megabytes of one process, a rough upper bound.
    """

    plan: Plan
    problems: dict[str, int]
    units: int
    trainings: int
    seconds: float | None  # of the trainings on one core, by the calibration; None without one
    start_seconds: float  # to start the processes and to read the corpora, also on one core
    memory_mb: float  # of one process, a rough upper bound

    def __str__(self) -> str:
        protocol = self.plan.protocol
        lines = [
            f"{self.plan.name}: {len(self.problems)} corpora, {sum(self.problems.values())} problems, "
            f"{protocol.trials} trial{'s' if protocol.trials > 1 else ''} x {protocol.parts} "
            f"part{'s' if protocol.parts > 1 else ''} ({protocol.kind}), {len(self.plan.methods)} methods, "
            f"{len(self.plan.learners)} learner{'s' if len(self.plan.learners) > 1 else ''}",
            f"{self.units:,} units, {self.trainings:,} trainings, up to {self.memory_mb:,.0f} MB per process",
        ]
        if self.seconds is not None:
            whole = clock(self.seconds + self.start_seconds)
            lines.append(
                f"about {whole} on one core, {clock(self.start_seconds)} of it to start and read the corpora"
            )
        return "\n".join([*lines, *_unusual_values(self.plan)])


def _unusual_values(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each learner that gets other values than those it is made for."""
    for learner in plan.learners:
        reads = learner_declaration(learner.name).reads
        given = learner.values or plan.representation.values
        if reads not in ("any", given):
            yield f"{learner.name} is made for {reads} and gets {given}; `values` of the learner changes that"


def study_estimate(
    plan: str | os.PathLike[str] | Plan,
    *,
    data: str | os.PathLike[str] | None = None,
    corpora: Mapping[str, Corpus] | None = None,
    calibrate_seconds: float = 10.0,
) -> Estimate:
    """Return what a plan will do; with `calibrate_seconds` above 0 some of its tasks are run to time it.

    For each corpus, random tasks of the first fold are run. The ratio of their seconds to the fixed estimate
    scales the estimate of all tasks of the corpus.

    Parameters
    ----------
    plan : str, path or Plan
        The name of a built-in plan, a TOML file, or a Plan.
    data : path, optional
        The folder that the plan's paths are relative to; by default the one that TERMSIEVE_DATA names, or
        the current folder.
    corpora : mapping of str to Corpus, optional
        Corpora in memory, by name, instead of reading them from files.
    calibrate_seconds : float, default=10.0
        Seconds to spend on timing; 0 for none.

    Returns
    -------
    Estimate
        Units, trainings, seconds and memory.
    """
    chosen = load_plan(plan)
    begin = time.process_time()
    sources = Sources(chosen, data_folder(data), corpora or {}, {})
    described = sources.described()
    reading = time.process_time() - begin
    tasks = list(all_tasks(chosen, described))
    seconds = None
    if calibrate_seconds > 0:
        protocol = chosen.protocol
        seconds = 0.0
        for name, facts in described.items():
            first = [placed for placed in tasks if placed[:3] == (name, 0, 0)]
            own = [piece[3] for placed in first for piece in pieces(chosen, placed)]
            if own:
                budget = calibrate_seconds / len(described)
                one = _calibrated(chosen, sources, facts, name, own, budget)
                seconds += protocol.trials * protocol.parts * one
    return Estimate(
        chosen,
        {n: len(problems_of(chosen, n, list(f["classes"]), f["one_label"])) for n, f in described.items()},
        sum(1 for _ in cut_units(chosen, described, tasks)),
        sum(task_trainings(chosen, corpus, task) for corpus, _, _, task in tasks),
        seconds,
        START_SECONDS + 2 * reading,  # the study reads them, and so does a worker
        max(map(_memory_mb, described.values())),
    )


def _memory_mb(facts: Mapping[str, Any]) -> float:
    """Return an upper bound of the memory of a process: libraries, copies of the matrix, tables of counts."""
    matrix = 16 * facts["cells"]
    tables = 8 * len(facts["classes"]) * facts["terms"]
    return 250 + (8 * matrix + 6 * tables) / 2**20


def _calibrated(
    plan: Plan, sources: Sources, facts: Mapping[str, Any], name: str, pieces: list[Task], budget: float
) -> float:
    """Return the seconds of a corpus's tasks in one fold, by running some of them."""
    costs = np.array([task_seconds(plan, facts, name, task) for task in pieces])
    spent = model = 0.0
    with threadpool_limits(1):
        start = time.process_time()
        fold = Fold(plan, sources[name], 0, 0)
        begin = time.process_time() - start
        for i in np.random.default_rng(plan.protocol.seed).permutation(len(pieces)):
            start = time.process_time()
            task_result(Problem(fold, pieces[i].problem), pieces[i])
            spent += time.process_time() - start
            model += costs[i]
            if spent >= budget:
                break
    return float(begin + spent / model * costs.sum())


def study_summary(plan: str | os.PathLike[str] | Plan, **options: Any) -> str:
    """Return a description of what a plan will do; the options are those of `study_estimate`.

    Parameters
    ----------
    plan : str, path or Plan
        The name of a built-in plan, a TOML file, or a Plan.
    **options
        The options of `study_estimate`.

    Returns
    -------
    str
        Several lines of text.
    """
    estimate = study_estimate(plan, **options)
    return f"{estimate}\n\n{estimate.plan}"
