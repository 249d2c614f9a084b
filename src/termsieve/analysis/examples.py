"""Documents in batches come in, once; a bounded sample that shows the telling words in context goes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.counts import Counts
from termsieve.counts.counter import Classes, LabelCodes
from termsieve.terms import Analysis, count_known

COMPANY_WORDS = 3000  # the words of which it is counted which stand together
COMPANY_DOCUMENTS = 50_000
SILENT_WORDS = 20
VALUE_BITS = 37  # bits of a sort key for the value, a number up to 128e9
NEW_LETTERS = 50_000_000  # letters of new candidates that wait to be compared
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """A document of the sample: its number from 1, its text, its classes and how typical it is of them.

    `shows` holds the words that it was chosen for, the most important first.
    `typical` is the mean of the log-odds of its words for its class, as if it had twenty more words that say
    nothing, so that neither very short nor very long documents come first.
    """

    number: int
    text: str
    classes: tuple[int, ...]
    typical: float
    shows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Company:
    """Which words stand in the same documents: `both` of two columns of `words`, in `n_docs` documents."""

    words: Ints
    both: NDArray[np.int32]
    n_docs: int

    def best(self, n: int = 8) -> list[list[tuple[int, int]]]:
        """Return for each word up to n others that go with it, and the documents with both.

        They are ordered by the correlation of the presence of the two words, so that words that stand
        everywhere are not the company of every word.
        """
        alone = self.both.diagonal().astype(np.float64)
        spread = np.sqrt(alone * np.maximum(self.n_docs - alone, 0.5))
        found = []
        for i, row in enumerate(self.both):
            strength = (row * float(self.n_docs) - alone[i] * alone) / np.maximum(spread[i] * spread, 1e-9)
            strength[(row < 2) | (np.arange(len(row)) == i)] = -1.0
            # Sorting all would take most of the time.
            least = np.partition(strength, -n)[-n] if len(strength) > n else -1.0
            best = np.flatnonzero(strength >= max(least, 0.0))
            order = best[np.argsort(-strength[best], kind="stable")[:n]]
            found.append([(int(self.words[j]), int(row[j])) for j in order if strength[j] > 0])
        return found


class ExampleSampler:
    """Collects, from batches of documents, the most typical documents of each class with each word.

    Parameters
    ----------
    counts : Counts
        The counts of all documents.
    words : array of int
        The columns of the words that examples are wanted for, the most important first.
    analysis : Analysis
        How texts become terms.
    n : int
        Number of documents per word and class.
    """

    def __init__(self, counts: Counts, words: Ints, analysis: Analysis, n: int) -> None:
        names = counts.names()
        self._words, self._analysis, self._n = words, analysis, n
        self._vocabulary = {names[column]: i for i, column in enumerate(words.tolist())}
        self._weights = log_odds(counts, words).T
        self._places = {label: c for c, label in enumerate(counts.classes.tolist())}
        self._codes = LabelCodes()
        self._n_classes = counts.n_classes
        self._seen = 0
        self._texts: dict[int, str] = {}
        self._of_document: dict[int, tuple[int, ...]] = {}
        # One row per candidate: word, class, document; with how typical the document is.
        self._held = np.empty((0, 3), dtype=np.int64)
        self._typical = np.empty(0)
        self._new: list[tuple[Ints, Floats]] = []  # candidates that are not yet compared with those held
        self._new_letters = 0
        self._least = np.full((len(words), self._n_classes), -np.inf)
        size = min(len(words), COMPANY_WORDS)
        self._both = np.zeros((size, size), dtype=np.int32)
        self._company_docs = 0

    def add(self, texts: Sequence[str], labels: Sequence[Any], matrix: Any = None) -> None:
        """Look at some documents; `matrix` is their term matrix, if it is known."""
        if matrix is None:
            X = count_known(texts, self._analysis, self._vocabulary)
        else:
            X = sparse.csr_matrix(matrix[:, self._words])
        X.data = np.ones(len(X.data), dtype=np.float32)
        classes = self._of_batch(self._codes.classes(list(labels)))
        self._add_company(X)
        self._add_candidates(X, texts, classes)
        self._seen += len(texts)

    def _of_batch(self, classes: Classes) -> Classes:
        """Return the classes of the documents as positions in the counts; others, -1, are not shown."""
        at = np.array([self._places.get(label, -1) for label in self._codes.labels], dtype=np.int32)
        return Classes(classes.ptr, at[classes.numbers] if len(at) else classes.numbers)

    def _add_company(self, X: sparse.csr_matrix) -> None:
        room = COMPANY_DOCUMENTS - self._company_docs
        if room > 0 and len(self._both):
            part = X[:room, : len(self._both)]
            self._both += (part.T @ part).toarray().astype(np.int32)
            self._company_docs += part.shape[0]

    def _add_candidates(self, X: sparse.csr_matrix, texts: Sequence[str], classes: Classes) -> None:
        lengths = np.diff(X.indptr)
        # Rounded: sums in another order differ in their last digits, which must not change a choice.
        fit = np.round(np.asarray(X @ self._weights) / (lengths + SILENT_WORDS)[:, None], 9)
        for which in range(int(np.diff(classes.ptr).max(initial=0))):
            # The first class of every document, then the second of those that have one, ...
            has = np.flatnonzero(np.diff(classes.ptr) > which)
            own = np.full(len(texts), -1)
            own[has] = classes.numbers[classes.ptr[has] + which]
            rows = np.repeat(np.arange(len(texts)), lengths)
            rows, words = rows[own[rows] >= 0], X.indices[own[rows] >= 0]
            typical = fit[rows, own[rows]]
            better = typical > self._least[words, own[rows]]
            new = np.column_stack([words[better], own[rows][better], rows[better] + self._seen])
            self._new.append((new.astype(np.int64), typical[better]))
            for i in np.unique(rows[better]).tolist():
                self._texts[i + self._seen] = texts[i]
                self._new_letters += len(texts[i])
                own_classes = classes.numbers[classes.ptr[i] : classes.ptr[i + 1]].tolist()
                self._of_document[i + self._seen] = tuple(c for c in own_classes if c >= 0)
        # Sorting all that is held takes long, so several batches are waited for.
        if self._new_letters > NEW_LETTERS or sum(len(new) for new, _ in self._new) > len(self._held) // 2:
            self._keep()

    def _keep(self) -> None:
        """Keep the n most typical documents of each word and class; of equal ones the earlier."""
        held = np.concatenate([self._held, *(new for new, _ in self._new)])
        values = np.concatenate([self._typical, *(typical for _, typical in self._new)])
        self._new, self._new_letters = [], 0
        group = held[:, 0] * self._n_classes + held[:, 1]
        # One whole number instead of two keys: values have nine decimals and are far below 64.
        key = (group << VALUE_BITS) | np.round((64 - values) * 1e9).astype(np.int64)
        later = np.diff(held[len(self._held) :, 2])
        # Usually the new documents come in their order, after those held, and a stable sort keeps it.
        order = np.argsort(key, kind="stable") if (later >= 0).all() else np.lexsort((held[:, 2], key))
        held, values, group = held[order], values[order], group[order]
        first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]]) if len(group) else np.empty(0, int)
        place = np.arange(len(group)) - np.repeat(first, np.diff(np.r_[first, len(group)]))
        kept = place < self._n
        self._held, self._typical = held[kept], values[kept]
        full = place == self._n - 1
        self._least[held[full, 0], held[full, 1]] = values[full]
        live = set(np.unique(self._held[:, 2]).tolist())
        self._texts = {number: text for number, text in self._texts.items() if number in live}
        self._of_document = {number: own for number, own in self._of_document.items() if number in live}

    def company(self) -> Company:
        """Return which of the most important words stand together."""
        return Company(self._words[: len(self._both)], self._both, self._company_docs)

    def examples(self) -> list[Example]:
        """Return the documents, those that show the most important words in their own classes first.

        In each round every word, the most important first, gets its next most typical document: in the class
        that it speaks for and, from the second round on, in one other class for contrast.
        """
        self._keep()
        chosen: dict[int, list[str]] = {}
        best: dict[int, float] = {}
        names = list(self._vocabulary)
        for word, number, value in self._in_turns():
            chosen.setdefault(number, []).append(names[word])
            best[number] = max(value, best.get(number, -np.inf))
        return [
            Example(number + 1, self._texts[number], self._of_document[number], best[number], tuple(words))
            for number, words in chosen.items()
        ]

    def _in_turns(self) -> Iterator[tuple[int, int, float]]:
        """Yield word, document and how typical it is: the first of every word, then the second, ..."""
        words, classes, _ = self._held.T
        # The classes of a word in the order in which it speaks for them, and its place among their documents.
        standing = np.argsort(np.argsort(-self._weights, axis=1, kind="stable"), axis=1)[words, classes]
        group = words * self._n_classes + classes
        first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
        turn = np.arange(len(group)) - np.repeat(first, np.diff(np.r_[first, len(group)]))
        # The place of a class among the classes that have the word.
        pairs = np.lexsort((standing[first], words[first]))
        begin = np.r_[True, np.diff(words[first][pairs]) != 0]
        place = np.empty(len(first), dtype=np.int64)
        place[pairs] = np.arange(len(first)) - np.maximum.accumulate(
            np.where(begin, np.arange(len(first)), 0)
        )
        which = np.repeat(place, np.diff(np.r_[first, len(group)]))
        wanted = np.flatnonzero((which == 0) | ((which == 1) & (turn > 0)))
        order = wanted[np.lexsort((which[wanted], words[wanted], turn[wanted]))]
        rows, values = self._held[order].tolist(), self._typical[order].tolist()
        return ((word, number, value) for (word, _, number), value in zip(rows, values, strict=True))


def log_odds(counts: Counts, columns: Ints) -> Floats:
    """Return classes x columns: the logarithm of how many times as likely a term is inside the class.

    Half a document is added to each cell, so that no rate is zero.
    """
    parts = [
        np.log((tp + 0.5) / (counts.pos[rows, None] + 1)) - np.log((fp + 0.5) / (counts.neg[rows, None] + 1))
        for rows, tp, fp in counts.blocks(columns=columns)
    ]
    return np.concatenate(parts)
