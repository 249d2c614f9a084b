"""TermSelector as a citizen of scikit-learn, and what it selects."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from termsieve import Counts, TermSelector, rank, score
from termsieve.errors import InputError, ParameterError
from termsieve.estimators import score_func
from termsieve.metrics import Metric

RNG = np.random.default_rng(0)
RATES = RNG.beta(0.5, 3, (3, 40))
Y = RNG.integers(0, 3, 90)
X = RNG.poisson(RATES[Y] * 1.5)
SPARSE = sparse.csr_matrix(X)
NAMES = np.array(["ham", "spam", "news"])[Y]


@parametrize_with_checks(
    [
        TermSelector(),
        TermSelector("chi_squared", k=3, side="positive"),
        TermSelector("ig", fraction=0.5, combine="joint"),
        TermSelector("cc", ratio=0.5, sparsity=2),
        TermSelector("random", threshold=0.0),
        TermSelector("bss_wss", memory=10_000, combine="round_robin"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_binary_target_is_about_the_second_class():
    y = Y == 2
    selector = TermSelector("f1", k=5).fit(SPARSE, y)
    scores = score(Counts.from_matrix(SPARSE, y), "f1")
    assert selector.scores_.tolist() == scores.values[1].tolist()
    positive = TermSelector("cc", k=5, side="positive").fit(SPARSE, y)
    assert (positive.class_scores_.direction[1, positive.ranking_[:5]] == 1).all()
    assert positive.classes_.tolist() == [False, True]


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array]
)
def test_every_format_selects_the_same(form):
    selector = TermSelector("bns", k=6).fit(form(X), NAMES)
    out = selector.transform(form(X))
    dense = out.toarray() if sparse.issparse(out) else out
    assert sparse.issparse(out) == (form is not np.asarray)
    np.testing.assert_array_equal(dense, X[:, np.sort(selector.ranking_[:6])])
    back = selector.inverse_transform(out)
    back = back.toarray() if sparse.issparse(back) else back
    np.testing.assert_array_equal(back[:, selector.get_support()], dense)
    assert back.shape == X.shape


def test_more_terms_than_there_are_selects_all_that_occur():
    wide = np.hstack([X, np.zeros((90, 3), dtype=int)])
    selector = TermSelector(k=10**6).fit(wide, Y)
    assert selector.get_support().tolist() == (wide.sum(axis=0) > 0).tolist()


def test_default_is_the_best_thousand():
    wide = sparse.random(50, 3000, 0.1, random_state=0, format="csr")
    assert TermSelector().fit(wide, Y[:50]).get_support().sum() == 1000


def test_partial_fit_equals_one_fit():
    whole = TermSelector("ig", k=7).fit(SPARSE, NAMES)
    parts = TermSelector("ig", k=7)
    order = np.argsort(NAMES, kind="stable")  # the first batches know one class only
    for rows in np.array_split(order, 5):
        parts.partial_fit(SPARSE[rows], NAMES[rows])
    assert parts.counts_ == whole.counts_
    np.testing.assert_array_equal(parts.ranking_, whole.ranking_)
    np.testing.assert_array_equal(parts.get_support(), whole.get_support())
    with pytest.raises(ValueError, match="features"):
        parts.partial_fit(SPARSE[:, :5], NAMES)
    assert parts.fit(SPARSE[:10], NAMES[:10]).counts_.n_docs == 10


def test_fit_counts_selects_as_fit_does():
    names = [f"w{i}" for i in range(40)]
    fitted = TermSelector("bns", k=5).fit(pd.DataFrame(X, columns=names), Y)
    counted = TermSelector("bns", k=5).fit_counts(Counts.from_matrix(X, Y, names))
    assert fitted.get_feature_names_out().tolist() == counted.get_feature_names_out().tolist()
    assert not hasattr(counted, "feature_names_in_")
    assert counted.transform(SPARSE).shape == (90, 5)
    assert fitted.fit_counts(Counts.from_matrix(X, Y)).get_feature_names_out()[0].startswith("x")
    with pytest.raises(InputError, match="fit_counts takes Counts, not csr_matrix"):
        counted.fit_counts(SPARSE)


def test_frames_keep_their_names():
    names = [f"w{i}" for i in range(40)]
    for frame, kind in (
        (pd.DataFrame(X, columns=names), "pandas"),
        (pl.DataFrame(X, schema=names), "polars"),
    ):
        out = TermSelector(k=4).set_output(transform=kind).fit(frame, NAMES).transform(frame)
        assert type(out) is type(frame)
        assert set(out.columns) < set(names)
    with pytest.raises(InputError, match="names more than one column"):
        TermSelector().fit(pd.DataFrame(X[:, :2], columns=["a", "a"]), Y)


def test_multi_label_targets():
    labels = [("a",), ("b", "c"), ()] * 30
    by_tuples = TermSelector(k=5).fit(SPARSE, labels)
    indicator = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0]] * 30)
    for y in (indicator, sparse.csr_matrix(indicator)):
        assert (TermSelector(k=5).fit(SPARSE, y).ranking_ == by_tuples.ranking_).all()
    pipeline = make_pipeline(TermSelector(k=5), OneVsRestClassifier(LinearSVC()))
    assert cross_validate(pipeline, SPARSE, indicator, cv=3)["test_score"].shape == (3,)


def test_inside_scikit_learn():
    pipeline = make_pipeline(TermSelector("bns"), MultinomialNB())
    search = GridSearchCV(
        pipeline, {"termselector__k": [3, 30], "termselector__metric": ["bns", "wfo(0.3)"]}, cv=3
    ).fit(SPARSE, NAMES)
    assert set(search.best_params_) == {"termselector__k", "termselector__metric"}
    one_vs_rest = OneVsRestClassifier(make_pipeline(TermSelector("f1", k=10), LinearSVC())).fit(SPARSE, NAMES)
    chosen = [e[0].get_support().tolist() for e in one_vs_rest.estimators_]
    assert len({tuple(c) for c in chosen}) == 3
    frame = pd.DataFrame({"text": ["a b", "b c", "c d", "d a"], "n": [1, 2, 3, 4]})
    columns = ColumnTransformer(
        [("text", make_pipeline(CountVectorizer(token_pattern=r"\w"), TermSelector(k=2)), "text")]
    )
    assert columns.fit_transform(frame, [0, 0, 1, 1]).shape == (4, 2)


def test_clone_and_pickle():
    selector = TermSelector("wfo(0.3)", sparsity=2.0).fit(SPARSE, NAMES)
    assert clone(selector).get_params() == selector.get_params()
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.get_support(), selector.get_support())
    assert again.class_scores_.metric == selector.class_scores_.metric


def test_score_function_serves_scikit_learns_selectors():
    for name in ("bns", "ig", "cc"):
        theirs = SelectKBest(score_func(name), k=5).fit(SPARSE, NAMES)
        np.testing.assert_array_equal(theirs.scores_, TermSelector(name).fit(SPARSE, NAMES).scores_)
    again = pickle.loads(pickle.dumps(score_func("wfo(0.3)")))
    assert repr(again) == "score_func('wfo(0.3)')"


def rate(tp, fp, pos, neg):
    return tp / pos


def test_callables_and_metrics_are_taken():
    selector = TermSelector(rate, k=3).fit(SPARSE, Y == 1)
    counts = Counts.from_matrix(SPARSE, Y == 1)
    np.testing.assert_allclose(selector.scores_, counts.tp[1] / counts.pos[1])
    own = TermSelector(Metric("rate", rate, kind="one-sided", folds=True), k=3).fit(SPARSE, Y == 1)
    assert own.scores_.max() > selector.scores_.max()


def test_occurrences_are_counted_where_the_metric_reads_them():
    assert TermSelector("wor", side="positive").fit(SPARSE, Y).counts_.occurrences
    assert TermSelector("bss_wss").fit(SPARSE, Y).counts_.occurrences
    assert not TermSelector("bss_wss").fit(SPARSE * 0.5, Y).counts_.occurrences
    assert not TermSelector("bns").fit(SPARSE, Y).counts_.occurrences
    with pytest.raises(InputError, match="needs whole numbers"):
        TermSelector("wor").fit(SPARSE * 0.5, Y)


BAD = [
    ({"k": 0}, X, Y, ParameterError, "k must be a whole number of at least 1"),
    ({"k": 2.5}, X, Y, ParameterError, "k must be a whole number of at least 1"),
    ({"k": 5, "fraction": 0.1}, X, Y, ParameterError, "give one cut-off, not k and fraction together"),
    ({"metric": "bnz"}, X, Y, ParameterError, "did you mean 'bns'"),
    ({"side": "up"}, X, Y, ParameterError, "side 'up' is unknown"),
    ({}, X, Y[:-1], ValueError, "90 documents but y has 89"),
    ({}, X, None, ValueError, "the target y is None"),
    ({}, -X, Y, ValueError, "Negative values in data"),
    ({}, np.where(X > 2, np.nan, X), Y, ValueError, "NaN"),
    ({}, X[0], Y, ValueError, "Expected 2D array"),
    ({}, X[:0], Y[:0], ValueError, "0 sample"),
    ({}, X[:, :0], Y, ValueError, "0 feature"),
    ({}, X, [*NAMES[:-1], 3], ValueError, "mix different types"),
    ({}, X, [*NAMES[:-1], None], ValueError, "1 of 90 labels are missing"),
    ({}, X, Y + 0.5, ValueError, "not measurements"),
]


@pytest.mark.parametrize(("parameters", "X", "y", "error", "sentence"), BAD, ids=[row[-1] for row in BAD])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_unusable_input_is_told(parameters, X, y, error, sentence, method):
    with pytest.raises(error, match=sentence):
        getattr(TermSelector(**parameters), method)(X, y)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (X, np.zeros(90, dtype=int)),  # one class: nothing to tell apart, all scores 0
        (X, [1] + [0] * 89),  # a class of one document
        (np.ones((4, 3)), [0, 1, 0, 1]),  # terms in every document
        (np.vstack([X, np.zeros((2, 40), dtype=int)]), [*Y, 0, 1]),  # empty documents
    ],
)
def test_degenerate_input_is_selected_from(X, y):
    selector = TermSelector(k=2).fit(X, y)
    assert selector.get_support().sum() == 2
    assert np.isfinite(selector.scores_).all()


def test_nothing_occurs():
    selector = TermSelector(k=2).fit(np.zeros((4, 3)), [0, 1, 0, 1])
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(np.zeros((4, 3))).shape == (4, 0)


def test_it_ranks_as_the_functions_do():
    counts = Counts.from_matrix(X, NAMES)
    for arguments in ({}, {"side": "positive"}, {"ratio": 0.3}, {"combine": "round_robin"}, {"min_df": 5}):
        expected = rank(score(counts, "cc"), **arguments).order
        np.testing.assert_array_equal(TermSelector("cc", **arguments).fit(X, NAMES).ranking_, expected)
