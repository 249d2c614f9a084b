"""The manifest of a results directory: a file becomes a checked dictionary, and the reverse."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from termsieve.errors import StudyError
from termsieve.files import checksum

FORMAT = "termsieve-results"
# 1: without checksums. 2: `parts` and `vocabulary` list each file with its checksum; the manifest has one.
# 3: counts at break-even are real numbers, because the plan may divide ties; before, ties were never divided.
FORMAT_VERSION = 3
MANIFEST = "manifest.json"
UNKNOWN = ""  # the checksum of a file that format 1 wrote

_FILE_NAME = re.compile(r"[\w.+-]+")  # no name in a manifest may lead out of its directory

# The required keys of a manifest, of a corpus and of a part in it.
Rules = Mapping[str, type | tuple[type, ...]]
_KEYS: Rules = {
    "name": str,
    "plan": str,
    "hash": str,
    "corpora": dict,
    "runs": list,
    "parts": dict,
    "vocabulary": dict,
}
_CORPUS: Rules = {
    "fingerprint": str,
    "documents": int,
    "terms": int,
    "cells": int,
    "classes": dict,
    "one_label": bool,
}
_PART: Rules = {"n_rows": (int, type(None)), "rows": str, "selections": (str, type(None))}


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Return the text of the manifest's file."""
    head = {"format": FORMAT, "version": FORMAT_VERSION, "checksum": _digest(manifest)}
    return json.dumps({**head, **manifest}, indent=1)


def _digest(manifest: Mapping[str, Any]) -> str:
    return checksum(json.dumps(manifest, sort_keys=True).encode())


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a results directory, or raise StudyError if it is missing or damaged."""
    file = folder / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StudyError(f"{folder} holds no results of a study: there is no {MANIFEST}") from None
    except NotADirectoryError:
        raise StudyError(f"{folder} is not a directory; the results of a study are one") from None
    except OSError as error:
        raise StudyError(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise StudyError(f"{file} is damaged or not the manifest of a study") from None
    if not isinstance(manifest, dict) or manifest.pop("format", None) != FORMAT:
        raise StudyError(f"{file} is damaged or not the manifest of a study")
    version, digest = manifest.pop("version", None), manifest.pop("checksum", None)
    if not isinstance(version, int) or version < 1:
        raise StudyError(f"{file} is damaged: it does not say its format's version")
    if version > FORMAT_VERSION:
        raise StudyError(
            f"{folder} was written by a newer termsieve (results format {version}, this one reads up to "
            f"{FORMAT_VERSION}); update termsieve to read it"
        )
    if version == 1:
        manifest |= _files_found(folder)
    elif digest != _digest(manifest):
        raise StudyError(f"{file} is damaged: its checksum is not that of its content")
    if version < 3:
        manifest["plan"] = _with_whole_ties(manifest.get("plan"))
    _check(manifest, _KEYS, file, "")
    for section, rules in (("corpora", _CORPUS), ("parts", _PART)):
        for name, entry in manifest[section].items():
            _check(entry, rules, file, f" of {section} '{name}'")
    _check(manifest["vocabulary"], dict.fromkeys(manifest["vocabulary"], str), file, " of the vocabulary")
    for name in (*manifest["corpora"], *manifest["parts"], *manifest["vocabulary"]):
        if not _FILE_NAME.fullmatch(name):
            raise StudyError(f"{file} is damaged: {name!r} is not the name of a corpus or part")
    return manifest


def _check(entry: Any, rules: Rules, file: Path, where: str) -> None:
    if not isinstance(entry, dict):
        raise StudyError(f"{file} is damaged: an entry{where} is not a table")
    for key, kind in rules.items():
        if key not in entry:
            raise StudyError(f"{file} is damaged: '{key}'{where} is missing")
        if not isinstance(entry[key], kind):
            raise StudyError(f"{file} is damaged: '{key}'{where} is {entry[key]!r}")


def _with_whole_ties(plan: Any) -> Any:
    """Return the plan of an older format with the rule for ties that it was run with."""
    try:
        content = tomllib.loads(plan)
    except (TypeError, ValueError, RecursionError):
        return plan  # whatever it is, it is checked later
    measures = content.get("measures")
    if not isinstance(measures, dict) or not measures.get("break_even"):
        return plan
    return tomli_w.dumps(content | {"measures": measures | {"ties": "whole"}})


def _files_found(folder: Path) -> dict[str, Any]:
    """Return the files of a directory that format 1 wrote, whose manifest does not list them."""
    selections = {file.stem for file in folder.glob("selections/*.parquet")}
    return {
        "parts": {
            file.stem: {
                "n_rows": None,
                "rows": UNKNOWN,
                "selections": UNKNOWN if file.stem in selections else None,
            }
            for file in sorted(folder.glob("rows/*.parquet"))
        },
        "vocabulary": {file.stem: UNKNOWN for file in sorted(folder.glob("vocabulary/*.parquet"))},
    }
