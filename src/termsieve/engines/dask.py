"""A job over Dask collections or tables comes in; its tally, merged on the cluster, or shards go out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from termsieve.columns import Wanted, find_column
from termsieve.counts.counter import analysis_of
from termsieve.counts.shards import new_folder, save_part
from termsieve.counts.sources import Source
from termsieve.counts.stream import tally_of
from termsieve.counts.tally import MERGED_AT_ONCE, Pruned, joined
from termsieve.engines.protocol import Job
from termsieve.errors import InputError, ParameterError, TermsieveError, require
from termsieve.terms import term_numbers

ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^/\s]+:(?P<port>\d{1,5})(/.*)?")
CONNECT_SECONDS = 10


class Dask:
    """Counts on a Dask cluster.

    `address` is the address of a scheduler or a distributed.Client; without it Dask's default scheduler is
    used. Each task counts one partition of a Dask dataframe or bag, or one file, which the workers must be
    able to read. The tallies are merged on the cluster, eight at a time, and only their sum is returned.
    Items of a bag are pairs (text, label), or dicts with the keys `text` and `label`.

    With `max_terms` each partition and each merge keeps that many terms. Eight neighbours are merged at a
    time, so the result depends on the partitions and their order, not on the workers.
    """

    def __init__(self, address: Any = None) -> None:
        require("dask", "dask")
        self.address = address

    def __repr__(self) -> str:
        return f"Dask({self.address!r})"

    def tally(self, job: Job) -> Pruned:
        """Return the tally of all documents of a job."""
        dask = require("dask", "dask")
        tally = dask.delayed(tally_of, pure=False)
        parts = _parts(job.source, job.text, job.label, job.reading)
        level = [tally(part, job.analysis, job.occurrences, job.max_terms) for part in parts]
        while len(level) > 1:
            groups = [level[i : i + MERGED_AT_ONCE] for i in range(0, len(level), MERGED_AT_ONCE)]
            level = [dask.delayed(joined, pure=False)(group, job.max_terms) for group in groups]
        with _computer(self.address) as compute:
            total: Pruned = compute(level[0])
        return total


def write_shards(
    source: Any,
    terms: Mapping[str, int] | Iterable[str],
    folder: str | os.PathLike[str],
    text: str | None = None,
    label: str | None = None,
    *,
    address: Any = None,
    rows: int = 100_000,
    separator: str | None = None,
    missing: str = "error",
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    **term_options: Any,
) -> list[Path]:
    """Write the matrix of the `terms` in shards, as `counts.shards.write_shards` does, each by a worker.

    `address` is the address of a scheduler, or a distributed.Client. All workers must be able to write to the
    folder. No shard holds documents of two partitions or files.
    """
    dask = require("dask", "dask")
    vocabulary, analysis = term_numbers(terms), analysis_of(term_options)
    reading = {"separator": separator, "missing": missing, "header": header, "delimiter": delimiter}
    reading |= {"quote": quote, "encoding": encoding}
    parts = _parts(source, text, label, reading)
    target = new_folder(folder, vocabulary).resolve()
    save = dask.delayed(save_part, pure=False)
    tasks = [save(part, vocabulary, analysis, target, i, rows) for i, part in enumerate(parts)]
    with _computer(address) as compute:
        paths: list[list[Path]] = compute(dask.delayed(list)(tasks))
    return [path for group in paths for path in group]


def _parts(source: Any, text: Wanted, label: Wanted, reading: dict[str, Any]) -> list[Any]:
    """Return the parts of the source, each a Source or a task that makes one."""
    dask = require("dask", "dask")
    if not hasattr(source, "to_delayed"):
        whole = Source(source, text, label, **reading)
        if not whole.files:
            raise InputError(
                f"Dask cannot count a {type(source).__name__}; give a dataframe or bag of Dask, or paths"
            )
        # The workers may run in another folder, where a relative path is another file.
        return [Source(os.path.abspath(path), **whole.options) for path in whole.files]
    if hasattr(source, "columns"):
        names = [str(name) for name in source.columns]
        text = find_column(names, "text", text, "the dataframe")
        label = find_column(names, "label", label, "the dataframe")
        source, make = source[[text, label]], dask.delayed(_of_frame, pure=False)
    else:
        make = dask.delayed(_of_items, pure=False)
    return [make(part, text, label, reading, number) for number, part in enumerate(source.to_delayed())]


def _of_frame(frame: Any, text: str, label: str, reading: dict[str, Any], number: int) -> Source:
    texts = frame[text].astype(object)
    pair = texts.where(texts.notna(), "").tolist(), frame[label].tolist()
    return Source([pair], **reading, where=f"partition {number}")


def _of_items(items: Iterable[Any], text: Any, label: Any, reading: dict[str, Any], number: int) -> Source:
    texts, labels = [], []
    for place, item in enumerate(items):
        try:
            if isinstance(item, str):
                raise TypeError
            given, its_label = (item[text], item[label]) if isinstance(item, Mapping) else item
        except (KeyError, TypeError, ValueError):
            raise InputError(
                f"item {place} of partition {number} is {item!r:.60}; items must be pairs (text, label), or "
                "dicts with the keys that text= and label= name"
            ) from None
        texts.append("" if given is None else given)
        labels.append(its_label)
    return Source([(texts, labels)], **reading, where=f"partition {number}")


def connect(cluster: Any) -> Any:
    """Return a client of the scheduler at an address; the caller closes it.

    Instead of an address, a cluster object of Dask may be given.
    """
    distributed = require("distributed", "dask")
    # If Dask's client gets an invalid address, it stays alive and reports errors when the process ends.
    if isinstance(cluster, str) and not _is_address(cluster):
        raise ParameterError(
            f"{cluster!r} is not the address of a Dask scheduler, which looks like tcp://127.0.0.1:8786"
        )
    try:
        return distributed.Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {cluster}; check the address, or start one with: dask scheduler"
        ) from error


def n_threads(client: Any) -> int:
    """Return the number of threads of all workers of a cluster; no workers are an error."""
    threads = sum(client.nthreads().values())
    if not threads:
        raise TermsieveError("the Dask cluster has no workers; start some with: dask worker ADDRESS")
    return int(threads)


def _is_address(text: str) -> bool:
    found = ADDRESS.fullmatch(text)
    return found is not None and int(found["port"]) < 2**16


@contextmanager
def _computer(address: Any) -> Iterator[Callable[[Any], Any]]:
    """Give the function that computes a task on a client, at a scheduler's address, or on Dask's default."""
    if address is None:
        yield lambda task: task.compute()
    elif isinstance(address, require("distributed", "dask").Client):
        yield lambda task: _result(address, task)
    else:
        with connect(address) as client:
            yield lambda task: _result(client, task)


def _result(client: Any, task: Any) -> Any:
    import distributed

    n_threads(client)
    try:
        return client.compute(task).result()
    except distributed.KilledWorker as error:
        raise TermsieveError(
            "Dask gave up on a part whose workers died again and again, as they do when memory runs out; "
            "make the partitions smaller or give the workers more memory"
        ) from error
    except distributed.client.FutureCancelledError as error:
        raise TermsieveError("the Dask scheduler was lost before the counts were done; run again") from error
