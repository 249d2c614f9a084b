"""TermVectorizer beside CountVectorizer: vocabulary, order, every cell, and what it says of bad input."""

from __future__ import annotations

import io
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from termsieve import TermVectorizer
from termsieve.errors import TermsieveError

LETTERS = r"(?u)\b[a-zA-Z][a-zA-Z]+\b"
PATTERNS = [
    r"(?u)\b\w\w+\b",
    r"\w+",
    r"\b\w+\b",
    r"\w{3,}",
    LETTERS,
    r"[a-z]+",
    r"\b[a-z]{2,}",
    r"[a-z]{2,}\b",
    r"[^\W\d_]+",
    r"\b[^\W\d_]+\b",
    r"(?a)\b\w\w+\b",
    r"(?i)[a-z]+",
    r"\S+",
    r"\d+",
    r"[\w'-]+",
    r"\b[\w'-]+\b",
    r"[^\s]+",
    r"\w\w",
    r"\w+?",
    r"(\w)\w+",
    r"\b[a-z]\w+\b",
    r"[a-z]*",
]
# What changes length or context when lowered, joins no word, ends one, or has no UTF-8.
ODD = "İıΣσςßẞǅǆſKÅ𐐀𐐨ΆάЁёÉé́̇_0٣²½Ⅷ中文\ud83d\ude00\udfff\x00\x1c\x85\u2028 \t\n-'.aAzZ😀ªʰ𝔄"
texts = st.text(st.one_of(st.characters(), st.sampled_from(ODD), st.sampled_from("abAB1_ ")), max_size=40)
documents = st.lists(texts, max_size=6)


def same(options: dict, docs: list, unseen: list | None = None) -> None:
    """Fit both and compare; when CountVectorizer refuses, TermVectorizer has to as well."""
    theirs, ours = CountVectorizer(**options), TermVectorizer(**options)
    try:
        expected = theirs.fit_transform(docs)
    except ValueError:
        with pytest.raises(TermsieveError):
            ours.fit_transform(docs)
        return
    got = ours.fit_transform(docs)
    assert ours.vocabulary_ == theirs.vocabulary_
    assert ours.get_feature_names_out().tolist() == sorted(theirs.vocabulary_, key=theirs.vocabulary_.get)
    assert_equal(got, expected)
    for more in (docs, unseen or []):
        assert_equal(ours.transform(more), theirs.transform(more))


def assert_equal(got, expected) -> None:
    assert type(got) is type(expected)
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    assert got.has_sorted_indices
    expected.sort_indices()
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))
        assert getattr(got, name).dtype == getattr(expected, name).dtype


@settings(max_examples=120, deadline=None)
@given(documents, documents, st.booleans(), st.sampled_from(PATTERNS))
def test_any_text_gives_countvectorizers_matrix(docs, unseen, lowercase, pattern):
    same({"lowercase": lowercase, "token_pattern": pattern}, docs, unseen)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.text(st.sampled_from("abcABC é٣_ "), max_size=25), max_size=6),
    st.fixed_dictionaries(
        {},
        optional={
            "lowercase": st.booleans(),
            "token_pattern": st.sampled_from(PATTERNS),
            "stop_words": st.lists(st.sampled_from(["ab", "a", "cc", "é", "éa"]), min_size=1),
            "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 3)]),
            "min_df": st.sampled_from([1, 2, 0.0, 0.3, 1.0]),
            "max_df": st.sampled_from([1, 2, 0.0, 0.7, 1.0]),
            "max_features": st.sampled_from([1, 2, 3]),
            "binary": st.booleans(),
            "strip_accents": st.sampled_from(["ascii", "unicode"]),
            "analyzer": st.sampled_from(["word", "char", "char_wb"]),
            "dtype": st.sampled_from([np.int64, np.uint8, np.float32]),
            "vocabulary": st.sampled_from([["ab", "ba"], {"b": 1, "cab": 0}, {"aa", "bb", "é"}]),
        },
    ),
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_options_give_countvectorizers_matrix(docs, options):
    same(options, docs, ["ab ba cab é", ""])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_odd_character_before_within_and_after_a_word(pattern):
    docs = [f"ab{c}ab {c}ab ab{c} {c} {c}{c} {c.upper()}ab" for c in ODD]
    same({"token_pattern": pattern}, docs)
    same({"token_pattern": pattern, "lowercase": False}, docs)


@pytest.mark.parametrize(
    "docs",
    [
        ["ΟΔΥΣΣΕΥΣ ΣΑΣ ΑΣ", "ΑΣ. ΑΣΑ aΣ ΑΣ\u0301", "Σ ΣΣ σς"],
        ["İSTANBUL İİ Iİ iI", "i\u0307stanbul"],
        ["a" * 16, "a" * 17, "b" * 8 + " " + "b" * 9, "a" * 16 + "é"],
        ["\ud800ab ab\udc00 \ud83d\ude00", "\ue000\U00010000 xx"],
        ["x" * 5000 + " " + "y" * 4096, " " * 9000 + "zz"],
        ["é" * 5000 + "," + "ж" * 4096 + " ab", "中" * 9000],
        ["ab\0cd\0", "\0", "", " ab"],
        ["aéaé" * 3000, "éa " * 3000, "\U0001d504a " * 3000],
    ],
)
@pytest.mark.parametrize("pattern", [PATTERNS[0], LETTERS, r"\S+", r"\b[^\W\d_]+\b"])
def test_awkward_documents(docs, pattern):
    same({"token_pattern": pattern}, docs)


def test_words_that_share_a_beginning_are_sorted_as_python_sorts():
    words = ["abcdefgh" + tail for tail in ("", "a", "z", "é", "\U00010000", "\uffff", "_", "0" * 20)]
    same({}, [" ".join(reversed(words)), words[3]])


def test_threads_do_not_change_the_result():
    generator = np.random.default_rng(5)
    words = np.array([f"w{i}é" if i % 7 == 0 else f"w{i}" for i in range(4000)])
    docs = [" ".join(words[generator.zipf(1.3, 200) % 4000]) for _ in range(3000)]
    theirs = CountVectorizer()
    fitted, transformed = theirs.fit_transform(docs), theirs.transform(docs[:2000])
    for n_threads in (1, 2, 3):
        ours = TermVectorizer(n_threads=n_threads)
        assert_equal(ours.fit_transform(docs), fitted)
        assert ours.vocabulary_ == theirs.vocabulary_
        assert_equal(ours.transform(docs[:2000]), transformed)


def test_callables_are_used_as_countvectorizer_uses_them():
    docs = [["b", "a", "a"], ["c"]]
    same({"analyzer": _identity}, docs)
    same({"preprocessor": " ".join, "token_pattern": r"\w"}, docs)
    same({"preprocessor": " ".join, "token_pattern": r"\w+"}, docs)
    same({"tokenizer": _identity, "token_pattern": None, "lowercase": False}, docs)
    same({"tokenizer": str.split, "token_pattern": None, "ngram_range": (1, 2)}, ["A b", "b C"])
    same({"strip_accents": str.swapcase}, ["Über übel", "x"])
    same({"analyzer": _pairs}, docs)


def _identity(doc):
    return doc


def _pairs(doc):
    return [(a, a) for a in doc]


def test_english_stop_words():
    same({"stop_words": "english"}, ["the cat and the hat", "of mice and men", "whereafter"])


def test_bytes_files_and_names(tmp_path: Path):
    raw = [b"caf\xe9 noir", b"th\xe9 vert"]
    same({"encoding": "latin-1"}, raw)
    same({"decode_error": "replace"}, raw)
    same({"decode_error": "ignore"}, raw)
    for i, text in enumerate(raw):
        (tmp_path / str(i)).write_bytes(text)
    same({"input": "filename", "encoding": "latin-1"}, [tmp_path / "0", tmp_path / "1"])
    ours = TermVectorizer(input="file").fit_transform([io.StringIO("a bb"), io.BytesIO(b"bb cc")])
    assert ours.toarray().tolist() == [[1, 0], [1, 1]]


def test_any_iterable_of_documents():
    docs = ["one two", "two three"]
    expected = CountVectorizer().fit_transform(docs)
    for source in (tuple(docs), iter(docs), (d for d in docs), np.array(docs), np.array(docs, dtype=object)):
        assert_equal(TermVectorizer().fit_transform(source), expected)


def test_stems_share_a_column():
    docs = ["connect connected the connection", "relational", "connecting relate"]
    ours = TermVectorizer(stem="porter", stop_words=["the"])
    assert ours.fit_transform(docs).toarray().tolist() == [[3, 0], [0, 1], [1, 1]]
    assert ours.get_feature_names_out().tolist() == ["connect", "relat"]
    assert ours.transform(["connections relations"]).toarray().tolist() == [[1, 1]]
    plain = TermVectorizer(stem="porter", stop_words=["the"], ngram_range=(1, 2)).fit(docs)
    assert "connect connect" in plain.vocabulary_
    assert ours.get_feature_names_out().tolist() == [t for t in plain.get_feature_names_out() if " " not in t]


@pytest.mark.parametrize(
    ("options", "docs", "says"),
    [
        ({}, [], "no documents"),
        ({}, ["", "a b"], "none of the 2 documents"),
        ({}, "one text", "single text"),
        ({}, b"one text", "single text"),
        ({}, 7, "a list of texts"),
        ({}, ["fine", None], "document 1 is None"),
        ({}, ["fine", 3], "document 1 is a int"),
        ({}, [float("nan")], "document 0 is nan"),
        ({"ngram_range": (1, 2)}, ["fine", None], "document 1 is None"),
        ({}, ["fine", b"caf\xe9"], "document 1 is not utf-8: byte 0xe9 at 3"),
        ({"encoding": "klingon"}, ["x"], "encoding 'klingon'"),
        ({"decode_error": "shrug"}, ["x"], "decode_error 'shrug'"),
        ({"input": "url"}, ["x"], "input 'url'"),
        ({"max_df": 1, "min_df": 2}, ["aa", "bb"], "max_df=1"),
        ({"min_df": 2}, ["aa", "bb"], "no term is left"),
        ({"min_df": 0}, ["aa"], "min_df is 0"),
        ({"max_df": 1.5}, ["aa"], "max_df is 1.5"),
        ({"max_df": "all"}, ["aa"], "max_df is 'all'"),
        ({"max_features": 0}, ["aa"], "max_features is 0"),
        ({"ngram_range": (2, 1)}, ["aa"], "ngram_range"),
        ({"ngram_range": 2}, ["aa"], "ngram_range"),
        ({"stop_words": "klingon"}, ["aa"], "stop word list 'klingon'"),
        ({"strip_accents": "asci"}, ["aa"], "did you mean 'ascii'"),
        ({"analyzer": "words"}, ["aa"], "did you mean 'word'"),
        ({"tokenizer": "split"}, ["aa"], "tokenizer is 'split'"),
        ({"token_pattern": "("}, ["aa"], "malformed"),
        ({"token_pattern": r"(\w)(\w)"}, ["aa"], "2 groups"),
        ({"token_pattern": None}, ["aa"], "token_pattern is None"),
        ({"vocabulary": []}, ["aa"], "vocabulary is empty"),
        ({"vocabulary": ["a", "a"]}, ["aa"], "'a' twice"),
        ({"vocabulary": {"a": 0, "b": 2}}, ["aa"], "0, 1, 2"),
        ({"stem": "snow"}, ["aa"], "stemmer 'snow'"),
        ({"stem": "porter", "analyzer": "char"}, ["aa"], "stem works on words"),
        ({"n_threads": 0}, ["aa"], "n_threads is 0"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(options, docs, says):
    with pytest.raises(TermsieveError, match=re.escape(says)) as caught:
        TermVectorizer(**options).fit(docs)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_the_first_bad_document_is_named_whatever_the_threads():
    docs: list = ["word " * 1000] * 2000
    docs[1500] = docs[700] = 5
    for n_threads in (1, 2):
        with pytest.raises(TermsieveError, match="document 700 "):
            TermVectorizer(n_threads=n_threads).fit(docs)


def test_doubtful_options_warn():
    with pytest.warns(UserWarning, match=r"\['don'\]"):
        TermVectorizer(stop_words=["don't"]).fit(["do it"])
    with pytest.warns(UserWarning, match="upper case"):
        TermVectorizer(vocabulary=["Do"]).fit(["do it"])
    with pytest.warns(UserWarning, match="no effect"):
        TermVectorizer(stop_words=["do"], analyzer="char").fit(["do it"])


def test_it_is_a_scikit_learn_transformer():
    docs = ["good fine", "bad poor", "good nice", "bad awful"] * 5
    y = [1, 0, 1, 0] * 5
    ours = TermVectorizer(min_df=2)
    assert clone(ours).get_params() == ours.get_params()
    assert set(CountVectorizer().get_params()) <= set(ours.get_params())
    for name, value in CountVectorizer().get_params().items():
        assert ours.get_params()[name] == value or name == "min_df"
    with pytest.raises(NotFittedError):
        ours.transform(docs)
    ours.fit(docs)
    again = pickle.loads(pickle.dumps(ours))
    assert_equal(again.transform(docs), ours.transform(docs))
    search = GridSearchCV(
        make_pipeline(TermVectorizer(), MultinomialNB()), {"termvectorizer__binary": [True, False]}, cv=2
    )
    assert search.fit(docs, y).score(docs, y) == 1.0
    rows = ours.inverse_transform(ours.transform(["good bad", "nothing"]))
    assert [row.tolist() for row in rows] == [["bad", "good"], []]
    with pytest.raises(TermsieveError, match="3 columns"):
        ours.inverse_transform(np.ones((1, 3)))
    assert ours.build_analyzer()(b"Good Fine") == ["good", "fine"]


def test_the_vocabulary_is_made_when_it_is_read():
    ours = TermVectorizer(min_df=2, ngram_range=(1, 2))
    with pytest.raises(AttributeError, match="after fit"):
        _ = ours.vocabulary_
    docs = ["to be or not", "not to be", "be é quick é", "é not"]
    ours.fit(docs)
    assert "vocabulary_" not in vars(ours)
    names = ["be", "not", "to", "to be"]
    assert ours.get_feature_names_out().tolist() == names
    copied = pickle.loads(pickle.dumps(ours))
    assert vars(copied)["vocabulary_"] == {name: i for i, name in enumerate(names)} == ours.vocabulary_
    assert "_names" not in vars(copied)
    assert ours.fit(["new words", "new words"]).vocabulary_ == {"new": 0, "new words": 1, "words": 2}
    assert ours.set_params(vocabulary=["fixed"]).fit(docs).vocabulary_ == {"fixed": 0}
    assert ours.get_feature_names_out().tolist() == ["fixed"]


def test_a_vocabulary_needs_no_fit():
    ours = TermVectorizer(vocabulary=["bb", "aa"])
    assert ours.transform(["aa bb bb"]).toarray().tolist() == [[2, 1]]
    assert ours.get_feature_names_out().tolist() == ["bb", "aa"]
    assert ours.transform([]).shape == (0, 2)


@pytest.fixture(scope="module")
def corpus(data_dir: Path, request) -> list[str]:
    """Documents of a corpus, sampled so that the comparison takes a second."""
    if request.param == "reuters":
        text = "".join(p.read_text("latin-1") for p in sorted(data_dir.glob("reuters21578/*.sgm"))[:2])
        return re.findall(r"<TEXT.*?</TEXT>", text, flags=re.DOTALL)
    if request.param == "dvd":
        text = "".join(p.read_text("latin-1") for p in sorted(data_dir.glob("dvd_reviews/*.review")))
        return text.split("<review>")[::3]
    folder, step = {"20news": ("20_newsgroups", 20), "movie": ("movie_reviews", 4)}[request.param]
    return [p.read_text("latin-1") for p in sorted((data_dir / folder).glob("*/*"))[::step]]


@pytest.mark.slow
@pytest.mark.corpora
@pytest.mark.parametrize("corpus", ["20news", "reuters", "movie", "dvd"], indirect=True)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"token_pattern": LETTERS, "min_df": 3, "max_df": 0.5},
        {"lowercase": False, "stop_words": "english", "max_features": 500},
        {"strip_accents": "unicode", "binary": True},
    ],
    ids=str,
)
def test_real_corpora_give_countvectorizers_matrix(corpus, options):
    assert len(corpus) >= 500
    half = len(corpus) // 2
    same(options, corpus[:half], corpus[half:])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 2)},
        {"ngram_range": (2, 3), "stop_words": ["of"]},
        {"analyzer": "char", "ngram_range": (1, 3)},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
        {"lowercase": False},
        {"strip_accents": "unicode"},
        {"token_pattern": r"[a-z']{3,}"},
        {"stem": "porter"},
    ],
)
def test_a_small_vocabulary_is_looked_for_among_the_words(monkeypatch, options):
    """The columns are the same as when each word of the texts is looked up in the vocabulary."""
    generator = np.random.default_rng(0)
    words = ["naïve", "ΟΔΟΣ", "İx", "of", "it's", "Cheap", "meetings", *(f"word{i}" for i in range(80))]
    texts = [" ".join(generator.choice(words, 12)) for _ in range(60)]
    every = TermVectorizer(**options).fit(texts).get_feature_names_out().tolist()
    chosen = generator.choice(every, min(12, len(every)), replace=False).tolist()
    strange = ["Capital", "of", "two words", " ", "", "\ud800", "absent"]
    for vocabulary in (chosen, sorted({*chosen, *strange})):
        found = []
        for times in (0, 10**9):
            monkeypatch.setattr("termsieve.terms.matrix.SMALL_VOCABULARY", times)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about terms that no text can have
                found.append(TermVectorizer(vocabulary=vocabulary, **options).fit_transform(texts))
        assert found[0].sum() > 0
        assert (found[0] != found[1]).nnz == 0
