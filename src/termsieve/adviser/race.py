"""Documents and settings come in; what each setting says of unseen documents, and a choice, go out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.adviser.decisions import Decision, ThresholdTally, TiltTally, cross_figure
from termsieve.adviser.dropping import resamples, worth_trying
from termsieve.adviser.folds import Split, Task
from termsieve.adviser.goals import Floats, Goal
from termsieve.adviser.portfolio import Setting
from termsieve.adviser.prior import Prior, prior_for, risk
from termsieve.adviser.verdicts import Flags, Verdicts, joined
from termsieve.machine import processor_count

Progress = Callable[[str, float], None]


@dataclass
class Standing:
    """What a setting said so far: its decision values of the documents of the folds that were run."""

    setting: Setting
    values: Floats
    folds: list[int] = field(default_factory=list)
    _tally: ThresholdTally | TiltTally | None = None


@dataclass(frozen=True)
class Choice:
    """A setting and where its decision values are cut, with its expected gain over the reference."""

    setting: Setting
    tuned: bool
    decision: Decision
    figure: float  # each fold cut where the others suggest
    score: float

    def __str__(self) -> str:
        return f"{self.setting}{', tuned threshold' if self.tuned else ''}"


class Race:
    """Cross-validation of settings on the same folds, with a choice from any subset of the folds."""

    def __init__(self, task: Task, goal: Goal, n_folds: int, generator: np.random.Generator) -> None:
        self.task, self.goal, self.n_folds = task, goal, n_folds
        self.fold = task.fold_numbers(n_folds, generator)
        self.splits = {number: (train, test) for number, train, test in task.splits(self.fold)}
        self.prior: Prior = prior_for(task, goal)
        self.standings: dict[Setting, Standing] = {}
        self.log_shares = np.zeros(task.truth.shape)
        self._folds: dict[int, Split] = {}
        for number, (_, test) in self.splits.items():
            self.log_shares[test] = self.at(number).log_shares

    @property
    def folds(self) -> list[int]:
        """The folds that models are tested on."""
        return list(self.splits)

    def at(self, number: int) -> Split:
        """Return a fold, with what was computed on it."""
        if number not in self._folds:
            self._folds[number] = Split(self.task, *self.splits[number])
        return self._folds[number]

    def forget(self, number: int) -> None:
        """Free what was computed on a fold."""
        self._folds.pop(number, None)

    def run(self, settings: Iterable[Setting], number: int, deadline: float = np.inf) -> bool:
        """Run settings on a fold, grouped by representation; return whether all were run in time."""
        wanted = [s for s in settings if number not in self._standing(s).folds]
        by_family: dict[tuple[object, str, object], list[Setting]] = {}
        for setting in wanted:
            family = (setting.representation, setting.learner.split("C=")[0], setting.size)
            by_family.setdefault(family, []).append(setting)
        fold, groups = self.at(number), list(by_family.values())
        for representation in {setting.representation for setting in wanted}:
            fold.scaled(representation)  # before the threads, which share it; the rankings as well
        for setting in {(s.method, s.documents): s for s in wanted if s.method is not None}.values():
            fold.part(setting.documents).ranking(setting)

        def work(group: list[Setting]) -> dict[Setting, Floats]:
            return {} if time.perf_counter() > deadline else fold.values(group)

        with ThreadPoolExecutor(max(1, min(processor_count(), len(groups)))) as pool:
            for found in pool.map(work, groups):
                for setting, values in found.items():
                    standing = self._standing(setting)
                    standing.values[fold.test] = values
                    standing.folds.append(number)
                    standing._tally = None
        return all(number in self._standing(s).folds for s in wanted)

    def _standing(self, setting: Setting) -> Standing:
        if setting not in self.standings:
            self.standings[setting] = Standing(setting, np.zeros(self.task.truth.shape))
        return self.standings[setting]

    def tally(self, setting: Setting) -> ThresholdTally | TiltTally:
        """Return the counts of a setting, from which its figures are computed."""
        standing = self.standings[setting]
        if standing._tally is None:
            standing._tally = self.tally_of(standing.values, self.log_shares)
        return standing._tally

    def tally_of(self, values: Floats, log_shares: Floats) -> ThresholdTally | TiltTally:
        """Return the counts of decision values of all documents."""
        task, given = self.task, (self.fold, self.n_folds, self.goal)
        if task.several_classes:
            return TiltTally(values, task.truth, *given, log_shares)
        return ThresholdTally(values, task.truth, *given)

    def figure(self, setting: Setting, tuned: bool, folds: Sequence[int]) -> float:
        """Return a setting's figure on some folds, each cut where the others suggest."""
        standing = self.standings[setting]
        verdicts = Verdicts(self.task.truth, standing.values > 0, self.task.one_label, standing.values)
        return cross_figure(self.tally(setting), folds, tuned, verdicts, self.goal, self.fold)

    def cross_verdicts(
        self, values: Floats, log_shares: Floats, folds: Sequence[int], tuned: bool = True, tally: Any = None
    ) -> Verdicts:
        """Return what decision values say of each fold, cut where the other folds suggest or at 0."""
        counted, parts = tally or self.tally_of(values, log_shares), []
        ordered = self.goal.of_counts is None  # only then the values are looked at again
        for number in folds:
            rows = self.splits[number][1]
            decision = counted.decision([f for f in folds if f != number], tuned)
            said = decision.said(values[rows], log_shares[rows], self.task.several_classes)
            told = values[rows] if ordered else None
            parts.append(Verdicts(self.task.truth[rows], said, self.task.one_label, told))
        return joined(parts)

    def verdicts(self, setting: Setting, tuned: bool, folds: Sequence[int]) -> Verdicts:
        """Return what a setting says of each fold."""
        values, tally = self.standings[setting].values, self.tally(setting)
        return self.cross_verdicts(values, self.log_shares, folds, tuned, tally)

    def resampled(self, ways: Sequence[tuple[Setting, bool]], folds: Sequence[int]) -> Floats:
        """Return the figures of settings and ways to decide (rows) on the same resamples of the documents."""
        weights = resamples(sum(len(self.splits[number][1]) for number in folds))
        return np.stack([self.verdicts(*way, folds).resampled(self.goal, weights) for way in ways])

    def promising(self, settings: Iterable[Setting], folds: Sequence[int]) -> list[Setting]:
        """Return the settings that may still gain more than noise over the leader, the leader first."""
        choices = self.ranked(settings, folds)
        drawn = self.resampled([(choice.setting, choice.tuned) for choice in choices], folds)
        expected = np.array([choice.score for choice in choices])
        kept = worth_trying(expected, drawn, self.prior.trust(self._weight(folds)))
        return list(dict.fromkeys(c.setting for c, stays in zip(choices, kept, strict=True) if stays))

    def ranked(self, settings: Iterable[Setting], folds: Sequence[int]) -> list[Choice]:
        """Return the settings with both ways to decide, the best expected figure first."""
        ways = (False, True) if self.goal.of_counts is not None else (True,)
        pairs = [(s, tuned) for s in settings if set(folds) <= set(self.standings[s].folds) for tuned in ways]
        figures = [self.figure(s, tuned, folds) for s, tuned in pairs]
        trust = self.prior.trust(self._weight(folds))
        gains = np.array([self.prior.gain(s, tuned) for s, tuned in pairs])
        expected = (1 - trust) * gains + trust * np.array(figures) - np.array([risk(s) for s, _ in pairs])
        choices = [
            Choice(s, tuned, self.tally(s).decision(folds, tuned), figure, float(score))
            for (s, tuned), figure, score in zip(pairs, figures, expected, strict=True)
        ]
        return sorted(choices, key=lambda choice: -choice.score)

    def _weight(self, folds: Sequence[int]) -> float:
        """Return how many documents speak for a figure: of a class against the rest, twice the rarer side."""
        inside = self.task.truth[np.isin(self.fold, list(folds))]
        if self.task.several_classes:
            return float(len(inside))
        sides = np.minimum(inside.sum(axis=0), len(inside) - inside.sum(axis=0))
        return float(2 * sides.mean() * (1 if self.task.one_label else inside.shape[1]))

    def said(self, choice: Choice, number: int) -> tuple[Flags, Floats, NDArray[np.int64]]:
        """Return predictions, decision values and rows of a fold's test documents."""
        rows = self.splits[number][1]
        values = self.standings[choice.setting].values[rows]
        return (
            choice.decision.said(values, self.log_shares[rows], self.task.several_classes),
            values,
            rows,
        )
