"""Results of a paper's plans in; the CSV tables that its page is made from out, in reproductions/results.

python -m reproductions tables PAPER RESULTS... [--data FOLDER] [--keep]

With --keep, what these results do not have stays as it was stored, so that plans can be run one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from termsieve.analysis import (
    backups,
    best_chances,
    by_skew,
    corpus_table,
    implied_ratios,
    pair_chances,
    size_curves,
    skew_curves,
    tuning_curves,
)
from termsieve.analysis.curves import Average
from termsieve.analysis.findings import (
    forman2003,
    li2009,
    mladenic2004,
    paper_cells,
    verify_findings,
    zheng2004,
)
from termsieve.analysis.findings.evidence import UNTESTED, Reading, lacking, whole_runs
from termsieve.analysis.findings.zheng2004 import LARGEST, LEARNERS, METHODS, RATIOS, SCORES
from termsieve.metrics import get_metric
from termsieve.studies.results import Results

FOLDER = Path(__file__).parent / "results"
# What the pages show of each paper's curves: measures and averages, and sizes (all if not given).
MACRO: dict[str, tuple[Average, ...]] = dict.fromkeys(("f1", "precision", "recall"), ("macro",))
MEASURES: dict[str, dict[str, tuple[Average, ...]]] = {
    "forman2003": {**MACRO, "accuracy": ("macro",)},
    "zheng2004": {"f1_break_even": ("micro", "macro")},
    "mladenic2004": {**MACRO, "f1": ("macro", "micro"), "f1_break_even": ("macro",)},
    "uchyigit2007": {**MACRO, "f2": ("macro",)},
    "li2009": {"accuracy": ("macro",)},
}
SIZES = {"uchyigit2007": [10.0, 50.0, 100.0, 200.0, 300.0, 500.0, 700.0, 1000.0]}
BY_CORPUS = ("li2009", "forman2003_alpha", "forman2003_rare")
GAIN_LEVEL = 10.0  # terms per document at which mladenic2004's gain over all terms is shown
PAIR_COLUMNS = ("first", "second", "tolerance", "share", "first_alone", "second_alone")
COMPARED = (forman2003.BNS, forman2003.IG, forman2003.CHI)  # whose problems are drawn one by one
DIGITS = 4
AGAIN = f"{forman2003.HINGE}, svm"  # the same trainings as those of forman2003


def write_tables(paper: str, results: Sequence[Results], data: Path | None, keep: bool = False) -> None:
    """Write the findings, the cells and the curves of a paper; `keep` what these results do not have."""
    FOLDER.mkdir(exist_ok=True)
    found = verify_findings(paper, results, data).filter(pl.col("reading") != AGAIN)
    if keep:
        found = _kept_findings(found, FOLDER / f"{paper}_findings.csv")
    found.write_csv(FOLDER / f"{paper}_findings.csv")
    cells = pl.concat([_cells(paper, found, data) for found in results])
    _write(cells, f"{paper}_cells.csv", keep, "table", "row", "column")
    _write(_runs(results), "runs.csv", True, "plan")
    if paper == "li2009":
        _write(_splits(results), "li2009_splits.csv", keep, "corpus")
        _write(_lambdas(results), "li2009_lambdas.csv", keep, "table", "row")
    if paper == "forman2003":
        for kind, table in _chances(results).items():
            _write(table, f"forman2003_{kind}.csv", keep, "plan")
    if paper == "mladenic2004":
        _write(_gains(results), "mladenic2004_gains.csv", keep, "plan")
        _write(kept_terms(results), "mladenic2004_terms.csv", keep, "plan")
    if paper == "zheng2004":
        for kind, table in ratio_tables(results, data).items():
            _write(table, f"zheng2004_{kind}.csv", keep, "size" if kind == "ties" else "problem")
    parts = [_curves(paper, found) for found in results if len(found)]
    _write(pl.concat(parts) if parts else pl.DataFrame(), f"{paper}_curves.csv", keep, "plan")


def _cells(paper: str, found: Results, data: Path | None) -> pl.DataFrame:
    """Return the cells of one plan; those of the squared hinge loss come from forman2003 itself."""
    cells = paper_cells(paper, [found], data)
    if found.manifest["name"] == forman2003.HINGE:
        cells = cells.filter(pl.col("column") == forman2003.SMO)
    return cells


def _write(table: pl.DataFrame, name: str, keep: bool, *key: str) -> None:
    """Write a table that has rows; with `keep`, among the stored rows, whose keys keep their places."""
    path = FOLDER / name
    if table.is_empty():
        return
    if keep and path.exists():
        stored = pl.read_csv(path, infer_schema_length=None).cast(dict(table.schema))  # type: ignore[arg-type]
        places = stored.select(key).unique(maintain_order=True).with_row_index("place")
        table = pl.concat([stored.join(table, on=list(key), how="anti", maintain_order="left"), table])
        table = table.join(places, on=list(key), how="left", maintain_order="left", nulls_equal=True)
        table = table.sort("place", nulls_last=True, maintain_order=True).drop("place")
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
        places = {reading: place for place, reading in enumerate(before["reading"])}
        order = sorted(range(own.height), key=lambda row: places.get(own["reading"][row], len(places)))
        parts.append(own[order] if own.height else part)
    return pl.concat(parts)


def _runs(results: Sequence[Results]) -> pl.DataFrame:
    """Return the trainings of whole runs and the CPU time that they took, by plan."""
    records = []
    for found in results:
        runs = found.manifest["runs"]
        if not lacking(found) and sum(run["trainings"] for run in runs) >= len(found):
            seconds = sum(run["cpu_seconds"] for run in runs)
            records.append({"plan": found.manifest["name"], "trainings": len(found), "cpu_seconds": seconds})
    return pl.DataFrame(records)


def _splits(results: Sequence[Results]) -> pl.DataFrame:
    """Return the accuracies of li2009_splits with their errors, and whether the best leads significantly."""
    tables = []
    for reading in (Reading(found) for found in results if found.manifest["name"] == li2009.SPLITS):
        for corpus in reading.rows["corpus"].unique(maintain_order=True):
            table = li2009.accuracies(reading, corpus)
            leaders = {
                size: _leader(reading, corpus, size, table.filter(pl.col("size") == size))
                for size in table["size"].drop_nulls().unique()
            }
            leads = [
                leaders.get(size) == method for method, size in table.select("method", "size").iter_rows()
            ]
            tables.append(table.with_columns(corpus=pl.lit(corpus), leads=pl.Series(leads)))
    return pl.concat(tables) if tables else pl.DataFrame()


def _lambdas(results: Sequence[Results]) -> pl.DataFrame:
    """Return every learned lambda of li2009's plans, and the paper's where it prints one."""
    own = [Reading(found) for found in results if found.manifest["name"] in li2009.PLANS]
    cells = [cell for reading in own for cell in li2009.lambda_cells(reading)]
    return pl.DataFrame(cells, schema_overrides={"paper": pl.Float64})


def _chances(results: Sequence[Results]) -> dict[str, pl.DataFrame]:
    """Return chances, pairs, backups of ig, F1 by problem, curves by skew, and the data sets, by learner."""
    kinds = ("chances", "pairs", "backups", "problems", "skew", "corpora")
    made: dict[str, list[pl.DataFrame]] = {kind: [] for kind in kinds}
    for found in results:
        if found.manifest["name"] not in forman2003.PLANS:
            continue
        plan = pl.lit(found.manifest["name"]).alias("plan")
        made["corpora"].append(corpus_table(found.corpora).with_columns(plan))
        rows = found.frame().collect()
        for (learner,), own in sorted(rows.partition_by("learner", as_dict=True).items()):
            if f"{found.manifest['name']}, {learner}" == AGAIN:
                continue
            told = [plan, pl.lit(learner).alias("learner")]
            for goal in forman2003.PAIRS:
                of_goal = [*told, pl.lit(goal).alias("goal")]
                chances = best_chances(own, goal).select("method", "tolerance", "share")
                made["chances"].append(chances.with_columns(of_goal))
                pairs = pair_chances(own, goal, [forman2003.tolerance_of(goal)]).select(PAIR_COLUMNS)
                made["pairs"].append(pairs.with_columns(of_goal))
            failed = backups(own, forman2003.IG, "precision", [0.01]).select("method", "share", "n_failed")
            made["backups"].append(failed.with_columns(told))
            problems = by_skew(own.filter(pl.col("method").is_in(COMPARED)))
            made["problems"].append(problems.drop("learner").with_columns(told))
            for measure in ("f1", "precision"):
                curves = skew_curves(own, forman2003.SKEW, measure)
                curves = curves.select("skew_side", "n_problems", "method", "size", "value")
                made["skew"].append(curves.with_columns([*told, pl.lit(measure).alias("measure")]))
    return {kind: pl.concat(parts) if parts else pl.DataFrame() for kind, parts in made.items()}


def ratio_tables(results: Sequence[Results], data: Path | None) -> dict[str, pl.DataFrame]:
    """Return the ratios at 50 terms of each category, chosen and implied, and F1 by ratio of some."""
    for found in results:
        if found.manifest["name"] != zheng2004.PAPER:
            continue
        own = found.selections(method=METHODS["icc ideal"], size=50.0).collect()
        if own.is_empty():
            continue
        names = {learner: short for short, learner in LEARNERS.items()}
        own = own.with_columns(pl.col("learner").replace(names))
        sizes = found.corpora["reuters"]["classes"]
        counts = Reading(found, data=data).counts("reuters")
        problems = own["problem"].unique().to_list()
        part = counts.take([c for c, name in enumerate(counts.classes) if str(name) in problems])
        metrics = {SCORES[name]: name for name in ("ig", "chi")} | {METHODS["ors"]: "ors"}
        implied = implied_ratios(part, list(metrics), [50]).select(
            problem="class", chosen_by="metric", ratio="ratio"
        )
        implied = implied.with_columns(
            pl.col("chosen_by").replace({str(get_metric(m)): n for m, n in metrics.items()})
        )
        chosen = own.select("problem", pl.format("icc ideal, {}", "learner").alias("chosen_by"), "ratio")
        positives = pl.col("problem").replace_strict(sizes, return_dtype=pl.Int64).alias("positives")
        ratios = pl.concat([chosen, implied]).with_columns(positives)
        ratios = ratios.sort("positives", "problem", "chosen_by", descending=[True, False, False])
        curves = tuning_curves(own.filter(pl.col("problem").is_in(list(RATIOS))))
        tuning = curves.select("problem", "learner", "candidate", "value")
        return {"ratios": ratios, "tuning": tuning, "ties": tied_ratios(found)}
    return {}


def tied_ratios(found: Results) -> pl.DataFrame:
    """Return macro F1 of icc practical if of equally good ratios the worst or the best were taken.

    Ratios are equally good by F1 on the training documents; the curves of icc ideal have F1 on the test ones.
    """
    key = ["problem", "learner", "size"]
    tried, tested = (
        found.selections(method=METHODS[f"icc {scenario}"]).collect().select(*key, "ratio", "curve")
        for scenario in ("practical", "ideal")
    )
    records = []
    for row in tried.join(tested, on=key).filter(~pl.col("problem").is_in(LARGEST)).iter_rows(named=True):
        curve, f1 = np.array(row["curve"]), np.array(row["curve_right"])
        equal = f1[curve == curve.max()]
        facts = {"learner": row["learner"], "size": row["size"], "tied": len(equal)}
        ours = f1[round(row["ratio"] * (len(f1) - 1))]
        records.append(facts | {"ours": ours, "lowest": equal.min(), "highest": equal.max()})
    names = {learner: short for short, learner in LEARNERS.items()}
    means = pl.DataFrame(records).group_by("learner", "size").mean().sort("learner", "size")
    return means.with_columns(pl.col("learner").replace(names)).sort(
        "learner", "size", descending=[True, False]
    )


def kept_terms(results: Sequence[Results]) -> pl.DataFrame:
    """Return the mean number of terms that each ranking keeps at each sparsity."""
    tables = []
    for found in results:
        if found.manifest["name"] in mladenic2004.PLANS:
            curves = size_curves(whole_runs(found.frame(learner="nb").collect()), size_kind="sparsity")
            plan = pl.lit(found.manifest["name"]).alias("plan")
            tables.append(curves.select("method", "size", "n_terms", "sparsity", "value").with_columns(plan))
    return pl.concat(tables) if tables else pl.DataFrame()


def _gains(results: Sequence[Results]) -> pl.DataFrame:
    """Return what svm-1 gains over all terms in the rare, middle and frequent third of the categories."""
    records = []
    for reading in (Reading(found) for found in results if found.manifest["name"] in mladenic2004.PLANS):
        for learner in ("nb", "perceptron", "svm"):
            measure = mladenic2004.goal_of(reading, learner)
            level = GAIN_LEVEL
            gains = mladenic2004.class_gains(reading, learner, "svm-1", measure, level).sort("positives")
            thirds = [gains[rows] for rows in np.array_split(np.arange(gains.height), 3)]
            # The groups of 20 Newsgroups are equally large.
            equal = thirds[0]["positives"].mean() * 1.5 > thirds[2]["positives"].mean()  # type: ignore[operator]
            for part in [gains] if equal else [gains, *thirds]:
                low, high = int(part["positives"].min()), int(part["positives"].max())  # type: ignore[call-overload]
                facts = {"plan": reading.plan, "learner": learner, "measure": measure, "level": level}
                facts |= {"categories": part.height, "low": low, "high": high, "gain": part["gain"].mean()}
                records.append(facts | {"p": mladenic2004.p_value(part)})
    return pl.DataFrame(records)


def _leader(reading: Reading, corpus: str, size: float, table: pl.DataFrame) -> str | None:
    """Return the best method of a table at a size if it is significantly above the second, else None."""
    first, second, *_ = table.sort("value", "method", descending=[True, False])["method"]
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
        for measure, averages in MEASURES[paper].items():
            for average in averages:
                table = size_curves(whole_runs(part), measure, average).select(
                    "learner", "method", "size", "value"
                )
                facts = {"plan": plan, "corpus": corpus, "measure": measure, "average": average}
                tables.append(table.with_columns(**{name: pl.lit(v) for name, v in facts.items()}))
    columns = ["plan", "corpus", "learner", "measure", "average", "method", "size", "value"]
    return pl.concat(tables).select(columns)
