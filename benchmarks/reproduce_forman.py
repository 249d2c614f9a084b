"""The tables of docs/reproduction-forman2003.md, from the results of the plan forman2003, without retraining.

termsieve study run forman2003 --data DATA -o RESULTS
python benchmarks/reproduce_forman.py RESULTS
"""

from __future__ import annotations

import sys

import polars as pl

from termsieve.analysis import backups, best_chances, best_pairs, paired_tests, size_curves, skew_curves
from termsieve.results import Results

MEASURES = ("f1", "precision", "recall", "accuracy")
THRESHOLD = 67.0  # the paper's split of low and high skew


def markdown(table: pl.DataFrame, digits: int = 3) -> str:
    """Return a table in Markdown, numbers rounded."""

    def cell(value: object) -> str:
        return f"{value:.{digits}f}" if isinstance(value, float) else "" if value is None else str(value)

    lines = [f"| {' | '.join(table.columns)} |", f"| {' | '.join(['---'] * table.width)} |"]
    lines += [f"| {' | '.join(map(cell, row))} |" for row in table.iter_rows()]
    return "\n".join(lines)


def by_size(curves: pl.DataFrame) -> pl.DataFrame:
    """Return methods x sizes, best first by the best size; the line of all features last."""
    names = curves.with_columns(
        column=pl.when(pl.col("size_kind") == "all")
        .then(pl.lit("all"))
        .otherwise(pl.col("size").cast(pl.Int64))
    )
    wide = names.pivot(on="column", index="method", values="value", sort_columns=False)
    sizes = sorted((name for name in wide.columns if name.isdigit()), key=int)
    best = pl.max_horizontal(sizes) if sizes else pl.lit(0.0)
    extra = ["all"] if "all" in wide.columns else []
    return wide.sort(best, descending=True, nulls_last=True).select("method", *sizes, *extra)


def main(path: str) -> None:
    """Print every table."""
    results = Results.open(path)
    rows = results.frame().collect()
    for learner in rows["learner"].unique().sort():
        own = rows.filter(pl.col("learner") == learner)
        print(f"\n# {learner}: {own.height:,} rows, {own.select('corpus', 'problem').n_unique()} problems\n")
        for measure in MEASURES:
            print(f"\n## macro {measure}\n\n{markdown(by_size(size_curves(own, measure)))}")
        for measure in ("f1", "precision"):
            for side in ("low", "high"):
                curves = skew_curves(own, THRESHOLD, measure).filter(skew_side=side)
                n = curves["n_problems"].max()
                print(f"\n## macro {measure}, {side} skew ({n} problems)\n\n{markdown(by_size(curves))}")
        chances = []
        for measure in MEASURES:
            tolerance = 0.001 if measure == "accuracy" else 0.01
            chances.append(
                best_chances(own, measure, [tolerance]).select("method", pl.col("share").alias(measure))
            )
            print(f"\n## best pair, {measure}\n\n{markdown(best_pairs(own, measure, [tolerance]))}")
        table = chances[0]
        for part in chances[1:]:
            table = table.join(part, on="method")
        print(f"\n## best chances\n\n{markdown(table.sort('f1', descending=True))}")
        for leader, measure in (("bns", "f1"), ("information_gain", "f1"), ("information_gain", "precision")):
            print(
                f"\n## where {leader} fails, {measure}\n\n{markdown(backups(own, leader, measure, [0.01]))}"
            )
        for size in (50, 500, 1000):
            tests = paired_tests(own, size, "f1", reference="bns", size_kind="k")
            print(f"\n## bns against the others at {size} terms, F1\n\n{markdown(tests, 4)}")


if __name__ == "__main__":
    main(sys.argv[1])
