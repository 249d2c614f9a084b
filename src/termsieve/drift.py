"""The record of a model and new documents come in; what has changed since training goes out.

Three things are looked at, each at a third of the chance of a false alarm: which words came, went, rose and
fell; how much of a document consists of words that the training documents had; and how often the model
predicts each class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, norm

from termsieve.counts import Counts
from termsieve.differences import difference
from termsieve.errors import InputError
from termsieve.evaluation import Evaluation
from termsieve.records import Record, covered, words_only
from termsieve.terms import Analysis, count_terms

Floats = NDArray[np.float64]
CHECKS = 3
# Least shift of the predicted shares, in documents, that is a change. The models of the cross-validation had
# fewer training documents and predict rare classes less often, so a smaller shift says nothing.
LEAST_SHIFT = 0.05
LEAST_DF = 5  # documents that a word must be in to be compared
ROUNDS = 500  # of the estimate of the classes' true shares
WORDS = 8  # in a sentence


@dataclass(frozen=True)
class Period:
    """The new documents of one file, compared with those of training.

    `words` is the table of `difference`; `shares` has one row per class: the share of documents for which the
    model predicted it in cross-validation, the share for which it predicts it now, and the true share to
    expect now.
    """

    name: str
    documents: int
    words: pl.DataFrame
    coverage: float
    coverage_p: float
    shares: list[dict[str, Any]]
    shares_p: float | None
    reasons: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Whether something has changed beyond chance."""
        return bool(self.reasons)

    def row(self) -> dict[str, Any]:
        """Return the period as a row of a table."""
        return {
            "period": self.name,
            "documents": self.documents,
            "changed words": self.words.height,
            "known words": self.coverage,
            "p of known words": self.coverage_p,
            "p of class shares": self.shares_p,
            "changed": "yes" if self.changed else "no",
        }


@dataclass(frozen=True)
class Drift:
    """New documents, period by period, against those that trained a model.

    Parameters
    ----------
    record : Record
        What the model keeps of its training.
    periods : tuple of Period
        The documents of each period, compared with those of training.
    """

    record: Record
    periods: tuple[Period, ...]

    @property
    def changed(self) -> bool:
        """Whether something has changed in any period."""
        return any(period.changed for period in self.periods)

    def sentences(self) -> list[str]:
        """Return what has changed, and whether the figures of training still apply."""
        found = [
            f"{period.name}: {reason}."
            for period in self.periods
            for reason in period.reasons or ("nothing has changed beyond chance",)
        ]
        return [*found, self.promise()]

    def promise(self) -> str:
        """Return whether the measured figure can still be expected."""
        measured = self.record.measured
        if measured is None:
            return "The model was saved without measured figures, so there is no interval to judge."
        if self.changed:
            verdict = "no longer applies: the documents are not like those of training; label some of them"
        else:
            verdict = "still applies: the documents are like those of training"
        return f"{measured.headline()}, {verdict}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "changed": self.changed,
            "sentences": self.sentences(),
            "training_coverage": self.record.coverage[0],
            "periods": [
                {**vars(period), "words": period.words.to_dicts(), "changed": period.changed}
                for period in self.periods
            ],
        }


def compared(
    record: Record,
    analysis: Analysis,
    periods: Sequence[tuple[str, Sequence[str], Sequence[Any]]],
    false_alarms: float = 0.05,
) -> Drift:
    """Return how documents differ from those of training.

    Parameters
    ----------
    record : Record
        What the model keeps of its training.
    analysis : Analysis
        How the model cuts texts into terms.
    periods : sequence of (name, texts, predictions)
        The new documents, and what the model says of each.
    false_alarms : float
        The probability of any alarm where nothing has changed, over all periods together.
    """
    if not periods:
        raise InputError("there are no new documents; name at least one file")
    share = false_alarms / CHECKS / len(periods)
    return Drift(record, tuple(_period(record, analysis, *each, share) for each in periods))


def _period(
    record: Record,
    analysis: Analysis,
    name: str,
    texts: Sequence[str],
    predicted: Sequence[Any],
    level: float,
) -> Period:
    X, terms = count_terms(texts, words_only(analysis))
    names = [str(term) for term in terms]
    words = _changed_words(record, X, names, level)
    coverage, coverage_p = _coverage(record, X, names)
    shares, shares_p, shift = _shares(record, predicted)
    reasons = []
    if words.height:
        plural = "s" if words.height > 1 else ""
        shown = ", ".join(
            f"{term} {change}" for term, change in words.select("term", "change").rows()[:WORDS]
        )
        reasons.append(
            f"{words.height:,} word{plural} changed ({shown}{', ...' if words.height > WORDS else ''})"
        )
    if coverage_p < level:
        was = record.coverage[0]
        reasons.append(f"{coverage:.1%} of the words of a document were in training, {was:.1%} before")
    if shares_p is not None and shares_p < level and shift >= LEAST_SHIFT:
        most = max(shares, key=lambda row: abs(row["now"] - row["before"]))
        reasons.append(
            f"class {most['class']} is predicted for {most['now']:.1%} of the documents, "
            f"{most['before']:.1%} before"
        )
    return Period(name, len(texts), words, coverage, coverage_p, shares, shares_p, tuple(reasons))


def _changed_words(record: Record, X: Any, names: list[str], level: float) -> pl.DataFrame:
    """Return the words that more or fewer documents have than in training.

    A word that the record does not list was in fewer than `least` documents; it is assumed to have been in as
    many as possible.
    """
    new = np.bincount(X.indices, minlength=X.shape[1])
    unlisted = min(record.least - 1, record.documents)
    before = dict(record.terms)
    before.update((name, unlisted) for name in names if name not in before)
    known = [(name, n) for name, n in before.items() if n]
    old = Counts(
        np.array([[n for _, n in known]], dtype=np.int64).reshape(1, -1),
        [record.documents],
        np.array([n for _, n in known], dtype=np.int64),
        record.documents,
        ["documents"],
        [name for name, _ in known],
    )
    now = Counts(new[None, :], [X.shape[0]], new, X.shape[0], ["documents"], names)
    return difference(old, now, k=len(before) or 1, fdr=level, min_df=LEAST_DF).drop("class")


def _coverage(record: Record, X: Any, names: list[str]) -> tuple[float, float]:
    """Return the mean share of a document's words that were in training, and the p-value of a fall.

    A rise of this share is no reason for an alarm. One unknown word can be in many documents, so both
    documents and unknown words vary by chance.
    """
    known = np.array([name in record.terms for name in names])
    shares = covered(X, known)
    mean, deviation = record.coverage
    sizes = np.diff(X.indptr)
    of_words = np.bincount(X.indices, np.repeat(1 / np.maximum(sizes, 1), sizes), minlength=len(names))
    by_words = float(((of_words[~known] / len(shares)) ** 2).sum())
    error = np.sqrt(deviation**2 / record.documents + shares.var() / len(shares) + by_words)
    gap = float(shares.mean()) - mean
    p = norm.cdf(gap / error) if error > 0 else float(gap >= 0)
    return float(shares.mean()), float(p)


def _shares(record: Record, predicted: Sequence[Any]) -> tuple[list[dict[str, Any]], float | None, float]:
    """Return the shares of the predicted classes, the chance of such a difference, and how large it is."""
    counts = Counter(label for each in predicted for label in (each if isinstance(each, tuple) else (each,)))
    measured = record.measured
    if measured is None:
        rows = [
            {
                "class": label,
                "before": n / record.documents,
                "now": counts[label] / len(predicted),
                "expected": None,
            }
            for label, n in record.classes
        ]
        return rows, None, 0.0
    before = np.add(measured.tp, measured.fp)
    now = np.array([counts[label] for label in measured.classes])
    expected = _expected_shares(measured, now, len(predicted))
    several = measured.table is None
    p = _shares_p(before, measured.documents, now, len(predicted), several)
    shift = np.abs(now / len(predicted) - before / measured.documents)
    rows = [
        {"class": label, "before": float(b), "now": float(n), "expected": float(e)}
        for label, b, n, e in zip(
            measured.classes, before / measured.documents, now / len(predicted), expected, strict=True
        )
    ]
    return rows, p, float(shift.max() if several else shift.sum() / 2)


def _shares_p(before: Any, n_before: int, now: Any, n_now: int, several: bool) -> float:
    """Return the chance that both predictions come from the same shares; rare classes are taken together."""
    if several:
        found = [_contingency([[b, n_before - b], [n, n_now - n]]) for b, n in zip(before, now, strict=True)]
        return min(1.0, len(found) * min(found))
    table = np.array([before, now])
    rare = table.sum(axis=0) * min(n_before, n_now) / (n_before + n_now) < 5
    if rare.any():
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    return _contingency(table)


def _contingency(table: Any) -> float:
    counts = np.asarray(table)
    counts = counts[:, counts.sum(axis=0) > 0]
    return float(chi2_contingency(counts).pvalue) if counts.shape[1] > 1 else 1.0


def _expected_shares(measured: Evaluation, now: Any, n_docs: int) -> Floats:
    """Return the true shares of the classes that make the predictions likeliest, by the confusion table."""
    if measured.table is None:
        tp, fp, fn = map(np.asarray, (measured.tp, measured.fp, measured.fn))
        inside = np.maximum(tp + fn, 1)
        hits, false = tp / inside, fp / np.maximum(measured.documents - inside, 1)
        gap = np.where(hits > false, hits - false, np.inf)
        return np.clip((now / n_docs - false) / gap, 0.0, 1.0)
    # Half a document in each cell: that a mistake was not seen does not mean that there is none.
    says = np.asarray(measured.table) + 0.5 / len(measured.classes)
    says = says / says.sum(axis=1, keepdims=True)
    shares = np.full(len(says), 1.0 / len(says))
    for _ in range(ROUNDS):
        joint = shares[:, None] * says
        shares = joint / joint.sum(axis=0) @ now / max(1, now.sum())
    return np.asarray(shares)
