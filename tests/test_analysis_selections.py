"""Stability, overlaps, ratios and preferences against hand-worked examples and li2009's Table 1."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from termsieve import Counts, analysis, get_metric, rank, score
from termsieve.errors import InputError, ParameterError


@pytest.fixture(scope="module")
def selections():
    terms = [["a", "b"], ["b", "c"], ["a", "b"], ["x"]]
    return pl.DataFrame(
        {
            "corpus": "toy",
            "problem": ["p", "p", "p", "q"],
            "trial": 0,
            "fold": [0, 1, 2, 0],
            "method": "icc",
            "learner": "nb",
            "size_kind": "k",
            "size": 2.0,
            "terms": terms,
            "ratio": [0.4, 0.6, 0.8, None],
            "lam": [None, None, None, 0.5],
            "curve": [[0.1, 0.5, 0.3], [0.3, 0.5, 0.1], [0.2, 0.8, 0.2], []],
        }
    )


def test_stability_of_many_selections_is_the_mean_over_their_pairs():
    generator, letters = np.random.default_rng(5), [chr(code) for code in range(97, 117)]
    sizes = [0, 1, 5, 12, 20, 7, 7]
    chosen = [generator.choice(letters, size=size, replace=False).tolist() for size in sizes]
    key = {"corpus": "toy", "problem": "p", "method": "bns", "learner": "svm", "size_kind": "k", "size": 9.0}
    rows = pl.DataFrame([key | {"terms": terms} for terms in chosen])
    (found,) = analysis.fold_stability(rows, n_terms=20).to_dicts()
    pairs = list(combinations(chosen, 2))
    indices = [analysis.kuncheva(a, b, 20) for a, b in pairs]
    assert found["n_sets"] == 7
    assert found["jaccard"] == pytest.approx(np.mean([analysis.jaccard(a, b) for a, b in pairs]))
    assert found["kuncheva"] == pytest.approx(np.mean([value for value in indices if value is not None]))
    assert indices.count(None) == 11  # with nothing, or with everything
    with pytest.raises(InputError, match="20 terms is larger than the vocabulary of 19"):
        analysis.fold_stability(rows, n_terms=19)


def test_jaccard_and_kuncheva_by_hand():
    assert analysis.jaccard("abc", "bcd") == 0.5
    assert analysis.jaccard([], []) == 1
    assert analysis.kuncheva("abc", "bcd", 10) == pytest.approx((2 * 10 - 9) / (3 * 7))
    assert analysis.kuncheva("abc", "abc", 10) == pytest.approx(1)
    assert analysis.kuncheva([], "abc", 10) is None
    assert analysis.kuncheva("abc", "abc", 3) is None
    with pytest.raises(InputError, match="larger than the vocabulary"):
        analysis.kuncheva("abc", "abc", 2)


@given(
    st.integers(2, 30).flatmap(lambda n: st.tuples(*[st.lists(st.booleans(), min_size=n, max_size=n)] * 2))
)
def test_kuncheva_is_the_correlation_of_selected(pair):
    a, b = (np.array(chosen) for chosen in pair)
    index = analysis.kuncheva(np.flatnonzero(a).tolist(), np.flatnonzero(b).tolist(), len(a))
    if 0 < a.sum() < len(a) and 0 < b.sum() < len(b):
        assert index == pytest.approx(np.corrcoef(a, b)[0, 1])
        if a.sum() == b.sum():
            k, r, n = int(a.sum()), int((a & b).sum()), len(a)
            assert index == pytest.approx((r * n - k * k) / (k * (n - k)))
    else:
        assert index is None


def test_stability_over_folds(selections):
    table = analysis.fold_stability(selections, n_terms={"toy": 10}).to_dicts()
    assert table[0]["n_sets"] == 3
    assert table[0]["jaccard"] == pytest.approx((1 / 3 + 1 + 1 / 3) / 3)
    assert table[0]["kuncheva"] == pytest.approx((0.375 + 1 + 0.375) / 3)
    assert table[1]["jaccard"] is None
    assert analysis.fold_stability(selections)["kuncheva"].null_count() == 2
    with pytest.raises(InputError, match="lack the column 'terms'"):
        analysis.fold_stability(selections.drop("terms"))


def test_prefixes_are_the_smaller_selections(selections):
    ranked = selections.with_columns(ratio=pl.lit(None, dtype=pl.Float64), lam=pl.lit(None, dtype=pl.Float64))
    table = analysis.prefixes(ranked, [1, 2, 5])
    assert table.height == 8
    assert table.filter(pl.col("size") == 1)["terms"].to_list() == [["a"], ["b"], ["a"], ["x"]]
    stable = analysis.fold_stability(table).filter(pl.col("problem") == "p")
    assert dict(stable.select("size", "jaccard").iter_rows())[1.0] == pytest.approx(1 / 3)
    assert analysis.prefixes(selections, [1]).equals(selections)  # what was tuned has no prefixes


def test_overlaps():
    table = analysis.overlaps({"bns": ["a", "b"], "ig": ["b", "c"]})
    assert table.rows() == [
        ("bns", "bns", 2, 1.0),
        ("bns", "ig", 1, 1 / 3),
        ("ig", "bns", 1, 1 / 3),
        ("ig", "ig", 2, 1.0),
    ]


def test_chosen_parameters_and_tuning_curves(selections):
    table = analysis.chosen_parameters(selections)
    ratio, lam = table.to_dicts()
    assert (ratio["ratio"], ratio["ratio_low"], ratio["ratio_high"]) == pytest.approx((0.6, 0.4, 0.8))
    assert ratio["lam"] is None
    assert lam["lam"] == 0.5
    assert lam["ratio"] is None
    curve = analysis.tuning_curves(selections)
    assert curve["candidate"].to_list() == [0.0, 0.5, 1.0]
    assert curve["value"].to_list() == pytest.approx([0.2, 0.6, 0.2])
    with pytest.raises(InputError, match="lack the column 'curve'"):
        analysis.tuning_curves(selections.drop("curve"))


@pytest.fixture(scope="module")
def counts():
    generator = np.random.default_rng(3)
    y = generator.choice(["ham", "spam", "eggs"], 60)
    rates = generator.random((3, 25)) * generator.random(25)
    X = generator.random((60, 25)) < rates[np.unique(y, return_inverse=True)[1]]
    return Counts.from_matrix(X.astype(int), y, terms=[f"w{i}" for i in range(25)])


def test_implied_ratios_by_a_loop(counts):
    table = analysis.implied_ratios(counts, ["chi", "ors"], [3, 10, 1000])
    assert table.height == 3 * 2 * 3
    for row in table.to_dicts():
        c = counts.classes.tolist().index(row["class"])
        tpr, fpr = counts.tp[c] / counts.pos[c], counts.fp[c] / counts.neg[c]
        values = get_metric(row["metric"])(counts.tp[c], counts.fp[c], counts.pos[c], counts.neg[c])
        present = [i for i in range(25) if counts.df[i]]
        top = sorted(present, key=lambda i: (-values[i], -counts.df[i], i))[: row["size"]]
        assert row["ratio"] == pytest.approx(np.mean([tpr[i] > fpr[i] for i in top]))


def test_largest_scores(counts):
    for row in analysis.largest_scores(counts, ["cc", "ig"]).to_dicts():
        c = counts.classes.tolist().index(row["class"])
        values = get_metric(row["metric"])(counts.tp[c], counts.fp[c], counts.pos[c], counts.neg[c])
        sign = np.sign(counts.tp[c] * counts.neg[c] - counts.fp[c] * counts.pos[c])
        assert row["positive_score"] == pytest.approx(np.abs(values[sign > 0]).max())
        assert row["negative_score"] == pytest.approx(np.abs(values[sign < 0]).max())
        assert np.abs(values[int(row["negative_term"][1:])]) == pytest.approx(row["negative_score"])


def test_preferences_by_hand():
    # Documents: a a b b; "the" everywhere, "x" in both a, "y" in one b.
    X = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0]]
    counts = Counts.from_matrix(X, ["a", "a", "b", "b"], terms=["the", "x", "y"])
    rankings = {"df": rank(score(counts, "df")), "bns": rank(score(counts, "bns"))}
    table = {row["metric"]: row for row in analysis.preferences(counts, rankings, share=0.3).to_dicts()}
    # df 4, 2, 1; mi = max over classes of log((tp+1)/(df+2) * 2): the 0, x log(3/4*2), y log(2/3*2)
    assert (table["df"]["df"], table["df"]["mi"]) == (1.0, 0.0)
    assert (table["bns"]["df"], table["bns"]["mi"]) == pytest.approx((1 / 3, 1.0))
    whole = analysis.preferences(counts, rankings, share=1).to_dicts()
    assert whole[0]["df"] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert whole[0]["n_terms"] == 3
    assert whole[0]["mi"] == pytest.approx((0 + 1 + np.log(4 / 3) / np.log(3 / 2)) / 3)


def test_preference_takes_another_metric_for_mi(counts):
    """Without smoothing the top terms of mi have the greatest mi there is, whatever their frequency."""
    rankings = {"mi": rank(score(counts, "mutual_information"))}
    (plain,) = analysis.preferences(counts, rankings, share=0.3, mi="mutual_information").to_dicts()
    scores = rankings["mi"].scores[rankings["mi"].order]
    top = scores[: plain["n_terms"]]
    assert plain["mi"] == pytest.approx(((top - scores.min()) / np.ptp(scores)).mean())
    (smoothed,) = analysis.preferences(counts, rankings, share=0.3).to_dicts()
    assert smoothed["df"] == plain["df"]
    assert smoothed["mi"] != pytest.approx(plain["mi"])


def test_preference_refusals(counts):
    with pytest.raises(ParameterError, match="share must be"):
        analysis.preferences(counts, share=2)
    with pytest.raises(InputError, match="no terms"):
        analysis.preferences(counts, {"x": rank(score(counts, "df"), min_df=60)})


@pytest.mark.corpora
def test_li2009_table_1_on_the_movie_reviews(data_dir):
    from sklearn.feature_extraction.text import CountVectorizer

    import termsieve

    corpus = termsieve.read(data_dir / "movie_reviews", format="folder")
    vectorizer = CountVectorizer(token_pattern=r"(?u)\b\w\w+\b")
    X = vectorizer.fit_transform(corpus.texts)
    counts = Counts.from_matrix(X, corpus.labels)
    table = {row["metric"]: (row["df"], row["mi"]) for row in analysis.preferences(counts).to_dicts()}
    paper = {
        "mi": (0.003, 0.888),
        "bns": (0.008, 0.881),
        "chi_squared": (0.092, 0.572),
        "information_gain": (0.095, 0.559),
        "wllr": (0.168, 0.414),
        "document_frequency": (0.419, 0.090),
    }
    for name, wanted in paper.items():
        assert table[name] == pytest.approx(wanted, abs=0.04), name


@pytest.mark.parametrize(
    "name_of", [int, str, lambda code: 10**12 - 7**code], ids=["columns", "words", "far"]
)
@pytest.mark.parametrize("cells", [2**22, 40])
def test_stability_of_prefixes_is_that_of_the_sets_they_are(monkeypatch, name_of, cells):
    """Beside sets: two problems, one with a size that was also selected by itself, a selection too short."""
    monkeypatch.setattr("termsieve.analysis.stability.MAX_CELLS", cells)  # 40: ten columns at a time, or six
    generator, sizes = np.random.default_rng(8), [1.0, 3.0, 8.0, 12.0]
    ranked = {
        (problem, fold): [name_of(int(code)) for code in generator.permutation(15)[: 12 - 5 * (fold == 2)]]
        for problem in "pq"
        for fold in range(4 if problem == "p" else 7)
    }
    own = {("q", 5): [name_of(0), name_of(1), name_of(2)], ("q", 0): [name_of(3)]}  # not the first of 12
    fixed = {"corpus": "toy", "trial": 0, "method": "bns", "learner": "svm", "size_kind": "k"}
    rows = [
        {**fixed, "problem": problem, "fold": fold, "size": size, "terms": terms, "ratio": None, "lam": None}
        for size, chosen in ((12.0, ranked), (3.0, own))
        for (problem, fold), terms in chosen.items()
    ]
    selections = pl.DataFrame(rows, schema_overrides={"ratio": pl.Float64, "lam": pl.Float64})
    found = analysis.fold_stability(selections, n_terms=15, sizes=sizes)
    assert found.select("problem", "size").rows() == [(problem, size) for problem in "pq" for size in sizes]
    for row in found.to_dicts():
        sets = {key: terms[: int(row["size"])] for key, terms in ranked.items() if key[0] == row["problem"]}
        if row["size"] == 3:
            sets |= {key: terms for key, terms in own.items() if key in sets}
        pairs = list(combinations(sets.values(), 2))
        assert row["n_sets"] == len(sets)
        assert row["jaccard"] == pytest.approx(np.mean([analysis.jaccard(a, b) for a, b in pairs]))
        assert row["kuncheva"] == pytest.approx(np.mean([analysis.kuncheva(a, b, 15) for a, b in pairs]))


def test_stability_counts_a_repeated_term_once_and_takes_no_selections(selections):
    rows = selections.with_columns(terms=pl.Series([["a", "b", "a"], ["a", "c", "c"], [], ["x"]]), size=3.0)
    ranked = rows.with_columns(ratio=pl.lit(None, dtype=pl.Float64), lam=pl.lit(None, dtype=pl.Float64))
    table = analysis.fold_stability(ranked, n_terms=9, sizes=[2.0]).filter(pl.col("problem") == "p")
    assert table["jaccard"].to_list() == pytest.approx([1 / 9, 1 / 9])
    nothing = analysis.fold_stability(rows.clear(), n_terms=9)
    assert nothing.is_empty()
    assert nothing.columns == table.columns
