"""A corpus, counts or results come in; one offline HTML document goes out."""

from termsieve.reports.corpus import corpus_report
from termsieve.reports.notebook import HtmlReport, explore
from termsieve.reports.study import study_report

__all__ = ["HtmlReport", "corpus_report", "explore", "study_report"]
