"""A token pattern comes in; the tables of characters for the compiled tokeniser go out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from termsieve.kernels.documents import Alphabet

#: The tokens by default, as in scikit-learn: runs of at least two word characters.
TOKEN_PATTERN = r"(?u)\b\w\w+\b"
NO_SPACES = r"\S+"
N_CODE_POINTS = 0x110000
# Its lower case depends on the letters around it, so Python converts a text that has it.
SIGMA = 0x3A3
# A pattern of longer tokens than a batch is left to plain Python.
LONGEST_LEAST = 1 << 20
# Of patterns from elsewhere: how long one may be, and the least length of its tokens.
LONGEST_PATTERN, LONGEST_LINEAR = 200, 32

# The patterns that the compiled tokeniser knows: a set of characters, repeated n times or more.
_RUN_PATTERN = re.compile(
    r"(?P<flags>\(\?[aiu]+\))?(?P<start>\\b)?"
    r"(?P<atom>\\[wdS]|\[\^?(?:\\[wWdDsS]|(?!--)[\w .'-])+\])(?P<more>(?P=atom)*)"
    r"(?:\+|\{(?P<least>\d+),\})(?P<end>\\b)?"
)


class Runs(NamedTuple):
    """A token pattern that matches the longest runs of a set of characters."""

    flags: str
    atom: str
    min_length: int
    starts_word: bool
    ends_word: bool


@lru_cache(maxsize=64)
def token_runs(token_pattern: str) -> Runs | None:
    """Return the pattern in the form for the compiled tokeniser, or None if it is of another kind."""
    match = _RUN_PATTERN.fullmatch(token_pattern)
    if match is None:
        return None
    least = 1 if match["least"] is None else int(match["least"])
    least += len(match["more"]) // len(match["atom"])
    anchored = match["start"] is not None, match["end"] is not None
    # Every pattern of str implies (?u).
    flags = "" if match["flags"] in (None, "(?u)") else match["flags"]
    runs = Runs(flags, match["atom"], least, *anchored)
    token, word = members(runs.flags + runs.atom), members(runs.flags + r"\w")
    # There is no \b between two non-word characters, so a run of such characters would not be one token.
    odd = any(anchored) and bool((token & ~word).any())
    return None if least < 1 or odd or least > LONGEST_LEAST else runs


def has_space(runs: Runs) -> bool:
    """Return whether tokens may contain spaces."""
    return bool(members(runs.flags + runs.atom)[ord(" ")])


def linear_pattern(token_pattern: str) -> bool:
    """Return whether a pattern from elsewhere takes a time that is linear in the length of any text.

    With an end but no beginning of a word, or with a long least length, Python's `re` looks at the same
    characters again from every place; most other patterns are not known to be harmless.

    Parameters
    ----------
    token_pattern : str
        A regular expression.

    Returns
    -------
    bool
        Whether the time is known to be linear.

    Examples
    --------
    >>> linear_pattern(r"(?u)\\b\\w\\w+\\b"), linear_pattern(r"(\\w+)+$")
    (True, False)
    """
    if len(token_pattern) > LONGEST_PATTERN:
        return False
    try:
        re.compile(token_pattern)
        runs = token_runs(token_pattern)
    except (re.error, ValueError, OverflowError):
        return False
    if runs is None or runs.min_length > LONGEST_LINEAR:
        return False
    return runs.starts_word or not runs.ends_word


@lru_cache(maxsize=1)
def _code_points() -> str:
    return np.arange(N_CODE_POINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


@lru_cache(maxsize=64)
def members(atom: str) -> np.ndarray:
    """Return for every code point whether the regular expression `atom` matches it."""
    found = np.zeros(N_CODE_POINTS, dtype=bool)
    for match in re.finditer(f"{atom}+", _code_points()):
        found[match.start() : match.end()] = True
    return found


@lru_cache(maxsize=1)
def lower_case() -> tuple[np.ndarray, tuple[int, ...]]:
    """Return the lower case of every code point, and the code points that cannot be converted one by one."""
    everything, lowered, specials = _code_points(), [], [SIGMA]
    for start in range(0, N_CODE_POINTS, 256):
        block = everything[start : start + 256].replace(chr(SIGMA), "\0")
        low = block.lower()
        if len(low) != len(block):
            specials += [ord(c) for c in block if len(c.lower()) != 1]
            low = "".join(c.lower() if len(c.lower()) == 1 else c for c in block)
        lowered.append(low)
    text = "".join(lowered)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4"), tuple(sorted(specials))


@lru_cache(maxsize=64)
def alphabet_of(flags: str, atom: str, lowercase: bool) -> Alphabet:
    """Return the kernel's table of all code points, made by Python's own `str.lower` and `re`."""
    points = np.arange(N_CODE_POINTS, dtype=np.int32)
    lower, specials = lower_case() if lowercase else (points, ())
    token, word = members(flags + atom), members(flags + r"\w")
    kinds = 2 * word.astype(np.int32) + token
    table = (lower - points) * 4 + kinds[lower]
    numbers: dict[bytes, int] = {}
    index = [numbers.setdefault(block.tobytes(), len(numbers)) for block in table.reshape(-1, 256)]
    blocks = np.frombuffer(b"".join(numbers), dtype=np.int32).reshape(-1, 256)
    return Alphabet(np.array(index, dtype=np.uint16), blocks, specials)
