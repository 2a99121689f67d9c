"""The replacement of needed nodes by cheaper ones."""

from nodewright.decision.consolidation.plan import Consolidation, Consolidator, waiting
from nodewright.decision.consolidation.replacements import Follower, Replacements

__all__ = [
    "Consolidation",
    "Consolidator",
    "Follower",
    "Replacements",
    "waiting",
]
