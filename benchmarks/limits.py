"""Each work beside a limit that it cannot pass: reading, importing, a copy of its bytes, a pass, plain C.

The ratio is the time of the limit over ours.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from benchmarks.core import PAPERS, RANK, every_score, fresh, newsgroups, ranking_command, samples
from benchmarks.measure import Row, compared
from benchmarks.scale import documents
from benchmarks.solvers import SIZES, fold, of_ones, paths, rankings, ratio_sets, reuters
from benchmarks.text import generated
from termsieve import Counts, TermSelector, TermVectorizer, count, rank, score
from termsieve.learners import decision_sets


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


def limited(
    work: str, on: str, limit: tuple[str, Callable[[], Any]], ours: Callable[[], Any], repeats: int
) -> Row:
    """Return the row of a work beside its limit."""
    return compared(work, on, limit, ours, "limit", repeats=repeats, memory=False)


def plain_call(plain: Callable[..., int], texts: list[str], labels: Any) -> Callable[[], int]:
    """Return what counts these texts in plain C."""
    raw = [text.encode() for text in texts]
    text, ends = b"".join(raw), np.cumsum([len(each) for each in raw])
    classes, numbers = np.unique(labels, return_inverse=True)
    numbers = numbers.astype(np.int32)
    return lambda: plain(text, ends.ctypes.data, numbers.ctypes.data, len(ends), len(classes))


def counting_text(corpus: Any, n_docs: int, repeats: int) -> Iterator[Row]:
    """Text to counts beside a C program that does the same without Python, sorting and naming."""
    with TemporaryDirectory() as folder, documents(n_docs) as made:
        files = sorted(str(path) for path in made.glob("part-*.parquet"))
        out = Path(folder, "counts.parquet")
        plain = plain_counter(Path(folder))

        def read_all() -> None:
            for _ in pl.scan_parquet(files).select("text", "label").collect_batches():
                pass

        def saved(workers: int) -> None:
            count(files, "text", "label", workers=workers).save(out)

        for workers in (1, 2):
            reading = "reading the columns with polars", read_all
            work = f"counting Parquet, workers={workers}, saved"
            yield limited(work, f"{n_docs:,} documents", reading, partial(saved, workers), repeats)
        if plain is None:
            return
        on = f"20 Newsgroups, {len(corpus):,} documents"
        in_c = "plain C", plain_call(plain, list(corpus.texts), corpus.labels)
        yield limited("text to counts of 20 classes", on, in_c, lambda: count(corpus, workers=1), repeats)
        frame = pl.read_parquet(files, columns=["text", "label"])
        in_c = (
            "plain C on text in memory, 1 thread",
            plain_call(plain, frame["text"].to_list(), frame["label"]),
        )
        for workers in (1, 2):
            work = f"counting Parquet, workers={workers}, saved"
            yield limited(work, f"{n_docs:,} documents", in_c, partial(saved, workers), repeats)


def starting(repeats: int) -> Iterator[Row]:
    """A whole command beside importing what it needs, and the package beside Python itself."""
    with TemporaryDirectory(prefix="termsieve-start-") as folder:
        on = "a fresh process"
        imports = fresh(Path(folder), "-c", "import numpy, polars, typer, pydantic")
        nothing = fresh(Path(folder), "-c", "pass")
        imports()
        limit = "importing numpy, polars, typer and pydantic", imports
        yield limited(RANK, on, limit, ranking_command(Path(folder)), repeats)
        ours = fresh(Path(folder), "-c", "import termsieve")
        yield limited("import termsieve", on, ("Python that does nothing", nothing), ours, repeats)


def vectorizing(texts: list[str], quick: bool, repeats: int) -> Iterator[Row]:
    """Texts to matrices beside copies of the text and of the matrix."""
    on = f"20 Newsgroups, {len(texts):,} documents"
    raw = bytearray("".join(texts).encode())
    for n_threads in (1, 2):
        ours = partial(TermVectorizer(n_threads=n_threads).fit_transform, texts)
        copy = "a copy of the text", lambda: bytes(raw)
        threads = f"{n_threads} thread{'s' * (n_threads > 1)}"
        yield limited(f"text to matrix, {threads}", on, copy, ours, repeats)
    megabytes = 3 if quick else 100
    works: list[tuple[str, list[str], dict[str, Any]]] = [
        (on, texts, {"ngram_range": (1, 2)}),
        (on, texts, {"analyzer": "char_wb", "ngram_range": (3, 5)}),
        (f"{megabytes} MB generated", generated(megabytes), {"ngram_range": (1, 3)}),
    ]
    for where, given, options in works:
        X = TermVectorizer(**options).fit_transform(given)
        work = f"{options.get('analyzer', 'word')} n-grams {options['ngram_range']} to matrix, 1 thread"
        ours = partial(TermVectorizer(n_threads=1, **options).fit_transform, given)
        yield limited(work, where, ("a copy of the matrix", X.copy), ours, repeats)


def scoring(X: Any, y: Any, repeats: int) -> Iterator[Row]:
    """Counts, scores and selections beside passes over the indices and over the counts."""
    for part, its, on in samples(X, y):
        table = Counts.from_matrix(part, its).tp

        def passes(table: Any = table) -> None:
            for _ in PAPERS:
                table.sum()

        one_pass = "a pass over the indices", part.indices.sum
        yield limited("counts of all classes", on, one_pass, partial(Counts.from_matrix, part, its), repeats)
        work = f"counting, {len(PAPERS)} metrics x 20 classes, maximum, ranking"
        limit = "a pass over the counts for each metric", passes
        yield limited(work, on, limit, partial(every_score, part, its), repeats)
        ours = partial(TermSelector("bns", k=1000).fit_transform, part, its)
        yield limited("fit_transform, 1,000 terms", on, one_pass, ours, repeats)
    counts = Counts.from_matrix(X, y)
    limit = "a pass over the counts", counts.tp.sum
    ours = partial(ranked_by_gain, X, y)
    yield limited("information gain ranking", f"20 Newsgroups, {len(y):,} documents", limit, ours, repeats)


def ranked_by_gain(X: Any, y: Any) -> Any:
    """Return the ranking of all terms by information gain, counting included."""
    return rank(score(Counts.from_matrix(X, y), "ig"), combine="joint")


def products(train: Any, test: Any, sets: list[Any]) -> Callable[[], None]:
    """Return what multiplies each selection of columns, cut out before, with weights once."""
    cut = [(train[:, columns], test[:, columns], np.ones(len(columns))) for columns in sets]

    def run() -> None:
        for first, second, weights in cut:
            first @ weights
            second @ weights

    return run


def training(quick: bool, repeats: int) -> Iterator[Row]:
    """Trainings beside one product of the selected columns with their weights per training."""
    name = "one product with the weights per training"
    for learner, metrics in (("svm", ["bns", "ig"]), ("svm(hinge)", ["bns", "ig"])):
        for part in map(fold, ["tr11"] if quick else ["oh0", "fbis", "la1"]):
            sets = [order[:k] for _, order in rankings(part, metrics) for k in SIZES]
            limit = name, products(part.train, part.test, sets)
            work = f"{learner}: {len(sets)} trainings, counting and ranking"
            yield limited(work, part.name, limit, partial(paths, part, learner, metrics), repeats)
    train, test, targets = reuters()
    target, y = next(iter(targets.items()))
    for learner, first, second in (("nb", train, test), ("lr", of_ones(train), of_ones(test))):
        for size in (500,) if quick else (500, 3000):
            sets = ratio_sets(first, y, size)
            ours = partial(decision_sets, learner, first, y, second, sets)
            limit = name, products(first, second, sets)
            work = f"zheng2004: 21 ratios, {size} terms, {learner}"
            yield limited(work, f"Reuters-21578, {target}", limit, ours, repeats)


def rows(quick: bool) -> Iterator[Row]:
    """Yield every work beside its limit; that of a study's report is measured with the study."""
    repeats, corpus = 3 if quick else 5, newsgroups(quick)
    yield from starting(repeats)
    yield from counting_text(corpus, 50_000 if quick else 1_000_000, repeats)
    texts, y = list(corpus.texts), np.asarray(corpus.labels)
    yield from vectorizing(texts, quick, repeats)
    yield from scoring(TermVectorizer().fit_transform(texts), y, repeats)
    yield from training(quick, repeats)
