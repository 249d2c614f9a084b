"""The installed SciPy comes in; a Corpus of its public functions' docstrings, by subpackage, goes out."""

from __future__ import annotations

import inspect
import re
import warnings
from importlib import import_module
from typing import Any

from termsieve.corpus import Corpus
from termsieve.errors import InputError

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_SET = re.compile(r"\{('[^{}\n]*')\}")
# Subpackage -> the public modules of its functions. Small and legacy subpackages are left out.
MODULES = {
    "cluster": ("cluster.hierarchy", "cluster.vq"),
    "fft": ("fft",),
    "integrate": ("integrate",),
    "interpolate": ("interpolate",),
    "io": ("io",),
    "linalg": ("linalg",),
    "ndimage": ("ndimage",),
    "optimize": ("optimize",),
    "signal": ("signal",),
    "sparse": ("sparse", "sparse.csgraph", "sparse.linalg"),
    "spatial": ("spatial", "spatial.distance"),
    "special": ("special",),
    "stats": ("stats",),
}


def load_docstrings() -> Corpus:
    """Return the demo corpus: the docstrings of SciPy's public functions, labelled with their subpackage.

    It needs no network and no file, and depends only on the version of SciPy. Lines of example code (`>>>`
    and `...`) are left out, because their imports would reveal the class; all prose is kept, including the
    words that name a subpackage. A function belongs to the subpackage that defines it. Distributions are left
    out, because they share one text.

    Returns
    -------
    Corpus
        The texts and their labels.

    Examples
    --------
    >>> corpus = load_docstrings()
    >>> "stats" in set(corpus.labels)
    True
    """
    import scipy

    texts: list[str] = []
    labels: list[str] = []
    for subpackage, modules in MODULES.items():
        for function in _functions(modules):
            # A ufunc does not know where it was defined; only scipy.special has ufuncs.
            home = str(getattr(function, "__module__", None) or f"scipy.{subpackage}")
            prose = _prose(function.__doc__)
            if prose and f"{home}.".startswith(f"scipy.{subpackage}."):
                texts.append(prose)
                labels.append(subpackage)
    if not texts:
        raise InputError("SciPy has no docstrings here; run Python without -OO")
    return Corpus(texts, labels, name="docstrings", source=f"docstrings of SciPy {scipy.__version__}")


def _functions(modules: tuple[str, ...]) -> list[Any]:
    """Return the exported callables, by name, that are neither a class nor a distribution."""
    found: dict[str, Any] = {}
    for path in modules:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = import_module(f"scipy.{path}")
            exported = {name: getattr(module, name, None) for name in module.__all__}
        found |= {f"{path}.{name}": value for name, value in sorted(exported.items())}
    return [
        value
        for value in found.values()
        if callable(value) and not inspect.isclass(value) and not hasattr(value, "rvs")
    ]


def _prose(docstring: Any) -> str:
    if not isinstance(docstring, str):
        return ""
    # Some docstrings are made at import: addresses and the order of sets change from run to run.
    text = _SET.sub(_sorted_set, _ADDRESS.sub("", inspect.cleandoc(docstring)))
    lines = text.split("\n")
    return "\n".join(line for line in lines if not line.lstrip().startswith((">>>", "..."))).strip()


def _sorted_set(printed: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(printed.group(1).split(", "))) + "}"
