"""Results of a paper's plans in; the CSV tables that its page is made from out, in reproductions/results.

python -m reproductions tables PAPER RESULTS... [--data FOLDER]
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from termsieve.analysis import size_curves
from termsieve.analysis.findings import li2009, paper_cells, verify_findings
from termsieve.analysis.findings.evidence import Reading
from termsieve.analysis.findings.zheng2004 import LARGEST
from termsieve.studies.results import Results

FOLDER = Path(__file__).parent / "results"
# What the pages show of each paper's curves: measures, averages, and sizes (None: all of them).
MEASURES = {
    "forman2003": ("f1", "precision", "recall", "accuracy"),
    "zheng2004": ("f1_break_even",),
    "mladenic2004": ("f1", "precision", "recall", "f1_break_even"),
    "uchyigit2007": ("f1", "f2", "precision", "recall"),
    "li2009": ("accuracy",),
}
AVERAGES = {"zheng2004": ("micro", "macro"), "mladenic2004": ("macro", "micro")}
SIZES = {"uchyigit2007": (10, 50, 100, 200, 300, 500, 700, 1000)}
BY_CORPUS = ("li2009", "forman2003_alpha", "forman2003_rare")
DIGITS = 4


def write_tables(paper: str, results: Sequence[Results], data: Path | None) -> None:
    """Write the findings, the cells and the curves of a paper."""
    FOLDER.mkdir(exist_ok=True)
    verify_findings(paper, results, data).write_csv(FOLDER / f"{paper}_findings.csv")
    cells = paper_cells(paper, results, data)
    if cells.height:
        cells.write_csv(FOLDER / f"{paper}_cells.csv", float_precision=DIGITS)
    if paper == "li2009":
        _splits(results)
    parts = [_curves(paper, found) for found in results if len(found)]
    if parts:
        pl.concat(parts).write_csv(FOLDER / f"{paper}_curves.csv", float_precision=DIGITS)


def _splits(results: Sequence[Results]) -> None:
    """Write the accuracies of li2009_splits with their errors, and whether the best leads significantly."""
    tables = []
    for reading in (Reading(found) for found in results if found.manifest["name"] == li2009.SPLITS):
        for corpus in reading.rows["corpus"].unique(maintain_order=True):
            table = li2009.accuracies(reading, corpus)
            leaders = {size: _leader(reading, corpus, size) for size in table["size"].drop_nulls().unique()}
            leads = [
                leaders.get(size) == method for method, size in table.select("method", "size").iter_rows()
            ]
            tables.append(table.with_columns(corpus=pl.lit(corpus), leads=pl.Series(leads)))
    if tables:
        pl.concat(tables).write_csv(FOLDER / "li2009_splits.csv", float_precision=DIGITS)


def _leader(reading: Reading, corpus: str, size: float) -> str | None:
    """Return the best method at a size if it is significantly above the second, else None."""
    first, second, *_ = reading.by_method(size, "accuracy", corpus=corpus)
    return first if li2009.above(reading, corpus, size, first, second)[1] < 0.05 else None


def _curves(paper: str, results: Results) -> pl.DataFrame:
    """Return the averages of one plan: plan, corpus, learner, measure, average, method, size, value."""
    plan = results.manifest["name"]
    rows = results.frame().collect()
    if paper == "zheng2004":
        rows = rows.filter(~pl.col("problem").is_in(LARGEST))
    if paper in SIZES:
        rows = rows.filter(pl.col("size").is_in(SIZES[paper]) | pl.col("size").is_null())
    corpora = rows.partition_by("corpus", as_dict=True, maintain_order=True)
    groups = {str(key[0]): part for key, part in corpora.items()} if plan in BY_CORPUS else {"": rows}
    if paper == "li2009":
        groups = {str(key[0]): part for key, part in corpora.items()}
    tables = []
    for corpus, part in groups.items():
        for measure in MEASURES[paper]:
            for average in AVERAGES.get(paper, ("macro",)):
                table = size_curves(part, measure, average).select("learner", "method", "size", "value")
                facts = {"plan": plan, "corpus": corpus, "measure": measure, "average": average}
                tables.append(table.with_columns(**{name: pl.lit(v) for name, v in facts.items()}))
    columns = ["plan", "corpus", "learner", "measure", "average", "method", "size", "value"]
    return pl.concat(tables).select(columns)
