"""A Parquet file comes in; its schema, its class names, and its rows go out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from termsieve.errors import FormatError, InputError, TermsieveError
from termsieve.parquet import check_file
from termsieve.readers.files import readable
from termsieve.readers.layout import SAMPLE_ROWS, Reading, Sample

if TYPE_CHECKING:
    import polars as pl

BATCH_ROWS = 20_000
Field = tuple["pl.Expr", Any]  # how a column is taken, and its type


def sample(path: str, reading: Reading) -> Sample:
    """Return the columns of a file, those within structs with a dot, and its first rows."""
    import polars as pl

    with readable(path), _errors(path):
        check_file(path, reading.max_bytes)
        table = pl.scan_parquet(path, glob=False)
        fields = dict(_fields(table.collect_schema()))
        first = table.head(SAMPLE_ROWS).select(column.alias(name) for name, (column, _) in fields.items())
        rows = first.collect().rows()
    return Sample("Parquet", tuple(fields), rows, reading, details=("Parquet",))


def frames(path: str, columns: Mapping[str, str], reading: Reading) -> Iterator[pl.DataFrame]:
    """Yield the columns of a file under the names of their roles; the numbers of named classes as names."""
    import polars as pl

    with readable(path), _errors(path):
        check_file(path, reading.max_bytes)
        table = pl.scan_parquet(path, glob=False)
        fields = dict(_fields(table.collect_schema()))
        classes = _class_names(path)
    _, kind = fields[columns["text"]]
    if kind not in (pl.String, pl.Categorical, pl.Null) and not isinstance(kind, pl.Enum):
        raise InputError(f"{path}: column {columns['text']!r} holds {kind}, not text")
    wanted = []
    for role, name in columns.items():
        column, kind = fields[name]
        if role == "text":
            column = column.cast(pl.String)
        elif name in classes:
            column = _named(column, kind, classes[name])
        wanted.append(column.alias(role))
    with readable(path), _errors(path):
        yield from table.select(wanted).collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)


def _fields(schema: Mapping[str, Any], struct: pl.Expr | None = None) -> Iterator[tuple[str, Field]]:
    """Yield the name of each column, or field of a struct, with its expression and type."""
    import polars as pl

    for name, kind in schema.items():
        column = pl.col(name) if struct is None else struct.struct.field(name)
        if isinstance(kind, pl.Struct) and kind.fields:
            inner = {part.name: part.dtype for part in kind.fields}
            for below, field in _fields(inner, column):
                yield f"{name}.{below}", field
        else:
            yield name, (column, kind)


def _named(column: pl.Expr, kind: Any, names: list[str]) -> pl.Expr:
    """Return the names for a column of class numbers, or of lists of them; -1 is no class."""
    import polars as pl

    numbers = dict(enumerate(names)) | {-1: None}
    if isinstance(kind, pl.List):
        return column.list.eval(pl.element().replace_strict(numbers, return_dtype=pl.String))
    return column.replace_strict(numbers, return_dtype=pl.String) if kind.is_integer() else column


def _class_names(path: str) -> dict[str, list[str]]:
    """Return the names of the classes that Hugging Face's datasets wrote into the file, by column."""
    import polars as pl

    try:
        held = json.loads(pl.read_parquet_metadata(path).get("huggingface", "{}"))
        features = held["info"]["features"]
        return class_features(features)
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}


def class_features(features: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the class names in the description of a dataset's columns.

    >>> class_features({"label": {"_type": "ClassLabel", "names": ["neg", "pos"]}, "id": {"_type": "Value"}})
    {'label': ['neg', 'pos']}
    """
    found = {}
    for name, kind in features.items():
        inner = kind[0] if isinstance(kind, list) and kind else kind
        inner = inner.get("feature", inner) if isinstance(inner, Mapping) else {}
        names = inner.get("names") if isinstance(inner, Mapping) else None
        if isinstance(names, list) and inner.get("_type") == "ClassLabel":
            found[str(name)] = [str(label) for label in names]
    return found


@contextmanager
def _errors(path: str) -> Iterator[None]:
    from polars.exceptions import PanicException, PolarsError

    try:
        yield
    except PanicException:  # no Exception, so that nothing else would catch it
        raise FormatError(f"{path} is no readable Parquet file: its content is damaged") from None
    except TermsieveError:
        raise
    except (PolarsError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(f"{path} is no readable Parquet file: {reason}") from error
