"""A corpus and a goal come in; how to represent, select, learn and decide, with the evidence, go out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from termsieve.adviser.advice import Advice, Cost, Evidence, Recipe, Rival
from termsieve.adviser.curve import SHARES, LearningCurve
from termsieve.adviser.folds import Split
from termsieve.adviser.frontier import Point, steadied
from termsieve.adviser.goals import GOALS, Goal, get_goal
from termsieve.adviser.portfolio import BASELINES, Budget, Setting, typical_skew
from termsieve.adviser.probabilities import Calibrated, calibrated
from termsieve.adviser.promise import Difference, Promise, calibration_for
from termsieve.adviser.question import Question, asked
from termsieve.adviser.race import Choice
from termsieve.adviser.rivals import checked_rivals, rival_verdicts
from termsieve.adviser.stages import (
    BASELINE,
    Clock,
    Nested,
    Progress,
    Raced,
    Rule,
    nested,
    raced,
    repeated,
    select_terms,
    values_with,
)
from termsieve.adviser.verdicts import Verdicts
from termsieve.corpus import Corpus
from termsieve.errors import InputError, ParameterError, unknown_name
from termsieve.ranking import CELL_BYTES, ROW_BYTES
from termsieve.terms import suited_options

__all__ = ["GOALS", "Advice", "advise", "get_goal"]

PREFER = ("best", "small")


def advise(
    corpus: Corpus,
    goal: str = "f1",
    *,
    target: Any = None,
    prefer: str = "best",
    budget_terms: int | None = None,
    budget_sparsity: float | None = None,
    budget_memory: float | None = None,
    rivals: Mapping[str, Any] | None = None,
    groups: Any = None,
    times: Any = None,
    minutes: float | None = None,
    held_out: int | None = None,
    probabilities: bool = False,
    random_state: int = 0,
    progress: Progress | None = None,
    **term_options: Any,
) -> Advice:
    """Return how to classify the documents of a corpus, what to expect of it, and how few terms are enough.

    Parameters
    ----------
    corpus : Corpus
        Labelled texts, or a term matrix with labels.
    goal : str, default="f1"
        What to optimise: a key of `GOALS`, such as "f2", "accuracy" or "recall(precision=0.9)". It is the
        goal of the second of two classes, of `target` against the rest, or the mean over the classes.
    target : optional
        The class to tell from the rest.
    prefer : {"best", "small"}, default="best"
        The best expected figure, or the fewest terms within .01 of it.
    budget_terms, budget_sparsity, budget_memory : optional
        Largest number of terms, of distinct terms per document on average, or of bytes of the training
        matrix. With a budget of bytes, half and a quarter of the documents with more terms are tried, too.
    rivals : mapping of str to classifier, optional
        Classifiers of texts (or of term matrices), judged on the same folds.
    groups : sequence, optional
        One value per document: documents with equal values are never on both sides of a split. Nor are
        documents that are nearly equal.
    times : sequence, optional
        One value per document: models are trained on earlier documents and tested on later ones only.
    minutes : float, optional
        How long it may take; time that is left is spent where it may change the advice.
    held_out : int, optional
        Number of new documents that the interval is for; by default a fifth of these.
    probabilities : bool, default=False
        Whether the pipeline shall give probabilities (`predict_proba`), calibrated on documents that the
        models did not see.
    random_state : int, default=0
        Seed of the folds.
    progress : callable, optional
        Called with the stage and the share of the work that is done.
    **term_options
        How texts become terms; see `term_matrix`.

    Returns
    -------
    Advice
        The choice, its promised figure, rivals, the frontier of sizes, and an unfitted pipeline.

    Raises
    ------
    InputError
        If the documents are too few, or have only one class.
    ParameterError
        If the goal, a budget or another option is outside its rule.

    Examples
    --------
    >>> from termsieve import load_docstrings
    >>> advice = advise(load_docstrings(), "f1", target="stats", minutes=1)  # doctest: +SKIP
    >>> print(advice.explanation())  # doctest: +SKIP
    >>> model = advice.pipeline().fit(texts, labels)  # doctest: +SKIP
    """
    clock = Clock(time.perf_counter(), progress=progress)
    if not isinstance(corpus, Corpus):
        raise InputError(f"advise takes a Corpus, not {type(corpus).__name__}; make one of texts and labels")
    wanted, budget = _checked(
        corpus, goal, prefer, minutes, held_out, budget_terms, budget_sparsity, budget_memory
    )
    clock.limit = np.inf if minutes is None else 60.0 * minutes
    others = checked_rivals(rivals)
    clock.tell("counting terms", 0.0)
    question = asked(corpus, target, suited_options(term_options, corpus.texts or ()), groups, times, minutes)
    generator = np.random.default_rng(random_state)
    # The matrices are small: threads of the linear algebra would only wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        found = raced(question.task, wanted, clock, generator)
        select_terms(found, budget, clock)
        rule = Rule(prefer, budget)
        advice = _concluded(question, wanted, found, rule, clock, generator, held_out, probabilities)
        for name, model in others.items():
            clock.tell(f"judging {name}", 0.95)
            verdicts = rival_verdicts(model, corpus, found.rows, found.race, target)
            advice.rivals.append(_rival(name, verdicts, advice))
    clock.tell("done", 1.0)
    return advice


def _checked(
    corpus: Any, goal: str, prefer: str, minutes: Any, held_out: Any, *budget: Any
) -> tuple[Goal, Budget]:
    wanted = get_goal(goal)
    if prefer not in PREFER:
        raise unknown_name("preference", str(prefer), PREFER)
    if minutes is not None and not (isinstance(minutes, (int, float)) and minutes > 0):
        raise ParameterError(f"minutes must be a number above 0, not {minutes!r}")
    if held_out is not None and (not isinstance(held_out, int) or held_out < 1):
        raise ParameterError(f"held_out must be a whole number of at least 1, not {held_out!r}")
    return wanted, Budget.of(len(corpus), *budget)


def _concluded(
    question: Question,
    goal: Goal,
    found: Raced,
    rule: Rule,
    clock: Clock,
    generator: np.random.Generator,
    held_out: int | None,
    probabilities: bool,
) -> Advice:
    """Choose, repeat the choice without each fold, and return what is to be said of it."""
    task, race = question.task, found.race
    clock.tell("judging the choice on unseen documents", 0.85)
    choice = rule.choose(race, found.complete, found.folds)
    own = nested(found, found.complete, rule)
    everything = nested(found, [s for s in found.complete if s.method is None], Rule("best", Budget(None, 0)))
    others = repeated(found, rule, own, clock, generator)
    promise = Promise(
        own.verdicts,
        goal,
        calibration_for(task.kind, goal),
        [other.verdicts for other in others],
        [part.as_drawn for part in (own, *others)],
    )
    whole = Split(race.task, np.arange(len(race.task)), np.arange(min(1000, len(race.task))))
    ranked_all = race.ranked([s for s in found.complete if s.method is None], found.folds)
    advice = Advice(
        goal=goal.name,
        problem=question.problem,
        choice=choice,
        promise=promise,
        all_features=everything.verdicts.figure(goal),
        all_terms_choice=ranked_all[0],
        cost=_cost(choice, whole, rule.budget, len(task)),
        frontier=_frontier(found, whole, len(task)),
        best_cross_validated=_best_figure(found, rule),
        learning_curve=_curve(found, promise, clock, generator),
        probabilities=_calibrated(found, choice) if probabilities else None,
        n_docs=len(task),
        n_raced=len(race.task),
        duplicates=found.duplicates,
        skew=typical_skew(task.truth.sum(axis=0), len(task)),
        held_out=held_out or max(1, len(task) // 5),
        evidence=_evidence(found, own, goal, clock),
        rivals=[],
        _recipe=Recipe(question.term_options, task.min_df, question.several_labels, question.target),
    )
    advice.rivals.extend(
        _rival(name, race.verdicts(setting, False, found.folds), advice)
        for name, setting in BASELINES.items()
        if setting in found.complete
    )
    if choice.setting.method is not None:
        advice.rivals.append(_rival("all terms, the best of them", everything.verdicts, advice))
    return advice


def _curve(
    found: Raced, promise: Promise, clock: Clock, generator: np.random.Generator
) -> LearningCurve | None:
    """Return the learning curve, if there is time for it.

    Its steps are those of a setting that was not chosen by these documents: the best of many settings shines
    with as many documents as it was chosen by, and less with fewer.
    """
    if BASELINE not in found.complete:
        return None
    if time.perf_counter() + 3 * found.seconds * len(found.folds) > clock.at(1.0):
        return None
    verdicts = [
        found.race.cross_verdicts(*values_with(found, BASELINE, share, generator), found.folds)
        for share in SHARES
    ]
    n_train = round(np.mean([len(found.race.splits[number][0]) for number in found.folds]))
    return LearningCurve.of(verdicts, n_train, promise)


def _calibrated(found: Raced, choice: Choice) -> Calibrated:
    race = found.race
    values = race.standings[choice.setting].values
    return calibrated(values, race.task.truth, race.fold, found.folds, race.task.one_label)


def _rival(name: str, verdicts: Verdicts, advice: Advice) -> Rival:
    goal = advice.promise.goal
    if goal.of_counts is None and verdicts.values is None:
        goal = get_goal("f1")  # a classifier that only names classes has no order of documents
    return Rival(
        name, goal.name, verdicts.figure(goal), Difference.of(advice.promise.verdicts, verdicts, goal)
    )


def _evidence(found: Raced, own: Nested, goal: Goal, clock: Clock) -> Evidence:
    race = found.race
    rows = []
    for choice in race.ranked(found.complete, found.folds):
        rows.append(_row(choice, goal, len(found.folds), dropped=False))
    ended = [s for s in race.standings if s not in found.complete and len(race.standings[s].folds) >= 2]
    for setting in ended:
        best = race.ranked([setting], race.standings[setting].folds)[0]
        rows.append(_row(best, goal, len(race.standings[setting].folds), dropped=True))
    seconds = time.perf_counter() - clock.start
    return Evidence(
        verdicts=own.verdicts,
        candidates=rows,
        outer_choices=[str(choice) for choice in own.choices],
        outer=[(c, found.rows[race.splits[f][0]]) for c, f in zip(own.choices, found.folds, strict=True)],
        not_tried=[str(setting) for setting in found.not_tried],
        n_trained=found.n_trained,
        seconds=seconds,
    )


def _row(choice: Choice, goal: Goal, n_folds: int, dropped: bool) -> dict[str, Any]:
    setting = choice.setting
    return {
        "method": setting.method or "all terms",
        "terms": None if setting.size is None else setting.size.value,
        "documents": setting.documents,
        "representation": str(setting.representation),
        "learner": setting.learner,
        "threshold": "tuned" if choice.tuned else "own",
        "figure": choice.figure,
        "expected": choice.score,
        "folds": n_folds,
        "dropped": dropped,
    }


def _best_figure(found: Raced, rule: Rule) -> float:
    ranked = found.race.ranked(rule.allowed(found.complete), found.folds)
    return ranked[0].figure


def _frontier(found: Raced, whole: Split, n_docs: int) -> list[Point]:
    """Return the selections by growing size, with their costs on all documents, and all terms last."""
    race = found.race
    chosen: dict[Setting, Choice] = {}
    for choice in race.ranked(found.complete, found.folds):
        chosen.setdefault(choice.setting, choice)
    selected = [c for s, c in chosen.items() if s.size is not None and s.documents == 1]
    selected.sort(key=lambda c: c.setting.size.limit)  # type: ignore[union-attr]
    if not selected:
        return []
    line = [*selected, chosen[selected[0].setting.everything]]
    smooth = steadied([choice.figure for choice in line])
    points = []
    for choice, value in zip(line, smooth, strict=True):
        n_terms, cells = _size_of(choice.setting, whole, n_docs)
        points.append(Point(choice, n_terms, cells / n_docs, _bytes(cells, n_docs), choice.figure, value))
    return points


def _size_of(setting: Setting, whole: Split, n_docs: int) -> tuple[int, float]:
    """Return the terms of a setting and the cells of its training matrix, scaled up to all documents."""
    share = n_docs / len(whole.train)
    part = whole.part(setting.documents)
    if setting.method is None:
        X, _ = part.scaled(setting.representation)
        return X.shape[1], X.nnz * share
    ranking = part.ranking(setting)
    columns = part.columns(setting)
    return len(columns), float(ranking.counts.df[columns].sum()) * share


def _bytes(cells: float, n_docs: int) -> int:
    return round(CELL_BYTES * cells + ROW_BYTES * (n_docs + 1))


def _cost(choice: Choice, whole: Split, budget: Budget, n_docs: int) -> Cost:
    """Return what the recommended model takes, trained on all documents of the race."""
    setting = choice.setting
    n_terms, cells = _size_of(setting, whole, n_docs)
    if n_terms == 0:
        raise ParameterError(f"a budget of {budget.size} leaves no word; allow more")
    all_terms, all_cells = _size_of(setting.everything, whole, n_docs)
    n_used = round(setting.documents * n_docs)
    return Cost(
        n_terms,
        all_terms,
        cells / n_used,
        _bytes(cells, n_used),
        _bytes(all_cells, n_docs),
        _predict_seconds(choice, whole),
    )


def _predict_seconds(choice: Choice, whole: Split) -> float:
    """Return how long 1,000 documents take, which hardly depends on how many documents trained the model."""
    share = min(choice.setting.documents, len(whole.test) / len(whole.train))
    model = replace(choice.setting, documents=share).model(choice.decision, None, whole.task.min_df)
    counts = whole.task.counts(choice.setting.representation)
    model.fit(counts, whole.task.y)
    sample = counts[whole.test]
    start = time.perf_counter()
    model.predict(sample)
    return (time.perf_counter() - start) * 1000 / len(whole.test)
