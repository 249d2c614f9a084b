"""The pages of the papers are made from their stored tables, and show the papers' own figures."""

import re
from pathlib import Path

import polars as pl
import pytest
from reproductions import pages

from termsieve.analysis.findings import FINDINGS, PAPERS, forman2003, mladenic2004
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


BRACKETED = re.compile(r"(\S+) \((\S+)\)")
CELLS = [
    (name, *found)
    for name, path in MADE.items()
    for found in enumerate(
        re.findall(r"^\{\{cells (.*?)\}\}$", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
]


@pytest.mark.parametrize(("page", "place", "cells"), CELLS)
def test_every_bracketed_number_is_that_of_its_file(page, place, cells):
    """The n-th table with brackets of a page is read back and compared with the stored cells."""
    paper = page.removeprefix("reproduction-").removesuffix(".md")
    kind, _, title = cells.rpartition(": ")
    stored = {
        (row["row"], str(row["column"])): (row["ours"], row["paper"])
        for row in pages.table(paper, kind or "cells").filter(pl.col("table") == title).iter_rows(named=True)
    }
    text = (DOCS / page).read_text(encoding="utf-8")
    shown = re.findall(r"^\| ours \(paper\) .*\n\| ---.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    heads = re.findall(r"^\| ours \(paper\) \|(.*)\|$", text, re.MULTILINE)
    filled = [number for other, number, name in CELLS if other == page and _is_stored(paper, name)]
    if not stored:
        pytest.skip("the plan of this table has not been run")
    at = filled.index(place)
    columns = [column.strip() for column in heads[at].split("|")]
    compared = 0
    for line in shown[at].splitlines():
        row, *values = [cell.strip() for cell in line.strip("|").split("|")]
        for column, cell in zip(columns, values, strict=True):
            if cell:
                ours, theirs = stored.pop((row, column))
                wanted = [value for value in (ours, theirs) if value is not None]
                read = BRACKETED.fullmatch(cell).groups() if theirs is not None else (cell,)
                for value, number in zip(wanted, read, strict=True):
                    compared += 1
                    half = 0.5001 if abs(value) >= 100 else 0.05001 if abs(value) >= 1 else 5.001e-4
                    assert float(number.replace(",", "")) == pytest.approx(value, abs=half, rel=0)
    assert compared
    assert not stored  # every stored cell is on the page


def _is_stored(paper, cells):
    kind, _, title = cells.rpartition(": ")
    return pages.table(paper, kind or "cells").filter(pl.col("table") == title).height > 0


def test_stored_figures_of_the_papers_are_the_papers():
    """The papers' side of the stored cells, against the tests' own data: they are typed in once."""
    stored = pages.table("mladenic2004", "cells")
    for row in stored.iter_rows(named=True):
        assert row["paper"] == mladenic2004.BEST_NB[row["row"]]
    assert stored.height == 3 * len(mladenic2004.BEST_NB)
    for row in pages.table("forman2003", "cells").iter_rows(named=True):
        assert row["paper"] == forman2003.CHANCES[row["row"]]


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
