"""Results of the plans of li2009 come in; its findings, and its printed figures beside ours, go out."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from termsieve.analysis.findings.evidence import (
    Reading,
    Register,
    UntestedError,
    Verdict,
    finding,
    judged,
    paper_figures,
    told,
)
from termsieve.analysis.preference import preferences
from termsieve.analysis.values import problem_values
from termsieve.counts import Counts
from termsieve.ranking import rank
from termsieve.scores import score
from termsieve.studies.results import Results

PAPER, SPLITS = "li2009", "li2009_splits"
PLANS = (PAPER, SPLITS)
CORPORA = {"20ng": "20_newsgroups", "r2": "r2", "movie": "movies", "dvd": "dvd"}
IG, CHI, WLLR = "information_gain combine=joint", "chi_squared", "wllr"
MI, BNS, WFO = "mutual_information", "bns side=positive", "wfo(learned)"
LAMBDAS = {
    ("20_newsgroups", 500): 0.42,
    ("20_newsgroups", 10000): 0.28,
    ("20_newsgroups", 15000): 0.20,
    ("20_newsgroups", 20000): 0.08,
    ("20_newsgroups", 30000): 0.01,
    ("movies", 500): 0.50,
    ("dvd", 500): 0.34,
}
MIN_DF = 4
VOCABULARY = {"movies": 15176}  # terms in more than 3 documents


def cells(results: Results, data: str | os.PathLike[str] | None) -> pl.DataFrame:
    """Return Table 1, the vocabulary and the learned lambdas beside ours."""
    plan = results.manifest["name"]
    if plan not in PLANS:
        return pl.DataFrame()
    reading = Reading(results, data=data)
    records = _preferences(reading) if plan == PAPER else []
    printed = [cell for cell in lambda_cells(reading) if cell["paper"] is not None]
    return pl.DataFrame(records + printed, infer_schema_length=None)


def _cell(table: str, row: str, column: str, paper: float | None, ours: float) -> dict[str, Any]:
    return {"table": table, "row": row, "column": column, "paper": paper, "ours": ours}


def _preferences(reading: Reading) -> list[dict[str, Any]]:
    paper = paper_figures("li2009_table1")
    records = []
    for short, corpus in CORPORA.items():
        try:
            counts = reading.counts(corpus, whole=True)
        except UntestedError:
            continue
        kept = int((counts.df >= MIN_DF).sum())
        ours = {row["metric"]: row for row in preferences(counts).iter_rows(named=True)}
        for row in paper.filter(pl.col("corpus") == short).iter_rows(named=True):
            for column in ("df", "mi"):
                found = ours[row["metric"]][column]
                records.append(_cell("Table 1", f"{corpus} {row['metric']}", column, row[column], found))
        records.append(_cell("Vocabulary", corpus, "terms", VOCABULARY.get(corpus), kept))
        if short == "movie":
            records += _unsmoothed(counts, corpus, paper.filter(pl.col("corpus") == short))
    return records


def _unsmoothed(counts: Counts, corpus: str, paper: pl.DataFrame) -> list[dict[str, Any]]:
    """Return what Table 1 would be for mi and bns if mi were not smoothed."""
    plain = "mutual_information"
    rankings = {
        "mi": rank(score(counts, plain), min_df=MIN_DF),
        "bns": rank(score(counts, "bns"), side="positive", min_df=MIN_DF),
    }
    ours = {row["metric"]: row for row in preferences(counts, rankings, mi=plain).iter_rows(named=True)}
    printed = {row["metric"]: row for row in paper.iter_rows(named=True)}
    return [
        _cell("Table 1, mi not smoothed", f"{corpus} {name}", column, printed[name][column], row[column])
        for name, row in ours.items()
        for column in ("df", "mi")
    ]


def lambda_cells(reading: Reading) -> list[dict[str, Any]]:
    """Return every learned lambda, the mean of the splits, beside the paper's where it prints one."""
    label = "Lambda" if reading.plan == PAPER else "Lambda, mean of ten splits"
    return [
        _cell(label, corpus, f"{size:g}", LAMBDAS.get((corpus, int(size))), lam)
        for corpus, size, lam in _mean_lambdas(reading).iter_rows()
    ]


def _mean_lambdas(reading: Reading) -> pl.DataFrame:
    """Return corpus, size and the mean lambda over the splits, where all splits have one."""
    chosen = reading.results.selections(method=WFO).collect()
    means = chosen.group_by("corpus", "size").agg(pl.col("lam").mean(), n=pl.len()).sort("corpus", "size")
    return means.filter(pl.col("n") == pl.col("n").max()).drop("n")


def accuracies(reading: Reading, corpus: str) -> pl.DataFrame:
    """Return the mean accuracy of each method and size, with its standard error over the splits.

    A method that has not yet reached all splits at a size is left out there.
    """
    rows = reading.rows.filter(pl.col("corpus") == corpus)
    if rows.is_empty():
        raise UntestedError(f"the results have no {corpus}")
    values = problem_values(rows, "accuracy")
    spread = pl.col("value").std() / pl.len().sqrt()
    keys = ["method", "size_kind", "size"]
    table = values.group_by(keys).agg(pl.col("value").mean(), spread.alias("error"), n=pl.len())
    return table.filter(pl.col("n") == pl.col("n").max()).sort("method", "size", nulls_last=True)


def above(reading: Reading, corpus: str, size: float, first: str, second: str) -> tuple[float, float]:
    """Return the mean difference of two methods at one size, and its p-value over the splits.

    With one split the p-value is that of the difference of two shares of the same test documents.
    """
    rows = reading.rows.filter(pl.col("corpus") == corpus, pl.col("size") == size)
    values = problem_values(rows, "accuracy")
    a, b = (
        values.filter(pl.col("method") == name).sort("trial")["value"].to_numpy() for name in (first, second)
    )
    if not len(a) or len(a) != len(b):
        raise UntestedError(f"the results lack {first} or {second} on {corpus} at {size:g}")
    gap = float((a - b).mean())
    if len(a) > 1:
        return gap, 1.0 if np.ptp(a - b) == 0 else float(stats.ttest_rel(a, b).pvalue)
    documents = reading.results.corpora[corpus]["documents"] * 0.1
    share = float((a[0] + b[0]) / 2)
    spread = np.sqrt(max(2 * share * (1 - share) / documents, 1e-12))
    return gap, float(2 * stats.norm.sf(abs(gap) / spread))


def _claim(where: str, claim: str, **facts: Any) -> Register:
    return finding(PAPER, where, claim, *PLANS, **facts)


def _group(
    reading: Reading, corpus: str, sizes: tuple[int, ...], first: tuple[str, ...], second: tuple[str, ...]
) -> tuple[list[bool], str]:
    """Return whether the best of `first` is significantly above the best of `second` at each size."""
    parts, figures = [], []
    for size in sizes:
        values = reading.by_method(size, "accuracy", corpus=corpus)
        a, b = (max(names, key=lambda name: values.get(name, -1.0)) for names in (first, second))
        gap, p = above(reading, corpus, size, a, b)
        parts.append(gap > 0 and p < 0.05)
        figures.append(
            f"{corpus} at {size}: {a.split()[0]} {told(values[a])}, {b.split()[0]} {told(values[b])} "
            f"(p = {p:.1g})"
        )
    return parts, "; ".join(figures)


def _over_corpora(
    reading: Reading,
    sizes: dict[str, tuple[int, ...]],
    first: tuple[str, ...],
    second: tuple[str, ...],
) -> Verdict:
    parts: list[bool] = []
    figures = []
    for corpus, own in sizes.items():
        try:
            more, said = _group(reading, corpus, own, first, second)
        except UntestedError:
            continue
        parts += more
        figures.append(said)
    if not parts:
        raise UntestedError(f"the results have none of {', '.join(sizes)}")
    return judged(parts, "; ".join(figures))


@_claim(
    "accuracy by number of terms",
    "with few terms ig, chi and wllr lead over mi and bns",
    methods=(IG, CHI, WLLR, MI, BNS),
    corpora=("20_newsgroups", "movies", "dvd"),
)
def few_terms(reading: Reading) -> Verdict:
    """Compare the best of each group at every size below 1,000; a lead must be significant."""
    sizes = {"20_newsgroups": (200, 500), "movies": (50, 200, 500), "dvd": (20, 50, 100, 500)}
    return _over_corpora(reading, sizes, (IG, CHI, WLLR), (MI, BNS))


@_claim(
    "accuracy by number of terms",
    "with many terms mi and bns lead on 20 Newsgroups and movies",
    methods=(IG, CHI, WLLR, MI, BNS),
    corpora=("20_newsgroups", "movies"),
)
def many_terms(reading: Reading) -> Verdict:
    """Compare the best of each group at the largest sizes; a lead must be significant."""
    sizes = {"20_newsgroups": (10000, 15000, 20000, 30000), "movies": (7000, 10000, 13000)}
    return _over_corpora(reading, sizes, (MI, BNS), (IG, CHI, WLLR))


@_claim(
    "accuracy by number of terms",
    "with many terms ig and chi lead on DVD",
    methods=(IG, CHI, MI, BNS),
    corpora=("dvd",),
)
def many_terms_dvd(reading: Reading) -> Verdict:
    """Compare the best of each group at the largest sizes; a lead must be significant."""
    return _over_corpora(reading, {"dvd": (1500, 2000, 3000, 4000)}, (IG, CHI), (MI, BNS))


@_claim("accuracy by number of terms", "wfo is at or near the top everywhere")
def wfo_near_top(reading: Reading) -> Verdict:
    """Count where wfo is first or not significantly below the first."""
    near, worst, tries = 0, (0.0, "", 0.0), 0
    for corpus in CORPORA.values():
        if corpus not in reading.rows["corpus"].unique():
            continue
        for size in accuracies(reading, corpus).filter(pl.col("method") == WFO)["size"]:
            first = next(iter(reading.by_method(size, "accuracy", corpus=corpus)))
            gap, p = (0.0, 1.0) if first == WFO else above(reading, corpus, size, first, WFO)
            tries, near = tries + 1, near + (gap <= 0 or p >= 0.05)
            worst = max(worst, (gap, corpus, size))
    if not tries:
        raise UntestedError("the results have no wfo")
    figures = (
        f"first or not significantly below it at {near} of {tries} sizes; at most {told(worst[0])} below, on "
        f"{worst[1]} at {worst[2]:g}"
    )
    return judged([near == tries, near > tries / 2], figures)


@_claim("accuracy by number of terms", "on R2 all methods reach about 98 %", corpora=("r2",))
def r2_is_easy(reading: Reading) -> Verdict:
    """Take the accuracies from 100 terms on; within .02 of .98 is about."""
    table = accuracies(reading, "r2").filter(pl.col("size") >= 100)
    values = table["value"]
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    figures = f"{told(low)} to {told(high)} from 100 terms on"
    return judged([abs(low - 0.98) <= 0.02, abs(high - 0.98) <= 0.02], figures)


@_claim("accuracy by number of terms", "on movies 500 to 4,000 terms do as well as all", corpora=("movies",))
def few_are_enough(reading: Reading) -> Verdict:
    """Compare the best method at these sizes with all terms; at most .01 below counts as well."""
    everything = reading.value("all", None, "accuracy", corpus="movies")
    best = {size: reading.by_method(size, "accuracy", corpus="movies") for size in (500, 1000, 4000)}
    tops = {size: next(iter(values.items())) for size, values in best.items()}
    figures = ", ".join(f"{size}: {name.split()[0]} {told(value)}" for size, (name, value) in tops.items())
    return judged(
        [value >= everything - 0.01 for _, value in tops.values()], f"{figures}; all {told(everything)}"
    )


@_claim(
    "learned lambda",
    "lambda falls as more terms are kept: ratio matters more with many terms",
    methods=(WFO,),
)
def lambda_falls(reading: Reading) -> Verdict:
    """Correlate lambda with the number of terms on each corpus."""
    means = _mean_lambdas(reading)
    if means.is_empty():
        raise UntestedError("the results have no selections of wfo")
    parts, figures = [], []
    for (corpus,), part in sorted(means.partition_by("corpus", as_dict=True).items()):
        correlation = stats.spearmanr(part["size"], part["lam"])
        parts.append(correlation.statistic < 0 and correlation.pvalue < 0.05)
        figures.append(
            f"{corpus}: {told(part['lam'][0], 2)} to {told(part['lam'][-1], 2)}, rank correlation "
            f"{told(correlation.statistic, 2)}"
        )
    return judged(parts, "; ".join(figures))
