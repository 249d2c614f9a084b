"""Scaled terms against scikit-learn's tf-idf, kept terms, and decisions for every kind of label."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.estimator_checks import check_estimator

from termsieve import TermSelector, TermsieveError
from termsieve.estimators import DecisionClassifier, KeptTerms, TermScaler
from termsieve.estimators.decision import stratified_rows
from termsieve.learners import get_learner


def counts(seed=0, n=80):
    generator = np.random.default_rng(seed)
    return sparse.csr_matrix(generator.poisson(0.4, (n, 30))), generator.integers(0, 3, size=n)


@pytest.mark.parametrize("sublinear", [True, False])
@pytest.mark.parametrize("norm", ["l2", None])
def test_scaled_terms_are_scikit_learns_tf_idf(sublinear, norm):
    X, _ = counts()
    scaled = TermScaler("log" if sublinear else "tf", unit_length=norm is not None).fit_transform(X)
    oracle = TfidfTransformer(sublinear_tf=sublinear, norm=norm).fit_transform(X)
    assert scaled.toarray() == pytest.approx(oracle.toarray())


def test_terms_without_training_documents_are_left_out():
    X, _ = counts()
    train = X.copy().tolil()
    train[:, :3] = 0
    scaler = TermScaler().fit(train.tocsr())
    assert scaler.kept_.tolist() == list(range(3, 30))
    alone = TfidfTransformer(sublinear_tf=True).fit(train.tocsr()[:, 3:]).transform(X[:, 3:])
    assert scaler.transform(X).toarray() == pytest.approx(alone.toarray())
    assert scaler.get_feature_names_out().tolist() == [f"x{i}" for i in range(3, 30)]
    df = np.diff(X.tocsc().indptr)
    assert TermScaler(min_df=25).fit(X).kept_.tolist() == np.flatnonzero(df >= 25).tolist()


def test_a_metric_weighs_terms_by_its_greatest_score():
    X, y = counts()
    scaler = TermScaler("presence", "chi_squared", unit_length=False).fit(X, y)
    scores = TermSelector("chi_squared").fit(X, y).scores_
    assert scaler.weights_ == pytest.approx(np.maximum(scores, 0))
    assert scaler.transform(X).toarray() == pytest.approx((X.toarray() > 0) * scaler.weights_)


def test_wrong_scaling_is_refused():
    X, _ = counts()
    with pytest.raises(TermsieveError, match="values 'logs' is unknown"):
        TermScaler("logs").fit(X)
    with pytest.raises(TermsieveError, match="min_df must be a whole number"):
        TermScaler(min_df=0.5).fit(X)
    with pytest.raises(ValueError, match="Negative values"):
        TermScaler().fit(-X)


@pytest.mark.parametrize("estimator", [TermScaler(), TermScaler("tf", "bns")], ids=str)
def test_scikit_learns_own_checks(estimator):
    check_estimator(estimator, on_skip=None)


def test_kept_terms_are_the_selectors():
    X, y = counts()
    kept = KeptTerms(TermSelector("bns", k=5)).fit(X, y)
    assert kept.get_support().tolist() == TermSelector("bns", k=5).fit(X, y).get_support().tolist()
    assert kept.transform(X).shape == (80, 5)
    assert not hasattr(kept, "counts_")


def test_a_threshold_moves_the_line_for_two_classes():
    X, y = counts()
    y = np.where(y == 1, "yes", "no")
    plain = get_learner("svm").fit(X, y).decision_function(X)
    model = DecisionClassifier(get_learner("svm"), thresholds=-0.3).fit(X, y)
    assert model.decision_function(X) == pytest.approx(plain + 0.3)
    assert (model.predict(X) == "yes").tolist() == (plain > -0.3).tolist()


def test_a_tilt_takes_a_part_of_the_log_shares_off():
    X, y = counts()
    plain = get_learner("svm").fit(X, y).decision_function(X)
    shares = np.log(np.bincount(y) / len(y))
    model = DecisionClassifier(get_learner("svm"), tilt=0.5).fit(X, y)
    assert model.decision_function(X) == pytest.approx(plain - 0.5 * shares)
    assert model.predict(X).tolist() == (plain - 0.5 * shares).argmax(axis=1).tolist()


@pytest.mark.parametrize("labels", [np.array([3, 5, 7]), np.array(["a", "b", "c"])])
def test_a_target_is_told_from_the_rest(labels):
    X, y = counts()
    target = labels[1]
    model = DecisionClassifier(get_learner("svm"), target=target).fit(X, labels[y])
    binary = get_learner("svm").fit(X, (y == 1).astype(int))
    assert (model.predict(X) == target).tolist() == (binary.predict(X) == 1).tolist()
    assert model.classes_[0] == f"not {target}"
    two = DecisionClassifier(get_learner("svm"), target=labels[0]).fit(X, labels[np.minimum(y, 1)])
    assert two.classes_.tolist() == [labels[1], labels[0]]


def test_a_target_among_several_labels():
    X, y = counts()
    tuples = [("one",) if code == 1 else ("two", "one") if code == 2 else () for code in y]
    model = DecisionClassifier(get_learner("svm"), target="two").fit(X, tuples)
    binary = get_learner("svm").fit(X, (y == 2).astype(int))
    assert (model.predict(X) == "two").tolist() == (binary.predict(X) == 1).tolist()


def test_labels_that_all_documents_have_or_none():
    X, y = counts()
    indicator = np.column_stack([y == 0, np.ones(80), np.zeros(80)]).astype(int)
    said = DecisionClassifier(get_learner("svm"), thresholds=(0.0, 0.0, 0.0)).fit(X, indicator).predict(X)
    assert said[:, 1].all()
    assert not said[:, 2].any()


def test_targets_that_cannot_be_told_apart_are_refused():
    X, y = counts()
    with pytest.raises(TermsieveError, match="no document has the label 'x'"):
        DecisionClassifier(get_learner("svm"), target="x").fit(X, y)
    with pytest.raises(TermsieveError, match="all documents or none"):
        DecisionClassifier(get_learner("svm"), target="a").fit(X, ["a"] * 80)


def test_a_share_of_the_documents_trains_the_classifier():
    X, y = counts()
    rows = stratified_rows(y, 0.25)
    assert np.bincount(y[rows]).tolist() == np.ceil(np.bincount(y) / 4).tolist()
    small = DecisionClassifier(get_learner("svm"), share=0.25).fit(X, y)
    alone = DecisionClassifier(get_learner("svm")).fit(X[rows], y[rows])
    assert small.decision_function(X) == pytest.approx(alone.decision_function(X), abs=1e-3)


def test_probabilities_need_sigmoids():
    X, y = counts()
    assert not hasattr(DecisionClassifier(get_learner("svm")), "predict_proba")
    model = DecisionClassifier(get_learner("svm"), sigmoids=((2.0, 0.5),)).fit(X, y > 0)
    values = get_learner("svm").fit(X, y > 0).decision_function(X)
    assert model.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-2 * values - 0.5)), abs=1e-3)
