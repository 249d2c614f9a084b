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
from tests.browser import CHROMIUM, PATIENCE

import termsieve

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TOCTREE = re.compile(r"^:::\{toctree\}\n(.*?)^:::$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-+\n", re.MULTILINE)


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


def entries(section):
    """Return the names that a section describes; several may share a description."""
    heads = re.findall(r"^([*\w][\w, *]*)(?: :.*)?$", section, re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def documented(text):
    """Return the names that the sections of parameters and attributes describe."""
    found = sections(text)
    return entries(found.get("Parameters", "")) | entries(found.get("Attributes", ""))


def parameters(value):
    """Return the parameters that a caller can give."""
    if inspect.isclass(value) and (issubclass(value, Exception) or getattr(value, "_is_protocol", False)):
        return []
    names = [name for name in inspect.signature(value).parameters if not name.startswith("_")]
    return [name for name in names if name not in ("self", "cls")]


THINGS = dict(with_methods())


FUNCTIONS = {name: value for name, value in THINGS.items() if inspect.isfunction(value)}


def test_every_parameter_is_documented():
    known = {name: documented(inspect.getdoc(value) or "") for name, value in THINGS.items()}
    missing = {
        name: [own for own in parameters(value) if own not in known[name]] for name, value in THINGS.items()
    }
    assert not {name: own for name, own in missing.items() if own}


def test_no_parameter_is_documented_that_is_gone():
    described = {name: sections(inspect.getdoc(value) or "") for name, value in FUNCTIONS.items()}
    gone = {
        name: entries(described[name].get("Parameters", "")) - set(inspect.signature(value).parameters)
        for name, value in FUNCTIONS.items()
    }
    assert not {name: own for name, own in gone.items() if own}


def says_what_it_returns(value):
    """A method without parameters may say it in its first sentence."""
    text = inspect.getdoc(value) or ""
    if inspect.signature(value).return_annotation in ("None", None):
        return True
    said = {"Returns", "Yields"} & set(sections(text))
    return said or (not parameters(value) and re.match("Return|Yield", text))


def test_every_result_is_documented():
    assert not [name for name, value in FUNCTIONS.items() if not says_what_it_returns(value)]


def test_every_name_of_the_front_door_has_an_example():
    front = [
        name for name in CALLABLES if name.count(".") == 1 and name != "termsieve.Advice"
    ]  # made by advise
    assert len(front) > 40
    assert not [name for name in front if "Examples" not in sections(inspect.getdoc(CALLABLES[name]))]


def test_the_front_door_is_grouped_by_purpose():
    groups = API.grouped("termsieve", API.public_names()["termsieve"])
    listed = [name for names in groups.values() for name in names]
    assert sorted(listed) == sorted(set(termsieve.__all__) - {"__version__"}), (
        "see GROUPS in docs/api_pages.py"
    )
    assert all(groups.values())


def test_see_also_leads_to_the_names_beside_it():
    lines = API.see_also("termsieve.telling_words")
    assert lines[1:3] == ["See Also", "--------"]
    assert "compare_metrics" in lines
    assert "telling_words" not in lines
    assert API.see_also("termsieve.analysis.roc_map") == []


def test_every_constant_is_explained():
    constants = [name.rpartition(".") for name in NAMES if name not in CALLABLES]
    unexplained = [own for module, _, own in constants if not API.data_comment(module, own)]
    assert not unexplained, "put a comment that begins with #: above them"


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


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_the_site_is_searched_without_network(browser, site):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{(site / 'search.html').as_uri()}?q=telling_words")
    found = page.locator("#search-results li a").filter(has_text="telling_words").first
    found.wait_for()
    assert "termsieve.telling_words.html" in found.get_attribute("href")
    context.close()
