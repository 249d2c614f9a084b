"""Measures of predictions: against scikit-learn's, and intervals that hold what they promise."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from termsieve.errors import InputError
from termsieve.evaluation import Evaluation, evaluated

GENERATOR = np.random.default_rng(0)
TRUTH = GENERATOR.choice(["a", "b", "c"], size=200, p=[0.6, 0.3, 0.1])
SAID = np.where(GENERATOR.random(200) < 0.7, TRUTH, GENERATOR.choice(["a", "b", "c"], size=200))


def test_classes_are_measured_as_scikit_learn_does():
    found = evaluated(TRUTH.tolist(), SAID.tolist(), several=False)
    assert np.array_equal(found.table, confusion_matrix(TRUTH, SAID))
    precision, recall, f1, sizes = precision_recall_fscore_support(TRUTH, SAID)
    for i, row in enumerate(found.rows()):
        assert (row["precision"], row["recall"], row["f1"]) == pytest.approx((precision[i], recall[i], f1[i]))
        assert row["documents"] == sizes[i]
    assert found.figure == pytest.approx(f1.mean())
    assert found.accuracy == pytest.approx((TRUTH == SAID).mean())
    assert found.low < found.figure < found.high
    assert [row["true class"] for row in found.confusion()] == ["a", "b", "c"]


def test_two_classes_are_the_problem_of_the_second():
    truth, said = np.where(TRUTH == "c", "spam", "ham"), np.where(SAID == "c", "spam", "ham")
    found = evaluated(truth.tolist(), said.tolist(), several=False)
    assert found.figure == pytest.approx(found.rows()[1]["f1"])


def test_several_labels_have_no_table():
    found = evaluated([("a", "b"), ("b",), ()], [("a",), ("b", "a"), ()], several=True)
    assert found.table is None
    assert found.accuracy is None
    assert (found.tp, found.fp, found.fn) == ((1, 1), (1, 0), (0, 1))
    with pytest.raises(InputError, match="no document has a label"):
        evaluated([()], [()], several=True)


def test_no_mistake_seen_is_no_certainty():
    found = evaluated(["a"] * 30 + ["b"] * 30, ["a"] * 30 + ["b"] * 30, several=False)
    assert found.figure == found.high == 1.0
    assert 0.85 < found.low < 1.0


def test_the_interval_holds_what_it_promises():
    inside = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        truth = generator.random(300) < 0.3
        said = np.where(generator.random(300) < 0.8, truth, ~truth)
        found = Evaluation.of_flags(
            np.stack([~truth, truth], 1), np.stack([~said, said], 1), ["n", "y"], True
        )
        expected = 2 * 0.3 * 0.8 / (2 * 0.3 * 0.8 + 0.3 * 0.2 + 0.7 * 0.2)
        inside += found.low <= expected <= found.high
    assert inside >= 52


def test_plain_values_and_back():
    found = evaluated(TRUTH.tolist(), SAID.tolist(), several=False)
    assert Evaluation.from_dict(found.to_dict()) == found
    for name, value in {"tp": [1], "figure": 2.0, "table": [[1]], "classes": [[]], "documents": -1}.items():
        with pytest.raises((InputError, ValueError)):
            Evaluation.from_dict({**found.to_dict(), name: value})
