"""Feature selection for text classification: counts in, telling terms out."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes longer to load than all else here, and Ctrl-C is not answered yet
    from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it. Names are imported on first use, so that a part of the
# package costs nothing until it is asked for.
_HOME = {
    "TermsieveError": "errors",
    "Corpus": "corpus",
    "load_docstrings": "readers",
    "read": "readers",
    "term_matrix": "terms",
    "Counts": "counts",
    "METRICS": "metrics",
    "Metric": "metrics",
    "get_metric": "metrics",
    "register_metric": "metrics",
    "Scores": "scores",
    "score": "scores",
    "PrunedWarning": "engines",
    "count": "engines",
    "read_shards": "counts.shards",
    "shard_terms": "counts.shards",
    "write_shards": "counts.shards",
    "TermVectorizer": "estimators",
    "TermSelector": "estimators",
    "score_func": "estimators",
    "Ranking": "ranking",
    "cut": "ranking",
    "rank": "ranking",
    "sparsity_curve": "ranking",
    "break_even": "measures",
    "f1_break_even": "measures",
    "LEARNERS": "learners",
    "decision_path": "learners",
    "decision_sets": "learners",
    "predicted_sets": "learners",
    "get_learner": "learners",
    "Results": "studies",
    "Plan": "studies",
    "load_plan": "studies",
    "merge_studies": "studies",
    "resume_study": "studies",
    "run_study": "studies",
    "study_status": "studies",
    "study_summary": "studies",
    "corpus_report": "reports",
    "study_report": "reports",
    "TermWeighter": "estimators",
    "RatioClassifier": "estimators",
    "RatioSelector": "estimators",
    "WFOSelector": "estimators",
    "WeightSelector": "estimators",
    "Advice": "adviser",
    "advise": "adviser",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'termsieve' has no attribute {name!r}")
    value = getattr(import_module(f"termsieve.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
