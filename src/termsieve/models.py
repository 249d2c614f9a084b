"""Documents come in; a trained model goes out, which predicts and can be saved and loaded safely."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any

import numpy as np
import skops.io
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline

from termsieve.corpus import Corpus
from termsieve.drift import Drift, compared
from termsieve.errors import FormatError, InputError, ParameterError, TermsieveError
from termsieve.estimators.vectorizer import TermVectorizer
from termsieve.evaluation import Evaluation
from termsieve.files import write_whole
from termsieve.learners import LEARNERS
from termsieve.measures import decision_values
from termsieve.pieces import in_order, pieces
from termsieve.portable import exported
from termsieve.portable.card import card_text
from termsieve.portable.description import description_of
from termsieve.predictions import Prediction, Row, documents_of, judged
from termsieve.readers.files import MAX_BYTES
from termsieve.records import Record
from termsieve.saved import load_saved, untrusted

__all__ = ["Drift", "Model", "drift", "export", "load_model", "model_card"]

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
    record : Record, optional
        Where the model comes from, what was measured, and the counts of its training documents.

    Examples
    --------
    >>> from termsieve import train_model
    >>> corpus = Corpus(["buy cheap", "buy now", "see you", "see me"], ["spam", "spam", "ham", "ham"])
    >>> model = train_model(corpus, k=2)
    >>> model
    <Model: svm on 2 terms>
    >>> model.predict(["you see", "cheap cheap buy"])
    ['ham', 'spam']
    """

    pipeline: Pipeline
    labels: tuple[Label, ...] | None = None
    record: Record | None = None

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
        return [each.label for each in self.stream(_texts(texts))]

    def stream(
        self, texts: Iterable[str], *, scores: bool = False, probabilities: bool = False
    ) -> Iterator[Prediction]:
        """Yield the prediction of each text, in order, with decision values and probabilities if asked.

        Texts are taken in pieces, which are scored on all cores: neither the texts nor the predictions need
        fit into memory.

        Parameters
        ----------
        texts : iterable of str
            The texts.
        scores : bool
            Whether to give decision values: one for two classes, otherwise one per class.
        probabilities : bool
            Whether to give the probability of each class; only some learners have it.

        Yields
        ------
        Prediction
            The class or labels, and what was asked for.
        """
        if probabilities and not hasattr(self.pipeline, "predict_proba"):
            raise ParameterError(
                "the model gives no probabilities; train one with learner='lr', or ask for scores"
            )
        steps = _one_thread(self.pipeline[:-1]) if len(self.pipeline) > 1 else None
        yield from chain.from_iterable(
            in_order(lambda piece: self._predictions(steps, piece, scores, probabilities), pieces(texts))
        )

    def _predictions(
        self, steps: Pipeline | None, texts: list[str], scores: bool, probabilities: bool
    ) -> list[Prediction]:
        try:
            X = texts if steps is None else steps.transform(texts)
            last = self.pipeline[-1]
            found = np.asarray(last.predict(X))
            nothing: list[Any] = [None] * len(texts)
            values = decision_values(last, X).reshape(len(texts), -1).tolist() if scores else nothing
            shares = np.asarray(last.predict_proba(X)).tolist() if probabilities else nothing
            labels = self._named(found)
        except TermsieveError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # The parts of a model from a damaged file may not fit together.
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise InputError(f"the model cannot predict, its parts do not fit together: {reason}") from error
        rows = zip(labels, values, shares, strict=True)
        return [Prediction(label, own and tuple(own), share and tuple(share)) for label, own, share in rows]

    def _named(self, found: Any) -> list[Label | tuple[Label, ...]]:
        if self.labels is None:
            return found.tolist()
        return [tuple(self.labels[column] for column in np.flatnonzero(row)) for row in found]

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes in the order of the decision values; of two, the second has a value above 0."""
        found = self.pipeline[-1].classes_ if self.labels is None else self.labels
        return tuple(np.asarray(found, dtype=object).tolist())

    def describe(self) -> dict[str, Any]:
        """Return the model as plain values that a scorer in any language reads; see docs/export.md."""
        described = description_of(self.pipeline, self.labels)
        return described | {"provenance": None if self.record is None else self.record.provenance()}

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
        return [row.prediction.label for row in self.rows(path, format=format, **options)]

    def rows(
        self,
        source: str | os.PathLike[str] | IO[bytes],
        *,
        format: str | None = None,
        scores: bool = False,
        probabilities: bool = False,
        **options: Any,
    ) -> Iterator[Row]:
        """Yield the documents of a file, one after the other, with the model's prediction for each.

        Tables, and JSON lines from an open file, are read in pieces.

        Parameters
        ----------
        source : path or open file
            The file to read; it need not have labels.
        format : str, optional
            The format; recognised by default.
        scores, probabilities : bool
            What to give beside the class; see `stream`.
        **options
            The options of `read`, and id= for a column that names the documents.

        Yields
        ------
        Row
            The prediction, and the name and the label of the document, if it has them.
        """
        kept: deque[tuple[Any, Any]] = deque()

        def texts() -> Iterator[str]:
            for text, name, label in documents_of(source, format, options):
                kept.append((name, label))
                yield text

        for prediction in self.stream(texts(), scores=scores, probabilities=probabilities):
            yield Row(prediction, *kept.popleft())

    def evaluate(self, truth: Iterable[Any], predicted: Iterable[Any]) -> Evaluation | None:
        """Return the measures of predictions whose labels are known.

        Parameters
        ----------
        truth : iterable
            The label of each document, or its labels; None is unknown.
        predicted : iterable
            What the model predicted.

        Returns
        -------
        Evaluation or None
            Measures per class and the confusion table; None if the model knows none of the labels.
        """
        return judged(self.classes, self.labels is not None, truth, predicted)

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
            "record": None if self.record is None else self.record.to_json(),
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


def _one_thread(steps: Pipeline) -> Pipeline:
    """Return steps whose vectorizer counts with one thread, where several pieces are counted at once."""
    first = steps[0]
    if not isinstance(first, TermVectorizer) or first.n_threads is not None:
        return steps
    alone = copy(first)
    alone.n_threads = 1
    return Pipeline([(steps.steps[0][0], alone), *steps.steps[1:]])


def export(model: Model, to: str = "json", *, dialect: str = "duckdb") -> str:
    """Return a model in a form that needs no termsieve: see `Model.describe` and docs/export.md.

    Parameters
    ----------
    model : Model
        The model.
    to : {"json", "python", "js", "sql", "html"}
        The description itself, a Python file or a JavaScript module that holds model and scorer, a script for
        a database, or a page to try the model in a browser.
    dialect : {"duckdb", "postgres"}
        The database, for SQL.

    Returns
    -------
    str
        The content of the file.

    Raises
    ------
    InputError
        If the model cannot be expressed so; the message says what to choose instead.

    Examples
    --------
    >>> from termsieve import train_model
    >>> mail = Corpus(["buy cheap", "buy now", "see you", "see me"], ["spam", "spam", "ham", "ham"])
    >>> export(train_model(mail, k=2)).startswith('{"format":"termsieve portable model","version":1')
    True
    """
    return exported(model.describe(), to, dialect)


def model_card(model: Model) -> str:
    """Return the model card, in Markdown: purpose, data, figures, words, limits, how to reproduce it.

    Parameters
    ----------
    model : Model
        The model.

    Returns
    -------
    str
        The card.

    Examples
    --------
    >>> from termsieve import train_model
    >>> mail = Corpus(["buy cheap", "buy now", "see you", "see me"], ["spam", "spam", "ham", "ham"])
    >>> model_card(train_model(mail, k=2)).startswith("# ")
    True
    """
    return card_text(model.describe())


def drift(
    model: Model, *sources: Corpus | Iterable[str], names: Sequence[str] = (), false_alarms: float = 0.05
) -> Drift:
    """Return how new documents differ from those that trained a model, one period per source.

    Parameters
    ----------
    model : Model
        A model with a record of its training, as `train_model` and `termsieve advise --pipeline` save it.
    *sources : Corpus or iterable of str
        The documents of each period, the earliest first; they need no labels.
    names : sequence of str, optional
        The names of the periods.
    false_alarms : float, default=0.05
        The probability of an alarm where nothing has changed, over all periods together.

    Returns
    -------
    Drift
        What has changed in each period, and whether the measured figures still apply.
    """
    if model.record is None:
        raise InputError(
            "the model has no record of its training, so nothing can be compared; train it again with this "
            "version of termsieve"
        )
    if not 0 < false_alarms < 1:
        raise ParameterError(f"false_alarms must lie between 0 and 1, not {false_alarms!r}")
    texts = [_texts(source) for source in sources]
    called = list(names) or [f"period {number}" for number in range(1, len(texts) + 1)]
    periods = [(name, each, model.predict(each)) for name, each in zip(called, texts, strict=True)]
    return compared(model.record, model.pipeline[0]._analysis().checked(), periods, false_alarms)


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
        Largest number of bytes that the file may unpack to.

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
        kept = held.get("record")
        held = held.get("pipeline")
        if isinstance(held, Pipeline):
            return Model(held, None if labels is None else tuple(labels), _record(kept, path))
    if not isinstance(held, Pipeline) or not hasattr(held, "predict"):
        raise FormatError(f"{path} holds a {type(held).__name__}, which cannot predict")
    return Model(held)


def _record(text: Any, path: str | os.PathLike[str]) -> Record | None:
    try:
        return None if text is None else Record.from_json(text)
    except FormatError as error:
        raise FormatError(f"{path} holds a damaged model: {error}") from None


def _are_labels(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(label, str | int | float) for label in found)


def _texts(given: Iterable[str] | Corpus) -> list[str]:
    if isinstance(given, Corpus):
        if given.texts is None:
            raise ParameterError(f"{given.name or 'the corpus'} holds word counts; give the texts")
        return list(given.texts)
    if isinstance(given, str | bytes):
        raise ParameterError("predict takes a list of texts; put a single text into a list")
    return list(given)
