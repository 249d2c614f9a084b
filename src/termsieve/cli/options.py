"""The options that several commands share, with their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option


def metric_names() -> list[str]:
    """Return the registry's names, for completion."""
    from termsieve.metrics import METRICS

    return list(METRICS)


MetricName = Annotated[
    str,
    Option("--metric", "-m", help="The metric; `termsieve metrics` lists them.", autocompletion=metric_names),
]
Class = Annotated[
    str | None,
    Option(
        "--class", "-c", metavar="NAME", help="The class to separate from the rest; all classes by default."
    ),
]
Side = Annotated[
    str,
    Option(
        "--side",
        help="List first the words for the class (positive), those against it (negative), or both in one "
        "order (both).",
    ),
]
ListSide = Annotated[
    str | None,
    Option(
        "--side",
        help="List first the words for the class (positive, the default), those against it (negative), or "
        "both in one order (both). --ratio lists both.",
        show_default=False,
    ),
]
Ratio = Annotated[
    float | None, Option("--ratio", metavar="SHARE", help="Share of the words that speak for the class.")
]
Alpha = Annotated[
    float | None,
    Option(
        "--alpha",
        metavar="SHARE",
        help="Weight of words that speak for the class, against 1 - SHARE for those that speak against it.",
    ),
]
Method = Annotated[
    str | None,
    Option(
        "--method",
        metavar="ratio|wfo|weights",
        help="Learn the selection from the documents: the share of words for a class, the parameter of wfo, "
        "or the weights of a linear SVM.",
    ),
]
Combine = Annotated[
    str,
    Option(
        "--combine", help="How the scores of the classes become one ranking: max, mean, round_robin or joint."
    ),
]
MinDf = Annotated[int, Option("--min-df", metavar="N", help="Leave out words in fewer than N documents.")]
MaxDf = Annotated[
    float,
    Option("--max-df", metavar="SHARE", help="Leave out words in more than this share of the documents."),
]
Keep = Annotated[
    str | None,
    Option(
        "--keep",
        metavar="A,B|FILE",
        help="Words to list in any case: separated by commas, or a file with one word per line.",
    ),
]
Drop = Annotated[
    str | None,
    Option(
        "--drop",
        metavar="A,B|FILE",
        help="Words to leave out: separated by commas, or a file with one word per line.",
    ),
]
DropPassages = Annotated[
    bool,
    Option(
        "--drop-passages",
        help="Do not count passages of 8 words or more that 3 documents or more share: boilerplate, "
        "signatures, quoted mails. Needs documents, not counts.",
        show_default=False,
    ),
]
Table = Annotated[
    Path | None,
    Option(
        "-o", "--output", metavar="FILE", help="Write to this .csv, .tsv, .json, .jsonl or .parquet file."
    ),
]
Json = Annotated[bool, Option("--json", help="Print JSON.")]
Csv = Annotated[bool, Option("--csv", help="Print CSV.")]
RawCells = Annotated[
    bool,
    Option(
        "--raw-cells",
        help="In CSV and TSV, write texts that begin with = + - @ without the apostrophe that keeps "
        "spreadsheets from running them.",
    ),
]
