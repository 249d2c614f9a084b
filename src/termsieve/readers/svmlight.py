"""An svmlight file with one or several labels per line comes in; a Corpus of a term matrix goes out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from termsieve import sparse
from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError
from termsieve.readers.encodings import decoded
from termsieve.readers.files import BYTES_PER_COLUMN, MAX_BYTES, check_lines, plain_stem, read_bytes
from termsieve.readers.format import Format

_NUMBER = rb"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?"
_LINE = re.compile(rb"([^\s:]*+)(?:[ \t]+qid:[^\s:]++)?((?:[ \t]++[0-9]{1,18}:" + _NUMBER + rb")*+)[ \t]*+")
_BLANKS = bytes.maketrans(b":\t", b"  ")

Names = str | os.PathLike[str] | Iterable[str]


def read_svmlight(
    path: str | os.PathLike[str],
    *,
    terms: Names | None = None,
    labels: Names | None = None,
    zero_based: bool | None = None,
    multilabel: bool | None = None,
    max_bytes: int = MAX_BYTES,
) -> Corpus:
    """Return the term matrix and labels of an svmlight file: `label[,label...] index:value ...` on each line.

    `terms` names the columns and `labels` the classes 0, 1, ...: a list, or a file with one name per line.
    Indices start at 1 unless a 0 occurs or `zero_based` is given. Documents have several labels if any line
    has a comma or no label, or if `multilabel` is true. Labels are whole numbers or other words. Fields
    `qid:` and comments are ignored.
    """
    where = os.fspath(path)
    heads: list[bytes] = []
    pairs: list[bytes] = []
    numbers: list[int] = []
    lines = read_bytes(path, max_bytes).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    check_lines(lines, where, max_bytes)
    for number, line in enumerate(lines, 1):
        row = line.partition(b"#")[0].rstrip()
        if not row:
            continue
        match = _LINE.fullmatch(row)
        if not match:
            raise FormatError(f"{where}, line {number}: {_fault(row)}")
        heads.append(match.group(1))
        pairs.append(match.group(2))
        numbers.append(number)
    if not heads:
        raise FormatError(f"{where} has no document")
    columns = None if terms is None else _names(terms, "terms")
    matrix = _matrix(pairs, numbers, columns, zero_based, where, max_bytes)
    several = any(b"," in head or not head for head in heads) if multilabel is None else multilabel
    found = _labels(heads, several, None if labels is None else _names(labels, "labels"), where, numbers)
    kind = "several labels" if several else "one label"
    return Corpus(
        labels=found,
        matrix=matrix,
        terms=columns,
        name=plain_stem(path),
        source=f"svmlight ({kind} per line)",
    )


def _fault(row: bytes) -> str:
    for token in row.split()[1:]:
        if not re.fullmatch(rb"[0-9]+:" + _NUMBER + rb"|qid:\S+", token):
            return f"{token[:40].decode('latin-1')!r} is no index:value pair"
    return "the line is not 'label index:value ...'"


def _names(names: Names, option: str) -> list[str]:
    if isinstance(names, str | os.PathLike):
        text = decoded(read_bytes(names), None, os.fspath(names))
        listed = [line.rstrip("\r") for line in text.rstrip("\r\n").split("\n")]
        return listed if text.strip() else []
    listed = list(names)
    if not all(isinstance(name, str) for name in listed):
        raise InputError(f"{option} must be strings, or the path of a file with one on each line")
    return listed


def _matrix(
    pairs: list[bytes],
    lines: list[int],
    columns: list[str] | None,
    zero_based: bool | None,
    where: str,
    max_bytes: int,
) -> sparse.csr_matrix:
    sizes = np.array([row.count(b":") for row in pairs], dtype=np.int64)
    joined = b" ".join(pairs).translate(_BLANKS)
    numbers = np.fromstring(joined, dtype=np.float64, sep=" ") if sizes.any() else np.zeros(0)
    indices, values = numbers[0::2], numbers[1::2]
    rows = np.repeat(np.arange(len(sizes)), sizes)

    def fail(place: int, what: str) -> NoReturn:
        raise FormatError(f"{where}, line {lines[rows[place]]}: {what}")

    for place in np.flatnonzero(~np.isfinite(values))[:1]:
        fail(int(place), "a value is too large a number")
    lowest = float(indices.min()) if indices.size else 1.0
    first = 0 if zero_based or (zero_based is None and lowest == 0) else 1
    if lowest < first:
        fail(int(indices.argmin()), "index 0 in a file whose indices start at 1; leave zero_based out")
    highest = float(indices.max()) - first + 1 if indices.size else 0.0
    width = highest if columns is None else float(len(columns))
    if highest > min(width, 2**31 - 1):
        fail(
            int(indices.argmax()),
            f"index {int(indices.max())} is out of range; there are {int(width):,} terms",
        )
    if width > max_bytes // BYTES_PER_COLUMN:
        at_most = f"{max_bytes // BYTES_PER_COLUMN:,} ({BYTES_PER_COLUMN} bytes each)"
        fail(
            int(indices.argmax()),
            f"index {int(indices.max()):,} makes a matrix of more columns than the {at_most} that "
            f"max_bytes={max_bytes:,} allows; give a larger max_bytes= if that is meant",
        )
    matrix = sparse.csr_matrix(
        (values, indices.astype(np.int64) - first, np.concatenate(([0], np.cumsum(sizes)))),
        shape=(len(sizes), int(width)),
    )
    matrix.sort_indices()
    same = (np.diff(rows) == 0) & (np.diff(matrix.indices) == 0)
    for place in np.flatnonzero(same)[:1]:
        fail(int(place), f"index {int(matrix.indices[place]) + first} occurs twice")
    matrix.eliminate_zeros()
    return matrix


def _labels(
    heads: list[bytes], several: bool, names: list[str] | None, where: str, lines: list[int]
) -> list[Any]:
    tokens = [head.split(b",") if head else [] for head in heads]
    known: dict[bytes, Any] = {}
    for row, line in zip(tokens, lines, strict=True):
        if not several and len(row) != 1:
            raise FormatError(f"{where}, line {line}: one label was expected; read it with multilabel=True")
        for token in row:
            if token not in known:
                known[token] = _label(token, names, f"{where}, line {line}")
    if len({type(label) for label in known.values()}) > 1:
        # If some labels are words, numbers are words, too.
        known = {token: decoded(token, None, where) for token in known}
    return [tuple(known[token] for token in row) if several else known[row[0]] for row in tokens]


def _label(token: bytes, names: list[str] | None, where: str) -> Any:
    if not token:
        raise FormatError(f"{where}: an empty label between commas")
    text = decoded(token, None, where)
    if not re.fullmatch(_NUMBER, token):
        if names is not None:
            raise FormatError(
                f"{where}: label {text!r} is no number, but labels= names the classes 0, 1, ..."
            )
        return text
    value = float(token)
    if not value.is_integer():
        raise FormatError(f"{where}: label {text!r} is a fraction, not a class")
    if names is None:
        return int(value)
    if not 0 <= value < len(names):
        raise FormatError(f"{where}: label {text} is out of range; labels= names {len(names)} classes from 0")
    return names[int(value)]


FORMAT = Format(
    name="svmlight",
    reader=read_svmlight,
    contents="labels and index:value pairs, one line per document",
    extensions=(".svm", ".svmlight", ".libsvm"),
    start=re.compile(
        rb"(?:\s*#[^\n]*\n)*(?:%b(?:,%b)*)?[ \t]+(?:qid:\S+\s+)?[0-9]+:%b(?=\s)" % (_NUMBER, _NUMBER, _NUMBER)
    ),
)
