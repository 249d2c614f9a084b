"""The commands that give something to classify with: select, predict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from termsieve.cli.output import check_output, show_json, whole_file, working, write_text
from termsieve.cli.shell import put, say, wrong
from termsieve.cli.source import Delimiter, Encoding, Format, Source, Text, takes_source
from termsieve.cli.terms import Class, Combine, Json, MaxDf, MetricName, MinDf, Ratio, Side

app = typer.Typer()


@app.command(epilog="\b\nExample: termsieve select mail.csv -k 500 -o vocabulary.json --pipeline model.skops")
@takes_source
def select(
    source: Source,
    metric: MetricName = "bns",
    k: Annotated[
        int | None, Option("-k", metavar="N", help="So many words; 1000 if nothing is said.")
    ] = None,
    fraction: Annotated[float | None, Option("--fraction", help="That share of the words.")] = None,
    threshold: Annotated[float | None, Option("--threshold", help="Words with at least that score.")] = None,
    sparsity: Annotated[
        float | None, Option("--sparsity", help="As many as leave a document so many words on average.")
    ] = None,
    memory: Annotated[
        float | None, Option("--memory", metavar="BYTES", help="As many as make a matrix of that size.")
    ] = None,
    target: Class = None,
    side: Side = "both",
    ratio: Ratio = None,
    combine: Combine = "max",
    min_df: MinDf = 1,
    max_df: MaxDf = 1.0,
    output: Annotated[
        Path | None, Option("-o", "--output", metavar="FILE", help="The vocabulary to write, as .json.")
    ] = None,
    pipeline: Annotated[
        Path | None,
        Option("--pipeline", metavar="FILE", help="Also train a classifier and save it, as .skops."),
    ] = None,
    learner: Annotated[str, Option("--learner", help="The classifier: svm, lr, nb, ...")] = "svm",
) -> None:
    """Select words as a vocabulary, or train a classifier.

    The vocabulary is a JSON list of words, best first, on standard output or in a file; CountVectorizer and
    TermVectorizer take it as vocabulary=. With --pipeline a classifier on those words is trained and saved
    for `termsieve predict`.
    """
    from termsieve.cli.telling import Way, problems
    from termsieve.metrics import get_metric
    from termsieve.ranking import CUTS, check_cut, cut

    given: dict[str, Any] = dict(zip(CUTS, (k, fraction, threshold, sparsity, memory), strict=True))
    cuts = {name: value for name, value in given.items() if value is not None}
    if len(cuts) > 1:
        raise wrong(f"give one cut-off, not {' and '.join(cuts)} together")
    for name, value in cuts.items():
        check_cut(name, value)
    check_output(output, (".json",))
    check_output(pipeline, (".skops",))
    way, chosen = Way(side, ratio, None, combine, min_df, max_df), get_metric(metric)
    counts, documents = _counted(source, chosen.reads == "occurrences", pipeline is not None)
    ranking, _ = way.ranking(problems(counts, target, combine), metric)
    terms = [str(term) for term in counts.names()[cut(ranking, **cuts)]]
    if not terms:
        raise wrong("no word passes this cut-off; allow more")
    if pipeline is not None:
        _save_pipeline(pipeline, terms, documents, learner, target, source.term_options())
    if output is not None:
        write_text(output, json.dumps(terms, ensure_ascii=False, indent=0) + "\n")
    elif pipeline is None:
        show_json(terms, indent=0)


def _counted(source: Source, occurrences: bool, keep: bool) -> tuple[Any, Any]:
    """Return the counts and, if they are to be kept, the documents."""
    from termsieve.counts import Counts
    from termsieve.terms import term_matrix

    if not keep:
        return source.counts(occurrences), None
    corpus = source.corpus()
    if corpus.texts is None:
        raise wrong(f"{source.file} holds word counts; --pipeline needs the texts themselves")
    X, terms = term_matrix(corpus, **source.term_options())
    return Counts.from_matrix(X, corpus.labels, terms=terms, occurrences=occurrences), corpus


def _save_pipeline(
    path: Path, terms: list[str], corpus: Any, learner: str, target: str | None, options: dict[str, Any]
) -> None:
    from termsieve.cli.saved import save_pipeline, trained_pipeline

    with working("training"):
        model = trained_pipeline(corpus, terms, learner, target, options)
    with whole_file(path) as part:
        save_pipeline(model, part)
    say(f"wrote {path}: {learner} on {len(terms):,} words")


@app.command(epilog="\b\nExample: termsieve predict model.skops new.csv --text body")
def predict(
    model: Annotated[
        str, Argument(metavar="MODEL", help="What select --pipeline saved.", show_default=False)
    ],
    file: Annotated[
        str,
        Argument(metavar="FILE", help="Documents; - is JSON lines on standard input.", show_default=False),
    ],
    text: Text = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    format: Format = None,
    as_json: Json = False,
) -> None:
    """Print the class of each document.

    One a line; several labels are parted by tabs. A model is loaded only if it consists of scikit-learn's
    and termsieve's own types: a file from elsewhere cannot run anything.
    """
    from termsieve.cli.saved import load_pipeline, predicted
    from termsieve.cli.source import read_texts

    with working("predicting"):
        source = Source(file, text=text, delimiter=delimiter, encoding=encoding, format=format)
        labels = predicted(load_pipeline(model), read_texts(source))
    if as_json:
        show_json(labels)
        return
    for label in labels:
        put("\t".join(map(str, label)) + "\n" if isinstance(label, list) else f"{label}\n")
