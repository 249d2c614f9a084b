"""Metrics against the expected scores, independent implementations and the identities between them."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score

from termsieve import METRICS, get_metric
from termsieve.errors import ParameterError, UnknownNameError
from termsieve.metrics import Metric, Occurrences, direction

VECTORS = json.loads(Path(__file__).with_name("data").joinpath("metrics.json").read_text())["rows"]
OCCURRENCE_METRICS = [name for name, m in METRICS.items() if m.needs == "occurrences"]
TABLE_METRICS = [name for name in METRICS if name not in OCCURRENCE_METRICS]


@st.composite
def tables(draw, smallest=0, largest=5000):
    """A valid (tp, fp, pos, neg)."""
    pos = draw(st.integers(smallest, largest))
    neg = draw(st.integers(smallest, largest))
    return draw(st.integers(0, pos)), draw(st.integers(0, neg)), pos, neg


def mirrored(tp, fp, pos, neg):
    return (pos - tp, neg - fp, pos, neg) if direction(tp, fp, pos, neg) < 0 else (tp, fp, pos, neg)


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: "{tp}-{fp}-{pos}-{neg}".format(**row))
def test_expected_scores(row):
    table = row["tp"], row["fp"], row["pos"], row["neg"]
    assert direction(*table) == row["direction"]
    for name, expected in row["scores"].items():
        name, _, folded = name.partition("|")
        value = get_metric(name)(*(mirrored(*table) if folded else table))
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-12), name


def test_the_vectors_cover_every_metric_of_the_table():
    named = {get_metric(name.partition("|")[0]).name for name in VECTORS[0]["scores"]}
    of_the_papers = {name for name in TABLE_METRICS if METRICS[name].function.__module__.endswith(".papers")}
    assert named == of_the_papers - {"random"}


@pytest.mark.parametrize("name", TABLE_METRICS)
@given(table=tables())
def test_every_valid_table_has_a_finite_score(name, table):
    value = get_metric(name)(*table)
    assert np.isfinite(value)
    if table[2] == 0 or table[3] == 0:
        assert get_metric(name).kind == "no class" or value == 0


@pytest.mark.parametrize("name", TABLE_METRICS)
def test_arrays_score_as_their_cells_do(name):
    rng = np.random.default_rng(1)
    pos, neg = rng.integers(0, 30, (5, 1)), rng.integers(0, 30, (5, 1))
    tp, fp = rng.integers(0, pos + 1, (5, 8)), rng.integers(0, neg + 1, (5, 8))
    whole = get_metric(name)(tp, fp, pos, neg)
    assert whole.shape == (5, 8)
    if name != "random":
        for c, t in np.ndindex(5, 8):
            assert whole[c, t] == get_metric(name)(tp[c, t], fp[c, t], pos[c, 0], neg[c, 0])


@given(table=tables(1))
def test_chi_squared_is_that_of_scipy(table):
    tp, fp, pos, neg = table
    cells = np.array([[tp, fp], [pos - tp, neg - fp]])
    if cells.sum(axis=1).min() == 0:
        assert get_metric("chi")(*table) == 0
    else:
        assert get_metric("chi")(*table) == pytest.approx(
            chi2_contingency(cells, correction=False).statistic, abs=1e-9
        )


@given(table=tables(1, 60))
def test_information_gain_is_mutual_information_of_presence_and_class(table):
    tp, fp, pos, neg = table
    presence = [1] * tp + [0] * (pos - tp) + [1] * fp + [0] * (neg - fp)
    expected = mutual_info_score([1] * pos + [0] * neg, presence)
    assert get_metric("ig(nats=True)")(*table) == pytest.approx(expected, abs=1e-12)
    assert get_metric("ig")(*table) == pytest.approx(expected / np.log(2), abs=1e-12)


@given(table=tables(1))
def test_identities(table):
    tp, fp, pos, neg = table
    chi = get_metric("chi")(*table)
    assert get_metric("cc")(*table) ** 2 == pytest.approx(chi, rel=1e-9, abs=1e-12)
    assert get_metric("ors")(*table) == pytest.approx(get_metric("or")(*table) ** 2)
    assert get_metric("wfo(1)")(*table) == (tp / pos if tp / pos > max(fp, 0.5) / neg else 0)
    if tp / pos > max(fp, 0.5) / neg:
        assert get_metric("wfo(0.5)")(*table) ** 2 == pytest.approx(get_metric("wllr")(*table))
    z_times_ratio = np.sqrt(chi) * (tp / pos) / (max(fp, 1) / neg)
    assert get_metric("gu(proportions=True)")(*table) == pytest.approx(z_times_ratio, rel=1e-9, abs=1e-12)


@given(table=tables(1))
def test_swapping_the_classes(table):
    tp, fp, pos, neg = table
    swapped = fp, tp, neg, pos
    for name in ("sig", "cc", "or"):
        assert get_metric(name)(*swapped) == pytest.approx(-get_metric(name)(*table), rel=1e-9, abs=1e-12)
    for name in ("bns", "chi", "ig"):
        assert get_metric(name)(*swapped) == pytest.approx(get_metric(name)(*table), rel=1e-9, abs=1e-12)


@given(table=tables(1))
def test_information_gain_of_mirrored_tables_ties_exactly(table):
    tp, fp, pos, neg = table
    assert (
        get_metric("ig")(pos - tp, neg - fp, pos, neg)
        == get_metric("ig")(*table)
        == get_metric("ig")(fp, tp, neg, pos)
    )


@given(first=tables(1, 200), second=st.data())
def test_wfo_0_ranks_positive_terms_as_mutual_information_does(first, second):
    tp, fp, pos, neg = first
    other = second.draw(st.integers(0, pos)), second.draw(st.integers(1, neg)), pos, neg
    fp = max(fp, 1)
    table = tp, fp, pos, neg
    if direction(*table) > 0 and direction(*other) > 0:
        a = get_metric("wfo(0)")(*table) - get_metric("wfo(0)")(*other)
        b = get_metric("mi")(*table) - get_metric("mi")(*other)
        assert abs(a) < 1e-9 or abs(b) < 1e-9 or np.sign(a) == np.sign(b)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=1), st.integers(0, 30), st.integers(0, 30)
)
def test_occurrence_metrics_against_a_loop(documents, other_pos, other_neg):
    x1, x0 = ([x for inside, x in documents if inside is side] for side in (True, False))
    occurrences = Occurrences(
        *(np.float64(v) for v in (sum(x1), sum(x0), sum(x1) + other_pos, sum(x0) + other_neg)),
        np.float64(sum(x * x for _, x in documents)),
        n_terms=3,
    )
    table = sum(x > 0 for x in x1), sum(x > 0 for x in x0), len(x1), len(x0)
    assert get_metric("wf")(*table, occurrences=occurrences) == sum(x1) + sum(x0)
    if not x1 or not x0:
        assert get_metric("bss_wss")(*table, occurrences=occurrences) == 0
        return
    q1, q0 = (sum(x1) + 1) / (sum(x1) + other_pos + 3), (sum(x0) + 1) / (sum(x0) + other_neg + 3)
    wor = np.log(q1 / (1 - q1) / (q0 / (1 - q0)))
    assert get_metric("wor")(*table, occurrences=occurrences) == pytest.approx(wor, abs=1e-12)
    m1, m0, m = np.mean(x1), np.mean(x0), np.mean(x1 + x0)
    within = sum((x - m1) ** 2 for x in x1) + sum((x - m0) ** 2 for x in x0)
    between = len(x1) * (m1 - m) ** 2 + len(x0) * (m0 - m) ** 2
    expected = between / within if within > 1e-9 else 0 if m1 == m0 else len(documents)
    assert get_metric("bss_wss")(*table, occurrences=occurrences) == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


def test_bss_wss_of_presence_needs_no_occurrences():
    ones = Occurrences(*(np.float64(v) for v in (8, 2, 8, 2, 10)), n_terms=1)
    assert get_metric("bss_wss")(8, 2, 10, 90) == get_metric("bss_wss")(8, 2, 10, 90, occurrences=ones)


@pytest.mark.parametrize(
    ("spec", "printed"),
    [
        ("bns", "bns"),
        ("bi_normal_separation", "bns"),
        ("or", "log_odds_ratio"),
        ("wfo(0.3)", "wfo(0.3)"),
        ("wfo(lam=0.3)", "wfo(0.3)"),
        ("wfo", "wfo(0.5)"),
        ("power( k = 3 )", "power(k=3)"),
        ("bns(clip=0.001)", "bns(clip=0.001)"),
        ("gu(proportions=True)", "gu(proportions=True)"),
        ("mi(smoothing=1, classes=20)", "mutual_information(smoothing=1, classes=20)"),
        ("random(seed=7)", "random(seed=7)"),
    ],
)
def test_names_parse_and_print_back(spec, printed):
    assert str(get_metric(spec)) == printed
    assert get_metric(printed) == get_metric(spec)
    assert pickle.loads(pickle.dumps(get_metric(spec))) == get_metric(spec)


def test_parameters_change_the_score():
    assert get_metric("power(k=1)")(8, 2, 10, 90) == pytest.approx((1 - 2 / 90) - 0.2)
    assert get_metric("bns(clip=0.01)")(10, 0, 10, 90) < get_metric("bns")(10, 0, 10, 90)
    assert get_metric("random(seed=1)")(1, 1, 2, 2) != get_metric("random(seed=2)")(1, 1, 2, 2)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("bnz", "did you mean 'bns'"),
        ("wfo(2)", "lam must lie between 0 and 1"),
        ("wfo('a')", "wrong type"),
        ("power(k=0)", "k must be above 0"),
        ("power(q=1)", "parameters: k"),
        ("bns(clip=0.7)", "clip must lie between"),
        ("bns(", "not a name with arguments"),
        ("bns(**x)", "not a name with arguments"),
        ("", "not a name with arguments"),
        ("mi(smoothing=-1)", "0 or more"),
        (7, "a name or a callable"),
    ],
)
def test_wrong_names_are_told(spec, words):
    with pytest.raises(ParameterError, match=words.replace("(", r"\(")):
        get_metric(spec)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="known: accuracy, balanced_accuracy, bns"):
        get_metric("zzzz")


def test_any_callable_is_a_metric():
    def gain(tp, fp, pos, neg):
        return tp / pos

    assert get_metric(gain)(8, 2, 10, 90) == 0.8
    assert str(get_metric(gain)) == "gain"
    assert get_metric(gain).kind == "two-sided"
    assert get_metric(gain)(0, 2, 0, 90) == 0
    assert get_metric(Metric("mine", gain, kind="one-sided", folds=True)).folds


def test_the_registry_is_consistent():
    names = [name for m in METRICS.values() for name in (m.name, *m.aliases)]
    assert len(names) == len(set(names))
    for name, m in METRICS.items():
        assert m.name == name
        assert m.label
        assert m.cite
        assert m.formula
        assert m.use.endswith(".")
        assert m.function.__doc__
        assert m.kind in ("two-sided", "signed", "one-sided", "no class")
        assert not m.folds or m.kind == "one-sided"


@given(table=tables(1))
def test_kinds_are_what_they_say(table):
    for m in map(get_metric, TABLE_METRICS):
        value = m(*table)
        if m.kind == "two-sided":
            assert value >= 0
        if m.name in ("correlation_coefficient", "gss", "signed_information_gain"):
            assert np.sign(np.round(value, 12)) in (0, direction(*table))
