"""A dataframe, an Arrow table or a Hugging Face dataset comes in; its texts, labels and split go out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from termsieve.columns import Columns, Wanted, find_columns
from termsieve.errors import InputError
from termsieve.labels import indicator_labels

SAMPLE_ROWS = 500  # that help to word an error


def is_frame(source: Any) -> bool:
    """Return whether something is a table in memory: a dataframe, lazy or not, an Arrow table, a dataset."""
    if isinstance(source, str | bytes | Sequence):
        return False
    return _is_dataset(source) or any(hasattr(type(source), name) for name in ("columns", "column_names"))


def _is_dataset(source: Any) -> bool:
    """Return whether something is a dataset of Hugging Face, or several by the names of their parts."""
    if isinstance(source, Mapping):
        return bool(source) and all(map(_is_dataset, source.values()))
    return type(source).__module__.partition(".")[0] == "datasets" and hasattr(source, "features")


def frame_columns(frame: Any, text: Wanted, label: Wanted, split: str | None = None) -> dict[str, list[Any]]:
    """Return the values of the text, label and split column of a frame.

    The class numbers of a dataset become the names of its classes, and the parts of several datasets, such as
    "train" and "test", a split.
    """
    if not _is_dataset(frame):
        return _native_columns(frame, text, label, split)
    if not isinstance(frame, Mapping):
        return _dataset_columns(frame, text, label, split)
    found: dict[str, list[Any]] = {"text": [], "label": [], "split": []}
    for part, dataset in frame.items():
        columns = _dataset_columns(dataset, text, label, split)
        columns.setdefault("split", [str(part)] * len(columns["text"]))
        for role, values in columns.items():
            found[role] += values
    return found


def _dataset_columns(dataset: Any, text: Wanted, label: Wanted, split: str | None) -> dict[str, list[Any]]:
    found = find_columns(dataset.column_names, text, label, split, where="the dataset")
    names = _all_names(found)
    chosen = dataset.select_columns(sorted(names))
    if hasattr(chosen, "__len__"):
        values = _native_columns(chosen.with_format("arrow")[:], text, label, split)
    else:  # an iterable dataset, whose rows come one by one
        rows = list(chosen)
        values = _values({name: [row[name] for row in rows] for name in names}, found)
    if isinstance(found["label"], str):
        classes = _class_names(dataset.features[found["label"]])
        if classes is not None:
            values["label"] = [_named(value, classes) for value in values["label"]]
    return values


def _class_names(feature: Any) -> list[str] | None:
    """Return the names of a dataset's classes, also within a list of them."""
    names = getattr(getattr(feature, "feature", feature), "names", None)
    return None if names is None else [str(name) for name in names]


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list | tuple):
        return [_named(item, names) for item in value]
    return None if value is None or value < 0 else names[value]  # -1 stands for no class


def _native_columns(frame: Any, text: Wanted, label: Wanted, split: str | None) -> dict[str, list[Any]]:
    import narwhals

    if type(frame).__name__ == "RecordBatch":
        import polars

        frame = polars.from_arrow(frame)
    try:
        table = narwhals.from_native(frame)
    except TypeError:
        more = "; polars.DataFrame makes one of it" if isinstance(frame, dict | list) else ""
        raise InputError(
            f"a pandas, polars or other dataframe is needed, not {type(frame).__name__}{more}"
        ) from None
    except narwhals.exceptions.DuplicateError:
        # Only pandas allows this.
        find_columns(frame.columns, text, label, split, where="the frame")
        raise InputError("the frame has two columns of the same name; rename all but one") from None
    if isinstance(table, narwhals.LazyFrame):
        table = table.collect()
    own = {str(name): name for name in table.columns}
    rows = table.head(SAMPLE_ROWS).rows()
    found = find_columns(own, text, label, split, where="the frame", rows=rows)
    names = _all_names(found)
    return _values({name: table.get_column(own[name]).to_list() for name in names}, found)


def _all_names(found: Columns) -> set[str]:
    return {name for group in found.values() for name in (group if isinstance(group, tuple) else (group,))}


def _values(columns: Mapping[str, list[Any]], found: Columns) -> dict[str, list[Any]]:
    """Return the values of each role; several indicator columns become lists of labels."""
    return {
        role: indicator_labels({name: columns[name] for name in names})
        if isinstance(names, tuple)
        else columns[names]
        for role, names in found.items()
    }
