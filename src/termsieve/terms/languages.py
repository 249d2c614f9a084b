"""The name of a stop word list or of a stemmer comes in; the words, or the stemming function, go out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from termsieve.errors import unknown_name

#: The stemmers that ``stem=`` takes.
STEMMERS = ("porter",)


def stop_word_set(stop_words: str | Collection[str] | None) -> frozenset[Any] | None:
    """Return the words of a list, or of the list with a name: "english" is scikit-learn's.

    Parameters
    ----------
    stop_words : str, collection of str or None
        A list's name, or the words.

    Returns
    -------
    frozenset or None
        The words; None where there are none to leave out.
    """
    if stop_words is None:
        return None
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise unknown_name("stop word list", stop_words, ["english"])
        # Imported here, because only this list needs scikit-learn.
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(stop_words)


def stemmer(stem: str) -> Callable[[Iterable[str]], list[str]]:
    """Return the function from words to stems: "porter" is Porter's algorithm for English, by PyStemmer.

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
    import Stemmer

    stems = Stemmer.Stemmer(stem).stemWords

    def stemmed(words: Iterable[str]) -> list[str]:
        words = list(words)
        # PyStemmer reads UTF-8, which cannot hold lone surrogates; a word with one is not stemmed.
        plain = [word.encode("utf-8", "replace").decode() for word in words]
        return [
            s if word == given else word for s, word, given in zip(stems(plain), words, plain, strict=True)
        ]

    return stemmed
