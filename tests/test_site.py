"""The site: every page in its tree, every public name in the API reference, every parameter documented."""

import importlib.util
import inspect
import re
import subprocess
import sys
import zlib
from pathlib import Path
from types import FunctionType

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TOCTREE = re.compile(r"^:::\{toctree\}\n(.*?)^:::$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^(Parameters|Attributes|Returns|Yields|Examples)\n-+\n", re.MULTILINE)


def load(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


API = load("api_pages")
NAMES = {f"{home}.{name}": value for home, own in API.public_names().items() for name, value in own.items()}
KINDS = (type, FunctionType)
CALLABLES = {name: value for name, value in NAMES.items() if isinstance(value, KINDS)}


def with_methods():
    """Yield the dotted name and the value of each public class, function, and method defined here."""
    for name, value in CALLABLES.items():
        yield name, value
        if inspect.isclass(value):
            for own, member in vars(value).items():
                function = getattr(member, "__func__", member)
                if not own.startswith("_") and inspect.isfunction(function):
                    yield f"{name}.{own}", function


def sections(text):
    """Return the text of each section of a numpydoc docstring, by its heading."""
    parts = SECTION.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(text):
    """Return the names that the sections of parameters and attributes describe."""
    found = sections(text)
    both = found.get("Parameters", "") + "\n" + found.get("Attributes", "")
    heads = re.findall(r"^([*\w][\w, *]*)(?: :.*)?$", both, re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def parameters(value):
    """Return the parameters that a caller can give."""
    if inspect.isclass(value) and (issubclass(value, Exception) or getattr(value, "_is_protocol", False)):
        return []
    names = [name for name in inspect.signature(value).parameters if not name.startswith("_")]
    return [name for name in names if name not in ("self", "cls")]


THINGS = dict(with_methods())


@pytest.mark.parametrize("name", THINGS)
def test_every_parameter_is_documented(name):
    value = THINGS[name]
    missing = [own for own in parameters(value) if own not in documented(inspect.getdoc(value) or "")]
    assert not missing, f"the docstring of {name} says nothing about {', '.join(missing)}"


@pytest.mark.parametrize("name", [name for name, value in THINGS.items() if inspect.isfunction(value)])
def test_every_result_is_documented(name):
    """A method without parameters may say it in its first sentence."""
    value = THINGS[name]
    text = inspect.getdoc(value) or ""
    if inspect.signature(value).return_annotation in ("None", None):
        return
    said = {"Returns", "Yields"} & set(sections(text))
    assert said or (not parameters(value) and re.match("Return|Yield", text)), name


@pytest.mark.parametrize("name", [name for name in CALLABLES if re.fullmatch(r"termsieve\.[a-z]\w*", name)])
def test_every_function_of_the_front_door_has_an_example(name):
    assert "Examples" in sections(inspect.getdoc(CALLABLES[name])), name


@pytest.mark.parametrize("name", [name for name in NAMES if name not in CALLABLES])
def test_every_constant_is_explained(name):
    module, _, own = name.rpartition(".")
    assert API.data_comment(module, own), f"put a comment that begins with #: above {own}"


def test_a_missing_parameter_is_noticed():
    assert documented("Say.\n\nParameters\n----------\na, b : int\n    Text.\n**options\n    More.\n") == {
        "a",
        "b",
        "options",
    }
    assert documented("Say what `a` is.") == set()


def listed():
    """Return the pages that the trees of the pages list."""
    texts = [page.read_text(encoding="utf-8") for page in DOCS.glob("*.md")]
    lines = [line for text in texts for body in TOCTREE.findall(text) for line in body.splitlines()]
    return [re.sub(r".*<(.*)>", r"\1", line) for line in lines if line and not line.startswith(":")]


def test_every_page_is_in_the_tree_once():
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert sorted(listed()) == sorted([*pages, "api/index"]), "add the page to a toctree, see docs/index.md"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; a warning of Sphinx is an error."""
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", folder / "trees"]
    done = subprocess.run([*words, DOCS, folder / "html"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.slow
def test_the_site_has_every_public_name(site):
    inventory = (site / "objects.inv").read_bytes()
    head, _, packed = inventory.partition(b"zlib.\n")
    assert head.startswith(b"# Sphinx inventory version 2")
    names = {line.split(" ", 1)[0] for line in zlib.decompress(packed).decode().splitlines()}
    assert not set(NAMES) - names


@pytest.mark.slow
def test_the_site_needs_no_network(site):
    assert (site / "searchindex.js").stat().st_size > 100_000
    loads = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"(?:https?:)?//[^\"]*\"")
    for page in site.rglob("*.html"):
        found = loads.findall(page.read_text(encoding="utf-8"))
        assert not found, f"{page.name} loads {found[0]}"
