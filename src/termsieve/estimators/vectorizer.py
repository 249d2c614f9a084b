"""Texts come in; term counts equal to those of CountVectorizer go out, as a scikit-learn transformer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_array

from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.terms import (
    TOKEN_PATTERN,
    Analysis,
    Names,
    check_term_limits,
    count_known,
    count_named,
    decoded,
    detected_language,
    kept_columns,
    term_numbers,
)

INPUTS = ("content", "filename", "file")
DECODE_ERRORS = ("strict", "ignore", "replace")


class TermVectorizer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    r"""Count the terms of texts: CountVectorizer's parameters and results, many times faster.

    A compiled tokeniser is used for words and their n-grams with the default pattern, and with every pattern
    that repeats one set of characters, such as ``[a-z]+`` or ``(?u)\b[a-zA-Z][a-zA-Z]+\b``; and for
    n-grams of characters. Everything else, such as n-grams of stems, runs in plain Python.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor
        As in scikit-learn's CountVectorizer, with the same defaults.
    token_pattern, ngram_range, analyzer, max_df, min_df, max_features, vocabulary, binary, dtype
        As in scikit-learn's CountVectorizer, with the same defaults.
    tokenizer : str or callable, optional
        As in CountVectorizer; also the name of a segmenter for scripts without spaces between words:
        "jieba", "sudachi", "pythainlp", or "characters", which needs no package.
    stop_words : str or collection of str, optional
        As in CountVectorizer; also the name of a language, such as "german".
    stem : str, optional
        The language whose stemmer replaces words by their stems, after the stop words were removed: all that
        PyStemmer has, such as "german", and "porter" for English.
    normalize : {"nfc", "nfd", "nfkc", "nfkd"}, optional
        The form of Unicode that texts are brought to first.
    language : str, optional
        The language whose stop words and stemmer are used where none are given; "auto" finds it in `fit`.
    n_threads : int, optional
        Number of threads; by default one per core, but at most four. The result is the same for any number.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each term. The dictionary is made when it is first read.
    language_ : str
        The language that `fit` found; only with language="auto".

    Examples
    --------
    >>> vectorizer = TermVectorizer(stop_words=["the"])
    >>> vectorizer.fit_transform(["The cat", "the cats, the dog"]).toarray()
    array([[1, 0, 0],
           [0, 1, 1]])
    >>> vectorizer.get_feature_names_out()
    array(['cat', 'cats', 'dog'], dtype=object)
    """

    __metadata_request__fit = {"raw_documents": metadata_routing.UNUSED}  # noqa: RUF012
    __metadata_request__transform = {"raw_documents": metadata_routing.UNUSED}  # noqa: RUF012

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: str | Callable[[str], str] | None = None,
        lowercase: bool = True,
        preprocessor: Callable[[Any], Any] | None = None,
        tokenizer: str | Callable[[Any], Iterable[Any]] | None = None,
        stop_words: str | Collection[str] | None = None,
        token_pattern: str | None = TOKEN_PATTERN,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str | Callable[[Any], Iterable[Any]] = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Mapping[Any, int] | Iterable[Any] | None = None,
        binary: bool = False,
        dtype: Any = np.int64,
        stem: str | None = None,
        normalize: str | None = None,
        language: str | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype
        self.stem = stem
        self.normalize = normalize
        self.language = language
        self.n_threads = n_threads

    def fit(self, raw_documents: Iterable[Any], y: Any = None) -> Self:
        """Learn the vocabulary of the documents.

        Parameters
        ----------
        raw_documents : iterable of str
            The texts.
        y : object, optional
            Ignored; it exists by scikit-learn's convention.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[Any], y: Any = None) -> sparse.csr_matrix:
        """Learn the vocabulary of the documents and return their counts.

        Parameters
        ----------
        raw_documents : iterable of str
            The texts.
        y : object, optional
            Ignored; it exists by scikit-learn's convention.

        Returns
        -------
        sparse matrix of shape (n_docs, n_terms)
            The counts.
        """
        check_term_limits(self.min_df, self.max_df, self.max_features)
        docs = self._texts(raw_documents)
        if self.language == "auto":
            docs = iter(held := list(docs))
            self.language_ = detected_language(held)
        analysis = self._analysis().checked()
        self.fixed_vocabulary_ = self.vocabulary is not None
        known = None if self.vocabulary is None else term_numbers(self.vocabulary)
        for doubt in analysis.doubts(known):
            warnings.warn(doubt, UserWarning, stacklevel=2)
        if known is not None:
            self.__dict__.pop("_names", None)
            self.vocabulary_ = known
            return self._finished(count_known(docs, analysis, known, self.n_threads))
        X, names = count_named(docs, analysis, self.n_threads)
        X = self._finished(X)
        kept = kept_columns(X, self.min_df, self.max_df, self.max_features)
        if len(kept) < X.shape[1]:
            X, names = X[:, kept], names.subset(kept)
        self._names = names
        self.__dict__.pop("vocabulary_", None)
        return X

    @cached_property
    def vocabulary_(self) -> dict[Any, int]:
        """The column of each term; the dictionary is made when it is first read."""
        names = self.__dict__.get("_names")  # even if another thread has just made the dictionary
        if not isinstance(names, Names):
            raise AttributeError("a TermVectorizer has a vocabulary_ after fit")
        return {term: column for column, term in enumerate(names.strings())}

    def _unread_names(self) -> Names | None:
        """Return the terms as `fit` found them, or None if the vocabulary is a dictionary, or unknown."""
        names = self.__dict__.get("_names")
        return names if isinstance(names, Names) and "vocabulary_" not in self.__dict__ else None

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved or copied: the vocabulary as a dictionary, as everyone reads it."""
        if self._unread_names() is not None:
            _ = self.vocabulary_
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_names"}

    def transform(self, raw_documents: Iterable[Any]) -> sparse.csr_matrix:
        """Return the counts of the terms of the vocabulary.

        Parameters
        ----------
        raw_documents : iterable of str
            The texts.

        Returns
        -------
        sparse matrix of shape (n_docs, n_terms)
            The counts.
        """
        vocabulary = self._fitted_vocabulary()
        docs = self._texts(raw_documents)
        return self._finished(count_known(docs, self._analysis().checked(), vocabulary, self.n_threads))

    def inverse_transform(self, X: Any) -> list[np.ndarray]:
        """Return the terms with a count in each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_docs, n_terms)
            The term matrix.

        Returns
        -------
        list of ndarray
            The terms of each document.
        """
        names = self.get_feature_names_out()
        table = sparse.csr_matrix(check_array(X, accept_sparse="csr"))
        if table.shape[1] != len(names):
            raise InputError(f"X has {table.shape[1]:,} columns but the vocabulary has {len(names):,} terms")
        return [names[table[i].nonzero()[1]] for i in range(table.shape[0])]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the terms in the order of the columns.

        Parameters
        ----------
        input_features : object, optional
            Ignored; it exists by scikit-learn's convention.

        Returns
        -------
        ndarray of str
            The names.
        """
        names = self._unread_names()
        if names is not None:
            terms = names.strings()
        else:
            vocabulary = self._fitted_vocabulary()
            terms = sorted(vocabulary, key=vocabulary.__getitem__)
        return np.fromiter(terms, dtype=object, count=len(terms))

    def build_analyzer(self) -> Callable[[Any], Iterable[Any]]:
        """Return the function from one document to its terms."""
        analyse = self._analysis().checked().analyser()
        return lambda doc: analyse(next(self._texts([doc])))

    def _analysis(self) -> Analysis:
        return Analysis(
            lowercase=self.lowercase,
            token_pattern=self.token_pattern,
            stop_words=self.stop_words,
            ngram_range=self.ngram_range,
            strip_accents=self.strip_accents,
            analyzer=self.analyzer,
            preprocessor=self.preprocessor,
            tokenizer=self.tokenizer,
            stem=self.stem,
            normalize=self.normalize,
            language=getattr(self, "language_", "auto") if self.language == "auto" else self.language,
        )

    def _texts(self, raw_documents: Any) -> Iterator[Any]:
        if self.input not in INPUTS:
            raise unknown_name("input", str(self.input), INPUTS)
        if self.decode_error not in DECODE_ERRORS:
            raise unknown_name("decode_error", str(self.decode_error), DECODE_ERRORS)
        try:
            "".encode(self.encoding)
        except (LookupError, TypeError):
            raise ParameterError(
                f"encoding {self.encoding!r} is unknown; name one that Python knows"
            ) from None
        if (
            self.input != "content"
            and isinstance(raw_documents, Iterable)
            and not isinstance(raw_documents, str)
        ):
            read = _file_bytes if self.input == "filename" else _file_content
            raw_documents = (read(item) for item in raw_documents)
        return decoded(raw_documents, self.encoding, self.decode_error)

    def _finished(self, X: sparse.csr_matrix) -> Any:
        if X.dtype != self.dtype:
            X = X.astype(self.dtype)
        if self.binary:
            X.data.fill(1)
        return sparse.csr_array(X) if get_config().get("sparse_interface") == "sparray" else X

    def _fitted_vocabulary(self) -> dict[Any, int]:
        if not hasattr(self, "vocabulary_"):
            if self.vocabulary is None:
                raise NotFittedError("this TermVectorizer has no vocabulary yet; call fit first or give one")
            self.fixed_vocabulary_ = True
            self.vocabulary_ = term_numbers(self.vocabulary)
        return self.vocabulary_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.vocabulary is None
        return tags


def _file_bytes(path: Any) -> bytes:
    return Path(path).read_bytes()


def _file_content(file: Any) -> Any:
    return file.read()
