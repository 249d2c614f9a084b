"""Rankings and cut-offs against slow, literal readings of their rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score

from termsieve import METRICS, Counts, cut, rank, score
from termsieve.counts import matrix as counts_module
from termsieve.errors import InputError, ParameterError
from termsieve.ranking import keys, sparsity_curve

SEEDS = st.integers(0, 2**32 - 1)


def problem(seed, n_docs=25, n_terms=30, n_classes=2):
    rng = np.random.default_rng(seed)
    X = (rng.random((n_docs, n_terms)) < rng.beta(0.5, 1.5, n_terms)).astype(int)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_docs - n_classes)])
    return X, y


def binary(seed, **kwargs):
    counts = Counts.from_matrix(*problem(seed, **kwargs))
    return counts.take([1])


def literal(counts, key):
    """Present columns by key (a tuple, larger is better), then document frequency, then lower column."""
    present = [t for t in range(counts.n_terms) if counts.df[t] > 0]
    return sorted(present, key=lambda t: (*(-k for k in key(t)), -counts.df[t], t))


@given(SEEDS, st.sampled_from([name for name, m in METRICS.items() if m.needs != "occurrences"]))
def test_both_sides(seed, name):
    scores = score(binary(seed), name)
    values = np.abs(scores.values[0]) if scores.metric.kind == "signed" else scores.values[0]
    assert rank(scores).order.tolist() == literal(scores.counts, lambda t: (values[t],))


@given(SEEDS, st.sampled_from([name for name, m in METRICS.items() if m.needs != "occurrences"]))
def test_positive_side_takes_positive_terms_first(seed, name):
    scores = score(binary(seed), name, fold=False)
    value, sign = scores.values[0], scores.direction[0]
    if scores.metric.kind == "signed":
        expected = literal(scores.counts, lambda t: (value[t],))
    elif scores.metric.kind == "two-sided":
        expected = literal(scores.counts, lambda t: (sign[t], sign[t] * value[t]))
    else:
        expected = literal(scores.counts, lambda t: (sign[t], value[t]))
    ranking = rank(scores, side="positive")
    assert ranking.order.tolist() == expected
    if scores.metric.kind != "signed":
        assert (np.diff(sign[ranking.order]) <= 0).all()


@given(SEEDS, st.sampled_from(["cc", "or", "chi", "bns", "f1", "acc", "ig"]))
def test_negative_side_is_the_mirror_image(seed, name):
    scores = score(binary(seed), name)
    value, sign = scores.values[0], scores.direction[0]
    if scores.metric.kind == "signed":
        expected = literal(scores.counts, lambda t: (-value[t],))
    else:
        expected = literal(scores.counts, lambda t: (-sign[t], -sign[t] * value[t]))
    assert rank(scores, side="negative").order.tolist() == expected


@given(SEEDS, st.integers(0, 20).map(lambda i: i / 20))
def test_every_prefix_of_a_ratio_ranking_is_zhengs_selection(seed, ratio):
    scores = score(binary(seed), "cc")
    counts, value = scores.counts, scores.values[0]
    best = literal(counts, lambda t: (value[t],))
    worst = literal(counts, lambda t: (-value[t],))
    order = rank(scores, ratio=ratio).order.tolist()
    assert sorted(order) == sorted(best)
    for size in range(1, len(order) + 1):
        n_positive = int(np.floor(round(ratio * size, 9) + 0.5))
        united = set(best[:n_positive]) | set(worst[: size - n_positive])
        if len(united) == size:  # where ties made the two lists meet, the next unused term fills the place
            assert set(order[:size]) == united


def test_ratio_rounds_half_up():
    X = np.eye(20, dtype=int)
    scores = score(Counts.from_matrix(X, [1] * 10 + [0] * 10).take([1]), "cc")
    for ratio, size, n_positive in [
        (0.15, 10, 2),
        (0.05, 10, 1),
        (0.25, 10, 3),
        (0.55, 10, 6),
        (0.45, 10, 5),
    ]:
        chosen = rank(scores, ratio=ratio).order[:size]
        assert (chosen < 10).sum() == n_positive


@given(SEEDS, st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.9, 1.0]))
def test_alpha_weighs_positive_against_negative_terms(seed, alpha):
    scores = score(binary(seed), "bns")
    weighed = scores.values[0] * np.where(scores.direction[0] > 0, alpha, 1 - alpha)
    assert rank(scores, alpha=alpha).order.tolist() == literal(scores.counts, lambda t: (weighed[t],))
    if alpha == 0.5:
        assert rank(scores, alpha=alpha).order.tolist() == rank(scores).order.tolist()


@given(SEEDS, st.sampled_from(["bns", "cc", "mi", "f1"]))
def test_max_and_mean_over_classes(seed, name):
    scores = score(Counts.from_matrix(*problem(seed, n_classes=4)), name)
    values = np.abs(scores.values) if scores.metric.kind == "signed" else scores.values
    assert rank(scores).order.tolist() == literal(scores.counts, lambda t: (values[:, t].max(),))
    mean = (
        sum(size * row for size, row in zip(scores.counts.pos, values, strict=True)) / scores.counts.pos.sum()
    )
    assert rank(scores, combine="mean").order.tolist() == literal(scores.counts, lambda t: (mean[t],))
    np.testing.assert_array_equal(rank(scores).scores, values.max(axis=0))


@given(SEEDS, st.sampled_from(["both", "positive", "negative"]))
def test_round_robin_takes_each_class_in_turn(seed, side):
    scores = score(Counts.from_matrix(*problem(seed, n_classes=4)), "bns")
    counts = scores.counts
    lists = [rank(score(counts.take([c]), "bns"), side=side).order.tolist() for c in range(4)]
    expected = []
    while len(expected) < len(lists[0]):
        for terms in lists:
            expected += [t for t in terms if t not in expected][:1]
    assert rank(scores, side=side, combine="round_robin").order.tolist() == expected


@given(SEEDS)
def test_joint_forms_see_all_classes_at_once(seed):
    X, y = problem(seed, n_terms=8, n_classes=4)
    counts = Counts.from_matrix(X, y)
    gain = rank(score(counts, "ig(nats=True)"), combine="joint").scores
    chi = rank(score(counts, "chi"), combine="joint").scores
    for t in range(counts.n_terms):
        assert gain[t] == pytest.approx(mutual_info_score(y, X[:, t]), abs=1e-12)
        table = np.array([counts.tp[:, t], counts.pos - counts.tp[:, t]])
        expected = chi2_contingency(table, correction=False).statistic if table.sum(axis=1).min() else 0
        assert chi[t] == pytest.approx(expected, abs=1e-9)


@given(SEEDS)
def test_joint_form_of_two_classes_is_the_binary_one(seed):
    counts = Counts.from_matrix(*problem(seed))
    for name in ("ig", "chi"):
        joint = rank(score(counts, name), combine="joint").scores
        np.testing.assert_allclose(joint, score(counts, name).values[1], atol=1e-9)


@pytest.mark.parametrize(
    ("min_df", "max_df", "kept"),
    [
        (1, 1.0, [1, 2, 3, 4]),
        (2, 1.0, [2, 3, 4]),
        (1, 3, [1, 2, 3]),
        (0.5, 1.0, [2, 3, 4]),
        (1, 0.75, [1, 2, 3]),
    ],
)
def test_document_frequency_limits(min_df, max_df, kept):
    X = [[0, 1, 1, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1]]
    scores = score(Counts.from_matrix(X, [0, 1, 0, 1]).take([1]), "df")
    assert sorted(rank(scores, min_df=min_df, max_df=max_df).order.tolist()) == kept


def test_ties_go_to_frequent_terms_then_to_the_first_column():
    # Columns 0 and 3 hold the same documents; 1 and 2 mirror them with a higher document frequency.
    X = np.array([[1, 0, 0, 1]] + [[0, 1, 1, 0]] * 3)
    ranking = rank(score(Counts.from_matrix(X, [1, 0, 0, 0]).take([1]), "ig"))
    assert ranking.order.tolist() == [1, 2, 0, 3]


def test_a_large_table_ranks_as_a_small_one(monkeypatch):
    X, y = problem(1, n_docs=40, n_classes=6)
    small = [rank(score(Counts.from_matrix(X, y), "f1"), combine=c).order.tolist() for c in ("max", "mean")]
    monkeypatch.setattr(counts_module, "DENSE_CELLS", 50)
    counts = Counts.from_matrix(X, y)
    assert sparse.issparse(counts.tp)
    assert small == [rank(score(counts, "f1"), combine=c).order.tolist() for c in ("max", "mean")]
    with pytest.raises(InputError, match="there are too many"):
        rank(score(counts, "ig"), combine="joint")


@pytest.mark.parametrize(
    "metric",
    [*METRICS, pytest.param(lambda tp, fp, pos, neg: (tp + 1) / (tp + fp + pos), id="callable")],
)
@pytest.mark.parametrize(
    "way",
    [{}, {"side": "positive"}, {"side": "negative"}, {"ratio": 0.3}, {"alpha": 0.8}],
    ids=lambda way: "-".join(map(str, way.values())) or "both",
)
def test_the_stored_cells_of_a_sparse_table_rank_as_all_cells(monkeypatch, metric, way):
    # A term in all documents, one in none, and one in every class of some size.
    random = np.random.default_rng(3)
    y = np.repeat(np.arange(12), [1, 1, 1, 2, 2, 2, 3, 8, 8, 20, 60, 60])
    X = (random.random((len(y), 40)) < random.uniform(0.01, 0.5, 40)).astype(int)
    X[:, 0], X[:, 1], X[:, 2] = 1, 0, y >= 8
    expected = rank(score(Counts.from_matrix(X, y, occurrences=True), metric), **way)
    first = expected.head(9).to_frame()
    monkeypatch.setattr(counts_module, "DENSE_CELLS", 50)
    monkeypatch.setattr(keys, "STORED_CELLS", 60)
    large = Counts.from_matrix(X, y, occurrences=True)
    assert sparse.issparse(large.tp)
    found = rank(score(large, metric), **way)
    assert found.order.tolist() == expected.order.tolist()
    np.testing.assert_array_equal(found.scores, expected.scores)
    assert found.head(9).to_frame().equals(first)


RANK_ERRORS = [
    ({"side": "left"}, "side 'left' is unknown"),
    ({"combine": "maxx"}, "did you mean 'max'"),
    ({"ratio": 1.5}, "ratio must lie between 0 and 1, not 1.5"),
    ({"alpha": "a"}, "alpha must lie between 0 and 1, not 'a'"),
    ({"ratio": 0.5, "alpha": 0.5}, "ratio=0.5 and alpha=0.5 exclude each other"),
    ({"ratio": 0.5, "side": "positive"}, "exclude each other"),
    ({"combine": "joint", "side": "positive"}, "exclude each other"),
    ({"combine": "joint"}, "'bns' has no joint form"),
    ({"min_df": -1}, "min_df is -1; it must be a whole number of documents from 1"),
    ({"min_df": 0}, "min_df is 0; it must be a whole number of documents from 1"),
    ({"min_df": 1.5}, "min_df is 1.5; .* or a share of them from 0.0 to 1.0"),
    ({"max_df": "a"}, "max_df is 'a'; it must be a whole number of documents"),
    ({"min_df": 3, "max_df": 2}, "max_df=2 allows fewer documents than min_df=3"),
]


@pytest.mark.parametrize(("arguments", "sentence"), RANK_ERRORS, ids=[s for _, s in RANK_ERRORS])
def test_wrong_ranking_arguments_are_told(arguments, sentence):
    with pytest.raises(ParameterError, match=sentence):
        rank(score(Counts.from_matrix(*problem(0)), "bns"), **arguments)


def test_joint_needs_one_label_per_document():
    counts = Counts.from_matrix([[1], [1]], [("a", "b"), ()])
    with pytest.raises(InputError, match="exactly one label per document"):
        rank(score(counts, "ig"), combine="joint")


def test_a_ranking_needs_a_class():
    with pytest.raises(InputError, match="no class to rank for"):
        rank(score(Counts.from_matrix([[1]], [()]), "bns"))


@given(SEEDS, st.floats(0.05, 12))
def test_sparsity_and_memory_keep_as_many_terms_as_fit(seed, limit):
    X, y = problem(seed)
    counts = Counts.from_matrix(X, y)
    ranking = rank(score(counts, "ig"))
    kept = cut(ranking, sparsity=limit)
    assert (X[:, kept] > 0).sum(axis=1).mean() <= limit + 1e-9
    if len(kept) < len(ranking):
        assert (X[:, ranking.order[: len(kept) + 1]] > 0).sum(axis=1).mean() > limit
    np.testing.assert_allclose(
        sparsity_curve(counts, ranking),
        [(X[:, ranking.order[:n]] > 0).sum(axis=1).mean() for n in range(1, len(ranking) + 1)],
    )
    for size in (1, 5, len(ranking)):
        matrix = sparse.csr_matrix(X[:, ranking.order[:size]].astype(float))
        budget = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
        assert len(cut(ranking, memory=budget)) == size
        assert len(cut(ranking, memory=budget - 1)) == size - 1


def test_cutoffs():
    ranking = rank(score(Counts.from_matrix(*problem(3, n_terms=50)), "ig"))
    assert len(cut(ranking)) == len(ranking)
    assert cut(ranking, k=7).tolist() == ranking.order[:7].tolist()
    assert len(cut(ranking, k=10**9)) == len(ranking)
    assert len(cut(ranking, fraction=0.5)) == int(len(ranking) / 2 + 0.5)
    assert len(cut(ranking, fraction=1e-9)) == 1
    level = ranking.scores[ranking.order[4]]
    kept = cut(ranking, threshold=level)
    assert set(kept) == set(np.flatnonzero((ranking.scores >= level) & (ranking.counts.df > 0)))
    assert len(cut(ranking, threshold=99)) == 0
    assert len(cut(ranking, sparsity=1e-6)) == 0


CUT_ERRORS = [
    ({"k": 0}, "k must be a whole number of at least 1, not 0"),
    ({"k": -3}, "not -3"),
    ({"k": 2.0}, "not 2.0"),
    ({"k": True}, "not True"),
    ({"k": "10"}, "not '10'"),
    ({"fraction": 0}, "fraction must be a number above 0 and at most 1"),
    ({"fraction": 1.1}, "fraction must be"),
    ({"threshold": float("nan")}, "threshold must be a finite number"),
    ({"sparsity": 0}, "sparsity must be a number above 0"),
    ({"memory": -1}, "memory must be a number of bytes above 0"),
    ({"k": 3, "sparsity": 2}, "give one cut-off, not k and sparsity together"),
]


@pytest.mark.parametrize(("arguments", "sentence"), CUT_ERRORS, ids=[s for _, s in CUT_ERRORS])
def test_wrong_cutoffs_are_told(arguments, sentence):
    with pytest.raises(ParameterError, match=sentence):
        cut(rank(score(Counts.from_matrix(*problem(0)), "bns")), **arguments)


def test_ranking_frame():
    counts = Counts.from_matrix([[1, 0], [1, 1]], ["a", "b"], ["x", "y"])
    frame = rank(score(counts.take([1]), "chi")).to_frame()
    assert frame.columns == ["rank", "term", "score", "class", "direction", "tp", "fp", "pos", "neg"]
    assert frame.rows() == [(1, "y", 2.0, "b", 1, 1, 0, 1, 1), (2, "x", 0.0, "b", 0, 1, 1, 1, 1)]


@pytest.mark.parametrize("place", ["goal", 1.0, [0, 1], None])
def test_a_ranking_is_read_by_place(place):
    ranking = rank(score(binary(0), "bns"))
    with pytest.raises(ParameterError, match=r"as in ranking\[0\] or ranking\[:10\], not"):
        ranking[place]
