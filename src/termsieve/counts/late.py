"""The tables and names of Counts: as they were given, or, until one of them is read, term after term."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.counts import matrix as layout
from termsieve.counts.cells import is_narrow, number_table, term_names, wide
from termsieve.errors import FormatError
from termsieve.kernels.counting import dense_cells
from termsieve.kernels.streaming import cut_terms


@dataclass(frozen=True)
class Cells:
    """The nonzero cells of terms x classes, term after term: `data` in the columns `indices`, which rise."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.int64]
    n_classes: int

    @classmethod
    def of(cls, matrix: Any) -> Cells:
        """Return the cells of a csr_array whose indices rise in each row."""
        indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        return cls(indptr, indices, matrix.data, matrix.shape[1])

    def matrix(self) -> Any:
        """Return the cells as a csr_array."""
        matrix = sparse.csr_array(
            (self.data, self.indices, self.indptr), shape=(len(self.indptr) - 1, self.n_classes)
        )
        matrix.has_canonical_format = True
        return matrix

    def by_class(self) -> Any:
        """Return the table of classes x terms, dense or sparse depending on its size."""
        n_terms = len(self.indptr) - 1
        if n_terms * self.n_classes > layout.DENSE_CELLS:
            return sparse.csr_array(self.matrix().T)
        return dense_cells(self.indptr, self.indices, self.data, self.n_classes)


@dataclass(frozen=True)
class ByTerm:
    """What a counter leaves and a counts file keeps: the terms, sorted, and the nonzero cells of each.

    `spelling` holds all terms as UTF-8, one after the other, and `ends` the end of each.
    """

    spelling: NDArray[np.uint8]
    ends: NDArray[np.int64]
    tp: Cells
    tf: Cells | None = None

    def terms(self) -> list[str]:
        """Return the terms."""
        try:
            terms: list[str] = cut_terms(self.spelling, self.ends)
        except UnicodeDecodeError as error:
            raise FormatError("a term of the tally is not valid text; count again") from error
        return terms

    def tables(self) -> dict[str, Any]:
        """Return the names and the tables of classes x terms."""
        return {
            "terms": np.fromiter(self.terms(), dtype=object, count=len(self.ends)),
            "tp": self.tp.by_class(),
            "tf": None if self.tf is None else self.tf.by_class(),
        }


class LateTables:
    """The base of Counts that holds `tp`, `tf` and `terms`.

    Counts of documents are often only saved or scored. A dense table of them can be many times as large as
    their cells, and a str per term takes as long as sorting them, so both are made when one of them is read.
    The tables of a term matrix have as few bits as hold them until they are read.
    """

    by_term: ByTerm | None = None  # None as soon as the tables are there

    def _hold(self, tp: Any, tf: Any, terms: Any, shape: tuple[int, int], dtype: Any) -> None:
        if isinstance(tp, ByTerm):
            self.by_term = tp
            return
        self.terms = term_names(terms, shape[1])
        for name, table in (("tp", tp), ("tf", tf)):
            numbers = None if table is None else number_table(table, shape, dtype)
            vars(self)[_narrow(name) if is_narrow(numbers) else name] = numbers

    @property
    def occurrences(self) -> bool:
        """Whether the occurrences of terms were counted, too."""
        held = self.by_term
        return (self.as_counted("tf") if held is None else held.tf) is not None

    def as_counted(self, name: str) -> Any:
        """Return an attribute; if it is a table, then as narrow as it was counted.

        What only looks at the numbers takes them from here, and needs less memory. It must not change them.
        """
        table = vars(self).get(_narrow(name))
        return getattr(self, name) if table is None else table

    @cached_property
    def terms(self) -> NDArray[Any] | None:
        """The terms, or None where they have no names."""
        return self._made("terms")

    @cached_property
    def tp(self) -> Any:
        """Number of documents of the class that contain the term."""
        return self._made("tp")

    @cached_property
    def tf(self) -> Any:
        """Number of occurrences of the term in the class, if they were counted."""
        return self._made("tf")

    def _made(self, name: str) -> Any:
        # Threads may ask at once: what one of them has made is there before its source goes.
        own, held = vars(self), self.by_term
        narrow = own.get(_narrow(name))
        if narrow is not None:
            own.setdefault(name, wide(narrow))
            own.pop(_narrow(name), None)  # whoever reads the table may change it
        elif held is not None:
            for made, table in held.tables().items():
                own.setdefault(made, table)
            self.by_term = None
        return own[name]


def _narrow(name: str) -> str:
    return f"_narrow_{name}"
