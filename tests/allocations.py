"""Let every allocation of memory fail once, by command; a process that dies is a finding as well.

python -m tests.allocations [--command NAME ...] [--step N] [--most N]

`allocations.c` stands before the C library and counts what the kernels and C++ code ask it for, and it makes
the data of numpy's arrays. The few bytes that numpy and scipy ask for beside that are left alone: these
libraries do not always look whether they got them. A command runs twice unharmed, so that modules are loaded,
and then once per allocation.
"""

from __future__ import annotations

import argparse
import ctypes
import io
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

LIBRARIES = ("termsieve/kernels/", "libstdc++")
SET_HANDLER = 304  # the place of PyDataMem_SetHandler in numpy's table of functions


class Allocations:
    """The preloaded library: where it counts, and which allocation fails."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.faults_place.restype = ctypes.c_size_t
        self._library.faults_disarm.restype = ctypes.c_long
        self._files: list[tuple[int, int, str]] = [(1, 2, "arrays")]
        for line in Path("/proc/self/maps").read_text().splitlines():
            where, rights, *_, file = line.split(maxsplit=5)
            if "x" in rights and any(name in file for name in LIBRARIES):
                start, stop = (int(part, 16) for part in where.split("-"))
                self._library.faults_add(ctypes.c_size_t(start), ctypes.c_size_t(stop))
                self._files.append((start, stop, Path(file).name.partition(".")[0]))
        self._make_arrays()

    def _make_arrays(self) -> None:
        """Let numpy ask the library for the data of arrays."""
        from numpy._core._multiarray_umath import _ARRAY_API

        python = ctypes.pythonapi
        python.PyCapsule_GetPointer.restype = ctypes.c_void_p
        python.PyCapsule_New.restype = ctypes.py_object
        table = python.PyCapsule_GetPointer(ctypes.py_object(_ARRAY_API), None)
        functions = ctypes.cast(ctypes.c_void_p(table), ctypes.POINTER(ctypes.c_void_p))
        set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(functions[SET_HANDLER])
        handler = ctypes.addressof(ctypes.c_char.in_dll(self._library, "faults_arrays"))
        set_handler(python.PyCapsule_New(ctypes.c_void_p(handler), b"mem_handler", None))

    def arm(self, at: int) -> None:
        """Let the allocation of number `at` from now on fail."""
        self._library.faults_arm(ctypes.c_long(at))

    def disarm(self) -> tuple[int, str]:
        """Return how many allocations there were, and the library whose allocation failed."""
        seen, place = self._library.faults_disarm(), self._library.faults_place()
        return seen, next((name for start, stop, name in self._files if start <= place < stop), "")


def run(folder: Path, line: str) -> tuple[int, str]:
    """Return the exit code of a command in a folder, and what it wrote to stderr."""
    from termsieve.cli.app import app
    from termsieve.cli.shell import exit_code

    err = io.StringIO()
    with chdir(folder), redirect_stderr(err), redirect_stdout(io.StringIO()):
        code = exit_code(app, line.split())
    return code, err.getvalue()


def judged(name: str, code: int, err: str, folder: Path, template: Path, clean: Path) -> str:
    """Return what is wrong after a command with a fault, or nothing."""
    from tests.fault_commands import COMMANDS, leftovers, one_sentence, same_bytes

    if name == "study":
        return judged_study(code, err, folder, clean)
    _, output, is_right = COMMANDS[name]
    if not (same_bytes(folder / output, template / output) or is_right(folder / output, clean / output)):
        return "the output is neither old nor new"
    if code and not one_sentence(code, err):
        return f"exit code {code}: {err}"
    left = leftovers(folder, template, "point", "point.within")
    return f"left {left}" if left else ""


def judged_study(code: int, err: str, folder: Path, clean: Path) -> str:
    """Return what is wrong with a study that had a fault, or that cannot go on, or nothing."""
    from tests.fault_commands import STUDY

    from termsieve.studies.results import Results

    if "Traceback" in err or "unexpected" in err or code not in (0, 1, 2):
        return f"exit code {code}: {err}"
    has_begun = (folder / "out/manifest.json").exists()
    again, err = run(folder, "study resume out --workers 1 --data ." if has_begun else STUDY)
    if again:
        return f"and again: exit code {again}: {err}"
    same = Results.open(folder / "out").equals(Results.open(clean / "out"))
    return "" if same else "other rows"


def child(name: str, first: int, step: int, most: int, work: Path) -> None:
    """Let allocations of a command fail, from number `first` on; `work` holds the number and the findings."""
    from tests.fault_commands import COMMANDS, STUDY, fresh, made_template

    line = STUDY if name == "study" else COMMANDS[name][0]
    template, clean, folder = made_template(work / f"template{first}"), work / "clean", work / "tried"
    for _ in range(2):
        fresh(template, clean)
        assert run(clean, line)[0] == 0
    allocations, told, libraries = Allocations(), Counter[bool](), Counter[str]()
    at = first
    while at <= most:
        (work / "at").write_text(str(at))
        fresh(template, folder)
        allocations.arm(at)
        code, err = run(folder, line)
        seen, library = allocations.disarm()
        if seen < at:
            break
        told[code != 0] += 1
        libraries[library] += 1
        wrong = judged(name, code, err, folder, template, clean)
        if wrong:
            print(f"FINDING {name}, allocation {at} ({library}): {wrong.strip()}", flush=True)
        at += step
    seconds = time.process_time()
    by = ", ".join(f"{library} {n:,}" for library, n in libraries.most_common())
    print(
        f"{name}: {seen:,} allocations; {told.total():,} failed from number {first}, every {step}; "
        f"{told[True]:,} ended the command; {by}; {seconds:.0f} s of processor time",
        flush=True,
    )


def main() -> None:
    """Compile the library, and run each command in a process of its own; go on after one that died."""
    from tests.fault_commands import COMMANDS

    names = [*COMMANDS, "study"]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--command", nargs="+", choices=names, default=names)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--step", type=int, default=1, help="how far the next fault is")
    parser.add_argument("--most", type=int, default=10**9, help="number of the last fault")
    parser.add_argument("--child", type=Path)
    given = parser.parse_args()
    if given.child:
        child(given.command[0], given.first, given.step, given.most, given.child)
        return
    with tempfile.TemporaryDirectory() as name:
        library = Path(name, "allocations.so")
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        deaths = sum(whole_runs(command, given, Path(name), library) for command in given.command)
    sys.exit(deaths > 0)


def whole_runs(command: str, given: argparse.Namespace, folder: Path, library: Path) -> int:
    """Run a command's faults; return how often its process died."""
    first, deaths = given.first, 0
    while True:
        work = Path(tempfile.mkdtemp(dir=folder))
        words = ["--command", command, "--first", first, "--step", given.step, "--most", given.most]
        line = [sys.executable, "-m", "tests.allocations", *map(str, words), "--child", str(work)]
        done = subprocess.run(line, env=os.environ | {"LD_PRELOAD": str(library)}, check=False)
        if done.returncode == 0:
            return deaths
        deaths += 1
        if not (work / "at").exists():
            print(f"FINDING {command} ended with {done.returncode} without a fault", flush=True)
            return deaths
        died_at = int((work / "at").read_text())
        print(f"FINDING {command}, allocation {died_at}: ended with {done.returncode}", flush=True)
        first = died_at + given.step


if __name__ == "__main__":
    main()
