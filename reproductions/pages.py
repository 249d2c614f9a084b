"""The tables of reproductions/results and the texts of reproductions/pages in; the pages of docs/ out.

    python -m reproductions pages

A text holds lines such as `{{findings}}` or `{{cells Table 1}}`. Each becomes a table, so that a verdict on a
page is always the one that the test of the finding gave. `{{=name}}` inside a sentence becomes a figure of
`reproductions.facts`.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

import polars as pl

from termsieve.analysis.findings import FINDINGS, PAPERS, VERDICTS
from termsieve.analysis.findings.evidence import UNTESTED

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
EVERYWHERE, UNFINISHED = "holds in every reading", "from a part of its plan only"
BEST_PAIRS = 4  # shown per goal
FORMAN_TRAININGS = 5 * 4 * (12 * 8 + 1)  # per problem: trials, folds, metrics x sizes, all features
DIRECTIVE = re.compile(r"^( *)\{\{(\w+) ?(.*?)\}\}$", re.MULTILINE)
FACT = re.compile(r"\{\{=([\w-]+)\}\}")


def texts() -> dict[str, Path]:
    """Return the text of each page whose tables are stored, by the name of the page."""
    found = sorted((HERE / "pages").glob("*.md"))
    return {f"{path.stem}.md": path for path in found if path.stem == "reproduction" or _stored(path)}


def _stored(path: Path) -> bool:
    return (HERE / "results" / f"{path.stem.removeprefix('reproduction-')}_findings.csv").exists()


def page(path: Path) -> str:
    """Return the page of a text, with every directive replaced by its table, and every fact by its figure."""
    from reproductions.facts import FACTS  # they read the tables of this module

    paper = path.stem.removeprefix("reproduction-")
    text = FACT.sub(lambda found: FACTS[found[1]](), path.read_text(encoding="utf-8"))
    return DIRECTIVE.sub(lambda found: indent(TABLES[found[2]](paper, found[3]), found[1]), text)


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def told(value: float | None, digits: int = 3) -> str:
    """Return a figure as the papers print it; large ones without digits."""
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 1:
        return f"{value:.1f}"
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}")


def table(paper: str, kind: str) -> pl.DataFrame:
    """Return a stored table of a paper."""
    return pl.read_csv(HERE / "results" / f"{paper}_{kind}.csv", infer_schema_length=None)


def findings_table(paper: str, _: str) -> str:
    """Return every finding of the paper with its verdict; a finding with several readings has a row each."""
    found = table(paper, "findings").fill_null("")
    readings = bool((found["reading"] != "").any())
    header = ["where", "the paper found", *(["reading"] * readings), "here", "figures"]
    rows, before = [], ("", "")
    for row in found.iter_rows(named=True):
        head = (row["where"], row["claim"])
        shown = ["", ""] if head == before else list(head)
        verdict = f"**{row['verdict']}**" + (f" ({row['lacks']})" if row["lacks"] else "")
        rows.append([*shown, *([row["reading"]] * readings), verdict, row["figures"]])
        before = head
    return markdown(header, rows)


def tally(paper: str) -> dict[str, int]:
    """Return how many findings have each verdict, by their best reading of a whole run if there is one.

    Also how many hold in all readings, and how many have no verdict from a whole run of a plan.
    """
    untested = VERDICTS.index(UNTESTED)
    places: dict[tuple[str, str], list[int]] = {
        (entry.where, entry.claim): [] for entry in FINDINGS if entry.paper == paper
    }
    whole: dict[tuple[str, str], list[int]] = {place: [] for place in places}
    if (HERE / "results" / f"{paper}_findings.csv").exists():
        for row in table(paper, "findings").iter_rows(named=True):
            place, verdict = (row["where"], row["claim"]), VERDICTS.index(row["verdict"])
            places[place].append(verdict)
            if verdict == untested or not row["lacks"]:
                whole[place].append(verdict)
    best = [min(whole[place] or found, default=untested) for place, found in places.items()]
    counted = {verdict: best.count(place) for place, verdict in enumerate(VERDICTS)}
    everywhere = sum(bool(found) and not any(found) for found in places.values())
    return {**counted, EVERYWHERE: everywhere, UNFINISHED: sum(not found for found in whole.values())}


def summary_table(_: str, __: str) -> str:
    """Return how many findings of each paper hold."""
    columns = [*VERDICTS, EVERYWHERE, UNFINISHED]
    rows, totals = [], dict.fromkeys(columns, 0)
    for paper in PAPERS:
        own = tally(paper)
        totals = {column: totals[column] + own[column] for column in columns}
        n = sum(own[verdict] for verdict in VERDICTS)
        rows.append([f"[{paper}](reproduction-{paper}.md)", str(n), *(str(own[name]) for name in columns)])
    n = sum(totals[verdict] for verdict in VERDICTS)
    rows.append(["all", str(n), *(str(totals[name]) for name in columns)])
    return markdown(["paper", "findings", *columns], rows)


def cells_table(paper: str, name: str) -> str:
    """Return one table of the paper: ours, and the paper's figure in brackets; `kind: ...` names a file."""
    kind, _, title = name.rpartition(": ")
    own = table(paper, kind or "cells").filter(pl.col("table") == title)
    if own.is_empty():
        return "Not yet: the plan of this table has not been run for this page."
    columns = own["column"].cast(pl.String).unique(maintain_order=True).to_list()
    digits = 4 if own["paper"].drop_nulls().abs().max() < 0.01 else 3  # type: ignore[operator]
    rows = []
    for row, part in own.group_by("row", maintain_order=True):
        values = {str(cell["column"]): cell for cell in part.iter_rows(named=True)}
        rows.append([str(row[0]), *(_cell(values.get(column), digits) for column in columns)])
    return markdown(["ours (paper)", *columns], rows)


def _cell(cell: dict | None, digits: int) -> str:
    if cell is None:
        return ""
    small = 4 if max(abs(cell["ours"]), abs(cell["paper"] or 0.0)) < 0.01 else digits
    paper = f" ({told(cell['paper'], small)})" if cell["paper"] is not None else ""
    return told(cell["ours"], small) + paper


def distances_table(paper: str, names: str) -> str:
    """Return how far our cells lie from the paper's, table by table; names are parted by semicolons."""
    cells = table(paper, "cells").drop_nulls("paper")
    rows = []
    for name in names.split("; "):
        label, _, pattern = name.rpartition("=")
        gaps = cells.filter(pl.col("table").str.contains(pattern))["difference"].abs()
        if not len(gaps):
            continue
        figures = [told(float(gaps.mean()), 4), told(float(gaps.max()))]  # type: ignore[arg-type]
        rows.append([label, str(len(gaps)), *figures, str(int((gaps > 0.05).sum()))])
    return markdown(["tables", "cells", "mean difference", "largest", "above .05"], rows)


def readings_table(paper: str, note: str) -> str:
    """Return the distance from the paper of two readings of its tables, over the cells that both have."""
    cells = table(paper, "cells").drop_nulls("paper")
    marked = f" {note}"
    other = cells.filter(pl.col("table").str.ends_with(marked))
    other = other.with_columns(pl.col("table").str.strip_suffix(marked))
    both = cells.join(other, on=["table", "row", "column"], suffix="_other")
    rows = []
    for learner in ("nb", "lr"):
        own = both.filter(pl.col("row").str.starts_with(learner))
        for label, name in (("as on this page", "difference"), (note.strip("()"), "difference_other")):
            gaps = own[name].abs()
            figures = [told(float(gaps.mean()), 4), told(float(gaps.max()))]  # type: ignore[arg-type]
            rows.append([learner, label, str(len(gaps)), *figures])
    return markdown(["learner", "reading", "cells", "mean difference", "largest"], rows)


def farthest_table(paper: str, names: str) -> str:
    """Return the cells of some tables that are farthest from the paper's."""
    pattern, _, n = names.rpartition(" ")
    cells = table(paper, "cells").filter(pl.col("table").str.contains(pattern))
    far = cells.sort(pl.col("difference").abs(), descending=True).head(int(n))
    rows = [
        [row["table"], row["row"], str(row["column"]), told(row["ours"]), told(row["paper"])]
        for row in far.iter_rows(named=True)
    ]
    return markdown(["table", "row", "terms", "ours", "paper"], rows)


def ties_table(paper: str, _: str) -> str:
    """Return how far macro F1 of icc practical depends on which of equally good ratios is taken."""
    cells = table(paper, "cells").filter(pl.col("table") == "Table 5")
    printed = {(row["row"], float(row["column"])): row["paper"] for row in cells.iter_rows(named=True)}
    rows = [
        [row["learner"], f"{row['size']:g}", f"{row['tied']:.1f}"]
        + [told(row[name]) for name in ("lowest", "ours", "highest")]
        + [told(printed[f"{row['learner']} macro icc practical", row["size"]])]
        for row in table(paper, "ties").iter_rows(named=True)
    ]
    return markdown(["learner", "terms", "equal ratios", "lowest", "ours", "highest", "paper"], rows)


def relative_table(paper: str, name: str) -> str:
    """Return relative differences by column: their median, and the share of rows within 1 % and 5 %."""
    cells = table(paper, "cells").filter(pl.col("table") == name)
    gap = (pl.col("difference") / pl.col("paper")).abs()
    grouped = cells.with_columns(gap=gap).group_by("column", maintain_order=True)
    summary = grouped.agg(
        pl.col("gap").median().alias("median"),
        (pl.col("gap") <= 0.01).mean().alias("near"),
        (pl.col("gap") <= 0.05).mean().alias("nearer"),
    )
    rows = [
        [str(column), f"{median:.2%}", f"{near:.0%}", f"{nearer:.0%}"]
        for column, median, near, nearer in summary.iter_rows()
    ]
    return markdown(["column", "median difference", "within 1 %", "within 5 %"], rows)


def splits_table(paper: str, corpus: str) -> str:
    """Return mean accuracies with their standard errors; bold leads significantly (paired t, .05)."""
    if not (HERE / "results" / f"{paper}_splits.csv").exists():
        return "Not yet: the ten splits have not been run for this page."
    own = table(paper, "splits").filter(pl.col("corpus") == corpus)
    sizes = own["size"].drop_nulls().unique().sort().to_list()
    rows = []
    for method, part in own.group_by("method", maintain_order=True):
        cells = {row["size"]: row for row in part.iter_rows(named=True)}
        shown = [_with_error(cells.get(size)) for size in (sizes if method[0] != "all" else [None])]
        rows.append([str(method[0]), *shown, *[""] * (len(sizes) - len(shown))])
    n = int(own["n"].max())  # type: ignore[arg-type]
    return markdown([f"accuracy, {n} splits", *(f"{size:g}" for size in sizes)], rows)


def _with_error(cell: dict | None) -> str:
    if cell is None:
        return ""
    text = told(cell["value"]) + (f" ± {told(cell['error'])}" if cell["error"] is not None else "")
    return f"**{text}**" if cell["leads"] else text


def curves_table(paper: str, where: str) -> str:
    """Return methods x sizes of a stored curve, chosen by words such as `learner=nb measure=f1`.

    The best of each size is bold, except with `bold=no`: in tables of one split a lead is seldom significant.
    """
    kind, _, where = where.rpartition(": ")
    own = table(paper, kind or "curves").fill_null("")
    wanted = dict(
        part.split("=", 1) for part in re.findall(r"\w+=(?:\([^)]*\)|[^\s(]+(?:\([^)]*\))?)", where)
    )
    bold = wanted.pop("bold", "yes") == "yes"
    for column, value in wanted.items():
        own = own.filter(pl.col(column).cast(pl.String) == value)
    if own.is_empty():
        raise ValueError(f"reproductions/results/{paper}_curves.csv has no row of: {where}")
    sizes = own["size"].drop_nulls().unique().sort().to_list()
    everything = own.filter(pl.col("method") == "all")["value"].to_list()
    chosen = own.filter(pl.col("method") != "all")
    best = {size: max(chosen.filter(pl.col("size") == size)["value"]) for size in sizes}
    rows = []
    for method, part in chosen.group_by("method", maintain_order=True):
        values = dict(part.select("size", "value").iter_rows())
        cells = [
            ""
            if size not in values
            else (f"**{told(values[size])}**" if bold and values[size] == best[size] else told(values[size]))
            for size in sizes
        ]
        rows.append([str(method[0]), *cells])
    if everything:
        rows.append(["all terms", told(everything[0]), *[""] * (len(sizes) - 1)])
    return markdown([wanted.get("measure", "method"), *(f"{size:g}" for size in sizes)], rows)


def chances_table(paper: str, learner: str) -> str:
    """Return the share of problems on which each metric is near the best, for each goal; the best in bold."""
    own = table(paper, "chances").filter(pl.col("learner") == learner)
    nearest = pl.col("tolerance") == pl.col("tolerance").min().over("goal")
    own = own.filter(nearest).sort("goal", "method")
    goals = own["goal"].unique(maintain_order=True).sort().to_list()
    wide = own.pivot(on="goal", index="method", values="share").sort(
        "f1", descending=True, maintain_order=True
    )
    best = {goal: wide[goal].max() for goal in goals}
    rows = [
        [row["method"], *(f"**{told(row[g])}**" if row[g] == best[g] else told(row[g]) for g in goals)]
        for row in wide.iter_rows(named=True)
    ]
    return markdown(["near the best", *goals], rows)


def pairs_table(paper: str, learner: str) -> str:
    """Return the best pairs of metrics of each goal."""
    own = table(paper, "pairs").filter(pl.col("learner") == learner)
    rows = []
    for (goal,), part in own.group_by("goal", maintain_order=True):
        pairs = part.unique(["first", "second"], maintain_order=True).head(BEST_PAIRS).iter_rows(named=True)
        rows.append(
            [str(goal), "; ".join(f"{row['first']} + {row['second']} {told(row['share'])}" for row in pairs)]
        )
    return markdown(["goal", "best pairs, either near the best"], rows)


def skew_table(paper: str, where: str) -> str:
    """Return the curves of some metrics on one side of the skew: `learner measure side`."""
    learner, measure, side = where.split()
    own = table(paper, "skew").filter(
        pl.col("learner") == learner, pl.col("measure") == measure, pl.col("skew_side") == side
    )
    own = own.unique(["method", "size"], keep="last", maintain_order=True)
    sizes = own["size"].drop_nulls().unique().sort().to_list()
    best = {size: own.filter(pl.col("size") == size)["value"].max() for size in sizes}
    rows = []
    for name in ("bns", "information_gain", "balanced_accuracy", "chi_squared", "odds_numerator", "all"):
        values = dict(own.filter(pl.col("method") == name).select("size", "value").iter_rows())
        shown = sizes if name != "all" else [None]
        cells = [
            f"**{told(values[k])}**" if k is not None and values[k] == best[k] else told(values[k])
            for k in shown
        ]
        rows.append([name if name != "all" else "all terms", *cells, *[""] * (len(sizes) - len(cells))])
    n = int(own["n_problems"].max())  # type: ignore[arg-type]
    return markdown([f"{measure}, {n} problems of {side} skew", *(f"{size:g}" for size in sizes)], rows)


def figures_list(paper: str, _: str) -> str:
    """Return a table of the paper's figures, with the command that draws each, and then the pictures."""
    from reproductions.figures import FIGURES  # it draws the tables of this module

    rows, pictures = [], []
    for figure in FIGURES[paper]:
        title, picture = figure.shows[0].upper() + figure.shows[1:], figure.picture.as_posix()
        place = f" ({figure.place})" if figure.place else ""
        rows.append([figure.number, title, f"`{figure.command}`{place}", f"[{figure.name}]({picture})"])
        head = f"**{title}{f' ({figure.number})' if figure.number else ''}.** {figure.note}".rstrip()
        pictures.append(f"{head}\n\n![{figure.shows}]({picture})")
    index = markdown(["in the paper", "shows", "command", "picture"], rows)
    return "\n\n".join([index, *pictures])


def figures_table(_: str, __: str) -> str:
    """Return how many figures each paper's page has, and the reports that draw them."""
    from reproductions.figures import FIGURES

    rows = []
    for paper, own in FIGURES.items():
        places = dict.fromkeys(figure.place for figure in own if figure.place)
        link = f"[{paper}](reproduction-{paper}.md#the-figures)"
        rows.append([link, str(len(own)), "; ".join(places)])
    return markdown(["paper", "pictures", "parts of the report"], rows)


def corpora_table(paper: str, _: str) -> str:
    """Return the data sets: documents, terms, classes and their sizes."""
    own = table(paper, "corpora").unique("corpus", maintain_order=True)
    rows = [
        [
            row["corpus"],
            f"{row['documents']:,}",
            f"{row['terms']:,}",
            f"{row['terms_per_document']:.0f}",
            str(row["classes"]),
            f"{row['smallest']:,} to {row['largest']:,}",
            f"1:{row['skew']:.0f}",
        ]
        for row in own.iter_rows(named=True)
    ]
    header = [
        "data set",
        "documents",
        "terms",
        "terms per document",
        "classes",
        "class sizes",
        "greatest skew",
    ]
    return markdown(header, rows)


def clip_table(paper: str, _: str) -> str:
    """Return what clipping every rate in bns changes, by data set and number of terms."""
    rows = [
        [row["corpus"], str(row["problems"]), str(row["terms"]), f"{row['shared']:.0%}", *f1]
        for row in table(paper, "bns_clip").iter_rows(named=True)
        for f1 in [[told(row["clipped"]), told(row["paper"])]]
    ]
    header = ["data set", "problems", "terms", "in both selections"]
    return markdown([*header, "F1, every rate clipped", "F1, as in the paper"], rows)


def cost_table(paper: str, _: str) -> str:
    """Return the CPU time of a training with either loss, and of all trainings of the set with the hinge."""
    rows = []
    for row in table(paper, "hinge_cost").iter_rows(named=True):
        whole = row["classes"] * FORMAN_TRAININGS * row["hinge"] / 60
        facts = [row["corpus"], f"{row['documents']:,}", str(row["classes"])]
        rows.append([*facts, *(f"{1000 * row[name]:.0f} ms" for name in ("squared", "hinge"))])
        rows[-1].append(f"{whole:.0f} minutes")
    header = ["data set", "documents", "problems", "squared hinge", "hinge", "whole set, hinge"]
    return markdown(header, rows)


def runs_table(_: str, __: str) -> str:
    """Return the trainings and the CPU time of the plans that were run whole and timed."""
    rows = [
        [f"`termsieve study run {row['plan']}`", f"{row['trainings']:,}", f"{row['cpu_seconds']:,.0f} s"]
        for row in pl.read_csv(HERE / "results" / "runs.csv").sort("plan").iter_rows(named=True)
    ]
    return markdown(["command", "rows of results", "CPU time"], rows)


def details_table(paper: str, _: str) -> str:
    """Return how far readings of naive Bayes are from the paper's cells."""
    rows = [
        [row["naive_bayes"], *(told(row[name], 4) for name in ("mean", "largest", "few", "more"))]
        for row in table(paper, "nb_details").iter_rows(named=True)
    ]
    return markdown(
        ["naive Bayes", "mean difference", "largest", "mean, up to 50 terms", "mean, more terms"], rows
    )


def gains_table(paper: str, plan: str) -> str:
    """Return what svm-1 gains over all terms, in all categories and by their size."""
    own = table(paper, "gains").filter(pl.col("plan") == plan)
    rows = [
        [
            f"{row['learner']}, {row['measure']} at {row['level']:g}",
            str(row["categories"]),
            f"{row['low']:,} to {row['high']:,}",
            f"{row['gain']:+.3f}".replace("0.", "."),
            f"{row['p']:.2g}" if row["p"] else "< .0001",
        ]
        for row in own.iter_rows(named=True)
    ]
    return markdown(
        ["learner, measure, terms per document", "categories", "test documents", "gain", "p"], rows
    )


TABLES = {
    "findings": findings_table,
    "summary": summary_table,
    "cells": cells_table,
    "distances": distances_table,
    "farthest": farthest_table,
    "relative": relative_table,
    "ties": ties_table,
    "curves": curves_table,
    "splits": splits_table,
    "gains": gains_table,
    "bns_clip": clip_table,
    "hinge_cost": cost_table,
    "runs": runs_table,
    "nb_details": details_table,
    "chances": chances_table,
    "pairs": pairs_table,
    "skew": skew_table,
    "corpora": corpora_table,
    "figures": figures_list,
    "readings": readings_table,
    "figures_of_papers": figures_table,
}


def write_pages() -> None:
    """Write every page that has a text."""
    for name, path in texts().items():
        (DOCS / name).write_text(page(path), encoding="utf-8")
