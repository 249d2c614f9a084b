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
from setuptools.command.build_ext import build_ext

CHECKED = os.environ.get("TERMSIEVE_CHECKED") == "1"
SANITIZE = os.environ.get("TERMSIEVE_SANITIZE") == "1"
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"] if SANITIZE else []
OPTIMISE = [] if sys.platform == "win32" else ["-O1", "-g"] if SANITIZE else ["-O3"]
# Symbols are two thirds of the files.
STRIP = ["-Wl,-s"] if sys.platform == "linux" and not (CHECKED or SANITIZE) else []

extensions = [
    Extension(
        f"termsieve.kernels.{source.stem}",
        [source.as_posix()],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=OPTIMISE + SANITIZERS,
        extra_link_args=STRIP + SANITIZERS,
    )
    for source in sorted(Path("src/termsieve/kernels").glob("*.pyx"))
]


class ParallelBuild(build_ext):
    """Compiles the kernels side by side, one per processor."""

    def finalize_options(self) -> None:
        """Take as many jobs as there are processors, unless a number was given."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()


setup(
    cmdclass={"build_ext": ParallelBuild},
    ext_modules=cythonize(
        extensions,
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "initializedcheck": CHECKED,
            "cdivision": True,
        },
    ),
)
