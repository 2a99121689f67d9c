"""Leftovers: marks for deletion that belong to no removal, such as those of a process that was killed."""

from collections.abc import Container, Iterator

from nodewright.decision.memory import RemovalMemory
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.objects.node import TO_BE_DELETED


class Leftovers:
    """Tells which of these nodes come back, and which may be going."""

    def __init__(self, world: World) -> None:
        self._world = world

    def of(self, removals: Container[str]) -> Iterator[Node]:
        """Yield the nodes of groups that are marked but are not among *removals*."""
        group_of = self._world.group_of
        for name, node in self._world.cluster.nodes.items():
            # Nearly all have no taints.
            marked = node.spec.taints and node.taint(TO_BE_DELETED) is not None
            if marked and name in group_of and name not in removals:
                yield node

    def may_be_going(self, node: Node) -> bool:
        """Tell whether the cloud deletes the machine, or may do so: pods must not come to *node* any more.

        It may even after an error, as only the answer may have been lost, and on the order of an earlier process.
        """
        group = self._world.group_on(node.name)
        return node.spec.provider_id in self._world.deleting or (group is not None and bool(group.error))


def coming_back(world: World, leaving: RemovalMemory) -> list[str]:
    """Return the nodes whose marks are being taken off, given the removals that go on.

    Pods will fit on them in a moment and need no new nodes. A node whose mark could not be taken off in the last loop
    is not among them.
    """
    leftovers = Leftovers(world)
    stuck = {each.target for each in world.outcomes if each.action == "restore" and not each.ok}
    return [
        node.name
        for node in leftovers.of(leaving.removals)
        if node.name not in stuck and not leftovers.may_be_going(node)
    ]
