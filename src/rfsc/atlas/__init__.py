"""Which other models are as good: what is in all of them, what replaces what, and what a wish costs."""

from .collection import Atlas, AtlasSettings
from .fallbacks import with_fallbacks
from .making import atlas
from .model_tables import Disagreement, FeatureUseTable, ModelTable, SwapTable
from .wishes import FoundModel

__all__ = [
    "Atlas",
    "AtlasSettings",
    "Disagreement",
    "FeatureUseTable",
    "FoundModel",
    "ModelTable",
    "SwapTable",
    "atlas",
    "with_fallbacks",
]
