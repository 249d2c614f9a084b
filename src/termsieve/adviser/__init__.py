"""A corpus and a goal come in; the method, size and learner to use, with the evidence, go out."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

from termsieve.adviser.advice import Advice, Candidate, Cost, Evidence, Recipe
from termsieve.adviser.figures import GOALS, Verdicts, check_goal
from termsieve.adviser.portfolio import Arm, Budget, portfolio, typical_skew
from termsieve.adviser.racing import Fold, Outcome, Question, Rows, Standing, Task, race
from termsieve.corpus import Corpus
from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.labels import encode_labels
from termsieve.learners import get_learner
from termsieve.ranking import CELL_BYTES, ROW_BYTES
from termsieve.terms import term_matrix

__all__ = ["GOALS", "Advice", "advise"]

N_OUTER = 5
LEAST = 5  # documents of a class, below which nothing can be said of it
CHOICE_DOCUMENTS = 4000  # the choice is made on a sample of so many; the figure on models of all documents
WORSE = 0.02  # the choice that comes out so far below all features on unseen documents is not recommended
RARE = 3  # documents that a word must be in, where there are documents enough


def advise(
    corpus: Corpus,
    goal: str = "f1",
    *,
    target: Any = None,
    budget_terms: int | None = None,
    budget_sparsity: float | None = None,
    budget_memory: float | None = None,
    minutes: float | None = None,
    held_out: int | None = None,
    random_state: int = 0,
    **term_options: Any,
) -> Advice:
    """Return which method, number of terms and learner suit a corpus and a goal.

    `goal` is f1, f2, precision, recall or accuracy: of the second of two classes, of the class `target`
    against the rest, or else the mean over classes (accuracy: the share of documents that are right).
    A portfolio of methods, sizes and learners is cross-validated; those that cannot win are dropped on the
    way. The choice is then repeated on parts of the documents and tested on the rest, which it never saw:
    that gives the promised figure. A budget limits the terms, the mean distinct terms of a document, or the
    bytes of the training matrix; `minutes` limits what is tried; `held_out` is the number of further
    documents that the interval is for, by default a fifth of these. `term_options` are `term_matrix`'s.
    """
    start = time.perf_counter()
    check_goal(goal)
    if minutes is not None and not (isinstance(minutes, (int, float)) and minutes > 0):
        raise ParameterError(f"minutes must be a number above 0, not {minutes!r}")
    if held_out is not None and (not isinstance(held_out, int) or held_out < 1):
        raise ParameterError(f"held_out must be a whole number of at least 1, not {held_out!r}")
    budget = Budget.of(len(corpus), budget_terms, budget_sparsity, budget_memory)
    task, problem = _task(corpus, target, term_options)
    question = Question(task, goal, budget, RARE if len(task) >= 100 else 1)
    limit = np.inf if minutes is None else 60.0 * minutes
    recipe = Recipe(
        None if corpus.texts is None else term_options,
        question.min_df,
        task.truth.shape[1] > 1 and not task.one_label,
    )
    # The matrices are small: threads of the linear algebra would only wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        facts = _facts(question, start, limit, np.random.default_rng(random_state))
    return Advice(
        goal=goal,
        problem=problem,
        n_docs=len(task),
        held_out=held_out or max(1, len(task) // 5),
        _recipe=recipe,
        **facts,
    )


def _facts(question: Question, start: float, limit: float, generator: np.random.Generator) -> dict[str, Any]:
    """Choose, evaluate the choice on documents it did not see, and return what an Advice says of it."""
    task, goal = question.task, question.goal
    skew = typical_skew(task.truth.sum(axis=0), len(task))
    arms = portfolio(goal, skew)
    rows = np.arange(len(task))
    # The first race takes its share of the time, and what it does not start is left out of the others.
    outcome = _choice(question, rows, arms, generator, start + limit / (N_OUTER + 2))
    tried = [standing.arm for standing in outcome.standings]
    whole = Fold(question, rows, rows[:1])
    own, full, choices = _nested(question, tried, generator, start + limit)
    raced = outcome.winner
    outcome, own = _preferred(question, outcome, own, full)
    choice = _settled(_candidate(outcome.winner, outcome.at), whole)
    cost = _cost(choice, whole)
    evidence = Evidence(
        verdicts=own,
        candidates=[
            _row(standing, i, goal) for standing in outcome.standings for i in range(len(standing.sizes))
        ],
        outer_choices=choices,
        all_features_learner=outcome.everything.arm.learner,
        gave_way=outcome.winner is not raced,
        not_tried=[str(arm) for arm in arms if arm not in tried],
        seconds=time.perf_counter() - start,
    )
    return {
        "choice": choice,
        "runner_up": _runner_up(outcome, question),
        "figure": own.figure(goal),
        "all_features": full.figure(goal),
        "cost": cost,
        "skew": skew,
        "evidence": evidence,
    }


def _task(corpus: Corpus, target: Any, term_options: dict[str, Any]) -> tuple[Task, str]:
    """Return the documents as a task, and the problem's name."""
    if not isinstance(corpus, Corpus):
        raise InputError(f"advise takes a Corpus, not {type(corpus).__name__}; make one of texts and labels")
    labels = encode_labels(list(corpus.labels) if corpus.multilabel else corpus.labels)
    names = [str(label) for label in labels.classes]
    truth = labels.indicator()
    one_label = not labels.multilabel
    if one_label and len(names) == 1:
        raise InputError(f"there is only one class {names[0]!r}; to tell classes apart takes two")
    if target is not None:
        if str(target) not in names:
            raise unknown_name("class", str(target), names)
        truth, one_label = truth[:, [names.index(str(target))]], True
        problem = f"{target} against the rest"
    elif one_label and len(names) == 2:
        truth, problem = truth[:, 1:], f"{names[1]} against {names[0]}"
    else:
        problem = f"{len(names):,} {'classes' if one_label else 'labels'}"
    _check_sizes(truth, one_label, problem)
    X, _ = term_matrix(corpus, **{**term_options, "binary": True})
    return Task(X.astype(np.float64), truth, one_label), problem


def _check_sizes(truth: Any, one_label: bool, problem: str) -> None:
    inside = truth.sum(axis=0)
    enough = (inside >= LEAST) & (len(truth) - inside >= LEAST)
    needed = 2 if one_label and truth.shape[1] > 1 else 1
    if truth.shape[1] == 0 or enough.sum() < needed:
        raise InputError(
            f"there are too few documents for advice on {problem}: of {needed} class{'es' * (needed > 1)} "
            f"at least {LEAST} documents, and as many outside, are needed"
        )


def _choice(
    question: Question, rows: Rows, arms: list[Arm], generator: np.random.Generator, deadline: float = np.inf
) -> Outcome:
    sample = question.task.sample(rows, CHOICE_DOCUMENTS, generator)
    return race(question, sample, arms, generator, deadline)


def _nested(
    question: Question, arms: list[Arm], generator: np.random.Generator, deadline: float
) -> tuple[Verdicts, Verdicts, list[str]]:
    """Return the verdicts of the choice and of all features on documents that neither saw, and the choices.

    Each part of the documents is left out in turn; past the deadline, and after two parts, no further one.
    """
    own: list[Verdicts] = []
    full: list[Verdicts] = []
    choices: list[str] = []
    task = question.task
    for train, test in task.folds(np.arange(len(task)), N_OUTER, generator):
        if len(own) >= 2 and time.perf_counter() > deadline:
            break
        outcome = _choice(question, train, arms, generator)
        fold = Fold(question, train, test)
        winner, every = outcome.winner, outcome.everything
        own += fold.verdicts(winner.arm, [winner.sizes[outcome.at]])[0]
        full += own[-1:] if winner is every else fold.verdicts(every.arm, every.sizes)[0]
        choices.append(str(_candidate(winner, outcome.at)))
    return reduce(add, own), reduce(add, full), choices


def _preferred(
    question: Question, outcome: Outcome, own: Verdicts, full: Verdicts
) -> tuple[Outcome, Verdicts]:
    """Return the outcome and the verdicts to recommend: all features where the choice fell behind them."""
    behind = full.figure(question.goal) - own.figure(question.goal)
    if behind <= WORSE or not question.may_win(outcome.everything.arm):
        return outcome, own
    return replace(outcome, winner=outcome.everything, at=0), full


def _candidate(standing: Standing, at: int) -> Candidate:
    figures = {goal: standing.verdicts[at].figure(goal) for goal in GOALS}
    return Candidate(standing.arm, standing.sizes[at], standing.n_terms[at], figures)


def _runner_up(outcome: Outcome, question: Question) -> Candidate | None:
    """Return the best of the other arms that were tried to the end."""
    others = [
        s for s in outcome.standings
        if s is not outcome.winner and not s.dropped and question.may_win(s.arm)
    ]  # fmt: skip
    best = max(others, key=lambda s: max(s.figures(outcome.goal)), default=None)
    return None if best is None else _candidate(best, best.best(outcome.goal))


def _row(standing: Standing, at: int, goal: str) -> dict[str, Any]:
    return {
        "method": "all features" if standing.arm.method is None else str(standing.arm.method),
        "learner": standing.arm.learner,
        "size": str(standing.sizes[at]),
        "terms": round(standing.n_terms[at]),
        "figure": standing.verdicts[at].figure(goal),
        "folds": standing.n_folds,
        "dropped": standing.dropped,
    }


def _settled(choice: Candidate, whole: Fold) -> Candidate:
    """Return the choice with the budget itself as its size where a number of terms would exceed it."""
    budget = whole.question.budget
    if choice.arm.method is None or budget.size is None:
        return choice
    allowed = budget.n_terms(whole.ranking(choice.arm.method))
    if allowed == 0:
        raise ParameterError(f"a budget of {budget.size} leaves no word; allow more")
    over = choice.size.kind == "k" and choice.size.value >= allowed  # type: ignore[operator]
    return replace(choice, size=budget.size) if over else choice


def _cost(choice: Candidate, whole: Fold) -> Cost:
    """Fit the choice to all documents and measure what it takes."""
    task, counts = whole.task, whole.counts
    columns = np.flatnonzero(counts.df)
    if choice.arm.method is not None:
        ranking = whole.ranking(choice.arm.method)
        columns = ranking.order[: whole.question.budget.prefix(choice.size, ranking)]
    n_cells = int(counts.df[columns].sum())
    X = task.X[:, columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a label that every document has
        model = OneVsRestClassifier(get_learner(choice.arm.learner)).fit(X, task.y)
    sample = X[: min(len(task), 1000)]
    start = time.perf_counter()
    model.predict(sample)
    seconds = (time.perf_counter() - start) * 1000 / sample.shape[0]
    pointers = ROW_BYTES * (len(task) + 1)
    return Cost(
        terms=len(columns),
        all_terms=int(np.count_nonzero(counts.df)),
        sparsity=n_cells / len(task),
        matrix_bytes=CELL_BYTES * n_cells + pointers,
        all_matrix_bytes=CELL_BYTES * int(counts.df.sum()) + pointers,
        predict_seconds=seconds,
    )
