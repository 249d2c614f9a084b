"""True and predicted labels come in; measures per class, the confusion table and an interval go out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.errors import InputError
from termsieve.measures import f1, precision, recall

Flags = NDArray[np.bool_]
Label = str | int | float
RESAMPLES = 400
LEVEL = 0.95


@dataclass(frozen=True)
class Evaluation:
    """How well a classifier predicted documents whose labels are known.

    `goal` names the measure of `figure`: F1 of the second of two classes, otherwise the mean over the
    classes, unless another was asked for. On documents like these the measure lies between `low` and `high`
    with a probability of 95 %. `by` says which documents were used. `table` has one row per true class and
    one column per predicted class, if each document has one class.
    """

    classes: tuple[Label, ...]
    documents: int
    tp: tuple[int, ...]
    fp: tuple[int, ...]
    fn: tuple[int, ...]
    table: tuple[tuple[int, ...], ...] | None
    goal: str
    figure: float
    low: float
    high: float
    by: str = ""

    @classmethod
    def of_flags(cls, truth: Flags, predicted: Flags, classes: Sequence[Any], one_label: bool) -> Evaluation:
        """Return the evaluation of documents x classes of truth and predictions."""
        cells = np.concatenate([truth & predicted, ~truth & predicted, truth & ~predicted], axis=1)
        tp, fp, fn = np.split(cells.sum(axis=0), 3)
        table = (truth.T.astype(np.int64) @ predicted.astype(np.int64)).tolist() if one_label else None
        goal = slice(1, 2) if one_label and len(classes) == 2 else slice(None)
        figure = float(np.mean(f1(tp[goal], fp[goal], fn[goal])))
        low, high = _interval(cells, goal, figure)
        return cls(
            classes=tuple(each.item() if isinstance(each, np.generic) else each for each in classes),
            documents=len(truth),
            tp=tuple(map(int, tp)),
            fp=tuple(map(int, fp)),
            fn=tuple(map(int, fn)),
            table=None if table is None else tuple(map(tuple, table)),
            goal="f1",
            figure=figure,
            low=low,
            high=high,
        )

    @property
    def accuracy(self) -> float | None:
        """The share of documents with the right prediction, if each document has one class."""
        return None if self.table is None else sum(self.tp) / max(1, self.documents)

    def headline(self) -> str:
        """Return the figure with its interval, and on how many documents it was measured."""
        return (
            f"{self.goal} {self.figure:.3f}, between {self.low:.3f} and {self.high:.3f} (95 %), measured on "
            f"{self.documents:,} documents"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the measures of each class as rows of a table."""
        return [
            {
                "class": label,
                "documents": tp + fn,
                "predicted": tp + fp,
                "precision": precision(tp, fp),
                "recall": recall(tp, fp, fn),
                "f1": f1(tp, fp, fn),
            }
            for label, tp, fp, fn in zip(self.classes, self.tp, self.fp, self.fn, strict=True)
        ]

    def confusion(self) -> list[dict[str, Any]]:
        """Return the confusion table: one row per true class, one column per predicted class."""
        return [
            {
                "true class": label,
                **{str(predicted): n for predicted, n in zip(self.classes, row, strict=True)},
            }
            for label, row in zip(self.classes, self.table or (), strict=False)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, which `from_dict` reads."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Evaluation:
        """Return the evaluation that `to_dict` gave; raise InputError for anything else."""
        try:
            numbers: dict[str, Any] = {name: tuple(map(_count, found[name])) for name in ("tp", "fp", "fn")}
            numbers["documents"] = _count(found["documents"])
            table = found["table"]
            classes = tuple(found["classes"])
            known = table if table is None else tuple(tuple(map(_count, row)) for row in table)
            shares: dict[str, Any] = {name: float(found[name]) for name in ("figure", "low", "high")}
            texts: dict[str, Any] = {name: str(found[name]) for name in ("goal", "by")}
            sides = [numbers[name] for name in ("tp", "fp", "fn")]
            sizes = {len(classes), *map(len, sides), *map(len, known or [classes])}
            sound = len(sizes) == 1 and len(known or classes) == len(classes)
            sound &= all(isinstance(label, str | int | float) for label in classes)
            sound &= all(0.0 <= share <= 1.0 for share in shares.values())
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            sound = False
        if not sound:
            raise InputError("its measured figures are damaged")
        return cls(classes=classes, table=known, **numbers, **shares, **texts)


def evaluated(
    truth: Iterable[Any], predicted: Iterable[Any], several: bool, classes: Sequence[Any] = ()
) -> Evaluation:
    """Return the evaluation of labels, or of collections of labels where a document may have several.

    `classes` come first, in their order: of two classes, the second is the one that is measured.

    >>> evaluated(["ham", "spam", "spam"], ["ham", "ham", "spam"], several=False).table
    ((1, 0), (1, 1))
    """
    true, told = (
        [list(each) if several else [each] for each in side] for side in (list(truth), list(predicted))
    )
    others = {label for side in (true, told) for each in side for label in each} - set(classes)
    names = [*classes, *sorted(others, key=_order)]
    flags = [np.array([[label in each for label in names] for each in side], bool) for side in (true, told)]
    if not names:
        raise InputError("no document has a label, so nothing can be measured")
    return Evaluation.of_flags(flags[0], flags[1], names, not several)


def _order(label: Any) -> tuple[str, Any]:
    return ("" if isinstance(label, int | float) else "text", label)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise ValueError(value)
    return value


def _interval(cells: Flags, goal: slice, figure: float) -> tuple[float, float]:
    """Return the 95 % interval of F1, the mean over the classes of `goal`, over resamples of documents.

    Where a class has no false positive, or no false negative, one is added, because a mistake that was not
    seen is still possible.
    """
    absent = np.logical_not(cells.any(axis=0))
    absent[: cells.shape[1] // 3] = False
    cells = np.concatenate([cells, np.eye(cells.shape[1], dtype=bool)[absent]])
    kinds, sizes = np.unique(np.packbits(cells, axis=1), axis=0, return_counts=True)
    distinct = np.unpackbits(kinds, axis=1, count=cells.shape[1]).astype(np.float64)
    n = int(sizes.sum())
    weights = np.random.default_rng(0).multinomial(n, sizes / n, size=RESAMPLES)
    sums = (weights @ distinct).reshape(RESAMPLES, 3, -1)
    figures = np.asarray(f1(sums[:, 0, goal], sums[:, 1, goal], sums[:, 2, goal])).mean(axis=1)
    low, middle, high = np.quantile(figures, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
    # Rare classes are missing in some resamples, which lowers the mean over the classes.
    return max(0.0, figure + float(low - middle)), min(1.0, figure + float(high - middle))
