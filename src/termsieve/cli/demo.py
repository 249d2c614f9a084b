"""The command for a first look: demo."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from termsieve.cli.output import check_output, show, show_table, working, write_rows
from termsieve.cli.shell import say
from termsieve.spec import READING

if TYPE_CHECKING:
    from termsieve.corpus import Corpus

app = typer.Typer()
WORDS = 5  # shown of each class
LETTERS = r"(?u)\b[^\W\d_][^\W\d_]+\b"  # words without digits and underscores


@app.command(epilog="\b\nExample: termsieve demo")
def demo(
    output: Annotated[
        Path, Option("-o", "--output", metavar="FILE", help="Write the report to this .html file.")
    ] = Path("report.html"),
    data: Annotated[
        Path | None,
        Option(
            "--data",
            metavar="FILE",
            help="Only write the documents to this table, to try the other commands.",
        ),
    ] = None,
) -> None:
    """Show what termsieve does, on text that every installation contains.

    It takes less than a minute. The documents are the docstrings of SciPy's functions, and the classes are
    its subpackages. The demo shows the sizes of the classes, the words that separate each from the others,
    and how many words a classifier needs, and writes report.html.
    """
    check_output(output, (".html",))
    check_output(data)
    if data is not None:
        write_rows(_rows(), data)
        return
    start = time.perf_counter()
    with working("reading SciPy's docstrings"):
        corpus, classes = _documents()
    show_table(classes, f"{len(corpus):,} docstrings of SciPy: classes and their telling words, by {READING}")
    with working("training classifiers on the best 10 to 1,000 words"):
        curves, ticks = _study(corpus)
    typer.echo("How many words a linear SVM needs, and by which metric: mean F1 of the classes, 4 folds")
    show(drawn(curves, ticks))
    with working("writing the report"):
        from termsieve.reports import corpus_report

        corpus_report(corpus, output, drop_passages=True, token_pattern=LETTERS)
    say(f"wrote {output}; open it in a browser. This took {time.perf_counter() - start:.0f} seconds.")
    say("Next, with a table of your own: termsieve rank FILE --text COL --label COL")


def _rows() -> list[dict[str, str]]:
    from termsieve.readers import load_docstrings

    corpus = load_docstrings()
    assert corpus.texts is not None
    return [
        {"text": text, "label": str(label)} for text, label in zip(corpus.texts, corpus.labels, strict=True)
    ]


def _documents() -> tuple[Corpus, list[dict[str, Any]]]:
    """Return the corpus, and its classes with their words.

    Sentences that many docstrings share are not counted, and neither are names of the code, such as `u_i`.
    """
    from termsieve.readers import load_docstrings
    from termsieve.telling import class_words

    corpus = load_docstrings()
    words = class_words(corpus, WORDS, min_df=3, drop_passages=True, token_pattern=LETTERS)
    return corpus, words.to_dicts()


def _study(corpus: Corpus) -> tuple[dict[str, list[float]], list[str]]:
    """Return the curve of each metric over the sizes of the built-in study, all features last."""
    import polars as pl

    from termsieve.analysis import size_curves
    from termsieve.studies import run_study

    with tempfile.TemporaryDirectory() as folder:
        table = size_curves(run_study("quick", folder, corpora={"docstrings": corpus}, workers=1).frame())
    every = table.filter(pl.col("size_kind") == "all")["value"].item()
    sized = table.filter(pl.col("size_kind") == "k").sort("size")
    sizes = sized["size"].unique(maintain_order=True).to_list()
    curves = {
        str(name): [*part["value"].to_list(), every]
        for (name,), part in sized.group_by("method", maintain_order=True)
    }
    return curves, [*(f"{size:,.0f}" for size in sizes), "all"]


def drawn(curves: dict[str, list[float]], ticks: list[str]) -> Any:
    """Return the drawing, best curve first."""
    from termsieve.cli.plot import drawn_curves

    best = dict(sorted(curves.items(), key=lambda item: -max(item[1][:-1])))
    return drawn_curves(best, ticks)
