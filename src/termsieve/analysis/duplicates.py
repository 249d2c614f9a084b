"""Documents with labels come in; the documents that repeat another one, and label conflicts, go out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import polars as pl
from numpy.typing import NDArray

from termsieve.analysis.of_counts import shown
from termsieve.labels import COLLECTIONS

SCHEMA: dict[str, Any] = {
    "group": pl.Int64,
    "document": pl.Int64,
    "labels": pl.List(pl.String),
    "conflict": pl.Boolean,
}


def text_keys(texts: Iterable[str]) -> list[bytes]:
    """Return a key of each text; texts that differ only in case and white space have equal keys.

    Parameters
    ----------
    texts : iterable of str
        The texts.

    Returns
    -------
    list of bytes
        The keys; a text without any character has an empty one.

    Examples
    --------
    >>> a, b, c = text_keys(["Buy  now", "buy now\\n", "buy"])
    >>> a == b, a == c
    (True, False)
    """
    clean = (" ".join(text.casefold().split()).encode("utf-8", "surrogatepass") for text in texts)
    return [hashlib.blake2b(text, digest_size=16).digest() if text else b"" for text in clean]


def row_keys(X: Any) -> list[bytes]:
    """Return a key of each row of a term matrix; documents with the same terms have equal keys.

    Parameters
    ----------
    X : sparse matrix of shape (n_docs, n_terms)
        The term matrix, in CSR form.

    Returns
    -------
    list of bytes
        The keys; a row without terms has an empty one.
    """
    rows = (slice(start, stop) for start, stop in pairwise(X.indptr.tolist()))
    parts = ((X.indices[row].tobytes(), X.data[row].tobytes()) for row in rows)
    return [terms + b"|" + counts if terms else b"" for terms, counts in parts]


def duplicate_documents(keys: Sequence[bytes], labels: Sequence[Any] | NDArray[Any]) -> pl.DataFrame:
    """Return the documents that share their key with another one; empty keys are left out.

    Parameters
    ----------
    keys : sequence of bytes
        The key of each document, of `text_keys` or `row_keys`.
    labels : sequence
        One label per document, or one collection of labels per document.

    Returns
    -------
    polars.DataFrame
        One row per document, the documents of a group after each other, the largest group first: group
        (a number from 1), document (its position, from 0), labels (a list), conflict (whether the documents
        of the group have different labels).

    Examples
    --------
    >>> duplicate_documents(text_keys(["buy now", "hi", "Buy now"]), ["spam", "ham", "ham"]).rows()
    [(1, 0, ['spam'], True), (1, 2, ['ham'], True)]
    """
    groups: dict[bytes, list[int]] = {}
    for i, key in enumerate(keys):
        if key:
            groups.setdefault(key, []).append(i)
    repeated = sorted((found for found in groups.values() if len(found) > 1), key=lambda each: -len(each))
    rows = []
    for number, found in enumerate(repeated, start=1):
        named = [label_names(labels[i]) for i in found]
        conflict = len({tuple(sorted(names)) for names in named}) > 1
        rows += [(number, i, names, conflict) for i, names in zip(found, named, strict=True)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def label_names(label: Any) -> list[str]:
    """Return the labels of one document as texts, whether it has one or several.

    >>> label_names("spam"), label_names((1, 2))
    (['spam'], ['1', '2'])
    """
    return [str(each) for each in label] if isinstance(label, COLLECTIONS) else [str(label)]


def repeated_documents(
    repeated: pl.DataFrame, texts: Sequence[str] | None = None, letters: int = 120
) -> pl.DataFrame:
    """Return the table of `duplicate_documents` for readers: numbers from 1, conflicts first, texts short.

    Parameters
    ----------
    repeated : polars.DataFrame
        The table of `duplicate_documents`.
    texts : sequence of str, optional
        The texts of all documents; without them there is no column text.
    letters : int, default=120
        Largest number of characters of a text.

    Returns
    -------
    polars.DataFrame
        One row per document: group, document (from 1), labels, conflict, text.
    """
    ordered = repeated.sort("conflict", "group", "document", descending=[True, False, False])
    table = ordered.select(
        "group",
        pl.col("document") + 1,
        pl.col("labels").list.join(", "),
        pl.when("conflict").then(pl.lit("labels differ")).otherwise(pl.lit("")).alias("conflict"),
    )
    if texts is None:
        return table
    short = [shown(" ".join(texts[i].split()), letters) for i in ordered["document"].to_list()]
    return table.with_columns(text=pl.Series(short, dtype=pl.String))
