"""The commands about classifiers: select, predict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from termsieve.cli.output import check_output, show_json, working, write_text
from termsieve.cli.shell import put, say
from termsieve.cli.source import Delimiter, Encoding, Format, Source, Text, takes_source
from termsieve.cli.terms import (
    Class,
    Combine,
    Drop,
    Json,
    Keep,
    MaxDf,
    MetricName,
    MinDf,
    Ratio,
    Side,
    listed_terms,
)
from termsieve.spec import TRAINING

app = typer.Typer()


@app.command(epilog="\b\nExample: termsieve select mail.csv -k 500 -o vocabulary.json --pipeline model.skops")
@takes_source
def select(
    source: Source,
    metric: MetricName = TRAINING,
    k: Annotated[
        int | None, Option("-k", metavar="N", help="Number of words to keep; 1000 if no cut-off is given.")
    ] = None,
    fraction: Annotated[float | None, Option("--fraction", help="Share of the words to keep.")] = None,
    threshold: Annotated[
        float | None, Option("--threshold", help="Keep the words with at least this score.")
    ] = None,
    sparsity: Annotated[
        float | None,
        Option("--sparsity", help="Largest mean number of selected words per document."),
    ] = None,
    memory: Annotated[
        float | None,
        Option("--memory", metavar="BYTES", help="Largest training matrix, in bytes."),
    ] = None,
    fpr: Annotated[
        float | None, Option("--fpr", metavar="RATE", help="Keep the words with a p-value below RATE.")
    ] = None,
    fdr: Annotated[
        float | None,
        Option("--fdr", metavar="RATE", help="Keep the words up to this false discovery rate (p-values)."),
    ] = None,
    fwe: Annotated[
        float | None,
        Option("--fwe", metavar="RATE", help="Keep the words up to this chance of any false one (p-values)."),
    ] = None,
    target: Class = None,
    side: Side = "both",
    ratio: Ratio = None,
    combine: Combine = "max",
    min_df: MinDf = 1,
    max_df: MaxDf = 1.0,
    keep: Keep = None,
    drop: Drop = None,
    output: Annotated[
        Path | None, Option("-o", "--output", metavar="FILE", help="Write the vocabulary to this .json file.")
    ] = None,
    pipeline: Annotated[
        Path | None,
        Option("--pipeline", metavar="FILE", help="Also train a classifier and save it to this .skops file."),
    ] = None,
    learner: Annotated[str, Option("--learner", help="The classifier: svm, lr, nb, ...")] = "svm",
) -> None:
    """Select words as a vocabulary, or train a classifier.

    The vocabulary is a JSON list of words, best first, on standard output or in a file; CountVectorizer and
    TermVectorizer take it as vocabulary=. With --pipeline a classifier on those words is trained and saved
    for `termsieve predict`.
    """
    from termsieve.ranking import one_cut

    sizes: dict[str, Any] = {"k": k, "fraction": fraction, "threshold": threshold}
    cuts = one_cut(**sizes, sparsity=sparsity, memory=memory, fpr=fpr, fdr=fdr, fwe=fwe)
    check_output(output, (".json",))
    check_output(pipeline, (".skops",))
    how: dict[str, Any] = {
        "target": target,
        "side": side,
        "ratio": ratio,
        "combine": combine,
        "min_df": min_df,
        "max_df": max_df,
        "keep": listed_terms(keep),
        "drop": listed_terms(drop),
    }
    if pipeline is None:
        from termsieve.telling import select_terms

        terms = select_terms(source.counts(metric), metric, **cuts, **how)
    else:
        from termsieve.models import train_model

        corpus = source.corpus()
        with working("training"):
            model = train_model(corpus, metric, learner, **cuts, **how, **source.term_options())
        model.save(pipeline)
        terms = model.terms
        say(f"wrote {pipeline}: {learner} on {len(terms):,} words")
    if output is not None:
        write_text(output, json.dumps(terms, ensure_ascii=False, indent=0) + "\n")
    elif pipeline is None:
        show_json(terms, indent=0)


@app.command(epilog="\b\nExample: termsieve predict model.skops new.csv --text body")
def predict(
    model: Annotated[
        str, Argument(metavar="MODEL", help="A model that `select --pipeline` saved.", show_default=False)
    ],
    file: Annotated[
        str,
        Argument(
            metavar="FILE", help="The documents; - reads JSON lines from standard input.", show_default=False
        ),
    ],
    text: Text = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    format: Format = None,
    as_json: Json = False,
    trust: Annotated[
        bool,
        Option(
            "--trust",
            help="The model file is your own: also load estimators and parameters that are not on the list.",
        ),
    ] = False,
) -> None:
    """Print the class of each document.

    One line per document; several labels are separated by tabs. A model is rebuilt from known estimators
    with allowed parameters: a file from elsewhere cannot run anything.
    """
    from termsieve.models import load_model

    source = Source(file, text=text, delimiter=delimiter, encoding=encoding, format=format)
    with working("predicting"), source.on_disk() as found:
        trained = load_model(model, trust=trust)
        labels = trained.predict_file(found.file, format=found.format, **found.reader_options())
    if as_json:
        show_json(labels)
        return
    for label in labels:
        put("\t".join(map(str, label)) + "\n" if isinstance(label, tuple) else f"{label}\n")
