"""The layers, and what they may import."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import termsieve

ROOT = Path(__file__).parents[1]
PACKAGE = Path(termsieve.__file__).parent


def layers():
    """The modules in the order in which docs/architecture.md lists them."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)


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
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "termsieve":
            parts = (node.module or "").split(".")
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


def test_the_version_is_that_of_the_package():
    assert termsieve.__version__ == importlib.metadata.version("termsieve")
    assert f"version: {termsieve.__version__}" in (ROOT / "CITATION.cff").read_text()


def test_ranking_leaves_scikit_learn_alone():
    code = """
import sys, termsieve
counts = termsieve.Counts.from_matrix([[1, 0], [0, 1]], ["a", "b"])
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
