"""Term counts of documents come in; which documents are equal or nearly equal goes out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from termsieve.adviser.verdicts import Flags

SIMILAR = 0.85  # of the distinct terms of two documents together, the share that both have
BANDS, ROWS = (
    10,
    6,
)  # of the signature: at .85 a pair is found with 99 %, at .5 with 15 %, before it is compared
LEAST_GROUPS = 5  # of a class, that must be left: one for each fold
LARGEST = 0.1  # of the documents, that a group may hold

Groups = NDArray[np.int64]


@dataclass(frozen=True)
class Duplicates:
    """Documents that are equal or nearly equal to others, and whether splits keep them together."""

    n_documents: int  # that have a near-duplicate
    n_groups: int
    largest: int
    kept_together: bool

    @property
    def sentence(self) -> str:
        """What is to be said of them, or an empty string."""
        if self.n_documents == 0:
            return ""
        found = (
            f"{self.n_documents:,} documents are equal or nearly equal to others ({self.n_groups:,} groups, "
            f"the largest of {self.largest:,})"
        )
        if self.kept_together:
            return f"{found}; a group is never on both sides of a split."
        return (
            f"{found}; they are too many to be kept on one side of every split, so the figure is too high "
            "for documents that repeat no other."
        )


NONE_ALIKE = Duplicates(0, 0, 1, True)


def kept_together(
    words: sparse.csr_matrix, truth: Flags, group: Groups | None
) -> tuple[Groups | None, Duplicates]:
    """Return the groups that no split may divide, near-duplicates and given groups, and what was found.

    Where whole classes are made of few near-duplicates, or a tenth of the documents are alike, only the
    given groups are returned: no split could test such a class.
    """
    alike = near_duplicates(words)
    sizes = np.bincount(alike)
    n_groups, largest = int((sizes > 1).sum()), int(sizes.max(initial=1))
    n_documents = int(sizes[sizes > 1].sum())
    if n_groups == 0:
        return group, NONE_ALIKE
    given = np.arange(len(truth)) if group is None else group
    together = alike if group is None else _joined(alike, group)
    enough = all(
        len(np.unique(together[side])) >= min(LEAST_GROUPS, len(np.unique(given[side]))) for side in truth.T
    )
    # Near-duplicates may join given groups one after the other until little is left to test.
    largest_given = int(np.bincount(given).max())
    possible = enough and int(np.bincount(together).max()) <= max(2, LARGEST * len(truth), largest_given)
    return together if possible else group, Duplicates(n_documents, n_groups, largest, possible)


def next_alike(group: Groups) -> Groups:
    """Return the next document of each document's group; itself where it is alone.

    >>> next_alike(np.array([5, 7, 5, 5, 8])).tolist()
    [2, 1, 3, 0, 4]
    """
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    following = np.append(order[1:], order[:1])
    following[np.append(starts[1:], len(group)) - 1] = order[starts]
    found = np.empty(len(group), dtype=np.int64)
    found[order] = following
    return found


def near_duplicates(words: sparse.csr_matrix) -> Groups:
    """Return a group number for each document: equal for documents whose distinct terms are nearly the same.

    Candidates are found by minhash signatures in bands (broder1997), and then compared.
    """
    n_docs = words.shape[0]
    filled = np.flatnonzero(np.diff(words.indptr))
    if len(filled) < 2:
        return np.arange(n_docs)
    pairs = _candidates(words, filled)
    alike = pairs[:, _similarity(words, *pairs) >= SIMILAR]
    graph = sparse.coo_matrix((np.ones(alike.shape[1]), alike), shape=(n_docs, n_docs))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _candidates(words: sparse.csr_matrix, filled: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pairs of documents (2 x pairs) whose signatures are equal in a band: neighbours in its order."""
    generator = np.random.default_rng(0)
    starts, found = words.indptr[filled], []
    for _ in range(BANDS):
        key = np.zeros(len(filled), dtype=np.uint64)
        for _ in range(ROWS):
            table = generator.integers(1, 2**63, size=words.shape[1], dtype=np.uint64)
            key = key * np.uint64(0x9E3779B97F4A7C15) + np.minimum.reduceat(table[words.indices], starts)
        order = np.argsort(key, kind="stable")
        same = np.flatnonzero(key[order][1:] == key[order][:-1])
        found.append(np.stack([filled[order[same]], filled[order[same + 1]]]))
    return np.unique(np.concatenate(found, axis=1), axis=1)


def _similarity(words: sparse.csr_matrix, left: Groups, right: Groups) -> NDArray[np.float64]:
    """Return the share of the distinct terms of each pair that both documents have."""
    there = sparse.csr_matrix((np.ones(words.nnz), words.indices, words.indptr), shape=words.shape)
    both = np.asarray(there[left].multiply(there[right]).sum(axis=1)).ravel()
    sizes = np.diff(words.indptr)
    return np.asarray(both / np.maximum(sizes[left] + sizes[right] - both, 1))


def _joined(one: Groups, other: Groups) -> Groups:
    """Return groups such that documents that are together in either are together."""
    n_docs = len(one)
    nodes = np.concatenate([one, other + one.max() + 1])
    documents = np.tile(np.arange(n_docs), 2)
    shape = (n_docs, int(nodes.max()) + 1)
    member = sparse.coo_matrix((np.ones(2 * n_docs), (documents, nodes)), shape=shape).tocsr()
    graph = sparse.bmat([[None, member], [member.T, None]])
    return np.asarray(connected_components(graph, directed=False)[1][:n_docs], dtype=np.int64)
