"""A corpus or its counts come in; the corpus report goes out: classes, warnings, telling words, ROC maps."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from termsieve import analysis, charts
from termsieve.analysis.documents import FEW_DOCUMENTS
from termsieve.analysis.mistakes import CrossValidation
from termsieve.analysis.of_counts import shown
from termsieve.analysis.roc import SIZES
from termsieve.charts.theme import vega_bundle
from termsieve.counts import Counts
from termsieve.errors import InputError, ParameterError
from termsieve.metrics import get_metric
from termsieve.reports.explorer import Explorer, scored_classes
from termsieve.reports.figures import DeclaredFigure, DeclaredSection, Report
from termsieve.reports.page import Choice, Chooser, Page, Section, write
from termsieve.reports.parts import page_parts
from termsieve.reports.planes import (
    CONTOUR_MAP,
    LINES,
    POINTS,
    SPARSITY,
    SURFACE,
    WORD_MAP,
    class_sources,
    word_sources,
)
from termsieve.reports.reading import Documents, documents_of
from termsieve.reports.texts import Progress, texts_of, validated
from termsieve.reports.trying import CannotTryError, tried_model
from termsieve.sources import Source
from termsieve.spec import READING
from termsieve.telling import MetricSpec

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
EXAMPLE_CLASS = (100, 1000)  # documents inside and outside, of the contour maps
TABLE_TERMS = 20
MAP_SIZES = (10, 50, 200, 1000)  # numbers of words that the map has lines for
GIVEAWAYS = 4  # named in the warning
EXAMPLES = 3
MAX_MEGABYTES = 5.0

SECTIONS = (
    DeclaredSection(
        "overview",
        "Classes at a glance",
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
        ),
    ),
    DeclaredSection(
        "map",
        "Word map",
        (WORD_MAP,),
    ),
    DeclaredSection(
        "mistakes",
        "Where a classifier goes wrong",
        (
            DeclaredFigure(
                "pairs",
                "Classes that are mistaken for each other",
                analysis.confused_pairs,
                needs=("validation", "counts"),
                note="for first, for second: the words that tell the two classes apart best; "
                "share: mistakes among the documents of the two classes.",
                requires="documents",
                wide=True,
            ),
            DeclaredFigure(
                "figures",
                "How well each class is told",
                analysis.class_figures,
                needs=("validation",),
                requires="documents",
            ),
            DeclaredFigure(
                "repeated",
                "Documents that repeat another one",
                analysis.repeated_documents,
                needs=("repeated", "texts"),
                note="Documents of a group have the same words. Where their labels differ, one of them is "
                "likely wrong.",
                requires="repeated",
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
            SPARSITY,
            CONTOUR_MAP,
            SURFACE,
        ),
    ),
)


def corpus_report(
    source: Source,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    metrics: Sequence[MetricSpec] = METRICS,
    sizes: Sequence[int] = MAP_SIZES,
    max_classes: int = MAX_CLASSES,
    target: Any = None,
    k: int = TABLE_TERMS,
    min_df: float = 1,
    drop_passages: bool = False,
    examples: int = EXAMPLES,
    show_text: bool = True,
    mask: bool = False,
    max_megabytes: float = MAX_MEGABYTES,
    progress: Progress | None = None,
    **options: Any,
) -> str:
    """Return the report of a corpus as one HTML document that needs no network.

    It shows the classes, warnings, the telling words, a map of all words, the documents behind a word, where
    a small classifier goes wrong, and a box in which any text can be tried.

    Parameters
    ----------
    source : Counts, Corpus, frame, path or list of paths
        The documents, or their counts. Tables above 50 MB are read in pieces.
    path : path, optional
        The file to write.
    title : str, optional
        The title of the page; by default the name of the corpus.
    metrics : sequence of str, Metric or callable
        At most twelve metrics that choose the telling words and draw the lines of the map.
    sizes : sequence of int
        The numbers of terms that the lines stand for.
    max_classes : int, default=30
        Show words and maps only for this number of classes, the largest ones.
    target : label, optional
        The class that is shown first; by default the first one, or the rarer of two.
    k : int, default=20
        Number of words for the class, and the same number against it, in the table of telling words.
    min_df : int or float, default=1
        Leave out words in fewer documents: a number, or a share as a float.
    drop_passages : bool, default=False
        Whether to leave out passages that documents share when words are counted; see
        :func:`termsieve.telling_words`. The example documents are shown whole.
    examples : int, default=3
        Largest number of example documents per word and class; 0 for none.
    show_text : bool, default=True
        False for confidential documents: no text of a document is in the file, only its words.
    mask : bool, default=False
        Whether mail addresses, web addresses and numbers are replaced in the example documents, and words
        with digits are left out of the list of words.
    max_megabytes : float, default=5
        Largest size of the file. If it would be larger, the least telling words and the last examples are
        left out.
    progress : callable, optional
        Called with the share that is done and what is being done.
    **options
        How documents are read and split into terms, as in :func:`termsieve.telling_words`.

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
    for name, value, least in (("max_classes", max_classes, 1), ("examples", examples, 0)):
        if value < least:
            raise ParameterError(f"{name} must be {least} or more, not {value!r}")
    tell = progress or (lambda share, what: None)
    with ThreadPoolExecutor(1) as side:
        side.submit(vega_bundle)  # which takes seconds, and another processor can do it
        tell(0.0, "reading the documents")
        found = documents_of(source, metrics, min_df, show_text and examples > 0, drop_passages, options)
        counts = found.counts
        if not counts.n_classes or not counts.df.any():
            raise InputError("there is nothing to report: no document has a label and a term")
        tell(0.25, "testing a classifier")
        validation = validated(found)
        tried = side.submit(_tried, found, validation, mask)
        tell(0.35, "drawing the figures")
        report = corpus_figures(
            counts, metrics, sizes, max_classes, target=target, k=k, validation=validation, found=found
        )
        sections, notes = report.sections()
        tell(0.6, "looking for examples")
        shown_counts = counts.take(report.sources["positions"])
        scored = scored_classes(shown_counts, metrics)
        texts = texts_of(found, shown_counts, scored, validation, examples, tell)
        marked = {name: report.sources[name] for name in ("stop_words", "cutoffs")}
        explorer = Explorer(
            shown_counts, metrics, sizes, texts, found.silent, max(examples, 1), mask, scored=scored, **marked
        )
        tell(0.9, "training a classifier to try")
        model, trying, lacking = tried.result()
        tell(0.95, "writing the page")
        page = Page(
            title=title or found.name or "Corpus",
            facts=_facts(counts, found.facts),
            warnings=_warnings(counts, found.facts),
            sections=_with_section(sections, trying),
            notes=[*_left_out(counts, found.facts, report, drop_passages), *notes, *lacking],
            parts=page_parts(shown_counts, scored, validation, report),
            model=model,
        )
        html = page.with_explorer(explorer, max_megabytes)
    tell(1.0, "done")
    return write(html, path)


def _with_section(sections: list[Section], trying: list[Section]) -> list[Section]:
    """Return the sections with that of the classifier to try, if there is one, after the mistakes."""
    after = next((i for i, each in enumerate(sections, 1) if each.id == "mistakes"), len(sections))
    return [*sections[:after], *trying, *sections[after:]]


def _tried(
    found: Documents, validation: CrossValidation | None, mask: bool
) -> tuple[dict[str, Any] | None, list[Section], list[str]]:
    """Return a classifier to try in the page and its section, or a sentence that says why there is none."""
    if validation is None:
        return None, [], []
    try:
        model, section = tried_model(found, mask)
    except CannotTryError as error:
        return None, [], [f"{error}."]
    return model, [section], []


def corpus_figures(
    counts: Counts,
    metrics: Sequence[MetricSpec] = METRICS,
    sizes: Sequence[int] = SIZES,
    max_classes: int = MAX_CLASSES,
    *,
    target: Any = None,
    k: int = TABLE_TERMS,
    validation: CrossValidation | None = None,
    found: Documents | None = None,
) -> Report:
    """Return the declared figures with the sources from counts and documents; see `corpus_report`."""
    positions = _reported(counts, max_classes, target)
    named = {str(get_metric(each)): each for each in metrics}
    compared = {**named, **{str(get_metric(each)): each for each in OVERLAP_METRICS}}
    classes = [_class_choice(counts, c) for c in positions]
    own = [counts.take([c]) for c in positions]
    repeated = found.repeated if found else None
    lacking = {}
    if validation is None:
        lacking["documents"] = (
            "A classifier was not tested, because there are no documents of several classes here."
        )
    if repeated is None or repeated.is_empty():
        lacking["repeated"] = "" if repeated is not None else "Repeated documents are not known."
    first = positions.index(counts.position(target)) if target is not None else _first(counts, positions)
    return Report(
        SECTIONS,
        sources={
            "counts": counts,
            "positions": positions,
            "metrics": list(metrics),
            "compared": list(compared.values()),
            "sizes": sizes,
            "max_points": POINTS,
            "resolution": LINES,
            "n": k,
            "validation": validation,
            "repeated": repeated,
            "texts": found.texts if found else None,
            **class_sources(*EXAMPLE_CLASS),
            **word_sources(counts),
        },
        choosers=[
            Chooser("class", "Class", classes, first=first),
            Chooser("metric", "Metric", [Choice(name) for name in named]),
        ],
        chosen={
            "class": [{"counts": each, "label": each.classes[0]} for each in own],
            "metric": [{"metric": each} for each in named.values()],
        },
        lacking=lacking,
    )


def _is_pair(counts: Counts) -> bool:
    return counts.n_classes == 2 and not counts.multilabel


def _reported(counts: Counts, max_classes: int, target: Any = None) -> list[int]:
    """Return the positions of the classes to show, in order; if there are too many, the largest ones.

    If there are two classes, both are shown, and the reader chooses one. A target is always shown.
    """
    candidates = np.arange(2) if _is_pair(counts) else counts.problems
    largest = candidates[np.argsort(-counts.pos[candidates], kind="stable")]
    told = [int(c) for c in largest if 0 < counts.pos[c] < counts.n_docs]
    kept = told[: max(max_classes, 2 if _is_pair(counts) else 1)] or [int(candidates[0])]
    wanted = [] if target is None else [counts.position(target)]
    return sorted({*kept[: len(kept) - (not set(wanted) <= set(kept))], *wanted})


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
        for row in table.head(GIVEAWAYS).to_dicts()
    )
    return [
        f"{_many(table.height, 'term gives its', 'terms give a')} class away, such as {some}. "
        "Where that is a header, a signature or the label itself, remove it."
    ]


def _left_out(
    counts: Counts, facts: analysis.DocumentFacts | None, report: Report, drop_passages: bool
) -> list[str]:
    notes = []
    if drop_passages:
        notes.append("Words are not counted where they stand in passages that three documents or more share.")
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
    return notes


def _many(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"
