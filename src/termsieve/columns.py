"""The names of a table's columns come in; which is the text, which the label and which the split goes out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from termsieve.errors import InputError, near_name, shown

# Role -> the usual names, in lower case, by which a column is recognised.
USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "text": (
        "text",
        "body",
        "content",
        "document",
        "message",
        "review",
        "review_text",
        "comment",
        "description",
        "abstract",
    ),
    "label": (
        "label",
        "labels",
        "class",
        "category",
        "categories",
        "target",
        "topic",
        "topics",
        "tag",
        "tags",
        "sentiment",
    ),
    "split": (),
    "by": (),
}


def find_column(names: Iterable[Any], role: str, wanted: str | None, where: str) -> str:
    """Return the column for a role ("text", "label", "split"): the wanted one, or the one with a usual name.

    `where` names the table in an error: its path, or "the frame".
    """
    listed = [str(name) for name in names]
    if wanted is not None:
        if wanted not in listed:
            hint = near_name(wanted, listed)
            raise InputError(
                f"{where} has no column {wanted!r} for {role}=; {hint}its columns: {shown(listed)}"
            )
        if listed.count(wanted) > 1:
            raise InputError(
                f"{where} has {listed.count(wanted)} columns named {wanted!r}; rename all but one"
            )
        return wanted
    likely = [name for name in listed if name.strip().lower() in USUAL_NAMES[role]]
    if len(likely) != 1:
        doubt = "several could be it" if likely else "none has a usual name"
        raise InputError(
            f"{where}: which column is the {role}? Give {role}=, {doubt}; its columns: {shown(listed)}"
        )
    return likely[0]


def find_columns(
    names: Iterable[Any], text: str | None, label: str | None, split: str | None = None, *, where: str
) -> dict[str, str]:
    """Return the column for each role; text and label are recognised by their names if they are not given.

    >>> find_columns(["id", "Body", "tag"], None, None, where="mail.csv")
    {'text': 'Body', 'label': 'tag'}
    """
    listed = [str(name) for name in names]
    found = {
        "text": find_column(listed, "text", text, where),
        "label": find_column(listed, "label", label, where),
    }
    if split is not None:
        found["split"] = find_column(listed, "split", split, where)
    if found["text"] == found["label"]:
        raise InputError(
            f"{where}: text and label are both column {found['text']!r}; name two different ones"
        )
    return found


def frame_columns(
    frame: Any, text: str | None, label: str | None, split: str | None = None
) -> dict[str, list[Any]]:
    """Return the values of the text, label and split column of a dataframe that narwhals knows."""
    import narwhals

    try:
        table = narwhals.from_native(frame)
    except TypeError:
        raise InputError(
            f"a pandas, polars or other dataframe is needed, not {type(frame).__name__}"
        ) from None
    except narwhals.exceptions.DuplicateError:
        # Only pandas allows this.
        find_columns(frame.columns, text, label, split, where="the frame")
        raise InputError("the frame has two columns of the same name; rename all but one") from None
    if isinstance(table, narwhals.LazyFrame):
        table = table.collect()
    own = {str(name): name for name in table.columns}
    found = find_columns(own, text, label, split, where="the frame")
    return {role: table.get_column(own[name]).to_list() for role, name in found.items()}
