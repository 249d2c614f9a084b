"""Model files from elsewhere: rebuilt from what is allowed, refused in one sentence otherwise."""

import json
import re
import zipfile
from copy import deepcopy

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from termsieve import (
    Corpus,
    Model,
    TermSelector,
    TermVectorizer,
    estimators,
    get_learner,
    load_model,
    train_model,
)
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.errors import FormatError
from termsieve.estimators import RatioClassifier, RatioSelector, TermWeighter, WeightSelector, WFOSelector
from termsieve.learners import LEARNERS
from termsieve.saved import loadable_types, rules_of
from termsieve.terms import linear_pattern

TEXTS = ["cheap pills now buy", "buy cheap watches", "see you at noon", "minutes of meeting", "noon meeting"]
LABELS = ["spam", "spam", "ham", "ham", "ham"]
VECTORIZERS = [TermVectorizer, CountVectorizer, TfidfVectorizer]


def fitted(*steps):
    return make_pipeline(*steps).fit(TEXTS, LABELS)


@pytest.fixture
def saved(tmp_path):
    """A function that writes what skops would, after a change to the fitted pipeline."""

    def write(pipeline, change=lambda pipeline: None):
        changed = deepcopy(pipeline)
        change(changed)
        skops.io.dump(changed, tmp_path / "model.skops")
        return tmp_path / "model.skops"

    return write


# What must load.


@pytest.mark.parametrize("learner", sorted(LEARNERS))
@pytest.mark.parametrize(
    "labels", [LABELS, ["a", "b", "c", "a", "b"], [("a",), ("a", "b"), (), ("b",), ("a",)]]
)
def test_every_learner_of_a_trained_model_loads(tmp_path, learner, labels):
    model = train_model(Corpus(TEXTS, labels), learner=learner, k=6)
    model.save(tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").predict(TEXTS) == model.predict(TEXTS)


@pytest.mark.parametrize(
    "options",
    [
        {"stop_words": "english", "ngram_range": (1, 2)},
        {"stop_words": ["you", "see"], "stem": "porter"},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
        {"token_pattern": "[a-z]+", "strip_accents": "unicode", "n_threads": 2},
    ],
)
def test_the_ways_to_cut_texts_load(tmp_path, options):
    model = train_model(Corpus(TEXTS, LABELS), k=9, **options)
    model.save(tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").predict(TEXTS) == model.predict(TEXTS)


@pytest.mark.parametrize(
    "steps",
    [
        [TermVectorizer(), TermSelector("chi_squared", k=3), get_learner("svm")],
        [TermVectorizer(), TermWeighter("bns"), get_learner("lr")],
        [TermVectorizer(), RatioSelector(k=3), get_learner("nb")],
        [TermVectorizer(), RatioClassifier()],
        [TermVectorizer(), WFOSelector(k=3), get_learner("svm(hinge)")],
        [TermVectorizer(), WeightSelector("lr", k=3), get_learner("perceptron")],
        [CountVectorizer(), TfidfTransformer(), LinearSVC()],
        [CountVectorizer(dtype=np.float32), Normalizer(), OneVsRestClassifier(LogisticRegression())],
        [TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=2.0)],
        [CountVectorizer(vocabulary=["cheap", "noon"]), MultinomialNB()],
        [CountVectorizer(binary=True), BernoulliNB()],
        [TfidfVectorizer(), ComplementNB()],
    ],
    ids=lambda steps: "-".join(type(step).__name__ for step in steps),
)
def test_pipelines_of_known_estimators_load(saved, steps):
    pipeline = fitted(*steps)
    again = load_model(saved(pipeline))
    assert again.predict(TEXTS) == pipeline.predict(TEXTS).tolist()
    assert type(again.pipeline[-1]) is type(pipeline[-1])


def test_every_estimator_of_the_package_is_loadable():
    classes = {getattr(estimators, name) for name in estimators.__all__}
    assert {kind for kind in classes if isinstance(kind, type)} <= loadable_types()
    assert {entry.estimator for entry in LEARNERS.values()} <= loadable_types()


def test_an_estimator_declares_its_own_values(saved):
    assert not rules_of(TermWeighter)["values"].allows("wild")
    pipeline = fitted(TermVectorizer(), TermWeighter(), get_learner("svm"))
    with pytest.raises(FormatError, match=r"TermWeighter has values='wild'.*'presence' or 'tf'"):
        load_model(saved(pipeline, lambda p: p[1].set_params(values="wild")))


# What must not.

HOSTILE = [
    ({"input": "filename"}, "input='filename'"),
    ({"input": "file"}, "input='file'"),
    ({"token_pattern": r"(\w+)+$"}, "token_pattern="),
    ({"token_pattern": r"(?:a|a)*b"}, "token_pattern="),
    ({"token_pattern": r"[a-z]+\b"}, "token_pattern="),
    ({"token_pattern": r"\w{9999,}"}, "token_pattern="),
    ({"token_pattern": r"[z-a]+"}, "token_pattern="),
    ({"token_pattern": 7}, "token_pattern="),
    ({"ngram_range": (1, 10**9)}, "ngram_range="),
    ({"ngram_range": (0, 1)}, "ngram_range="),
    ({"ngram_range": None}, "ngram_range="),
    ({"analyzer": "wild"}, "analyzer="),
    ({"encoding": "../x"}, "encoding="),
    ({"stop_words": "klingon"}, "stop_words="),
    ({"dtype": str}, "dtype="),
    ({"preprocessor": "lower"}, "preprocessor="),
    ({"tokenizer": ["a"]}, "tokenizer="),
    ({"strip_accents": "all"}, "strip_accents="),
    ({"vocabulary": "cheap"}, "vocabulary="),
]


@pytest.mark.parametrize("vectorizer", VECTORIZERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("wild", "said"), HOSTILE, ids=str)
def test_a_vectorizer_with_a_wild_parameter_is_refused(saved, vectorizer, wild, said):
    pipeline = fitted(vectorizer(), get_learner("svm"))
    with pytest.raises(FormatError) as refused:
        load_model(saved(pipeline, lambda p: p[0].set_params(**wild)))
    message = str(refused.value)
    assert said in message
    assert "trust=True" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda p: p.set_params(memory="/tmp/elsewhere"), "Pipeline has memory='/tmp/elsewhere'"),
        (lambda p: p[0].set_params(n_threads=10**6), "n_threads=1000000"),
        (lambda p: p[1].set_params(n_jobs=10**6), "n_jobs=1000000"),
    ],
    ids=["memory", "n_threads", "n_jobs"],
)
def test_resources_are_not_a_files_to_choose(saved, change, said):
    pipeline = fitted(TermVectorizer(), LogisticRegression())
    with pytest.raises(FormatError, match=said):
        load_model(saved(pipeline, change))


def _set(step, name, value):
    return lambda pipeline: setattr(pipeline[step], name, value)


@pytest.mark.parametrize(
    "change",
    [
        _set(0, "vocabulary_", {"cheap": 100_000_000, "noon": 0}),
        _set(0, "vocabulary_", {"cheap": -1, "noon": 0}),
        _set(0, "vocabulary_", {"cheap": 0, "noon": 0}),
        _set(0, "vocabulary_", {"cheap": 0.0, "noon": 1.0}),
        _set(0, "vocabulary_", {"cheap": False, "noon": True}),
        _set(0, "vocabulary_", {1: 0, 2: 1}),
        _set(0, "vocabulary_", {}),
        _set(0, "vocabulary_", 7),
        _set(0, "vocabulary", {"cheap": 5}),
        _set(0, "vocabulary", ["cheap", "cheap"]),
        _set(1, "selected_", np.array([0, 10**9])),
        _set(1, "selected_", np.array([-1])),
        _set(1, "selected_", np.array([0.5])),
        _set(1, "n_features_in_", -3),
        _set(1, "n_features_in_", "many"),
        _set(2, "coef_", np.full((1, 3), np.nan)),
        _set(2, "coef_", np.full((1, 3), np.inf)),
        _set(2, "coef_", np.zeros((1, 99))),
        _set(2, "coef_", np.zeros((7, 3))),
        _set(2, "coef_", np.zeros(3)),
        _set(2, "coef_", np.array([["a", "b", "c"]])),
        _set(2, "intercept_", np.zeros(5)),
        _set(2, "intercept_", np.array([np.nan])),
        _set(2, "classes_", np.array(["a"])),
        lambda pipeline: setattr(pipeline[1].counts_, "tp", -pipeline[1].counts_.tp),
        lambda pipeline: setattr(pipeline[1].counts_, "df", pipeline[1].counts_.df[:2]),
    ],
)
def test_arrays_that_cannot_be_are_refused(saved, change):
    pipeline = fitted(TermVectorizer(), TermSelector(k=3), get_learner("svm"))
    with pytest.raises(FormatError) as refused:
        load_model(saved(pipeline, change))
    assert "model.skops holds a damaged model" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_sparse_weights_with_wild_indices_are_refused(saved):
    pipeline = fitted(CountVectorizer(), LogisticRegression())
    pipeline[1].sparsify()
    assert load_model(saved(pipeline)).predict(TEXTS) == pipeline.predict(TEXTS).tolist()
    wild = sparse.csr_matrix(pipeline[1].coef_)
    wild.indices[0] = 10**8
    with pytest.raises(FormatError, match="index outside"):
        load_model(saved(pipeline, _set(1, "coef_", wild)))


def test_what_a_file_adds_to_an_estimator_is_left_out(saved):
    """An attribute of the object would hide the method of its class."""
    pipeline = fitted(TermVectorizer(), get_learner("svm"))
    for name in ("predict", "decision_function", "_checked_input", "stray", "_sklearn_output_config"):
        setattr(pipeline[1], name, ["no function"])
    again = load_model(saved(pipeline))
    assert again.predict(TEXTS) == LABELS
    assert not {"stray", "predict", "_sklearn_output_config"} & vars(again.pipeline[1]).keys()


@pytest.mark.parametrize("learner", [RandomForestClassifier(2), SGDClassifier()])
def test_other_estimators_are_not_loaded(saved, learner):
    with pytest.raises(FormatError, match="sklearn"):
        load_model(saved(fitted(TermVectorizer(), learner)))


def test_a_file_of_ones_own_may_have_its_own_pattern(saved):
    pipeline = fitted(TermVectorizer(token_pattern=r"(?u)\b\w+(?:-\w+)*\b"), get_learner("svm"))
    with pytest.raises(FormatError, match=r"if the file is your own, load it with trust=True \(--trust\)"):
        load_model(saved(pipeline))
    assert load_model(saved(pipeline), trust=True).predict(TEXTS) == LABELS


def test_the_command_line_says_and_takes_trust(tmp_path, saved, capsys):
    path = saved(fitted(TermVectorizer(), get_learner("svm")), lambda p: p[0].set_params(input="filename"))
    secret = tmp_path / "secret.txt"
    secret.write_text("cheap pills")
    (tmp_path / "texts.csv").write_text(f"text\n{secret}\n")
    words = ["predict", str(path), str(tmp_path / "texts.csv")]
    assert exit_code(app, words) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "--trust" in said.err
    assert exit_code(app, [*words, "--trust"]) == 0
    assert capsys.readouterr().out == "spam\n"


# What a small file must not unpack to.


def _rewritten(path, change):
    """Change the members of a skops file by name."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_numbers_of_nodes_cannot_make_a_small_file_huge(saved):
    """Each list holds the one before it twice: a tree of 2**60 leaves, were it followed."""

    def nested(members):
        node = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "1"}
        node |= {"is_json": True, "__id__": 1}
        for number in range(2, 62):
            again = {"__id__": number - 1, "__loader__": "ListNode", "__class__": "list"}
            again |= {"__module__": "builtins", "content": []}
            node = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"} | {
                "content": [node, again],
                "__id__": number,
            }
        schema = json.loads(members["schema.json"])
        members["schema.json"] = json.dumps({**node, "protocol": schema["protocol"]}).encode()

    with pytest.raises(FormatError, match="holds a list, which cannot predict"):
        load_model(_rewritten(saved(fitted(TermVectorizer(), get_learner("svm"))), nested))


def test_a_member_that_is_named_often_counts_as_often(saved):
    pipeline = fitted(TermVectorizer(), get_learner("svm"))
    path = saved(pipeline)
    with pytest.raises(FormatError, match="unpacks to more bytes than max_bytes=100"):
        load_model(path, max_bytes=100)

    def doubled(members):
        text = members["schema.json"].decode()
        name = re.search(r'"(\d+\.npy)"', text)[1]
        members["schema.json"] = re.sub(r"\d+\.npy", name, text).encode()
        members[name] = members[name] + bytes(100_000)

    size = sum(info.file_size for info in zipfile.ZipFile(_rewritten(path, doubled)).infolist())
    with pytest.raises(FormatError, match="unpacks to more bytes"):
        load_model(path, max_bytes=size + 50_000)


def test_a_packed_matrix_within_counts_with_what_it_unpacks_to(saved):
    pipeline = fitted(CountVectorizer(), LogisticRegression())
    zeros = sparse.csr_matrix((np.zeros(10**6), np.zeros(10**6, np.int32), [0, 10**6]), shape=(1, 12))
    path = saved(pipeline, _set(1, "coef_", zeros))
    with zipfile.ZipFile(path) as archive:
        outer = sum(info.file_size for info in archive.infolist())
    assert outer < 10**6
    with pytest.raises(FormatError, match="unpacks to more bytes"):
        load_model(path, max_bytes=outer + 10**5)


@pytest.mark.parametrize(
    ("pattern", "linear"),
    [
        (r"(?u)\b\w\w+\b", True),
        (r"\S+", True),
        ("[a-z]+", True),
        (r"(?u)\b[a-zA-Z]{3,}\b", True),
        (r"(?:\w+-)*\w+", False),
        (r"(\w+)+$", False),
        (r"[a-z]+\b", False),
        (r"\w{33,}", False),
        (r"\w{" + "9" * 5000 + ",}", False),
        ("[a", False),
        ("a" * 10**6, False),
    ],
)
def test_linear_patterns(pattern, linear):
    assert linear_pattern(pattern) is linear


def test_an_allowed_pattern_is_quick_on_the_text_that_is_worst_for_it():
    """Twice the text takes about twice the steps; a quadratic pattern would need 10**10 of them here."""
    text = "a" * 100_000 + "1 " + "_" * 100_000
    for pattern in (r"\b[a-z]+\b", r"(?u)\b\w\w+\b", "[a-z]+", r"\w{32,}", r"[^a]+"):
        assert linear_pattern(pattern)
        re.findall(pattern, text)


def test_a_model_that_is_rebuilt_can_be_saved_again(tmp_path):
    model = train_model(Corpus(TEXTS, LABELS), k=4)
    model.save(tmp_path / "one.skops")
    load_model(tmp_path / "one.skops").save(tmp_path / "two.skops")
    assert load_model(tmp_path / "two.skops").predict(TEXTS) == model.predict(TEXTS)
    assert isinstance(load_model(tmp_path / "two.skops"), Model)
