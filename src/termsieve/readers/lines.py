"""Files of one document per line come in, labelled by the first word or the file; a Corpus goes out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError, ParameterError
from termsieve.readers.encodings import said_and_decoded
from termsieve.readers.files import (
    MAX_BYTES,
    check_lines,
    check_regular,
    file_names,
    is_archive,
    plain_stem,
    read_bytes,
)
from termsieve.readers.format import Format
from termsieve.readers.layout import Paths, file_labels

_PREFIX = "__label__"  # of fastText, which allows several labels
_LABEL = re.compile(r"(\S+)[ \t]+(\S.*)")
_FAST = re.compile(rf"((?:{_PREFIX}\S+[ \t,]*)+)(.*)")


def read_lines(
    path: Paths,
    *,
    label_from: str | None = None,
    fine: bool = False,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Corpus:
    """Return the documents of text files, one per line.

    The label is the first word of a line (`LABEL text`), or the words before the text that begin with
    `__label__`, as in fastText. Of a label such as `LABEL:fine` the part before the colon is taken, with
    `fine` the whole. With `label_from="file"` a whole line is the text, and the class is the name of the
    file; the path is then a folder with one file per class, or a list of files.
    """
    if label_from not in (None, "file"):
        raise ParameterError(f"label_from={label_from!r} is unknown for lines; it is 'file' or left out")
    files = _files(path)
    classes = file_labels(files) if label_from == "file" else []
    texts: list[str] = []
    labels: list[Any] = []
    for number, file in enumerate(files):
        content = said_and_decoded(read_bytes(file, max_bytes), encoding, str(file))
        lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        check_lines(lines, str(file), max_bytes)
        if classes:
            documents = [line for line in lines if line.strip()]
            texts += documents
            labels += [classes[number]] * len(documents)
            continue
        for text, label in _labelled(lines, str(file), fine):
            texts.append(text)
            labels.append(label)
    if not texts:
        raise FormatError(f"{files[0]} is empty")
    labels = _one_each(labels)
    how = "labels from the names of the files" if classes else "the first word of a line is its label"
    several = f", {len(files):,} files" if len(files) > 1 else ""
    name = plain_stem(files[0]) if len(files) == 1 else Path(files[0]).resolve().parent.name
    return Corpus(texts, labels, name=name, source=f"lines ({how}{', fine' if fine else ''}{several})")


def _files(path: Paths) -> list[str]:
    if not isinstance(path, str | os.PathLike):
        return [file for one in path for file in _files(one)]
    if is_archive(path):
        raise InputError(f"{path} is an archive; unpack it to read its files line by line")
    if os.path.isdir(path):
        found = [name for name in file_names(path) if "/" not in name]
        if not found:
            raise FormatError(f"{path} holds no file")
        return [os.path.join(path, name) for name in found]
    check_regular(path)
    return [os.fspath(path)]


def _labelled(lines: list[str], where: str, fine: bool) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if line.startswith(_PREFIX):
            found = _FAST.fullmatch(line)
            assert found is not None
            words = [word.strip(",").removeprefix(_PREFIX) for word in found[1].split()]
            yield found[2].strip(), tuple(word if fine else word.partition(":")[0] for word in words)
            continue
        match = _LABEL.fullmatch(line.strip())
        if match is None:
            raise FormatError(f"{where}, line {number}: {line[:40]!r} is no label followed by a text")
        yield match[2], match[1] if fine else match[1].partition(":")[0] or match[1]


def _one_each(labels: list[Any]) -> list[Any]:
    """Return single labels where no document has several."""
    if all(isinstance(label, tuple) and len(label) == 1 for label in labels):
        return [label[0] for label in labels]
    return labels


FORMAT = Format(
    name="lines",
    reader=read_lines,
    contents="one document per line: the label and the text, or one file per class",
    start=re.compile(rb"__label__\S"),
)
