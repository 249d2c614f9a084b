"""What a race and its nested evaluation found comes in; a recommendation that explains itself goes out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from termsieve.adviser.curve import LearningCurve
from termsieve.adviser.duplicates import Duplicates
from termsieve.adviser.frontier import DISTANCES, Point, fewest_terms
from termsieve.adviser.goals import get_goal
from termsieve.adviser.probabilities import Calibrated
from termsieve.adviser.promise import Difference, Promise
from termsieve.adviser.race import Choice
from termsieve.adviser.verdicts import Verdicts
from termsieve.corpus import Corpus
from termsieve.display import html_table
from termsieve.errors import ParameterError
from termsieve.estimators.vectorizer import TermVectorizer
from termsieve.evaluation import Evaluation
from termsieve.models import Model
from termsieve.records import called, recorded

MEASURED = ("accuracy", "precision", "recall", "f1", "f2")
WORTH = 0.01  # of the figure: what makes more labels worth the work
STABLE = 0.6  # of the parts, how many must agree with the choice for it to be called stable


@dataclass(frozen=True)
class Cost:
    """What the recommended model takes, trained on all documents."""

    terms: int
    all_terms: int
    sparsity: float  # mean distinct terms per document
    matrix_bytes: int
    all_matrix_bytes: int
    predict_seconds: float  # for 1,000 documents, from their counts on


@dataclass(frozen=True)
class Evidence:
    """What an advice rests on."""

    verdicts: Verdicts  # on documents that neither the choice nor its models saw
    candidates: list[dict[str, Any]]  # all that was tried, with its cross-validated figure
    outer_choices: list[str]  # what was chosen without each part of the documents
    outer: list[tuple[Choice, Any]]  # the same, and which documents trained its model
    not_tried: list[str]  # because the time was over
    n_trained: int  # settings x folds
    seconds: float


@dataclass(frozen=True)
class Rival:
    """Another classifier on the same folds: its figure, and by how much the advice is better."""

    name: str
    goal: str
    figure: float
    difference: Difference

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {"rival": self.name, "goal": self.goal, "figure": self.figure, **vars(self.difference)}


@dataclass(frozen=True)
class Recipe:
    """How the model's input is made: options of the terms (None: a matrix is given), and of the labels."""

    term_options: dict[str, Any] | None
    min_df: int
    several_labels: bool
    target: Any


@dataclass(frozen=True, repr=False)
class Advice:
    """A recommendation with its evidence.

    `figure` is what to expect on new documents: the choice is repeated without each fold and its model tested
    there, and what that lacks on average, by the calibration, is added.
    `interval()` says where the figure on new documents will lie; `frontier` how the figure falls with fewer
    terms.

    Parameters
    ----------
    goal : str
        The goal.
    problem : str
        What is told apart.
    choice : Choice
        The recommended representation, terms, learner and threshold.
    promise : Promise
        What to expect on new documents.
    all_features : float
        The figure of the best choice without selection.
    all_terms_choice : Choice
        That choice.
    cost : Cost
        What the recommended model takes, trained on all documents.
    frontier : list of Point
        The best figure for each number of terms.
    best_cross_validated : float
        The best figure of the race; it is optimistic.
    learning_curve : LearningCurve, optional
        How the figure grew with the number of training documents.
    probabilities : Calibrated, optional
        What turns decision values into probabilities, if it was asked for.
    n_docs : int
        Number of documents.
    n_raced : int
        Number of documents on which the settings were compared.
    duplicates : Duplicates
        The documents that occur more than once.
    skew : float
        Documents outside the class per document in it.
    held_out : int
        Number of new documents that the interval is for.
    evidence : Evidence
        What was measured.
    rivals : list of Rival
        Other classifiers on the same folds.
    """

    goal: str
    problem: str
    choice: Choice
    promise: Promise
    all_features: float
    all_terms_choice: Choice
    cost: Cost
    frontier: list[Point]
    best_cross_validated: float
    learning_curve: LearningCurve | None
    probabilities: Calibrated | None
    n_docs: int
    n_raced: int
    duplicates: Duplicates
    skew: float
    held_out: int
    evidence: Evidence
    rivals: list[Rival]
    _recipe: Recipe

    @property
    def figure(self) -> float:
        """The figure to expect on `held_out` new documents."""
        return self.promise.expected(self.held_out)

    def interval(self, n_documents: int | None = None, level: float = 0.95) -> tuple[float, float]:
        """Return where the figure on `n_documents` new documents lies with the given probability.

        Parameters
        ----------
        n_documents : int, optional
            Number of new documents; by default `held_out`.
        level : float, default=0.95
            Probability that the figure lies between the bounds.

        Returns
        -------
        tuple of float
            The lower and the upper bound.
        """
        return self.promise.interval(self.held_out if n_documents is None else n_documents, level)

    @property
    def figures(self) -> dict[str, float]:
        """Every measure, on documents that the choice never saw."""
        names = dict.fromkeys([*MEASURED, self.goal])
        return {name: self.evidence.verdicts.figure(get_goal(name)) for name in names}

    @property
    def doubling(self) -> Difference | None:
        """What twice as many labelled documents are expected to bring; None where there was no time."""
        return None if self.learning_curve is None else self.learning_curve.gain

    @property
    def stability(self) -> float:
        """The share of the parts without which the same setting was chosen."""
        same = [name == str(self.choice) for name in self.evidence.outer_choices]
        return sum(same) / max(1, len(same))

    def evaluation(self, classes: Sequence[Any]) -> Evaluation:
        """Return what was measured on unseen documents, for a saved model.

        Parameters
        ----------
        classes : sequence
            The classes that the model predicts.

        Returns
        -------
        Evaluation
            Measures per class, and the promised figure with its interval.
        """
        verdicts = self.evidence.verdicts
        truth, said = verdicts.truth, verdicts.said
        if truth.shape[1] == 1:
            truth, said = (np.concatenate([~side, side], axis=1) for side in (truth, said))
        found = Evaluation.of_flags(truth, said, classes, verdicts.one_label)
        low, high = self.interval()
        by = f"nested cross-validation; the interval is for {self.held_out:,} new documents"
        return replace(found, goal=self.goal, figure=self.figure, low=low, high=high, by=by)

    def within(self, distance: float) -> Point | None:
        """Return the model with the fewest terms within a distance of the best cross-validated figure.

        Parameters
        ----------
        distance : float
            The largest allowed distance.

        Returns
        -------
        Point or None
            The model; None if there is none.
        """
        return fewest_terms(self.frontier, self.best_cross_validated, distance)

    def selector(self) -> Pipeline:
        """Return the scaling and selection of term counts, not fitted."""
        setting = self.choice.setting
        return make_pipeline(setting.representation.scaler(self._recipe.min_df), setting.selector())

    def pipeline(self, choice: Choice | None = None) -> Pipeline:
        """Return the recommended classifier, or that of another choice, not fitted.

        It takes texts or, where the corpus had no texts, term counts; and the labels of the corpus, as they
        are. Several labels per document are given as an indicator matrix or as tuples. The recommended one
        has `predict_proba` where probabilities were asked for.

        Parameters
        ----------
        choice : Choice, optional
            Another choice, such as one of the frontier.

        Returns
        -------
        Pipeline
            The classifier, not fitted.
        """
        picked = choice or self.choice
        recipe = self._recipe
        sigmoids = None
        if choice is None and self.probabilities is not None:
            sigmoids = self.probabilities.sigmoids
        model = picked.setting.model(picked.decision, recipe.target, recipe.min_df, sigmoids)
        if recipe.term_options is None:
            return make_pipeline(model)
        options = dict(recipe.term_options)
        if picked.setting.representation.pairs:
            options["ngram_range"] = (1, 2)
        return make_pipeline(TermVectorizer(**options), model)

    def model(self, corpus: Corpus, choice: Choice | None = None) -> Model:
        """Return the recommended classifier trained on labelled texts, with a record of what was measured.

        Parameters
        ----------
        corpus : Corpus
            The documents that the advice is for, as texts.
        choice : Choice, optional
            Another choice, such as one of the frontier; the record then holds no figures.

        Returns
        -------
        Model
            The trained model, which can be saved, exported and watched.
        """
        if corpus.texts is None:
            raise ParameterError("the documents are word counts; a model needs the texts themselves")
        labels = list(corpus.labels) if corpus.multilabel else corpus.labels
        fitted = self.pipeline(choice).fit(list(corpus.texts), labels)
        several = corpus.multilabel and self._recipe.target is None
        given = {"goal": self.goal, "target": self._recipe.target, **(self._recipe.term_options or {})}
        picked = choice or self.choice
        record = recorded(
            corpus,
            fitted[0]._analysis().checked(),
            str(picked),
            self.evaluation(fitted[-1].classes_) if choice is None else None,
            f"{called('termsieve.advise', given)}.model(corpus)" if choice is None else "",
        )
        return Model(fitted, tuple(corpus.classes.tolist()) if several else None, record)

    def explanation(self) -> str:
        """Return what to use, what to expect, how few terms are enough, and what would help."""
        return " ".join(filter(None, self.sentences()))

    def sentences(self) -> list[str]:
        """Return the sentences of the explanation."""
        low, high = self.interval()
        name = _goal_name(self.goal)
        sentences = [
            f"Use {self.choice}: on {self.held_out:,} new documents expect {name} {self.figure:.3f}, between "
            f"{low:.3f} and {high:.3f} (95 %)."
        ]
        sentences += [self._against(rival) for rival in self.rivals[:1]]
        sentences += [self._frontier_sentence(), self._memory_sentence(), self._stability_sentence()]
        sentences += [part.sentence for part in (self.learning_curve, self.probabilities) if part is not None]
        sentences += [self.duplicates.sentence, self.promise.repeats_sentence(self.held_out)]
        if self.n_raced < self.n_docs:
            sentences.append(
                f"It was tried on a sample of {self.n_raced:,} of the {self.n_docs:,} documents; trained on "
                "all of them, it should do better than this figure."
            )
        if repeats := len(self.promise.repeated):
            sentences.append(f"The figure is the mean of {1 + repeats} divisions into folds.")
        if self.evidence.not_tried:
            sentences.append(
                f"{len(self.evidence.not_tried)} settings were not tried, because the time was over."
            )
        sentences += [get_goal(self.goal).degenerate, self._next_sentence()]
        return sentences

    def _next_sentence(self) -> str:
        """What to do next."""
        if self.evidence.not_tried:
            return "Next: allow more minutes, so that all settings are tried."
        if self.doubling is None:
            return ""
        if self.doubling.mean >= WORTH:
            return "Next: label more documents; that promises more than other settings."
        return (
            "Next: read the documents that the model gets wrong; neither more labels nor other settings "
            "promise much."
        )

    def _against(self, rival: Rival) -> str:
        gap = rival.difference
        between = f"(difference {gap.mean:+.3f}, between {gap.low:+.3f} and {gap.high:+.3f})"
        if gap.low > 0:
            return f"On the same documents it is better than {rival.name} {between}."
        if gap.high < 0:
            return f"On the same documents it is worse than {rival.name} {between}; use that instead."
        return f"On the same documents it is about as good as {rival.name} {between}."

    def _frontier_sentence(self) -> str:
        point = self.within(0.01)
        if point is None or self.cost.all_terms == 0:
            return ""
        share = point.terms / self.cost.all_terms
        least = self.choice.setting.representation.scaler(self._recipe.min_df).min_df
        counted = f" that are in at least {least} documents" if least > 1 else ""
        return (
            f"{point.terms:,} of {self.cost.all_terms:,} terms{counted} ({share:.1%}) stay within .01 of the "
            f"best cross-validated figure, with {point.sparsity:.1f} distinct terms per document."
        )

    def _stability_sentence(self) -> str:
        if self.stability >= STABLE:
            return ""
        other, number = Counter(self.evidence.outer_choices).most_common(1)[0]
        return (
            f"The choice is not stable: without parts of the documents others came first ({other}, {number} "
            f"of {len(self.evidence.outer_choices)} times), so several settings are about as good."
        )

    def _memory_sentence(self) -> str:
        """Whether fewer documents with more terms are better within a budget of bytes."""
        tried = [row for row in self.evidence.candidates if not row["dropped"]]
        fewer = [row for row in tried if row["documents"] < 1]
        if not fewer:
            return ""
        whole = [row for row in tried if row["documents"] == 1 and row["terms"] is not None]
        best, other = (max(rows, key=lambda row: row["figure"]) for rows in (whole, fewer))
        verdict = "no better" if best["figure"] >= other["figure"] else "better"
        return (
            f"Within the memory, {other['documents']:.0%} of the documents with more terms are {verdict} "
            f"than all documents with fewer terms ({other['figure']:.3f} against {best['figure']:.3f}, "
            "cross-validated)."
        )

    def summary(self) -> list[dict[str, Any]]:
        """Return the choice and its rivals as rows of a table, all measured on unseen documents."""
        low, high = self.interval()
        rows = [
            {
                "": "recommended",
                "what": str(self.choice),
                "terms": self.cost.terms,
                self.goal: self.promise.measured,
                "recommended is better by": "",
                "expected on new documents": f"{self.figure:.3f} ({low:.3f} to {high:.3f})",
            }
        ]
        for rival in self.rivals:
            rows.append(
                {
                    "": "rival",
                    "what": rival.name,
                    "terms": None,
                    self.goal: rival.figure,
                    "recommended is better by": str(rival.difference),
                    "expected on new documents": "",
                }
            )
        return rows

    def frontier_rows(self) -> list[dict[str, Any]]:
        """Return how few terms are enough, as rows; figures are averaged with neighbouring sizes."""
        rows = []
        for distance in DISTANCES:
            point = self.within(distance)
            if point is not None:
                rows.append(
                    {
                        "within": distance,
                        "terms": point.terms,
                        "share of terms": point.terms / max(1, self.cost.all_terms),
                        "distinct terms per document": round(point.sparsity, 1),
                        "bytes": point.matrix_bytes,
                        "cross-validated": point.steadied,
                        "what": str(point.choice),
                    }
                )
        return rows

    def report(self, path: str | os.PathLike[str] | None = None, *, corpus: Corpus | None = None) -> str:
        """Return the advice as one offline HTML document, and write it where a path is given.

        Parameters
        ----------
        path : path, optional
            The file to write.
        corpus : Corpus, optional
            The documents that the advice is for: the page then also has the model card, and a box in which
            the recommended classifier, trained on them, can be tried.

        Returns
        -------
        str
            The HTML document.
        """
        from termsieve.adviser.report import advice_page
        from termsieve.reports.page import write

        model = None if corpus is None or corpus.texts is None else self.model(corpus)
        return write(advice_page(self, model, corpus).to_html(), path)

    def __repr__(self) -> str:
        low, high = self.interval()
        return (
            f"<Advice for {self.problem}: {self.choice}, {self.goal} {self.figure:.3f} "
            f"({low:.3f} to {high:.3f} on {self.held_out:,} documents)>"
        )

    def _repr_html_(self) -> str:
        title = f"Advice for {self.problem}, {self.n_docs:,} documents, goal {self.goal}"
        return html_table(self.summary(), title)

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain values, for JSON."""
        low, high = self.interval()
        return {
            "goal": self.goal,
            "problem": self.problem,
            "choice": str(self.choice),
            "decision": {
                "thresholds": list(self.choice.decision.thresholds),
                "tilt": self.choice.decision.tilt,
            },
            "figure": self.figure,
            "interval": [low, high],
            "interval_documents": self.held_out,
            "measured": self.promise.measured,
            "figures": self.figures,
            "all_features": {"figure": self.all_features, "setting": str(self.all_terms_choice)},
            "rivals": [rival.to_dict() for rival in self.rivals],
            "cost": vars(self.cost),
            "frontier": [point.to_dict() for point in self.frontier],
            "within": self.frontier_rows(),
            "learning_curve": None if self.learning_curve is None else self.learning_curve.to_dict(),
            "doubling": None if self.doubling is None else vars(self.doubling),
            "probabilities": None if self.probabilities is None else vars(self.probabilities),
            "explanation": self.explanation(),
            "documents": self.n_docs,
            "documents_raced": self.n_raced,
            "divisions": 1 + len(self.promise.repeated),
            "duplicates": vars(self.duplicates),
            "skew": self.skew,
            "outer_choices": self.evidence.outer_choices,
            "candidates": self.evidence.candidates,
            "not_tried": self.evidence.not_tried,
            "trained": self.evidence.n_trained,
            "seconds": self.evidence.seconds,
        }


def _goal_name(goal: str) -> str:
    return goal.upper() if goal in ("f1", "f2") else goal
