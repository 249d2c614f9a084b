"""A user's own classifiers and the folds of a race come in; their verdicts on the same documents go out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from termsieve.adviser.race import Race
from termsieve.adviser.verdicts import Verdicts
from termsieve.corpus import Corpus
from termsieve.errors import ParameterError
from termsieve.labels import encode_labels


def checked_rivals(rivals: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the rivals, each a classifier that can be fitted anew."""
    checked = dict(rivals or {})
    for name, model in checked.items():
        if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "predict")):
            raise ParameterError(
                f"the rival {name!r} is no scikit-learn classifier; it needs fit and predict"
            )
    return checked


def rival_verdicts(model: Any, corpus: Corpus, rows: NDArray[np.int64], race: Race, target: Any) -> Verdicts:
    """Return what a classifier says of each fold when it is fitted to the others.

    It gets texts, or the term matrix where the corpus has no texts; and the original labels, an indicator
    matrix where documents have several, or 0 and 1 for `target` against the rest.
    """
    task = race.task
    labels = encode_labels(list(corpus.labels) if corpus.multilabel else corpus.labels)
    y: Any = corpus.labels[rows]
    if target is not None:
        y = task.truth[:, 0].astype(np.int64)
    elif corpus.multilabel:
        y = task.truth.astype(np.int64)
    said = np.zeros_like(task.truth)
    for train, test in race.splits.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # how well the model converges is its owner's concern
            fitted = clone(model).fit(_documents(corpus, rows[train]), y[train])
            found = np.asarray(fitted.predict(_documents(corpus, rows[test])))
        said[test] = _flags(found, labels.classes, task.truth.shape[1], target)
    tested = np.sort(np.concatenate([test for _, test in race.splits.values()]))
    return Verdicts(task.truth[tested], said[tested], task.one_label)


def _documents(corpus: Corpus, rows: NDArray[np.int64]) -> Any:
    if corpus.texts is None:
        assert corpus.matrix is not None
        return corpus.matrix[rows]
    return [corpus.texts[i] for i in rows]


def _flags(found: NDArray[Any], classes: NDArray[Any], n_problems: int, target: Any) -> NDArray[np.bool_]:
    if found.ndim == 2:
        return found.astype(bool)
    if target is not None:
        return found.astype(bool)[:, None]
    flags = found[:, None] == classes[None, :]
    return np.asarray(flags[:, 1:] if n_problems == 1 else flags)
