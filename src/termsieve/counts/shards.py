"""Documents of any number and a vocabulary come in; the matrix of its terms goes out, in npz shards."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.counts.archive import Arrays, read_arrays, write_arrays
from termsieve.counts.counter import LabelCodes, analysis_of
from termsieve.counts.sources import Source
from termsieve.errors import FormatError, InputError, ParameterError
from termsieve.files import whole_file, write_whole
from termsieve.matrices import sound_csr
from termsieve.terms import Analysis, count_known, term_numbers

TERMS_FILE = "terms.json"
VERSION = 1  # version of the shards and of the file of their terms


def write_shards(
    source: Any,
    terms: Mapping[str, int] | Iterable[str],
    folder: str | os.PathLike[str],
    text: str | None = None,
    label: str | None = None,
    *,
    rows: int = 100_000,
    separator: str | None = None,
    missing: str = "error",
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    **term_options: Any,
) -> list[Path]:
    """Write the matrix of the `terms` in shards of `rows` documents, and return the paths of the shards.

    The source and the options are those of `count`; give the same options as there. `scipy.sparse.load_npz`
    reads the matrix of a shard, `read_shards` reads matrices and labels, one shard after the other. The
    columns are the terms in the given order.
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ParameterError(f"rows={rows!r} must be a whole number from 1")
    vocabulary, analysis = term_numbers(terms), analysis_of(term_options)
    opened = Source(
        source,
        text,
        label,
        separator=separator,
        missing=missing,
        header=header,
        delimiter=delimiter,
        quote=quote,
        encoding=encoding,
    )
    target = new_folder(folder, vocabulary)
    return [
        save_shard(target / f"shard-{number:05d}.npz", X, labels)
        for number, (X, labels) in enumerate(_shards(opened, vocabulary, analysis, rows))
    ]


def read_shards(folder: str | os.PathLike[str]) -> Iterator[tuple[sparse.csr_matrix, Any]]:
    """Yield the matrix and the labels of each shard: an array, or a list of tuples for several labels."""
    n_terms = len(shard_terms(folder))
    for path in sorted(Path(folder).glob("shard-*.npz")):
        try:
            yield _shard(read_arrays(path), n_terms)
        except FormatError as error:
            raise FormatError(f"{path} {error}") from None
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path} is no readable shard: {error}; write it again") from error


def _shard(arrays: Arrays, n_terms: int) -> tuple[sparse.csr_matrix, Any]:
    """Return the matrix and the labels of a shard, both checked; ValueError if they are damaged."""
    version = int(arrays.get("version", np.array(1)))
    if version > VERSION:
        raise FormatError(f"is a shard of version {version}; install a newer termsieve, or write it again")
    shape = tuple(arrays["shape"].tolist())
    if arrays["format"].tobytes() != b"csr" or len(shape) != 2 or shape[1] != n_terms or shape[0] < 0:
        raise ValueError(f"it is not a matrix of {n_terms:,} terms")
    if arrays["indptr"].shape != (shape[0] + 1,):  # before memory is taken for as many rows as it claims
        raise ValueError(f"its rows are not those of {shape[0]:,} documents")
    X = sparse.csr_matrix(shape, dtype=arrays["data"].dtype)
    X.data, X.indices, X.indptr = (arrays[name] for name in ("data", "indices", "indptr"))
    X = sound_csr(X, "the matrix")
    labels = arrays["labels"]
    if labels.ndim != 1:
        raise ValueError("its labels are no list")
    if "label_ptr" not in arrays:
        if len(labels) != shape[0]:
            raise ValueError(f"it has {len(labels):,} labels for {shape[0]:,} documents")
        return X, labels
    bounds, flat = arrays["label_ptr"].tolist(), labels.tolist()
    if len(bounds) != shape[0] + 1 or bounds[0] != 0 or bounds[-1] != len(flat) or bounds != sorted(bounds):
        raise ValueError("its labels do not fit its documents")
    return X, [tuple(flat[a:b]) for a, b in pairwise(bounds)]


def shard_terms(folder: str | os.PathLike[str]) -> list[str]:
    """Return the terms of the columns of the shards in a folder."""
    path = Path(folder, TERMS_FILE)
    try:
        head = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"{folder} holds no shards of write_shards: {path.name} cannot be read") from error
    # Before there were versions the file was the list of the terms.
    terms, version = (head, 1) if isinstance(head, list) else _terms_and_version(head)
    if version > VERSION:
        raise FormatError(f"{path} is of version {version}; install a newer termsieve, or write it again")
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
        raise FormatError(f"{path} is damaged: it does not list the terms of the shards")
    return terms


def _terms_and_version(head: Any) -> tuple[Any, int]:
    if not isinstance(head, dict) or not isinstance(head.get("version"), int):
        return None, 1
    return head.get("terms"), head["version"]


def new_folder(folder: str | os.PathLike[str], vocabulary: Mapping[str, int]) -> Path:
    """Create a folder for shards and write their terms into it; a folder with shards is refused."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {target} cannot be created: {error.strerror}") from error
    if (target / TERMS_FILE).exists() or any(target.glob("shard-*.npz")):
        raise InputError(f"{target} already holds shards; remove them or name another folder")
    head = {"version": VERSION, "terms": sorted(vocabulary, key=vocabulary.__getitem__)}
    write_whole(target / TERMS_FILE, json.dumps(head).encode())
    return target


def save_shard(path: Path, X: sparse.csr_matrix, labels: Mapping[str, NDArray[Any]]) -> Path:
    """Write one shard; if writing fails, no file is left behind."""
    arrays = {
        "version": np.array(VERSION),
        "format": np.array(b"csr"),
        "shape": np.array(X.shape),
        "data": X.data,
        "indices": X.indices,
        "indptr": X.indptr,
    }
    with whole_file(path) as file:
        write_arrays(file, {**arrays, **labels})
    return path


def save_part(
    source: Source, vocabulary: Mapping[str, int], analysis: Analysis, folder: Path, part: int, rows: int
) -> list[Path]:
    """Write the shards of one part of the documents, named by the number of the part."""
    return [
        save_shard(folder / f"shard-{part:05d}-{number:05d}.npz", X, labels)
        for number, (X, labels) in enumerate(_shards(source, vocabulary, analysis, rows, n_threads=1))
    ]


def _shards(
    source: Source, vocabulary: Mapping[str, int], analysis: Analysis, rows: int, n_threads: int | None = None
) -> Iterator[tuple[sparse.csr_matrix, dict[str, NDArray[Any]]]]:
    """Yield the matrix and the labels of `rows` documents at a time."""
    codes = LabelCodes()
    parts: list[sparse.csr_matrix] = []
    numbers: list[NDArray[np.int32]] = []
    lengths: list[NDArray[np.int64]] = []
    n_docs = 0

    def shard() -> tuple[sparse.csr_matrix, dict[str, NDArray[Any]]]:
        labels = {"labels": np.array(codes.labels)[np.concatenate(numbers)] if codes.labels else np.array([])}
        if codes.kind is not None and codes.kind.several:
            labels["label_ptr"] = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
        X = sparse.csr_matrix(sparse.vstack(parts, format="csr"))
        for kept in (parts, numbers, lengths):
            kept.clear()
        return X, labels

    for batch in source.batches():
        while len(batch.texts):
            now, batch = batch.halves(rows - n_docs)
            texts, labels = source.documents(now)
            classes = codes.classes(labels, now.where)
            parts.append(count_known(texts, analysis, vocabulary, n_threads))
            numbers.append(classes.numbers)
            lengths.append(np.diff(classes.ptr))
            n_docs += len(texts)
            if n_docs == rows:
                yield shard()
                n_docs = 0
    if n_docs:
        yield shard()
