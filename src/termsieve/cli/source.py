"""The shared options of the commands that read documents come in; a corpus or Counts go out."""

from __future__ import annotations

import inspect
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from termsieve.cli.output import working
from termsieve.cli.shell import wrong
from termsieve.errors import TermsieveError, near_name

if TYPE_CHECKING:
    from termsieve.corpus import Corpus
    from termsieve.counts import Counts
    from termsieve.terms import Analysis

COPIED_BYTES = 1 << 20  # of standard input at a time


Text = Annotated[
    str | None, Option("--text", metavar="COL", help="Column that holds the text.", show_default=False)
]
Delimiter = Annotated[
    str | None,
    Option("--delimiter", metavar="CHAR", help="Separator between cells; recognised by default."),
]
Header = Annotated[
    bool | None,
    Option(
        "--header/--no-header",
        help="Whether the first row of a table has the names of its columns; recognised by default. Columns "
        "without names are numbered from 1.",
        show_default=False,
    ),
]
Quote = Annotated[
    str | None,
    Option(
        "--quote",
        metavar="none|CHAR",
        help="Quote around cells; recognised by default. With none, quotes are a part of the text.",
    ),
]
Encoding = Annotated[
    str | None,
    Option("--encoding", metavar="NAME", help="Encoding of the file; UTF-8, UTF-16 or cp1252 by default."),
]
Format = Annotated[
    str | None, Option("--format", metavar="NAME", help="Format of the file; recognised by default.")
]


@dataclass(frozen=True)
class Source:
    """Where documents come from, and how they become terms. Each field is an option of the command line."""

    file: Annotated[
        str,
        Argument(
            metavar="FILE",
            help="A table (CSV, JSON, Parquet, Excel), a folder with one directory per class, lines of label "
            "and text, Reuters SGML, ARFF, svmlight, a counts file, or - for JSON lines on standard input.",
            show_default=False,
        ),
    ]
    text: Text = None
    label: Annotated[
        str | None,
        Option(
            "--label",
            metavar="COL",
            help="Column that holds the class, or several columns of 0 and 1, separated by commas.",
            show_default=False,
        ),
    ] = None
    label_from: Annotated[
        str | None,
        Option(
            "--label-from",
            metavar="file|top|inner",
            help="Take the class from the name of the file or, in a folder of folders, of the top or the "
            "inner folder.",
        ),
    ] = None
    fine: Annotated[
        bool,
        Option("--fine", help="With --format lines: labels are LABEL:fine, not LABEL.", show_default=False),
    ] = False
    separator: Annotated[
        str | None,
        Option(
            "--separator", metavar="TEXT", help="Separator between labels if a cell holds several, such as ;."
        ),
    ] = None
    drop_missing: Annotated[
        bool, Option("--drop-missing", help="Leave out documents without a label.", show_default=False)
    ] = False
    header: Header = None
    delimiter: Delimiter = None
    quote: Quote = None
    encoding: Encoding = None
    format: Format = None
    strip: Annotated[
        str | None,
        Option(
            "--strip",
            metavar="PARTS",
            help="In a folder of mails or news posts, leave out headers, footers or quotes: names "
            "separated by commas, or none.",
            show_default=False,
        ),
    ] = None
    max_bytes: Annotated[
        int | None,
        Option(
            "--max-bytes",
            metavar="N",
            help="Largest number of bytes to read, after decompression; 2147483648 by default. A line may "
            "have one sixteenth of it.",
            show_default=False,
        ),
    ] = None
    stop_words: Annotated[
        str | None,
        Option(
            "--stop-words",
            metavar="LANGUAGE|FILE",
            help="Words to leave out: the list of a language, such as english, or a file.",
        ),
    ] = None
    ngrams: Annotated[
        str,
        Option(
            "--ngrams",
            metavar="N|M-N",
            help="Count sequences of 1 to N, or M to N, words or characters.",
            show_default=False,
        ),
    ] = ""
    analyzer: Annotated[
        str | None,
        Option(
            "--analyzer",
            metavar="word|char|char_wb",
            help="Count words, sequences of characters (char), or sequences of characters within words "
            "(char_wb). By default words, unless the script has no spaces between them.",
        ),
    ] = None
    stem: Annotated[
        str | None,
        Option(
            "--stem", metavar="LANGUAGE", help="Count stems of words, such as german; porter for English."
        ),
    ] = None
    language: Annotated[
        str | None,
        Option(
            "--language",
            metavar="auto|LANGUAGE",
            help="Leave out the stop words of this language and count its stems.",
        ),
    ] = None
    normalize: Annotated[
        str | None,
        Option("--normalize", metavar="nfkc", help="Convert texts to this normal form of Unicode first."),
    ] = None

    def term_options(self) -> dict[str, Any]:
        """Return the options of term_matrix and TermVectorizer that are not the default."""
        options: dict[str, Any] = {}
        if self.stop_words is not None:
            options["stop_words"] = _stop_words(self.stop_words)
        lengths = _lengths(self.ngrams)
        if lengths != (1, 1):
            options["ngram_range"] = lengths
        names = ("analyzer", "stem", "language", "normalize")
        return options | {name: value for name in names if (value := getattr(self, name)) is not None}

    def reader_options(self) -> dict[str, Any]:
        """Return the options given for the reader."""
        names = ("text", "label", "label_from", "separator", "header", "delimiter", "quote", "encoding")
        given = {name: value for name in (*names, "max_bytes") if (value := getattr(self, name)) is not None}
        given |= {"fine": True} if self.fine else {}
        if self.strip is not None:
            given["strip"] = tuple(part.strip() for part in self.strip.split(","))
        return given | ({"missing": "drop"} if self.drop_missing else {})

    @property
    def is_counts(self) -> bool:
        """Whether the file holds counts and no documents."""
        from termsieve.counts.storage import holds_counts

        return holds_counts(self.file)

    def corpus(self) -> Corpus:
        """Read the documents."""
        from termsieve.readers import read

        if self.is_counts:
            raise wrong(f"{self.file} holds counts, but this command needs the documents")
        with self.on_disk() as source, working(f"reading {self.file}"):
            name = "standard input" if self.file == "-" else None
            return read(source.file, source.format, name=name, **source.reader_options())

    def texts(self) -> list[str]:
        """Read the texts of documents that need not have labels."""
        from termsieve.predictions import documents_of

        given = sys.stdin.buffer if self.file == "-" and self.format in (None, "table") else self.file
        return [text for text, _, _ in documents_of(given, self.format, self.reader_options())]

    def counts(self, *metrics: str) -> Counts:
        """Return the counts in the file or of its documents, with occurrences if the metrics need them."""
        from termsieve.metrics import get_metric

        reads = {get_metric(metric).reads for metric in metrics}
        return self.counted([self.file], occurrences="occurrences" in reads)

    def counted(self, files: list[str], **options: Any) -> Counts:
        """Return the counts of several files; tables, also on standard input, are read in pieces."""
        from termsieve.engines import count
        from termsieve.readers import get_format
        from termsieve.sources import counts_of

        engine = options.get("engine", "threads")
        for file in files if engine != "threads" else ():
            if file == "-" or not get_format(file, self.format).streams:
                raise wrong(
                    f"--engine {engine} is for tables (CSV, JSON lines, Parquet) that its workers reach, "
                    f"not {file}"
                )
        options |= self.reader_options() | self.term_options()
        if files == ["-"] and self.format in (None, "table"):
            return count(sys.stdin.buffer, **options)
        with self.on_disk() as source:
            paths = [source.file if file == "-" else file for file in files]
            return counts_of(paths, format=self.format, **options)

    def counted_without_passages(self, **options: Any) -> Counts:
        """Return the counts of the documents without the passages that several of them share."""
        from termsieve.passages import without_passages
        from termsieve.sources import counts_of

        return counts_of(without_passages(self.corpus()), **options, **self.term_options())

    def batches(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield the texts and labels of the documents; tables are read in pieces."""
        from termsieve.sources import document_batches

        return document_batches(self.file, self.reader_options(), self.format)

    def analysis(self) -> Analysis:
        """Return how texts become terms."""
        from termsieve.counts.counter import analysis_of

        return analysis_of(self.term_options())

    @contextmanager
    def on_disk(self) -> Iterator[Source]:
        """Give this source; if it is standard input, as a temporary file."""
        if self.file != "-":
            yield self
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "stdin.jsonl")
            with open(path, "wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file, COPIED_BYTES)
            try:
                yield replace(self, file=str(path))
            except TermsieveError as error:
                raise type(error)(str(error).replace(str(path), "standard input")) from None


def _stop_words(given: str) -> str | list[str]:
    from termsieve.terms import stop_word_names

    names = stop_word_names()
    if given in names:
        return given
    path = Path(given)
    if not path.is_file():
        raise wrong(
            f"--stop-words takes a language or a file with one word per line; there is no file {given}, "
            f"{near_name(given, names)}languages: {', '.join(names)}"
        )
    return path.read_text(encoding="utf-8").split()


def _lengths(given: str) -> tuple[int, int]:
    """Return the least and the greatest length of sequences: "3" is 1 to 3, "2-5" is 2 to 5."""
    least, dash, most = given.partition("-")
    if not given:
        return 1, 1
    if not least.isdecimal() or (dash and not most.isdecimal()):
        raise wrong(f"--ngrams takes a number such as 2, or two such as 2-5, not {given!r}")
    lengths = (int(least), int(most)) if dash else (1, int(least))
    if not 1 <= lengths[0] <= lengths[1]:
        raise wrong(f"--ngrams must be 1 or more, not {given}, and the smaller number comes first")
    return lengths


def takes_source(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with the fields of Source as options, in place of its first parameter."""

    @wraps(command)
    def run(**given: Any) -> Any:
        source = Source(**{name: given.pop(name) for name in shared})
        return command(source, **given)

    shared = inspect.signature(Source, eval_str=True).parameters
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    first, *rest = shared.values()
    parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (first, *own, *rest)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    del run.__wrapped__
    return run
