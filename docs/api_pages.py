"""The package's public names come in; the pages of the API reference that list them go out, in docs/api.

A name is public if it is in `termsieve.__all__` or in the `__all__` of a submodule. It is documented once:
under `termsieve` if it is there, otherwise in the first submodule that has it.
"""

from __future__ import annotations

import inspect
import re
import shutil
from functools import cache
from importlib import import_module
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any

import termsieve

PACKAGE = Path(termsieve.__file__).parent
# What the names of the front door are for -> the modules that they come from.
GROUPS = {
    "Documents": ("corpus", "readers", "inspection", "terms"),
    "Telling words": ("telling", "comparison", "differences"),
    "Counts": ("counts", "engines"),
    "Metrics, scores and rankings": ("metrics", "scores", "ranking"),
    "Estimators and learners": ("estimators", "learners"),
    "Models": ("training", "models"),
    "Advice": ("adviser",),
    "Studies": ("studies",),
    "Reports": ("reports",),
    "Errors": ("errors",),
}


@cache
def modules() -> dict[str, ModuleType]:
    """Return the documented modules by name: the package, then each submodule that has `__all__`."""
    named = {f"termsieve.{name}": import_module(f"termsieve.{name}") for name in termsieve._SUBMODULES}
    return {
        "termsieve": termsieve,
        **{name: module for name, module in named.items() if hasattr(module, "__all__")},
    }


@cache
def public_names() -> dict[str, dict[str, Any]]:
    """Return the public names that each documented module is the home of, with their values."""
    homes: dict[str, dict[str, Any]] = {}
    known: dict[tuple[str, int], str] = {}
    for name, module in modules().items():
        homes[name] = {}
        for own in sorted(module.__all__):
            value = getattr(module, own)
            if own != "__version__" and (own, id(value)) not in known:
                known[own, id(value)] = name
                homes[name][own] = value
    return {name: values for name, values in homes.items() if values}


def title(text: str, line: str = "=") -> str:
    """Return a heading."""
    return f"{text}\n{line * len(text)}\n\n"


def sentence(module: ModuleType) -> str:
    """Return the first sentence of a module's docstring, with its single quotes as code."""
    first = (inspect.getdoc(module) or "").split("\n\n")[0].replace("\n", " ")
    return first.replace("`", "``")


def data_comment(module: str, name: str) -> str:
    """Return what the comment that begins with `#:` above a constant says, or an empty text."""
    part = termsieve._HOME.get(name, "") if module == "termsieve" else module.split(".")[1]
    for path in sorted([*PACKAGE.glob(f"{part}.py"), *PACKAGE.glob(f"{part}/**/*.py")]):
        found = re.search(rf"((?:^#: .*\n)+)^{name}\b", path.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return " ".join(line.removeprefix("#: ") for line in found[1].splitlines())
    return ""


def has_page(value: Any) -> bool:
    """Return whether a public name has a page of its own: a class or a function, but no constant or alias."""
    return (inspect.isclass(value) or inspect.isroutine(value)) and not isinstance(value, GenericAlias)


def grouped(name: str, values: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names of a module by heading: what they are for at the front door, elsewhere their kind."""
    if name == "termsieve":
        heads = {module: head for head, own in GROUPS.items() for module in own}
        kinds = {own: heads[termsieve._HOME[own]] for own in values}
        return {head: [own for own in termsieve._HOME if kinds.get(own) == head] for head in GROUPS}
    kinds = {
        own: "Data" if not has_page(value) else "Classes" if inspect.isclass(value) else "Functions"
        for own, value in values.items()
    }
    found = {head: [own for own in values if kinds[own] == head] for head in ("Classes", "Functions", "Data")}
    return {head: own for head, own in found.items() if own}


def see_also(path: str) -> list[str]:
    """Return the section See Also of a name of the front door: the names that are for the same purpose."""
    module, _, name = path.rpartition(".")
    if module != "termsieve" or name not in termsieve._HOME:
        return []
    values = public_names()["termsieve"]
    beside = next(names for names in grouped(module, values).values() if name in names)
    others = [own for own in beside if own != name and has_page(values[own])]
    lines = [
        line for own in others for line in (own, f"    {(inspect.getdoc(values[own]) or '').splitlines()[0]}")
    ]
    return ["", "See Also", "--------", *lines] if lines else []


def module_page(name: str, values: dict[str, Any]) -> str:
    """Return the page of one module: classes and functions with a page each, and its constants."""
    page = title(name) + f".. currentmodule:: {name}\n\n{sentence(modules()[name])}\n\n"
    for head, names in grouped(name, values).items():
        page += title(head, "-")
        if listed := "".join(f"   {own}\n" for own in names if has_page(values[own])):
            page += f".. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{listed}\n"
        for own in names:
            if not has_page(values[own]):
                page += f".. py:data:: {own}\n\n   {data_comment(name, own)}\n\n"
    return page


def index_page(names: dict[str, dict[str, Any]]) -> str:
    """Return the page that leads to those of the modules."""
    page = title("API reference")
    page += (
        "The names that are typed every day are in ``termsieve`` itself; the others are in its submodules. "
        "What is not listed here may change without notice.\n\n"
    )
    for name in names:
        page += f":doc:`{name}`\n   {sentence(modules()[name])}\n\n"
    return page + ".. toctree::\n   :hidden:\n\n" + "".join(f"   {name}\n" for name in names)


def write(folder: Path) -> list[str]:
    """Write the pages of the API reference into the folder, and return their paths; old ones are removed."""
    names = public_names()
    pages = {f"{name}.rst": module_page(name, values) for name, values in names.items()}
    pages["index.rst"] = index_page(names)
    shutil.rmtree(folder / "names", ignore_errors=True)
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.rst"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        place = folder / name
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")
    return [str(folder / name) for name in pages]
