"""Counts and what the documents showed come in; the explorer's data go out: words, scores, documents.

The page's script shows a word from these data; every number in them was computed by `termsieve.analysis`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.analysis.context import Span, TermFinder, masked, passages
from termsieve.analysis.examples import Company, Example
from termsieve.analysis.of_counts import shown
from termsieve.analysis.roc import score_lines
from termsieve.analysis.wordmap import ScoredTables, scored_tables
from termsieve.counts import Counts
from termsieve.display import plain_text
from termsieve.errors import ParameterError
from termsieve.metrics import get_metric
from termsieve.reports.store import narrow, packed, planes
from termsieve.telling import MetricSpec
from termsieve.terms import Analysis
from termsieve.terms.languages import stop_word_set

WORD_LETTERS = 200  # a longer term is shortened
DOCUMENT_LETTERS = 2000  # a longer document is shown in passages
PASSAGE_WORDS = 12  # words that the passages of a long document are chosen by
WORDS_SHARE = 0.75  # of the room, for words, scores and lines; the documents get the rest
LINE_STEPS = 2**16 - 1
LEAST_WORDS = 100
MOST_WORDS = 300_000
LEAST_ROOM = 50_000  # characters
FEATURE = re.compile(r"\d")
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Mistake:
    """A document that the classifier contradicts: its class, the one given, and the words that decided."""

    example: Example
    own: int
    given: int
    margin: float
    words: Sequence[tuple[str, float]]


@dataclass(frozen=True)
class Texts:
    """What the documents showed: examples, which words stand together, and mistakes."""

    analysis: Analysis
    examples: Sequence[Example]
    company: Company | None = None
    mistakes: Sequence[Mistake] = ()


@dataclass(frozen=True)
class Explorer:
    """The words of some classes, with the room that they may take.

    Parameters
    ----------
    counts : Counts
        The counts of the classes shown.
    metrics : sequence of str, Metric or callable
        The metrics that score the words.
    sizes : sequence of int
        The numbers of words whose lines of equal score the map draws.
    texts : Texts, optional
        What the documents showed; without them `silent` says why there are none.
    silent : str
        Why there are no documents.
    per_class : int
        Number of example documents per class of a word.
    masks : bool
        Whether numbers and addresses are replaced in documents, and words with digits left out.
    resolution : int
        Of the lines of equal score.
    scored : sequence of ScoredTables
        The scores of the words, per class.
    stop_words : str, optional
        The language of the stop words that the map marks.
    cutoffs : sequence of int
        The document frequencies whose lines the map draws.
    """

    counts: Counts
    metrics: Sequence[MetricSpec]
    sizes: Sequence[int]
    texts: Texts | None = None
    silent: str = ""
    per_class: int = 3
    masks: bool = False
    resolution: int = 110
    scored: Sequence[ScoredTables] = field(default_factory=tuple)
    stop_words: str | None = None
    cutoffs: Sequence[int] = ()

    def packed(self, room: int) -> tuple[str, list[str]]:
        """Return the data in at most about `room` characters, and notes on what was left out for it."""
        notes = []
        words = self.words
        n_all = len(words)
        words = words[:MOST_WORDS]
        enough = room * (WORDS_SHARE if self.texts and self.texts.examples else 1.0)
        head, arrays = self._of_words(words)
        block = packed(head, arrays)
        least = len(packed(*self._of_words(words[:LEAST_WORDS]))) if len(block) > enough else 0
        while len(block) > enough and len(words) > LEAST_WORDS:
            # What belongs to tables and lines does not shrink with the words.
            share = max(0.0, enough - least) / max(1, len(block) - least)
            words = words[: max(LEAST_WORDS, int(len(words) * min(0.97, 0.97 * share)))]
            head, arrays = self._of_words(words)
            block = packed(head, arrays)
        if len(words) < n_all:
            notes.append(f"{n_all - len(words):,} of {n_all:,} words are left out, the least telling ones.")
        head["complete"] = len(words) == n_all
        if len(block) > room:
            raise ParameterError(
                f"max_megabytes leaves {room / 1e6:.1f} MB for the words, which need {len(block) / 1e6:.1f}; "
                "give more, or fewer classes or metrics"
            )
        if self.texts is None:
            return block, [*notes, self.silent] if self.silent else notes
        documents, left_out = self._documents(room - len(block))
        head |= documents
        block = packed(head, arrays)
        return block, notes + left_out

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """The columns of all words, those that tell most about any class first."""
        best = np.full(self.counts.n_terms, np.iinfo(np.int64).max)
        for tables in self.scored:
            known = np.flatnonzero(tables.of_word >= 0)
            best[known] = np.minimum(best[known], tables.ranks.min(axis=0)[tables.of_word[known]])
        order = np.lexsort((-self.counts.df, best))
        order = order[self.counts.df[order] > 0]
        if self.masks:
            names = self.counts.names()
            order = order[[not FEATURE.search(names[column]) for column in order.tolist()]]
        return order

    def _of_words(self, words: NDArray[np.int64]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the head and the arrays of all that belongs to words."""
        counts = self.counts
        columns = np.sort(words)
        own = np.stack([tp for _, block, _ in counts.blocks(columns=columns) for tp in block])
        by_word, by_class = np.nonzero(own.T)
        head: dict[str, Any] = {
            "words": self._names[columns].tolist(),
            "classes": [plain_text(label) for label in counts.classes.tolist()],
            "pos": counts.pos.tolist(),
            "documents": counts.n_docs,
            "several": counts.multilabel,
            "metrics": [
                {"name": str(metric), "signed": metric.kind == "signed"} for metric in self._metrics()
            ],
            "shared": all(tables.shared for tables in self.scored),
            "silent": self.silent,
            "perClass": self.per_class,
            "cutoffs": list(self.cutoffs),
            "docs": [],
        }
        arrays = {
            "df": narrow(counts.df[columns]),
            "classesOf": narrow(np.bincount(by_word, minlength=len(columns))),
            "class": narrow(by_class),
            "tp": narrow(own[by_class, by_word]),
            "stop": narrow(self._stop_words(columns)),
        }
        head["lines"] = []
        for c, tables in enumerate(self.scored):
            kept = slice(None) if tables.shared else tables.of_word[columns]
            arrays |= {f"tp{c}": narrow(tables.tp[kept]), f"fp{c}": narrow(tables.fp[kept])}
            arrays[f"n{c}"] = narrow(tables.words[kept])
            for m, scores in enumerate(tables.scores):
                arrays[f"high{c}.{m}"], arrays[f"low{c}.{m}"] = planes(scores[kept])
            head["lines"].append(self._lines[c][0])
            arrays[f"lines{c}"] = self._lines[c][1]
        self._add_company(columns, head, arrays)
        return head, arrays

    @cached_property
    def _names(self) -> NDArray[Any]:
        return np.array([shown(name, WORD_LETTERS) for name in self.counts.names().tolist()], dtype=object)

    def _stop_words(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of the stop words among the words."""
        listed = stop_word_set(self.stop_words) or frozenset()
        return np.flatnonzero([name in listed for name in self.counts.names()[columns].tolist()])

    def _metrics(self) -> list[Any]:
        return [get_metric(metric) for metric in self.metrics]

    @cached_property
    def _lines(self) -> list[tuple[list[list[int]], NDArray[np.uint16]]]:
        """For each class: metric, k and number of points of each line, and all points.

        A point is stored as the place of log(1 + count) between 0 and that of the largest count, which is
        what the map draws near the origin.
        """
        return [self._class_lines(self.counts.take([c])) for c in range(len(self.scored))]

    def _class_lines(self, counts: Counts) -> tuple[list[list[int]], NDArray[np.uint16]]:
        drawn = [metric for metric in self._metrics() if metric.elementwise]
        names = [str(metric) for metric in self._metrics()]
        most = np.maximum([counts.neg[0], counts.pos[0]], 1)
        found, points = [], []
        for line in score_lines(counts, drawn, self.sizes, self.resolution):
            found.append([names.index(str(line.metric)), line.k, len(line.points)])
            place = np.log1p(line.points) / np.log1p(most)
            points.append(np.round(place.clip(0, 1) * LINE_STEPS).T.ravel())
        return found, np.concatenate(points or [np.empty(0)]).astype("<u2")

    @cached_property
    def _company(self) -> NDArray[np.int64]:
        """One row per pair of words that go together: the columns of both, and the documents with both."""
        company = self.texts.company if self.texts else None
        words = company.words.tolist() if company else []
        found = company.best() if company else []
        pairs = [(word, *pair) for word, own in zip(words, found, strict=True) for pair in own]
        return np.array(pairs, dtype=np.int64).reshape(-1, 3)

    def _add_company(
        self, columns: NDArray[np.int64], head: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> None:
        """Add the words that go with a word: positions among the words, and documents with both."""
        company = self.texts.company if self.texts else None
        if company is None:
            return
        place = np.full(self.counts.n_terms, -1)
        place[columns] = np.arange(len(columns))
        word, other, both = self._company.T
        kept = (place[word] >= 0) & (place[other] >= 0)
        head["companyDocuments"] = company.n_docs
        arrays |= {
            "companyOf": narrow(place[word[kept]]),
            "companyWith": narrow(place[other[kept]]),
            "companyBoth": narrow(both[kept]),
        }

    def _documents(self, room: int) -> tuple[dict[str, Any], list[str]]:
        """Return the documents that fit, the most useful first, and the forms in which words stand there."""
        assert self.texts is not None
        finder = TermFinder(self.texts.analysis)
        mistaken = [mistake.example for mistake in self.texts.mistakes]
        ordered = {example.number: example for example in (*self.texts.examples, *mistaken)}
        ordered = {example.number: ordered[example.number] for example in mistaken} | ordered
        docs: list[dict[str, Any]] = []
        forms: dict[str, list[str]] = {}
        spent, checked, ratio = 0.0, 0, 0.6
        for example in ordered.values():
            text = self._text(example, finder, forms)
            spent += len(text.encode()) * ratio + 40
            docs.append({"n": example.number, "t": text, "c": list(example.classes)})
            docs[-1]["s"] = round(example.typical, 3)
            if spent > room or len(docs) == 4 * max(checked, 50):
                # What it takes in truth is known only after compressing it.
                checked = len(docs)
                size = len(packed({"docs": docs, "forms": forms}, {}))
                ratio, spent = ratio * size / max(spent, 1), float(size)
                while size > room and docs:
                    docs = docs[: int(len(docs) * min(0.95, 0.98 * room / size))]
                    size, checked = len(packed({"docs": docs, "forms": forms}, {})), -1
                if checked < 0:
                    break
        places = {doc["n"]: i for i, doc in enumerate(docs)}
        mistakes = [
            {
                "doc": places[each.example.number],
                "own": each.own,
                "given": each.given,
                "margin": round(each.margin, 2),
                "words": [[shown(word, WORD_LETTERS), round(added, 2)] for word, added in each.words],
            }
            for each in self.texts.mistakes
            if each.example.number in places
        ]
        notes = []
        if len(docs) < len(ordered):
            notes.append(
                f"{len(docs):,} documents are in this file, of {len(ordered):,} chosen as examples; "
                "`termsieve documents FILE --class C --word W` shows all."
            )
        return {"docs": docs, "forms": forms, "mistakes": mistakes}, notes

    def _text(self, example: Example, finder: TermFinder, forms: dict[str, list[str]]) -> str:
        """Return the text of an example as it is shown, and add how its words stand there."""
        assert self.texts is not None
        text = plain_text(masked(example.text) if self.masks else example.text)
        plain = self.texts.analysis == Analysis()
        if plain and len(text) <= DOCUMENT_LETTERS:
            return text
        if plain:
            return passages(text, _first_places(text, example.shows[:PASSAGE_WORDS]), DOCUMENT_LETTERS)
        firsts: dict[str, Span] = {}
        for span in finder.spans(text):
            _add_form(forms, span.term, text[span.start : span.stop].lower())
            firsts.setdefault(span.term, span)
        return passages(text, [firsts[word] for word in example.shows if word in firsts], DOCUMENT_LETTERS)


def _add_form(forms: dict[str, list[str]], term: str, form: str) -> None:
    """Remember how a term stands in a text, if not as it is named."""
    if form != term and form not in forms.setdefault(term, []):
        forms[term].append(form)


def _first_places(text: str, words: Sequence[str]) -> list[Span]:
    """Return where each of some plain words stands first, in the order of the words."""
    wanted = set(words)
    firsts: dict[str, Span] = {}
    # One known pattern: compiling one of the words for each document would take longer than the search.
    for match in WORD.finditer(text):
        word = match.group().lower()
        if word in wanted and word not in firsts:
            firsts[word] = Span(match.start(), match.end(), word)
            if len(firsts) == len(wanted):
                break
    return [firsts[word] for word in words if word in firsts]


def scored_classes(counts: Counts, metrics: Sequence[MetricSpec]) -> list[ScoredTables]:
    """Return the scored tables of each class."""
    chosen = [get_metric(metric) for metric in metrics]
    return [scored_tables(counts.take([c]), chosen) for c in range(counts.n_classes)]


def room_for(max_megabytes: float, html: str) -> int:
    """Return the characters that the data may take besides the page."""
    room = int(max_megabytes * 1e6) - len(html.encode())
    if room < LEAST_ROOM:
        raise ParameterError(
            f"max_megabytes={max_megabytes:g} is too little: the page without words takes "
            f"{len(html.encode()) / 1e6:.1f} MB"
        )
    return room
