"""Declarations of figures come in; the sections of a page, or pictures for the gallery, go out.

A figure is declared once: its name and title, the analysis that makes its table, the chart that draws the
table, and what both need. Reports, the gallery and the tests derive from the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import polars as pl

from termsieve.errors import InputError
from termsieve.reports.page import Chooser, Figure, Section, Variant, rounded


@dataclass(frozen=True)
class DeclaredFigure:
    """One figure of a report.

    Parameters
    ----------
    name : str
        Its name on the page; like `title` and `note`, a format string over the report's sources.
    title : str
        What stands above it.
    table : callable
        The function of `termsieve.analysis` that makes the table.
    needs : tuple of str
        The parameters of `table`, each the name of a source, or "parameter=source".
    chart : callable, optional
        The function of `termsieve.charts` that draws what `table` returns; without one the table is shown.
    reads : tuple of str
        The parameters of `chart` besides the table, as in `needs`.
    note : str
        How to read it.
    by : tuple of str
        The keys of the choosers that the figure follows.
    each : str
        The name of the report's list over which the figure is repeated.
    requires : str
        A requirement on the data. If the data do not meet it, the report's `lacking` has a sentence under
        this key.
    wide : bool
        Whether it takes the whole width of the page.
    script : str
        The name of the page's own drawing that takes the place of the chart on a page; pictures are drawn by
        the chart.
    """

    name: str
    title: str
    table: Callable[..., Any]
    needs: tuple[str, ...]
    chart: Callable[..., Any] | None = None
    reads: tuple[str, ...] = ()
    note: str = ""
    by: tuple[str, ...] = ()
    each: str = ""
    requires: str = ""
    wide: bool = False
    script: str = ""

    def variant(self, sources: Mapping[str, Any]) -> Variant:
        """Return the table and the chart that these sources give."""
        result = self.table(**_arguments(self.needs, sources))
        if isinstance(result, pl.DataFrame):
            result = table = rounded(result)
        else:
            table = rounded(result.table)
        if self.chart is None:
            return Variant(table)
        import altair

        # The gallery's tests check every chart; checking each of a hundred variants again takes seconds.
        with altair.utils.schemapi.debug_mode(False):
            return Variant(table, self.chart(result, **_arguments(self.reads, sources)))


class Picture(NamedTuple):
    """A declared figure drawn: its title and its note with the sources filled in, and the chart."""

    figure: DeclaredFigure
    title: str
    note: str
    chart: Any


@dataclass(frozen=True)
class DeclaredSection:
    """Figures under one heading."""

    name: str
    title: str
    figures: tuple[DeclaredFigure, ...]


@dataclass(frozen=True)
class Report:
    """Declared sections and the sources that fill them.

    `choosers` are the page's lists, and `chosen` holds for each key the sources of each choice; `each` holds
    the sources of each repetition of a figure; `lacking` says in a sentence why a requirement is not met.
    """

    declared: Sequence[DeclaredSection]
    sources: Mapping[str, Any]
    choosers: Sequence[Chooser]
    chosen: Mapping[str, Sequence[Mapping[str, Any]]]
    each: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)

    def sections(self) -> tuple[list[Section], list[str]]:
        """Return the sections that have a figure, and notes on figures that the data do not allow."""
        sections, notes = [], []
        required = {figure.requires for section in self.declared for figure in section.figures}
        notes += [text for requirement, text in self.lacking.items() if text and requirement in required]
        for section in self.declared:
            figures = []
            for figure, sources in self._allowed(section):
                drawn, left_out = self._figure(figure, sources)
                figures += drawn
                notes += left_out
            keys = {key for figure in figures for key in figure.by}
            choosers = [chooser for chooser in self.choosers if chooser.key in keys]
            if figures:
                sections.append(Section(section.name, section.title, figures, choosers=choosers))
        return sections, notes

    def pictures(self, choices: Mapping[str, str]) -> list[Picture]:
        """Return one picture per chart function, for the given choices, otherwise for the first ones."""
        at = {chooser.key: chooser.position(choices.get(chooser.key)) for chooser in self.choosers}
        found: dict[Any, Picture] = {}
        for section in self.declared:
            for figure, sources in self._allowed(section):
                if figure.chart is None or figure.chart in found:
                    continue
                for key in figure.by:
                    sources = {**sources, **self.chosen[key][at[key]]}
                chart = figure.variant(sources).chart
                title, note = (text.format_map(sources) for text in (figure.title, figure.note))
                found[figure.chart] = Picture(figure, title, note, chart)
        return list(found.values())

    def _allowed(self, section: DeclaredSection) -> Iterator[tuple[DeclaredFigure, dict[str, Any]]]:
        """Yield the figures whose requirements are met, once for each repetition, with their sources."""
        for figure in section.figures:
            if figure.requires not in self.lacking:
                for repeated in self.each.get(figure.each, []) if figure.each else [{}]:
                    yield figure, {**self.sources, **repeated}

    def _figure(self, declared: DeclaredFigure, sources: dict[str, Any]) -> tuple[list[Figure], list[str]]:
        """Return the figure with a variant per choice, or none if the data allow no variant."""
        title, note = (text.format_map(sources) for text in (declared.title, declared.note))
        name = declared.name.format_map(sources).replace("_", "-")
        if declared.script:
            return [Figure(name, title, [], note, declared.wide, declared.by, declared.script)], []
        variants: list[Variant | None] = []
        notes = []
        places = [range(len(self.chosen[key])) for key in declared.by]
        for place in product(*places):
            own = dict(sources)
            for key, at in zip(declared.by, place, strict=True):
                own |= self.chosen[key][at]
            try:
                variants.append(declared.variant(own))
            except InputError as error:
                variants.append(None)
                notes.append(": ".join([", ".join([title, *self._names(declared.by, place)]), f"{error}."]))
        if not any(variants):
            return [], notes
        absent = Variant(pl.DataFrame({"not drawn": ["see the end of the page"]}))
        filled = [variant or absent for variant in variants]
        return [Figure(name, title, filled, note, declared.wide, declared.by)], notes

    def _names(self, keys: Sequence[str], place: Sequence[int]) -> list[str]:
        choosers = {chooser.key: chooser for chooser in self.choosers}
        return [choosers[key].choices[at].name for key, at in zip(keys, place, strict=True)]


def _arguments(names: Sequence[str], sources: Mapping[str, Any]) -> dict[str, Any]:
    pairs = (name.partition("=") for name in names)
    return {parameter: sources[source or parameter] for parameter, _, source in pairs}
