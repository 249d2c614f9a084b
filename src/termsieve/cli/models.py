"""The commands about classifiers: select, predict."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from termsieve.cli.options import (
    Alpha,
    Class,
    Combine,
    Drop,
    Json,
    Keep,
    MaxDf,
    Method,
    MetricName,
    MinDf,
    Ratio,
    Side,
)
from termsieve.cli.output import check_output, show_json, show_table, working, write_text
from termsieve.cli.shell import put, say
from termsieve.cli.source import Delimiter, Encoding, Format, Header, Quote, Source, Text, takes_source
from termsieve.cli.terms import learned, listed_terms
from termsieve.spec import TRAINING

app = typer.Typer()
FOLDS = 5  # of the cross-validation of a classifier that is saved
SHOWN_CLASSES = 20  # that a confusion table is printed for
ModelFile = Annotated[
    str,
    Argument(
        metavar="MODEL",
        help="A model that `select --pipeline` or `advise --pipeline` saved.",
        show_default=False,
    ),
]
Trust = Annotated[
    bool,
    Option(
        "--trust",
        help="Also load estimators and parameters that are not on the list of allowed ones; only for a model "
        "file of your own.",
    ),
]


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
        Option(
            "--fdr", metavar="RATE", help="Keep the words that pass this false discovery rate (p-values)."
        ),
    ] = None,
    fwe: Annotated[
        float | None,
        Option(
            "--fwe",
            metavar="RATE",
            help="Keep the words that pass this probability of any false word (p-values).",
        ),
    ] = None,
    target: Class = None,
    side: Side = "both",
    ratio: Ratio = None,
    alpha: Alpha = None,
    method: Method = None,
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
    for `termsieve predict`, and the figures of its cross-validation, which repeats the selection in every
    fold, are printed.
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
        "alpha": alpha,
        "combine": combine,
        "min_df": min_df,
        "max_df": max_df,
        "keep": listed_terms(keep),
        "drop": listed_terms(drop),
    }
    if pipeline is None and method is not None:
        named = None if metric == TRAINING else metric
        terms = learned(source, method, named, **cuts, **how)[0].terms
    elif pipeline is None:
        from termsieve.telling import select_terms

        terms = select_terms(source.counts(metric), metric, **cuts, **how)
    else:
        terms = _trained(source, pipeline, metric, learner, method=method, **cuts, **how)
    if output is not None:
        write_text(output, json.dumps(terms, ensure_ascii=False, indent=0) + "\n")
    elif pipeline is None:
        show_json(terms, indent=0)


def _trained(source: Source, path: Path, metric: str, learner: str, **how: Any) -> list[str]:
    """Train a classifier, save it, print how well it does, and return its terms."""
    from termsieve.training import train_model

    corpus = source.corpus()
    with working("training"):
        model = train_model(corpus, metric, learner, folds=FOLDS, **how, **source.term_options())
    model.save(path)
    say(f"wrote {path}: {learner} on {len(model.terms):,} words")
    measured = model.record and model.record.measured
    if measured is None:
        say("the documents are too few to measure the classifier")
    else:
        _tell_measures(measured)
    return model.terms


@app.command(epilog="\b\nExample: termsieve predict model.skops new.csv --text body --id number --score")
def predict(
    model: ModelFile,
    file: Annotated[
        str,
        Argument(
            metavar="FILE", help="The documents; - reads JSON lines from standard input.", show_default=False
        ),
    ],
    text: Text = None,
    id: Annotated[
        str | None, Option("--id", metavar="COL", help="Column that names the documents; printed first.")
    ] = None,
    label: Annotated[
        str | None,
        Option(
            "--label", metavar="COL", help="Column of the true class, to compare with; found by its name."
        ),
    ] = None,
    separator: Annotated[
        str | None, Option("--separator", metavar="TEXT", help="Separator between labels in a cell.")
    ] = None,
    score: Annotated[bool, Option("--score", help="Also print the decision value.")] = False,
    proba: Annotated[
        bool, Option("--proba", help="Also print the probability, if the model has it.")
    ] = False,
    header: Header = None,
    delimiter: Delimiter = None,
    quote: Quote = None,
    encoding: Encoding = None,
    format: Format = None,
    as_json: Json = False,
    trust: Trust = False,
) -> None:
    """Print the class of each document.

    One line per document, with tabs between columns; several labels are separated by tabs or, beside other
    columns, by semicolons. Documents are read and scored in pieces. Where the file has labels, measures per
    class and a confusion table follow on standard error. A model is rebuilt from known estimators with
    allowed parameters: a file from elsewhere cannot run anything.
    """
    from termsieve.models import load_model

    source = Source(
        file,
        text=text,
        label=label,
        separator=separator,
        header=header,
        quote=quote,
        delimiter=delimiter,
        encoding=encoding,
        format=format,
    )
    trained = load_model(model, trust=trust)
    given = sys.stdin.buffer if file == "-" and format in (None, "table") else file
    options = source.reader_options() | ({} if id is None else {"id": id})
    rows = trained.rows(given, format=format, scores=score, probabilities=proba, **options)
    truth, predicted, listed = [], [], []
    for row in rows:
        truth.append(row.label)
        predicted.append(row.prediction.label)
        if as_json:
            listed.append(_record(row, trained.classes, plain=not (id or score or proba)))
        else:
            put(_line(row, trained.classes, id is not None))
    measured = trained.evaluate(truth, predicted)
    if as_json:
        show_json(
            listed if label is None else {"documents": listed, "measures": measured and measured.to_dict()}
        )
    elif measured is not None:
        _tell_measures(measured)


def _record(row: Any, classes: Any, plain: bool) -> Any:
    """Return a prediction for JSON: the class alone, or all that was asked for."""
    label, values, shares = row.prediction
    if plain:
        return label
    found = {} if row.id is None else {"id": row.id}
    found |= {"class": label}
    if values is not None:
        found["scores"] = values[0] if len(values) == 1 else dict(zip(map(str, classes), values, strict=True))
    if shares is not None:
        found["probabilities"] = dict(zip(map(str, classes), shares, strict=True))
    return found


def _line(row: Any, classes: Any, named: bool) -> str:
    """Return a prediction as a line: name, class or labels, decision value, probability."""
    label, values, shares = row.prediction
    if not named and values is None and shares is None:
        return "\t".join(map(str, label)) + "\n" if isinstance(label, tuple) else f"{label}\n"
    labels = label if isinstance(label, tuple) else (label,)
    cells = [str(row.id)] if named else []
    cells.append(";".join(map(str, labels)))
    for numbers in (values, shares):
        if numbers is not None:
            one = len(numbers) == 1
            cells.append(";".join(f"{numbers[0 if one else classes.index(each)]:.6g}" for each in labels))
    return "\t".join(cells) + "\n"


def _tell_measures(measured: Any) -> None:
    """Print measures per class and the confusion table to stderr."""
    say(measured.headline() + (f" by {measured.by}" if measured.by else ""))
    show_table(measured.rows(), "Measures per class", aside=True)
    if measured.table is not None and len(measured.classes) <= SHOWN_CLASSES:
        show_table(measured.confusion(), "Documents by true class (rows) and predicted class", aside=True)
