"""Sections of figures and tables come in; one offline HTML file goes out."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

import polars as pl
from markupsafe import Markup, escape

from termsieve import __version__
from termsieve.analysis.of_counts import shown
from termsieve.charts.theme import specification, vega_bundle
from termsieve.files import write_whole
from termsieve.portable import live_script, live_style
from termsieve.reports.explorer import Explorer, room_for
from termsieve.reports.store import compressed

TEMPLATES = resources.files("termsieve.reports") / "templates"
SCRIPTS = ("address.js", "tables.js")
EXPLORER_SCRIPTS = (
    "store.js",
    "text.js",
    "panel.js",
    "search.js",
    "overview.js",
    "wordmap.js",
    "mistakes.js",
)
LAST_SCRIPT = "page.js"
MAX_LETTERS = 200  # letters of a title or a label on the page
# Lines and letters take the colour of the page, so that one drawing serves light, dark and paper.
INK = "currentColor"
LOOK = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "title": {"color": INK, "fontSize": 13, "anchor": "start"},
    "text": {"color": INK},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": INK,
        "tickColor": INK,
        "gridColor": INK,
        "gridOpacity": 0.12,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "orient": "bottom",
    },
}


@dataclass(frozen=True)
class Variant:
    """The content of a figure for one choice: a chart and its table, or only the table."""

    table: pl.DataFrame
    chart: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return the data for the page's script; rows that are in the chart are not repeated."""
        if self.chart is None:
            return {"columns": self.table.columns, "rows": _rows(self.table)}
        spec = specification(self.chart.properties(width="container"))
        spec |= {"config": LOOK, "autosize": {"type": "fit-x", "contains": "padding"}}
        spec.pop("$schema", None)
        summary: dict[str, Any] = {"spec": spec, "columns": self.table.columns}
        records = self.table.to_dicts()
        same = [name for name, data in spec.get("datasets", {}).items() if data == records]
        return summary | ({"data": same[0]} if same else {"rows": _rows(self.table)})


@dataclass(frozen=True)
class Choice:
    """One entry of a chooser: its name, which is also in the page's address, a note and a sentence."""

    name: str
    detail: str = ""
    note: str = ""


@dataclass(frozen=True)
class Chooser:
    """A list of choices, or buttons where there are two; sections with the same `key` choose together."""

    key: str
    label: str
    choices: Sequence[Choice]
    first: int = 0

    def position(self, name: str | None) -> int:
        """Return the position of the choice of that name, or of the first one shown."""
        names = [choice.name for choice in self.choices]
        return names.index(name) if name in names else self.first


@dataclass(frozen=True)
class Figure:
    """A chart or a table with its title; one variant, or one for each choice by the choosers in `by`.

    If there are several choosers, the last varies fastest. `script` names the page's own drawing, which has
    no variants.
    """

    id: str
    title: str
    variants: Sequence[Variant]
    note: str = ""
    wide: bool = False
    by: Sequence[str] = ()
    script: str = ""

    @property
    def drawn(self) -> bool:
        """Whether there is a chart for at least one choice."""
        return any(variant.chart is not None for variant in self.variants)


@dataclass(frozen=True)
class Section:
    """Figures under a heading, and the choosers that switch them; `live`: with the box for a text."""

    id: str
    title: str
    figures: Sequence[Figure] = ()
    text: Sequence[str] = ()
    choosers: Sequence[Chooser] = ()
    code: str = ""
    live: bool = False


@dataclass(frozen=True)
class Page:
    """A report: what stands at its head, and its sections."""

    title: str
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    warnings: Sequence[str] = ()
    claims: Sequence[str] = ()
    notes: Sequence[str] = field(default_factory=tuple)
    parts: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] | None = None  # the description of a classifier, for a section with a text box

    def to_html(self) -> str:
        """Return the page as one HTML document that loads nothing from the network."""
        return self._rendered(self._data())

    def with_explorer(self, explorer: Explorer, max_megabytes: float) -> str:
        """Return the page with the explorer's data, at most so many megabytes."""
        data = self._data()
        room = room_for(max_megabytes, self._rendered(data, words="-"))
        words, notes = explorer.packed(room)
        return replace(self, notes=[*self.notes, *notes])._rendered(data, words)

    def _data(self) -> str:
        """Return the charts and tables of all figures, as compressed JSON."""
        figures = {
            figure.id: [variant.to_dict() for variant in figure.variants]
            for section in self.sections
            for figure in section.figures
            if not figure.script
        }
        return compressed(json.dumps(figures, allow_nan=False, separators=(",", ":")).encode())

    def _rendered(self, data: str, words: str = "") -> str:
        names = (*SCRIPTS, *EXPLORER_SCRIPTS, LAST_SCRIPT) if words else (*SCRIPTS, LAST_SCRIPT)
        scripts, styles = [_template_text(name) for name in names], [_template_text("page.css")]
        model = ""
        if self.model is not None:
            model = compressed(json.dumps(self.model, allow_nan=False, separators=(",", ":")).encode())
            scripts.insert(0, live_script())
            styles.append(live_style())
        script = "\n".join(['"use strict";', *scripts])
        return _template().render(
            page=self,
            version=__version__,
            style="\n".join(styles),
            data=data,
            model=model,
            words=words,
            script=script,
            bundle=_packed_bundle(),
            policy=_policy(script),
        )


@cache
def _packed_bundle() -> str:
    return compressed(vega_bundle().encode())


def _template_text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def write(html: str, path: str | os.PathLike[str] | None) -> str:
    """Write the document where a path is given, and return it."""
    if path is not None:
        write_whole(path, html.encode())
    return html


def rounded(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with six significant digits, texts that can be shown, and no NaN."""
    return table.with_columns(
        pl.col(pl.Float64).fill_nan(None).round_sig_figs(6), pl.col(pl.Float32).fill_nan(None)
    )


def _rows(table: pl.DataFrame) -> list[list[Any]]:
    return [[_plain(value) for value in row] for row in table.rows()]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _policy(*scripts: str) -> str:
    """Return the content security policy: only these scripts run, and nothing is fetched.

    Vega is unpacked in the page, and compiles its expressions; hence 'unsafe-eval'.
    """
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts
    )
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {hashes} 'unsafe-eval'"


def _breakable(name: str) -> Markup:
    """Return a name as HTML that breaks after dots and the like rather than within a word."""
    # No entity has one of these characters, so that none is cut apart.
    return Markup(re.sub(r"(?<=[._/])", "<wbr>", str(escape(name))))


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("termsieve.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = lambda text: shown(text, MAX_LETTERS)
    environment.filters["breakable"] = _breakable
    return environment.get_template("page.html")
