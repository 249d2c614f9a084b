"""A small study is killed (kill -9) again and again and resumed: are its rows those of a quiet run?

python benchmarks/kill_resume.py [KILLS] [WORKERS]
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from termsieve.results import ROW_KEYS, Results
from termsieve.studies import Plan, load_plan, run_study, study_status

RUN = """
import sys
import termsieve.studies.tasks as tasks
from termsieve.studies import run_study

tasks.UNIT_SECONDS = 0.2
if __name__ == "__main__":
    run_study(sys.argv[1], sys.argv[2], workers=int(sys.argv[3]))
"""


def small_plan() -> Plan:
    """Return the quick plan with more trials, so that there is something to kill."""
    text = load_plan("quick").to_toml()
    return Plan.parse(text.replace("[protocol]", "[protocol]\ntrials = 2"), "kill_resume")


def killed(script: Path, plan: Path, out: Path, workers: int, wait_seconds: float) -> bool:
    """Run the study, kill it after a time, and return whether it was still running."""
    child = subprocess.Popen([sys.executable, script, plan, out, str(workers)], stderr=subprocess.DEVNULL)
    try:
        child.wait(wait_seconds)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
    return child.wait() == -signal.SIGKILL


def main(kills: int = 20, workers: int = 2) -> None:
    """Kill, resume, compare; exit with 1 if a row is missing, twice there or different."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script, plan = folder / "run.py", folder / "kill_resume.toml"
        script.write_text(RUN)
        plan.write_text(small_plan().to_toml())
        start = time.perf_counter()
        quiet = run_study(plan, folder / "quiet", workers=1)
        print(f"quiet run: {len(quiet):,} rows in {time.perf_counter() - start:.0f} s")
        chance = random.Random(9)
        importing = 2.0  # about what a process needs before its first unit
        done = rounds = 0
        while done < kills:
            rounds += 1
            stopped = killed(script, plan, folder / "killed", workers, importing + chance.uniform(0, 4))
            done += stopped
            parts = len(list((folder / "killed").glob("rows/*.parquet")))
            print(f"kill {done}: {parts} parts written" if stopped else "the study ended by itself")
            if not stopped:
                break
        made = run_study(plan, folder / "killed", workers=workers)
        rows = made.frame().collect()
        twice = int(rows.select(ROW_KEYS).is_duplicated().sum())
        same = made.equals(quiet)
        print(f"{done} kills, then resumed: {rows.height:,} rows, {twice} twice, equal: {same}")
        print(study_status(folder / "killed"))
        if twice or not same or not isinstance(made, Results):
            sys.exit(1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
