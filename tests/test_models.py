"""Models: trained as scikit-learn would, saved whole, loaded only if they can do no harm."""

import numpy as np
import pytest
import skops.io
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from termsieve import (
    Corpus,
    Model,
    TermSelector,
    TermVectorizer,
    get_learner,
    load_model,
    select_terms,
    train_model,
)
from termsieve.errors import FormatError, InputError, ParameterError

TEXTS = [
    "cheap pills now buy",
    "buy cheap watches",
    "see you at noon",
    "minutes of the meeting",
    "the noon meeting",
]
LABELS = ["spam", "spam", "ham", "ham", "ham"]


@pytest.fixture(scope="module")
def corpus():
    return Corpus(TEXTS, LABELS, name="mail")


@pytest.mark.parametrize("learner", ["svm", "lr", "nb"])
def test_a_model_predicts_as_the_pipeline_written_out(corpus, learner):
    model = train_model(corpus, learner=learner, k=4)
    by_hand = make_pipeline(
        TermVectorizer(binary=learner != "nb"), TermSelector(k=4), get_learner(learner)
    ).fit(TEXTS, LABELS)
    texts = [*TEXTS, "buy the pills", ""]
    assert model.predict(texts) == by_hand.predict(texts).tolist()
    assert model.terms == select_terms(corpus, k=4)
    assert repr(model) == f"<Model: {learner} on 4 terms>"


def test_a_saved_model_comes_back_the_same(tmp_path, corpus):
    model = train_model(corpus, "chi", "lr", k=5, stop_words="english", ngram_range=(1, 2))
    model.save(tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    assert again.predict(TEXTS) == model.predict(TEXTS)
    assert again.terms == model.terms
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]


def test_documents_with_several_labels(tmp_path):
    corpus = Corpus(
        ["cheap pills", "pills noon", "noon meet", "cheap meet"], [("a", "b"), ("b",), (), ("a",)]
    )
    model = train_model(corpus, k=4)
    assert model.predict(corpus) == [("a", "b"), ("b",), (), ("a",)]
    model.save(tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").predict(corpus) == model.predict(corpus)
    single = train_model(corpus, target="a", k=4)
    assert single.predict(corpus) == ["a", "not a", "not a", "a"]


def test_a_label_that_every_document_has_is_saved_as_well(tmp_path):
    corpus = Corpus(["cheap pills", "pills noon", "noon meet"], [("all", "b"), ("all", "b"), ("all",)])
    train_model(corpus).save(tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").predict(corpus) == list(corpus.labels)


def test_one_class_against_the_rest(corpus):
    assert train_model(corpus, target="ham", k=9).predict(TEXTS) == ["not ham"] * 2 + ["ham"] * 3
    with pytest.raises(ParameterError, match="class 'eggs' is unknown"):
        train_model(corpus, target="eggs")


def test_files_are_predicted_with_and_without_labels(tmp_path, corpus):
    model = train_model(corpus, k=4)
    (tmp_path / "new.csv").write_text("id,body\n1,cheap\n2,noon\n")
    assert model.predict_file(tmp_path / "new.csv", text="body") == ["spam", "ham"]
    (tmp_path / "folder" / "unknown").mkdir(parents=True)
    (tmp_path / "folder" / "unknown" / "1.txt").write_text("buy cheap")
    assert model.predict_file(tmp_path / "folder") == ["spam"]
    assert model.predict([]) == []
    with pytest.raises(ParameterError, match="put a single text into a list"):
        model.predict("cheap")


def test_a_model_may_hold_any_estimator_of_the_package(tmp_path):
    pipeline = make_pipeline(TermVectorizer(), TermSelector("chi_squared", k=3), get_learner("svm"))
    pipeline.fit(TEXTS, LABELS)
    counts = pipeline[1].counts_
    assert len(counts.tables.at) == len(counts.tp)  # what is computed on the way is not saved
    Model(pipeline).save(tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").predict(TEXTS) == pipeline.predict(TEXTS).tolist()


def test_what_could_not_be_loaded_is_not_saved(tmp_path, corpus):
    model = train_model(corpus, k=4)
    foreign = make_pipeline(FunctionTransformer(np.asarray), *[step for _, step in model.pipeline.steps])
    with pytest.raises(InputError, match="could not be loaded safely"):
        Model(foreign).save(tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_file_is_not_loaded(tmp_path):
    skops.io.dump(make_pipeline(FunctionTransformer(np.load)), tmp_path / "foreign.skops")
    with pytest.raises(FormatError, match=r"numpy.*load.*not loaded"):
        load_model(tmp_path / "foreign.skops")


def test_files_that_hold_no_model_are_told(tmp_path, corpus):
    skops.io.dump([1, 2], tmp_path / "list.skops")
    with pytest.raises(FormatError, match="holds a list, which cannot predict"):
        load_model(tmp_path / "list.skops")
    (tmp_path / "text.skops").write_text("no archive")
    with pytest.raises(FormatError, match="no readable skops file"):
        load_model(tmp_path / "text.skops")
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none.skops")
    newer = {"format": "termsieve-model", "version": 99, "pipeline": None, "labels": None}
    skops.io.dump(newer, tmp_path / "newer.skops")
    with pytest.raises(FormatError, match="model format 99; this termsieve reads 1: update termsieve"):
        load_model(tmp_path / "newer.skops")


def test_a_pipeline_that_skops_saved_is_a_model(tmp_path):
    pipeline = make_pipeline(TermVectorizer(), OneVsRestClassifier(get_learner("lr"))).fit(TEXTS, LABELS)
    skops.io.dump(pipeline, tmp_path / "plain.skops")
    assert load_model(tmp_path / "plain.skops").predict(TEXTS) == pipeline.predict(TEXTS).tolist()


def test_word_counts_are_no_texts():
    corpus = Corpus(matrix=[[1, 0], [0, 1]], labels=["a", "b"])
    with pytest.raises(ParameterError, match="a model needs the texts"):
        train_model(corpus)
