"""The options of text analysis come in; the function from a text to its terms goes out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.kernels.documents import Documents
from termsieve.kernels.ngrams import MAX_UNITS, NgramTable
from termsieve.kernels.tokenise import TermTable
from termsieve.terms.alphabet import NO_SPACES, TOKEN_PATTERN, Runs, alphabet_of, has_space, token_runs
from termsieve.terms.languages import STEMMERS, language_options, stemmer, stop_word_set
from termsieve.terms.scripts import SEGMENTERS, segmenter

if TYPE_CHECKING:
    import polars

_SPACES = re.compile(r"\s\s+")


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join([c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)])


def _ascii_only(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


ACCENTS: dict[str, Callable[[str], str]] = {"ascii": _ascii_only, "unicode": _without_accents}
#: The forms of Unicode that ``normalize=`` takes.
FORMS: dict[str, Callable[[str], str]] = {
    "nfc": partial(unicodedata.normalize, "NFC"),
    "nfd": partial(unicodedata.normalize, "NFD"),
    "nfkc": partial(unicodedata.normalize, "NFKC"),
    "nfkd": partial(unicodedata.normalize, "NFKD"),
}
#: What a term can be made of: words, characters, or characters within words.
ANALYZERS = ("word", "char", "char_wb")


def _word_ngrams(tokens: list[str], ngram_range: tuple[int, int]) -> list[str]:
    least, most = ngram_range
    out = list(tokens) if least == 1 else []
    for n in range(max(least, 2), min(most, len(tokens)) + 1):
        out.extend(" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    return out


def _char_ngrams(text: str, ngram_range: tuple[int, int]) -> list[str]:
    least, most = ngram_range
    text = _SPACES.sub(" ", text)
    lengths = range(least, min(most, len(text)) + 1)
    return [text[i : i + n] for n in lengths for i in range(len(text) - n + 1)]


def _char_wb_ngrams(text: str, ngram_range: tuple[int, int]) -> list[str]:
    """Return the character n-grams inside words padded with a space; a word shorter than n counts once."""
    least, most = ngram_range
    out: list[str] = []
    for word in _SPACES.sub(" ", text).split():
        padded = f" {word} "
        for n in range(least, most + 1):
            out.extend(padded[i : i + n] for i in range(max(len(padded) - n, 0) + 1))
            if len(padded) <= n:
                break
    return out


@dataclass(frozen=True)
class Analysis:
    """How a text becomes terms: the options of CountVectorizer, `stem`, `normalize` and `language`.

    A text is normalised, then put in lower case. Stop words are removed first, then words are stemmed, then
    n-grams are made.

    Parameters
    ----------
    lowercase : bool, default=True
        Whether texts are lower-cased first.
    token_pattern : str, optional
        The regular expression of a token.
    stop_words : str or collection of str, optional
        Words to leave out, or the name of a list of them.
    ngram_range : tuple of int, default=(1, 1)
        Least and greatest length of an n-gram.
    strip_accents : {"ascii", "unicode"} or callable, optional
        How accents are removed.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        What terms are made of, or the function from a document to its terms.
    preprocessor : callable, optional
        Replaces lower-casing and the removal of accents.
    tokenizer : str or callable, optional
        Replaces the token pattern; also the name of a segmenter.
    stem : str, optional
        The name of a stemmer.
    normalize : {"nfc", "nfd", "nfkc", "nfkd"}, optional
        The form of Unicode that texts are brought to first.
    language : str, optional
        The language whose stop words and stemmer are taken where none are given.

    Examples
    --------
    >>> Analysis(stop_words=["the"], ngram_range=(1, 2)).analyser()("The cat sat")
    ['cat', 'sat', 'cat sat']
    """

    lowercase: bool = True
    token_pattern: str | None = TOKEN_PATTERN
    stop_words: str | Collection[str] | None = None
    ngram_range: tuple[int, int] = (1, 1)
    strip_accents: str | Callable[[str], str] | None = None
    analyzer: str | Callable[[Any], Iterable[Any]] = "word"
    preprocessor: Callable[[Any], Any] | None = None
    tokenizer: str | Callable[[Any], Iterable[Any]] | None = None
    stem: str | None = None
    normalize: str | None = None
    language: str | None = None

    def checked(self) -> Analysis:
        """Return itself with the words of its language, or raise an error for the first invalid option."""
        try:
            bounds: tuple[Any, Any] = self.ngram_range
            least, most = bounds
        except (TypeError, ValueError):
            raise ParameterError(
                f"ngram_range is {self.ngram_range!r}; it must be a pair of integers"
            ) from None
        whole = all(isinstance(bound, Integral) for bound in bounds)
        if not (whole and 1 <= least <= most):
            raise ParameterError(
                f"ngram_range is {self.ngram_range!r}; it must be (least, most), 1 <= least <= most"
            )
        if not callable(self.analyzer) and self.analyzer not in ANALYZERS:
            raise unknown_name("analyzer", str(self.analyzer), ANALYZERS)
        if self.strip_accents and not callable(self.strip_accents) and self.strip_accents not in ACCENTS:
            raise unknown_name("strip_accents", str(self.strip_accents), ACCENTS)
        if self.preprocessor is not None and not callable(self.preprocessor):
            raise ParameterError(f"preprocessor is {self.preprocessor!r}; it must be callable or None")
        if self.tokenizer is not None and not callable(self.tokenizer) and self.tokenizer not in SEGMENTERS:
            raise ParameterError(
                f"tokenizer is {self.tokenizer!r}; it must be callable, or one of {', '.join(SEGMENTERS)}"
            )
        if self.normalize is not None and self.normalize not in FORMS:
            raise unknown_name("normalize", str(self.normalize), FORMS)
        if self.stem is not None and self.stem not in STEMMERS:
            raise unknown_name("stemmer", str(self.stem), STEMMERS)
        if self.stem is not None and self.analyzer != "word":
            raise ParameterError("stem works on words; leave it out or set analyzer='word'")
        if self.analyzer == "word":
            stop_word_set(self.stop_words)
            if self.tokenizer is None:
                self._pattern()
        return self if self.language is None else self._in_language(self.language)

    def _in_language(self, language: str) -> Analysis:
        """Return it with the stop words and the stemmer of a language where none were given."""
        if language == "auto":
            raise ParameterError("language='auto' needs the documents; name the language, such as 'german'")
        words = language_options(language) if self.analyzer == "word" else {}
        given: dict[str, Any] = {name: value for name, value in words.items() if getattr(self, name) is None}
        return replace(self, language=None, **given)

    def doubts(self, vocabulary: Iterable[Any] | None = None) -> Iterator[str]:
        """Yield a warning for each option that is allowed but probably a mistake.

        Parameters
        ----------
        vocabulary : iterable, optional
            The vocabulary, if one is given.

        Yields
        ------
        str
            A sentence.
        """
        if self.lowercase and any(isinstance(t, str) and any(map(str.isupper, t)) for t in vocabulary or ()):
            yield "the vocabulary has upper case characters, which no text has with lowercase=True"
        if self.analyzer != "word":
            if self.stop_words is not None:
                yield "stop_words has no effect when analyzer is not 'word'"
            return
        stops = stop_word_set(self.stop_words)
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            return  # the lists of languages hold phrases as well, which no option can mend
        if not stops or self.tokenizer or self.preprocessor or callable(self.strip_accents):
            return
        cut, prepare = self._pattern().findall, self._preprocess()
        odd = {token for word in stops if isinstance(word, str) for token in cut(prepare(word))} - stops
        if odd:
            yield f"cutting the stop words gives {sorted(odd)}, which are no stop words; add them to the list"

    def _pattern(self) -> re.Pattern[str]:
        if not isinstance(self.token_pattern, str):
            raise ParameterError(
                f"token_pattern is {self.token_pattern!r}; without a tokenizer it must be a str"
            )
        try:
            pattern = re.compile(self.token_pattern)
        except re.error as error:
            raise ParameterError(f"token_pattern {self.token_pattern!r} is malformed: {error}") from None
        if pattern.groups > 1:
            raise ParameterError(
                f"token_pattern {self.token_pattern!r} has {pattern.groups} groups; it may have one"
            )
        return pattern

    def _preprocess(self) -> Callable[[Any], Any]:
        """Return the function that is applied to a text before it is split."""
        if self.preprocessor is not None:
            return self.preprocessor
        accents = self.strip_accents or None
        strip = ACCENTS[accents] if isinstance(accents, str) else accents
        lowercase, form = self.lowercase, self.normalize

        def prepared(text: str) -> str:
            if form is not None:
                text = FORMS[form](text)
            if lowercase:
                text = text.lower()
            return text if strip is None else strip(text)

        return prepared

    @property
    def takes_anything(self) -> bool:
        """Whether documents may have other types than str, because the caller's functions read them."""
        if callable(self.analyzer) or self.preprocessor is not None:
            return True
        plain = not self.lowercase and not self.strip_accents and self.normalize is None
        return callable(self.tokenizer) and plain

    def analyser(self) -> Callable[[Any], Iterable[Any]]:
        """Return the function from a document to its terms, in plain Python; it serves all options."""
        if callable(self.analyzer):
            return self.analyzer
        prepare, ngram_range = self._preprocess(), self.ngram_range
        if self.analyzer != "word":
            ngrams = _char_ngrams if self.analyzer == "char" else _char_wb_ngrams
            return lambda text: ngrams(prepare(text), ngram_range)
        named = segmenter(self.tokenizer) if isinstance(self.tokenizer, str) else self.tokenizer
        tokenise = named or self._pattern().findall
        stops = stop_word_set(self.stop_words)
        stemmed = None if self.stem is None else stemmer(self.stem)

        def terms(text: Any) -> Iterable[Any]:
            tokens = tokenise(prepare(text))
            if stops is not None:
                tokens = [token for token in tokens if token not in stops]
            if stemmed is not None:
                tokens = stemmed(tokens)
            return tokens if ngram_range[1] == 1 else _word_ngrams(list(tokens), ngram_range)

        return terms

    @property
    def compiled(self) -> bool:
        """Whether the compiled tokeniser can be used; its table then holds the terms before stemming."""
        runs = self._runs()
        if runs is None or self.ngram_range[1] > MAX_UNITS:
            return False
        if self.analyzer != "word" or self.ngram_range[1] == 1:
            return True
        # If words contain spaces, different sequences of words may be the same n-gram.
        return self.stem is None and not has_space(runs)

    def _runs(self) -> Runs | None:
        """Return the runs of characters that the compiled tokeniser cuts out, or None if it cannot."""
        if callable(self.analyzer) or (self.analyzer == "word" and self.tokenizer is not None):
            return None
        pattern = self.token_pattern if self.analyzer == "word" else NO_SPACES
        return token_runs(pattern) if isinstance(pattern, str) else None

    @property
    def _prepares(self) -> bool:
        """Whether Python changes a text before the kernel reads it."""
        return self.preprocessor is not None or bool(self.strip_accents) or self.normalize is not None

    @property
    def _lowers_in_kernel(self) -> bool:
        return bool(self.lowercase) and not self._prepares

    def table(self) -> TermTable:
        """Return an empty table of the kernel for these options."""
        runs = self._runs()
        assert runs is not None
        letters = alphabet_of(runs.flags, runs.atom, self._lowers_in_kernel)
        if self.analyzer != "word":
            return NgramTable(letters, self.analyzer, *self.ngram_range)
        stops = [word for word in stop_word_set(self.stop_words) or () if isinstance(word, str)]
        cut = runs.min_length, runs.starts_word, runs.ends_word, stops
        if self.ngram_range[1] == 1:
            return TermTable(letters, *cut)
        return NgramTable(letters, self.analyzer, *self.ngram_range, *cut)

    def documents(self, batch: list[Any] | polars.Series, first: int = 0) -> Documents:
        """Return the texts of a batch for the kernel; `first` is the number of its first document.

        Parameters
        ----------
        batch : list of str, or Series of polars
            The texts; the kernel reads those of a Series where they are.
        first : int, default=0
            The number of the first document of the batch.

        Returns
        -------
        Documents
            The texts as the kernel reads them.
        """
        runs = self._runs()
        assert runs is not None
        if self._prepares:
            prepare = self._preprocess()
            batch = [
                prepare(checked_text(doc, first + i, self.takes_anything)) for i, doc in enumerate(batch)
            ]
        letters = alphabet_of(runs.flags, runs.atom, self._lowers_in_kernel)
        if not isinstance(batch, list):
            return Documents.of_column(batch, letters)
        try:
            return Documents.of_texts(batch, letters)
        except TypeError as error:
            if not error.args or not isinstance(error.args[0], int):
                raise
            raise _not_a_text(batch[error.args[0]], first + error.args[0]) from None


def _not_a_text(doc: Any, number: int) -> InputError:
    return InputError(f"document {number} is {kind_of(doc)}; every document must be a str")


def kind_of(doc: Any) -> str:
    """Return the type of a document that is not a text, in words."""
    return repr(doc) if doc is None or isinstance(doc, float) else f"a {type(doc).__name__}"


def checked_text(doc: Any, number: int, anything: bool) -> Any:
    """Return a document that is a str, or of any type if that is allowed; otherwise raise an error."""
    if isinstance(doc, str) or (anything and doc is not np.nan):
        return doc
    raise _not_a_text(doc, number)
