#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2024.10"]
# ///
"""The checks by name: `nox -l` lists them, `nox` runs the ones that take minutes, `nox -s NAME` any other.

`.ci/run` calls the same commands in one environment; the sessions here make an environment each.
"""

import re
import shutil
import tarfile
import tomllib
import zipfile
from pathlib import Path

import nox

nox.needs_version = ">=2024.10"
nox.options.default_venv_backend = "uv|virtualenv"

ROOT = Path(__file__).parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = [line.split()[-1] for line in PYPROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", line)]
DIST = ROOT / "dist"
ALL = ("-m", "slow or not slow")
SCHEMAS = {
    "citation-file-format": "CITATION.cff",
    "dependabot": ".github/dependabot.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",  # config.yml is no form
    "github-workflows": ".github/workflows/*.yml",
    "readthedocs": ".readthedocs.yaml",
}


def group(name: str) -> list[str]:
    """Return the requirements of a dependency group."""
    return PYPROJECT["dependency-groups"][name]


@nox.session(default=True)
def lint(session: nox.Session) -> None:
    """Style, spelling, the archive's list of files, the schemas of YAML files, the workflows' safety."""
    session.install("ruff", *group("checks"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    session.run("validate-pyproject", "pyproject.toml")
    session.run("check-manifest")
    for schema, pattern in SCHEMAS.items():
        paths = map(str, ROOT.glob(pattern))
        session.run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *paths)
    session.run("zizmor", "--offline", ".github")


@nox.session(default=True)
def types(session: nox.Session) -> None:
    """Types, by mypy --strict."""
    session.install("-e", ".[dev]")
    session.run("mypy")


@nox.session(python=PYTHONS, default=True)
def tests(session: nox.Session) -> None:
    """The README's test command, on each Python that the machine has; arguments go to pytest."""
    session.install("-e", ".[dev]")
    session.run("pytest", *session.posargs)


@nox.session(default=False)
def floors(session: nox.Session) -> None:
    """The demo and all tests, slow ones too, with the oldest allowed release of every dependency."""
    session.install("--resolution=lowest-direct", "-e", ".[dev]")
    session.run("termsieve", "demo", "-o", str(Path(session.create_tmp()) / "report.html"))
    session.run("pytest", *ALL, *session.posargs)


@nox.session(default=True)
def docs(session: nox.Session) -> None:
    """The site, in docs/_build/html; a warning is an error."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """Lines and branches that the tests reach, those of the kernels too, in htmlcov/."""
    session.install("-e", ".[dev]", *group("coverage"))
    build = ["python", "setup.py", "-q", "build_ext", "--inplace", "--force"]
    session.run("pytest", "--cov", "--cov-report=", *ALL, *session.posargs)
    # Kernels that report each line are slow: only tests of what calls them run with these.
    session.run(*build, env={"TERMSIEVE_COVERAGE": "1"})
    # Cython's plugin looks for the inlined code of dual.pxd in dual.c.
    inlined = ROOT / "src/termsieve/kernels/dual.c"
    inlined.unlink(missing_ok=True)
    inlined.symlink_to("linear.c")
    parts = (
        "kernels",
        "learners",
        "estimators_[svw]",
        "counts",
        "terms",
        "matrices",
        "labels",
        "engines_threads",
    )
    traced = sorted(str(path) for part in parts for path in ROOT.glob(f"tests/test_{part}*.py"))
    session.run(
        "pytest", "--cov", "--cov-append", "--cov-report=", "-m", "not corpora", *session.posargs, *traced
    )
    session.run("coverage", "html", "-q")
    session.run("coverage", "json", "-q", "-o", "htmlcov/coverage.json")
    session.run("python", "docs/coverage_table.py", "htmlcov/coverage.json")
    session.run("coverage", "report", "--skip-covered", "--sort=miss")
    session.log(f"the kernels are slow now; build them again: {' '.join(build)}")


@nox.session(default=False)
def packages(session: nox.Session) -> None:
    """Source archive, and the wheel made of it, in dist/, with all checks of both."""
    session.install(*group("release"))
    shutil.rmtree(DIST, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(DIST))
    archive, wheel = next(DIST.glob("*.tar.gz")), next(DIST.glob("*.whl"))
    session.run("twine", "check", "--strict", str(archive), str(wheel))
    session.run("check-wheel-contents", str(wheel))
    session.run("pyroma", "--min=10", str(archive))
    session.run("auditwheel", "show", str(wheel))
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    if not any("/sboms/" in name for name in names) or any(name.endswith(".c") for name in names):
        session.error(f"{wheel.name} must have an SBOM and no generated C")


@nox.session(default=False)
def archive(session: nox.Session) -> None:
    """All tests, slow ones too, from the unpacked source archive."""
    session.install("build")
    place = Path(session.create_tmp()).resolve()
    session.run("python", "-m", "build", "--sdist", "--outdir", str(place))
    with tarfile.open(next(place.glob("*.tar.gz"))) as file:
        file.extractall(place, filter="data")
    session.chdir(
        next(path for path in place.iterdir() if path.is_dir() and path.name.startswith("termsieve-"))
    )
    session.install("-e", ".[dev]")
    session.run("pytest", *ALL, *session.posargs)


@nox.session(default=False)
def sanitizers(session: nox.Session) -> None:
    """The kernels' tests and ten minutes (or `-- MINUTES`) of fuzzing per target, with ASan and UBSan."""
    minutes = session.posargs[0] if session.posargs else "10"
    session.install(".[dev]")
    place = Path(session.create_tmp()).resolve() / "tree"
    shutil.rmtree(place, ignore_errors=True)
    left_out = shutil.ignore_patterns(".git", ".nox", "build", "dist", "*.so", "*.c")
    shutil.copytree(ROOT, place, ignore=left_out)
    session.chdir(place)
    flags = {"TERMSIEVE_CHECKED": "1", "TERMSIEVE_SANITIZE": "1"}
    session.run("python", "setup.py", "-q", "build_ext", "--inplace", env=flags)
    libraries = [
        session.run("gcc", f"-print-file-name=lib{name}.so", external=True, silent=True).strip()
        for name in ("asan", "ubsan")
    ]
    env = {"PYTHONPATH": "src", "PYTHONMALLOC": "malloc", "ASAN_OPTIONS": "detect_leaks=0"}
    env["LD_PRELOAD"] = " ".join(libraries)
    kernels = map(str, sorted(place.glob("tests/test_kernels_*.py")))
    session.run("python", "-m", "pytest", "-q", *kernels, env=env)
    for target in ("counts", "checkpoint", "shards", "model", "svmlight"):
        words = ["--target", target, "--minutes", minutes, "--memory", "0"]
        session.run("python", "-m", "tests.fuzz", *words, env=env)


@nox.session(python=["3.14t"], default=False)
def free_threaded(session: nox.Session) -> None:
    """The tests of threads and kernels without the interpreter's lock, as far as they need no polars."""
    # polars, vl-convert and others have no wheels for this Python.
    session.install(
        "cython", "hypothesis", "numpy", "pytest", "pytest-xdist", "scikit-learn", "scipy", "setuptools"
    )
    session.install("PyStemmer", "py3langid", "stopwordsiso", "--only-binary=numpy,PyStemmer")
    session.run("python", "setup.py", "-q", "build_ext", "--inplace")
    kernels = [
        str(path)
        for path in sorted(ROOT.glob("tests/test_kernels_*.py"))
        if "import polars" not in path.read_text(encoding="utf-8")
    ]
    # PyStemmer has not declared that it needs no lock, and would turn it on.
    env = {"PYTHONPATH": "src", "PYTHON_GIL": "0"}
    session.run("python", "-m", "pytest", *ALL, "tests/test_threads.py", *kernels, *session.posargs, env=env)


@nox.session(default=False)
def review(session: nox.Session) -> None:
    """The repository, by Scientific Python's guide."""
    session.install(*group("checks"))
    session.run("repo-review", ".")


@nox.session(default=False)
def release(session: nox.Session) -> None:
    """Check that a version can be released: `nox -s release -- 0.2.0`. Nothing is tagged or uploaded."""
    if len(session.posargs) != 1 or not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", session.posargs[0]):
        session.error("say which version, as in: nox -s release -- 0.2.0")
    version = session.posargs[0]
    places = {
        "pyproject.toml": f'version = "{version}"',
        "src/termsieve/__init__.py": f'__version__ = "{version}"',
        "CITATION.cff": f"version: {version}",
        "CHANGELOG.md": f"## {version} (",
    }
    wrong = [path for path, line in places.items() if line not in (ROOT / path).read_text(encoding="utf-8")]
    if wrong:
        session.error(
            f"{', '.join(wrong)} must say {version}; towncrier build --version {version} makes the changelog"
        )
    if "(unreleased)" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        session.error("CHANGELOG.md still says (unreleased); that section belongs below the new heading")
    if list(ROOT.glob("changes/*.*.md")):
        session.error(f"changes/ still has fragments; towncrier build --version {version} moves them")
    if session.run("git", "status", "--porcelain", external=True, silent=True):
        session.error("the working tree has changes; commit them")
    session.log(f"addresses of this release: {PYPROJECT['project']['urls']}")
    for name in ("lint", "review", "types", "packages", "archive", "floors", "docs"):
        session.notify(name, posargs=[])  # the version is no argument of theirs


if __name__ == "__main__":
    nox.main()
