"""Documents of any number come in; threads, Dask or Spark count them, and Counts go out."""

from __future__ import annotations

from termsieve.engines.source import Source, counts_of, is_counts_file
from termsieve.engines.threads import PrunedWarning, count

__all__ = ["PrunedWarning", "Source", "count", "counts_of", "is_counts_file"]
