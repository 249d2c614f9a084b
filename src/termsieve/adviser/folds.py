"""Documents, folds and settings come in; decision values of documents that the models did not see go out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.adviser.decisions import NEVER, Decision
from termsieve.adviser.goals import Floats
from termsieve.adviser.portfolio import Representation, Setting
from termsieve.adviser.verdicts import Flags
from termsieve.estimators.decision import stratified_rows
from termsieve.estimators.scaler import unit_rows
from termsieve.learners import get_learner
from termsieve.learners.weighted import values_of_learners
from termsieve.ranking import Ranking, Size, cut

Rows = NDArray[np.int64]
MANY = 2250  # documents of a corpus, above which models of the race are trained less exactly
FINE, COARSE = 1e-4, 1e-2  # how near the weights are to the solution


@dataclass(frozen=True)
class Task:
    """The documents of a question: their term counts, and documents x problems of truth.

    One column of truth is one problem, class against rest; several are classes that exclude each other
    (`one_label`) or labels. `pairs` has the counts with pairs of words, where the texts are known.
    `group` numbers documents that belong together; `time` orders documents.
    """

    words: sparse.csr_matrix
    truth: Flags
    one_label: bool
    pairs: sparse.csr_matrix | None = None
    min_df: int = 1
    group: NDArray[np.int64] | None = None
    time: NDArray[np.int64] | None = None
    n_all: int = 0  # documents of which these are a sample; 0 where they are all

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def several_classes(self) -> bool:
        """Whether one of several classes is asked for."""
        return self.one_label and self.truth.shape[1] > 1

    @property
    def kind(self) -> str:
        """The kind of problem, as the tables of prior knowledge name it."""
        return "classes" if self.several_classes else "binary"

    @property
    def y(self) -> Any:
        """The target as selectors take it."""
        if self.truth.shape[1] == 1:
            return self.truth[:, 0].astype(np.int64)
        return self.truth.argmax(axis=1) if self.one_label else self.truth.astype(np.int64)

    def counts(self, representation: Representation) -> sparse.csr_matrix:
        """Return the term counts that a representation reads."""
        if not representation.pairs:
            return self.words
        assert self.pairs is not None
        return self.pairs

    def part(self, rows: Rows) -> Task:
        """Return the task of some of the documents."""
        return Task(
            self.words[rows],
            self.truth[rows],
            self.one_label,
            None if self.pairs is None else self.pairs[rows],
            self.min_df,
            None if self.group is None else self.group[rows],
            None if self.time is None else self.time[rows],
            self.n_all or len(self),
        )

    def fold_numbers(self, n_folds: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return a fold for each document: classes are spread evenly, groups stay together.

        With times, the folds are parts of equal length in the order of time.
        """
        if self.time is not None:
            return np.asarray(np.argsort(np.argsort(self.time, kind="stable")) * n_folds // len(self))
        if self.group is not None:
            return _group_folds(self.group, self.truth, n_folds, generator)
        order = generator.permutation(len(self))
        if self.one_label:
            codes = self.truth[order] @ np.arange(1, self.truth.shape[1] + 1)
            order = order[np.argsort(codes, kind="stable")]
        fold = np.empty(len(self), dtype=np.int64)
        fold[order] = np.arange(len(self)) % n_folds
        return fold

    def splits(self, fold: NDArray[np.int64]) -> Iterator[tuple[int, Rows, Rows]]:
        """Yield (fold, training rows, test rows); with times, a fold's models are of earlier folds only."""
        for number in range(int(fold.max()) + 1):
            if self.time is not None and number == 0:
                continue
            train = fold < number if self.time is not None else fold != number
            yield number, np.flatnonzero(train), np.flatnonzero(fold == number)


def _group_folds(
    group: NDArray[np.int64], truth: Flags, n_folds: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return folds of whole groups, the largest first, each to the fold that lacks its classes most."""
    _, code, sizes = np.unique(group, return_inverse=True, return_counts=True)
    held = np.zeros((len(sizes), truth.shape[1] + 1))
    np.add.at(held, code, np.column_stack([truth, np.ones(len(truth))]))
    held /= np.maximum(held.sum(axis=0), 1)
    load, place = np.zeros((n_folds, held.shape[1])), np.empty(len(sizes), dtype=np.int64)
    shuffled = generator.permutation(len(sizes))
    for g in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        place[g] = int(np.argmin(((load + held[g]) ** 2 - load**2).sum(axis=1)))
        load[place[g]] += held[g]
    return place[code]


@dataclass
class Split:
    """Training and test documents, and what settings share on them."""

    task: Task
    train: Rows
    test: Rows
    share: float = 1.0  # of the documents that could be trained on
    _parts: dict[float, Split] = field(default_factory=dict)
    _scaled: dict[Representation, tuple[Any, Any]] = field(default_factory=dict)
    _rankings: dict[Setting, Ranking] = field(default_factory=dict)

    @property
    def log_shares(self) -> Floats:
        """The logarithm of each class's share of the training documents."""
        sizes = self.task.truth[self.train].sum(axis=0)
        return np.asarray(np.log(np.maximum(sizes, 1) / len(self.train)))

    def part(self, share: float) -> Split:
        """Return the same test documents with a share of the training documents."""
        if share == 1:
            return self
        if share not in self._parts:
            task = self.task
            y = task.y[self.train] if task.one_label else np.zeros(len(self.train), dtype=np.int64)
            self._parts[share] = Split(task, self.train[stratified_rows(y, share)], self.test, share)
        return self._parts[share]

    def scaled(self, representation: Representation) -> tuple[Any, Any]:
        """Return the training and the test documents in a representation."""
        if representation not in self._scaled:
            X = self.task.counts(representation)
            scaler = representation.scaler(self.task.min_df).fit(X[self.train], self.task.y[self.train])
            self._scaled[representation] = scaler.transform(X[self.train]), scaler.transform(X[self.test])
        return self._scaled[representation]

    def values(self, settings: Iterable[Setting]) -> dict[Setting, Floats]:
        """Return the decision values (test documents x problems) of each setting."""
        found: dict[Setting, Floats] = {}
        paths = sorted(
            (s for s in settings), key=lambda s: (str(s.representation), s.learner.split("C=")[0], s.strength)
        )
        plain = [s for s in paths if s.method is None]
        for _, group in groupby(plain, key=lambda s: (s.representation, s.learner.split("C=")[0])):
            found.update(self._path(list(group)))
        for setting in (s for s in paths if s.method is not None):
            found[setting] = self.part(setting.documents).selected(setting)
        return found

    def _path(self, settings: Sequence[Setting]) -> dict[Setting, Floats]:
        """Return the values of settings that differ in C only, each started from the one before."""
        train, test = self.scaled(settings[0].representation)
        values = self._trained([s.learner for s in settings], train, test)
        return dict(zip(settings, values, strict=True))

    def _trained(self, learners: Sequence[str], train: Any, test: Any) -> Floats:
        truth = self.task.truth[self.train]
        out = np.empty((len(learners), len(self.test), truth.shape[1]))
        estimators: list[Any] = [get_learner(name) for name in learners]
        tolerance = FINE if (self.task.n_all or len(self.task)) <= MANY else COARSE
        for p, side in enumerate(truth.T):
            if side.all() or not side.any():
                out[:, :, p] = 1.0 if side.all() else NEVER
            else:
                out[:, :, p] = values_of_learners(estimators, train, side, test, tolerance)
        return out

    def ranking(self, setting: Setting) -> Ranking:
        """Return the scaled terms of the training documents, best first, by a setting's method."""
        key = Setting(setting.representation, setting.learner, setting.method, Size("k", 1))
        if setting.method != "weights":
            key = Setting(setting.representation, "", setting.method, Size("k", 1))
        if key not in self._rankings:
            train, _ = self.scaled(setting.representation)
            own = Setting(setting.representation, setting.learner, setting.method, Size("k", 1))
            fitted = own.selector().fit(train, self.task.y[self.train])
            self._rankings[key] = Ranking(fitted.ranking_, fitted.scores_, fitted.counts_)
        return self._rankings[key]

    def columns(self, setting: Setting) -> NDArray[np.int64]:
        """Return the scaled terms that a setting selects, in column order."""
        assert setting.size is not None
        size = setting.size
        if size.kind == "memory":  # it is for all documents
            size = size.scaled(len(self.train) / self.share / (self.task.n_all or len(self.task)))
        return np.sort(cut(self.ranking(setting), **size.options()))

    def selected(self, setting: Setting) -> Floats:
        """Return the decision values of a setting with a selection."""
        columns = self.columns(setting)
        train, test = (X[:, columns] for X in self.scaled(setting.representation))
        if setting.representation.unit_length:
            train, test = unit_rows(train), unit_rows(test)
        return np.asarray(self._trained([setting.learner], train, test)[0])

    def said(self, values: Floats, decision: Decision) -> Flags:
        """Return the predictions for the test documents."""
        return decision.said(values, self.log_shares, self.task.several_classes)
