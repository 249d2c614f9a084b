"""What changed since training comes in; one offline HTML page with charts over time goes out."""

from __future__ import annotations

import os
from typing import Any

import polars as pl

from termsieve.charts import over_time
from termsieve.drift import Drift
from termsieve.reports.page import Figure, Page, Section, Variant, rounded, write

TRAINING = "training"
MOST_CLASSES = 8  # lines of the chart: those whose share changed most
MOST_WORDS = 200  # rows of the table of each period


def drift_report(drift: Drift, path: str | os.PathLike[str] | None = None) -> str:
    """Return the page of new documents against those of training, and write it where a path is given."""
    record = drift.record
    facts = [
        ("model", record.how),
        (
            "trained on",
            f"{record.documents:,} documents of {record.source or 'an unnamed source'}, {record.date}",
        ),
        ("periods", f"{len(drift.periods):,}"),
        ("changed", "yes" if drift.changed else "no"),
    ]
    sections = [_overview(drift), _shares(drift), *_words(drift)]
    return write(Page("New documents against those of training", facts, sections).to_html(), path)


def _overview(drift: Drift) -> Section:
    rows = [{"period": TRAINING, "known words": drift.record.coverage[0], "changed": "no"}]
    rows += [
        {"period": period.name, "known words": period.coverage, "changed": _yes(period.changed)}
        for period in drift.periods
    ]
    table = rounded(pl.DataFrame(rows))
    chart = over_time(table, "known words", "words of a document that were in training")
    periods = rounded(pl.DataFrame([period.row() for period in drift.periods], infer_schema_length=None))
    return Section(
        "periods",
        "What has changed",
        [
            Figure(
                "known",
                "Share of the words of a document that were in training, over time",
                [Variant(table, chart)],
            ),
            Figure("periods-table", "Every period", [Variant(periods)]),
        ],
        drift.sentences(),
    )


def _shares(drift: Drift) -> Section:
    first = drift.periods[0].shares
    moved = {row["class"]: 0.0 for row in first}
    for period in drift.periods:
        for row in period.shares:
            moved[row["class"]] = max(moved[row["class"]], abs(row["now"] - row["before"]))
    shown = sorted(moved, key=lambda label: -moved[label])[:MOST_CLASSES]
    rows = [_share(TRAINING, row, "before", False) for row in first if row["class"] in shown]
    for period in drift.periods:
        rows += [
            _share(period.name, row, "now", period.changed) for row in period.shares if row["class"] in shown
        ]
    table = rounded(pl.DataFrame(rows))
    chart = over_time(table, "predicted", "share of the documents", by="class")
    expected = [
        {"period": period.name, **{name.replace("now", "predicted"): value for name, value in row.items()}}
        for period in drift.periods
        for row in period.shares
    ]
    every = rounded(
        pl.DataFrame(expected, infer_schema_length=None).with_columns(pl.col("class").cast(pl.String))
    )
    return Section(
        "shares",
        "Which classes are predicted",
        [
            Figure("shares-chart", "Share of the documents per predicted class", [Variant(table, chart)]),
            Figure(
                "shares-table", "Predicted before and now, and the true share to expect", [Variant(every)]
            ),
        ],
        ["The true share to expect comes from the confusion table that was measured with the model."],
    )


def _share(period: str, row: dict[str, Any], name: str, changed: bool) -> dict[str, Any]:
    return {
        "period": period,
        "class": str(row["class"]),
        "predicted": float(row[name]),
        "changed": _yes(changed),
    }


def _words(drift: Drift) -> list[Section]:
    figures = [
        Figure(f"words-{number}", period.name, [Variant(rounded(period.words.head(MOST_WORDS)))])
        for number, period in enumerate(drift.periods)
        if period.words.height
    ]
    return [Section("words", "Words that came, went, rose and fell", figures)] if figures else []


def _yes(changed: bool) -> str:
    return "yes" if changed else "no"
