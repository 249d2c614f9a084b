"""The tails of the hypergeometric distribution against scipy's, and for numbers that are not whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom
from termsieve.kernels.tails import log_tails


def tail(tp, df, pos, neg):
    return float(log_tails(*(np.array([float(number)]) for number in (tp, df, pos, neg)))[0])


@settings(max_examples=60, deadline=None)
@given(pos=st.integers(1, 60), neg=st.integers(1, 200), data=st.data())
def test_equals_the_sum_of_scipys_probabilities(pos, neg, data):
    df = data.draw(st.integers(0, pos + neg))
    least, most = max(df - neg, -(-df * pos // (pos + neg))), min(df, pos)
    tp = data.draw(st.integers(least, most))
    probabilities = hypergeom.pmf(np.arange(tp, most + 1), pos + neg, df, pos)
    assert tail(tp, df, pos, neg) == pytest.approx(np.log(probabilities.sum()), rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(pos=st.floats(0.5, 100), neg=st.floats(0.5, 100), a=st.floats(0, 1), b=st.floats(0, 1))
def test_numbers_that_are_not_whole_have_finite_tails(pos, neg, a, b):
    tp, fp = pos * max(a, b), neg * min(a, b)
    value = tail(tp, tp + fp, pos, neg)
    assert np.isfinite(value)
    assert value <= 0


def test_tables_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="one length"):
        log_tails(np.zeros(2), np.zeros(2), np.ones(2), np.ones(1))
