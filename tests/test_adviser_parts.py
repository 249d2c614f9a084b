"""The parts of the adviser: goals against scikit-learn, thresholds, folds, intervals, exact pipelines."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from termsieve import Corpus, TermVectorizer
from termsieve.adviser.decisions import Decision, ThresholdTally, TiltTally
from termsieve.adviser.folds import Task
from termsieve.adviser.goals import get_goal
from termsieve.adviser.portfolio import METHODS, REFERENCE, Budget, Setting, Size, portfolio
from termsieve.adviser.prior import (
    REFERENCE_KEY,
    Prior,
    features_of,
    prior_for,
    prior_key,
    risk,
    standardised,
)
from termsieve.adviser.promise import Difference
from termsieve.adviser.question import asked
from termsieve.adviser.race import Race
from termsieve.adviser.rivals import rival_verdicts
from termsieve.adviser.verdicts import Verdicts, joined
from termsieve.models import Model, load_model

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SCORES = {
    "f1": metrics.f1_score,
    "f2": lambda *given, **options: metrics.fbeta_score(*given, beta=2, **options),
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
}


@pytest.mark.parametrize("name", SCORES)
def test_figures_are_scikit_learns(name):
    generator, goal = np.random.default_rng(1), get_goal(name)
    truth, said = generator.random((2, 60, 1)) < 0.4
    options = {"zero_division": 0}
    assert Verdicts(truth, said, True).figure(goal) == pytest.approx(
        SCORES[name](truth[:, 0], said[:, 0], **options)
    )
    codes, guesses = generator.integers(0, 3, size=(2, 60))
    several = Verdicts(codes[:, None] == np.arange(3), guesses[:, None] == np.arange(3), True)
    assert several.figure(goal) == pytest.approx(SCORES[name](codes, guesses, average="macro", **options))
    assert several.figure(get_goal("accuracy")) == pytest.approx(metrics.accuracy_score(codes, guesses))
    assert several.figure(get_goal("micro_f1")) == pytest.approx(
        metrics.f1_score(codes, guesses, average="micro")
    )
    truth, said = generator.random((2, 60, 3)) < 0.4
    labels = Verdicts(truth, said, False)
    assert labels.figure(goal) == pytest.approx(SCORES[name](truth, said, average="macro", **options))
    assert labels.figure(get_goal("accuracy")) == pytest.approx((truth == said).mean())


@pytest.mark.parametrize(
    ("name", "oracle"),
    [("average_precision", metrics.average_precision_score), ("roc_auc", metrics.roc_auc_score)],
)
def test_figures_of_the_order_are_scikit_learns(name, oracle):
    generator = np.random.default_rng(2)
    truth = generator.random((80, 1)) < 0.3
    values = np.round(generator.normal(size=(80, 1)) + truth, 1)  # with ties
    verdicts = Verdicts(truth, values > 0, True, values)
    assert verdicts.figure(get_goal(name)) == pytest.approx(oracle(truth[:, 0], values[:, 0]))
    weights = generator.integers(0, 3, size=(1, 80))
    assert verdicts.resampled(get_goal(name), weights)[0] == pytest.approx(
        oracle(truth[:, 0], values[:, 0], sample_weight=weights[0])
    )


def test_goals_with_bounds_and_costs():
    truth = np.array([[1], [1], [1], [1], [0], [0]], dtype=bool)
    said = np.array([[1], [1], [0], [0], [1], [0]], dtype=bool)
    verdicts = Verdicts(truth, said, True)
    assert verdicts.figure(get_goal("recall(precision=0.5)")) == pytest.approx(0.5)
    assert verdicts.figure(get_goal("recall(precision=0.8)")) == pytest.approx(0.5 * (2 / 3) / 0.8)
    assert verdicts.figure(get_goal("precision(recall=1)")) == pytest.approx((2 / 3) * 0.5)
    assert verdicts.figure(get_goal("cost(fp=1, fn=5)")) == pytest.approx(1 - 11 / 22)
    assert str(get_goal("recall(precision=0.8)")) == "recall(precision=0.8)"


def test_a_class_without_documents_is_left_out_of_the_mean():
    truth = np.array([[1, 0], [1, 0], [0, 0]], dtype=bool)
    said = np.array([[1, 0], [0, 0], [0, 1]], dtype=bool)
    assert Verdicts(truth, said, False).figure(get_goal("recall")) == 0.5


def tallied(seed=3, n=400, shift=-1.0):
    generator = np.random.default_rng(seed)
    truth = generator.random((n, 1)) < 0.15
    values = generator.normal(size=(n, 1)) + 2.0 * truth + shift
    return values, truth, np.arange(n) % 5


def test_counts_above_thresholds_are_those_of_the_documents():
    values, truth, fold = tallied()
    tally = ThresholdTally(values, truth, fold, 5, get_goal("f1"))
    for fold_number in range(5):
        for j in (0, 50, 111, 202):
            inside = (fold == fold_number) & (values[:, 0] > tally.grids[0][j])
            found = tally.above[fold_number, 0, j]
            assert found.tolist() == [(inside & truth[:, 0]).sum(), (inside & ~truth[:, 0]).sum()]
    assert tally.grids[0][tally.zero[0]] == 0.0


def test_a_tuned_threshold_beats_a_wrong_one_on_other_documents():
    values, truth, fold = tallied(shift=-2.5)
    goal = get_goal("f1")
    tally = ThresholdTally(values, truth, fold, 5, goal)
    own, tuned = (tally.cross_sums(range(5), way)[0] for way in (False, True))
    assert (
        goal.figures(tuned[None], np.array([400]), True)[0]
        > goal.figures(own[None], np.array([400]), True)[0]
    )
    fresh, actual, _ = tallied(seed=9, shift=-2.5)
    decision = tally.decision(range(5), True)
    said = decision.said(fresh, np.zeros((400, 1)), False)
    assert Verdicts(actual, said, True).figure(goal) > Verdicts(actual, fresh > 0, True).figure(goal)


def test_each_fold_is_cut_where_the_others_suggest():
    values, truth, fold = tallied()
    tally = ThresholdTally(values, truth, fold, 5, get_goal("f1"))
    tp = 0
    for number in range(5):
        decision = tally.decision([f for f in range(5) if f != number], True)
        tp += (truth & decision.said(values, np.zeros((400, 1)), False))[fold == number].sum()
    assert tally.cross_sums(range(5), True)[0][0, 0] == tp


def test_a_tilt_helps_rare_classes():
    generator = np.random.default_rng(4)
    codes = generator.choice(3, size=600, p=[0.8, 0.15, 0.05])
    shares = np.log(np.bincount(codes) / 600)
    values = generator.normal(size=(600, 3)) + 2.0 * (codes[:, None] == np.arange(3)) + 0.8 * shares
    truth, fold = codes[:, None] == np.arange(3), np.arange(600) % 5
    tally = TiltTally(values, truth, fold, 5, get_goal("f1"), np.tile(shares, (600, 1)))
    decision = tally.decision(range(5), True)
    assert decision.tilt > 0.3
    said = decision.said(values, np.tile(shares, (600, 1)), True)
    plain = Decision().said(values, np.tile(shares, (600, 1)), True)
    assert Verdicts(truth, said, True).figure(get_goal("f1")) > Verdicts(truth, plain, True).figure(
        get_goal("f1")
    )


def simulated(n, generator, hit=0.8, alarm=0.1):
    truth = generator.random((n, 1)) < 0.3
    said = generator.random((n, 1)) < np.where(truth, hit, alarm)
    return Verdicts(truth, said, True)


def test_the_order_is_that_within_each_fold():
    """A fold whose model gives higher values throughout must not come first."""
    generator = np.random.default_rng(3)
    truth = generator.random((200, 1)) < 0.5
    values = truth + generator.normal(size=(200, 1)) * 0.3
    goal = get_goal("average_precision")
    alone = Verdicts(truth, values > 0.5, True, values).figure(goal)
    halves = [
        Verdicts(truth[rows], values[rows] > 0.5, True, scale * values[rows] + shift)
        for rows, scale, shift in ((slice(0, 100), 1.0, 0.0), (slice(100, 200), 10.0, 30.0))
    ]
    assert joined(halves).figure(goal) == pytest.approx(alone, abs=0.01)
    assert joined(halves).values[:100].max() == joined(halves).values[100:].max() == 1.0


def test_differences_say_how_surely():
    generator = np.random.default_rng(5)
    good = simulated(200, generator, hit=0.95, alarm=0.02)
    bad = Verdicts(good.truth, np.roll(good.said, 1), True)
    gap = Difference.of(good, bad, get_goal("f1"))
    assert gap.mean > 0.3
    assert gap.chance > 0.99
    assert Difference.of(good, good, get_goal("f1")).chance == 0.5


def test_folds_keep_groups_together_and_classes_spread():
    generator = np.random.default_rng(6)
    group = generator.integers(0, 40, size=200)
    truth = generator.random((200, 1)) < 0.3
    task = Task(np.zeros((200, 1)), truth, True, group=group)
    fold = task.fold_numbers(5, generator)
    assert all(len(set(fold[group == g])) == 1 for g in set(group))
    assert np.ptp(np.bincount(fold)) <= 20
    plain = Task(np.zeros((200, 1)), truth, True).fold_numbers(5, generator)
    assert np.ptp(np.bincount(plain[truth[:, 0]])) <= 1


def test_with_times_no_fold_trains_on_later_documents():
    times = np.random.default_rng(7).permutation(100)
    task = Task(np.zeros((100, 1)), np.arange(100)[:, None] % 2 == 0, True, time=times)
    splits = list(task.splits(task.fold_numbers(5, np.random.default_rng(0))))
    assert len(splits) == 4
    assert all(times[train].max() < times[test].min() for _, train, test in splits)


def test_budgets_give_sizes_to_try():
    assert Budget.of(100, 60, None, None).sizes(5000) == [Size("k", 20), Size("k", 50), Size("k", 60)]
    budget = Budget.of(100, None, 10.0, None).sizes(5000)
    assert [size.value for size in budget] == [1.0, 2.0, 5.0, 10.0]


def test_what_is_known_of_other_corpora_counts_less_with_more_documents():
    prior = Prior({"a": 0.1}, 100.0)
    assert [prior.trust(n) for n in (0, 100, 900)] == [0.0, 0.5, 0.9]
    words = sparse.csr_matrix(np.ones((60, 3)))
    for n_classes in (1, 3):
        task = Task(words, np.arange(60)[:, None] % 3 == np.arange(n_classes), True)
        for goal in ("f1", "f2", "accuracy", "recall", "micro_f1"):
            table = prior_for(task, get_goal(goal))
            gains = [table.gain(s, tuned) for s in portfolio(True) for tuned in (False, True)]
            assert max(gains) >= 0 > min(gains)
    few, many = (
        Setting(portfolio(False)[0].representation, "svm", "weights", Size("k", k)) for k in (20, 2000)
    )
    assert risk(few) > risk(many) > 0 == risk(portfolio(False)[0])


def coloured(n_docs, classes, seed=0):
    generator = np.random.default_rng(seed)
    labels = generator.choice(classes, size=n_docs)
    texts = []
    for label in labels:
        words = [f"noise{i}" for i in generator.integers(0, 60, size=10)]
        words += [f"{label}{i}" for i in range(4) if generator.random() < 0.5]
        texts.append(" ".join([*words, f"rare{generator.integers(0, 300)}"]))
    return texts, labels.tolist()


@pytest.mark.parametrize("kind", ["two", "target", "classes", "labels"])
def test_every_pipeline_says_what_the_race_recorded(kind, tmp_path):
    """Every representation, learner, method and way to decide, fitted to a fold's training documents."""
    texts, labels = coloured(100, ["ham", "spam"] if kind == "two" else ["red", "green", "blue"])
    if kind == "labels":
        labels = [(label, "extra") if i % 3 else (label,) for i, label in enumerate(labels)]
    target = "red" if kind == "target" else None
    task = asked(Corpus(texts, labels), target, {}).task
    race = Race(task, get_goal("f1"), 3, np.random.default_rng(1))
    settings = portfolio(pairs=True)
    settings += [
        Setting(s.representation, s.learner, method, Size("k", 30))
        for s in (settings[2], settings[12], settings[-1])
        for method in METHODS
    ]
    settings += [replace(s, documents=0.5) for s in settings[-len(METHODS) :]]
    for number in race.folds:
        race.run(settings, number)
    train, test = race.splits[0]
    for choice in race.ranked(settings, race.folds):
        options = {"ngram_range": (1, 2)} if choice.setting.representation.pairs else {}
        model = make_pipeline(TermVectorizer(**options), choice.setting.model(choice.decision, target))
        said = model.fit([texts[i] for i in train], [labels[i] for i in train]).predict(
            [texts[i] for i in test]
        )
        if kind == "labels":
            flags = said.astype(bool)
        elif kind == "classes":
            flags = said[:, None] == np.array(["blue", "green", "red"])
        else:
            flags = (said == ("spam" if kind == "two" else "red"))[:, None]
        assert flags.tolist() == race.said(choice, 0)[0].tolist(), str(choice)
    Model(model).save(tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops").pipeline.predict([texts[i] for i in test])
    assert again.tolist() == said.tolist()


def test_a_term_that_a_fold_lacks_is_in_neither_model():
    """A column without training documents must not count, neither in lengths nor in smoothing."""
    texts, labels = coloured(60, ["ham", "spam"], seed=2)
    texts = [*texts, "ham0 ham1 onlyhere onlyhere onlyhere", "spam0 spam1 noise1"]
    task = asked(Corpus(texts, [*labels, "ham", "spam"]), None, {}).task
    race = Race(task, get_goal("f1"), 2, np.random.default_rng(0))
    setting = portfolio(False)[1]
    for number in race.folds:
        race.run([setting], number)
    for number, (train, test) in race.splits.items():
        vectorizer = TermVectorizer()
        X = vectorizer.fit_transform([texts[i] for i in train])
        model = setting.model(Decision()).fit(X, np.array([*labels, "ham", "spam"])[train])
        values = model.decision_function(vectorizer.transform([texts[i] for i in test]))
        assert race.standings[setting].values[test, 0] == pytest.approx(values, abs=1e-3)
        assert number in race.standings[setting].folds


def benchmark(name):
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location(f"{name}_benchmark", BENCHMARKS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(BENCHMARKS))


def prior_rows(gain, n_corpora=8):
    """Rows of draws whose first setting gains so much over the reference, by the place of the corpus."""
    keys = [prior_key(s, True) for s in portfolio(False)[:3]] + [REFERENCE_KEY]
    generator = np.random.default_rng(3)
    rows = []
    for c in range(n_corpora):
        for _ in range(3):
            place = generator.normal()
            hidden = [0.5 + gain(place, generator), 0.5, 0.5, 0.5]
            figures = {key: [0.5, figure] for key, figure in zip(keys, hidden, strict=True)}
            rows.append(
                {"corpus": str(c), "features": {"skew": place, "classes": 0.0}, "documents": 100.0,
                 "figures": figures}
            )  # fmt: skip
    return keys, rows


def test_the_prior_is_the_mean_where_features_tell_nothing_and_follows_them_where_they_do():
    module = benchmark("adviser_prior")
    keys, rows = prior_rows(lambda place, generator: 0.03 * place + generator.normal(0.02, 0.002))
    features = module.known_features(rows)
    assert list(features) == ["skew"]  # a feature that is always the same tells nothing
    plain, fitted = (module.fitted_gains(rows, features, ridge) for ridge in (np.inf, 0.3))
    gains = [row["figures"][keys[0]][1] - 0.5 for row in rows]
    assert plain[keys[0]] == pytest.approx([np.mean(gains), 0.0])
    assert fitted[keys[0]][1] == pytest.approx(0.03 * features["skew"][1], rel=0.15)
    assert fitted[REFERENCE_KEY] == [0.0, 0.0]
    assert module.left_out_error({"f1": rows}, features, 0.3) < 0.2
    _, noise = prior_rows(lambda place, generator: generator.normal(0.02, 0.02))
    assert module.left_out_error({"f1": noise}, features, 0.3) > 1.0
    assert module.left_out_error({"f1": noise}, features, np.inf) == 1.0


def test_the_prior_chooses_the_setting_that_wins_everywhere():
    module = benchmark("adviser_prior")
    _, rows = prior_rows(lambda place, generator: 0.06)
    features = module.known_features(rows)
    figures = module.left_out_figures(rows, features, np.inf)
    assert figures[1:] == pytest.approx([0.56] * (len(module.TRUSTED) - 1))


def test_features_beyond_those_of_the_draws_count_as_the_farthest():
    assert standardised({"skew": 9.0}, {"skew": [1.0, 2.0]}).tolist() == [2.0]
    assert standardised({"skew": 2.0}, {"skew": [1.0, 2.0]}).tolist() == [0.5]
    task = Task(sparse.csr_matrix(np.ones((64, 4))), np.arange(64)[:, None] < 16, True)
    expected = {"documents": 6.0, "classes": 0.0, "skew": np.log2(3), "terms per document": 2.0}
    assert features_of(task) == pytest.approx(expected)


def test_the_gain_of_a_value_of_c_between_two_known_ones_is_between_theirs():
    low, high = (REFERENCE.with_strength(C) for C in (1.0, 3.0))
    prior = Prior({prior_key(low, True): 0.01, prior_key(high, True): 0.03}, 100.0)
    assert prior.gain(REFERENCE.with_strength(1.7), True) == pytest.approx(0.02, abs=0.001)
    assert prior.gain(REFERENCE.with_strength(5.5), True) == 0.03
    assert prior.gain(REFERENCE, False) == 0.01


@pytest.mark.parametrize("kind", ["several labels", "one class", "three classes", "two classes"])
def test_a_rival_without_texts_says_for_each_fold_what_the_nearest_document_of_the_others_has(kind):
    # Documents come in pairs, one per fold, so the nearest one has the labels of the document itself.
    X = sparse.csr_array(np.repeat(np.eye(6), 2, axis=0))
    names = {
        "several labels": [["a"], ["a", "b"], [], ["c"], ["b", "c"], ["b"]],
        "one class": ["a", "b", "c", "a", "b", "c"],
        "three classes": ["a", "b", "c", "a", "b", "c"],
        "two classes": ["a", "b", "b", "a", "b", "a"],
    }[kind]
    labels = [name for name in names for _ in range(2)]
    classes = {"one class": "b", "two classes": "b"}.get(kind, "abc")
    truth = np.array([[name in label for name in classes] for label in labels])
    target = "b" if kind == "one class" else None
    even, odd = np.arange(0, 12, 2), np.arange(1, 12, 2)
    race = SimpleNamespace(
        task=SimpleNamespace(truth=truth, one_label=kind == "three classes"),
        splits={0: (even, odd), 1: (odd, even)},
    )
    corpus = Corpus(None, labels, matrix=X, terms=list("uvwxyz"))
    found = rival_verdicts(KNeighborsClassifier(1), corpus, np.arange(12), race, target)
    assert (found.said == truth).all()
    assert (found.truth == truth).all()
