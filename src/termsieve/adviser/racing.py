"""Documents and arms come in; the arm and size best in cross-validation, and all standings, go out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.adviser.figures import Flags, Verdicts, chance_to_win
from termsieve.adviser.portfolio import ALL, Arm, Budget, Method, Size
from termsieve.counts import Counts
from termsieve.learners import decision_path, get_learner
from termsieve.ranking import Ranking

Rows = NDArray[np.int64]
N_FOLDS = 4
HOPELESS = 0.05  # an arm that reaches the leader in a smaller share of resamples is dropped
KEPT = (0.5, 0.25)  # of the arms, how many at most go on after the first fold, and after the second
AS_GOOD = 0.002  # of figures this close, that with fewer terms is taken


@dataclass(frozen=True)
class Task:
    """The documents of a question: which words they have (0 and 1), and documents x problems of truth.

    One column of truth is one problem, class against rest; several are classes that exclude each other
    (`one_label`) or labels.
    """

    X: Any
    truth: Flags
    one_label: bool

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def y(self) -> Any:
        """The target as selectors take it."""
        if self.truth.shape[1] == 1:
            return self.truth[:, 0].astype(np.int64)
        return self.truth.argmax(axis=1) if self.one_label else self.truth.astype(np.int64)

    def folds(self, rows: Rows, n_folds: int, generator: np.random.Generator) -> Iterator[tuple[Rows, Rows]]:
        """Yield (training rows, test rows); classes that exclude each other are spread evenly."""
        order = rows[generator.permutation(len(rows))]
        if self.one_label or self.truth.shape[1] == 1:
            codes = self.truth[order] @ np.arange(1, self.truth.shape[1] + 1)
            order = order[np.argsort(codes, kind="stable")]
        place = np.arange(len(order)) % n_folds
        for fold in range(n_folds):
            yield np.sort(order[place != fold]), np.sort(order[place == fold])

    def sample(self, rows: Rows, most: int, generator: np.random.Generator) -> Rows:
        """Return at most so many of the rows, with the shares of the classes."""
        if len(rows) <= most:
            return rows
        parts = -(-len(rows) // most)
        return next(test for _, test in self.folds(rows, parts, generator))


@dataclass(frozen=True)
class Question:
    """What is asked: documents, a goal, a budget, and in how many documents a word must be."""

    task: Task
    goal: str
    budget: Budget
    min_df: int

    def may_win(self, arm: Arm) -> bool:
        """Whether an arm is within the budget; all features are only without one."""
        return arm.method is not None or self.budget.size is None


class Fold:
    """Training and test documents, and what arms share on them."""

    def __init__(self, question: Question, train: Rows, test: Rows) -> None:
        task = question.task
        self.question, self.task, self.train, self.test = question, task, train, test
        self.X_train, self.X_test = task.X[train], task.X[test]
        self._rankings: dict[Method, Ranking] = {}

    @cached_property
    def y(self) -> Any:
        """The target of the training documents."""
        return self.task.y[self.train]

    @cached_property
    def counts(self) -> Counts:
        """The counts of the training documents."""
        return Counts.from_matrix(self.X_train, self.y)

    def ranking(self, method: Method) -> Ranking:
        """Return the terms best first, by the training documents."""
        if method not in self._rankings:
            self._rankings[method] = method.ranking(self.X_train, self.y, self.counts, self.question.min_df)
        return self._rankings[method]

    def verdicts(self, arm: Arm, sizes: Sequence[Size]) -> tuple[list[Verdicts], list[int]]:
        """Return what an arm says of the test documents at each size, and the terms it used."""
        if arm.method is None:
            order = np.flatnonzero(self.counts.df)
            lengths = [len(order)]
        else:
            ranking = self.ranking(arm.method)
            order, lengths = ranking.order, [self.question.budget.prefix(size, ranking) for size in sizes]
        distinct = sorted(set(lengths))
        said = self._said(arm.learner, order, distinct)
        truth = self.task.truth[self.test]
        made = [Verdicts(truth, said[distinct.index(length)], self.task.one_label) for length in lengths]
        return made, lengths

    def _said(self, name: str, order: Any, lengths: list[int]) -> Flags:
        truth = self.task.truth[self.train].astype(np.int64)
        several = self.task.one_label and truth.shape[1] > 1
        if several and name == "nb":
            return self._said_by_bayes(name, order, lengths)
        values = np.stack(
            [decision_path(name, self.X_train, side, self.X_test, order, lengths) for side in truth.T], axis=2
        )
        return values.argmax(axis=2)[:, :, None] == np.arange(truth.shape[1]) if several else values > 0

    def _said_by_bayes(self, name: str, order: Any, lengths: list[int]) -> Flags:
        """Naive Bayes of several classes is one model, not one a class against the rest."""
        X_train, X_test = (X[:, order[: max(lengths)]] for X in (self.X_train, self.X_test))
        said = np.zeros((len(lengths), X_test.shape[0], self.task.truth.shape[1]), dtype=bool)
        for i, length in enumerate(lengths):
            model = get_learner(name).fit(X_train[:, :length], self.y)
            said[i, np.arange(X_test.shape[0]), model.predict(X_test[:, :length])] = True
        return said


@dataclass(eq=False)
class Standing:
    """How an arm has done so far: at each size its verdicts and the terms it used."""

    arm: Arm
    sizes: list[Size]
    verdicts: list[Verdicts] = field(default_factory=list)
    n_terms: list[float] = field(default_factory=list)
    n_folds: int = 0
    seconds: float = 0.0
    dropped: bool = False

    def run(self, fold: Fold) -> None:
        """Add one fold."""
        start = time.perf_counter()
        made, lengths = fold.verdicts(self.arm, self.sizes)
        if self.n_folds:
            self.verdicts = [a + b for a, b in zip(self.verdicts, made, strict=True)]
        else:
            self.verdicts, self.n_terms = made, [0.0] * len(made)
        self.n_folds += 1
        self.n_terms = [a + (b - a) / self.n_folds for a, b in zip(self.n_terms, lengths, strict=True)]
        self.seconds += time.perf_counter() - start

    def figures(self, goal: str) -> list[float]:
        """Return the figure at each size, steadied by its neighbours: a lone peak is more often luck."""
        raw = np.array([verdicts.figure(goal) for verdicts in self.verdicts])
        padded = np.concatenate([raw[:1], raw, raw[-1:]])
        return ((padded[:-2] + 2 * raw + padded[2:]) / 4).tolist()

    def best(self, goal: str) -> int:
        """Return the place of the size with the best figure; of those as good, the smallest."""
        figures = self.figures(goal)
        return min(
            (i for i, figure in enumerate(figures) if figure >= max(figures) - AS_GOOD),
            key=lambda i: (self.n_terms[i], i),
        )


@dataclass(frozen=True)
class Outcome:
    """What a race found: all standings, the winner, and the place of its best size."""

    standings: list[Standing]
    winner: Standing
    at: int
    goal: str

    @property
    def everything(self) -> Standing:
        """The best standing of all features."""
        full = [s for s in self.standings if s.arm.method is None and not s.dropped]
        return max(full, key=lambda s: max(s.figures(self.goal)))


def race(
    question: Question,
    rows: Rows,
    arms: Sequence[Arm],
    generator: np.random.Generator,
    deadline: float = np.inf,
) -> Outcome:
    """Cross-validate the arms and drop those that cannot win; past the deadline, start no further arm."""
    task, goal = question.task, question.goal
    sizes = question.budget.sizes(task.X.shape[1])
    standings = [Standing(arm, [ALL] if arm.method is None else sizes) for arm in arms]
    for number, (train, test) in enumerate(task.folds(rows, N_FOLDS, generator)):
        fold = Fold(question, train, test)
        for standing in standings:
            if not standing.dropped and (number or _in_time(standings, deadline)):
                standing.run(fold)
        standings = [s for s in standings if s.n_folds]
        _drop(question, standings, generator, KEPT[number] if number < len(KEPT) else 1.0)
    running = [s for s in standings if not s.dropped and question.may_win(s.arm)]
    top = max(max(s.figures(goal)) for s in running)
    near = [
        (s.n_terms[i], -figure, place, i)
        for place, s in enumerate(running)
        for i, figure in enumerate(s.figures(goal))
        if figure >= top - AS_GOOD
    ]
    _, _, place, at = min(near)
    return Outcome(standings, running[place], at, goal)


def _in_time(standings: list[Standing], deadline: float) -> bool:
    """Whether another arm may start: in time, or all features and some selection have not been tried yet."""
    kinds = {s.arm.method is None for s in standings if s.n_folds}
    return len(kinds) < 2 or time.perf_counter() < deadline


def _drop(question: Question, standings: list[Standing], generator: np.random.Generator, kept: float) -> None:
    """Drop arms beyond the best share of all, and those that hardly ever reach the leader.

    Of all features the best arm always stays: it is what the choice is compared with.
    """
    goal = question.goal
    running = sorted((s for s in standings if not s.dropped), key=lambda s: -max(s.figures(goal)))
    leader = next(s for s in running if question.may_win(s.arm))
    full = next(s for s in running if s.arm.method is None)
    for place, standing in enumerate(running):
        if standing in (leader, full):
            continue
        theirs, own = leader.verdicts[leader.best(goal)], standing.verdicts[standing.best(goal)]
        standing.dropped = (
            place >= kept * len(standings) or chance_to_win(theirs, own, goal, generator) < HOPELESS
        )
