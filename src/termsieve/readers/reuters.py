"""The SGML files of Reuters-21578 come in; a multi-label Corpus of texts with a named split goes out."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator

from termsieve.corpus import Corpus
from termsieve.errors import FormatError, ParameterError, unknown_name
from termsieve.readers.files import MAX_BYTES, contents, is_archive, plain_stem, read_bytes
from termsieve.readers.format import Format, any_of
from termsieve.readers.markup import elements, inside, line_of, plain_text

EXTENSIONS = (".sgm", ".sgml")
# The three splits of the collection's README (D. D. Lewis, 1997), by a document's attributes.
SPLITS: dict[str, Callable[[dict[str, str]], str]] = {
    "modapte": lambda doc: (
        {"TRAIN": "train", "TEST": "test"}.get(doc["LEWISSPLIT"], "") * (doc["TOPICS"] == "YES")
    ),
    "modlewis": lambda doc: (
        {"TRAIN": "train", "TEST": "test"}.get(doc["LEWISSPLIT"], "") * (doc["TOPICS"] in ("YES", "NO"))
    ),
    "modhayes": lambda doc: {"TRAINING-SET": "train", "PUBLISHED-TESTSET": "test"}.get(doc["CGISPLIT"], ""),
}

_ATTRIBUTE = re.compile(r'([A-Z]+)="([^"]*)"')
_TAG = re.compile(r"</?[A-Z]++[^<>]*+>")
_ATTRIBUTES = ("TOPICS", "LEWISSPLIT", "CGISPLIT")


def read_reuters(
    path: str | os.PathLike[str],
    *,
    split: str = "modapte",
    categories: str = "both",
    max_bytes: int = MAX_BYTES,
) -> Corpus:
    """Return the Reuters-21578 documents of a split with their topics: a folder, an archive or one file.

    A text is the title and the body; where a document has neither (TYPE="UNPROC") it is all there is
    between its TEXT tags. `categories="both"` keeps the topics with a training and a test document, and
    the documents that have one of them; "all" keeps every topic and every document of the split, those
    without a topic too. Bytes are Latin-1, entities are resolved, control characters become spaces.
    """
    if split not in SPLITS:
        raise unknown_name("split", split, SPLITS)
    if categories not in ("both", "all"):
        raise ParameterError(f"categories={categories!r} is unknown; it is 'both' or 'all'")
    texts: list[str] = []
    topics: list[tuple[str, ...]] = []
    parts: list[str] = []
    for name, content in _sgml_files(path, max_bytes).items():
        for attributes, body in _documents(content.decode("latin-1"), name):
            part = SPLITS[split](attributes)
            if part:
                texts.append(_text(body))
                topics.append(_topics(body))
                parts.append(part)
    if categories == "both":
        kept = _categories_of_both(topics, parts)
        topics = [tuple(topic for topic in doc if topic in kept) for doc in topics]
        rows = [i for i, doc in enumerate(topics) if doc]
        texts, topics, parts = ([column[i] for i in rows] for column in (texts, topics, parts))  # type: ignore[assignment]
    if not texts:
        raise FormatError(
            f"{path} holds no Reuters-21578 document of the split {split!r} with categories={categories!r}"
        )
    return Corpus(texts, topics, split=parts, name=plain_stem(path), source=f"reuters (split={split})")


def _sgml_files(path: str | os.PathLike[str], max_bytes: int) -> dict[str, bytes]:
    if os.path.isdir(path) or is_archive(path):
        files = contents(path, lambda name: name.lower().endswith(EXTENSIONS), max_bytes)
        if not files:
            raise FormatError(
                f"{path} holds no .sgm file; Reuters-21578 comes as reut2-000.sgm to reut2-021.sgm"
            )
        return files
    return {os.fspath(path): read_bytes(path, max_bytes)}


def _documents(text: str, name: str) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the attributes and the inside of each REUTERS element of one file."""
    for found, body, position in elements(text, "REUTERS"):
        attributes = dict(_ATTRIBUTE.findall(found))
        absent = [key for key in _ATTRIBUTES if key not in attributes]
        if body is None:
            raise FormatError(
                f"{name}, line {line_of(text, position)}: a <REUTERS> is not closed; the file is truncated"
            )
        if absent:
            raise FormatError(f"{name}, line {line_of(text, position)}: <REUTERS> lacks {', '.join(absent)}")
        yield attributes, body


def _text(document: str) -> str:
    content = inside(document, "TEXT") or ""
    title, body = inside(content, "TITLE"), inside(content, "BODY")
    if title is None and body is None:
        return plain_text(_TAG.sub(" ", content))
    return plain_text("\n".join(part for part in (title, body) if part is not None))


def _topics(document: str) -> tuple[str, ...]:
    listed = re.findall(r"<D>([^<]*+)</D>", inside(document, "TOPICS") or "")
    return tuple(dict.fromkeys(topic for name in listed if (topic := plain_text(name))))


def _categories_of_both(topics: list[tuple[str, ...]], parts: list[str]) -> set[str]:
    sizes = {
        part: Counter(topic for doc, its in zip(topics, parts, strict=True) if its == part for topic in doc)
        for part in ("train", "test")
    }
    return set(sizes["train"]) & set(sizes["test"])


FORMAT = Format(
    name="reuters",
    reader=read_reuters,
    contents="the SGML files of Reuters-21578: a folder, an archive or one file",
    extensions=EXTENSIONS,
    start=re.compile(rb"\s*(?:<!DOCTYPE\s+lewis|<REUTERS\b)"),
    collection=any_of(EXTENSIONS),
)
