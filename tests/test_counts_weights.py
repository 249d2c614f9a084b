"""Counts of weighted documents, against repeated documents and sums by hand; in files and pipelines."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from termsieve import (
    METRICS,
    Counts,
    TermSelector,
    TermWeighter,
    score,
    telling_words,
)
from termsieve.counts.weights import grid_weights
from termsieve.errors import FormatError, InputError
from termsieve.estimators import TermScaler
from termsieve.files import write_whole
from termsieve.parquet import file_metadata, sealed


def documents(seed=0, n_docs=60, n_terms=12):
    random = np.random.default_rng(seed)
    y = random.choice(["a", "b", "c"], n_docs)
    y[:3] = ["a", "b", "c"]
    return random.poisson(0.4, (n_docs, n_terms)), y, random.integers(0, 4, n_docs)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_whole_weights_are_repeated_documents(seed, several, as_sparse):
    X, y, w = documents(seed)
    labels = [tuple({a, b}) for a, b in zip(y, y[::-1], strict=True)] if several else y
    rows = np.repeat(np.arange(len(w)), w)
    again = [labels[i] for i in rows] if several else y[rows]
    given_X = sparse.csr_matrix(X) if as_sparse else X
    weighed = Counts.from_matrix(given_X, labels, occurrences=True, sample_weight=w)
    assert weighed == Counts.from_matrix(X[rows], again, occurrences=True)
    assert weighed.tp.dtype == np.int64
    assert not weighed.weighted


def test_real_weights_are_sums_that_say_so_here_and_in_the_file(tmp_path):
    X, y, w = documents(1)
    w = w * 0.1
    counts = Counts.from_matrix(X, y, occurrences=True, sample_weight=w)
    inside = [y == label for label in counts.classes]
    assert counts.tp == pytest.approx(np.array([w[c] @ (X[c] > 0) for c in inside]), rel=1e-8)
    assert counts.tf == pytest.approx(np.array([w[c] @ X[c] for c in inside]), rel=1e-8)
    assert counts.squares == pytest.approx(w @ X**2, rel=1e-8)
    assert counts.n_docs == pytest.approx(w.sum())
    assert repr(counts) == f"<Counts of documents with real weights, {w.sum():.6g} in all: " + (
        "3 classes, 12 terms, with occurrences>"
    )
    counts.save(tmp_path / "weighted.parquet")
    assert Counts.load(tmp_path / "weighted.parquet") == counts
    head = json.loads(file_metadata(tmp_path / "weighted.parquet")["termsieve-counts"])
    assert (head["version"], head["weighted"]) == (3, True)
    Counts.from_matrix(X, y).save(tmp_path / "whole.parquet")
    head = json.loads(file_metadata(tmp_path / "whole.parquet")["termsieve-counts"])
    assert head["version"] == 2
    assert "weighted" not in head


def test_parts_of_weighted_counts_add_up_and_nothing_is_left_of_them():
    X, y, w = documents(2)
    w = np.random.default_rng(0).uniform(0.001, 7, len(w))
    whole = Counts.from_matrix(X, y, sample_weight=w)
    first = Counts.from_matrix(X[:25], y[:25], sample_weight=w[:25])
    rest = Counts.from_matrix(X[25:], y[25:], sample_weight=w[25:])
    assert (first + rest).tp == pytest.approx(whole.tp, rel=1e-8)
    assert (whole - whole).tp.any() == np.False_
    assert ((first + rest) - rest) == first
    plain = Counts.from_matrix(X, y)
    assert (plain + whole).weighted
    assert (plain + whole).df == pytest.approx(plain.df + whole.df)
    with pytest.raises(InputError, match="below zero"):
        first - rest


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-6, 1e4))
def test_every_metric_scores_weighted_counts_and_scale_decides_nothing_of_the_rates(seed, scale):
    X, y, _ = documents(seed, 30)
    X[:, 0] = 1  # in every document, where rounding would show
    w = np.random.default_rng(seed).uniform(0.1, 3, len(y)) * scale
    counts = Counts.from_matrix(X, y, occurrences=True, terms=[f"t{i}" for i in range(12)], sample_weight=w)
    assert (counts.tp[:, 0] == counts.pos).all()
    assert counts.df[0] == counts.n_docs
    for name in METRICS:
        assert np.isfinite(score(counts, name).values).all(), name
    halves = Counts.from_matrix(X, y, sample_weight=w / 2)
    difference = [score(part, "risk_difference").values for part in (counts, halves)]
    assert difference[0] == pytest.approx(difference[1], abs=1e-7)
    assert telling_words(counts, k=3, interval=0.9).height == 3


def test_rounded_weights_differ_by_less_than_a_billionth_of_the_mean():
    w = np.random.default_rng(0).exponential(1, 1000)
    assert np.abs(grid_weights(w) - w).max() <= 1e-9 * w.mean()
    assert grid_weights(np.array([1e-30, 1.5]))[0] > 0


WRONG = [
    ([1, 2], "shape"),
    (np.ones((60, 1)), "shape"),
    ([-1] * 60, "0 and above"),
    ([np.nan] * 60, "finite"),
    ([0] * 60, "zero for every document"),
    (["x"] * 60, "one number per document"),
]


@pytest.mark.parametrize(("weights", "sentence"), WRONG, ids=[s for _, s in WRONG])
def test_wrong_weights_are_told(weights, sentence):
    X, y, _ = documents()
    with pytest.raises(InputError, match=sentence):
        Counts.from_matrix(X, y, sample_weight=weights)


def test_a_file_that_hides_its_weights_is_damaged(tmp_path):
    X, y, _ = documents()
    path = tmp_path / "w.parquet"
    Counts.from_matrix(X, y, sample_weight=np.full(60, 0.3)).save(path)
    head = json.loads(file_metadata(path)["termsieve-counts"])
    del head["weighted"]
    write_whole(path, sealed(pl.read_parquet(path), {"termsieve-counts": json.dumps(head)}))
    with pytest.raises(FormatError, match="whole numbers"):
        Counts.load(path)


@pytest.mark.parametrize(
    "estimator",
    [
        TermSelector("g2", k=4),
        TermSelector("g2", k=4, redundancy=0.5),
        TermSelector("g2", k=4, redundancy="mrmr"),
        TermWeighter(),
        TermScaler(),
        TermScaler(weight="bns", min_df=3),
    ],
    ids=str,
)
def test_estimators_learn_the_same_from_weights_and_from_repeated_documents(estimator):
    X, y, w = documents(3)
    y = np.where(y == "c", "b", y)
    rows = np.repeat(np.arange(len(w)), w)
    weighed = estimator.fit(X, y, sample_weight=w).transform(X)
    repeated = estimator.fit(X[rows], y[rows]).transform(X)
    as_dense = [m.toarray() if sparse.issparse(m) else m for m in (weighed, repeated)]
    np.testing.assert_allclose(*as_dense)


def test_a_selector_counts_real_weights():
    X, y, _ = documents(3)
    assert TermSelector(k=3).fit(X, y, sample_weight=np.linspace(0.1, 1, len(y))).counts_.weighted


def test_weights_reach_a_selector_inside_a_pipeline_and_a_cross_validation():
    X, y, _ = documents(4, 90)
    y = np.where(y == "c", "b", y)
    X[:, 0], X[:, 1] = y == "a", y == "a"
    w = np.ones(len(y), dtype=int)
    misleading = np.arange(len(y)) % 3 == 0
    X[misleading, 0] = y[misleading] == "b"
    w[misleading] = 0  # without these documents column 0 is as good as column 1
    with config_context(enable_metadata_routing=True):
        selector = TermSelector("chi", k=2).set_fit_request(sample_weight=True)
        learner = LinearSVC().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(selector, learner)
        pipeline.fit(X, y, sample_weight=w)
        assert pipeline[0].selected_.tolist() == [0, 1]
        accuracy = get_scorer("accuracy").set_score_request(sample_weight=True)
        options = {"scoring": accuracy, "return_estimator": True, "error_score": "raise"}
        found = cross_validate(pipeline, X, y, params={"sample_weight": w}, cv=3, **options)
    assert [one[0].selected_.tolist() for one in found["estimator"]] == [[0, 1]] * 3
    assert [one[0].counts_.n_docs for one in found["estimator"]] == [
        w.sum() - w[held].sum() for held in _held_out(X, y)
    ]
    assert make_pipeline(TermSelector("chi", k=2)).fit(X, y)[0].selected_.tolist() != [0, 1]


def _held_out(X, y):
    from sklearn.model_selection import StratifiedKFold

    return [test for _, test in StratifiedKFold(3).split(X, y)]


def test_partial_fit_adds_weighted_documents():
    X, y, w = documents(5)
    parts = TermSelector(k=3).partial_fit(X[:30], y[:30], sample_weight=w[:30])
    parts.partial_fit(X[30:], y[30:], sample_weight=w[30:])
    assert parts.counts_ == TermSelector(k=3).fit(X, y, sample_weight=w).counts_
