"""The adviser's race: who is dropped when, when it ends, and how the time that is given is spent."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from termsieve.adviser import race as racing
from termsieve.adviser import stages
from termsieve.adviser.dropping import WORTH, worth_trying
from termsieve.adviser.folds import Task
from termsieve.adviser.goals import get_goal
from termsieve.adviser.portfolio import BASELINES, STRENGTHS, Budget, portfolio
from termsieve.adviser.promise import Calibration, Promise
from termsieve.adviser.stages import BASELINE, Clock, Rule, nested, raced, repeated, select_terms

BEST = portfolio(False)[5]


def drawn_figures(right, generator, rounds=100):
    """The shares of right documents (settings x documents) on resamples of the documents."""
    n = right.shape[1]
    weights = generator.multinomial(n, np.full(n, 1 / n), size=rounds)
    return right @ weights.T / n


def test_the_expected_gain_is_that_of_simulated_gaps():
    generator = np.random.default_rng(0)
    leader = generator.normal(0.8, 0.02, size=100_000)
    for gap, spread in ((0.0, 0.01), (0.01, 0.01), (0.02, 0.005), (0.05, 0.04)):
        other = leader + generator.normal(0, spread, size=100_000)
        gain = np.maximum(0, generator.normal(-gap, 0.9 * spread, size=400_000)).mean()
        kept = worth_trying(np.array([0.8, 0.8 - gap]), np.stack([leader, other]), 0.81)
        assert kept.tolist() == [True, gain >= WORTH * 0.02]


def test_a_clearly_worse_setting_is_dropped_and_an_equal_one_stays():
    generator, dropped, stayed = np.random.default_rng(1), 0, 0
    for _ in range(60):
        right = generator.random((3, 300)) < np.array([[0.85], [0.85], [0.6]])
        kept = worth_trying(right.mean(axis=1), drawn_figures(right, generator), 0.8)
        dropped += not kept[2]
        stayed += kept[:2].all()
    assert dropped == 60
    assert stayed >= 48


def test_a_setting_that_says_the_same_cannot_gain():
    generator = np.random.default_rng(2)
    drawn = drawn_figures(generator.random((1, 200)) < 0.8, generator)
    assert worth_trying(np.array([0.8, 0.8]), np.concatenate([drawn, drawn]), 0.9).tolist() == [True, False]


@pytest.fixture
def machine(monkeypatch):
    """Trainings that take no time but a simulated one, and are right as often as a setting is said to be."""
    machine = SimpleNamespace(now=0.0, accuracy={}, otherwise=0.7, seconds=lambda n_docs: 0.0, n_run=0)
    generator = np.random.default_rng(3)
    clock = SimpleNamespace(perf_counter=lambda: machine.now)
    monkeypatch.setattr(stages, "time", clock)
    monkeypatch.setattr(racing, "time", clock)

    def run(race, settings, number, deadline=np.inf):
        rows = race.splits[number][1]
        truth, wanted = race.task.truth[rows], [s for s in settings if number not in race._standing(s).folds]
        for setting in wanted:
            if machine.now > deadline:
                return False
            right = generator.random(truth.shape) < machine.accuracy.get(
                setting.everything, machine.otherwise
            )
            race.standings[setting].values[rows] = np.where(right == truth, 1.0, -1.0)
            race.standings[setting].folds.append(number)
            race.standings[setting]._tally = None
            machine.now += machine.seconds(len(race.task))
            machine.n_run += 1
        return True

    monkeypatch.setattr(racing.Race, "run", run)
    return machine


def task_of(n_docs):
    generator = np.random.default_rng(4)
    words = sparse.csr_matrix(generator.integers(1, 9, size=(n_docs, 8)).astype(np.float64))
    return Task(words, generator.random((n_docs, 1)) < 0.5, True)


def asked_for(n_docs, minutes=None):
    clock = Clock(0.0, np.inf if minutes is None else 60 * minutes)
    return raced(task_of(n_docs), get_goal("accuracy"), clock, np.random.default_rng(5)), clock


def test_the_race_ends_when_nothing_can_be_gained(machine):
    machine.accuracy = {BEST: 0.95}
    found, _ = asked_for(1000)
    assert found.promising == [BEST]
    assert set(found.complete) == {BEST, BASELINE}
    assert found.n_trained == machine.n_run == 2 * len(portfolio(False)) + 3 * 2
    assert all(len(found.race.standings[s].folds) == 2 for s in portfolio(False) if s not in found.complete)


def test_settings_that_are_as_good_go_on(machine):
    equal = [BEST, portfolio(False)[1], portfolio(False)[12]]
    machine.accuracy = dict.fromkeys(equal, 0.85)
    found, _ = asked_for(600)
    assert len(set(equal) & set(found.complete)) >= 2
    assert len(found.complete) <= 5


def test_many_documents_are_raced_on_growing_samples(machine, monkeypatch):
    sizes = []
    plain = stages._raced_sample
    monkeypatch.setattr(stages, "_raced_sample", lambda t, n, *rest: sizes.append(n) or plain(t, n, *rest))
    machine.accuracy = {BEST: 0.9}
    found, _ = asked_for(30_000)
    assert sizes == [1000, 4000, 20_000]
    assert 19_000 <= len(found.rows) <= 20_000
    assert [s for s in found.race.standings if s not in (BEST, BASELINE)] == []


@pytest.mark.slow
@pytest.mark.parametrize(("minutes", "power"), [(0.5, 0.8), (1, 1.6), (4, 1.0)])
def test_the_time_is_used_and_kept(machine, minutes, power):
    machine.accuracy = {BEST: 0.9}
    machine.seconds = lambda n_docs: 0.02 * (n_docs / 1000) ** power
    found, clock = asked_for(40_000, minutes)
    select_terms(found, Budget(None, 40_000), clock)
    rule = Rule("best", Budget(None, 40_000))
    first = nested(found, found.complete, rule)
    repeated(found, rule, first, clock, np.random.default_rng(6))
    assert machine.now <= 1.05 * clock.limit
    assert machine.now >= 0.4 * clock.limit or len(found.rows) == 40_000
    assert len(found.rows) > 4000


def test_time_that_is_left_tries_values_beside_the_best(machine):
    machine.accuracy = {BEST: 0.9, BEST.with_strength(1.7): 0.99}
    without, _ = asked_for(1000)
    assert all(s.strength in STRENGTHS for s in without.complete)
    found, _ = asked_for(1000, minutes=1)
    assert {s.strength for s in found.race.standings} - set(STRENGTHS)
    assert len(found.folds) == 5


def test_other_folds_are_tried_until_the_figure_is_steady(machine):
    machine.accuracy = {BEST: 0.9}
    rule, generator = Rule("best", Budget(None, 0)), np.random.default_rng(6)
    found, clock = asked_for(1000, minutes=1)
    first = nested(found, found.complete, rule)
    others = repeated(found, rule, first, clock, generator)
    assert others
    assert len(others) < 60
    promise = Promise(
        first.verdicts, get_goal("accuracy"), Calibration(), [other.verdicts for other in others]
    )
    figures = [part.verdicts.figure(promise.goal) for part in (first, *others)]
    assert promise.measured == pytest.approx(np.mean(figures))
    alone = replace(promise, repeated=())
    assert np.diff(promise.interval(200))[0] == pytest.approx(np.diff(alone.interval(200))[0])
    assert repeated(found, rule, first, Clock(0.0), generator) == []
    machine.now = 0.9 * clock.limit
    assert repeated(found, rule, first, clock, generator) == []


def test_the_first_answer_is_told_early_and_improves(machine):
    told = []
    machine.accuracy = {BEST: 0.9}
    machine.seconds = lambda n_docs: n_docs / 1000
    clock = Clock(0.0, progress=lambda stage, share: told.append((machine.now, stage)))
    raced(task_of(20_000), get_goal("accuracy"), clock, np.random.default_rng(5))
    answers = [(when, stage) for when, stage in told if "best so far" in stage]
    assert answers[0][0] <= 0.2 * machine.now
    assert [n for n in ("1,000", "4,000", "20,000") if any(f"on {n} documents" in s for _, s in answers)] == [
        "1,000",
        "4,000",
        "20,000",
    ]
    assert BASELINES["tf-idf + svm"] == BASELINE


@pytest.mark.parametrize("share", [0.01, 0.125, 0.3, 0.5, 0.8])
def test_a_sample_has_the_shares_of_the_classes(share):
    generator = np.random.default_rng(7)
    codes = generator.choice(3, size=3000, p=[0.7, 0.2, 0.1])
    task = Task(sparse.csr_matrix((3000, 1)), codes[:, None] == np.arange(3), True)
    rows = stages._sample(task, np.arange(3000), int(3000 * share), generator)
    assert 0.9 * 3000 * share - 1 <= len(rows) <= 3000 * share
    assert np.bincount(codes[rows], minlength=3) == pytest.approx(
        len(rows) * np.bincount(codes) / 3000, abs=2
    )
    assert len(np.unique(rows)) == len(rows)
