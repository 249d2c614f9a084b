"""A Dask client or a scheduler's address comes in; an engine that runs a study's units there goes out."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Self

from termsieve.engines.dask import connect, n_threads
from termsieve.errors import require
from termsieve.studies.engines import run_handle
from termsieve.studies.plan import Plan
from termsieve.studies.prepared import Prepared
from termsieve.studies.tasks import Unit


class DaskEngine:
    """Runs units on a running Dask cluster: corpora are sent to its workers, and rows come back.

    `cluster` is an address or a distributed.Client. The workers need termsieve installed, but neither the
    corpora nor the results directory.
    `run_study(plan, out, engine=DaskEngine("tcp://scheduler:8786"))`
    """

    def __init__(self, cluster: Any) -> None:
        self._own = not isinstance(cluster, require("distributed", "dask").Client)
        self.client = connect(cluster) if self._own else cluster
        self.slots = 2 * n_threads(self.client)  # so that workers need not wait for this process to write
        self._executor = self.client.get_executor(pure=False)

    def place(self, data: Prepared) -> Any:
        """Send the corpus to all workers and return Dask's handle of it."""
        return self.client.scatter(data, broadcast=True, hash=False)

    def submit(self, plan: Plan, handle: Any, unit: Unit) -> Future[Any]:
        """Start a unit on one of the workers."""
        future: Future[Any] = self._executor.submit(run_handle, plan, handle, unit)
        return future

    def close(self) -> None:
        """Disconnect from the cluster, which keeps running; a client that was given stays open."""
        self._executor.shutdown(wait=False)
        if self._own:
            self.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
