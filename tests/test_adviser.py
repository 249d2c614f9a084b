"""The adviser: its choice, its promises on noise, its budgets, its rivals, and what it hands over."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from termsieve import Corpus, TermsieveError, advise
from termsieve.adviser.advice import Advice, Rival
from termsieve.adviser.frontier import fewest_terms, steadied
from termsieve.adviser.promise import Difference


def documents(n_docs=150, classes=("ham", "spam"), shares=None, seed=0, strength=0.5, n_noise=80):
    """Texts of noise words, with some words that tell the class."""
    generator = np.random.default_rng(seed)
    labels = generator.choice(classes, size=n_docs, p=shares)
    texts = []
    for label in labels:
        words = [f"noise{i}" for i in generator.integers(0, n_noise, size=12)]
        words += [f"{label}{i}" for i in range(4) if generator.random() < strength]
        texts.append(" ".join(words))
    return texts, labels.tolist()


@pytest.fixture(scope="module")
def mail():
    return Corpus(*documents(shares=[0.8, 0.2]), name="mail")


@pytest.fixture(scope="module")
def advice(mail):
    return advise(mail)


def test_the_choice_is_what_the_words_suggest(advice):
    assert advice.figure > 0.8
    assert 0 <= advice.interval()[0] <= advice.figure <= advice.interval()[1] <= 1
    assert advice.problem == "spam against ham"
    assert advice.figures["f1"] == advice.promise.measured
    assert len(advice.evidence.outer_choices) == 5


def test_the_promise_on_noise_is_chance():
    """The best of many settings looks good on the documents it was chosen by, but not in the promise."""
    chosen, promised = [], []
    for seed in range(3):
        texts, _ = documents(100, seed=seed, strength=0.0)
        labels = np.random.default_rng(seed + 50).choice(["a", "b"], size=100)
        found = advise(Corpus(texts, labels), "accuracy", random_state=seed)
        chosen.append(found.choice.figure)
        promised.append(found.promise.measured)
    assert np.mean(chosen) > 0.53
    assert np.mean(promised) < np.mean(chosen)
    assert 0.35 < np.mean(promised) < 0.57


def test_the_measured_figure_is_of_the_models_that_are_handed_over(mail, advice):
    """Each part's choice, fitted to the other parts by its pipeline, says what was recorded of the part."""
    from termsieve.adviser.goals import get_goal
    from termsieve.adviser.portfolio import Budget
    from termsieve.adviser.question import asked
    from termsieve.adviser.stages import Clock, Rule, nested, raced, select_terms

    task = asked(mail, None, {}).task
    found = raced(task, get_goal("f1"), Clock(0.0), np.random.default_rng(0))
    select_terms(found, Budget(None, len(task)), Clock(0.0))
    verdicts = nested(found, found.complete, Rule("best", Budget(None, len(task))))
    said = []
    for number, choice in zip(found.folds, verdicts.choices, strict=True):
        train, test = found.race.splits[number]
        model = advice.pipeline(choice).fit([mail.texts[i] for i in train], mail.labels[train])
        said += (model.predict([mail.texts[i] for i in test]) == "spam").tolist()
    assert verdicts.verdicts.said[:, 0].tolist() == said


def test_the_frontier_gets_smaller_with_the_distance(advice):
    points = [advice.within(distance) for distance in (0.005, 0.01, 0.02, 1.0)]
    terms = [point.terms for point in points if point is not None]
    assert terms == sorted(terms, reverse=True)
    assert terms[-1] == min(point.terms for point in advice.frontier)
    sizes = [point.terms for point in advice.frontier]
    assert sizes == sorted(sizes)
    bytes_of = [point.matrix_bytes for point in advice.frontier]
    assert bytes_of == sorted(bytes_of)


def test_fewest_terms_looks_at_steadied_figures(advice):
    assert steadied([1.0, 0.0, 1.0]) == [0.75, 0.5, 0.75]
    assert steadied([]) == []
    assert fewest_terms(advice.frontier, 2.0, 0.01) is None
    for row in advice.frontier_rows():  # what is shown is what was compared
        assert row["cross-validated"] >= advice.best_cross_validated - row["within"]


def test_small_models_can_be_preferred():
    """With so many words that some sizes have no risk of their own to speak of."""
    texts, labels = documents(300, shares=[0.8, 0.2], n_noise=600)
    small = advise(Corpus(texts, labels), prefer="small")
    assert small.choice.setting.method is not None
    assert small.cost.terms < small.cost.all_terms
    model = small.pipeline().fit(texts, labels)
    assert f1_score(labels, model.predict(texts), pos_label="spam") > 0.8


def test_advice_on_several_classes():
    texts, labels = documents(150, classes=("red", "green", "blue"), seed=3)
    found = advise(Corpus(texts, labels))
    assert found.problem == "3 classes"
    said = found.pipeline().fit(texts, labels).predict(texts)
    assert f1_score(labels, said, average="macro") > 0.8


def test_a_target_takes_the_original_labels_or_0_and_1():
    texts, labels = documents(150, classes=("red", "green", "blue"), seed=3)
    found = advise(Corpus(texts, labels), "f2", target="red")
    assert found.problem == "red against the rest"
    said = found.pipeline().fit(texts, labels).predict(texts)
    assert set(said.tolist()) == {"red", "not red"}
    member = (np.array(labels) == "red").astype(int)
    flags = found.pipeline().fit(texts, member).predict(texts)
    assert flags.tolist() == (said == "red").astype(int).tolist()
    with pytest.raises(TermsieveError, match="no document has the label 'red'"):
        found.pipeline().fit(texts, ["green", "blue"] * 75)


def test_advice_on_several_labels_per_document():
    texts, labels = documents(120, classes=("red", "green", "blue"), seed=4)
    tuples = [(label, "coloured") if i % 3 else (label,) for i, label in enumerate(labels)]
    found = advise(Corpus(texts, tuples))
    assert found.problem == "4 labels"
    names = ("blue", "coloured", "green", "red")
    truth = np.array([[name in given for name in names] for given in tuples])
    said = found.pipeline().fit(texts, truth.astype(int)).predict(texts)
    assert said.shape == truth.shape
    assert (found.pipeline().fit(texts, tuples).predict(texts) == said).all()
    assert len(found.choice.decision.thresholds) == 4


def test_advice_on_a_matrix_is_for_matrices():
    generator = np.random.default_rng(6)
    y = generator.integers(0, 2, size=120)
    X = sparse.csr_matrix(
        (generator.random((120, 30)) < np.where(y[:, None] & (np.arange(30) < 5), 0.7, 0.2)) * 2
    )
    found = advise(Corpus(matrix=X, labels=y))
    assert found.pipeline().fit(X, y).score(X, y) > 0.7
    assert not found.choice.setting.representation.pairs


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
    fewer = [row for row in found.evidence.candidates if row["documents"] < 1]
    assert bool(fewer) == ("budget_memory" in budget)
    assert ("Within the memory, " in found.explanation()) == bool(fewer)
    assert getattr(found.cost, cost) <= limit
    assert found.choice.setting.method is not None
    assert all("all terms" not in name for name in found.evidence.outer_choices)
    chosen = found.pipeline().fit(list(mail.texts), mail.labels)[-1].models_[0]["keptterms"].get_support()
    assert chosen.sum() == found.cost.terms


def test_rivals_are_judged_on_the_same_documents(mail):
    own = make_pipeline(TfidfVectorizer(), LinearSVC())
    found = advise(mail, rivals={"mine": own})
    rival = next(rival for rival in found.rivals if rival.name == "mine")
    baseline = next(rival for rival in found.rivals if rival.name == "tf-idf + svm")
    assert rival.figure == pytest.approx(baseline.figure, abs=0.03)
    assert rival.difference.low <= rival.difference.mean <= rival.difference.high
    with pytest.raises(TermsieveError, match="is no scikit-learn classifier"):
        advise(mail, rivals={"mine": "svm"})


def test_groups_are_never_on_both_sides():
    """Documents of an author share words that no other author has, and a label by chance."""
    generator = np.random.default_rng(5)
    groups, texts, labels = np.repeat(np.arange(40), 4), [], []
    for author in range(40):
        label = str(generator.choice(["ham", "spam"]))
        for _ in range(4):
            own = [f"own{author}x{i}" for i in generator.integers(0, 4, size=6)]
            texts.append(" ".join([*own, *(f"noise{i}" for i in generator.integers(0, 80, size=8))]))
            labels.append(label)
    copied = Corpus(texts, labels)
    apart, mixed = advise(copied, groups=groups, minutes=0.01), advise(copied, minutes=0.01)
    assert apart.promise.measured < 0.75 < mixed.promise.measured
    with pytest.raises(TermsieveError, match="group must hold one value for each"):
        advise(copied, groups=[1, 2])


def test_with_times_models_are_tested_on_later_documents_only(mail):
    found = advise(mail, times=np.arange(len(mail))[::-1])
    assert len(found.evidence.outer_choices) == 4
    assert len(found.evidence.verdicts) == 120


def test_little_time_tries_less_and_says_so(mail):
    found = advise(mail, minutes=0.0001)
    assert found.evidence.not_tried
    assert "because the time was over" in found.explanation()
    assert 0 <= found.figure <= 1


def test_equal_seeds_give_equal_advice(mail, advice):
    again, first = advise(mail).to_dict(), advice.to_dict()
    for facts in (again, first):
        facts.pop("seconds")
        facts["cost"] = {k: v for k, v in facts["cost"].items() if k != "predict_seconds"}
    assert json.dumps(again) == json.dumps(first)


def test_progress_goes_from_0_to_1(mail):
    seen = []
    advise(mail, minutes=0.001, progress=lambda stage, share: seen.append((stage, share)))
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert len({stage for stage, _ in seen}) >= 4


def test_the_advice_explains_itself(advice):
    told = advice.explanation()
    assert f"{advice.figure:.3f}" in told
    assert "On the same documents it is " in told
    assert "stay within .01 of the best" in told
    assert "Twice as many labelled documents would bring" in told
    assert repr(advice).startswith("<Advice for spam against ham: ")
    assert [row[""] for row in advice.summary()][:2] == ["recommended", "rival"]
    assert [row["within"] for row in advice.frontier_rows()] == [0.005, 0.01, 0.02]


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.03, "it is better than mine (difference +0.020, between +0.010 and +0.030)."),
        (-0.01, 0.05, "it is about as good as mine (difference +0.020, between -0.010 and +0.050)."),
        (
            -0.03,
            -0.01,
            "it is worse than mine (difference -0.020, between -0.030 and -0.010); use that instead.",
        ),
    ],
)
def test_a_rival_is_better_or_worse_only_beyond_chance(advice, low, high, verdict):
    rival = Rival("mine", "f1", 0.5, Difference((low + high) / 2, low, high, 0.5))
    assert verdict in replace(advice, rivals=[rival]).explanation()


@pytest.mark.parametrize("goal", ["recall", "precision"])
def test_degenerate_goals_are_pointed_out(mail, goal):
    found = advise(mail, goal, minutes=0.001)
    assert f'consider the goal "{goal}(' in found.explanation()


@pytest.mark.parametrize(
    "goal",
    [
        "recall(precision=0.8)",
        "precision(recall=0.5)",
        "cost(fp=1, fn=5)",
        "average_precision",
        "roc_auc",
        "micro_f1",
    ],
)
def test_other_goals(mail, goal):
    found = advise(mail, goal, minutes=0.01)
    low, high = found.interval(100)
    assert 0 <= low <= found.figure <= high <= 1
    assert found.figure > 0.5


def test_the_report_holds_the_advice_and_escapes_labels(tmp_path):
    texts, labels = documents(60, classes=("<b>", "&x"), seed=7)
    found = advise(Corpus(texts, labels), minutes=0.01)
    page = found.report(tmp_path / "advice.html")
    assert (tmp_path / "advice.html").read_text(encoding="utf-8") == page
    assert "<b> against" not in page
    assert "&lt;b&gt;" in page
    assert isinstance(found, Advice)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"goal": "win"}, "goal 'win' is unknown"),
        ({"goal": "recall(0.9)"}, "name its parameters"),
        ({"goal": "recall(precision=2)"}, "must be a number above 0 and at most 1"),
        ({"goal": "cost(fp=0, fn=1)"}, "must be a number above 0"),
        ({"prefer": "fast"}, "preference 'fast' is unknown"),
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


def test_too_few_documents_are_refused():
    with pytest.raises(TermsieveError, match="too few documents"):
        advise(Corpus(["a", "b"] * 10, ["x"] * 18 + ["y"] * 2))
    with pytest.raises(TermsieveError, match="only one class, 'x'; at least two are needed"):
        advise(Corpus(["a", "b"] * 10, ["x"] * 20))
    with pytest.raises(TermsieveError, match="takes a Corpus"):
        advise(["a", "b"])
