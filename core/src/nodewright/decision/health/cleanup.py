"""Cleanup: which machines that will never be nodes are deleted, and what goes with them."""

from collections.abc import Sequence

from nodewright.api.decision import DeleteInstances
from nodewright.api.group import GroupFacts
from nodewright.api.instance import InstanceState
from nodewright.api.verdict import Verdict
from nodewright.objects import Node


class Cleanup:
    """Gathers deletions that leave every group its minimum, or forces them where that is wanted and possible."""

    def __init__(self) -> None:
        self.delete: list[DeleteInstances] = []

    def add(self, facts: GroupFacts, instances: Sequence[str], verdict: Verdict, *, force: bool) -> None:
        """Delete as many of *instances* as the group's minimum allows; those that never came count for it, too."""
        force = force and facts.force_delete
        allowed = len(instances) if force else self._room(facts)
        if allowed > 0:
            chosen = tuple(instances[:allowed])
            self.delete.append(DeleteInstances(group=facts.id, instances=chosen, force=force, verdict=verdict))

    def add_whole(self, facts: GroupFacts, nodes: Sequence[Node], verdict: Verdict, *, force: bool) -> None:
        """Delete all machines of a group that is used whole or not at all, *nodes* or not; or none of them."""
        going = any(delete.group == facts.id for delete in self.delete)
        force = force and facts.force_delete
        name_of = {node.spec.provider_id: node.name for node in nodes}
        instances = tuple(each.id for each in facts.instances if each.state is not InstanceState.DELETING)
        if not going and (force or len(instances) <= self._room(facts)):
            names = tuple(name_of.get(instance, instance) for instance in instances)
            self.delete.append(
                DeleteInstances(group=facts.id, instances=instances, nodes=names, force=force, verdict=verdict)
            )

    def _room(self, facts: GroupFacts) -> int:
        going = sum(len(delete.instances) for delete in self.delete if delete.group == facts.id)
        return facts.target_size - facts.min_size - going
