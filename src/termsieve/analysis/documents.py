"""A term matrix with labels, or counts, come in; facts for warnings about the documents go out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from termsieve.analysis.duplicates import duplicate_documents, row_keys
from termsieve.analysis.of_counts import shown
from termsieve.counts import Counts

FEW_DOCUMENTS = 10  # in a class with fewer documents, many words are there by chance
GIVEAWAY = 0.9  # a term whose rates inside and outside the class differ by more gives the class away


@dataclass(frozen=True)
class DocumentFacts:
    """Facts that only the documents show, not their counts.

    `empty` documents have no term, `duplicates` repeat the terms of an earlier one, `contradictory` ones
    share their terms with a document of another label; `mean_terms` is the mean number of distinct terms.

    Parameters
    ----------
    empty : int
        Documents without a term.
    duplicates : int
        Documents with the terms of an earlier one.
    contradictory : int
        Documents with the terms of a document of another label.
    mean_terms : float
        Mean number of distinct terms per document.
    """

    empty: int
    duplicates: int
    contradictory: int
    mean_terms: float


def document_facts(X: Any, labels: Sequence[Any] | NDArray[Any]) -> DocumentFacts:
    """Return the empty, repeated and contradictory documents of a sparse term matrix in CSR form.

    Parameters
    ----------
    X : sparse matrix of shape (n_docs, n_terms)
        The term matrix, in CSR form.
    labels : sequence
        The label of each document.

    Returns
    -------
    DocumentFacts
        The numbers of such documents.
    """
    lengths = np.diff(X.indptr)
    repeated = duplicate_documents(row_keys(X), labels)
    return DocumentFacts(
        empty=int((lengths == 0).sum()),
        duplicates=repeated.height - repeated["group"].n_unique(),
        contradictory=int(repeated["conflict"].sum()),
        mean_terms=float(lengths.mean()),
    )


def giveaways(counts: Counts) -> pl.DataFrame:
    """Return the terms that nearly determine their class, the clearest first: often a header or the label.

    `tpr` and `fpr` are the shares of the documents inside and outside the class that have the term.

    Parameters
    ----------
    counts : Counts
        The counts of the documents.

    Returns
    -------
    polars.DataFrame
        One row per such term: class, term, tpr, fpr.
    """
    found = []
    for rows, tp, fp in counts.blocks():
        pos, neg = counts.pos[rows], counts.neg[rows]
        # A term in at least half of the documents of the class: few terms remain to be examined.
        for c, t in zip(*np.nonzero(2 * tp >= np.maximum(pos, FEW_DOCUMENTS)[:, None]), strict=True):
            tpr, fpr = tp[c, t] / pos[c], fp[c, t] / max(1, neg[c])
            if neg[c] and (tpr - fpr >= GIVEAWAY or fp[c, t] == 0):
                found.append((tpr - fpr, rows.start + int(c), int(t), float(tpr), float(fpr)))
    found.sort(key=lambda each: (-each[0], each[1], each[2]))
    names = counts.names()
    table = [(shown(counts.classes[c]), shown(names[t]), tpr, fpr) for _, c, t, tpr, fpr in found]
    schema = {"class": pl.String, "term": pl.String, "tpr": pl.Float64, "fpr": pl.Float64}
    return pl.DataFrame(table, schema=schema, orient="row")
