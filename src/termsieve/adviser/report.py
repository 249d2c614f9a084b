"""An Advice comes in; the page that shows it with its evidence goes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from termsieve.charts import curves
from termsieve.reports.page import Choice, Chooser, Figure, Page, Section, Variant, rounded

if TYPE_CHECKING:
    from termsieve.adviser.advice import Advice

METHOD = (
    "The figure promised comes from nested cross-validation: each fifth of the documents is left out in "
    "turn, the whole choice is repeated on the others, and its model is tested on it. The interval resamples "
    "those verdicts, draws as many documents as it is for, and is widened by a factor calibrated on other "
    "corpora. What is shown below is the cross-validation of the choice itself, whose best figures are a "
    "little too good."
)


def advice_page(advice: Advice) -> Page:
    """Return the page of an advice."""
    cost, evidence = advice.cost, advice.evidence
    tried = pl.DataFrame(evidence.candidates)
    facts = [
        ("problem", advice.problem),
        ("documents", f"{advice.n_docs:,}"),
        ("skew of the typical class", f"{advice.skew:.1f}"),
        ("words of the choice", f"{cost.terms:,} of {cost.all_terms:,}"),
        ("distinct words a document", f"{cost.sparsity:.1f}"),
        ("training matrix", f"{cost.matrix_bytes:,} bytes, of all words {cost.all_matrix_bytes:,}"),
        ("seconds to predict 1,000 documents", f"{cost.predict_seconds:.3f}"),
        ("seconds of this advice", f"{evidence.seconds:.0f}"),
    ]
    choices = pl.DataFrame(
        {"part": range(1, len(evidence.outer_choices) + 1), "chosen without it": evidence.outer_choices}
    )
    measures = pl.DataFrame({"measure": list(advice.figures), "value": list(advice.figures.values())})
    sections = [
        Section(
            "advice",
            "Advice",
            [
                _table("summary", "The choice, all features, the runner-up", pl.DataFrame(advice.summary())),
                _table("measures", "The choice on documents it never saw", measures),
            ],
            [advice.explanation()],
        ),
        _curves_section(advice, tried),
        Section(
            "tried",
            "All that was tried",
            [
                _table("outer", "What was chosen without each part of the documents", choices),
                _table("tried-table", "Every candidate", tried.sort("figure", descending=True)),
            ],
            [METHOD],
        ),
    ]
    left = [f"Not tried for want of time: {', '.join(evidence.not_tried)}."] if evidence.not_tried else []
    return Page(f"Advice for {advice.problem}", facts, sections, notes=left)


def _table(name: str, title: str, table: pl.DataFrame) -> Figure:
    return Figure(name, title, [Variant(rounded(table))])


def _curves_section(advice: Advice, tried: pl.DataFrame) -> Section:
    learners = (
        tried.filter(pl.col("method") != "all features")["learner"].unique(maintain_order=True).to_list()
    )
    variants = [_curves(advice.goal, tried.filter(pl.col("learner") == name)) for name in learners]
    figure = Figure(
        "curves",
        "The goal against the number of words; arms that were dropped are shorter",
        variants,
        by=("learner",),
    )
    chooser = Chooser("learner", "Learner", [Choice(name) for name in learners])
    return Section("sizes", "How many words", [figure], choosers=[chooser])


def _curves(goal: str, tried: pl.DataFrame) -> Variant:
    everything = pl.col("method") == "all features"
    nothing: Any = pl.lit(None, dtype=pl.Float64)
    table = rounded(
        tried.select(
            "method",
            "learner",
            pl.when(everything).then(pl.lit("all")).otherwise(pl.lit("k")).alias("size_kind"),
            pl.when(everything).then(nothing).otherwise(pl.col("terms").cast(pl.Float64)).alias("size"),
            pl.col("figure").alias("value"),
            nothing.alias("low"),
            nothing.alias("high"),
            pl.col("terms").cast(pl.Float64).alias("n_terms"),
            nothing.alias("sparsity"),
        )
    )
    return Variant(table.drop("low", "high", "sparsity"), curves(table, goal))
