"""A source of documents comes in; what was understood of it, sample documents and warnings go out."""

from __future__ import annotations

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from termsieve.columns import is_usual
from termsieve.corpus import Corpus
from termsieve.labels import label_doubts
from termsieve.readers.format import one_line
from termsieve.sources import Frame, Location, corpus_of
from termsieve.terms import is_unsegmented

if TYPE_CHECKING:
    import polars as pl

SAMPLES = 3
SAMPLE_CHARACTERS = 200
FEW_DOCUMENTS = 5  # of a class, which say little about it
_NOTABLE = 0.01  # share of the documents from which something in the texts is worth a warning
_ENTITY = re.compile(r"&(?:[a-z]{2,8}|#\d{2,6}|#x[0-9a-f]{2,5});", re.IGNORECASE)
_HEADERS = "from|to|subject|date|received|return-path|message-id|delivered-to|path|newsgroups|xref"
_MAIL = re.compile(rf"\s*(?:{_HEADERS}): \S[^\n]*\n(?:[\w-]+:|\s)", re.IGNORECASE)
_BASE64 = re.compile(r"^content-transfer-encoding:\s*base64", re.IGNORECASE | re.MULTILINE)
_NAMES = "a|b|br|div|em|font|h[1-6]|i|img|li|p|span|strong|table|td|tr|ul"
_TAG = re.compile(rf"</?(?:{_NAMES})(?:\s[^<>]*)?/?>", re.IGNORECASE)


@dataclass(frozen=True)
class Inspection:
    """What was understood of a source.

    Attributes
    ----------
    line : str
        The one-line form: documents, classes, and how they were read.
    source : str
        How they were read: format, columns, encoding and anything else that is unusual.
    class_sizes : dict
        The number of documents of each class.
    split : dict
        The number of documents of each part, such as "train"; empty without a split.
    samples : list of dict
        Some documents with their labels.
    guesses : list of str
        What was guessed while reading.
    warnings : list of str
        What may be wrong with the documents or their labels.
    duplicates : list of dict
        Documents whose text occurs several times, one row per document; `conflict` if their labels differ.

    Examples
    --------
    >>> from termsieve import Corpus, inspect
    >>> seen = inspect(Corpus(["buy now", "see you"] * 5, ["spam", "ham"] * 5))
    >>> seen.class_sizes
    {'ham': 5, 'spam': 5}
    """

    line: str
    source: str
    class_sizes: dict[Any, int]
    split: dict[str, int]
    samples: list[dict[str, Any]]
    guesses: list[str]
    warnings: list[str]
    duplicates: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        held = dict(self.__dict__)
        held["class_sizes"] = {str(label): size for label, size in self.class_sizes.items()}
        return held

    def duplicates_frame(self) -> pl.DataFrame:
        """Return the duplicates as a polars frame, to be written to a file."""
        import polars as pl

        columns = {"group": pl.Int64, "document": pl.Int64, "label": pl.String, "conflict": pl.Boolean}
        return pl.DataFrame(self.duplicates, schema=columns | {"text": pl.String})

    def __repr__(self) -> str:
        said = [f"guess: {guess}" for guess in self.guesses] + [f"warning: {w}" for w in self.warnings]
        return "\n".join([f"<Inspection: {self.line}", *said]) + ">"


def inspect(
    source: Corpus | Frame | Location | Sequence[Location], *, format: str | None = None, **options: Any
) -> Inspection:
    """Return what is understood of a source, with samples and warnings; nothing is counted or trained.

    Parameters
    ----------
    source : Corpus, frame, path or list of paths
        Where the documents come from.
    format : str, optional
        The format of the files, if it cannot be recognised by their names and contents.
    **options
        The options of `read`, such as text= and label=.

    Returns
    -------
    Inspection
        What was understood, samples, guesses and warnings.

    Examples
    --------
    >>> inspect(Corpus(["see &amp; buy", "see you", "see you"], ["spam", "ham", "spam"])).warnings[0]
    '33 % of the documents hold HTML entities, such as &amp;; resolve them, or they are counted as words'
    """
    with _heard() as guesses:
        corpus = corpus_of(source, options, format)
    texts = corpus.texts or ()
    duplicates = list(_duplicates(texts, corpus.labels.tolist()))
    return Inspection(
        one_line(len(corpus), len(corpus.classes), corpus.source, corpus.multilabel),
        corpus.source,
        corpus.class_sizes,
        {} if corpus.parts is None else dict(Counter(corpus.parts.tolist())),
        _samples(corpus),
        guesses,
        [
            *_text_doubts(texts),
            *_class_doubts(corpus),
            *_duplicate_doubts(duplicates),
        ],
        duplicates,
    )


class _Ear(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record.getMessage())


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Give the list of what the library logs as a guess meanwhile."""
    log, ear = logging.getLogger("termsieve"), _Ear()
    log.addHandler(ear)
    try:
        yield ear.heard
    finally:
        log.removeHandler(ear)


def _samples(corpus: Corpus) -> list[dict[str, Any]]:
    """Return the first document of each of the first classes, then the first documents."""
    if corpus.texts is None:
        return []
    first: dict[Any, int] = {}
    for place, label in enumerate(corpus.labels.tolist()):
        first.setdefault(label, place)
    chosen = list(dict.fromkeys([*sorted(first.values())[:SAMPLES], *range(min(len(corpus), SAMPLES))]))
    places = sorted(chosen[:SAMPLES])
    return [
        {"document": place + 1, "label": _shown(corpus.labels[place]), "text": _short(corpus.texts[place])}
        for place in places
    ]


def _shown(label: Any) -> str:
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= SAMPLE_CHARACTERS else plain[: SAMPLE_CHARACTERS - 3] + "..."


def _text_doubts(texts: Sequence[str]) -> Iterator[str]:
    if not texts:
        return
    empty = sum(not text.strip() for text in texts)
    if empty:
        yield f"documents without text: {empty:,} of {len(texts):,}"
    unsegmented = sum(map(is_unsegmented, texts))
    if unsegmented >= _NOTABLE * len(texts):
        yield (
            f"{_share(unsegmented, texts)} of the documents are in a script without spaces between words: "
            "terms are words only with a segmenter, otherwise sequences of characters"
        )
    for pattern, what, advice in (
        (_ENTITY, "entities", "resolve them, or they are counted as words"),
        (_TAG, "markup", "remove it, or the names of tags are counted as words"),
    ):
        found = [match[0] for text in texts if (match := pattern.search(text))]
        if found and len(found) >= _NOTABLE * len(texts):
            share, example = _share(len(found), texts), found[0][:20]
            yield f"{share} of the documents hold HTML {what}, such as {example}; {advice}"
    yield from _mail_doubts(texts)
    if is_usual(texts[0], "text"):
        yield f"the first document is {texts[0]!r}, which looks like the name of a column; is it a header?"


def _mail_doubts(texts: Sequence[str]) -> Iterator[str]:
    mails = sum(_MAIL.match(text) is not None for text in texts)
    if mails and mails >= _NOTABLE * len(texts):
        yield (
            f"{_share(mails, texts)} of the documents begin with the headers of a mail or post, which are "
            "counted as words; strip='headers' leaves out those of files in folders"
        )
    packed = sum(_BASE64.search(text) is not None for text in texts)
    if packed and packed >= _NOTABLE * len(texts):
        yield (
            f"{_share(packed, texts)} of the documents hold parts in base64, which are no words; decode them "
            "first"
        )


def _share(n: int, texts: Sequence[str]) -> str:
    return f"{100 * n / len(texts):.0f} %"


def _class_doubts(corpus: Corpus) -> Iterator[str]:
    if not corpus.multilabel:
        yield from label_doubts(corpus.labels.tolist())
    few = [label for label, size in corpus.class_sizes.items() if size < FEW_DOCUMENTS]
    if few:
        named = ", ".join(f"{label} ({corpus.class_sizes[label]})" for label in few[:5])
        more = ", ..." if len(few) > 5 else ""
        yield f"{len(few):,} of {len(corpus.classes):,} classes have fewer than 5 documents: {named}{more}"
    if len(corpus.classes) < 2:
        yield "there is only one class, so there is nothing to tell apart"


def _duplicates(texts: Sequence[str], labels: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each document whose text, without regard to case and blanks, occurs several times."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        plain = " ".join(text.casefold().split())
        if plain:
            places[plain].append(place)
    groups = [group for group in places.values() if len(group) > 1]
    for number, group in enumerate(groups, 1):
        conflict = len({_shown(labels[place]) for place in group}) > 1
        for place in group:
            yield {
                "group": number,
                "document": place + 1,
                "label": _shown(labels[place]),
                "conflict": conflict,
                "text": _short(texts[place]),
            }


def _duplicate_doubts(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    n_groups = rows[-1]["group"]
    yield (
        f"documents with the text of another one: {len(rows):,} (distinct texts: {n_groups:,}); one text "
        "in training and test makes figures too good"
    )
    conflicts = {row["group"] for row in rows if row["conflict"]}
    if conflicts:
        first = next(row for row in rows if row["conflict"])
        labels = sorted({row["label"] for row in rows if row["group"] == first["group"]})
        yield (
            f"equal texts with different labels: {len(conflicts):,}, such as document {first['document']:,} "
            f"({', '.join(labels[:3])})"
        )
