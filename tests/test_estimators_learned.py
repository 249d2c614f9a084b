from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from termsieve import (
    Counts,
    RatioClassifier,
    RatioSelector,
    WeightSelector,
    WFOSelector,
    get_learner,
    rank,
    read,
    score,
    term_matrix,
)
from termsieve.errors import InputError, ParameterError, UnknownNameError
from termsieve.estimators.evaluate import middle_of_best, tuning_parts
from termsieve.estimators.weights import sample_rows
from termsieve.estimators.wfo import lambda_curves
from termsieve.learners import decision_sets
from termsieve.measures import break_even, f1, f1_break_even, f1_break_even_score


@parametrize_with_checks(
    [
        RatioSelector(k=3, ratios=(0, 0.5, 1), cv=2),
        RatioSelector("ig", k=2, ratios=(0.3, 1.0), learner="lr", goal="f1", tune="train"),
        RatioClassifier(RatioSelector(k=3, ratios=(0, 0.5, 1), cv=2), "lr"),
        RatioClassifier(RatioSelector(k=2, ratios=(0, 1), tune="train")),
        WFOSelector(k=3, lambdas=(0, 0.5, 1), cv=2),
        WeightSelector(k=3),
        WeightSelector("perceptron", sample=0.5, sparsity=2, combine="mean", random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def documents(n_classes=2, n_docs=120, n_terms=60, seed=0):
    """Word counts in which some words are more frequent in a class, and some rarer."""
    random = np.random.default_rng(seed)
    y = random.choice(n_classes, n_docs, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    rate = random.exponential(0.25, n_terms) * np.exp(0.8 * random.normal(size=(n_classes, n_terms)))
    return sparse.csr_matrix(random.poisson(rate[y])), y


def by_hand_ratio(X, y, k, ratios, classifier, parts, metric="cc"):
    """Zheng's algorithm from its description: everything recounted, every ratio sorted and trained anew."""
    curve = np.zeros(len(ratios))
    for train, test in parts:
        signed = score(Counts.from_matrix(X[train], y[train]).take([1]), metric).values[0]
        df = (X[train] > 0).sum(axis=0).A1
        columns = [c for c in range(X.shape[1]) if df[c]]
        best = sorted(columns, key=lambda c: (-signed[c], -df[c], c))
        worst = sorted(columns, key=lambda c: (signed[c], -df[c], c))
        for i, ratio in enumerate(ratios):
            l1 = int(np.floor(ratio * k + 0.5 + 1e-9))
            chosen = best[:l1] + worst[: k - l1]
            assert len(set(chosen)) == k
            model = clone(classifier).fit(X[train][:, chosen], y[train])
            values = model.decision_function(X[test][:, chosen])
            curve[i] += f1_break_even_score(y[test], values) / len(parts)
    return curve


@pytest.mark.parametrize("name", ["nb(quotient)", "lr"])
def test_ratio_selector_follows_the_paper(name):
    X, y = documents()
    ratios = [0, 0.25, 0.5, 0.75, 1]
    everything = np.arange(len(y))
    trained = RatioSelector(k=9, ratios=ratios, learner=name, tune="train").fit(X, y)
    expected = by_hand_ratio(X, y, 9, ratios, get_learner(name), [(everything, everything)])
    np.testing.assert_allclose(trained.curve_, expected)
    folded = RatioSelector(k=9, ratios=ratios, learner=name, cv=4).fit(X, y)
    expected = by_hand_ratio(X, y, 9, ratios, get_learner(name), list(StratifiedKFold(4).split(X, y)))
    np.testing.assert_allclose(folded.curve_, expected)
    assert len(set(expected)) > 1
    assert folded.ratio_ == ratios[middle_of_best(expected)]
    ranking = rank(score(Counts.from_matrix(X, y).take([1]), "cc"), ratio=folded.ratio_)
    np.testing.assert_array_equal(folded.selected_, ranking.order[:9])
    np.testing.assert_array_equal(folded.ranking_, ranking.order)


def test_of_equally_good_ratios_the_middle_one():
    assert [
        middle_of_best(np.array(v)) for v in ([1, 2, 2, 2, 0], [3, 1, 1], [2, 2], [0.0], [1, 1, 0, 1])
    ] == [
        2,
        0,
        1,
        0,
        1,
    ]
    assert middle_of_best(np.array([0.1 + 0.2, 0.3, 0.0])) == 1


def test_a_scorer_or_its_name_is_a_goal():
    X, y = documents(seed=3)
    plain = RatioSelector(k=8, ratios=(0, 0.5, 1), learner="lr", cv=3)
    for goal, same in (("accuracy", make_scorer(accuracy_score)), ("f1_break_even", f1_break_even)):
        a = clone(plain).set_params(goal=goal).fit(X, y)
        b = clone(plain).set_params(goal=same).fit(X, y)
        np.testing.assert_allclose(a.curve_, b.curve_)
    named = clone(plain).set_params(goal="roc_auc").fit(X, y)
    assert 0.5 < named.curve_.max() <= 1
    with pytest.raises(UnknownNameError, match="did you mean 'roc_auc'"):
        clone(plain).set_params(goal="rocauc").fit(X, y)


def test_several_classes_are_one_selection_each_and_their_union():
    X, y = documents(n_classes=4, n_docs=160, seed=1)
    names = np.array(["earn", "acq", "grain", "ship"])[y]
    selector = RatioSelector(k=7, ratios=(0, 0.5, 1), cv=3).fit(X, names)
    assert selector.classes_.tolist() == sorted(set(names))
    assert selector.ratio_.shape == (4,)
    assert selector.curve_.shape == (4, 3)
    for c, label in enumerate(selector.classes_):
        alone = RatioSelector(k=7, ratios=(0, 0.5, 1), cv=3).fit(X, names == label)
        assert alone.ratio_ == selector.ratio_[c]
        np.testing.assert_array_equal(alone.curve_, selector.curve_[c])
        np.testing.assert_array_equal(alone.selected_, selector.selections_[c])
    union = set(np.concatenate(selector.selections_))
    assert set(selector.selected_) == union
    assert set(selector.ranking_[: len(union)]) == union
    assert sorted(selector.ranking_) == np.flatnonzero(X.sum(axis=0).A1).tolist()


def test_one_vs_rest_pipeline_and_the_classifier_with_shared_counts_agree():
    X, y = documents(n_classes=3, n_docs=150, seed=2)
    selector = RatioSelector(k=6, ratios=(0, 0.5, 1), cv=3)
    pipeline = OneVsRestClassifier(make_pipeline(selector, get_learner("lr"))).fit(X, y)
    shared = RatioClassifier(selector, "lr").fit(X, y)
    for c, model in enumerate(pipeline.estimators_):
        np.testing.assert_array_equal(model[0].selected_, shared.selector_.selections_[c])
    np.testing.assert_allclose(shared.decision_function(X), pipeline.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(shared.predict(X), pipeline.predict(X))


def test_multilabel_targets():
    X, Y = make_multilabel_classification(n_samples=90, n_features=25, n_classes=4, random_state=0)
    Y[:, 3] = 0
    Y[:1, 3] = 1  # too rare for folds: tuned on the training documents
    selector = RatioSelector(k=5, ratios=(0, 0.5, 1), cv=3).fit(X, Y)
    alone = RatioSelector(k=5, ratios=(0, 0.5, 1), tune="train").fit(X, Y[:, 3])
    assert selector.ratio_[3] == alone.ratio_
    classifier = RatioClassifier(selector, "lr").fit(X, Y)
    assert classifier.predict(X).shape == Y.shape
    tuples = [tuple(np.flatnonzero(row)) for row in Y]
    np.testing.assert_array_equal(
        RatioSelector(k=5, ratios=(0, 0.5, 1), cv=3).fit(X, tuples).ratio_, selector.ratio_
    )
    lam = WFOSelector(k=5, lambdas=(0, 0.5, 1), cv=3).fit(X, Y)
    assert 0 <= lam.lambda_ <= 1
    weights = WeightSelector(k=5).fit(X, Y)
    assert weights.weights_.shape == (4, 25)


def test_implied_ratio_is_the_share_of_positive_terms():
    X, y = documents(seed=5)
    selector = RatioSelector(k=15, ratios=(0.5,), tune="train").fit(X, y)
    tp, fp = (X[y == 1] > 0).sum(axis=0).A1, (X[y == 0] > 0).sum(axis=0).A1
    best = rank(score(selector.counts_.take([1]), "chi")).order[:15]
    positive = tp / (y == 1).sum() > fp / (y == 0).sum()
    assert selector.implied_ratio("chi") == positive[best].mean()
    several = RatioSelector(k=15, ratios=(0.5,), tune="train").fit(*documents(n_classes=3))
    assert several.implied_ratio("ig").shape == (3,)


class Diary(ClassifierMixin, BaseEstimator):
    """Decides by its first column, and writes down what it was trained on."""

    pages: list = []  # noqa: RUF012, shared by all clones on purpose

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
        Diary.pages.append((rows.tobytes(), np.asarray(y).tobytes()))
        return self

    def decision_function(self, X):
        return np.asarray(X[:, [0]].sum(axis=1)).ravel() - 0.5

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@pytest.mark.parametrize(
    "selector",
    [
        RatioSelector(k=6, ratios=(0, 0.3, 1), learner=Diary(), cv=4),
        WFOSelector(k=6, lambdas=(0, 0.5, 1), learner=Diary(), cv=4),
    ],
)
def test_held_out_documents_change_no_selection(selector):
    X, y = documents(seed=6)
    parts = tuning_parts(y, 4, None)
    changed = X.toarray()
    changed[parts[1].test] = np.random.default_rng(0).poisson(3, (len(parts[1].test), X.shape[1]))
    diaries = []
    for rows in (X, sparse.csr_matrix(changed)):
        Diary.pages = []
        clone(selector).fit(rows, y)
        assert len(Diary.pages) == 4 * 3
        diaries.append(Diary.pages)
    # Fold 1 holds the changed documents out: each of its three training matrices is as it was.
    assert diaries[0][3:6] == diaries[1][3:6]
    assert diaries[0][:3] != diaries[1][:3]


def test_documents_outside_the_training_part_change_no_fitted_selector():
    X, y = documents(seed=7)
    train = np.arange(0, len(y), 2)
    other = X.toarray()
    other[1::2] += 5
    for selector in (
        RatioSelector(k=5, ratios=(0, 0.5, 1)),
        WFOSelector(k=5, lambdas=(0, 0.5)),
        WeightSelector(sparsity=3, sample=0.5, random_state=1),
    ):
        a = clone(selector).fit(X[train], y[train])
        b = clone(selector).fit(sparse.csr_matrix(other)[train], y[train])
        np.testing.assert_array_equal(a.selected_, b.selected_)


def test_folds_are_no_more_than_the_smallest_class():
    y = np.array([0] * 20 + [1] * 3)
    assert len(tuning_parts(y, 5, None)) == 3
    whole = tuning_parts(np.array([0] * 20 + [1]), 5, None)
    assert len(whole) == 1
    np.testing.assert_array_equal(whole[0].train, whole[0].test)
    assert all((y[part.train] == 1).any() for part in tuning_parts(y, 5, 0))
    for cv in (0, 2.5, "five", True):
        with pytest.raises(ParameterError, match="cv must be a whole number"):
            tuning_parts(y, cv, None)


def by_hand_wfo(X, y, k, lambdas, classifier, cv):
    folds = []
    for train, test in StratifiedKFold(cv).split(X, y):
        accuracies = []
        for lam in lambdas:
            order = rank(score(Counts.from_matrix(X[train], y[train]), f"wfo({lam})")).order[:k]
            model = clone(classifier).fit(X[train][:, order], y[train])
            accuracies.append((model.predict(X[test][:, order]) == y[test]).mean())
        tied = [lam for lam, a in zip(lambdas, accuracies, strict=True) if a >= max(accuracies) - 1e-12]
        folds.append(tied[len(tied) // 2])
    return folds


@pytest.mark.parametrize("n_classes", [2, 3])
def test_wfo_selector_follows_the_paper(n_classes):
    X, y = documents(n_classes, n_docs=90, seed=8)
    X = (X > 0).astype(np.float64)
    lambdas = [0, 0.25, 0.5, 0.75, 1]
    selector = WFOSelector(k=10, lambdas=lambdas, cv=4, learner=LinearSVC(random_state=0)).fit(X, y)
    expected = by_hand_wfo(X, y, 10, lambdas, LinearSVC(random_state=0), 4)
    assert selector.fold_lambdas_.tolist() == expected
    assert selector.lambda_ == np.mean(expected)
    assert selector.curve_.shape == (5,)
    ranking = rank(score(Counts.from_matrix(X, y), f"wfo({selector.lambda_})"))
    np.testing.assert_array_equal(selector.selected_, ranking.order[:10])


@pytest.mark.parametrize("learner", ["svm", "svm(hinge)"])
def test_lambda_curves_of_several_sizes_are_those_of_each(learner):
    X, y = documents(3, n_docs=90, seed=8)
    parts = tuning_parts(y, 3, None)
    task = X, y[:, None] == np.unique(y), y, Counts.from_matrix(X, y), parts
    curves = lambda_curves(*task, [4, 12], [0, 0.5, 1], learner, "accuracy")
    assert curves.shape == (2, 3, 3)
    for k, curve in zip([4, 12], curves, strict=True):
        alone = WFOSelector(k=k, lambdas=[0, 0.5, 1], cv=3, learner=learner).fit(X, y)
        np.testing.assert_allclose(curve.mean(axis=0), alone.curve_, atol=0.03)


@pytest.mark.parametrize(
    "model", ["svm", "lr", "perceptron", LogisticRegression(), Ridge(), SGDClassifier(random_state=0)]
)
def test_weights_are_those_of_the_model(model):
    X, y = documents(seed=9)
    selector = WeightSelector(model, k=12).fit(X, y)
    fitted = (get_learner(model) if isinstance(model, str) else clone(model)).fit(X, y)
    weights = np.ravel(fitted.coef_)
    np.testing.assert_allclose(selector.weights_[0], weights)
    kept = (X > 0).sum(axis=0).A1 > 0
    least = np.sort(np.abs(weights)[kept])[-12]
    assert np.abs(weights)[selector.selected_].min() >= least
    only = WeightSelector(model, k=12, negatives=False).fit(X, y)
    assert (weights[only.ranking_] > 0).all()
    assert len(only.ranking_) == (weights[kept] > 0).sum()


def test_weights_of_several_classes_combine():
    X, y = documents(n_classes=3, seed=10)
    fits = {
        name: WeightSelector("lr", k=9, combine=name).fit(X, y) for name in ("max", "mean", "round_robin")
    }
    weights = np.abs([get_learner("lr").fit(X, y == c).coef_[0] for c in range(3)])
    np.testing.assert_allclose(fits["max"].scores_, weights.max(axis=0))
    np.testing.assert_allclose(fits["mean"].scores_, np.bincount(y) / len(y) @ weights)
    np.testing.assert_array_equal(fits["round_robin"].ranking_[:3], weights.argmax(axis=1))


@pytest.mark.parametrize(
    "limit", [{"sparsity": 3.0}, {"memory": 4000}, {"fraction": 0.2}, {"threshold": 0.4}]
)
def test_weight_rankings_take_every_cut_off(limit):
    X, y = documents(seed=11)
    selector = WeightSelector("lr", **limit).fit(X, y)
    n = len(selector.selected_)
    np.testing.assert_array_equal(selector.selected_, selector.ranking_[:n])
    cells = np.cumsum((X > 0).sum(axis=0).A1[selector.ranking_])
    if "sparsity" in limit:
        assert cells[n - 1] / len(y) <= 3.0 < cells[n] / len(y)
    if "memory" in limit:
        used = sparse.csr_matrix(X[:, selector.selected_], dtype=np.float64)
        used.indices, used.indptr = used.indices.astype(np.int32), used.indptr.astype(np.int32)
        assert used.data.nbytes + used.indices.nbytes + used.indptr.nbytes <= 4000
        assert cells[n] * 12 + (len(y) + 1) * 4 > 4000
    if "fraction" in limit:
        assert n == round(0.2 * len(selector.ranking_))
    if "threshold" in limit:
        assert n == (selector.scores_[selector.ranking_] >= 0.4).sum() > 0


def test_the_sample_is_a_stratified_share_of_the_documents():
    member = np.array([True] * 40 + [False] * 160)
    rows = sample_rows(member, 1 / 4, 0)
    assert member[rows].sum() == 10
    assert len(rows) == len(set(rows)) == 50
    assert sample_rows(np.array([True] + [False] * 9), 1 / 16, 0).shape == (2,)
    np.testing.assert_array_equal(sample_rows(member, 1.0, 0), np.arange(200))
    plain = [sample_rows(member, 1 / 4, seed, stratify=False) for seed in range(20)]
    assert {len(rows) for rows in plain} == {50}
    assert len({int(member[rows].sum()) for rows in plain}) > 1
    X, y = documents(seed=12)
    selector = WeightSelector("lr", sample=0.5, k=5, random_state=3).fit(X, y)
    rows = sample_rows(y == 1, 0.5, 3)
    np.testing.assert_allclose(selector.weights_[0], get_learner("lr").fit(X[rows], y[rows]).coef_[0])
    for share in (0, 1.5, "half"):
        with pytest.raises(ParameterError, match="sample must be"):
            WeightSelector(sample=share).fit(X, y)


def test_all_work_in_cross_validated_pipelines_with_names_and_frames():
    import pandas as pd

    X, y = documents(seed=13)
    frame = pd.DataFrame(X.toarray(), columns=[f"word{i}" for i in range(X.shape[1])])
    labels = np.where(y == 1, "spam", "ham")
    for selector in (
        RatioSelector(k=5, ratios=(0, 1)),
        WFOSelector(k=5, lambdas=(0, 1)),
        WeightSelector(k=5),
    ):
        fitted = clone(selector).fit(frame, labels)
        assert len(fitted.get_feature_names_out()) == 5
        assert all(name.startswith("word") for name in fitted.get_feature_names_out())
        values = cross_val_score(make_pipeline(selector, MultinomialNB()), X, labels, cv=3)
        assert values.shape == (3,)


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (RatioSelector(k=0), "k must be a whole number"),
        (RatioSelector(ratios=()), "ratios must be one or more numbers"),
        (RatioSelector(ratios=(0.5, 1.5)), "ratios must lie between 0 and 1"),
        (RatioSelector(tune="folds"), "tune 'folds' is unknown"),
        (RatioSelector(learner="bayes"), "learner 'bayes' is unknown"),
        (RatioSelector(metric="ccc"), "metric 'ccc' is unknown; did you mean 'cc'"),
        (RatioSelector(goal=3), "goal must be a name or a scorer, not int"),
        (WFOSelector(lambdas=(-1,)), "lambdas must lie between 0 and 1"),
        (WFOSelector(combine="sum"), "combine 'sum' is unknown"),
        (WeightSelector(combine="joint"), "combine 'joint' is unknown"),
        (WeightSelector("nb"), "has no weights"),
        (WeightSelector(k=3, sparsity=2), "give one cut-off, not k and sparsity together"),
        (RatioClassifier(selector=3), "selector must be a RatioSelector, not int"),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(selector, message):
    X, y = documents(seed=14)
    with pytest.raises(ParameterError, match=message):
        selector.fit(X, y)


def test_a_target_without_labels_is_refused():
    for selector in (RatioSelector(), WFOSelector(), WeightSelector()):
        with pytest.raises(InputError, match=r"no label|no class"):
            selector.fit([[1, 0], [0, 1]], [(), ()])


@pytest.mark.slow
@pytest.mark.corpora
def test_reuters_tables_of_zheng2004(data_dir):
    """Micro F1 with naive Bayes on 50 terms, 58 categories; in the paper .671, .770 and .740."""
    train, test = read(data_dir / "reuters21578", format="reuters").split()
    options = {"token_pattern": r"(?u)\b[^\W\d_]{2,}\b", "stop_words": "english"}
    X, terms = term_matrix(train, min_df=3, **options)
    assert X.shape == (7770, 9909)
    X_test, _ = term_matrix(test, vocabulary=terms, **options)
    sizes = train.class_sizes
    categories = sorted(sizes, key=lambda name: (-sizes[name], name))[2:60]
    pooled = np.zeros((3, 3))
    for name in categories:
        y, y_test = (
            np.array([name in labels for labels in part.labels]).astype(int) for part in (train, test)
        )
        practical = RatioSelector(k=50, tune="train").fit(X, y)
        chi = rank(score(practical.counts_.take([1]), "chi")).order[:50]
        cc = score(practical.counts_.take([1]), "cc")
        ideal = [rank(cc, ratio=ratio).order[:50] for ratio in practical.ratios]
        values = decision_sets("nb(quotient)", X, y, X_test, [chi, practical.selected_, *ideal])
        found = break_even(y_test, values)
        best = 2 + middle_of_best(f1(*found)[2:])
        for row, at in enumerate((0, best, 1)):
            pooled[row] += found.tp[at], found.fp[at], found.fn[at]
    np.testing.assert_allclose(f1(*pooled.T), [0.680, 0.757, 0.732], atol=0.015)
