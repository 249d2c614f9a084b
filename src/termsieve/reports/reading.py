"""A source of any kind comes in; its counts, and its documents as far as there are any, go out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from termsieve.analysis.documents import DocumentFacts, document_facts
from termsieve.analysis.duplicates import duplicate_documents, row_keys
from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.counts.counter import analysis_of
from termsieve.counts.storage import holds_counts
from termsieve.errors import InputError
from termsieve.limits import document_limits
from termsieve.metrics import get_metric
from termsieve.passages import without_passages
from termsieve.readers import get_format
from termsieve.sources import COUNTING, READING, Source, corpus_of, counts_of, document_batches
from termsieve.telling import MetricSpec
from termsieve.terms import Analysis, count_known, term_matrix

STREAMED_BYTES = 50 << 20  # larger tables are read in pieces
SAMPLE_DOCUMENTS = 20_000  # of a table read in pieces, for the classifier
Batch = tuple[Sequence[str], Sequence[Any], Any]
FROM_COUNTS = (
    "These are counts, which hold no text: there are no example documents, no words that go with a word and "
    "no mistakes of a classifier. Report the documents themselves to see them."
)
FROM_MATRIX = (
    "The source is a term matrix without texts, so there are no example documents; report the texts to see "
    "them."
)
NO_TEXT = "The report was made without texts, so it holds no example documents."


@dataclass(frozen=True)
class Documents:
    """What a report reads.

    Attributes
    ----------
    counts : Counts
        The counts of all documents.
    name : str
        The name of the corpus, or of the file.
    analysis : Analysis
        How texts become terms.
    facts : DocumentFacts, optional
        Empty, repeated and contradictory documents.
    matrix : sparse matrix, optional
        The term matrix of the documents in memory, with the columns of the counts.
    labels : array, optional
        Their labels.
    texts : sequence of str, optional
        Their texts.
    repeated : polars.DataFrame, optional
        The documents that repeat another one.
    batches : callable, optional
        Gives all documents in batches: texts, labels, and their term matrix if it is known.
    silent : str
        Why there are no texts.
    numbers : array, optional
        The positions of the documents in memory among all documents, if these are a sample.
    """

    counts: Counts
    name: str = ""
    analysis: Analysis = field(default_factory=Analysis)
    facts: DocumentFacts | None = None
    matrix: Any = None
    labels: NDArray[Any] | None = None
    texts: Sequence[str] | None = None
    repeated: pl.DataFrame | None = None
    batches: Callable[[], Iterator[Batch]] | None = None
    silent: str = ""
    numbers: NDArray[np.int64] | None = None

    def number(self, document: int) -> int:
        """Return the number, from 1, of a document in memory."""
        return 1 + (document if self.numbers is None else int(self.numbers[document]))


def documents_of(
    source: Source,
    metrics: Sequence[MetricSpec],
    min_df: float,
    text: bool,
    drop_passages: bool,
    options: dict[str, Any],
) -> Documents:
    """Return what a report needs of a source; large tables are read in pieces and stay on disk.

    With `drop_passages` words are counted without the passages that documents share; texts stay as they are.
    """
    occurrences = any(get_metric(metric).reads == "occurrences" for metric in metrics)
    format = options.pop("format", None)
    if isinstance(source, Counts) or (_is_path(source) and holds_counts(source)):  # type: ignore[arg-type]
        if drop_passages:
            raise InputError("drop_passages= needs the documents, and these are counts")
        counts = counts_of(source, format=format, **options)
        return Documents(_frequent(counts, min_df), _name(source), silent=FROM_COUNTS)
    if not (
        isinstance(source, Corpus) or hasattr(source, "columns") or _is_path(source) or _are_paths(source)
    ):
        raise InputError(
            "a report needs documents or their counts (Corpus, Counts, a frame, paths), "
            f"not {type(source).__name__}"
        )
    if _is_large(source, format) and not drop_passages:
        return _streamed(source, format, occurrences, min_df, text, options)
    corpus = corpus_of(source, options, format)
    terms_options = {name: value for name, value in options.items() if name not in COUNTING}
    X, terms = term_matrix(without_passages(corpus) if drop_passages else corpus, **terms_options)
    counts = Counts.from_matrix(X, corpus.labels, terms=terms, occurrences=occurrences)
    whole = term_matrix(corpus, **terms_options)[0] if drop_passages else X
    facts = document_facts(whole, corpus.labels)
    repeated = duplicate_documents(row_keys(whole), corpus.labels)
    if min_df > 1 or isinstance(min_df, float):
        kept = _kept(counts, min_df)
        X, counts = X[:, kept], _frequent(counts, min_df)
    texts = corpus.texts if text else None
    silent = FROM_MATRIX if corpus.texts is None else "" if text else NO_TEXT
    how = Analysis() if corpus.texts is None else analysis_of(terms_options)

    def batches() -> Iterator[Batch]:
        for start in range(0, len(corpus), 5000):
            rows = slice(start, start + 5000)
            yield (texts or [""] * len(corpus))[rows], corpus.labels[rows].tolist(), X[rows]

    return Documents(counts, corpus.name, how, facts, X, corpus.labels, texts, repeated, batches, silent)


def _streamed(
    source: Any, format: str | None, occurrences: bool, min_df: float, text: bool, options: dict[str, Any]
) -> Documents:
    counts = _frequent(counts_of(source, occurrences=occurrences, format=format, **options), min_df)
    how = analysis_of({name: v for name, v in options.items() if name not in (*COUNTING, *READING)})
    generator = np.random.default_rng(0)
    chosen = np.zeros(counts.n_docs, dtype=bool)
    chosen[generator.permutation(counts.n_docs)[:SAMPLE_DOCUMENTS]] = True
    texts: list[str] = []
    labels: list[Any] = []
    start = 0
    for some, own in document_batches(source, dict(options), format):
        for i in np.flatnonzero(chosen[start : start + len(some)]).tolist():
            texts.append(some[i])
            labels.append(own[i])
        start += len(some)
    vocabulary = {name: i for i, name in enumerate(counts.names().tolist())}
    X = count_known(texts, how, vocabulary)
    sample = Corpus(texts, labels)

    def batches() -> Iterator[Batch]:
        for some, own in document_batches(source, dict(options), format):
            yield some, own, None

    silent = "" if text else NO_TEXT
    held = sample.texts if text else None
    numbers = np.flatnonzero(chosen)
    return Documents(counts, _name(source), how, None, X, sample.labels, held, None, batches, silent, numbers)


def _kept(counts: Counts, min_df: float) -> NDArray[np.intp]:
    least, _ = document_limits(counts.n_docs, min_df, 1.0)
    return np.flatnonzero(counts.df >= least)


def _frequent(counts: Counts, min_df: float) -> Counts:
    """Return the counts of the terms in at least `min_df` documents."""
    kept = _kept(counts, min_df)
    if len(kept) == counts.n_terms:
        return counts
    if not len(kept):
        raise InputError(f"no word is in {min_df:g} documents; try a lower min_df")
    take: dict[str, Any] = {
        name: None if table is None else table[:, kept]
        for name, table in (("tp", counts.tp), ("tf", counts.tf))
    }
    take |= {
        name: None if row is None else row[kept]
        for name, row in (("df", counts.df), ("tf_total", counts.tf_total), ("squares", counts.squares))
    }
    return counts.replace(terms=counts.names()[kept], **take)


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def _are_paths(source: Any) -> bool:
    return isinstance(source, list | tuple) and bool(source) and all(map(_is_path, source))


def _is_large(source: Any, format: str | None) -> bool:
    paths = source if _are_paths(source) else [source] if _is_path(source) else []
    known = [path for path in paths if os.path.exists(path)]
    size = sum(os.path.getsize(path) for path in known if os.path.isfile(path))
    return size > STREAMED_BYTES and all(get_format(path, format).streams for path in known)


def _name(source: Any) -> str:
    return Path(source).stem if _is_path(source) else ""
