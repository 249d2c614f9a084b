"""Tally: the sorted counts of some documents; tallies of disjoint documents can be merged."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from termsieve.counts import Counts
from termsieve.counts.archive import Arrays, read_arrays, write_arrays
from termsieve.counts.late import ByTerm, Cells
from termsieve.counts.matrix import too_many_occurrences
from termsieve.errors import FormatError, InputError
from termsieve.kernels.streaming import are_sorted, merged_terms, taken_terms
from termsieve.labels import encode_labels

MERGED_AT_ONCE = 8  # number of tallies of neighbouring parts that a cluster merges at once
Ints = NDArray[np.int64]


class LabelKind(NamedTuple):
    """The type of labels ("" if there is none yet), and whether documents have several."""

    type: str
    several: bool

    def __str__(self) -> str:
        return f"lists of {self.type}" if self.several else self.type

    def joined(self, other: LabelKind, where: str = "") -> LabelKind:
        """Return the kind of both together, or raise InputError if they differ."""
        if self.several != other.several or (self.type and other.type and self.type != other.type):
            raise InputError(
                f"{where}: the labels are {other} here but {self} before; ".removeprefix(": ")
                + "give the label column of all parts one type"
            )
        return self if self.type else other


@dataclass(frozen=True)
class Tally:
    """The counts of some documents in a form that can be merged in linear time and sent as plain arrays.

    `spelling` holds all terms as UTF-8, one after the other, in Python's order of str; `ends` holds the end
    of each. `tp` and `tf` are terms x classes and have the same nonzero cells.
    """

    n_docs: int
    kind: LabelKind
    classes: tuple[Any, ...]
    pos: Ints
    spelling: NDArray[np.uint8]
    ends: Ints
    df: Ints
    tp: Cells
    tf: Cells | None = None
    tf_total: Ints | None = None
    squares: Ints | None = None

    @property
    def n_terms(self) -> int:
        """Number of distinct terms."""
        return len(self.ends)

    def terms(self) -> list[str]:
        """Return the terms, sorted."""
        return self.by_term().terms()

    def by_term(self) -> ByTerm:
        """Return the terms and their cells."""
        return ByTerm(self.spelling, self.ends, self.tp, self.tf)

    def counts(self) -> Counts:
        """Return the Counts of these documents."""
        if self.n_docs == 0:
            raise InputError("there are no documents; at least one with a term is needed")
        if self.n_terms == 0:
            raise InputError(
                f"none of the {self.n_docs:,} documents has a term; are they empty, or only stop words?"
            )
        classes = encode_labels([self.classes] if self.kind.several else list(self.classes)).classes
        return Counts(
            self.by_term(),
            self.pos,
            self.df,
            self.n_docs,
            classes,
            multilabel=self.kind.several,
            tf_total=self.tf_total,
            squares=self.squares,
        )

    def __add__(self, other: Tally) -> Tally:
        if self.n_docs == 0 or other.n_docs == 0:
            return self if other.n_docs == 0 else other
        kind = self.kind.joined(other.kind)
        spelling, ends, mine, theirs = merged_terms(self.spelling, self.ends, other.spelling, other.ends)
        classes = tuple(sorted({*self.classes, *other.classes}))
        place = {label: i for i, label in enumerate(classes)}
        first = self._laid_out(mine, len(ends), place)
        second = other._laid_out(theirs, len(ends), place)
        sums: list[Any] = [None if x is None else x + y for x, y in zip(first, second, strict=True)]
        # If the sum of two such numbers does not fit into 64 bits, it becomes negative.
        if any(total is not None and len(total) and total.min() < 0 for total in sums[4:]):
            raise too_many_occurrences()
        pos, df, tp, tf, *totals = sums
        cells = Cells.of(tp), None if tf is None else Cells.of(tf)
        return Tally(self.n_docs + other.n_docs, kind, classes, pos, spelling, ends, df, *cells, *totals)

    def _laid_out(self, rows: Ints, n_terms: int, place: dict[Any, int]) -> list[Any]:
        """Return the arrays from `pos` on, with terms and classes moved to new positions in order."""
        columns = np.array([place[label] for label in self.classes], dtype=np.int32)
        shape = (n_terms, len(place))
        return [
            _spread(self.pos, columns, len(place)),
            _spread(self.df, rows, n_terms),
            _moved(self.tp, rows, columns, shape),
            None if self.tf is None else _moved(self.tf, rows, columns, shape),
            None if self.tf_total is None else _spread(self.tf_total, rows, n_terms),
            None if self.squares is None else _spread(self.squares, rows, n_terms),
        ]

    def pruned(self, max_terms: int) -> tuple[Tally, int]:
        """Return the tally of the `max_terms` most frequent terms, and the highest frequency left out.

        Of equally frequent terms, those that sort first are kept.
        """
        if self.n_terms <= max_terms:
            return self, 0
        order = np.argsort(-self.df, kind="stable")
        rows = np.sort(order[:max_terms])
        spelling, ends = taken_terms(self.spelling, self.ends, rows)
        kept_tally = Tally(
            self.n_docs,
            self.kind,
            self.classes,
            self.pos,
            spelling,
            ends,
            self.df[rows],
            Cells.of(self.tp.matrix()[rows]),
            None if self.tf is None else Cells.of(self.tf.matrix()[rows]),
            None if self.tf_total is None else self.tf_total[rows],
            None if self.squares is None else self.squares[rows],
        )
        return kept_tally, int(self.df[order[max_terms]])

    def to_bytes(self) -> bytes:
        """Return the tally as the bytes of an npz archive."""
        file = io.BytesIO()
        write_arrays(file, self.arrays())
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Tally:
        """Return the tally that `to_bytes` wrote."""
        try:
            arrays = read_arrays(io.BytesIO(content))
        except ValueError as error:
            raise FormatError(f"these bytes are no tally of termsieve: {error}") from error
        return cls.from_arrays(arrays)

    def arrays(self) -> Arrays:
        """Return everything as plain arrays, by name."""
        head = json.dumps({"n_docs": self.n_docs, "kind": list(self.kind), "classes": self.classes})
        arrays: Arrays = {
            "head": np.frombuffer(head.encode(), dtype=np.uint8),
            "pos": self.pos,
        }
        arrays |= {"spelling": self.spelling, "ends": self.ends, "df": self.df}
        arrays |= {f"tp_{name}": getattr(self.tp, name) for name in ("data", "indices", "indptr")}
        if self.tf is not None and self.tf_total is not None and self.squares is not None:
            arrays |= {"tf_data": self.tf.data, "tf_total": self.tf_total, "squares": self.squares}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Tally:
        """Return the tally of arrays as `arrays` returns them; they may come from a file and are checked."""
        try:
            head = json.loads(arrays["head"].tobytes())
            shape = (len(arrays["ends"]), len(head["classes"]))
            _refuse_impossible(arrays, head, shape)
            indptr, indices = arrays["tp_indptr"].astype(np.int64), arrays["tp_indices"].astype(np.int32)
            return cls(
                head["n_docs"],
                LabelKind(*head["kind"]),
                tuple(head["classes"]),
                arrays["pos"],
                arrays["spelling"],
                arrays["ends"],
                arrays["df"],
                Cells(indptr, indices, arrays["tp_data"], shape[1]),
                Cells(indptr, indices, arrays["tf_data"], shape[1]) if "tf_data" in arrays else None,
                arrays.get("tf_total"),
                arrays.get("squares"),
            )
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise FormatError(f"these bytes are no tally of termsieve: {error}") from error


def _refuse_impossible(arrays: Arrays, head: dict[str, Any], shape: tuple[int, int]) -> None:
    """Raise ValueError if the arrays cannot belong to a tally with this number of terms and classes."""
    indptr, indices = arrays["tp_indptr"], arrays["tp_indices"]
    lengths = {"pos": shape[1], "ends": shape[0], "df": shape[0], "tp_data": len(indices)}
    lengths |= {"tp_indptr": shape[0] + 1}
    if "tf_data" in arrays:
        lengths |= {"tf_data": len(indices), "tf_total": shape[0], "squares": shape[0]}
    for name, length in lengths.items():
        array = arrays[name]
        if array.shape != (length,) or array.dtype.kind != "i" or (length and array.min() < 0):
            raise ValueError(f"the numbers {name!r} are impossible")
    if any(arrays[name].dtype != np.int64 for name in lengths if not name.startswith("tp_ind")):
        raise ValueError("its numbers do not have 64 bits")
    if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise ValueError("the rows of its table are impossible")
    if indices.ndim != 1 or indices.dtype.kind != "i":
        raise ValueError("the columns of its table are no whole numbers")
    if len(indices) and not 0 <= indices.min() <= indices.max() < shape[1]:
        raise ValueError("its table has a column beyond the classes")
    rises = np.diff(indices) > 0
    starts = indptr[1:-1]
    rises[starts[(starts > 0) & (starts < len(indices))] - 1] = True
    if not rises.all():
        raise ValueError("its table has a cell twice")
    spelling = arrays["spelling"]
    if spelling.ndim != 1 or spelling.dtype != np.uint8 or not are_sorted(spelling, arrays["ends"]):
        raise ValueError("its terms are not sorted")
    _refuse_impossible_head(head)


def _refuse_impossible_head(head: dict[str, Any]) -> None:
    n_docs, classes, kind = head["n_docs"], head["classes"], LabelKind(*head["kind"])
    if isinstance(n_docs, bool) or not isinstance(n_docs, int) or not 0 <= n_docs < 2**62:
        raise ValueError("its number of documents is impossible")
    if not isinstance(classes, list) or {type(label).__name__ for label in classes} - {kind.type}:
        raise ValueError("its classes are not of the type that it names")
    if not isinstance(kind.several, bool) or classes != sorted(set(classes)):
        raise ValueError("its classes are not sorted")


class Pruned(NamedTuple):
    """A tally, the number of terms dropped from it, and the largest error of a count because of that."""

    tally: Tally
    n_dropped: int = 0
    at_most: int = 0


def joined(parts: Sequence[Pruned], max_terms: int | None = None) -> Pruned:
    """Return the sum of parts in any order; only the `max_terms` most frequent terms are kept.

    The errors of the parts add up, and dropping a term adds its remaining count.
    """
    total = merged(part.tally for part in parts)
    n_dropped, at_most = sum(part.n_dropped for part in parts), sum(part.at_most for part in parts)
    if max_terms is None:
        return Pruned(total, n_dropped, at_most)
    kept, highest = total.pruned(max_terms)
    return Pruned(kept, n_dropped + total.n_terms - kept.n_terms, at_most + highest)


def empty_tally() -> Tally:
    """Return the tally of no documents."""
    none = np.zeros(0, dtype=np.int64)
    no_cells = Cells(np.zeros(1, np.int64), np.zeros(0, np.int32), none, 0)
    return Tally(0, LabelKind("", False), (), none, np.zeros(0, np.uint8), none, none, no_cells)


def merged(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of all tallies, added in pairs, so that terms are moved as rarely as possible."""
    level: Sequence[Tally] = list(tallies) or [empty_tally()]
    while len(level) > 1:
        pairs = zip(level[::2], [*level[1::2], empty_tally()], strict=False)
        level = [first + second for first, second in pairs]
    return level[0]


def spelled(terms: Sequence[str]) -> tuple[NDArray[np.uint8], Ints]:
    """Return the terms as UTF-8, one after the other, and the end of each."""
    joined = "\0".join([*terms, ""]).encode("utf-8", "surrogatepass")
    raw = np.frombuffer(joined, dtype=np.uint8)
    stops = np.flatnonzero(raw == 0)
    if len(stops) == len(terms):
        return raw[raw != 0], stops - np.arange(len(stops))
    # A term contains a NUL, so NUL cannot separate the terms.
    each = [term.encode("utf-8", "surrogatepass") for term in terms]
    ends = np.cumsum(np.fromiter(map(len, each), dtype=np.int64, count=len(each)), dtype=np.int64)
    return np.frombuffer(b"".join(each), dtype=np.uint8), ends


def _spread(values: Ints, places: NDArray[Any], size: int) -> Ints:
    spread = np.zeros(size, dtype=np.int64)
    spread[places] = values
    return spread


def _moved(table: Cells, rows: Ints, columns: NDArray[np.int32], shape: tuple[int, int]) -> Any:
    """Return a csr_array of cells with their rows and columns moved to new positions, in the same order."""
    indptr = np.concatenate([[0], np.cumsum(_spread(np.diff(table.indptr), rows, shape[0]))])
    return Cells(indptr, columns[table.indices], table.data, shape[1]).matrix()
