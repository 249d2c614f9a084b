"""The text of a plan in TOML comes in; a checked Plan, or one error that lists all its faults, goes out."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from termsieve.counts import Counts
from termsieve.errors import ParameterError, StudyError, TermsieveError, UnknownNameError, unknown_name
from termsieve.learners import learner_name
from termsieve.limits import check_limit
from termsieve.measures import objective
from termsieve.metrics import get_metric
from termsieve.ranking import check_cut, rank
from termsieve.readers import FORMATS
from termsieve.scores import score
from termsieve.studies.plan import (
    ALL,
    DEMO,
    NO_SELECTION,
    PLANS,
    SCENARIOS,
    VALUES,
    CorpusPlan,
    LearnerPlan,
    Method,
    Plan,
    Problems,
    Protocol,
    Representation,
    Size,
    method_name,
)
from termsieve.terms import Analysis

Check = Callable[[Any], Any]
REQUIRED = object()


def _one_of(*known: str) -> Check:
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


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"must be a text, not {value!r}")
    return value


def _file_name(value: Any) -> str:
    text = _text(value)
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


def _several(check: Check) -> Check:
    def checked(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not value:
            raise ParameterError(f"must be a list with at least one entry, not {value!r}")
        made = tuple(check(entry) for entry in value)
        twice = next((entry for i, entry in enumerate(made) if entry in made[:i]), None)
        if twice is not None:
            raise ParameterError(f"names {twice!r} twice")
        return made

    return checked


def _one_or_several(check: Check) -> Check:
    return lambda value: _several(check)(value) if isinstance(value, list) else (check(value),)


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
    return str(get_metric(_text(value)))


def _learner_text(value: Any) -> str:
    return learner_name(_text(value))


def _objective_name(value: Any) -> str:
    objective(_text(value))
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

    return _several(check)


# The keys of each table: how a value is checked, and what stands in for it.
Keys = dict[str, tuple[Check, Any]]
_ROOT: Keys = {
    "name": (_file_name, None),
    "about": (_text, ""),
    "base": (_text, None),
    "corpora": (lambda value: value, REQUIRED),
    "methods": (lambda value: value, REQUIRED),
    "learners": (lambda value: value, REQUIRED),
    "sizes": (_table, {}),
    "representation": (_table, {}),
    "problems": (_table, {}),
    "protocol": (_table, {}),
    "measures": (_table, {}),
}
_CORPUS: Keys = {
    "name": (_file_name, REQUIRED),
    "format": (_one_of(*FORMATS, DEMO), None),
    "path": (_text, None),
    "options": (_table, {}),
    "classes": (_several(_label), None),
    "per_class": (_whole(1), None),
    "categories": (_several(_label), None),
    "sizes": (_table, None),
}
_REPRESENTATION: Keys = {
    "values": (_one_of(*VALUES), "presence"),
    "min_df": (_limit("min_df"), 1),
    "max_df": (_limit("max_df"), 1.0),
    "lowercase": (_truth, None),
    "token_pattern": (_text, None),
    "stop_words": (lambda v: v if isinstance(v, str) else list(_several(_text)(v)), None),
    "ngram_range": (_several(_whole(1)), None),
    "strip_accents": (_text, None),
    "analyzer": (_text, None),
    "stem": (_text, None),
}
_TERM_OPTIONS = tuple(key for key in _REPRESENTATION if key not in ("values", "min_df", "max_df"))
_PROBLEMS: Keys = {
    "kind": (_one_of("one-vs-rest", "multi-class"), "one-vs-rest"),
    "categories": (_several(_label), None),
}
_PROTOCOL: dict[str, Keys] = {
    "kfold": {"trials": (_whole(1), 1), "folds": (_whole(2), 4), "seed": (_whole(0), 0)},
    "split": {"seed": (_whole(0), 0)},
    "random": {"trials": (_whole(1), 1), "test_size": (_test_share, 0.25), "seed": (_whole(0), 0)},
}
_FOLDS = (_one_or_several(_whole(2)), (5,))
_METHOD: dict[str, Keys] = {
    "rank": {
        "metric": (_one_or_several(_metric_name), REQUIRED),
        "side": (_one_or_several(_one_of("both", "positive", "negative")), ("both",)),
        "ratio": (_one_or_several(_share(closed=True)), (None,)),
        "alpha": (_one_or_several(_share(closed=True)), (None,)),
        "combine": (_one_or_several(_one_of("max", "mean", "round_robin", "joint")), ("max",)),
        "min_df": (_one_or_several(_limit("min_df")), (1,)),
    },
    "ratio": {
        "metric": (_one_or_several(_metric_name), REQUIRED),
        "scenario": (_one_or_several(_one_of(*SCENARIOS)), ("cv",)),
        "folds": _FOLDS,
        "objective": (_one_or_several(_objective_name), ("f1_break_even",)),
    },
    "wfo": {
        "folds": (_one_or_several(_whole(2)), (9,)),
        "objective": (_one_or_several(_objective_name), ("accuracy",)),
    },
    "weight": {
        "model": (_one_or_several(_learner_text), ("svm",)),
        "sample": (_one_or_several(_share(closed=False)), (1.0,)),
    },
    "memory": {
        "model": (_one_or_several(_learner_text), ("svm",)),
        "budget": (_one_or_several(_power_of_two), (1,)),
    },
}
_SIZES: Keys = {
    "k": (_cuts("k"), ()),
    "sparsity": (_cuts("sparsity"), ()),
    "fraction": (_cuts("fraction"), ()),
    "all": (_truth, False),
}
_LEARNER: Keys = {
    "name": (_learner_text, REQUIRED),
    "values": (_one_of(*VALUES), None),
    "max_documents": (_whole(1), None),
}
_MEASURES: Keys = {"break_even": (_truth, False), "selections": (_truth, True)}

Where = tuple[str | int, ...]


def _line_numbers(text: str) -> dict[Where, int]:
    """Return the line of each table and key of a TOML text; of inline tables only those that begin a line."""
    found: dict[Where, int] = {}
    table: Where = ()
    item: Where = ()
    numbers: dict[Where, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if match := re.fullmatch(r"(\[\[?)\s*([\w.\"-]+)\s*\]\]?\s*(?:#.*)?", stripped):
            table = tuple(part.strip('"') for part in match[2].split("."))
            if match[1] == "[[":
                numbers[table] = numbers.get(table, -1) + 1
                table = (*table, numbers[table])
            elif len(table) > 1 and table[:1] in numbers:
                table = (table[0], numbers[table[:1]], *table[1:])
            found.setdefault(table, number)
        elif match := re.match(r"([\w-]+|\"[^\"]+\")\s*=", stripped):
            item = (*table, match[1].strip('"'))
            found.setdefault(item, number)
            numbers[item] = -1
        elif stripped.startswith("{") and item:
            numbers[item] += 1
            found[(*item, numbers[item])] = number
    return found


class PlanReader:
    """Reads one plan and gathers its faults."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.faults: list[tuple[int, str]] = []
        self.places = _line_numbers(text)

    def fault(self, where: Where, message: str) -> None:
        """Note a fault at the nearest line that is known."""
        place = where
        while place and place not in self.places:
            place = place[:-1]
        self.faults.append((self.places.get(place, 1), message))

    def checked(self, where: Where, given: Any, keys: Keys) -> dict[str, Any]:
        """Return the values of a table's keys, defaults included; each fault is noted."""
        title = _title(where)
        if not isinstance(given, dict):
            self.fault(where, f"{title} must be a table, not {given!r}")
            given = {}
        for key in given:
            if key not in keys:
                self.fault((*where, key), str(unknown_name(f"key of {title}", key, keys)))
        made: dict[str, Any] = {}
        for key, (check, default) in keys.items():
            made[key] = None if default is REQUIRED else default
            if key not in given:
                if default is REQUIRED:
                    self.fault(where, f"{title} needs the key '{key}'")
                continue
            try:
                made[key] = check(given[key])
            except UnknownNameError as error:
                message = str(error)
                at = f"{title} {key}: " if message.startswith("value ") else f"{title}: "
                self.fault((*where, key), at + message)
            except (TermsieveError, TypeError) as error:
                self.fault((*where, key), f"{title} {key} {_rule(key, error)}")
        return made

    def plan(self) -> Plan:
        """Return the plan, or raise StudyError with every fault found."""
        try:
            given = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise StudyError(f"the plan '{self.name}' is not valid TOML: {error}") from None
        root = self.checked((), self.with_base(given), _ROOT)
        entries = {key: self.entries(key, root[key]) for key in ("corpora", "methods", "learners")}
        sizes = self.sizes(("sizes",), root["sizes"])
        corpora = [made for i, entry in entries["corpora"] if (made := self.corpus(i, entry))]
        methods = [made for i, entry in entries["methods"] for made in self.methods(i, entry)]
        learners = [found for i, entry in entries["learners"] if (found := self.learner(i, entry))]
        self.distinct("corpora", [c.name for c in corpora])
        self.distinct("learners", [e.name for e in learners])
        self.check_methods(methods, [c.name for c in corpora])
        self.check_sizes(sizes, corpora, methods)
        measures = self.checked(("measures",), root["measures"], _MEASURES)
        parts = self.representation(root["representation"]), self.problems(root["problems"], methods)
        protocol = self.protocol(root["protocol"])
        if self.faults:
            raise StudyError(self.complaint())
        return Plan(
            name=root["name"] or self.name,
            about=" ".join(root["about"].split()),
            corpora=tuple(corpora),
            methods=tuple(methods),
            learners=tuple(learners),
            sizes=sizes,
            representation=parts[0],
            problems=parts[1],
            protocol=protocol,
            break_even=measures["break_even"],
            selections=measures["selections"],
        )

    def with_base(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the plan with those tables of its base, a built-in plan, that it does not have itself."""
        if "base" not in given:
            return given
        if given["base"] not in PLANS:
            self.fault(("base",), str(unknown_name("plan", given["base"], PLANS)))
            return given
        text = PLANS[given["base"]].read_text(encoding="utf-8")
        return self.with_base(tomllib.loads(text)) | given

    def complaint(self) -> str:
        """Return the message of all faults, in the order of their lines."""
        listed = "\n".join(f"  line {line}: {message}" for line, message in sorted(set(self.faults)))
        n = len(set(self.faults))
        return f"the plan '{self.name}' has {n} fault{'' if n == 1 else 's'}:\n{listed}"

    def entries(self, key: str, given: Any) -> list[tuple[int, Any]]:
        """Return the numbered entries of an array of tables."""
        if given is None:
            return []
        if not isinstance(given, list) or not given:
            self.fault((key,), f"{key} must be an array of tables with at least one: [[{key}]]")
            return []
        return list(enumerate(given))

    def distinct(self, key: str, names: Sequence[str]) -> None:
        """Note each name that occurs twice."""
        for i, name in enumerate(names):
            if name in names[:i]:
                self.fault((key, i), f"{key} names {name!r} twice")

    def sizes(self, where: Where, given: Any) -> tuple[Size, ...]:
        """Return the sizes of a table."""
        found = self.checked(where, given, _SIZES)
        made = [Size(kind, v) for kind in ("k", "sparsity", "fraction") for v in sorted(found[kind])]
        made += [ALL] * bool(found["all"])
        return tuple(made)

    def corpus(self, number: int, given: Any) -> CorpusPlan | None:
        """Return one corpus."""
        where = ("corpora", number)
        before = len(self.faults)
        found = self.checked(where, given, _CORPUS)
        if found["format"] == DEMO and found["path"]:
            self.fault(where, f"corpus format '{DEMO}' comes with SciPy; leave out its path")
        sizes = None if found["sizes"] is None else self.sizes((*where, "sizes"), found["sizes"])
        if found["format"] in FORMATS:
            known = FORMATS[found["format"]].options
            for option in found["options"]:
                if option not in known:
                    kind = f"option of format '{found['format']}'"
                    self.fault((*where, "options"), str(unknown_name(kind, option, known)))
        if len(self.faults) > before and not found["name"]:
            return None
        return CorpusPlan(**{**found, "sizes": sizes})

    def methods(self, number: int, given: Any) -> Iterator[Method]:
        """Yield the methods of one entry: every combination of the values that are lists."""
        where = ("methods", number)
        select = given.get("select", "rank") if isinstance(given, dict) else "rank"
        if select not in _METHOD:
            self.fault((*where, "select"), str(unknown_name("select", select, _METHOD)))
            return
        own = _METHOD[select]
        keys: Keys = {
            "select": (_one_of(*_METHOD), "rank"),
            **own,
            "name": (_text, None),
            "corpora": (_several(_text), None),
        }
        before = len(self.faults)
        found = self.checked(where, given, keys)
        if len(self.faults) > before:
            return
        combinations = list(itertools.product(*(found[key] for key in own)))
        if found["name"] and len(combinations) > 1:
            self.fault(
                (*where, "name"),
                f"one name for {len(combinations)} methods; leave it out, or write them apart",
            )
        for values in combinations:
            facts = dict(zip(own, values, strict=True))
            method = Method("", select=select, corpora=found["corpora"], **facts)
            if self.holds(where, method):
                yield replace(method, name=found["name"] or method_name(method))

    def holds(self, where: Where, method: Method) -> bool:
        """Note what contradicts itself in a method, by ranking two terms with it."""
        try:
            if method.metric is not None:
                counts = Counts.from_matrix([[1, 0], [0, 1]], [0, 1], occurrences=True)
                ratio = 0.5 if method.select == "ratio" else method.ratio
                rank(score(counts, method.metric), method.side, ratio, method.alpha, method.combine)  # type: ignore[arg-type]
        except TermsieveError as error:
            self.fault(where, f"methods: {error}")
            return False
        return True

    def check_methods(self, methods: list[Method], corpora: list[str]) -> None:
        """Note methods that meet under one name, and corpora that do not exist."""
        for i, method in enumerate(methods):
            for name in method.corpora or ():
                if name not in corpora:
                    self.fault(("methods",), f"methods: {unknown_name('corpus', name, corpora)}")
            for other in methods[:i]:
                both = set(method.corpora or corpora) & set(other.corpora or corpora)
                if other.name == method.name and both:
                    self.fault(("methods",), f"methods names {method.name!r} twice; give one of them a name")
            if method.name == NO_SELECTION.name:
                self.fault(("methods",), f"a method cannot be named {method.name!r}; that is no selection")

    def check_sizes(self, sizes: tuple[Size, ...], corpora: list[CorpusPlan], methods: list[Method]) -> None:
        """Note where nothing would be trained."""
        plain = any(method.own_sizes is None for method in methods)
        for number, corpus in enumerate(corpora):
            used = sizes if corpus.sizes is None else corpus.sizes
            if plain and not used:
                where: Where = ("sizes",) if corpus.sizes is None else ("corpora", number, "sizes")
                self.fault(where, "sizes is empty; give k, sparsity, fraction or all = true")

    def learner(self, number: int, given: Any) -> LearnerPlan | None:
        """Return one learner; a plain text is its name."""
        where = ("learners", number)
        if isinstance(given, str):
            where, given = ("learners",), {"name": given}  # type: ignore[assignment]
        found = self.checked(where, given, _LEARNER)
        return LearnerPlan(**found) if found["name"] else None

    def representation(self, given: Any) -> Representation:
        """Return the representation."""
        found = self.checked(("representation",), given, _REPRESENTATION)
        terms = {key: found.pop(key) for key in _TERM_OPTIONS}
        terms = {key: value for key, value in terms.items() if value is not None}
        try:
            Analysis(**terms).checked()
        except TermsieveError as error:
            self.fault(("representation",), f"[representation]: {error}")
        return Representation(**found, terms=terms)

    def problems(self, given: Any, methods: list[Method]) -> Problems:
        """Return the problems."""
        found = Problems(**self.checked(("problems",), given, _PROBLEMS))
        for method in methods:
            alone = method.select in ("ratio", "memory", "weight")
            if found.kind == "multi-class" and alone:
                self.fault(
                    ("methods",),
                    f"methods: select '{method.select}' needs problems of one class against the rest",
                )
            if found.kind == "one-vs-rest" and method.combine != "max":
                self.fault(
                    ("methods",), f"methods: combine='{method.combine}' needs [problems] kind = 'multi-class'"
                )
        return found

    def protocol(self, given: Any) -> Protocol:
        """Return the protocol; its kind says which keys it has."""
        kind = given.get("kind", "kfold")
        if kind not in _PROTOCOL:
            self.fault(("protocol", "kind"), f"[protocol]: {unknown_name('kind', kind, _PROTOCOL)}")
            return Protocol()
        keys: Keys = {"kind": (_one_of(*_PROTOCOL), "kfold"), **_PROTOCOL[kind]}
        return Protocol(**self.checked(("protocol",), given, keys))


def _title(where: Where) -> str:
    if not where:
        return "the plan"
    numbered = f" {where[1] + 1}" if len(where) > 1 and isinstance(where[1], int) else ""
    head = f"[[{where[0]}]]{numbered}" if numbered else f"[{where[0]}]"
    return head + "".join(f" {part}" for part in where[2:])


def _rule(key: str, error: Exception) -> str:
    """Return the rule that a value broke, without its name, which the message gives already."""
    return re.sub(rf"^{re.escape(key)} (?=must)", "", str(error))
