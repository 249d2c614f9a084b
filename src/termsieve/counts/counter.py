"""Texts and labels come in; each worker's counter counts them, and a Tally goes out."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from termsieve.counts.late import Cells
from termsieve.counts.tally import Ints, LabelKind, Tally, spelled
from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.kernels.streaming import CellTable
from termsieve.kernels.tokenise import place_rows
from termsieve.labels import are_several, checked_labels, listed, present_labels
from termsieve.terms import Analysis, stemmer

if TYPE_CHECKING:
    import polars

Texts: TypeAlias = "list[Any] | polars.Series"  # documents in a list, or a column of a table
Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]
# The numbers of the terms by spelling, the terms as UTF-8 in this order, and the end of each.
Order = tuple[Ints, NDArray[np.uint8], Ints]
_NEVER_MISSING = {str, int, bool, list, tuple, set, frozenset, np.ndarray}


def analysis_of(options: dict[str, Any]) -> Analysis:
    """Return how texts become terms, from options named as those of TermVectorizer."""
    known = list(Analysis.__dataclass_fields__)
    for name in options:
        if name in ("min_df", "max_df", "max_features", "vocabulary", "binary"):
            raise ParameterError(f"{name} does not apply to counting: count first, then give it to rank()")
        if name not in known:
            raise unknown_name("option", name, known)
    return Analysis(**options).checked()


class Classes(NamedTuple):
    """The classes of documents: numbers[ptr[d]:ptr[d + 1]] for document d."""

    ptr: NDArray[np.int64]
    numbers: NDArray[np.int32]


class LabelCodes:
    """Numbers for labels, in the order of their first appearance; all labels have one type."""

    def __init__(self) -> None:
        self.kind: LabelKind | None = None
        self.labels: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._types: set[type] = set()

    def classes(self, labels: Sequence[Any], where: str = "") -> Classes:
        """Return the classes of documents with these labels, none of them missing."""
        types = set(map(type, labels))
        with _named(where):
            several = are_several(labels)
        if several:
            groups = [list(dict.fromkeys(listed(group))) for group in labels]
            flat = [label for group in groups for label in group]
            lengths = np.fromiter(map(len, groups), dtype=np.int64, count=len(groups))
            types = set(map(type, flat))
        else:
            flat, lengths = list(labels), np.ones(len(labels), dtype=np.int64)
        fresh = set(flat) - self._numbers.keys()
        if fresh or not types <= self._types or self.kind is None or self.kind.several != several:
            self._learn(flat, types, several, where)
        numbers = np.fromiter(map(self._numbers.__getitem__, flat), dtype=np.int32, count=len(flat))
        return Classes(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]), numbers)

    def _learn(self, labels: list[Any], types: set[type], several: bool, where: str) -> None:
        distinct = list(dict.fromkeys(zip(map(type, labels), labels, strict=True)))
        given = [label for _, label in distinct]
        with _named(where):
            clean = checked_labels(given)
        kind = LabelKind(type(clean[0]).__name__ if clean else "", several)
        self.kind = kind if self.kind is None else self.kind.joined(kind, where)
        self._types |= types
        for label in clean:
            if label not in self._numbers:
                self._numbers[label] = len(self.labels)
                self.labels.append(label)


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Put the place of the labels before the text of an error."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}".removeprefix(": ")) from None


def listed_texts(texts: Texts) -> list[Any]:
    """Return the texts as a list."""
    return texts if isinstance(texts, list) else texts.to_list()


def labelled(
    texts: Texts, labels: list[Any], missing: str, where: str, first: int
) -> tuple[Texts, list[Any]]:
    """Return the documents that have a label; a missing label is an error unless `missing` is "drop"."""
    if len(texts) != len(labels):
        raise InputError(f"{where}: {len(texts):,} texts came with {len(labels):,} labels")
    if set(map(type, labels)) <= _NEVER_MISSING:
        return texts, labels
    present, kept = present_labels(labels, "drop")
    if len(kept) == len(labels):
        return texts, labels
    if missing == "error":
        absent = next(i for i, place in enumerate([*kept, -1]) if i != place)
        raise InputError(
            f"{where}: document {first + absent + 1:,} has no label; "
            "label it or leave such documents out with missing='drop'"
        )
    return [texts[i] for i in kept] if isinstance(texts, list) else texts.gather(kept), present


def _numbers(known: dict[str, int], terms: Iterable[str]) -> NDArray[np.int32]:
    """Return the numbers of terms; a new term gets the next number."""
    return np.array([known.setdefault(term, len(known)) for term in terms], dtype=np.int32)


def _order(known: dict[str, int]) -> Order:
    """Return the order of numbered terms."""
    terms = sorted(known)
    return np.array([known[term] for term in terms], dtype=np.int64), *spelled(terms)


class _CompiledTerms:
    """The vocabulary of the kernel and, if words are stemmed, the vocabulary of stems."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._table = analysis.table()
        self._stems: dict[str, int] = {}
        self._columns = np.zeros(0, dtype=np.int32)
        self._stemmed = None if analysis.stem is None else stemmer(analysis.stem)

    def count(self, cells: CellTable, texts: Texts, classes: Classes, first: int) -> None:
        """Add the documents to the cells."""
        docs = self._analysis.documents(texts, first)
        if self._stemmed is None:
            cells.add_documents(self._table, docs, *classes)
        else:
            indptr, ids, counts = self._table.rows(docs)
            rows = self._stem_rows(indptr, ids, counts, self._stemmed)
            cells.add(*rows, *classes, len(self._stems))

    def _stem_rows(
        self,
        indptr: NDArray[np.int64],
        ids: NDArray[np.int32],
        counts: NDArray[np.int32],
        stemmed: Callable[[Iterable[str]], list[str]],
    ) -> Rows:
        fresh = stemmed(self._table.terms(np.arange(len(self._columns), len(self._table))))
        self._columns = np.concatenate([self._columns, _numbers(self._stems, fresh)])
        indices, data = np.empty(len(ids), np.int32), np.empty(len(ids), np.int64)
        ends = np.zeros(len(indptr), dtype=np.int64)
        n = place_rows(indptr, ids, counts, self._columns, len(self._stems), indices, data, ends[1:])
        return ends, indices[:n], data[:n].astype(np.int32)

    def numbers(self, other: Self) -> NDArray[np.int32]:
        """Return the numbers of the terms of another vocabulary; new terms are added."""
        if self._stemmed is None:
            numbers: NDArray[np.int32] = self._table.merge(other._table)
            return numbers
        return _numbers(self._stems, other._stems)

    def order(self) -> Order:
        if self._stemmed is None:
            order = self._table.order()
            return order, *self._table.spelling(order)
        return _order(self._stems)


class _PlainTerms:
    """The vocabulary of terms that plain Python finds, such as those of the caller's own functions."""

    def __init__(self, analysis: Analysis) -> None:
        self._analyse = analysis.analyser()
        self._anything = analysis.takes_anything
        self._numbers: dict[str, int] = {}

    def count(self, cells: CellTable, texts: Texts, classes: Classes, first: int) -> None:
        """Add the documents to the cells."""
        cells.add(*self._rows(listed_texts(texts), first), *classes, len(self._numbers))

    def _rows(self, texts: list[Any], first: int) -> Rows:
        numbers = self._numbers
        ids, counts, indptr = array("i"), array("i"), array("q", [0])
        for number, text in enumerate(texts, first):
            if not self._anything and not isinstance(text, str):
                raise InputError(f"document {number} is a {type(text).__name__}; it must be a str")
            row: dict[int, int] = {}
            for term in self._analyse(text):
                if not isinstance(term, str):
                    raise InputError(
                        f"the term {term!r} is not a str; the analyzer or tokenizer must return strings"
                    )
                i = numbers.setdefault(term, len(numbers))
                row[i] = row.get(i, 0) + 1
            ids.extend(row)
            counts.extend(row.values())
            indptr.append(len(ids))
        return np.array(indptr, np.int64), np.array(ids, np.int32), np.array(counts, np.int32)

    def numbers(self, other: Self) -> NDArray[np.int32]:
        return _numbers(self._numbers, other._numbers)

    def order(self) -> Order:
        return _order(self._numbers)


class Counter:
    """One worker's counts: batches of texts with the numbers of their classes in, a Tally out."""

    def __init__(self, analysis: Analysis, occurrences: bool = False) -> None:
        self._terms = _CompiledTerms(analysis) if analysis.compiled else _PlainTerms(analysis)
        self._cells = CellTable(occurrences)
        self._pos = np.zeros(0, dtype=np.int64)
        self.n_docs = 0

    def add(self, texts: Texts, classes: Classes, first: int = 0) -> None:
        """Count documents; `first` is the number of the first one, for error messages."""
        self._terms.count(self._cells, texts, classes, first)
        self._add_sizes(np.bincount(classes.numbers))
        self.n_docs += len(texts)

    def absorb(self, other: Counter) -> None:
        """Add the counts of another counter with the same class numbers; it must not be used again."""
        self._absorb_terms(other)()

    def _absorb_terms(self, other: Counter) -> Callable[[], None]:
        """Add the terms of another counter, and return what adds its cells and then frees them."""
        numbers = self._terms.numbers(other._terms)  # type: ignore[arg-type]
        self._add_sizes(other._pos)
        self.n_docs += other.n_docs
        del other._terms

        def absorb_cells() -> None:
            self._cells.absorb(other._cells, numbers)
            del other._cells

        return absorb_cells

    def _sorted_cells(self, order: Ints, column: NDArray[np.int32], workers: int) -> list[Any]:
        """Return the table of the cells; each worker makes that of some of the terms."""
        if workers == 1:
            return list(self._cells.table(order, column))
        with ThreadPoolExecutor(workers) as pool:
            parts = list(pool.map(self._cells.table, np.array_split(order, workers), [column] * workers))
        indptr, *arrays = zip(*parts, strict=True)
        starts = np.cumsum([0, *[ends[-1] for ends in indptr]])
        bounds = [start + ends[1:] for start, ends in zip(starts, indptr, strict=False)]
        joined = [None if group[0] is None else np.concatenate(group) for group in arrays]
        return [np.concatenate([starts[:1], *bounds]), *joined]

    def _add_sizes(self, more: Ints) -> None:
        sizes = np.zeros(max(len(self._pos), len(more)), dtype=np.int64)
        sizes[: len(self._pos)] = self._pos
        sizes[: len(more)] += more
        self._pos = sizes

    def tally(self, codes: LabelCodes, workers: int = 1, other: Counter | None = None) -> Tally:
        """Return the tally of all documents so far; `codes` holds the labels of the class numbers.

        With `other`, its counts are added first: its cells by another thread, while the terms are sorted.
        """
        with ThreadPoolExecutor(1) as pool:
            absorbed = None if other is None else pool.submit(self._absorb_terms(other))
            order, spelling, ends = self._terms.order()
        if absorbed is not None:
            absorbed.result()
        labels = codes.labels[: len(self._pos)]
        by_label = sorted(range(len(labels)), key=labels.__getitem__)
        column = np.empty(len(labels), dtype=np.int32)
        column[by_label] = np.arange(len(labels), dtype=np.int32)
        excess, tf_total, squares = self._cells.columns(order)
        indptr, indices, docs, sums, df = self._sorted_cells(order, column, workers)
        return Tally(
            self.n_docs,
            codes.kind or LabelKind("", False),
            tuple(labels[i] for i in by_label),
            self._pos[by_label],
            spelling,
            ends,
            df if excess is None else df - excess,
            Cells(indptr, indices, docs, len(labels)),
            None if sums is None else Cells(indptr, indices, sums, len(labels)),
            tf_total,
            squares,
        )
