"""Texts come in; the term matrix and the vocabulary of CountVectorizer go out."""

from __future__ import annotations

import threading
import warnings
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from termsieve import sparse
from termsieve.errors import InputError, ParameterError
from termsieve.kernels.streaming import cut_terms, taken_terms
from termsieve.kernels.tokenise import TermTable, place_rows
from termsieve.machine import processor_count
from termsieve.terms.alphabet import TOKEN_PATTERN
from termsieve.terms.languages import detected_language, stemmer
from termsieve.terms.options import Analysis, checked_text, kind_of
from termsieve.terms.vocabulary import check_term_limits, kept_columns, known_columns, term_numbers

BATCH_CHARACTERS = 1 << 20
BATCH_DOCUMENTS = 8192
MAX_THREADS = 4
SPELLED_AT_ONCE = 1 << 16
SMALL_VOCABULARY = 2  # times its terms are fewer than the words of the texts: it is looked for among them


def decoded(docs: Iterable[Any], encoding: str = "utf-8", errors: str = "strict") -> Iterator[Any]:
    """Yield the documents; bytes are decoded.

    Parameters
    ----------
    docs : iterable
        The documents.
    encoding : str, default="utf-8"
        The encoding of bytes.
    errors : str, default="strict"
        What to do with bytes that are not in this encoding, as in `bytes.decode`.

    Yields
    ------
    str
        A text.
    """
    if isinstance(docs, str | bytes):
        raise InputError("a single text was given; give a list of texts, one for each document")
    if not isinstance(docs, Iterable):
        raise InputError(f"the documents are {kind_of(docs)}; give a list of texts")
    if hasattr(docs, "to_pylist"):  # of Arrow, whose items are no strings
        docs = docs.to_pylist()
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


class Names:
    """The terms of columns, in their order; words of the kernel stay UTF-8 until the strings are asked for.

    Parameters
    ----------
    terms : list or pair of arrays
        The terms; or all terms as UTF-8, one after the other, and the end of each.
    """

    def __init__(self, terms: list[Any] | tuple[np.ndarray, np.ndarray]) -> None:
        self._terms = terms

    def __len__(self) -> int:
        return len(self._terms[1] if isinstance(self._terms, tuple) else self._terms)

    def subset(self, columns: np.ndarray) -> Names:
        """Return the names of some of the columns.

        Parameters
        ----------
        columns : ndarray of int
            The columns.

        Returns
        -------
        Names
            Their names.
        """
        if isinstance(self._terms, tuple):
            return Names(taken_terms(*self._terms, columns.astype(np.int64, copy=False)))
        return Names([self._terms[i] for i in columns])

    def strings(self) -> list[Any]:
        """Return the terms as a list.

        Returns
        -------
        list
            The terms.
        """
        return cut_terms(*self._terms) if isinstance(self._terms, tuple) else list(self._terms)


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


def _worker_count(n_threads: Any) -> int:
    if n_threads is None:
        return min(processor_count(), MAX_THREADS)
    if not isinstance(n_threads, Integral) or n_threads < 1:
        raise ParameterError(f"n_threads is {n_threads!r}; it must be a positive integer or None")
    return int(n_threads)


def _counted(analysis: Analysis, docs: Iterable[Any], n_threads: int) -> tuple[list[TermTable], list[_Part]]:
    """Count the documents with the kernel; each thread has its own table, and the parts stay in order."""
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
        # Batches are handed out in order, so the first error is the same for any number of threads.
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
    """Stack the parts, with the terms of table t in the columns columns[t]; `parts` is emptied."""
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


def _spelled(table: TermTable) -> Iterator[str]:
    """Yield all terms of a table; only some of them are in memory at a time."""
    for start in range(0, len(table), SPELLED_AT_ONCE):
        yield from table.terms(np.arange(start, min(start + SPELLED_AT_ONCE, len(table))))


def _vocabulary_columns(
    analysis: Analysis, table: TermTable, vocabulary: Mapping[Any, int]
) -> np.ndarray | None:
    """Return the columns of a table's terms by looking up the vocabulary in it; None if that would be slower.

    The vocabulary of a model is small, and texts have many other words, which need not be spelled out. What
    the kernel does not make of a term itself, such as a term in capitals, is left to `known_columns`.
    """
    own = analysis.preprocessor is not None or callable(analysis.strip_accents)
    if own or analysis.stem is not None or SMALL_VOCABULARY * len(vocabulary) > len(table):
        return None
    if not all(isinstance(term, str) for term in vocabulary):
        return None
    known = analysis.table()
    known.rows(analysis.documents(list(vocabulary), 0))
    numbers = {term: number for number, term in enumerate(known.terms())}
    if any(term not in numbers for term in vocabulary):
        return None
    places = table.merge(known)
    column = np.full(len(table), -1, dtype=np.int32)
    column[places[[numbers[term] for term in vocabulary]]] = known_columns(vocabulary, vocabulary)
    return column


def _compiled_counts(
    analysis: Analysis, docs: Iterable[Any], vocabulary: Mapping[Any, int] | None, n_threads: int
) -> tuple[sparse.csr_matrix, Names | None]:
    tables, parts = _counted(analysis, docs, n_threads)
    table = tables[0]
    own = np.arange(len(table))
    numbers = [own, *[table.merge(other) for other in tables[1:]]]
    names: Names | None = None
    column = None if vocabulary is None else _vocabulary_columns(analysis, table, vocabulary)
    if vocabulary is None and analysis.stem is None:
        order = table.order()
        names = Names(table.spelling(order))
        column = np.full(len(table), -1, dtype=np.int32)
        column[order] = np.arange(len(order), dtype=np.int32)
    elif column is None:
        words = _spelled(table) if analysis.stem is None else stemmer(analysis.stem)(table.terms())
        if vocabulary is None:
            terms = sorted(set(words))
            names, vocabulary = Names(terms), {word: i for i, word in enumerate(terms)}
        column = known_columns(vocabulary, words)
    one_to_one = vocabulary is None
    n_columns = len(names or ()) if vocabulary is None else len(vocabulary)
    del table, tables
    return _assembled(parts, [column[n] for n in numbers], n_columns, one_to_one, n_threads), names


def _plain_counts(
    analysis: Analysis, docs: Iterable[Any], vocabulary: Mapping[Any, int] | None
) -> tuple[sparse.csr_matrix, Names | None]:
    analyse, anything = analysis.analyser(), analysis.takes_anything
    known: dict[Any, int] = {}
    ids, counts, indptr = array("i"), array("i"), array("q", [0])
    for number, doc in enumerate(docs):
        row: dict[int, int] = {}
        for term in analyse(checked_text(doc, number, anything)):
            i = known.setdefault(term, len(known))
            row[i] = row.get(i, 0) + 1
        ids.extend(row.keys())
        counts.extend(row.values())
        indptr.append(len(ids))
    part = _Part(0, np.array(indptr, np.int64), np.array(ids, np.int32), np.array(counts, np.int32))
    if vocabulary is not None:
        column, n_columns = known_columns(vocabulary, known), len(vocabulary)
        return _assembled([part], [column], n_columns, False, 1), None
    terms = sorted(known)
    column = np.empty(len(terms), dtype=np.int32)
    column[[known[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
    return _assembled([part], [column], len(terms), True, 1), Names(terms)


def _counts(
    docs: Iterable[Any], analysis: Analysis, vocabulary: Mapping[Any, int] | None, n_threads: int | None
) -> tuple[sparse.csr_matrix, Names | None]:
    workers = _worker_count(n_threads)
    if analysis.compiled:
        # The caller's functions may not be thread-safe, and would block the other threads.
        own = analysis.preprocessor is not None or callable(analysis.strip_accents)
        return _compiled_counts(analysis, docs, vocabulary, 1 if own else workers)
    return _plain_counts(analysis, docs, vocabulary)


def count_known(
    docs: Iterable[Any], analysis: Analysis, vocabulary: Mapping[Any, int], n_threads: int | None = None
) -> sparse.csr_matrix:
    """Return the count of every term of a vocabulary in every document; other terms are left out.

    Parameters
    ----------
    docs : iterable
        The documents.
    analysis : Analysis
        How a text becomes terms.
    vocabulary : mapping of str to int
        The column of each term.
    n_threads : int, optional
        Number of threads; by default one per processor, but at most four.

    Returns
    -------
    sparse matrix
        The counts, documents x vocabulary.
    """
    return _counts(docs, analysis, vocabulary, n_threads)[0]


def count_named(
    docs: Iterable[Any], analysis: Analysis, n_threads: int | None = None
) -> tuple[sparse.csr_matrix, Names]:
    """Return the count of every term in every document, and the names of the terms, sorted.

    If the kernel can do it, it uses `n_threads` threads (by default one per core, but at most four); the
    result is the same for any number.

    Parameters
    ----------
    docs : iterable
        The documents.
    analysis : Analysis
        How a text becomes terms.
    n_threads : int, optional
        Number of threads; by default one per processor, but at most four.

    Returns
    -------
    tuple of sparse matrix and Names
        The counts, documents x terms, and the terms.
    """
    X, names = _counts(docs, analysis, None, n_threads)
    if not names:
        if X.shape[0] == 0:
            raise InputError("there are no documents; at least one with a term is needed")
        raise InputError(
            f"none of the {X.shape[0]:,} documents has a term; are they empty, or only stop words?"
        )
    return X, names


def count_terms(
    docs: Iterable[Any], analysis: Analysis, n_threads: int | None = None
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the count of every term in every document, and the terms, sorted, as strings.

    Parameters
    ----------
    docs, analysis, n_threads
        As in `count_named`.

    Returns
    -------
    tuple of sparse matrix and ndarray
        The counts, documents x terms, and the terms.
    """
    X, names = count_named(docs, analysis, n_threads)
    return X, _as_terms(names.strings())


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
    tokenizer: str | Callable[[Any], Iterable[Any]] | None = None,
    stem: str | None = None,
    normalize: str | None = None,
    language: str | None = None,
    n_threads: int | None = None,
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the number of occurrences of each term in each document.

    Parameters
    ----------
    source : Corpus or iterable of str
        The documents. If a Corpus holds a term matrix already, only `min_df`, `max_df`, `max_features` and
        `binary` are applied to it; columns without a name are named by their number.
    lowercase, token_pattern, stop_words, ngram_range, min_df, max_df, max_features, binary
        As in scikit-learn's CountVectorizer.
    vocabulary, strip_accents, analyzer, preprocessor, tokenizer
        As in scikit-learn's CountVectorizer.
    stem, normalize, language : str, optional
        As in :class:`TermVectorizer`.
    n_threads : int, optional
        Number of threads; by default one per core, but at most four. The result is the same for any number.

    Returns
    -------
    X : csr_matrix of shape (n_docs, n_terms)
        The counts.
    vocabulary : ndarray of str
        The terms of the columns, sorted.

    Examples
    --------
    >>> X, vocabulary = term_matrix(["to be or not to be", "be quick"])
    >>> vocabulary.tolist()
    ['be', 'not', 'or', 'quick', 'to']
    >>> X.toarray()
    array([[2, 1, 1, 0, 2],
           [1, 0, 0, 1, 0]])
    """
    check_term_limits(min_df, max_df, max_features)
    if getattr(source, "matrix", None) is not None:
        X = sparse.csr_matrix(source.matrix)
        names = Names([*map(str, range(X.shape[1]))] if source.terms is None else list(source.terms))
    else:
        docs = decoded(getattr(source, "texts", source))
        if language == "auto":
            docs = iter(held := list(docs))
            language = detected_language(held)
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
            normalize,
            language,
        ).checked()
        known = None if vocabulary is None else term_numbers(vocabulary)
        for doubt in analysis.doubts(known):
            warnings.warn(doubt, UserWarning, stacklevel=2)
        if known is not None:
            X = count_known(docs, analysis, known, n_threads)
            names = Names(sorted(known, key=known.__getitem__))
        else:
            X, names = count_named(docs, analysis, n_threads)
    if binary:
        X = sparse.csr_matrix((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)
    if vocabulary is None:
        kept = kept_columns(X, min_df, max_df, max_features)
        if len(kept) < X.shape[1]:
            X, names = X[:, kept], names.subset(kept)
    return X, _as_terms(names.strings())
