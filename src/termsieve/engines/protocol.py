"""The protocol of engines: a Job comes in, and the tally of its documents goes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from termsieve.columns import Wanted
from termsieve.counts.sources import Source
from termsieve.counts.tally import Pruned
from termsieve.errors import ParameterError
from termsieve.terms import Analysis


@dataclass(frozen=True)
class Job:
    """Documents and how to count them; the same for every engine.

    `reading` says how tables and labels are read, such as separator, missing and encoding.
    `analysis` was made from `term_options`. `held` is the source, opened, unless it is a cluster's. An engine
    that knows the number of documents so far calls `progress` with it.

    Parameters
    ----------
    source : paths, Corpus, frame or iterator
        Where the documents come from.
    text : str or None
        The column of the texts.
    label : str or None
        The column of the labels.
    reading : dict
        How tables and labels are read.
    term_options : dict
        The options of `term_matrix`.
    analysis : Analysis
        How a text becomes terms.
    occurrences : bool
        Whether occurrences are counted, too.
    max_terms : int or None
        Largest number of terms to hold.
    held : Source, optional
        The source, opened; engines on a cluster open their parts themselves.
    progress : callable, optional
        Called with the number of documents so far.
    """

    source: Any
    text: Wanted
    label: Wanted
    reading: dict[str, Any]
    term_options: dict[str, Any]
    analysis: Analysis
    occurrences: bool
    max_terms: int | None
    held: Source | None = None
    progress: Callable[[int], None] | None = None

    def opened(self) -> Source:
        """Return the source of the documents, with its columns found."""
        return self.held or Source(self.source, self.text, self.label, **self.reading)


@runtime_checkable
class Engine(Protocol):
    """An object that counts documents. Its constructor takes the options that only this engine has."""

    def tally(self, job: Job) -> Pruned:
        """Return the tally of all documents of a job, pruned to its `max_terms`.

        Parameters
        ----------
        job : Job
            The documents and how to count them.

        Returns
        -------
        Pruned
            The tally.
        """


def is_distributed(source: Any) -> bool:
    """Return whether a source is a collection of Dask or a dataframe of Spark."""
    return hasattr(source, "to_delayed") or hasattr(source, "mapInArrow")


def positive(name: str, value: int | None) -> int | None:
    """Return an option that is None or a whole number from 1."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ParameterError(f"{name}={value!r} must be a whole number from 1")
    return value
