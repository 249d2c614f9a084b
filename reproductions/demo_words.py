"""SciPy's docstrings in, the tables of docs/reading.md about the demo's words out.

python -m reproductions.demo_words

What a person would say of a subpackage is taken from its page in SciPy's documentation, the docstring of
the module, which is not among the documents: of the words of its title, headings, prose and one-line
descriptions, without names of functions and stop words, the 20 stems that are frequent there and rare on the
other pages (tf-idf). A listed word is expected if its stem is one of them.
"""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from math import log
from typing import Any

import polars as pl
import Stemmer

from reproductions.reading import markdown
from termsieve import Corpus, load_docstrings, telling_words
from termsieve.cli.demo import LETTERS, WORDS
from termsieve.readers.docstrings import MODULES
from termsieve.terms import stop_word_set

EXPECTED = 20  # stems of each subpackage
MIN_DF = 3
METRICS = ("bns", "correlation_coefficient", "g2", "fisher_exact", "wllr", "balanced_accuracy")
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "redundancy 0.5": {"redundancy": 0.5},
    "mrmr": {"redundancy": "mrmr"},
    "letters": {"token_pattern": LETTERS},
    "no shared passages": {"drop_passages": True},
    "no shared passages, letters": {"drop_passages": True, "token_pattern": LETTERS},
}
BEFORE, NOW = ("bns", "plain"), ("correlation_coefficient", "no shared passages, letters")
_MARKUP = re.compile(r":\w+:`[^`]*`|`+[^`]*`+_*|https?://\S+")
_DESCRIBED = re.compile(r"\s+--?\s+")  # between a name and what it is


def stems(words: list[str]) -> list[str]:
    """Return the stems of English words."""
    return list(Stemmer.Stemmer("english").stemWords(words))


def page_words(subpackage: str) -> list[str]:
    """Return the words on the pages of a subpackage and its modules, without names, markup and directives."""
    lines: list[str] = []
    for module in sorted({subpackage, *MODULES[subpackage]}):
        for line in (import_module(f"scipy.{module}").__doc__ or "").splitlines():
            if line.startswith("   "):  # an entry of a list, or an option of a directive
                name, *described = _DESCRIBED.split(line.strip(), maxsplit=1)
                prose = " " in name and name[:1].isalpha()
                lines += described or ([name] if prose else [])
            elif not line.startswith(".."):
                lines.append(line)
    words = re.findall(r"[a-z]{3,}", _MARKUP.sub(" ", "\n".join(lines)).lower())
    common = stop_word_set("english") or frozenset()
    return [word for word in words if word not in common]


def expected_stems() -> dict[str, list[str]]:
    """Return what a person would say of each subpackage: the stems that its page has and others have not."""
    pages = {name: Counter(stems(page_words(name))) for name in MODULES}
    with_stem = Counter(stem for page in pages.values() for stem in page)
    return {
        name: sorted(page, key=lambda stem: (-page[stem] * log(len(pages) / with_stem[stem]), stem))[
            :EXPECTED
        ]
        for name, page in pages.items()
    }


def lists(corpus: Corpus, metric: str, way: str) -> dict[str, list[str]]:
    """Return the words of each subpackage by a metric, in one of the ways."""
    found = telling_words(
        corpus, metric, each=True, k=WORDS, min_df=MIN_DF, side="positive", **WAYS[way].copy()
    )
    rows = found.select("class", "term").group_by("class", maintain_order=True).agg("term")
    return dict(rows.iter_rows())


def n_expected(words: list[str], expected: list[str]) -> int:
    """Return how many of the words are expected."""
    return sum(stem in expected for stem in stems(words))


def main() -> None:
    """Print the two tables."""
    corpus, expected = load_docstrings(), expected_stems()
    found = {(metric, way): lists(corpus, metric, way) for metric in METRICS for way in WAYS}
    rows: list[dict[str, Any]] = []
    for metric in METRICS:
        row: dict[str, Any] = {"metric": metric}
        for way in WAYS:
            hits = {name: n_expected(words, expected[name]) for name, words in found[metric, way].items()}
            row[way] = f"{sum(hits.values()) / len(hits):.2f} ({sum(n >= 2 for n in hits.values())})"
        rows.append(row)
    print("## Expected words of five, and subpackages with two or more\n")
    print(markdown(pl.DataFrame(rows)))
    print("\n## Before and after\n")
    table = []
    for name in MODULES:
        parts = [found[which][name] for which in (BEFORE, NOW)]
        before, now = (f"{', '.join(words)} ({n_expected(words, expected[name])})" for words in parts)
        table.append({"class": name, "before": before, "now": now, "expected": ", ".join(expected[name][:6])})
    print(markdown(pl.DataFrame(table)))


if __name__ == "__main__":
    main()
