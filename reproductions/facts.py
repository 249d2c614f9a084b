"""The stored tables in; the figures that the sentences of the pages quote out, by name.

A text of reproductions/pages holds `{{=name}}` where a sentence needs a figure, and the page gets what the
function of that name returns. So a sentence changes with the tables, and no figure is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl

from reproductions.pages import table, told
from termsieve.analysis.findings import PAPERS, VERDICTS, forman2003, li2009, zheng2004

FACTS: dict[str, Callable[[], str]] = {}


def fact(function: Callable[[], str]) -> Callable[[], str]:
    """Register a function under its name, with hyphens."""
    FACTS[function.__name__.replace("_", "-")] = function
    return function


def from_finding(paper: str, claim: str, reading: str, pattern: str) -> str:
    """Return what a pattern finds in the figures of the finding whose claim begins so."""
    rows = table(paper, "findings").fill_null("")
    rows = rows.filter(pl.col("claim").str.starts_with(claim), pl.col("reading") == reading)
    (figures,) = rows["figures"]
    found = re.search(pattern, figures)
    if found is None:
        raise ValueError(f"the figures of {claim!r} ({reading}) do not have {pattern!r}: {figures}")
    return found[1]


def _corpora() -> pl.DataFrame:
    return table("forman2003", "corpora").unique("corpus", maintain_order=True)


@fact
def forman_sets() -> str:
    """Return how many data sets there are."""
    return str(_corpora().height)


@fact
def forman_problems() -> str:
    """Return how many problems they have."""
    return str(_corpora()["classes"].sum())


@fact
def hinge_sets() -> str:
    """Return how many data sets the hinge loss was run on."""
    return str(_hinge().height)


@fact
def hinge_problems() -> str:
    """Return how many problems they have."""
    return str(_hinge()["classes"].sum())


def _hinge() -> pl.DataFrame:
    """Return the data sets of the problems that are stored for the hinge loss."""
    run = table("forman2003", "problems").filter(pl.col("learner") == forman2003.SMO)["corpus"].unique()
    return _corpora().filter(pl.col("corpus").is_in(run.to_list()))


@fact
def hinge_left_out() -> str:
    """Return the data sets that the hinge loss was not run on, with their documents."""
    rest = _corpora().join(_hinge(), on="corpus", how="anti", maintain_order="left")
    *first, last = [f"{name} ({n:,} documents)" for name, n in rest.select("corpus", "documents").iter_rows()]
    return f"{', '.join(first)} and {last}" if first else last


PRECISION_PAIR = "the best pair of metrics for precision"


@fact
def precision_pair_place() -> str:
    """Return the place of the paper's best pair for precision, with the squared hinge loss."""
    return from_finding("forman2003", PRECISION_PAIR, "forman2003, svm", r"is number (\d+ of \d+) with")


@fact
def precision_pair_problems() -> str:
    """Return how many problems it is behind the best pair."""
    own = float(from_finding("forman2003", PRECISION_PAIR, "forman2003, svm", r"with (\.\d+)$"))
    best = float(from_finding("forman2003", PRECISION_PAIR, "forman2003, svm", r"^[^.]* (\.\d+)"))
    return str(round((best - own) * int(forman_problems())))


@fact
def random_precision() -> str:
    """Return the share of problems on which random is near the best precision, hinge loss."""
    own = table("forman2003", "chances").filter(
        pl.col("learner") == forman2003.SMO, pl.col("method") == "random", pl.col("goal") == "precision"
    )
    return f"{own.sort('tolerance')['share'][0]:.0%}".replace("%", " %")


def _one_of_uchyigit(measure: str, learner: str) -> pl.DataFrame:
    return table("uchyigit2007", "curves").filter(
        pl.col("measure") == measure, pl.col("learner") == learner, pl.col("method") != "all"
    )


@fact
def uchyigit_sizes() -> str:
    """Return how many sizes of uchyigit2007 are stored."""
    return str(table("uchyigit2007", "curves")["size"].drop_nulls().n_unique())


@fact
def rare_terms_recall() -> str:
    """Return the greatest recall of mi and odds_ratio with nb, over the stored sizes."""
    names = ["mutual_information", "odds_ratio side=positive"]
    own = _one_of_uchyigit("recall", "nb").filter(pl.col("method").is_in(names))
    return told(float(own["value"].max()), 2)  # type: ignore[arg-type]


def _leaders(measure: str, learner: str) -> str:
    """Return the metrics that lead at most of the stored sizes of both plans, the most frequent first."""
    own = _one_of_uchyigit(measure, learner).sort("value", "method", descending=[True, False])
    firsts = own.group_by("plan", "size", maintain_order=True).first()["method"].str.split(" ").list.first()
    counted = firsts.value_counts().sort("count", "method", descending=[True, False])
    return ", ".join(f"{name} ({n})" for name, n in counted.iter_rows())


@fact
def precision_leaders() -> str:
    """Return what leads precision with nb, and at how many sizes of the two plans."""
    return _leaders("precision", "nb")


@fact
def precision_leaders_all() -> str:
    """Return what leads precision with nb(all)."""
    return _leaders("precision", "nb(all)")


@fact
def recall_leaders() -> str:
    """Return what leads recall with nb."""
    return _leaders("recall", "nb")


@fact
def recall_leaders_all() -> str:
    """Return what leads recall with nb(all)."""
    return _leaders("recall", "nb(all)")


def _perceptron_shares() -> list[tuple[int, float]]:
    """Return the budgets of all corpora and the share of the documents that is the perceptron's best."""
    found = table("mladenic2004", "findings").filter(
        pl.col("claim") == "for any budget the perceptron is best with all terms of fewer documents"
    )["figures"]
    pairs = re.findall(r"M/(\d+): \S+ with ([\d.]+) of the documents", "; ".join(found))
    return [(int(budget), float(share)) for budget, share in pairs]


@fact
def perceptron_budgets() -> str:
    """Return on how many budgets and corpora each share of the documents is the perceptron's best."""
    shares = [share for _, share in _perceptron_shares()]
    names = {1.0: "all", 0.5: "half", 0.25: "a quarter", 0.125: "an eighth", 0.0625: "a sixteenth"}
    counted = [f"{names[share]} of the documents at {shares.count(share)}" for share in sorted(set(shares))]
    return f"{', '.join(counted)} of {len(shares)} budgets"


@fact
def perceptron_all_terms() -> str:
    """Return at how many of them that is all terms of as few documents as the budget allows."""
    shares = _perceptron_shares()
    return f"{sum(share == 1 / budget for budget, share in shares)} of {len(shares)}"


def _details(says: str, column: str) -> float:
    own = table("zheng2004", "nb_details").filter(pl.col("naive_bayes") == says)
    (value,) = own[column]
    return float(value)


@fact
def zheng_stems() -> str:
    """Return the number of stems of the plan."""
    return f"{_details('as in the plan', 'terms'):,.0f}"


@fact
def zheng_training() -> str:
    """Return the number of training documents."""
    return f"{_details('as in the plan', 'training'):,.0f}"


@fact
def zheng_test() -> str:
    """Return the number of test documents."""
    return f"{_details('as in the plan', 'test'):,.0f}"


@fact
def zheng_title_twice() -> str:
    """Return the mean difference if a title counts twice, if no other reading is nearer."""
    nearest = table("zheng2004", "nb_details").sort("mean")["naive_bayes"][0]
    if nearest != "words of the title counted twice":
        raise ValueError(f"the text says that a title counted twice is nearest; it is: {nearest}")
    return told(_details(nearest, "mean"), 4)


def _far() -> pl.DataFrame:
    cells = table("zheng2004", "cells").filter(pl.col("table").str.contains(r"^Table [1-5]$"))
    return cells.filter(pl.col("difference").abs() > 0.05)


@fact
def zheng_far_cells() -> str:
    """Return the cells of Tables 1 to 5 that are farther than .05 from the paper's."""
    told_as = {"nb": "NB", "lr": "LR"}
    rows = [
        f"{told_as[row['row'].split()[0]]} with {row['column']} terms" for row in _far().iter_rows(named=True)
    ]
    return ", ".join(rows)


@fact
def zheng_far_reach() -> str:
    """Return how far the cell beyond .05 would be if of equally good ratios the best were taken."""
    ((row),) = _far().iter_rows(named=True)
    learner, size = row["row"].split()[0], float(row["column"])
    ties = table("zheng2004", "ties").filter(pl.col("learner") == learner, pl.col("size") == size)
    return told(abs(ties["highest"][0] - row["paper"]))


def beyond_rounding(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of Table 7 for chi and or that differ from the paper's by more than rounding and 1 %.

    The paper prints chi without digits and or^2 with one.
    """
    own = cells.filter(pl.col("table") == "Table 7", ~pl.col("column").str.starts_with("ig"))
    half = pl.when(pl.col("column").str.starts_with("chi")).then(0.5).otherwise(0.05)
    gap = (pl.col("ours") - pl.col("paper")).abs()
    return own.filter(gap > half + 1e-4, gap > 0.01 * pl.col("paper"))


@fact
def table_7_differs() -> str:
    """Return how many cells of Table 7 differ from the paper's, and which if it is one."""
    own = beyond_rounding(table("zheng2004", "cells"))
    if own.height == 1:
        return f"one does ({own['column'][0]} of {own['row'][0]})"
    return f"{own.height} do"


@fact
def table_7_differs_with_words() -> str:
    """Return the same with "vs" and "reuter" among the terms."""
    return str(beyond_rounding(table("zheng2004", "every_word")).height)


FOLDS = "cross-validation should choose better ratios"


@fact
def folds_lr() -> str:
    """Return what cross-validated ratios gain over practical ones with LR."""
    return from_finding("zheng2004", FOLDS, "", r"lr: (-?\.\d+)")


@fact
def folds_nb() -> str:
    """Return the same with NB."""
    return from_finding("zheng2004", FOLDS, "", r"nb: (-?\.\d+)")


def _both_readings() -> pl.Series:
    """Return how far the two readings of zheng2004 are from each other, cell by cell."""
    note = " (words, ties whole)"
    cells = table("zheng2004", "cells")
    other = cells.filter(pl.col("table").str.ends_with(note))
    other = other.with_columns(pl.col("table").str.strip_suffix(note))
    both = cells.join(other, on=["table", "row", "column"], suffix="_other")
    return (both["ours"] - both["ours_other"]).abs()


@fact
def stems_move() -> str:
    """Return the mean of that distance."""
    return told(float(_both_readings().mean()))  # type: ignore[arg-type]


@fact
def stems_move_most() -> str:
    """Return the largest distance."""
    return told(float(_both_readings().max()))  # type: ignore[arg-type]


def _implied(metric: str) -> pl.Series:
    """Return the share of positive terms among the first fifty, in the 58 categories."""
    own = table("zheng2004", "ratios").filter(
        pl.col("chosen_by") == metric, ~pl.col("problem").is_in(zheng2004.LARGEST)
    )
    return own["ratio"]


@fact
def chi_only_positive() -> str:
    """Return in how many categories chi takes positive terms only."""
    own = _implied("chi")
    return f"{(own == 1).sum()} of {len(own)}"


@fact
def ig_mostly_positive() -> str:
    """Return in how many categories ig takes at most five negative terms of fifty."""
    own = _implied("ig")
    return f"{(own >= 0.9).sum()} of {len(own)}"


WFO = "wfo is at or near the top"


def _near_top(reading: str) -> str:
    return from_finding("li2009", WFO, reading, r"at (\d+ of \d+) sizes")


@fact
def wfo_one_split() -> str:
    """Return at how many sizes of one split wfo is first or not significantly below."""
    return _near_top(li2009.PAPER)


@fact
def wfo_ten_splits() -> str:
    """Return the same for ten splits."""
    return _near_top(li2009.SPLITS)


@fact
def wfo_ten_splits_gap() -> str:
    """Return how far wfo is below the first at most, in ten splits."""
    return from_finding("li2009", WFO, li2009.SPLITS, r"at most (\.\d+) below")


@fact
def split_spread() -> str:
    """Return the median standard deviation of an accuracy from split to split, by corpus."""
    spread = table("li2009", "splits").with_columns(spread=pl.col("error") * pl.col("n").sqrt())
    means = dict(spread.group_by("corpus").agg(pl.col("spread").median()).iter_rows())
    return ", ".join(f"{told(means[corpus])} on {corpus}" for corpus in ("movies", "dvd", "r2"))


@fact
def dvd_many_terms() -> str:
    """Return which of the two groups leads on DVD with many terms, in ten splits."""
    pattern = r"dvd at (\d+): \w+ (\.\d+), \w+ (\.\d+) \(p = ([\d.e-]+)\)"
    figures = from_finding("li2009", "with many terms ig and chi lead on DVD", li2009.SPLITS, "(.*)")
    said = {"first": [], "second": [], "none": []}  # type: dict[str, list[str]]
    for size, first, second, p in re.findall(pattern, figures):
        leader = "none" if float(p) >= 0.05 else "first" if float(first) > float(second) else "second"
        said[leader].append(f"{int(size):,}")
    texts = {"first": "ig or chi with {}", "second": "mi or bns with {}", "none": "neither with {}"}
    return ", ".join(texts[leader].format(" and ".join(sizes)) for leader, sizes in said.items() if sizes)


@fact
def r2_range() -> str:
    """Return the lowest and the highest mean accuracy on R2 from 100 terms on, in ten splits."""
    return from_finding("li2009", "on R2 all methods", li2009.SPLITS, "(.*)")


@fact
def movies_enough() -> str:
    """Return the best accuracies on movies with 500 to 4,000 terms and that of all, in ten splits."""
    return from_finding("li2009", "on movies 500 to 4,000", li2009.SPLITS, "(.*)")


@fact
def lambda_splits() -> str:
    """Return how lambda goes with the number of terms, in the mean of ten splits."""
    return from_finding("li2009", "lambda falls", li2009.SPLITS, "(.*)")


@fact
def unsmoothed_preference() -> str:
    """Return the mi of mi's and of bns's top terms on movies if mi were not smoothed."""
    cells = table("li2009", "cells").filter(pl.col("table") == "Table 1, mi not smoothed")
    ours = dict(cells.filter(pl.col("column") == "mi").select("row", "ours").iter_rows())
    return f"{told(ours['movies mi'])} and {told(ours['movies bns'])}"


@fact
def li_run() -> str:
    """Return what of the plans was run, by what the verdicts lack."""
    found = table("li2009", "findings").fill_null("")
    partial = set(found.filter(pl.col("lacks") != "")["reading"])
    whole = [f"`{name}`" for name in li2009.PLANS if name not in partial]
    said = f"For this page {' and '.join(whole)} {'was' if len(whole) == 1 else 'were'} run whole."
    if li2009.PAPER not in partial:
        return said
    return (
        f"{said} `li2009` was run without wfo on 20 Newsgroups, where nine folds, eleven lambdas and 190 "
        "pairs of classes take most of the time of that plan, so its verdicts on wfo and on lambda do not "
        "speak of 20 Newsgroups. The accuracies and lambdas of wfo that are shown for 20 Newsgroups below "
        "are those of an earlier version and were not tested."
    )


@fact
def hinge_run() -> str:
    """Return what of forman2003_hinge was run, by what the verdicts lack."""
    reading = f"{forman2003.HINGE}, {forman2003.SMO}"
    lacks = table("forman2003", "findings").fill_null("").filter(pl.col("reading") == reading)["lacks"]
    (said,) = lacks.unique()
    if not said:
        return "For this page all five trials were run with both losses."
    return (
        f"For this page `{forman2003.SMO}` was run in part ({said}), so that its shares are less certain "
        "than those of `svm`."
    )


def _firsts(measure: str) -> dict[float, str]:
    """Return the metric that leads at each size of forman2003, squared hinge loss."""
    own = table("forman2003", "curves").filter(
        pl.col("plan") == forman2003.PAPER, pl.col("measure") == measure, pl.col("method") != "all"
    )
    best = own.sort("value", "method", descending=[True, False]).group_by("size").first()
    return dict(best.sort("size").select("size", "method").iter_rows())


@fact
def bns_from() -> str:
    """Return the number of terms from which on bns leads both F1 and recall."""
    leads = [size for size in _firsts("f1") if {_firsts(m)[size] for m in ("f1", "recall")} == {"bns"}]
    sizes = list(_firsts("f1"))
    if leads != sizes[-len(leads) :]:
        raise ValueError(f"bns leads F1 and recall at {leads}, not from one size on")
    return f"{leads[0]:,.0f}"


@fact
def precision_firsts() -> str:
    """Return the metrics that lead precision, with the sizes."""
    found: dict[str, list[str]] = {}
    for size, name in _firsts("precision").items():
        found.setdefault(name, []).append(f"{size:,.0f}")
    return "; ".join(f"{name} at {', '.join(sizes)}" for name, sizes in found.items())


def _significant(claim: str, reading: str, corpus: str) -> list[str]:
    """Return the sizes at which the first group of a claim of li2009 leads significantly."""
    pattern = rf"{corpus} at (\d+): \w+ (\.\d+), \w+ (\.\d+) \(p = ([\d.e-]+)\)"
    figures = from_finding("li2009", claim, reading, "(.*)")
    rows = re.findall(pattern, figures)
    return [f"{int(size):,}" for size, a, b, p in rows if float(a) > float(b) and float(p) < 0.05]


@fact
def many_terms_newsgroups() -> str:
    """Return the sizes at which mi or bns lead significantly on 20 Newsgroups."""
    return ", ".join(_significant("with many terms mi and bns", li2009.PAPER, "20_newsgroups"))


@fact
def many_terms_movies() -> str:
    """Return the same for movies, in ten splits."""
    return ", ".join(_significant("with many terms mi and bns", li2009.SPLITS, "movies"))


@fact
def verdicts_by_reading() -> str:
    """Return how many verdicts of each kind all readings of all findings have."""
    found = [verdict for paper in PAPERS for verdict in table(paper, "findings")["verdict"]]
    counted = ", ".join(f"{found.count(verdict)} *{verdict}*" for verdict in VERDICTS if verdict in found)
    return f"{len(found)} verdicts: {counted}"
