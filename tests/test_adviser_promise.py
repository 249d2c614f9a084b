"""The promise: the mean over all subsets, what the last documents bring, and what near-duplicates change."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, average_precision_score, fbeta_score

from termsieve.adviser.duplicates import next_alike
from termsieve.adviser.goals import get_goal
from termsieve.adviser.promise import (
    Calibration,
    Promise,
    bounds,
    deviations,
    expected_figure,
)
from termsieve.adviser.verdicts import Verdicts
from termsieve.errors import ParameterError


def verdicts_of(truth, said, n_classes):
    codes = np.arange(n_classes)
    return Verdicts(np.array(truth)[:, None] == codes, np.array(said)[:, None] == codes, True)


def simulated(n, generator, hit=0.8, alarm=0.1):
    truth = generator.random((n, 1)) < 0.3
    said = generator.random((n, 1)) < np.where(truth, hit, alarm)
    return Verdicts(truth, said, True)


TRUTH = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 3])  # two classes have one document, of which one is found
SAID = np.array([0, 0, 0, 1, 1, 1, 0, 1, 0, 3])


def over_subsets(figure, n_documents):
    """Return the mean of a figure over every set of documents, one by one."""
    chosen = [list(rows) for rows in combinations(range(len(TRUTH)), n_documents)]
    return np.mean([figure(rows) for rows in chosen])


@pytest.mark.parametrize("n_documents", [2, 5, 9])
@pytest.mark.parametrize(("goal", "beta"), [("f1", 1), ("f2", 2)])
def test_the_expected_figure_is_the_mean_over_all_subsets(goal, beta, n_documents):
    def figure(rows):
        there = np.unique(TRUTH[rows])
        return fbeta_score(TRUTH[rows], SAID[rows], beta=beta, labels=there, average="macro", zero_division=0)

    found = expected_figure(verdicts_of(TRUTH, SAID, 4), get_goal(goal), n_documents)
    assert found == pytest.approx(over_subsets(figure, n_documents), abs=0.015)


@pytest.mark.parametrize("n_documents", [2, 6])
def test_one_class_counts_nothing_where_none_of_its_documents_is(n_documents):
    truth, said = TRUTH == 1, SAID == 1

    def figure(rows):
        return fbeta_score(truth[rows], said[rows], beta=1, zero_division=0)

    found = expected_figure(Verdicts(truth[:, None], said[:, None], True), get_goal("f1"), n_documents)
    assert found == pytest.approx(over_subsets(figure, n_documents), abs=0.025)


def test_accuracy_is_the_same_for_any_number_of_documents():
    verdicts = verdicts_of(TRUTH, SAID, 4)
    for n_documents in (1, 4, 10, 500):
        found = expected_figure(verdicts, get_goal("accuracy"), n_documents)
        assert found == pytest.approx(accuracy_score(TRUTH, SAID), abs=0.03)


def test_an_order_is_averaged_over_the_classes_that_are_there():
    generator = np.random.default_rng(2)
    values = (TRUTH[:, None] == np.arange(4)) + generator.normal(size=(10, 4))

    def figure(rows):
        truth = TRUTH[rows]
        there = [c for c in np.unique(truth) if (truth != c).any()]
        return np.mean([average_precision_score(truth == c, values[rows, c]) for c in there])

    verdicts = replace(verdicts_of(TRUTH, SAID, 4), values=values)
    found = expected_figure(verdicts, get_goal("average_precision"), 6)
    assert found == pytest.approx(over_subsets(figure, 6), abs=0.03)


def test_a_class_of_one_document_weighs_less_among_few_documents():
    """That document is missed: it takes a quarter of the mean of all, and is seldom among two."""
    verdicts = verdicts_of(
        np.repeat([0, 1, 2, 3], [10, 10, 10, 1]), np.repeat([0, 1, 2, 0], [10, 10, 10, 1]), 4
    )
    goal = get_goal("f1")
    figures = [expected_figure(verdicts, goal, n) for n in (3, 10, 20, 31)]
    assert figures == sorted(figures, reverse=True)
    assert figures[-1] == verdicts.figure(goal) == pytest.approx((2 + 20 / 21) / 4)
    assert expected_figure(verdicts, goal, 3000) == figures[-1]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=30))
def test_documents_of_a_kind_are_counted_once(pairs):
    truth, said = np.array(pairs).T
    verdicts, goal = verdicts_of(truth, said, 3), get_goal("f1")
    kinds, sizes = verdicts.kinds(goal)
    assert sizes.sum() == len(truth)
    assert len(sizes) == len(set(pairs))
    assert kinds.resampled(goal, sizes[None])[0] == pytest.approx(verdicts.figure(goal))


@pytest.mark.slow
def test_the_interval_contains_the_figure_of_new_documents():
    generator = np.random.default_rng(3)
    inside, goal = 0, get_goal("f1")
    for _ in range(40):
        low, high = Promise(simulated(200, generator), goal, Calibration()).interval(100)
        inside += low <= simulated(100, generator).figure(goal) <= high
    assert inside >= 35


def test_more_documents_make_a_narrower_interval():
    promise = Promise(simulated(300, np.random.default_rng(4)), get_goal("f1"), Calibration())
    widths = [np.diff(promise.interval(n))[0] for n in (20, 100, 1000)]
    assert widths == sorted(widths, reverse=True)
    assert np.diff(promise.interval(100, level=0.5))[0] < widths[1]


def test_the_calibration_moves_and_widens_the_interval():
    verdicts, goal = simulated(300, np.random.default_rng(8)), get_goal("f1")
    plain = Promise(verdicts, goal, Calibration())
    centre = plain.expected(100)
    assert centre == pytest.approx(expected_figure(verdicts, goal, 100))
    low, high = plain.interval(100)
    raised = Promise(verdicts, goal, Calibration(lack=0.1))
    assert raised.expected(100) == pytest.approx(centre + 0.1 * (1 - centre))
    wide = Promise(verdicts, goal, Calibration(reach=1.5)).interval(100)
    assert centre - wide[0] == pytest.approx(1.5 * (centre - low))
    assert wide[1] - centre == pytest.approx(1.5 * (high - centre))
    assert bounds(0.9, np.array([-0.5, 0.5]), 10.0) == (0.0, 1.0)
    assert bounds(0.9, np.array([0.1, 0.2]), 1.0)[0] == 0.9


def test_no_mistake_seen_is_no_promise_of_none():
    truth = np.arange(40)[:, None] < 10
    low, high = Promise(Verdicts(truth, truth, True), get_goal("f1"), Calibration()).interval(40)
    assert 0.3 < low < 1.0
    assert high == 1.0


def test_a_number_of_documents_is_a_whole_number():
    promise = Promise(simulated(50, np.random.default_rng(1)), get_goal("f1"), Calibration())
    for wrong in (0, -3, 2.5, True):
        with pytest.raises(ParameterError, match="n_documents must be a whole number"):
            promise.expected(wrong)
        with pytest.raises(ParameterError, match="n_documents must be a whole number"):
            deviations(promise.verdicts, promise.goal, wrong)
    with pytest.raises(ParameterError, match="level must lie between 0 and 1"):
        promise.interval(10, level=1.0)


def test_rare_classes_gain_more_from_the_last_documents():
    """Summed class by class: each has its own distance to 1, and loses its part of it."""
    truth, said = np.repeat([0, 1, 2], [50, 40, 10]), np.repeat([0, 1, 1, 2, 0], [50, 30, 10, 6, 4])
    verdicts, goal = verdicts_of(truth, said, 3), get_goal("f1")
    known = Calibration(lack=0.2, lack_power=0.5)
    rises = [
        0.2 * min((truth == c).sum(), (truth != c).sum()) ** -0.5 * (1 - f)
        for c, f in enumerate(fbeta_score(truth, said, beta=1, average=None))
    ]
    promise = Promise(verdicts, goal, known)
    assert promise.expected(100) == pytest.approx(verdicts.figure(goal) + np.mean(rises))
    wrong = [((truth == c) & (said != c)).sum() / 100 * 0.2 * (truth == c).sum() ** -0.5 for c in range(3)]
    for name in ("accuracy", "micro_f1"):
        promise = Promise(verdicts, get_goal(name), known)
        assert promise.expected(100) == pytest.approx(accuracy_score(truth, said) + sum(wrong))


def test_one_class_gains_by_its_rarer_side():
    truth = np.arange(100)[:, None] >= 20
    verdicts = Verdicts(truth, truth ^ (np.arange(100)[:, None] % 5 == 0), True)
    promise = Promise(verdicts, get_goal("accuracy"), Calibration(lack=0.2, lack_power=0.3))
    assert promise.expected(100) == pytest.approx(0.8 + 0.2 * 0.2 * 20**-0.3)


def test_documents_that_repeat_others_are_expected_to_be_repeated():
    """Four of twelve documents come twice, and no model knew the other one: new ones will be known."""
    group = np.array([0, 0, 1, 1, *range(2, 10)])
    other = next_alike(group)
    assert other.tolist() == [1, 0, 3, 2, *range(4, 12)]
    truth = np.arange(12)[:, None] % 3 == 0
    said = truth.copy()
    said[[0, 4]] = ~said[[0, 4]]
    goal = get_goal("accuracy")
    as_drawn = Verdicts(truth, np.where((other != np.arange(12))[:, None], truth[other], said), True)
    promise = Promise(Verdicts(truth, said, True), goal, Calibration(), as_drawn=[as_drawn])
    assert promise.measured == pytest.approx(10 / 12)
    # documents 0 and 1 differ in their class, as do 2 and 3: what repeats them will be wrong
    assert promise.expected(12) == pytest.approx(7 / 12)
    assert f"expect {10 / 12:.3f}" in promise.repeats_sentence(12)
    assert replace(promise, as_drawn=[promise.verdicts]).repeats_sentence(12) == ""
