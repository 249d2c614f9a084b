"""The value of a plan's key comes in; the checked value, or an error that names the rule, goes out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args

from termsieve.errors import ParameterError, unknown_name
from termsieve.learners import learner_name
from termsieve.limits import check_limit
from termsieve.measures import Ties, get_goal
from termsieve.metrics import get_metric
from termsieve.ranking import Combine, Side, check_cut
from termsieve.readers import FORMATS
from termsieve.studies.plan import DEMO, SCENARIOS, VALUES

Check = Callable[[Any], Any]
REQUIRED = object()


def one_of(*known: str) -> Check:
    """Return the check that a value is one of the known texts."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise unknown_name("value", value, known)
        return value

    return check


def _whole(least: int) -> Check:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ParameterError(f"must be a whole number of at least {least}, not {value!r}")
        return value

    return check


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"must be a number, not {value!r}")
    return value


def _share(closed: bool) -> Check:
    def check(value: Any) -> float:
        number = _number(value)
        if not (0 <= number <= 1 if closed else 0 < number <= 1):
            bounds = "between 0 and 1" if closed else "above 0 and at most 1"
            raise ParameterError(f"must lie {bounds}, not {value!r}")
        return float(number)

    return check


def _test_share(value: Any) -> float:
    number = _number(value)
    if not 0 < number < 1:
        raise ParameterError(f"must lie between 0 and 1, not {value!r}")
    return float(number)


def text_value(value: Any) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"must be a text, not {value!r}")
    return value


def _file_name(value: Any) -> str:
    text = text_value(value)
    if not re.fullmatch(r"[\w.+-]+", text):
        raise ParameterError(f"must be made of letters, digits, '.', '_', '+' and '-', not {value!r}")
    return text


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ParameterError(f"must be true or false, not {value!r}")
    return value


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ParameterError(f"must be a table, not {value!r}")
    return value


def several(check: Check) -> Check:
    """Return the check of a list of distinct values, each of which passes `check`."""

    def checked(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not value:
            raise ParameterError(f"must be a list with at least one entry, not {value!r}")
        entries = tuple(check(entry) for entry in value)
        for i, entry in enumerate(entries):
            if entry in entries[:i]:
                raise ParameterError(f"names {value[i]!r} twice")
        return entries

    return checked


def _one_or_several(check: Check) -> Check:
    return lambda value: several(check)(value) if isinstance(value, list) else (check(value),)


def _label(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ParameterError(f"must be a class, not {value!r}")
    return str(value)


def _limit(name: str) -> Check:
    def check(value: Any) -> float:
        number = _number(value)
        check_limit(name, number)
        return number

    return check


def _metric_name(value: Any) -> str:
    return str(get_metric(text_value(value)))


def _learner_text(value: Any) -> str:
    return learner_name(text_value(value))


def _goal_name(value: Any) -> str:
    get_goal(text_value(value))
    return str(value)


def _power_of_two(value: Any) -> int:
    number: int = _whole(1)(value)
    if number & (number - 1):
        raise ParameterError(f"must be 1, 2, 4, 8, ..., not {value!r}")
    return number


def _cuts(kind: str) -> Check:
    def check(value: Any) -> float:
        check_cut(kind, value)
        return float(value)

    return several(check)


# The keys of each table: how a value is checked, and its default.
Keys = dict[str, tuple[Check, Any]]
ROOT: Keys = {
    "name": (_file_name, None),
    "about": (text_value, ""),
    "base": (text_value, None),
    "corpora": (lambda value: value, REQUIRED),
    "methods": (lambda value: value, REQUIRED),
    "learners": (lambda value: value, REQUIRED),
    "sizes": (_table, {}),
    "representation": (_table, {}),
    "problems": (_table, {}),
    "protocol": (_table, {}),
    "measures": (_table, {}),
}
CORPUS: Keys = {
    "name": (_file_name, REQUIRED),
    "format": (one_of(*FORMATS, DEMO), None),
    "path": (text_value, None),
    "options": (_table, {}),
    "classes": (several(_label), None),
    "per_class": (_whole(1), None),
    "problems": (several(_label), None),
    "sizes": (_table, None),
}
REPRESENTATION: Keys = {
    "values": (one_of(*VALUES), "presence"),
    "min_df": (_limit("min_df"), 1),
    "max_df": (_limit("max_df"), 1.0),
    "lowercase": (_truth, None),
    "token_pattern": (text_value, None),
    "stop_words": (lambda v: v if isinstance(v, str) else list(several(text_value)(v)), None),
    "ngram_range": (several(_whole(1)), None),
    "strip_accents": (text_value, None),
    "analyzer": (text_value, None),
    "stem": (text_value, None),
}
TERM_OPTIONS = tuple(key for key in REPRESENTATION if key not in ("values", "min_df", "max_df"))
PROBLEMS: Keys = {
    "kind": (one_of("one-vs-rest", "multi-class"), "one-vs-rest"),
    "classes": (several(_label), None),
}
PROTOCOL: dict[str, Keys] = {
    "kfold": {"trials": (_whole(1), 1), "folds": (_whole(2), 4), "seed": (_whole(0), 0)},
    "split": {"seed": (_whole(0), 0)},
    "random": {
        "trials": (_whole(1), 1),
        "test_size": (_test_share, 0.25),
        "seed": (_whole(0), 0),
        "shuffled": (_truth, False),
    },
}
FOLDS = (_one_or_several(_whole(2)), (5,))
METHOD: dict[str, Keys] = {
    "rank": {
        "metric": (_one_or_several(_metric_name), REQUIRED),
        "side": (_one_or_several(one_of(*get_args(Side))), ("both",)),
        "ratio": (_one_or_several(_share(closed=True)), (None,)),
        "alpha": (_one_or_several(_share(closed=True)), (None,)),
        "combine": (_one_or_several(one_of(*get_args(Combine))), ("max",)),
        "min_df": (_one_or_several(_limit("min_df")), (1,)),
    },
    "ratio": {
        "metric": (_one_or_several(_metric_name), REQUIRED),
        "scenario": (_one_or_several(one_of(*SCENARIOS)), ("cv",)),
        "folds": FOLDS,
        "goal": (_one_or_several(_goal_name), ("f1_break_even",)),
    },
    "wfo": {
        "folds": (_one_or_several(_whole(2)), (9,)),
        "goal": (_one_or_several(_goal_name), ("accuracy",)),
    },
    "weight": {
        "model": (_one_or_several(_learner_text), ("svm",)),
        "sample": (_one_or_several(_share(closed=False)), (1.0,)),
        "stratify": (_one_or_several(_truth), (True,)),
    },
    "memory": {
        "model": (_one_or_several(_learner_text), ("svm",)),
        "budget": (_one_or_several(_power_of_two), (1,)),
        "stratify": (_one_or_several(_truth), (True,)),
    },
}
SIZES: Keys = {
    "k": (_cuts("k"), ()),
    "sparsity": (_cuts("sparsity"), ()),
    "fraction": (_cuts("fraction"), ()),
    "all": (_truth, False),
}
LEARNER: Keys = {
    "name": (_learner_text, REQUIRED),
    "values": (one_of(*VALUES), None),
    "max_documents": (_whole(1), None),
}
MEASURES: Keys = {
    "break_even": (_truth, False),
    "ties": (one_of(*get_args(Ties)), "divided"),
    "selections": (_truth, True),
}
