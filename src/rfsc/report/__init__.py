"""One offline page about a model: what it says, how well it predicts, and what to know before trusting it."""

from .document import Report
from .honest_score import HonestScore, cross_validated, default_baselines

__all__ = ["HonestScore", "Report", "cross_validated", "default_baselines"]
