"""Threads that share one fitted object get what one thread alone gets."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from scipy import sparse

from termsieve import Corpus, TermSelector, TermVectorizer, TermWeighter, count, rank, score, train_model
from termsieve.learners import get_learner

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


def together(work):
    """Return what `work(i)` gave in each of several threads that begin at the same moment, several times."""
    gate = Barrier(N_THREADS)

    def one(i):
        gate.wait(60)
        return [work(i) for _ in range(ROUNDS)]

    with ThreadPoolExecutor(N_THREADS) as pool:
        return [result for results in pool.map(one, range(N_THREADS)) for result in results]


def same(a, b):
    return a.shape == b.shape and (a != b).nnz == 0 if sparse.issparse(a) else np.array_equal(a, b)


def test_one_vectorizer_and_one_selector_for_all_threads(mail):
    vectorizer = TermVectorizer().fit(mail.texts)
    X = vectorizer.transform(mail.texts)
    selector = TermSelector("bns", k=50).fit(X, mail.labels)
    weighter = TermWeighter("bns").fit(X, mail.labels)
    expected = weighter.transform(X), selector.transform(X)

    def work(i):
        own = vectorizer.transform(mail.texts)
        return weighter.transform(own), selector.transform(own)

    for results in together(work):
        assert all(map(same, results, expected))


def test_threads_that_fit_do_not_meet(mail):
    """Counting, scoring and ranking in each thread; caches are shared, and first used by all at once."""
    counts = count(mail)
    fresh = count(mail)
    expected = [rank(score(counts, name)).terms.tolist() for name in ("bns", "information_gain")]

    def work(i):
        own = fresh if i % 2 else count(mail)
        return [rank(score(own, name)).terms.tolist() for name in ("bns", "information_gain")]

    assert all(result == expected for result in together(work))


def test_one_model_for_all_threads(mail):
    model = train_model(mail, k=100)
    expected = model.predict(mail.texts)
    assert all(result == expected for result in together(lambda i: model.predict(mail.texts)))


@pytest.mark.parametrize("name", ["svm", "svm(hinge)", "lr", "nb", "perceptron"])
def test_every_learner_trains_in_threads(mail, name):
    X = TermVectorizer(binary=True).fit_transform(mail.texts)
    y = (np.asarray(mail.labels) == "spam").astype(int)

    def work(i):
        fitted = get_learner(name).fit(X, y)
        return fitted.predict(X) if name == "nb" else fitted.decision_function(X)

    expected = work(0)
    for result in together(work):
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)
