"""A Corpus comes in; the same documents go out without the passages that several of them share."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from termsieve.corpus import Corpus
from termsieve.errors import InputError, ParameterError

WORDS, DOCUMENTS = 8, 3  # how long a passage is at least, and how many documents have it at least
LEAST_ALIKE, LEAST_SEEN = 3, 5  # words with equal counts, and their documents, that make a passage likely
_WORD = re.compile(r"\w+")

Positions = NDArray[np.int64]


def without_passages(corpus: Corpus, *, words: int = WORDS, documents: int = DOCUMENTS) -> Corpus:
    """Return the corpus without the passages that several documents have word for word.

    Boilerplate, signatures, disclaimers and mails that are quoted again and again make all their words look
    telling. Letter case and what stands between words do not matter.

    Parameters
    ----------
    corpus : Corpus
        The documents, as texts.
    words : int, default=8
        The least number of words of a passage.
    documents : int, default=3
        The least number of documents that share a passage.

    Returns
    -------
    Corpus
        The same documents with a line break in the place of each passage; a document may be empty.

    Examples
    --------
    >>> note = "Sent from my phone, please excuse brevity and errors"
    >>> mails = [f"Yes. {note}", f"No. {note}", f"So. {note}", "My phone is new"]
    >>> without_passages(Corpus(mails, ["a", "b", "a", "b"])).texts
    ('Yes. \\n', 'No. \\n', 'So. \\n', 'My phone is new')
    """
    if corpus.texts is None:
        raise InputError("passages are found in texts, and this corpus holds a term matrix")
    for name, value in (("words", words), ("documents", documents)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 2:
            raise ParameterError(f"{name} must be a whole number of 2 or more, not {value!r}")
    codes, document = _word_codes(corpus.texts)
    shared = _in_shared(codes, document, words, documents)
    parts = np.split(shared, np.searchsorted(document, np.arange(1, len(corpus))))
    return corpus.with_texts(
        _without(text, part) if part.any() else text for text, part in zip(corpus.texts, parts, strict=True)
    )


def words_of_one_passage(words: pl.DataFrame) -> list[str]:
    """Return the words of a list that likely come from one passage: the most words with equal counts.

    Parameters
    ----------
    words : polars.DataFrame
        The rows of `telling_words`.

    Returns
    -------
    list of str
        At least three words, of one class, that are in the same number of documents, five or more, in it and
        outside of it; an empty list if there are none.

    Examples
    --------
    >>> rows = {"term": list("abcd"), "class": ["spam"] * 4, "tp": [9, 9, 9, 8], "fp": [1, 1, 1, 0]}
    >>> words_of_one_passage(pl.DataFrame(rows))
    ['a', 'b', 'c']
    """
    found = words.filter(pl.col("tp") >= LEAST_SEEN).group_by("class", "tp", "fp", maintain_order=True)
    groups = [group for group in found.agg("term")["term"].to_list() if len(group) >= LEAST_ALIKE]
    return max(groups, key=len, default=[])


class _Codes(dict[str, int]):
    """Words as they stand in texts -> a number, the same for all spellings that differ in letter case."""

    def __missing__(self, word: str) -> int:
        lower = word.lower()
        code = self[word] = len(self) if lower == word or lower not in self else self[lower]
        self[lower] = code
        return code


def _word_codes(texts: tuple[str, ...]) -> tuple[Positions, Positions]:
    """Return a number for each word of all texts, equal for equal words, and the number of its document."""
    known = _Codes()
    rows = [[known[word] for word in _WORD.findall(text)] for text in texts]
    sizes = [len(row) for row in rows]
    codes = np.fromiter((code for row in rows for code in row), dtype=np.int64, count=sum(sizes))
    return codes, np.repeat(np.arange(len(texts), dtype=np.int64), sizes)


def _in_shared(codes: Positions, document: Positions, words: int, documents: int) -> NDArray[np.bool_]:
    """Return whether each word is in a sequence of `words` words that `documents` documents share.

    Sequences are made of two shorter ones, which may overlap; one that is too rare is left out at once, so
    that few are left to be compared.
    """
    starts, found, length = np.arange(len(codes)), codes, 1
    while length < words and len(starts):
        longer = min(2 * length, words)
        step = longer - length
        place = np.minimum(np.searchsorted(starts, starts + step), len(starts) - 1)
        whole = np.flatnonzero(starts[place] == starts + step)
        pairs = found[whole] * (found.max() + 1) + found[place[whole]]
        _, found, times = np.unique(pairs, return_inverse=True, return_counts=True)
        starts, often = starts[whole], times[found] >= documents
        inside = document[starts] == document[starts + longer - 1]
        starts, found, length = starts[often & inside], found[often & inside], longer
    changes = np.zeros(len(codes) + 1, dtype=np.int64)
    if len(starts):
        having = np.unique(found * (document[-1] + 1) + document[starts]) // (document[-1] + 1)
        starts = starts[np.bincount(having, minlength=found.max() + 1)[found] >= documents]
        np.add.at(changes, starts, 1)
        np.add.at(changes, starts + words, -1)
    return changes[:-1].cumsum() > 0


def _without(text: str, shared: NDArray[np.bool_]) -> str:
    """Return a text without some of its words and what stands between them."""
    spans = [match.span() for match in _WORD.finditer(text)]
    edges = np.flatnonzero(np.diff(shared, prepend=False, append=False)).reshape(-1, 2).tolist()
    kept, at = [], 0
    for first, end in edges:
        kept.append(text[at : spans[first][0]])
        at = spans[end - 1][1]
    return "\n".join([*kept, text[at:]])
