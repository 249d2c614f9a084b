"""The adviser: its figures against scikit-learn, its honesty on noise, its budgets, and its pipeline."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics

import termsieve.adviser as adviser
from termsieve import Corpus, TermsieveError, advise, term_matrix
from termsieve.adviser.advice import Candidate
from termsieve.adviser.figures import Verdicts, chance_to_win, interval
from termsieve.adviser.portfolio import ALL, Arm, Budget, Size, portfolio
from termsieve.adviser.racing import Fold, Question, race

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "adviser.py"
SCORES = {
    "f1": metrics.f1_score,
    "f2": lambda *given, **options: metrics.fbeta_score(*given, beta=2, **options),
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
}


def documents(n_docs=150, classes=("ham", "spam"), shares=None, seed=0, strength=0.5):
    """Texts of noise words, with some words that tell the class."""
    generator = np.random.default_rng(seed)
    labels = generator.choice(classes, size=n_docs, p=shares)
    texts = []
    for label in labels:
        words = [f"noise{i}" for i in generator.integers(0, 80, size=12)]
        words += [f"{label}{i}" for i in range(4) if generator.random() < strength]
        texts.append(" ".join(words))
    return texts, labels.tolist()


@pytest.fixture(scope="module")
def mail():
    return Corpus(*documents(shares=[0.8, 0.2]), name="mail")


@pytest.fixture(scope="module")
def advice(mail):
    return advise(mail)


@pytest.mark.parametrize("goal", SCORES)
def test_figures_are_scikit_learns(goal):
    generator = np.random.default_rng(1)
    truth, said = generator.random((2, 60, 1)) < 0.4
    options = {"zero_division": 0}
    assert Verdicts(truth, said, True).figure(goal) == pytest.approx(
        SCORES[goal](truth[:, 0], said[:, 0], **options)
    )
    codes, guesses = generator.integers(0, 3, size=(2, 60))
    several = Verdicts(codes[:, None] == np.arange(3), guesses[:, None] == np.arange(3), True)
    assert several.figure(goal) == pytest.approx(SCORES[goal](codes, guesses, average="macro", **options))
    assert several.figure("accuracy") == pytest.approx(metrics.accuracy_score(codes, guesses))
    truth, said = generator.random((2, 60, 3)) < 0.4
    labels = Verdicts(truth, said, False)
    assert labels.figure(goal) == pytest.approx(SCORES[goal](truth, said, average="macro", **options))
    assert labels.figure("accuracy") == pytest.approx((truth == said).mean())


def test_a_class_without_documents_is_left_out_of_the_mean():
    truth = np.array([[1, 0], [1, 0], [0, 0]], dtype=bool)
    said = np.array([[1, 0], [0, 0], [0, 1]], dtype=bool)
    assert Verdicts(truth, said, False).figure("recall") == 0.5


def test_resampling_by_one_is_the_figure_itself():
    generator = np.random.default_rng(2)
    truth, said = generator.random((2, 40, 2)) < 0.5
    verdicts = Verdicts(truth, said, False)
    assert verdicts.resampled("f1", np.ones((1, 40), dtype=np.int64))[0] == pytest.approx(
        verdicts.figure("f1")
    )
    twice = np.repeat(np.arange(40), 2)
    doubled = Verdicts(truth[twice], said[twice], False)
    assert doubled.figure("f1") == pytest.approx(verdicts.figure("f1"))


def simulated(n, generator, hit=0.8, alarm=0.1):
    truth = generator.random((n, 1)) < 0.3
    said = generator.random((n, 1)) < np.where(truth, hit, alarm)
    return Verdicts(truth, said, True)


def test_the_interval_contains_the_figure_of_further_documents():
    generator = np.random.default_rng(3)
    inside = 0
    for _ in range(40):
        low, high = interval(simulated(200, generator), "f1", 100)
        inside += low <= simulated(100, generator).figure("f1") <= high
    assert inside >= 37


def test_more_documents_make_a_narrower_interval():
    generator = np.random.default_rng(4)
    verdicts = simulated(300, generator)
    widths = [np.diff(interval(verdicts, "f1", n))[0] for n in (20, 100, 1000)]
    assert widths == sorted(widths, reverse=True)
    assert np.diff(interval(verdicts, "f1", 100, level=0.5))[0] < widths[1]


def test_widening_multiplies_the_distances_from_the_figure():
    verdicts = simulated(300, np.random.default_rng(8))
    centre = verdicts.figure("f1")
    narrow, wide = (np.array(interval(verdicts, "f1", 100, widening=factor)) for factor in (1.0, 1.5))
    assert wide - centre == pytest.approx(1.5 * (narrow - centre))
    assert interval(verdicts, "f1", 100, widening=50.0) == (0.0, 1.0)


def test_no_mistake_seen_is_no_promise_of_none():
    truth = np.arange(40)[:, None] < 10
    low, high = interval(Verdicts(truth, truth, True), "f1", 40)
    assert 0.3 < low < 1.0
    assert high == 1.0


def test_chances_to_win():
    generator = np.random.default_rng(5)
    good, bad = simulated(200, generator, hit=0.95, alarm=0.02), simulated(200, generator, hit=0.4)
    bad = Verdicts(good.truth, np.roll(good.said, 1), True)
    assert chance_to_win(good, good, "f1", generator) == 1.0
    assert chance_to_win(good, bad, "f1", generator) < 0.01


def test_every_goal_and_skew_has_a_portfolio():
    for goal in adviser.GOALS:
        arms = portfolio(goal, skew=1.0)
        assert len(set(arms)) == len(arms)
        assert {arm.learner for arm in arms if arm.method is None} == {"svm", "nb", "lr"}
        assert set(arms) < set(portfolio(goal, skew=50.0))


def test_the_choice_is_what_the_words_suggest(advice):
    assert advice.figure > 0.8
    assert advice.cost.terms < 80
    assert 0 <= advice.interval()[0] <= advice.figure <= advice.interval()[1] <= 1
    assert advice.problem == "spam against ham"
    assert advice.figures["f1"] == advice.figure
    assert len(advice.evidence.outer_choices) == 5


def test_the_promise_on_noise_is_chance():
    """The best of many candidates looks good on the documents it was chosen by, but not in the promise."""
    chosen, promised = [], []
    for seed in range(3):
        texts, _ = documents(100, seed=seed, strength=0.0)
        labels = np.random.default_rng(seed + 50).choice(["a", "b"], size=100)
        found = advise(Corpus(texts, labels), "accuracy", random_state=seed)
        chosen.append(found.choice.figures["accuracy"])
        promised.append(found.figure)
    assert np.mean(chosen) > 0.55
    assert 0.4 < np.mean(promised) < 0.56


@pytest.mark.parametrize(
    ("gave_way", "sentence"),
    [
        (True, "Selections led in cross-validation, but on unseen documents fell behind all"),
        (False, "on documents that the choice never saw"),
    ],
)
def test_all_features_are_explained(advice, gave_way, sentence):
    full = Candidate(Arm(None, "svm"), ALL, 90.0, advice.choice.figures)
    told = replace(advice, choice=full, evidence=replace(advice.evidence, gave_way=gave_way)).explanation()
    assert "Use all features with svm" in told
    assert sentence in told


@pytest.mark.parametrize(("budget", "lost", "expected"), [(None, 8, True), (None, 0, False), (20, 8, False)])
def test_a_choice_that_falls_behind_all_features_gives_way(mail, budget, lost, expected):
    """Where the choice missed `lost` more documents of 40 than all features did; not against a budget."""
    task, _ = adviser._task(mail, None, {})
    question = Question(task, "recall", Budget.of(len(mail), budget, None, None), 1)
    outcome = race(question, np.arange(len(mail)), portfolio("recall", 4.0), np.random.default_rng(0))
    assert outcome.winner.arm.method is not None
    truth = np.ones((40, 1), dtype=bool)
    own, full = Verdicts(truth, np.arange(40)[:, None] >= lost, True), Verdicts(truth, truth, True)
    preferred, verdicts = adviser._preferred(question, outcome, own, full)
    assert (preferred.winner.arm.method is None) == expected
    assert verdicts is (full if expected else own)


def test_the_pipeline_does_what_was_measured(mail, advice):
    """Fitted to training documents, it says of the others what the adviser's own evaluation says."""
    task, _ = adviser._task(mail, None, {})
    question = Question(task, "f1", Budget.of(len(mail), None, None, None), advice._recipe.min_df)
    train, test = np.arange(0, 100), np.arange(100, 150)
    fold = Fold(question, train, test)
    (verdicts,), _ = fold.verdicts(advice.choice.arm, [advice.choice.size])
    model = advice.pipeline().fit([mail.texts[i] for i in train], mail.labels[train].tolist())
    said = model.predict([mail.texts[i] for i in test])
    assert (said == "spam").tolist() == verdicts.said[:, 0].tolist()


def test_advice_on_several_classes(mail):
    texts, labels = documents(150, classes=("red", "green", "blue"), seed=3)
    found = advise(Corpus(texts, labels), minutes=0.02)
    assert found.problem == "3 classes"
    said = found.pipeline().fit(texts, labels).predict(texts)
    assert metrics.f1_score(labels, said, average="macro") > 0.8
    against = advise(Corpus(texts, labels), "recall", target="red", minutes=0.01)
    assert against.problem == "red against the rest"


def test_advice_on_several_labels_a_document():
    texts, labels = documents(120, classes=("red", "green", "blue"), seed=4)
    tuples = [(label, "coloured") if i % 3 else (label,) for i, label in enumerate(labels)]
    found = advise(Corpus(texts, tuples), minutes=0.01)
    assert found.problem == "4 labels"
    truth = np.array([[label in given for label in ("blue", "coloured", "green", "red")] for given in tuples])
    said = found.pipeline().fit(texts, truth.astype(int)).predict(texts)
    assert said.shape == truth.shape


def test_advice_on_a_matrix_is_for_matrices():
    generator = np.random.default_rng(6)
    y = generator.integers(0, 2, size=120)
    X = sparse.csr_matrix(
        (generator.random((120, 30)) < np.where(y[:, None] & (np.arange(30) < 5), 0.7, 0.2)) * 2
    )
    found = advise(Corpus(matrix=X, labels=y), minutes=0.01)
    assert found.pipeline().fit(X, y).score(X, y) > 0.7
    assert found.selector().fit(X, y).get_support().sum() == found.cost.terms


@pytest.mark.parametrize(
    ("budget", "cost", "limit"),
    [
        ({"budget_terms": 7}, "terms", 7),
        ({"budget_sparsity": 1.5}, "sparsity", 1.5),
        ({"budget_memory": 3000}, "matrix_bytes", 3000),
    ],
)
def test_budgets_are_kept(mail, budget, cost, limit):
    found = advise(mail, **budget)
    assert getattr(found.cost, cost) <= limit
    assert found.choice.arm.method is not None
    X, _ = term_matrix(mail, binary=True)
    chosen = found.selector().fit(X, mail.labels.tolist()).get_support()
    assert chosen.sum() == found.cost.terms


def test_a_budget_of_terms_is_a_size_to_try():
    budget = Budget.of(100, 30, None, None)
    assert budget.sizes(5000) == [Size("k", 10), Size("k", 20), Size("k", 30)]


def test_little_time_tries_less_and_says_so(mail):
    found = advise(mail, minutes=0.0001)
    assert found.evidence.not_tried
    assert len(found.evidence.outer_choices) == 2
    assert 0 <= found.figure <= 1


def test_equal_seeds_give_equal_advice(mail, advice):
    again = advise(mail).to_dict()
    first = advice.to_dict()
    for facts in (again, first):
        facts.pop("seconds")
        facts["cost"] = {k: v for k, v in facts["cost"].items() if k != "predict_seconds"}
    assert json.dumps(again) == json.dumps(first)


def test_the_advice_explains_itself(advice):
    told = advice.explanation()
    assert told.count(". ") == 2
    assert f"{advice.figure:.3f}" in told
    assert f"{advice.all_features:.3f}" in told
    assert repr(advice).startswith("<Advice for spam against ham: ")
    assert [row[""] for row in advice.summary()] == ["recommended", "all features", "runner-up"]


def test_the_report_holds_the_advice_and_escapes_labels(tmp_path):
    texts, labels = documents(60, classes=("<b>", "&x"), seed=7)
    found = advise(Corpus(texts, labels), minutes=0.001)
    page = found.report(tmp_path / "advice.html")
    assert (tmp_path / "advice.html").read_text(encoding="utf-8") == page
    assert "<b> against" not in page
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"goal": "win"}, "goal 'win' is unknown"),
        ({"target": "eggs"}, "class 'eggs' is unknown"),
        ({"budget_terms": 0}, "k must be a whole number"),
        ({"budget_terms": 5, "budget_sparsity": 2}, "give one budget"),
        ({"budget_memory": 1}, "a budget of memory=1 leaves no word; allow more"),
        ({"budget_sparsity": 1e-4}, "a budget of sparsity=0.0001 leaves no word"),
        ({"minutes": -1}, "minutes must be a number above 0"),
        ({"held_out": 0}, "held_out must be"),
    ],
)
def test_wrong_questions_are_refused(mail, options, sentence):
    with pytest.raises(TermsieveError, match=sentence):
        advise(mail, **options)


def test_the_calibrated_factor_puts_the_needed_share_inside():
    """With n draws the factor must hold for the ceil(.95 (n + 1)) best of them, itself the last."""
    spec = importlib.util.spec_from_file_location("adviser_benchmark", BENCHMARK)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    generator = np.random.default_rng(9)
    rows = [
        {"promised": 0.5, "raw_low": 0.4, "raw_high": 0.7, "figure": figure}
        for figure in generator.uniform(0, 1, size=59)
    ]
    factor = benchmark.calibrated_factor(rows)
    low, high = 0.5 - 0.1 * factor, 0.5 + 0.2 * factor
    inside = [low - 1e-12 <= row["figure"] <= high + 1e-12 for row in rows]
    assert sum(inside) == 57
    assert benchmark.calibrated_factor(rows[:18]) == np.inf
    certain = {"promised": 1.0, "raw_low": 0.9, "raw_high": 1.0, "figure": 1.0}
    assert benchmark.needed_factor(certain) == 0


def test_too_few_documents_are_refused():
    with pytest.raises(TermsieveError, match="too few documents"):
        advise(Corpus(["a", "b"] * 10, ["x"] * 18 + ["y"] * 2))
    with pytest.raises(TermsieveError, match="only one class 'x'; to tell classes apart takes two"):
        advise(Corpus(["a", "b"] * 10, ["x"] * 20))
    with pytest.raises(TermsieveError, match="takes a Corpus"):
        advise(["a", "b"])
