"""The replacement of needed nodes by cheaper ones."""

from nodewright.decision.consolidation.plan import Consolidation, Consolidator, waiting
from nodewright.decision.consolidation.replacements import Replacements, follow_replacements, reserved_nodes

__all__ = [
    "Consolidation",
    "Consolidator",
    "Replacements",
    "follow_replacements",
    "reserved_nodes",
    "waiting",
]
