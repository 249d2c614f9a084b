"""A plan, its corpora and a directory come in; the units are run and written there, and Results go out."""

from __future__ import annotations

import os
import platform
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from termsieve.corpus import Corpus
from termsieve.errors import StudyError
from termsieve.machine import processor_count
from termsieve.studies.engines import Engine, Processes, ThisProcess, single_threads
from termsieve.studies.manifest import MANIFEST, read_manifest
from termsieve.studies.plan import ADDABLE, Plan, load_plan
from termsieve.studies.progress import Progress, reporter
from termsieve.studies.results import PART_KINDS, Results
from termsieve.studies.sources import Sources, data_folder
from termsieve.studies.status import plan_difference, stored_plan
from termsieve.studies.store import Store
from termsieve.studies.tasks import Unit, cut_units, remaining_tasks, task_trainings

PACKAGES = ("termsieve", "numpy", "scipy", "scikit-learn", "polars")


def run_study(
    plan: str | os.PathLike[str] | Plan,
    out: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    corpora: Mapping[str, Corpus] | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    extend: bool = False,
    share: tuple[int, int] = (1, 1),
    progress: bool | Callable[[Progress], None] = False,
) -> Results:
    """Run a study and return its results.

    If the directory holds results of the same plan, only what is missing is run. A failed unit of work is
    recorded in `results.failures`, and the other units continue. Ctrl-C waits for the running units, a second
    Ctrl-C does not; both raise KeyboardInterrupt, and finished work is kept. A run that is refused, because
    of the plan, the directory or a corpus, changes nothing on the disk. If a part is missing or damaged, a
    warning names it and it is run again.

    Parameters
    ----------
    plan : str, path or Plan
        The name of a built-in plan, a TOML file, or a Plan.
    out : path
        The directory for the results.
    data : path, optional
        The folder that the plan's paths are relative to; by default the one that the variable TERMSIEVE_DATA
        names, or the current folder.
    corpora : mapping of str to Corpus, optional
        Corpora in memory, by name, instead of reading them from files.
    workers : int, optional
        Number of processes; one per core by default.
    engine : Engine, optional
        Runs the units of work elsewhere, such as ``termsieve.studies.dask.DaskEngine(address)``.
    extend : bool, default=False
        Whether to continue with the results of another plan, if this plan only adds to it.
    share : tuple of int, default=(1, 1)
        ``(1, 2)`` runs the first half of the units; `studies.merge_studies` unites the results of both
        halves.
    progress : bool or callable, default=False
        True shows a progress bar; a function is called with a Progress after each unit.

    Returns
    -------
    Results
        The rows and selections in the directory.

    Raises
    ------
    StudyError
        If the plan has a fault, or the directory holds results of another plan.

    Examples
    --------
    >>> results = run_study("quick", "results", workers=2)  # doctest: +SKIP
    >>> results.frame(size_kind="k").collect()  # doctest: +SKIP
    """
    chosen = load_plan(plan)
    _check_share(share)
    n_workers = _worker_count(workers)
    path = Path(out)
    known = _recognised(path, chosen, extend)
    sources = Sources(chosen, data_folder(data), corpora or {}, known["corpora"])
    described = sources.described()
    with ExitStack() as stack:
        store = Store(path)
        stack.callback(store.close)
        # No other process writes from here on, so the directory is read once more.
        store.adopt(_recognised(path, chosen, extend))
        for name in described:
            if not store.has_vocabulary(name):
                store.write_vocabulary(name, sources[name].terms)
        store.write_manifest(**_plan_facts(chosen), corpora=described)
        tasks = remaining_tasks(chosen, described, Results(path, store.manifest))
        units = list(cut_units(chosen, described, tasks))[share[0] - 1 :: share[1]]
        store.forget_failures()
        if units:
            stack.enter_context(single_threads())
            report = stack.enter_context(reporter(progress))
            many = n_workers > 1 and len(units) > 1
            own = Processes(n_workers) if many else ThisProcess()
            run = _Run(chosen, store, sources, engine or own, units, report)
            try:
                run.run()
            except BaseException:
                own.abort()
                raise
            finally:
                own.close()  # the time and memory of processes are known only after they have ended
                with suppress(StudyError):
                    run.note()
    return Results.open(path)


def resume_study(out: str | os.PathLike[str], **options: Any) -> Results:
    """Continue the study in a directory, and return its results.

    Parameters
    ----------
    out : path
        The directory with the results so far.
    **options
        The options of :func:`termsieve.run_study`.

    Returns
    -------
    Results
        The rows and selections in the directory.

    Raises
    ------
    StudyError
        If there is no study in the directory.

    Examples
    --------
    >>> results = resume_study("results", workers=2)  # doctest: +SKIP
    """
    return run_study(stored_plan(out), out, **options)


def _check_share(share: tuple[int, int]) -> None:
    if not 1 <= share[0] <= share[1]:
        raise StudyError(
            f"share={share!r} must be (i, n) with 1 <= i <= n, such as (1, 2) for the first half"
        )


def _worker_count(workers: int | None) -> int:
    if workers is None:
        return processor_count()
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise StudyError(f"workers must be a whole number of at least 1, not {workers!r}")
    return workers


def _plan_facts(plan: Plan) -> dict[str, Any]:
    return {"name": plan.name, "plan": plan.to_toml(), "hash": plan.hash, "seed": plan.protocol.seed}


def _recognised(path: Path, plan: Plan, extend: bool) -> dict[str, Any]:
    """Return the manifest of a directory, or that of a new study; other files and other plans are refused."""
    if path.exists() and not path.is_dir():
        raise StudyError(f"{path} is a file; choose a directory for the results")
    if not (path / MANIFEST).exists():
        for kind in PART_KINDS:
            if any(path.glob(f"{kind}/*.parquet")):
                raise StudyError(f"{path} has {kind} but no {MANIFEST}; choose another directory")
        versions = {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
        created = datetime.now(UTC).isoformat(timespec="seconds")
        empty: dict[str, Any] = {"corpora": {}, "runs": [], "parts": {}, "vocabulary": {}}
        return {**_plan_facts(plan), "versions": versions, "created": created, **empty}
    manifest = read_manifest(path)
    if manifest["hash"] != plan.hash:
        before, after = stored_plan(path).lines(), plan.lines()
        kept = set(before) <= set(after)
        added = all(line.split()[0] in ADDABLE for line in set(after) - set(before))
        if not (extend and kept and added):
            why = (
                "the plan only adds to it, so extend=True would continue it"
                if kept and added
                else "choose another directory"
            )
            if extend:
                why = "extending may only add corpora, methods, sizes, learners, problems and trials"
            raise StudyError(
                f"{path} holds results of another plan ({why}):\n{plan_difference(before, after)}"
            )
    return manifest


class _Run:
    """One run: units go to the engine, parts come back to the store."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        sources: Sources,
        engine: Engine,
        units: list[Unit],
        report: Callable[[Progress], None],
    ) -> None:
        self.plan, self.store, self.sources, self.engine = plan, store, sources, engine
        self.units, self.report = units, report
        self.sizes = {u.name: sum(task_trainings(plan, u.corpus, t) for t in u.tasks) for u in units}
        self.all_trainings = sum(self.sizes.values())
        self.trainings = self.done = self.failed = 0
        self.began = time.perf_counter()
        self.broken: list[Unit] = []

    def run(self) -> None:
        """Run all units; failed ones are recorded, and Ctrl-C waits for the running ones."""
        with _patient_interrupt() as interrupted:
            self._run(iter(self.units), self.engine.slots, interrupted)
            # When a worker dies, all running units are lost; run one by one, only the faulty one fails again.
            for unit in self.broken:
                self._run(iter([unit]), 1, interrupted, last=True)
        if interrupted():
            raise KeyboardInterrupt

    def _run(
        self, units: Iterator[Unit], slots: int, interrupted: Callable[[], bool], last: bool = False
    ) -> None:
        running: dict[Future[Any], Unit] = {}
        handle: tuple[str, Any] | None = None
        while True:
            while len(running) < slots and not interrupted() and (unit := next(units, None)) is not None:
                if handle is None or handle[0] != unit.corpus:
                    handle = unit.corpus, self.engine.place(self.sources[unit.corpus])
                running[self.engine.submit(self.plan, handle[1], unit)] = unit
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                self._finish(running.pop(future), future, last)

    def _finish(self, unit: Unit, future: Future[Any], last: bool) -> None:
        error = future.exception()
        if isinstance(error, BrokenExecutor) and not last:
            self.broken.append(unit)
            return
        if error is None:
            self.store.write_unit(unit.name, *future.result())
            self.trainings += self.sizes[unit.name]
            self.done += 1
        else:
            text = "".join(traceback.format_exception(error))
            self.store.write_failure(unit.name, f"{unit}\n\n{text}")
            self.failed += 1
        self.report(self.state())

    def state(self) -> Progress:
        """Return the progress of the run."""
        elapsed = time.perf_counter() - self.began
        return Progress(self.trainings, self.all_trainings, self.done, len(self.units), self.failed, elapsed)

    def note(self) -> None:
        """Record the time and the memory of the run in the manifest."""
        state = self.state()
        run = {
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(state.seconds, 1),
            "trainings": state.trainings,
            "units": state.units,
            "failed": state.failed,
            "slots": self.engine.slots,
            **_used(),
        }
        self.store.write_manifest(runs=[*self.store.manifest["runs"], run])


def _used() -> dict[str, float]:
    """Return the processor time and the peak memory of this process and of its children that have ended."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows
        return {}
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "cpu_seconds": round(sum(u.ru_utime + u.ru_stime for u in (own, children)), 1),
        "peak_memory_mb": round(own.ru_maxrss / unit, 1),
        "largest_worker_mb": round(children.ru_maxrss / unit, 1),
    }


@contextmanager
def _patient_interrupt() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a flag, so that running units can end; the second one interrupts."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def note(number: int, frame: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
