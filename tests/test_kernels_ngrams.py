"""The compiled n-grams beside CountVectorizer's, for all of Unicode, in every engine of one process."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from termsieve.kernels.documents import Documents
from termsieve.kernels.ngrams import MAX_UNITS, NgramTable

from termsieve import Counts, TermVectorizer, count
from termsieve.terms import Analysis
from termsieve.terms.alphabet import alphabet_of

ODD = "İıΣσςßẞǅſKÅ𐐀ΆЁé́̇_0٣²中\ud83d\ude00\udfff\x00\x01\x1c\x85 \n\t-'.aAzZ😀\u2003\u3000"
texts = st.text(st.one_of(st.characters(), st.sampled_from(ODD), st.sampled_from("abAB1_   \n")), max_size=30)
ranges = st.tuples(st.integers(1, 5), st.integers(0, 4)).map(lambda pair: (pair[0], sum(pair)))
options = st.fixed_dictionaries(
    {
        "analyzer": st.sampled_from(["word", "char", "char_wb"]),
        "ngram_range": ranges,
        "lowercase": st.booleans(),
        "token_pattern": st.sampled_from([r"(?u)\b\w\w+\b", r"\S+", "[a-z]+", r"[^ ]+", r"(?a)\w+"]),
        "strip_accents": st.sampled_from([None, "unicode"]),
        "stop_words": st.sampled_from([None, ["ab", "a", "ß", "\x01"]]),
    }
)
RULES = [("word", 1, 2), ("word", 2, 3), ("char", 2, 5), ("char_wb", 2, 5), ("char_wb", 4, 4)]


def theirs(docs, **given):
    """Return CountVectorizer's matrix and terms, or None if it finds no term."""
    vectorizer = CountVectorizer(**given)
    try:
        X = vectorizer.fit_transform(docs)
    except ValueError:
        return None
    X.sort_indices()
    return X, vectorizer.get_feature_names_out().tolist()


def table_of(kind, least, most):
    if kind == "word":
        return NgramTable(alphabet_of("", r"\w", True), kind, least, most, 2, True, True)
    return NgramTable(alphabet_of("", r"\S", True), kind, least, most)


def documents(kind, docs):
    return Documents.of_texts(docs, alphabet_of("", r"\w" if kind == "word" else r"\S", True))


def named(table, indptr, ids, counts):
    """Return the rows with the n-grams spelled out."""
    spelled = table.terms(ids.astype(np.int64))
    cells = list(zip(spelled, counts.tolist(), strict=True))
    return [dict(cells[a:b]) for a, b in itertools.pairwise(indptr)]


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=150)
@given(st.lists(texts, min_size=1, max_size=6), options)
def test_any_text_has_countvectorizers_ngrams(docs, chosen):
    assert Analysis(**chosen).compiled
    expected = theirs(docs, **chosen)
    if expected is None:
        return
    vectorizer = TermVectorizer(**chosen)
    X = vectorizer.fit_transform(docs)
    assert vectorizer.get_feature_names_out().tolist() == expected[1]
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(X, name), getattr(expected[0], name))
    labels = ["ab"[i % 2] for i in range(len(docs))]
    want = Counts.from_matrix(expected[0], labels, expected[1], occurrences=True)
    assert count([(docs, labels)], workers=2, occurrences=True, **chosen) == want


@pytest.mark.parametrize(("kind", "least", "most"), RULES)
def test_documents_longer_than_a_segment(kind, least, most):
    rng = np.random.default_rng(0)
    docs = ["".join(rng.choice(list("ab é  \nΣ"), size)) for size in (4095, 4096, 4097, 20_000)]
    docs += [" " * 5000 + "a" * 5000 + "\n" * 5000, "a" * 4095 + " " * 4 + "b"]
    expected = theirs(docs, analyzer=kind, ngram_range=(least, most))
    X = TermVectorizer(analyzer=kind, ngram_range=(least, most)).fit_transform(docs)
    assert (expected[0] != X).nnz == 0


@pytest.mark.parametrize(("kind", "least", "most"), RULES)
def test_many_batches_on_two_threads(kind, least, most):
    docs = [f"word{i % 997} other{i % 31} the Cat {'x' * (i % 5)}" for i in range(9000)]
    expected = theirs(docs, analyzer=kind, ngram_range=(least, most))
    vectorizer = TermVectorizer(analyzer=kind, ngram_range=(least, most), n_threads=2)
    X = vectorizer.fit_transform(docs)
    assert (expected[0] != X).nnz == 0
    assert vectorizer.get_feature_names_out().tolist() == expected[1]


@pytest.mark.parametrize(("kind", "least", "most"), RULES)
@settings(max_examples=40, deadline=None)
@given(first=st.lists(texts, max_size=4), second=st.lists(texts, max_size=4))
def test_tables_merge(kind, least, most, first, second):
    one, other, whole = (table_of(kind, least, most) for _ in range(3))
    rows = named(one, *one.rows(documents(kind, first)))
    indptr, ids, counts = other.rows(documents(kind, second))
    numbers = one.merge(other)
    rows += named(one, indptr, numbers[ids], counts)
    assert rows == named(whole, *whole.rows(documents(kind, first + second)))
    order = one.order()
    assert one.terms(order) == whole.terms(whole.order()) == sorted({term for row in rows for term in row})
    data, ends = one.spelling(order)
    assert bytes(data).decode("utf-8", "surrogatepass") == "".join(one.terms(order))
    assert np.diff(ends, prepend=0).tolist() == [
        len(t.encode("utf-8", "surrogatepass")) for t in one.terms(order)
    ]


def test_what_cannot_be_joined_or_is_too_long_is_left_to_python():
    spaced = {"token_pattern": r"[\w ]+", "ngram_range": (1, 2)}
    assert not Analysis(**spaced).compiled
    assert not Analysis(ngram_range=(1, MAX_UNITS + 1)).compiled
    docs = ["a b!a!b", "b"]
    expected = theirs(docs, **spaced)
    assert TermVectorizer(**spaced).fit_transform(docs).toarray().tolist() == expected[0].toarray().tolist()
    with pytest.raises(ValueError, match="spaces"):
        NgramTable(alphabet_of("", r"[\w ]", True), "word", 1, 2)
    for bounds in ((0, 1), (2, 1), (1, MAX_UNITS + 1)):
        with pytest.raises(ValueError, match="n-grams have 1 to 255"):
            table_of("char", *bounds)


def test_numbers_that_are_no_ngrams():
    table = table_of("char", 1, 2)
    table.rows(documents("char", ["ab"]))
    for read in (table.terms, table.spelling):
        for number in (-1, len(table)):
            with pytest.raises(IndexError):
                read([number])
    with pytest.raises(ValueError, match="different kinds"):
        table.merge(table_of("char_wb", 1, 2))


def test_the_longest_ngrams():
    docs = ["ab" * 200, "b" * MAX_UNITS]
    bounds = (MAX_UNITS - 1, MAX_UNITS)
    expected = theirs(docs, analyzer="char", ngram_range=bounds)
    vectorizer = TermVectorizer(analyzer="char", ngram_range=bounds)
    assert (vectorizer.fit_transform(docs) != expected[0]).nnz == 0
    assert vectorizer.get_feature_names_out().tolist() == expected[1]
