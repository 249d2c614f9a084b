"""SGML-like text, well-formed or not, comes in; the content of its elements goes out as plain text."""

from __future__ import annotations

import re

_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7}));")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain_text(text: str) -> str:
    """Return text with its entities resolved; control characters, except line ends and tabs, become spaces.

    >>> plain_text(" Salomon &lt;SB> &amp; Co&#3;")
    'Salomon <SB> & Co'
    """
    return _CONTROL.sub(" ", _ENTITY.sub(_resolved, text)).strip()


def _resolved(entity: re.Match[str]) -> str:
    name, number = entity.groups()
    if name:
        return _ENTITIES[name]
    code = int(number)
    # Numbers without a character (surrogates, beyond Unicode) become a space, like control characters.
    return chr(code) if code < 0xD800 or 0xDFFF < code <= 0x10FFFF else " "


def inside(text: str, tag: str) -> str | None:
    """Return the content of the first `tag` element, to the end of the text if it is not closed, or None."""
    start = re.search(rf"<{tag}\b[^<>]*+>", text)
    if not start:
        return None
    end = text.find(f"</{tag}>", start.end())
    return text[start.end() : end if end >= 0 else len(text)]


def elements(text: str, tag: str) -> list[tuple[str, str | None, int]]:
    """Return (attributes, inside, position) of each `tag` element; inside is None if the end is missing.

    An end is missing when the text ends first or another element of that tag starts first.
    """
    opening = re.compile(rf"<{tag}\b([^<>]*+)>")
    found: list[tuple[str, str | None, int]] = []
    opened = opening.search(text)
    while opened:
        following = opening.search(text, opened.end())
        limit = following.start() if following else len(text)
        close = text.find(f"</{tag}>", opened.end(), limit)
        found.append((opened.group(1), text[opened.end() : close] if close >= 0 else None, opened.start()))
        opened = following
    return found


def line_of(text: str, position: int) -> int:
    """Return the number of the line at a position, the first being 1."""
    return text.count("\n", 0, position) + 1
