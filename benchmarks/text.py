"""Texts to term matrices, beside CountVectorizer; and the generator of texts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.measure import Row, compared
from termsieve import TermVectorizer


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


def ngrams(quick: bool) -> Iterator[Row]:
    """N-grams of words, with one thread and with two, and n-grams of characters with one."""
    posts = newsgroups()[::16] if quick else newsgroups()
    name = "20 Newsgroups, a sixteenth" if quick else "20 Newsgroups"
    megabytes = 3 if quick else 100
    made = generated(megabytes)
    inputs: list[tuple[str, list[str], dict[str, Any], str]] = [
        (name, posts, {"ngram_range": (1, 2)}, "6x, with two threads 10x"),
        (name, posts, {"ngram_range": (2, 3)}, ""),
        (f"{megabytes} MB generated", made, {"ngram_range": (1, 3)}, "6x, with two threads 10x"),
        (name, posts, {"analyzer": "char", "ngram_range": (2, 5)}, ""),
        (name, posts, {"analyzer": "char_wb", "ngram_range": (3, 5)}, "6x, stretch 12x"),
    ]
    for on, texts, options, goal in inputs:
        least, most = options["ngram_range"]
        for n_threads in (1,) if "analyzer" in options else (1, 2):
            yield compared(
                f"{options.get('analyzer', 'word')} n-grams ({least}, {most}), identical, "
                f"{n_threads} thread{'s' * (n_threads > 1)}",
                on,
                ("CountVectorizer", partial(CountVectorizer(**options).fit_transform, texts)),
                partial(TermVectorizer(n_threads=n_threads, **options).fit_transform, texts),
                goal,
                repeats=1 if quick else 3,
            )


def rows(quick: bool) -> Iterator[Row]:
    """Yield the comparisons on real and on generated text, with one thread and with two."""
    yield from ngrams(quick)
    inputs = {"20 Newsgroups, a quarter": newsgroups()[::4]} if quick else {"20 Newsgroups": newsgroups()}
    for megabytes in (6, 12, 25) if quick else (50, 100, 200):
        inputs[f"{megabytes} MB generated"] = generated(megabytes)
    for name, texts in inputs.items():
        for n_threads, goal in ((1, "8x"), (2, "stretch 20x")):
            yield compared(
                f"text to matrix, identical, {n_threads} thread{'s' * (n_threads > 1)}",
                name,
                ("CountVectorizer", partial(CountVectorizer().fit_transform, texts)),
                partial(TermVectorizer(n_threads=n_threads).fit_transform, texts),
                goal,
                repeats=3 if quick else 5,
                size=sum(map(len, texts)) / 1e6 if name.endswith("generated") else None,
            )
