"""What more labelled documents would bring: exact on geometric gains, and an interval around it."""

import numpy as np
import pytest

from termsieve.adviser.curve import LearningCurve, next_gain
from termsieve.adviser.goals import get_goal
from termsieve.adviser.promise import Calibration, Promise
from termsieve.adviser.verdicts import Verdicts


@pytest.mark.parametrize("ratio", [0.4, 0.7, 1.0])
def test_geometric_gains_are_continued(ratio):
    steps = 0.5 + np.cumsum([0.0, 0.1, 0.1 * ratio])
    assert next_gain(steps, ratio) == pytest.approx(0.1 * ratio**2)


def test_the_last_gains_are_averaged():
    """The least-squares solution: both gains are multiples of the gain to come."""
    ratio, gains = 0.7, np.array([0.08, 0.02])
    x = np.linspace(-0.1, 0.2, 30001)
    errors = (x / ratio**2 - gains[0]) ** 2 + (x / ratio - gains[1]) ** 2
    found = next_gain(np.array([0.0, gains[0], gains.sum()]), ratio)
    assert found == pytest.approx(x[np.argmin(errors)], abs=1e-4)


def verdicts(share_right, seed):
    generator = np.random.default_rng(seed)
    truth = np.arange(500)[:, None] % 2 == 0
    return Verdicts(truth, truth ^ (generator.random((500, 1)) > share_right), True)


def test_the_curve_has_its_band_and_says_it():
    parts = [verdicts(share, seed=1) for share in (0.7, 0.8, 0.86)]
    goal = get_goal("accuracy")
    curve = LearningCurve.of(parts, 400, Promise(parts[2], goal, Calibration(ratio=0.6, ratio_spread=0.1)))
    assert curve.documents == (100, 200, 400)
    assert curve.figures == pytest.approx([part.figure(goal) for part in parts])
    assert curve.gain.low < curve.gain.mean < curve.gain.high
    assert 0.01 < curve.gain.mean < 0.06
    assert f"Twice as many labelled documents would bring {curve.gain.mean:+.3f}" in curve.sentence
    wide = LearningCurve.of(parts, 400, Promise(parts[2], goal, Calibration(ratio=0.6, ratio_spread=0.3)))
    assert wide.gain.high - wide.gain.low > curve.gain.high - curve.gain.low
    assert curve.to_dict()["gain"]["mean"] == curve.gain.mean
    perfect = LearningCurve.of(parts, 400, Promise(verdicts(1.0, seed=1), goal, Calibration()))
    assert (perfect.figures[-1], perfect.gain.mean, perfect.gain.high) == (1.0, 0.0, 0.0)
