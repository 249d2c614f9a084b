"""Names with parameters, such as `wfo(0.3)` or `power(k=3)`: text in, name and arguments out, and back."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

from termsieve.errors import ParameterError

# The default metrics; docs/reading.md has the evidence.
READING = "correlation_coefficient"  # of the short lists that people read
TRAINING = "information_gain"  # of the selections that classifiers are trained on
EXTRAS = ("occurrences", "terms")  # arguments besides the parameters; never part of a name
_FORM = re.compile(r"\s*([A-Za-z_][\w-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)


def parse_spec(text: str) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Return the name, the positional and the keyword arguments in `text`.

    A bare word among the arguments stands for itself.

    >>> parse_spec("wfo(0.3)"), parse_spec("nb(quotient)"), parse_spec("power(k=3)")
    (('wfo', (0.3,), {}), ('nb', ('quotient',), {}), ('power', (), {'k': 3}))
    """
    match = _FORM.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        call = ast.parse(f"f({match[2] or ''})", mode="eval").body
        assert isinstance(call, ast.Call)
        args = tuple(_value(node) for node in call.args)
        kwargs = {str(word.arg): _value(word.value) for word in call.keywords if word.arg}
        if len(kwargs) < len(call.keywords):
            raise ValueError
    except (SyntaxError, ValueError):
        raise ParameterError(
            f"{text!r} is not a name with arguments; write it like 'wfo(0.3)' or 'power(k=3)'"
        ) from None
    return match[1], args, kwargs


def _value(node: ast.expr) -> Any:
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


def bound_parameters(
    function: Callable[..., Any], skip: int, spec: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return all parameters of `function` after its first `skip` ones, with the given arguments filled in."""
    signature = _signature(function, skip)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        names = ", ".join(signature.parameters) or "none"
        raise ParameterError(f"{spec!r} has wrong arguments: {error}; parameters: {names}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def format_spec(name: str, function: Callable[..., Any], skip: int, parameters: dict[str, Any]) -> str:
    """Return the text that `parse_spec` reads as `name` with `parameters`.

    Positional parameters are always written; keyword-only ones where they differ from their default.
    """
    words = []
    for key, parameter in _signature(function, skip).parameters.items():
        value = parameters[key]
        if parameter.kind is parameter.KEYWORD_ONLY:
            if value != parameter.default:
                words.append(f"{key}={value!r}")
        else:
            words.append(f"{value!r}")
    return f"{name}({', '.join(words)})" if words else name


def _signature(function: Callable[..., Any], skip: int) -> inspect.Signature:
    signature = inspect.signature(function)
    kept = [p for p in list(signature.parameters.values())[skip:] if p.name not in EXTRAS]
    return signature.replace(parameters=kept)
