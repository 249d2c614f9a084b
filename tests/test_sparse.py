"""scipy.sparse by way of termsieve.sparse: the same, and imported only when it is used."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

from termsieve import sparse


@pytest.mark.parametrize("x", [np.zeros((2, 2)), [[1]], None, "text"])
def test_other_things_are_not_sparse(x):
    assert sparse.issparse(x) is False


@pytest.mark.parametrize("name", ["csr_array", "csc_array", "csr_matrix", "coo_array", "lil_matrix"])
def test_its_names_are_scipys(name):
    assert getattr(sparse, name) is getattr(scipy.sparse, name)
    assert sparse.issparse(getattr(sparse, name)((2, 2))) is True


def test_a_name_that_scipy_does_not_have_is_an_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sparse.nothing


def test_scipy_is_imported_when_a_matrix_is_made():
    code = """
import sys
from termsieve import sparse
assert not sparse.issparse([1])
assert "scipy" not in sys.modules
assert sparse.issparse(sparse.csr_array((1, 1)))
assert "scipy.sparse" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
