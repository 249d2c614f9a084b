"""Builds the compiled kernels; everything else is declared in pyproject.toml.

TERMSIEVE_CHECKED=1 builds them with index checks, for the tests: slower, but a wrong index is an error.
TERMSIEVE_SANITIZE=1 builds them with AddressSanitizer and UBSan, which end the process at a wrong access to
memory; libasan must then be loaded first (LD_PRELOAD).
"""

import os
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

CHECKED = os.environ.get("TERMSIEVE_CHECKED") == "1"
SANITIZE = os.environ.get("TERMSIEVE_SANITIZE") == "1"
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"]
FLAGS = [] if sys.platform == "win32" else ["-O1", "-g", *SANITIZERS] if SANITIZE else ["-O3"]

extensions = [
    Extension(
        f"termsieve.kernels.{source.stem}",
        [source.as_posix()],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=FLAGS,
        extra_link_args=SANITIZERS if SANITIZE else [],
    )
    for source in sorted(Path("src/termsieve/kernels").glob("*.pyx"))
]

setup(
    ext_modules=cythonize(
        extensions,
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "initializedcheck": CHECKED,
            "cdivision": True,
        },
    )
)
