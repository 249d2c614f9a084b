"""Runs comparisons with peers, and writes benchmarks/results.json and docs/performance.md.

python -m benchmarks [GROUP ...] [--quick]

Without a group, all of them run. The rows of a group replace its rows in results.json and leave the others as
they are, so the page can be made in several runs. --quick takes smaller inputs, prints, and writes nothing.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from math import log
from pathlib import Path
from statistics import linear_regression
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.measure import Row

GROUPS = {  # each group of rows, in the order of the page: the function of a module that yields them
    "ngrams": "text.ngrams",
    "trigrams": "text.trigrams",
    "characters": "text.characters",
    "workers": "scale.workers",
    "metrics": "core.scoring",
    "forman": "solvers.forman",
    "lr": "solvers.logistic",
    "start": "core.starting",
    "limits": "limits.rows",
    "engines": "scale.engines",
    "study": "solvers.whole_study",
    "text": "text.rows",
    "counts": "core.counting",
    "select": "core.selecting",
    "bayes": "solvers.bayes",
    "hinge": "solvers.hinge",
    "growing": "solvers.growing",
    "engines-large": "scale.engines_large",
}
LEFT_OUT = ("engines-large",)  # runs only where it is named: a quarter of an hour
ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results.json"
PAGE = ROOT / "docs" / "performance.md"
HEAD = """\
# Performance

Each row compares termsieve with a peer: both run alternately in one process, several times. The seconds are
medians; the range gives the smallest and the greatest ratio of the repetitions. The rows were measured by:

{runs}

"""

LIMITS = """\
What the same work cannot fall below: importing what it needs, reading its input, a copy of its bytes, a pass
over its indices or counts, one product with the weights per training, or a program in plain C with one thread
that neither reads a file nor sorts, names and saves the terms. The last column says how many times the limit
we take."""

REMARKS = "\n## Where a goal is missed\n"  # from here on the page is written by hand, and kept


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| work | input | peer | peer, s | ours, s | ratio (range) | goal | peak memory: peer, ours (MB) |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        memory = "" if row.peak is None or row.peer_peak is None else f"{row.peer_peak:,.0f}, {row.peak:,.0f}"
        ratio = f"{row.ratio:,.1f}x ({row.ratio_low:,.1f} to {row.ratio_high:,.1f})"
        work = row.work + (f" ({row.note})" if row.note else "")
        lines.append(
            f"| {work} | {row.input} | {row.peer} | {row.peer_seconds:,.3f} | {row.seconds:,.3f} | {ratio} "
            f"| {row.goal} | {memory} |"
        )
    return "\n".join(lines) + "\n"


def limit_table(rows: list[Row]) -> str:
    """Return the rows of limits as a Markdown table."""
    lines = ["| work | input | limit | limit, s | ours, s | ours / limit (range) |", "| --- " * 6 + "|"]
    for row in rows:
        times = f"{1 / row.ratio:,.1f}x ({1 / row.ratio_high:,.1f} to {1 / row.ratio_low:,.1f})"
        cells = row.work, row.input, row.peer, f"{row.peer_seconds:,.4f}", f"{row.seconds:,.3f}", times
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def growth(rows: list[Row]) -> str:
    """Return the power of the size that time grows with, of works measured at three sizes or more."""
    lines = ["| work | sizes | ours | peer |", "| --- | --- | --- | --- |"]
    works = {row.work: [other for other in rows if other.work == row.work and other.size] for row in rows}
    for work, own in works.items():
        if len(own) < 3:
            continue
        sizes = [row.size or 0.0 for row in own]
        powers = [
            _power(sizes, [row.seconds for row in own]),
            _power(sizes, [row.peer_seconds for row in own]),
        ]
        shown = ", ".join(f"{size:,.0f}" for size in sizes)
        lines.append(f"| {work} | {shown} | {powers[0]:.2f} | {powers[1]:.2f} |")
    return "\n".join(lines) + "\n"


def _power(sizes: list[float], seconds: list[float]) -> float:
    """Return the slope of log(seconds) over log(size)."""
    return linear_regression([log(size) for size in sizes], [log(time) for time in seconds]).slope


def machine() -> str:
    """Return what the figures were measured on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "polars"))
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {packages}"


def measured(group: str, quick: bool) -> Iterator[Row]:
    """Yield the rows of a group, and print the ratio of each."""
    module, function = GROUPS[group].split(".")
    rows = getattr(importlib.import_module(f"benchmarks.{module}"), function)(quick)
    with threadpool_limits(1):  # of BLAS, on both sides
        for row in rows:
            said = f"{row.ratio:10,.1f}x  {row.work}, {row.input} (goal {row.goal})"
            print(said, file=sys.stderr, flush=True)
            yield replace(row, group=group)


def stored() -> dict[str, dict[str, Any]]:
    """Return what was measured before: for each group how, and its rows."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    groups: dict[str, dict[str, Any]] = known.get("groups", {})
    return {name: groups[name] for name in GROUPS if name in groups}


def page(groups: dict[str, dict[str, Any]]) -> str:
    """Return the page of all rows, without the remarks that are written by hand."""
    rows = [Row(**row) for group in groups.values() for row in group["rows"]]
    peers, limits = ([row for row in rows if (row.goal == "limit") is of_limit] for of_limit in (False, True))
    runs = [
        f"- `{group['command']}` in {group['seconds']:,.0f} s on {group['day']}: {group['machine']}"
        for group in groups.values()
    ]
    text = HEAD.format(runs="\n".join(runs)) + table(peers)
    text += f"\n## Growth\n\nSeconds grow as the input to the power of:\n\n{growth(peers)}"
    if limits:
        text += f"\n## Limits\n\n{LIMITS}\n\n{limit_table(limits)}"
    return text


def main() -> None:
    """Run, print as it goes, and write after each group."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--quick", action="store_true", help="smaller inputs, under five minutes; no file")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(GROUPS):
        parser.error(f"there is no group {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    found = {}
    for name in options.groups or [name for name in GROUPS if name not in LEFT_OUT]:
        begun = time.perf_counter()
        rows = [row.to_dict() for row in measured(name, options.quick)]
        seconds = time.perf_counter() - begun
        print(f"            {name}: {seconds:,.0f} s", file=sys.stderr, flush=True)
        found[name] = {
            "command": f"python -m benchmarks {name}" + " --quick" * options.quick,
            "day": f"{datetime.now(UTC):%Y-%m-%d}",
            "seconds": seconds,
            "machine": machine(),
            "rows": rows,
        }
        if not options.quick:
            groups = stored() | {name: found[name]}
            groups = {each: groups[each] for each in GROUPS if each in groups}
            RESULTS.write_text(json.dumps({"groups": groups}, indent=1) + "\n")
            remarks = "".join(PAGE.read_text().partition(REMARKS)[1:])
            PAGE.write_text(page(groups) + remarks)
    print(page(found))


if __name__ == "__main__":
    main()
