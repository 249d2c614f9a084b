"""Scores of counts against the metric called cell by cell, folding, frames and p-values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from termsieve import METRICS, Counts, get_metric, rank, score
from termsieve import scores as scores_module
from termsieve.counts import matrix as counts_module
from termsieve.errors import InputError


def random_counts(seed=0, n_docs=60, n_terms=40, n_classes=4, occurrences=True):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(0.3, 1.0, n_terms), (n_docs, n_terms))
    return Counts.from_matrix(X, rng.integers(0, n_classes, n_docs), occurrences=occurrences)


@pytest.mark.parametrize("name", [name for name, m in METRICS.items() if m.elementwise])
@pytest.mark.parametrize("fold", [True, False])
def test_every_cell_is_the_metric_of_its_table(name, fold):
    counts = random_counts()
    scores = score(counts, name, fold=fold)
    m = get_metric(name)
    for c, t in np.ndindex(scores.values.shape):
        tp, fp, pos, neg = counts.tp[c, t], counts.fp[c, t], counts.pos[c], counts.neg[c]
        sign = np.sign(tp * (neg - fp) - fp * (pos - tp))
        own = np.sign(scores.values[c, t]) if m.kind == "signed" else sign
        assert scores.direction[c, t] == own
        if fold and m.folds and sign < 0:
            tp, fp = pos - tp, neg - fp
        assert scores.values[c, t] == pytest.approx(m(tp, fp, pos, neg), rel=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["bns", "ig", "f1", "odds", "gu", "wfo(0.3)"]))
def test_scoring_distinct_tables_once_changes_nothing(seed, name):
    counts = random_counts(seed, n_docs=1500, n_terms=600, n_classes=3, occurrences=False)
    m = get_metric(name)
    direct = m(counts.tp, counts.fp, counts.pos[:, None], counts.neg[:, None])
    np.testing.assert_array_equal(score(counts, name, fold=False).values, direct)


def test_occurrence_metrics_see_the_occurrences():
    counts = random_counts()
    assert score(counts, "wf").values.tolist() == [counts.tf_total.tolist()] * 4
    q1 = (counts.tf + 1) / (counts.tf.sum(axis=1, keepdims=True) + 40)
    rest = counts.tf_total - counts.tf
    q0 = (rest + 1) / (rest.sum(axis=1, keepdims=True) + 40)
    np.testing.assert_allclose(score(counts, "wor").values, np.log(q1 / (1 - q1) * (1 - q0) / q0), atol=1e-12)
    assert not np.allclose(
        score(counts, "bss_wss").values, score(random_counts(occurrences=False), "bss_wss").values
    )


def test_a_metric_of_occurrences_says_when_there_are_none():
    with pytest.raises(
        InputError, match="'word_frequency' needs word occurrences; count with occurrences=True"
    ):
        _ = score(random_counts(occurrences=False), "wf").values


def test_random_scores_follow_the_term_not_its_column():
    X, y = [[1, 1, 1], [1, 0, 1]], [0, 1]
    a = score(Counts.from_matrix(X, y, ["a", "b", "c"]), "random").values
    b = score(Counts.from_matrix(X, y, ["c", "b", "a"]), "random").values
    assert a[0].tolist() == b[0, ::-1].tolist()
    assert len(set(a[0])) == 3


def test_a_callable_that_is_not_finite_is_told():
    with (
        pytest.raises(InputError, match="metric 'wrong' gave NaN or infinity"),
        np.errstate(all="ignore"),
    ):
        _ = score(random_counts(), wrong).values


def wrong(tp, fp, pos, neg):
    return tp / (fp - fp)


def test_blocks_of_a_large_table_equal_the_small_one(monkeypatch):
    small = score(random_counts(), "f1")
    expected, signs = small.values, small.direction
    monkeypatch.setattr(counts_module, "DENSE_CELLS", 100)
    monkeypatch.setattr(scores_module, "BLOCK_CELLS", 100)
    large = score(random_counts(), "f1")
    blocks = list(large.blocks())
    assert len(blocks) == 2
    np.testing.assert_array_equal(np.vstack([values for _, values, _ in blocks]), expected)
    np.testing.assert_array_equal(np.vstack([sign for _, _, sign in blocks]), signs)
    with pytest.raises(InputError, match=r"take them from blocks\(\)"):
        _ = large.values


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("side", ["both", "positive", "negative"])
def test_the_size_of_the_blocks_changes_nothing(monkeypatch, name, side):
    counts = random_counts(n_docs=300)
    values, signs = score(counts, name).values, score(counts, name).direction
    order = rank(score(counts, name), side=side).order
    monkeypatch.setattr(scores_module, "BLOCK_CELLS", 1)
    counts = random_counts(n_docs=300)
    np.testing.assert_array_equal(score(counts, name).values, values)
    np.testing.assert_array_equal(score(counts, name).direction, signs)
    np.testing.assert_array_equal(rank(score(counts, name), side=side).order, order)


def adjusted_by_definition(p):
    """Benjamini and Hochberg: the least q for which the value is among those rejected at the level q."""
    ordered = np.sort(p)
    levels = [min(1, ordered[i] * len(p) / (i + 1)) for i in range(len(p))]
    return [min(levels[i] for i in range(len(p)) if ordered[i] >= value) for value in p]


def test_frame_with_p_values():
    counts = random_counts()
    columns = ["class", "term", "score", "direction", "tp", "fp", "df"]
    for name, statistic in (("chi", lambda v: v), ("cc", np.square)):
        scores = score(counts, name)
        frame = scores.to_frame()
        assert frame.columns == [*columns, "p_value", "p_adjusted"]
        p = chi2.sf(statistic(scores.values), 1)
        np.testing.assert_allclose(frame["p_value"].to_numpy().reshape(p.shape), p, rtol=1e-9)
        adjusted = np.array([adjusted_by_definition(row) for row in p])
        np.testing.assert_allclose(frame["p_adjusted"].to_numpy().reshape(p.shape), adjusted, rtol=1e-9)
    assert score(counts, "bns").to_frame().columns == columns


def test_repr():
    assert repr(score(random_counts(), "wfo(0.3)")) == "<Scores by wfo(0.3): 4 classes, 40 terms>"
