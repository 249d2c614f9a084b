"""Texts to term matrices, beside CountVectorizer; and the generator of texts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.measure import Row, all_compared, compared
from termsieve import TermVectorizer

WORDS = "6x, with two threads 10x"  # the goal for n-grams of words


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


def fitted_with_names(vectorizer: TermVectorizer, texts: list[str]) -> Any:
    """Return the matrix of the texts, with the vocabulary read, because CountVectorizer always makes it."""
    X = vectorizer.fit_transform(texts)
    assert len(vectorizer.vocabulary_) == X.shape[1]
    return X


def ngrams(quick: bool) -> Iterator[Row]:
    """N-grams of words of real texts."""
    yield from _ngrams(*_posts(quick, 1), {"ngram_range": (1, 2)}, WORDS, 1 if quick else 5)
    yield from _ngrams(*_posts(quick, 4), {"ngram_range": (2, 3)}, "", 1 if quick else 3)


def trigrams(quick: bool) -> Iterator[Row]:
    """N-grams of up to three words of generated texts."""
    megabytes = 3 if quick else 100
    given = f"{megabytes} MB generated", generated(megabytes)
    yield from _ngrams(*given, {"ngram_range": (1, 3)}, WORDS, 1 if quick else 3)


def characters(quick: bool) -> Iterator[Row]:
    """N-grams of characters of real texts."""
    repeats = 1 if quick else 3
    padded, plain = (
        {"analyzer": name, "ngram_range": n} for name, n in (("char_wb", (3, 5)), ("char", (2, 5)))
    )
    yield from _ngrams(*_posts(quick, 1), padded, "6x, stretch 12x", repeats)
    yield from _ngrams(*_posts(quick, 4), plain, "", repeats)


def _posts(quick: bool, part: int) -> tuple[str, list[str]]:
    """Return the name of one of `part` parts of 20 Newsgroups, and its posts; for a quick run a sixteenth."""
    part = 16 if quick else part
    names = {1: "20 Newsgroups", 4: "20 Newsgroups, a quarter", 16: "20 Newsgroups, a sixteenth"}
    return names[part], newsgroups()[::part]


def _ngrams(on: str, texts: list[str], options: dict[str, Any], goal: str, repeats: int) -> Iterator[Row]:
    """Yield n-grams with one thread and with two; then the same without the names."""
    work = f"{options.get('analyzer', 'word')} n-grams {options['ngram_range']}, identical"
    works: list[tuple[str, Any, str]] = []
    for n_threads in (1, 2):
        vectorizer = TermVectorizer(n_threads=n_threads, **options)
        threads = f"{n_threads} thread{'s' * (n_threads > 1)}"
        works += [
            (f"{work}, {threads}", partial(fitted_with_names, vectorizer, texts), goal),
            (f"{work}, {threads}, vocabulary unread", partial(vectorizer.fit_transform, texts), ""),
        ]
    peer = "CountVectorizer", partial(CountVectorizer(**options).fit_transform, texts)
    yield from all_compared(on, peer, works, repeats=repeats)


def rows(quick: bool) -> Iterator[Row]:
    """Yield the comparisons on real and on generated text, with one thread and with two."""
    inputs = {"20 Newsgroups, a quarter": newsgroups()[::4]} if quick else {"20 Newsgroups": newsgroups()}
    for megabytes in (6, 12, 25) if quick else (50, 100, 200):
        inputs[f"{megabytes} MB generated"] = generated(megabytes)
    for name, texts in inputs.items():
        for n_threads, goal in ((1, "8x"), (2, "stretch 20x")):
            yield compared(
                f"text to matrix, identical, {n_threads} thread{'s' * (n_threads > 1)}",
                name,
                ("CountVectorizer", partial(CountVectorizer().fit_transform, texts)),
                partial(fitted_with_names, TermVectorizer(n_threads=n_threads), texts),
                goal,
                repeats=3 if quick else 5,
                size=sum(map(len, texts)) / 1e6 if name.endswith("generated") else None,
            )
