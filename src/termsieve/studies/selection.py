"""A problem and a method come in; the terms that the method keeps for each size go out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from termsieve.counts import Counts
from termsieve.errors import StudyError
from termsieve.estimators import WeightSelector
from termsieve.estimators.evaluate import middle_of_best, set_values, training_counts, tuning_parts
from termsieve.estimators.ratio import RATIOS, sided_orders
from termsieve.estimators.weights import sample_rows
from termsieve.estimators.wfo import LAMBDAS, best_lambdas, lambda_curves, wfo_ranking
from termsieve.learners import decision_sets
from termsieve.measures import get_goal
from termsieve.metrics import Metric, Occurrences, get_metric
from termsieve.ranking import Ranking, Size, cut, interleaved, rank
from termsieve.scores import Block, Scores, score
from termsieve.studies.folds import Problem
from termsieve.studies.plan import LearnerPlan, Method

Ints = NDArray[np.int64]
Sizes = tuple[Size, ...]


def trainings(method: Method, n_sizes: int) -> int:
    """Return how many models a method trains for a number of sizes with one learner."""
    tries = {
        "ratio": len(RATIOS) * (method.folds if method.scenario == "cv" else 1),
        "wfo": len(LAMBDAS) * method.folds,
    }
    return n_sizes * (1 + tries.get(method.select, 0))


class Choice(NamedTuple):
    """Columns in rank order for some sizes, and how they were found."""

    order: Ints
    sizes: Sizes
    kept: list[int]
    rows: NDArray[np.intp] | None = None  # the training documents used, if not all
    ratio: float | None = None
    lam: float | None = None
    curve: list[float] | None = None


def method_choices(problem: Problem, method: Method, run: LearnerPlan, sizes: Sizes) -> Iterator[Choice]:
    """Yield what a method keeps for the sizes; a method without a learner yields one order for all sizes."""
    yield from _CHOICES[method.select](problem, method, run, sizes)


def _rank_choices(problem: Problem, method: Method, run: LearnerPlan, sizes: Sizes) -> Iterator[Choice]:
    yield _prefixes(_ranking(problem, method), sizes)


def _weight_choices(problem: Problem, method: Method, run: LearnerPlan, sizes: Sizes) -> Iterator[Choice]:
    yield _prefixes(_weight_ranking(problem, method, method.sample), sizes)


def _all_choices(problem: Problem, method: Method, run: LearnerPlan, sizes: Sizes) -> Iterator[Choice]:
    n_terms = problem.counts.n_terms
    yield Choice(np.arange(n_terms), sizes, [n_terms])


def _prefixes(ranking: Ranking, sizes: Sizes) -> Choice:
    return Choice(ranking.order, sizes, [size.kept(ranking) for size in sizes])


def _ranking(problem: Problem, method: Method) -> Ranking:
    chosen = get_metric(str(method.metric))
    scores: Scores
    if chosen.needs == "occurrences" and not problem.counts.occurrences:
        if problem.multi:
            raise StudyError(f"metric '{chosen}' needs whole word counts for several classes at once")
        scores = _WeightScores(problem.counts, chosen, problem.fold.train, problem.y_train == 1)
    else:
        scores = score(problem.counts, chosen, fold=method.side != "positive")
    return rank(scores, method.side, method.ratio, method.alpha, method.combine, method.min_df)  # type: ignore[arg-type]


def _weight_ranking(problem: Problem, method: Method, sample: float) -> Ranking:
    train, _ = problem.fold.values(problem.fold.plan.representation.values)
    seed = problem.fold.seed("weights")
    selector = WeightSelector(method.model, sample, method.stratify, k=1, random_state=seed)
    selector.fit(train, problem.y_train[:, None])
    return Ranking(selector.ranking_, selector.scores_, problem.counts)


def _ratio_choices(problem: Problem, method: Method, run: LearnerPlan, sizes: Sizes) -> Iterator[Choice]:
    """Try all ratios of all sizes; the scenario "ideal" evaluates on the test documents, as an oracle."""
    one = problem.counts.replace(classes=[0], multilabel=True)
    if method.scenario == "cv":
        curves = _held_out_curves(problem, method, run, sizes, one)
    else:
        curves = _fitted_curves(problem, method, run, sizes, one)[method.scenario]
    orders = _ratio_orders(one, method)
    for size, curve in zip(sizes, curves, strict=True):
        best = middle_of_best(curve)
        kept_terms = _kept(orders[best], one, size)
        yield Choice(orders[best], (size,), [kept_terms], ratio=RATIOS[best], curve=curve.tolist())


def _ratio_sets(counts: Counts, method: Method, sizes: Sizes) -> list[Ints]:
    """Return the terms of each ratio, size after size."""
    orders = _ratio_orders(counts, method)
    return [order[: _kept(order, counts, size)] for size in sizes for order in orders]


def _held_out_curves(
    problem: Problem, method: Method, run: LearnerPlan, sizes: Sizes, one: Counts
) -> NDArray[np.float64]:
    """Return the mean figure of the goal (sizes x ratios) on the held-out folds of the training documents."""
    X, _ = problem.values(run)
    y, totals = problem.y_train, []
    for part in tuning_parts(y, method.folds, problem.fold.seed("tuning")):
        known = training_counts(one, problem.fold.train, y[:, None], part)
        totals.append(set_values(run.name, method.goal, X, y, part, _ratio_sets(known, method, sizes)))
    return np.mean(totals, axis=0).reshape(len(sizes), len(RATIOS))


def _fitted_curves(
    problem: Problem, method: Method, run: LearnerPlan, sizes: Sizes, one: Counts
) -> dict[str, NDArray[np.float64]]:
    """Return the figure of the goal (sizes x ratios) of each scenario; both share the trained models."""
    key = method.metric, method.goal, run, sizes
    if key not in problem.curves:
        sets = _ratio_sets(one, method, sizes)
        union = np.unique(np.concatenate(sets))
        X, X_test = (values[:, union] for values in problem.values(run))
        both = sparse.vstack([X, X_test], format="csr")
        places = [np.searchsorted(union, columns) for columns in sets]
        values = decision_sets(run.name, X, problem.y_train, both, places)
        goal, n = get_goal(method.goal), len(problem.y_train)
        judged = {
            "practical": goal(problem.y_train, values[:, :n]),
            "ideal": goal(problem.y_test, values[:, n:]),
        }
        problem.curves[key] = {
            scenario: np.asarray(value, dtype=np.float64).reshape(len(sizes), len(RATIOS))
            for scenario, value in judged.items()
        }
    return problem.curves[key]


def _wfo_choices(problem: Problem, method: Method, run: LearnerPlan, sizes: Sizes) -> Iterator[Choice]:
    train, _ = problem.values(run)
    y, counts = problem.y_train, Counts.from_matrix(train, problem.y_train)  # of a class and of the rest
    kept = [_kept(np.arange(counts.n_terms), counts, size) for size in sizes]
    member = y[:, None] == counts.classes
    parts = tuning_parts(y, method.folds, problem.fold.seed("tuning"))
    curves = lambda_curves(train, member, y, counts, parts, kept, LAMBDAS, run.name, method.goal)
    for size, k, folds in zip(sizes, kept, curves, strict=True):
        lam = float(best_lambdas(folds, LAMBDAS).mean())
        order = wfo_ranking(counts, lam).order
        yield Choice(order, (size,), [k], lam=lam, curve=folds.mean(axis=0).tolist())


def _memory_choices(problem: Problem, method: Method, run: LearnerPlan, sizes: Sizes) -> Iterator[Choice]:
    """Use 1/A of the training matrix: N/a documents with a/A of their terms (mladenic2004)."""
    ranking = _weight_ranking(problem, method, 1 / method.budget)
    full = problem.counts.df.sum() / problem.counts.n_docs
    for size in sizes:
        assert size.value is not None
        seed = problem.fold.seed("memory")
        rows = sample_rows(problem.y_train == 1, size.value, seed, method.stratify)
        kept = len(cut(ranking, sparsity=full / (size.value * method.budget)))
        yield Choice(ranking.order, (size,), [kept], rows=rows)


def _ratio_orders(counts: Counts, method: Method) -> list[Ints]:
    positive, negative, _ = sided_orders(counts, str(method.metric))
    return [interleaved(positive, negative, ratio) for ratio in RATIOS]


class _WeightScores(Scores):
    """Scores of metrics that read occurrences, for a corpus of weights: the weights are added up."""

    def __init__(self, counts: Counts, chosen: Metric, X: Any, member: NDArray[np.bool_]) -> None:
        super().__init__(counts, chosen, False)
        inside = np.asarray(member.astype(np.float64) @ X)[None, :]
        total = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
        squares = np.asarray(X.multiply(X).sum(axis=0), dtype=np.float64).ravel()
        all_pos = inside.sum(axis=1, keepdims=True)
        self._words = Occurrences(
            inside, total - inside, all_pos, total.sum() - all_pos, squares, counts.n_terms
        )

    def _extra(self, rows: Any, columns: Any, tf: Any = None) -> dict[str, Any]:
        return {"occurrences": self._words}

    def distinct(self) -> tuple[Iterator[Block], Ints]:
        """Return the block as it is: columns with equal tables still differ in their weights."""
        return self._blocks(), np.arange(self.counts.n_terms)


def _kept(order: Ints, counts: Counts, size: Size) -> int:
    """Return how many of the ranked terms a size keeps; the size must not be a threshold."""
    return size.kept(Ranking(order, np.zeros(0), counts))


_CHOICES: dict[str, Callable[[Problem, Method, LearnerPlan, Sizes], Iterator[Choice]]] = {
    "rank": _rank_choices,
    "weight": _weight_choices,
    "ratio": _ratio_choices,
    "wfo": _wfo_choices,
    "memory": _memory_choices,
    "all": _all_choices,
}
