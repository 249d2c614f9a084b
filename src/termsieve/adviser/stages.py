"""A task and a goal come in; a race in stages, its choice, and its verdicts on unseen documents go out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from termsieve.adviser.dropping import resamples
from termsieve.adviser.duplicates import NONE_ALIKE, Duplicates, kept_together, next_alike
from termsieve.adviser.folds import MANY, Rows, Split, Task
from termsieve.adviser.frontier import steadied
from termsieve.adviser.goals import Floats, Goal
from termsieve.adviser.portfolio import ALL_STRENGTHS, BASELINES, METHODS, Budget, Setting, portfolio
from termsieve.adviser.race import Choice, Race
from termsieve.adviser.verdicts import Verdicts, joined
from termsieve.pieces import in_order

N_FOLDS = 5
SCOUTED = 1000  # documents of a first race, where there are many more
STEP = 4  # times as many documents has the race after it, where there are more than STEP * STEP times as many
WORTHWHILE = 1.5  # times as many documents are worth another race
RACED = 20_000  # documents of the race at most, unless time is given
RACE_SECONDS = 100.0  # that the last race and the selections may take to try more than two settings
# The time of a training grows with this power of the documents at most: 1.3 to 1.5 from 500 to 4,000
# documents in eleven classes (benchmarks/adviser_growth.py), rounded up.
GROWTH = 1.6
FEW_SIZES = (100, 500, 2000, 10000)  # that are tried with many documents
FINAL = 5  # trainings after the race
UNTIL = 0.6  # of the time is for the race
STEADY = 0.2  # of the standard error by documents: so small need be what other folds change
SMALL = 0.01  # what the smallest model may lose, where small models are preferred
BASELINE = BASELINES["tf-idf + svm"]
Progress = Callable[[str, float], None]


@dataclass
class Clock:
    """The time that was given, and whom to tell how far the work is."""

    start: float
    limit: float = np.inf
    progress: Progress | None = None

    def at(self, share: float) -> float:
        """Return the moment at which a share of the time is over."""
        return self.start + share * self.limit

    @property
    def limited(self) -> bool:
        """Whether there is a limit, and so time to be spent."""
        return self.limit < np.inf

    def left(self, share: float = 1.0) -> float:
        """Return the seconds until a share of the time is over."""
        return self.at(share) - time.perf_counter()

    def tell(self, stage: str, share: float) -> None:
        """Report a stage and the share of all work that is done."""
        if self.progress is not None:
            self.progress(stage, share)


@dataclass
class Raced:
    """A finished race: which settings were run on which folds, and which there was no time for."""

    race: Race
    rows: Rows  # of the corpus, that the race is about
    folds: list[int] = field(default_factory=list)
    not_tried: list[Setting] = field(default_factory=list)
    promising: list[Setting] = field(default_factory=list)  # that may win, the leader first
    n_trained: int = 0
    seconds: float = 0.0  # per training
    duplicates: Duplicates = NONE_ALIKE
    alike: Rows | None = None  # of each document a near-duplicate or itself; None where nothing repeats

    @property
    def complete(self) -> list[Setting]:
        """The settings that were run on all folds."""
        return [s for s, standing in self.race.standings.items() if set(self.folds) <= set(standing.folds)]


def raced(task: Task, goal: Goal, clock: Clock, generator: np.random.Generator) -> Raced:
    """Race the portfolio without selection: of many documents first on a sample, then on larger ones.

    Each race is an answer; the next one has the settings that may still win, and more documents.
    """
    settings, growth, share = portfolio(task.pairs is not None), GROWTH, 0.05
    before: Raced | None = None
    most = len(task) if clock.limited else min(len(task), RACED)
    n_docs = len(task) if len(task) <= MANY else SCOUTED
    while True:
        end = UNTIL if n_docs >= most else (share + UNTIL) / 2
        found = _raced_sample(task, n_docs, settings, goal, clock, generator, (share, end))
        if before is not None:
            growth = _growth(before, found)
        n_kept, allowed = _affordable(found, most, growth, clock)
        n_next = STEP * n_docs if allowed > STEP * STEP * n_docs else allowed
        if n_docs >= most or (n_next < WORTHWHILE * n_docs and n_next < most):
            break
        settings = found.promising[:n_kept]
        settings += [BASELINE] if BASELINE not in settings else []
        before, n_docs, share = found, n_next, end
    while clock.limited and (near := _near(found)):
        if clock.left(UNTIL) < N_FOLDS * len(near) * found.seconds:
            break
        _run(found, [*found.promising, *near], clock, (UNTIL, UNTIL))
    return found


def _raced_sample(
    task: Task,
    n_docs: int,
    settings: Sequence[Setting],
    goal: Goal,
    clock: Clock,
    generator: np.random.Generator,
    shares: tuple[float, float],
) -> Raced:
    """Race settings on so many documents."""
    rows = _sample(task, np.arange(len(task)), n_docs, generator)
    whole = task if len(rows) == len(task) else task.part(rows)
    duplicates, alike = NONE_ALIKE, None
    if whole.time is None:  # what comes again later is no leak where time goes on
        group, duplicates = kept_together(whole.words, whole.truth, whole.group)
        if whole.group is None and group is not None:  # with given groups, the promise is for new groups
            alike = next_alike(group)
        whole = replace(whole, group=group)
    found = Raced(Race(whole, goal, N_FOLDS, generator), rows, duplicates=duplicates, alike=alike)
    started = time.perf_counter()
    _run(found, settings, clock, shares)
    found.seconds = (time.perf_counter() - started) / found.n_trained
    return found


def _affordable(found: Raced, most: int, growth: float, clock: Clock) -> tuple[int, int]:
    """Return how many of the promising settings and how many documents another race can have.

    Without a limit all documents count, and time decides about settings; with one, as many documents as it
    allows to two settings, and then more settings.
    """
    n_docs, n_kept = len(found.rows), 2
    left = 0.8 * clock.left() if clock.limited else RACE_SECONDS
    for n_kept in range(max(2, len(found.promising)), 1, -1):
        n_trainings = N_FOLDS * (n_kept + 1 + len(FEW_SIZES)) + FINAL
        allowed = n_docs * (max(left, 0.1) / n_trainings / max(found.seconds, 1e-6)) ** (1 / growth)
        if allowed >= most:
            break
    return n_kept, int(min(allowed, most)) if clock.limited else most


def _growth(before: Raced, found: Raced) -> float:
    """Return the power of the documents with which the time of a training grew, between 1 and GROWTH."""
    times = np.log(max(found.seconds, 1e-6) / max(before.seconds, 1e-6))
    return float(np.clip(times / np.log(len(found.rows) / len(before.rows)), 1.0, GROWTH))


def _near(found: Raced) -> list[Setting]:
    """Return the leader with values of C beside its own that were not tried."""
    leader = found.race.ranked(found.complete, found.folds)[0].setting
    place = ALL_STRENGTHS.index(leader.strength)
    beside = ALL_STRENGTHS[max(0, place - 1) : place + 2]
    return [s for s in map(leader.with_strength, beside) if s not in found.race.standings]


def _run(found: Raced, settings: Sequence[Setting], clock: Clock, shares: tuple[float, float]) -> None:
    """Run settings fold by fold, as long as they may win; stop when the time for it is over."""
    race = found.race
    running = sorted(settings, key=lambda s: -max(race.prior.gain(s, tuned) for tuned in (False, True)))
    order, done, stage, last = list(running), list[int](), "trying settings", 0.0
    started = time.perf_counter()
    for place, number in enumerate(race.folds):
        clock.tell(stage, shares[0] + (shares[1] - shares[0]) * place / len(race.folds))
        if len(done) >= 2 and clock.left(UNTIL) < last:
            break
        begun = time.perf_counter()
        deadline = started + (clock.at(UNTIL) - started) * (place + 1) / len(race.folds)
        found.n_trained += len(running)
        _run_fold(race, running, number, deadline)
        race.forget(number)
        running = [s for s in running if number in race.standings[s].folds]
        done.append(number)
        if len(done) >= 2:
            found.promising = race.promising(running, done)
            running = [s for s in running if s in found.promising or s == BASELINE]
            if clock.progress is not None:
                best = race.ranked(found.promising[:1], done)[0]
                stage = (
                    f"trying settings on {len(race.task):,} documents; best so far: {best}, "
                    f"{race.goal} {best.figure:.3f}"
                )
        last = time.perf_counter() - begun
    tried = {s for s in order if race.standings.get(s) and race.standings[s].folds}
    found.folds = max(found.folds, done, key=len)
    found.not_tried += [s for s in order if s not in tried]


def _run_fold(race: Race, running: Sequence[Setting], number: int, deadline: float) -> None:
    """Run the settings on a fold; the most promising and the baseline whatever the time is."""
    first = [running[0], *([BASELINE] if BASELINE in running else [])]
    race.run(first, number)
    race.run([s for s in running if s not in first], number, deadline)


def _sample(task: Task, rows: Rows, most: int, generator: np.random.Generator) -> Rows:
    """Return at most so many rows, with the shares of the classes; of times, the latest."""
    if len(rows) <= most:
        return rows
    if task.time is not None:
        return np.sort(np.argsort(task.time, kind="stable")[-most:])
    n_parts = 10 * -(-len(rows) // most)
    n_kept = most * n_parts // len(rows)
    fold = task.fold_numbers(n_parts, generator)
    return np.flatnonzero(fold * n_kept % n_parts < n_kept)  # parts far from each other hold all classes


def select_terms(found: Raced, budget: Budget, clock: Clock) -> list[Setting]:
    """Run the best setting with selections of growing size; return those that were run on all folds."""
    race = found.race
    winner = race.ranked(found.complete, found.folds)[0].setting
    n_terms = race.at(found.folds[0]).scaled(winner.representation)[0].shape[1]
    sizes, methods = budget.sizes(n_terms), list(METHODS)

    def too_long() -> bool:  # fewer terms train faster; one method is left after two folds
        n_trainings = 0.5 * len(sizes) * (len(found.folds) + 2 * (len(methods) - 1))
        return n_trainings * found.seconds > clock.left(0.8)

    if len(race.task) > MANY and budget.size is None and (not clock.limited or too_long()):
        sizes, methods = [size for size in sizes if size.value in FEW_SIZES], ["weights"]
    if budget.size is None and too_long():
        return []
    for place, number in enumerate(found.folds):
        clock.tell("selecting terms", UNTIL + 0.25 * place / len(found.folds))
        wanted = [
            Setting(winner.representation, winner.learner, method, size)
            for method in methods
            for size in sizes
        ] + [
            Setting(winner.representation, winner.learner, method, budget.size, share)
            for method in methods
            for share in budget.fewer_documents
        ]
        if not race.run(wanted, number, clock.at(0.85) if budget.size is None else np.inf):
            break
        found.n_trained += len(wanted)
        race.forget(number)
        if place == 1 and len(methods) > 1:  # the frontier is of one ranking
            methods = [_best_method(race, winner, methods, found.folds[:2])]
    return [s for s in found.complete if s.method is not None]


def _best_method(race: Race, winner: Setting, methods: Sequence[str], folds: Sequence[int]) -> str:
    def mean(method: str) -> float:
        selected = [s for s in race.standings if s.method == method and s.everything == winner]
        return float(np.mean([race.figure(s, True, folds) for s in selected] or [0.0]))

    return max(methods, key=mean)


@dataclass(frozen=True)
class Rule:
    """Which of the settings that were run may be chosen, and whether a small model is preferred."""

    prefer: str
    budget: Budget

    def allowed(self, settings: Sequence[Setting]) -> list[Setting]:
        """Return the settings within the budget."""
        return [s for s in settings if self.budget.size is None or s.method is not None]

    def choose(self, race: Race, settings: Sequence[Setting], folds: Sequence[int]) -> Choice:
        """Return the best expected figure, or the fewest terms within a small distance of it."""
        ranked = race.ranked(self.allowed(settings), folds)
        if self.prefer == "best":
            return ranked[0]
        best: dict[Setting, Choice] = {}
        for choice in ranked:
            best.setdefault(choice.setting, choice)
        chosen = sorted((c for c in best.values() if c.setting.method), key=_by_size)
        smooth = steadied([choice.score for choice in chosen])
        near = [c for c, score in zip(chosen, smooth, strict=True) if score >= ranked[0].score - SMALL]
        return near[0] if near else ranked[0]


def _by_size(choice: Choice) -> float:
    assert choice.setting.size is not None
    return choice.setting.size.limit


@dataclass(frozen=True)
class Nested:
    """The choice repeated without each fold: what it was, and what it said of the fold.

    In `as_drawn` a document with a near-duplicate stands for a new document that repeats a known one: a model
    that was trained on the known one says of it what that one is.
    """

    choices: list[Choice]
    verdicts: Verdicts
    as_drawn: Verdicts


def nested(found: Raced, settings: Sequence[Setting], rule: Rule) -> Nested:
    """Choose without each fold and take what the choice says of it."""
    race, choices, parts, alike = found.race, [], [], []
    for number in found.folds:
        others = [f for f in found.folds if f != number]
        choice = rule.choose(race, settings, others)
        said, values, rows = race.said(choice, number)
        parts.append(Verdicts(race.task.truth[rows], said, race.task.one_label, values))
        alike.append(_as_repeats(parts[-1], race.task, rows, found.alike))
        choices.append(choice)
    verdicts = joined(parts)
    if found.alike is None or race.goal.of_counts is None:  # what repeats has no place in an order
        return Nested(choices, verdicts, verdicts)
    return Nested(choices, verdicts, joined(alike))


def _as_repeats(verdicts: Verdicts, task: Task, rows: Rows, alike: Rows | None) -> Verdicts:
    """Return the verdicts with documents that have a near-duplicate said to be what that one is."""
    if alike is None:
        return verdicts
    other = alike[rows]
    said = np.where((other != rows)[:, None], task.truth[other], verdicts.said)
    return replace(verdicts, said=said)


def values_with(
    found: Raced, setting: Setting, share: float, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return decision values, and logarithms of class shares, if a share of a fold's documents trains it."""
    race = found.race
    values, log_shares = race.standings[setting].values.copy(), race.log_shares.copy()
    parts = []
    for number in found.folds if share < 1 else []:
        train, test = race.splits[number]
        most = int(np.ceil(share * len(train)))
        kept = _sample(race.task.part(train), np.arange(len(train)), most, generator)
        parts.append(Split(race.task, train[kept], test))
    for part, said in zip(parts, in_order(lambda part: part.values([setting])[setting], parts), strict=True):
        values[part.test], log_shares[part.test] = said, part.log_shares
    return values, log_shares


def repeated(
    found: Raced, rule: Rule, first: Nested, clock: Clock, generator: np.random.Generator
) -> list[Nested]:
    """Repeat the evaluation on other folds, as long as there is time and it makes the figure steadier."""
    race, told, seconds = found.race, [first], found.seconds * len(found.complete) * len(found.folds)
    goal, settings, known = race.goal, found.complete, first.verdicts
    noise = float(known.resampled(goal, resamples(len(known))).std()) if clock.limited else 0.0
    while clock.limited and race.task.time is None and clock.left(0.85) > seconds:
        figures = [other.verdicts.figure(goal) for other in told]
        if len(told) > 1 and np.std(figures, ddof=1) / np.sqrt(len(told)) < STEADY * noise:
            break
        clock.tell("repeating on other folds", 0.85)
        begun = time.perf_counter()
        again = Raced(Race(race.task, goal, N_FOLDS, generator), found.rows, alike=found.alike)
        for number in again.race.folds:
            again.race.run(settings, number)
            again.race.forget(number)
        again.folds = again.race.folds
        told.append(nested(again, settings, rule))
        seconds = time.perf_counter() - begun
    return told[1:]
