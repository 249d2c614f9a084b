"""The tables of docs/reproduction-forman2003.md, from the results of the plan forman2003, without retraining.

termsieve study run forman2003 --data DATA -o RESULTS      # or forman2003_hinge, with the paper's loss too
python reproductions/forman2003.py RESULTS
"""

from __future__ import annotations

import sys

import polars as pl

from termsieve.analysis import backups, best_chances, best_pairs, paired_tests, size_curves, skew_curves
from termsieve.studies.results import Results

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


def losses(rows: pl.DataFrame) -> str:
    """Return the two learners beside each other on the problems that both have: F1, and mean differences."""
    hinge = rows.filter(pl.col("learner") == "svm(hinge)")
    both = rows.join(hinge.select("corpus").unique(), on="corpus", how="semi")
    n_problems = hinge.select("corpus", "problem").n_unique()
    values = {
        (learner, measure): size_curves(both.filter(pl.col("learner") == learner), measure)
        for learner in ("svm(hinge)", "svm")
        for measure in MEASURES
    }
    parts = [f"\n# svm(hinge) beside svm: {hinge.height:,} trainings each, {n_problems} problems"]
    for learner in ("svm(hinge)", "svm"):
        parts.append(f"## macro f1, {learner}\n\n{markdown(by_size(values[learner, 'f1']))}")
    for measure in MEASURES:
        keys = ["method", "size_kind", "size"]
        pairs = values["svm(hinge)", measure].join(values["svm", measure], on=keys, nulls_equal=True)
        more = pairs["value"] - pairs["value_right"]
        parts.append(
            f"{measure}: svm(hinge) less svm over {len(more)} pairs of method and size: "
            f"mean {more.mean():+.4f}, from {more.min():+.3f} to {more.max():+.3f}"
        )
    return "\n\n".join(parts)


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
    if rows["learner"].n_unique() > 1:
        print(losses(rows))


if __name__ == "__main__":
    main(sys.argv[1])
