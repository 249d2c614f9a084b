"""Counts and a classifier's predictions come in; what a page shows besides figures goes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termsieve import analysis
from termsieve.analysis.mistakes import CrossValidation
from termsieve.analysis.of_counts import shown
from termsieve.analysis.wordmap import ScoredTables, best_for
from termsieve.counts import Counts
from termsieve.reports.figures import Report

CHIPS = 6  # words on the tile of a class
NEAREST = 3  # classes on the tile of a class


def page_parts(
    counts: Counts, scored: Sequence[ScoredTables], validation: CrossValidation | None, report: Report
) -> dict[str, Any]:
    """Return the tiles of classes, the confusion matrix, and what can be chosen under the map."""
    tiles = _tiles(counts, scored, validation)
    return {"tiles": tiles, "confusion": _confusion(counts, validation), **_map_choices(report)}


def _tiles(
    counts: Counts, scored: Sequence[ScoredTables], validation: CrossValidation | None
) -> list[dict[str, Any]]:
    """Return size, best words, F1 and nearest classes of each class."""
    figures = {}
    if validation is not None:
        figures = {row["class"]: row["f1"] for row in validation.figures().to_dicts()}
    likeness = analysis.class_likeness(counts)
    np.fill_diagonal(likeness, -1.0)
    names = counts.names()
    most = int(counts.pos.max())
    tiles = []
    for c, tables in enumerate(scored):
        label = str(counts.classes[c])
        best = best_for(counts.take([c]), tables, CHIPS)
        near = np.argsort(-likeness[c], kind="stable")[: min(NEAREST, counts.n_classes - 1)]
        tiles.append(
            {
                "name": label,
                "documents": int(counts.pos[c]),
                "share": float(counts.pos[c] / max(1, counts.n_docs)),
                "bar": float(counts.pos[c] / max(1, most)),
                "words": [shown(names[column]) for column in best],
                "f1": figures.get(label),
                "near": [str(counts.classes[other]) for other in near],
            }
        )
    return tiles


def _map_choices(report: Report) -> dict[str, Any]:
    """Return what can be chosen under the map: the numbers of words, the metrics, and marks."""
    classes, metrics = report.choosers
    sizes = sorted(report.sources["sizes"])
    return {
        "sizes": sizes,
        "size": sizes[len(sizes) // 2],
        "metrics": [choice.name for choice in metrics.choices],
        "first": classes.first,
        "marks": {name: report.sources[name] for name in ("stop_words", "cutoffs")},
    }


def _confusion(counts: Counts, validation: CrossValidation | None) -> dict[str, Any] | None:
    if validation is None:
        return None
    known = validation.labels.classes.tolist()
    at = [known.index(label) for label in counts.classes.tolist() if label in known]
    table = validation.confusion()[np.ix_(at, at)]
    return {
        "classes": [str(known[i]) for i in at],
        "rows": table.tolist(),
        "shares": (table / np.maximum(table.sum(axis=1, keepdims=True), 1)).tolist(),
        "documents": validation.labels.n_docs,
        "several": validation.labels.multilabel,
    }
