"""Feature selection for text classification: counts in, telling terms out.

The names that a user types every day are here; everything else is in the submodules, such as
`termsieve.charts` or `termsieve.analysis`. Names and submodules are loaded when they are first used.

>>> import termsieve
>>> mail = termsieve.Corpus(["buy cheap pills", "buy now", "see you"], ["spam", "spam", "ham"])
>>> termsieve.telling_words(mail, k=2)["term"].to_list()
['buy', 'see']
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes longer to load than all else here, and Ctrl-C is not answered yet
    from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it. __init__.pyi tells type checkers the same; a test compares them.
_HOME = {
    "TermsieveError": "errors",
    "Corpus": "corpus",
    "load_docstrings": "readers",
    "read": "readers",
    "term_matrix": "terms",
    "Counts": "counts",
    "Windows": "counts",
    "count": "engines",
    "Inspection": "inspection",
    "inspect": "inspection",
    "METRICS": "metrics",
    "Metric": "metrics",
    "get_metric": "metrics",
    "register_metric": "metrics",
    "Scores": "scores",
    "score": "scores",
    "Ranking": "ranking",
    "cut": "ranking",
    "rank": "ranking",
    "class_summary": "telling",
    "select_terms": "telling",
    "telling_words": "telling",
    "Comparison": "comparison",
    "compare_metrics": "comparison",
    "difference": "differences",
    "shifts": "differences",
    "LEARNERS": "learners",
    "get_learner": "learners",
    "register_learner": "learners",
    "RatioClassifier": "estimators",
    "RatioSelector": "estimators",
    "TermSelector": "estimators",
    "TermVectorizer": "estimators",
    "TermWeighter": "estimators",
    "WFOSelector": "estimators",
    "WeightSelector": "estimators",
    "Model": "models",
    "load_model": "models",
    "train_model": "training",
    "Plan": "studies",
    "Results": "studies",
    "load_plan": "studies",
    "resume_study": "studies",
    "run_study": "studies",
    "corpus_report": "reports",
    "explore": "reports",
    "study_report": "reports",
    "Advice": "adviser",
    "advise": "adviser",
}
_SUBMODULES = (
    "adviser",
    "analysis",
    "charts",
    "cli",
    "columns",
    "comparison",
    "corpus",
    "counts",
    "differences",
    "display",
    "drift",
    "engines",
    "errors",
    "estimators",
    "evaluation",
    "files",
    "frames",
    "inspection",
    "intervals",
    "kernels",
    "labels",
    "learners",
    "limits",
    "machine",
    "matrices",
    "measures",
    "metrics",
    "models",
    "parquet",
    "passages",
    "pieces",
    "portable",
    "predictions",
    "ranking",
    "readers",
    "records",
    "redundancy",
    "reports",
    "saved",
    "scores",
    "sources",
    "sparse",
    "spec",
    "studies",
    "telling",
    "terms",
    "training",
)

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"termsieve.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'termsieve' has no attribute {name!r}")
    value = getattr(import_module(f"termsieve.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES])
