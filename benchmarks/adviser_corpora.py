"""The name of a corpus comes in; documents for advice and hidden documents, draw by draw, go out.

The corpora are split in two. On TUNING the portfolio, the rules, the prior and the calibration were
settled; CHECKING was left alone until one final check.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import termsieve
from termsieve.corpus import Corpus

_FORMAN_TUNING = ("oh0", "oh5", "oh10", "oh15", "tr11", "tr12", "tr41", "tr45", "wap", "re0", "fbis")
_FORMAN_CHECKING = ("re1", "tr21", "tr23", "tr31", "la1", "la2", "ohscal")
TUNING = (*_FORMAN_TUNING, "movie", "reuters", "20ng-talk", "docstrings")
CHECKING = (*_FORMAN_CHECKING, "dvd", "20ng-comp")
LEAST = 15  # documents of a class that is asked about
DOCUMENTS = (900, 1500)  # of a draw, a third of them hidden
REUTERS_TOPICS = 40


def corpus_of(name: str) -> Corpus:
    """Return a corpus below TERMSIEVE_DATA.

    20ng-talk and 20ng-comp are the groups of 20 Newsgroups about talk and recreation, and about computers and
    science, without headers; reuters has the documents with one topic, of the 40 most frequent.
    """
    if name == "docstrings":
        return termsieve.load_docstrings()
    data = Path(os.environ["TERMSIEVE_DATA"])
    if name in ("movie", "dvd"):
        return termsieve.read(data / f"{name}_reviews").renamed(name)
    if name == "reuters":
        return _reuters(termsieve.read(data / "reuters21578"))
    if name.startswith("20ng"):
        corpus = termsieve.read(data / "20_newsgroups", strip="headers")
        comp = np.array([str(label).startswith(("comp.", "sci.")) for label in corpus.labels])
        return corpus.subset(comp if name == "20ng-comp" else ~comp).renamed(name)
    return termsieve.read(data / f"forman/{name}.wc.arff").renamed(name)


def _reuters(corpus: Corpus) -> Corpus:
    single = [i for i, labels in enumerate(corpus.labels) if len(labels) == 1]
    sizes = Counter(corpus.labels[i][0] for i in single)
    kept = {topic for topic, _ in sizes.most_common(REUTERS_TOPICS)}
    rows = [i for i in single if corpus.labels[i][0] in kept]
    assert corpus.texts is not None
    return Corpus([corpus.texts[i] for i in rows], [corpus.labels[i][0] for i in rows], name="reuters")


@dataclass(frozen=True)
class Draw:
    """Documents to ask about, hidden documents, and the class that is asked about (None: all classes)."""

    number: int
    target: str | None
    shown: Corpus
    hidden: Corpus


def draws(
    corpus: Corpus, n_classes: int, n_binary: int, seed: int, documents: tuple[int, int] = DOCUMENTS
) -> Iterator[Draw]:
    """Yield draws that ask about all classes, and draws that ask about one class against the rest."""
    generator = np.random.default_rng([seed, zlib.crc32(corpus.name.encode())])
    two = len(corpus.classes) == 2
    for number in range(n_binary if two else n_classes + n_binary):
        most = min(len(corpus), int(generator.integers(*documents, endpoint=True)))
        rows = generator.permutation(len(corpus))[:most]
        shown, hidden = np.sort(rows[: 2 * most // 3]), np.sort(rows[2 * most // 3 :])
        part = corpus.subset(shown)
        eligible = [
            str(label) for label, size in part.class_sizes.items() if LEAST <= size <= len(part) - LEAST
        ]
        target = None
        if two:
            target = str(corpus.classes[1])
        elif number >= n_classes:
            target = str(generator.choice(eligible))
        yield Draw(number, target, part, corpus.subset(hidden))


def script_parser(description: str | None, **draws: int) -> tuple[argparse.ArgumentParser, Any, Any]:
    """Return the parser of a script about draws, its commands, and the command that runs draws.

    `draws` are the defaults of the numbers of draws about all classes and about one class (binary).
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    about = {"classes": "all classes", "binary": "one class"}
    for name, default in draws.items():
        runner.add_argument(
            f"--{name}", type=int, default=default, help=f"draws about {about[name]}, per corpus"
        )
    return parser, commands, runner


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines, compressed or not."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.decode("utf-8").splitlines()]
