"""A fitted pipeline comes in; its description as plain values goes out, or an error that says what to choose.

The description is all that a scorer in any language needs; schema.json documents it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier, _ConstantPredictor
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer

from termsieve.errors import InputError
from termsieve.estimators import DecisionClassifier, TermVectorizer, TermWeighter
from termsieve.estimators.decision import NEVER
from termsieve.estimators.scaler import TermScaler
from termsieve.learners import LEARNERS
from termsieve.learners.linear import HingeSVM, LinearClassifier, LogisticL2
from termsieve.portable.alphabet import SMALL_SIGMAS, character_ranges, lower_table
from termsieve.portable.scorer import FORMAT, MOST_LEAST, MOST_N, STEMS, VERSION, check
from termsieve.terms import Analysis, linear_pattern
from termsieve.terms.alphabet import token_runs
from termsieve.terms.languages import stop_word_set

Floats = NDArray[np.float64]
SPACE = r"\s"
# The options of text analysis that a description can hold; of any other only the default is exported.
KNOWN = ("lowercase", "token_pattern", "stop_words", "ngram_range", "analyzer", "stem")


def description_of(pipeline: Pipeline, labels: Sequence[Any] | None = None) -> dict[str, Any]:
    """Return the description of a fitted pipeline from texts to classes; `labels` if it gives several."""
    first, rest = pipeline[0], _steps(pipeline[1:])
    vocabulary, analysis, input_ = _vectorised(first)
    decision = rest.pop()
    thresholds: Any = 0.0
    learners: list[Any] = [decision]
    if isinstance(decision, DecisionClassifier):
        learners, inner = _decided(decision)
        rest += inner
        thresholds = _thresholds(decision)
    for step in rest:
        input_ = _transformed(input_, step)
    rows = _rows(decision, learners)
    classes = _labels(rows.classes if labels is None else labels)
    columns, scales, weights = input_.finished(rows.weights)
    terms = [vocabulary[column] for column in columns]
    found = {
        "format": FORMAT,
        "version": VERSION,
        "text": _text(analysis, terms),
        "terms": terms,
        "values": input_.values,
        "scales": None if (scales == 1.0).all() else scales.tolist(),
        "unit_length": input_.length is not None,
        "weights": weights.T.tolist(),
        "intercepts": rows.intercepts.tolist(),
        "thresholds": np.broadcast_to(thresholds, rows.intercepts.shape).astype(float).tolist(),
        "decision": rows.decision,
        "probability": rows.probability,
        "calibration": rows.calibration,
        "classes": classes,
    }
    check(found)
    return found


def refused(what: str, instead: str) -> InputError:
    """Return the error that says what cannot be exported and what to choose instead."""
    return InputError(f"{what} cannot be exported; {instead}")


def _steps(pipeline: Any) -> list[Any]:
    """Return the steps of a pipeline, with those of pipelines inside it."""
    found: list[Any] = []
    for _, step in pipeline.steps:
        found += _steps(step) if isinstance(step, Pipeline) else [step]
    return [step for step in found if step is not None and not isinstance(step, str)]


@dataclass(frozen=True)
class Input:
    """What a learner reads: which columns of the counts, how they are scaled, what the length is taken of."""

    columns: NDArray[np.int64]
    values: str
    scales: Floats  # one per column of the counts
    length: NDArray[np.int64] | None = None  # the columns that the Euclidean length is taken of

    def finished(self, weights: Floats) -> tuple[list[int], Floats, Floats]:
        """Return the columns that matter, their scales and their weights; a scale of 0 means nothing."""
        needed = self.columns if self.length is None else np.union1d(self.columns, self.length)
        needed = needed[self.scales[needed] != 0]
        if not len(needed):
            raise refused("a model without terms", "train it with at least one")
        full = np.zeros((len(weights), len(self.scales)))
        full[:, self.columns] = weights
        return needed.tolist(), self.scales[needed], full[:, needed]


def _vectorised(step: Any) -> tuple[list[str], Analysis, Input]:
    """Return the vocabulary, the analysis and the input that a vectorizer makes."""
    if isinstance(step, TermVectorizer):
        analysis = step._analysis().checked()  # with the stop words and the stemmer of its language
    elif isinstance(step, CountVectorizer):
        analysis = Analysis(
            **{name: getattr(step, name) for name in (*KNOWN, "strip_accents") if name != "stem"},
            preprocessor=step.preprocessor,
            tokenizer=step.tokenizer,
        )
    else:
        raise refused(f"a pipeline that begins with {type(step).__name__}", "begin with TermVectorizer")
    if step.input != "content":
        raise refused(f"input={step.input!r}", "export a model of texts")
    vocabulary = [str(term) for term in step.get_feature_names_out()]
    everything = np.arange(len(vocabulary))
    found = Input(everything, "presence" if step.binary else "count", np.ones(len(vocabulary)))
    if isinstance(step, TfidfVectorizer):
        found = _tfidf(found, step._tfidf)
    return vocabulary, analysis, found


def _transformed(input_: Input, step: Any) -> Input:
    for kinds, change in CHANGES.items():
        if isinstance(step, kinds):
            return change(input_, step)
    raise refused(
        f"the step {type(step).__name__}", "use TermScaler, TermWeighter, Normalizer and selectors of terms"
    )


def _scaled(input_: Input, step: TermScaler) -> Input:
    values = {"presence": "presence", "tf": "count", "log": "log"}[step.values]
    columns = input_.columns[step.kept_]
    changed = _weighed(replace(input_, columns=columns), step.weights_, values)
    return replace(changed, length=columns) if step.unit_length else changed


def _weighed(input_: Input, weights: Any, values: str) -> Input:
    """Return the input with each column multiplied by a weight, and counts turned into values."""
    if input_.length is not None or (input_.values != values and input_.values != "count"):
        if input_.values == "presence" and input_.length is None:
            values = "presence"  # every count is 1, and so are its logarithm's value and its presence
        else:
            raise refused("a model that scales terms twice", "scale them once")
    scales = input_.scales.copy()
    scales[input_.columns] *= np.asarray(weights, dtype=float)
    return replace(input_, scales=scales, values=values)


def _tfidf(input_: Input, step: TfidfTransformer) -> Input:
    if step.norm not in (None, "l2"):
        raise refused(f"norm={step.norm!r}", "use norm='l2'")
    weights = step.idf_ if step.use_idf else np.ones(len(input_.columns))
    changed = _weighed(input_, weights, "log" if step.sublinear_tf else input_.values)
    return replace(changed, length=changed.columns) if step.norm else changed


def _normalised(input_: Input, step: Normalizer) -> Input:
    if step.norm != "l2":
        raise refused(f"norm={step.norm!r}", "use norm='l2'")
    # An earlier division by the length of more columns cancels out.
    return replace(input_, length=input_.columns)


def _selected(input_: Input, step: Any) -> Input:
    return replace(input_, columns=input_.columns[np.flatnonzero(step.get_support())])


def _by_metric(input_: Input, step: TermWeighter) -> Input:
    return _weighed(input_, step.weights_, "presence" if step.values == "presence" else input_.values)


CHANGES: dict[Any, Callable[[Input, Any], Input]] = {
    TermScaler: _scaled,
    TermWeighter: _by_metric,
    TfidfTransformer: _tfidf,
    Normalizer: _normalised,
    SelectorMixin: _selected,
}


def _decided(step: DecisionClassifier) -> tuple[list[Any], list[Any]]:
    """Return the learners of a DecisionClassifier, and the steps before them."""
    if step.several_labels_:
        return list(step.models_), _steps(step.shared_) if hasattr(step, "shared_") else []
    (model,) = step.models_
    if not isinstance(model, Pipeline):
        return [model], []
    return [model[-1]], _steps(model[:-1])


def _thresholds(step: DecisionClassifier) -> Any:
    if step.several_labels_ or len(step.classes_) == 2:
        return step.thresholds if step.several_labels_ else float(np.ravel(step.thresholds)[0])
    return step.tilt * step.log_shares_


@dataclass(frozen=True)
class Rows:
    """Weights and intercepts, one row for two classes or one per class, and how the rows decide."""

    weights: Floats
    intercepts: Floats
    decision: str
    classes: Any
    probability: str | None = None
    calibration: list[list[float]] | None = None


def _rows(decision: Any, learners: list[Any]) -> Rows:
    if isinstance(decision, DecisionClassifier):
        if not decision.several_labels_:
            (learner,) = learners
            rows = _linear(learner)
            if rows.probability == "softmax":  # its decision values are no linear function
                raise refused(f"{type(learner).__name__} with a threshold", "choose svm or lr")
        else:
            rows = _one_per_label(learners, decision.classes_, (1.0, NEVER))
        sigmoids = decision.sigmoids
        return replace(
            rows,
            classes=decision.classes_,
            probability=None if sigmoids is None else "logistic",
            calibration=None if sigmoids is None else [[float(n) for n in pair] for pair in sigmoids],
        )
    if isinstance(decision, OneVsRestClassifier):
        if not decision.multilabel_:
            raise refused("OneVsRestClassifier for single labels", "use the classifier itself")
        learners = [
            bool(each.y_[0]) if isinstance(each, _ConstantPredictor) else each
            for each in decision.estimators_
        ]
        return _one_per_label(learners, decision.classes_, (1.0, 0.0))
    return _linear(decision)


def _one_per_label(learners: list[Any], classes: Any, constants: tuple[float, float]) -> Rows:
    """Return one row per label; a label that all or no documents have is a constant."""
    trained = [each for each in learners if hasattr(each, "fit")]
    if not trained:
        raise refused("a model in which every label is constant", "train it on labels that vary")
    rows = [_linear(each) if hasattr(each, "fit") else None for each in learners]
    width = next(row.weights.shape[1] for row in rows if row is not None)
    weights = [np.zeros(width) if row is None else row.weights[0] for row in rows]
    ends = [
        constants[0 if learner else 1] if row is None else row.intercepts[0]
        for learner, row in zip(learners, rows, strict=True)
    ]
    kinds = {row.probability for row in rows if row is not None}
    return Rows(np.stack(weights), np.array(ends, dtype=float), "each", classes, kinds.pop())


def _difference(rows: Rows) -> Rows:
    """Return two rows of log-probabilities as one row: the second less the first."""
    return Rows(np.diff(rows.weights, axis=0), np.diff(rows.intercepts), "two", rows.classes, "logistic")


def _linear(learner: Any) -> Rows:
    """Return the weights of a linear classifier or of multinomial naive Bayes."""
    if isinstance(learner, MultinomialNB):
        rows = Rows(
            learner.feature_log_prob_, learner.class_log_prior_, "highest", learner.classes_, "softmax"
        )
        return _difference(rows) if len(learner.classes_) == 2 else rows
    if isinstance(learner, HingeSVM) and len(learner.classes_) > 2:
        raise refused("svm(hinge) for several classes, which pairs of classes decide,", "choose svm")
    if isinstance(learner, ComplementNB) or not (
        isinstance(learner, LinearClassifier | HingeSVM) or _has_weights(learner)
    ):
        raise refused(f"the learner {type(learner).__name__}", f"choose one of {', '.join(_exported())}")
    weights, n = np.asarray(learner.coef_, dtype=float), len(learner.classes_)
    ends = np.broadcast_to(np.asarray(learner.intercept_, dtype=float), len(weights)).copy()
    decision = "two" if n == 2 else "highest"
    return Rows(weights, ends, decision, learner.classes_, _probability(learner, decision))


def _exported() -> list[str]:
    """Return the names of the learners that can be exported for any number of classes."""
    linear = (LinearClassifier, MultinomialNB)
    return [
        name
        for name, entry in LEARNERS.items()
        if isinstance(entry.estimator, type) and issubclass(entry.estimator, linear)
    ]


def _has_weights(learner: Any) -> bool:
    weights: Any = getattr(learner, "coef_", 0.0)
    return hasattr(learner, "decision_function") and np.ndim(weights) == 2


def _probability(learner: Any, decision: str) -> str | None:
    if isinstance(learner, LogisticL2):
        return "logistic"
    if isinstance(learner, LogisticRegression):
        return "logistic" if decision == "two" else "softmax"
    return None


def _labels(classes: Any) -> list[Any]:
    found = [each.item() if isinstance(each, np.generic) else each for each in classes]
    for label in found:
        if isinstance(label, bool) or not isinstance(label, str | int | float):
            raise refused(f"a class of type {type(label).__name__}", "name the classes by texts or numbers")
    return found


def _text(analysis: Analysis, terms: list[str]) -> dict[str, Any]:
    """Return how a text becomes terms, with tables of characters instead of a pattern."""
    if isinstance(analysis.tokenizer, str):
        raise refused(
            f"the tokenizer {analysis.tokenizer!r}",
            "train with analyzer='char', which takes scripts without spaces by characters",
        )
    for field in fields(analysis):
        if field.name not in KNOWN and getattr(analysis, field.name) != field.default:
            raise refused(f"{field.name}={getattr(analysis, field.name)!r:.60}", "train the model without it")
    least, most = analysis.ngram_range
    if most > MOST_N:
        raise refused(f"ngram_range=({least}, {most})", f"train with at most {MOST_N}")
    if analysis.stem not in STEMS:
        raise refused(
            f"the stemmer {analysis.stem!r}",
            "train without one, with stop_words= instead of language= (--stop-words instead of --language); "
            "of the stemmers only 'porter', for English, can be",
        )
    if analysis.stem and not analysis.lowercase:
        raise refused(f"the stemmer {analysis.stem!r} on capitals", "train with lowercase=True")
    is_word = analysis.analyzer == "word"
    stops = stop_word_set(analysis.stop_words) if is_word else None
    words = sorted(word for word in stops or () if isinstance(word, str))
    sigma = any(small in text for text in (*terms, *words) for small in SMALL_SIGMAS)
    found = {
        "lowercase": lower_table(sigma) if analysis.lowercase else None,
        "analyzer": analysis.analyzer,
        "stop_words": words,
        "stem": analysis.stem,
        "ngrams": [int(least), int(most)],
    }
    if is_word:
        return found | {"token": _token(analysis.token_pattern)}
    if not isinstance(analysis.analyzer, str):
        raise refused("an analyzer of your own", "train with analyzer='word', 'char' or 'char_wb'")
    return found | {"spaces": list(character_ranges(SPACE))}


def _token(pattern: str | None) -> dict[str, Any]:
    runs = token_runs(pattern) if pattern is not None and linear_pattern(pattern) else None
    if runs is None or runs.min_length > MOST_LEAST:
        raise refused(
            f"the token pattern {pattern!r:.60}",
            r"train with one that repeats a set of characters, such as '(?u)\b\w\w+\b'",
        )
    token, word = character_ranges(runs.flags + runs.atom), character_ranges(runs.flags + r"\w")
    bounded = runs.starts_word or runs.ends_word
    return {
        "characters": list(token),
        "least": runs.min_length,
        "word": list(word) if bounded and word != token else None,
        "starts_word": runs.starts_word,
        "ends_word": runs.ends_word,
    }
