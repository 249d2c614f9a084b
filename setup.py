"""Builds the compiled kernels, the README with absolute links and the SBOM; pyproject.toml declares the rest.

TERMSIEVE_CHECKED=1 builds the kernels with index checks for the tests: slower, but a wrong index is an error.
TERMSIEVE_SANITIZE=1 builds them with AddressSanitizer and UBSan, which end the process at a wrong access to
memory; libasan must then be loaded first (LD_PRELOAD).
TERMSIEVE_COVERAGE=1 builds them so that coverage sees each line that runs; they are much slower then.
"""

import json
import os
import re
import shlex
import shutil
import sys
import sysconfig
import tomllib
import uuid
from importlib.metadata import version
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

HERE = Path(__file__).parent
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHECKED = os.environ.get("TERMSIEVE_CHECKED") == "1"
SANITIZE = os.environ.get("TERMSIEVE_SANITIZE") == "1"
COVERAGE = os.environ.get("TERMSIEVE_COVERAGE") == "1"
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"] if SANITIZE else []
OPTIMISE = [] if sys.platform == "win32" else ["-O1", "-g"] if SANITIZE else ["-O1"] if COVERAGE else ["-O3"]
TRACE = [("CYTHON_TRACE", "1"), ("CYTHON_TRACE_NOGIL", "1")] if COVERAGE else []
# Symbols are two thirds of the files.
STRIP = ["-Wl,-s"] if sys.platform == "linux" and not (CHECKED or SANITIZE) else []
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "initializedcheck": CHECKED,
    "cdivision": True,
    "linetrace": COVERAGE,
    "freethreading_compatible": True,  # docs/architecture.md says why
}
NO_COMPILER = (
    "termsieve's kernels are compiled, and the C compiler {name!r} was not found; install one "
    "(Debian and Ubuntu: apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install) "
    "or install a wheel of termsieve"
)


def absolute(text: str) -> str:
    """Return Markdown whose relative links lead to the site or, for other files, to the repository."""
    site, repository = PROJECT["urls"]["Documentation"], PROJECT["urls"]["Repository"]

    def link(found: re.Match[str]) -> str:
        target = found[1]
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        if page := re.fullmatch(r"docs/(\w[\w-]*)\.md(#.*)?", target):
            return f"]({site}/{page[1]}.html{page[2] or ''})"
        if picture := re.fullmatch(r"docs/\w+/([\w.-]+\.(?:svg|png|jpg))", target):
            return f"]({site}/_images/{picture[1]})"
        return f"]({repository}/blob/v{PROJECT['version']}/{target})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)  # code stays as it is
    return "".join(
        part if part.startswith("```") else re.sub(r"\]\(([^)\s]+)\)", link, part) for part in parts
    )


def sbom() -> str:
    """Return the parts of a wheel, in CycloneDX: termsieve, and whose code is compiled into its kernels."""
    name, own = PROJECT["name"], PROJECT["version"]
    compiled = [
        {
            "type": "library",
            "bom-ref": other,
            "name": other,
            "version": version(other),
            "purl": f"pkg:pypi/{other}@{version(other)}",
            "description": description,
            "licenses": [{"license": {"id": license}}],
        }
        for other, description, license in (
            ("cython", "generated the C code of the kernels, with its utility code", "Apache-2.0"),
            ("numpy", "its C headers are compiled into the kernels", "BSD-3-Clause"),
        )
    ]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([name, own, compiled]))}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": name,
                "name": name,
                "version": own,
                "purl": f"pkg:pypi/{name}@{own}",
                "licenses": [{"license": {"id": PROJECT["license"]}}],
            }
        },
        "components": compiled,
        "dependencies": [{"ref": name, "dependsOn": [part["bom-ref"] for part in compiled]}],
    }
    return json.dumps(document, indent=2) + "\n"


class ParallelBuild(build_ext):
    """Translates and compiles the kernels side by side, one per processor; those that are newer only."""

    def finalize_options(self) -> None:
        """Take as many jobs as there are processors, unless a number was given."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        """Translate to C first, unless there is no compiler; archives and metadata are made without it."""
        # Windows has no CC, because setuptools looks for Visual C++ itself.
        compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "")
        if compiler and shutil.which(compiler[0]) is None:
            raise PlatformError(NO_COMPILER.format(name=compiler[0]))
        if self.editable_mode:  # not in a temporary folder, so that the next installation finds what is built
            kind = f"{self.plat_name}-{sys.implementation.cache_tag}"
            self.build_lib, self.build_temp = f"build/lib.{kind}", f"build/temp.{kind}"
        import numpy
        from Cython.Build import cythonize

        # Processes can be forked on Linux only; elsewhere they would run the build again.
        jobs = self.parallel if sys.platform == "linux" else 0
        translated = cythonize(
            self.extensions,
            compiler_directives=DIRECTIVES,
            nthreads=jobs,
            force=self.force or None,
            shared_utility_qualified_name=SHARED.name,
        )
        for module, in_c in zip(self.extensions, translated, strict=True):
            module.sources, module.depends = in_c.sources, in_c.depends
            module.include_dirs.append(numpy.get_include())
        super().run()


class DescribedWheel(bdist_wheel):
    """A wheel with an SBOM, where PEP 770 wants it."""

    def egg2dist(self, egginfo_path: str, distinfo_path: str) -> None:
        """Make the wheel's own folder, and put the SBOM into it."""
        super().egg2dist(egginfo_path, distinfo_path)
        folder = Path(distinfo_path) / "sboms"
        folder.mkdir()
        (folder / f"{PROJECT['name']}.cdx.json").write_text(sbom(), encoding="utf-8")


def kernel(source: str) -> Extension:
    """Return the compiled module of a source file in the folder of the kernels."""
    return Extension(
        f"termsieve.kernels.{Path(source).stem}",
        [f"src/termsieve/kernels/{source}"],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"), *TRACE],
        extra_compile_args=OPTIMISE + SANITIZERS,
        extra_link_args=STRIP + SANITIZERS,
    )


# What Cython adds to every module, above all its memory views, is generated into one and compiled once.
SHARED = kernel("_shared.c")
KERNELS = [*(kernel(path.name) for path in sorted(HERE.glob("src/termsieve/kernels/*.pyx"))), SHARED]

if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": ParallelBuild, "bdist_wheel": DescribedWheel},
        ext_modules=KERNELS,
        long_description=absolute((HERE / "README.md").read_text(encoding="utf-8")),
        long_description_content_type="text/markdown",
    )
