"""Runs every comparison with a peer and writes benchmarks/results.json and docs/performance.md.

python -m benchmarks [--quick] [--only MODULE]
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from importlib.metadata import version
from math import log
from pathlib import Path
from statistics import linear_regression

from benchmarks.measure import Row

MODULES = ("core", "text", "scale", "solvers", "limits")
ROOT = Path(__file__).parents[1]
HEAD = """\
# Performance

Each row compares termsieve with a peer: both run alternately in one process, several times. The seconds are
medians; the range gives the smallest and the greatest ratio of the repetitions. `{command}` made this page,
on {machine}.

"""

LIMITS = """\
What the same work cannot fall below: a copy of its bytes, a pass over its indices, or a program in plain C
that neither sorts nor names the terms. The last column says how many times the limit we take."""

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


def main() -> None:
    """Run, print as it goes, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller inputs, under five minutes")
    parser.add_argument("--only", choices=MODULES, help="one module; prints without writing")
    options = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # before numpy is imported: one thread on both sides
    rows: list[Row] = []
    for name in (options.only,) if options.only else MODULES:
        for row in importlib.import_module(f"benchmarks.{name}").rows(options.quick):
            rows.append(row)
            print(
                f"{row.ratio:10,.1f}x  {row.work}, {row.input} (goal {row.goal})", file=sys.stderr, flush=True
            )
    peers = [row for row in rows if row.goal != "limit"]
    grown = f"\n## Growth\n\nSeconds grow as the input to the power of:\n\n{growth(peers)}"
    if limits := [row for row in rows if row.goal == "limit"]:
        grown += f"\n## Limits\n\n{LIMITS}\n\n{limit_table(limits)}"
    print(table(peers) + grown)
    if not options.only:
        facts = {"command": "python -m benchmarks" + " --quick" * options.quick, "machine": machine()}
        text = json.dumps(facts | {"rows": [row.to_dict() for row in rows]}, indent=1)
        (ROOT / "benchmarks" / "results.json").write_text(text + "\n")
        page = ROOT / "docs" / "performance.md"
        remarks = "".join(page.read_text().partition(REMARKS)[1:])
        page.write_text(HEAD.format(**facts) + table(peers) + grown + remarks)


if __name__ == "__main__":
    main()
