"""`termsieve` is interrupted at random moments: does it always end with 130 and one line, no traceback?

python -m tests.interrupts [TIMES]
"""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

# What the script of the command line does, with a sign when it asks for its first module: before that Python
# itself starts, and answers an interrupt in its own way.
SCRIPT = """
import os, sys
from termsieve.cli import main

class Sign:
    def find_spec(self, name, path=None, target=None):
        sys.meta_path.remove(self)
        os.write(1, b".")

sys.meta_path.insert(0, Sign())
main()
"""
# A shell starts background jobs with interrupts ignored, and so may have started this one.
HEED = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
FIRST_SECONDS = 1.0
MAIL = "text,label\ncheap pills,spam\nbuy cheap watches,spam\nsee you,ham\nthe meeting,ham\n"
# The first waits for its standard input; the others load much and may have ended before the interrupt.
COMMANDS = ("rank -", "select mail.csv -k 3 --pipeline model.skops", "report mail.csv", "study plan quick")


def outcome(folder: Path, command: str, wait_seconds: float) -> tuple[int, str]:
    """Interrupt a command so long after it has begun; return its exit code and its stderr."""
    (folder / "mail.csv").write_text(MAIL)
    words = [sys.executable, "-c", SCRIPT, *command.split()]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, cwd=folder, preexec_fn=HEED, **pipes) as process:
        process.stdout.read(1)
        time.sleep(wait_seconds)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    return process.returncode, errors.decode()


def is_good(code: int, errors: str) -> bool:
    """Whether an interrupted command answered as it should, or had ended before."""
    if code == 130:
        # What was written before the interrupt has been said.
        return re.fullmatch(r"(wrote .*\n)*termsieve: stopped\n", errors) is not None
    return code == 0 and "Traceback" not in errors


def main(times: int = 40) -> None:
    """Interrupt so many times, print what came of it, and exit with 1 if an answer was wrong."""
    found: Counter[bool] = Counter()
    ended = 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(times):
            wait_seconds = random.random() * FIRST_SECONDS
            command = random.choice(COMMANDS)
            code, errors = outcome(Path(folder), command, wait_seconds)
            found[is_good(code, errors)] += 1
            ended += code == 0
            if not is_good(code, errors):
                print(f"{command} after {wait_seconds:.3f} s: exit code {code}\n{errors}")
    print(f"{found[True]} of {times} interrupts were answered well; {ended} commands had ended before")
    sys.exit(0 if found[True] == times else 1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
