"""Fuzz by command; each target runs in a process of its own, so that one that dies is a finding as well.

python -m tests.fuzz [--target NAME] [--minutes M | --examples N] [--seed S] [--crashers FOLDER] [--memory GB]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUND = 200  # inputs that a process tries under one seed
HANG_SECONDS = 120  # without an input being finished
NAMES = (
    *("counts", "checkpoint", "shards", "results", "model", "portable"),
    *("arff", "reuters", "reviews", "svmlight", "csv", "jsonl", "parquet", "plan"),
)


def child(target: str, seed: int, examples: int, work: Path, crashers: Path, memory: float) -> None:
    """Try inputs in this process, whose memory is limited; how many were tried stands in a file."""
    from tests.fuzz.judging import run_examples

    if memory:
        import resource

        limit = int(memory * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for start in range(0, examples, ROUND):
        number = min(ROUND, examples - start)
        run_examples(target, number, seed + start // ROUND, work, crashers, start)


def fuzzed(target: str, options: argparse.Namespace, seed: int, seconds: float | None) -> tuple[int, int]:
    """Run a target in child processes; return how many inputs were tried and how many processes died."""
    tried = deaths = 0
    stop = time.monotonic() + seconds if seconds else None
    while stop is None or time.monotonic() < stop:
        with tempfile.TemporaryDirectory() as name:
            work = Path(name)
            examples = options.examples if stop is None else ROUND
            words = [
                "--child",
                str(work),
                "--target",
                target,
                "--seed",
                str(seed),
                "--examples",
                str(examples),
            ]
            words += ["--crashers", str(options.crashers), "--memory", str(options.memory)]
            log = work / "log"
            with open(log, "wb") as file:
                run = subprocess.Popen([sys.executable, "-m", "tests.fuzz", *words], stdout=file, stderr=file)
                code = _ended(run, work)
            tried += int((work / "tried").read_text()) if (work / "tried").exists() else 0
            if code != 0:
                deaths += 1
                _keep_death(target, code, work, options.crashers)
        seed += examples
        if stop is None:
            break
    return tried, deaths


def _ended(run: subprocess.Popen[bytes], work: Path) -> int:
    """Wait for a process as long as it makes progress; return its exit code."""
    while True:
        try:
            return run.wait(HANG_SECONDS)
        except subprocess.TimeoutExpired:
            newest = max((path.stat().st_mtime for path in work.iterdir()), default=0.0)
            if time.time() - newest > HANG_SECONDS:
                run.kill()
                return run.wait() or -9


def _keep_death(target: str, code: int, work: Path, crashers: Path) -> None:
    kept = crashers / f"{target}-died-{random.getrandbits(32):08x}"
    if (work / "input").exists():
        shutil.copytree(work / "input", kept)
    log = (work / "log").read_text(errors="replace")
    Path(f"{kept}.txt").write_text(f"the process ended with {code}\n{log[-20_000:]}")


def main() -> None:
    """Fuzz, print what was tried, and exit with 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz the readers of files.")
    parser.add_argument("--target", choices=NAMES, help="one target; all of them by default")
    parser.add_argument("--minutes", type=float, help="how long, shared by the targets")
    parser.add_argument("--examples", type=int, default=ROUND, help="how many inputs, without --minutes")
    parser.add_argument("--seed", type=int, help="the first seed; a random one by default")
    parser.add_argument("--crashers", type=Path, default=Path("crashers"), help="where findings are kept")
    parser.add_argument("--memory", type=float, default=4.0, help="limit in gigabytes; 0: none (sanitizers)")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.crashers = options.crashers.absolute()
    options.crashers.mkdir(parents=True, exist_ok=True)
    seed = random.randrange(2**31) if options.seed is None else options.seed
    if options.child:
        child(options.target, seed, options.examples, options.child, options.crashers, options.memory)
        return
    os.environ["PYTHONFAULTHANDLER"] = "1"
    targets = [options.target] if options.target else NAMES
    seconds = options.minutes * 60 / len(targets) if options.minutes else None
    for target in targets:
        tried, deaths = fuzzed(target, options, seed, seconds)
        found = len(list(options.crashers.glob(f"{target}-*.txt")))
        print(
            f"{target}: {tried:,} inputs from seed {seed}, {deaths} processes died, {found} findings",
            flush=True,
        )
    sys.exit(1 if list(options.crashers.glob("*.txt")) else 0)


if __name__ == "__main__":
    main()
