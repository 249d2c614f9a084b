"""Rows of plain values come in; readable numbers, and small HTML tables for notebooks, go out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

SHOWN_ROWS = 10  # rows of a table in a notebook
SHOWN_LETTERS = 80  # letters of a text in a cell
# The colours are those of the page, light or dark; lines are half transparent. Both the table and its cells
# declare this, because in a page without a doctype tables do not inherit colours.
_TABLE = "border-collapse:collapse;color:inherit;font:inherit;font-variant-numeric:tabular-nums"
_LINE = "border:0;border-bottom:1px solid rgba(128,128,128,.35)"
_CELL = "padding:.2em .7em;background:transparent;color:inherit;white-space:nowrap"


def readable(value: object, share: bool = False) -> str:
    """Return a value for readers: thousands with commas, four digits, shares as percentages.

    >>> readable(1234567), readable(0.123456), readable(98765.4), readable(0.256, share=True)
    ('1,234,567', '0.1235', '98,765', '25.6%')
    >>> readable(None), readable(True), readable(["a", "b"]), readable(0.0002, share=True)
    ('', 'yes', 'a, b', '<0.1%')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and share:
        return "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def plain_text(text: object) -> str:
    """Return a text as valid Unicode: a lone surrogate, which no file and no table can hold, becomes "?".

    >>> plain_text("\\ud800x")
    '?x'
    """
    plain = str(text)
    return plain if plain.isascii() else plain.encode("utf-8", "replace").decode("utf-8")


def html_table(
    rows: Sequence[Mapping[str, object]],
    title: str = "",
    shares: Collection[str] = (),
    total: int | None = None,
) -> str:
    """Return rows as an HTML table for a notebook; every text in it is escaped.

    Parameters
    ----------
    rows : sequence of mappings
        One mapping per row, with the same keys; at most ten rows are shown.
    title : str
        The line above the table.
    shares : collection of str
        Columns whose numbers are shares, shown as percentages.
    total : int, optional
        The number of rows that there are, if `rows` holds only the first of them.

    Examples
    --------
    >>> "&lt;b&gt;" in html_table([{"term": "<b>", "documents": 1200}])
    True
    """
    shown = list(rows[:SHOWN_ROWS])
    names = list(shown[0]) if shown else []
    numeric = {name for name in names if all(_is_number(row[name]) for row in shown)}
    head = "".join(_cell("th", name, name in numeric) for name in names)
    body = "".join(
        "<tr>"
        + "".join(_cell("td", readable(row[name], name in shares), name in numeric) for name in names)
        + "</tr>"
        for row in shown
    )
    more = (len(rows) if total is None else total) - len(shown)
    notes = f"<div>and {more:,} more</div>" if more > 0 else ""
    table = f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f"<div><div><strong>{escape(title)}</strong></div>{table if shown else ''}{notes}</div>"


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(tag: str, text: str, numeric: bool) -> str:
    short = text if len(text) <= SHOWN_LETTERS else text[: SHOWN_LETTERS - 1] + "…"
    align = "right" if numeric else "left"
    return f'<{tag} style="{_LINE};{_CELL};text-align:{align}">{escape(plain_text(short))}</{tag}>'
