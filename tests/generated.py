"""Corpora and plans that several test modules use."""

import numpy as np

from termsieve import Corpus, Counts, term_matrix

MAIL = [
    ("cheap pills now, buy", "spam"),
    ("buy cheap watches", "spam"),
    ("see you at noon", "ham"),
    ("minutes of the meeting", "ham"),
    ("the meeting is at noon", "ham"),
]
MAIL_PLAN = """
[[corpora]]
name = "mail"
path = "mail.csv"
options = { text = "body", label = "folder" }
[protocol]
folds = 2
[[methods]]
metric = ["bns", "chi"]
[sizes]
k = [2, 4]
[[learners]]
name = "svm"
"""


def in_memory(corpus, occurrences=False, **options):
    """Return the counts of a corpus by way of its term matrix."""
    X, terms = term_matrix(corpus, **options)
    return Counts.from_matrix(X, corpus.labels, terms, occurrences)


def unicode_corpus(n_docs=200, several=False, seed=1):
    """Return documents of words in several scripts, with one label each or several."""
    rng = np.random.default_rng(seed)
    words = [a + b for a in ("größe", "Слово", "数据", "İx", "ΟΔΟΣ", "plain") for b in ("", "é", "Z", "9")]
    names = np.array(["spam", "ham", "größe"])
    texts = [" ".join(rng.choice(words, rng.integers(0, 15))) for _ in range(n_docs)]
    if several:
        return Corpus(texts, [tuple(names[rng.random(3) < 0.5].tolist()) for _ in texts])
    return Corpus(texts, rng.choice(names, n_docs).tolist())
