"""The text of a plan in TOML comes in; a checked Plan, or one error that lists all its faults, goes out."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from termsieve.counts import Counts
from termsieve.errors import StudyError, TermsieveError, UnknownNameError, beyond_python, unknown_name
from termsieve.ranking import ALL, Size, rank
from termsieve.readers import FORMATS
from termsieve.scores import score
from termsieve.studies.plan import (
    DEMO,
    NO_SELECTION,
    PLANS,
    CorpusPlan,
    LearnerPlan,
    Method,
    Plan,
    Problems,
    Protocol,
    Representation,
    method_name,
)
from termsieve.studies.plan_keys import (
    CORPUS,
    LEARNER,
    MEASURES,
    METHOD,
    PROBLEMS,
    PROTOCOL,
    REPRESENTATION,
    REQUIRED,
    ROOT,
    SIZES,
    TERM_OPTIONS,
    Keys,
    one_of,
    several,
    text_value,
)
from termsieve.terms import Analysis

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
    """Reads one plan and collects its mistakes."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.faults: list[tuple[int, str]] = []
        self.places = _line_numbers(text)

    def fault(self, where: Where, message: str) -> None:
        """Note a mistake at the nearest known line."""
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
        values: dict[str, Any] = {}
        for key, (check, default) in keys.items():
            values[key] = None if default is REQUIRED else default
            if key not in given:
                if default is REQUIRED:
                    self.fault(where, f"{title} needs the key '{key}'")
                continue
            try:
                values[key] = check(given[key])
            except UnknownNameError as error:
                message = str(error)
                at = f"{title} {key}: " if message.startswith("value ") else f"{title}: "
                self.fault((*where, key), at + message)
            except (TermsieveError, TypeError) as error:
                self.fault((*where, key), f"{title} {key} {_rule(key, error)}")
        return values

    def plan(self) -> Plan:
        """Return the plan, or raise StudyError with every fault found."""
        try:
            given = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise StudyError(f"the plan '{self.name}' is not valid TOML: {error}") from None
        except (ValueError, RecursionError) as error:
            raise StudyError(f"the plan '{self.name}' cannot be read: {beyond_python(error)}") from None
        root = self.checked((), self.with_base(given), ROOT)
        entries = {key: self.entries(key, root[key]) for key in ("corpora", "methods", "learners")}
        sizes = self.sizes(("sizes",), root["sizes"])
        corpora = [corpus for i, entry in entries["corpora"] if (corpus := self.corpus(i, entry))]
        methods = [method for i, entry in entries["methods"] for method in self.methods(i, entry)]
        learners = [found for i, entry in entries["learners"] if (found := self.learner(i, entry))]
        self.distinct("corpora", [c.name for c in corpora])
        self.distinct("learners", [e.name for e in learners])
        self.check_methods(methods, [c.name for c in corpora])
        self.check_sizes(sizes, corpora, methods)
        measures = self.checked(("measures",), root["measures"], MEASURES)
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
            ties=measures["ties"],
            selections=measures["selections"],
        )

    def with_base(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the plan with the tables of its base, a built-in plan, that it does not define itself."""
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
        found = self.checked(where, given, SIZES)
        sizes = [Size(kind, v) for kind in ("k", "sparsity", "fraction") for v in sorted(found[kind])]
        sizes += [ALL] * bool(found["all"])
        return tuple(sizes)

    def corpus(self, number: int, given: Any) -> CorpusPlan | None:
        """Return one corpus."""
        where = ("corpora", number)
        before = len(self.faults)
        found = self.checked(where, given, CORPUS)
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
        if select not in METHOD:
            self.fault((*where, "select"), str(unknown_name("select", select, METHOD)))
            return
        own = METHOD[select]
        keys: Keys = {
            "select": (one_of(*METHOD), "rank"),
            **own,
            "name": (text_value, None),
            "corpora": (several(text_value), None),
        }
        before = len(self.faults)
        found = self.checked(where, given, keys)
        if len(self.faults) > before:
            return
        combinations = list(itertools.product(*(found[key] for key in own)))
        if found["name"] and len(combinations) > 1:
            self.fault(
                (*where, "name"),
                f"one name for {len(combinations)} methods; leave it out, or write one table per method",
            )
        for values in combinations:
            facts = dict(zip(own, values, strict=True))
            method = Method("", select=select, corpora=found["corpora"], **facts)
            if self.holds(where, method):
                yield replace(method, name=found["name"] or method_name(method))

    def holds(self, where: Where, method: Method) -> bool:
        """Note contradictions in a method, by ranking two terms with it."""
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
        """Note methods with the same name, and corpora that do not exist."""
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
        """Note if nothing would be trained."""
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
        found = self.checked(where, given, LEARNER)
        return LearnerPlan(**found) if found["name"] else None

    def representation(self, given: Any) -> Representation:
        """Return the representation."""
        found = self.checked(("representation",), given, REPRESENTATION)
        terms = {key: found.pop(key) for key in TERM_OPTIONS}
        terms = {key: value for key, value in terms.items() if value is not None}
        try:
            Analysis(**terms).checked()
        except TermsieveError as error:
            self.fault(("representation",), f"[representation]: {error}")
        return Representation(**found, terms=terms)

    def problems(self, given: Any, methods: list[Method]) -> Problems:
        """Return the problems."""
        found = Problems(**self.checked(("problems",), given, PROBLEMS))
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
        if not isinstance(kind, str) or kind not in PROTOCOL:
            self.fault(("protocol", "kind"), f"[protocol]: {unknown_name('kind', kind, PROTOCOL)}")
            return Protocol()
        keys: Keys = {"kind": (one_of(*PROTOCOL), "kfold"), **PROTOCOL[kind]}
        return Protocol(**self.checked(("protocol",), given, keys))


def _title(where: Where) -> str:
    if not where:
        return "the plan"
    numbered = f" {where[1] + 1}" if len(where) > 1 and isinstance(where[1], int) else ""
    head = f"[[{where[0]}]]{numbered}" if numbered else f"[{where[0]}]"
    return head + "".join(f" {part}" for part in where[2:])


def _rule(key: str, error: Exception) -> str:
    """Return the rule that a value breaks, without the name, which is already in the message."""
    return re.sub(rf"^{re.escape(key)} (?=must)", "", str(error))
