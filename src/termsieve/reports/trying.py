"""The documents of a report come in; a small classifier to try in the page, and what it is worth, go out."""

from __future__ import annotations

import re
import warnings
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline

from termsieve.counts import Counts
from termsieve.errors import InputError
from termsieve.estimators import TermVectorizer
from termsieve.estimators.scaler import TermScaler
from termsieve.evaluation import evaluated
from termsieve.labels import encode_labels
from termsieve.learners import get_learner
from termsieve.portable.description import description_of
from termsieve.reports.page import Section
from termsieve.reports.reading import FROM_MATRIX, Documents
from termsieve.spec import TRAINING
from termsieve.telling import select_terms

MOST_TERMS = 500
MOST_WEIGHTS = 20_000  # terms x classes, which take about 200 KB of the file
LEAST_TERMS = 50  # with fewer, a classifier is not worth trying
PARTS = 5  # of the documents, one of which it is tested on
DIGIT = re.compile(r"\d")


class CannotTryError(Exception):
    """There is no classifier for the page; the message is the sentence that says why."""


def tried_model(found: Documents, mask: bool = False) -> tuple[dict[str, Any], Section]:
    """Return a classifier trained on four fifths of the documents, and its section with the figures.

    The page holds the very model that was tested on the last fifth. `mask` leaves out words with digits.
    """
    if found.matrix is None or found.labels is None or found.silent == FROM_MATRIX:
        raise CannotTryError("no text can be tried, because a classifier needs the texts of the documents")
    y, several = found.labels, found.counts.multilabel
    held = np.random.default_rng(0).permutation(len(y)) % PARTS == 0
    X = found.matrix.tocsr()
    try:
        columns = _columns(X[~held], y[~held], found, mask)
        pipeline, labels = _trained(X[~held][:, columns], y[~held], found, columns, several)
        description = description_of(pipeline, labels)
    except InputError as error:
        raise CannotTryError(f"no text can be tried: {error}") from None
    said = pipeline[1:].predict(X[held][:, columns])
    if labels is not None:
        said = [[label for label, has in zip(labels, row, strict=True) if has] for row in said]
    figures = evaluated(y[held].tolist(), list(said), several, description["classes"])
    right = "" if figures.accuracy is None else f", and its class is right for {figures.accuracy:.1%} of them"
    text = (
        f"A linear classifier (svm) of the {len(columns):,} words with the highest information gain, trained "
        f"on four fifths of the documents. On the other fifth: {figures.headline()}{right}."
    )
    return description | {"provenance": None}, Section("try", "Try a text", text=[text], live=True)


def _columns(X: Any, y: Any, found: Documents, mask: bool) -> Any:
    """Return the columns of the terms to train on, of the training documents alone."""
    names = found.counts.names()
    n_classes = max(1, found.counts.n_classes)
    k = min(MOST_TERMS, MOST_WEIGHTS // (1 if n_classes == 2 else n_classes))
    if k < LEAST_TERMS:
        raise CannotTryError(
            f"no text can be tried, because a classifier of {n_classes:,} classes is too large"
        )
    counts = Counts.from_matrix(X, y, terms=names)
    hidden = [name for name in names.tolist() if DIGIT.search(name)] if mask else []
    chosen = select_terms(counts, TRAINING, k=min(k, len(names) - len(hidden)), drop=hidden)
    places = {name: column for column, name in enumerate(names.tolist())}
    return np.sort([places[term] for term in chosen])


def _trained(
    X: Any, y: Any, found: Documents, columns: Any, several: bool
) -> tuple[Pipeline, tuple[Any, ...] | None]:
    """Return the pipeline of a classifier whose counts are known, and the labels if there are several."""
    options = {each.name: getattr(found.analysis, each.name) for each in fields(found.analysis)}
    vectorizer = TermVectorizer(vocabulary=found.counts.names()[columns].tolist(), **options)
    scaler, learner = TermScaler(), get_learner("svm")
    labels = None
    if several:
        encoded = encode_labels(list(y))
        labels, y = tuple(encoded.classes.tolist()), encoded.indicator().astype(np.int64)
        learner = OneVsRestClassifier(learner)
    else:
        y = np.asarray(y.tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about labels that all or no documents have
        learner.fit(scaler.fit_transform(X, y), y)
    return Pipeline([("terms", vectorizer), ("scale", scaler), ("learn", learner)]), labels
