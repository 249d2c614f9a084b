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

from termsieve.studies import Plan, load_plan, run_study, study_status
from termsieve.studies.results import ROW_KEYS, Results

RUN = """
import sys
import termsieve.studies.tasks as tasks
from termsieve.studies import run_study

tasks.UNIT_SECONDS = 0.05
if __name__ == "__main__":
    run_study(sys.argv[1], sys.argv[2], workers=int(sys.argv[3]))
"""


def small_plan() -> Plan:
    """Return the quick plan with one more trial, so that there is something to kill."""
    text = load_plan("quick").to_toml()
    return Plan.parse(text.replace("[protocol]", "[protocol]\ntrials = 2"), "kill_resume")


def parts(out: Path) -> int:
    """Return how many parts are written."""
    return len(Results.open(out).parts) if (out / "manifest.json").exists() else 0


def killed(command: list[str], out: Path, at_work: bool, wait_seconds: float) -> bool:
    """Run the study, kill it some time after its start or its first new part; was it still running?"""
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    before = parts(out)
    while at_work and parts(out) == before and child.poll() is None:
        time.sleep(0.002)
    try:
        child.wait(wait_seconds)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
    return child.wait() == -signal.SIGKILL


def main(kills: int = 20, workers: int = 2) -> None:
    """Kill, resume, compare; exit with 1 if a row is missing, twice there or different."""
    with tempfile.TemporaryDirectory() as name:
        script, plan, out = (Path(name) / part for part in ("run.py", "kill_resume.toml", "killed"))
        script.write_text(RUN)
        plan.write_text(small_plan().to_toml())
        start = time.perf_counter()
        quiet = run_study(plan, Path(name) / "quiet", workers=1)
        print(f"quiet run: {len(quiet):,} rows in {time.perf_counter() - start:.0f} s", flush=True)
        chance = random.Random(9)
        done = 0
        command = [sys.executable, str(script), str(plan), str(out), str(workers)]
        while done < kills and killed(command, out, done % 4 != 3, chance.expovariate(4.0)):
            done += 1
            print(f"kill {done}: {parts(out)} parts written", flush=True)
        results = run_study(plan, out, workers=workers)
        rows = results.frame().collect()
        twice = int(rows.select(ROW_KEYS).is_duplicated().sum())
        same = results.equals(quiet)
        print(f"{done} kills, then resumed: {rows.height:,} rows, {twice} twice, equal: {same}")
        print(study_status(out))
        if twice or not same:
            sys.exit(1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
