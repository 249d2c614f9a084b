"""Texts come in; whether their script has no spaces between words, and the words in it, go out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from threading import local
from typing import Any

from termsieve.errors import MissingExtraError, require

Segmenter = Callable[[str], list[str]]

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_THAI = "\u0e00-\u0e7f"
# Lao, Tibetan, Burmese and Khmer; like Thai, their vowel signs are no letters for Python.
_OTHERS = "\u0e80-\u0fff\u1000-\u109f\u1780-\u17ff"
_SYLLABIC = re.compile(f"[{_THAI}{_OTHERS}]")
_UNSEGMENTED = re.compile(f"[{_HAN}{_KANA}{_THAI}{_OTHERS}]")
_RUNS = re.compile(rf"[{_HAN}{_KANA}{_THAI}{_OTHERS}]+|[^\W{_HAN}{_KANA}{_THAI}{_OTHERS}]{{2,}}")
_LETTER = re.compile(r"[^\W\d_]")
_LEAST_SHARE = 0.5  # of the letters of a document, or the documents of a corpus

# Name -> the module that cuts texts into words, and its language, which names the extra that installs it.
MODULES = {
    "jieba": ("jieba", "chinese"),
    "sudachi": ("sudachipy", "japanese"),
    "pythainlp": ("pythainlp", "thai"),
}
#: The names that a tokenizer may have; "characters" needs no package.
SEGMENTERS = (*MODULES, "characters")
_OWN = local()  # the Japanese tokenizer, which two threads must not use at once


def is_unsegmented(text: str) -> bool:
    """Return whether most letters of a text are of a script that has no spaces between words.

    Parameters
    ----------
    text : str
        A text.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> is_unsegmented("今天天气很好"), is_unsegmented("a good day 好")
    (True, False)
    """
    if text.isascii():
        return False
    n = len(_UNSEGMENTED.findall(text))
    return n > 0 and n >= _LEAST_SHARE * (n + len(_LETTER.findall(_UNSEGMENTED.sub("", text))))


def unsegmented_language(texts: Sequence[str]) -> str | None:
    """Return the language of texts if most have no spaces between words: one with a segmenter, or "other".

    None is returned for texts with spaces.
    """
    found = [text for text in texts if is_unsegmented(text)]
    if not found or len(found) < _LEAST_SHARE * sum(1 for text in texts if text.strip()):
        return None
    letters = "".join(found)
    n_kana, n_thai = (len(re.findall(f"[{script}]", letters)) for script in (_KANA, _THAI))
    n_others = len(re.findall(f"[{_OTHERS}]", letters))
    n_all = len(_UNSEGMENTED.findall(letters))
    if n_others > n_all / 2:
        return "other"
    if n_thai > n_all / 2:
        return "thai"
    # Japanese mixes both; Chinese has no kana.
    return "japanese" if n_kana > n_all / 10 else "chinese"


def installed_segmenter(language: str) -> str:
    """Return the name of an installed segmenter for a language, or "characters"."""
    for name, (module, its_language) in MODULES.items():
        if its_language == language and find_spec(module) is not None:
            return name if name != "sudachi" or _sudachi_dictionary() else "characters"
    return "characters"


def segmenter(name: str) -> Segmenter:
    """Return the function from a text to its words by the name of a segmenter."""
    if name == "characters":
        return characters
    _imported(name)
    return _SEGMENT[name]


def _imported(name: str) -> Any:
    """Return the module of a segmenter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba has escapes that Python calls wrong, and needs setuptools
        return require(*MODULES[name])


def characters(text: str) -> list[str]:
    """Return short sequences of characters where a script has no spaces between words, and words elsewhere.

    Chinese and Japanese give pairs of characters; Thai, Khmer, Lao, Burmese and Tibetan, whose words are
    longer, sequences of three and four.

    >>> characters("我的iPhone很好用")
    ['我的', 'iPhone', '很好', '好用']
    """
    terms: list[str] = []
    for run in _RUNS.findall(text):
        if not _UNSEGMENTED.match(run):
            terms.append(run)
            continue
        lengths = (3, 4) if _SYLLABIC.match(run) else (2,)
        if len(run) <= lengths[0]:
            terms.append(run)
            continue
        for n in lengths:
            terms.extend(run[i : i + n] for i in range(len(run) - n + 1))
    return terms


def _jieba_words(text: str) -> list[str]:
    return _words(_jieba().lcut(text))


def _sudachi_words(text: str) -> list[str]:
    if not hasattr(_OWN, "tokenizer"):
        _OWN.tokenizer = _sudachi().tokenizer()
    return _words(part.surface() for part in _OWN.tokenizer.tokenize(text))


def _thai_words(text: str) -> list[str]:
    from pythainlp.tokenize import word_tokenize

    return _words(word_tokenize(text, keep_whitespace=False))


def _words(parts: Any) -> list[str]:
    """Return the parts with a letter or a digit; in scripts with spaces, parts of at least two letters."""
    kept = (part.strip() for part in parts)
    return [part for part in kept if _RUNS.search(part)]


@cache
def _jieba() -> Any:
    import logging

    jieba = _imported("jieba")
    jieba.setLogLevel(logging.WARNING)
    return jieba


@cache
def _sudachi() -> Any:
    from sudachipy import Dictionary

    found = _sudachi_dictionary()
    if found is None:
        raise MissingExtraError(
            'sudachipy has no dictionary; add one with: pip install "termsieve[japanese]"'
        )
    return Dictionary(dict=found)


def _sudachi_dictionary() -> str | None:
    """Return the name of an installed dictionary, each of which is a package of its own."""
    return next((name for name in ("core", "full", "small") if find_spec(f"sudachidict_{name}")), None)


_SEGMENT: dict[str, Segmenter] = {
    "jieba": _jieba_words,
    "sudachi": _sudachi_words,
    "pythainlp": _thai_words,
}
