"""Nodes that are needed and give way to cheaper ones."""

from nodewright.decision.consolidation.plan import Consolidation, Departure, consolidate, waiting
from nodewright.decision.consolidation.replacements import Replacements, follow_replacements, spoken_for

__all__ = [
    "Consolidation",
    "Departure",
    "Replacements",
    "consolidate",
    "follow_replacements",
    "spoken_for",
    "waiting",
]
