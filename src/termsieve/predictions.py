"""A file comes in; its documents with names and labels go out, and the measures of predictions for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from termsieve.errors import ParameterError
from termsieve.evaluation import Evaluation, evaluated
from termsieve.labels import is_missing, split_labels
from termsieve.readers import guessed_format, read
from termsieve.readers.tables import document_batches


class Prediction(NamedTuple):
    """The prediction for a text: its class or labels and, if asked, decision values and probabilities."""

    label: Any
    values: tuple[float, ...] | None = None
    probabilities: tuple[float, ...] | None = None


class Row(NamedTuple):
    """A document of a file: its prediction, its name if it has one, and its label if it is known."""

    prediction: Prediction
    id: Any = None
    label: Any = None


def documents_of(source: Any, format: str | None, options: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield text, name and label of each document of a file or, as JSON lines, of an open file."""
    if hasattr(source, "read") or (format or guessed_format(source)) == "table":
        reading = dict(options)
        separator = reading.pop("separator", None)
        for frame in document_batches(source, **reading):
            texts = frame["text"].fill_null("").to_list()
            names = frame["id"].to_list() if "id" in frame.columns else [None] * len(texts)
            labels = frame["label"].to_list() if "label" in frame.columns else [None] * len(texts)
            yield from zip(texts, names, split_labels(labels, separator), strict=True)
        return
    if options.get("id") is not None:
        raise ParameterError("id= names a column of a table; these documents have none")
    corpus = read(source, format, **options)
    if corpus.texts is None:
        raise ParameterError(f"{corpus.name or 'the corpus'} holds word counts; give the texts")
    yield from zip(corpus.texts, [None] * len(corpus), corpus.labels.tolist(), strict=True)


def table_column(source: Any, name: str, format: str | None = None, **options: Any) -> list[Any]:
    """Return the cells of a column beside the texts: None where one is empty, numbers if all others are."""
    if (format or guessed_format(source)) != "table":
        raise ParameterError(f"{source} is no table, so it has no column {name!r}")
    taken = {key: value for key, value in options.items() if key not in ("missing", "label_from")}
    cells = [id for _, id, _ in documents_of(source, "table", taken | {"id": name})]
    cells = [None if is_missing(cell) else cell for cell in cells]
    try:
        return [None if cell is None else float(cell) for cell in cells]
    except (TypeError, ValueError):  # dates and names are compared as they are
        return cells


def judged(
    classes: Sequence[Any], several: bool, truth: Iterable[Any], predicted: Iterable[Any]
) -> Evaluation | None:
    """Return the measures of predictions; None where no label is one of the classes.

    Labels are compared as texts, as a table spells them; a document without a label is left out. Where the
    classes are a class and "not" that class, every other label is the second.

    >>> judged(["not spam", "spam"], False, ["spam", "news", None], ["spam", "spam", "spam"]).table
    ((0, 1), (0, 1))
    """
    known = {str(label): label for label in classes}
    against = not several and len(classes) == 2 and classes[0] == f"not {classes[1]}"
    true, told = [], []
    for label, found in zip(truth, predicted, strict=True):
        if is_missing(label):
            continue
        labels = list(label) if isinstance(label, list | tuple | set | frozenset) else [label]
        names = [known.get(str(each), each) for each in labels]
        if against:
            names = [classes[1] if classes[1] in names else classes[0]]
        if several or len(names) == 1:
            true.append(names)
            told.append(found if several else [found])
    if not any(name in classes for names in true for name in names):
        return None
    if several:
        return evaluated(true, told, True, classes)
    return evaluated((names[0] for names in true), (each[0] for each in told), False, classes)
