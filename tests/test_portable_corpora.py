"""Exported models on the papers' corpora: several classes, several labels, two classes."""

import pytest
from benchmarks.portable import compare, corpus_of, fitted, halves

from termsieve import Model
from termsieve.adviser.portfolio import Representation, Setting
from termsieve.ranking import Size


@pytest.mark.slow
@pytest.mark.corpora
@pytest.mark.parametrize("name", ["20_newsgroups", "reuters21578", "movie_reviews"])
def test_scorers_decide_as_the_pipeline(data_dir, browser, name):
    """All settings: python -m benchmarks.portable equality."""
    setting = Setting(
        Representation(weight="bns", pairs=True), "svm(balanced, C=1.0)", "weights", Size("k", 300)
    )
    train, texts = halves(corpus_of(name), 400, 150)
    model = Model(fitted(setting, train), tuple(train.classes.tolist()) if train.multilabel else None)
    for scorer, (difference, differ) in compare(model, texts, browser.new_page()).items():
        assert difference < (1e-6 if scorer == "DuckDB" else 1e-9), scorer
        assert differ == 0, scorer
