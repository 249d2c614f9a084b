"""Random commands run on one folder and are killed at random moments: is every file whole afterwards?

python -m benchmarks.soak [--minutes M] [--seed S]
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from termsieve import Counts, load_model
from termsieve.files import MARK
from termsieve.studies.results import Results

WORDS = [f"word{i}" for i in range(200)]
PLAN = """name = "soak"
[[corpora]]
name = "mails"
path = "a.csv"
options = { text = "text", label = "label" }
[protocol]
trials = 2
folds = 3
seed = 1
[[methods]]
metric = ["bns", "chi_squared"]
[sizes]
k = [5, 20]
all = true
[[learners]]
name = "svm"
"""
STUDY = "study run plan.toml -o out --data . --workers 2"
COMMANDS = (
    "count a.csv b.csv -o both.parquet --checkpoint point",
    "count a.csv -o a.parquet",
    "count b.csv -o b.parquet --occurrences",
    "merge a.parquet a.parquet -o twice.parquet",
    "rank both.parquet -o words.csv",
    "select a.csv -k 20 -o vocabulary.json --pipeline model.skops",
    "predict model.skops b.csv",
    "export model.skops -o model.json --card card.md",
    "watch model.skops b.csv -o drift.html",
    "diff a.parquet b.parquet -o changes.csv",
    "report a.csv -o report.html",
    STUDY,
    "study resume out --data .",
    "study status out",
    "study report out -o study.html",
)
COUNTS = ("both.parquet", "a.parquet", "b.parquet", "twice.parquet")
# Files that are the same bytes whenever they are written.
SAME = ("words.csv", "vocabulary.json", "model.json", "card.md", "drift.html", "changes.csv", "report.html")
# What may be said when a command needs what no command before it could finish.
EXPECTED = ("does not exist", "No such file", "holds no results", "another process", "no rows", "no finished")


def lay_out(folder: Path) -> None:
    """Write the tables and the plan."""
    draw = random.Random(0)
    for name in ("a.csv", "b.csv"):
        rows = [
            (" ".join(draw.choices(WORDS, k=30)), draw.choice(["spam", "ham", "eggs"])) for _ in range(400)
        ]
        (folder / name).write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    (folder / "plan.toml").write_text(PLAN)


class Soak:
    """One folder, what it should hold in the end, and what was done to it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.faults = folder, 0
        self.outcomes: Counter[str] = Counter()
        self.seconds: dict[str, float] = {}
        self.quiet = folder / "quiet"
        self.quiet.mkdir()
        lay_out(folder)
        lay_out(self.quiet)
        for line in COMMANDS:
            started = time.monotonic()
            self._termsieve(line, self.quiet).communicate()
            self.seconds[line] = time.monotonic() - started
        self.rows = Results.open(self.quiet / "out")

    def _termsieve(self, line: str, folder: Path) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "termsieve", *line.split()]
        return subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def step(self, line: str, share: float | None) -> None:
        """Run a command, kill it if it still runs after this share of its usual time, look at the folder."""
        started = time.monotonic()
        run = self._termsieve(line, self.folder)
        try:
            _, said = run.communicate(timeout=None if share is None else share * self.seconds[line])
            self._look_at_the_end(line, run.returncode, said.decode())
            if run.returncode == 0:
                self.seconds[line] = time.monotonic() - started
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.communicate()
            self.outcomes["killed"] += 1
        self._look_at_the_folder(line)

    def _look_at_the_end(self, line: str, code: int, said: str) -> None:
        self.outcomes["finished" if code == 0 else "refused"] += 1
        if (
            "Traceback" in said
            or "unexpected" in said
            or code not in (0, 1, 2)
            or (code and not any(reason in said for reason in EXPECTED))
        ):
            self._fault(line, f"exit code {code}: {said}")

    def _look_at_the_folder(self, line: str) -> None:
        for name in COUNTS:
            path = self.folder / name
            if path.exists() and Counts.load(path) != Counts.load(self.quiet / name):
                self._fault(line, f"{name} holds other counts than without kills")
        for name in SAME:
            path = self.folder / name
            if path.exists() and path.read_bytes() != (self.quiet / name).read_bytes():
                self._fault(line, f"{name} is not the file that is written without kills")
        if (self.folder / "model.skops").exists():
            load_model(self.folder / "model.skops")
        study = self.folder / "study.html"
        if study.exists() and not study.read_text().rstrip().endswith("</html>"):
            self._fault(line, "study.html is cut off")
        known = {".lock", ".prepared"}
        odd = [
            path.name
            for path in self.folder.glob(".*")
            if path.name not in known and not path.name.endswith(MARK)
        ]
        if odd:
            self._fault(line, f"unmarked leftovers: {odd}")

    def _fault(self, line: str, sentence: str) -> None:
        self.faults += 1
        print(f"FAULT after `{line}`: {sentence}", flush=True)

    def finish(self) -> None:
        """Let every command finish, and compare the study with the quiet one."""
        for line in COMMANDS:
            self.step(line, None)
        if not Results.open(self.folder / "out").equals(self.rows):
            self._fault("study resume", "the rows of the study are not those of a quiet run")


def main() -> None:
    """Soak, say what came of it, and exit with 1 if there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long; an hour by default")
    parser.add_argument("--seed", type=int, default=0, help="of the commands and moments")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        soak = Soak(Path(name))
        stop = time.monotonic() + 60 * options.minutes
        while time.monotonic() < stop:
            # Most commands are killed: at any moment, or late, when they write.
            share = draw.choice([None, 1.1 * draw.random(), 0.7 + 0.4 * draw.random()])
            soak.step(draw.choice(COMMANDS), share)
            if draw.random() < 1 / 40:
                # A study that is whole writes nothing more.
                shutil.rmtree(soak.folder / "out", ignore_errors=True)
        soak.finish()
        done = ", ".join(f"{number:,} {outcome}" for outcome, number in sorted(soak.outcomes.items()))
        print(f"{options.minutes:g} minutes from seed {options.seed}: {done}; {soak.faults} faults")
    sys.exit(1 if soak.faults else 0)


if __name__ == "__main__":
    main()
