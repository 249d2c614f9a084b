"""A job over a Spark dataframe comes in; its tally, merged on the executors, goes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from termsieve.columns import find_column
from termsieve.counts.sources import Source
from termsieve.counts.stream import tally_of
from termsieve.counts.tally import MERGED_AT_ONCE, Pruned, Tally, empty_tally, joined
from termsieve.engines.protocol import Job
from termsieve.errors import InputError, TermsieveError, require
from termsieve.terms import Analysis

ROUNDS = 3  # rounds of merging on the executors; up to 512 partitions become one tally
SCHEMA = "part int, tally binary, n_dropped long, at_most long, fault string"


class Spark:
    """Counts a Spark dataframe on the executors of its session, which need termsieve installed.

    One Python worker counts each partition, which it gets as Arrow batches. The executors merge the tallies,
    eight at a time, and only their sum comes to the driver. Labels are a column of strings, whole numbers or
    booleans, or of arrays of these.

    With `max_terms` each partition and each merge keeps that many terms. Partitions are merged by their
    number, so the result depends on the partitions only, not on the executors.
    """

    def __repr__(self) -> str:
        return "Spark()"

    def tally(self, job: Job) -> Pruned:
        """Return the tally of all rows of a Spark dataframe."""
        require("pyspark", "spark")
        require("pyarrow", "spark")
        from pyspark.sql.functions import expr

        frame, max_terms = job.source, job.max_terms
        if not hasattr(frame, "mapInArrow"):
            raise InputError(
                f"Spark cannot count a {type(frame).__name__}; give a Spark dataframe, such as "
                "spark.read.parquet(...)"
            )
        text = find_column(frame.columns, "text", job.text, "the dataframe")
        label = find_column(frame.columns, "label", job.label, "the dataframe")
        Source(iter(()), **job.reading)  # so that wrong options raise an error here, not on an executor
        counted = _tally_rows(job.analysis, job.occurrences, max_terms, job.reading)
        # Plain names, because mapInArrow fails with a dot in a column's name.
        columns = [f"{_quoted(text)} AS text", f"{_quoted(label)} AS label"]
        parts = frame.selectExpr(*columns).mapInArrow(counted, SCHEMA)
        for _ in range(ROUNDS):
            eighth = parts.withColumn("part", expr(f"int(part div {MERGED_AT_ONCE})"))
            parts = eighth.repartition("part").mapInArrow(_merging(max_terms), SCHEMA)
        rows = sorted((row.asDict() for row in parts.collect()), key=lambda row: row["part"])
        while len(rows) > 1:
            rows = _merged([row | {"part": row["part"] // MERGED_AT_ONCE} for row in rows], max_terms)
        return _pruned(rows[0]) if rows else Pruned(empty_tally())


def _quoted(column: str) -> str:
    """Return a column's name in the quotes of Spark, which allow all characters."""
    return "`" + column.replace("`", "``") + "`"


def _tally_rows(
    analysis: Analysis, occurrences: bool, max_terms: int | None, reading: dict[str, Any]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function from the batches of a partition to a row with their tally, or with the error."""

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        pairs = ((_texts(batch.column(0)), batch.column(1).to_pylist()) for batch in batches)
        source = Source(pairs, **reading, where=f"partition {number}")
        yield _batch([_row(number, lambda: tally_of(source, analysis, occurrences, max_terms))])

    return rows


def _merging(max_terms: int | None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function from batches of rows to a batch with one row per part."""

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        yield _batch(_merged([row for batch in batches for row in batch.to_pylist()], max_terms))

    return rows


def _merged(rows: list[dict[str, Any]], max_terms: int | None) -> list[dict[str, Any]]:
    """Return one row per part: the sum of its tallies, or the first error."""
    groups: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["part"], []).append(row)
    return [_merged_row(part, groups[part], max_terms) for part in sorted(groups)]


def _merged_row(part: int, rows: list[dict[str, Any]], max_terms: int | None) -> dict[str, Any]:
    if len(rows) == 1:
        return rows[0]
    return _row(part, lambda: joined([_pruned(row) for row in rows], max_terms))


def _row(part: int, work: Callable[[], Pruned]) -> dict[str, Any]:
    """Return the result, or the error, as a row that Spark can send to the driver."""
    try:
        tally, n_dropped, at_most = work()
    except TermsieveError as error:
        return {"part": part, "fault": str(error)}
    return {
        "part": part,
        "tally": tally.to_bytes(),
        "n_dropped": n_dropped,
        "at_most": at_most,
        "fault": None,
    }


def _pruned(row: dict[str, Any]) -> Pruned:
    if row["fault"] is not None:
        raise InputError(row["fault"])
    return Pruned(Tally.from_bytes(bytes(row["tally"])), row["n_dropped"], row["at_most"])


def _batch(rows: list[dict[str, Any]]) -> Any:
    import pyarrow as pa

    types = (pa.int32(), pa.binary(), pa.int64(), pa.int64(), pa.string())
    names = ("part", "tally", "n_dropped", "at_most", "fault")
    return pa.RecordBatch.from_pylist(rows, pa.schema(list(zip(names, types, strict=True))))


def _texts(column: Any) -> list[Any]:
    values = column.to_numpy(zero_copy_only=False).tolist()
    return ["" if value is None else value for value in values] if column.null_count else values
