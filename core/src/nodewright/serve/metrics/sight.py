"""A sight: what one loop saw, made of it and remembers, for those who count."""

from dataclasses import dataclass

from nodewright.api.decision import Decision
from nodewright.config.model import Settings
from nodewright.decision.findings import Findings
from nodewright.decision.memory import Memory
from nodewright.decision.world import World


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What one loop saw and decided. To be looked at before the loop goes on: the cluster in it changes."""

    world: World
    decision: Decision
    #: That of after the decision.
    memory: Memory
    settings: Settings
    findings: Findings
