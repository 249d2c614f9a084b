"""term_matrix and Analysis: their result, a corpus as source, and the paths that must agree."""

from __future__ import annotations

import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from termsieve import TermVectorizer, term_matrix
from termsieve.errors import InputError, ParameterError
from termsieve.terms import Analysis, decoded, stemmer
from termsieve.terms.alphabet import alphabet_of, token_runs
from termsieve.terms.matrix import _compiled_counts, _plain_counts

DOCS = ["The cat sat on the mat", "cats sat; 2 mats", "", "Ünïcode mat"]


def test_it_is_countvectorizers_matrix_and_names():
    X, vocabulary = term_matrix(DOCS, min_df=2)
    theirs = CountVectorizer(min_df=2)
    expected = theirs.fit_transform(DOCS)
    assert isinstance(X, sparse.csr_matrix)
    assert X.dtype == np.int64
    np.testing.assert_array_equal(X.toarray(), expected.toarray())
    assert vocabulary.dtype == object
    assert vocabulary.tolist() == theirs.get_feature_names_out().tolist()


def test_a_vocabulary_fixes_the_columns():
    X, vocabulary = term_matrix(DOCS, vocabulary={"mat": 1, "dog": 0}, min_df=2, max_features=1)
    assert vocabulary.tolist() == ["dog", "mat"]
    assert X.toarray().tolist() == [[0, 1], [0, 0], [0, 0], [0, 1]]


def test_a_corpus_of_texts_is_a_source():
    X, vocabulary = term_matrix(SimpleNamespace(texts=tuple(DOCS), matrix=None, terms=None), binary=True)
    assert X.max() == 1
    assert "ünïcode" in vocabulary


def test_a_corpus_with_a_matrix_is_taken_as_it_is():
    matrix = sparse.csr_matrix(np.array([[1, 0, 5], [2, 0, 0], [0, 1, 1]]))
    corpus = SimpleNamespace(texts=None, matrix=matrix, terms=np.array(["x", "y", "z"], dtype=object))
    X, vocabulary = term_matrix(corpus)
    np.testing.assert_array_equal(X.toarray(), matrix.toarray())
    assert vocabulary.tolist() == ["x", "y", "z"]
    X, vocabulary = term_matrix(corpus, min_df=2, binary=True)
    assert vocabulary.tolist() == ["x", "z"]
    assert X.toarray().tolist() == [[1, 1], [1, 0], [0, 1]]
    assert matrix[0, 2] == 5
    assert term_matrix(SimpleNamespace(texts=None, matrix=matrix, terms=None))[1].tolist() == ["0", "1", "2"]


def _strings(names):
    return None if names is None else names.strings()


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("stem", [None, "porter"])
@pytest.mark.parametrize("vocabulary", [None, {"mat": 0, "cat": 1, "the": 2, "sit": 3}])
def test_the_kernel_and_plain_python_agree(n_threads, stem, vocabulary):
    docs = [text + f" w{i % 700} matted cats" for i, text in enumerate(DOCS * 9000)]
    analysis = Analysis(stem=stem, stop_words=["the", "on"])
    assert analysis.compiled
    fast, fast_terms = _compiled_counts(analysis, docs, vocabulary, n_threads)
    slow, slow_terms = _plain_counts(analysis, docs, vocabulary)
    assert _strings(fast_terms) == _strings(slow_terms)
    assert fast.shape == slow.shape
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=5))
def test_stems_of_any_text_agree(docs):
    analysis = Analysis(stem="porter", token_pattern=r"\S+")
    fast, fast_terms = _compiled_counts(analysis, docs, None, 1)
    slow, slow_terms = _plain_counts(analysis, docs, None)
    assert _strings(fast_terms) == _strings(slow_terms)
    np.testing.assert_array_equal(fast.toarray(), slow.toarray())


def test_porters_own_examples():
    words = ["caresses", "ponies", "relational", "digitizer", "adjustment", "\ud800ies"]
    assert stemmer("porter")(words) == ["caress", "poni", "relat", "digit", "adjust", "\ud800ies"]


@pytest.mark.parametrize(
    ("pattern", "rule"),
    [
        (r"(?u)\b\w\w+\b", ("", r"\w", 2, True, True)),
        (r"(?u)\b[a-zA-Z][a-zA-Z]+\b", ("", "[a-zA-Z]", 2, True, True)),
        (r"[a-z]+", ("", "[a-z]", 1, False, False)),
        (r"[a-z]{3,}\b", ("", "[a-z]", 3, False, True)),
        (r"\w\w{0,}", ("", r"\w", 1, False, False)),
        (r"[^\W\d_]{2,}", ("", r"[^\W\d_]", 2, False, False)),
        (r"\w{0,}", None),
        (r"\w*", None),
        (r"\w", None),
        (r"\w+?", None),
        (r"\w{2}", None),
        (r"(\w+)", None),
        (r"[a-z]\w+", None),
        (r"\b\S+\b", None),
        (r"\B\w+", None),
        (r"(?m)\w+", None),
        (r"[a-z]+|\d+", None),
        (r"[[a]+", None),
    ],
)
def test_the_patterns_the_kernel_knows(pattern, rule):
    assert token_runs(pattern) == rule


def test_what_the_kernel_does_not_do_is_left_to_python():
    assert Analysis().compiled
    assert Analysis(strip_accents="ascii", stop_words="english").compiled
    assert Analysis(ngram_range=(2, 3)).compiled
    assert Analysis(analyzer="char", tokenizer=str.split).compiled
    for options in (
        {"ngram_range": (1, 2), "stem": "porter"},
        {"analyzer": str.split},
        {"tokenizer": str.split},
    ):
        assert not Analysis(**options).compiled


def test_an_alphabet_is_made_once():
    assert alphabet_of("", r"\w", True) is alphabet_of("", r"\w", True)
    assert alphabet_of("", r"\w", True).specials == (0x130, 0x3A3)
    assert alphabet_of("", r"\w", False).specials == ()


def test_bytes_are_decoded_or_named():
    assert list(decoded([b"caf\xc3\xa9", "x"])) == ["café", "x"]
    with pytest.raises(InputError, match="document 1 is not utf-8"):
        list(decoded(["x", b"\xe9"]))


@pytest.mark.parametrize("source", ["one text", b"one", 5, None])
def test_a_source_that_is_no_list_of_texts(source):
    with pytest.raises(InputError, match="list of texts"):
        term_matrix(source)


def test_limits_are_checked_before_any_reading():
    def never():
        raise AssertionError
        yield

    with pytest.raises(ParameterError, match="min_df"):
        term_matrix(never(), min_df=-1)


def test_a_fault_in_the_documents_comes_through():
    def faulty():
        yield "word " * 400_000
        yield "word " * 400_000
        raise OSError("the disk")

    for n_threads in (1, 2):
        with pytest.raises(OSError, match="the disk"):
            term_matrix(faulty(), n_threads=n_threads)


def test_the_callers_functions_run_in_one_thread():
    threads = set()

    def preprocessor(text):
        threads.add(threading.get_ident())
        return text

    term_matrix(["word " * 300_000] * 4, preprocessor=preprocessor, n_threads=2)
    assert threads == {threading.get_ident()}


def test_one_long_line_of_words_and_one_long_word():
    long = "lorem ipsum " * 200_000
    X, vocabulary = term_matrix([long, "x" * 3_000_000, "é" * 1_000_000 + " ipsum"])
    assert [len(word) for word in vocabulary] == [5, 5, 3_000_000, 1_000_000]
    assert X.toarray().tolist() == [[200_000, 200_000, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]]


def test_scikit_learn_is_not_imported():
    code = (
        "import sys; from termsieve import term_matrix; term_matrix(['to be'], stem='porter');"
        "sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("column", [100_000_000, 2**40, 2**70, -2, 2, "1", 0.5, None])
@pytest.mark.parametrize("options", [{}, {"tokenizer": str.split}], ids=["compiled", "plain"])
def test_a_vocabulary_from_elsewhere_cannot_write_outside_the_matrix(column, options):
    vectorizer = TermVectorizer(**options).fit(["known words"])
    vectorizer.vocabulary_ = {"known": 0, "words": column}
    assert vectorizer.transform(["known"]).toarray().tolist() == [[1, 0]]
    with pytest.raises(
        ParameterError, match="the vocabulary has 2 terms but gives 'words' the column"
    ) as told:
        vectorizer.transform(["known words", "words"])
    assert "\n" not in str(told.value)
    with pytest.raises(ParameterError, match="the columns of a vocabulary must be 0, 1, 2"):
        term_matrix(["known words"], vocabulary={"known": 0, "words": column})
