"""Selection that trains a learner: documents and labels in, selected columns and what was learned out."""

from termsieve.tuned.ratio import RatioClassifier, RatioSelector
from termsieve.tuned.weights import WeightSelector
from termsieve.tuned.wfo import WFOSelector

__all__ = ["RatioClassifier", "RatioSelector", "WFOSelector", "WeightSelector"]
