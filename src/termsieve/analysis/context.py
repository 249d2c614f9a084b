"""A text comes in; where its terms stand, the passages around some of them, or the text masked, goes out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from termsieve.analysis.duplicates import label_names
from termsieve.terms import TOKEN_PATTERN, Analysis, count_known

SPACES = re.compile(r"\s+")
GAP = " … "  # between two passages of a document
AROUND = 160  # characters on either side of a word
MASKS = (
    (re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "[mail]"),
    (re.compile(r"\b(?:https?://|ftp://|www\.)\S+", re.IGNORECASE), "[address]"),
    (re.compile(r"\+?\d(?:[\d .,:/()-]*\d)?"), "[number]"),
)


class Span(NamedTuple):
    """An occurrence of a term: text[start:stop]."""

    start: int
    stop: int
    term: str


def masked(text: str) -> str:
    """Return the text without mail addresses, web addresses and numbers, also those with separators.

    >>> masked("Call +49 (30) 123-456 or mail jo.doe@example.org, see https://example.org/x?id=1 on 3/4.")
    'Call [number] or mail [mail], see [address] on [number].'
    """
    for pattern, name in MASKS:
        text = pattern.sub(name, text)
    return text


class TermFinder:
    """Finds terms in texts, by the options that made them; a stem or an n-gram is found by its words.

    >>> finder = TermFinder(Analysis(stem="porter", ngram_range=(1, 2)))
    >>> [tuple(span) for span in finder.spans("Running dogs")]
    [(0, 7, 'run'), (8, 12, 'dog'), (0, 12, 'run dog')]
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._words = analysis.analyzer == "word" and analysis.tokenizer is None
        self._pattern = re.compile((self._words and analysis.token_pattern) or TOKEN_PATTERN)
        single = Analysis(**{**vars(analysis), "ngram_range": (1, 1)}) if self._words else analysis
        self._analyse: Callable[[str], Iterable[str]] = single.analyser()
        self._known: dict[str, str] = {}

    def spans(self, text: str) -> Iterator[Span]:
        """Yield the occurrences of terms: the words of a text in order, then its n-grams."""
        if not self._words:
            return
        found = [
            Span(match.start(), match.end(), term)
            for match in self._pattern.finditer(text)
            if (term := self._term(match.group()))
        ]
        least, most = self._analysis.ngram_range
        for n in range(least, most + 1):
            for i in range(len(found) - n + 1):
                run = found[i : i + n]
                yield Span(run[0].start, run[-1].stop, " ".join(span.term for span in run))

    def _term(self, word: str) -> str:
        """Return the term of a word, or an empty text for a stop word."""
        if word not in self._known:
            terms = list(self._analyse(word))
            self._known[word] = str(terms[0]) if len(terms) == 1 else ""
        return self._known[word]


def passages(text: str, spans: Collection[Span], letters: int) -> str:
    """Return the text if it is short, otherwise the passages around the spans, or its beginning.

    At most about `letters` characters are returned; the first spans are the most important ones.

    >>> text = "ball " * 100 + "goal " + "net " * 100
    >>> passages(text, [Span(500, 504, "goal")], letters=400)[:8]
    '… ball b'
    """
    if len(text) <= letters:
        return text
    windows: list[tuple[int, int]] = []
    room = letters
    for start, stop, _ in spans:
        low, high = max(0, start - AROUND), min(len(text), stop + AROUND)
        if not any(first <= start and stop <= last for first, last in windows):
            room -= high - low
            if room < 0:
                break
            windows.append((low, high))
    kept = _merged(windows) or [(0, letters)]
    parts = (text[_word_start(text, low) : _word_stop(text, high)] for low, high in kept)
    before, after = "… " if kept[0][0] else "", " …" if kept[-1][1] < len(text) else ""
    return before + GAP.join(part.strip() for part in parts) + after


def _merged(windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the windows in order, those that touch each other as one."""
    kept: list[tuple[int, int]] = []
    for low, high in sorted(windows):
        if kept and low <= kept[-1][1]:
            low, high = kept[-1][0], max(high, kept.pop()[1])
        kept.append((low, high))
    return kept


def _word_start(text: str, at: int) -> int:
    """Return the beginning of the first whole word from a place on, unless it is far away."""
    space = text.find(" ", at, at + 20) if at else -1
    return at if space < 0 else space + 1


def _word_stop(text: str, at: int) -> int:
    space = text.rfind(" ", at - 20, at) if at < len(text) else -1
    return at if space < 0 else space


class FoundDocument(NamedTuple):
    """A document: its number from 1, its labels, its text, and where the wanted term stands in it."""

    number: int
    labels: list[str]
    text: str
    spans: list[Span]


def found_documents(
    batches: Iterable[tuple[Sequence[str], Sequence[Any]]],
    analysis: Analysis,
    word: str | None = None,
    label: Any = None,
) -> Iterator[FoundDocument]:
    """Yield the documents that have a term, a label, or both, in their order.

    Parameters
    ----------
    batches : iterable of (texts, labels)
        All documents, as `sources.document_batches` gives them.
    analysis : Analysis
        How texts become terms.
    word : str, optional
        The term; any document by default.
    label : label, optional
        The label, or its text; any by default.

    Examples
    --------
    >>> batches = [(["Buy now", "see you"], ["spam", "ham"]), (["now or never"], ["ham"])]
    >>> [(doc.number, doc.spans[0].start) for doc in found_documents(batches, Analysis(), "now", "ham")]
    [(3, 0)]
    """
    finder = TermFinder(analysis)
    before = 0
    for texts, labels in batches:
        has = np.arange(len(texts))
        if word is not None:
            has = np.flatnonzero(count_known(texts, analysis, {word: 0}).getnnz(axis=1))
        for i in has.tolist():
            names = label_names(labels[i])
            if label is None or str(label) in names:
                spans = [span for span in finder.spans(texts[i]) if span.term == word] if word else []
                yield FoundDocument(before + i + 1, names, texts[i], spans)
        before += len(texts)


def context_line(document: FoundDocument, around: int = 40) -> tuple[str, str, str]:
    """Return what stands before the first occurrence of the term, the occurrence, and what stands after it.

    >>> context_line(FoundDocument(1, ["spam"], "Please buy it now, cheap", [Span(14, 17, "now")]), around=8)
    (' buy it ', 'now', ', cheap')
    """
    start, stop = (document.spans[0].start, document.spans[0].stop) if document.spans else (0, 0)
    before, after = document.text[max(0, start - around) : start], document.text[stop : stop + around]
    return SPACES.sub(" ", before), document.text[start:stop], SPACES.sub(" ", after)
