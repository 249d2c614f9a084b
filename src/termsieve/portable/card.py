"""A model's description comes in; its model card, in Markdown, goes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from termsieve.display import plain_text
from termsieve.evaluation import Evaluation

WORDS = 10  # for a class, and against it
FEW = 30  # documents of a class, below which its figures say little
WEAK = 0.5  # F1
VALUES = {
    "presence": "whether it occurs",
    "count": "how often it occurs",
    "log": "1 + log of how often it occurs",
}


def card_text(model: dict[str, Any]) -> str:
    """Return the model card: purpose, data, figures, words, limits, and how to reproduce it."""
    parts = [_purpose(model), _data(model), _figures(model), _words(model), _limits(model), _origin(model)]
    return "\n".join(line for part in parts for line in part) + "\n"


def _purpose(model: dict[str, Any]) -> Iterator[str]:
    classes, text = model["classes"], model["text"]
    what = {
        "two": f"says whether it belongs to {_shown(classes[-1])} or to {_shown(classes[0])}",
        "highest": f"gives it one of {len(classes):,} classes",
        "each": f"gives it any number of {len(classes):,} labels",
    }[model["decision"]]
    least, most = text["ngrams"]
    unit = "words" if text["analyzer"] == "word" else "characters"
    length = f"single {unit}" if most == 1 else f"sequences of {least} to {most} {unit}"
    yield "# Model card"
    yield ""
    yield f"The model reads a text and {what}. It is linear: it adds up a weight for each"
    yield f"of {len(model['terms']):,} terms that the text contains ({length}; {VALUES[model['values']]}),"
    yield "and nothing else of the text counts."
    yield ""


def _data(model: dict[str, Any]) -> Iterator[str]:
    found = model.get("provenance")
    yield "## Training data"
    yield ""
    if found is None:
        yield "The model was saved without a record of its training."
        yield ""
        return
    yield f"{found['documents']:,} documents of {_shown(found['source']) or 'an unnamed source'}."
    yield f"SHA-256 of texts and labels: `{_shown(found['fingerprint'])}`."
    yield ""
    total = found["documents"]
    yield from _table(
        ["class", "documents", "share"],
        [[_shown(label), f"{n:,}", f"{n / total:.1%}"] for label, n in found["class_sizes"]],
    )


def _measured(model: dict[str, Any]) -> Evaluation | None:
    found = (model.get("provenance") or {}).get("measured")
    return None if found is None else Evaluation.from_dict(found)


def _figures(model: dict[str, Any]) -> Iterator[str]:
    measured = _measured(model)
    yield "## Measured"
    yield ""
    if measured is None:
        yield "Nothing was measured: do not rely on the model before you have tried it on labelled documents."
        yield ""
        return
    yield f"{measured.headline()} like those of training, by {measured.by}."
    if measured.accuracy is not None:
        yield f"The class is right for {measured.accuracy:.1%} of the documents."
    yield ""
    numbers = ("precision", "recall", "f1")
    yield from _table(
        ["class", "documents", *numbers],
        [
            [_shown(row["class"]), f"{row['documents']:,}", *(f"{row[name]:.3f}" for name in numbers)]
            for row in measured.rows()
        ],
    )


def _words(model: dict[str, Any]) -> Iterator[str]:
    yield "## Words with the largest weights"
    yield ""
    rows = []
    classes = model["classes"][1:] if model["decision"] == "two" else model["classes"]
    for number, label in enumerate(classes):
        pull = sorted(_pulls(model, number), reverse=True)
        speaks = [
            [term for weight, term in side if weight * sign > 0]
            for side, sign in (
                (pull[:WORDS], 1),
                (pull[::-1][:WORDS], -1),
            )
        ]
        rows.append([_shown(label), *(", ".join(map(_shown, side)) for side in speaks)])
    yield from _table(["class", "for it", "against it"], rows)


def _pulls(model: dict[str, Any], row: int) -> list[tuple[float, str]]:
    """Return each term with its weight times its scale; of naive Bayes, less the mean of all classes."""
    scales = model["scales"] or [1.0] * len(model["terms"])
    centred = model["probability"] == "softmax"
    return [
        ((weights[row] - (sum(weights) / len(weights) if centred else 0.0)) * scale, term)
        for weights, scale, term in zip(model["weights"], scales, model["terms"], strict=True)
    ]


def _limits(model: dict[str, Any]) -> Iterator[str]:
    measured = _measured(model)
    yield "## Known limits"
    yield ""
    yield "- A text without any of the model's terms gets the class that the intercepts favour."
    yield "- Word order, negation and irony do not count, beyond sequences of words among the terms."
    yield "- The figures hold for documents like those of training; `termsieve watch` tells when they change."
    if model["probability"] is None:
        yield "- Decision values are no probabilities."
    rows = measured.rows() if measured is not None else []
    few = [_shown(row["class"]) for row in rows if row["documents"] < FEW]
    weak = [_shown(row["class"]) for row in rows if row["f1"] < WEAK]
    if few:
        yield f"- Fewer than {FEW} documents, so that the figures say little: {', '.join(few)}."
    if weak:
        yield f"- F1 below {WEAK}: {', '.join(weak)}."
    yield ""


def _origin(model: dict[str, Any]) -> Iterator[str]:
    found = model.get("provenance")
    yield "## How to reproduce it"
    yield ""
    if found is None:
        yield "There is no record of the training."
        return
    yield f"termsieve {found['termsieve']}, {found['date']}: {_shown(found['how'])}."
    yield "The same texts and labels, in the same order, have the SHA-256 above."


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (names, ["---"] * len(names), *rows):
        yield f"| {' | '.join(row)} |"
    yield ""


def _shown(value: Any) -> str:
    """Return a label or a term that Markdown shows as it is."""
    text = plain_text(str(value)).replace("\n", " ").replace("\r", " ")
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>()#+!|~&" else letter for letter in text)
