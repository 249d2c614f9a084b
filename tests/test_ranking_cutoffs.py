"""Cut-offs by p-value against scikit-learn's selectors and scipy, and terms that are kept or dropped."""

import json

import numpy as np
import pytest
from scipy.stats import chi2 as chi2_distribution
from scipy.stats import chi2_contingency, false_discovery_control, fisher_exact, norm
from sklearn.feature_selection import SelectFdr, SelectFpr, SelectFwe, chi2

from termsieve import Corpus, Counts, TermSelector, cut, rank, score, select_terms, telling_words
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.errors import ParameterError
from termsieve.ranking import p_values

SKLEARN = {"fpr": SelectFpr, "fdr": SelectFdr, "fwe": SelectFwe}


def documents(n_classes, seed=0, n_docs=300, n_terms=80):
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n_docs)
    rates = random.uniform(0.05, 0.5, n_terms) + 0.15 * (np.arange(n_terms) < 25) * (y == 1)[:, None]
    return (random.random((n_docs, n_terms)) < rates).astype(int), y


def pearson(X, y):
    """scikit-learn's statistic sees no absent terms; with their complements added it is Pearson's."""
    present, absent = chi2(X, y)[0], chi2(1 - X, y)[0]
    return present + absent, chi2_distribution.sf(present + absent, len(np.unique(y)) - 1)


@pytest.mark.parametrize("rate", ["fpr", "fdr", "fwe"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_selection_is_that_of_scikit_learn(rate, n_classes):
    X, y = documents(n_classes)
    combine = "max" if n_classes == 2 else "joint"
    ours = TermSelector("chi_squared", combine=combine, **{rate: 0.05}).fit(X, y)
    theirs = SKLEARN[rate](pearson, alpha=0.05).fit(X, y)
    np.testing.assert_array_equal(ours.get_support(), theirs.get_support())
    assert 3 < len(ours.selected_) < 80


def test_p_values_are_scipys():
    X, y = documents(2, 1)
    for name in ("chi_squared", "correlation_coefficient", "g2", "fisher_exact"):
        ranking = rank(score(Counts.from_matrix(X, y).take([1]), name))
        for column, p in zip(ranking.order[::9], p_values(ranking)[::9], strict=True):
            a, b = X[y == 1, column].sum(), X[y == 0, column].sum()
            table = [[a, b], [(y == 1).sum() - a, (y == 0).sum() - b]]
            if name == "fisher_exact":
                sides = [fisher_exact(table, side).pvalue for side in ("less", "greater")]
                expected = min(1, 2 * min(sides))
            else:
                likelihood = "log-likelihood" if name == "g2" else None
                expected = chi2_contingency(table, correction=False, lambda_=likelihood).pvalue
            assert p == pytest.approx(expected, rel=1e-7), name


def test_the_z_score_of_the_dirichlet_log_odds_has_the_normal_p_value():
    X, y = documents(2, 2)
    ranking = rank(score(Counts.from_matrix(X, y, occurrences=True).take([1]), "dirichlet_log_odds"))
    z = ranking.scores[ranking.order]
    assert p_values(ranking) == pytest.approx(2 * norm.sf(np.abs(z)))


def test_the_greatest_of_several_classes_is_corrected_for_their_number():
    X, y = documents(4, 3)
    ranking = rank(score(Counts.from_matrix(X, y), "chi_squared"))
    one_by_one = np.array(
        [p_values(rank(score(Counts.from_matrix(X, y == c).take([1]), "chi")))[:1] for c in range(4)]
    )
    assert p_values(ranking)[0] == pytest.approx(min(1, 4 * one_by_one.min()))
    kept = cut(ranking, fdr=0.1)
    assert len(kept) == (false_discovery_control(p_values(ranking)) <= 0.1).sum()


def test_words_for_a_class_are_chosen_by_the_same_test():
    X, y = documents(2, 4)
    counts = Counts.from_matrix(X, y).take([1])
    both = cut(rank(score(counts, "cc")), fdr=0.05)
    positive = cut(rank(score(counts, "cc"), side="positive"), fdr=0.05)
    assert set(both) == set(positive)


WRONG = [
    ({"metric": "bns", "fdr": 0.05}, "metric 'bns' has no p-value; these metrics have one"),
    ({"metric": "chi", "fdr": 0.05, "combine": "mean"}, "no p-value; leave out alpha="),
    ({"metric": "chi", "fpr": 1.5}, "fpr must be a number between 0 and 1"),
    ({"metric": "chi", "fwe": 0.1, "k": 3}, "give one cut-off"),
    ({"metric": "chi", "keep": ["word"]}, "the columns have no names"),
    ({"metric": "chi", "drop": "word"}, "must be a list of terms"),
]


@pytest.mark.parametrize(("options", "sentence"), WRONG, ids=[s for _, s in WRONG])
def test_wrong_calls_are_told(options, sentence):
    X, y = documents(3)
    with pytest.raises(ParameterError, match=sentence):
        TermSelector(**options).fit(X, y)


def test_kept_terms_are_added_and_dropped_ones_never_chosen():
    X, y = documents(2, 5)
    plain = TermSelector("chi", k=10).fit(X, y)
    worst, best = plain.ranking_[-1], plain.ranking_[0]
    for cuts in ({"k": 10}, {"fdr": 0.001}, {"threshold": 9.0}, {"sparsity": 2.0}):
        cut_only = TermSelector("chi", **cuts, drop=[best]).fit(X, y)
        both = TermSelector("chi", **cuts, keep=[worst, 10**6], drop=[best]).fit(X, y)
        assert both.selected_.tolist() == [*cut_only.selected_, worst]
        assert best not in both.selected_
    sieved = TermSelector("chi", k=10, redundancy=0.9, keep=[worst], drop=[best]).fit(X, y)
    assert worst in sieved.selected_
    assert best not in sieved.selected_
    rare = TermSelector("chi", k=3, min_df=0.9, keep=[worst])  # no other term is in so many documents
    assert rare.fit(X, y).selected_.tolist() == [worst]


@pytest.fixture
def mail():
    texts = ["buy cheap pills"] * 8 + ["see you soon", "see the pills"] * 4
    return Corpus(texts, ["spam"] * 8 + ["ham"] * 8)


def test_lists_have_kept_words_with_their_ranks(mail):
    plain = telling_words(mail, k=100)
    frame = telling_words(mail, k=2, keep=["the", "unknown"], drop=["buy"])
    assert "buy" not in frame["term"]
    assert frame["term"].to_list()[-1] == "the"
    without = [word for word in plain["term"] if word != "buy"]
    assert frame["rank"].to_list() == [1, 2, without.index("the") + 1]
    assert select_terms(mail, "chi", k=1, keep=["the"]) == ["buy", "the"]


def test_the_commands_take_words_from_a_list_or_a_file(mail, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mail.to_frame().write_csv("mail.csv")
    (tmp_path / "stop.txt").write_text("buy\ncheap\n")

    def run(*words):
        assert exit_code(app, [*words]) == 0
        return json.loads(capsys.readouterr().out)

    rows = run("rank", "mail.csv", "-k", "2", "--keep", "the, you", "--drop", "stop.txt", "--json")
    assert {"the", "you"} < {row["term"] for row in rows}
    assert not {"buy", "cheap"} & {row["term"] for row in rows}
    assert run("select", "mail.csv", "-m", "chi", "--fdr", "0.001") == ["buy", "cheap", "see"]
    assert run("select", "mail.csv", "-m", "g2", "--fwe", "0.001", "--drop", "see") == ["buy", "cheap"]
    assert len(run("rank", "mail.csv", "--redundancy", "mrmr", "-k", "2", "--json")) == 2
