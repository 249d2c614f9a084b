"""Results of a paper's plans come in; which findings hold, and its printed cells beside ours, go out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import polars as pl

# A module that registers findings is imported here.
from termsieve.analysis.findings import forman2003, li2009, mladenic2004, uchyigit2007, zheng2004
from termsieve.analysis.findings.evidence import (
    FINDINGS,
    UNTESTED,
    VERDICTS,
    Finding,
    UntestedError,
    Verdict,
    lacking,
)
from termsieve.errors import unknown_name
from termsieve.studies.results import Results

__all__ = ["FINDINGS", "PAPERS", "VERDICTS", "Finding", "Verdict", "paper_cells", "verify_findings"]

Cells = Callable[[Results, str | os.PathLike[str] | None], pl.DataFrame]
# Each paper, and the function of the results of one of its plans that sets its printed figures beside ours.
PAPERS: dict[str, Cells] = {
    "forman2003": forman2003.cells,
    "zheng2004": zheng2004.cells,
    "mladenic2004": mladenic2004.cells,
    "uchyigit2007": uchyigit2007.cells,
    "li2009": li2009.cells,
}
CELL_SCHEMA = {"table": pl.String, "row": pl.String, "column": pl.String, "paper": pl.Float64}
CELL_SCHEMA |= {"ours": pl.Float64, "difference": pl.Float64}


def verify_findings(
    paper: str, results: Iterable[Results], data: str | os.PathLike[str] | None = None
) -> pl.DataFrame:
    """Return whether each finding of a paper holds in results of its plans.

    Parameters
    ----------
    paper : str
        One of `PAPERS`.
    results : iterable of Results
        The results of some of the paper's plans; `termsieve study plan` lists them.
    data : path, optional
        The folder of the corpora, for findings about the scores of terms; by default TERMSIEVE_DATA.

    Returns
    -------
    polars.DataFrame
        One row per finding and reading: paper, where, claim, reading, verdict ("holds", "partly", "fails" or
        "not tested"), figures, and what the results lack of the part of their plan that the test reads, such
        as "without wfo(learned)".
    """
    _check(paper)
    found = list(results)
    rows = []
    lacks = cache(lacking)
    for entry in FINDINGS:
        if entry.paper != paper:
            continue
        head = {"paper": paper, "where": entry.where, "claim": entry.claim}
        readings = entry.readings(found, data)
        if not readings:
            figures = f"needs the results of the plan {' or '.join(entry.plans)}"
            rows.append({**head, "reading": "", "verdict": UNTESTED, "figures": figures, "lacks": ""})
        for label, reading in readings:
            try:
                verdict, figures = entry.test(reading)
            except UntestedError as lack:
                verdict, figures = UNTESTED, str(lack)  # type: ignore[assignment]
            read = reading.results, reading.learner, entry.methods, entry.corpora
            partial = "" if verdict == UNTESTED else lacks(*read)
            rows.append({**head, "reading": label, "verdict": verdict, "figures": figures, "lacks": partial})
    names = ("paper", "where", "claim", "reading", "verdict", "figures", "lacks")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String))


def paper_cells(
    paper: str, results: Iterable[Results], data: str | os.PathLike[str] | None = None
) -> pl.DataFrame:
    """Return the figures that a paper prints beside ours: table, row, column, paper, ours, difference.

    The parameters are those of `verify_findings`. A cell that these results cannot fill has no row.
    """
    _check(paper)
    parts = [PAPERS[paper](found, data) for found in results]
    ours = [part.with_columns(difference=pl.col("ours") - pl.col("paper")) for part in parts if part.height]
    empty: dict[str, Any] = CELL_SCHEMA
    return pl.concat([pl.DataFrame(schema=empty), *(part.select(list(empty)) for part in ours)])


def _check(paper: str) -> None:
    if paper not in PAPERS:
        raise unknown_name("paper", paper, PAPERS)
