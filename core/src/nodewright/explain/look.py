"""A look: a world, the decision about it, and everything that explanations go by."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from nodewright.api.decision import Decision
from nodewright.api.group import GroupFacts
from nodewright.decision.findings import Findings
from nodewright.decision.memory import Memory
from nodewright.decision.world import World


@dataclass(frozen=True, kw_only=True)
class Look:
    """A world, the decision about it, and what the decision would remember."""

    world: World
    decision: Decision
    #: What would be remembered.
    memory: Memory
    #: What was found out on the way. Not part of the public surface.
    findings: Findings

    def group_of(self, node: str) -> GroupFacts | None:
        """Return the group of *node*, with the options in effect; None if it has none."""
        return self._groups.get(self.world.group_of.get(node, ""))

    @cached_property
    def _groups(self) -> dict[str, GroupFacts]:
        return {group.id: group for group in self.findings.groups}


def unreadable(world: World) -> Iterable[tuple[str, str]]:
    """Yield the name of each provider that can't be read, and a sentence that says so, with the reason."""
    for name, reason in world.unreadable.items():
        yield name, f"provider {name} can't be read: {reason}"


def goes(decision: Decision, name: str) -> bool:
    """Return whether a node's removal starts, or it is deleted."""
    return any(drain.node == name for drain in decision.drain) or any(name in each.nodes for each in decision.delete)
