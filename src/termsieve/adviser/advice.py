"""What a race and its nested evaluation found comes in; a recommendation that explains itself goes out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer

from termsieve.adviser.figures import GOALS, Verdicts, interval
from termsieve.adviser.portfolio import Arm, Size
from termsieve.display import html_table
from termsieve.estimators.vectorizer import TermVectorizer
from termsieve.learners import get_learner


@dataclass(frozen=True)
class Candidate:
    """One way to go, and how it did in cross-validation on all documents."""

    arm: Arm
    size: Size
    n_terms: float
    figures: dict[str, float]

    def __str__(self) -> str:
        if self.arm.method is None:
            return f"all features with {self.arm.learner}"
        return f"{self.arm.method} at {self.size} with {self.arm.learner}"

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {
            "method": "all features" if self.arm.method is None else str(self.arm.method),
            "size": str(self.size),
            "learner": self.arm.learner,
            "terms": round(self.n_terms),
            "cross_validated": self.figures,
        }


@dataclass(frozen=True)
class Cost:
    """What the recommended model takes, fitted to all documents."""

    terms: int
    all_terms: int
    sparsity: float  # mean distinct terms a document
    matrix_bytes: int
    all_matrix_bytes: int
    predict_seconds: float  # for 1,000 documents, from their words on


@dataclass(frozen=True)
class Evidence:
    """What an advice rests on."""

    verdicts: Verdicts  # on documents that the choice never saw
    candidates: list[dict[str, Any]]  # all that was tried, with its cross-validated figure
    outer_choices: list[str]  # what was chosen without each part of the documents
    all_features_learner: str
    gave_way: bool  # the choice of cross-validation, to all features: it fell behind them on unseen documents
    not_tried: list[str]  # for want of time
    seconds: float


@dataclass(frozen=True)
class Recipe:
    """How the model's input is made: options of the words (None: a matrix is given), and of the target."""

    term_options: dict[str, Any] | None
    min_df: int
    multilabel: bool


@dataclass(frozen=True, repr=False)
class Advice:
    """A recommendation: method, size and learner, with the evidence.

    `figure` is the goal measured on documents that the choice never saw: the whole choice is repeated
    without each fold, and its model tested there. `all_features` is what all features reach on the same
    folds. `interval()` says where the figure on further documents will lie.
    """

    goal: str
    problem: str
    choice: Candidate
    runner_up: Candidate | None
    figure: float
    all_features: float
    cost: Cost
    n_docs: int
    skew: float
    held_out: int
    evidence: Evidence
    _recipe: Recipe

    def interval(self, n_documents: int | None = None, level: float = 0.95) -> tuple[float, float]:
        """Return where the figure on `n_documents` further documents lies with the given probability."""
        return interval(
            self.evidence.verdicts, self.goal, self.held_out if n_documents is None else n_documents, level
        )

    @property
    def figures(self) -> dict[str, float]:
        """Every measure, on documents that the choice never saw."""
        return {goal: self.evidence.verdicts.figure(goal) for goal in GOALS}

    def selector(self) -> Any:
        """Return the recommended selector, not fitted; where all features are best, one that keeps them."""
        method, size = self.choice.arm.method, self.choice.size
        if method is None:
            from termsieve.estimators.selector import TermSelector

            return TermSelector(fraction=1.0)
        return method.selector(self._recipe.min_df, **{size.kind: _whole(size.value)})

    def pipeline(self) -> Pipeline:
        """Return the recommended classifier, not fitted, for texts or, if it was asked so, for term matrices.

        Several labels a document are fitted as an indicator matrix.
        """
        words = (
            Binarizer()
            if self._recipe.term_options is None
            else TermVectorizer(binary=True, **self._recipe.term_options)
        )
        model = get_learner(self.choice.arm.learner)
        steps = [words, *([] if self.choice.arm.method is None else [self.selector()])]
        return make_pipeline(*steps, OneVsRestClassifier(model) if self._recipe.multilabel else model)

    def explanation(self) -> str:
        """Return three sentences: what to use and what to expect, against all features, and the runner-up."""
        low, high = self.interval()
        name = _goal_name(self.goal)
        share = self.cost.terms / max(1, self.cost.all_terms)
        gain = self.figure - self.all_features
        first = (
            f"Use {self.choice}: {self._measured()} it reached {name} {self.figure:.3f}, "
            f"and on {self.held_out:,} further ones it will lie between {low:.3f} and {high:.3f} (95 %)."
        )
        if self.choice.arm.method is None:
            beaten = "Selections led in cross-validation, but on unseen documents fell behind"
            second = (
                f"{beaten if self.evidence.gave_way else 'No selection did better than'} "
                f"all {self.cost.all_terms:,} words, which take "
                f"{_bytes(self.cost.all_matrix_bytes)} for {self.n_docs:,} documents."
            )
        else:
            second = (
                f"All {self.cost.all_terms:,} words reach {self.all_features:.3f} with "
                f"{self.evidence.all_features_learner}, so {self.cost.terms:,} words ({share:.1%}) "
                f"{_gain(gain)} and take {_bytes(self.cost.matrix_bytes)} instead of "
                f"{_bytes(self.cost.all_matrix_bytes)}."
            )
        return f"{first} {second} {self._third()}"

    def _measured(self) -> str:
        """Say which documents the figure is of; they had a say in giving way, but not in the models."""
        return f"on documents that {'the models' if self.evidence.gave_way else 'the choice'} never saw"

    def _third(self) -> str:
        if self.runner_up is None:
            return "Nothing else was tried to the end."
        own, other = self.choice, self.runner_up
        name = _goal_name(self.goal)
        better = [
            f"{measure} {other.figures[measure]:.3f} instead of {own.figures[measure]:.3f}"
            for measure in ("precision", "recall")
            if measure != self.goal and other.figures[measure] > own.figures[measure] + 0.005
        ]
        if other.n_terms < 0.7 * own.n_terms:
            better.append(f"{other.n_terms:,.0f} words instead of {own.n_terms:,.0f}")
        prefer = f"prefer it for its {' and '.join(better)}" if better else "nothing else speaks for it"
        return (
            f"The runner-up, {other}, reached {other.figures[self.goal]:.3f} where the choice reached "
            f"{own.figures[self.goal]:.3f} in cross-validation ({name}); {prefer}."
        )

    def summary(self) -> list[dict[str, Any]]:
        """Return the choice, all features and the runner-up as rows of a table."""
        low, high = self.interval()
        rows = [
            {
                "": "recommended",
                "what": str(self.choice),
                "words": self.cost.terms,
                self.goal: self.figure,
                "95 %": f"{low:.3f} to {high:.3f}",
                "measured": self._measured(),
            },
            {
                "": "all features",
                "what": f"with {self.evidence.all_features_learner}",
                "words": self.cost.all_terms,
                self.goal: self.all_features,
                "95 %": "",
                "measured": "on the same documents",
            },
        ]
        if self.runner_up is not None:
            rows.append(
                {
                    "": "runner-up",
                    "what": str(self.runner_up),
                    "words": round(self.runner_up.n_terms),
                    self.goal: self.runner_up.figures[self.goal],
                    "95 %": "",
                    "measured": f"in cross-validation, the choice {self.choice.figures[self.goal]:.3f}",
                }
            )
        return rows

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the advice as one offline HTML document, and write it where a path is given."""
        from termsieve.adviser.report import advice_page
        from termsieve.reports.page import write

        return write(advice_page(self).to_html(), path)

    def _repr_html_(self) -> str:
        title = f"Advice for {self.problem}, {self.n_docs:,} documents, goal {self.goal}"
        return html_table(self.summary(), title)

    def __repr__(self) -> str:
        low, high = self.interval()
        return (
            f"<Advice for {self.problem}: {self.choice}, {self.goal} {self.figure:.3f} "
            f"({low:.3f} to {high:.3f} on {self.held_out:,} documents), all features {self.all_features:.3f}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain values, for JSON."""
        low, high = self.interval()
        return {
            "goal": self.goal,
            "problem": self.problem,
            "choice": self.choice.to_dict(),
            "figure": self.figure,
            "interval": [low, high],
            "interval_documents": self.held_out,
            "figures": self.figures,
            "all_features": {"figure": self.all_features, "learner": self.evidence.all_features_learner},
            "cost": vars(self.cost),
            "runner_up": None if self.runner_up is None else self.runner_up.to_dict(),
            "explanation": self.explanation(),
            "documents": self.n_docs,
            "skew": self.skew,
            "outer_choices": self.evidence.outer_choices,
            "candidates": self.evidence.candidates,
            "not_tried": self.evidence.not_tried,
            "seconds": self.evidence.seconds,
        }


def _whole(value: float | None) -> Any:
    return int(value) if value is not None and float(value).is_integer() else value


def _goal_name(goal: str) -> str:
    return goal.upper() if goal in ("f1", "f2") else goal


def _gain(gain: float) -> str:
    if abs(gain) < 0.001:
        return "are as good"
    return f"gain {gain:.3f}" if gain > 0 else f"lose {-gain:.3f}"


def _bytes(n: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} GB"
