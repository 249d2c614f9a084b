"""A corpus or its counts come in; the corpus report goes out: classes, warnings, telling words, ROC maps."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from termsieve import charts
from termsieve.charts.roc import SIZES, MetricSpec, shown
from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.errors import InputError, ParameterError
from termsieve.metrics import get_metric
from termsieve.reports.page import Figure, Page, Section, Variant, rounded, write
from termsieve.terms import term_matrix

METRICS = ("bns", "information_gain", "odds_ratio")
OVERLAP_METRICS = (
    "bns",
    "information_gain",
    "chi_squared",
    "odds_ratio",
    "mutual_information",
    "document_frequency",
)
OVERLAP_K = 100
MAX_CLASSES = 30
MAX_POINTS = 30_000  # over all maps together
CLASS_POINTS = 3000
FEW_DOCUMENTS = 10
BAR_TERMS = 12
TABLE_TERMS = 20
EXAMPLES = 4


@dataclass(frozen=True)
class _Documents:
    """What only the documents themselves can tell; None where there are counts alone."""

    empty: int
    duplicates: int
    contradictory: int
    mean_terms: float


def corpus_report(
    source: Corpus | Counts,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    metrics: Sequence[MetricSpec] = METRICS,
    sizes: Sequence[int] = SIZES,
    max_classes: int = MAX_CLASSES,
) -> str:
    """Return the corpus report as one HTML document, and write it where a path is given.

    `metrics`, at most five, choose the telling words and the lines of the ROC maps, `sizes` the numbers of
    terms the lines stand for. Of more than `max_classes` classes only the largest have words and maps.
    """
    if not isinstance(source, Corpus | Counts):
        raise InputError(f"a report needs a Corpus or Counts, not {type(source).__name__}")
    if max_classes < 1:
        raise ParameterError(f"max_classes must be 1 or more, not {max_classes!r}")
    if isinstance(source, Corpus):
        X, terms = term_matrix(source)
        counts = Counts.from_matrix(X, source.labels, terms=terms)
        documents = _documents(X, source.labels)
        title = title or source.name or "Corpus"
    else:
        counts, documents, title = source, None, title or "Corpus"
    if not counts.n_classes or not counts.df.any():
        raise InputError("there is nothing to report: no document has a label and a term")
    return write(_page(counts, documents, title, metrics, sizes, max_classes).to_html(), path)


def _page(
    counts: Counts,
    documents: _Documents | None,
    title: str,
    metrics: Sequence[MetricSpec],
    sizes: Sequence[int],
    max_classes: int,
) -> Page:
    positions = _largest(counts, max_classes)
    notes = _left_out(counts, positions, documents)
    sections = [
        _classes_section(counts),
        _words_section(counts, positions, metrics, sizes, notes),
        _metrics_section(counts, metrics),
    ]
    return Page(
        title=title,
        facts=_facts(counts, documents),
        warnings=_warnings(counts, documents),
        sections=sections,
        notes=notes,
    )


def _documents(X: Any, labels: Any) -> _Documents:
    """Return what can be said of single documents: empty ones, and repetitions of the same terms."""
    lengths = np.diff(X.indptr)
    seen: Counter[bytes] = Counter()
    classes: dict[bytes, set[Any]] = {}
    for i in np.flatnonzero(lengths).tolist():
        row = slice(X.indptr[i], X.indptr[i + 1])
        key = X.indices[row].tobytes() + b"|" + X.data[row].tobytes()
        seen[key] += 1
        classes.setdefault(key, set()).add(labels[i])
    return _Documents(
        empty=int((lengths == 0).sum()),
        duplicates=sum(n - 1 for n in seen.values()),
        contradictory=sum(seen[key] for key, found in classes.items() if len(found) > 1),
        mean_terms=float(lengths.mean()),
    )


def _facts(counts: Counts, documents: _Documents | None) -> list[tuple[str, str]]:
    skew = counts.neg / np.maximum(counts.pos, 1)
    mean_terms = documents.mean_terms if documents else counts.df.sum() / max(1, counts.n_docs)
    return [
        ("documents", f"{counts.n_docs:,}"),
        ("classes", f"{counts.n_classes:,}" + (", several a document" if counts.multilabel else "")),
        ("distinct terms", f"{int((counts.df > 0).sum()):,}"),
        ("terms in one document only", f"{int((counts.df == 1).sum()):,}"),
        ("distinct terms a document", f"{mean_terms:,.1f}"),
        ("skew (negative : positive)", f"{skew.min():,.1f} to {skew.max():,.1f}"),
    ]


def _warnings(counts: Counts, documents: _Documents | None) -> list[str]:
    made = []
    if documents and documents.empty:
        made.append(f"{_many(documents.empty, 'document has', 'documents have')} no terms at all.")
    if documents and documents.duplicates:
        made.append(
            f"{_many(documents.duplicates, 'document repeats', 'documents repeat')} the terms of another one "
            "exactly; in training and test parts at once they flatter a classifier."
        )
    if documents and documents.contradictory:
        made.append(f"{documents.contradictory:,} documents with equal terms have different labels.")
    few = np.flatnonzero(counts.pos < FEW_DOCUMENTS)
    if len(few):
        names = ", ".join(f"{shown(counts.classes[c])} ({counts.pos[c]:,})" for c in few[:8])
        more = f" and {len(few) - 8:,} more" if len(few) > 8 else ""
        made.append(f"Fewer than {FEW_DOCUMENTS} documents are in: {names}{more}. Their words may be chance.")
    if counts.n_classes == 1:
        made.append("There is one class only, so no term can tell it from anything.")
    return made + _giveaways(counts)


def _giveaways(counts: Counts) -> list[str]:
    """Return a warning of terms that all but name their class: often a header, a signature or the label."""
    found = []
    for rows, tp, fp in counts.blocks():
        pos, neg = counts.pos[rows], counts.neg[rows]
        # Half the documents of the class at least; only few terms are left to look at closely.
        for c, t in zip(*np.nonzero(2 * tp >= np.maximum(pos, FEW_DOCUMENTS)[:, None]), strict=True):
            tpr, fpr = tp[c, t] / pos[c], fp[c, t] / max(1, neg[c])
            if neg[c] and (tpr - fpr >= 0.9 or fp[c, t] == 0):
                found.append((tpr - fpr, rows.start + int(c), int(t), tpr, fpr))
    if not found:
        return []
    found.sort(key=lambda each: (-each[0], each[1], each[2]))
    names = counts.names()
    some = "; ".join(
        f"“{shown(names[t])}” in {tpr:.0%} of {shown(counts.classes[c])} and {fpr:.1%} of the rest"
        for _, c, t, tpr, fpr in found[:EXAMPLES]
    )
    return [
        f"{_many(len(found), 'term gives its', 'terms give a')} class away, such as {some}. "
        "Where that is a header, a signature or the label itself, remove it."
    ]


def _largest(counts: Counts, max_classes: int) -> list[int]:
    """Return the positions of the problems' classes, the largest where there are too many, in their order."""
    problems = counts.problems
    largest = problems[np.argsort(-counts.pos[problems], kind="stable")[:max_classes]]
    return sorted(int(c) for c in largest if 0 < counts.pos[c] < counts.n_docs) or [int(problems[0])]


def _left_out(counts: Counts, positions: list[int], documents: _Documents | None) -> list[str]:
    notes = []
    absent = len(counts.problems) - len(positions)
    if absent:
        notes.append(
            f"{_many(absent, 'class has', 'classes have')} no words here, only the {len(positions)} largest."
        )
    if documents is None:
        notes.append(
            "Empty and repeated documents are not known from counts alone; report the corpus to see them."
        )
    return notes


def _classes_section(counts: Counts) -> Section:
    order = np.argsort(-counts.pos, kind="stable")
    table = pl.DataFrame(
        {
            "class": [shown(counts.classes[c]) for c in order],
            "documents": counts.pos[order],
            "share": counts.pos[order] / max(1, counts.n_docs),
            "skew": counts.neg[order] / np.maximum(counts.pos[order], 1),
        }
    )
    figure = Figure(
        "classes",
        "Documents of each class",
        [Variant(rounded(table))],
        "skew: documents outside for one inside",
    )
    return Section("classes", "Classes", [figure])


def _words_section(
    counts: Counts,
    positions: list[int],
    metrics: Sequence[MetricSpec],
    sizes: Sequence[int],
    notes: list[str],
) -> Section:
    per_map = min(CLASS_POINTS, max(200, MAX_POINTS // len(positions)))
    maps, words = [], []
    bars: list[list[Variant]] = [[] for _ in metrics[:2]]
    cut_maps = 0
    for c in positions:
        own = counts.take([c])
        maps.append(_map(own, metrics, sizes, per_map))
        cut_maps += maps[-1].table.height == per_map
        words.append(_words(own, metrics))
        for place, each in zip(bars, metrics, strict=False):
            terms = rounded(charts.telling_terms(own, own.classes[0], each, BAR_TERMS))
            place.append(
                Variant(terms, None if terms.is_empty() else charts.bar_panel(terms, str(get_metric(each))))
            )
    if cut_maps:
        notes.append(
            f"{_many(cut_maps, 'map shows', 'maps show')} {per_map:,} points, the best by the metrics drawn; "
            "the remaining terms lie closer to the dashed line."
        )
    notes.append("The search finds the words that a point lists, at most 8 of those that share it.")
    read = (
        "Terms up and left speak for the class, down and right against it; the dashed line says nothing. "
        "Larger points hold several terms. The best k terms lie beyond a metric's line."
    )
    counted = "tp: documents of the class with the term; fp: other documents with it; rank: among all terms"
    figures = [
        *(
            Figure(f"bars-{i + 1}", f"Best words for and against, by {get_metric(each)}", place)
            for i, (each, place) in enumerate(zip(metrics, bars, strict=False))
        ),
        Figure(
            "terms", f"Telling words by {_many(len(metrics), 'metric', 'metrics')}", words, counted, wide=True
        ),
        Figure("map", "ROC map: every term a point", maps, read, wide=True),
    ]
    choices = [f"{shown(counts.classes[c])} ({counts.pos[c]:,} documents)" for c in positions]
    return Section("words", "Telling words", figures, choices=choices, choose="Class")


def _map(own: Counts, metrics: Sequence[MetricSpec], sizes: Sequence[int], max_points: int) -> Variant:
    chosen = [get_metric(each) for each in metrics]
    label = own.classes[0]
    points = charts.term_points(own, label, chosen, max_points)
    lines = charts.isoclines(own, label, chosen, sizes, resolution=110)
    chart = charts.roc_chart(points, lines, [str(each) for each in chosen], int(own.pos[0]), int(own.neg[0]))
    return Variant(points, chart)


def _words(own: Counts, metrics: Sequence[MetricSpec]) -> Variant:
    """Return the best terms of a class by each metric, for it and against it."""
    tables = [
        charts.telling_terms(own, own.classes[0], each, TABLE_TERMS).select(
            pl.lit(str(get_metric(each))).alias("metric"), pl.all()
        )
        for each in metrics
    ]
    return Variant(rounded(pl.concat(tables)))


def _metrics_section(counts: Counts, metrics: Sequence[MetricSpec]) -> Section:
    named = {str(get_metric(each)): each for each in (*metrics, *OVERLAP_METRICS)}
    shared = rounded(charts.metric_overlaps(counts, list(named.values()), OVERLAP_K))
    kept = rounded(charts.sparsity_table(counts, list(named.values())))
    figures = [
        Figure(
            "overlap",
            f"What metrics agree on: their best {OVERLAP_K} terms",
            [Variant(shared, charts.overlap(shared))],
            "Over all classes, a term by its best score for any. 1: the same terms, 0: none in common.",
        ),
        Figure(
            "sparsity",
            "How many terms keep what sparsity",
            [Variant(kept, charts.sparsity(kept))],
            "Mean number of distinct selected terms in a document; the training matrix grows with it.",
        ),
    ]
    return Section("metrics", "Metrics compared", figures)


def _many(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"
