"""A learner's name comes in; a new scikit-learn classifier, or the learner's declaration, goes out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from termsieve.errors import ParameterError, unknown_name
from termsieve.spec import parse_spec

Reads = Literal["presence", "counts", "tfidf", "any"]
Several = Literal["rest", "pairs", "own"]
# (estimator, X_train, y_train, X_test, column sets) -> decision values, sets x test documents
Along = Callable[[Any, Any, NDArray[np.bool_], Any, list[NDArray[np.int64]]], NDArray[np.float64]]
Estimator = TypeVar("Estimator", bound=type)


class TrainingCost(NamedTuple):
    """About how long one training of two classes takes: some seconds, and some more per nonzero cell.

    Studies cut their work into units by it; it never changes a result. `benchmarks/training_costs.py`
    measures it: processor seconds of a training on one thread, as the mean over the sizes of forman2003's
    path (10 to 2,000 terms and all); `seconds` on 40 documents, `seconds_per_cell` as the slope over the
    cells of tr12, oh0, re0 and la1.

    Parameters
    ----------
    seconds : float
        Seconds of a training on few documents.
    seconds_per_cell : float
        Further seconds per nonzero cell.
    """

    seconds: float
    seconds_per_cell: float

    def of(self, n_cells: int) -> float:
        """Return the seconds of one training on a corpus of that many nonzero cells.

        Parameters
        ----------
        n_cells : int
            Number of nonzero cells.

        Returns
        -------
        float
            The seconds.
        """
        return self.seconds + self.seconds_per_cell * n_cells


# For a learner that declares no cost: the highest of the measured costs.
UNKNOWN_COST = TrainingCost(6e-4, 8e-8)


@dataclass(frozen=True)
class Learner:
    """The declaration of a learner; see `register_learner`.

    Parameters
    ----------
    name : str
        What users write.
    estimator : callable
        The classifier's class, or a function that makes one.
    parameters : tuple of str, default=()
        The parameters that a name may set.
    objective : str, default=""
        What training minimises, in words.
    cite : str, default=""
        The papers that use it.
    reads : {"presence", "counts", "tfidf", "any"}
        The values that it is made for.
    several : {"rest", "pairs", "own"}
        How it decides between more than two classes.
    along : callable, optional
        A function that trains it on many sets of columns together.
    by_columns : bool, default=False
        Whether `along` also takes matrices as `termsieve.learners.rows.Columns`.
    cost : TrainingCost
        About how long a training takes.
    same : tuple of type, default=()
        Other classes whose objects train the same model from the same parameters.
    """

    name: str
    estimator: Callable[..., Any] = field(repr=False)
    parameters: tuple[str, ...] = ()
    objective: str = ""
    cite: str = ""
    reads: Reads = "any"
    several: Several = "own"
    along: Along | None = field(default=None, repr=False)
    by_columns: bool = False
    cost: TrainingCost = UNKNOWN_COST
    same: tuple[type, ...] = ()

    def defaults(self) -> dict[str, Any]:
        """Return the default of each parameter a name may set."""
        return {key: getattr(self.estimator(), key) for key in self.parameters}


#: The registry of learners: name -> declaration. :func:`termsieve.register_learner` adds to it.
LEARNERS: dict[str, Learner] = {}


def register_learner(name: str, *parameters: str, **facts: Any) -> Callable[[Estimator], Estimator]:
    """Register the decorated scikit-learn classifier as the learner `name`.

    Parameters
    ----------
    name : str
        What users write: ``"svm"``. A variant of another learner has a word in brackets: ``"nb(quotient)"``.
    *parameters : str
        The parameters of the constructor that a name may set, as in ``"svm(C=10)"``. Each must be a number
        above 0, and a whole number if the default is one.
    **facts
        The other fields of the declaration. ``objective``: what training minimises, in words. ``cite``: the
        papers that use it. ``reads``: the values that it is made for: "presence", "counts" or "tfidf" of the
        terms, or "any". ``several``: how it decides between more than two classes when it is trained along a
        ranking: each class against the "rest", "pairs" of classes that vote, or its "own" ``predict``.
        ``along``: a function that trains it on many sets of columns together; without it, it is fitted once
        per set. ``by_columns``: whether that function also takes a matrix by columns. ``cost``: a
        `TrainingCost`. ``same``: other classes that train the same model.

    Returns
    -------
    callable
        The decorator; it returns the classifier unchanged.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> _ = register_learner("bernoulli", "alpha", reads="presence")(BernoulliNB)
    >>> get_learner("bernoulli(alpha=0.5)")
    BernoulliNB(alpha=0.5)
    >>> del LEARNERS["bernoulli"]
    """

    def register(estimator: Estimator) -> Estimator:
        LEARNERS[name] = Learner(name, estimator, parameters, **facts)
        return estimator

    return register


def check_parameter(owner: str, key: str, value: Any, default: Any) -> None:
    """Raise ParameterError unless `value` is a number above 0, and a whole one where `default` is one."""
    whole = isinstance(default, Integral)
    if not isinstance(value, Integral if whole else Real) or not 0 < float(value) < float("inf"):
        wanted = "a whole number" if whole else "a number"
        raise ParameterError(f"{key}={value!r} of {owner} is not {wanted} above 0")


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    """Return the registry's name and the parameters that `text` spells: nb(quotient, alpha=0.5)."""
    head, flags, given = parse_spec(text)
    name = f"{head}({', '.join(map(str, flags))})" if flags else head
    if name not in LEARNERS:
        raise unknown_name("learner", name, LEARNERS)
    known = LEARNERS[name].defaults()
    for parameter, value in given.items():
        if parameter not in known:
            raise unknown_name(f"parameter of learner '{name}'", parameter, known)
        check_parameter(f"learner '{name}'", parameter, value, known[parameter])
    return name, {key: type(known[key])(value) for key, value in given.items()}


def get_learner(name: Any) -> Any:
    """Return a new scikit-learn classifier that is not yet fitted.

    Parameters
    ----------
    name : str or classifier
        The name of a learner, such as "svm" or "perceptron(passes=3)", or a scikit-learn classifier, which is
        cloned.

    Returns
    -------
    classifier
        The scikit-learn classifier.

    Examples
    --------
    >>> get_learner("nb(quotient)"), get_learner("perceptron(passes=3)")
    (QuotientNB(), DocumentPerceptron(passes=3))
    """
    if isinstance(name, str):
        key, parameters = _parsed(name)
        return LEARNERS[key].estimator(**parameters)
    if isinstance(name, type) or not hasattr(name, "fit") or not is_classifier(name):
        raise ParameterError(
            f"{name!r} is not a learner; give a scikit-learn classifier or one of {', '.join(LEARNERS)}"
        )
    return clone(name)


def learner_declaration(learner: Any) -> Learner:
    """Return the declaration of a learner, given by name or as a classifier.

    A classifier that is not registered has a declaration with defaults only, and so has a subclass of a
    registered one, because it may decide differently.

    Parameters
    ----------
    learner : str or classifier
        The learner.

    Returns
    -------
    Learner
        The declaration.

    Examples
    --------
    >>> learner_declaration("nb(alpha=0.5)").reads
    'counts'
    """
    if isinstance(learner, str):
        return LEARNERS[_parsed(learner)[0]]
    for entry in LEARNERS.values():
        if type(learner) in (entry.estimator, *entry.same):
            return entry
    return Learner(type(learner).__name__, type(learner))


def learner_name(name: Any) -> str:
    """Return the printed form of a learner; the name of a registered one can be parsed again.

    Parameters
    ----------
    name : str or classifier
        The learner.

    Returns
    -------
    str
        The name with its parameters.

    Examples
    --------
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> learner_name("perceptron(passes = 1)"), learner_name(MultinomialNB(alpha=0.5))
    ('perceptron', 'nb(alpha=0.5)')
    """
    estimator = get_learner(name)
    entry = learner_declaration(estimator)
    if entry.name in LEARNERS:
        plain = entry.estimator().get_params()
        changed = {k: v for k, v in estimator.get_params().items() if v != plain[k]}
        if set(changed) <= set(entry.parameters):
            return _printed(entry.name, changed)
    return re.sub(r"\s+", " ", repr(estimator))


def _printed(name: str, parameters: dict[str, Any]) -> str:
    parts = [f"{key}={value!r}" for key, value in parameters.items()]
    if not parts:
        return name
    head, _, flag = name.partition("(")
    return f"{head}({', '.join([*filter(None, [flag.rstrip(')')]), *parts])})"
