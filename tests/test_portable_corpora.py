"""Exported models on the papers' corpora: one class, several labels, two classes."""

import pytest
from benchmarks.portable import compare, corpus_of

from termsieve.adviser.portfolio import Representation, Setting
from termsieve.ranking import Size


@pytest.mark.slow
@pytest.mark.corpora
@pytest.mark.parametrize("name", ["20_newsgroups", "reuters21578", "movie_reviews"])
def test_scorers_decide_as_the_pipeline(data_dir, name):
    """Every setting and all documents: python -m benchmarks.portable equality."""
    setting = Setting(
        Representation(weight="bns", pairs=True), "svm(balanced, C=1.0)", "weights", Size("k", 300)
    )
    found = compare(corpus_of(name), setting, n_train=400, n_test=150, browser=name == "movie_reviews")
    for scorer, (difference, differ) in found.items():
        assert difference < (1e-6 if scorer == "sql" else 1e-9), scorer
        assert differ == 0, scorer
