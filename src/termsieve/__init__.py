"""Feature selection for text classification: counts in, telling terms out."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it. Names are imported on first use, so that a part of the
# package costs nothing until it is asked for.
_HOME = {
    "TermsieveError": "errors",
    "Counts": "counts",
    "METRICS": "metrics",
    "Metric": "metrics",
    "metric": "metrics",
    "Scores": "scores",
    "score": "scores",
    "Ranking": "policy",
    "cut": "policy",
    "rank": "policy",
    "sparsity_curve": "policy",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'termsieve' has no attribute {name!r}")
    value = getattr(import_module(f"termsieve.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
