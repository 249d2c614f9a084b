"""Dask collections or paths of tables come in; Counts merged there, or shards of a matrix, go out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from termsieve.counts import Counts
from termsieve.counts.counter import analysis_of
from termsieve.counts.shards import new_folder, save_part
from termsieve.counts.sources import Source
from termsieve.counts.stream import tally_of
from termsieve.counts.tally import MERGED_AT_ONCE, Pruned, joined
from termsieve.engines.threads import counts_of, positive
from termsieve.errors import InputError, TermsieveError, require
from termsieve.readers.tables import LABEL_NAMES, TEXT_NAMES, _column
from termsieve.terms import term_numbers

CONNECT_SECONDS = 10


def count(
    source: Any,
    text: str | None = None,
    label: str | None = None,
    *,
    client: Any = None,
    occurrences: bool = False,
    separator: str | None = None,
    missing: str = "error",
    max_terms: int | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    **term_options: Any,
) -> Counts:
    """Return the Counts of a Dask dataframe, a bag or tables, equal to those of `termsieve.count`.

    A task counts one partition, or one file of `source` where that is paths, which the workers must reach
    as well; the tallies are merged eight at a time on the cluster, and only their sum comes here. Items of a
    bag are pairs (text, label), or dicts with the keys `text` and `label`. `client` is a distributed.Client
    or the address of a scheduler; without one Dask's own default is used.

    With `max_terms` each partition and each merge keeps that many terms, as the pieces of `termsieve.count`
    do, with the same warning. Eight neighbours are merged at a time, so the result depends on the partitions
    and their order, not on which worker did what when.
    """
    dask = require("dask", "dask")
    analysis = analysis_of(term_options)
    positive("max_terms", max_terms)
    reading = {"separator": separator, "missing": missing, "delimiter": delimiter, "encoding": encoding}
    tally = dask.delayed(tally_of, pure=False)
    parts = _parts(source, text, label, reading)
    level = [tally(part, analysis, occurrences, max_terms) for part in parts]
    while len(level) > 1:
        groups = [level[i : i + MERGED_AT_ONCE] for i in range(0, len(level), MERGED_AT_ONCE)]
        level = [dask.delayed(joined, pure=False)(group, max_terms) for group in groups]
    with _computer(client) as compute:
        total: Pruned = compute(level[0])
    return counts_of(total, max_terms)


def write_shards(
    source: Any,
    terms: Mapping[str, int] | Iterable[str],
    folder: str | os.PathLike[str],
    text: str | None = None,
    label: str | None = None,
    *,
    client: Any = None,
    rows: int = 100_000,
    separator: str | None = None,
    missing: str = "error",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    **term_options: Any,
) -> list[Path]:
    """Write the matrix of the `terms` in shards, as `counts.shards.write_shards` does, each by a worker.

    The folder must be one that all workers reach. No shard holds documents of two partitions or files.
    """
    dask = require("dask", "dask")
    vocabulary, analysis = term_numbers(terms), analysis_of(term_options)
    reading = {"separator": separator, "missing": missing, "delimiter": delimiter, "encoding": encoding}
    parts = _parts(source, text, label, reading)
    target = new_folder(folder, vocabulary).resolve()
    save = dask.delayed(save_part, pure=False)
    tasks = [save(part, vocabulary, analysis, target, i, rows) for i, part in enumerate(parts)]
    with _computer(client) as compute:
        paths: list[list[Path]] = compute(dask.delayed(list)(tasks))
    return [path for group in paths for path in group]


def _parts(source: Any, text: str | None, label: str | None, reading: dict[str, Any]) -> list[Any]:
    """Return the parts of the source, each a Source or a task that makes one."""
    dask = require("dask", "dask")
    if not hasattr(source, "to_delayed"):
        whole = Source(source, text, label, **reading)
        if not whole.files:
            raise InputError(
                f"Dask cannot count a {type(source).__name__}; give a dataframe or bag of Dask, or paths"
            )
        return [Source(path, **whole.columns, **reading) for path in whole.files]
    if hasattr(source, "columns"):
        names = [str(name) for name in source.columns]
        text = _column(names, text, "text", TEXT_NAMES, "the dataframe")
        label = _column(names, label, "label", LABEL_NAMES, "the dataframe")
        source, make = source[[text, label]], dask.delayed(_of_frame, pure=False)
    else:
        make = dask.delayed(_of_items, pure=False)
    return [make(part, text, label, reading, number) for number, part in enumerate(source.to_delayed())]


def _of_frame(frame: Any, text: str, label: str, reading: dict[str, Any], number: int) -> Source:
    texts = frame[text].astype(object)
    pair = texts.where(texts.notna(), "").tolist(), frame[label].tolist()
    return Source([pair], **reading, where=f"partition {number}")


def _of_items(
    items: Iterable[Any], text: str | None, label: str | None, reading: dict[str, Any], number: int
) -> Source:
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


@contextmanager
def _computer(client: Any) -> Iterator[Callable[[Any], Any]]:
    """Give the function that computes a task on a client, on a scheduler's address, or where Dask does."""
    if client is None:
        yield lambda task: task.compute()
        return
    distributed = require("distributed", "dask")
    own = isinstance(client, str)
    if own:
        try:
            client = distributed.Client(client, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at {client}; check the address, or start one with: dask scheduler"
            ) from error
    try:
        yield lambda task: _result(distributed, client, task)
    finally:
        if own:
            client.close()


def _result(distributed: Any, client: Any, task: Any) -> Any:
    if not client.scheduler_info()["workers"]:
        raise TermsieveError("the Dask cluster has no workers; start some with: dask worker ADDRESS")
    try:
        return client.compute(task).result()
    except distributed.KilledWorker as error:
        raise TermsieveError(
            "Dask gave up on a part whose workers died again and again, as they do when memory runs out; "
            "make the partitions smaller or give the workers more memory"
        ) from error
    except distributed.client.FutureCancelledError as error:
        raise TermsieveError("the Dask scheduler was lost before the counts were done; run again") from error
