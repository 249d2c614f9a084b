"""The kind of a problem comes in; the settings worth trying, and the pipelines they stand for, go out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from termsieve.adviser.decisions import Decision
from termsieve.errors import ParameterError
from termsieve.estimators.decision import DecisionClassifier
from termsieve.estimators.kept import KeptTerms
from termsieve.estimators.scaler import TermScaler
from termsieve.estimators.selector import TermSelector
from termsieve.estimators.weights import WeightSelector
from termsieve.learners import get_learner
from termsieve.metrics import get_metric
from termsieve.ranking import Combine, Size, check_cut

SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000)
SHARES = (0.1, 0.2, 0.5, 1.0)  # of a budget of bytes or of distinct terms per document
FEWER = (0.5, 0.25)  # of the documents, where a budget of bytes is given
METHODS = ("weights", "information_gain", "bns")
COMBINE: Combine = "round_robin"  # each class gets its terms, however hard it is
STRENGTHS = (0.1, 0.3, 1.0, 3.0)  # values of C
ALL_STRENGTHS = (0.03, 0.055, 0.1, 0.17, 0.3, 0.55, 1.0, 1.7, 3.0, 5.5, 10.0)  # where time is left
PAIRS_DF = 2  # documents that a term must be in where pairs of words are counted: most occur once


@dataclass(frozen=True)
class Representation:
    """What a model reads of a document: words or also pairs of words; how counts become values."""

    values: str = "log"
    weight: str | None = "idf"
    unit_length: bool = True
    pairs: bool = False

    def __str__(self) -> str:
        name = {"log": "log tf", "tf": "tf", "presence": "presence"}[self.values]
        parts = [name, *([] if self.weight is None else [self.weight])]
        ending = "" if self.unit_length else ", not of unit length"
        return " x ".join(parts) + ending + (", words and pairs" if self.pairs else "")

    def scaler(self, min_df: int = 1) -> TermScaler:
        """Return the transformer of term counts."""
        least = max(min_df, PAIRS_DF) if self.pairs else min_df
        return TermScaler(self.values, self.weight, self.unit_length, least)


@dataclass(frozen=True)
class Setting:
    """A way to train: representation, learner, and perhaps a selection of terms by a method to a size."""

    representation: Representation
    learner: str
    method: str | None = None
    size: Size | None = None
    documents: float = 1.0  # share of the documents to train on

    def __str__(self) -> str:
        chosen = "all terms" if self.method is None else f"{self.method} {self.size}"
        ending = "" if self.documents == 1 else f", {self.documents:.0%} of the documents"
        return f"{chosen}, {self.representation}, {self.learner}{ending}"

    @property
    def everything(self) -> Setting:
        """The same without selection, of terms or documents."""
        return replace(self, method=None, size=None, documents=1.0)

    @property
    def strength(self) -> float:
        """The regularisation parameter, by which settings are ordered along a path."""
        found = re.search(r"C=([\d.e-]+)", self.learner)
        return float(found[1]) if found else 1.0

    def with_strength(self, C: float) -> Setting:
        """Return the same with another regularisation parameter."""
        return replace(self, learner=re.sub(r"C=[\d.e-]+", f"C={C}", self.learner))

    def selector(self) -> TermSelector | WeightSelector:
        """Return the selector of the scaled terms, not fitted; without a method, one that keeps all terms."""
        if self.method is None or self.size is None:
            return TermSelector(fraction=1.0)
        if self.method == "weights":
            return WeightSelector(get_learner(self.learner), combine=COMBINE, **self.size.options())
        return TermSelector(get_metric(self.method).name, combine=COMBINE, **self.size.options())

    def model(
        self, decision: Decision, target: Any = None, min_df: int = 1, sigmoids: Any = None
    ) -> DecisionClassifier:
        """Return the classifier of term counts, not fitted."""
        steps: list[Any] = [self.representation.scaler(min_df)]
        if self.method is not None:
            steps += [
                KeptTerms(self.selector()),
                *([Normalizer()] if self.representation.unit_length else []),
            ]
        thresholds = decision.thresholds
        return DecisionClassifier(
            make_pipeline(*steps, get_learner(self.learner)),
            thresholds[0] if len(thresholds) == 1 else thresholds,
            decision.tilt,
            target,
            sigmoids,
            self.documents,
        )


@dataclass(frozen=True)
class Budget:
    """The most that a model may cost: a cut-off, or nothing."""

    size: Size | None
    n_docs: int

    @classmethod
    def of(cls, n_docs: int, k: Any, sparsity: Any, memory: Any) -> Budget:
        """Return the budget that was given, of which there may be one."""
        given = [
            (kind, value)
            for kind, value in (("k", k), ("sparsity", sparsity), ("memory", memory))
            if value is not None
        ]
        if len(given) > 1:
            raise ParameterError("give one budget: terms, sparsity or memory")
        if not given:
            return cls(None, n_docs)
        check_cut(*given[0])
        return cls(Size(*given[0]), n_docs)

    @property
    def fewer_documents(self) -> tuple[float, ...]:
        """Shares of the documents to try: in a given memory, fewer documents leave room for more terms."""
        return FEWER if self.size is not None and self.size.kind == "memory" else ()

    def sizes(self, n_terms: int) -> list[Size]:
        """Return the sizes to try within the budget, for a vocabulary of `n_terms`, the smallest first."""
        if self.size is not None and self.size.kind != "k":
            return [self.size.scaled(share) for share in SHARES]
        most = n_terms if self.size is None else min(n_terms, int(self.size.limit))
        return [Size("k", k) for k in SIZES if k < most] + ([self.size] if self.size is not None else [])


REFERENCE = Setting(Representation(), "svm(balanced, C=1.0)")
BASELINES = {
    "tf-idf + svm": Setting(Representation("tf"), "svm(C=1.0)"),
    "tf-idf + svm, balanced": Setting(Representation("tf"), "svm(balanced, C=1.0)"),
}


def portfolio(pairs: bool) -> list[Setting]:
    """Return the settings without selection, with pairs of words where texts allow them.

    Presence, plain counts and log tf without a weight were tried on the tuning corpora as well: on
    average they did not make the choice better.
    """
    log, bns = Representation(), Representation(weight="bns")
    plan: list[tuple[Representation, tuple[float, ...]]] = [(log, STRENGTHS), (bns, STRENGTHS)]
    if pairs:
        plan += [(replace(log, pairs=True), (0.3, 1.0, 3.0)), (replace(bns, pairs=True), (0.3, 1.0))]
    wide = [
        Setting(representation, learner.format(C=C))
        for representation, values in plan
        for learner in ("svm(C={C})", "svm(balanced, C={C})")
        for C in values
    ]
    return [*wide, *BASELINES.values()]


def typical_skew(sizes: Any, n_docs: int) -> float:
    """Return the documents outside for one inside, at the median class."""
    sizes = np.asarray(sizes, dtype=float)
    return float(np.median((n_docs - sizes) / np.maximum(sizes, 1)))
