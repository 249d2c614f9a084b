"""Confusion counts or decision values come in; accuracy, precision, recall, F and break-even go out."""

from termsieve.measures.confusion import MEASURES as MEASURES
from termsieve.measures.confusion import (
    Confusion,
    accuracy,
    f1,
    f2,
    f_beta,
    get_measure,
    macro,
    micro,
    precision,
    recall,
)
from termsieve.measures.decisions import BREAK_EVEN_GOALS as BREAK_EVEN_GOALS
from termsieve.measures.decisions import Ties as Ties
from termsieve.measures.decisions import (
    at_threshold,
    break_even,
    decision_values,
    f1_break_even,
    f1_break_even_score,
    get_goal,
)

__all__ = [
    "Confusion",
    "accuracy",
    "at_threshold",
    "break_even",
    "decision_values",
    "f1",
    "f1_break_even",
    "f1_break_even_score",
    "f2",
    "f_beta",
    "get_goal",
    "get_measure",
    "macro",
    "micro",
    "precision",
    "recall",
]
