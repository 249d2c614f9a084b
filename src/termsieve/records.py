"""A corpus that trained a model comes in; what the model keeps of it goes out: origin, figures, counts."""

from __future__ import annotations

import datetime
import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from termsieve import __version__
from termsieve.corpus import Corpus
from termsieve.errors import FormatError, InputError, TermsieveError
from termsieve.evaluation import Evaluation
from termsieve.terms import Analysis, count_terms

MOST_TERMS = 20_000  # that are kept with a model
MOST_TEXT = 10_000  # characters of a text in a record
MOST_OPTION = 300  # characters of an option in a call


@dataclass(frozen=True)
class Record:
    """Where a model comes from, and what is needed to notice that texts have changed.

    `terms` gives the training documents with each term, for all terms in at least `least` of them. `coverage`
    is the mean over the documents of the share of their terms that enough other documents have, and its
    standard deviation. `call` is the call in Python that trains the model again.
    """

    how: str
    source: str
    fingerprint: str
    documents: int
    classes: tuple[tuple[str | int | float, int], ...]
    terms: dict[str, int]
    least: int
    coverage: tuple[float, float]
    measured: Evaluation | None = None
    date: str = ""
    termsieve: str = ""
    call: str = ""

    def to_json(self) -> str:
        """Return the record as JSON, which `from_json` reads."""
        return json.dumps({**vars(self), "measured": self.measured and self.measured.to_dict()})

    def provenance(self) -> dict[str, Any]:
        """Return the origin and the figures, without the counts, for an exported model."""
        return {
            **{name: getattr(self, name) for name in ("how", "call", "source", "fingerprint", "documents")},
            "date": self.date,
            "termsieve": self.termsieve,
            "class_sizes": [list(pair) for pair in self.classes],
            "measured": self.measured and self.measured.to_dict(),
        }

    @classmethod
    def from_json(cls, text: Any) -> Record:
        """Return the record in a model file; raise FormatError if it is damaged."""
        try:
            found = json.loads(text)
            texts = {name: str(found[name])[:MOST_TEXT] for name in TEXTS}
            texts["call"] = str(found.get("call", ""))[:MOST_TEXT]  # which earlier records do not have
            measured = found["measured"]
            mean, deviation = map(float, found["coverage"])
            record = cls(
                documents=_whole(found["documents"], 1),
                classes=tuple((_label(label), _whole(n)) for label, n in found["classes"]),
                terms={str(term): _whole(n, 1) for term, n in found["terms"].items()},
                least=_whole(found["least"], 1),
                coverage=(mean, deviation),
                measured=None if measured is None else Evaluation.from_dict(measured),
                **texts,
            )
            sound = 0 <= mean <= 1 and 0 <= deviation <= 1
            sound &= max(record.terms.values(), default=0) <= record.documents
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError, TermsieveError):
            sound = False
        if not sound:
            raise FormatError("the record of its training is damaged")
        return record


TEXTS = ("how", "source", "fingerprint", "date", "termsieve")


def recorded(
    corpus: Corpus, analysis: Analysis, how: str, measured: Evaluation | None = None, call: str = ""
) -> Record:
    """Return the record of a model that the texts of a corpus trained, cut into words by `analysis`."""
    assert corpus.texts is not None
    sizes = tuple((_plain(label), int(n)) for label, n in corpus.class_sizes.items())
    X, terms = count_terms(corpus.texts, words_only(analysis))
    df = np.bincount(X.indices, minlength=X.shape[1])
    least = int(np.sort(df)[-MOST_TERMS - 1]) + 1 if len(df) > MOST_TERMS else 1
    kept = np.flatnonzero(df >= least)
    # What a new document is to training: a document knows a term if enough others have it.
    shares = covered(X, df > least)
    return Record(
        how=how,
        source=corpus.name,
        fingerprint=fingerprint(corpus),
        documents=len(corpus),
        classes=sizes,
        terms={str(terms[i]): int(df[i]) for i in kept},
        least=least,
        coverage=(float(shares.mean()), float(shares.std())),
        measured=measured,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        termsieve=__version__,
        call=call,
    )


def called(name: str, options: dict[str, Any]) -> str:
    """Return a call in Python, without the options that were not given.

    >>> called("train_model", {"k": 20, "drop": (), "target": None, "stop_words": "english"})
    "train_model(corpus, k=20, stop_words='english')"
    """
    given = [f"{key}={_short(value)}" for key, value in options.items() if value is not None and value != ()]
    return f"{name}({', '.join(['corpus', *given])})"


def _short(value: Any) -> str:
    spelled = repr(value)
    return spelled if len(spelled) <= MOST_OPTION else "..."


def words_only(analysis: Analysis) -> Analysis:
    """Return the analysis without sequences of words, which would only repeat the changes of words."""
    return replace(analysis, ngram_range=(1, 1)) if analysis.analyzer == "word" else analysis


def covered(X: Any, known: Any) -> Any:
    """Return for each document with terms the share of its distinct terms that are known."""
    sizes = np.diff(X.indptr)
    rows = np.repeat(np.arange(X.shape[0]), sizes)
    hits = np.bincount(rows, np.asarray(known)[X.indices], minlength=X.shape[0])
    return hits[sizes > 0] / sizes[sizes > 0]


def fingerprint(corpus: Corpus) -> str:
    """Return the SHA-256 of all texts and labels, in order."""
    digest = hashlib.sha256()
    for text, label in zip(corpus.texts or (), corpus.labels.tolist(), strict=True):
        for part in (text, json.dumps(label, default=str)):
            content = part.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _label(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError("a label must be a text or a number")
    return value


def _whole(value: Any, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**53:
        raise InputError("a count must be a whole number")
    return value
