"""Keys are sorted as numpy sorts them."""

import numpy as np
import pytest
from termsieve.kernels.sorting import FEW_KEYS, argsorted


@pytest.mark.parametrize("n", [0, 1, FEW_KEYS - 1, FEW_KEYS, 3 * FEW_KEYS])
def test_keys_are_sorted_and_equal_ones_keep_their_order(n):
    rng = np.random.default_rng(n)
    for keys in (
        rng.permutation(n).astype(np.uint64) << np.uint64(44),
        rng.integers(0, 2**64, n, dtype=np.uint64),
        rng.integers(0, 7, n).astype(np.uint64) << np.uint64(30),
        np.zeros(n, np.uint64),
    ):
        assert np.array_equal(argsorted(keys), np.argsort(keys, kind="stable"))
