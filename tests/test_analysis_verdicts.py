"""Findings of the papers on made-up results in which a claim is known to hold, to hold partly or to fail."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from termsieve import Counts
from termsieve.analysis.findings import FINDINGS, forman2003, li2009, mladenic2004, paper_cells, zheng2004
from termsieve.analysis.findings.evidence import Reading, UntestedError, paper_figures
from termsieve.analysis.findings.uchyigit2007 import NAMES
from termsieve.studies.results import ROWS, SELECTIONS, schema

POSITIVES, NEGATIVES = 10_000, 90_000


def row(value, precision=None, even=None, **keys):
    """Return a row whose recall is `value`, and its precision, too, if none is given: then F1 is `value`."""
    precision = value if precision is None else precision
    even = value if even is None else even
    tp, be_tp = round(POSITIVES * value), POSITIVES * even
    fp = round(tp * (1 - precision) / precision)
    return {
        **{"corpus": "c", "problem": "p", "target": "p", "trial": 0, "fold": 0, "size_kind": "k"},
        **{"n_terms": 1, "n_train": 1, "pos": POSITIVES, "neg": NEGATIVES},
        **{"tp": tp, "fp": fp, "fn": POSITIVES - tp, "tn": NEGATIVES - fp},
        **{"be_tp": be_tp, "be_fp": POSITIVES - be_tp, "be_fn": POSITIVES - be_tp},
        **{"sparsity": 1.0, "select_seconds": 0.0, "fit_seconds": 0.0},
        **keys,
    }


def made(plan, rows, selections=(), corpora=None):
    """Return what findings read of the results of a plan."""
    frame = pl.DataFrame(list(rows), schema=schema(ROWS))
    chosen = pl.DataFrame(list(selections), schema=schema(SELECTIONS))

    def selected(**where):
        return chosen.lazy().filter(*(pl.col(name) == value for name, value in where.items()))

    return SimpleNamespace(
        manifest={"name": plan}, frame=frame.lazy, selections=selected, corpora=corpora or {}
    )


def verdict(results, claim, learner=None):
    """Return the verdict on the finding whose claim begins so, and its figures."""
    (entry,) = [entry for entry in FINDINGS if entry.claim.startswith(claim)]
    ((_, reading),) = entry.readings([results], None)
    return entry.test(reading)


# uchyigit2007

ORDER = ["gu", "chi", "bss_wss", "ngl", "odds_ratio", "ig", "fisher", "gss", "word_frequency", "mi"]
PLACES = (50, 60, 70, 1000)


def of_orders(orders, precisions=None):
    """Return results in which metrics have recall (and precision) in the order of each size."""
    value = {place: 0.9 - 0.05 * place for place in range(len(ORDER))}
    rows = []
    for size, order in orders.items():
        for place, name in enumerate(order):
            precision = None if precisions is None else value[precisions.index(name)]
            keys = {"method": NAMES[name], "learner": "nb", "size": float(size)}
            rows.append(row(value[place], precision, **keys))
    return made("uchyigit2007", rows)


def first(*names):
    return [*names, *(name for name in ORDER if name not in names)]


UCHYIGIT = ("gu has the best F1", "gu has the best F2", "chi, gu, bss_wss and ngl", "odds_ratio is above")
UCHYIGIT += ("gss is not above", "mutual information is the worst")


@pytest.mark.parametrize("claim", UCHYIGIT)
def test_an_order_of_metrics_holds_at_every_size_at_some_or_at_none(claim):
    backwards = ORDER[::-1]
    assert verdict(of_orders(dict.fromkeys(PLACES, ORDER)), claim).holds == "holds"
    partly = verdict(of_orders({**dict.fromkeys(PLACES, ORDER), 60: backwards}), claim)
    assert partly.holds == "partly"
    assert partly.figures.startswith("at 3 of 4 sizes (50, 70, 1000); first at 50 gu, 1000 gu")
    fails = verdict(of_orders(dict.fromkeys(PLACES, backwards)), claim)
    assert fails.holds == "fails"
    assert fails.figures.startswith("at 0 of 4 sizes (no size)")


def test_precision_and_recall_have_orders_of_their_own():
    recalls, precisions = first("ig", "gss", "gu"), first("ngl", "chi", "gu")
    both = of_orders(dict.fromkeys(PLACES, recalls), precisions)
    assert verdict(both, "chi and ngl have the best precision").holds == "holds"
    assert verdict(both, "ig and gss have the best recall").holds == "holds"
    assert "(50 to 70, 1000)" in verdict(both, "ig and gss have the best recall").figures
    swapped = of_orders(dict.fromkeys(PLACES, precisions), recalls)
    assert verdict(swapped, "chi and ngl have the best precision").holds == "fails"
    assert verdict(swapped, "ig and gss have the best recall").holds == "fails"


def test_the_best_size_of_gu_is_told():
    figures = verdict(of_orders({50: ORDER, 60: first("chi")}), "gu has the best F1").figures
    assert figures.endswith("its best is .900 at 50, the best other there .850")


# mladenic2004

SVM_FIRST = {
    **{"svm-1": 0.62, "svm-1/4": 0.6, "svm-1/16": 0.58},
    **{"perceptron-1": 0.56, "perceptron-1/4": 0.54, "perceptron-1/16": 0.52, "odds ratio": 0.5, "ig": 0.49},
}
CATEGORIES = [f"c{i}" for i in range(8)]


def rankings(learner, name, level):
    """Return the F1 of a ranking (None is all terms) that agrees with every finding on three learners."""
    if learner == "nb":
        return 0.45 if name is None else SVM_FIRST[name] - 0.0001 * abs(level - 20)
    if learner == "perceptron":
        return 0.7 if name is None else 0.6
    if name is None:
        return 0.8
    if name == "svm-1":
        return 0.79 if level >= 10 else 0.5
    return 0.75 if name == "odds ratio" else 0.7


def backwards(learner, name, level):
    return 1.3 - rankings(learner, name, level)


def of_rankings(value, plan="mladenic2004_reuters", **more):
    names = {name: mladenic2004.RANKINGS[name] for name in SVM_FIRST}
    rows = []
    for learner, (i, problem) in product(("nb", "svm", "perceptron"), enumerate(CATEGORIES)):
        keys = {"problem": problem, "learner": learner}
        everything = {"method": "all", "size_kind": "all", "size": None}
        rows.append(row(value(learner, None, None) + 0.001 * i, **keys, **everything, **more))
        for (name, method), level in product(names.items(), mladenic2004.LEVELS):
            sized = {"method": method, "size_kind": "sparsity", "size": level}
            rows.append(row(value(learner, name, level) + 0.0015 * i, **keys, **sized, **more))
    return made(plan, rows)


MLADENIC = (
    "naive Bayes gains by selection",
    "svm-1 is the best ranking",
    "the more documents the ranking",
    "rankings by an SVM are above",
    "naive Bayes at its best cannot match",
    "the perceptron is hurt",
    "with the SVM odds ratio beats ig",
    "with the SVM odds ratio beats svm-1/16",
    "with the SVM odds ratio beats svm-1 at",
)


@pytest.mark.parametrize("claim", MLADENIC)
def test_rankings_for_three_learners(claim):
    assert verdict(of_rankings(rankings), claim).holds == "holds"
    assert verdict(of_rankings(backwards), claim).holds == "fails"


def test_the_svm_may_lose_three_hundredths():
    claim = "the SVM loses little"
    assert verdict(of_rankings(rankings), claim).holds == "holds"
    low = {10.0: 0.76}  # .04 below all terms

    def loses(learner, name, level):
        return low.get(level, 0.8) if name == "svm-1" else rankings(learner, name, level)

    found = verdict(of_rankings(loses), claim)
    assert found.holds == "partly"
    assert found.figures.startswith("10: .7")


def test_equal_rankings_gain_nothing():
    same = of_rankings(lambda learner, name, level: 0.5)
    reading = Reading(same)
    gains = mladenic2004.class_gains(reading, "nb", "ig", "f1", 20.0, "odds ratio")
    assert gains["gain"].to_list() == [0.0] * 8
    assert mladenic2004.p_value(gains) == 1.0
    assert gains["positives"].to_list() == [POSITIVES] * 8


def test_naive_bayes_on_weights_is_judged_at_break_even():
    """Its own threshold finds nothing there: all F1 of rows are equal, and only break-even differs."""
    rows = of_rankings(rankings).frame().collect()
    flat = rows.with_columns(tp=pl.lit(5_000), fp=pl.lit(5_000), fn=pl.lit(5_000)).to_dicts()
    assert verdict(made("mladenic2004", flat), "svm-1 is the best ranking").holds == "holds"
    figures = verdict(made("mladenic2004_reuters", flat), "svm-1 is the best ranking").figures
    assert figures.count(".500") == 4


def test_cells_of_naive_bayes_are_its_best_levels():
    cells = paper_cells("mladenic2004", [of_rankings(rankings)])
    figures, levels = (
        cells.filter(pl.col("column") == name).sort("row") for name in ("best", "terms per document")
    )
    assert figures["row"].to_list() == levels["row"].to_list() == sorted(mladenic2004.BEST_NB)
    wanted = [SVM_FIRST[name] + 0.0015 * 3.5 for name in figures["row"]]
    np.testing.assert_allclose(figures["ours"], wanted, atol=1e-4)
    assert set(levels["ours"]) == {20.0}
    lone = of_rankings(rankings).frame().filter(pl.col("method") == "information_gain").collect()
    only = paper_cells("mladenic2004", [made("mladenic2004_reuters", lone.to_dicts())])
    assert only["row"].unique().to_list() == ["ig"]
    assert paper_cells("mladenic2004", [made("mladenic2004_memory", [])]).is_empty()


def of_budgets(value):
    rows = []
    for learner, budget, share in product(("nb", "svm", "perceptron"), (2, 4, 8, 16), (1, 0.5, 0.25, 0.125)):
        keys = {"learner": learner, "method": f"memory(svm, {budget})", "size_kind": "documents"}
        rows.append(row(value(learner, budget, share), **keys, size=float(share)))
        if share == 0.125 and budget == 16:
            rows.append(row(value(learner, 16, 1 / 16), **keys, size=1 / 16))
    return made("mladenic2004_memory_reuters", rows)


def test_what_memory_is_best_spent_on():
    def agreed(learner, budget, share):
        return 0.5 - abs(share - 1 / budget) / 4 if learner == "perceptron" else 0.3 + share / 4

    claims = [f"for any budget {name}" for name in ("the SVM", "naive Bayes", "the perceptron")]
    results = of_budgets(agreed)
    assert [verdict(results, claim).holds for claim in claims] == ["holds"] * 3
    assert verdict(results, claims[0]).figures.startswith("M/2: .550 with 1 of the documents; M/4")
    other = of_budgets(lambda learner, budget, share: 1 - agreed(learner, budget, share))
    assert [verdict(other, claim).holds for claim in claims] == ["fails"] * 3
    only = [found for found in results.frame().collect().to_dicts() if found["learner"] == "svm"]
    with pytest.raises(UntestedError, match=r"no memory\(svm, 2\) with nb"):
        verdict(made("mladenic2004_memory_reuters", only), claims[1])


# li2009

FEW = {"20_newsgroups": (200, 500), "movies": (50, 200, 500), "dvd": (20, 50, 100, 500)}
MANY = {
    "20_newsgroups": (10000, 15000, 20000, 30000),
    "movies": (7000, 10000, 13000),
    "dvd": (1500, 2000, 3000, 4000),
}
RATIO = (li2009.MI, li2009.BNS)
FREQUENCY = (li2009.IG, li2009.CHI, li2009.WLLR)


def of_sizes(value, corpora=("20_newsgroups", "movies", "dvd"), trials=5):
    generator = np.random.default_rng(1)
    rows = []
    for corpus in corpora:
        for size, method in product((*FEW[corpus], *MANY[corpus]), (*RATIO, *FREQUENCY, li2009.WFO)):
            for trial in range(trials):
                noise = generator.normal(0, 0.004)
                keys = {"corpus": corpus, "problem": corpus, "learner": "svm", "trial": trial}
                rows.append(row(value(corpus, size, method) + noise, **keys, method=method, size=float(size)))
    plan = "li2009" if trials == 1 else "li2009_splits"
    return made(plan, rows, corpora={corpus: {"documents": 2000} for corpus in corpora})


def agreed(corpus, size, method):
    """Return figures as the paper has them: ratio counts with many terms, but not on DVD."""
    if method == li2009.WFO:
        return 0.9
    with_ratio = size in MANY[corpus] and corpus != "dvd"
    return 0.85 if (method in RATIO) == with_ratio else 0.6


def opposed(corpus, size, method):
    return 1.45 - agreed(corpus, size, method)


LI = ("with few terms ig, chi and wllr lead", "with many terms mi and bns lead", "with many terms ig and chi")


@pytest.mark.parametrize("claim", [*LI, "wfo is at or near the top"])
def test_methods_by_number_of_terms(claim):
    assert verdict(of_sizes(agreed), claim).holds == "holds"
    assert verdict(of_sizes(opposed), claim).holds == "fails"


def test_corpora_that_are_not_there_are_left_out():
    some = of_sizes(agreed, ("movies",))
    found = verdict(some, LI[0])
    assert found.holds == "holds"
    assert "20_newsgroups" not in found.figures
    with pytest.raises(UntestedError, match="have none of dvd"):
        verdict(some, LI[2])
    without = [line for line in some.frame().collect().to_dicts() if line["method"] != li2009.WFO]
    with pytest.raises(UntestedError, match="no wfo"):
        verdict(made("li2009_splits", without), "wfo is at or near the top")
    with pytest.raises(UntestedError, match="have no r2"):
        verdict(some, "on R2 all methods")


def test_the_difference_of_two_methods_is_tested_over_the_splits():
    results = of_sizes(agreed, ("movies",))
    reading = Reading(results)
    gap, p = li2009.above(reading, "movies", 50, li2009.IG, li2009.MI)
    rows = results.frame().filter(pl.col("size") == 50).collect()
    right = {
        name: np.array([1 - (r["fp"] + r["fn"]) / (POSITIVES + NEGATIVES) for r in part.to_dicts()])
        for (name,), part in rows.sort("trial").partition_by("method", as_dict=True).items()
    }
    assert gap == pytest.approx((right[li2009.IG] - right[li2009.MI]).mean())
    assert p == pytest.approx(stats.ttest_rel(right[li2009.IG], right[li2009.MI]).pvalue)
    assert li2009.above(reading, "movies", 50, li2009.IG, li2009.IG) == (0.0, 1.0)
    with pytest.raises(UntestedError, match="lack gu or"):
        li2009.above(reading, "movies", 50, "gu", li2009.IG)


def test_one_split_is_tested_by_its_documents():
    reading = Reading(of_sizes(agreed, ("movies",), trials=1))
    gap, p = li2009.above(reading, "movies", 50, li2009.IG, li2009.MI)
    values = reading.by_method(50, "accuracy", corpus="movies")
    share = (values[li2009.IG] + values[li2009.MI]) / 2
    z = (values[li2009.IG] - values[li2009.MI]) / np.sqrt(2 * share * (1 - share) / 200)
    assert gap == pytest.approx(values[li2009.IG] - values[li2009.MI])
    assert p == pytest.approx(2 * stats.norm.sf(z))


def test_r2_is_easy_and_movies_need_few_terms():
    def at(value, corpus, **keys):
        """Return a row with that accuracy."""
        f1 = 1 - (1 - value) * (POSITIVES + NEGATIVES) / (2 * POSITIVES)
        return row(f1, corpus=corpus, problem=corpus, learner="svm", **keys)

    easy = [at(0.97, "r2", method="bns", size=100.0), at(0.99, "r2", method="wllr", size=500.0)]
    few = at(0.9, "r2", method="bns", size=50.0)  # not looked at
    assert verdict(made("li2009", [*easy, few]), "on R2 all methods") == (
        "holds",
        ".970 to .990 from 100 terms on",
    )
    low = at(0.94, "r2", method="wllr", size=1000.0)
    assert verdict(made("li2009", [*easy, low]), "on R2 all methods").holds == "partly"
    everything = at(0.95, "movies", method="all", size_kind="all", size=None)
    sizes = {500.0: 0.945, 1000.0: 0.95, 4000.0: 0.91}
    rows = [at(value, "movies", method="bns", size=size) for size, value in sizes.items()]
    claim = "on movies 500 to 4,000 terms"
    assert verdict(made("li2009", [everything, *rows]), claim).holds == "partly"
    rows[-1] = at(0.942, "movies", method="bns", size=4000.0)
    assert verdict(made("li2009", [everything, *rows]), claim).holds == "holds"


def test_lambda_falls_with_the_number_of_terms():
    def selections(corpus, lams, trials=2):
        keys = {"corpus": corpus, "problem": corpus, "fold": 0, "learner": "svm", "size_kind": "k"}
        for (i, lam), trial in product(enumerate(lams), range(trials)):
            own = {"method": li2009.WFO, "size": 500.0 * (i + 1), "terms": [], "ratio": None, "curve": []}
            yield {**keys, **own, "trial": trial, "lam": lam + 0.01 * (2 * trial - 1) * (trials > 1)}

    falling, rising = [0.5, 0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4, 0.5]
    claim = "lambda falls as more terms"
    falls = made("li2009_splits", [], selections("dvd", falling))
    assert verdict(falls, claim) == ("holds", "dvd: .50 to .10, rank correlation -1.00")
    both = made("li2009_splits", [], [*selections("dvd", falling), *selections("movies", rising)])
    assert verdict(both, claim).holds == "partly"
    cells = paper_cells("li2009", [both])
    assert cells.select("row", "column", "paper").rows() == [("dvd", "500", 0.34), ("movies", "500", 0.5)]
    np.testing.assert_allclose(cells["ours"], [0.5, 0.1])
    assert set(cells["table"]) == {"Lambda, mean of ten splits"}
    begun = [*selections("dvd", falling), *selections("movies", [0.3], trials=1)]
    assert "movies" not in verdict(made("li2009_splits", [], begun), claim).figures
    with pytest.raises(UntestedError, match="no selections of wfo"):
        verdict(made("li2009_splits", []), claim)


# zheng2004

REUTERS = {"classes": {"earn": 900, "acq": 800, **{f"c{i}": 100 - 10 * i for i in range(8)}}}


def of_methods(value, selections=(), plan="zheng2004"):
    """Return results of ten categories at break-even; F1 of the rows themselves is .5."""
    names = [name for name in zheng2004.METHODS if name != "all terms"]
    rows = []
    for (learner, long), (i, problem) in product(zheng2004.LEARNERS.items(), enumerate(REUTERS["classes"])):
        keys = {"corpus": "reuters", "problem": problem, "learner": long}
        for name, size in product(names, zheng2004.SIZES):
            even = value(learner, name, size, i)
            rows.append(row(0.5, even=even, **keys, method=zheng2004.METHODS[name], size=float(size)))
        even = value(learner, "all terms", None, i)
        rows.append(row(0.5, even=even, **keys, method="all", size_kind="all", size=None))
    return made(plan, rows, selections, {"reuters": REUTERS})


def combined(learner, name, size, i):
    """Return the paper's order: ideal, cross-validated, practical, the standard forms."""
    grade = {"ideal": 0.8, "cross-validated": 0.75, "practical": 0.7}.get(name.split()[-1], 0.6)
    return grade + 0.001 * i * (grade - 0.5)


def separate(learner, name, size, i):
    return 1.3 - combined(learner, name, size, i)


ZHENG = (
    "combined on purpose",
    "icc with the ratio chosen on the training",
    "cross-validation should choose better",
    "in the two largest categories",
)


@pytest.mark.parametrize("claim", ZHENG)
def test_positive_and_negative_terms(claim):
    assert verdict(of_methods(combined), claim).holds == "holds"
    assert verdict(of_methods(separate), claim).holds == "fails"

    def one(learner, name, size, i):
        return (combined if learner == "nb" else separate)(learner, name, size, i)

    found = verdict(of_methods(one), claim)
    assert found.holds == ("fails" if claim == "combined on purpose" else "partly")  # half is not enough


def test_the_two_largest_categories_are_no_part_of_averages():
    def odd(learner, name, size, i):
        return (separate if i < 2 else combined)(learner, name, size, i)

    results = of_methods(odd)
    assert verdict(results, "combined on purpose").holds == "holds"
    assert verdict(results, "in the two largest categories").holds == "fails"


def test_cells_of_the_tables_are_averages_at_break_even(monkeypatch):
    def absent(self, corpus):
        raise UntestedError("no files")

    monkeypatch.setattr(Reading, "counts", absent)  # Table 7 needs the documents
    cells = paper_cells("zheng2004", [of_methods(combined)])
    tables = cells.filter(pl.col("table").str.contains("^Table [1-5]$"))
    assert tables.height == paper_figures("zheng2004").height
    for name, column, ours in tables.select("row", "column", "ours").iter_rows():
        learner, _, method = name.split(" ", 2)
        size = None if column == "all" else int(column)
        values = [combined(learner, method, size, i) for i in range(2, 10)]
        assert ours == pytest.approx(np.mean(values))
    largest = cells.filter(pl.col("table") == "F1 at 50 terms")
    assert largest.height == 16
    best = cells.filter(pl.col("table") == "Best ideal micro F1")
    assert best.height == 6
    words = paper_cells("zheng2004", [of_methods(combined, plan="zheng2004_words")])
    assert words["table"].str.ends_with("(words, ties whole)").all()
    every = paper_cells("zheng2004", [of_methods(combined, plan="zheng2004_all")])
    assert every["row"].to_list() == ["nb chi", "lr all terms"]
    np.testing.assert_allclose(every["ours"], [np.mean([combined("", "chi", 1, i) for i in range(10)])] * 2)
    assert paper_cells("zheng2004", [made("other", [])]).is_empty()


def ratios(nb, lr):
    keys = {"corpus": "reuters", "trial": 0, "fold": 0, "size_kind": "k", "size": 50.0, "terms": []}
    for learner, chosen in (("nb", nb), ("lr", lr)):
        for problem, ratio in zip([*REUTERS["classes"]][2:], chosen, strict=True):
            own = {"problem": problem, "learner": zheng2004.LEARNERS[learner], "ratio": ratio}
            yield {**keys, **own, "method": zheng2004.METHODS["icc ideal"], "lam": None, "curve": []}


def test_ratios_of_categories():
    falling = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
    falls = made("zheng2004", [], ratios(falling, [0.5] * 8), {"reuters": REUTERS})
    assert verdict(falls, "the best ratio falls").holds == "holds"
    found = verdict(falls, "the best ratio of a category differs")
    assert found == ("holds", "in 88% of 8 categories, in 38% by more than .2")
    rising = made("zheng2004", [], ratios(falling[::-1], falling[::-1]), {"reuters": REUTERS})
    assert verdict(rising, "the best ratio falls").holds == "fails"
    assert verdict(rising, "the best ratio of a category differs").holds == "fails"
    uneven = made(
        "zheng2004", [], ratios([0.5, 0.6] * 2 + [0.5, 0.5, 0.6, 0.4], falling), {"reuters": REUTERS}
    )
    assert verdict(uneven, "the best ratio falls").holds == "partly"
    nothing = made("zheng2004", [])
    with pytest.raises(UntestedError, match="no selections of icc"):
        verdict(nothing, "the best ratio falls")
    with pytest.raises(UntestedError, match="no earn and acq"):
        verdict(nothing, "in the two largest categories")


def test_chi_that_takes_positive_terms_is_counted(monkeypatch):
    """A category is counted if each of its terms occurs more often inside; two of 58 may differ."""
    X = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]])
    counts = Counts.from_matrix(X, ["in", "in", "out", "out"], terms=["a", "b", "c"])
    monkeypatch.setattr(Reading, "counts", lambda self, corpus: counts)
    keys = {"corpus": "reuters", "trial": 0, "fold": 0, "size_kind": "k", "size": 50.0, "learner": "lr"}
    keys |= {"method": zheng2004.METHODS["chi"], "ratio": None, "lam": None, "curve": []}

    def results(n_positive, n_mixed):
        chosen = [{**keys, "problem": "in", "terms": [2, 1]}] * n_positive
        chosen += [{**keys, "problem": "in", "terms": [2, 0]}] * n_mixed
        found = made("zheng2004", [], chosen)
        found.vocabulary = lambda corpus: ["c", "b", "a"]
        return found

    claim = "at 50 terms chi takes only positive"
    assert verdict(results(54, 4), claim) == ("holds", "in 54 of 58 (paper 56 of 58)")
    assert verdict(results(53, 5), claim).holds == "fails"


# The side studies of forman2003

ALPHAS = ("bns", "bns alpha=0.1", "bns alpha=0.4", "bns alpha=0.6")


def of_alphas(value):
    keys = {"corpus": "cora", "learner": "svm"}
    sizes = (10, 20, 1000, 2000)
    pairs = product(ALPHAS, sizes)
    return made(
        forman2003.ALPHA, [row(*value(m, size), **keys, method=m, size=float(size)) for m, size in pairs]
    )


def test_weights_of_positive_terms():
    def paper(method, size):
        if method == "bns alpha=0.1":
            return 0.3, 0.3
        recall = 0.72 if method == "bns alpha=0.4" else 0.7 if method == "bns" else 0.6
        return recall, 0.75 if method == "bns alpha=0.6" else 0.7 if method == "bns" else 0.6

    claims = ["alpha = 60 %", "alpha = 40 %", "alpha = 10 % fails", "unweighted bns reaches"]
    assert [verdict(of_alphas(paper), claim).holds for claim in claims] == ["holds"] * 4

    def other(method, size):
        return (0.6, 0.6) if method == "bns" else (0.5, 0.5) if method != "bns alpha=0.1" else (0.61, 0.61)

    assert [verdict(of_alphas(other), claim).holds for claim in claims] == ["fails"] * 4


def of_cut_offs(recall, precision):
    rows = []
    for cut in range(1, 26):
        method = "bns" if cut == 1 else f"bns min_df={cut}"
        keys = {"corpus": "cora", "learner": "svm", "method": method, "size": 1000.0}
        rows.append(row(recall(cut), precision(cut), **keys))
    return made(forman2003.RARE, rows)


def test_rare_words():
    claims = ["with a growing cut-off", "recall rises until"]
    paper = of_cut_offs(lambda cut: 0.7 - 0.001 * abs(cut - 10), lambda cut: 0.9 - 0.01 * cut)
    assert [verdict(paper, claim).holds for claim in claims] == ["holds", "holds"]
    assert verdict(paper, claims[1]).figures == "cora: .691 at 1, .700 at 10, .685 at 25"
    better = of_cut_offs(lambda cut: 0.5 + 0.01 * cut, lambda cut: 0.5 + 0.01 * cut)
    assert [verdict(better, claim).holds for claim in claims] == ["fails", "fails"]


def test_a_fall_between_the_ends_alone_is_no_trend():
    """Lower at 25 than at 1, but rising at all cut-offs between them; and the reverse."""
    claim = "with a growing cut-off"

    def rising(cut):
        return 0.6 if cut == 1 else 0.5 if cut == 25 else 0.5 + 0.003 * cut

    def falling(cut):
        return 0.5 if cut == 1 else 0.6 if cut == 25 else 0.6 - 0.003 * cut

    rises, falls = (verdict(of_cut_offs(values, values), claim) for values in (rising, falling))
    assert (rises.holds, falls.holds) == ("fails", "holds")
    pairs = [(a, b) for a in range(1, 26) for b in range(a + 1, 26)]
    tau = sum(np.sign(falling(b) - falling(a)) for a, b in pairs) / len(pairs)  # by hand; there are no ties
    assert f"cora precision: .5000 to .6000, tau {tau:.2f}".replace("-0.", "-.") in falls.figures
    level = verdict(
        of_cut_offs(lambda cut: 0.6 + 0.01 * (cut % 2), lambda cut: 0.6 + 0.01 * (cut % 2)), claim
    )
    assert level.holds == "fails"


# forman2003 by skew, and where information gain is not enough


def of_skews(high):
    """Return results of a common and of a rare class: all are equal on the common one."""
    rows = []
    for (problem, values), size in product(
        {"common": dict.fromkeys(high, 0.7), "rare": high}.items(), (10, 100)
    ):
        skew = {"pos": 1, "neg": 9 if problem == "common" else 99}
        for method, value in values.items():
            keys = {"problem": problem, "learner": "svm", "method": method, "size": float(size)}
            rows.append(row(value, **keys, **skew))
    return made("forman2003", rows)


def test_rare_classes_and_backups():
    by_skew = [
        "at high skew bns has a better precision",
        "the margin of bns widens",
        "at high skew bns has the",
    ]
    backup = ["ig and chi fail together", "where ig misses the best precision"]
    paper = of_skews({"bns": 0.8, "information_gain": 0.6, "chi_squared": 0.5})
    assert [verdict(paper, claim).holds for claim in by_skew + backup] == ["holds"] * 5
    assert verdict(paper, by_skew[0]).figures == "bns minus ig at 10: .200, 100: .200"
    other = of_skews({"bns": 0.5, "information_gain": 0.6, "chi_squared": 0.8})
    assert [verdict(other, claim).holds for claim in by_skew + backup] == ["fails"] * 5
    never = of_skews({"bns": 0.5, "information_gain": 0.8, "chi_squared": 0.6})
    for claim in backup:
        with pytest.raises(UntestedError, match="ig is never far from the best"):
            verdict(never, claim)
    common = [line for line in paper.frame().collect().to_dicts() if line["problem"] == "common"]
    with pytest.raises(UntestedError, match="no problem of high skew"):
        verdict(made("forman2003", common), by_skew[0])
