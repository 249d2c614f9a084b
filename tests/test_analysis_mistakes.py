"""Where a small classifier goes wrong: against scikit-learn's naive Bayes and plain loops."""

import numpy as np
import pytest
from sklearn.naive_bayes import ComplementNB, MultinomialNB

from termsieve import Counts, analysis
from termsieve.analysis.mistakes import cross_validated
from termsieve.errors import InputError


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(1)
    y = np.repeat(["a", "b", "c"], [60, 40, 20])
    rates = 0.05 + generator.beta(0.5, 1.5, (3, 50))
    X = (generator.random((120, 50)) < rates[np.unique(y, return_inverse=True)[1]]).astype(int)
    return X, y


def test_decisions_are_those_of_complement_naive_bayes(data):
    X, y = data
    found = cross_validated(X, y)
    for fold in range(5):
        held = found.fold == fold
        model = ComplementNB().fit(X[~held][:, found.columns], y[~held])
        wanted = model.predict(X[held][:, found.columns])
        assert found.labels.classes[found.values[held].argmax(axis=1)].tolist() == wanted.tolist()


def test_several_labels_are_decided_one_by_one(data):
    X, y = data
    labels = [("a",) if label == "a" else ("b", "c") if label == "c" else ("b",) for label in y]
    found = cross_validated(X, labels)
    truth = found.truth
    for fold in range(5):
        held = found.fold == fold
        for c in range(3):
            model = MultinomialNB().fit(X[~held][:, found.columns], truth[~held, c])
            jll = model.predict_joint_log_proba(X[held][:, found.columns])
            # scikit-learn's prior has no half document added
            assert found.values[held, c] == pytest.approx(jll[:, 1] - jll[:, 0], abs=0.1)


def test_figures_and_confusion_are_counted(data):
    X, y = data
    found = cross_validated(X, y)
    given = found.labels.classes[found.values.argmax(axis=1)]
    confusion = found.confusion()
    for i, own in enumerate("abc"):
        for j, other in enumerate("abc"):
            assert confusion[i, j] == ((y == own) & (given == other)).sum()
    for row in found.figures().to_dicts():
        tp = ((y == row["class"]) & (given == row["class"])).sum()
        both = (y == row["class"]).sum() + (given == row["class"]).sum()
        assert row["f1"] == pytest.approx(2 * tp / both)
    assert analysis.class_figures(found)["f1"].is_sorted()


def test_contributions_add_up_to_the_difference(data):
    X, y = data
    found = cross_validated(X, y)
    documents, own, given, margin = found.doubtful()
    assert (found.labels.classes[own] == y[documents]).all()
    assert (np.diff(margin) <= 1e-9).all()
    from scipy import sparse

    for at in range(len(documents)):
        words = found.contributions(sparse.csr_matrix(X), documents[at], own[at], given[at], n=50)
        assert sum(added for _, added in words) == pytest.approx(margin[at], rel=1e-4)
        assert all(X[documents[at], column] for column, _ in words)


def test_a_planted_wrong_label_is_doubted_first(data):
    X, y = data
    wrong = y.copy()
    clear = np.flatnonzero(y == "a")[3]
    X = X.copy()
    X[clear] = X[y == "a"].mean(axis=0) > 0.4
    wrong[clear] = "c"
    documents, *_ = cross_validated(X, wrong).doubtful()
    assert clear in documents[:5]


def test_pairs_name_the_words_between_two_classes(data):
    X, y = data
    counts = Counts.from_matrix(X, y)
    found = cross_validated(X, y)
    table = analysis.confused_pairs(found, counts)
    confusion = found.confusion()
    for row in table.to_dicts():
        i, j = "abc".index(row["first"]), "abc".index(row["second"])
        assert (row["first_as_second"], row["second_as_first"]) == (confusion[i, j], confusion[j, i])
        for word in row["for_first"].split(", "):
            column = int(word[1:])
            assert X[y == row["first"], column].mean() > X[y == row["second"], column].mean()


@pytest.mark.parametrize(("X", "y"), [([[1], [1]], ["a", "a"]), ([[1]], ["a"])])
def test_nothing_to_learn(X, y):
    with pytest.raises(InputError, match="at least two classes"):
        cross_validated(X, y)


def test_few_documents_are_no_fault():
    found = cross_validated([[1, 0], [0, 1], [1, 1]], ["a", "b", "a"])
    assert found.values.shape == (3, 2)
    assert np.isfinite(found.values).all()
