"""Results of the plans of mladenic2004 come in; its findings, and its printed figures beside ours, go out."""

from __future__ import annotations

import os
from typing import Any

import polars as pl
from scipy import stats

from termsieve.analysis.findings.evidence import (
    Reading,
    Register,
    UntestedError,
    Verdict,
    finding,
    judged,
    told,
)
from termsieve.analysis.values import BREAK_EVEN, problem_means
from termsieve.studies.results import Results

PAPER = "mladenic2004"
PLANS = (PAPER, "mladenic2004_reuters", "mladenic2004_newsgroups")
MEMORY = ("mladenic2004_memory", "mladenic2004_memory_reuters", "mladenic2004_memory_newsgroups")
WEIGHTS = (PAPER, "mladenic2004_memory")  # on RCV1, which has weights and no counts
OR, IG = "word_odds_ratio side=positive", "information_gain"
SVM, PERCEPTRON = ("weight(svm, {})", "weight(perceptron, {})")
SAMPLES = {"1": "1", "1/4": "0.25", "1/16": "0.0625"}
RANKINGS = {
    "odds ratio": OR,
    "ig": IG,
    **{f"svm-{name}": SVM.format(value) for name, value in SAMPLES.items()},
    **{f"perceptron-{name}": PERCEPTRON.format(value) for name, value in SAMPLES.items()},
}
# Best macro F1 of naive Bayes by ranking, on the paper's own 800,000 documents.
BEST_NB = {
    "odds ratio": 0.468,
    "ig": 0.465,
    "svm-1/16": 0.521,
    "svm-1/4": 0.536,
    "svm-1": 0.542,
    "perceptron-1": 0.501,
    "perceptron-1/4": 0.489,
    "perceptron-1/16": 0.472,
}
# The number of terms per document at which these were reached, where we know it.
BEST_LEVELS = {"odds ratio": 20.0, "ig": 2.5, "svm-1/16": 5.0, "svm-1/4": 5.0, "svm-1": 5.0}
BEST_LEVELS |= {"perceptron-1/16": 10.0}
# Macro F1 of the SVM by budget (M/2, M/4) and share of the documents, on the same 800,000.
MEMORY_SVM = {(4, 0.25): 0.652, (4, 0.5): 0.665, (4, 1.0): 0.670, (2, 0.5): 0.673, (2, 1.0): 0.684}
LEVELS = (2.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0)


def cells(results: Results, data: str | os.PathLike[str] | None) -> pl.DataFrame:
    """Return the best F1 of naive Bayes by ranking with its level, and the SVM's F1 by memory budget.

    The corpora are others than the paper's, so only the order compares. On RCV1 naive Bayes is at break-even.
    """
    reading = Reading(results)
    if reading.plan in MEMORY:
        return pl.DataFrame(_memory_cells(reading))
    if reading.plan not in PLANS:
        return pl.DataFrame()
    records = []
    for name, paper in BEST_NB.items():
        try:
            ours = _best(reading, "nb", name, goal_of(reading, "nb"))
        except UntestedError:
            continue
        head = {"table": f"Best F1 of nb ({reading.plan})", "row": name}
        level = best_level(reading, "nb", name, goal_of(reading, "nb"))
        records.append(head | {"column": "best", "paper": paper, "ours": ours})
        records.append(head | {"column": "terms per document", "paper": BEST_LEVELS.get(name), "ours": level})
    return pl.DataFrame(records)


def _memory_cells(reading: Reading) -> list[dict[str, Any]]:
    records = []
    for (budget, share), paper in MEMORY_SVM.items():
        try:
            ours = reading.value(f"memory(svm, {budget})", share, learner="svm")
        except UntestedError:
            continue
        head = {"table": f"F1 of svm under a budget ({reading.plan})", "row": f"M/{budget}"}
        records.append(head | {"column": f"{share:g} of the documents", "paper": paper, "ours": ours})
    return records


def _claim(where: str, claim: str) -> Register:
    return finding(PAPER, where, claim, *PLANS)


def _at(reading: Reading, learner: str, ranking: str, level: float, measure: str) -> float:
    return reading.value(RANKINGS[ranking], level, measure, learner=learner)


def _best(reading: Reading, learner: str, ranking: str, measure: str) -> float:
    return max(_at(reading, learner, ranking, level, measure) for level in LEVELS)


def goal_of(reading: Reading, learner: str) -> str:
    """Return the measure of a learner: F1 at its own threshold; for naive Bayes on weights, at break-even.

    A document's weights add up to so little that the prior decides at naive Bayes' own threshold.
    """
    return BREAK_EVEN if learner == "nb" and reading.plan in WEIGHTS else "f1"


def best_level(reading: Reading, learner: str, ranking: str, measure: str) -> float:
    """Return the number of terms per document with the greatest mean of the measure."""
    return max(LEVELS, key=lambda level: _at(reading, learner, ranking, level, measure))


def class_gains(
    reading: Reading, learner: str, ranking: str, measure: str, level: float, other: str | None = None
) -> pl.DataFrame:
    """Return for each class what a ranking gains at one level over all terms, or over another ranking.

    The other ranking is cut at its own best level. The columns are problem, positives (of the test
    documents), gain.
    """
    rows = reading.rows.filter(pl.col("learner") == learner)
    values = problem_means(rows, measure)
    ours = values.filter(pl.col("method") == RANKINGS[ranking], pl.col("size") == level)
    name, size = ("all", None) if other is None else (RANKINGS[other], None)
    if other is not None:
        size = best_level(reading, learner, other, measure)
    theirs = values.filter(pl.col("method") == name, pl.col("size").eq_missing(size))
    positives = rows.group_by("problem").agg(positives=(pl.col("tp") + pl.col("fn")).max())
    pairs = ours.join(theirs, on="problem").join(positives, on="problem").sort("problem")
    return pairs.select("problem", "positives", gain=pl.col("value") - pl.col("value_right"))


def p_value(gains: pl.DataFrame) -> float:
    """Return the p-value of the gains over the classes by Wilcoxon's signed-rank test."""
    values = gains["gain"].to_numpy()
    return float(stats.wilcoxon(values).pvalue) if values.any() else 1.0


@_claim("naive Bayes", "naive Bayes gains by selection")
def nb_gains(reading: Reading) -> Verdict:
    """Compare the best ranking and level with all terms, and test it over the classes."""
    goal = goal_of(reading, "nb")
    value, name = max((_best(reading, "nb", name, goal), name) for name in RANKINGS)
    everything = reading.value("all", None, goal, learner="nb")
    level = best_level(reading, "nb", name, goal)
    p = p_value(class_gains(reading, "nb", name, goal, level))
    figures = f"{name} {told(value)} at {level:g}, all terms {told(everything)}, p = {p:.1g}"
    return judged([value > everything, value > everything and p < 0.05], figures)


@_claim("naive Bayes", "svm-1 is the best ranking for naive Bayes")
def svm_best_for_nb(reading: Reading) -> Verdict:
    """Compare the best level of each ranking; test the first against the second over the classes."""
    goal = goal_of(reading, "nb")
    values = {name: _best(reading, "nb", name, goal) for name in RANKINGS}
    ordered = sorted(values.items(), key=lambda item: -item[1])
    figures = ", ".join(f"{name} {told(value)}" for name, value in ordered[:4])
    first, second = ordered[0][0], ordered[1][0]
    level = best_level(reading, "nb", first, goal)
    p = p_value(class_gains(reading, "nb", first, goal, level, second))
    return judged([first == "svm-1"], f"{figures}; {first} over {second}: p = {p:.1g}")


@_claim("naive Bayes", "the more documents the ranking model is trained on, the better for naive Bayes")
def more_documents_rank_better(reading: Reading) -> Verdict:
    """Compare the samples of each model."""
    goal = goal_of(reading, "nb")
    parts, figures = [], []
    for model in ("svm", "perceptron"):
        values = [_best(reading, "nb", f"{model}-{name}", goal) for name in SAMPLES]
        parts += [values[0] > values[1], values[1] > values[2]]
        figures.append(f"{model} {', '.join(told(value) for value in values)}")
    return judged(parts, "; ".join(figures) + " with 1, 1/4 and 1/16")


@_claim("naive Bayes", "rankings by an SVM are above those by a perceptron from the same sample")
def svm_ranks_better(reading: Reading) -> Verdict:
    """Compare the two models with each sample."""
    goal = goal_of(reading, "nb")
    parts, figures = [], []
    for name in SAMPLES:
        pair = [_best(reading, "nb", f"{model}-{name}", goal) for model in ("svm", "perceptron")]
        parts.append(pair[0] > pair[1])
        figures.append(f"{name}: {told(pair[0])} and {told(pair[1])}")
    return judged(parts, "; ".join(figures))


@_claim("three learners", "naive Bayes at its best cannot match the perceptron with all terms")
def nb_below_perceptron(reading: Reading) -> Verdict:
    """Compare the best of naive Bayes with the perceptron on all terms, both by the same measure."""
    goal = goal_of(reading, "nb")
    best = max(_best(reading, "nb", name, goal) for name in RANKINGS)
    other = reading.value("all", None, goal, learner="perceptron")
    return judged([best < other], f"{told(best)} against {told(other)}")


@_claim("perceptron", "the perceptron is hurt by selection")
def perceptron_is_hurt(reading: Reading) -> Verdict:
    """See at how many rankings the mean over the levels up to 20 is below all terms."""
    everything = reading.value("all", None, learner="perceptron")
    means = {
        name: sum(_at(reading, "perceptron", name, level, "f1") for level in LEVELS[:5]) / 5
        for name in RANKINGS
    }
    figures = ", ".join(f"{name} {told(value)}" for name, value in means.items())
    return judged(
        [value < everything for value in means.values()],
        f"mean of levels 2 to 20: {figures}; all terms {told(everything)}",
    )


@_claim("SVM", "the SVM loses little (at most .03) down to 10 terms per document, ranked by svm-1")
def svm_loses_little(reading: Reading) -> Verdict:
    """Compare levels 10 to 80 with all terms."""
    everything = reading.value("all", None, learner="svm")
    values = {level: _at(reading, "svm", "svm-1", level, "f1") for level in LEVELS[3:]}
    figures = ", ".join(f"{level:g}: {told(value)}" for level, value in values.items())
    return judged(
        [everything - value <= 0.03 for value in values.values()], f"{figures}; all {told(everything)}"
    )


def _above(reading: Reading, other: str, most: float) -> Verdict:
    levels = [level for level in LEVELS if level <= most]
    gaps = {
        level: _at(reading, "svm", "odds ratio", level, "f1") - _at(reading, "svm", other, level, "f1")
        for level in levels
    }
    figures = ", ".join(f"{level:g}: {told(gap)}" for level, gap in gaps.items())
    return judged([gap > 0 for gap in gaps.values()], f"difference at {figures}")


@_claim("SVM", "with the SVM odds ratio beats ig at 20 terms per document and below")
def odds_above_ig(reading: Reading) -> Verdict:
    """Compare the two at each level."""
    return _above(reading, "ig", 20)


@_claim("SVM", "with the SVM odds ratio beats svm-1/16 at 20 terms per document and below")
def odds_above_small_svm(reading: Reading) -> Verdict:
    """Compare the two at each level."""
    return _above(reading, "svm-1/16", 20)


@_claim("SVM", "with the SVM odds ratio beats svm-1 at 2.5 terms per document and below")
def odds_above_svm(reading: Reading) -> Verdict:
    """Compare the two at each level."""
    return _above(reading, "svm-1", 2.5)


def _memory(where: str, claim: str) -> Register:
    return finding(PAPER, where, claim, *MEMORY)


def _budgets(reading: Reading, learner: str) -> tuple[list[float], str]:
    """Return for each budget of half the matrix and below the share of the documents that is best."""
    best, figures = [], []
    for budget in (2, 4, 8, 16):
        method = f"memory(svm, {budget})"
        table = reading.curves(goal_of(reading, learner)).filter(
            pl.col("method") == method, pl.col("learner") == learner
        )
        if table.is_empty():
            raise UntestedError(f"the results have no {method} with {learner}")
        table = table.sort("value", descending=True)
        best.append(float(table["size"][0]))
        figures.append(f"M/{budget}: {told(table['value'][0])} with {best[-1]:g} of the documents")
    return best, "; ".join(figures)


@_memory("memory", "for any budget the SVM is best with all documents and fewer terms")
def svm_takes_documents(reading: Reading) -> Verdict:
    """See which share of the documents is best."""
    best, figures = _budgets(reading, "svm")
    return judged([share == 1 for share in best], figures)


@_memory("memory", "for any budget naive Bayes is best with all documents")
def nb_takes_documents(reading: Reading) -> Verdict:
    """See which share of the documents is best."""
    best, figures = _budgets(reading, "nb")
    return judged([share == 1 for share in best], figures)


@_memory("memory", "for any budget the perceptron is best with all terms of fewer documents")
def perceptron_takes_terms(reading: Reading) -> Verdict:
    """See which share of the documents is best."""
    best, figures = _budgets(reading, "perceptron")
    return judged([share == 1 / budget for share, budget in zip(best, (2, 4, 8, 16), strict=True)], figures)
