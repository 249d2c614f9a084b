"""Two results directories of one plan come in; one with the rows of both goes out."""

from __future__ import annotations

import os
from pathlib import Path

from termsieve.errors import StudyError
from termsieve.studies.results import ROW_KEYS, SELECTION_KEYS, Results
from termsieve.studies.status import plan_difference, stored_plan
from termsieve.studies.store import Store


def merge_studies(
    first: str | os.PathLike[str], second: str | os.PathLike[str], out: str | os.PathLike[str]
) -> Results:
    """Unite two directories with results of one plan, for example from two machines, in a third.

    Rows that both have must agree, and are kept once.

    Parameters
    ----------
    first : path
        The directory of one run.
    second : path
        The directory of the other.
    out : path
        The directory for both; it must be empty or missing.

    Returns
    -------
    Results
        The results of both.
    """
    one, other = Results.open(first), Results.open(second)
    if one.manifest["hash"] != other.manifest["hash"]:
        plans = [stored_plan(path).lines() for path in (first, second)]
        raise StudyError(f"{first} and {second} hold results of different plans:\n{plan_difference(*plans)}")
    for name, facts in one.corpora.items():
        if other.corpora.get(name, {}).get("fingerprint") != facts["fingerprint"]:
            raise StudyError(
                f"corpus '{name}' differs between {first} and {second}, so their results cannot be merged"
            )
    if Path(out).exists() and (not Path(out).is_dir() or any(Path(out).iterdir())):
        raise StudyError(f"{out} is not an empty directory; choose a new one for the merged results")
    rows, selections = one.frame().collect(), one.selections().collect()
    more, more_selections = other.frame().collect(), other.selections().collect()
    keys = list(ROW_KEYS)
    both = (
        rows.join(more, on=keys, how="semi", nulls_equal=True),
        more.join(rows, on=keys, how="semi", nulls_equal=True),
    )
    plain = [name for name in rows.columns if not name.endswith("_seconds")]
    if not both[0].select(plain).sort(keys).equals(both[1].select(plain).sort(keys)):
        raise StudyError(
            f"{first} and {second} have different values for the same rows; run one of them again"
        )
    new = more.join(rows, on=keys, how="anti", nulls_equal=True)
    new_selections = more_selections.join(selections, on=list(SELECTION_KEYS), how="anti", nulls_equal=True)
    store = Store(out)
    try:
        runs = one.manifest["runs"] + other.manifest["runs"]
        store.adopt(one.manifest | {"runs": runs, "parts": {}, "vocabulary": {}})
        for name in one.corpora:
            store.write_vocabulary(name, one.vocabulary(name))
        store.write_manifest()
        parts = ((rows, selections), (new, new_selections))
        for number, (part, terms) in enumerate(parts, 1):
            store.write_unit(f"merged-{number}", part, terms)
    finally:
        store.close()
    return Results.open(out)
