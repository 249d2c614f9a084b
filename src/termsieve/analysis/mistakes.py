"""A term matrix with labels comes in; where a small classifier, cross-validated, goes wrong goes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from termsieve.analysis.of_counts import shown
from termsieve.counts import Counts
from termsieve.counts.cells import dense_rows
from termsieve.errors import InputError
from termsieve.labels import Labels, encode_labels
from termsieve.spec import READING
from termsieve.telling import MetricSpec, words_for_and_against

FOLDS = 5
MAX_WEIGHTS = 2**24  # classes x terms; if there are more, the most frequent terms are read
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CrossValidation:
    """What naive Bayes predicts for every document when it is trained on the other folds.

    Attributes
    ----------
    labels : Labels
        The classes, and the documents of each.
    values : array of shape (n_docs, n_classes)
        Decision values. With one label per document the greatest value decides; with several labels, every
        value above 0 is a label.
    fold : array of shape (n_docs,)
        The fold of each document.
    weights : array of shape (n_folds, n_classes, n_terms)
        What one occurrence of a term adds to the decision value, for the documents of that fold.
    columns : array
        The columns of the term matrix that the weights are for.
    """

    labels: Labels
    values: Floats
    fold: Ints
    weights: NDArray[np.float32]
    columns: Ints

    @property
    def truth(self) -> NDArray[np.bool_]:
        """Documents x classes: whether a document has a label."""
        return self.labels.indicator()

    @property
    def predicted(self) -> NDArray[np.bool_]:
        """Documents x classes: whether the classifier gives a document a label."""
        if self.labels.multilabel:
            return self.values > 0
        best = np.zeros(self.values.shape, dtype=bool)
        best[np.arange(len(best)), self.values.argmax(axis=1)] = True
        return best

    def figures(self) -> pl.DataFrame:
        """Return precision, recall and F1 of each class, in the order of the classes."""
        truth, predicted = self.truth, self.predicted
        tp = (truth & predicted).sum(axis=0)
        found, own = predicted.sum(axis=0), truth.sum(axis=0)
        return pl.DataFrame(
            {
                "class": [str(label) for label in self.labels.classes.tolist()],
                "documents": own,
                "precision": tp / np.maximum(found, 1),
                "recall": tp / np.maximum(own, 1),
                "f1": 2 * tp / np.maximum(found + own, 1),
            }
        )

    def confusion(self) -> Ints:
        """Return classes x classes: documents of the row's class that were predicted as the column's class.

        With several labels per document, a document that lacks one of its labels in the prediction counts
        once for each wrong label that was predicted instead.
        """
        truth, predicted = self.truth.astype(np.int64), self.predicted.astype(np.int64)
        if not self.labels.multilabel:
            return truth.T @ predicted
        missed, wrong = truth * (1 - predicted), predicted * (1 - truth)
        table = missed.T @ wrong
        table[np.diag_indices(len(table))] = (truth * predicted).sum(axis=0)
        return table

    def doubtful(self) -> tuple[Ints, Ints, Ints, Floats]:
        """Return the documents whose label the classifier contradicts, the surest contradiction first.

        Each row has the document, its own class, the predicted class, and the difference of their decision
        values. If a document has several labels, the most doubtful one counts; if no other label was
        predicted, the predicted class is -1.
        """
        truth, values = self.truth, self.values
        rows = np.arange(len(values))
        if self.labels.multilabel:
            own = np.where(truth, values, np.inf).argmin(axis=1)
            other = np.where(truth, -np.inf, values).argmax(axis=1)
            lost = np.where(truth[rows, own], -values[rows, own], 0).clip(0)
            won = np.where(truth[rows, other], 0, values[rows, other]).clip(0)
            given = np.where(won > 0, other, -1)
            margin = np.where(truth.any(axis=1), lost, 0) + won
            wrong = truth.any(axis=1) & (lost > 0)
        else:
            own, given = truth.argmax(axis=1), values.argmax(axis=1)
            margin = values[rows, given] - values[rows, own]
            wrong = own != given
        documents = np.flatnonzero(wrong)
        order = documents[np.argsort(-margin[documents], kind="stable")]
        return order, own[order], given[order], margin[order]

    def contributions(
        self, X: Any, document: int, own: int, given: int, n: int = 8
    ) -> list[tuple[int, float]]:
        """Return the n terms of a document that decided most for the predicted class against its own.

        Each row has the column of a term and what it added to the difference of the two decision values; the
        value is below 0 for terms that speak for the document's own class.
        """
        row = X[document].tocsr()
        at = np.searchsorted(self.columns, row.indices)
        known = (at < len(self.columns)) & (
            self.columns[np.minimum(at, len(self.columns) - 1)] == row.indices
        )
        weights = self.weights[self.fold[document]]
        at = at[known]
        added = (weights[given, at] if given >= 0 else 0) - weights[own, at]
        best = np.argsort(-np.abs(added), kind="stable")[:n]
        return [(int(self.columns[at[i]]), float(added[i])) for i in best]


def cross_validated(X: Any, y: Any, folds: int = FOLDS, seed: int = 0) -> CrossValidation:
    """Return what a small classifier says of documents that it was not trained on.

    The classifier is naive Bayes on the presence of terms: of the complement of each class if documents have
    one label (Rennie et al. 2003, "Tackling the poor assumptions of naive Bayes text classifiers"), and of
    each class against the rest if they have several. The documents of each class are spread over the folds
    at random, by the seed. Terms of a single document are left out, because no fold can learn from them.

    Parameters
    ----------
    X : matrix of shape (n_docs, n_terms)
        The term matrix.
    y : array-like
        The labels, one or several per document.
    folds : int, default=5
        Number of folds.
    seed : int, default=0
        Seed of the random folds.

    Returns
    -------
    CrossValidation
        Decision values and weights; `figures`, `confusion`, `doubtful` and `contributions` read them.

    Examples
    --------
    >>> X = [[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]
    >>> cross_validated(X, ["a", "a", "b", "b"], folds=2).confusion().tolist()
    [[2, 0], [0, 2]]
    """
    labels = encode_labels(y)
    matrix = sparse.csr_matrix(X)
    if len(labels.classes) < 2 or labels.n_docs < 2:
        raise InputError("a classifier needs documents of at least two classes")
    present = sparse.csr_matrix(
        (np.ones(len(matrix.data), dtype=np.float32), matrix.indices, matrix.indptr), matrix.shape
    )
    columns = _read_columns(present, len(labels.classes))
    part = present[:, columns]
    member = sparse.csr_matrix(labels.indicator().astype(np.float32))
    fold = _folds(labels, min(folds, labels.n_docs), seed)
    n_folds = int(fold.max()) + 1
    values = np.empty((labels.n_docs, len(labels.classes)))
    weights = np.empty((n_folds, len(labels.classes), len(columns)), dtype=np.float32)
    inside = np.asarray((member.T @ part).todense(), dtype=np.float64)
    total = np.asarray(part.sum(axis=0), dtype=np.float64).ravel()
    for number in range(n_folds):
        held = np.flatnonzero(fold == number)
        # The counts of the training documents are those of all minus those of the documents held out.
        own = inside - np.asarray((member[held].T @ part[held]).todense())
        rest = total - np.asarray(part[held].sum(axis=0), dtype=np.float64).ravel() - own
        chances = np.log((_share(own) if labels.multilabel else 1.0) / _share(rest))
        prior = np.zeros(len(labels.classes))
        if labels.multilabel:
            sizes = labels.sizes - np.asarray(member[held].sum(axis=0)).ravel()
            n_train = labels.n_docs - len(held)
            prior = np.log((sizes + 0.5) / (n_train - sizes + 0.5))
        weights[number] = chances
        values[held] = part[held] @ weights[number].T + prior
    return CrossValidation(labels, values, fold, weights, columns)


def _share(counts: Floats) -> Floats:
    """Return each term's share of all occurrences of a class, one occurrence added to each."""
    smooth = counts + 1.0
    return smooth / smooth.sum(axis=1, keepdims=True)


def _read_columns(present: sparse.csr_matrix, n_classes: int) -> Ints:
    """Return the columns of terms in at least two documents, at most as many as the weights have room for."""
    df = np.bincount(present.indices, minlength=present.shape[1])
    often = np.argsort(-df, kind="stable")[: max(1, MAX_WEIGHTS // n_classes)]
    kept = np.sort(often[df[often] > 1])
    return kept if len(kept) else np.sort(often)


def _folds(labels: Labels, n_folds: int, seed: int) -> Ints:
    """Return the fold of each document; the documents of a class are spread evenly."""
    generator = np.random.default_rng(seed)
    fold = generator.integers(0, n_folds, labels.n_docs)
    next_fold = 0
    for c in np.argsort(labels.sizes, kind="stable") if not labels.multilabel else ():
        own = labels.docs[labels.class_ptr[c] : labels.class_ptr[c + 1]]
        fold[generator.permutation(own)] = (np.arange(len(own)) + next_fold) % n_folds
        next_fold += len(own)
    return np.unique(fold, return_inverse=True)[1]


def class_figures(validation: CrossValidation) -> pl.DataFrame:
    """Return precision, recall and F1 of each class, the class with the lowest F1 first.

    Parameters
    ----------
    validation : CrossValidation
        The result of `cross_validated`.

    Returns
    -------
    polars.DataFrame
        One row per class: class, documents, precision, recall, f1.
    """
    return validation.figures().sort("f1", "class")


def confused_pairs(
    validation: CrossValidation, counts: Counts, metric: MetricSpec = READING, n: int = 12, words: int = 5
) -> pl.DataFrame:
    """Return the pairs of classes that are mistaken for each other most often, and the words between them.

    Parameters
    ----------
    validation : CrossValidation
        The result of `cross_validated`.
    counts : Counts
        The counts of the documents.
    metric : str, Metric or callable
        The metric that chooses the words.
    n : int, default=12
        Largest number of pairs.
    words : int, default=5
        Number of words for each class of a pair.

    Returns
    -------
    polars.DataFrame
        One row per pair: first, second, first_as_second and second_as_first (numbers of documents), share
        (mistakes divided by the documents of both classes that were predicted right or mistaken for each
        other), for_first and for_second (the words that tell the two classes apart best, of documents of
        these two classes alone).
    """
    confusion = validation.confusion()
    names = [str(label) for label in validation.labels.classes.tolist()]
    both = np.triu(confusion + confusion.T, 1)
    first, second = np.unravel_index(np.argsort(-both, axis=None, kind="stable")[:n], both.shape)
    rows = []
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        if both[i, j]:
            right = int(confusion[i, i] + confusion[j, j])
            telling = words_for_and_against(pair_counts(counts, names[i], names[j]), None, metric, words)
            sides = [
                ", ".join(shown(term) for term in telling.filter(pl.col("direction") == sign)["term"])
                for sign in (1, -1)
            ]
            mistakes = int(both[i, j])
            there, back = int(confusion[i, j]), int(confusion[j, i])
            rows.append((names[i], names[j], there, back, mistakes / (mistakes + right), *sides))
    texts = dict.fromkeys(("for_first", "for_second"), pl.String)
    schema = {"first": pl.String, "second": pl.String, "first_as_second": pl.Int64}
    schema |= {"second_as_first": pl.Int64, "share": pl.Float64, **texts}
    return pl.DataFrame(rows, schema=schema, orient="row")


def pair_counts(counts: Counts, first: Any, second: Any) -> Counts:
    """Return the counts of one class against another one, as if there were no other documents.

    >>> counts = Counts.from_matrix([[1, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> pair = pair_counts(counts, "a", "b")
    >>> pair.tp.tolist(), pair.fp.tolist(), pair.n_docs
    ([[1, 0]], [[0, 1]], 2)
    """
    at = counts.take([counts.position(first), counts.position(second)])
    tp = dense_rows(at.tp, slice(None))
    return counts.replace(
        tp=tp[:1], pos=at.pos[:1], df=tp.sum(axis=0), n_docs=int(at.pos.sum()), classes=at.classes[:1],
        tf=None, tf_total=None, squares=None,
    )  # fmt: skip
