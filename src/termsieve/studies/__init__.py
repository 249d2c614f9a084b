"""A plan file and corpora come in; units of work are run, on processes or a cluster, and Results go out."""

from __future__ import annotations

from termsieve.studies.estimate import Estimate, study_estimate, study_summary
from termsieve.studies.merging import merge_studies
from termsieve.studies.plan import PLANS, Plan, load_plan
from termsieve.studies.progress import Progress
from termsieve.studies.results import Results
from termsieve.studies.runner import resume_study, run_study
from termsieve.studies.status import Status, stored_plan, study_status

__all__ = [
    "PLANS",
    "Estimate",
    "Plan",
    "Progress",
    "Results",
    "Status",
    "load_plan",
    "merge_studies",
    "resume_study",
    "run_study",
    "stored_plan",
    "study_estimate",
    "study_status",
    "study_summary",
]
