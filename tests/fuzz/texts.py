"""Targets whose files people write or get: the readers' formats and plans of studies."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import strategies as st
from tests.fuzz.changes import changed_bytes, changed_text, changed_value

from termsieve import Counts, read, term_matrix
from termsieve.studies import load_plan

ARFF = """% words
@relation mail
@attribute apple numeric
@attribute 'red pear' real
@attribute c {x,y,'z z'}
@data
{0 2,1 1,2 y}
{}
{0 1, 2 'z z'}
1,0.5,x
0,3,"y" % why
"""
ARFF_TEXT = """@relation r
@attribute text string
@attribute class {spam,ham}
@data
'cheap \\'pills\\'',spam
"see you",ham
?,ham
"""
REUTERS = "".join(
    f"""<REUTERS TOPICS="YES" LEWISSPLIT="{part}" CGISPLIT="TRAINING-SET" OLDID="{i}" NEWID="{i}">
<DATE>26-FEB-1987</DATE><TOPICS><D>grain</D><D>corn</D></TOPICS><PLACES><D>usa</D></PLACES>
<TEXT>&#2;<TITLE>Corn &lt;up></TITLE><BODY>More corn &amp; grain. &#3;</BODY></TEXT>
</REUTERS>
"""
    for i, part in enumerate(("TRAIN", "TEST", "TRAIN"))
)
REUTERS = f'<!DOCTYPE lewis SYSTEM "lewis.dtd">\n{REUTERS}'
REVIEWS = """<review>
<rating>
5.0
</rating>
<title>
Fine &quot;film&quot;
</title>
<review_text>
A film & more <br /> of it
</review_text>
</review>
"""
SVMLIGHT = "# head\n+1 1:0.5 3:2 # note\n-1 qid:7 2:1e-1\n+1\n-1 1:3 2:4 3:5\n"
SVMLIGHT_SEVERAL = "0,2 1:1\n 2:3\n1 1:1 2:1\n"
CSV = 'text,label,n\n"cheap, ""pills""",spam,1\nsee you,ham,2\n"two\nlines",spam,3\n,ham,4\n'
JSON_LINES = (
    '{"text": "cheap pills", "label": "spam", "n": 1}\n{"text": "see \\u00e9 you", "label": "ham"}\n'
    '{"text": "two\\nlines", "label": "spam", "n": null}\n'
)
JSON_SEVERAL = '{"text": "cheap pills", "label": ["a", "b"]}\n{"text": "see you", "label": []}\n'
PLAN = """name = "small"
about = "about it"
[[corpora]]
name = "mails"
path = "mails.csv"
format = "table"
classes = ["spam", "ham"]
per_class = 10
options = { text = "text", label = "label" }
[representation]
values = "presence"
min_df = 3
lowercase = true
[problems]
kind = "one-vs-rest"
[protocol]
kind = "kfold"
trials = 2
folds = 3
seed = 1
[[methods]]
metric = ["bns", "wfo(0.3)"]
side = "both"
[sizes]
k = [2, 5]
all = true
[[learners]]
name = "svm"
"""
ARFF_TOKENS = ("@data", "@attribute", "numeric", "string", "{", "}", "{0 1,0 2}", "?", "%", "date")
SGML_TOKENS = (
    "<REUTERS",
    "</REUTERS>",
    "<TEXT>",
    "<D>",
    "&#99999999999;",
    "&#xD800;",
    "&",
    "<![CDATA[",
    "<!--",
)
REVIEW_TOKENS = ("<review>", "</review>", "<reviews>", "<title>", "&#1114112;", "&amp", "<", ">")
SVM_TOKENS = (
    "0:1",
    "1:nan",
    "2147483646:1",
    "4294967297:1",
    "999999999999999999:1",
    "1:",
    ":1",
    "qid:1",
    ",",
    "#",
)
TABLE_TOKENS = ('"', '""', ",", "\r\n", "\n", ";", "\t", "\ufeff", '{"text": 1}', "[1]", "}", "1e400")
PLAN_TOKENS = (
    "[[corpora]]",
    "[sizes]",
    "=",
    "[1]",
    "'''",
    "1979-05-27",
    "nan",
    "inf",
    "{}",
    "[]",
    "true",
    "0x10",
)


def _read_and_counted(name: str, **options: Any) -> Callable[[Path], None]:
    def reading(folder: Path) -> None:
        corpus = read(folder / name, **options)
        X, terms = (corpus.matrix, corpus.terms) if corpus.texts is None else term_matrix(corpus)
        Counts.from_matrix(X, corpus.labels, terms=terms)

    return reading


def _plan_read(folder: Path) -> None:
    load_plan(folder / "plan.toml").to_toml()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _files(name: str, tokens: tuple[str, ...], *bases: str) -> st.SearchStrategy[dict[str, bytes]]:
    """Return a strategy of one file: a base with changed tokens, changed bytes, or both."""
    texts = st.sampled_from(bases).flatmap(lambda base: changed_text(base, tokens)).map(_encoded)
    raw = st.sampled_from(bases).flatmap(lambda base: changed_bytes(base.encode()))
    return st.one_of(texts, texts, raw, texts.flatmap(changed_bytes)).map(lambda content: {name: content})


@st.composite
def _plans(draw: Any) -> dict[str, bytes]:
    """Return a plan with a value changed, where it stays TOML, or with tokens changed."""
    import tomllib

    import tomli_w

    kind = draw(st.sampled_from(["tokens", "bytes", "value", "value"]))
    if kind == "bytes":
        return {"plan.toml": draw(changed_bytes(PLAN.encode()))}
    if kind == "tokens":
        return {"plan.toml": draw(changed_text(PLAN, PLAN_TOKENS)).encode("utf-8", "replace")}
    try:
        text = tomli_w.dumps(draw(changed_value(tomllib.loads(PLAN))))
    except (TypeError, ValueError, AttributeError):  # None, or a number that TOML cannot hold
        text = PLAN
    return {"plan.toml": text.encode("utf-8", "replace")}


@cache
def _written_tables() -> tuple[bytes, ...]:
    """Return Parquet tables of several kinds: packed or not, one group or several, labels in lists."""
    several = [["spam"], [], ["spam", "ham"]] * 20
    frame = pl.DataFrame(
        {"text": [f"cheap pills {i}" for i in range(60)], "label": ["spam", "ham", "eggs"] * 20}
    )
    packings: tuple[Any, ...] = ("uncompressed", "zstd", "snappy")
    written = []
    for table in (frame, frame.with_columns(label=pl.Series(several))):
        for packing in packings:
            buffer = io.BytesIO()
            table.write_parquet(buffer, compression=packing, row_group_size=25)
            written.append(buffer.getvalue())
    return tuple(written)


@st.composite
def _parquet_tables(draw: Any) -> dict[str, bytes]:
    content = draw(st.sampled_from(_written_tables()))
    if draw(st.booleans()):
        return {"a.parquet": draw(changed_bytes(content))}
    # What a reader believes stands at the end.
    footer = int.from_bytes(content[-8:-4], "little") + 8
    return {"a.parquet": content[:-footer] + draw(changed_bytes(content[-footer:]))}


TEXT_TARGETS: dict[str, tuple[Any, Callable[[Path], None]]] = {
    "arff": (_files("a.arff", ARFF_TOKENS, ARFF, ARFF_TEXT), _read_and_counted("a.arff", format="arff")),
    "reuters": (_files("a.sgm", SGML_TOKENS, REUTERS), _read_and_counted("a.sgm", format="reuters")),
    "reviews": (_files("a.review", REVIEW_TOKENS, REVIEWS), _read_and_counted("a.review", format="reviews")),
    "svmlight": (
        _files("a.svm", SVM_TOKENS, SVMLIGHT, SVMLIGHT_SEVERAL),
        _read_and_counted("a.svm", format="svmlight"),
    ),
    "csv": (
        _files("a.csv", TABLE_TOKENS, CSV),
        _read_and_counted("a.csv", format="table", text="text", label="label"),
    ),
    "jsonl": (
        _files("a.jsonl", TABLE_TOKENS, JSON_LINES, JSON_SEVERAL),
        _read_and_counted("a.jsonl", format="table", text="text", label="label"),
    ),
    "parquet": (
        _parquet_tables(),
        _read_and_counted("a.parquet", format="table", text="text", label="label"),
    ),
    "plan": (_plans(), _plan_read),
}
