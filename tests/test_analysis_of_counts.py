"""Tables of classes, telling terms, overlaps and sparsity against loops over the counts."""

import numpy as np
import pytest

from termsieve import Counts, analysis, get_metric, rank, score


@pytest.fixture(scope="module")
def counts():
    generator = np.random.default_rng(3)
    y = np.array(["ham", "spam", "eggs"])[generator.integers(0, 3, 90)]
    rates = 0.1 + 0.8 * generator.random((3, 60)) * generator.random(60)
    X = generator.random((90, 60)) < rates[np.unique(y, return_inverse=True)[1]]
    return Counts.from_matrix(X.astype(int), y, terms=[f"w{i}" for i in range(60)])


def test_telling_terms_are_the_best_of_each_direction(counts):
    table = analysis.telling_terms(counts, "eggs", "chi_squared", n=3)
    assert table["speaks"].to_list() == ["for"] * 3 + ["against"] * 3
    assert table["class"].unique().to_list() == ["eggs"]
    c = counts.classes.tolist().index("eggs")
    tp, fp, pos, neg = counts.tp[c], counts.fp[c], counts.pos[c], counts.neg[c]
    values = get_metric("chi_squared")(tp, fp, pos, neg)
    best = values[tp * neg > fp * pos].max()
    assert table["score"][0] == pytest.approx(best)
    assert table["rank"].min() == 1
    for row in table.to_dicts():
        t = counts.terms.tolist().index(row["term"])
        assert (row["tp"], row["fp"]) == (tp[t], fp[t])
        assert row["speaks"] == ("for" if tp[t] * neg > fp[t] * pos else "against")


def test_class_sizes_are_sorted_and_add_up(counts):
    table = analysis.class_sizes(counts)
    assert table["documents"].to_list() == sorted(counts.pos.tolist(), reverse=True)
    assert table["share"].sum() == pytest.approx(1)
    first = table.row(0, named=True)
    assert first["skew"] == pytest.approx((90 - first["documents"]) / first["documents"])


def test_overlaps_and_sparsity_by_a_loop(counts):
    table = analysis.metric_overlaps(counts, ["bns", "df"], k=10)
    best = {name: set(rank(score(counts, name)).order[:10].tolist()) for name in ("bns", "df")}
    shared = dict(zip(zip(table["first"], table["second"], strict=True), table["shared"], strict=True))
    assert shared["bns", "document_frequency"] == len(best["bns"] & best["df"])
    assert shared["bns", "bns"] == 10
    order = rank(score(counts, "bns")).order
    for row in analysis.sparsity_table(counts, ["bns"]).to_dicts():
        assert row["sparsity"] == pytest.approx(counts.df[order[: row["terms"]]].sum() / 90)
