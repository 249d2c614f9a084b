"""Arrays that no honest file holds reach the kernels through whatever reads files: they are refused.

With the checked build a wild index is an IndexError here, with the sanitizers the end of the process.
"""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.fuzz.changes import INTS, changed_array

from termsieve import Corpus, Counts, TermSelector, TermVectorizer, TermWeighter, count, rank, score
from termsieve.counts.counter import analysis_of
from termsieve.counts.sources import Source
from termsieve.counts.stream import tally_of
from termsieve.counts.tally import Tally
from termsieve.errors import TermsieveError
from termsieve.kernels import counting, streaming, tokenise

MATRIX = sparse.csr_matrix([[1, 0, 2, 0], [0, 3, 0, 1], [1, 1, 0, 0], [0, 0, 0, 4], [2, 0, 1, 1]])
LABELS = ["spam", "ham", "spam", "ham", "eggs"]
BATCH = (["cheap pills now", "see you at noon", "cheap watches", "noon", "eggs"], LABELS)
TALLY = tally_of(Source([BATCH]), analysis_of({}), True).tally.arrays()


def damaged(matrix, name, array):
    """Return a CSR with one of its arrays exchanged behind scipy's back."""
    copied = matrix.copy()
    setattr(copied, name, array)
    return copied


@st.composite
def matrices(draw):
    name = draw(st.sampled_from(["indptr", "indices", "data"]))
    return damaged(MATRIX, name, draw(changed_array(getattr(MATRIX, name))))


USERS = {
    "counts": lambda X: rank(score(Counts.from_matrix(X, LABELS), "bns")),
    "occurrences": lambda X: Counts.from_matrix(X, LABELS, occurrences=True),
    "several labels": lambda X: Counts.from_matrix(X, [("a", "b"), (), ("a",), ("c",), ("b",)]),
    "corpus": lambda X: Corpus(matrix=X, labels=LABELS),
    "selector": lambda X: TermSelector(k=2).fit(X, LABELS),
    "weighter": lambda X: TermWeighter("bns").fit(MATRIX, LABELS).transform(X),
}


@pytest.mark.parametrize("use", USERS.values(), ids=USERS)
@settings(max_examples=150)
@given(matrices())
def test_a_damaged_matrix_is_used_or_refused(use, X):
    # scikit-learn's own checks of a matrix raise ValueError, or TypeError where it is not one at all.
    with suppress(TermsieveError, ValueError, TypeError):
        use(X)


@pytest.mark.parametrize("place", [4, 5, 1000, 2**31 - 1, -1, -(2**31)])
@pytest.mark.parametrize("use", USERS.values(), ids=USERS)
def test_an_index_beyond_the_columns_is_refused(use, place):
    indices = MATRIX.indices.copy()
    indices[3] = place
    with pytest.raises((TermsieveError, ValueError)):
        use(damaged(MATRIX, "indices", indices))


@pytest.mark.parametrize("ends", [[0, 2, 4, 6, 7, 10**9], [0, -5, 4, 6, 7, 10], [5, 4, 3, 2, 1, 10], [0, 10]])
@pytest.mark.parametrize("use", USERS.values(), ids=USERS)
def test_rows_beyond_the_entries_are_refused(use, ends):
    with pytest.raises((TermsieveError, ValueError)):
        use(damaged(MATRIX, "indptr", np.array(ends, dtype=np.int32)))


@settings(max_examples=400)
@given(st.sampled_from(sorted(set(TALLY) - {"head"})), st.data())
def test_a_damaged_tally_is_used_or_refused(name, data):
    arrays = {**TALLY, name: data.draw(changed_array(TALLY[name]))}
    with suppress(TermsieveError):
        tally = Tally.from_arrays(arrays)
        tally.counts()
        (tally + tally).pruned(2)


wild_ends = st.lists(st.sampled_from([*(n for n in INTS if abs(n) < 2**63), 3, 5, 10]), max_size=6)


@settings(max_examples=300)
@given(wild_ends, wild_ends)
def test_ends_of_terms_beyond_their_bytes_are_refused(a, b):
    data = np.frombuffer(b"cheapnoonpills", dtype=np.uint8)
    first, second = np.array(a, dtype=np.int64), np.array(b, dtype=np.int64)
    for call in (
        lambda: streaming.cut_terms(data, first),
        lambda: streaming.are_sorted(data, first),
        lambda: streaming.merged_terms(data, first, data, second),
        lambda: streaming.taken_terms(data, first, second),
        lambda: counting.dense_cells(first, second.astype(np.int32), second, 3),
    ):
        with suppress(ValueError, IndexError):
            call()
    if not _ascending_within(first, len(data)):
        assert not _accepted(lambda: streaming.are_sorted(data, first))
        assert not _accepted(lambda: streaming.cut_terms(data, first) or True)
        assert not _accepted(lambda: streaming.merged_terms(data, first, data, np.array([3, 14])))
        assert not _accepted(lambda: streaming.taken_terms(data, first, np.arange(len(first))))


def _ascending_within(ends, size):
    return all(0 <= end <= size for end in ends) and bool((ends[1:] >= ends[:-1]).all())


def _accepted(call):
    """Whether a kernel neither raised an error nor said no."""
    try:
        return bool(call())
    except (ValueError, IndexError):
        return False


@pytest.mark.parametrize("place", [3, 100_000_000, 2**31 - 1])
def test_a_vocabulary_with_a_wild_column_is_refused(place):
    vectorizer = TermVectorizer(vocabulary={"cheap": 0, "pills": 1, "noon": 2}).fit(BATCH[0])
    vectorizer.vocabulary_ = {"cheap": 0, "pills": 1, "noon": place}
    with pytest.raises((TermsieveError, ValueError, IndexError)):
        vectorizer.transform(BATCH[0])


@pytest.mark.parametrize("column", [2, 7, 2**31 - 1])
def test_rows_are_not_placed_beyond_the_matrix(column):
    ends = np.zeros(1, dtype=np.int64)
    room = np.zeros(2, dtype=np.int32), np.zeros(2, dtype=np.int64)
    with pytest.raises((ValueError, IndexError)):
        tokenise.place_rows(
            np.array([0, 2]),
            np.array([0, 1], dtype=np.int32),
            np.ones(2, dtype=np.int32),
            np.array([0, column], dtype=np.int32),
            2,
            *room,
            ends,
        )


@pytest.mark.parametrize(("n_indices", "n_data", "n_ends"), [(1, 2, 1), (2, 1, 1), (2, 2, 0)])
def test_rows_are_not_placed_where_there_is_no_room(n_indices, n_data, n_ends):
    ids = np.array([0, 1], dtype=np.int32)
    room = np.zeros(n_indices, dtype=np.int32), np.zeros(n_data, dtype=np.int64)
    with pytest.raises(ValueError, match="no room"):
        tokenise.place_rows(
            np.array([0, 2]), ids, np.ones(2, dtype=np.int32), ids, 2, *room, np.zeros(n_ends, dtype=np.int64)
        )


def test_the_honest_arrays_are_used():
    assert Tally.from_arrays(TALLY).counts() == count([BATCH], occurrences=True)
    for use in USERS.values():
        use(MATRIX)
