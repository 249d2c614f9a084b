"""The name of a language, or texts in one, come in; its stop words, its stemmer, or its name go out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import Stemmer

from termsieve.errors import InputError, ParameterError, unknown_name

# "porter" is Porter's algorithm for English; the others are named for their languages.
#: The stemmers that ``stem=`` takes.
STEMMERS: tuple[str, ...] = tuple(Stemmer.algorithms())
#: The languages: name -> code of ISO 639-1, by which stop words and detected languages are known.
LANGUAGES = {
    "afrikaans": "af",
    "arabic": "ar",
    "armenian": "hy",
    "basque": "eu",
    "bengali": "bn",
    "breton": "br",
    "bulgarian": "bg",
    "catalan": "ca",
    "chinese": "zh",
    "croatian": "hr",
    "czech": "cs",
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "esperanto": "eo",
    "estonian": "et",
    "finnish": "fi",
    "french": "fr",
    "galician": "gl",
    "german": "de",
    "greek": "el",
    "gujarati": "gu",
    "hausa": "ha",
    "hebrew": "he",
    "hindi": "hi",
    "hungarian": "hu",
    "indonesian": "id",
    "irish": "ga",
    "italian": "it",
    "japanese": "ja",
    "korean": "ko",
    "kurdish": "ku",
    "latin": "la",
    "latvian": "lv",
    "lithuanian": "lt",
    "malay": "ms",
    "marathi": "mr",
    "nepali": "ne",
    "norwegian": "no",
    "persian": "fa",
    "polish": "pl",
    "portuguese": "pt",
    "romanian": "ro",
    "russian": "ru",
    "serbian": "sr",
    "sesotho": "st",
    "slovak": "sk",
    "slovenian": "sl",
    "somali": "so",
    "spanish": "es",
    "swahili": "sw",
    "swedish": "sv",
    "tagalog": "tl",
    "tamil": "ta",
    "thai": "th",
    "turkish": "tr",
    "ukrainian": "uk",
    "urdu": "ur",
    "vietnamese": "vi",
    "yiddish": "yi",
    "yoruba": "yo",
    "zulu": "zu",
}
_APOSTROPHE = re.compile("['’]")
_NORWEGIAN = ("nb", "nn")  # the two written forms, which have one list and one stemmer
_SAMPLE = 500  # number of texts that say the language of all
_CHUNKS = 20  # parts of the texts whose language is asked for
_LEAST_AGREEMENT = 0.6  # share of the parts that must be in the same language
_CHUNK_CHARACTERS = 4000
_LEAST_STOP_WORDS = 0.2  # share of the most frequent terms, if these are words of everyday speech


def stop_word_names() -> list[str]:
    """Return the names of the languages that have a list of stop words.

    Returns
    -------
    list of str
        Names of :data:`LANGUAGES`.
    """
    import stopwordsiso

    known = stopwordsiso.langs()
    return [name for name, code in LANGUAGES.items() if code in known]


def stop_word_set(stop_words: str | Collection[str] | None) -> frozenset[Any] | None:
    """Return the words of a list, or of the list of a language; that of "english" is scikit-learn's.

    Parameters
    ----------
    stop_words : str, collection of str or None
        The name of a language, or the words.

    Returns
    -------
    frozenset or None
        The words; None where there are none to leave out.
    """
    if stop_words is None:
        return None
    if not isinstance(stop_words, str):
        return frozenset(stop_words)
    if stop_words == "english":
        # Imported here, because only this list needs scikit-learn.
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if stop_words not in (names := stop_word_names()):
        raise unknown_name("stop word list", stop_words, names)
    import stopwordsiso

    words = stopwordsiso.stopwords(LANGUAGES[stop_words])
    # A tokeniser cuts words such as "quelqu'un" at the apostrophe.
    return frozenset([*words, *(part for word in words for part in _APOSTROPHE.split(word) if len(part) > 1)])


def stop_word_language(frequent: Sequence[str]) -> str | None:
    """Return the language whose list has most of some frequent terms; None if no list has a fifth of them.

    >>> stop_word_language(["der", "und", "haus", "nicht"]), stop_word_language(["word-1", "word-2"])
    ('german', None)
    """
    import stopwordsiso

    lists = {name: stopwordsiso.stopwords(LANGUAGES[name]) for name in stop_word_names()}
    found = {name: sum(term in words for term in frequent) for name, words in lists.items()}
    best = max(found, key=lambda name: found[name])
    return best if frequent and found[best] >= _LEAST_STOP_WORDS * len(frequent) else None


def stemmer(stem: str) -> Callable[[Iterable[str]], list[str]]:
    """Return the function from words to stems: that of a language, or "porter", by PyStemmer.

    Parameters
    ----------
    stem : str
        One of :data:`STEMMERS`.

    Returns
    -------
    callable
        The function.
    """
    if stem not in STEMMERS:
        raise unknown_name("stemmer", stem, STEMMERS)
    stems = Stemmer.Stemmer(stem).stemWords

    def stemmed(words: Iterable[str]) -> list[str]:
        words = list(words)
        # PyStemmer reads UTF-8, which cannot hold lone surrogates; a word with one is not stemmed.
        plain = [word.encode("utf-8", "replace").decode() for word in words]
        return [
            s if word == given else word for s, word, given in zip(stems(plain), words, plain, strict=True)
        ]

    return stemmed


def language_options(language: str) -> dict[str, str]:
    """Return the stop words and the stemmer of a language, as far as it has them.

    >>> language_options("german"), language_options("korean")
    ({'stop_words': 'german', 'stem': 'german'}, {'stop_words': 'korean'})
    """
    if language not in LANGUAGES:
        raise unknown_name("language", language, ["auto", *LANGUAGES])
    options = {"stop_words": language} if language in stop_word_names() else {}
    return options | ({"stem": language} if language in STEMMERS else {})


def detected_language(texts: Sequence[Any]) -> str:
    """Return the name of the language that texts are in; several languages, or an unknown one, are an error.

    Parameters
    ----------
    texts : sequence of str
        The texts; of many only some are looked at.

    Returns
    -------
    str
        One of :data:`LANGUAGES`.

    Examples
    --------
    >>> detected_language(["Das Wetter ist heute sehr schön", "Wir gehen in den Wald und an den See"])
    'german'
    """
    from py3langid import classify

    sample = texts[:: max(len(texts) // _SAMPLE, 1)]
    whole = [text for text in sample if isinstance(text, str) and text.strip()]
    step = max(-(-len(whole) // _CHUNKS), 1)
    chunks = [" ".join(whole[i : i + step])[:_CHUNK_CHARACTERS] for i in range(0, len(whole), step)]
    found = Counter(classify(chunk)[0] for chunk in chunks)
    if not found:
        raise InputError("the documents are empty, so that their language is not known; leave language= out")
    code, n = found.most_common(1)[0]
    names = {code: name for name, code in LANGUAGES.items()} | dict.fromkeys(_NORWEGIAN, "norwegian")
    if n < _LEAST_AGREEMENT * len(chunks):
        seen = ", ".join(names.get(code, code) for code, _ in found.most_common(3))
        raise ParameterError(
            f"the documents seem to be in several languages ({seen}); name one with language="
        )
    if code not in names:
        raise ParameterError(
            f"the documents seem to be in the language {code!r}, which has no list and no stemmer here; "
            "leave language= out"
        )
    return names[code]
