"""Empty, repeated and contradictory documents, and terms that give their class away."""

import numpy as np
import pytest
import scipy.sparse as sparse

from termsieve import Counts, analysis


def test_documents_by_a_loop():
    X = sparse.csr_matrix([[1, 0, 2], [1, 0, 2], [0, 0, 0], [1, 0, 1], [1, 0, 2]])
    found = analysis.document_facts(X, ["a", "b", "a", "a", "a"])
    assert (found.empty, found.duplicates, found.contradictory) == (1, 2, 3)
    assert found.mean_terms == pytest.approx(8 / 5)


def test_giveaways_are_in_their_class_and_nowhere_else():
    X = np.zeros((40, 3), dtype=int)
    X[:20, 0] = 1  # in every document of the class, and in no other
    X[::2, 1] = 1
    counts = Counts.from_matrix(X, ["a"] * 20 + ["b"] * 17 + ["c"] * 3, terms=["label", "common", "never"])
    assert analysis.giveaways(counts).to_dicts() == [{"class": "a", "term": "label", "tpr": 1.0, "fpr": 0.0}]
    assert analysis.giveaways(counts.take([1])).is_empty()
