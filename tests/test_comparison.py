"""The comparison of metrics: against plain rankings and scipy."""

import json
from collections import Counter

import polars as pl
import pytest
from scipy.stats import spearmanr
from tests.test_telling import LABELS, TEXTS

from termsieve import Corpus, compare_metrics, count, rank, score
from termsieve.errors import ParameterError

MAIL = Corpus(TEXTS, LABELS)


def test_metrics_are_compared_by_their_best_terms():
    found = compare_metrics(MAIL, ["bns", "chi", "df"], target="sport", k=4)
    own = count(MAIL).take(["sport"])
    order = {name: rank(score(own, name)).terms.tolist() for name in found.metrics}
    for row in found.overlap.to_dicts():
        a, b = order[row["metric"]], order[row["other"]]
        assert row["both"] == len(set(a[:4]) & set(b[:4]))
        assert row["shared"] == row["both"] / 4
        either = sorted(set(a[:4]) | set(b[:4]))
        expected = spearmanr([a.index(term) for term in either], [b.index(term) for term in either])
        assert row["correlation"] == pytest.approx(expected.statistic)
    chosen = Counter(term for terms in order.values() for term in terms[:4])
    assert {row["term"]: row["chosen_by"] for row in found.terms.to_dicts()} == chosen
    assert found.terms["chosen_by"].is_sorted(descending=True)
    for row in found.terms.to_dicts():
        assert row["chi_squared"] == order["chi_squared"].index(row["term"]) + 1
    assert json.loads(json.dumps(found.to_dict()))["k"] == 4
    with pytest.raises(ParameterError, match="two different metrics"):
        compare_metrics(MAIL, ["chi", "chi_squared"])


def test_ranks_beyond_the_ranking_are_missing():
    found = compare_metrics(MAIL, ["bns", "df"], k=2, min_df=2)
    assert found.terms["df"].min() >= 2
    only = Corpus(["a1", "b1"], ["x", "y"])
    assert compare_metrics(only, ["bns", "df"], k=1).overlap["correlation"].dtype == pl.Float64
