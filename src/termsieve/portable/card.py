"""A model's description comes in; its model card goes out, in parts for a page or as one Markdown text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from termsieve.display import plain_text
from termsieve.evaluation import Evaluation
from termsieve.portable.scorer import Model

WORDS = 10  # for a class, and against it
FEW = 30  # documents of a class, below which its figures say little
WEAK = 0.5  # F1
NAMED = 8  # classes in a sentence
PAIRS = 5  # of classes that are mistaken for each other
VALUES = {
    "presence": "counted once, however often it occurs",
    "count": "counted as often as it occurs",
    "log": "counted by 1 + the logarithm of how often it occurs",
}
MEASURES = ("precision", "recall", "f1")


class Spelling(NamedTuple):
    """How labels, terms and commands are written: for Markdown, or as they are."""

    text: Callable[[Any], str]
    code: Callable[[Any], str]


@dataclass(frozen=True)
class Part:
    """A part of a card: its heading, sentences, a table with its columns, and a list of points."""

    id: str
    title: str
    sentences: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    points: Sequence[str] = ()


def card_text(model: dict[str, Any]) -> str:
    """Return the model card in Markdown."""
    return "\n".join(_lines(card_parts(model, MARKDOWN)))


def card_parts(model: dict[str, Any], spelling: Spelling | None = None) -> list[Part]:
    """Return the parts of a card: purpose, data, figures, words, limits, and how to reproduce it."""
    spelled = spelling or PLAIN
    makers = (_purpose, _data, _figures, _words, _limits, _origin)
    return [make(model, spelled) for make in makers]


def _lines(parts: Sequence[Part]) -> Iterator[str]:
    yield "# Model card"
    for part in parts:
        yield from ("", f"## {part.title}", "")
        yield from part.sentences
        if part.rows:
            yield ""
            for row in (part.columns, ["---"] * len(part.columns), *part.rows):
                yield f"| {' | '.join(map(_cell, row))} |"
        yield from (f"- {point}" for point in part.points)
    yield ""


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if isinstance(value, float) else value


def _purpose(model: dict[str, Any], spelled: Spelling) -> Part:
    classes = _listed(model["classes"], spelled)
    what = {
        "two": "says to which of two classes it belongs",
        "highest": f"says to which of {len(model['classes']):,} classes it belongs",
        "each": f"gives it any number of {len(model['classes']):,} labels, or none",
    }[model["decision"]]
    found = model["provenance"] or {}
    like = spelled.text(found["source"]) if found.get("source") else "the training data"
    sentences = [
        f"The model reads a text and {what}: {classes}.",
        f"It is meant for texts like those of {like}, and was not tried on others.",
        f"It is linear: it adds up the weights of those of its {len(model['terms']):,} terms that the text "
        f"contains, and nothing else of the text counts. {_reading(model)}",
    ]
    return Part("card-purpose", "What it is for", sentences)


def _reading(model: dict[str, Any]) -> str:
    """Return how texts become terms and numbers."""
    text = model["text"]
    least, most = text["ngrams"]
    unit = "word" if text["analyzer"] == "word" else "character"
    length = f"a single {unit}" if most == 1 else f"a sequence of {least} to {most} {unit}s"
    parts = [f"A term is {length}"]
    if text["lowercase"] is not None:
        parts.append("in lower case")
    if text["stem"] is not None:
        parts.append("stemmed")
    if text["stop_words"]:
        parts.append(f"without {len(text['stop_words']):,} stop words")
    ending = ", and texts of any length weigh the same" if model["unit_length"] else ""
    return f"{', '.join(parts)}; it is {VALUES[model['values']]}{ending}."


def _data(model: dict[str, Any], spelled: Spelling) -> Part:
    found = model["provenance"]
    if found is None:
        return Part("card-data", "Training data", ["The model was saved without a record of its training."])
    total = found["documents"]
    sentences = [
        f"{total:,} documents of {spelled.text(found['source']) or 'an unnamed source'}.",
        f"SHA-256 of texts and labels: {spelled.code(found['fingerprint'])}.",
    ]
    rows = [[spelled.text(label), n, f"{n / total:.1%}"] for label, n in found["class_sizes"]]
    return Part("card-data", "Training data", sentences, ["class", "documents", "share"], rows)


def _measured(model: dict[str, Any]) -> Evaluation | None:
    found = (model["provenance"] or {}).get("measured")
    return None if found is None else Evaluation.from_dict(found)


def _figures(model: dict[str, Any], spelled: Spelling) -> Part:
    measured = _measured(model)
    if measured is None:
        nothing = "Nothing was measured: do not rely on the model before you have tried it on labelled texts."
        return Part("card-measured", "Measured", [nothing])
    sentences = [f"{measured.headline()} that the model had not seen, by {measured.by}."]
    if model["decision"] == "two" and measured.goal == "f1":
        sentences.append(f"This is F1 of {spelled.text(model['classes'][1])}.")
    elif measured.goal == "f1":
        sentences.append("This is the mean of F1 over the classes.")
    if measured.accuracy is not None:
        sentences.append(f"The class is right for {measured.accuracy:.1%} of the documents.")
    rows = [
        [spelled.text(row["class"]), row["documents"], *(float(row[name]) for name in MEASURES)]
        for row in measured.rows()
    ]
    return Part("card-measured", "Measured", sentences, ["class", "documents", *MEASURES], rows)


def _words(model: dict[str, Any], spelled: Spelling) -> Part:
    rows = []
    classes = model["classes"][1:] if model["decision"] == "two" else model["classes"]
    for number, label in enumerate(classes):
        pull = sorted(_pulls(model, number), reverse=True)
        speaks = [
            [term for weight, term in side if weight * sign > 0]
            for side, sign in ((pull[:WORDS], 1), (pull[::-1][:WORDS], -1))
        ]
        rows.append([spelled.text(label), *(", ".join(map(spelled.text, side)) for side in speaks)])
    sentences = ["Read them: a name, a date or a header among them would not help on other texts."]
    if model["decision"] == "two":
        sentences.append(f"What speaks against it speaks for {spelled.text(model['classes'][0])}.")
    columns = ["class", "for it", "against it"]
    return Part("card-words", "Terms with the largest weights", sentences, columns, rows)


def _pulls(model: dict[str, Any], row: int) -> list[tuple[float, str]]:
    """Return each term with its weight times its scale; for naive Bayes, minus the mean over all classes."""
    scales = model["scales"] or [1.0] * len(model["terms"])
    centred = model["probability"] == "softmax"
    return [
        ((weights[row] - (sum(weights) / len(weights) if centred else 0.0)) * scale, term)
        for weights, scale, term in zip(model["weights"], scales, model["terms"], strict=True)
    ]


def _limits(model: dict[str, Any], spelled: Spelling) -> Part:
    empty = Model(model).decide("")
    labels = empty if isinstance(empty, list) else [empty]
    verdict = _listed(labels, spelled) if labels else "no label"
    points = [
        f"A text without any of the model's terms, such as one in another language, gets {verdict}.",
        "Word order, negation and irony do not count, beyond sequences of words among the terms.",
        "The figures hold for texts like those of training; "
        f"{spelled.code('termsieve watch MODEL NEW_FILES')} tells when the texts have changed.",
    ]
    if model["probability"] is None:
        points.append("A decision value is no probability: it only says how clear a decision is.")
    measured = _measured(model)
    rows = measured.rows() if measured is not None else []
    few = [row["class"] for row in rows if row["documents"] < FEW]
    weak = [row["class"] for row in rows if row["f1"] < WEAK]
    if few:
        points.append(f"Fewer than {FEW} documents, so that the figures say little: {_listed(few, spelled)}.")
    if weak:
        points.append(f"F1 is below {WEAK}: {_listed(weak, spelled)}.")
    points += [f"Mistaken most often: {pair}." for pair in _mistaken(measured, spelled)]
    return Part("card-limits", "Known limits", points=points)


def _mistaken(measured: Evaluation | None, spelled: Spelling) -> list[str]:
    """Return the sentence about the classes whose documents were most often given another class."""
    if measured is None or measured.table is None or len(measured.classes) < 3:
        return []
    names = [spelled.text(label) for label in measured.classes]
    found = sorted(
        (-n, i, j) for i, row in enumerate(measured.table) for j, n in enumerate(row) if i != j and n
    )
    pairs = [f"{names[i]} for {names[j]} ({-n:,} of {sum(measured.table[i]):,})" for n, i, j in found[:PAIRS]]
    return ["; ".join(pairs)] if pairs else []


def _origin(model: dict[str, Any], spelled: Spelling) -> Part:
    found = model["provenance"]
    title = "How to reproduce it"
    if found is None:
        return Part("card-origin", title, ["There is no record of the training."])
    version, date, how = (spelled.text(found[name]) for name in ("termsieve", "date", "how"))
    sentences = [f"termsieve {version}, {date}: {how}."]
    if found.get("call"):
        sentences.append(f"In Python: {spelled.code(found['call'])}.")
    sentences.append("The same texts and labels, in the same order, have the SHA-256 above.")
    return Part("card-origin", title, sentences)


def _listed(labels: Sequence[Any], spelled: Spelling) -> str:
    shown = ", ".join(map(spelled.text, labels[:NAMED]))
    return shown if len(labels) <= NAMED else f"{shown} and {len(labels) - NAMED:,} more"


def _plain(value: Any) -> str:
    """Return a label or a term in one line, without control characters."""
    return plain_text(str(value)).replace("\n", " ").replace("\r", " ")


def _escaped(value: Any) -> str:
    """Return a label or a term that Markdown shows as it is."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>()#+!|~&" else letter for letter in _plain(value))


def _fenced(value: Any) -> str:
    """Return a text as code of Markdown; where it has such marks itself, longer ones stand around it."""
    text = _plain(value).replace("|", "\\|")
    marks = "`"
    while marks in text:
        marks += "`"
    return f"{marks}{text}{marks}" if len(marks) == 1 else f"{marks} {text} {marks}"


MARKDOWN, PLAIN = Spelling(_escaped, _fenced), Spelling(_plain, _plain)
