"""A vocabulary and documents come in, a fitted pipeline goes out; and pipelines to and from skops files."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import skops.io
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline

from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError
from termsieve.estimators import (
    DecisionClassifier,
    KeptTerms,
    TermScaler,
    TermSelector,
    TermVectorizer,
    WeightSelector,
)
from termsieve.labels import encode_labels
from termsieve.learners import LEARNERS, get_learner, learner_name

LABELS = "label_names_"  # of a pipeline for several labels a document, whose classifier knows columns only
TRUSTED = {
    f"{kind.__module__}.{kind.__qualname__}"
    for kind in (
        DecisionClassifier,
        KeptTerms,
        TermScaler,
        TermSelector,
        TermVectorizer,
        WeightSelector,
        *(entry.estimator for entry in LEARNERS.values()),
    )
    if kind.__module__.startswith("termsieve.")
}


def trained_pipeline(
    corpus: Corpus,
    terms: list[str],
    name: str,
    target: str | None = None,
    options: dict[str, Any] | None = None,
) -> Pipeline:
    """Return a classifier trained on the texts of a corpus with the given terms.

    With `target` it tells that class from the rest. Naive Bayes reads counts, the others presence.
    """
    counts = learner_name(name).startswith("nb")
    vectorizer = TermVectorizer(vocabulary=terms, binary=not counts, **(options or {}))
    labels = encode_labels(list(corpus.labels) if corpus.multilabel else corpus.labels)
    if target is not None:
        at = [str(label) for label in labels.classes].index(target)
        member = np.zeros(labels.n_docs, dtype=bool)
        member[labels.docs[labels.class_ptr[at] : labels.class_ptr[at + 1]]] = True
        if member.all() or not member.any():
            raise InputError(f"every document is in class {target!r}; to tell classes apart takes two")
        y = np.where(member, target, f"not {target}")
        return _fitted(make_pipeline(vectorizer, get_learner(name)), corpus.texts, y)
    if not corpus.multilabel:
        y = np.asarray(corpus.labels.tolist())
        return _fitted(make_pipeline(vectorizer, get_learner(name)), corpus.texts, y)
    model = make_pipeline(vectorizer, OneVsRestClassifier(get_learner(name)))
    _fitted(model, corpus.texts, labels.indicator().astype(np.int64))
    setattr(model, LABELS, [label.item() if hasattr(label, "item") else label for label in labels.classes])
    return model


def _fitted(model: Pipeline, texts: Any, y: Any) -> Pipeline:
    with warnings.catch_warnings():
        # That many classes have one document, or that all documents have a label: the model is right then.
        warnings.simplefilter("ignore")
        return model.fit(texts, y)


def predicted(model: Any, texts: list[str]) -> list[Any]:
    """Return the label of each text, or the list of its labels."""
    if not texts:
        return []
    found = model.predict(texts)
    names = getattr(model, LABELS, None)
    if names is None:
        return found.tolist()
    return [[names[column] for column in np.flatnonzero(row)] for row in np.asarray(found)]


def save_pipeline(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a pipeline to a skops file."""
    skops.io.dump(model, path)


def load_pipeline(path: str | os.PathLike[str]) -> Any:
    """Read a pipeline that consists of scikit-learn's and termsieve's own types only."""
    try:
        foreign = sorted(set(skops.io.get_untrusted_types(file=path)) - TRUSTED)
        if foreign:
            raise FormatError(
                f"{path} holds types that are not to be trusted ({', '.join(foreign)}); it is not loaded"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other versions: the file says nothing a user can act on
            model = skops.io.load(path, trusted=sorted(TRUSTED))
    except (FormatError, OSError):
        raise
    except Exception as error:
        # What a damaged archive raises depends on where it is damaged.
        raise FormatError(f"{path} is no readable skops file: {error}") from None
    if not hasattr(model, "predict"):
        raise FormatError(f"{path} holds a {type(model).__name__}, which cannot predict")
    return model
