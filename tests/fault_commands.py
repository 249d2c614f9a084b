"""Commands that write a file, and how to see that the old file is whole, or the new one."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from tests.fuzz.saved import PLAN

from termsieve import Counts, count
from termsieve.files import MARK

WORDS = [f"word{i}" for i in range(12)]


def made_template(folder: Path) -> Path:
    """Fill a folder with a table, a plan, counts of older documents, and an older version of each output."""
    folder.mkdir()
    random = np.random.default_rng(0)
    rows = [(" ".join(random.choice(WORDS, 4)), ("spam", "ham")[i % 2]) for i in range(30)]
    for name, part in (("mails.csv", rows), ("older.csv", rows[:20])):
        (folder / name).write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in part))
    (folder / "plan.toml").write_text(PLAN)
    count(folder / "older.csv").save(folder / "older.parquet")
    shutil.copy(folder / "older.parquet", folder / "out.parquet")
    for name in ("out.json", "out.csv", "out.html", "out.skops"):
        (folder / name).write_text("old")
    return folder


def same_counts(path, expected):
    return Counts.load(path) == Counts.load(expected)


def same_bytes(path, expected):
    return path.read_bytes() == expected.read_bytes()


def readable(path, _):
    return len(path.read_bytes()) > 10


# The command line, what it writes, and how a new file is known to be right.
COMMANDS = {
    "count": ("count mails.csv -o out.parquet", "out.parquet", same_counts),
    "checkpoint": ("count mails.csv older.csv -o out.parquet --checkpoint point", "out.parquet", same_counts),
    "merge": ("merge older.parquet older.parquet -o out.parquet", "out.parquet", same_counts),
    "select": ("select mails.csv -k 3 -o out.json", "out.json", same_bytes),
    "rank": ("rank mails.csv -o out.csv", "out.csv", same_bytes),
    "pipeline": ("select mails.csv -k 3 --pipeline out.skops", "out.skops", readable),
    "report": ("report older.parquet -o out.html", "out.html", readable),
}
STUDY = "study run plan.toml -o out --workers 1 --data ."


def one_sentence(code, err):
    """Whether a failure was told as one sentence that somebody wrote; what was done may be told before."""
    *before, last = err.splitlines()
    told = all(line.startswith(("read ", "wrote ", "f1 ")) for line in before)
    return code in (1, 2) and told and last.startswith("termsieve: ") and "unexpected" not in err


def fresh(template, folder):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)


def leftovers(folder, template, *known):
    """Names of files that a failed command left, beside those with the mark of unfinished files."""
    before = {path.relative_to(template) for path in template.rglob("*")}
    after = {path.relative_to(folder) for path in folder.rglob("*") if not path.name.endswith(MARK)}
    return {str(path) for path in after - before} - set(known)
