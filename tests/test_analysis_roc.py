"""Points and lines of the ROC plane against small tables done by hand."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from termsieve import Counts, analysis
from termsieve.analysis.roc import usual_cutoffs, usual_stop_words
from termsieve.errors import ParameterError, UnknownNameError


def random_counts(seed, n_terms=60, pos=25, neg=40):
    generator = np.random.default_rng(seed)
    tp = generator.binomial(pos, generator.beta(0.3, 1, n_terms))
    fp = generator.binomial(neg, generator.beta(0.3, 1, n_terms))
    return Counts([tp], [pos], tp + fp, pos + neg, ["c"], [f"w{i}" for i in range(n_terms)], multilabel=True)


def test_both_branches_of_a_two_sided_metric_are_drawn():
    counts = random_counts(1, n_terms=200)
    lines = analysis.isoclines(counts, metrics=["bns", "wllr"], sizes=[20])
    sides = {}
    for (name, _), part in lines.group_by("metric", "line"):
        middle = part.sort("step").row(part.height // 2, named=True)
        sides.setdefault(name, set()).add(bool(middle["tp"] * 40 > middle["fp"] * 25))
    assert sides["bns"] == {True, False}
    assert sides["wllr"] == {True}


def test_sizes_beyond_the_terms_have_no_line_and_other_metrics_none_at_all():
    counts = random_counts(2)
    assert analysis.isoclines(counts, metrics=["bns"], sizes=[5000]).is_empty()
    with pytest.raises(ParameterError, match="metric 'random' has no isoclines"):
        analysis.isoclines(counts, metrics=["random"])
    with pytest.raises(ParameterError, match="1 to 12 metrics, not 13"):
        analysis.roc_map(counts, metrics=["bns"] * 13)
    assert not analysis.isoclines(
        counts, metrics=[lambda tp, fp, pos, neg: tp - 2 * fp], sizes=[9]
    ).is_empty()


def test_points_group_the_terms_that_share_a_table():
    X = [[1, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]]
    counts = Counts.from_matrix(X, ["a", "a", "b"], terms=["w", "v", "u", "t"])
    points = analysis.term_points(counts, "a")
    assert sorted(points.rows()) == [(0, 2, 2, "w, v"), (1, 0, 1, "u"), (1, 1, 1, "t")]
    assert (
        analysis.term_points(counts, "a", max_words=1).filter(pl.col("terms") == 2)["words"].item()
        == "w and 1 more"
    )
    kept = analysis.term_points(counts, "a", metrics=["accuracy"], max_points=1)
    assert kept["words"].to_list() == ["w, v"]
    with pytest.raises(UnknownNameError, match="class 'c' is unknown"):
        analysis.term_points(counts, "c")
    three = Counts.from_matrix(X, ["a", "b", "c"])
    with pytest.raises(ParameterError, match="3 classes; choose one with label="):
        analysis.roc_map(three)


def test_stop_words_are_counted_at_their_points():
    X = [[1, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]]
    counts = Counts.from_matrix(X, ["a", "a", "b"], terms=["the", "offer", "and", "ship"])
    points = analysis.term_points(counts, "a", stop_words="english")
    assert sorted(points.select("words", "stop").rows()) == [("and", 1), ("ship", 0), ("the, offer", 1)]
    own = analysis.roc_map(counts, "a", sizes=[1], stop_words=["offer", "the"]).points
    assert own.filter(pl.col("terms") == 2)["stop"].item() == 2
    assert own["stop"].sum() == 2


def test_a_cutoff_is_the_line_of_one_document_frequency():
    lines = analysis.cutoff_lines(30, 200, (5, 100, 215))
    assert lines["cutoff"].unique().sort().to_list() == [5, 100, 215]
    assert (lines["fp"] + lines["tp"] - lines["cutoff"]).abs().max() < 1e-9
    ends = {cutoff: (part["tp"].max(), part["fp"].max()) for (cutoff,), part in lines.group_by("cutoff")}
    assert ends == {5: (5, 5), 100: (30, 100), 215: (30, 200)}
    assert lines["fp"].min() >= 0
    assert lines["tp"].min() >= 0
    with pytest.raises(ParameterError, match="between 1 and 229 documents, not 230"):
        analysis.cutoff_lines(30, 200, [230])
    counts = random_counts(4)
    assert analysis.roc_map(counts).cutoffs is None
    assert analysis.roc_map(counts, cutoffs=[3]).cutoffs.height > 2


def test_the_stop_words_that_a_map_marks_are_those_of_the_frequent_words():
    def language(words, df):
        n = len(words)
        return usual_stop_words(Counts([df], [9], df, 30, ["c"], words, multilabel=True)) if n else None

    english = ["the", "of", "and", "to", "in"] + [f"offer{i}" for i in range(60)]
    assert language(english, [9] * 5 + [3] * 60) is None  # five of the fifty most frequent
    assert language(english[:25], [9] * 5 + [3] * 20) == "english"
    assert language(["der", "und", "nicht", "haus"], [4, 3, 2, 1]) == "german"
    assert language(["der", "und", "nicht", "x1", "x2"], [0, 0, 0, 1, 1]) is None  # in no document
    assert usual_cutoffs(1123) == (3, 561)
    assert [usual_cutoffs(n) for n in (3, 4, 6, 8)] == [(), (3,), (3,), (3, 4)]


def test_points_count_every_present_term_once():
    counts = random_counts(5, n_terms=500)
    points = analysis.term_points(counts)
    assert points["terms"].sum() == int((counts.df > 0).sum())
    assert points.select("fp", "tp").n_unique() == points.height


def test_a_family_of_isoclines_has_the_levels_asked_for():
    family = analysis.isocline_family("accuracy", pos=10, neg=20, levels=[-5.0, 0.0, 5.0])
    assert family["level"].unique().sort().to_list() == [-5.0, 0.0, 5.0]
    # accuracy is tp - fp, folded: on each line tp - fp, or its mirror image, is the level
    for row in family.filter(pl.col("level") == 5.0).to_dicts():
        difference = 10 * row["tpr"] - 20 * row["fpr"]
        assert min(abs(difference - 5), abs(-10 - difference - 5)) < 1e-6
    assert analysis.isocline_family("bns", levels=4)["level"].n_unique() == 4


def test_the_surface_has_the_scores_of_the_metric():
    surface = analysis.score_surface("bns", pos=20, neg=40, steps=4)
    tpr, fpr = np.meshgrid(np.arange(5) / 4, np.arange(5) / 4, indexing="ij")
    clip = [np.clip(rate, 0.0005, 0.9995) for rate in (tpr, fpr)]
    wanted = np.abs(norm.ppf(clip[0]) - norm.ppf(clip[1]))
    points = surface.points.sort("tpr", "fpr")
    np.testing.assert_allclose(points["score"].to_numpy().reshape(5, 5), wanted, atol=1e-9)
    assert surface.cells.height == 4 * 16
    assert surface.metric == "bns"
    # The first cell is the farthest, at the rates (1, 1); the last one the nearest, at (0, 0).
    first, last = (surface.cells.filter(pl.col("cell") == cell)["score"][0] for cell in (0, 15))
    assert first == pytest.approx(wanted[3:, 3:].mean())
    assert last == pytest.approx(wanted[:2, :2].mean())
    with pytest.raises(ParameterError, match="steps must be between 2 and 20"):
        analysis.score_surface("bns", pos=20, neg=40, steps=21)
    with pytest.raises(ParameterError, match="metric 'random'"):
        analysis.score_surface("random")


def test_nearer_cells_of_the_surface_are_drawn_over_farther_ones():
    """A flat metric shows the plane itself, whose lower edge is the nearer one."""
    cells = analysis.score_surface(lambda tp, fp, pos, neg: tp * 0.0, steps=6).cells
    heights = cells.group_by("cell", maintain_order=True).agg(pl.col("y").mean())["y"].to_list()
    assert heights == sorted(heights, reverse=True)
