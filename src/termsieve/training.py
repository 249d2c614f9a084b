"""Labelled documents and a way to select terms come in; a trained model with its record goes out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline

from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.errors import InputError, ParameterError
from termsieve.estimators import TermVectorizer, learned_terms
from termsieve.evaluation import Evaluation, evaluated
from termsieve.labels import encode_labels
from termsieve.learners import get_learner, learner_declaration
from termsieve.metrics import get_metric
from termsieve.models import Model
from termsieve.ranking import Combine, Side
from termsieve.records import called, recorded
from termsieve.sources import Frame, corpus_of
from termsieve.spec import TRAINING
from termsieve.telling import MetricSpec, select_terms
from termsieve.terms import suited_options, term_matrix

USUAL = {"side": "both", "combine": "max", "min_df": 1, "max_df": 1.0}  # not worth telling in a record


def train_model(
    source: Corpus | Frame | str | os.PathLike[str],
    metric: MetricSpec = TRAINING,
    learner: str = "svm",
    *,
    target: Any = None,
    folds: int | None = None,
    k: int | None = None,
    fraction: float | None = None,
    threshold: float | None = None,
    sparsity: float | None = None,
    memory: float | None = None,
    fpr: float | None = None,
    fdr: float | None = None,
    fwe: float | None = None,
    side: Side = "both",
    ratio: float | None = None,
    alpha: float | None = None,
    combine: Combine = "max",
    min_df: float = 1,
    max_df: float = 1.0,
    keep: Iterable[str | int] = (),
    drop: Iterable[str | int] = (),
    method: str | None = None,
    format: str | None = None,
    **options: Any,
) -> Model:
    """Return a classifier trained on the selected terms of labelled texts.

    Parameters
    ----------
    source : Corpus, frame or path
        The documents; they must be texts, not word counts.
    metric, k, fraction, threshold, sparsity, memory, fpr, fdr, fwe
        Which terms to select; see `select_terms`.
    side, ratio, alpha, combine, min_df, max_df, keep, drop
        Which terms to select; see `select_terms`.
    learner : str
        The learner's name, such as "svm", "lr" or "nb"; see :data:`termsieve.LEARNERS`. A learner
        made for counts (naive Bayes) reads how often a term occurs, the others whether it does.
    target : label, optional
        The class to separate from the rest: the model then predicts that class, or "not" and its name.
    folds : int, optional
        Number of folds of a cross-validation that measures the model: selection and training are repeated
        without the documents of each fold, and `record.measured` holds the figures, or None if there are too
        few documents.
    method : {"ratio", "wfo", "weights"}, optional
        A selection that learns its parameter, in place of a metric; see `learned_terms`. It takes only k=,
        and for "weights" the other cut-offs.
    format : str, optional
        The format of a file; recognised by default.
    **options
        How documents are read and split into terms: text=, label=, stop_words= and the other options of
        `read` and `TermVectorizer`.

    Returns
    -------
    Model
        The trained model.

    Raises
    ------
    InputError
        If the documents have no texts, or only one class.

    Examples
    --------
    >>> from termsieve import Corpus
    >>> mail = Corpus(["cheap pills", "see you", "cheap watches", "you see"], ["spam", "ham", "spam", "ham"])
    >>> train_model(mail, k=2).predict(["cheap cheap"])
    ['spam']
    """
    reads_counts = learner_declaration(learner).reads == "counts"
    corpus = corpus_of(source, options, format)
    if corpus.texts is None:
        raise ParameterError(f"{corpus.name or 'the corpus'} holds word counts; a model needs the texts")
    cuts = {"k": k, "fraction": fraction, "threshold": threshold, "sparsity": sparsity, "memory": memory}
    chances = {"fpr": fpr, "fdr": fdr, "fwe": fwe, "alpha": alpha}
    limits = {"side": side, "ratio": ratio, "combine": combine, "min_df": min_df, "max_df": max_df}
    how = {"target": target, **cuts, **chances, **limits, "keep": tuple(keep), "drop": tuple(drop)}

    options = suited_options(options, corpus.texts)

    def trained(part: Corpus) -> Model:
        return _trained(part, metric, learner, reads_counts, how | {"method": method}, options)

    model = trained(corpus)
    measured = None if folds is None else _cross_validated(corpus, target, folds, trained, model.classes)
    spelled = f"{learner} on {len(model.terms):,} terms by {method or get_metric(metric).name}"
    analysis = model.pipeline[0]._analysis().checked()
    given = {name: value for name, value in how.items() if value != USUAL.get(name)}
    ranked = None if method is not None else str(get_metric(metric))
    named = {"metric": ranked, "learner": learner, "folds": folds, "method": method}
    call = called("termsieve.train_model", named | given | options)
    return replace(model, record=recorded(corpus, analysis, spelled, measured, call))


def _trained(
    corpus: Corpus,
    metric: MetricSpec,
    learner: str,
    reads_counts: bool,
    how: dict[str, Any],
    options: dict[str, Any],
) -> Model:
    """Return the model of a corpus, without a record."""
    terms = _selected(corpus, metric, how, options)
    vectorizer = TermVectorizer(vocabulary=terms, binary=not reads_counts, **options)
    target = how["target"]
    if target is None and corpus.multilabel:
        return _trained_for_several(vectorizer, learner, corpus)
    y = np.asarray(corpus.labels.tolist()) if target is None else _one_against_rest(corpus, target)
    return Model(_fitted(make_pipeline(vectorizer, get_learner(learner)), corpus.texts, y))


def _selected(corpus: Corpus, metric: MetricSpec, how: dict[str, Any], options: dict[str, Any]) -> list[str]:
    """Return the terms by a metric, or by a method that learns its parameter."""
    ways = dict(how)
    method = ways.pop("method")
    if method is None:
        X, names = term_matrix(corpus, **options)
        occurrences = get_metric(metric).reads == "occurrences"
        counts = Counts.from_matrix(X, corpus.labels, terms=names, occurrences=occurrences)
        return select_terms(counts, metric, **ways)
    sides = {name: ways.pop(name) for name in ("side", "ratio", "alpha", "keep", "drop")}
    if sides != {"side": "both", "ratio": None, "alpha": None, "keep": (), "drop": ()}:
        raise ParameterError(f"{', '.join(sides)} are not for the method {method!r}; leave them out")
    if ways["combine"] == "max":  # the default of every method
        del ways["combine"]
    named: dict[str, Any] = {"metric": metric} if method == "ratio" and metric != TRAINING else {}
    return learned_terms(corpus, method, options=options, **ways, **named).terms


def _cross_validated(
    corpus: Corpus, target: Any, folds: int, train: Callable[[Corpus], Model], classes: Sequence[Any]
) -> Evaluation | None:
    """Return the predictions for each part by a model of the other parts; None if documents are too few."""
    if folds < 2:
        raise ParameterError(f"folds must be 2 or more, not {folds}")
    several = corpus.multilabel and target is None
    truth = list(corpus.labels.tolist() if target is None else _one_against_rest(corpus, target).tolist())
    fold = _fold_numbers(truth, folds)
    predicted: list[Any] = [None] * len(corpus)
    for number in range(folds):
        held_out = np.flatnonzero(fold == number)
        if len(held_out):
            try:
                model = train(corpus.subset(np.flatnonzero(fold != number)))
            except InputError:  # a part of the documents has no term, or one class only
                return None
            for row, label in zip(held_out, model.predict(corpus.subset(held_out)), strict=True):
                predicted[row] = label
    by = f"cross-validation in {folds} parts, selection included"
    return replace(evaluated(truth, predicted, several, classes), by=by)


def _fold_numbers(truth: list[Any], folds: int) -> Any:
    """Return a part for each document; the documents are dealt out to the parts in turn, class by class."""
    kinds = [repr(each[:1] if isinstance(each, list | tuple) else each) for each in truth]
    order = np.random.default_rng(0).permutation(len(truth))
    order = order[np.argsort(np.array(kinds)[order], kind="stable")]
    fold = np.empty(len(truth), dtype=np.intp)
    fold[order] = np.arange(len(truth)) % folds
    return fold


def _trained_for_several(vectorizer: TermVectorizer, learner: str, corpus: Corpus) -> Model:
    """Return a model that gives each document any number of labels."""
    labels = encode_labels(list(corpus.labels))
    pipeline = make_pipeline(vectorizer, OneVsRestClassifier(get_learner(learner)))
    fitted = _fitted(pipeline, corpus.texts, labels.indicator().astype(np.int64))
    return Model(fitted, tuple(labels.classes.tolist()))


def _one_against_rest(corpus: Corpus, target: Any) -> Any:
    """Return for each document the target, or "not" and the target."""
    name = str(target)
    several = corpus.labels.tolist() if corpus.multilabel else [[label] for label in corpus.labels.tolist()]
    member = np.array([any(str(label) == name for label in labels) for labels in several])
    if member.all() or not member.any():
        raise InputError(f"every document is in class {name!r}; at least two classes are needed")
    return np.where(member, name, f"not {name}")


def _fitted(pipeline: Pipeline, texts: Sequence[str] | None, y: Any) -> Pipeline:
    with warnings.catch_warnings():
        # Warnings about rare classes, or labels of all documents, do not mean that the model is wrong.
        warnings.simplefilter("ignore")
        return pipeline.fit(texts, y)
