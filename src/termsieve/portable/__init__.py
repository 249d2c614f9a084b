"""A model's description comes in; JSON, Python, JavaScript, SQL or a page that decides the same goes out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import resources
from typing import Any

from termsieve.errors import unknown_name
from termsieve.portable.sql import DIALECTS, sql_script

__all__ = ["TARGETS", "exported", "live_script", "live_style"]

FILES = resources.files("termsieve.portable")
EMBEDDED = "EMBEDDED: str | None = None"  # the line of scorer.py that the model takes the place of
EXPORTS = re.compile("^export ", re.MULTILINE)  # of scorer.js, where it is no module


def exported(description: dict[str, Any], to: str = "json", dialect: str = "duckdb") -> str:
    """Return the content of a file with a model: its description alone, or with a scorer.

    Parameters
    ----------
    description : dict
        What `Model.describe` returns.
    to : str
        One of `TARGETS`.
    dialect : {"duckdb", "postgres"}
        The database, for SQL.

    Returns
    -------
    str
        The content.
    """
    if to not in TARGETS:
        raise unknown_name("target", to, TARGETS)
    if dialect not in DIALECTS:
        raise unknown_name("dialect", dialect, DIALECTS)
    if to == "sql":
        return sql_script(description, dialect)
    return TARGETS[to](description)


def packed(description: dict[str, Any]) -> str:
    """Return compact JSON in ASCII."""
    return json.dumps(description, separators=(",", ":"), allow_nan=False)


def _python(description: dict[str, Any]) -> str:
    source = _text("scorer.py")
    before, _, after = source.partition(EMBEDDED)
    return f"{before}EMBEDDED: str | None = {packed(description)!r}{after}"


def _script(description: dict[str, Any]) -> str:
    source = _text("scorer.js")
    model = f"export const model = {packed(description)};"
    return f"{source}\n{model}\nexport default (text) => score(model, text);\n"


def _page(description: dict[str, Any]) -> str:
    """Return the page to try a model; no text in the model can end the element that it stands in."""
    safe = packed(description).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    page = _text("try.html")
    for name, content in {"style": _text("live.css"), "script": live_script(), "model": safe}.items():
        page = page.replace(f"/* {name} */", content, 1)
    return page


def live_script() -> str:
    """Return the script that defines `liveBox(place, model)`: the scorer and the box, in one scope."""
    scorer = EXPORTS.sub("", _text("scorer.js"))
    return f"const liveBox = (() => {{\n{scorer}\n{_text('live.js')}\nreturn liveBox;\n}})();"


def live_style() -> str:
    """Return the looks of the box."""
    return _text("live.css")


def _text(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


#: The forms of an exported model, and the function that makes each.
TARGETS: dict[str, Callable[[dict[str, Any]], str]] = {
    "json": lambda description: packed(description) + "\n",
    "python": _python,
    "js": _script,
    "sql": sql_script,
    "html": _page,
}
