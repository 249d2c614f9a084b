"""The layers, and what they may import."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import termsieve

ROOT = Path(__file__).parents[1]
PACKAGE = Path(termsieve.__file__).parent


def layers():
    """The modules in the order in which docs/architecture.md lists them."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)


def absolute(path, node):
    """The names, from the package on, of the module that a from-import means; dots lead up from the file."""
    named = node.module.split(".") if node.module else []
    if not node.level:
        return named
    inside = path.relative_to(PACKAGE.parent).parts[:-1]
    return [*inside[: len(inside) - node.level + 1], *named]


def imported_parts(path):
    """The parts of the package that a file imports, at any level, except for typing only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and (parts := absolute(path, node))[0] == "termsieve":
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            yield from (parts[1] for parts in names if parts[0] == "termsieve" and len(parts) > 1)


def test_every_module_has_its_layer():
    parts = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir()}
    parts -= {"__init__", "__main__", "__pycache__", "py"}
    assert parts == set(layers())


def test_modules_import_only_from_layers_above():
    order = layers()
    for path in PACKAGE.rglob("*.py"):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if part in ("__init__", "__main__"):
            continue
        allowed = {*order[: order.index(part) + 1], "__version__"}
        below = set(imported_parts(path)) - allowed
        assert not below, f"{path.relative_to(PACKAGE)} imports {below}"


def test_no_module_has_more_than_500_lines():
    """But a table of formulas, and the one file that a model is shipped with."""
    one_job = {"metrics/papers.py", "portable/scorer.py"}
    sources = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")]
    sizes = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in sources
    }
    assert {name for name, size in sizes.items() if size > 500} == one_job


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("from termsieve.charts import curves", ["charts"]),
        ("from termsieve import charts, cli", ["charts", "cli"]),
        ("import termsieve.cli.app", ["cli"]),
        ("from .. import cli", ["cli"]),
        ("from ..cli import app", ["cli"]),
        ("from . import table", ["counts"]),
        ("from .table import Counts", ["counts"]),
        ("from numpy import cli", []),
        ("if TYPE_CHECKING:\n    from ..cli import app", []),
    ],
)
def test_every_form_of_import_is_seen(tmp_path, monkeypatch, line, parts):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path / "termsieve")
    file = tmp_path / "termsieve" / "counts" / "module.py"
    file.parent.mkdir(parents=True)
    file.write_text(line)
    assert list(imported_parts(file)) == parts


def test_the_version_is_that_of_the_package():
    assert termsieve.__version__ == importlib.metadata.version("termsieve")
    assert f"version: {termsieve.__version__}" in (ROOT / "CITATION.cff").read_text()


def test_ranking_leaves_scikit_learn_alone():
    """And scipy.special, which is slow to import, unless the metric needs it."""
    code = """
import sys, termsieve
counts = termsieve.Counts.from_matrix([[1, 0], [0, 1]], ["a", "b"], terms=["x", "y"])
termsieve.telling_words(counts, k=1)
assert "scipy.special" not in sys.modules
termsieve.cut(termsieve.rank(termsieve.score(counts, "bns")), k=1)
assert "sklearn" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_line_computes_nothing():
    """A module of `cli` parses, makes a library call and prints; numbers are the library's business."""
    for path in (PACKAGE / "cli").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                found.add((node.module or "").split(".")[0])
        assert not found & {"numpy", "scipy", "sklearn"}, f"{path.name} computes with {found}"
