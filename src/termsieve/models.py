"""Documents come in; a trained model goes out, which predicts and can be saved and loaded safely."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import skops.io
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline

from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.errors import FormatError, InputError, ParameterError, TermsieveError
from termsieve.estimators import TermVectorizer
from termsieve.files import write_whole
from termsieve.labels import encode_labels
from termsieve.learners import LEARNERS, get_learner, learner_declaration
from termsieve.metrics import get_metric
from termsieve.ranking import Combine, Side
from termsieve.readers import guessed_format, read
from termsieve.readers.files import MAX_BYTES
from termsieve.readers.tables import read_texts
from termsieve.saved import load_saved, untrusted
from termsieve.sources import Frame, corpus_of
from termsieve.spec import TRAINING
from termsieve.telling import MetricSpec, select_terms
from termsieve.terms import term_matrix

FORMAT = "termsieve-model"
FORMAT_VERSION = 1
Label = str | int | float


@dataclass(frozen=True, repr=False)
class Model:
    """A trained classifier of texts that can be saved.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        A fitted pipeline from texts to classes, such as `train_model` or `advice.pipeline().fit` give.
    labels : tuple, optional
        The classes, if a document may have several of them: the pipeline then predicts one column per class.

    Examples
    --------
    >>> corpus = Corpus(["buy cheap", "buy now", "see you", "see me"], ["spam", "spam", "ham", "ham"])
    >>> model = train_model(corpus, k=2)
    >>> model
    <Model: svm on 2 terms>
    >>> model.predict(["you see", "cheap cheap buy"])
    ['ham', 'spam']
    """

    pipeline: Pipeline
    labels: tuple[Label, ...] | None = None

    @property
    def terms(self) -> list[str]:
        """The terms that the model reads, best first where it was trained by `train_model`."""
        return [str(term) for term in self.pipeline[:-1].get_feature_names_out()]

    def predict(self, texts: Iterable[str] | Corpus) -> list[Label | tuple[Label, ...]]:
        """Return the class of each text, or the tuple of its labels if it may have several.

        Parameters
        ----------
        texts : iterable of str, or Corpus
            The texts.

        Returns
        -------
        list
            The predictions, in the order of the texts.
        """
        given = _texts(texts)
        if not given:
            return []
        try:
            found = np.asarray(self.pipeline.predict(given))
            if self.labels is None:
                return found.tolist()
            return [tuple(self.labels[column] for column in np.flatnonzero(row)) for row in found]
        except TermsieveError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # The parts of a model from a damaged file may not fit together.
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise InputError(f"the model cannot predict, its parts do not fit together: {reason}") from error

    def predict_file(
        self, path: str | os.PathLike[str], *, format: str | None = None, **options: Any
    ) -> list[Label | tuple[Label, ...]]:
        """Return the predicted classes of the documents in a file, which need not have labels.

        `options` are those of `read`, such as text= for the column of a table.

        Parameters
        ----------
        path : path
            The file to read.
        format : str, optional
            The format; recognised by default.
        **options
            The options of `read`.

        Returns
        -------
        list
            The predictions, in the order of the documents.
        """
        if (format or guessed_format(path)) == "table":
            return self.predict(read_texts(path, **options))
        return self.predict(read(path, format, **options))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a skops file that `load_model` reads; a failed write leaves no file.

        Parameters
        ----------
        path : path
            The file to write.
        """
        held = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "pipeline": self.pipeline,
            "labels": None if self.labels is None else list(self.labels),
        }
        content = skops.io.dumps(held)
        foreign = untrusted(content)
        if foreign:
            raise InputError(
                f"the model holds types that could not be loaded safely ({', '.join(foreign)}); "
                "use estimators of scikit-learn and termsieve only"
            )
        write_whole(path, content)

    def __repr__(self) -> str:
        learner = self.pipeline[-1]
        if isinstance(learner, OneVsRestClassifier):
            learner = learner.estimator
        names = [name for name, entry in LEARNERS.items() if entry.estimator is type(learner)]
        return f"<Model: {names[0] if names else type(learner).__name__} on {len(self.terms):,} terms>"


def train_model(
    source: Corpus | Frame | str | os.PathLike[str],
    metric: MetricSpec = TRAINING,
    learner: str = "svm",
    *,
    target: Any = None,
    k: int | None = None,
    fraction: float | None = None,
    threshold: float | None = None,
    sparsity: float | None = None,
    memory: float | None = None,
    side: Side = "both",
    ratio: float | None = None,
    alpha: float | None = None,
    combine: Combine = "max",
    min_df: float = 1,
    max_df: float = 1.0,
    format: str | None = None,
    **options: Any,
) -> Model:
    """Return a classifier trained on the selected terms of labelled texts.

    Parameters
    ----------
    source : Corpus, frame or path
        The documents; they must be texts, not word counts.
    metric, k, fraction, threshold, sparsity, memory, side, ratio, alpha, combine, min_df, max_df
        Which terms to select; see `select_terms`.
    learner : str
        The learner's name, such as "svm", "lr" or "nb"; see :data:`termsieve.LEARNERS`. A learner
        made for counts (naive Bayes) reads how often a term occurs, the others whether it does.
    target : label, optional
        The class to separate from the rest: the model then predicts that class, or "not" and its name.
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
    X, names = term_matrix(corpus, **options)
    occurrences = get_metric(metric).reads == "occurrences"
    terms = select_terms(
        Counts.from_matrix(X, corpus.labels, terms=names, occurrences=occurrences),
        metric,
        target=target,
        k=k,
        fraction=fraction,
        threshold=threshold,
        sparsity=sparsity,
        memory=memory,
        side=side,
        ratio=ratio,
        alpha=alpha,
        combine=combine,
        min_df=min_df,
        max_df=max_df,
    )
    vectorizer = TermVectorizer(vocabulary=terms, binary=not reads_counts, **options)
    if target is None and corpus.multilabel:
        return _trained_for_several(vectorizer, learner, corpus)
    y = np.asarray(corpus.labels.tolist()) if target is None else _one_against_rest(corpus, target)
    return Model(_fitted(make_pipeline(vectorizer, get_learner(learner)), corpus.texts, y))


def load_model(path: str | os.PathLike[str], *, trust: bool = False, max_bytes: int = MAX_BYTES) -> Model:
    """Return the model in a file.

    A file from elsewhere cannot run anything: the model is rebuilt from estimators of termsieve and some of
    scikit-learn, from parameter values that are on a list, and from arrays that fit each other. A pipeline
    that skops itself has saved is a model as well.

    Parameters
    ----------
    path : path
        What `Model.save` wrote, or `skops.io.dump`.
    trust : bool, default=False
        Whether the file is your own: any estimator that skops trusts is then loaded with any parameters, such
        as a token pattern of your own.
    max_bytes : int
        The most bytes that the file may unpack to.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    FormatError
        If the file is damaged, or holds what is not allowed.

    Examples
    --------
    >>> import os, tempfile
    >>> from termsieve import Corpus, train_model
    >>> mail = Corpus(["cheap pills", "see you", "cheap watches", "you see"], ["spam", "ham", "spam", "ham"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "mail.skops")
    ...     train_model(mail, k=2).save(path)
    ...     load_model(path).predict(["cheap cheap"])
    ['spam']
    """
    return _model(load_saved(path, trust, max_bytes), path)


def _model(held: Any, path: str | os.PathLike[str]) -> Model:
    """Return the model that was loaded from a file, as `Model.save` or as skops itself wrote it."""
    if isinstance(held, dict) and held.get("format") == FORMAT:
        version = held.get("version")
        if not isinstance(version, int) or version > FORMAT_VERSION:
            raise FormatError(
                f"{path} has model format {version}; this termsieve reads {FORMAT_VERSION}: update termsieve"
            )
        labels = held.get("labels")
        if labels is not None and not _are_labels(labels):
            raise FormatError(f"{path} holds a damaged model: its labels are no list of labels")
        held = held.get("pipeline")
        if isinstance(held, Pipeline):
            return Model(held, None if labels is None else tuple(labels))
    if not isinstance(held, Pipeline) or not hasattr(held, "predict"):
        raise FormatError(f"{path} holds a {type(held).__name__}, which cannot predict")
    return Model(held)


def _are_labels(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(label, str | int | float) for label in found)


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


def _texts(given: Iterable[str] | Corpus) -> list[str]:
    if isinstance(given, Corpus):
        if given.texts is None:
            raise ParameterError(f"{given.name or 'the corpus'} holds word counts; give the texts")
        return list(given.texts)
    if isinstance(given, str | bytes):
        raise ParameterError("predict takes a list of texts; put a single text into a list")
    return list(given)
