"""A formula as a score card: whole points that are added by hand, and the risk of every total."""

from .conversion import card
from .score_card import PointTable, RiskTable, RoundingCost, ScoreCard

__all__ = ["PointTable", "RiskTable", "RoundingCost", "ScoreCard", "card"]
