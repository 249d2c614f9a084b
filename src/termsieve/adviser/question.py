"""A corpus and what is asked of it come in; a Task, in term counts and truth, goes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from termsieve.adviser.folds import Task
from termsieve.corpus import Corpus
from termsieve.errors import InputError, unknown_name
from termsieve.labels import encode_labels
from termsieve.terms import term_matrix

LEAST = 5  # documents of a class, below which nothing can be said of it
MOST_TEXT = 10_000_000  # characters, above which pairs of words take too long to count
MOST_MODELS = 25_000  # documents x problems, above which models of pairs of words take too long
MORE_MODELS = 4  # times as many for each minute that is given
PAIRS = (1, 2)


@dataclass(frozen=True)
class Question:
    """The documents as a task, the problem's name, and how texts become terms (None: a matrix is given)."""

    task: Task
    problem: str
    target: Any
    several_labels: bool
    term_options: dict[str, Any] | None


def asked(
    corpus: Corpus,
    target: Any,
    term_options: dict[str, Any],
    group: Any = None,
    time: Any = None,
    minutes: float | None = None,
) -> Question:
    """Return the question about a corpus: all classes, or `target` against the rest."""
    most_models = MOST_MODELS * max(1.0, MORE_MODELS * (minutes or 0.0))
    truth, one_label, problem = _truth(corpus, target)
    _check_sizes(truth, one_label, problem)
    options = {name: value for name, value in term_options.items() if name != "min_df"}
    min_df = term_options.get("min_df", 1)
    if isinstance(min_df, float):  # a share of the documents cannot be taken in each fold
        options, min_df = dict(term_options), 1
    words, _ = term_matrix(corpus, **options)
    task = Task(
        sparse.csr_matrix(words, dtype=np.float64),
        truth,
        one_label,
        _pairs(corpus, options) if truth.size <= most_models else None,
        int(min_df),
        _numbers(group, len(corpus), "group"),
        _numbers(time, len(corpus), "time"),
    )
    several = truth.shape[1] > 1 and not one_label
    return Question(task, problem, target, several, None if corpus.texts is None else options)


def _truth(corpus: Corpus, target: Any) -> tuple[Any, bool, str]:
    labels = encode_labels(list(corpus.labels) if corpus.multilabel else corpus.labels)
    names = [str(label) for label in labels.classes]
    truth, one_label = labels.indicator(), not labels.multilabel
    if one_label and len(names) == 1:
        raise InputError(f"there is only one class, {names[0]!r}; at least two are needed")
    if target is not None:
        if str(target) not in names:
            raise unknown_name("class", str(target), names)
        return truth[:, [names.index(str(target))]], True, f"{target} against the rest"
    if one_label and len(names) == 2:
        return truth[:, 1:], True, f"{names[1]} against {names[0]}"
    return truth, one_label, f"{len(names):,} {'classes' if one_label else 'labels'}"


def _check_sizes(truth: Any, one_label: bool, problem: str) -> None:
    inside = truth.sum(axis=0)
    enough = (inside >= LEAST) & (len(truth) - inside >= LEAST)
    needed = 2 if one_label and truth.shape[1] > 1 else 1
    if truth.shape[1] == 0 or enough.sum() < needed:
        raise InputError(
            f"there are too few documents for advice on {problem}: of {needed} class{'es' * (needed > 1)} "
            f"at least {LEAST} documents, and as many outside, are needed"
        )


def _pairs(corpus: Corpus, options: dict[str, Any]) -> Any:
    """Return the counts of words and pairs of words; None without texts, or where the user chose terms."""
    if corpus.texts is None or {"ngram_range", "vocabulary"} & set(options):
        return None
    if options.get("analyzer", "word") != "word" or sum(map(len, corpus.texts)) > MOST_TEXT:
        return None
    counts, _ = term_matrix(corpus, **{**options, "ngram_range": PAIRS, "min_df": 2})
    return sparse.csr_matrix(counts, dtype=np.float64)


def _numbers(values: Any, n_docs: int, name: str) -> Any:
    """Return one whole number per document, equal for equal values and in their order."""
    if values is None:
        return None
    given = np.asarray(values)
    if given.shape != (n_docs,):
        raise InputError(f"{name} must hold one value for each of the {n_docs:,} documents")
    distinct, number = np.unique(given, return_inverse=True)
    if len(distinct) < 2:
        raise InputError(f"{name} has the same value for all documents, so that none could be tested apart")
    return number.astype(np.int64)
