"""Texts to term matrices: CountVectorizer beside TermVectorizer, time and peak memory, in one run.

python -m benchmarks.text [--quick]
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

REPEATS, QUICK_REPEATS = 5, 3
MEGABYTES, QUICK_MEGABYTES = 200, 50
WAYS = ("CountVectorizer", "TermVectorizer, 1 thread", "TermVectorizer, 2 threads")


def newsgroups() -> list[str]:
    """Return the posts of 20 Newsgroups, or as much generated text where TERMSIEVE_DATA is not set."""
    data = os.environ.get("TERMSIEVE_DATA")
    if not data:
        return generated(46)
    return [path.read_text("latin-1") for path in sorted(Path(data, "20_newsgroups").glob("*/*"))]


def generated(megabytes: int) -> list[str]:
    """Return texts of about 2 kB: a million words, few of them frequent, some with capitals or accents."""
    rng = np.random.default_rng(1)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxzéß"))
    weights = 1 / np.arange(1, len(letters) + 1)
    lengths = rng.integers(2, 12, 1_000_000)
    stream = "".join(rng.choice(letters[:26], lengths.sum(), p=weights[:26] / weights[:26].sum()))
    ends = np.cumsum(lengths)
    words = [stream[end - n : end] for end, n in zip(ends, lengths, strict=True)]
    for i in range(0, len(words), 50):
        words[i] = words[i].replace("e", "é")
    for i in range(0, len(words), 7):
        words[i] = words[i].capitalize()
    texts, size = [], 0
    while size < megabytes * 1_000_000:
        ranks = (rng.pareto(0.9, 330) * 20).astype(np.int64) % len(words)
        texts.append(" ".join([words[rank] for rank in ranks]))
        size += len(texts[-1])
    return texts


def vectorizer(way: str) -> Any:
    """Return the transformer that a way names."""
    if way == WAYS[0]:
        from sklearn.feature_extraction.text import CountVectorizer

        return CountVectorizer()
    from termsieve import TermVectorizer

    return TermVectorizer(n_threads=WAYS.index(way))


def inputs(quick: bool) -> dict[str, Callable[[], list[str]]]:
    """Return what makes the texts of each comparison."""
    size = QUICK_MEGABYTES if quick else MEGABYTES
    return {"20 Newsgroups": newsgroups, f"{size} MB generated": lambda: generated(size)}


def seconds(way: str, texts: list[str]) -> float:
    """Return the time of one fit_transform."""
    gc.collect()
    start = time.perf_counter()
    vectorizer(way).fit_transform(texts)
    return time.perf_counter() - start


def resident(field: str) -> float:
    """Return a memory field of this process in MB, from Linux's /proc."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def peak(way: str, name: str, quick: bool) -> float:
    """Return the MB that fit_transform needs at most beyond the texts, in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.text", "--peak", way, "--input", name]
    done = subprocess.run([*command, *["--quick"] * quick], check=True, capture_output=True, text=True)
    return float(done.stdout)


def own_peak(way: str, texts: list[str]) -> float:
    """Return the same for this process."""
    vectorizer(way).fit(["the first use imports and makes tables"])
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    kept = vectorizer(way)
    matrix = kept.fit_transform(texts)
    assert matrix.shape[0] == len(texts)
    return resident("VmHWM") - before


def compared(name: str, make: Callable[[], list[str]], quick: bool) -> list[dict[str, Any]]:
    """Return a row for each way: seconds of all repeats, taken in turns, and peak memory."""
    texts = make()
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    for way in WAYS:
        vectorizer(way).fit(texts[:100])
    runs: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(QUICK_REPEATS if quick else REPEATS):
        for way in WAYS:
            runs[way].append(seconds(way, texts))
    del texts
    return [
        {"input": name, "way": way, "mb": size, "seconds": runs[way], "peak_mb": peak(way, name, quick)}
        for way in WAYS
    ]


def printed(rows: list[dict[str, Any]]) -> None:
    """Print the rows of one input with ratios to the first."""
    base = rows[0]
    print(f"{base['input']}, {base['mb']:.0f} MB of text, {len(base['seconds'])} repeats")
    for row in rows:
        ratios = [a / b for a, b in zip(base["seconds"], row["seconds"], strict=True)]
        middle = median(row["seconds"])
        print(
            f"  {row['way']:26} {middle:7.3f} s {row['mb'] / middle:6.1f} MB/s"
            f"  {median(base['seconds']) / middle:5.1f}x (runs {min(ratios):.1f} to {max(ratios):.1f})"
            f"  peak {row['peak_mb']:6.0f} MB ({row['peak_mb'] / base['peak_mb']:.2f} of the peer's)"
        )


def main() -> None:
    """Run and print every comparison, or measure one peak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less text and fewer repeats")
    parser.add_argument("--peak", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--input", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print(own_peak(options.peak, inputs(options.quick)[options.input]()))
        return
    for name, make in inputs(options.quick).items():
        printed(compared(name, make, options.quick))


if __name__ == "__main__":
    main()
