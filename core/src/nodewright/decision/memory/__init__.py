"""What Nodewright remembers from loop to loop, and over restarts: in slices, each with one owner."""

from nodewright.decision.memory.consolidation import ConsolidationMemory, Replacement
from nodewright.decision.memory.cooldown import Changes, CooldownMemory
from nodewright.decision.memory.demand import DemandMemory
from nodewright.decision.memory.health import LONGEST_RESPITE, Backoff, HealthMemory, Shortage
from nodewright.decision.memory.memory import Memory
from nodewright.decision.memory.orders import Intention, OrderMemory, ScaleUpRequest
from nodewright.decision.memory.removals import Evictions, Removal, RemovalMemory
from nodewright.decision.memory.slices import Slice
from nodewright.decision.memory.status import Condition, Conditions, StatusMemory
from nodewright.decision.memory.templates import KnownTemplate, TemplateMemory
from nodewright.decision.memory.unneeded import UnneededMemory
from nodewright.decision.memory.verdicts import LastVerdict, VerdictMemory

__all__ = [
    "LONGEST_RESPITE",
    "Backoff",
    "Changes",
    "Condition",
    "Conditions",
    "ConsolidationMemory",
    "CooldownMemory",
    "DemandMemory",
    "Evictions",
    "HealthMemory",
    "Intention",
    "KnownTemplate",
    "LastVerdict",
    "Memory",
    "OrderMemory",
    "Removal",
    "RemovalMemory",
    "Replacement",
    "ScaleUpRequest",
    "Shortage",
    "Slice",
    "StatusMemory",
    "TemplateMemory",
    "UnneededMemory",
    "VerdictMemory",
]
