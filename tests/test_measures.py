"""Measures against scikit-learn and brute force."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, fbeta_score, make_scorer, precision_score, recall_score
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import MultinomialNB

from termsieve import measures
from termsieve.errors import InputError, UnknownNameError
from termsieve.measures import (
    Confusion,
    at_threshold,
    break_even,
    decision_values,
    f1,
    f1_break_even,
    f1_break_even_score,
    get_goal,
    macro,
    micro,
)

scored = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=1, max_size=25)


def counted(y, predicted):
    pairs = list(zip(y, predicted, strict=True))
    return tuple(pairs.count(pair) for pair in [(1, 1), (0, 1), (1, 0), (0, 0)])


@settings(max_examples=25, deadline=None)
@given(scored)
def test_measures_are_scikit_learns(pairs):
    y, scores = [int(a) for a, _ in pairs], [b for _, b in pairs]
    predicted = [int(b > 0) for b in scores]
    cells = at_threshold(y, scores)
    assert cells == counted(y, predicted)
    assert measures.accuracy(*cells) == pytest.approx(accuracy_score(y, predicted))
    assert measures.precision(*cells) == pytest.approx(precision_score(y, predicted, zero_division=0))
    assert measures.recall(*cells) == pytest.approx(recall_score(y, predicted, zero_division=0))
    for beta in (0.5, 1, 2):
        expected = fbeta_score(y, predicted, beta=beta, zero_division=0)
        assert measures.f_beta(*cells, beta=beta) == pytest.approx(expected)
    assert measures.f2(*cells) == pytest.approx(fbeta_score(y, predicted, beta=2, zero_division=0))


def test_zero_over_zero_is_zero():
    for name in measures.MEASURES:
        assert measures.get_measure(name)(0, 0, 0, 0) == 0.0


def best_cut(y, scores):
    """Every threshold tried: FP and FN nearest, then greater F1, then fewer predicted."""
    cuts = []
    for threshold in [-np.inf, *sorted(set(scores))]:
        tp, fp, fn, tn = counted(y, [int(s > threshold) for s in scores])
        cuts.append((abs(fp - fn), -f1(tp, fp, fn), tp + fp, (tp, fp, fn, tn)))
    return min(cuts)[3]


@given(scored, st.randoms())
def test_break_even_with_whole_ties_is_the_best_cut_in_any_order(pairs, random):
    y, scores = [int(a) for a, _ in pairs], [float(b) for _, b in pairs]
    expected = best_cut(y, scores)
    assert break_even(y, scores, ties="whole") == expected
    random.shuffle(pairs)
    assert break_even([a for a, _ in pairs], [b for _, b in pairs], ties="whole") == expected


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=1, max_size=8))
def test_break_even_divides_ties_in_expectation(pairs):
    """The mean over every set of as many documents as are positive that no document outside outranks."""
    pos = sum(a for a, _ in pairs)
    every = range(len(pairs))
    tops = [
        top
        for top in combinations(every, pos)
        if all(pairs[i][1] >= pairs[j][1] for i in top for j in every if j not in top)
    ]
    found = np.mean([sum(pairs[i][0] for i in top) for top in tops])
    cells = break_even([a for a, _ in pairs], [b for _, b in pairs])
    assert cells == pytest.approx((found, pos - found, pos - found, len(pairs) - 2 * pos + found))


def test_break_even_knows_two_rules_for_ties():
    with pytest.raises(UnknownNameError, match="did you mean 'whole'"):
        break_even([0, 1], [1.0, 2.0], ties="hole")


@pytest.mark.parametrize("ties", ["divided", "whole"])
def test_break_even_takes_many_rankings_at_once(ties):
    rng = np.random.default_rng(0)
    y, scores = rng.random(40) < 0.3, rng.integers(0, 5, (2, 3, 40))
    together = break_even(y, scores, ties)
    for index in np.ndindex(2, 3):
        assert tuple(cell[index] for cell in together) == break_even(y, scores[index], ties)


def test_break_even_without_ties_predicts_as_many_as_there_are():
    rng = np.random.default_rng(1)
    y = rng.random(50) < 0.4
    cells = break_even(y, rng.random(50))
    assert cells.fp == cells.fn
    assert f1(*cells) == measures.precision(*cells) == measures.recall(*cells)


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_break_even_of_one_class_is_without_error(y):
    cells = break_even(y, [0.3, 0.1, 0.2])
    assert cells.fp == cells.fn == 0
    assert cells.tp == sum(y)


@pytest.mark.parametrize(
    ("y", "scores"), [([0, 1], [1.0]), ([0, 2], [1.0, 2.0]), ([0, 1], [np.nan, 1.0]), ([[0, 1]], [0.1, 0.2])]
)
def test_break_even_refuses_what_it_cannot_read(y, scores):
    with pytest.raises(InputError):
        break_even(y, scores)


def test_micro_pools_and_macro_averages():
    cells = Confusion(np.array([8, 0]), np.array([2, 1]), np.array([0, 1]), np.array([0, 8]))
    assert micro("f1", cells) == pytest.approx(16 / 20)
    assert macro("f1", cells) == pytest.approx((16 / 18 + 0) / 2)
    table = Confusion(*(np.stack([cell, cell]) for cell in cells))
    assert micro("f1", table, axis=1) == pytest.approx([16 / 20] * 2)
    assert macro("f1", table, axis=1) == pytest.approx([8 / 18] * 2)
    assert macro("f1", Confusion(*[np.array([])] * 4)) == 0.0


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 120)
    return rng.poisson(0.3 + (np.arange(9)[None] // 3 == y[:, None])), y


def test_scorer_is_the_score_function_of_the_decision_values(data):
    X, y = data[0], (data[1] == 1).astype(int)
    plain = make_scorer(f1_break_even_score, response_method="decision_function")
    model = LogisticRegression()
    expected = cross_val_score(model, X, y, scoring=plain)
    assert cross_val_score(model, X, y, scoring=f1_break_even) == pytest.approx(expected)
    names = np.array(["no", "yes"])[y]
    assert cross_val_score(model, X, names, scoring=f1_break_even) == pytest.approx(expected)


def test_scorer_averages_classes_and_labels(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    each = [f1_break_even_score(y == c, model.decision_function(X)[:, c]) for c in range(3)]
    assert f1_break_even(model, X, y) == pytest.approx(np.mean(each))
    labels = np.column_stack([y == 0, y >= 1]).astype(int)
    several = OneVsRestClassifier(LogisticRegression()).fit(X, labels)
    each = [f1_break_even_score(labels[:, c], several.decision_function(X)[:, c]) for c in range(2)]
    assert f1_break_even(several, X, labels) == pytest.approx(np.mean(each))


def test_decision_values_predict_as_the_classifier_does(data):
    X, y = data
    for model in (
        MultinomialNB(),
        LogisticRegression(),
        OutputCodeClassifier(LogisticRegression(), random_state=0),
    ):
        two = model.fit(X, y == 1)
        assert ((decision_values(two, X) > 0) == two.predict(X)).all()
        three = model.fit(X, y)
        assert (decision_values(three, X).argmax(axis=1) == three.predict(X)).all()


def test_objectives_by_name():
    y, scores = [1, 1, 0, 0], [3.0, -1.0, 1.0, -2.0]
    assert get_goal("accuracy")(y, scores) == 0.5
    assert get_goal("f1_break_even")(y, scores) == 0.5
    assert get_goal("f1_break_even")(y, [0.0] * 4) == 0.5
    assert get_goal("f1_break_even_whole")(y, [0.0] * 4) == f1(2, 2, 0)
    assert get_goal(max)(2, 3) == 3
    with pytest.raises(UnknownNameError, match="did you mean 'accuracy'"):
        get_goal("acuracy")


def test_measures_do_not_import_scikit_learn():
    code = "import sys, termsieve.measures; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
