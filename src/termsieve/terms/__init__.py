"""Texts come in; a sparse matrix of term counts and its vocabulary, as CountVectorizer makes them, go out."""

from __future__ import annotations

import re
import threading
import unicodedata
import warnings
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.kernels.tokenise import Alphabet, Documents, TermTable, place_rows
from termsieve.machine import processor_count

TOKEN_PATTERN = r"(?u)\b\w\w+\b"
BATCH_CHARACTERS = 1 << 20
BATCH_DOCUMENTS = 8192
MAX_THREADS = 4
N_CODE_POINTS = 0x110000
# Its lower case depends on the letters around it, so a text that has it is lowered as a whole.
SIGMA = 0x3A3

_SPACES = re.compile(r"\s\s+")
# A class of characters, some number of times or more: the patterns the compiled tokeniser knows.
_RUN_PATTERN = re.compile(
    r"(?P<flags>\(\?[aiu]+\))?(?P<start>\\b)?"
    r"(?P<atom>\\[wdS]|\[\^?(?:\\[wWdDsS]|(?!--)[\w .'-])+\])(?P<more>(?P=atom)*)"
    r"(?:\+|\{(?P<least>\d+),\})(?P<end>\\b)?"
)


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join([c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)])


def _ascii_only(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


ACCENTS: dict[str, Callable[[str], str]] = {"ascii": _ascii_only, "unicode": _without_accents}
ANALYZERS = ("word", "char", "char_wb")
STEMMERS = ("porter",)


def _is_whole(number: Any) -> bool:
    return isinstance(number, Integral)


def _is_real(number: Any) -> bool:
    return isinstance(number, Real)


def stop_word_set(stop_words: str | Collection[str] | None) -> frozenset[Any] | None:
    """Return the words of a list, or of the list with a name: "english" is scikit-learn's."""
    if stop_words is None:
        return None
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise unknown_name("stop word list", stop_words, ["english"])
        # Only here: the list is scikit-learn's own, and nothing else in this module needs scikit-learn.
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(stop_words)


def stemmer(stem: str) -> Callable[[Iterable[str]], list[str]]:
    """Return the function from words to stems: "porter" is Porter's algorithm for English, by PyStemmer."""
    if stem not in STEMMERS:
        raise unknown_name("stemmer", stem, STEMMERS)
    import Stemmer

    stems = Stemmer.Stemmer(stem).stemWords

    def stemmed(words: Iterable[str]) -> list[str]:
        words = list(words)
        # PyStemmer reads UTF-8, which has no lone surrogates; a word with one is its own stem.
        plain = [word.encode("utf-8", "replace").decode() for word in words]
        return [
            s if word == given else word for s, word, given in zip(stems(plain), words, plain, strict=True)
        ]

    return stemmed


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


class _Runs(NamedTuple):
    """A token pattern that means: maximal runs of a class of characters."""

    flags: str
    atom: str
    min_length: int
    starts_word: bool
    ends_word: bool


@lru_cache(maxsize=64)
def _runs(token_pattern: str) -> _Runs | None:
    """Return what the compiled tokeniser needs to know of a pattern, None when it is of another kind."""
    match = _RUN_PATTERN.fullmatch(token_pattern)
    if match is None:
        return None
    least = 1 if match["least"] is None else int(match["least"])
    least += len(match["more"]) // len(match["atom"])
    anchored = match["start"] is not None, match["end"] is not None
    # (?u) is what every pattern of str has anyway.
    flags = "" if match["flags"] in (None, "(?u)") else match["flags"]
    runs = _Runs(flags, match["atom"], least, *anchored)
    token, word = _members(runs.flags + runs.atom), _members(runs.flags + r"\w")
    # Between two characters that are no word characters there is no \b, so such a run would not be one token.
    odd = any(anchored) and bool((token & ~word).any())
    return None if least < 1 or odd or least > BATCH_CHARACTERS else runs


def _code_points() -> str:
    return np.arange(N_CODE_POINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


@lru_cache(maxsize=64)
def _members(atom: str) -> np.ndarray:
    """Say of every code point whether the regular expression `atom` matches it."""
    members = np.zeros(N_CODE_POINTS, dtype=bool)
    for match in re.finditer(f"{atom}+", _code_points()):
        members[match.start() : match.end()] = True
    return members


@lru_cache(maxsize=1)
def _lower_case() -> tuple[np.ndarray, tuple[int, ...]]:
    """Return the lower case of every code point, and the code points that have none of their own."""
    everything, lowered, specials = _code_points(), [], [SIGMA]
    for start in range(0, N_CODE_POINTS, 256):
        block = everything[start : start + 256].replace(chr(SIGMA), "\0")
        low = block.lower()
        if len(low) != len(block):
            specials += [ord(c) for c in block if len(c.lower()) != 1]
            low = "".join(c.lower() if len(c.lower()) == 1 else c for c in block)
        lowered.append(low)
    text = "".join(lowered)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4"), tuple(sorted(specials))


@lru_cache(maxsize=64)
def alphabet(flags: str, atom: str, lowercase: bool) -> Alphabet:
    """Return the kernel's table of all code points, made by Python's own `str.lower` and `re`."""
    points = np.arange(N_CODE_POINTS, dtype=np.int32)
    lower, specials = _lower_case() if lowercase else (points, ())
    token, word = _members(flags + atom), _members(flags + r"\w")
    kinds = 2 * word.astype(np.int32) + token
    table = (lower - points) * 4 + kinds[lower]
    numbers: dict[bytes, int] = {}
    index = [numbers.setdefault(block.tobytes(), len(numbers)) for block in table.reshape(-1, 256)]
    blocks = np.frombuffer(b"".join(numbers), dtype=np.int32).reshape(-1, 256)
    return Alphabet(np.array(index, dtype=np.uint16), blocks, specials)


@dataclass(frozen=True)
class Analysis:
    """How a text becomes terms: the options of CountVectorizer, and `stem`.

    Stop words are left out first, then what remains is stemmed, then n-grams are made.

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
    tokenizer: Callable[[Any], Iterable[Any]] | None = None
    stem: str | None = None

    def checked(self) -> Analysis:
        """Return itself, or raise for the first option that is outside its rule."""
        try:
            least, most = self.ngram_range
        except (TypeError, ValueError):
            raise ParameterError(
                f"ngram_range is {self.ngram_range!r}; it must be a pair of integers"
            ) from None
        if not (_is_whole(least) and _is_whole(most) and 1 <= least <= most):
            raise ParameterError(
                f"ngram_range is {self.ngram_range!r}; it must be (least, most), 1 <= least <= most"
            )
        if not callable(self.analyzer) and self.analyzer not in ANALYZERS:
            raise unknown_name("analyzer", str(self.analyzer), ANALYZERS)
        if self.strip_accents and not callable(self.strip_accents) and self.strip_accents not in ACCENTS:
            raise unknown_name("strip_accents", str(self.strip_accents), ACCENTS)
        for name in ("preprocessor", "tokenizer"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise ParameterError(f"{name} is {getattr(self, name)!r}; it must be callable or None")
        if self.stem is not None and self.stem not in STEMMERS:
            raise unknown_name("stemmer", str(self.stem), STEMMERS)
        if self.stem is not None and self.analyzer != "word":
            raise ParameterError("stem works on words; leave it out or set analyzer='word'")
        if self.analyzer == "word":
            stop_word_set(self.stop_words)
            if self.tokenizer is None:
                self._pattern()
        return self

    def doubts(self, vocabulary: Iterable[Any] | None = None) -> Iterator[str]:
        """Yield a sentence for each option that is allowed but can hardly be meant."""
        if self.lowercase and any(isinstance(t, str) and any(map(str.isupper, t)) for t in vocabulary or ()):
            yield "the vocabulary has upper case characters, which no text has with lowercase=True"
        if self.analyzer != "word":
            if self.stop_words is not None:
                yield "stop_words has no effect when analyzer is not 'word'"
            return
        stops = stop_word_set(self.stop_words)
        if not stops or self.tokenizer or self.preprocessor or callable(self.strip_accents):
            return
        cut, prepare = self._pattern().findall, self._preprocess()
        odd = {token for word in stops if isinstance(word, str) for token in cut(prepare(word))} - stops
        if odd:
            yield f"cutting the stop words gives {sorted(odd)}, which are no stop words; add them to the list"

    def _pattern(self) -> re.Pattern[str]:
        if not isinstance(self.token_pattern, str):
            raise ParameterError(
                f"token_pattern is {self.token_pattern!r}; it must be a str without a tokenizer"
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
        """Return what is done to a whole text before it is cut."""
        if self.preprocessor is not None:
            return self.preprocessor
        accents = self.strip_accents or None
        strip = ACCENTS[accents] if isinstance(accents, str) else accents
        lowercase = self.lowercase

        def prepared(text: str) -> str:
            if lowercase:
                text = text.lower()
            return text if strip is None else strip(text)

        return prepared

    @property
    def takes_anything(self) -> bool:
        """Whether documents other than str are left to the caller's functions."""
        if callable(self.analyzer) or self.preprocessor is not None:
            return True
        return self.tokenizer is not None and not self.lowercase and not self.strip_accents

    def analyser(self) -> Callable[[Any], Iterable[Any]]:
        """Return the function from a document to its terms, in plain Python and for every option."""
        if callable(self.analyzer):
            return self.analyzer
        prepare, ngram_range = self._preprocess(), self.ngram_range
        if self.analyzer != "word":
            ngrams = _char_ngrams if self.analyzer == "char" else _char_wb_ngrams
            return lambda text: ngrams(prepare(text), ngram_range)
        tokenise = self.tokenizer or self._pattern().findall
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
        """Whether the kernel can do it; a table then has the terms before stemming."""
        if self.analyzer != "word" or self.tokenizer is not None or tuple(self.ngram_range) != (1, 1):
            return False
        return isinstance(self.token_pattern, str) and _runs(self.token_pattern) is not None

    @property
    def _lowers_in_kernel(self) -> bool:
        return bool(self.lowercase) and self.preprocessor is None and not self.strip_accents

    def table(self) -> TermTable:
        """Return an empty table of the kernel for these options."""
        runs = _runs(self.token_pattern or "")
        assert runs is not None
        letters = alphabet(runs.flags, runs.atom, self._lowers_in_kernel)
        stops = [word for word in stop_word_set(self.stop_words) or () if isinstance(word, str)]
        return TermTable(letters, runs.min_length, runs.starts_word, runs.ends_word, stops)

    def documents(self, batch: list[Any], first: int = 0) -> Documents:
        """Return the texts of a batch as the kernel reads them; `first` is the number of its first."""
        runs = _runs(self.token_pattern or "")
        assert runs is not None
        if self.preprocessor is not None or self.strip_accents:
            prepare = self._preprocess()
            batch = [prepare(_text(doc, first + i, self.takes_anything)) for i, doc in enumerate(batch)]
        try:
            return Documents.of_texts(batch, alphabet(runs.flags, runs.atom, self._lowers_in_kernel))
        except TypeError as error:
            if not error.args or not isinstance(error.args[0], int):
                raise
            raise _not_a_text(batch[error.args[0]], first + error.args[0]) from None


def _not_a_text(doc: Any, number: int) -> InputError:
    return InputError(f"document {number} is {_kind(doc)}; every document must be a str")


def _kind(doc: Any) -> str:
    return repr(doc) if doc is None or isinstance(doc, float) else f"a {type(doc).__name__}"


def _text(doc: Any, number: int, anything: bool) -> Any:
    if isinstance(doc, str) or (anything and doc is not np.nan):
        return doc
    raise _not_a_text(doc, number)


def decoded(docs: Iterable[Any], encoding: str = "utf-8", errors: str = "strict") -> Iterator[Any]:
    """Yield the documents, those of bytes as str."""
    if isinstance(docs, str | bytes):
        raise InputError("a single text was given; give a list of texts, one for each document")
    if not isinstance(docs, Iterable):
        raise InputError(f"the documents are {_kind(docs)}; give a list of texts")
    for number, doc in enumerate(docs):
        if isinstance(doc, bytes):
            try:
                yield doc.decode(encoding, errors)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"document {number} is not {encoding}: byte {doc[error.start]:#04x} at {error.start}; "
                    "name its encoding, or replace what cannot be read"
                ) from None
        else:
            yield doc


class _Part(NamedTuple):
    """The rows of a batch, with the terms numbered by one of the tables."""

    table: int
    indptr: np.ndarray
    ids: np.ndarray
    counts: np.ndarray


def _batches(docs: Iterable[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the documents in lists of about a megabyte, each with the number of its first document."""
    batch: list[Any] = []
    size = first = 0
    for number, doc in enumerate(docs):
        batch.append(doc)
        size += len(doc) if isinstance(doc, str) else 1
        if size >= BATCH_CHARACTERS or len(batch) >= BATCH_DOCUMENTS:
            yield first, batch
            batch, size, first = [], 0, number + 1
    if batch:
        yield first, batch


def _worker_count(n_threads: int | None) -> int:
    if n_threads is None:
        return min(processor_count(), MAX_THREADS)
    if not _is_whole(n_threads) or n_threads < 1:
        raise ParameterError(f"n_threads is {n_threads!r}; it must be a positive integer or None")
    return int(n_threads)


def _counted(analysis: Analysis, docs: Iterable[Any], n_threads: int) -> tuple[list[TermTable], list[_Part]]:
    """Count the documents with the kernel: each thread has a table of its own, the parts are in order."""
    batches = _batches(docs)
    head = [batch for _, batch in zip(range(2), batches, strict=False)]
    numbered = enumerate(chain(head, batches))
    tables = [analysis.table() for _ in range(n_threads if len(head) > 1 else 1)]
    parts: dict[int, _Part] = {}
    failures: dict[float, Exception] = {}
    lock = threading.Lock()

    def work(which: int) -> None:
        while not failures:
            try:
                with lock:
                    position, (first, batch) = next(numbered)
            except StopIteration:
                return
            except Exception as error:
                failures[float("inf")] = error
                return
            try:
                parts[position] = _Part(which, *tables[which].rows(analysis.documents(batch, first)))
            except Exception as error:
                failures[position] = error

    _in_threads(work, range(len(tables)))
    if failures:
        # Batches are handed out in order, so the first fault is the same for any number of threads.
        raise failures[min(failures)]
    return tables, [parts[position] for position in range(len(parts))]


def _in_threads(work: Callable[[int], None], items: range) -> None:
    if len(items) == 1:
        work(items[0])
    else:
        with ThreadPoolExecutor(len(items)) as pool:
            list(pool.map(work, items))


def _as_terms(words: Collection[Any]) -> np.ndarray:
    return np.fromiter(words, dtype=object, count=len(words))


def _matrix(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_columns: int) -> sparse.csr_matrix:
    if len(data) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32, copy=False)
    X = sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def _assembled(
    parts: list[_Part], columns: list[np.ndarray], n_columns: int, one_to_one: bool, n_threads: int
) -> sparse.csr_matrix:
    """Put the parts under each other, the terms of table t in the columns columns[t]; empties `parts`."""
    n_docs = sum(len(part.indptr) - 1 for part in parts)
    n_cells = sum(len(part.ids) for part in parts)
    indices, data = np.empty(n_cells, np.int32), np.empty(n_cells, np.int64)
    indptr = np.zeros(n_docs + 1, np.int64)
    rows = np.cumsum([0] + [len(part.indptr) - 1 for part in parts])
    cells = np.cumsum([0] + [len(part.ids) for part in parts])
    pending = iter(range(len(parts)))
    lock = threading.Lock()

    def place(i: int, start: int) -> int:
        part, parts[i] = parts[i], None  # type: ignore[call-overload]
        ends = indptr[rows[i] + 1 : rows[i + 1] + 1]
        written: int = place_rows(
            part.indptr,
            part.ids,
            part.counts,
            columns[part.table],
            n_columns,
            indices[start:],
            data[start:],
            ends,
        )
        ends += start
        return written

    def work(_: int) -> None:
        while True:
            with lock:
                i = next(pending, None)
            if i is None:
                return
            place(i, int(cells[i]))

    if one_to_one:
        _in_threads(work, range(min(n_threads, max(len(parts), 1))))
    else:
        start = 0
        for i in pending:
            start += place(i, start)
        indices, data = indices[:start].copy(), data[:start].copy()
    return _matrix(data, indices, indptr, n_columns)


def _compiled_counts(
    analysis: Analysis, docs: Iterable[Any], vocabulary: Mapping[Any, int] | None, n_threads: int
) -> tuple[sparse.csr_matrix, list[Any] | None]:
    tables, parts = _counted(analysis, docs, n_threads)
    table = tables[0]
    own = np.arange(len(table))
    numbers = [own, *[table.merge(other) for other in tables[1:]]]
    terms: list[Any] | None = None
    if vocabulary is None and analysis.stem is None:
        order = table.order()
        terms = table.terms(order)
        column = np.empty(len(order), dtype=np.int32)
        column[order] = np.arange(len(order), dtype=np.int32)
    else:
        words = table.terms() if analysis.stem is None else stemmer(analysis.stem)(table.terms())
        if vocabulary is None:
            terms = sorted(set(words))
            vocabulary = {word: i for i, word in enumerate(terms)}
        column = np.fromiter((vocabulary.get(word, -1) for word in words), dtype=np.int32, count=len(words))
    one_to_one = vocabulary is None
    n_columns = len(column) if vocabulary is None else len(vocabulary)
    del table, tables
    return _assembled(parts, [column[n] for n in numbers], n_columns, one_to_one, n_threads), terms


def _plain_counts(
    analysis: Analysis, docs: Iterable[Any], vocabulary: Mapping[Any, int] | None
) -> tuple[sparse.csr_matrix, list[Any] | None]:
    analyse, anything = analysis.analyser(), analysis.takes_anything
    known: dict[Any, int] = {}
    ids, counts, indptr = array("i"), array("i"), array("q", [0])
    for number, doc in enumerate(docs):
        row: dict[int, int] = {}
        for term in analyse(_text(doc, number, anything)):
            i = known.setdefault(term, len(known)) if vocabulary is None else vocabulary.get(term, -1)
            row[i] = row.get(i, 0) + 1
        row.pop(-1, None)
        ids.extend(row.keys())
        counts.extend(row.values())
        indptr.append(len(ids))
    part = _Part(0, np.array(indptr, np.int64), np.array(ids, np.int32), np.array(counts, np.int32))
    if vocabulary is not None:
        return _assembled(
            [part], [np.arange(len(vocabulary), dtype=np.int32)], len(vocabulary), True, 1
        ), None
    terms = sorted(known)
    column = np.empty(len(terms), dtype=np.int32)
    column[[known[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
    return _assembled([part], [column], len(terms), True, 1), terms


def _counts(
    docs: Iterable[Any], analysis: Analysis, vocabulary: Mapping[Any, int] | None, n_threads: int | None
) -> tuple[sparse.csr_matrix, list[Any] | None]:
    workers = _worker_count(n_threads)
    if analysis.compiled:
        # The caller's functions may not bear two threads, and would hold up both.
        own = analysis.preprocessor is not None or callable(analysis.strip_accents)
        return _compiled_counts(analysis, docs, vocabulary, 1 if own else workers)
    return _plain_counts(analysis, docs, vocabulary)


def count_known(
    docs: Iterable[Any], analysis: Analysis, vocabulary: Mapping[Any, int], n_threads: int | None = None
) -> sparse.csr_matrix:
    """Return the count of every term of a vocabulary in every document; other terms are left out."""
    return _counts(docs, analysis, vocabulary, n_threads)[0]


def count_terms(
    docs: Iterable[Any], analysis: Analysis, n_threads: int | None = None
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the count of every term in every document, and the terms, sorted.

    The kernel does it where it can, on `n_threads` threads (by default one for each core, four at most); the
    result is the same for any number.
    """
    X, terms = _counts(docs, analysis, None, n_threads)
    if not terms:
        if X.shape[0] == 0:
            raise InputError("there are no documents; at least one with a term is needed")
        raise InputError(
            f"none of the {X.shape[0]:,} documents has a term; are they empty, or only stop words?"
        )
    return X, _as_terms(terms)


def checked_limits(min_df: float, max_df: float, max_features: int | None) -> None:
    """Raise for limits outside their rules: integers are documents, floats are fractions of all documents."""
    for name, limit in (("min_df", min_df), ("max_df", max_df)):
        if limit < 1 if _is_whole(limit) else not (_is_real(limit) and 0 <= limit <= 1):
            raise ParameterError(
                f"{name} is {limit!r}; it must be an integer from 1 or a float from 0.0 to 1.0"
            )
    if max_features is not None and (not _is_whole(max_features) or max_features < 1):
        raise ParameterError(f"max_features is {max_features!r}; it must be a positive integer or None")


def kept_columns(
    X: sparse.csr_matrix, min_df: float = 1, max_df: float = 1.0, max_features: int | None = None
) -> np.ndarray:
    """Return the columns with a document frequency within the limits, the most frequent of them, sorted."""
    n_docs = X.shape[0]
    most = max_df if _is_whole(max_df) else max_df * n_docs
    least = min_df if _is_whole(min_df) else min_df * n_docs
    if most < least:
        raise ParameterError(
            f"max_df={max_df} allows fewer documents than min_df={min_df}; raise the one or lower the other"
        )
    df = np.bincount(X.indices, minlength=X.shape[1])
    kept = np.flatnonzero((df >= least) & (df <= most))
    if max_features is not None and len(kept) > max_features:
        # Ties are broken as numpy's default sort leaves them, which is what CountVectorizer does.
        total = np.asarray(X.sum(axis=0)).ravel()
        kept = np.sort(kept[(-total[kept]).argsort()[:max_features]])
    if len(kept) == 0:
        raise InputError("no term is left within min_df and max_df; try a lower min_df or a higher max_df")
    return kept


def term_numbers(vocabulary: Mapping[Any, int] | Iterable[Any]) -> dict[Any, int]:
    """Return the column of each term of a vocabulary: a mapping, terms in order, or a set (sorted)."""
    if isinstance(vocabulary, Mapping):
        numbers = dict(vocabulary)
        if set(numbers.values()) != set(range(len(numbers))):
            raise ParameterError("the columns of a vocabulary must be 0, 1, 2, ... with each number once")
    else:
        words = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else list(vocabulary)
        numbers = {}
        for i, word in enumerate(words):
            if numbers.setdefault(word, i) != i:
                raise ParameterError(f"the vocabulary has {word!r} twice; each term may be there once")
    if not numbers:
        raise ParameterError("the vocabulary is empty; give at least one term")
    return numbers


def term_matrix(
    source: Any,
    *,
    lowercase: bool = True,
    token_pattern: str | None = TOKEN_PATTERN,
    stop_words: str | Collection[str] | None = None,
    ngram_range: tuple[int, int] = (1, 1),
    min_df: float = 1,
    max_df: float = 1.0,
    max_features: int | None = None,
    binary: bool = False,
    vocabulary: Mapping[Any, int] | Iterable[Any] | None = None,
    strip_accents: str | Callable[[str], str] | None = None,
    analyzer: str | Callable[[Any], Iterable[Any]] = "word",
    preprocessor: Callable[[Any], Any] | None = None,
    tokenizer: Callable[[Any], Iterable[Any]] | None = None,
    stem: str | None = None,
    n_threads: int | None = None,
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return (X, vocabulary): the count of each term in each document, and the terms of the columns, sorted.

    `source` is an iterable of texts or a corpus. A corpus that holds a ready matrix gives that, within
    `min_df`, `max_df`, `max_features` and `binary`; its columns go by their number where they have no terms.
    The options are CountVectorizer's, except for `stem` (see `stemmer`) and `n_threads` (see `count_terms`).

    >>> X, vocabulary = term_matrix(["to be or not to be", "be quick"])
    >>> vocabulary.tolist()
    ['be', 'not', 'or', 'quick', 'to']
    >>> X.toarray()
    array([[2, 1, 1, 0, 2],
           [1, 0, 0, 1, 0]])
    """
    checked_limits(min_df, max_df, max_features)
    if getattr(source, "matrix", None) is not None:
        X = sparse.csr_matrix(source.matrix)
        terms = _as_terms([*map(str, range(X.shape[1]))] if source.terms is None else source.terms)
    else:
        analysis = Analysis(
            lowercase,
            token_pattern,
            stop_words,
            ngram_range,
            strip_accents,
            analyzer,
            preprocessor,
            tokenizer,
            stem,
        ).checked()
        known = None if vocabulary is None else term_numbers(vocabulary)
        for doubt in analysis.doubts(known):
            warnings.warn(doubt, UserWarning, stacklevel=2)
        docs = decoded(getattr(source, "texts", source))
        if known is not None:
            X, terms = (
                count_known(docs, analysis, known, n_threads),
                _as_terms(sorted(known, key=known.__getitem__)),
            )
        else:
            X, terms = count_terms(docs, analysis, n_threads)
    if binary:
        X = sparse.csr_matrix((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)
    if vocabulary is None:
        kept = kept_columns(X, min_df, max_df, max_features)
        if len(kept) < X.shape[1]:
            X, terms = X[:, kept], terms[kept]
    return X, terms
