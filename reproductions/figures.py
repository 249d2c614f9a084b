"""The list of the papers' figures: what each shows, the command that draws it, and its picture in docs/.

python -m reproductions pictures [PAPER]

A paper's page and the summary page are made from this list, and a test compares it with the pictures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from reproductions import drawings
from reproductions.facts import forman_problems, hinge_problems
from reproductions.pages import DOCS
from termsieve import charts
from termsieve.analysis.findings import forman2003, zheng2004
from termsieve.charts.theme import measure_label

FOLDER = Path("papers")
REPORT = "termsieve study report {} -o FILE.html"
TAG = re.compile(r"<[^>]*>")
FONT = ' font-family="system-ui, sans-serif"', ' font-size="10px"'
# What nobody sees in a picture: words for screen readers of a page, classes, empty paths, defaults.
UNSEEN = re.compile(
    r' (?:aria-[a-z]+|role|class|pointer-events)="[^"]*"| (?:opacity|stroke-width)="1"| text-anchor="start"'
    + "".join(f"|{attribute}" for attribute in FONT)
)
LINE = r'<line transform="translate\(([\d.,-]+)\)" x2="([\d.-]+)" y2="([\d.-]+)"([^>]*)/>'
LINES = re.compile(rf"{LINE}(?:<line [^>]*\4/>)+")
EMPTY = re.compile(r'<path class="(?:foreground|background)"(?:(?! fill=| stroke=)[^>])*/>|<g[^>]*></g>')
LONG = re.compile(r"(\d+\.\d)\d+")


@dataclass(frozen=True)
class PaperFigure:
    """One figure of a paper.

    Parameters
    ----------
    paper, name : str
        The tag of the paper, and the name of the picture's file.
    shows : str
        What the figure shows.
    command : str
        The command, or the call, that draws it from results or from a corpus of one's own.
    place : str
        Where the command's report has it; "" if the call makes nothing else.
    draw : callable
        Makes the chart, or its specification, from the stored tables.
    note : str
        What the picture here was made from, and what of it the paper prints.
    number : str
        The number of the figure or table in the paper; "" if it is not known, or if the paper has none.
    """

    paper: str
    name: str
    shows: str
    command: str
    place: str
    draw: Callable[[], Any]
    note: str = ""
    number: str = ""

    @property
    def picture(self) -> Path:
        """The file of the picture, relative to docs/."""
        return FOLDER / f"{self.paper}-{self.name}.svg"


FORMAN = partial(PaperFigure, "forman2003")
SQUARED = f"{forman_problems()} problems, squared hinge loss."
TEN = f"{SQUARED} document_frequency and random are far below and left out."
HINGE = f"The paper's hinge loss, {hinge_problems()} problems."


def _forman_curves() -> Iterator[PaperFigure]:
    for measure in ("f1", "precision", "recall", "accuracy"):
        label = measure_label(measure)
        yield FORMAN(
            f"{measure}",
            f"{label} by number of terms",
            REPORT.format("RESULTS"),
            "Curves by size",
            partial(drawings.forman_curves, measure),
            TEN,
            "Figure 17" if measure == "accuracy" else "",
        )
        yield FORMAN(
            f"{measure}-hinge",
            f"{label} by number of terms, hinge loss",
            REPORT.format("HINGE"),
            "Curves by size",
            partial(drawings.forman_curves, measure, forman2003.HINGE, forman2003.SMO),
            HINGE,
            "Figure 17" if measure == "accuracy" else "",
        )
    yield FORMAN(
        "precision-recall",
        "precision against recall at 1,000 terms",
        REPORT.format("RESULTS"),
        "Precision, recall and skew",
        drawings.forman_precision_recall,
        SQUARED,
    )
    yield FORMAN(
        "skew",
        "F1 of each problem against its skew",
        REPORT.format("HINGE"),
        "Precision, recall and skew",
        drawings.forman_by_skew,
        HINGE,
    )
    for measure in ("f1", "precision"):
        for side, told in (("low", "up to 1:67"), ("high", "above 1:67")):
            command = REPORT.format("RESULTS --skew 67") + f" --measure {measure}"
            yield FORMAN(
                f"{measure}-{side}-skew",
                f"{measure_label(measure)} by number of terms, skew {told}",
                command,
                "Precision, recall and skew",
                partial(drawings.forman_side, measure, side),
                TEN,
            )


def _forman_choices() -> Iterator[PaperFigure]:
    for goal in forman2003.PAIRS:
        command, label = REPORT.format("HINGE") + f" --measure {goal}", measure_label(goal)
        printed = (
            " The paper prints 65 % for bns and 40 % for information_gain at 1 %." if goal == "f1" else ""
        )
        yield FORMAN(
            f"chances-{goal}",
            f"best chances: share of the problems within a tolerance of the best {label}",
            command,
            "Best chances",
            partial(drawings.forman_chances, goal),
            HINGE + printed,
        )
        yield FORMAN(
            f"pairs-{goal}",
            f"best pairs for {label}",
            command,
            "Best chances",
            partial(drawings.forman_pairs, goal),
            HINGE,
        )
    yield FORMAN(
        "residual",
        "residual wins: backups for information gain, precision",
        REPORT.format("HINGE") + " --measure precision",
        "Best chances",
        drawings.forman_backups,
        HINGE,
    )


def _forman_settings() -> Iterator[PaperFigure]:
    for measure in ("f1", "precision", "recall", "accuracy"):
        yield FORMAN(
            f"rare-{measure}",
            f"{measure_label(measure)} by the rare-word cut-off, 1 to 25",
            REPORT.format("RARE"),
            "Settings of the methods",
            partial(drawings.forman_setting, forman2003.RARE, "min_df", measure, 1000.0),
            "bns, 1,000 terms.",
        )
    for measure, size in (("precision", 20.0), ("recall", 1000.0), ("f1", 1000.0)):
        yield FORMAN(
            f"alpha-{measure}",
            f"{measure_label(measure)} by the weight alpha of positive terms",
            REPORT.format("ALPHA"),
            "Settings of the methods",
            partial(drawings.forman_setting, forman2003.ALPHA, "alpha", measure, size),
            f"bns, {size:,.0f} terms.",
        )
    yield FORMAN(
        "pilot",
        "F1 of the four learners of the pilot study",
        REPORT.format("PILOT"),
        "Curves by size, one learner at a time",
        drawings.forman_pilot,
        "Terms ranked by bns.",
    )


def _forman_terms() -> Iterator[PaperFigure]:
    place = "Words and metrics over the ROC plane"
    words = (
        "SciPy's docstrings, class stats, the best 100 terms; crosses are stop words, dotted lines rare and "
        "common words. `termsieve report CORPUS` draws this map of a corpus without a study."
    )
    mapped = REPORT.format("RESULTS --data DATA --corpus NAME --class NAME")
    yield FORMAN(
        "roc-map",
        "ROC map of all words with the lines of the metrics",
        mapped,
        f"{place}, whole plane",
        partial(drawings.roc_map, False),
        words,
    )
    yield FORMAN(
        "roc-map-origin",
        "the same near the origin, where most words are",
        mapped,
        f"{place}, near the origin",
        partial(drawings.roc_map, True),
        words,
    )
    for metric in drawings.METRICS:
        yield FORMAN(
            f"contour-{metric}",
            f"contour map of {metric}",
            REPORT.format("RESULTS"),
            f"{place}, lines of equal score",
            partial(drawings.contour_map, metric),
            "A class of 100 documents among 1,100.",
        )
    yield FORMAN(
        "surface-bns",
        "the surface of bns above the ROC plane",
        REPORT.format("RESULTS"),
        f"{place}, the score of a metric",
        drawings.bns_surface,
        "A class of 100 documents among 1,100.",
    )


AMONG = "one of Figures 1 to 7"  # which of them is not known


def _zheng() -> Iterator[PaperFigure]:
    make = partial(PaperFigure, "zheng2004")
    families = {
        "ig": ("ig", "sig", "isig ideal"),
        "chi": ("chi", "cc", "icc ideal"),
        "ors": ("ors", "or", "ior ideal"),
    }
    command = REPORT.format("RESULTS") + " --measure f1_break_even"
    sides = "Positive and negative terms"
    units = {
        "ig": " The report has ig in bits, the table in nats.",
        "ors": " It has the squares of the report's log_odds_ratio.",
    }
    for number, (learner, average) in enumerate(
        (("nb", "micro"), ("nb", "macro"), ("lr", "micro"), ("lr", "macro")), 1
    ):
        for family, methods in families.items():
            yield make(
                f"{learner}-{average}-{family}",
                f"{average} F1 of {', '.join(methods)} with {learner.upper()}",
                command,
                "Curves by size",
                partial(drawings.zheng_curves, learner, average, methods),
                drawings.PRINTED,
                f"Table {number}",
            )
    for learner in ("nb", "lr"):
        yield make(
            f"{learner}-practical",
            f"micro F1 of icc practical beside chi and cc with {learner.upper()}",
            command,
            "Curves by size",
            partial(drawings.zheng_curves, learner, "micro", ("chi", "cc", "icc practical")),
            drawings.PRINTED,
            "Table 5",
        )
        yield make(
            f"ratio-{learner}",
            f"F1 against the share of positive terms, four categories, {learner.upper()}",
            command,
            "What was selected",
            partial(drawings.zheng_tuning, learner),
            "icc ideal, 50 terms.",
            AMONG,
        )
    yield make(
        "ratios",
        "the best ratio of each category",
        command,
        "What was selected",
        partial(drawings.zheng_ratios, ("icc ideal, nb", "icc ideal, lr")),
        "icc ideal, 50 terms. The paper prints four of them.",
        AMONG,
    )
    yield make(
        "implied",
        "the ratio that chi, ig and ors imply",
        REPORT.format("RESULTS --data DATA"),
        f"{sides}, the share of positive terms that metrics imply",
        partial(drawings.zheng_ratios, ("chi", "ig", "ors")),
        "50 terms.",
        AMONG,
    )
    for metric in zheng2004.SCORES:
        yield make(
            f"table7-{metric}",
            f"the largest {metric} of positive and of negative terms",
            REPORT.format("RESULTS --data DATA"),
            f"{sides}, the largest scores of positive and of negative terms",
            partial(drawings.zheng_scores, metric),
            "One point per category. `termsieve study verify zheng2004 RESULTS --cells` prints both numbers."
            + units.get(metric, ""),
            "Table 7",
        )


def _uchyigit() -> Iterator[PaperFigure]:
    make = partial(PaperFigure, "uchyigit2007")
    readings = {
        ("uchyigit2007", "nb"): "kept",
        ("uchyigit2007", "nb(all)"): "kept-all",
        ("uchyigit2007_stopped", "nb"): "removed",
        ("uchyigit2007_stopped", "nb(all)"): "removed-all",
    }
    numbers = {"f1": "Figure 3", "f2": "Figure 4"}  # those of precision and recall are not known
    for measure in ("f1", "f2", "precision", "recall"):
        for (plan, learner), name in readings.items():
            if measure == "f1" or name == "kept":
                words = "kept" if plan == "uchyigit2007" else "removed"
                yield make(
                    f"{measure}-{name}",
                    f"{measure_label(measure)} by number of terms, stop words {words}, {learner}",
                    REPORT.format(words.upper()) + f" --measure {measure}",
                    "Curves by size",
                    partial(drawings.uchyigit_curves, measure, plan, learner),
                    "The paper prints no numbers.",
                    numbers.get(measure, ""),
                )


def _mladenic() -> Iterator[PaperFigure]:
    make = partial(PaperFigure, "mladenic2004")
    plans = {
        "mladenic2004": "RCV1",
        "mladenic2004_reuters": "REUTERS",
        "mladenic2004_newsgroups": "NEWSGROUPS",
    }
    told = {"RCV1": "RCV1", "REUTERS": "Reuters", "NEWSGROUPS": "20 Newsgroups"}
    for plan, results in plans.items():
        for learner in ("nb", "perceptron", "svm"):
            measure = "f1_break_even" if (plan, learner) == ("mladenic2004", "nb") else "f1"
            printed = (
                " The paper's best of each ranking, on its own 800,000 documents." if measure != "f1" else ""
            )
            yield make(
                f"{results.lower()}-{learner}",
                f"{measure_label(measure)} by sparsity with {learner}, {told[results]}",
                REPORT.format(results) + f" --measure {measure}",
                "Curves by size",
                partial(drawings.mladenic_curves, plan, learner, measure),
                f"Eight rankings.{printed}",
            )
    for measure in ("precision", "recall"):
        yield make(
            f"reuters-svm-{measure}",
            f"{measure} by sparsity with svm, Reuters",
            REPORT.format("REUTERS"),
            "Curves by size",
            partial(drawings.mladenic_curves, "mladenic2004_reuters", "svm", measure),
            "Eight rankings.",
        )
    yield make(
        "terms",
        "F1 by number of terms instead of sparsity",
        REPORT.format("REUTERS"),
        "Curves by size, by number of terms instead of sparsity",
        drawings.mladenic_by_terms,
        "Naive Bayes, Reuters.",
    )
    yield make(
        "sparsity",
        "sparsity as a function of the number of terms",
        REPORT.format("REUTERS"),
        "Curves by size, sparsity of the selections by number of terms",
        drawings.mladenic_sparsity,
        "Means over the 60 categories of Reuters. With `--data DATA` the report also draws one class at each "
        "number of terms.",
    )
    memory = {
        "mladenic2004_memory": "MEMORY",
        "mladenic2004_memory_reuters": "MEMORY_REUTERS",
        "mladenic2004_memory_newsgroups": "MEMORY_NEWSGROUPS",
    }
    for plan, results in memory.items():
        where = {"MEMORY": "RCV1", "MEMORY_REUTERS": "Reuters"}.get(results, "20 Newsgroups")
        for learner in ("svm", "nb", "perceptron"):
            measure = "f1_break_even" if (results, learner) == ("MEMORY", "nb") else "f1"
            yield make(
                f"{results.lower().replace('_', '-')}-{learner}",
                f"F1 by share of the documents under a memory budget, {learner}, {where}",
                REPORT.format(results),
                "Curves by size",
                partial(drawings.mladenic_memory, plan, learner, measure),
                "M/2: half of the full training matrix.",
            )


def _li() -> Iterator[PaperFigure]:
    make = partial(PaperFigure, "li2009")
    for corpus in drawings.CORPORA:
        yield make(
            f"{corpus}",
            f"accuracy by number of terms, {corpus}",
            REPORT.format("RESULTS") + " --measure accuracy",
            "Curves by size",
            partial(drawings.li_curves, corpus),
            "One split, as in the paper.",
        )
    for corpus in drawings.CORPORA:
        if corpus != "20_newsgroups":
            yield make(
                f"{corpus}-splits",
                f"accuracy by number of terms, {corpus}, ten splits",
                REPORT.format("SPLITS") + " --measure accuracy",
                "Curves by size",
                partial(drawings.li_splits, corpus),
                "Bands are standard errors.",
            )
    yield make(
        "lambda",
        "the learned lambda by number of terms",
        REPORT.format("RESULTS"),
        "What was selected",
        drawings.li_lambdas,
        drawings.PRINTED,
    )


FIGURES: dict[str, tuple[PaperFigure, ...]] = {
    "forman2003": (*_forman_curves(), *_forman_choices(), *_forman_settings(), *_forman_terms()),
    "zheng2004": tuple(_zheng()),
    "uchyigit2007": tuple(_uchyigit()),
    "mladenic2004": tuple(_mladenic()),
    "li2009": tuple(_li()),
}


def small_svg(text: str) -> str:
    """Return an SVG without what nobody sees; the words and numbers that it shows stay as they are."""
    text = EMPTY.sub("", text)
    text = TAG.sub(lambda tag: LONG.sub(r"\1", UNSEEN.sub("", tag[0])), text)
    text = LINES.sub(_joined_lines, text)
    return text.replace("<svg", f"<svg{''.join(FONT)}", 1)


def _joined_lines(run: re.Match[str]) -> str:
    """Return one path for lines with the same look; all if one of them is not of the usual form."""
    found = re.findall(LINE, run[0])
    if run[0].count("<line") != len(found) or len({look for *_, look in found}) > 1:
        return run[0]
    steps = "".join(f"M{start}l{x},{y}" for start, x, y, _ in found)
    return f'<path d="{steps}"{run[4]}/>'


def write_pictures(papers: Iterable[str]) -> None:
    """Draw the figures of some papers."""
    (DOCS / FOLDER).mkdir(parents=True, exist_ok=True)
    for figure in (figure for paper in papers for figure in FIGURES[paper]):
        path = DOCS / figure.picture
        charts.save(figure.draw(), path)
        path.write_text(small_svg(path.read_text(encoding="utf-8")), encoding="utf-8")
