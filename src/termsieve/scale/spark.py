"""A Spark dataframe comes in; the Counts of its terms and classes, merged on the executors, go out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from termsieve.counting.counter import analysis_of
from termsieve.counting.sources import Source
from termsieve.counting.stream import tally_of
from termsieve.counting.tally import Tally, merged
from termsieve.counts import Counts
from termsieve.errors import InputError, TermsieveError, require
from termsieve.readers.tables import LABEL_NAMES, TEXT_NAMES, _column
from termsieve.terms import Analysis

MERGED_AT_ONCE = 8
SCHEMA = "tally binary, fault string"


def count(
    frame: Any,
    text: str | None = None,
    label: str | None = None,
    *,
    occurrences: bool = False,
    separator: str | None = None,
    missing: str = "error",
    **term_options: Any,
) -> Counts:
    """Return the Counts of a Spark dataframe, equal to those of `termsieve.count`.

    Each partition is counted by one Python worker that gets it as Arrow batches; the tallies are merged eight
    at a time by the executors, and only their sum comes to the driver. Labels are a column of strings, whole
    numbers or booleans, or of arrays of such. The executors need termsieve installed.
    """
    require("pyspark", "spark")
    require("pyarrow", "spark")
    if not hasattr(frame, "mapInArrow"):
        raise InputError(f"a Spark dataframe is needed, not a {type(frame).__name__}")
    text = _column(frame.columns, text, "text", TEXT_NAMES, "the dataframe")
    label = _column(frame.columns, label, "label", LABEL_NAMES, "the dataframe")
    analysis = analysis_of(term_options)
    Source(iter(()), separator=separator, missing=missing)
    counted = _tally_rows(analysis, occurrences, {"separator": separator, "missing": missing})
    # Plain names, because mapInArrow itself fails over a column with a dot in its name.
    columns = [f"{_quoted(text)} AS text", f"{_quoted(label)} AS label"]
    parts = frame.selectExpr(*columns).mapInArrow(counted, SCHEMA)
    for n_parts in _merge_widths(frame.sparkSession):
        # A shuffle, because a plain coalesce would also leave the counting to so few executors.
        parts = parts.repartition(n_parts).mapInArrow(_merged_rows, SCHEMA)
    tallies = []
    for row in parts.collect():
        if row.fault is not None:
            raise InputError(row.fault)
        tallies.append(Tally.from_bytes(bytes(row.tally)))
    return merged(tallies).counts()


def _quoted(column: str) -> str:
    """Return a column's name as Spark takes it whatever characters it has."""
    return "`" + column.replace("`", "``") + "`"


def _merge_widths(spark: Any) -> list[int]:
    """Return how many tallies are left after each round of merging: the cluster's tasks at first, then 1."""
    from pyspark.errors import PySparkException

    try:
        width = int(spark.sparkContext.defaultParallelism)
    except PySparkException:  # over Spark Connect there is no context to ask
        width = int(spark.conf.get("spark.sql.shuffle.partitions"))
    widths = [width]
    while widths[-1] > 1:
        widths.append(-(-widths[-1] // MERGED_AT_ONCE))
    return widths


def _tally_rows(
    analysis: Analysis, occurrences: bool, reading: dict[str, Any]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function from the batches of a partition to a row with their tally, or with the fault."""

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        pairs = ((_texts(batch.column(0)), batch.column(1).to_pylist()) for batch in batches)
        try:
            yield _row(tally_of(Source(pairs, **reading, where=f"partition {number}"), analysis, occurrences))
        except TermsieveError as error:
            yield _row(fault=str(error))

    return rows


def _merged_rows(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield a row with the sum of the tallies in the rows, or with the first fault among them."""
    tallies = []
    for batch in batches:
        for content, fault in zip(batch.column(0), batch.column(1), strict=True):
            if fault.is_valid:
                yield _row(fault=fault.as_py())
                return
            tallies.append(Tally.from_bytes(content.as_py()))
    try:
        yield _row(merged(tallies))
    except TermsieveError as error:
        yield _row(fault=str(error))


def _row(tally: Tally | None = None, fault: str | None = None) -> Any:
    import pyarrow as pa

    content = None if tally is None else tally.to_bytes()
    columns = [pa.array([content], pa.binary()), pa.array([fault], pa.string())]
    return pa.RecordBatch.from_arrays(columns, names=["tally", "fault"])


def _texts(column: Any) -> list[Any]:
    values = column.to_numpy(zero_copy_only=False).tolist()
    return ["" if value is None else value for value in values] if column.null_count else values
