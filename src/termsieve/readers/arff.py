"""An ARFF file, dense or sparse, comes in; a Corpus of a term matrix, or of texts, goes out."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from termsieve import sparse
from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError, shown
from termsieve.labels import check_missing, present_labels
from termsieve.readers.encodings import said_and_decoded
from termsieve.readers.files import MAX_BYTES, check_lines, plain_stem, read_bytes
from termsieve.readers.format import Format

# Repetitions are possessive (`*+`), so that any line is read or refused in one pass.
_NUMBER = r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?"
_QUOTED = r"'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{'\"]++)(?:\s++|(?=\{{))(\S.*)", re.IGNORECASE)
_VALUE = re.compile(rf"\s*+({_QUOTED}|[^,'\"%]*+)\s*+(,|$|%.*$)")
_PAIR = re.compile(rf"\s*+([0-9]{{1,18}})\s++({_QUOTED}|[^\s,'\"%]++)\s*+(,|$)")
_NOMINAL = re.compile(rf"\s*+({_QUOTED}|[^,}}'\"]*+)\s*+([,}}])")
_MARK = re.compile(rf"{_QUOTED}|([}}%'\"])")
_PLAIN_SPARSE = re.compile(rf"\{{((?:[0-9]{{1,9}} {_NUMBER},)*+)([0-9]{{1,9}}) ([^,\s{{}}'\"%\\?]++)\}}")
_NUMERIC = re.compile(_NUMBER)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_UNESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)


@dataclass
class _Attribute:
    name: str
    kind: str  # "numeric", "nominal" or "string"
    values: dict[str, None] = field(default_factory=dict)


def read_arff(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    text: str | None = None,
    encoding: str | None = None,
    missing: str = "error",
    max_bytes: int = MAX_BYTES,
) -> Corpus:
    """Return the documents of an ARFF file: numeric attributes are terms, a string attribute is the text.

    `label` names the class attribute, or is "first" or "last"; without it the last attribute is the class
    if it is nominal, otherwise the first, otherwise the only nominal one. `text` names the string attribute
    to read if there are several. An unknown class `?` is a missing label: an error, or left out with
    `missing="drop"`. An unknown number `?` counts as 0, and `corpus.source` says how many there were. Without
    `encoding` the file is UTF-8 or UTF-16 by its mark or, if that fails, cp1252 or Latin-1.
    """
    check_missing(missing)
    where = os.fspath(path)
    whole = (
        said_and_decoded(read_bytes(path, max_bytes), encoding, where)
        .replace("\r\n", "\n")
        .replace("\r", "\n")
    )
    lines = whole.split("\n")
    check_lines(lines, where, max_bytes)
    attributes, start = _header(lines, where)
    target = _class_index(attributes, label, where)
    body = _Body(attributes, target, _text_index(attributes, target, text, where), where)
    for number in range(start, len(lines)):
        line = lines[number].strip()
        if line and line[0] != "%":
            body.add(line, number + 1)
    if not body.labels:
        raise FormatError(f"{where} has no row after @data")
    return body.corpus(plain_stem(path), missing)


def _header(lines: list[str], where: str) -> tuple[list[_Attribute], int]:
    attributes: list[_Attribute] = []
    for number, raw in enumerate(lines):
        line = raw.strip()
        word = line[:10].lower()
        if word == "@attribute":
            attributes.append(_attribute(line, f"{where}, line {number + 1}"))
        elif word.startswith("@data"):
            if not attributes:
                raise FormatError(f"{where}, line {number + 1}: @data before any @attribute")
            return attributes, number + 1
        elif line and line[0] != "%" and not word.startswith("@relation"):
            raise FormatError(f"{where}, line {number + 1}: {line[:40]!r} is not a line of an ARFF header")
    raise FormatError(f"{where} has no @data line; it is not an ARFF file, or it is truncated")


def _attribute(line: str, where: str) -> _Attribute:
    match = _ATTRIBUTE.match(line)
    if not match:
        raise FormatError(f"{where}: an @attribute needs a name and a type, not {line[:60]!r}")
    name, kind = _unquoted(match.group(1)), match.group(2).strip()
    if kind.startswith("{"):
        return _Attribute(name, "nominal", dict.fromkeys(_nominal_values(kind, where)))
    word = kind.split("%")[0].split()[0].lower() if kind.split("%")[0].split() else ""
    if word in ("numeric", "real", "integer"):
        return _Attribute(name, "numeric")
    if word == "string":
        return _Attribute(name, "string")
    raise FormatError(
        f"{where}: attribute {name!r} has type {word!r}; numeric, nominal and string can be read"
    )


def _nominal_values(kind: str, where: str) -> list[str]:
    values, position = [], 1
    while True:
        match = _NOMINAL.match(kind, position)
        if not match:
            raise FormatError(
                f"{where}: the list of nominal values does not end with '}}' or has a stray quote"
            )
        value = match.group(1).strip()
        if value or match.group(2) == ",":
            values.append(_unquoted(value))
        position = match.end()
        if match.group(2) == "}":
            return values


def _unquoted(token: str) -> str:
    if token[:1] not in ("'", '"') or len(token) < 2:
        return token
    return _UNESCAPE.sub(_unescaped, token[1:-1]) if "\\" in token else token[1:-1]


def _unescaped(match: re.Match[str]) -> str:
    code, character = match.groups()
    if code:
        number = int(code, 16)
        return "\ufffd" if 0xD800 <= number <= 0xDFFF else chr(number)
    return _ESCAPES.get(character, character)


def _class_index(attributes: list[_Attribute], name: str | None, where: str) -> int:
    named = [i for i, attribute in enumerate(attributes) if attribute.name == name]
    if name is not None and len(named) == 1:
        return named[0]
    if name is not None and len(named) > 1:
        raise FormatError(
            f"{where} has {len(named)} attributes named {name!r}; the class must be one of its own"
        )
    if name in ("first", "last"):
        return 0 if name == "first" else len(attributes) - 1
    nominal = [i for i, attribute in enumerate(attributes) if attribute.kind == "nominal"]
    listed = shown(attributes[i].name for i in nominal) or "none"
    if name is not None:
        raise InputError(f"{where} has no attribute {name!r} for label=; its nominal attributes: {listed}")
    for i in (len(attributes) - 1, 0):
        if attributes[i].kind == "nominal":
            return i
    if len(nominal) != 1:
        raise InputError(
            f"{where}: which attribute is the class? Give label=; its nominal attributes: {listed}"
        )
    return nominal[0]


def _text_index(attributes: list[_Attribute], target: int, name: str | None, where: str) -> int | None:
    strings = {a.name: i for i, a in enumerate(attributes) if a.kind == "string" and i != target}
    listed = shown(strings) or "none"
    if name is not None:
        if name not in strings:
            raise InputError(f"{where} has no string attribute {name!r} for text=; it has: {listed}")
        return strings[name]
    if len(strings) > 1:
        raise InputError(f"{where}: which attribute is the text? Give text=; its string attributes: {listed}")
    return next(iter(strings.values()), None)


class _Body:
    """Collects the rows of the data section; numpy parses plain numbers together at the end."""

    def __init__(self, attributes: list[_Attribute], target: int, text: int | None, where: str) -> None:
        self.attributes, self.target, self.text, self.where = attributes, target, text, where
        self.labels: list[Any] = []
        self.texts: list[str] = []
        self.pairs: list[str] = []  # for each row its index and value pairs, "3 1,17 2,"
        self.lines: list[int] = []
        self.unknown = 0
        self.plain = all(a.kind == "numeric" for i, a in enumerate(attributes) if i != target)
        self.class_tokens = {
            value: value for value in attributes[target].values if value and not value.startswith(("'", '"'))
        }
        if text is None:
            self._check_terms()

    def _check_terms(self) -> None:
        for i, attribute in enumerate(self.attributes):
            if i != self.target and attribute.kind == "nominal":
                numbers = [float(value) if _NUMERIC.fullmatch(value) else None for value in attribute.values]
                # A sparse row leaves out the first value of a nominal attribute, so this value must be zero.
                if None in numbers or numbers[:1] != [0.0]:
                    raise FormatError(
                        f"{self.where}: the nominal attribute {attribute.name!r} is neither the class nor "
                        "numbers that start with 0; name the class with label= or remove the attribute"
                    )

    def fail(self, number: int, what: str) -> NoReturn:
        raise FormatError(f"{self.where}, line {number}: {what}")

    def add(self, line: str, number: int) -> None:
        """Add one row."""
        self.lines.append(number)
        if line[0] == "{":
            plain = _PLAIN_SPARSE.fullmatch(line) if self.plain else None
            if not (plain and self._add_plain(plain)):
                self._add_sparse(line, number)
        elif not (self.plain and self._add_plain_dense(line)):
            self._add_dense(line, number)

    def _add_plain(self, row: re.Match[str]) -> bool:
        """Add a sparse row of plain numbers whose class is last and unquoted, or left out."""
        pairs, index, value = row.groups()
        if int(index) == self.target:
            label = self.class_tokens.get(value)
        elif _NUMERIC.fullmatch(value) and f",{self.target} " not in f",{pairs}":
            label = self._label(None, self.lines[-1])
            pairs = f"{pairs}{index} {value},"
        else:
            label = None
        if label is None:
            return False
        self.labels.append(label)
        self.pairs.append(pairs)
        return True

    def _add_plain_dense(self, line: str) -> bool:
        tokens = line.split(",")
        if len(tokens) != len(self.attributes):
            return False
        label = self.class_tokens.get(tokens.pop(self.target).strip())
        if label is None:
            return False
        values = _numbers(",".join(tokens), ",", len(tokens))
        if values is None:
            return False
        columns = np.flatnonzero(values)
        columns_named = columns + (columns >= self.target)
        self.labels.append(label)
        self.pairs.append(
            "".join(
                f"{c} {v!r}," for c, v in zip(columns_named.tolist(), values[columns].tolist(), strict=True)
            )
        )
        return True

    def _add_sparse(self, line: str, number: int) -> None:
        end = _closing_brace(line)
        if end is None:
            self.fail(number, "a sparse row does not end with '}'")
        inner, row = line[1:end], {}
        position = 0
        while inner.strip() and position < len(inner):
            match = _PAIR.match(inner, position)
            if not match:
                self.fail(number, f"'index value' was expected at {inner[position : position + 30]!r}")
            index, position = int(match.group(1)), match.end()
            if index >= len(self.attributes):
                self.fail(
                    number, f"index {index} is out of range; there are {len(self.attributes)} attributes"
                )
            if index in row:
                self.fail(number, f"index {index} occurs twice")
            row[index] = match.group(2)
        self._take(row, number)

    def _add_dense(self, line: str, number: int) -> None:
        tokens, position = [], 0
        while True:
            match = _VALUE.match(line, position)
            if not match:
                self.fail(number, f"a stray quote at {line[position : position + 30]!r}")
            tokens.append(match.group(1).strip())
            position = match.end()
            if match.group(2) != ",":
                break
        if len(tokens) != len(self.attributes):
            self.fail(number, f"{len(tokens)} values for {len(self.attributes)} attributes")
        self._take(dict(enumerate(tokens)), number, dense=True)

    def _take(self, row: dict[int, str], number: int, dense: bool = False) -> None:
        self.labels.append(self._label(row.pop(self.target, None), number))
        if self.text is not None:
            token = row.get(self.text, "?" if dense else "")
            self.texts.append("" if token == "?" else _unquoted(token))
            return
        pairs = []
        for index, token in row.items():
            value = self._number(index, token, number)
            if value:
                pairs.append(f"{index} {value!r},")
        self.pairs.append("".join(pairs))

    def _label(self, token: str | None, number: int) -> Any:
        attribute = self.attributes[self.target]
        if token == "?":
            return None
        if attribute.kind == "nominal":
            # A sparse row leaves out what is zero, and zero is the first value of a nominal attribute.
            value = next(iter(attribute.values), None) if token is None else _unquoted(token)
            if value not in attribute.values:
                self.fail(number, f"{shown([value or ''])} is no value of the class {attribute.name!r}")
            return value
        if attribute.kind == "string":
            return "" if token is None else _unquoted(token)
        found = 0.0 if token is None else self._number(self.target, token, number)
        if found != int(found):
            self.fail(number, f"a numeric class must be a whole number, and {attribute.name!r} is {found}")
        return int(found)

    def _number(self, index: int, token: str, number: int) -> float:
        attribute = self.attributes[index]
        if token == "?":
            self.unknown += 1
            return 0.0
        token = _unquoted(token)
        if attribute.kind == "nominal" and token not in attribute.values:
            self.fail(number, f"{shown([token])} is no value of {attribute.name!r}")
        value = float(token) if _NUMERIC.fullmatch(token) else float("nan")
        if not np.isfinite(value):
            self.fail(number, f"{shown([token])} is no number, for attribute {attribute.name!r}")
        return value

    def corpus(self, name: str, missing: str) -> Corpus:
        """Return all rows as a corpus."""
        labels, kept = present_labels(self.labels, missing)
        notes = [f"label={self.attributes[self.target].name!r}"]
        if self.text is not None:
            notes.append(f"text={self.attributes[self.text].name!r}")
            texts = [self.texts[i] for i in kept]
            return Corpus(texts, labels, name=name, source=f"arff ({', '.join(notes)})")
        matrix = self._matrix()
        if len(kept) < len(self.labels):
            matrix = matrix[kept]
        if self.unknown:
            notes.append(f"{self.unknown} unknown values '?' read as 0")
        terms = [attribute.name for i, attribute in enumerate(self.attributes) if i != self.target]
        return Corpus(
            labels=labels, matrix=matrix, terms=terms, name=name, source=f"arff ({', '.join(notes)})"
        )

    def _matrix(self) -> sparse.csr_matrix:
        sizes = np.array([pairs.count(",") for pairs in self.pairs], dtype=np.int64)
        numbers = _numbers("".join(self.pairs).replace(",", " "), " ", 2 * int(sizes.sum()))
        if numbers is None:
            for pairs, line in zip(self.pairs, self.lines, strict=True):
                if _numbers(pairs.replace(",", " "), " ", 2 * pairs.count(",")) is None:
                    self.fail(line, "a number is too large")
            raise FormatError(f"{self.where}: a number is too large")
        indices = numbers[0::2]
        rows = np.repeat(np.arange(len(sizes)), sizes)
        self._check_indices(indices, rows)
        columns = indices.astype(np.int64)
        columns -= columns > self.target
        values = numbers[1::2]
        whole = values.astype(np.int64) if (np.abs(values) < 2**53).all() else None
        if whole is not None and (whole == values).all():
            values = whole
        shape = (len(sizes), len(self.attributes) - 1)
        matrix = sparse.csr_matrix((values, columns, np.concatenate(([0], np.cumsum(sizes)))), shape=shape)
        matrix.sort_indices()
        matrix.eliminate_zeros()
        return matrix

    def _check_indices(self, indices: np.ndarray, rows: np.ndarray) -> None:
        outside = np.flatnonzero(indices >= len(self.attributes))
        if outside.size:
            index, row = int(indices[outside[0]]), int(rows[outside[0]])
            self.fail(
                self.lines[row], f"index {index} is out of range; there are {len(self.attributes)} attributes"
            )
        order = np.lexsort((indices, rows))
        same = (np.diff(rows[order]) == 0) & (np.diff(indices[order]) == 0)
        on_class = np.flatnonzero(indices == self.target)
        again = order[np.flatnonzero(same)[:1]] if same.any() else on_class[:1]
        if again.size:
            self.fail(self.lines[int(rows[again[0]])], f"index {int(indices[again[0]])} occurs twice")


def _numbers(text: str, separator: str, count: int) -> np.ndarray | None:
    """Return the numbers of a text, or None if it does not hold exactly `count` finite numbers."""
    if count == 0:
        return np.zeros(0) if not text.strip() else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(text, dtype=np.float64, sep=separator)
        except (DeprecationWarning, ValueError):
            return None
    return numbers if len(numbers) == count and np.isfinite(numbers).all() else None


def _closing_brace(line: str) -> int | None:
    """Return the position of the row's last brace outside quotes and comments."""
    for match in _MARK.finditer(line):
        if match.group(1) == "}":
            rest = line[match.end() :].strip()
            return match.start() if not rest or rest.startswith("%") else None
        if match.group(1):
            return None
    return None


FORMAT = Format(
    name="arff",
    reader=read_arff,
    contents="word counts with a class, or a string attribute; dense or sparse",
    extensions=(".arff",),
    start=re.compile(rb"\s*(?:%[^\n]*\n\s*)*@relation\b", re.IGNORECASE),
)
