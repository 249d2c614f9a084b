"""A plan, a prepared corpus and one unit of work come in; its result rows and selections go out, no I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.errors import StudyError, unknown_name
from termsieve.estimators import WeightSelector
from termsieve.estimators.evaluate import Part, middle_of_best, set_values, training_counts, tuning_parts
from termsieve.estimators.ratio import RATIOS, sided_orders
from termsieve.estimators.weights import sample_rows
from termsieve.estimators.wfo import LAMBDAS, best_lambdas, lambda_curves, wfo_ranking
from termsieve.labels import encode_labels
from termsieve.learners import decision_path, predicted_sets
from termsieve.limits import document_limits
from termsieve.measures import Confusion, at_threshold, break_even
from termsieve.metrics import Metric, Occurrences, get_metric
from termsieve.ranking import Ranking, cut, interleaved, rank
from termsieve.scores import Block, Scores, score
from termsieve.studies.plan import LearnerPlan, Method, Plan, Size
from termsieve.studies.results import ROWS, SELECTIONS, schema
from termsieve.terms import term_matrix

if TYPE_CHECKING:
    import polars as pl

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
EVERY_CLASS = "all classes"  # the one problem of a multi-class study


class Prepared:
    """A corpus as a study sees it: word counts, the classes of each document, the split it came with."""

    def __init__(
        self, name: str, matrix: Any, member: Any, classes: list[str], parts: Any, terms: list[str]
    ) -> None:
        self.name = name
        self.matrix = matrix
        self.member: NDArray[np.bool_] = member
        self.classes = classes
        self.parts: NDArray[Any] | None = parts
        self.terms = terms

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getstate__(self) -> dict[str, Any]:
        return {
            key: value for key, value in self.__dict__.items() if not key.startswith("_") and key != "labels"
        }

    @cached_property
    def labels(self) -> Any:
        """What Counts takes as labels: class numbers, or an indicator matrix where documents have several."""
        single = bool((self.member.sum(axis=1) == 1).all())
        return self.member.argmax(axis=1) if single else self.member

    def whole_counts(self, occurrences: bool) -> Counts:
        """Return the counts of all documents, made once."""
        cached: dict[bool, Counts] = self.__dict__.setdefault("_counts", {})
        if occurrences not in cached:
            cached[occurrences] = Counts.from_matrix(self.matrix, self.labels, occurrences=occurrences)
        return cached[occurrences]

    @cached_property
    def strata(self) -> Ints:
        """The class each document is stratified by: its own, or of several the rarest."""
        by_size = np.argsort(self.member.sum(axis=0), kind="stable")
        ordered = self.member[:, by_size]
        return np.where(ordered.any(axis=1), by_size[ordered.argmax(axis=1)], -1)

    def fingerprint(self) -> str:
        """Return a digest of everything the rows of a study can depend on."""
        digest = hashlib.sha256()
        matrix = self.matrix
        for array in (matrix.indptr, matrix.indices):
            digest.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
        digest.update(np.ascontiguousarray(matrix.data, dtype=np.float64).tobytes())
        digest.update(np.packbits(self.member).tobytes())
        for words in (self.classes, self.terms, [] if self.parts is None else self.parts.tolist()):
            digest.update("\0".join(words).encode("utf-8", "surrogatepass") + b"\1")
        return digest.hexdigest()[:16]

    def described(self) -> dict[str, Any]:
        """Return what the manifest records of the corpus."""
        return {
            "fingerprint": self.fingerprint(),
            "documents": len(self),
            "terms": len(self.terms),
            "cells": int(self.matrix.nnz),
            "classes": dict(zip(self.classes, self.member.sum(axis=0).tolist(), strict=True)),
            "one_label": self.labels.ndim == 1,
        }


def prepared(plan: Plan, name: str, corpus: Corpus) -> Prepared:
    """Return a corpus with the documents the plan wants of it, as word counts."""
    entry = plan.corpus(name)
    labels = encode_labels(corpus.labels.tolist())
    member, classes = labels.indicator(), [str(label) for label in labels.classes.tolist()]
    rows = np.arange(len(corpus))
    if entry.classes is not None:
        wanted = [_position(label, classes, f"class of corpus '{name}'") for label in entry.classes]
        rows = np.flatnonzero(member[:, wanted].any(axis=1) & (member.sum(axis=1) == 1))
        member, classes = member[:, sorted(wanted)], [classes[c] for c in sorted(wanted)]
    if entry.per_class is not None:
        generator = np.random.default_rng(seeds(plan, name, "documents"))
        drawn = [generator.permutation(rows[member[rows, c]])[: entry.per_class] for c in range(len(classes))]
        rows = np.unique(np.concatenate(drawn))
    used = corpus if len(rows) == len(corpus) else corpus.subset(rows)
    matrix, vocabulary = term_matrix(used, **plan.representation.terms)
    if len(rows) == 0 or matrix.nnz == 0:
        raise StudyError(f"corpus '{name}' has no document with a term that the plan could use")
    terms = [str(term) for term in vocabulary.tolist()]
    return Prepared(name, sparse.csr_matrix(matrix), member[rows], classes, used.parts, terms)


def problems_of(plan: Plan, name: str, classes: Sequence[str], one_label: bool) -> list[str]:
    """Return the names of a corpus's problems."""
    if plan.problems.kind == "multi-class":
        return [EVERY_CLASS]
    wanted = plan.corpus(name).categories or plan.problems.categories
    if wanted is not None:
        return [classes[_position(label, classes, f"class of corpus '{name}'")] for label in wanted]
    # The two classes of one question are one problem: that of the second class.
    return list(classes[1:] if len(classes) == 2 and one_label else classes)


def _position(label: str, classes: Sequence[str], kind: str) -> int:
    if label not in classes:
        raise StudyError(str(unknown_name(kind, label, classes)))
    return list(classes).index(label)


def seeds(plan: Plan, corpus: str, *purpose: str | int) -> np.random.SeedSequence:
    """Return the seed for one purpose: a function of the plan's seed, the corpus and nothing else."""
    words = [plan.protocol.seed]
    for part in (corpus, *purpose):
        words.append(
            part if isinstance(part, int) else int.from_bytes(hashlib.sha256(part.encode()).digest()[:8])
        )
    return np.random.SeedSequence(words)


def drawn_parts(plan: Plan, data: Prepared, trial: int) -> list[Part]:
    """Return the training and test rows of each fold of a trial, the same for all problems of the corpus.

    Documents are shuffled, laid out class by class, and dealt out one by one, so that every part has its
    share of each class, to within one document.
    """
    protocol = plan.protocol
    if protocol.kind == "split":
        if data.parts is None or not (np.any(data.parts == "train") and np.any(data.parts == "test")):
            raise StudyError(
                f"corpus '{data.name}' came without a train and a test part; use kfold or random"
            )
        return [Part(np.flatnonzero(data.parts == "train"), np.flatnonzero(data.parts == "test"))]
    generator = np.random.default_rng(seeds(plan, data.name, "folds", trial))
    order = generator.permutation(len(data))
    order = order[np.argsort(data.strata[order], kind="stable")]
    place = np.arange(len(data))
    if protocol.kind == "kfold":
        if protocol.folds > len(data):
            raise StudyError(
                f"corpus '{data.name}' has {len(data)} documents, too few for {protocol.folds} folds"
            )
        number = place % protocol.folds
    else:
        steps = np.floor(np.arange(len(data) + 1) * protocol.test_size + generator.random())
        number = np.where(np.diff(steps) > 0, 0, -1)
    held_out = [np.sort(order[number == fold]) for fold in range(protocol.parts)]
    return [Part(np.setdiff1d(place, test), test) for test in held_out]


class Task(NamedTuple):
    """One problem and method, and for each learner the sizes to run."""

    problem: str
    method: str
    runs: tuple[tuple[str, tuple[Size, ...]], ...]


@dataclass(frozen=True)
class Unit:
    """Work that is done, written and lost together: tasks that share a corpus, a trial and a fold."""

    corpus: str
    trial: int
    fold: int
    tasks: tuple[Task, ...]

    @property
    def name(self) -> str:
        """A file name that belongs to this work only."""
        digest = hashlib.sha256(repr(self).encode()).hexdigest()[:10]
        return f"{self.corpus}-{self.trial}-{self.fold}-{digest}"


def trainings(method: Method, n_sizes: int) -> int:
    """Return how many models a method trains for that many sizes with one learner."""
    tries = {
        "ratio": len(RATIOS) * (method.folds if method.scenario == "cv" else 1),
        "wfo": 11 * method.folds,
    }
    return n_sizes * (1 + tries.get(method.select, 0))


class _WeightScores(Scores):
    """Scores of metrics that count words, for a corpus of weights: these are added up as they are."""

    def __init__(self, counts: Counts, chosen: Metric, X: Any, member: NDArray[np.bool_]) -> None:
        super().__init__(counts, chosen, False)
        inside = np.asarray(member.astype(np.float64) @ X)[None, :]
        total = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
        squares = np.asarray(X.multiply(X).sum(axis=0), dtype=np.float64).ravel()
        all_pos = inside.sum(axis=1, keepdims=True)
        self._words = Occurrences(
            inside, total - inside, all_pos, total.sum() - all_pos, squares, counts.n_terms
        )

    def _extra(self, counts: Counts, rows: slice, columns: Any) -> dict[str, Any]:
        return {"occurrences": self._words}

    def distinct(self) -> tuple[Iterator[Block], Ints]:
        """Return the block as it is: columns with equal tables still differ in their weights."""
        return self._blocks(self.counts), np.arange(self.counts.n_terms)


class Fold:
    """The documents of one fold over the terms that its training documents allow."""

    def __init__(self, plan: Plan, data: Prepared, trial: int, fold: int) -> None:
        self.plan, self.data, self.trial, self.fold = plan, data, trial, fold
        self.part = drawn_parts(plan, data, trial)[fold]
        if not len(self.part.train) or not len(self.part.test):
            raise StudyError(f"trial {trial}, fold {fold} of corpus '{data.name}' has an empty part")
        whole_numbers = bool((data.matrix.data == np.floor(data.matrix.data)).all())
        reads = any(m.metric and get_metric(m.metric).reads == "occurrences" for m in plan.methods)
        counts = self._training_counts(occurrences=reads and whole_numbers)
        limits = plan.representation.min_df, plan.representation.max_df
        low, high = document_limits(counts.n_docs, *limits)
        self.columns = np.flatnonzero((counts.df >= low) & (counts.df <= high))
        self.counts = _of_columns(counts, self.columns)
        self.train = data.matrix[self.part.train][:, self.columns]
        self.test = data.matrix[self.part.test][:, self.columns]
        self._values: dict[str, tuple[Any, Any]] = {}

    def _training_counts(self, occurrences: bool) -> Counts:
        data = self.data
        others = np.setdiff1d(np.arange(len(data)), self.part.train)
        held_out = Counts.from_matrix(data.matrix[others], data.labels[others], occurrences=occurrences)
        return data.whole_counts(occurrences) - held_out

    def seed(self, purpose: str) -> int:
        """Return the seed of a random choice made within this fold."""
        return int(seeds(self.plan, self.data.name, purpose, self.trial, self.fold).generate_state(1)[0])

    def values(self, kind: str) -> tuple[Any, Any]:
        """Return the training and test documents as presence, counts or unit-length tf-idf."""
        if kind not in self._values:
            train, test = (sparse.csr_array(X, dtype=np.float64, copy=True) for X in (self.train, self.test))
            if kind == "presence":
                for X in (train, test):
                    X.data[:] = X.data > 0
            elif kind == "tfidf":
                weights = TfidfTransformer().fit(train)
                train, test = (sparse.csr_array(weights.transform(X)) for X in (train, test))
            self._values[kind] = train, test
        return self._values[kind]


def _of_columns(counts: Counts, columns: Ints) -> Counts:
    if len(columns) == counts.n_terms:
        return counts
    return Counts(
        counts.tp[:, columns].copy(order="C"),
        counts.pos,
        counts.df[columns],
        counts.n_docs,
        counts.classes,
        multilabel=counts.multilabel,
        tf=None if counts.tf is None else counts.tf[:, columns].copy(order="C"),
        tf_total=None if counts.tf_total is None else counts.tf_total[columns],
        squares=None if counts.squares is None else counts.squares[columns],
    )


class _Choice(NamedTuple):
    """Columns in rank order for some sizes, with how it was found."""

    order: Ints
    sizes: tuple[Size, ...]
    kept: list[int]
    rows: NDArray[np.intp] | None = None  # the training documents used, if not all
    ratio: float | None = None
    lam: float | None = None
    curve: list[float] | None = None


class Problem:
    """One class against the rest, or all classes, on the documents of a fold."""

    def __init__(self, fold: Fold, name: str) -> None:
        data = fold.data
        self.fold, self.name = fold, name
        self.multi = name == EVERY_CLASS and fold.plan.problems.kind == "multi-class"
        if self.multi:
            if data.labels.ndim > 1:
                raise StudyError(
                    f"corpus '{data.name}' has several labels a document; use one-vs-rest problems"
                )
            codes = data.labels
            self.targets = list(range(len(data.classes)))
            self.counts = fold.counts
        else:
            target = data.classes.index(name)
            codes = data.member[:, target].astype(np.int64)
            self.targets = [target]
            self.counts = fold.counts.take([target])
        self.y_train, self.y_test = codes[fold.part.train], codes[fold.part.test]

    def choices(self, method: Method, run: LearnerPlan, sizes: tuple[Size, ...]) -> Iterator[_Choice]:
        """Yield what the method keeps for the sizes; one that needs no learner gives one order for all."""
        if method.select == "ratio":
            yield from self._ratio_choices(method, run, sizes)
        elif method.select == "wfo":
            yield from self._wfo_choices(method, run, sizes)
        elif method.select == "memory":
            yield from self._memory_choices(method, sizes)
        elif method.select == "all":
            n_terms = self.counts.n_terms
            yield _Choice(np.arange(n_terms), sizes, [n_terms])
        else:
            ranking = (
                self._weight_ranking(method.model, method.sample)
                if method.select == "weight"
                else self._ranking(method)
            )
            yield _Choice(ranking.order, sizes, [n_kept(ranking.order, self.counts, size) for size in sizes])

    def _ranking(self, method: Method) -> Ranking:
        chosen = get_metric(str(method.metric))
        scores: Scores
        if chosen.needs == "occurrences" and not self.counts.occurrences:
            if self.multi:
                raise StudyError(f"metric '{chosen}' needs whole word counts for several classes at once")
            scores = _WeightScores(self.counts, chosen, self.fold.train, self.y_train == 1)
        else:
            scores = score(self.counts, chosen, fold=method.side != "positive")
        return rank(scores, method.side, method.ratio, method.alpha, method.combine, method.min_df)  # type: ignore[arg-type]

    def _weight_ranking(self, model: str, sample: float) -> Ranking:
        train, _ = self.fold.values(self.fold.plan.representation.values)
        selector = WeightSelector(model, sample, k=1, random_state=self.fold.seed("weights"))
        selector.fit(train, self.y_train[:, None])
        return Ranking(selector.ranking_, selector.scores_, self.counts)

    def _ratio_choices(self, method: Method, run: LearnerPlan, sizes: tuple[Size, ...]) -> Iterator[_Choice]:
        """Try all ratios of all sizes; ideal judges them by the test documents, as an oracle would."""
        values = run.values or self.fold.plan.representation.values
        X, X_test = self.fold.values(values)
        y, counts = self.y_train, self.counts
        n_train = len(y)
        everything = np.arange(n_train)
        parts = [Part(everything, everything)]
        if method.scenario == "cv":
            parts = tuning_parts(y, method.folds, self.fold.seed("tuning"))
        elif method.scenario == "ideal":
            X, y = sparse.vstack([X, X_test], format="csr"), np.concatenate([y, self.y_test])
            parts = [Part(everything, np.arange(n_train, len(y)))]
        one = Counts(
            counts.tp,
            counts.pos,
            counts.df,
            counts.n_docs,
            [0],
            multilabel=True,
            tf=counts.tf,
            tf_total=counts.tf_total,
            squares=counts.squares,
        )
        totals = []
        for part in parts:
            known = one if len(parts) == 1 else training_counts(one, self.fold.train, y[:, None], part)
            orders = _ratio_orders(known, method)
            kept = [[n_kept(order, known, size) for size in sizes] for order in orders]
            sets = [orders[r][: kept[r][s]] for s in range(len(sizes)) for r in range(len(RATIOS))]
            totals.append(set_values(run.name, method.objective, X, y, part, sets))
        curves = np.mean(totals, axis=0).reshape(len(sizes), len(RATIOS))
        orders = _ratio_orders(one, method)
        for size, curve in zip(sizes, curves, strict=True):
            best = middle_of_best(curve)
            kept_terms = n_kept(orders[best], one, size)
            yield _Choice(orders[best], (size,), [kept_terms], ratio=RATIOS[best], curve=curve.tolist())

    def _wfo_choices(self, method: Method, run: LearnerPlan, sizes: tuple[Size, ...]) -> Iterator[_Choice]:
        train, _ = self.fold.values(run.values or self.fold.plan.representation.values)
        y, counts = self.y_train, Counts.from_matrix(train, self.y_train)  # of a class and of the rest
        kept = [n_kept(np.arange(counts.n_terms), counts, size) for size in sizes]
        member = y[:, None] == counts.classes
        parts = tuning_parts(y, method.folds, self.fold.seed("tuning"))
        curves = lambda_curves(train, member, y, counts, parts, kept, LAMBDAS, run.name, method.objective)
        for size, k, folds in zip(sizes, kept, curves, strict=True):
            lam = float(best_lambdas(folds, LAMBDAS).mean())
            order = wfo_ranking(counts, lam).order
            yield _Choice(order, (size,), [k], lam=lam, curve=folds.mean(axis=0).tolist())

    def _memory_choices(self, method: Method, sizes: tuple[Size, ...]) -> Iterator[_Choice]:
        """Spend 1/A of the training matrix on N/a documents with a/A of their terms (mladenic2004)."""
        ranking = self._weight_ranking(method.model, 1 / method.budget)
        full = self.counts.df.sum() / self.counts.n_docs
        for size in sizes:
            assert size.value is not None
            rows = sample_rows(self.y_train == 1, size.value, self.fold.seed("memory"))
            kept = len(cut(ranking, sparsity=full / (size.value * method.budget)))
            yield _Choice(ranking.order, (size,), [kept], rows=rows)

    def confusions(
        self, run: LearnerPlan, choice: _Choice, lengths: list[int]
    ) -> list[list[tuple[int, Confusion, Confusion | None]]]:
        """Return for each number of terms the counts of each target class, and those at break-even."""
        train, test = self.fold.values(run.values or self.fold.plan.representation.values)
        y = self.y_train
        if choice.rows is not None:
            train, y = train[choice.rows], y[choice.rows]
        if not self.multi:
            values = decision_path(run.name, train, y, test, choice.order, lengths)
            plain = at_threshold(self.y_test, values)
            even = break_even(self.y_test, values) if self.fold.plan.break_even else None
            return [
                [(self.targets[0], _at(plain, i), None if even is None else _at(even, i))]
                for i in range(len(lengths))
            ]
        predicted = predicted_sets(run.name, train, y, test, [choice.order[:n] for n in lengths])
        return [
            [(c, at_threshold(self.y_test == c, np.where(codes == c, 1.0, -1.0)), None) for c in self.targets]
            for codes in predicted
        ]


def _at(cells: Confusion, i: int) -> Confusion:
    return Confusion(*(int(cell[i]) for cell in cells))


def _ratio_orders(counts: Counts, method: Method) -> list[Ints]:
    positive, negative, _ = sided_orders(counts, str(method.metric))
    return [interleaved(positive, negative, ratio) for ratio in RATIOS]


def n_kept(order: Ints, counts: Counts, size: Size) -> int:
    """Return how many of the ranked terms a size keeps."""
    cuts: dict[str, Any] = {size.kind: int(size.value or 0) if size.kind == "k" else size.value}
    return len(cut(Ranking(order, np.zeros(0), counts), **cuts))


Row = tuple[Any, ...]


def unit_result(plan: Plan, data: Prepared, unit: Unit) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows and the selections of one unit: a pure function of plan, corpus and seed."""
    import polars as pl

    fold = Fold(plan, data, unit.trial, unit.fold)
    rows: list[Row] = []
    selections: list[Row] = []
    problem: Problem | None = None
    for task in unit.tasks:
        if problem is None or problem.name != task.problem:  # its tasks come together and share its counts
            problem = Problem(fold, task.problem)
        made = task_result(problem, task)
        rows += made[0]
        selections += made[1]
    return (
        pl.DataFrame(rows, schema=schema(ROWS), orient="row"),
        pl.DataFrame(selections, schema=schema(SELECTIONS), orient="row"),
    )


def task_result(problem: Problem, task: Task) -> tuple[list[Row], list[Row]]:
    """Return the rows and the selections of one task."""
    fold, plan = problem.fold, problem.fold.plan
    method = plan.method(task.method, fold.data.name)
    rows: list[Row] = []
    selections: list[Row] = []
    head = (fold.data.name, problem.name, fold.trial, fold.fold, method.name)
    shared: dict[tuple[Size, ...], list[_Choice]] = {}
    for run, sizes in ((plan.learner(name), sizes) for name, sizes in task.runs):
        start = perf_counter()
        choices = shared.get(sizes)
        if choices is None or method.needs_learner:
            choices = shared[sizes] = list(problem.choices(method, run, sizes))
            if plan.selections and method.select != "all":
                noted = run.name if method.needs_learner else None
                selections += [(*head, noted, *_selection(fold, choice)) for choice in choices]
        select_seconds = (perf_counter() - start) / len(choices)
        for choice in choices:
            rows += _rows(problem, method, run, choice, select_seconds)
    return rows, selections


def _selection(fold: Fold, choice: _Choice) -> tuple[Any, ...]:
    """Return what the selections table holds of a choice: its largest set, whose prefixes are the others."""
    largest = int(np.argmax(choice.kept))
    size = choice.sizes[largest]
    terms = fold.columns[choice.order[: choice.kept[largest]]].tolist()
    return size.kind, size.value, terms, choice.ratio, choice.lam, choice.curve


def _rows(
    problem: Problem, method: Method, run: LearnerPlan, choice: _Choice, select_seconds: float
) -> list[tuple[Any, ...]]:
    fold = problem.fold
    sizes_of_classes = fold.data.member.sum(axis=0)
    n_docs = len(fold.data)
    lengths = sorted(set(choice.kept))
    start = perf_counter()
    results = dict(zip(lengths, problem.confusions(run, choice, lengths), strict=True))
    fit_seconds = (perf_counter() - start) / len(lengths)
    occupied = np.concatenate([[0], np.cumsum(problem.counts.df[choice.order])]) / problem.counts.n_docs
    n_train = len(problem.y_train) if choice.rows is None else len(choice.rows)
    made = []
    for size, n_terms in zip(choice.sizes, choice.kept, strict=True):
        for target, cells, even in results[n_terms]:
            pos = int(sizes_of_classes[target])
            made.append(
                (
                    fold.data.name,
                    problem.name,
                    fold.data.classes[target],
                    fold.trial,
                    fold.fold,
                    method.name,
                    run.name,
                    size.kind,
                    size.value,
                    n_terms,
                    n_train,
                    pos,
                    n_docs - pos,
                    *(int(cell) for cell in cells),
                    *((None, None, None) if even is None else even[:3]),
                    float(occupied[n_terms]),
                    select_seconds,
                    fit_seconds,
                )
            )
    return made
