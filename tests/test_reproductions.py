"""The pages of the papers are made from their stored tables, and show the papers' own figures."""

import re
from pathlib import Path

import polars as pl
import pytest
from reproductions import pages

from termsieve.analysis.findings import FINDINGS, PAPERS
from termsieve.analysis.findings.evidence import paper_figures
from termsieve.analysis.findings.li2009 import CORPORA

DOCS = Path(__file__).parents[1] / "docs"
MADE = pages.texts()


@pytest.mark.parametrize("name", MADE)
def test_pages_are_up_to_date(name):
    assert (DOCS / name).read_text(encoding="utf-8") == pages.page(MADE[name]), (
        "run: python -m reproductions pages"
    )


def rows_after(page, words):
    """The first table after some words of a page, cell by cell."""
    text = (DOCS / page).read_text(encoding="utf-8").split(words)[1]
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_cell_of_zheng2004_stands_beside_the_papers():
    """The bracketed numbers are read back from the page and compared with the paper's data."""
    wanted = {
        (table, f"{learner} {average} {method}", terms or "all"): f1
        for table, learner, average, method, terms, f1 in paper_figures("zheng2004").iter_rows()
    }
    shown = {}
    for table in range(1, 6):
        header, _, *lines = rows_after("reproduction-zheng2004.md", f"\n## Table {table}:")
        for line in lines:
            for column, cell in zip(header[1:], line[1:], strict=True):
                if cell:
                    terms = column if column == "all" else int(column)
                    shown[table, line[0], terms] = float(re.fullmatch(r"\.\d{3} \((\.\d{3})\)", cell)[1])
    assert len(shown) == 444
    assert shown == wanted


def test_zheng2004_is_as_near_as_the_page_says():
    """Mean absolute difference over the cells at most .012, LR's at most .007, none above .05."""
    cells = pages.table("zheng2004", "cells").filter(pl.col("table").str.contains(r"^Table [1-5]$"))
    gaps = cells.with_columns(gap=(pl.col("ours") - pl.col("paper")).abs())
    assert gaps.height == 444
    assert gaps["gap"].mean() <= 0.012
    assert gaps.filter(pl.col("row").str.starts_with("lr"))["gap"].mean() <= 0.007
    assert gaps["gap"].max() <= 0.05
    table_7 = pages.table("zheng2004", "cells").filter(pl.col("table") == "Table 7")
    near = table_7.with_columns(near=(pl.col("ours") / pl.col("paper") - 1).abs() <= 0.01)
    for column in ("chi positive", "ors positive"):
        assert near.filter(pl.col("column") == column)["near"].mean() >= 0.8


def test_table_7_of_zheng2004_stands_beside_the_papers():
    header, _, *lines = rows_after("reproduction-zheng2004.md", "All 348 cells:")
    paper = paper_figures("zheng2004_table7")
    assert len(lines) == paper.height == 58
    for line, row in zip(lines, paper.iter_rows(named=True), strict=True):
        for column, cell in zip(header[1:], line[1:], strict=True):
            printed = float(re.search(r"\((.*)\)", cell)[1].replace(",", ""))
            assert printed == pytest.approx(row[column.replace(" ", "_")], abs=5e-4, rel=5e-3)


def test_table_1_of_li2009_stands_beside_the_papers():
    """All 48 figures, on four corpora, with a mean difference of at most .02."""
    header, _, *lines = rows_after("reproduction-li2009.md", "\n## Table 1:")
    wanted = {
        (f"{CORPORA[row['corpus']]} {row['metric']}", column): row[column]
        for row in paper_figures("li2009_table1").iter_rows(named=True)
        for column in ("df", "mi")
    }
    shown, gaps = {}, []
    for line in lines:
        for column, cell in zip(header[1:], line[1:], strict=True):
            ours, paper = map(float, re.fullmatch(r"(\.\d+) \((\.\d+)\)", cell).groups())
            shown[line[0], column] = paper
            gaps.append(abs(ours - paper))
    assert shown == wanted
    assert sum(gaps) / len(gaps) <= 0.02


@pytest.mark.parametrize(
    "paper",
    [
        path.stem.removesuffix("_findings")
        for path in sorted(Path(pages.HERE, "results").glob("*_findings.csv"))
    ],
)
def test_stored_findings_are_those_that_have_a_test(paper):
    """No finding is left out of a page, and none stands there without its test."""
    stored = pages.table(paper, "findings").select("where", "claim").unique()
    declared = pl.DataFrame(
        [{"where": entry.where, "claim": entry.claim} for entry in FINDINGS if entry.paper == paper]
    )
    assert stored.sort("where", "claim").equals(declared.sort("where", "claim"))
    assert paper in PAPERS
