"""Results of a paper's plans in; the CSV tables that its page is made from out, in reproductions/results.

python -m reproductions tables PAPER RESULTS... [--data FOLDER] [--keep]

With --keep, what these results do not have is kept as it was stored: a paper's plans can be run at different times.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from termsieve.analysis import size_curves
from termsieve.analysis.findings import li2009, mladenic2004, paper_cells, verify_findings
from termsieve.analysis.findings.evidence import UNTESTED, Reading, whole_runs
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
GAIN_LEVEL = 10.0  # terms per document at which mladenic2004's gain over all terms is shown
DIGITS = 4


def write_tables(paper: str, results: Sequence[Results], data: Path | None, keep: bool = False) -> None:
    """Write the findings, the cells and the curves of a paper; `keep` what these results do not have."""
    FOLDER.mkdir(exist_ok=True)
    found = verify_findings(paper, results, data)
    if keep:
        found = _kept_findings(found, FOLDER / f"{paper}_findings.csv")
    found.write_csv(FOLDER / f"{paper}_findings.csv")
    _write(paper_cells(paper, results, data), f"{paper}_cells.csv", keep, "table")
    if paper == "li2009":
        _write(_splits(results), "li2009_splits.csv", keep, "corpus")
    if paper == "mladenic2004":
        _write(_gains(results), "mladenic2004_gains.csv", keep, "plan")
    parts = [_curves(paper, found) for found in results if len(found)]
    _write(pl.concat(parts) if parts else pl.DataFrame(), f"{paper}_curves.csv", keep, "plan")


def _write(table: pl.DataFrame, name: str, keep: bool, key: str) -> None:
    """Write a table that has rows; with `keep`, after the stored rows whose key it does not have."""
    path = FOLDER / name
    if table.is_empty():
        return
    if keep and path.exists():
        stored = pl.read_csv(path, infer_schema_length=None).cast(dict(table.schema))  # type: ignore[arg-type]
        table = pl.concat([stored.filter(~pl.col(key).is_in(table[key].unique().to_list())), table])
    table.write_csv(path, float_precision=DIGITS)


def _kept_findings(found: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return the findings in their order; the stored rows of those that these results cannot test."""
    if not path.exists():
        return found
    stored = pl.read_csv(path, infer_schema_length=None).fill_null("")
    head, parts = ["where", "claim"], []
    for key, part in found.group_by(head, maintain_order=True):
        before = stored.filter(pl.col("where") == key[0], pl.col("claim") == key[1])
        tested = part.filter(pl.col("verdict") != UNTESTED)
        older = before.filter(
            pl.col("verdict") != UNTESTED, ~pl.col("reading").is_in(tested["reading"].to_list())
        )
        own = pl.concat([older, tested])
        parts.append(own if own.height else part)
    return pl.concat(parts)


def _splits(results: Sequence[Results]) -> pl.DataFrame:
    """Return the accuracies of li2009_splits with their errors, and whether the best leads significantly."""
    tables = []
    for reading in (Reading(found) for found in results if found.manifest["name"] == li2009.SPLITS):
        for corpus in reading.rows["corpus"].unique(maintain_order=True):
            table = li2009.accuracies(reading, corpus)
            leaders = {size: _leader(reading, corpus, size) for size in table["size"].drop_nulls().unique()}
            leads = [
                leaders.get(size) == method for method, size in table.select("method", "size").iter_rows()
            ]
            tables.append(table.with_columns(corpus=pl.lit(corpus), leads=pl.Series(leads)))
    return pl.concat(tables) if tables else pl.DataFrame()


def _gains(results: Sequence[Results]) -> pl.DataFrame:
    """Return what svm-1 gains over all terms in the rare, middle and frequent third of the categories."""
    records = []
    for reading in (Reading(found) for found in results if found.manifest["name"] in mladenic2004.PLANS):
        for learner in ("nb", "perceptron", "svm"):
            measure = mladenic2004.goal_of(reading, learner)
            level = GAIN_LEVEL
            gains = mladenic2004.category_gains(reading, learner, "svm-1", measure, level).sort("positives")
            thirds = [gains[rows] for rows in np.array_split(np.arange(gains.height), 3)]
            # The groups of 20 Newsgroups are equally large.
            equal = thirds[0]["positives"].mean() * 1.5 > thirds[2]["positives"].mean()  # type: ignore[operator]
            for part in [gains] if equal else [gains, *thirds]:
                low, high = int(part["positives"].min()), int(part["positives"].max())  # type: ignore[call-overload]
                facts = {"plan": reading.plan, "learner": learner, "measure": measure, "level": level}
                facts |= {"categories": part.height, "low": low, "high": high, "gain": part["gain"].mean()}
                records.append(facts | {"p": mladenic2004.p_value(part)})
    return pl.DataFrame(records)


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
                table = size_curves(whole_runs(part), measure, average).select(
                    "learner", "method", "size", "value"
                )
                facts = {"plan": plan, "corpus": corpus, "measure": measure, "average": average}
                tables.append(table.with_columns(**{name: pl.lit(v) for name, v in facts.items()}))
    columns = ["plan", "corpus", "learner", "measure", "average", "method", "size", "value"]
    return pl.concat(tables).select(columns)
