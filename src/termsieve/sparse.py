"""What `scipy.sparse` has, which is imported when a matrix is made: a short command can do without it."""

from __future__ import annotations

import sys
from typing import Any


def issparse(x: Any) -> bool:
    """Return whether `x` is a sparse matrix or array."""
    # Nobody holds one before scipy.sparse is imported, by whoever made it.
    known = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return known is not None and bool(known(x))


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # what Python asks of every module
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scipy import sparse

    return getattr(sparse, name)
