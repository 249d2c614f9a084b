"""Counts of documents with and without a term come in; its score for a class goes out.

Importing this package fills METRICS, the one registry. A new metric goes into the module of its kind, or is
registered by the user's own code with `register_metric`.
"""

from __future__ import annotations

from termsieve.metrics import keyness, papers  # noqa: F401 - they fill the registry
from termsieve.metrics.registry import (
    METRICS,
    Floats,
    Kind,
    Metric,
    Occurrences,
    direction,
    get_metric,
    register_metric,
)

__all__ = [
    "METRICS",
    "Floats",
    "Kind",
    "Metric",
    "Occurrences",
    "direction",
    "get_metric",
    "register_metric",
]
