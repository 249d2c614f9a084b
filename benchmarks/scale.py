"""A number of documents comes in; how fast termsieve, polars, DuckDB and Spark count terms goes out.

    python benchmarks/scale.py --docs 1000000
    python benchmarks/scale.py --docs 1000000 10500000 --folder /scratch/scale --engines termsieve polars

The documents are made by a seeded generator: Zipfian words, twenty classes with words of their own, half a
kilobyte each. Every engine runs in a process of its own on two threads, on the same files, and writes the
same table: how many documents of each class hold each term. The engines have to agree on the number of its
rows and on their sum. CPU seconds are those of all processes and threads from the start of the engine on.
Documents that are in the folder already are used and stay; those made here go, unless --keep is given.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil

if TYPE_CHECKING:
    from benchmarks.measure import Row

SEED = 20_260_101
FILE_DOCS = 250_000
N_CLASSES = 20
N_WORDS = 2_000_000
EXPONENT = 1.2
SHIFT = 3.0
MEAN_LENGTH = 110
PATTERN = r"\b\w\w+\b"


def vocabulary() -> list[str]:
    """Return distinct words by rank, frequent ones shorter, as in a language."""
    letters = "etaoinshrdlucmfwygpbvk"
    words = []
    for rank in range(N_WORDS):
        word, rest = "", rank
        while rest or len(word) < 2:
            word += letters[rest % 22]
            rest //= 22
        # A tail that tells rank 1 from rank 22, and stretches rare words to the usual length.
        words.append(word + letters[rank % 7] * (rank > 400) + "ing" * (rank % 5 == 4))
    seen = dict.fromkeys(words)
    return list(seen)


def write_documents(folder: Path, n_docs: int) -> int:
    """Write the first `n_docs` documents of the generator as Parquet; return the bytes of their text."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    words = pa.array(vocabulary())
    names = pa.array([f"class {c:02d}" for c in range(N_CLASSES)])
    n_bytes = 0
    for start in range(0, n_docs, FILE_DOCS):
        rng = np.random.default_rng([SEED, start])
        n = min(FILE_DOCS, n_docs - start)
        classes = rng.integers(0, N_CLASSES, n) * rng.integers(0, N_CLASSES, n) // N_CLASSES
        lengths = rng.poisson(MEAN_LENGTH, n)
        ranks = zipfian(rng, int(lengths.sum()), len(words))
        own = rng.random(len(ranks)) < 0.1
        ranks[own] = (ranks[own] * N_CLASSES + np.repeat(classes, lengths)[own]) % len(words)
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
        texts = pc.binary_join(pa.ListArray.from_arrays(offsets, words.take(pa.array(ranks))), " ")
        n_bytes += pc.sum(pc.binary_length(texts)).as_py()
        table = pa.table({"text": texts, "label": names.take(pa.array(classes))})
        pq.write_table(table, folder / f"part-{start // FILE_DOCS:04d}.parquet", row_group_size=50_000)
    return n_bytes


def zipfian(rng: np.random.Generator, size: int, n_words: int) -> np.ndarray:
    """Return ranks below `n_words` with frequencies that fall as (rank + SHIFT) ** -EXPONENT."""
    power = 1 - EXPONENT
    low, high = SHIFT**power, (n_words + SHIFT) ** power
    return ((low + (high - low) * rng.random(size)) ** (1 / power) - SHIFT).astype(np.int64)


class Clock:
    """Wall and CPU seconds of this process and those below it."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), self._cpu_seconds()

    def read(self) -> dict[str, float]:
        """Return the seconds since the clock was made."""
        return {"seconds": time.perf_counter() - self._wall, "cpu_seconds": self._cpu_seconds() - self._cpu}

    def _cpu_seconds(self) -> float:
        own = psutil.Process()
        return sum(sum(process.cpu_times()[:2]) for process in (own, *own.children(recursive=True)))


def count_termsieve(files: list[str], out: Path, workers: int = 2) -> dict:
    """Count with termsieve; importing it is not timed, as with the other engines."""
    import polars  # noqa: F401

    from termsieve import count

    clock = Clock()
    counts = count(files, "text", "label", workers=workers)
    counts.save(out)
    return {**clock.read(), "groups": int((counts.tp > 0).sum()), "sum": int(counts.tp.sum())}


def count_dask(files: list[str], out: Path) -> dict:
    """Count with termsieve in two processes of Dask, a file a task; starting them is not timed."""
    from distributed import Client, LocalCluster

    from termsieve import count
    from termsieve.engines.dask import Dask

    options = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
        client.run(__import__, "termsieve.engines.dask")
        clock = Clock()
        counts = count(files, "text", "label", engine=Dask(client))
        counts.save(out)
        return {**clock.read(), "groups": int((counts.tp > 0).sum()), "sum": int(counts.tp.sum())}


def count_polars(files: list[str], out: Path) -> dict:
    """Count with a lazy polars query on its streaming engine."""
    import polars as pl

    clock = Clock()
    terms = pl.col("text").str.to_lowercase().str.extract_all(PATTERN).list.unique().alias("term")
    query = pl.scan_parquet(files).select("label", terms).explode("term", empty_as_null=False)
    query.group_by("label", "term").len("n").sink_parquet(out, engine="streaming")
    return {**clock.read(), **_table_sums(out)}


def count_duckdb(files: list[str], out: Path) -> dict:
    """Count with DuckDB's SQL on two threads; it spills to the folder of the result if it must."""
    import duckdb

    clock = Clock()
    connection = duckdb.connect(config={"threads": 2, "temp_directory": str(out.parent)})
    words = f"unnest(list_distinct(regexp_extract_all(lower(text), '{PATTERN}')))"
    table = f"SELECT label, {words} AS term FROM read_parquet({files!r})"
    counted = f"SELECT label, term, count(*) AS n FROM ({table}) GROUP BY label, term"
    connection.execute(f"COPY ({counted}) TO '{out}' (FORMAT parquet)")
    return {**clock.read(), **_table_sums(out)}


def count_spark(files: list[str], out: Path) -> dict:
    """Count with Spark SQL on two local cores; starting the session is not timed."""
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import array_distinct, explode, lit, lower, regexp_extract_all

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "6g")
        .config("spark.sql.shuffle.partitions", "16")
        .config("spark.local.dir", str(out.parent))
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    clock = Clock()
    words = array_distinct(regexp_extract_all(lower("text"), lit(PATTERN), lit(0)))
    table = spark.read.parquet(*files).select("label", explode(words).alias("term"))
    table.groupBy("label", "term").count().withColumnRenamed("count", "n").write.parquet(str(out))
    spent = clock.read()
    spark.stop()
    return {**spent, **_table_sums(out / "*.parquet")}


def _table_sums(path: Path) -> dict:
    import polars as pl

    table = pl.scan_parquet(path).select(groups=pl.len(), sum=pl.col("n").sum()).collect()
    return {"groups": table["groups"].item(), "sum": int(table["sum"].item())}


RUNS = {
    "termsieve": ("termsieve, 2 workers", count_termsieve),
    "termsieve-1": ("termsieve, 1 worker", lambda files, out: count_termsieve(files, out, workers=1)),
    "termsieve-dask": ("termsieve, Dask, 2 processes", count_dask),
    "polars": ("polars, streaming", count_polars),
    "duckdb": ("DuckDB, 2 threads", count_duckdb),
    "spark": ("Spark local[2]", count_spark),
}
DEFAULT = [name for name in RUNS if name != "termsieve-dask"]


def measured(engine: str, folder: Path) -> dict:
    """Run an engine in a process of its own; return its result with the peak memory of all its processes."""
    command = [sys.executable, __file__, "--engine", engine, "--folder", str(folder)]
    environment = os.environ | {"POLARS_MAX_THREADS": "2"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    peak = 0

    def watch() -> None:
        nonlocal peak
        while process.poll() is None:
            try:
                family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
                peak = max(peak, sum(member.memory_info().rss for member in family))
            except psutil.NoSuchProcess:
                pass
            time.sleep(0.1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    printed, _ = process.communicate()
    watcher.join()
    if process.returncode:
        return {"failed": process.returncode, "peak_bytes": peak}
    return json.loads(printed.splitlines()[-1]) | {"peak_bytes": peak}


def documents_in(folder: Path, n_docs: int) -> tuple[int, bool]:
    """Return the bytes of text in the folder, and whether the documents had to be made first."""
    record = folder / "bytes.json"
    if record.exists():
        return json.loads(record.read_text()), False
    begun = time.perf_counter()
    n_bytes = write_documents(folder, n_docs)
    record.write_text(json.dumps(n_bytes))
    seconds = time.perf_counter() - begun
    print(f"# made {n_docs:,} documents, {n_bytes / 1e9:.2f} GB of text, in {seconds:.0f} s", flush=True)
    return n_bytes, True


def report(folder: Path, n_docs: int, n_bytes: int, engines: list[str]) -> dict[str, dict]:
    """Run the engines, print a row of a Markdown table for each and return their results."""
    results = {}
    for engine in engines:
        result, label = measured(engine, folder), RUNS[engine][0]
        start = f"| {n_docs:,} | {n_bytes / 1e9:.2f} GB | {label} |"
        if "failed" in result:
            print(
                start,
                f"failed ({result['failed']}) | | | | {result['peak_bytes'] / 1e9:.2f} GB |",
                flush=True,
            )
            continue
        results[engine] = result
        wall, cpu = result["seconds"], result["cpu_seconds"]
        cells = [f"{wall:.1f}", f"{cpu:.1f}", f"{n_docs / wall:,.0f}", f"{n_docs / cpu:,.0f}"]
        print(start, " | ".join([*cells, f"{result['peak_bytes'] / 1e9:.2f} GB"]), "|", flush=True)
    tables = {(result["groups"], result["sum"]) for result in results.values()}
    if len(tables) > 1:
        raise SystemExit(f"the engines disagree: {tables}")
    return results


def compare(results: dict[int, dict[str, dict]]) -> None:
    """Print how termsieve stands to the other engines, and how each grew with the documents."""
    for n_docs, engines in results.items():
        own = engines.get("termsieve")
        for engine in ("polars", "duckdb", "spark"):
            if own and engine in engines:
                clock, cpu = (engines[engine][unit] / own[unit] for unit in ("seconds", "cpu_seconds"))
                print(f"# {n_docs:,} documents: {engine} takes {clock:.1f} times the time, {cpu:.1f} the CPU")
        print(f"# {n_docs:,} documents: {next(iter(engines.values()))['groups']:,} rows, all engines alike")
    few, many = min(results), max(results)
    for engine in results[few].keys() & results[many].keys() if few < many else ():
        clock, cpu = (
            results[many][engine][unit] / results[few][engine][unit] for unit in ("seconds", "cpu_seconds")
        )
        print(
            f"# {engine}: {many / few:.1f} times the documents, {clock:.1f} times the time, {cpu:.1f} the CPU"
        )


def workers(quick: bool) -> Iterator[Row]:
    """Yield how much faster two workers count than one, on Parquet files."""
    from benchmarks.measure import compared
    from termsieve import count

    n_docs = 100_000 if quick else 1_000_000
    with documents(n_docs) as folder:
        files = sorted(str(path) for path in folder.glob("part-*.parquet"))
        out = folder / "counts.parquet"
        yield compared(
            "counting Parquet, 2 workers, saved",
            f"{n_docs:,} documents",
            ("itself with 1 worker", lambda: count(files, "text", "label", workers=1).save(out)),
            lambda: count(files, "text", "label", workers=2).save(out),
            "1.7x, stretch 1.9x",
            repeats=3 if quick else 5,
            memory=False,  # it is measured in a fork, in which the threads of polars wait forever
        )


def engines(quick: bool, n_docs: int = 1_000_000) -> Iterator[Row]:
    """Yield how other engines count the same files, each in a process of its own, one run of each."""
    from benchmarks.measure import Row

    n_docs = 50_000 if quick else n_docs
    goals = {"polars": "4x of 10.5 million", "duckdb": "stated", "spark": "14x of 10.5 million"}
    with documents(n_docs) as folder:
        results = report(folder, n_docs, documents_in(folder, n_docs)[0], ["termsieve", *goals])
    own = results.pop("termsieve")
    for engine, result in results.items():
        ratio, cpu = (result[unit] / own[unit] for unit in ("seconds", "cpu_seconds"))
        yield Row(
            "counting Parquet, 2 workers, saved", f"{n_docs:,} documents", RUNS[engine][0], result["seconds"],
            own["seconds"], ratio, ratio, ratio, goals[engine], result["peak_bytes"] / 1e6,
            own["peak_bytes"] / 1e6, f"one run; {cpu:.1f} times our CPU time; equal tables",
        )  # fmt: skip


def engines_large(quick: bool) -> Iterator[Row]:
    """Yield the same with ten and a half million documents, which take a quarter of an hour."""
    yield from engines(quick, 10_500_000)


@contextmanager
def documents(n_docs: int) -> Iterator[Path]:
    """Give a folder with the documents; those in the folder that TERMSIEVE_SCALE names are used, and stay."""
    kept = os.environ.get("TERMSIEVE_SCALE")
    with tempfile.TemporaryDirectory(prefix="termsieve-scale-") as temporary:
        folder = Path(kept or temporary) / f"docs-{n_docs}"
        documents_in(folder, n_docs)
        yield folder


def main() -> None:
    """Parse, run, clean up."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--docs", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--folder", type=Path, help="scratch space; a temporary folder by default")
    parser.add_argument("--engines", nargs="+", choices=RUNS, default=DEFAULT)
    parser.add_argument("--keep", action="store_true", help="leave the documents in the folder")
    parser.add_argument("--engine", choices=RUNS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        files = sorted(str(path) for path in options.folder.glob("part-*.parquet"))
        with tempfile.TemporaryDirectory(dir=options.folder) as out:
            print(json.dumps(RUNS[options.engine][1](files, Path(out) / "counts.parquet")))
        return
    base = options.folder or Path(tempfile.mkdtemp(prefix="termsieve-scale-"))
    print("| documents | text | engine | seconds | CPU s | documents/s | documents/CPU s | peak memory |")
    print("| --- " * 8 + "|")
    results = {}
    for n_docs in options.docs:
        folder = base / f"docs-{n_docs}"
        n_bytes, fresh = documents_in(folder, n_docs)
        try:
            if done := report(folder, n_docs, n_bytes, options.engines):
                results[n_docs] = done
        finally:
            if fresh and not options.keep:
                shutil.rmtree(folder, ignore_errors=True)
    if results:
        compare(results)


if __name__ == "__main__":
    main()
