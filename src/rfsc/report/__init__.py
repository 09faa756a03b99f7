"""One offline page about a model: what it says, how good it is, and what to know before trusting it."""

from .honest_score import HonestScore, cross_validated, default_baselines
from .report import Report

__all__ = ["HonestScore", "Report", "cross_validated", "default_baselines"]
