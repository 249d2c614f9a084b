"""Each work beside a limit that it cannot pass: reading, importing, a copy of its bytes, plain C.

The ratio is the time of the limit over ours.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from benchmarks.core import RANK, fresh, newsgroups, ranking_command
from benchmarks.measure import Row, compared
from benchmarks.scale import documents
from termsieve import Counts, TermVectorizer, count


def plain_counter(folder: Path) -> Callable[..., int] | None:
    """Return the counter of plain.c, compiled; None where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    library = folder / "plain.so"
    source = Path(__file__).with_name("plain.c")
    subprocess.run([compiler, "-O3", "-shared", "-fPIC", "-o", library, source], check=True)
    function = ctypes.CDLL(str(library)).plain_count
    function.restype = ctypes.c_int64
    function.argtypes = [
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_int32,
    ]
    counted: Callable[..., int] = function
    return counted


def beside_plain_c(corpus: Any, repeats: int) -> Iterator[Row]:
    """Text to counts beside a C program that does the same without Python, sorting and naming."""
    raw = [text.encode() for text in corpus.texts]
    text, ends = b"".join(raw), np.cumsum([len(each) for each in raw])
    classes, numbers = np.unique(corpus.labels, return_inverse=True)
    numbers = numbers.astype(np.int32)
    with TemporaryDirectory() as folder:
        plain = plain_counter(Path(folder))
        if plain is None:
            return
        yield compared(
            "text to counts of 20 classes", f"20 Newsgroups, {len(corpus):,} documents",
            ("plain C", lambda: plain(text, ends.ctypes.data, numbers.ctypes.data, len(ends), len(classes))),
            lambda: count(corpus, workers=1), "limit", repeats=repeats, memory=False,
        )  # fmt: skip


def beside_reading(n_docs: int, repeats: int) -> Iterator[Row]:
    """Counting Parquet beside only reading it."""
    with documents(n_docs) as folder:
        files = sorted(str(path) for path in folder.glob("part-*.parquet"))

        def read_all() -> None:
            for _ in pl.scan_parquet(files).select("text", "label").collect_batches():
                pass

        for workers in (1, 2):
            yield compared(
                f"counting Parquet, workers={workers}, not saved", f"{n_docs:,} documents",
                ("reading the columns with polars", read_all),
                lambda workers=workers: count(files, "text", "label", workers=workers), "limit",
                repeats=repeats, memory=False,
            )  # fmt: skip


def beside_imports(repeats: int) -> Iterator[Row]:
    """A whole command beside importing what it needs."""
    with TemporaryDirectory(prefix="termsieve-start-") as folder:
        imports = fresh(Path(folder), "-c", "import numpy, scipy.sparse, polars, typer")
        imports()
        yield compared(
            RANK, "a fresh process", ("importing numpy, scipy.sparse, polars and typer", imports),
            ranking_command(Path(folder)), "limit", repeats=repeats, memory=False,
        )  # fmt: skip


def rows(quick: bool) -> Iterator[Row]:
    """Yield every work beside its limit."""
    yield from beside_imports(3 if quick else 5)
    yield from beside_reading(50_000 if quick else 1_000_000, 3 if quick else 5)
    corpus, repeats = newsgroups(quick), 3 if quick else 5
    yield from beside_plain_c(corpus, repeats)
    texts, y = list(corpus.texts), np.asarray(corpus.labels)
    on = f"20 Newsgroups, {len(texts):,} documents"
    raw = bytearray("".join(texts).encode())
    yield compared(
        "text to matrix, 1 thread", on, ("a copy of the text", lambda: bytes(raw)),
        lambda: TermVectorizer(n_threads=1).fit_transform(texts), "limit", repeats=repeats, memory=False,
    )  # fmt: skip
    for options in ({"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (3, 5)}):
        X = TermVectorizer(**options).fit_transform(texts)
        yield compared(
            f"{options.get('analyzer', 'word')} n-grams {options['ngram_range']} to matrix, 1 thread", on,
            ("a copy of the matrix", X.copy),
            lambda options=options: TermVectorizer(n_threads=1, **options).fit_transform(texts), "limit",
            repeats=repeats, memory=False,
        )  # fmt: skip
    X = TermVectorizer().fit_transform(texts)
    yield compared(
        "counts of all classes", on, ("a pass over the indices", X.indices.sum),
        lambda: Counts.from_matrix(X, y), "limit", repeats=repeats, memory=False,
    )  # fmt: skip
