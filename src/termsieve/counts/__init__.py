"""Documents come in, as a matrix, texts or batches; their additive Counts go out, in memory or as a file."""

from __future__ import annotations

from termsieve.counts.table import Counts
from termsieve.counts.windows import Windows

__all__ = ["Counts", "Windows"]
