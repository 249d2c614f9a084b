"""The .review files of the multi-domain sentiment data come in; a Corpus labelled by file goes out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError, ParameterError
from termsieve.readers.encodings import said_and_decoded
from termsieve.readers.files import (
    MAX_BYTES,
    clean_name,
    contents,
    is_archive,
    plain_stem,
    read_bytes,
)
from termsieve.readers.format import Format, any_of
from termsieve.readers.markup import elements, inside, line_of, plain_text

EXTENSIONS = (".review",)
# Not classes: the unlabelled reviews, and the union of the other files.
_NO_CLASS = ("unlabeled", "unlabelled", "all")


def read_reviews(
    path: str | os.PathLike[str],
    *,
    fields: str | Iterable[str] = ("title", "review_text"),
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Corpus:
    """Return the reviews of a folder, an archive or one .review file, labelled with the name of their file.

    A text is the given `fields` of a review, one after the other; unlabeled.review and all.review are
    left out. The files are not XML: tags are searched for, entities are resolved, and control characters
    become spaces. Without `encoding` a file is UTF-8 or UTF-16 by its mark or, if that fails, cp1252 or
    Latin-1.
    """
    wanted = (fields,) if isinstance(fields, str) else tuple(fields)
    if not wanted or not all(isinstance(field, str) and field.isidentifier() for field in wanted):
        raise ParameterError(
            f"fields={fields!r} must name parts of a review, such as 'title' and 'review_text'"
        )
    texts: list[str] = []
    labels: list[str] = []
    for name, content in _review_files(path, max_bytes).items():
        label = PurePosixPath(name).stem
        for review in _reviews(said_and_decoded(content, encoding, name), name, wanted):
            texts.append(review)
            labels.append(clean_name(label))
    if not texts:
        raise FormatError(f"{path} holds no <review>")
    return Corpus(texts, labels, name=plain_stem(path), source=f"reviews (fields={'+'.join(wanted)})")


def _review_files(path: str | os.PathLike[str], max_bytes: int) -> dict[str, bytes]:
    if not (os.path.isdir(path) or is_archive(path)):
        return {os.fspath(path): read_bytes(path, max_bytes)}
    files = contents(path, lambda name: name.lower().endswith(EXTENSIONS), max_bytes)
    labelled = {name: content for name, content in files.items() if PurePosixPath(name).stem not in _NO_CLASS}
    if not labelled:
        raise FormatError(
            f"{path} holds no labelled .review file, such as positive.review and negative.review"
        )
    return labelled


def _reviews(text: str, name: str, fields: tuple[str, ...]) -> list[str]:
    found = []
    for _, review, position in elements(text, "review"):
        if review is None:
            raise FormatError(
                f"{name}, line {line_of(text, position)}: a <review> is not closed; the file is truncated"
            )
        parts = [inside(review, field) for field in fields]
        if all(part is None for part in parts):
            raise InputError(
                f"{name}, line {line_of(text, position)}: the review has no {' and no '.join(fields)}"
            )
        found.append("\n".join(plain_text(part) for part in parts if part is not None))
    return found


FORMAT = Format(
    name="reviews",
    reader=read_reviews,
    contents="positive.review and negative.review: a folder, an archive or one file",
    extensions=EXTENSIONS,
    start=re.compile(rb"\s*(?:<reviews>\s*)?<review>"),
    collection=any_of(EXTENSIONS),
)
