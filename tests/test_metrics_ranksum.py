"""Rank-sum keyness against scipy's Mann-Whitney test."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import mannwhitneyu, norm

from termsieve.errors import InputError
from termsieve.metrics.ranksum import rank_sum_keyness


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_every_term_has_scipys_p_value_and_side(form):
    generator = np.random.default_rng(3)
    X = generator.poisson(generator.gamma(0.5, 2, 40), (70, 40))
    X[:, 0] = 0
    inside = generator.random(70) < 0.4
    shares = X / np.maximum(X.sum(axis=1, keepdims=True), 1)
    z = rank_sum_keyness(form(X), inside)
    absent = ~X.any(axis=0)
    assert absent[0]
    assert (z[absent] == 0).all()
    for column in np.flatnonzero(~absent):
        a, b = shares[inside, column], shares[~inside, column]
        above = mannwhitneyu(a, b, False, "greater", method="asymptotic").pvalue
        assert norm.sf(z[column]) == pytest.approx(above, rel=1e-9)


def test_a_class_of_all_documents_or_none_tells_nothing():
    assert rank_sum_keyness([[1, 2], [3, 0]], [True, True]).tolist() == [0, 0]
    with pytest.raises(InputError, match="2 documents"):
        rank_sum_keyness([[1], [2]], [True])
