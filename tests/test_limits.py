"""Document-frequency limits: one rule everywhere, and that rule is CountVectorizer's."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from termsieve.counts import Counts
from termsieve.errors import ParameterError
from termsieve.limits import document_limits
from termsieve.ranking import rank
from termsieve.scores import score
from termsieve.terms import kept_columns

TEXTS = ["aa bb cc", "aa bb", "aa dd", "aa bb ee", "aa"]
LIMITS = st.one_of(
    st.integers(-1, 7), st.floats(-0.5, 1.5), st.sampled_from([True, np.int64(2), np.float64(0.5)])
)


@settings(deadline=None, max_examples=200)
@given(min_df=LIMITS, max_df=LIMITS)
def test_ranking_and_vectorizing_keep_what_countvectorizer_keeps(min_df, max_df):
    X = CountVectorizer().fit_transform(TEXTS)
    counts = Counts.from_matrix(X, list("xyxyx"))
    try:
        expected = CountVectorizer(min_df=min_df, max_df=max_df).fit(TEXTS).get_feature_names_out().tolist()
    except ValueError as error:
        if "no terms remain" not in str(error).lower():
            with pytest.raises(ParameterError):
                document_limits(5, min_df, max_df)
            return
        expected = []
    names = CountVectorizer().fit(TEXTS).get_feature_names_out()
    ranked = rank(score(counts, "bns"), min_df=min_df, max_df=max_df).order
    assert sorted(names[ranked]) == expected
    if expected:
        assert names[kept_columns(X, min_df, max_df)].tolist() == expected


def test_a_term_in_no_document_is_never_kept():
    X = sparse.csr_matrix([[1, 0], [1, 0]])
    assert kept_columns(X, min_df=0.0).tolist() == [0]


@pytest.mark.parametrize("limit", ["1", None, np.nan, 1j, [1]])
def test_what_is_no_number_is_refused(limit):
    with pytest.raises(ParameterError, match="it must be a whole number of documents from 1, or a share"):
        document_limits(5, limit, 1.0)


def test_shares_are_exact_where_they_can_be():
    assert document_limits(3, Fraction(1, 3), Fraction(2, 3)) == (1, 2)
