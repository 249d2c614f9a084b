"""Intervals of scores and ranks: against simulated corpora, the document bootstrap and the closed form."""

import json

import numpy as np
import pytest
from scipy.stats import beta, norm

from termsieve import METRICS, Counts, load_docstrings, rank, score, telling_words
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.errors import ParameterError
from termsieve.intervals import term_intervals

RNG = np.random.default_rng(7)
POS, NEG = 60, 300


def one_class(tp, fp, pos=POS, neg=NEG):
    tp, df = np.array([tp]), np.array(tp) + np.array(fp)
    return Counts(tp, [pos], df, pos + neg, ["yes"])


def bounds_of(counts, metric, side="both", level=0.95):
    ranking = rank(score(counts, metric, fold=side != "positive"), side=side)
    found = term_intervals(ranking, counts.n_terms, level)
    low, high = np.full((2, counts.n_terms), np.nan)
    low[ranking.order], high[ranking.order] = found.low, found.high
    return low, high


def test_a_score_that_follows_one_rate_has_the_quantiles_of_that_rate():
    """With (almost) no documents outside, tpr - fpr is the rate inside: Jeffreys' interval, from scipy."""
    low, high = bounds_of(one_class([12, 30], [0, 0], neg=10**9), "risk_difference")
    for tp, found in zip((12, 30), zip(low, high, strict=True), strict=True):
        assert found == pytest.approx(beta(tp + 0.5, POS - tp + 0.5).ppf([0.025, 0.975]), abs=2e-3)


@pytest.mark.parametrize("metric", ["log_odds_ratio", "bns", "information_gain", "g2", "cc"])
@pytest.mark.parametrize("side", ["both", "positive"])
def test_95_percent_of_the_intervals_hold_the_score_of_the_true_rates(metric, side):
    inside, outside = RNG.uniform(0.05, 0.6, 2000), RNG.uniform(0.03, 0.4, 2000)
    if side == "positive":
        outside = np.minimum(inside, outside)
    counts = one_class(RNG.binomial(POS, inside), RNG.binomial(NEG, outside))
    low, high = bounds_of(counts, metric, side)
    truth = METRICS["correlation_coefficient" if metric == "cc" else metric](
        POS * inside, NEG * outside, POS, NEG
    )
    truth = np.abs(truth) if side == "both" else truth
    # Of 2,000 the share varies by half a percent; the two-sided ones have no sign and gain at zero.
    assert 0.93 <= np.mean((low <= truth) & (truth <= high)) <= 0.975


@pytest.mark.parametrize("metric", ["log_odds_ratio", "log_ratio", "bns", "g2"])
def test_rare_words_have_intervals_that_hold(metric):
    """Many of these words are in no document of the class, where smoothing moves a score the most."""
    inside, outside = RNG.uniform(0, 0.05, 2000), RNG.uniform(0.02, 0.05, 2000)
    counts = one_class(RNG.binomial(POS, inside), RNG.binomial(NEG, outside) + 1, neg=NEG + 1)
    low, high = bounds_of(counts, metric)
    truth = np.abs(METRICS[metric](POS * inside, NEG * outside, POS, NEG))
    assert np.mean((low <= truth) & (truth <= high)) >= 0.93


def test_equal_rates_are_inside_however_the_metric_is_biased():
    rates = RNG.uniform(0.1, 0.5, 2000)
    counts = one_class(RNG.binomial(POS, rates), RNG.binomial(NEG, rates))
    low, _ = bounds_of(counts, "g2")
    assert (score(counts, "g2").values > 0).mean() > 0.9  # as scores go, hardly a term is at zero
    assert np.mean(low < 1e-9) >= 0.93


@pytest.mark.parametrize("side", ["both", "positive", "negative"])
def test_intervals_are_finite_and_ordered_for_extreme_tables(side):
    counts = one_class([60, 1, 0, 60, 30, 12], [300, 0, 1, 0, 150, 60])
    for metric in METRICS.values():
        if metric.elementwise and metric.kind != "no class":
            low, high = bounds_of(counts, metric, side)
            assert np.isfinite([low, high]).all(), metric
            assert (low <= high).all(), metric


def test_the_dirichlet_log_odds_has_its_closed_form():
    X = RNG.poisson(0.4, (80, 30))
    counts = Counts.from_matrix(X, ["a"] * 30 + ["b"] * 50, occurrences=True)
    frame = telling_words(counts, "dirichlet_log_odds", target="a", side="positive", interval=0.9)
    assert (frame["high"] - frame["score"]).to_numpy() == pytest.approx(norm.ppf(0.95))
    assert (frame["score"] - frame["low"]).to_numpy() == pytest.approx(norm.ppf(0.95))


def bootstrap_ranks(X, y, metric, columns, rounds):
    """Ranks of some columns in real resamples of the documents of each class."""
    ranks = np.empty((rounds, len(columns)), dtype=int)
    for i in range(rounds):
        drawn = np.concatenate([RNG.choice(np.flatnonzero(y == c), (y == c).sum()) for c in np.unique(y)])
        order = rank(
            score(Counts.from_matrix(X[drawn], y[drawn]).take(["yes"]), metric), side="positive"
        ).order
        place = np.empty(X.shape[1], dtype=int)
        place[order] = np.arange(1, len(order) + 1)
        ranks[i] = place[columns]
    return ranks


def test_ranks_agree_with_the_bootstrap_of_documents_where_terms_are_independent():
    rates = np.r_[np.linspace(0.9, 0.4, 12), np.full(40, 0.1)]
    y = np.array(["yes"] * 100 + ["no"] * 300)
    X = (RNG.random((400, 52)) < np.where((y == "yes")[:, None], rates, 0.1)).astype(int)
    X[0] = 1  # no term is absent
    ranking = rank(score(Counts.from_matrix(X, y).take(["yes"]), "cc"), side="positive")
    found = term_intervals(ranking, 12, 0.9)
    drawn = bootstrap_ranks(X, y, "cc", ranking.order[:12], 150)
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    assert np.abs(found.rank_low - low).mean() <= 1
    assert np.abs(found.rank_high - high).mean() <= 1.5
    assert found.in_list == pytest.approx((drawn <= 12).mean(axis=0), abs=0.2)
    assert found.in_list[:6].tolist() == [1.0] * 6


def test_the_list_is_the_same_with_intervals_and_every_call_gives_the_same(tmp_path, capsys, monkeypatch):
    corpus = load_docstrings()
    plain = telling_words(corpus, k=5, each=True)
    first, second = (telling_words(corpus, k=5, each=True, interval=0.95) for _ in range(2))
    assert first.equals(second)
    assert first.select(plain.columns).equals(plain)
    assert (first["low"] <= first["score"]).all()
    assert (first["score"] <= first["high"]).all()
    assert (first["rank_low"] <= first["rank_high"]).all()
    monkeypatch.chdir(tmp_path)
    assert exit_code(app, ["demo", "--data", "scipy.csv"]) == 0
    capsys.readouterr()
    assert exit_code(app, ["rank", "scipy.csv", "--each", "-k", "5", "--interval", "0.95", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == first.to_dicts()


WRONG = [
    ({"interval": 95.0}, "between 0 and 1"),
    ({"interval": 1}, "between 0 and 1"),
    ({"interval": 0.9, "metric": "word_frequency"}, "reads occurrences"),
    ({"interval": 0.9, "combine": "mean"}, "combine='max'"),
    ({"interval": 0.9, "redundancy": 0.5}, "give one of them"),
]


@pytest.mark.parametrize(("options", "sentence"), WRONG, ids=[s for _, s in WRONG])
def test_what_has_no_interval_is_told(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        telling_words(load_docstrings(), **options)
