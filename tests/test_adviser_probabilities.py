"""Calibrated probabilities against scikit-learn's sigmoid, and in the pipeline that is handed over."""

import numpy as np
import pytest
from sklearn.calibration import _SigmoidCalibration
from sklearn.metrics import brier_score_loss

from termsieve import Corpus, advise
from termsieve.adviser.probabilities import calibrated, calibration_error, sigmoids_of
from termsieve.estimators.decision import probabilities
from termsieve.models import Model, load_model


def drawn(n=400, seed=0):
    """Decision values whose log-odds are known: 3 v - 1."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=n)
    return values, generator.random(n) < 1 / (1 + np.exp(1 - 3 * values))


def test_the_sigmoid_is_scikit_learns():
    values, inside = drawn()
    oracle = _SigmoidCalibration().fit(values, inside.astype(int)).predict(values)
    found = probabilities(values, sigmoids_of(values[:, None], inside[:, None]), True)
    assert found[:, 1] == pytest.approx(oracle, abs=1e-4)
    assert found.sum(axis=1) == pytest.approx(np.ones(400))


def test_probabilities_are_judged_on_other_folds():
    values, inside = drawn()
    fold = np.arange(400) % 4
    found = calibrated(values[:, None], inside[:, None], fold, range(4), True)
    said = np.zeros(400)
    for number in range(4):
        others = fold != number
        sigmoid = _SigmoidCalibration().fit(values[others], inside[others].astype(int))
        said[fold == number] = sigmoid.predict(values[fold == number])
    assert found.brier == pytest.approx(brier_score_loss(inside, said), abs=1e-4)
    assert found.brier < found.brier_of_shares == pytest.approx(inside.mean() * (1 - inside.mean()))
    assert found.error < 0.1
    assert calibration_error(np.full(20, 0.9), np.arange(20) < 10) == pytest.approx(0.5, abs=0.11)


def test_extreme_values_and_absent_classes_have_probabilities():
    apart = np.r_[np.full(50, -1e3), np.full(50, 1e3)]
    ((slope, offset),) = sigmoids_of(apart[:, None], (apart > 0)[:, None])
    assert np.isfinite([slope, offset]).all()
    assert slope > 0
    none = sigmoids_of(apart[:, None], np.zeros((100, 1), dtype=bool))
    assert probabilities(apart, none, True)[:, 1] == pytest.approx(np.full(100, 1 / 102))


def documents(classes, n=120, seed=0):
    generator = np.random.default_rng(seed)
    labels = generator.choice(classes, size=n)
    return [
        " ".join([f"w{i}" for i in generator.integers(0, 60, 8)] + [f"{label}{generator.integers(0, 3)}"])
        for label in labels
    ], labels.tolist()


@pytest.mark.parametrize("kind", ["two", "classes", "labels"])
def test_the_pipeline_gives_probabilities_where_they_are_asked_for(kind, tmp_path):
    texts, labels = documents(["ham", "spam"] if kind == "two" else ["red", "green", "blue"])
    if kind == "labels":
        labels = [(label, "extra") if i % 3 else (label,) for i, label in enumerate(labels)]
    found = advise(Corpus(texts, labels), probabilities=True, minutes=0.02)
    model = found.pipeline().fit(texts, labels)
    share = model.predict_proba(texts)
    assert share.shape == (120, {"two": 2, "classes": 3, "labels": 4}[kind])
    if kind != "labels":
        assert share.sum(axis=1) == pytest.approx(np.ones(120))
    assert ((share >= 0) & (share <= 1)).all()
    assert "Probabilities are off by" in found.explanation()
    Model(model).save(tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops").pipeline
    assert again.predict_proba(texts) == pytest.approx(share)
    assert not hasattr(advise(Corpus(texts, labels), minutes=0.0001).pipeline(), "predict_proba")
