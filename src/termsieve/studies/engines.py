"""Units go in; they are run in this process or in several, and futures of their results come out."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from threadpoolctl import threadpool_limits

from termsieve.studies.plan import Plan
from termsieve.studies.prepared import Prepared
from termsieve.studies.rows import unit_result
from termsieve.studies.tasks import Unit

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


class Engine(Protocol):
    """Where units are run: this process, several, or a cluster."""

    slots: int

    def place(self, data: Prepared) -> Any:
        """Return a handle of a corpus that `submit` can send."""

    def submit(self, plan: Plan, handle: Any, unit: Unit) -> Future[Any]:
        """Start a unit."""

    def close(self) -> None:
        """Release the resources."""


def run_handle(plan: Plan, handle: Any, unit: Unit) -> Any:
    """Run one unit with one thread; the handle is a corpus, or the file of one."""
    data = handle if isinstance(handle, Prepared) else _from_file(handle)
    with threadpool_limits(1):
        return unit_result(plan, data, unit)


_kept: dict[str, Prepared] = {}


def _from_file(path: str) -> Prepared:
    """Return the corpus in a file; the last one is kept, because units come corpus by corpus."""
    if path not in _kept:
        _kept.clear()
        with open(path, "rb") as file:
            _kept[path] = pickle.load(file)
    return _kept[path]


class ThisProcess:
    """Runs each unit as it is submitted."""

    slots = 1

    def place(self, data: Prepared) -> Prepared:
        """Return the corpus itself."""
        return data

    def submit(self, plan: Plan, handle: Prepared, unit: Unit) -> Future[Any]:
        """Run a unit and return its result as a future."""
        future: Future[Any] = Future()
        try:
            future.set_result(run_handle(plan, handle, unit))
        except Exception as error:
            future.set_exception(error)
        return future

    def abort(self) -> None:
        """Nothing runs in the background."""

    def close(self) -> None:
        """Nothing to end."""


def _begin_worker(folder: str) -> None:
    """Leave Ctrl-C to the parent; when the parent has ended, remove its folder and end."""
    import multiprocessing

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def follow() -> None:
            parent.join()
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(1)

        threading.Thread(target=follow, daemon=True).start()


class Processes:
    """Runs units in processes of this machine; they read corpora from files, one at a time.

    The files are pickles, and a pickle can run code. So they are in a temporary folder that only this user
    can open, and never in the results directory, which may come from elsewhere.
    """

    def __init__(self, workers: int) -> None:
        import multiprocessing

        self.slots = workers + 1  # one more in the queue, so that no worker waits while parts are written
        self.folder = Path(tempfile.mkdtemp(prefix="termsieve-"))  # for its owner only
        self.workers = workers
        self.context = multiprocessing.get_context("spawn")
        self.pool = self._started()

    def _started(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.workers, self.context, initializer=_begin_worker, initargs=(str(self.folder),)
        )

    def place(self, data: Prepared) -> str:
        """Write the corpus to a file and return its path."""
        path = self.folder / f"{data.name}.pickle"
        with open(path, "wb") as file:
            pickle.dump(data, file, protocol=5)
        return str(path)

    def submit(self, plan: Plan, handle: str, unit: Unit) -> Future[Any]:
        """Start a unit; if a worker has died, in new processes."""
        try:
            return self.pool.submit(run_handle, plan, handle, unit)
        except BrokenExecutor:
            self.pool.shutdown(wait=False, cancel_futures=True)
            self.pool = self._started()
            return self.pool.submit(run_handle, plan, handle, unit)

    def abort(self) -> None:
        """End the processes in the middle of their units."""
        for process in list((self.pool._processes or {}).values()):
            process.terminate()

    def close(self) -> None:
        """Wait for running units, end the processes and remove the files."""
        self.pool.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def single_threads() -> Iterator[None]:
    """Let processes that are started here use one thread each for linear algebra and tables."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
