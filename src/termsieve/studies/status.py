"""A results directory comes in; its plan, and how much of it is done, go out."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field
from pathlib import Path

from termsieve.errors import StudyError
from termsieve.studies.manifest import MANIFEST, read_manifest
from termsieve.studies.plan import Plan
from termsieve.studies.results import Results
from termsieve.studies.tasks import all_tasks, remaining_tasks, task_trainings


@dataclass(frozen=True)
class Status:
    """How much of a study is done.

    Parameters
    ----------
    name : str
        The name of the plan.
    path : path
        The directory.
    trainings : int
        Trainings that are done.
    all_trainings : int
        Trainings of the plan.
    rows : int
        Number of rows.
    failed : int
        Number of failed units.
    corpora : dict
        For each corpus the trainings that are done, and all.
    faults : dict
        What is wrong with which file, if the files were verified.
    """

    name: str
    path: Path
    trainings: int
    all_trainings: int
    rows: int
    failed: int
    corpora: dict[str, tuple[int, int]]  # per corpus: trainings done, and all trainings
    faults: dict[str, str] = field(default_factory=dict)  # per damaged file, if verified

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.trainings == self.all_trainings

    def __str__(self) -> str:
        share = self.trainings / self.all_trainings if self.all_trainings else 1.0
        lines = [
            f"{self.name} at {self.path}: {self.trainings:,} of {self.all_trainings:,} trainings "
            f"({share:.1%}), {self.rows:,} rows, {self.failed} failed unit{'' if self.failed == 1 else 's'}"
        ]
        lines += [
            f"  {name}: {done:,} of {every:,}" for name, (done, every) in self.corpora.items() if done < every
        ]
        lines += [f"  {file} {fault}" for file, fault in self.faults.items()]
        return "\n".join(lines)


def stored_plan(out: str | os.PathLike[str]) -> Plan:
    """Return the plan of a results directory.

    Parameters
    ----------
    out : path
        The directory with the results.

    Returns
    -------
    Plan
        The plan.
    """
    manifest = read_manifest(Path(out))
    try:
        plan = Plan.parse(manifest["plan"], manifest["name"])
    except StudyError as error:
        raise StudyError(f"{Path(out) / MANIFEST} is damaged: {error}") from None
    if plan.hash != manifest["hash"]:
        raise StudyError(f"{Path(out) / MANIFEST} is damaged: its plan and the hash of its plan differ")
    return plan


def study_status(out: str | os.PathLike[str], *, verify: bool = False) -> Status:
    """Return how much of the study in `out` is done.

    With `verify=True` every file is compared with its checksum; `faults` lists the damaged ones, and a
    damaged part counts as not done. Otherwise a damaged part of the rows is an error.

    Parameters
    ----------
    out : path
        The directory with the results.
    verify : bool, default=False
        Whether to compare every file with its checksum.

    Returns
    -------
    Status
        Trainings done and missing, rows and failures.
    """
    results = Results.open(out)
    faults = results.verify() if verify else {}
    if faults:
        damaged = results.damaged_parts()
        sound = {name: entry for name, entry in results.manifest["parts"].items() if name not in damaged}
        results = Results(results.path, results.manifest | {"parts": sound})
    plan = stored_plan(out)
    left: dict[str, int] = {}
    described = results.corpora
    for corpus, _, _, task in remaining_tasks(plan, described, results):
        left[corpus] = left.get(corpus, 0) + task_trainings(plan, corpus, task)
    every = dict.fromkeys(described, 0)
    for corpus, _, _, task in all_tasks(plan, described):
        every[corpus] += task_trainings(plan, corpus, task)
    done = {name: (total - left.get(name, 0), total) for name, total in every.items()}
    return Status(
        plan.name,
        results.path,
        sum(part for part, _ in done.values()),
        sum(every.values()),
        len(results),
        len(results.failures),
        done,
        faults,
    )


def plan_difference(before: list[str], after: list[str]) -> str:
    """Return the lines that two plans do not share, with - and +."""
    lines = difflib.unified_diff(before, after, lineterm="", n=0)
    return "\n".join(f"  {line}" for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---"))
