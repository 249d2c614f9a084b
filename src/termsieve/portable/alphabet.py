"""A way of cutting texts into terms comes in; its tables of characters, for any programming language, go out.

Languages and databases differ in what a letter is and how it is lower-cased, and each version of Unicode adds
letters. So an exported model carries the tables of the Python that trained it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.terms.alphabet import N_CODE_POINTS, SIGMA, lower_case, members

SMALL_SIGMAS = "\N{GREEK SMALL LETTER SIGMA}\N{GREEK SMALL LETTER FINAL SIGMA}"


def ranges(member: NDArray[np.bool_]) -> list[int]:
    """Return the first and the last code point of each run of members, one after the other.

    >>> ranges(np.array([True, True, False, True]))
    [0, 1, 3, 3]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], member, [False]]).astype(np.int8)))
    edges[1::2] -= 1
    return [int(edge) for edge in edges]


@cache
def character_ranges(atom: str) -> tuple[int, ...]:
    """Return the ranges of the characters that a regular expression matches."""
    return tuple(ranges(members(atom)))


def lower_table(final_sigma: bool) -> dict[str, Any]:
    """Return what lower-casing does to each code point; the rule for a final sigma only where it matters."""
    rule = None
    if final_sigma:
        cased, ignored = _case_properties()
        rule = {"cased": list(cased), "ignored": list(ignored)}
    longer = [[point, chr(point).lower()] for point in lower_case()[1] if point != SIGMA]
    return {"runs": [list(run) for run in _lower_runs()], "longer": longer, "final_sigma": rule}


@cache
def _lower_runs() -> tuple[tuple[int, int, int, int], ...]:
    """Return the runs (first, last, step, distance) of code points that are lower-cased alike."""
    lower = lower_case()[0].astype(np.int64)
    lower[SIGMA] = ord(SMALL_SIGMAS[0])
    distance = lower - np.arange(N_CODE_POINTS)
    runs: list[tuple[int, int, int, int]] = []
    for point in np.flatnonzero(distance).tolist():
        if runs:
            first, last, step, way = runs[-1]
            if way == distance[point] and point - last in ((1, 2) if first == last else (step,)):
                runs[-1] = (first, point, point - last, way)
                continue
        runs.append((point, point, 1, int(distance[point])))
    return tuple(runs)


@cache
def _case_properties() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ranges of the cased characters and of those that are ignored beside a capital sigma.

    Python has no name for the two properties, but its own `str.lower` shows them.
    """
    sigma, final = chr(SIGMA), SMALL_SIGMAS[1]
    cased, ignored = np.zeros((2, N_CODE_POINTS), dtype=bool)
    for point in range(N_CODE_POINTS):
        if f"A{chr(point)}{sigma}".lower()[-1] == final:
            cased[point] = f"{chr(point)}{sigma}".lower()[-1] == final
            ignored[point] = not cased[point]
    return tuple(ranges(cased)), tuple(ranges(ignored))
