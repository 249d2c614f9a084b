"""A metric's name or a callable comes in; a Metric goes out: METRICS is the one registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from inspect import Parameter, signature
from typing import Any, Literal, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from termsieve.errors import ParameterError, unknown_name
from termsieve.spec import EXTRAS, bound_parameters, format_spec, parse_spec

#: How to read the values of a metric: whether they have a sign, and whether they know the class at all.
Kind = Literal["two-sided", "signed", "one-sided", "no class"]
#: An array of float64.
Floats = NDArray[np.float64]
Function = TypeVar("Function", bound=Callable[..., Any])
_TABLE = 4  # a metric's first parameters: tp, fp, pos, neg


class Occurrences(NamedTuple):
    """How often terms occur, for the metrics that count words rather than documents.

    Parameters
    ----------
    tf_pos : ndarray of float
        Occurrences of the term in the class.
    tf_neg : ndarray of float
        Occurrences of the term outside the class.
    all_pos : ndarray of float
        Occurrences of all terms in the class.
    all_neg : ndarray of float
        Occurrences of all terms outside the class.
    squares : ndarray of float
        Sum over documents of the squared occurrences of the term.
    n_terms : int
        Number of terms.
    names : ndarray of str, optional
        The terms, where they have names.
    """

    tf_pos: Floats  # occurrences of the term in the class
    tf_neg: Floats  # ... and outside it
    all_pos: Floats  # occurrences of all terms in the class
    all_neg: Floats
    squares: Floats  # sum over documents of the term's squared occurrences
    n_terms: int
    names: NDArray[Any] | None = None  # the terms themselves, where they have names


@dataclass(frozen=True, repr=False)
class Metric:
    """A function that scores the 2x2 table of a term and a class, with its declaration.

    Parameters
    ----------
    name : str
        What users write.
    function : callable
        The function of (tp, fp, pos, neg).
    label : str
        The name for readers.
    aliases : tuple of str
        Other names.
    kind : {"two-sided", "signed", "one-sided", "no class"}
        How to read a value: it is large for positive and negative terms alike; it has the sign of the
        direction; it is large for positive terms only; or it does not depend on the class.
    cite, formula, use : str
        The citation, the formula, and when to use the metric.
    folds : bool
        Whether negative terms are scored by their mirror image when both kinds are ranked.
    p_value : callable, optional
        The function from a score and the degrees of freedom to the p-value of the two-sided test. There is 1
        degree of freedom; in the form over all classes, one less than there are classes.
    standardised : bool
        Whether a score is in standard errors.
    by_name : bool
        Whether terms with equal counts may score differently.
    joint : callable, optional
        The form of the metric over all classes, a function of (tp, pos).
    registered : bool
        Whether the metric is in :data:`termsieve.METRICS`.
    parameters : dict
        The parameters that were given, such as ``{"lam": 0.3}``.

    Examples
    --------
    >>> from termsieve import get_metric
    >>> metric = get_metric("wfo(0.3)")
    >>> metric.label, metric.kind
    ('Weighed frequency and odds', 'one-sided')
    """

    name: str
    function: Callable[..., Any]
    label: str = ""
    aliases: tuple[str, ...] = ()
    kind: Kind = "two-sided"
    cite: str = ""
    formula: str = ""
    use: str = ""
    folds: bool = False
    p_value: Callable[[Floats, int], Floats] | None = None
    standardised: bool = False  # whether a score is in standard errors
    by_name: bool = False  # whether terms with equal counts may score differently
    joint: Callable[..., Floats] | None = None  # the form over all classes at once: (tp, pos, **parameters)
    registered: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)

    def __call__(self, tp: ArrayLike, fp: ArrayLike, pos: ArrayLike, neg: ArrayLike, **extra: Any) -> Any:
        """Return the score of each table: finite, and 0 where the class or its complement is absent."""
        tp, fp, pos, neg = (np.asarray(value, dtype=np.float64) for value in (tp, fp, pos, neg))
        absent = (pos == 0) | (neg == 0)
        guard = self.kind != "no class" and bool(np.any(absent))
        if guard:
            tp, fp = np.where(absent, 0, tp), np.where(absent, 0, fp)
            pos, neg = np.where(absent, 1, pos), np.where(absent, 1, neg)
        with np.errstate(all="ignore"):
            value = self.function(tp, fp, pos, neg, **self.parameters, **extra)
        value = np.asarray(value, dtype=np.float64)
        return np.where(absent, 0.0, value)[()] if guard else value[()]

    @cached_property
    def reads(self) -> str:
        """What the metric looks at beyond the table: "occurrences", "terms" or nothing."""
        return next((extra for extra in EXTRAS if extra in signature(self.function).parameters), "")

    @cached_property
    def needs(self) -> str:
        """What the metric needs beyond the table: `reads`, unless that parameter has a default."""
        reads = self.reads
        return (
            reads if reads and signature(self.function).parameters[reads].default is Parameter.empty else ""
        )

    @property
    def elementwise(self) -> bool:
        """Whether a score depends on the one table alone."""
        return not self.reads

    @cached_property
    def _spec(self) -> str:
        return (
            format_spec(self.name, self.function, _TABLE, self.parameters) if self.registered else self.name
        )

    def __str__(self) -> str:
        return self._spec

    def __repr__(self) -> str:
        return f"<Metric {self}>"

    def __reduce__(self) -> Any:
        if self.registered:
            return get_metric, (str(self),)
        return super().__reduce__()

    def __hash__(self) -> int:
        return hash(str(self))


#: The registry of metrics: name -> :class:`termsieve.Metric`. :func:`termsieve.register_metric` adds to it.
METRICS: dict[str, Metric] = {}


def get_metric(spec: str | Metric | Callable[..., Any]) -> Metric:
    """Return a metric.

    Parameters
    ----------
    spec : str, Metric or callable
        The name of a metric, with parameters if it has any, such as "bns", "wfo(0.3)" or "power(k=3)". A
        function of (tp, fp, pos, neg) becomes a two-sided metric; give a Metric to declare another kind.

    Returns
    -------
    Metric
        The metric.

    Examples
    --------
    >>> get_metric("chi"), str(get_metric("power( k = 3 )"))
    (<Metric chi_squared>, 'power(k=3)')
    """
    if isinstance(spec, Metric):
        return spec
    if callable(spec):
        return Metric(name=getattr(spec, "__name__", type(spec).__name__), function=spec)
    if not isinstance(spec, str):
        raise ParameterError(f"metric must be a name or a callable, not {type(spec).__name__}")
    return _parsed(spec)


@cache
def _parsed(spec: str) -> Metric:
    name, args, kwargs = parse_spec(spec)
    found = METRICS.get(_by_alias().get(name.lower(), name))
    if found is None:
        raise unknown_name("metric", name, METRICS, _by_alias())
    parameters = bound_parameters(found.function, _TABLE, spec, args, kwargs)
    metric = replace(found, parameters=parameters)
    if not metric.needs:
        try:  # a parameter outside its rule is reported here, before any data is read
            metric(1, 0, 2, 2)
        except TypeError as error:
            raise ParameterError(f"{spec!r} has an argument of the wrong type: {error}") from None
    return metric


def _by_alias() -> dict[str, str]:
    return {alias: found.name for found in METRICS.values() for alias in found.aliases}


def register_metric(
    name: str,
    *,
    label: str = "",
    aliases: tuple[str, ...] = (),
    kind: Kind = "two-sided",
    cite: str = "",
    formula: str = "",
    use: str = "",
    folds: bool = False,
    p_value: Callable[[Floats, int], Floats] | None = None,
    standardised: bool = False,
    by_name: bool = False,
    joint: Callable[..., Floats] | None = None,
) -> Callable[[Function], Function]:
    """Register the decorated function as the metric `name`.

    Parameters
    ----------
    name : str
        What users write.
    label, aliases, kind, cite, formula, use, folds, p_value, standardised, by_name, joint
        As in :class:`termsieve.Metric`.

    Returns
    -------
    callable
        The decorator; it returns the function unchanged.

    Examples
    --------
    >>> @register_metric("precision_of_term", kind="one-sided", label="Share of the class")
    ... def share(tp, fp, pos, neg):
    ...     return tp / np.maximum(tp + fp, 1)
    >>> float(get_metric("precision_of_term")(8, 2, 10, 90))
    0.8
    >>> del METRICS["precision_of_term"]
    """

    def register(function: Function) -> Function:
        METRICS[name] = Metric(
            *(name, function, label, aliases, kind, cite, formula, use),
            *(folds, p_value, standardised, by_name, joint),
            registered=True,
            parameters=bound_parameters(function, _TABLE, name, (), {}),
        )
        return function

    return register


@overload
def direction(tp: int, fp: int, pos: int, neg: int) -> np.int8: ...
@overload
def direction(tp: ArrayLike, fp: ArrayLike, pos: ArrayLike, neg: ArrayLike) -> NDArray[np.int8]: ...
def direction(tp: Any, fp: Any, pos: Any, neg: Any) -> Any:
    """Return +1 for positive terms (tpr > fpr), -1 for negative ones, 0 for neither.

    Parameters
    ----------
    tp : array-like
        Documents of the class with the term.
    fp : array-like
        Documents outside the class with the term.
    pos : array-like
        All documents of the class.
    neg : array-like
        All documents outside the class.

    Returns
    -------
    int or ndarray of int
        +1, -1 or 0.

    Examples
    --------
    >>> direction(8, 2, 10, 90), direction([0, 1], [1, 9], 10, 90)
    (np.int8(1), array([-1,  0], dtype=int8))
    """
    tp, fp, pos, neg = (np.asarray(value) for value in (tp, fp, pos, neg))
    return np.sign(tp * neg - fp * pos).astype(np.int8)[()]


def require_rule(holds: bool, rule: str, value: Any) -> None:
    """Raise ParameterError with the `rule` that a metric's parameter breaks."""
    if not holds:
        raise ParameterError(f"{rule}, not {value!r}")


def chi_squared_p(value: Floats, freedom: int) -> Floats:
    """Return the p-value of a chi-squared statistic with `freedom` degrees of freedom."""
    from scipy.special import chdtrc  # here, because importing it takes longer than most commands

    return np.asarray(chdtrc(freedom, value), dtype=np.float64)


def no_smaller_than(value: Floats, least: float) -> Floats:
    """Replace zeros by `least`."""
    return np.where(value == 0, least, value)
