"""Documents of any number come in; threads, Dask or Spark count them, and Counts go out."""

from __future__ import annotations

from termsieve.engines.threads import PrunedWarning, count

__all__ = ["PrunedWarning", "count"]
