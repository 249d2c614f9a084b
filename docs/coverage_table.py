"""What `coverage json` wrote comes in; the table of docs/development.md, a row per part, goes out."""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

REST = "modules of no package"
COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def part_of(path: str) -> str:
    """Return the part of the package that a file belongs to.

    >>> part_of("src/termsieve/counts/late.py"), part_of("src/termsieve/scores.py")
    ('counts', 'modules of no package')
    """
    inside = Path(path).parts[Path(path).parts.index("termsieve") + 1 :]
    return inside[0] if len(inside) > 1 else REST


def table(files: dict[str, dict[str, dict[str, int]]]) -> Iterator[str]:
    """Yield the lines of the table: parts by name, those of no package, and all together."""
    parts: dict[str, Counter[str]] = defaultdict(Counter)
    for path, found in files.items():
        own = {name: found["summary"].get(name, 0) for name in COUNTS}
        parts[part_of(path)].update(own)
        parts["together"].update(own)
    yield "| part | lines | reached, % | branches | reached, % |"
    yield "| --- | --- | --- | --- | --- |"
    last = {REST: 1, "together": 2}
    for name in sorted(parts, key=lambda name: (last.get(name, 0), name)):
        lines, reached, branches, taken = (parts[name][count] for count in COUNTS)
        share = f"{taken / branches:.1%}" if branches else ""
        label = name if name in last else f"`{name}`"
        yield f"| {label} | {lines:,} | {reached / lines:.1%} | {branches:,} | {share} |".replace("%", "")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print("\n".join(table(json.load(file)["files"])))
