from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from termsieve import Counts, TermWeighter, get_metric, score
from termsieve.errors import UnknownNameError


@parametrize_with_checks([TermWeighter(), TermWeighter("chi_squared", values="tf", combine="mean")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def documents():
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 80)
    X = random.poisson(0.5 + (np.arange(12) % 3 == y[:, None]))
    return X, y


@pytest.mark.parametrize("values", ["presence", "tf"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
def test_each_value_is_multiplied_by_the_greatest_score_of_any_class(documents, values, form):
    X, y = documents
    weighed = TermWeighter("bns", values=values).fit(form(X), y).transform(form(X))
    if form is not np.asarray:
        assert type(weighed) is type(form(X))
        weighed = weighed.toarray()
    weight = score(Counts.from_matrix(X, y), "bns").values.max(axis=0)
    expected = (X > 0) * weight if values == "presence" else X * weight
    np.testing.assert_allclose(weighed, expected)


def test_two_classes_weigh_by_the_second(documents):
    X, y = documents
    y = y == 1
    tp, fp = (X[y] > 0).sum(axis=0), (X[~y] > 0).sum(axis=0)
    expected = get_metric("odds_numerator")(tp, fp, y.sum(), (~y).sum())
    mirrored = get_metric("odds_numerator")(y.sum() - tp, (~y).sum() - fp, y.sum(), (~y).sum())
    falls = tp / y.sum() < fp / (~y).sum()
    np.testing.assert_allclose(
        TermWeighter("odds_numerator").fit(X, y).weights_, np.where(falls, mirrored, expected)
    )


def test_a_weight_is_never_negative(documents):
    X, y = documents
    for name in ("mutual_information", "correlation_coefficient", "gss"):
        assert TermWeighter(name).fit(X, y == 0).weights_.min() >= 0
    signed, magnitude = (TermWeighter(name).fit(X, y == 0).weights_ for name in ("cc", "chi"))
    np.testing.assert_allclose(signed**2, magnitude)


def test_transform_leaves_its_input_alone(documents):
    X, y = documents
    given = sparse.csr_matrix(X.astype(float))
    TermWeighter().fit(given, y).transform(given)
    np.testing.assert_array_equal(given.toarray(), X)


def test_takes_the_place_of_idf_in_a_pipeline():
    texts = ["cheap pills now", "cheap watches now", "see you now", "see them now"] * 3
    labels = ["spam", "spam", "ham", "ham"] * 3
    pipeline = make_pipeline(CountVectorizer(), TermWeighter("bns"), LinearSVC()).fit(texts, labels)
    assert pipeline.predict(["cheap cheap", "see"]).tolist() == ["spam", "ham"]
    assert pipeline[:-1].get_feature_names_out().tolist() == pipeline[0].get_feature_names_out().tolist()


def test_multilabel_and_unknown_values(documents):
    X, _ = documents
    labels = [("a", "b"), ("b",), ()] * 26 + [("a",)] * 2
    assert TermWeighter().fit(X, labels).classes_.tolist() == ["a", "b"]
    with pytest.raises(UnknownNameError, match="did you mean 'presence'"):
        TermWeighter(values="presense").fit(X, labels)
