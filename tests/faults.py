"""The n-th operation on the files of a folder, or the n-th array, fails, as on a full disk.

Operations are counted below Python's buffers, so that what fails is what the system would refuse: opening,
reading, writing, syncing and renaming a file below the folder. Compiled libraries that open a path themselves
are not reached.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

DISK = ("open", "read", "write", "fsync", "rename")
MEMORY = ("array",)
_ERRORS = {
    "open": errno.EACCES,
    "read": errno.EIO,
    "write": errno.ENOSPC,
    "fsync": errno.EIO,
    "rename": errno.EIO,
}


class Faults:
    """Counts operations of some kinds; the one of number `at` fails. `done` lists what was counted."""

    def __init__(self, folder: Path, at: int, kinds: tuple[str, ...] = DISK) -> None:
        self.folder = os.path.realpath(folder)
        self.at = at
        self.kinds = kinds
        self.done: list[str] = []
        self._descriptors: set[int] = set()

    @property
    def reached(self) -> bool:
        """Whether there were so many operations that one failed."""
        return len(self.done) >= self.at

    def step(self, kind: str, where: str = "") -> None:
        """Count one operation, or fail."""
        if kind not in self.kinds:
            return
        self.done.append(f"{kind} {where}")
        if len(self.done) == self.at:
            if kind == "array":
                raise MemoryError
            raise OSError(_ERRORS[kind], os.strerror(_ERRORS[kind]), where or None)

    def concerns(self, path: Any) -> bool:
        """Whether a path or an open descriptor is one of the folder."""
        if isinstance(path, int):
            return path in self._descriptors
        try:
            return os.path.realpath(os.fspath(path)).startswith(self.folder + os.sep)
        except TypeError:
            return False

    def opened(self, path: Any, flags: int, *rest: Any, **named: Any) -> int:
        """Stand in for os.open."""
        if not self.concerns(path):
            return _REAL["os.open"](path, flags, *rest, **named)
        self.step("open", os.fspath(path))
        descriptor = _REAL["os.open"](path, flags, *rest, **named)
        self._descriptors.add(descriptor)
        return descriptor

    def opened_file(self, file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **named: Any) -> Any:
        """Stand in for open."""
        if not self.concerns(file):
            return _REAL["open"](file, mode, buffering, *rest, **named)
        if not isinstance(file, int):
            self.step("open", os.fspath(file))
        raw = _FaultyFile(self, file, mode.replace("t", "").replace("b", ""))
        if buffering == 0:
            return raw
        kind = io.BufferedRandom if "+" in mode else io.BufferedReader if "r" in mode else io.BufferedWriter
        buffered = kind(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *rest, **named)

    def synced(self, descriptor: int) -> None:
        """Stand in for os.fsync."""
        self.step("fsync")
        _REAL["os.fsync"](descriptor)

    def renamed(self, source: Any, target: Any, **named: Any) -> None:
        """Stand in for os.replace."""
        if self.concerns(target):
            self.step("rename", os.fspath(target))
        _REAL["os.replace"](source, target, **named)

    def allocating(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that makes arrays, counted."""

        def counted(*given: Any, **named: Any) -> Any:
            self.step("array", function.__name__)
            return function(*given, **named)

        return counted


class _FaultyFile(io.FileIO):
    def __init__(self, faults: Faults, file: Any, mode: str) -> None:
        super().__init__(file, mode)
        self._faults = faults
        self._name = "" if isinstance(file, int) else os.fspath(file)

    def write(self, data: Any) -> int:
        self._faults.step("write", self._name)
        return super().write(data)

    def readinto(self, buffer: Any) -> int:
        self._faults.step("read", self._name)
        return super().readinto(buffer)

    def readall(self) -> bytes:
        self._faults.step("read", self._name)
        return super().readall()


_REAL: dict[str, Any] = {
    "open": builtins.open,
    "os.open": os.open,
    "os.fsync": os.fsync,
    "os.replace": os.replace,
}
_ARRAYS = ("zeros", "empty", "full", "concatenate", "repeat", "arange", "frombuffer", "ascontiguousarray")


@contextmanager
def failing(folder: Path, at: int, kinds: tuple[str, ...] = DISK) -> Iterator[Faults]:
    """Let the operation of number `at` in a folder fail."""
    faults = Faults(folder, at, kinds)
    patches = [
        patch.object(builtins, "open", faults.opened_file),
        patch.object(io, "open", faults.opened_file),
        patch.object(os, "open", faults.opened),
        patch.object(os, "fsync", faults.synced),
        patch.object(os, "replace", faults.renamed),
        patch.object(os, "rename", faults.renamed),
    ]
    if "array" in kinds:
        patches = [patch.object(np, name, faults.allocating(getattr(np, name))) for name in _ARRAYS]
    for one in patches:
        one.start()
    try:
        yield faults
    finally:
        for one in patches:
            one.stop()
