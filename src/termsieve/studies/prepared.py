"""A corpus comes in; the documents that a plan uses, as word counts, go out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.errors import StudyError, UnknownNameError
from termsieve.labels import class_position, encode_labels
from termsieve.studies.plan import Plan
from termsieve.terms import term_matrix

Ints = NDArray[np.int64]
EVERY_CLASS = "all classes"  # the one problem of a multi-class study


class Prepared:
    """A corpus in the form for studies: word counts, the classes of each document, and its split."""

    def __init__(
        self, name: str, matrix: Any, member: Any, classes: list[str], parts: Any, terms: list[str]
    ) -> None:
        self.name = name
        self.matrix = matrix
        self.member: NDArray[np.bool_] = member
        self.classes = classes
        self.parts: NDArray[Any] | None = parts
        self.terms = terms

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getstate__(self) -> dict[str, Any]:
        return {
            key: value for key, value in self.__dict__.items() if not key.startswith("_") and key != "labels"
        }

    @cached_property
    def labels(self) -> Any:
        """The labels for Counts: class numbers, or an indicator matrix if documents have several labels."""
        single = bool((self.member.sum(axis=1) == 1).all())
        return self.member.argmax(axis=1) if single else self.member

    def whole_counts(self, occurrences: bool) -> Counts:
        """Return the counts of all documents, counted once."""
        cached: dict[bool, Counts] = self.__dict__.setdefault("_counts", {})
        if occurrences not in cached:
            cached[occurrences] = Counts.from_matrix(self.matrix, self.labels, occurrences=occurrences)
        return cached[occurrences]

    @cached_property
    def strata(self) -> Ints:
        """The class that each document is stratified by; if it has several, the rarest of them."""
        by_size = np.argsort(self.member.sum(axis=0), kind="stable")
        ordered = self.member[:, by_size]
        return np.where(ordered.any(axis=1), by_size[ordered.argmax(axis=1)], -1)

    def fingerprint(self) -> str:
        """Return a digest of everything that the rows of a study can depend on."""
        digest = hashlib.sha256()
        matrix = self.matrix
        for array in (matrix.indptr, matrix.indices):
            digest.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
        digest.update(np.ascontiguousarray(matrix.data, dtype=np.float64).tobytes())
        digest.update(np.packbits(self.member).tobytes())
        for words in (self.classes, self.terms, [] if self.parts is None else self.parts.tolist()):
            digest.update("\0".join(words).encode("utf-8", "surrogatepass") + b"\1")
        return digest.hexdigest()[:16]

    def described(self) -> dict[str, Any]:
        """Return what the manifest records of the corpus."""
        return {
            "fingerprint": self.fingerprint(),
            "documents": len(self),
            "terms": len(self.terms),
            "cells": int(self.matrix.nnz),
            "classes": dict(zip(self.classes, self.member.sum(axis=0).tolist(), strict=True)),
            "one_label": self.labels.ndim == 1,
        }


def prepared_corpus(plan: Plan, name: str, corpus: Corpus) -> Prepared:
    """Return the documents that the plan uses of a corpus, as word counts."""
    entry = plan.corpus(name)
    labels = encode_labels(corpus.labels.tolist())
    member, classes = labels.indicator(), [str(label) for label in labels.classes.tolist()]
    rows = np.arange(len(corpus))
    if entry.classes is not None:
        wanted = _positions(entry.classes, classes, name)
        rows = np.flatnonzero(member[:, wanted].any(axis=1) & (member.sum(axis=1) == 1))
        member, classes = member[:, sorted(wanted)], [classes[c] for c in sorted(wanted)]
    if entry.per_class is not None:
        generator = np.random.default_rng(seed_sequence(plan, name, "documents"))
        drawn = [generator.permutation(rows[member[rows, c]])[: entry.per_class] for c in range(len(classes))]
        rows = np.unique(np.concatenate(drawn))
    used = corpus if len(rows) == len(corpus) else corpus.subset(rows)
    matrix, vocabulary = term_matrix(used, **plan.representation.terms)
    if len(rows) == 0 or matrix.nnz == 0:
        raise StudyError(f"corpus '{name}' has no document with a term that the plan could use")
    terms = [str(term) for term in vocabulary.tolist()]
    return Prepared(name, sparse.csr_matrix(matrix), member[rows], classes, used.parts, terms)


def problems_of(plan: Plan, name: str, classes: Sequence[str], one_label: bool) -> list[str]:
    """Return the names of a corpus's problems."""
    if plan.problems.kind == "multi-class":
        return [EVERY_CLASS]
    wanted = plan.corpus(name).problems or plan.problems.classes
    if wanted is not None:
        return [classes[c] for c in _positions(wanted, classes, name)]
    # Two classes are one problem: that of the second class.
    return list(classes[1:] if len(classes) == 2 and one_label else classes)


def _positions(labels: Sequence[str], classes: Sequence[str], corpus: str) -> list[int]:
    """Return the positions of labels that a plan names among the classes of a corpus."""
    try:
        return [class_position(label, classes, f"class of corpus '{corpus}'") for label in labels]
    except UnknownNameError as error:
        raise StudyError(str(error)) from None


def seed_sequence(plan: Plan, corpus: str, *purpose: str | int) -> np.random.SeedSequence:
    """Return the seed for one purpose: a function of the plan's seed, the corpus and nothing else."""
    words = [plan.protocol.seed]
    for part in (corpus, *purpose):
        words.append(
            part if isinstance(part, int) else int.from_bytes(hashlib.sha256(part.encode()).digest()[:8])
        )
    return np.random.SeedSequence(words)
