"""Results of the plans of forman2003 come in; its findings, and its printed shares beside ours, go out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

import polars as pl
from scipy.stats import kendalltau

from termsieve.analysis.chances import backups, best_chances, pair_chances
from termsieve.analysis.curves import size_curves, skew_curves
from termsieve.analysis.findings.evidence import (
    Reading,
    Register,
    UntestedError,
    Verdict,
    best_of,
    finding,
    judged,
    told,
)
from termsieve.analysis.significance import paired_tests
from termsieve.studies.results import Results

PAPER, HINGE = "forman2003", "forman2003_hinge"
ALPHA, RARE, PILOT = "forman2003_alpha", "forman2003_rare", "forman2003_pilot"
PLANS = (PAPER, HINGE)
CUT_OFFS = range(1, 26)  # of rare words: the least document frequency
FALLS = 0.01  # significance of a falling trend over them
SMO = "svm(hinge)"  # as WEKA's SMO
SKEW = 67.0  # the paper's threshold: 1:67
IG, CHI, BNS = "information_gain", "chi_squared", "bns"
CHANCES = {BNS: 0.65, IG: 0.40}
# The best pair of metrics for each goal.
PAIRS = {
    "f1": (BNS, IG),
    "recall": (BNS, "f1"),
    "precision": (BNS, "odds_ratio"),
    "accuracy": (BNS, "odds_numerator"),
}


def tolerance_of(goal: str) -> float:
    """Return the tolerance at which the paper's best choices are named: 1 %, of accuracy .1 %."""
    return 0.001 if goal == "accuracy" else 0.01


def _claim(where: str, claim: str) -> Register:
    return finding(PAPER, where, claim, *PLANS, per_learner=True)


def cells(results: Results, data: str | os.PathLike[str] | None) -> pl.DataFrame:
    """Return the shares of problems within 1 % of the best F1, the only figures that the paper prints."""
    if results.manifest["name"] not in PLANS:
        return pl.DataFrame()
    records = []
    chances = best_chances(results.frame(), "f1", [0.01])
    for learner in chances["learner"].unique().sort():
        for metric, paper in CHANCES.items():
            own = chances.filter(pl.col("learner") == learner, pl.col("method") == metric)
            if own.height:
                records.append(
                    {
                        "table": "Problems within 1 % of the best F1",
                        "row": metric,
                        "column": learner,
                        "paper": paper,
                        "ours": own["share"][0],
                    }
                )
    return pl.DataFrame(records)


@finding(
    PAPER,
    "pilot study",
    "of a linear SVM, naive Bayes, logistic regression and a decision tree the SVM is the best learner",
    PILOT,
)
def svm_is_best(reading: Reading) -> Verdict:
    """Compare the best macro F1 of each learner over metrics and sizes, and at how many of them it leads."""
    table = reading.curves("f1").filter(pl.col("size_kind") == "k")
    best = table.group_by("learner").agg(pl.col("value").max()).sort("value", descending=True)
    firsts = table.sort("value", descending=True).group_by("method", "size").first()["learner"]
    ahead = int((firsts == SMO).sum())
    figures = best_of(dict(best.iter_rows()), 4)
    return judged(
        [best["learner"][0] == SMO, ahead == len(firsts)],
        f"best F1: {figures}; {SMO} leads at {ahead} of {len(firsts)} metrics and sizes",
    )


@_claim("F1 by number of terms", "bns has the best F1 at 500 and 1,000 terms, by a wide margin")
def bns_leads(reading: Reading) -> Verdict:
    """Test bns against every other metric at both sizes, over problem x trial.

    A margin is wide if it is significant and greater than that of the second over the third.
    """
    parts, figures = [], []
    for size in (500, 1000):
        values = reading.by_method(size)
        tests = paired_tests(reading.rows, size, "f1", BNS, size_kind="k")
        p = max(tests["p_wilcoxon_holm"].to_list())
        first, second, third, *_ = values.values()
        parts += [next(iter(values)) == BNS and p < 0.05, first - second > second - third]
        figures.append(f"{size}: {best_of(values)}; largest p {p:.1g}")
    return judged(parts, "; ".join(figures))


@_claim("F1 by number of terms", "bns at its best size is above all features")
def bns_above_all_features(reading: Reading) -> Verdict:
    """Compare the best F1 of bns with that of all features."""
    best = max(reading.value(BNS, size) for size in reading.sizes)
    everything = reading.value("all", None)
    return judged([best > everything], f"{told(best)} against {told(everything)}")


@_claim("F1 by number of terms", "ig and balanced_accuracy have the best F1 at 20 and 50 terms")
def two_lead_with_few_terms(reading: Reading) -> Verdict:
    """See whether the two best metrics are these."""
    parts, figures = [], []
    for size in (20, 50):
        values = reading.by_method(size)
        parts += [name in (IG, "balanced_accuracy") for name in list(values)[:2]]
        figures.append(f"{size}: {best_of(values)}")
    return judged(parts, "; ".join(figures))


@_claim("F1 by number of terms", "ig is above chi at every number of terms")
def ig_above_chi(reading: Reading) -> Verdict:
    """Compare the two at each size."""
    gaps = {size: reading.value(IG, size) - reading.value(CHI, size) for size in reading.sizes}
    told_gaps = ", ".join(f"{size:g}: {told(gap)}" for size, gap in gaps.items())
    return judged([gap > 0 for gap in gaps.values()], f"difference at {told_gaps}")


@_claim("precision and recall at 1,000 terms", "the gain of bns comes from recall, not from precision")
def gain_from_recall(reading: Reading) -> Verdict:
    """See whether bns leads recall and does not lead precision."""
    recall, precision = reading.by_method(1000, "recall"), reading.by_method(1000, "precision")
    parts = [next(iter(recall)) == BNS, next(iter(precision)) != BNS]
    return judged(parts, f"recall: {best_of(recall)}; precision: {best_of(precision)}")


@_claim("precision by number of terms", "ig and chi have the best precision at 1,000 terms")
def precision_with_many_terms(reading: Reading) -> Verdict:
    """See whether both are within .001 of the best."""
    values = reading.by_method(1000, "precision")
    top = max(values.values())
    return judged([top - values[name] < 0.001 for name in (IG, CHI)], best_of(values))


@_claim("precision by number of terms", "ig alone has the best precision at 500 terms and below")
def precision_with_few_terms(reading: Reading) -> Verdict:
    """See which metric leads at each size up to 500."""
    return _leads(reading, IG, "precision", [size for size in reading.sizes if size <= 500])


def _leads(reading: Reading, metric: str, measure: str, sizes: list[float]) -> Verdict:
    leaders = {size: next(iter(reading.by_method(size, measure))) for size in sizes}
    gaps = [
        max(reading.by_method(size, measure).values()) - reading.value(metric, size, measure)
        for size in sizes
    ]
    figures = ", ".join(f"{size:g}: {name}" for size, name in leaders.items())
    return judged(
        [name == metric for name in leaders.values()],
        f"first at {figures}; {metric} is at most {told(max(gaps))} behind",
    )


def _by_skew(reading: Reading, side: str, measure: str) -> pl.DataFrame:
    table = skew_curves(reading.rows, SKEW, measure, side=side)  # type: ignore[arg-type]
    table = table.filter(pl.col("size_kind") == "k")
    if table.is_empty():
        raise UntestedError(f"the results have no problem of {side} skew")
    return table


def _on_side(reading: Reading, side: str, metric: str, measure: str, tell: str) -> Verdict:
    """Return whether a metric leads at every size on one side of the skew."""
    table = _by_skew(reading, side, measure)
    parts, figures = [], []
    for (size,), part in sorted(table.partition_by("size", as_dict=True).items()):
        best = part.sort("value", "method", descending=[True, False])
        parts.append(best["method"][0] == metric)
        gap = best["value"][0] - part.filter(pl.col("method") == metric)["value"][0]
        figures.append(f"{size:g}: {best['method'][0]}" + (f" by {told(gap)}" if gap > 0 else ""))
    n = int(table["n_problems"].max())  # type: ignore[arg-type]
    return judged(parts, f"first of {n} problems {tell} at {', '.join(figures)}")


@_claim("precision by skew", "at low skew ig has the best precision")
def precision_at_low_skew(reading: Reading) -> Verdict:
    """See which metric leads below 1:67."""
    return _on_side(reading, "low", IG, "precision", "up to 1:67")


@_claim("precision by skew", "at high skew bns has a better precision than ig")
def precision_at_high_skew(reading: Reading) -> Verdict:
    """Compare the two above 1:67."""
    table = _by_skew(reading, "high", "precision")
    wide = table.filter(pl.col("method").is_in([BNS, IG])).pivot(on="method", index="size", values="value")
    wide = wide.sort("size")
    gaps = (wide[BNS] - wide[IG]).to_list()
    figures = ", ".join(f"{size:g}: {told(gap)}" for size, gap in zip(wide["size"], gaps, strict=True))
    return judged([gap > 0 for gap in gaps], f"bns minus ig at {figures}")


@_claim("F1 by skew", "at high skew bns has the best F1 at every number of terms")
def f1_at_high_skew(reading: Reading) -> Verdict:
    """See which metric leads above 1:67."""
    return _on_side(reading, "high", BNS, "f1", "above 1:67")


@_claim("abstract", "the margin of bns widens with skew")
def margin_widens(reading: Reading) -> Verdict:
    """Compare the lead of bns over ig at its best size on both sides of 1:67."""
    margins = {}
    for side in ("low", "high"):
        table = _by_skew(reading, side, "f1")
        best = {
            name: float(table.filter(pl.col("method") == name)["value"].max())  # type: ignore[arg-type]
            for name in (BNS, IG)
        }
        margins[side] = best[BNS] - best[IG]
    both = f"{told(margins['low'])} up to 1:67, {told(margins['high'])} above"
    figures = f"bns over ig, each at its best size: {both}"
    return judged([margins["high"] > margins["low"]], figures)


def _shares(reading: Reading, measure: str, tolerance: float) -> Mapping[str, float]:
    table = best_chances(reading.rows, measure, [tolerance])
    table = table.sort("share", "method", descending=[True, False])
    return dict(zip(table["method"], table["share"], strict=True))


@_claim("best chances, 1 %", "bns is within 1 % of the best F1 on 65 % of the problems, ig on 40 %")
def chances_of_two(reading: Reading) -> Verdict:
    """Accept a share within 5 percentage points."""
    shares = _shares(reading, "f1", 0.01)
    parts = [abs(shares[name] - paper) <= 0.05 for name, paper in CHANCES.items()]
    return judged(parts, ", ".join(f"{name} {shares[name]:.1%}" for name in CHANCES))


@_claim(
    "best chances",
    "bns is the metric most often near the best F1, recall and accuracy (.1 %), for precision it is ig",
)
def single_choices(reading: Reading) -> Verdict:
    """See which metric is near the best most often for each goal."""
    parts, figures = [], []
    for goal in PAIRS:
        shares = _shares(reading, goal, tolerance_of(goal))
        first = next(iter(shares))
        parts.append(first == (IG if goal == "precision" else BNS))
        figures.append(f"{goal}: {best_of(dict(shares))}")
    return judged(parts, "; ".join(figures))


@_claim("best chances, up to 10 %", "ig is the metric most often near the best precision at every tolerance")
def precision_at_tolerances(reading: Reading) -> Verdict:
    """See which metric leads at 1 % to 10 %."""
    leaders = {
        step: next(iter(_shares(reading, "precision", step / 100)))
        for step in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    }
    figures = ", ".join(f"{step} %: {name}" for step, name in leaders.items())
    return judged([name == IG for name in leaders.values()], figures)


def _pairs(reading: Reading, goal: str) -> tuple[list[frozenset[str]], pl.DataFrame]:
    table = pair_chances(reading.rows, goal, [tolerance_of(goal)])
    return [frozenset(pair) for pair in table.select("first", "second").iter_rows()], table


def _best_pair(reading: Reading, goal: str) -> Verdict:
    pairs, table = _pairs(reading, goal)
    place = pairs.index(frozenset(PAIRS[goal]))
    figures = ", ".join(
        f"{first} + {second} {told(share)}"
        for first, second, share in table.select("first", "second", "share").head(3).iter_rows()
    )
    own = (
        f"{' + '.join(PAIRS[goal])} is number {place + 1} of {len(pairs)} with {told(table['share'][place])}"
    )
    return judged([place == 0, place < 3], f"{figures}; {own}")


def _declare_pairs() -> None:
    """Register the best pair of each goal."""
    for goal, pair in PAIRS.items():
        _claim("best pairs", f"the best pair of metrics for {goal} is {' + '.join(pair)}")(
            partial(_best_pair, goal=goal)
        )


_declare_pairs()


@_claim("best pairs", "bns is one of the two in the best pair for every goal")
def bns_in_every_pair(reading: Reading) -> Verdict:
    """Look at the first pair of each goal."""
    best = {goal: _pairs(reading, goal)[0][0] for goal in PAIRS}
    figures = "; ".join(f"{goal}: {' + '.join(sorted(pair))}" for goal, pair in best.items())
    return judged([BNS in pair for pair in best.values()], figures)


def _residuals(reading: Reading) -> tuple[dict[str, float], int]:
    table = backups(reading.rows, IG, "precision", [0.01])
    if not table["n_failed"][0]:
        raise UntestedError("ig is never far from the best precision in these results")
    return dict(zip(table["method"], table["share"], strict=True)), int(table["n_failed"][0])


@_claim("residual analysis, precision", "ig and chi fail together: chi is a poor backup where ig fails")
def fail_together(reading: Reading) -> Verdict:
    """See whether chi is in the lower half of the backups for precision."""
    shares, n = _residuals(reading)
    place = list(shares).index(CHI) + 1
    rank = f"number {place} of {len(shares)} backups"
    figures = f"of {n} problems chi is near the best on {told(shares[CHI])}: {rank}"
    return judged([place > len(shares) / 2], figures)


@_claim("residual analysis, precision", "where ig misses the best precision, bns is its best backup")
def best_backup(reading: Reading) -> Verdict:
    """See which metric is most often near the best where ig is not."""
    shares, n = _residuals(reading)
    first = next(iter(shares))
    return judged([first == BNS], f"of {n} problems: {best_of(shares)}")


@_claim("Figure 17, accuracy by number of terms", "bns has the best accuracy at 500 and 1,000 terms")
def bns_leads_accuracy(reading: Reading) -> Verdict:
    """See which metric leads accuracy."""
    values = {size: reading.by_method(size, "accuracy") for size in (500, 1000)}
    figures = "; ".join(
        f"{size}: " + ", ".join(f"{name} {told(value, 4)}" for name, value in list(own.items())[:3])
        for size, own in values.items()
    )
    return judged([next(iter(own)) == BNS for own in values.values()], figures)


def _alpha(reading: Reading, size: float, measure: str, corpus: str) -> dict[str, float]:
    return reading.by_method(size, measure, corpus=corpus)


def _corpora(reading: Reading) -> list[str]:
    return reading.rows["corpus"].unique().sort().to_list()


@finding(PAPER, "side study of alpha", "alpha = 60 % gives more precision with few terms", ALPHA)
def more_positive_terms(reading: Reading) -> Verdict:
    """Compare the precision of alpha .6 with unweighted bns at 10 and 20 terms."""
    return _weighed(reading, "bns alpha=0.6", "precision", (10, 20))


@finding(PAPER, "side study of alpha", "alpha = 40 % gives more recall with many terms", ALPHA)
def more_negative_terms(reading: Reading) -> Verdict:
    """Compare the recall of alpha .4 with unweighted bns at 1,000 and 2,000 terms."""
    return _weighed(reading, "bns alpha=0.4", "recall", (1000, 2000))


def _weighed(reading: Reading, method: str, measure: str, sizes: tuple[int, ...]) -> Verdict:
    parts, figures = [], []
    for corpus in _corpora(reading):
        for size in sizes:
            values = _alpha(reading, size, measure, corpus)
            parts.append(values[method] > values[BNS])
            figures.append(f"{corpus} at {size}: {told(values[method])} against {told(values[BNS])}")
    return judged(parts, "; ".join(figures))


@finding(PAPER, "side study of alpha", "alpha = 10 % fails", ALPHA)
def mostly_negative_terms(reading: Reading) -> Verdict:
    """See whether F1 of alpha .1 is below .8 of that of unweighted bns at every size."""
    parts, figures = [], []
    for corpus in _corpora(reading):
        for size in reading.sizes:
            values = _alpha(reading, size, "f1", corpus)
            parts.append(values["bns alpha=0.1"] < 0.8 * values[BNS])
        figures.append(f"{corpus} at {size:g}: {told(values['bns alpha=0.1'])} against {told(values[BNS])}")
    return judged(parts, "; ".join(figures))


@finding(PAPER, "side study of alpha", "unweighted bns reaches the best F1 of all alphas", ALPHA)
def unweighted_is_best(reading: Reading) -> Verdict:
    """Compare the best F1 over the sizes; alpha .5 is unweighted."""
    parts, figures = [], []
    for corpus in _corpora(reading):
        table = size_curves(reading.rows.filter(pl.col("corpus") == corpus)).filter(
            pl.col("size_kind") == "k"
        )
        best = table.sort("value", descending=True).row(0, named=True)
        own = float(table.filter(pl.col("method") == BNS)["value"].max())  # type: ignore[arg-type]
        parts.append(best["value"] <= own + 1e-12)
        figures.append(f"{corpus}: {told(own)}; best is {best['method']} with {told(best['value'])}")
    return judged(parts, "; ".join(figures))


@finding(PAPER, "side study of rare words", "with a growing cut-off F1, precision and accuracy fall", RARE)
def rare_words_matter(reading: Reading) -> Verdict:
    """Test the trend of bns at 1,000 terms over all 25 cut-offs, by data set and measure.

    A measure falls if Kendall's tau of the cut-offs and its values is significantly below 0 (one-sided,
    p < .01), so that of most pairs of cut-offs the higher one has the lower value.
    """
    parts, figures = [], []
    for corpus in _corpora(reading):
        for measure in ("f1", "precision", "accuracy"):
            values = [_cut_off(reading, corpus, measure, cut) for cut in CUT_OFFS]
            trend = kendalltau(CUT_OFFS, values, alternative="less")
            parts.append(bool(trend.pvalue < FALLS))
            ends = f"{told(values[0], 4)} to {told(values[-1], 4)}"
            figures.append(f"{corpus} {measure}: {ends}, tau {told(float(trend.statistic), 2)}")
    return judged(parts, "; ".join(figures))


@finding(PAPER, "side study of rare words", "recall rises until a cut-off of about 10, then falls", RARE)
def recall_rises_first(reading: Reading) -> Verdict:
    """Find the cut-off with the greatest recall of bns at 1,000 terms."""
    parts, figures = [], []
    for corpus in _corpora(reading):
        recalls = {cut: _cut_off(reading, corpus, "recall", cut) for cut in CUT_OFFS}
        top = max(recalls, key=lambda cut: recalls[cut])
        parts.append(5 <= top <= 15 and recalls[top] > recalls[1] and recalls[25] < recalls[top])
        figures.append(
            f"{corpus}: {told(recalls[1])} at 1, {told(recalls[top])} at {top}, {told(recalls[25])} at 25"
        )
    return judged(parts, "; ".join(figures))


def _cut_off(reading: Reading, corpus: str, measure: str, cut: int) -> float:
    name = BNS if cut == 1 else f"{BNS} min_df={cut}"
    return reading.value(name, 1000, measure, corpus=corpus)
