"""Drift: no alarm where nothing changed, an alarm with its words where something did; shares estimated."""

import json
from dataclasses import replace

import numpy as np
import pytest

from termsieve import Corpus, Model, load_docstrings, load_model, train_model
from termsieve.drift import _expected_shares
from termsieve.errors import FormatError, InputError, ParameterError
from termsieve.evaluation import evaluated
from termsieve.models import drift
from termsieve.records import Record, covered, fingerprint

WORDS = {"spam": ["cheap", "pills", "buy", "offer"], "ham": ["meeting", "noon", "minutes", "report"]}


def texts_of(generator, n, share=0.5, new=()):
    """Texts with about this share of spam, and labels; `new` words are in every fifth text."""
    texts, labels = [], []
    for number in range(n):
        label = "spam" if generator.random() < share else "ham"
        words = [*generator.choice(WORDS[label], 4), *generator.choice([f"word{i}" for i in range(60)], 12)]
        texts.append(" ".join([*words, *(new if number % 5 == 0 else ())]))
        labels.append(label)
    return texts, labels


@pytest.fixture(scope="module")
def model():
    return train_model(Corpus(*texts_of(np.random.default_rng(0), 300)), k=20, folds=3)


def test_shuffled_documents_raise_no_alarm():
    corpus, generator, alarms = load_docstrings(), np.random.default_rng(1), 0
    for _ in range(6):
        order = generator.permutation(len(corpus))[:500]
        trained = train_model(corpus.subset(np.sort(order[:250])), k=100, folds=2)
        alarms += drift(trained, corpus.subset(np.sort(order[250:]))).changed
    assert alarms <= 1


def test_a_planted_word_raises_an_alarm(model):
    texts, _ = texts_of(np.random.default_rng(2), 200, new=("crypto",))
    found = drift(model, texts)
    assert found.changed
    assert found.periods[0].words["term"].to_list() == ["crypto"]
    assert found.periods[0].words["change"].to_list() == ["came"]
    assert found.periods[0].coverage < model.record.coverage[0]
    assert "crypto came" in found.sentences()[0]
    assert "no longer applies" in found.promise()


def test_that_more_words_are_known_is_no_alarm():
    """Training knows all words of its own documents, and of others fewer."""
    corpus = load_docstrings().subset(np.arange(200))
    trained = train_model(corpus, k=50, folds=2)
    (period,) = drift(trained, corpus).periods
    assert period.coverage > trained.record.coverage[0] + 0.05
    assert period.coverage_p > 0.99
    assert not any("were in training" in reason for reason in period.reasons)


def test_other_shares_of_the_classes_raise_an_alarm(model):
    texts, labels = texts_of(np.random.default_rng(3), 200, share=0.8)
    found = drift(model, texts)
    shares = {row["class"]: row for row in found.periods[0].shares}
    assert any("is predicted for" in reason for reason in found.periods[0].reasons)
    assert shares["spam"]["expected"] == pytest.approx(labels.count("spam") / 200, abs=0.05)


def test_each_source_is_a_period(model):
    same, other = (
        texts_of(np.random.default_rng(seed), 200, new=new)[0] for seed, new in ((4, ()), (5, ("fad",)))
    )
    found = drift(model, same, Corpus(other, ["x"] * 200), names=["may", "june"])
    assert [period.changed for period in found.periods] == [False, True]
    assert json.loads(json.dumps(found.to_dict()))["changed"] is True


def test_what_cannot_be_compared_is_told(model):
    with pytest.raises(InputError, match="no record of its training"):
        drift(Model(model.pipeline), ["cheap"])
    with pytest.raises(ParameterError, match="false_alarms must lie between 0 and 1"):
        drift(model, ["cheap"], false_alarms=2)
    with pytest.raises(InputError, match="no new documents"):
        drift(model)
    unmeasured = replace(model, record=replace(model.record, measured=None))
    found = drift(unmeasured, texts_of(np.random.default_rng(6), 100)[0])
    assert found.periods[0].shares_p is None
    assert "without measured figures" in found.promise()


def test_expected_shares_undo_the_mistakes():
    """A classifier that takes a fifth of each class for the other; 70 % are of the first."""
    measured = evaluated(["a"] * 500 + ["b"] * 500, ["a"] * 400 + ["b"] * 500 + ["a"] * 100, several=False)
    said = np.array([0.7 * 0.8 + 0.3 * 0.2, 0.7 * 0.2 + 0.3 * 0.8]) * 1000
    assert _expected_shares(measured, said, 1000) == pytest.approx([0.7, 0.3], abs=0.01)
    several = replace(measured, table=None)
    assert _expected_shares(several, said, 1000) == pytest.approx([0.7, 0.3], abs=0.01)


def test_the_record_counts_documents(model):
    texts, labels = texts_of(np.random.default_rng(0), 300)
    record = model.record
    assert record.terms["cheap"] == sum("cheap" in text.split() for text in texts)
    assert record.least == 1
    assert dict(record.classes) == {label: labels.count(label) for label in ("ham", "spam")}
    assert record.fingerprint == fingerprint(Corpus(texts, labels))
    assert record.fingerprint != fingerprint(Corpus(texts[::-1], labels))


def test_a_record_lists_the_most_frequent_terms(monkeypatch):
    monkeypatch.setattr("termsieve.records.MOST_TERMS", 3)
    corpus = Corpus(["a1 b1 c1 d1", "a1 b1 c1", "a1 b1", "a1 e1"], ["x", "y", "x", "y"])
    record = train_model(corpus, k=2).record
    assert record.terms == {"a1": 4, "b1": 3, "c1": 2}
    assert record.least == 2
    found = drift(train_model(corpus, k=2), ["d1 zz"] * 50)
    assert set(found.periods[0].words["term"]) <= {"a1", "b1", "d1", "zz", "c1"}


def test_coverage_is_a_share_of_distinct_terms():
    from scipy import sparse

    X = sparse.csr_matrix([[2, 1, 0], [0, 0, 0], [0, 3, 1]])
    assert covered(X, [True, True, False]).tolist() == [1.0, 0.5]


def test_models_keep_their_record(tmp_path, model):
    model.save(tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").record == model.record
    assert Record.from_json(model.record.to_json()) == model.record
    Model(model.pipeline).save(tmp_path / "plain.skops")
    assert load_model(tmp_path / "plain.skops").record is None


@pytest.mark.parametrize(
    "change",
    [
        {"documents": 0},
        {"terms": {"a": 10**9}},
        {"terms": [1]},
        {"coverage": [2, 0]},
        {"classes": [["a"]]},
        {"measured": {}},
        {"least": "x"},
    ],
)
def test_a_damaged_record_gives_one_sentence(model, change):
    damaged = json.dumps({**json.loads(model.record.to_json()), **change})
    with pytest.raises(FormatError, match=r"^the record of its training is damaged$"):
        Record.from_json(damaged)
    with pytest.raises(FormatError):
        Record.from_json(3)
