"""Draw every chart, from SciPy's docstrings and a small study of them: python examples/gallery.py FOLDER.

The folder gets gallery.md and the pictures in it; `python examples/gallery.py docs` makes those of the docs.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from termsieve import Counts, Plan, charts, load_docstrings, run_study, term_matrix
from termsieve.reports import corpus, study
from termsieve.reports.figures import Report
from termsieve.reports.planes import study_plane

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
metric = "bns"
min_df = [10, 30]

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
HEAD = """# Gallery: every chart

`python examples/gallery.py docs` makes this page from the docstrings of SciPy's subpackages (1,123
documents, 13 classes) and a small study of them (naive Bayes, 3 folds). A function of `termsieve.analysis`
makes a table, and a function of `termsieve.charts` draws it as an Altair chart, which you can show in a
notebook or save:

```python
from termsieve import Counts, analysis, charts, load_docstrings, term_matrix

corpus = load_docstrings()
X, terms = term_matrix(corpus)
counts = Counts.from_matrix(X, corpus.labels, terms=terms)
charts.save(charts.roc_map(analysis.roc_map(counts, "stats")), "map.html")  # or .svg, .png, .json
```

The HTML of `charts.save` needs no network and is safe for any words in the data.
`corpus_report(corpus, "report.html")` and `study_report(results, "report.html")` put the charts of a corpus
or a study, and their tables, into one such file.
"""


def reports(folder: str) -> dict[str, Report]:
    """Return the declared figures of the docstrings' counts and of a small study of them."""
    documents = load_docstrings()
    X, terms = term_matrix(documents)
    of_counts = corpus.corpus_figures(Counts.from_matrix(X, documents.labels, terms=terms))
    results = run_study(Plan.parse(PLAN, "gallery"), folder, workers=1)
    rows = results.frame().collect()
    of_results = study.study_figures(
        rows, results.selections().collect(), corpora=results.corpora, plane=study_plane(rows, results)
    )
    return {
        "From counts": replace(of_counts, sources={**of_counts.sources, "max_points": 300}),
        "From the results of a study": of_results,
    }


def main(folder: Path) -> None:
    """Write a picture of each chart, and the page that shows them, into the folder."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    lines, drawn = [HEAD], set()
    with tempfile.TemporaryDirectory() as place:
        for heading, report in reports(place).items():
            lines.append(f"## {heading}\n")
            for picture in report.pictures({"class": "stats"}):
                name = picture.figure.chart.__name__
                if name in drawn:
                    continue
                drawn.add(name)
                charts.save(picture.chart, folder / "pictures" / f"{name}.svg")
                call = f"charts.{name}(analysis.{picture.figure.table.__name__}(...))"
                lines.append(f"### {picture.title}\n\n`{call}`\n")
                lines.append(f"{picture.note}\n" if picture.note else "")
                lines.append(f"![{picture.title}](pictures/{name}.svg)\n")
    (folder / "gallery.md").write_text("\n".join(filter(None, lines)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"))
