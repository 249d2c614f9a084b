"""Counts and studies on engines that existing clusters run; each part is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {"DaskEngine": "study"}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'termsieve.scale' has no attribute {name!r}")
    return getattr(import_module(f"termsieve.scale.{_HOME[name]}"), name)
