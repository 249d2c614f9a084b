"""An Advice comes in; the page that shows it with its evidence goes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from termsieve.charts import curves
from termsieve.corpus import Corpus
from termsieve.errors import InputError
from termsieve.portable.card import card_parts
from termsieve.reports.page import Choice, Chooser, Figure, Page, Section, Variant, rounded

if TYPE_CHECKING:
    from termsieve.adviser.advice import Advice
    from termsieve.models import Model

UNSEEN = (
    "Each fifth of the documents is left out in turn; the setting and its threshold are chosen by what "
    "models say of the other four fifths, and the chosen model is then tested on the fifth. The measured "
    "figure is that of all fifths together. The interval resamples the tested documents; its width was "
    "calibrated on other corpora."
)
CROSS_VALIDATED = (
    "These figures are cross-validated: the best of them are a little too good, because they were chosen for "
    "being the best. They are for comparing settings with each other, not with the expected figure."
)


MOST_WEIGHTS = 100_000  # terms x classes of the classifier in the page, which take about 1.3 MB


def advice_page(advice: Advice, model: Model | None = None, corpus: Corpus | None = None) -> Page:
    """Return the page of an advice; with the trained model and its documents, also a box and the card."""
    sections = [_answer(advice), *_frontier(advice), _tried(advice)]
    left = advice.evidence.not_tried
    notes = [f"Not tried, because the time was over: {'; '.join(left)}."] if left else []
    in_page = None
    if model is not None and corpus is not None:
        try:
            described = model.describe()
        except InputError as error:
            notes.append(f"There is no model card, and no text can be tried: {error}.")
        else:
            in_page, text = _in_page(advice, described, corpus)
            sections += [_card(described)]
            if in_page is None:
                notes.append(text)
            else:
                sections.insert(1, Section("try", "Try the classifier", text=[text], live=True))
    return Page(f"Advice for {advice.problem}", _facts(advice), sections, notes=notes, model=in_page)


def _in_page(advice: Advice, described: dict[str, Any], corpus: Corpus) -> tuple[dict[str, Any] | None, str]:
    """Return the classifier that the page holds and what it is, or None and why there is none.

    Where the recommended one is too large, it is the one with the fewest terms within .01 of the best.
    """
    trained = f"trained on all {advice.n_docs:,} documents"
    if _n_weights(described) <= MOST_WEIGHTS:
        return described, f"The recommended classifier, {trained}: {advice.choice}."
    point = advice.within(0.01)
    smaller = None if point is None else advice.model(corpus, point.choice).describe()
    if point is None or smaller is None or _n_weights(smaller) > MOST_WEIGHTS:
        return None, (
            f"No text can be tried in this page, because the classifier has {_n_weights(described):,} "
            "weights; ask for a smaller one with --prefer small or --budget-terms."
        )
    return smaller, (
        "The recommended classifier has too many terms for a page. This is the one with the fewest terms "
        f"within .01 of the best cross-validated figure, {trained}: {point.choice}."
    )


def _n_weights(description: dict[str, Any]) -> int:
    return len(description["terms"]) * len(description["intercepts"])


def _card(described: dict[str, Any]) -> Section:
    """Return the model card as a section of the page."""
    parts = card_parts(described)
    figures = [
        _table(part.id, part.title, [dict(zip(part.columns, row, strict=True)) for row in part.rows])
        for part in parts
        if part.rows
    ]
    text = [f"{part.title}: {' '.join([*part.sentences, *part.points])}" for part in parts]
    return Section("card", "Model card", figures, text)


def _facts(advice: Advice) -> list[tuple[str, str]]:
    cost, evidence = advice.cost, advice.evidence
    return [
        ("problem", advice.problem),
        ("documents", f"{advice.n_docs:,}"),
        ("goal", advice.goal),
        ("skew of the typical class", f"{advice.skew:.1f}"),
        ("terms of the choice", f"{cost.terms:,} of {cost.all_terms:,}"),
        ("distinct terms per document", f"{cost.sparsity:.1f}"),
        ("training matrix", f"{_size(cost.matrix_bytes)}; with all terms {_size(cost.all_matrix_bytes)}"),
        ("seconds to predict 1,000 documents", f"{cost.predict_seconds:.3f}"),
        ("models trained", f"{evidence.n_trained:,}"),
        ("seconds of this advice", f"{evidence.seconds:.0f}"),
    ]


def _answer(advice: Advice) -> Section:
    summary = [{name or "which": value for name, value in row.items()} for row in advice.summary()]
    measures = pl.DataFrame({"measure": list(advice.figures), "value": list(advice.figures.values())})
    return Section(
        "advice",
        "Advice",
        [
            _table(
                "summary", "The choice and its rivals, on documents that no model saw", summary, wide=True
            ),
            _table("measures", "The choice by every measure, on the same documents", measures.to_dicts()),
        ],
        [*filter(None, advice.sentences()), UNSEEN],
    )


def _frontier(advice: Advice) -> list[Section]:
    if len(advice.frontier) < 2:
        return []
    learners = sorted({point.choice.setting.learner for point in advice.frontier})
    own = advice.choice.setting.learner
    chooser = Chooser(
        "learner",
        "Learner",
        [Choice(name) for name in learners],
        learners.index(own) if own in learners else 0,
    )
    figure = Figure(
        "frontier",
        "The cross-validated figure against the number of terms",
        [_frontier_curve(advice, name) for name in learners],
        "The ring marks the recommended number of terms; the dashed line is the figure with all terms.",
        by=("learner",) if len(learners) > 1 else (),
    )
    figures = [figure]
    near = advice.frontier_rows()
    if near:
        title = "The fewest terms within a distance of the best figure, averaged with neighbouring sizes"
        figures.insert(0, _table("within", title, near))
    choosers = [chooser] if len(learners) > 1 else []
    return [Section("sizes", "How few terms are enough", figures, [CROSS_VALIDATED], choosers)]


def _frontier_curve(advice: Advice, learner: str) -> Variant:
    """Return the curve of one learner, with the recommended point if it is on it."""
    points = [point for point in advice.frontier if point.choice.setting.learner == learner]
    rows = [
        {
            "method": point.choice.setting.method or "all terms",
            "learner": learner,
            "size_kind": "all" if point.choice.setting.method is None else "k",
            "size": None if point.choice.setting.method is None else float(point.terms),
            "value": point.figure,
            "low": None,
            "high": None,
            "n_terms": float(point.terms),
            "sparsity": point.sparsity,
        }
        for point in points
    ]
    kinds = dict.fromkeys(("size", "value", "low", "high", "n_terms", "sparsity"), pl.Float64)
    table = rounded(pl.DataFrame(rows, schema_overrides=kinds))
    shown = table.drop("low", "high")
    if table.filter(pl.col("size_kind") == "k").is_empty():
        return Variant(shown)
    chosen = [p for p in points if p.choice.setting == advice.choice.setting and p.choice.setting.method]
    marked = (float(chosen[0].terms), chosen[0].figure, "recommended") if chosen else None
    goal = "f1" if "(" in advice.goal else advice.goal
    return Variant(shown, curves(table, goal, marked=marked))


def _tried(advice: Advice) -> Section:
    choices = [
        {"part": number, "chosen without it": name}
        for number, name in enumerate(advice.evidence.outer_choices, start=1)
    ]
    return Section(
        "tried",
        "All that was tried",
        [
            _table("outer", "What was chosen without each part of the documents", choices),
            _table(
                "tried-table",
                "Every setting, the best expected figure first",
                advice.evidence.candidates,
                wide=True,
            ),
        ],
        [CROSS_VALIDATED],
    )


def _table(name: str, title: str, rows: list[dict[str, Any]], wide: bool = False) -> Figure:
    table = rounded(pl.DataFrame(rows, infer_schema_length=None))
    return Figure(name, title, [Variant(table)], wide=wide)


def _size(n_bytes: int) -> str:
    """Return a number of bytes that reads well.

    >>> _size(950), _size(5_076_020)
    ('950 bytes', '5.1 MB')
    """
    return f"{n_bytes:,} bytes" if n_bytes < 1e5 else f"{n_bytes / 1e6:,.1f} MB"
