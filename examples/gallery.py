"""Draw every chart, from SciPy's docstrings and a small study of them: python examples/gallery.py FOLDER."""

import sys
import tempfile
from pathlib import Path

import polars as pl

from termsieve import Counts, Plan, Results, analysis, charts, load_docstrings, run_study, term_matrix

METRICS = ["bns", "information_gain", "chi_squared", "odds_ratio", "document_frequency"]
PLAN = """
[[corpora]]
name = "docstrings"
format = "docstrings"

[representation]
min_df = 3

[protocol]
trials = 1
folds = 3
seed = 1

[[methods]]
metric = ["bns", "information_gain", "chi_squared", "document_frequency"]

[[methods]]
name = "icc"
select = "ratio"
metric = "correlation_coefficient"
scenario = "practical"

[sizes]
k = [10, 50, 200]
all = true

[[learners]]
name = "nb"

[measures]
break_even = true
"""


def charts_of_counts(counts: Counts, label: str) -> dict[str, object]:
    """Return the charts that need nothing but counts, of one class."""
    return {
        "roc_map": charts.roc_map(counts, label, ["bns", "information_gain", "odds_ratio"], max_points=400),
        "isocline_family": charts.isocline_family("bns"),
        "term_bars": charts.term_bars(counts, label),
        "overlap": charts.overlap(charts.metric_overlaps(counts, METRICS, k=100)),
        "sparsity": charts.sparsity(charts.sparsity_table(counts, METRICS)),
    }


def charts_of_results(results: Results) -> dict[str, object]:
    """Return the charts of a finished study."""
    rows, selections = results.frame(), results.selections().collect()
    tuned = selections.filter(pl.col("method") == "icc")
    every = analysis.prefixes(selections.with_columns(learner=pl.lit("nb")), [10, 50])
    vocabulary = {name: int(facts["terms"]) for name, facts in results.corpora.items()}
    return {
        "curves": charts.curves(analysis.size_curves(rows)),
        "precision_recall": charts.precision_recall(analysis.precision_recall(rows, 200)),
        "skew": charts.skew(analysis.by_skew(rows)),
        "chances": charts.chances(analysis.best_chances(rows)),
        "pairs": charts.pairs(analysis.pair_chances(rows), analysis.best_chances(rows)),
        "critical_difference": charts.critical_difference(analysis.mean_ranks(rows)),
        "trade_off": charts.trade_off(analysis.trade_offs(rows)),
        "tuning_curves": charts.tuning_curves(analysis.tuning_curves(tuned), "f1_break_even"),
        "chosen_parameters": charts.chosen_parameters(analysis.chosen_parameters(tuned)),
        "stability": charts.stability(analysis.fold_stability(every, vocabulary), "kuncheva"),
    }


def main(folder: Path) -> None:
    """Write a picture of each chart into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = load_docstrings()
    X, terms = term_matrix(corpus)
    made = charts_of_counts(Counts.from_matrix(X, corpus.labels, terms=terms), "stats")
    with tempfile.TemporaryDirectory() as place:
        made |= charts_of_results(run_study(Plan.parse(PLAN, "gallery"), place, workers=1))
        for name, chart in made.items():
            charts.save(chart, folder / f"{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
