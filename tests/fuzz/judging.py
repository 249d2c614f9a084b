"""A target and files come in; what is wrong with how they were read goes out."""

from __future__ import annotations

import hashlib
import shutil
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.fuzz.saved import SAVED_TARGETS
from tests.fuzz.texts import TEXT_TARGETS

from termsieve.errors import TermsieveError

TARGETS = {**SAVED_TARGETS, **TEXT_TARGETS}
SLOW_SECONDS = 20.0  # of processor time
SEVERAL_LINES = ("plan", "results")  # the message about a plan has one line per fault


@dataclass(frozen=True)
class Finding:
    """What is wrong, in a word by which findings of one kind are known, and in full."""

    kind: str
    detail: str


def lay_out(files: dict[str, bytes], folder: Path) -> None:
    """Write the files into an emptied folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def judged(target: str, folder: Path) -> Finding | None:
    """Read the files in a folder; return what is wrong with the outcome, or None."""
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TARGETS[target][1](folder)
    except TermsieveError as error:
        if not str(error) or ("\n" in str(error) and target not in SEVERAL_LINES):
            return Finding(f"message of {type(error).__name__} at {_place(error)}", str(error)[:4000])
    except MemoryError:
        return Finding("memory", traceback.format_exc())
    except BaseException as error:  # a panic of a library is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return Finding(f"{type(error).__name__} at {_place(error)}", traceback.format_exc())
    seconds = time.process_time() - start
    return Finding("slow", f"{seconds:.0f} seconds") if seconds > SLOW_SECONDS else None


def _place(error: BaseException) -> str:
    """Return the last line of termsieve's own code that an error came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "termsieve" in frame.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"


def keep(target: str, finding: Finding, folder: Path, crashers: Path) -> None:
    """Copy the files of a finding to the crashers, once for each kind."""
    name = hashlib.sha256(finding.kind.encode()).hexdigest()[:8]
    kept = crashers / f"{target}-{name}"
    if not kept.exists():
        shutil.copytree(folder, kept)
        (crashers / f"{target}-{name}.txt").write_text(f"{finding.kind}\n{finding.detail}")


def run_examples(target: str, number: int, first_seed: int, work: Path, crashers: Path, tried: int) -> int:
    """Try so many inputs of a target, laid out in work/input; keep what is found.

    How many were tried, those of before included, is returned, and stands in work/tried at any moment.
    """

    @seed(first_seed)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(TARGETS[target][0])
    def attempt(files: dict[str, bytes]) -> None:
        nonlocal tried
        tried += 1
        (work / "tried").write_text(str(tried))
        lay_out(files, work / "input")
        finding = judged(target, work / "input")
        if finding is not None:
            keep(target, finding, work / "input", crashers)

    attempt()
    return tried
