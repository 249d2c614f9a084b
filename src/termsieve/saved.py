"""A model file comes in; what it describes goes out, rebuilt from allowed types, parameter values and arrays.

skops makes sure that a file holds only types that are trusted. That is not enough for a file from elsewhere:
a trusted vectorizer with `input="filename"` opens files, and a regular expression can take for ever. So every
estimator is made anew here, with parameters that are on a list and with fitted arrays that fit each other.
"""

from __future__ import annotations

import io
import json
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import skops.io
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier, _ConstantPredictor
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer, Normalizer
from sklearn.svm import LinearSVC

from termsieve import estimators
from termsieve.counts import Counts
from termsieve.counts.storage import refuse_contradictions
from termsieve.errors import FormatError, InputError, ParameterError, TermsieveError
from termsieve.estimators import TermVectorizer
from termsieve.learners import LEARNERS
from termsieve.matrices import sound_csr
from termsieve.readers.files import MAX_BYTES, check_max_bytes, check_regular, too_large
from termsieve.scores import Scores
from termsieve.terms import (
    ANALYZERS,
    FORMS,
    LANGUAGES,
    SEGMENTERS,
    STEMMERS,
    linear_pattern,
    term_numbers,
)

# What a value that cannot be raises where it is used.
MALFORMED = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
SCHEMA = "schema.json"  # the member of a skops file that describes all others
MOST_THREADS = 64
MOST_N = 20  # words or characters of an n-gram
OWN_FILE = "if the file is your own, load it with trust=True (--trust)"
NUMPY_TYPES = (np.bool_, np.str_, *np.sctypeDict.values())
# What a file may hold beside estimators: the loader of skops, and the types that it may make.
PLAIN: dict[str, set[Any]] = {
    "JsonNode": {str, int, float, bool},
    "DictNode": {dict},
    "ListNode": {list},
    "TupleNode": {tuple},
    "SetNode": {set},
    "TypeNode": {str, int, float, bool, *NUMPY_TYPES},
    "NdArrayNode": {np.ndarray, *NUMPY_TYPES},
    "DTypeNode": {np.dtype, *NUMPY_TYPES},
    "SparseMatrixNode": {sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix},
}
# The estimators of scikit-learn whose parameters and fitted arrays are known here.
KNOWN = (
    *(Pipeline, CountVectorizer, TfidfVectorizer, TfidfTransformer, Normalizer),
    *(MultinomialNB, ComplementNB, BernoulliNB, LinearSVC, LogisticRegression),
    *(OneVsRestClassifier, LabelBinarizer, _ConstantPredictor),
)

# Fitted attributes by what must be true of them; the names mean the same in all of the known classes.
FINITE = {
    "coef_",
    "intercept_",
    "idf_",
    "weights_",
    "feature_log_prob_",
    "class_log_prior_",
    "prior_log_prob_",
}
PER_COLUMN = {"coef_", "feature_log_prob_", "idf_", "support_"}
COLUMNS = {"selected_", "ranking_", "kept_", "selections_"}


class Rule(NamedTuple):
    """Which values of a parameter are allowed, and how to say so."""

    allows: Callable[[Any], bool]
    wanted: str


def one_of(*values: Any) -> Rule:
    """Return the rule that allows some values and no others."""
    return Rule(
        lambda value: any(type(value) is type(known) and value == known for known in values),
        " or ".join(map(repr, values)),
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _whole(low: int, high: int) -> Rule:
    return Rule(
        lambda value: value is None or (_is_whole(value) and low <= value <= high),
        f"None or a whole number from {low} to {high}",
    )


def _is_words(value: Any) -> bool:
    return isinstance(value, list | tuple | set) and all(isinstance(word, str) for word in value)


def _is_vocabulary(value: Any) -> bool:
    return value is None or _is_words(value) or isinstance(value, dict)


def _is_ngram_range(value: Any) -> bool:
    if not isinstance(value, tuple | list) or len(value) != 2:
        return False
    return all(map(_is_whole, value)) and 1 <= value[0] <= value[1] <= MOST_N


def _is_numeric(value: Any) -> bool:
    return isinstance(value, type | np.dtype) and np.dtype(value).kind in "biuf"


TEXT_RULES = {
    "input": one_of("content"),
    "encoding": Rule(
        lambda value: isinstance(value, str) and bool(re.fullmatch(r"[\w-]{1,30}", value)), "a codec's name"
    ),
    "decode_error": one_of("strict", "ignore", "replace"),
    "strip_accents": one_of(None, "ascii", "unicode"),
    "preprocessor": one_of(None),
    "tokenizer": one_of(None, *SEGMENTERS),
    "stop_words": Rule(
        lambda value: value is None or _is_words(value) or (isinstance(value, str) and value in LANGUAGES),
        "the name of a language, or words",
    ),
    "token_pattern": Rule(
        lambda value: value is None or (isinstance(value, str) and linear_pattern(value)),
        r"a pattern that repeats one class of characters, such as '(?u)\b\w\w+\b'",
    ),
    "ngram_range": Rule(_is_ngram_range, f"a pair of whole numbers from 1 to {MOST_N}"),
    "analyzer": one_of(*ANALYZERS),
    "vocabulary": Rule(_is_vocabulary, "a list of terms, or a mapping from terms to columns"),
    "dtype": Rule(_is_numeric, "a type of numbers"),
    "stem": one_of(None, *STEMMERS),
    "normalize": one_of(None, *FORMS),
    "language": one_of(None, "auto", *LANGUAGES),
    "n_threads": _whole(1, MOST_THREADS),
}
# One table of parameters per class; a parameter without a rule may have any plain value.
PARAMETERS: dict[type, Mapping[str, Rule]] = {
    Pipeline: {"memory": one_of(None)},
    CountVectorizer: TEXT_RULES,
    TfidfVectorizer: TEXT_RULES,
    TermVectorizer: TEXT_RULES,
    LogisticRegression: {"n_jobs": _whole(-1, MOST_THREADS)},
    OneVsRestClassifier: {"n_jobs": _whole(-1, MOST_THREADS)},
}


def rules_of(kind: type) -> Mapping[str, Rule]:
    """Return the rules for the parameters of a class.

    An estimator of this package declares its own beside its definition: `_loadable` maps the name of a
    parameter to the values that a loaded model may have.
    """
    own = {name: one_of(*values) for name, values in getattr(kind, "_loadable", {}).items()}
    return {**PARAMETERS.get(kind, {}), **own}


@cache
def loadable_types() -> frozenset[type]:
    """Return the classes of the objects that a model from elsewhere may hold."""
    own = [getattr(estimators, name) for name in estimators.__all__]
    classes: list[Any] = [kind for kind in own if isinstance(kind, type)]
    classes += [entry.estimator for entry in LEARNERS.values() if _is_ours(entry.estimator)]
    return frozenset([*classes, *KNOWN, Counts, Scores])


def _is_ours(kind: Any) -> bool:
    return isinstance(kind, type) and kind.__module__.startswith("termsieve.")


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@cache
def _allowed() -> dict[str, set[str]]:
    """Return the types by loader, as the schema of a file names them."""
    return {loader: set(map(_name, kinds)) for loader, kinds in PLAIN.items()} | {
        "ObjectNode": set(map(_name, loadable_types()))
    }


def trusted_types() -> list[str]:
    """Return the names of the types that skops is to trust beside those that it trusts itself."""
    own = [kind for kind in loadable_types() if kind is _ConstantPredictor or _is_ours(kind)]
    return sorted(map(_name, [*own, *PLAIN["SparseMatrixNode"]]))


def untrusted(content: bytes) -> list[str]:
    """Return the types in the bytes of a skops file that could not be loaded even with trust."""
    return sorted(set(skops.io.get_untrusted_types(data=content)) - set(trusted_types()))


def load_saved(path: str | os.PathLike[str], trust: bool = False, max_bytes: int = MAX_BYTES) -> Any:
    """Return what a skops file holds; without `trust`, rebuilt from what is allowed and nothing else.

    Raises FormatError for a file that is damaged, that holds a type, a parameter or an array that is not
    allowed, or that would unpack to more than `max_bytes`.
    """
    check_max_bytes(max_bytes)
    check_regular(path)
    try:
        content, types = _described(path, max_bytes)
        foreign = untrusted(content)
        if foreign:
            raise FormatError(
                f"{path} holds types that are not to be trusted ({', '.join(foreign)}); it is not loaded"
            )
        if types and not trust:
            raise FormatError(
                f"{path} holds {', '.join(sorted(types))}, which a model from elsewhere may not hold; "
                f"{OWN_FILE}"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other versions: the file says nothing a user can act on
            held = skops.io.loads(content, trusted=trusted_types())
    except (FormatError, OSError):
        raise
    except Exception as error:
        # What a damaged archive raises depends on where it is damaged.
        raise FormatError(f"{path} is no readable skops file: {_first_line(error)}") from None
    return held if trust else _checked(held, path)


def _checked(held: Any, path: str | os.PathLike[str]) -> Any:
    try:
        return rebuilt(held)
    except ParameterError as error:
        raise FormatError(f"{path} is not loaded: {error}; {OWN_FILE}") from None
    except (TermsieveError, *MALFORMED) as error:
        raise FormatError(f"{path} holds a damaged model: {_first_line(error)}") from None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _described(path: str | os.PathLike[str], max_bytes: int) -> tuple[bytes, set[str]]:
    """Return a skops file whose nodes are all written out, and the types in it that are not allowed.

    A node may stand for an earlier one by its number. A small file can so describe a huge tree, or one
    without an end; without the numbers a tree is as large as its description.
    """
    with zipfile.ZipFile(path) as archive:
        if sum(info.file_size for info in archive.infolist()) > max_bytes:
            raise too_large(f"{path} unpacks to more bytes", max_bytes)
        schema = json.loads(archive.read(SCHEMA))
        room, types = max_bytes, set()
        for node in _nodes(schema):
            node.pop("__id__", None)
            loader, kind = node["__loader__"], f"{node.get('__module__')}.{node.get('__class__')}"
            if kind not in _allowed().get(loader, ()):
                types.add(kind)
            if isinstance(node.get("file"), str):
                room -= _unpacked_size(archive, node["file"])
                if room < 0:
                    raise too_large(f"{path} unpacks to more bytes", max_bytes)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as plain:
            plain.writestr(SCHEMA, json.dumps(schema))
            for name in set(archive.namelist()) - {SCHEMA}:
                plain.writestr(name, archive.read(name))
    return buffer.getvalue(), types


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every node of a schema: a mapping with a loader."""
    pending = [schema]
    while pending:
        found = pending.pop()
        if isinstance(found, dict):
            if isinstance(found.get("__loader__"), str):
                yield found
            pending += found.values()
        elif isinstance(found, list):
            pending += found


def _unpacked_size(archive: zipfile.ZipFile, name: str) -> int:
    """Return how many bytes a member takes; one with a sparse matrix is an archive itself."""
    if not name.endswith(".npz"):
        return archive.getinfo(name).file_size
    with zipfile.ZipFile(io.BytesIO(archive.read(name))) as inner:
        return sum(info.file_size for info in inner.infolist())


def rebuilt(value: Any, where: str = "the model") -> Any:
    """Return a value from a file, made anew: plain values, arrays, counts, and estimators of known classes.

    Raises ParameterError for a parameter that is not allowed, and InputError for impossible arrays.
    """
    if value is None or isinstance(value, bool | int | float | str | np.generic | np.dtype):
        return value
    if isinstance(value, type) and (value in PLAIN["TypeNode"]):
        return value
    if isinstance(value, list | tuple | set):
        return type(value)(rebuilt(item, where) for item in value)
    if isinstance(value, dict):
        return {rebuilt(key, where): rebuilt(item, where) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _array(value, where)
    if sparse.issparse(value):
        return sound_csr(value, where)
    if type(value) not in loadable_types():
        raise InputError(f"{where} holds a {type(value).__name__}")
    if isinstance(value, Counts):
        return _counts(value, where)
    if isinstance(value, Scores):
        return Scores(rebuilt(value.counts, where), value.metric, bool(value.folded))
    return _estimator(value)


def _array(array: np.ndarray, where: str) -> np.ndarray:
    if array.dtype == object:
        for item in array.ravel().tolist():
            if not (item is None or isinstance(item, str | int | float)):
                raise InputError(f"{where} holds an array of {type(item).__name__}")
    elif array.dtype.kind not in "biufUS":
        raise InputError(f"{where} holds an array of {array.dtype}")
    return array


def _counts(counts: Counts, where: str) -> Counts:
    state = {name: rebuilt(item, where) for name, item in counts.__getstate__().items()}
    checked = Counts(**state)
    refuse_contradictions(checked)
    return checked


def _estimator(given: BaseEstimator) -> BaseEstimator:
    """Return an estimator of the same class with the same parameters and fitted attributes, all checked."""
    kind, state = type(given), given.__getstate__()
    rules = rules_of(kind)
    names = [name for name in kind._get_param_names() if name in state]
    parameters = {name: rebuilt(state[name], f"{kind.__name__}.{name}") for name in names}
    for name, value in parameters.items():
        if name in rules and not rules[name].allows(value):
            raise ParameterError(
                f"{kind.__name__} has {name}={value!r:.60}, and a model from elsewhere may have only "
                f"{rules[name].wanted}"
            )
    if parameters.get("vocabulary") is not None:
        _check_vocabulary(parameters["vocabulary"], kind.__name__)
    estimator = kind(**parameters)
    for name, value in state.items():
        # Anything else is no part of a fitted estimator, or would hide a method of its class.
        hides = hasattr(kind, name) and not isinstance(getattr(kind, name), cached_property)
        fitted = name.endswith("_") and not name.startswith("_") and not hides
        if fitted or name == "_tfidf":
            setattr(estimator, name, rebuilt(value, f"{kind.__name__}.{name}"))
    _check_fitted(estimator)
    return estimator


def _check_fitted(estimator: Any) -> None:
    """Raise InputError where the fitted arrays of an estimator cannot belong together."""
    name, state = type(estimator).__name__, vars(estimator)
    width = state.get("n_features_in_")
    if width is not None and (not _is_whole(width) or width < 0):
        raise InputError(f"{name} has an impossible number of columns")
    if "vocabulary_" in state:
        _check_vocabulary(state["vocabulary_"], name)
    for attribute in FINITE & state.keys():
        _check_finite(state[attribute], f"{name}.{attribute}")
    for attribute in PER_COLUMN & state.keys():
        if width is not None and (np.shape(state[attribute]) or (0,))[-1] != width:
            raise InputError(f"{name}.{attribute} does not have one value per column")
    for attribute in COLUMNS & state.keys():
        found = state[attribute]
        for columns in found if isinstance(found, list) else [found]:
            _check_columns(columns, width, f"{name}.{attribute}")
    if "coef_" in state and "classes_" in state:
        _check_problems(state, name)


def _check_vocabulary(vocabulary: Any, name: str) -> None:
    try:
        numbers = term_numbers(vocabulary)
    except (TermsieveError, TypeError) as error:
        raise InputError(f"{name}: {error}") from None
    if not all(map(_is_whole, numbers.values())) or not all(isinstance(term, str) for term in numbers):
        raise InputError(f"the vocabulary of {name} must have a whole number for each term")


def _check_finite(value: Any, name: str) -> None:
    data = value.data if sparse.issparse(value) else np.asarray(value)
    if data.dtype.kind not in "biuf" or not np.isfinite(data).all():
        raise InputError(f"{name} must hold finite numbers")


def _check_columns(columns: Any, width: Any, name: str) -> None:
    found = np.asarray(columns)
    whole = found.ndim == 1 and (found.dtype.kind in "iu" or not len(found)) and _is_whole(width)
    if not whole or (len(found) and not 0 <= found.min() <= found.max() < width):
        raise InputError(f"{name} names columns that are not there")


def _check_problems(state: Mapping[str, Any], name: str) -> None:
    """Check that a linear model has one row of weights for two classes, else one per class or pair."""
    rows, n = (np.shape(state["coef_"]) or (0,))[0], len(state["classes_"])
    intercepts = np.shape(state.get("intercept_", 0.0))
    fits = rows == 1 if n == 2 else n > 2 and rows in (n, n * (n - 1) // 2)
    if np.ndim(state["coef_"]) != 2 or not fits or intercepts not in ((), (1,), (rows,)):
        raise InputError(f"{name} has weights for another number of classes")
