"""The name of a folder or file comes in; the part of a split that it is named for goes out."""

from __future__ import annotations

import re

from termsieve.labels import PART_NAMES

# The start of a word -> the part that it means.
PARTS = {"train": "train", "test": "test", "dev": "dev", "val": "dev"}
_NAME = re.compile(
    rf"(?:.*[-_. ])?({'|'.join(sorted(PART_NAMES, key=len, reverse=True))})(?:[-_.]?\d+(?:-of-\d+)?)?",
    re.IGNORECASE,
)


def part_of(name: str) -> str | None:
    """Return "train", "test" or "dev" for a name that says so, otherwise None.

    >>> part_of("20news-bydate-train"), part_of("validation-00000-of-00002"), part_of("latest")
    ('train', 'dev', None)
    """
    found = _NAME.fullmatch(name)
    return (
        next(part for start, part in PARTS.items() if found[1].lower().startswith(start)) if found else None
    )
