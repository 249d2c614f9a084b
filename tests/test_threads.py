"""Threads that share one fitted object get what one thread alone gets."""

import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from threading import Barrier

import numpy as np
import pytest
from scipy import sparse

from termsieve import (
    METRICS,
    Corpus,
    RatioSelector,
    TermSelector,
    TermVectorizer,
    TermWeighter,
    count,
    rank,
    score,
)
from termsieve.learners import get_learner
from termsieve.terms.scripts import MODULES

N_THREADS = 8
ROUNDS = 5


@pytest.fixture(autouse=True)
def hasty():
    """Let threads take turns a thousand times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def mail():
    generator = np.random.default_rng(3)
    labels = generator.choice(["ham", "spam", "work"], size=300)
    words = [[f"wörd{i}" for i in generator.integers(0, 400, size=30)] for _ in labels]
    texts = [
        f"{' '.join(own)} {label}{generator.integers(9)}" for own, label in zip(words, labels, strict=True)
    ]
    return Corpus(texts, labels.tolist())


def together(work, fresh=lambda: None):
    """Return what `work(i, shared)` gave in threads that begin at the same moment, in several rounds.

    Each round has a new `shared`, from `fresh()`: what is made when it is first asked for is then asked for
    by all threads at once.
    """
    shared = [fresh() for _ in range(ROUNDS)]
    gate = Barrier(N_THREADS)

    def one(i):
        results = []
        for own in shared:
            gate.wait(60)
            results.append(work(i, own))
        return results

    with ThreadPoolExecutor(N_THREADS) as pool:
        return [result for results in pool.map(one, range(N_THREADS)) for result in results]


def same(a, b):
    return a.shape == b.shape and (a != b).nnz == 0 if sparse.issparse(a) else np.array_equal(a, b)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has the lock")
def test_the_kernels_leave_the_lock_off():
    """In a process of its own: other packages may turn the lock on, which is a warning, here an error."""
    code = (
        "import sys\n"
        "from importlib import import_module\n"
        "from pkgutil import iter_modules\n"
        "from termsieve import kernels\n"
        "names = [module.name for module in iter_modules(kernels.__path__)]\n"
        "assert len([import_module(f'termsieve.kernels.{name}') for name in names]) > 10\n"
        "assert not sys._is_gil_enabled()\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    subprocess.run([sys.executable, "-W", "error", "-c", code], env=env, check=True)


@pytest.mark.parametrize(
    "options",
    [{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 3)}, {"stem": "english"}],
    ids=["words", "pairs", "characters", "stems"],
)
def test_one_vectorizer_for_all_threads(mail, options):
    """Its vocabulary is first read by all threads at once."""
    X = TermVectorizer(**options).fit_transform(mail.texts)

    def work(i, vectorizer):
        return vectorizer.transform(mail.texts)

    results = together(work, lambda: TermVectorizer(**options).fit(mail.texts))
    assert all(same(result, X) for result in results)


def test_the_vocabulary_is_made_even_if_another_thread_was_faster(mail):
    vectorizer = TermVectorizer().fit(mail.texts)
    first = vectorizer.vocabulary_
    assert type(vectorizer).vocabulary_.func(vectorizer) == first
    with pytest.raises(AttributeError, match="after fit"):
        TermVectorizer().vocabulary_  # noqa: B018


def test_one_selector_and_one_weighter_for_all_threads(mail):
    X = TermVectorizer().fit_transform(mail.texts)

    def fitted():
        return TermSelector("bns", k=50).fit(X, mail.labels), TermWeighter("bns").fit(X, mail.labels)

    def work(i, shared):
        selector, weighter = shared
        names = selector.get_feature_names_out([f"x{column}" for column in range(X.shape[1])])
        return weighter.transform(X), selector.transform(X), names, selector.ranking_

    expected = work(0, fitted())
    for results in together(work, fitted):
        assert all(map(same, results, expected))


@pytest.mark.parametrize("kind", [TermSelector, RatioSelector])
def test_selectors_fit_in_threads_on_one_matrix(mail, kind):
    X = TermVectorizer(binary=True).fit_transform(mail.texts)
    labels = np.asarray(mail.labels) == "spam"
    expected = kind(k=20).fit(X, labels).ranking_
    assert all(same(result, expected) for result in together(lambda i, _: kind(k=20).fit(X, labels).ranking_))


def test_copies_of_one_selector_are_extended_in_threads(mail):
    """`partial_fit` changes a selector, so each thread has a copy of what all began with."""
    X = TermVectorizer().fit_transform(mail.texts)
    half = len(mail) // 2
    begun = TermSelector(k=50).partial_fit(X[:half], mail.labels[:half])
    expected = TermSelector(k=50).fit(X, mail.labels).ranking_

    def work(i, _):
        return deepcopy(begun).partial_fit(X[half:], mail.labels[half:]).ranking_

    assert all(same(result, expected) for result in together(work))


def test_one_set_of_counts_for_all_threads(mail):
    """Tables are made when they are first needed, here by all threads at once and for every metric."""
    names = [name for name, metric in METRICS.items() if not metric.needs]
    expected = {name: rank(score(count(mail), name)).order for name in names}

    def work(i, counts):
        turned = names[i % len(names) :] + names[: i % len(names)]  # each begins with another metric
        return {name: rank(score(counts, name)).order for name in turned}

    for result in together(work, lambda: count(mail)):
        assert result.keys() == expected.keys()
        assert all(same(result[name], expected[name]) for name in names)


def test_threads_that_count_do_not_meet(mail):
    """Counting with workers of their own, and the sum of what two threads share."""
    whole = count(mail)
    other = count(Corpus(["wörd1 wörd2", "wörd3"], ["ham", "spam"]))
    both = whole + other

    def work(i, shared):
        own = count(
            iter([(mail.texts[:150], mail.labels[:150]), (mail.texts[150:], mail.labels[150:])]), workers=2
        )
        return own == whole and shared + other == both

    assert all(together(work, lambda: count(mail)))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_texts_without_spaces_are_cut_in_threads(name):
    pytest.importorskip(MODULES[name][0])
    text = "東京都に住んでいる人は日本語を話します。我们在北京学习中文。ภาษาไทยสวยงาม " * 10
    expected = [TermVectorizer(tokenizer=name).build_analyzer()(text[i:]) for i in range(N_THREADS)]
    analyse = TermVectorizer(tokenizer=name).build_analyzer()
    results = together(lambda i, _: (i, analyse(text[i:])))
    assert all(result == expected[i] for i, result in results)


def test_one_model_for_all_threads(mail):
    pytest.importorskip("polars")
    from termsieve import train_model

    model = train_model(mail, k=100)
    expected = train_model(mail, k=100).predict(mail.texts)
    assert all(result == expected for result in together(lambda i, _: model.predict(mail.texts)))


@pytest.mark.parametrize("name", ["svm", "svm(hinge)", "lr", "nb", "perceptron", "tree"])
def test_every_learner_trains_in_threads(mail, name):
    X = TermVectorizer(binary=True).fit_transform(mail.texts)
    y = (np.asarray(mail.labels) == "spam").astype(int)

    def work(i, _):
        fitted = get_learner(name).fit(X, y)
        decides = hasattr(fitted, "decision_function")
        return fitted.decision_function(X) if decides else fitted.predict_proba(X)

    expected = work(0, None)
    for result in together(work):
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["svm", "lr", "nb", "tree"])
def test_one_trained_learner_for_all_threads(mail, name):
    X = TermVectorizer(binary=True).fit_transform(mail.texts)
    trained = get_learner(name).fit(X, mail.labels)
    expected = trained.predict(X)
    assert all(same(result, expected) for result in together(lambda i, _: trained.predict(X)))
