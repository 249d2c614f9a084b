"""A valid value comes in; strategies of the same value with something changed go out."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
from hypothesis import strategies as st

INTS = (
    -1,
    0,
    1,
    2,
    7,
    255,
    2**16,
    2**31 - 1,
    2**31,
    2**32,
    10**8,
    2**53,
    2**62,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63),
)
FLOATS = (0.5, -0.0, 1e-320, 1e8, 1e308, float("inf"), float("-inf"), float("nan"))
TEXTS = (
    *("", " ", "a", "\0", "a\0", "\ud800", "\x1b[2J", "\u202e", "é", "日本", "=1+1", "../../x", "/dev/zero"),
    *(
        "null",
        "NaN",
        "1e999",
        "9" * 5000,
        "x" * 70_000,
        "[" * 3000,
        '"',
        "'",
        "\\",
        "{}",
        "%s",
        "\r",
        "\n",
        "\t",
    ),
)
WILD = st.one_of(
    st.sampled_from(INTS),
    st.sampled_from(FLOATS),
    st.sampled_from(TEXTS),
    st.sampled_from([None, True, False, [], {}, [[]], [None], {"a": 1}, [1, "a"], ["a", "a"]]),
)
DTYPES = ("int8", "uint8", "int32", "uint64", "float32", "float64", "bool", "U3", "S2", "complex64", ">i8")


@st.composite
def changed_bytes(draw: Any, content: bytes, most: int = 3) -> bytes:
    """Return bytes of which some are flipped, set, left out, doubled, moved or cut off."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, most))):
        at = draw(st.integers(0, max(len(changed) - 1, 0)))
        length = draw(st.sampled_from([1, 2, 4, 8, 64]))
        kind = draw(st.sampled_from(["flip", "set", "delete", "double", "insert", "end"]))
        if kind == "flip" and changed:
            changed[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "set":
            changed[at : at + length] = draw(st.sampled_from([b"\0", b"\xff", b"\x7f", b"\x80"])) * length
        elif kind == "delete":
            del changed[at : at + length]
        elif kind == "double":
            changed[at:at] = changed[at : at + length]
        elif kind == "insert":
            changed[at:at] = draw(st.binary(min_size=1, max_size=8))
        elif kind == "end" and draw(st.booleans()):
            del changed[at:]
    return bytes(changed)


@st.composite
def changed_value(draw: Any, value: Any) -> Any:
    """Return a JSON-like value with one part of it replaced, left out, doubled or renamed."""
    value = copy.deepcopy(value)
    places = list(_places(value))
    if not places:
        return draw(WILD)
    container, key = draw(st.sampled_from(places))
    kind = draw(st.sampled_from(["replace", "replace", "near", "delete", "double", "rename"]))
    if kind == "near" and isinstance(container[key], int):
        container[key] += draw(st.sampled_from([-1, 1, 10]))
    elif kind == "delete":
        del container[key]
    elif kind == "double" and isinstance(container, list):
        container.insert(key, container[key])
    elif kind == "rename" and isinstance(container, dict):
        container[draw(st.sampled_from(TEXTS))] = container.pop(key)
    else:
        container[key] = draw(WILD)
    return value


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)


ARRAY_CHANGES = ("number", "number", "all", "short", "long", "reverse", "type", "shape", "none")


@st.composite
def changed_array(draw: Any, array: Any) -> Any:
    """Return an array with a wild number in it, or of another length, order, type or shape."""
    kind = draw(st.sampled_from(ARRAY_CHANGES))
    if kind in ("number", "all"):
        return draw(_with_wild_numbers(array, kind == "all"))
    if kind == "type":
        return _retyped(array, draw(st.sampled_from(DTYPES)))
    if kind == "long":
        return np.concatenate([array, array[:1]])
    others = {"short": array[:-1], "reverse": array[::-1], "shape": array[None], "none": array[:0]}
    return others[kind]


@st.composite
def _with_wild_numbers(draw: Any, array: Any, everywhere: bool) -> Any:
    if not array.size or array.dtype.kind not in "iuf":
        return array[::2]
    changed = array.copy()
    wild = [number for number in (*INTS, len(array), len(array) + 1) if _fits(number, array.dtype)]
    at = slice(None) if everywhere else draw(st.integers(0, array.size - 1))
    changed.reshape(-1)[at] = draw(st.sampled_from(wild))
    return changed


def _fits(number: int, dtype: Any) -> bool:
    if dtype.kind == "f":
        return True
    limits = np.iinfo(dtype)
    return int(limits.min) <= number <= int(limits.max)


def _retyped(array: Any, dtype: str) -> Any:
    with np.errstate(all="ignore"):
        try:
            return array.astype(dtype)
        except (TypeError, ValueError):
            return array


_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


@st.composite
def changed_text(draw: Any, text: str, tokens: tuple[str, ...] = ()) -> str:
    """Return a text of which some tokens or lines are replaced, left out, doubled or moved."""
    found = _TOKEN.findall(text)
    extra = st.sampled_from((*TEXTS, *map(str, INTS), *map(str, FLOATS), *tokens))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(found) - 1, 0)))
        kind = draw(
            st.sampled_from(["replace", "replace", "replace", "delete", "double", "insert", "swap", "cut"])
        )
        if kind == "replace" and found:
            found[at] = draw(extra)
        elif kind == "delete":
            del found[at : at + draw(st.integers(1, 5))]
        elif kind == "double":
            found[at:at] = found[at : at + draw(st.sampled_from([1, 5, 40]))]
        elif kind == "insert":
            found.insert(at, draw(extra))
        elif kind == "swap" and found:
            other = draw(st.integers(0, len(found) - 1))
            found[at], found[other] = found[other], found[at]
        elif kind == "cut" and draw(st.booleans()):
            del found[at:]
    return "".join(found)
