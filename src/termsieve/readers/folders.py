"""A folder or archive, one directory per class and one file per document, comes in; a Corpus goes out."""

from __future__ import annotations

import logging
import os
import re
from collections import Counter
from collections.abc import Iterable

from termsieve.corpus import Corpus
from termsieve.errors import FormatError, ParameterError, shown, unknown_name
from termsieve.readers.encodings import WESTERN, check_western, decoded, encoding_of
from termsieve.readers.files import MAX_BYTES, clean_name, contents, plain_stem
from termsieve.readers.foreign import foreign
from termsieve.readers.format import Format
from termsieve.readers.splits import part_of

_log = logging.getLogger("termsieve")
_QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")
# At least three lines such as "From: me" before any other; a folded line begins with a blank.
_HEADERS = re.compile(r"(?:[A-Z][A-Za-z-]+: ?[^\n]*\n(?:[ \t][^\n]*\n)*){3}")

# Directories of documents that have no class, as in the IMDb reviews.
UNLABELLED = ("unsup", "unsupervised", "unlabeled", "unlabelled")
Ways = dict[str, tuple[str, ...]]  # the name of a file -> its directories and its own name
Placed = dict[str, tuple[str, str]]  # the name of a file -> its part and its class


def read_folder(
    path: str | os.PathLike[str],
    *,
    encoding: str | None = None,
    strip: str | Iterable[str] | None = None,
    label_from: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Corpus:
    """Return the texts below a folder or archive, each labelled with its top directory.

    Files are read in the order of their names; files outside the class directories, hidden files and links in
    an archive are left out, and so are files that are no texts, such as images, and directories of documents
    without a class, such as unsup. If the top directories are named for a split (train, training, test,
    testing, dev, val, valid, validation), the directories in them are the classes. If all top directories
    hold the same directories, `label_from` says which are the classes: "top" or "inner". Without `encoding` a
    file is UTF-8 or UTF-16 by its mark or, if that fails, cp1252 or Latin-1. `strip` removes "headers",
    "footers" and "quotes" of news posts and mails; if it is not given, headers are kept, and a warning says
    so.
    """
    parts_cut = (strip,) if isinstance(strip, str) else tuple(strip or ())
    cuts = _cuts(parts_cut)
    if label_from not in (None, "top", "inner"):
        raise ParameterError(f"label_from={label_from!r} is unknown for a folder; it is 'top' or 'inner'")
    hidden: list[str] = []
    files = contents(path, max_bytes=max_bytes, hidden=hidden)
    placed, split, base = _placed({name: tuple(name.split("/")) for name in files}, label_from, path)
    if not placed:
        raise FormatError(
            f"{path} has no directory with files; the folder format is one directory for each class"
        )
    n_outside = len(files) - len(placed)
    placed = _labelled(_texts(placed, files, path), path)
    encodings = _encodings({name: files[name] for name in placed}, encoding, path)
    texts, labels, parts = [], [], []
    for name, (part, label) in placed.items():
        text = decoded(files[name], encodings[name], f"{path}: {name}")
        for cut in cuts:
            text = cut(text)
        texts.append(text)
        labels.append(clean_name(label))
        parts.append(part)
    if strip is None:
        _warn_headers(texts, path)
    notes = [f"strip={'+'.join(parts_cut)}"] if cuts else []
    notes += _left_out("file", n_outside, " outside the classes")
    notes += _left_out("hidden file", len(hidden), "")
    source = "folder" + (f" ({', '.join(notes)})" if notes else "")
    return Corpus(texts, labels, split=parts if split else None, name=base or plain_stem(path), source=source)


def _texts(placed: Placed, files: dict[str, bytes], path: str | os.PathLike[str]) -> Placed:
    """Return the files that are texts; the others are left out, which is logged, or an error if all are."""
    others = {name: kind for name in placed if (kind := foreign(files[name])) is not None}
    if not others:
        return placed
    name, kind = next(iter(others.items()))
    such = f"such as {clean_name(name)}, which is {kind.what}"
    if len(others) == len(placed):
        raise FormatError(f"the files of {path} are no texts, {such}; {kind.advice}")
    _log.warning(
        "%s of %s files of %s are no texts, %s, and were left out",
        f"{len(others):,}",
        f"{len(placed):,}",
        path,
        such,
    )
    return {name: place for name, place in placed.items() if name not in others}


def _labelled(placed: Placed, path: str | os.PathLike[str]) -> Placed:
    """Return the files whose directories are classes; how many have none is logged as a warning."""
    kept = {name: place for name, place in placed.items() if place[1].lower() not in UNLABELLED}
    if not kept or len(kept) == len(placed):
        return placed
    _log.warning(
        "%s documents of %s are in a directory for documents without a class (%s) and were left out; "
        "rename it if it is a class",
        f"{len(placed) - len(kept):,}",
        path,
        ", ".join(sorted({label for _, label in placed.values() if label.lower() in UNLABELLED})),
    )
    return kept


def _warn_headers(texts: list[str], path: str | os.PathLike[str]) -> None:
    """Log a warning if most texts begin like mails, whose headers name groups, hosts and people."""
    with_headers = sum(_HEADERS.match(text) is not None for text in texts)
    if 2 * with_headers > len(texts):
        _log.warning(
            "%s of %s files of %s begin with the headers of mails or news posts, which are read as text; "
            "give strip='headers' to leave them out, or strip='none' to keep them",
            f"{with_headers:,}",
            f"{len(texts):,}",
            path,
        )


def _left_out(what: str, n: int, where: str) -> list[str]:
    return [f"{n:,} {what}{'s' if n > 1 else ''}{where} left out"] if n else []


def _encodings(
    files: dict[str, bytes], encoding: str | None, path: str | os.PathLike[str]
) -> dict[str, str | None]:
    """Return the encoding of each file; how many were only guessed is logged as a warning."""
    if encoding is not None:
        return dict.fromkeys(files, encoding)
    found = {name: encoding_of(content, name, whole=True) for name, content in files.items()}
    odd = {name: taken for name, taken in found.items() if taken not in (None, "utf-8")}
    check_western(b"".join(files[name] for name in odd if found[name] in WESTERN), os.fspath(path))
    for taken, n in sorted(Counter(odd.values()).items()):
        _log.warning(
            "%s of %s files of %s are not UTF-8 and were read as %s; give encoding= if it is another",
            f"{n:,}",
            f"{len(files):,}",
            path,
            taken,
        )
    return found


def _placed(names: Ways, label_from: str | None, path: str | os.PathLike[str]) -> tuple[Placed, bool, str]:
    """Return (part, class) by file, whether there are parts, and the name of a wrapping directory."""
    base = ""
    inside = {name: way for name, way in names.items() if len(way) > 1}
    tops = {way[0] for way in inside.values()}
    # One directory around all others is a wrapper, not a class.
    while len(tops) == 1 and any(len(way) > 2 for way in inside.values()):
        base = tops.pop()
        inside = {name: way[1:] for name, way in inside.items() if len(way) > 2}
        tops = {way[0] for way in inside.values()}
    part_by_top = _parts(tops, path)
    if part_by_top:
        below = {name: way for name, way in inside.items() if len(way) > 2}
        if not below:
            raise FormatError(
                f"the directories of {path} are a split ({', '.join(sorted(tops))}), not classes; "
                "put a directory for each class into them"
            )
        return {name: (part_by_top[way[0]], way[1]) for name, way in below.items()}, True, base
    if label_from is None:
        _check_levels(inside, path)
    elif label_from == "inner":
        inside = {name: way[1:] for name, way in inside.items() if len(way) > 2}
    return {name: ("", way[0]) for name, way in inside.items()}, False, base


def _parts(tops: set[str], path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the part of each top directory if they are a split; a split beside others is an error."""
    found = {top: part for top in sorted(tops) if (part := part_of(top))}
    if len(set(found.values())) < 2:
        return {}
    others = sorted(tops - found.keys())
    if others:
        raise FormatError(
            f"{path} has the directories of a split ({', '.join(found)}) beside others ({shown(others)}); "
            "move the others away, or rename those of the split if they are classes"
        )
    return found


def _check_levels(inside: Ways, path: str | os.PathLike[str]) -> None:
    """Raise an error if all top directories hold the same directories, which may be the classes as well."""
    below: dict[str, set[str]] = {way[0]: set() for way in inside.values()}
    for way in inside.values():
        if len(way) > 2:
            below[way[0]].add(way[1])
    first = next(iter(below.values()), set())
    if len(below) > 1 and len(first) > 1 and all(names == first for names in below.values()):
        raise FormatError(
            f"all directories of {path} ({shown(sorted(below), 5)}) hold the same directories "
            f"({shown(sorted(first), 5)}); give label_from='top' or label_from='inner' for the classes"
        )


def _cuts(strip: tuple[str, ...]) -> list:
    strip = () if strip == ("none",) else strip
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
