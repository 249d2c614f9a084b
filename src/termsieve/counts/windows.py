"""Documents with dates or sources come in; Windows go out: counts kept apart by day, week or source."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.counts.table import Counts
from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.labels import are_several, listed

UNITS: dict[str, Callable[[date], str]] = {
    "day": lambda day: day.isoformat(),
    "week": lambda day: "{}-W{:02}".format(*day.isocalendar()),
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "year": lambda day: f"{day.year:04}",
}


def window_column(by: str) -> tuple[str, str | None]:
    """Return the column and the unit of `by`; without a unit its values are the windows themselves.

    >>> window_column("date:week"), window_column("source")
    (('date', 'week'), ('source', None))
    """
    column, _, unit = by.rpartition(":")
    if column and unit in UNITS:
        return column, unit
    if column and "date" in column:  # a misspelt unit rather than a column's name
        raise unknown_name("unit", unit, UNITS)
    return by, None


def window_of(value: Any, unit: str | None) -> str:
    """Return the window of a value: its text, or the day, week, month or year of a date.

    >>> window_of("2024-05-31T10:00:00Z", "week"), window_of("mail", None)
    ('2024-W22', 'mail')
    """
    if unit is None:
        return str(value)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise InputError(
                f"{value!r:.40} is no date such as 2024-05-31, so it has no {unit}; "
                "leave out the unit, or write ISO dates"
            ) from None
    if not isinstance(value, date):
        raise InputError(f"{value!r:.40} is no date, so it has no {unit}; leave out the unit")
    return UNITS[unit](value.date() if isinstance(value, datetime) else value)


def windowed_labels(labels: Sequence[Any], windows: Sequence[str]) -> list[tuple[str, ...]]:
    """Return for each document the labels that it is counted under: its window, and its classes there.

    >>> windowed_labels(["spam"], ["May"])
    [('["May"]', '["May", "spam"]')]
    """
    several = are_several(labels)
    groups = [listed(label) if several else [label] for label in labels]
    return [
        tuple(_key(window, *more) for more in [(), *((label,) for label in dict.fromkeys(group))])
        for group, window in zip(groups, windows, strict=True)
    ]


def _key(*parts: Any) -> str:
    return json.dumps([part.item() if isinstance(part, np.generic) else part for part in parts])


class Windows:
    """Counts kept apart by window: by day, week or month, or by source.

    Make them with ``termsieve.count(source, by="date:week")``. Sums and differences of windows take
    milliseconds.

    Parameters
    ----------
    counts : Counts
        The counts of all windows, and of each class in them.
    by : str
        The column of the windows, such as "date:week".
    several : bool
        Whether documents may have several labels.

    Attributes
    ----------
    names : list of str
        The windows, sorted.

    Examples
    --------
    >>> from termsieve import Corpus, count
    >>> mail = Corpus(["buy now", "see you", "buy it"], ["spam", "ham", "spam"])
    >>> weeks = count(mail, by=["2024-W01", "2024-W01", "2024-W02"])
    >>> weeks
    <Windows of 3 documents: 2 windows, 5 terms>
    >>> weeks["2024-W02"].terms.tolist(), weeks.sum() == count(mail)
    (['buy', 'it'], True)
    """

    def __init__(self, counts: Counts, by: str = "", several: bool = False) -> None:
        self.counts, self.by, self.several = counts, by, several
        try:
            keys = [json.loads(label) for label in counts.classes.tolist()]
            self._window = np.array([key[0] for key in keys], dtype=object)
        except (TypeError, ValueError, IndexError, KeyError):
            raise InputError("these counts have no windows; count with by=") from None
        self._label: list[Any] = [key[1] if len(key) > 1 else None for key in keys]
        self._is_window = np.array([len(key) == 1 for key in keys], dtype=bool)
        self.names: list[str] = sorted(self._window[self._is_window].tolist())

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return int(self.counts.pos[self._is_window].sum())

    def __repr__(self) -> str:
        return f"<Windows of {self.n_docs:,} documents: {len(self):,} windows, {self.counts.n_terms:,} terms>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Windows):
            return NotImplemented
        return (self.by, self.several, self.counts) == (other.by, other.several, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Windows) -> Windows:
        if not isinstance(other, Windows):
            return NotImplemented
        if (self.by, self.several) != (other.by, other.several):
            raise InputError(f"windows by {self.by!r} and by {other.by!r} cannot be added; count both alike")
        return Windows(self.counts + other.counts, self.by, self.several)

    def __getitem__(self, name: str) -> Counts:
        """Return the counts of one window, or of the windows "first..last"."""
        return self.sum(self.between(name))

    def between(self, span: str) -> list[str]:
        """Return the windows of a span: one window, "first..last" (either may be missing), or several.

        Parameters
        ----------
        span : str
            Such as "2024-W05", "2024-W01..2024-W04", "..2024-W04" or "mail,web".

        Returns
        -------
        list of str
            The windows, in their order.
        """
        if span in self.names:
            return [span]
        if ".." in span:
            first, _, last = span.partition("..")
            found = [name for name in self.names if first <= name and (not last or name <= last)]
        else:
            wanted = [name.strip() for name in span.split(",")]
            for name in wanted:
                if name not in self.names:
                    raise unknown_name("window", name, self.names)
            found = [name for name in self.names if name in wanted]
        if not found:
            raise ParameterError(f"there is no window in {span!r}; they go from {self.names[0]} on")
        return found

    def pair(self, before: str | None = None, after: str | None = None) -> tuple[Counts, Counts]:
        """Return the counts of two spans to compare, for `difference`.

        Parameters
        ----------
        before : str, optional
            A span as in `between`; by default all windows before the first of `after`.
        after : str, optional
            A span as in `between`; by default the last window.

        Returns
        -------
        tuple of Counts
            The counts before and after.
        """
        later = self.names[-1:] if after is None else self.between(after)
        if before is None:
            earlier = [name for name in self.names if name < later[0]]
            if not earlier:
                raise ParameterError(f"there is no window before {later[0]}; name two windows")
        else:
            earlier = self.between(before)
        if both := set(earlier) & set(later):
            raise ParameterError(f"the window {min(both)} is both before and after; give separate ones")
        return self.sum(earlier), self.sum(later)

    def sum(self, names: Iterable[str] | None = None) -> Counts:
        """Return the counts of some windows together, as if only their documents had been counted.

        Parameters
        ----------
        names : iterable of str, optional
            The windows; all by default.

        Returns
        -------
        Counts
            The counts of their documents.
        """
        wanted = set(self.names if names is None else names)
        there = np.array([window in wanted for window in self._window], dtype=bool)
        of_class = np.flatnonzero(there & ~self._is_window)
        labels = [self._label[at] for at in of_class]
        classes = sorted(set(labels))
        place = {label: i for i, label in enumerate(classes)}
        rows = np.array([place[label] for label in labels], dtype=np.int64)
        totals = np.flatnonzero(there & self._is_window)
        df = np.asarray(self.counts.tp[totals].sum(axis=0)).ravel()
        columns = np.flatnonzero(df)
        tp = _summed(self.counts.tp[of_class], rows, len(classes))[:, columns]
        pos = np.bincount(rows, self.counts.pos[of_class], len(classes)).astype(np.int64)
        n_docs = int(self.counts.pos[totals].sum())
        summed = Counts(tp, pos, df[columns], n_docs, np.array(classes), multilabel=self.several)
        if self.counts.terms is not None:
            summed.terms = self.counts.terms[columns]  # known to be distinct
        return summed

    def as_classes(self) -> Counts:
        """Return counts whose classes are the windows: which words tell one window from the others?

        Returns
        -------
        Counts
            One class per window.
        """
        rows = np.flatnonzero(self._is_window)
        rows = rows[np.argsort(self._window[rows])]
        counts = self.counts.take(rows)
        return counts.replace(classes=np.array(self.names), multilabel=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the windows to one Parquet file; `Counts.load` reads the sum of it.

        Parameters
        ----------
        path : path
            The file to write.
        """
        from termsieve.counts.storage import save

        save(self.counts, path, {"windows": {"by": self.by, "several": self.several}})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Windows:
        """Read the windows that `save` wrote.

        Parameters
        ----------
        path : path
            The file to read.

        Returns
        -------
        Windows
            The windows.
        """
        from termsieve.counts.storage import load_any

        found = load_any(path)
        if not isinstance(found, Windows):
            raise InputError(f"{os.fspath(path)} has no windows; count with by=, or --by")
        return found


def _summed(table: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    """Return the sums of the rows of a table that go to the same row."""
    ones, at = np.ones(len(rows), dtype=np.int64), np.arange(len(rows))
    return sparse.csr_array((ones, (rows, at)), shape=(n_rows, len(rows))) @ table
