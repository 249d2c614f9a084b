"""A goal and the skew of the classes come in; the methods, sizes and learners worth trying go out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from termsieve.counts import Counts
from termsieve.errors import ParameterError
from termsieve.estimators import WeightSelector
from termsieve.estimators.selector import TermSelector
from termsieve.metrics import get_metric
from termsieve.ranking import Combine, Ranking, check_cut, cut, rank
from termsieve.scores import score

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
LEARNERS = ("svm", "nb", "lr")
# The best single methods, then the partners whose failures correlate least with theirs (forman2003).
BY_GOAL = {
    "f1": ("bns", "information_gain", "odds_ratio", "chi_squared"),
    "f2": ("bns", "f1", "information_gain", "odds_ratio"),
    "recall": ("bns", "f1", "information_gain", "odds_ratio"),
    "precision": ("bns", "odds_ratio", "information_gain", "chi_squared"),
    "accuracy": ("bns", "odds_numerator", "information_gain", "chi_squared"),
}
SKEWED = 5.0  # outside documents for one inside, from which on words against a class get a share of their own
RATIOS = (0.5, 0.8)  # zheng2004: of the words, how many speak for the class
COMBINE: Combine = "round_robin"  # each class gets its words, however hard it is


@dataclass(frozen=True)
class Method:
    """A way to order terms: a metric, perhaps with a ratio, or the weights of a linear SVM."""

    metric: str | None
    ratio: float | None = None

    def __str__(self) -> str:
        name = "svm weights" if self.metric is None else str(get_metric(self.metric))
        return name if self.ratio is None else f"{name} ratio={self.ratio:g}"

    def ranking(self, X: Any, y: Any, counts: Counts, min_df: int) -> Ranking:
        """Return the terms of the training documents, best first."""
        if self.metric is None:
            fitted = WeightSelector("svm", k=1, combine=COMBINE, min_df=min_df).fit(X, y)
            return Ranking(fitted.ranking_, fitted.scores_, counts)
        scores = score(counts.take(counts.problems), self.metric)
        return rank(scores, ratio=self.ratio, combine=COMBINE, min_df=min_df)

    def selector(self, min_df: int, **cut_off: Any) -> TermSelector | WeightSelector:
        """Return the selector that selects as this method does."""
        if self.metric is None:
            return WeightSelector("svm", combine=COMBINE, min_df=min_df, **cut_off)
        return TermSelector(self.metric, ratio=self.ratio, combine=COMBINE, min_df=min_df, **cut_off)


@dataclass(frozen=True)
class Arm:
    """What is tried at all sizes together: a method, or None for all features, and a learner."""

    method: Method | None
    learner: str

    def __str__(self) -> str:
        return f"{self.method or 'all features'} + {self.learner}"


@dataclass(frozen=True)
class Size:
    """A cut-off: one of `cut`'s, or all features."""

    kind: str
    value: float | None = None

    def __str__(self) -> str:
        return "all features" if self.value is None else f"{self.kind}={self.value:,g}"


ALL = Size("all")


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

    def n_terms(self, ranking: Ranking) -> int:
        """Return how many of the ranked terms the budget allows; of part of the documents, its part."""
        if self.size is None:
            return len(ranking)
        value = self.size.value
        assert value is not None
        if self.size.kind == "memory":
            value *= ranking.counts.n_docs / self.n_docs
        return len(cut(ranking, **{self.size.kind: value}))  # type: ignore[arg-type]

    def sizes(self, n_terms: int) -> list[Size]:
        """Return the sizes to try, for a vocabulary of `n_terms`."""
        most = n_terms
        if self.size is not None and self.size.kind == "k" and self.size.value is not None:
            most = int(self.size.value)
        made = [Size("k", k) for k in SIZES if k < most]
        return made + ([self.size] if self.size is not None else [])

    def prefix(self, size: Size, ranking: Ranking) -> int:
        """Return how many terms a size means in a ranking, within the budget."""
        allowed = self.n_terms(ranking)
        if size.kind == "k" and size.value is not None:
            return min(int(size.value), allowed)
        return allowed


def portfolio(goal: str, skew: float) -> list[Arm]:
    """Return the arms, the most promising first."""
    methods = [Method(name) for name in BY_GOAL[goal]] + [Method(None)]
    if skew >= SKEWED:
        methods += [Method("correlation_coefficient", ratio) for ratio in RATIOS]
    everything = [Arm(None, learner) for learner in LEARNERS]
    leading = [Arm(method, learner) for learner in LEARNERS for method in methods[:2]]
    others = [Arm(method, learner) for learner in LEARNERS for method in methods[2:]]
    return [*everything, *leading, *others]


def typical_skew(sizes: Any, n_docs: int) -> float:
    """Return the documents outside for one inside, at the median class."""
    sizes = np.asarray(sizes, dtype=float)
    return float(np.median((n_docs - sizes) / np.maximum(sizes, 1)))
