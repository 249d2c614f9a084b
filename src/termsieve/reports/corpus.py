"""A corpus or its counts come in; the corpus report goes out: classes, warnings, telling words, ROC maps."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from termsieve import analysis, charts
from termsieve.analysis.documents import FEW_DOCUMENTS
from termsieve.analysis.of_counts import shown
from termsieve.analysis.roc import SIZES
from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.errors import InputError, ParameterError
from termsieve.metrics import get_metric
from termsieve.reports.figures import DeclaredFigure, DeclaredSection, Report
from termsieve.reports.page import Choice, Chooser, Page, Section, write
from termsieve.spec import READING
from termsieve.telling import MetricSpec
from termsieve.terms import term_matrix

METRICS = (READING, "bns", "odds_ratio")
OVERLAP_METRICS = (
    "bns",
    "information_gain",
    "chi_squared",
    "odds_ratio",
    "mutual_information",
    "document_frequency",
)
MAX_CLASSES = 30
MAX_POINTS = 30_000  # of all maps together
CLASS_POINTS = 3000
LINE_RESOLUTION = 110  # of the lines of a map: enough for a page, with half the bytes of the charts' default
TABLE_TERMS = 20
EXAMPLES = 4

SECTIONS = (
    DeclaredSection(
        "classes",
        "Classes",
        (
            DeclaredFigure(
                "classes",
                "Documents of each class",
                analysis.class_sizes,
                needs=("counts",),
                note="skew: documents outside the class divided by documents in it",
            ),
        ),
    ),
    DeclaredSection(
        "words",
        "Telling words",
        (
            DeclaredFigure(
                "bars",
                "The best words for and against the class",
                analysis.telling_terms,
                needs=("counts", "label", "metric"),
                chart=charts.term_bars,
                by=("class", "metric"),
            ),
            DeclaredFigure(
                "terms",
                "The telling words and their numbers",
                analysis.telling_terms,
                needs=("counts", "label", "metric", "n"),
                note="tp: documents of the class with the word; fp: other documents with it; "
                "rank: among all words, for and against",
                by=("class", "metric"),
            ),
            DeclaredFigure(
                "map",
                "ROC map: one point per term",
                analysis.roc_map,
                needs=("counts", "label", "metrics", "sizes", "max_points", "resolution"),
                chart=charts.roc_map,
                note="Terms up and left speak for the class, down and right against it; terms on the dashed "
                "line say nothing. Larger points hold several terms. A metric's line goes through the tables "
                "that score like its k-th best term of this class: the best k terms lie beyond it.",
                by=("class",),
                wide=True,
            ),
        ),
    ),
    DeclaredSection(
        "metrics",
        "Metrics compared",
        (
            DeclaredFigure(
                "overlap",
                "Overlap of the best 100 terms of metrics",
                analysis.metric_overlaps,
                needs=("counts", "metrics=compared"),
                chart=charts.overlap,
                note="Over all classes; the score of a term is its best score for any class. "
                "1: the same terms, 0: none in common.",
            ),
            DeclaredFigure(
                "sparsity",
                "Sparsity by number of terms",
                analysis.sparsity_table,
                needs=("counts", "metrics=compared"),
                chart=charts.sparsity,
                note="Mean number of distinct selected terms per document; "
                "the training matrix grows with it.",
            ),
            DeclaredFigure(
                "isoclines",
                "Lines of equal score of a metric",
                analysis.isocline_family,
                needs=("metric",),
                chart=charts.isocline_family,
                note="For a class of 100 documents among 1,100. Terms up and left are frequent in the class "
                "and rare outside; a metric with lines in both corners also takes words against the class.",
                by=("metric",),
            ),
        ),
    ),
)


def corpus_report(
    source: Corpus | Counts,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    metrics: Sequence[MetricSpec] = METRICS,
    sizes: Sequence[int] = SIZES,
    max_classes: int = MAX_CLASSES,
) -> str:
    """Return the report of a corpus as one HTML document that needs no network.

    It shows the classes, warnings, the telling words and a ROC map of each class.

    Parameters
    ----------
    source : Corpus or Counts
        The documents, or their counts.
    path : path, optional
        The file to write.
    title : str, optional
        The title of the page; by default the name of the corpus.
    metrics : sequence of str, Metric or callable
        At most five metrics that choose the telling words and draw the lines of the ROC maps.
    sizes : sequence of int
        The numbers of terms that the lines stand for.
    max_classes : int, default=30
        Show words and maps only for this number of classes, the largest ones.

    Returns
    -------
    str
        The HTML document.

    Examples
    --------
    >>> from termsieve import Corpus
    >>> mail = Corpus(["cheap pills", "see you", "cheap watches", "you see"], ["spam", "ham", "spam", "ham"])
    >>> page = corpus_report(mail, "report.html", title="Mail")  # doctest: +SKIP
    """
    if not isinstance(source, Corpus | Counts):
        raise InputError(f"a report needs a Corpus or Counts, not {type(source).__name__}")
    if max_classes < 1:
        raise ParameterError(f"max_classes must be 1 or more, not {max_classes!r}")
    facts = None
    if isinstance(source, Corpus):
        X, terms = term_matrix(source)
        counts = Counts.from_matrix(X, source.labels, terms=terms)
        facts = analysis.document_facts(X, source.labels)
        title = title or source.name
    else:
        counts = source
    if not counts.n_classes or not counts.df.any():
        raise InputError("there is nothing to report: no document has a label and a term")
    report = corpus_figures(counts, metrics, sizes, max_classes)
    sections, notes = report.sections()
    page = Page(
        title=title or "Corpus",
        facts=_facts(counts, facts),
        warnings=_warnings(counts, facts),
        sections=sections,
        notes=[*_left_out(counts, facts, report, sections), *notes],
    )
    return write(page.to_html(), path)


def corpus_figures(
    counts: Counts,
    metrics: Sequence[MetricSpec] = METRICS,
    sizes: Sequence[int] = SIZES,
    max_classes: int = MAX_CLASSES,
) -> Report:
    """Return the declared figures with the sources from counts; see `corpus_report`."""
    positions = _reported(counts, max_classes)
    named = {str(get_metric(each)): each for each in metrics}
    compared = {**named, **{str(get_metric(each)): each for each in OVERLAP_METRICS}}
    classes = [_class_choice(counts, c) for c in positions]
    own = [counts.take([c]) for c in positions]
    return Report(
        SECTIONS,
        sources={
            "counts": counts,
            "metrics": list(metrics),
            "compared": list(compared.values()),
            "sizes": sizes,
            "max_points": min(CLASS_POINTS, max(200, MAX_POINTS // len(positions))),
            "resolution": LINE_RESOLUTION,
            "n": TABLE_TERMS,
        },
        choosers=[
            Chooser("class", "Class", classes, first=_first(counts, positions)),
            Chooser("metric", "Metric", [Choice(name) for name in named]),
        ],
        chosen={
            "class": [{"counts": each, "label": each.classes[0]} for each in own],
            "metric": [{"metric": each} for each in named.values()],
        },
    )


def _is_pair(counts: Counts) -> bool:
    return counts.n_classes == 2 and not counts.multilabel


def _reported(counts: Counts, max_classes: int) -> list[int]:
    """Return the positions of the classes to show, in order; if there are too many, the largest ones.

    If there are two classes, both are shown, and the reader chooses one.
    """
    candidates = np.arange(2) if _is_pair(counts) else counts.problems
    largest = candidates[np.argsort(-counts.pos[candidates], kind="stable")]
    told = [int(c) for c in largest if 0 < counts.pos[c] < counts.n_docs]
    return sorted(told[: max(max_classes, 2 if _is_pair(counts) else 1)]) or [int(candidates[0])]


def _first(counts: Counts, positions: list[int]) -> int:
    """Return the place of the class that is shown first: the rarer of two, otherwise the first."""
    return int(np.argmin(counts.pos[positions])) if _is_pair(counts) else 0


def _class_choice(counts: Counts, c: int) -> Choice:
    name = shown(counts.classes[c])
    size = f"{_many(int(counts.pos[c]), 'document', 'documents')}"
    note = f"Words for and against the class {name}: {size} of {counts.n_docs:,}."
    if _is_pair(counts):
        other = shown(counts.classes[1 - c])
        rarer = " the rarer of two classes," if counts.pos[c] < counts.pos[1 - c] else ""
        note = f"Words for and against {name},{rarer} {size} of {counts.n_docs:,}: a word against {name} "
        note += f"speaks for {other}."
    return Choice(name, size, note)


def _facts(counts: Counts, facts: analysis.DocumentFacts | None) -> list[tuple[str, str]]:
    skew = counts.neg / np.maximum(counts.pos, 1)
    mean_terms = facts.mean_terms if facts else counts.df.sum() / max(1, counts.n_docs)
    several = ", several per document" if counts.multilabel else ""
    return [
        ("documents", f"{counts.n_docs:,}"),
        ("classes", f"{counts.n_classes:,}{several}"),
        ("distinct terms", f"{int((counts.df > 0).sum()):,}"),
        ("terms in one document only", f"{int((counts.df == 1).sum()):,}"),
        ("distinct terms per document", f"{mean_terms:,.1f}"),
        ("skew (negative : positive)", f"{skew.min():,.1f} to {skew.max():,.1f}"),
    ]


def _warnings(counts: Counts, facts: analysis.DocumentFacts | None) -> list[str]:
    found = []
    if facts and facts.empty:
        found.append(f"{_many(facts.empty, 'document has', 'documents have')} no terms at all.")
    if facts and facts.duplicates:
        found.append(
            f"{_many(facts.duplicates, 'document repeats', 'documents repeat')} the terms of another one "
            "exactly; if copies are in both the training and the test part, figures are too high."
        )
    if facts and facts.contradictory:
        found.append(f"{facts.contradictory:,} documents with equal terms have different labels.")
    few = np.flatnonzero(counts.pos < FEW_DOCUMENTS)
    if len(few):
        names = ", ".join(f"{shown(counts.classes[c])} ({counts.pos[c]:,})" for c in few[:8])
        more = f" and {len(few) - 8:,} more" if len(few) > 8 else ""
        found.append(
            f"Fewer than {FEW_DOCUMENTS} documents are in: {names}{more}. Their words may be there by chance."
        )
    if counts.n_classes == 1:
        found.append("There is only one class, so no term can separate it from others.")
    return found + _giveaway_warning(counts)


def _giveaway_warning(counts: Counts) -> list[str]:
    table = analysis.giveaways(counts)
    if table.is_empty():
        return []
    some = "; ".join(
        f"“{row['term']}” in {row['tpr']:.0%} of {row['class']} and {row['fpr']:.1%} of the rest"
        for row in table.head(EXAMPLES).to_dicts()
    )
    return [
        f"{_many(table.height, 'term gives its', 'terms give a')} class away, such as {some}. "
        "Where that is a header, a signature or the label itself, remove it."
    ]


def _left_out(
    counts: Counts, facts: analysis.DocumentFacts | None, report: Report, sections: Sequence[Section]
) -> list[str]:
    notes = []
    shown_classes = len(report.chosen["class"])
    absent = len(counts.problems) - shown_classes
    if absent > 0:
        notes.append(
            f"{_many(absent, 'class has', 'classes have')} no words here, only the {shown_classes} largest."
        )
    if facts is None:
        notes.append(
            "Empty and repeated documents are not known from counts alone; report the corpus to see them."
        )
    limit = report.sources["max_points"]
    maps = [
        each
        for section in sections
        for figure in section.figures
        if figure.id == "map"
        for each in figure.variants
    ]
    cut = sum(variant.table.height == limit for variant in maps)
    if cut:
        notes.append(
            f"{_many(cut, 'map shows', 'maps show')} {limit:,} points, the best by the metrics drawn; "
            "the remaining terms lie closer to the dashed line."
        )
    notes.append("The search finds the words that a point lists, at most 8 of those that share it.")
    return notes


def _many(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"
