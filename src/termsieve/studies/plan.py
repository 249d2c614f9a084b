"""The name or file of a plan comes in; a Plan goes out, which can be printed as TOML."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import tomli_w

from termsieve.display import html_table
from termsieve.errors import StudyError, unknown_name
from termsieve.measures import Ties
from termsieve.ranking import ALL, Size

VALUES = ("presence", "counts", "tfidf")
SCENARIOS = ("ideal", "practical", "cv")
DEMO = "docstrings"  # the one corpus that needs no path
ADDABLE = ("corpus", "learner", "method", "size", "trial", "problem")


@dataclass(frozen=True)
class CorpusPlan:
    """Where a corpus comes from, and which of its documents are used."""

    name: str
    format: str | None = None
    path: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] | None = None
    per_class: int | None = None
    problems: tuple[str, ...] | None = None
    sizes: tuple[Size, ...] | None = None


@dataclass(frozen=True)
class Representation:
    """How documents become vectors; `terms` holds the options of `term_matrix`."""

    values: str = "presence"
    min_df: float = 1
    max_df: float = 1.0
    terms: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Problems:
    """The problems: each class against the rest, or all classes at once."""

    kind: str = "one-vs-rest"
    classes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Protocol:
    """How documents are divided into training and test parts."""

    kind: str = "kfold"
    trials: int = 1
    folds: int = 4
    test_size: float = 0.25
    seed: int = 0
    shuffled: bool = False  # whether training documents come in random order; else in that of the corpus

    @property
    def parts(self) -> int:
        """Test parts of one trial."""
        return self.folds if self.kind == "kfold" else 1


@dataclass(frozen=True)
class Method:
    """One way to rank or choose terms; `select` says which, and which of the other fields are used."""

    name: str
    select: str = "rank"
    metric: str | None = None
    side: str = "both"
    ratio: float | None = None
    alpha: float | None = None
    combine: str = "max"
    min_df: float = 1
    scenario: str = "cv"
    folds: int = 5
    goal: str = "f1_break_even"
    model: str = "svm"
    sample: float = 1.0
    stratify: bool = True
    budget: int = 1
    corpora: tuple[str, ...] | None = None

    @property
    def needs_learner(self) -> bool:
        """Whether the selection depends on the learner that will use it."""
        return self.select in ("ratio", "wfo")

    @property
    def own_sizes(self) -> tuple[Size, ...] | None:
        """The sizes of the memory scenario: the shares of the training documents to try."""
        if self.select != "memory":
            return None
        return tuple(Size("documents", 1 / 2**i) for i in range(self.budget.bit_length()))


NO_SELECTION = Method("all", select="all")


@dataclass(frozen=True)
class LearnerPlan:
    """A learner, the values that it reads (None: those of the representation), and its largest corpus."""

    name: str
    values: str | None = None
    max_documents: int | None = None


@dataclass(frozen=True)
class Plan:
    """The description of a study: which methods, sizes and learners are run on which corpora.

    `str(plan)` is its canonical form in TOML, and `plan.hash` a digest of that form. Plans are usually read
    from a file with :func:`termsieve.load_plan`; docs/studies.md explains all keys.

    Parameters
    ----------
    name : str
        The name of the plan.
    corpora, methods, sizes, learners : tuple
        What is combined: every method, at every size, with every learner, on every problem of every corpus.
    representation : Representation
        How texts become values of terms.
    problems : Problems
        Whether each class against the rest is a problem, or all classes are one problem; and which classes.
    protocol : Protocol
        Trials, folds and the seed.
    break_even : bool, default=False
        Whether to store the confusion counts at the break-even point, too.
    ties : {"divided", "whole"}, default="divided"
        What happens there to tied documents; see :func:`termsieve.measures.break_even`.
    selections : bool, default=True
        Whether to store the selected terms.
    about : str, optional
        A description for readers.

    Examples
    --------
    >>> from termsieve import load_plan
    >>> plan = load_plan("quick")
    >>> plan.protocol.folds, [learner.name for learner in plan.learners]
    (4, ['svm'])
    """

    name: str
    corpora: tuple[CorpusPlan, ...]
    methods: tuple[Method, ...]
    sizes: tuple[Size, ...]
    learners: tuple[LearnerPlan, ...]
    representation: Representation = Representation()
    problems: Problems = Problems()
    protocol: Protocol = Protocol()
    break_even: bool = False
    ties: Ties = "divided"
    selections: bool = True
    about: str = ""

    @classmethod
    def parse(cls, text: str, name: str = "study") -> Plan:
        """Return the plan of a TOML text, or raise a StudyError that lists all mistakes and their lines.

        Parameters
        ----------
        text : str
            The TOML text.
        name : str, default="study"
            The name of the plan.

        Returns
        -------
        Plan
            The plan.
        """
        from termsieve.studies.plan_reader import PlanReader

        return PlanReader(text, name).plan()

    def lines(self) -> list[str]:
        """Return the content of the plan, one fact per line, in a fixed order.

        A plan extends another if it has all its lines and more of the kinds in `ADDABLE`.
        """
        lines = []
        for corpus in self.corpora:
            lines.append(f"corpus {_told(replace(corpus, sizes=None, problems=None))}")
            lines += [f"size on {corpus.name}: {size}" for size in corpus.sizes or ()]
            lines += [f"problem of {corpus.name}: {name}" for name in corpus.problems or ()]
        lines += [f"learner {_told(entry)}" for entry in self.learners]
        lines += [f"method {_told(entry)}" for entry in self.methods]
        lines += [f"size {size}" for size in self.sizes]
        lines += [f"trial {trial}" for trial in range(self.protocol.trials)]
        lines += [f"problem {name}" for name in self.problems.classes or ["(every class)"]]
        lines.append(f"problems {self.problems.kind}")
        lines.append(f"protocol {_told(replace(self.protocol, trials=1))}")
        lines.append(f"representation {_told(self.representation)}")
        # Without the rule for ties it is the line of plans that were stored before there was a choice.
        ties = f" ties={self.ties}" if self.break_even and self.ties != "whole" else ""
        lines.append(f"measures break_even={self.break_even} selections={self.selections}{ties}")
        return sorted(lines)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        protocol = self.protocol
        rows: list[dict[str, object]] = [
            {"": "corpora", "what": [corpus.name for corpus in self.corpora]},
            {"": "methods", "what": [method.name for method in self.methods]},
            {"": "sizes", "what": [str(size) for size in self.sizes]},
            {"": "learners", "what": [learner.name for learner in self.learners]},
            {"": "problems", "what": self.problems.kind},
            {
                "": "protocol",
                "what": f"{protocol.kind}, {protocol.parts} test parts, {protocol.trials} times",
            },
        ]
        return html_table(rows, f"Plan '{self.name}'" + (f": {self.about}" if self.about else ""))

    @cached_property
    def hash(self) -> str:
        """A digest of the canonical form."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:16]

    def to_toml(self) -> str:
        """Return this plan as a TOML text, which `parse` reads again."""
        root = {"name": self.name, "about": self.about}
        representation = _facts(self.representation)
        representation |= representation.pop("terms", {})
        tables = {
            "corpora": [_facts(corpus) for corpus in self.corpora],
            "representation": representation,
            "problems": _facts(self.problems),
            "protocol": _facts(self.protocol),
            "methods": [_facts(method) for method in self.methods],
            "sizes": _size_table(self.sizes),
            "learners": [_facts(entry) for entry in self.learners],
            "measures": {"break_even": self.break_even, "ties": self.ties, "selections": self.selections},
        }
        return tomli_w.dumps({key: value for key, value in root.items() if value} | tables)

    def corpus(self, name: str) -> CorpusPlan:
        """Return the entry of that corpus.

        Parameters
        ----------
        name : str
            The name of the corpus.

        Returns
        -------
        CorpusPlan
            The entry.
        """
        return next(corpus for corpus in self.corpora if corpus.name == name)

    def method(self, name: str, corpus: str) -> Method:
        """Return the method of that name that a corpus is run with.

        Parameters
        ----------
        name : str
            The name of the method.
        corpus : str
            The name of a corpus of the plan.

        Returns
        -------
        Method
            The method.
        """
        return next(method for method in self.methods_for(corpus) if method.name == name)

    def learner(self, name: str) -> LearnerPlan:
        """Return the entry of that learner.

        Parameters
        ----------
        name : str
            The name of the learner.

        Returns
        -------
        LearnerPlan
            The entry.
        """
        return next(entry for entry in self.learners if entry.name == name)

    def methods_for(self, corpus: str) -> list[Method]:
        """Return the methods that are run on a corpus; "all" features, if asked for, is the last one.

        Parameters
        ----------
        corpus : str
            The name of a corpus of the plan.

        Returns
        -------
        list of Method
            The methods.
        """
        chosen = [m for m in self.methods if m.corpora is None or corpus in m.corpora]
        return chosen + [NO_SELECTION] * (ALL in self.sizes_of(corpus))

    def sizes_of(self, corpus: str) -> tuple[Size, ...]:
        """Return the sizes of a corpus: its own, or the plan's.

        Parameters
        ----------
        corpus : str
            The name of a corpus of the plan.

        Returns
        -------
        tuple of Size
            The sizes.
        """
        own = self.corpus(corpus).sizes
        return self.sizes if own is None else own

    def sizes_for(self, corpus: str, method: Method) -> tuple[Size, ...]:
        """Return the sizes that a method is run with on a corpus.

        Parameters
        ----------
        corpus : str
            The name of a corpus of the plan.
        method : Method
            A method of the plan.

        Returns
        -------
        tuple of Size
            The sizes.
        """
        if method.select == "all":
            return (ALL,)
        if method.own_sizes is not None:
            return method.own_sizes
        return tuple(size for size in self.sizes_of(corpus) if size != ALL)

    def learners_for(self, n_documents: int) -> list[LearnerPlan]:
        """Return the learners that are run on a corpus with this number of documents.

        Parameters
        ----------
        n_documents : int
            Number of documents of the corpus.

        Returns
        -------
        list of LearnerPlan
            The learners.
        """
        return [e for e in self.learners if e.max_documents is None or n_documents <= e.max_documents]


def _facts(entry: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults, as TOML has them."""
    facts: dict[str, Any] = {}
    for item in fields(entry):
        value = getattr(entry, item.name)
        default = item.default_factory() if callable(item.default_factory) else item.default
        if value != default:
            if item.name == "sizes":
                value = _size_table(value)
            facts[item.name] = list(value) if isinstance(value, tuple) else value
    return facts


def _told(entry: Any) -> str:
    """Return a dataclass on one line: its name, then the fields that differ from their defaults."""
    facts = _facts(entry)
    name = [facts.pop("name")] if "name" in facts else []
    told = [f"{key}={json.dumps(v, sort_keys=True, ensure_ascii=False)}" for key, v in facts.items()]
    return " ".join([*name, *told])


def _size_table(sizes: Sequence[Size]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for size in sizes:
        if size.value is None:
            table["all"] = True
        else:
            table.setdefault(size.kind, []).append(int(size.value) if size.kind == "k" else size.value)
    return table


def load_plan(plan: str | os.PathLike[str] | Plan) -> Plan:
    """Return a plan.

    Parameters
    ----------
    plan : str, path or Plan
        The name of a built-in plan, the path of a TOML file, or a Plan, which is returned as it is.

    Returns
    -------
    Plan
        The plan; a StudyError lists all mistakes of a file, with their lines.

    Examples
    --------
    >>> load_plan("quick").name
    'quick'
    """
    if isinstance(plan, Plan):
        return plan
    name = os.fspath(plan)
    if name in PLANS:
        return Plan.parse(PLANS[name].read_text(encoding="utf-8"), name)
    path = Path(name)
    if not path.is_file():
        if path.suffix == ".toml" or os.sep in name:
            raise StudyError(f"the plan {name} does not exist; check the path")
        raise StudyError(str(unknown_name("plan", name, PLANS)) + "; or give the path of a TOML file")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"the plan {name} cannot be read: {error}") from None
    return Plan.parse(text, path.stem)


def _built_in() -> dict[str, Any]:
    folder = resources.files("termsieve.studies").joinpath("plans")
    found = {
        file.name.removesuffix(".toml"): file for file in folder.iterdir() if file.name.endswith(".toml")
    }
    return dict(sorted(found.items()))


#: The built-in plans: name -> content of the plan file.
PLANS: dict[str, Any] = _built_in()


def method_name(method: Method) -> str:
    """Return the printed form of a method.

    >>> method_name(Method("", metric="bns", alpha=0.6)), method_name(Method("", "ratio", metric="gss"))
    ('bns alpha=0.6', 'ratio(gss, cv)')
    """
    if method.select == "rank":
        plain = Method("")
        facts = [(key, getattr(method, key)) for key in ("side", "ratio", "alpha", "combine", "min_df")]
        told = [
            f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
            for key, value in facts
            if value != getattr(plain, key)
        ]
        return " ".join([str(method.metric), *told])
    inside = {
        "ratio": (method.metric, method.scenario),
        "wfo": ("learned",),
        "weight": (method.model, f"{method.sample:g}"),
        "memory": (method.model, str(method.budget)),
    }
    drawn = () if method.stratify else ("plain",)
    return f"{method.select}({', '.join(str(part) for part in (*inside[method.select], *drawn))})"
