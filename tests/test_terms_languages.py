"""Languages: stop words, stemmers, detection, scripts without spaces, and forms of Unicode."""

from __future__ import annotations

import importlib.util
import logging
import unicodedata

import pytest
import Stemmer
import stopwordsiso
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from termsieve import Corpus, TermVectorizer, count, load_model, term_matrix, train_model
from termsieve.errors import InputError, MissingExtraError, ParameterError
from termsieve.terms import LANGUAGES, SEGMENTERS, STEMMERS, stemmer, stop_word_names, stop_word_set
from termsieve.terms.languages import detected_language, language_options
from termsieve.terms.scripts import characters, is_unsegmented, segmenter, unsegmented_language

SENTENCES = {
    "german": [
        "Das Wetter ist heute sehr schön und wir gehen spazieren",
        "Die Kinder spielen im Garten hinter dem Haus",
    ],
    "french": [
        "Le temps est très beau aujourd'hui et nous allons marcher",
        "Les enfants jouent dans le jardin",
    ],
    "spanish": [
        "El tiempo es muy bueno hoy y vamos a caminar por la ciudad",
        "Los niños juegan en el jardín",
    ],
    "russian": ["Сегодня очень хорошая погода, и мы идём гулять", "Дети играют в саду за домом"],
    "turkish": ["Bugün hava çok güzel ve yürüyüşe çıkıyoruz", "Çocuklar evin arkasındaki bahçede oynuyor"],
    "arabic": ["الطقس جميل جدا اليوم ونحن ذاهبون للتنزه", "يلعب الأطفال في الحديقة خلف المنزل"],
    "finnish": [
        "Sää on tänään erittäin kaunis ja lähdemme kävelylle",
        "Lapset leikkivät puutarhassa talon takana",
    ],
}
CHINESE = ["今天天气很好我们去公园玩吧", "现在购买便宜的药片立即发货"] * 3


def test_stop_words_of_many_languages():
    names = stop_word_names()
    assert len(names) >= 40
    assert {LANGUAGES[name] for name in names} == set(stopwordsiso.langs())
    for name in names:
        words = stop_word_set(name)
        if name == "english":
            assert words == ENGLISH_STOP_WORDS
        else:
            assert words >= stopwordsiso.stopwords(LANGUAGES[name])
    assert "quelqu" in stop_word_set("french")
    with pytest.raises(ParameterError, match="did you mean 'german'"):
        stop_word_set("germn")


def test_every_stemmer_of_pystemmer():
    assert set(STEMMERS) == set(Stemmer.algorithms())
    assert stemmer("german")(["Häuser", "häuser"])[1] == Stemmer.Stemmer("german").stemWord("häuser")
    assert all(stemmer(name)(["abc"]) for name in STEMMERS)


def test_a_language_sets_both_where_none_is_given():
    texts = SENTENCES["german"]
    _, both = term_matrix(texts, language="german")
    _, same = term_matrix(texts, stop_words="german", stem="german")
    assert both.tolist() == same.tolist()
    assert "das" not in both
    _, own = term_matrix(texts, language="german", stop_words=["wetter"])
    assert "das" in own
    assert language_options("korean") == {"stop_words": "korean"}
    assert language_options("tamil") == {"stem": "tamil"}
    with pytest.raises(ParameterError, match="language 'klingon' is unknown"):
        term_matrix(texts, language="klingon")


@pytest.mark.parametrize("name", SENTENCES)
def test_the_language_is_found(name):
    assert detected_language(SENTENCES[name]) == name


def test_what_is_no_one_language_is_told():
    mixed = [text for pair in zip(*SENTENCES.values(), strict=True) for text in pair]
    with pytest.raises(ParameterError, match=r"several languages .* name one with language="):
        detected_language(mixed)
    with pytest.raises(InputError, match="empty"):
        detected_language(["", " "])


def test_auto_is_found_in_fit_and_kept(caplog):
    texts = SENTENCES["german"]
    vectorizer = TermVectorizer(language="auto").fit(texts)
    assert vectorizer.language_ == "german"
    named = TermVectorizer(language="german").fit(texts)
    assert vectorizer.get_feature_names_out().tolist() == named.get_feature_names_out().tolist()
    assert (vectorizer.transform(SENTENCES["french"]) != named.transform(SENTENCES["french"])).nnz == 0
    with pytest.raises(ParameterError, match="language='auto' needs the documents"):
        TermVectorizer(language="auto", vocabulary=["a"]).transform(texts)
    counts = count(Corpus(texts, ["x", "y"]), language="auto")
    assert counts.terms.tolist() == named.get_feature_names_out().tolist()
    assert "the documents are taken as german; name another with language=" in caplog.text


@pytest.mark.parametrize("form", ["nfc", "nfd", "nfkc", "nfkd"])
def test_normalisation_is_that_of_python(form):
    texts = ["ﬁne Ａｐｐｌｅ x² é e\u0301 Å ½", "ﬀ ㎏ ｱｲ"]
    X, terms = term_matrix(texts, normalize=form)
    plain = CountVectorizer(preprocessor=lambda text: unicodedata.normalize(form.upper(), text).lower())
    assert (plain.fit_transform(texts) != X).nnz == 0
    assert plain.get_feature_names_out().tolist() == terms.tolist()
    X, terms = term_matrix(texts, normalize=form, analyzer="char", ngram_range=(1, 2))
    plain.set_params(analyzer="char", ngram_range=(1, 2))
    assert (plain.fit_transform(texts) != X).nnz == 0
    with pytest.raises(ParameterError, match="normalize 'nfx' is unknown"):
        term_matrix(texts, normalize="nfx")


def test_without_the_new_options_the_result_is_that_of_countvectorizer():
    texts = [*CHINESE, *SENTENCES["russian"], *SENTENCES["arabic"]]
    expected = CountVectorizer().fit(texts).get_feature_names_out().tolist()
    assert TermVectorizer().fit(texts).get_feature_names_out().tolist() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今天天气很好", True),
        ("今日はいい天気", True),
        ("วันนี้อากาศดี", True),
        ("ថ្ងៃនេះ", True),
        ("ສະບາຍດີ", True),
        ("မြန်မာဘာသာ", True),
        ("오늘은 날씨가 좋다", False),
        ("a good day", False),
        ("mostly English with 中文 inside it", False),
        ("", False),
        ("123 !?", False),
    ],
)
def test_scripts_without_spaces_are_recognised(text, expected):
    assert is_unsegmented(text) is expected


def test_the_language_of_a_script():
    assert unsegmented_language(CHINESE) == "chinese"
    assert unsegmented_language(["今日はとても良い天気ですね"]) == "japanese"
    assert unsegmented_language(["วันนี้อากาศดีมาก"]) == "thai"
    assert unsegmented_language(["ថ្ងៃនេះអាកាសធាតុល្អ"]) == "other"
    assert unsegmented_language(["plain words"] * 9 + ["今天天气很好"]) is None


def test_sequences_of_characters():
    assert characters("我的 iPhone 很好用 a") == ["我的", "iPhone", "很好", "好用"]
    assert characters("好") == ["好"]
    assert characters("ดีมาก") == ["ดีม", "ีมา", "มาก", "ดีมา", "ีมาก"]


def without(monkeypatch, *modules):
    """Make packages look as if they were not installed."""
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "termsieve.terms.scripts.find_spec",
        lambda name: None if name in modules else found(name),
    )


def test_without_a_segmenter_characters_are_counted_and_it_is_said(monkeypatch, caplog, tmp_path):
    without(monkeypatch, "jieba")
    corpus = Corpus(CHINESE, ["x", "y"] * 3)
    counts = count(corpus)
    assert "天气" in counts.terms
    assert "今天天气很好我们去公园玩吧" not in counts.terms
    assert 'so terms are sequences of characters; for words: pip install "termsieve[chinese]"' in caplog.text
    caplog.clear()
    assert "今天天气很好我们去公园玩吧" in count(corpus, analyzer="word").terms
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
    model = train_model(corpus, k=10)
    assert all(len(term) <= 2 for term in model.terms)
    model.save(tmp_path / "m.skops")
    assert load_model(tmp_path / "m.skops").predict(CHINESE) == corpus.labels.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("jieba", CHINESE[0], "公园"),
        ("sudachi", "今日はとても良い天気ですね。", "天気"),
        ("pythainlp", "วันนี้อากาศดีมาก", "อากาศ"),
    ],
)
def test_segmenters_that_are_installed(name, text, word):
    words = segmenter(name)(text)
    assert word in words
    assert "。" not in words
    assert word in TermVectorizer(tokenizer=name).fit([text]).vocabulary_


def test_an_installed_segmenter_is_used_and_named(caplog):
    logging.getLogger("jieba").setLevel(logging.WARNING)
    assert "公园" in count(Corpus(CHINESE, ["x", "y"] * 3)).terms
    assert "are cut into words by jieba" in caplog.text


def test_a_segmenter_that_is_missing_names_the_pip_command(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pythainlp", None)
    with pytest.raises(MissingExtraError, match=r'pip install "termsieve\[thai\]"'):
        term_matrix(["วันนี้"], tokenizer="pythainlp")
    with pytest.raises(ParameterError, match=", ".join(SEGMENTERS)):
        term_matrix(["a"], tokenizer="spaces")
