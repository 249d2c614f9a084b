"""A prepared corpus comes in; the training and test documents of a fold, and the problems on them, go out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from termsieve.counts import Counts
from termsieve.errors import StudyError
from termsieve.estimators.evaluate import Part
from termsieve.learners import decision_path, decision_sets, learner_declaration
from termsieve.learners.rows import Columns
from termsieve.limits import document_limits
from termsieve.metrics import get_metric
from termsieve.studies.plan import LearnerPlan, Plan
from termsieve.studies.prepared import EVERY_CLASS, Prepared, seed_sequence

Ints = NDArray[np.int64]


def drawn_parts(plan: Plan, data: Prepared, trial: int) -> list[Part]:
    """Return the training and test rows of each fold of a trial, the same for all problems of the corpus.

    Documents are shuffled, sorted by class, and assigned to the parts in turn, so that every part has its
    share of each class, to within one document.
    """
    protocol = plan.protocol
    if protocol.kind == "split":
        if data.parts is None or not (np.any(data.parts == "train") and np.any(data.parts == "test")):
            raise StudyError(
                f"corpus '{data.name}' has no training and test part; use the protocol kfold or random"
            )
        return [Part(np.flatnonzero(data.parts == "train"), np.flatnonzero(data.parts == "test"))]
    generator = np.random.default_rng(seed_sequence(plan, data.name, "folds", trial))
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
    parts = [Part(np.setdiff1d(place, test), test) for test in held_out]
    # A perceptron that meets one class after another remembers only the last.
    return [Part(generator.permutation(p.train), p.test) for p in parts] if protocol.shuffled else parts


class Fold:
    """The documents of one fold, with the terms of its training documents."""

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
        self._columns: dict[str, tuple[Columns, Columns]] = {}

    def _training_counts(self, occurrences: bool) -> Counts:
        data = self.data
        others = np.setdiff1d(np.arange(len(data)), self.part.train)
        held_out = Counts.from_matrix(data.matrix[others], data.labels[others], occurrences=occurrences)
        return data.whole_counts(occurrences) - held_out

    def seed(self, purpose: str) -> int:
        """Return the seed of a random choice made within this fold."""
        return int(
            seed_sequence(self.plan, self.data.name, purpose, self.trial, self.fold).generate_state(1)[0]
        )

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

    def columns_of(self, kind: str) -> tuple[Columns, Columns]:
        """Return the same by columns, made once for the rankings of all problems and methods."""
        if kind not in self._columns:
            train, test = self.values(kind)
            self._columns[kind] = Columns.of(train), Columns.of(test)
        return self._columns[kind]


def _of_columns(counts: Counts, columns: Ints) -> Counts:
    if len(columns) == counts.n_terms:
        return counts
    return counts.replace(
        tp=counts.tp[:, columns].copy(order="C"),
        df=counts.df[columns],
        terms=None if counts.terms is None else counts.terms[columns],
        tf=None if counts.tf is None else counts.tf[:, columns].copy(order="C"),
        tf_total=None if counts.tf_total is None else counts.tf_total[columns],
        squares=None if counts.squares is None else counts.squares[columns],
    )


class Problem:
    """One class against the rest, or all classes, on the documents of a fold."""

    def __init__(self, fold: Fold, name: str) -> None:
        data = fold.data
        self.fold, self.name = fold, name
        self.multi = name == EVERY_CLASS and fold.plan.problems.kind == "multi-class"
        if self.multi:
            if data.labels.ndim > 1:
                raise StudyError(
                    f"corpus '{data.name}' has documents with several labels; use one-vs-rest problems"
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
        self.curves: dict[Any, dict[str, NDArray[np.float64]]] = {}  # of tuned ratios, shared by scenarios
        self._whole: dict[LearnerPlan, NDArray[np.float64]] = {}  # values by all terms

    def values(self, run: LearnerPlan) -> tuple[Any, Any]:
        """Return the training and test documents with the values that a learner of the plan reads."""
        return self.fold.values(self._kind(run))

    def path(self, run: LearnerPlan, order: Ints, lengths: list[int]) -> NDArray[np.float64]:
        """Return the decision values of the test documents at each number of terms of a ranking; they ascend.

        All terms are the same selection in every ranking: a model of them is trained once, from zero.
        """
        by_columns = learner_declaration(run.name).by_columns
        train, test = (self.fold.columns_of if by_columns else self.fold.values)(self._kind(run))
        if lengths[-1] < self.counts.n_terms:
            return decision_path(run.name, train, self.y_train, test, order, lengths)
        if run not in self._whole:
            everything = np.arange(self.counts.n_terms)
            self._whole[run] = decision_sets(run.name, train, self.y_train, test, [everything])
        if len(lengths) == 1:
            return self._whole[run]
        values = decision_path(run.name, train, self.y_train, test, order, lengths[:-1])
        return np.concatenate([values, self._whole[run]])

    def _kind(self, run: LearnerPlan) -> str:
        return run.values or self.fold.plan.representation.values
