"""A metric's name or a callable comes in; a Metric goes out: METRICS is the one registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from inspect import Parameter, signature
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from termsieve.errors import ParameterError, unknown_name
from termsieve.spec import EXTRAS, bound_parameters, format_spec, parse_spec

Kind = Literal["two-sided", "signed", "one-sided", "no class"]
Floats = NDArray[np.float64]
_TABLE = 4  # a metric's first parameters: tp, fp, pos, neg


class Occurrences(NamedTuple):
    """How often terms occur, for the metrics that count words rather than documents."""

    tf_pos: Floats  # occurrences of the term in the class
    tf_neg: Floats  # ... and outside it
    all_pos: Floats  # occurrences of all terms in the class
    all_neg: Floats
    squares: Floats  # sum over documents of the term's squared occurrences
    n_terms: int
    names: NDArray[Any] | None = None  # the terms themselves, where they have names


@dataclass(frozen=True, repr=False)
class Metric:
    """A scoring function of the 2x2 table, with what is known about it.

    `kind` says how to read a value: "two-sided" is large for positive and negative terms alike, "signed"
    has the sign of the direction, "one-sided" rewards positive terms only, "no class" ignores the class.
    `folds` tells whether negative terms are scored by their mirror image when both kinds are wanted.
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
    chi_squared: Callable[[Floats], Floats] | None = None  # value -> its chi-squared statistic (1 d.f.)
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
        """What it cannot do without: `reads`, unless that has a default."""
        reads = self.reads
        return (
            reads if reads and signature(self.function).parameters[reads].default is Parameter.empty else ""
        )

    @property
    def elementwise(self) -> bool:
        """Whether a score depends on the one table alone."""
        return not self.reads

    def __str__(self) -> str:
        return (
            format_spec(self.name, self.function, _TABLE, self.parameters) if self.registered else self.name
        )

    def __repr__(self) -> str:
        return f"<Metric {self}>"

    def __reduce__(self) -> Any:
        if self.registered:
            return get_metric, (str(self),)
        return super().__reduce__()

    def __hash__(self) -> int:
        return hash(str(self))


METRICS: dict[str, Metric] = {}


def get_metric(spec: str | Metric | Callable[..., Any]) -> Metric:
    """Return the metric that `spec` names, such as "bns", "wfo(0.3)" or "power(k=3)".

    A callable m(tp, fp, pos, neg) is taken as a two-sided metric; a Metric declares another kind.

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
    made = replace(found, parameters=parameters)
    if not made.needs:
        try:  # a parameter outside its rule is reported here, before any data is read
            made(1, 0, 2, 2)
        except TypeError as error:
            raise ParameterError(f"{spec!r} has an argument of the wrong type: {error}") from None
    return made


def _by_alias() -> dict[str, str]:
    return {alias: found.name for found in METRICS.values() for alias in found.aliases}


def register_metric(name: str, **facts: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the metric `name`; `facts` are the fields of Metric."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = bound_parameters(function, _TABLE, name, (), {})
        METRICS[name] = Metric(name, function, registered=True, parameters=parameters, **facts)
        return function

    return register


@overload
def direction(tp: int, fp: int, pos: int, neg: int) -> np.int8: ...
@overload
def direction(tp: ArrayLike, fp: ArrayLike, pos: ArrayLike, neg: ArrayLike) -> NDArray[np.int8]: ...
def direction(tp: Any, fp: Any, pos: Any, neg: Any) -> Any:
    """Return +1 for positive terms (tpr > fpr), -1 for negative ones, 0 for neither.

    >>> direction(8, 2, 10, 90), direction([0, 1], [1, 9], 10, 90)
    (np.int8(1), array([-1,  0], dtype=int8))
    """
    tp, fp, pos, neg = (np.asarray(value) for value in (tp, fp, pos, neg))
    return np.sign(tp * neg - fp * pos).astype(np.int8)[()]


def require_rule(holds: bool, rule: str, value: Any) -> None:
    """Raise ParameterError with the `rule` that a metric's parameter breaks."""
    if not holds:
        raise ParameterError(f"{rule}, not {value!r}")


def no_smaller_than(value: Floats, least: float) -> Floats:
    """Replace zeros by `least`."""
    return np.where(value == 0, least, value)
