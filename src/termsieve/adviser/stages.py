"""A task and a goal come in; a race in stages, its choice, and its verdicts on unseen documents go out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from termsieve.adviser.decisions import Decision
from termsieve.adviser.duplicates import NONE_ALIKE, Duplicates, kept_together
from termsieve.adviser.folds import MANY, Rows, Split, Task
from termsieve.adviser.frontier import steadied
from termsieve.adviser.goals import Floats, Goal
from termsieve.adviser.portfolio import BASELINES, METHODS, Budget, Setting, portfolio
from termsieve.adviser.race import Choice, Race
from termsieve.adviser.verdicts import Verdicts, joined
from termsieve.pieces import in_order

N_FOLDS = 5
SCOUTED = 1000  # documents of a first race, where there are many more
SCOUT_FOLDS = 2
SCOUT_KEPT = 4  # settings that go on from it at most
RACE_SECONDS = 20.0  # that a training of all settings may take with many documents, unless time is given
GROWTH = 1.6  # the time of a training grows with this power of the documents
KEPT = {2: 12, 3: 8}  # settings that go on after so many folds
RACED = 20_000  # documents of the race at most
FEW_SIZES = (100, 500, 2000, 10000)  # that are tried with many documents
FINAL = 5  # trainings after the race
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

    def over(self, share: float) -> bool:
        """Whether a share of the time is over."""
        return time.perf_counter() > self.at(share)

    def tell(self, stage: str, share: float) -> None:
        """Report a stage and the share of all work that is done."""
        if self.progress is not None:
            self.progress(stage, share)


@dataclass
class Raced:
    """A finished race: which settings were run on which folds, and which there was no time for."""

    race: Race
    rows: Rows  # of the corpus, that the race is about
    folds: list[int]
    not_tried: list[Setting] = field(default_factory=list)
    n_trained: int = 0
    seconds: float = 0.0  # per training
    duplicates: Duplicates = NONE_ALIKE

    @property
    def complete(self) -> list[Setting]:
        """The settings that were run on all folds."""
        return [s for s, standing in self.race.standings.items() if set(self.folds) <= set(standing.folds)]


def raced(task: Task, goal: Goal, clock: Clock, generator: np.random.Generator) -> Raced:
    """Race the portfolio without selection: of many documents first on a sample, then on the folds."""
    settings = portfolio(task.pairs is not None)
    rows = np.arange(len(task))
    if len(task) > MANY:
        scout = task.part(_sample(task, rows, SCOUTED, generator))
        started = time.perf_counter()
        first = _run(Race(scout, goal, SCOUT_FOLDS, generator), settings, {}, clock, 0.25, (0.05, 0.25))
        seconds = (time.perf_counter() - started) / max(1, first.n_trained)
        best = first.race.ranked(first.complete, first.folds)
        n_kept, n_raced = _affordable(len(task), len(scout), seconds, clock)
        settings = _distinct(best, n_kept)
        settings += [BASELINE] if BASELINE not in settings else []
        rows = _sample(task, rows, n_raced, generator)
    whole = task if len(rows) == len(task) else task.part(rows)
    duplicates = NONE_ALIKE
    if whole.time is None:  # what comes again later is no leak where time goes on
        group, duplicates = kept_together(whole.words, whole.truth, whole.group)
        whole = replace(whole, group=group)
    started = time.perf_counter()
    finished = _run(Race(whole, goal, N_FOLDS, generator), settings, KEPT, clock, 0.6, (0.25, 0.6))
    finished.rows, finished.duplicates = rows, duplicates
    finished.seconds = (time.perf_counter() - started) / max(1, finished.n_trained)
    return finished


def _affordable(n_docs: int, n_scouted: int, seconds: float, clock: Clock) -> tuple[int, int]:
    """Return how many settings and documents a race can have if one training of the scouted took so long."""
    most = min(n_docs, RACED)
    left = RACE_SECONDS * N_FOLDS if clock.limit == np.inf else 0.8 * (clock.at(1.0) - time.perf_counter())
    for n_kept in range(SCOUT_KEPT, 1, -1):
        n_trainings = N_FOLDS * (n_kept + 1 + len(FEW_SIZES)) + FINAL
        allowed = n_scouted * (max(left, 0.1) / n_trainings / max(seconds, 1e-6)) ** (1 / GROWTH)
        if allowed >= most:
            break
    # Without a limit all documents count; with one, as many as it allows.
    return n_kept, most if clock.limit == np.inf else int(np.clip(allowed, n_scouted, most))


def _run(
    race: Race,
    settings: Sequence[Setting],
    kept: dict[int, int],
    clock: Clock,
    until: float,
    shares: tuple[float, float],
) -> Raced:
    """Run settings fold by fold; drop those that are unlikely to win; stop when the time for it is over."""
    order = sorted(settings, key=lambda s: -max(race.prior.gain(s, tuned) for tuned in (False, True)))
    running, done, n_trained = list(order), list[int](), 0
    stage = "trying settings"
    for place, number in enumerate(race.folds):
        clock.tell(stage, shares[0] + (shares[1] - shares[0]) * place / len(race.folds))
        if len(done) >= 2 and clock.over(until):
            break
        n_trained += len(running)
        deadline = clock.at(until * (place + 1) / race.n_folds)
        _run_fold(race, running, number, deadline)
        race.forget(number)
        running = [s for s in running if number in race.standings[s].folds]
        done.append(number)
        if clock.progress is not None and len(done) >= 2:
            best_now = race.ranked(running, done)[0]
            stage = f"trying settings; best so far: {best_now}, {race.goal} {best_now.figure:.3f}"
        if len(done) in kept:
            best = _distinct(race.ranked(running, done), kept[len(done)])
            running = [s for s in running if s in best or s == BASELINE]
    tried = {s for s in order if race.standings.get(s) and race.standings[s].folds}
    return Raced(race, np.arange(len(race.task)), done, [s for s in order if s not in tried], n_trained)


def _run_fold(race: Race, running: Sequence[Setting], number: int, deadline: float) -> None:
    """Run the settings on a fold; the most promising and the baseline whatever the time is."""
    first = [running[0], *([BASELINE] if BASELINE in running else [])]
    race.run(first, number)
    race.run([s for s in running if s not in first], number, deadline)


def _distinct(choices: Sequence[Choice], most: int) -> list[Setting]:
    return list(dict.fromkeys(choice.setting for choice in choices))[:most]


def _sample(task: Task, rows: Rows, most: int, generator: np.random.Generator) -> Rows:
    """Return at most so many rows, with the shares of the classes; of times, the latest."""
    if len(rows) <= most:
        return rows
    if task.time is not None:
        return np.sort(np.argsort(task.time, kind="stable")[-most:])
    fold = task.fold_numbers(-(-len(rows) // most), generator)
    return np.flatnonzero(fold == 0)


def select_terms(found: Raced, budget: Budget, clock: Clock) -> list[Setting]:
    """Run the best setting with selections of growing size; return those that were run on all folds."""
    race = found.race
    winner = race.ranked(found.complete, found.folds)[0].setting
    n_terms = race.at(found.folds[0]).scaled(winner.representation)[0].shape[1]
    sizes, methods = budget.sizes(n_terms), list(METHODS)
    if len(race.task) > MANY and budget.size is None:
        sizes, methods = [size for size in sizes if size.value in FEW_SIZES], ["weights"]
    needed = 0.5 * len(sizes) * len(found.folds) * found.seconds  # fewer terms train faster
    if budget.size is None and time.perf_counter() + needed > clock.at(0.9):
        return []
    for place, number in enumerate(found.folds):
        clock.tell("selecting terms", 0.6 + 0.25 * place / len(found.folds))
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
        if place == 1 and len(methods) > 1:
            methods = [_best_method(race, winner, methods, sizes, found.folds[:2])]
    return [s for s in found.complete if s.method is not None]


def _best_method(
    race: Race, winner: Setting, methods: Sequence[str], sizes: Sequence[object], folds: Sequence[int]
) -> str:
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
    """The choice repeated without each fold: what it was, and what it said of the fold."""

    choices: list[Choice]
    verdicts: Verdicts


def nested(found: Raced, settings: Sequence[Setting], rule: Rule) -> Nested:
    """Choose without each fold and take what the choice says of it."""
    race, choices, parts = found.race, [], []
    for number in found.folds:
        others = [f for f in found.folds if f != number]
        choice = rule.choose(race, settings, others)
        said, values, rows = race.said(choice, number)
        parts.append(Verdicts(race.task.truth[rows], said, race.task.one_label, values))
        choices.append(choice)
    return Nested(choices, joined(parts))


def fixed_verdicts(found: Raced, setting: Setting) -> Verdicts:
    """Return what a setting with its own thresholds says of each fold."""
    race = found.race
    plain = Decision((0.0,) * (1 if race.task.one_label else race.task.truth.shape[1]))
    choice = Choice(setting, False, plain, 0.0, 0.0)
    parts = []
    for number in found.folds:
        said, values, rows = race.said(choice, number)
        parts.append(Verdicts(race.task.truth[rows], said, race.task.one_label, values))
    return joined(parts)


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


def cross_verdicts(found: Raced, values: Floats, log_shares: Floats) -> Verdicts:
    """Return what decision values say of each fold where the other folds suggest to cut them."""
    race, parts = found.race, []
    tally = race.tally_of(values, log_shares)
    for number in found.folds:
        rows = race.splits[number][1]
        decision = tally.decision([f for f in found.folds if f != number], tuned=True)
        said = decision.said(values[rows], log_shares[rows], race.task.several_classes)
        parts.append(Verdicts(race.task.truth[rows], said, race.task.one_label, values[rows]))
    return joined(parts)
