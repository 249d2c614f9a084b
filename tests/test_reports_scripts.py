"""The pages' own scripts, read as text: what no browser test would notice."""

import re
from collections import Counter
from importlib import resources

import pytest

from termsieve.reports.page import EXPLORER_SCRIPTS, LAST_SCRIPT, SCRIPTS

TEMPLATES = resources.files("termsieve.reports") / "templates"
NAMES = (*SCRIPTS, *EXPLORER_SCRIPTS, LAST_SCRIPT)
TEXTS = {name: (TEMPLATES / name).read_text(encoding="utf-8") for name in NAMES}
# What makes markup of a text, or asks the network.
FORBIDDEN = re.compile(
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|fetch|"
    r"XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|localStorage|document\.cookie)\b"
)
TOP_LEVEL = re.compile(r"^(?:async function|function|const|let) (\w+)", re.MULTILINE)


def code(text):
    """A script without its comments."""
    return re.sub(r"(?<!:)//.*|/\*.*?\*/", "", text)


def test_every_script_is_in_a_page():
    there = {each.name for each in TEMPLATES.iterdir() if each.name.endswith(".js")}
    assert there == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_text_becomes_markup_and_nothing_is_asked_for(name):
    assert FORBIDDEN.findall(code(TEXTS[name])) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_script_says_what_it_is_for(name):
    assert TEXTS[name].startswith("// ")


def test_a_name_is_declared_once_and_used():
    """All scripts of a page share one scope."""
    declared = Counter(name for text in TEXTS.values() for name in TOP_LEVEL.findall(code(text)))
    assert [name for name, n in declared.items() if n > 1] == []
    everything = "\n".join(map(code, TEXTS.values()))
    places = {name: len(re.findall(rf"(?:(?<![\w.])|(?<=\.\.\.)){name}\b", everything)) for name in declared}
    assert [name for name, n in places.items() if n < 2] == []
