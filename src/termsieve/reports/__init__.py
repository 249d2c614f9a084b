"""A corpus, counts or results come in; one offline HTML document goes out."""

from termsieve.reports.corpus import corpus_report
from termsieve.reports.study import study_report

__all__ = ["corpus_report", "study_report"]
