"""A number of documents comes in; how fast termsieve, polars and Spark count their terms a class goes out.

    python benchmarks/scale.py --docs 1000000
    python benchmarks/scale.py --docs 1000000 10000000 --folder /scratch/scale --engines termsieve polars

The documents are made by a seeded generator: Zipfian words, twenty classes with words of their own, half a
kilobyte each. Every engine runs in a process of its own on two threads, on the same files, and writes the
same table: how many documents of each class hold each term. The engines have to agree on the number of its
rows and on their sum. CPU seconds are those of all processes and threads from the start of the engine on.
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
from pathlib import Path

import numpy as np
import psutil

SEED = 20_260_101
FILE_DOCS = 250_000
N_CLASSES = 20
N_WORDS = 2_000_000
EXPONENT = 1.2
SHIFT = 3.0
MEAN_LENGTH = 110
PATTERN = r"\b\w\w+\b"
ENGINES = ("termsieve", "termsieve-1", "polars", "spark")


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
    """Count with termsieve."""
    import termsieve

    clock = Clock()
    counts = termsieve.count(files, "text", "label", workers=workers)
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
    "termsieve": count_termsieve,
    "termsieve-1": lambda files, out: count_termsieve(files, out, workers=1),
    "polars": count_polars,
    "spark": count_spark,
}


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


def report(folder: Path, n_docs: int, engines: list[str]) -> None:
    """Make the documents where they are not there yet, run the engines and print a line for each."""
    made = folder / "bytes.json"
    if not made.exists():
        begun = time.perf_counter()
        made.parent.mkdir(parents=True, exist_ok=True)
        n_bytes = write_documents(folder, n_docs)
        made.write_text(json.dumps(n_bytes))
        seconds = time.perf_counter() - begun
        print(f"# made {n_docs:,} documents, {n_bytes / 1e9:.2f} GB of text, in {seconds:.0f} s", flush=True)
    n_bytes = json.loads(made.read_text())
    tables = set()
    print(
        "| documents | text | engine | seconds | CPU s | documents/s | documents/CPU s | peak memory |\n"
        + "| --- " * 8
        + "|"
    )
    for engine in engines:
        result = measured(engine, folder)
        if "failed" in result:
            print(f"| {n_docs:,} | {n_bytes / 1e9:.2f} GB | {engine} | failed ({result['failed']}) | | | | |")
            continue
        tables.add((result["groups"], result["sum"]))
        wall, cpu = result["seconds"], result["cpu_seconds"]
        cells = [f"{n_docs:,}", f"{n_bytes / 1e9:.2f} GB", engine, f"{wall:.1f}", f"{cpu:.1f}"]
        cells += [f"{n_docs / wall:,.0f}", f"{n_docs / cpu:,.0f}", f"{result['peak_bytes'] / 1e9:.2f} GB"]
        print("|", " | ".join(cells), "|", flush=True)
    if len(tables) > 1:
        raise SystemExit(f"the engines disagree: {tables}")
    print(f"# {len(tables)} distinct table: {tables}")


def main() -> None:
    """Parse, run, clean up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--folder", type=Path, help="scratch space; a temporary folder by default")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--keep", action="store_true", help="leave the documents in the folder")
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        files = sorted(str(path) for path in options.folder.glob("part-*.parquet"))
        with tempfile.TemporaryDirectory(dir=options.folder) as out:
            print(json.dumps(RUNS[options.engine](files, Path(out) / "counts.parquet")))
        return
    base = options.folder or Path(tempfile.mkdtemp(prefix="termsieve-scale-"))
    for n_docs in options.docs:
        folder = base / f"docs-{n_docs}"
        try:
            report(folder, n_docs, options.engines)
        finally:
            if not options.keep:
                shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
