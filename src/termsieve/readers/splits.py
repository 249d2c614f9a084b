"""The name of a folder or file comes in; the part of a split that it is named for goes out."""

from __future__ import annotations

import re

# A word of a name -> the part that it means.
PARTS = {
    "train": "train",
    "training": "train",
    "test": "test",
    "testing": "test",
    "dev": "dev",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
}
_NAME = re.compile(rf"(?:.*[-_. ])?({'|'.join(PARTS)})(?:[-_.]?\d+(?:-of-\d+)?)?", re.IGNORECASE)


def part_of(name: str) -> str | None:
    """Return "train", "test" or "dev" for a name that says so, otherwise None.

    >>> part_of("20news-bydate-train"), part_of("validation-00000-of-00002"), part_of("latest")
    ('train', 'dev', None)
    """
    found = _NAME.fullmatch(name)
    return PARTS[found[1].lower()] if found else None
