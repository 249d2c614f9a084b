"""A folder or archive, one directory per class and one file per document, comes in; a Corpus goes out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from termsieve.corpus import Corpus
from termsieve.errors import FormatError, unknown_name
from termsieve.readers.files import MAX_BYTES, clean_name, contents, decoded, plain_stem
from termsieve.readers.format import Format

_QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")


def read_folder(
    path: str | os.PathLike[str],
    *,
    encoding: str | None = None,
    strip: str | Iterable[str] = (),
    max_bytes: int = MAX_BYTES,
) -> Corpus:
    """Return the texts below a folder or archive, each labelled with its top directory.

    Files are read in the order of their names; files outside the class directories, hidden files and links in
    an archive are left out. If there are two top directories and their names end with "train" and "test",
    they are the split, and the directories in them are the classes. Without `encoding` a file is read as
    UTF-8 or, if that fails, as Latin-1. `strip` removes "headers", "footers" and "quotes" of news posts and
    mails.
    """
    cuts = _cuts((strip,) if isinstance(strip, str) else tuple(strip))
    files = contents(path, max_bytes=max_bytes)
    names = {name: tuple(name.split("/")) for name in files}
    placed, split, base = _placed(names)
    if not placed:
        raise FormatError(
            f"{path} has no directory with files; the folder format is one directory for each class"
        )
    texts, labels, parts = [], [], []
    for name, (part, label) in placed.items():
        text = decoded(files[name], encoding, f"{path}: {name}")
        for cut in cuts:
            text = cut(text)
        texts.append(text)
        labels.append(clean_name(label))
        parts.append(part)
    left_out = len(files) - len(placed)
    notes = [f"strip={'+'.join(strip) if not isinstance(strip, str) else strip}"] if cuts else []
    if left_out:
        notes.append(f"{left_out} file{'s' if left_out > 1 else ''} outside the classes left out")
    source = "folder" + (f" ({', '.join(notes)})" if notes else "")
    return Corpus(texts, labels, split=parts if split else None, name=base or plain_stem(path), source=source)


def _placed(names: dict[str, tuple[str, ...]]) -> tuple[dict[str, tuple[str, str]], bool, str]:
    """Return (part, class) by file, whether there are parts, and the name of a wrapping directory."""
    base = ""
    inside = {name: way for name, way in names.items() if len(way) > 1}
    tops = {way[0] for way in inside.values()}
    # One directory around all others is a wrapper, not a class.
    while len(tops) == 1 and any(len(way) > 2 for way in inside.values()):
        base = tops.pop()
        inside = {name: way[1:] for name, way in inside.items() if len(way) > 2}
        tops = {way[0] for way in inside.values()}
    part_of = _parts(tops)
    if part_of and all(len(way) > 2 for way in inside.values()):
        return {name: (part_of[way[0]], way[1]) for name, way in inside.items()}, True, base
    return {name: ("", way[0]) for name, way in inside.items()}, False, base


def _parts(tops: set[str]) -> dict[str, str]:
    found = {top: part for top in tops for part in ("train", "test") if top.lower().endswith(part)}
    return found if len(tops) == 2 and len(set(found.values())) == 2 else {}


def _cuts(strip: tuple[str, ...]) -> list:
    known = {"headers": without_headers, "footers": without_footer, "quotes": without_quotes}
    for name in strip:
        if name not in known:
            raise unknown_name("strip", name, known)
    return [cut for name, cut in known.items() if name in strip]


def without_headers(text: str) -> str:
    """Return what follows the first empty line of a post."""
    return text.replace("\r\n", "\n").partition("\n\n")[2]


def without_quotes(text: str) -> str:
    """Return a post without the lines that quote another one or announce a quotation."""
    return "\n".join(line for line in text.replace("\r\n", "\n").split("\n") if not _QUOTE.search(line))


def without_footer(text: str) -> str:
    """Return a post without the block after its last empty line or line of dashes, usually a signature."""
    lines = text.replace("\r\n", "\n").strip().split("\n")
    for number in range(len(lines) - 1, 0, -1):
        if not lines[number].strip().strip("-"):
            return "\n".join(lines[:number])
    return text


FORMAT = Format(
    name="folder",
    reader=read_folder,
    contents="one directory per class, one file per document: a folder or an archive",
    collection=lambda names, _: any("/" in name for name in names),
)
