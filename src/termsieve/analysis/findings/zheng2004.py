"""Results of the plans of zheng2004 come in; its findings, and its tables beside ours, go out."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from termsieve.analysis.findings.evidence import (
    Reading,
    UntestedError,
    Verdict,
    finding,
    judged,
    paper_figures,
    told,
)
from termsieve.analysis.ratios import largest_scores
from termsieve.analysis.values import BREAK_EVEN, problem_means
from termsieve.counts import Counts
from termsieve.metrics import direction
from termsieve.studies.results import Results

PAPER = "zheng2004"
WORDS, EVERY = "zheng2004_words", "zheng2004_all"
LARGEST = ("earn", "acq")  # the paper's averages leave them out
LEARNERS = {"nb": "nb(quotient)", "lr": "lr"}
SIGNED = {
    "isig": "signed_information_gain",
    "icc": "correlation_coefficient",
    "ior": "log_odds_ratio",
}
METHODS = {
    "ig": "information_gain(smoothing=0.5)",
    "chi": "chi_squared",
    "ors": "log_odds_ratio_squared",
    **{name[1:]: f"{metric} side=positive" for name, metric in SIGNED.items()},
    **{
        f"{name} {told_as}": f"ratio({metric}, {scenario})"
        for name, metric in SIGNED.items()
        for told_as, scenario in (("ideal", "ideal"), ("practical", "practical"), ("cross-validated", "cv"))
    },
    "all terms": "all",
}
STANDARD = {"isig": ("ig", "sig"), "icc": ("chi", "cc"), "ior": ("ors", "or")}
SIZES = (10, 20, 30, 40, 50, 100, 200, 500, 1000, 2000, 3000)
SCORES = {
    "ig": "information_gain(smoothing=0.5, nats=True)",
    "chi": "chi_squared",
    "ors": "log_odds_ratio",  # by its own smoothed sign, then squared
}
# F1 at 50 terms of the two largest categories: chi, cc, icc ideal, icc practical.
LARGEST_FIGURES = {
    ("nb", "earn"): (0.957, 0.914, 0.958, 0.956),
    ("nb", "acq"): (0.871, 0.819, 0.917, 0.907),
    ("lr", "earn"): (0.971, 0.959, 0.974, 0.970),
    ("lr", "acq"): (0.897, 0.858, 0.926, 0.926),
}
BEST_IDEAL = {
    ("lr", "isig"): 0.81,
    ("lr", "icc"): 0.812,
    ("lr", "ior"): 0.816,
    ("nb", "isig"): 0.763,
    ("nb", "icc"): 0.77,
    ("nb", "ior"): 0.768,
}
RATIOS = {"money-fx": 0.95, "grain": 0.95, "dmk": 0.1, "lumber": 0.2}


def _methods(*names: str) -> tuple[str, ...]:
    return tuple(METHODS[name] for name in names)


def cells(results: Results, data: str | os.PathLike[str] | None) -> pl.DataFrame:
    """Return the cells of Tables 1 to 5 and 7 and the other printed figures beside ours."""
    plan = results.manifest["name"]
    reading = Reading(results, data=data, leave_out=LARGEST)
    if plan == EVERY:
        return pl.DataFrame(_every_category(Reading(results)))
    if plan not in (PAPER, WORDS):
        return pl.DataFrame()
    records = _averages(reading, "" if plan == PAPER else " (words, ties whole)")
    if plan == PAPER:
        records += _largest_categories(reading) + _best_ideal(reading) + _ratios(reading)
        records += _largest_scores(reading)
    return pl.DataFrame(records)


def _cell(table: str, row: str, column: str, paper: float, ours: float) -> dict[str, Any]:
    return {"table": table, "row": row, "column": column, "paper": paper, "ours": ours}


def _average(reading: Reading, learner: str, average: str, method: str, terms: int | None) -> float:
    return reading.value(METHODS[method], terms, BREAK_EVEN, average, LEARNERS[learner])  # type: ignore[arg-type]


def _averages(reading: Reading, note: str) -> list[dict[str, Any]]:
    records = []
    for table, learner, average, method, terms, paper in paper_figures("zheng2004").iter_rows():
        try:
            ours = _average(reading, learner, average, method, terms)
        except UntestedError:
            continue
        row = f"{learner} {average} {method}"
        records.append(_cell(f"Table {table}{note}", row, str(terms or "all"), paper, ours))
    return records


def _per_category(reading: Reading, learner: str, method: str) -> pl.DataFrame:
    """Return F1 at break-even of each category and size."""
    rows = reading.rows.filter(
        pl.col("learner") == LEARNERS[learner],
        pl.col("method") == METHODS[method],
        pl.col("size_kind") == "k",
    )
    if rows.is_empty():
        raise UntestedError(f"the results have no {method} with {learner}")
    return problem_means(rows, BREAK_EVEN).select("problem", "size", "value")


def _largest_categories(reading: Reading) -> list[dict[str, Any]]:
    """Return F1 of earn and acq at 50 terms."""
    rows = reading.every_row.filter(pl.col("size") == 50)
    if rows.is_empty():
        return []
    values = problem_means(rows, BREAK_EVEN)
    records = []
    for (learner, category), figures in LARGEST_FIGURES.items():
        for method, paper in zip(("chi", "cc", "icc ideal", "icc practical"), figures, strict=True):
            ours = values.filter(
                pl.col("problem") == category,
                pl.col("learner") == LEARNERS[learner],
                pl.col("method") == METHODS[method],
            )["value"]
            if len(ours):
                records.append(_cell("F1 at 50 terms", f"{learner} {category}", method, paper, ours[0]))
    return records


def _best_ideal(reading: Reading) -> list[dict[str, Any]]:
    """Return the best micro F1 over the sizes of each ideal method that has results of all categories."""
    records = []
    for (learner, name), paper in BEST_IDEAL.items():
        try:
            ours = max(_average(reading, learner, "micro", f"{name} ideal", size) for size in SIZES)
        except UntestedError:
            continue
        records.append(_cell("Best ideal micro F1", f"{learner} {name}", "over sizes", paper, ours))
    return records


def _chosen(reading: Reading, learner: str, scenario: str) -> pl.DataFrame:
    """Return the ratio that icc chose for each category at 50 terms."""
    chosen = reading.results.selections(method=METHODS[f"icc {scenario}"], size=50.0).collect()
    chosen = chosen.filter(
        pl.col("learner") == LEARNERS[learner], ~pl.col("problem").is_in(reading.leave_out)
    )
    if chosen.is_empty():
        raise UntestedError("the results have no selections of icc at 50 terms")
    return chosen.select("problem", "ratio")


def _ratios(reading: Reading) -> list[dict[str, Any]]:
    try:
        chosen = dict(_chosen(reading, "nb", "ideal").iter_rows())
    except UntestedError:
        return []
    return [
        _cell("Best ratio at 50 terms", "nb icc ideal", category, paper, chosen[category])
        for category, paper in RATIOS.items()
        if category in chosen
    ]


def _every_category(reading: Reading) -> list[dict[str, Any]]:
    """Return the micro averages over all 90 categories."""
    chi, everything = (
        _average(reading, learner, "micro", method, terms)
        for learner, method, terms in (("nb", "chi", 2000), ("lr", "all terms", None))
    )
    return [
        _cell("All 90 categories, micro F1", "nb chi", "2000", 0.804, chi),
        _cell("All 90 categories, micro F1", "lr all terms", "all", 0.854, everything),
    ]


def _largest_scores(reading: Reading) -> list[dict[str, Any]]:
    """Return Table 7: the largest ig, chi and squared or of a positive and of a negative term."""
    try:
        counts = reading.counts("reuters")
    except UntestedError:
        return []
    return largest_score_cells(counts, "Table 7")


def largest_score_cells(counts: Counts, table: str) -> list[dict[str, Any]]:
    """Return the cells of Table 7 by some counts of the training documents."""
    sizes = dict(zip(map(str, counts.classes), counts.pos.tolist(), strict=True))
    ranked = sorted(sizes, key=lambda name: (-sizes[name], name))
    paper = paper_figures("zheng2004_table7")
    wanted = [ranked[place - 1] for place in paper["category_rank"]]
    ours = largest_scores(counts.take(wanted), list(SCORES.values()))
    values = {(row["class"], row["metric"]): row for row in ours.iter_rows(named=True)}
    metrics = {name: ours["metric"].unique(maintain_order=True)[i] for i, name in enumerate(SCORES)}
    records = []
    for category, row in zip(wanted, paper.iter_rows(named=True), strict=True):
        for name, metric in metrics.items():
            for side in ("positive", "negative"):
                found = values[category, metric][f"{side}_score"] or 0.0
                found = found**2 if name == "ors" else found
                records.append(_cell(table, category, f"{name} {side}", row[f"{name}_{side}"], found))
    return records


@finding(
    PAPER,
    "Tables 1 to 4",
    "combined on purpose, with the best ratio of 21, positive and negative terms beat both standard forms "
    "at every size, micro and macro",
    PAPER,
    WORDS,
    leave_out=LARGEST,
    methods=_methods("ig", "sig", "chi", "cc", "ors", "or", "isig ideal", "icc ideal", "ior ideal"),
)
def combined_beats_standard(reading: Reading) -> Verdict:
    """Compare isig, icc and ior ideal with the two standard forms of each."""
    wins, tries = 0, 0
    gaps = []
    for learner in LEARNERS:
        for average in ("micro", "macro"):
            for name, standard in STANDARD.items():
                for size in SIZES:
                    best = _average(reading, learner, average, f"{name} ideal", size)
                    for other in standard:
                        gaps.append(best - _average(reading, learner, average, other, size))
                        wins, tries = wins + (gaps[-1] > 0), tries + 1
    return judged(
        [wins == tries, wins > tries / 2],
        f"{wins} of {tries} comparisons; the gain is {told(min(gaps))} to {told(max(gaps))}",
    )


@finding(
    PAPER,
    "Table 5",
    "icc with the ratio chosen on the training documents (practical) beats chi and cc with both learners "
    "(Wilcoxon over categories, .05)",
    PAPER,
    leave_out=LARGEST,
    methods=_methods("chi", "cc", "icc practical"),
)
def practical_beats_standard(reading: Reading) -> Verdict:
    """Test the categories' mean F1 over the sizes, and each size alone."""
    parts, figures = [], []
    for learner in LEARNERS:
        ours = _per_category(reading, learner, "icc practical")
        for other in STANDARD["icc"]:
            pairs = ours.join(_per_category(reading, learner, other), on=["problem", "size"])
            gap = pairs.with_columns(gap=pl.col("value") - pl.col("value_right"))
            means = gap.group_by("problem").agg(pl.col("gap").mean()).sort("problem")["gap"].to_numpy()
            p = float(stats.wilcoxon(means).pvalue)
            alone = [
                bool(part["gap"].mean() > 0 and stats.wilcoxon(part["gap"].to_numpy()).pvalue < 0.05)  # type: ignore[operator]
                for part in gap.partition_by("size")
                if part["gap"].abs().max()
            ]
            parts.append(means.mean() > 0 and p < 0.05)
            figures.append(
                f"{learner}, over {other}: {told(means.mean())}, p = {p:.2g}; alone at {sum(alone)} sizes"
            )
    return judged(parts, "; ".join(figures))


@finding(
    PAPER,
    "Section on scenarios",
    "cross-validation should choose better ratios than the training documents do",
    PAPER,
    leave_out=LARGEST,
    methods=_methods("icc practical", "icc cross-validated"),
)
def folds_beat_training(reading: Reading) -> Verdict:
    """Compare the categories' mean F1 over the sizes of icc under both scenarios."""
    sizes = reading.results.corpora["reuters"]["classes"]
    parts, figures = [], []
    for learner in LEARNERS:
        pair = _per_category(reading, learner, "icc cross-validated").join(
            _per_category(reading, learner, "icc practical"), on=["problem", "size"]
        )
        gap = pair.with_columns(gap=pl.col("value") - pl.col("value_right"))
        table = gap.group_by("problem").agg(pl.col("gap").mean()).sort("problem")
        means = table["gap"].to_numpy()
        p = float(stats.wilcoxon(means).pvalue)
        parts.append(means.mean() > 0 and p < 0.05)
        order = np.argsort([-sizes[name] for name in table["problem"]], kind="stable")
        large, small = (told(means[half].mean()) for half in np.array_split(order, 2))
        halves = f"{large} in the larger and {small} in the smaller half of the categories"
        figures.append(f"{learner}: {told(means.mean())}, p = {p:.2g}; {halves}")
    return judged(parts, f"{pair['size'].n_unique()} sizes; {'; '.join(figures)}")


@finding(
    PAPER,
    "Figures of the ratio by category",
    "the best ratio falls as categories get rarer (NB, icc ideal, 50 terms)",
    PAPER,
    leave_out=LARGEST,
    methods=_methods("icc ideal"),
)
def ratio_falls(reading: Reading) -> Verdict:
    """Correlate the ratios with the places of the categories by size."""
    chosen = _chosen(reading, "nb", "ideal")
    sizes = reading.results.corpora["reuters"]["classes"]
    ratio = chosen["ratio"].to_numpy()
    size = np.array([sizes[name] for name in chosen["problem"]])
    test = stats.spearmanr(size, ratio)
    half = np.argsort(-size, kind="stable")
    first, second = (ratio[part].mean() for part in np.array_split(half, 2))
    figures = (
        f"Spearman's correlation of size and ratio {told(test.statistic, 2)}, p = {test.pvalue:.2g}; mean "
        f"ratio {told(first, 2)} in the larger and {told(second, 2)} in the smaller half of the categories"
    )
    return judged([test.statistic > 0 and test.pvalue < 0.05, first > second], figures)


@finding(
    PAPER,
    "Figures of the ratio by category",
    "the best ratio of a category differs between NB and LR",
    PAPER,
    leave_out=LARGEST,
    methods=_methods("icc ideal"),
)
def ratio_differs(reading: Reading) -> Verdict:
    """Compare the ratios that icc ideal chose with the two learners."""
    both = _chosen(reading, "nb", "ideal").join(_chosen(reading, "lr", "ideal"), on="problem")
    gap = (both["ratio"] - both["ratio_right"]).abs()
    share, far = float((gap > 0).mean()), float((gap > 0.2).mean())  # type: ignore[arg-type]
    figures = f"in {share:.0%} of {both.height} categories, in {far:.0%} by more than .2"
    return judged([share > 0.5], figures)


@finding(
    PAPER,
    "Table 6",
    "at 50 terms chi takes only positive terms in 56 of the 58 categories",
    PAPER,
    leave_out=LARGEST,
    methods=_methods("chi"),
)
def chi_takes_positive_terms(reading: Reading) -> Verdict:
    """Count the categories whose 50 terms by chi are all positive."""
    counts = reading.counts("reuters")
    names = {str(name): c for c, name in enumerate(counts.classes)}
    terms = {term: column for column, term in enumerate(map(str, counts.names()))}
    vocabulary = reading.results.vocabulary("reuters")
    chosen = reading.results.selections(method=METHODS["chi"]).collect()
    chosen = chosen.filter(~pl.col("problem").is_in(reading.leave_out))
    only = 0
    for category, selected in chosen.select("problem", "terms").iter_rows():
        c = names[category]
        columns = [terms[vocabulary[column]] for column in selected[:50]]
        tp = np.asarray(counts.take([c]).tp)[0, columns]
        sign = direction(tp, counts.df[columns] - tp, counts.pos[c], counts.neg[c])
        only += bool((sign > 0).all())
    return judged([abs(only - 56) <= 2], f"in {only} of {chosen.height} (paper 56 of 58)")


@finding(
    PAPER,
    "F1 of earn and acq at 50 terms",
    "in the two largest categories icc ideal beats chi and cc with both learners",
    PAPER,
    methods=_methods("chi", "cc", "icc ideal"),
)
def largest_gain_too(reading: Reading) -> Verdict:
    """Compare the F1 of earn and acq."""
    found = {(cell["row"], cell["column"]): cell["ours"] for cell in _largest_categories(reading)}
    if not found:
        raise UntestedError("the results have no earn and acq")
    parts, figures = [], []
    for learner in LEARNERS:
        for category in LARGEST:
            row = f"{learner} {category}"
            others = [found[row, name] for name in STANDARD["icc"]]
            parts += [found[row, "icc ideal"] > value for value in others]
            figures.append(
                f"{row} {told(found[row, 'icc ideal'])} against {', '.join(told(value) for value in others)}"
            )
    return judged(parts, "; ".join(figures))
