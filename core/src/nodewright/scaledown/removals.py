"""Removals under way: each loop looks where every one stands and takes its next step.

Nothing waits in a thread. What a removal needs to go on is the taint on the node and an entry in memory, so a process
that is killed in any step leaves something that its next life finishes (with memory) or undoes (without).
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nodewright.api.decision import DeleteInstances, Evict, Restore
from nodewright.api.instance import InstanceState
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.memory import Memory, Removal
from nodewright.objects import Node
from nodewright.objects.node import TO_BE_DELETED
from nodewright.policy import Policy
from nodewright.scaledown.cooldown import changed
from nodewright.scaledown.drainability import Drainability
from nodewright.world import World

#: How long a node may stay after its machine was deleted before we stop waiting for it.
_VANISH_TIME = timedelta(minutes=15)
#: How long a pod may take to end beyond its grace period.
_GRACE_HEADROOM = timedelta(seconds=30)
_RETRY_EVICTION = timedelta(seconds=10)


@dataclass(frozen=True, kw_only=True)
class RemovalPlan:
    """The next step of every removal under way."""

    restore: tuple[Restore, ...]
    evict: tuple[Evict, ...]
    delete: tuple[DeleteInstances, ...]
    memory: Memory


def plan_removals(world: World, memory: Memory, policy: Policy, now: datetime) -> RemovalPlan:
    """Return what to do next for each node that is being removed."""
    steps = _Steps(world, memory, policy, now)
    for name, removal in memory.removals.items():
        steps.advance(name, removal)
    for name, node in world.cluster.nodes.items():
        stays = name not in memory.removals and name in world.group_of and not steps.is_leaving(node)
        if stays and node.taint(TO_BE_DELETED):
            steps.restore.append(Restore(node=name, verdict=Verdict(reason=Reason.LEFTOVER)))
    return RemovalPlan(
        restore=tuple(steps.restore),
        evict=tuple(steps.evict),
        delete=tuple(steps.delete),
        memory=replace(
            memory,
            removals=steps.removals,
            unremovable_until=steps.unremovable_until,
            last_scale_down=steps.last_scale_down,
            last_scale_down_failure=steps.last_failure,
            changes=steps.changes,
        ),
    )


class _Steps:
    """Gathers the next steps."""

    def __init__(self, world: World, memory: Memory, policy: Policy, now: datetime) -> None:
        self._world = world
        self._policy = policy
        self._settings = policy.settings.scale_down
        self._now = now
        self._drainability = Drainability(world, policy, now)
        self._failures = {
            (outcome.action, outcome.target): outcome.error for outcome in world.outcomes if not outcome.ok
        }
        self._unread = frozenset(facts.id for facts in world.groups if facts.error)
        self._leaving = frozenset(
            instance.id
            for facts in world.groups
            for instance in facts.instances
            if instance.state is InstanceState.DELETING
        )
        self.restore: list[Restore] = []
        self.evict: list[Evict] = []
        self.delete: list[DeleteInstances] = []
        self.removals: dict[str, Removal] = {}
        self.unremovable_until = dict(memory.unremovable_until)
        self.last_scale_down = memory.last_scale_down
        self.last_failure = memory.last_scale_down_failure
        known = {facts.id for facts in world.groups}
        self.changes = {group: last for group, last in memory.changes.items() if group in known}

    def advance(self, name: str, removal: Removal) -> None:
        node = self._world.cluster.nodes.get(name)
        if node is None or node.spec.provider_id != removal.provider_id:
            return
        if ("drain", name) in self._failures:
            self._give_up(name, removal, self._failures["drain", name])
        elif ("delete-instances", name) in self._failures and not self.is_leaving(node):
            self._give_up(name, removal, self._failures["delete-instances", name])
        else:
            self._go_on(name, node, removal)

    def is_leaving(self, node: Node) -> bool:
        """Tell whether the cloud deletes the machine, or may do so: pods must not come to *node* any more.

        That holds even after an error, as only the answer may have been lost, and for orders of an earlier life.
        """
        return node.spec.provider_id in self._leaving or self._world.group_of.get(node.name) in self._unread

    def _go_on(self, name: str, node: Node, removal: Removal) -> None:
        if removal.deleted_at is not None:
            if self._now - removal.deleted_at < _VANISH_TIME:
                self.removals[name] = removal
        elif self._now - removal.started < self._settings.delay_after_taint:
            self.removals[name] = removal
        else:
            self._empty(node, removal)

    def _empty(self, node: Node, removal: Removal) -> None:
        """Get the pods off *node*, and delete its machine once none is left."""
        drainable = self._drainability.of(node.name, budgets_block=False)
        if drainable.blocker is not None:
            self._give_up(node.name, removal, str(drainable.blocker))
        elif drainable.waits:
            self._give_up(node.name, removal, f"{drainable.waits[0].key} has to complete before")
        elif not drainable.move:
            self._delete(node, removal)
        elif removal.evicting_since is None:
            self._evict(node.name, drainable.move, replace(removal, evicting_since=self._now))
        else:
            self._wait(node.name, drainable.move, removal, removal.evicting_since)

    def _wait(self, name: str, pods: tuple[PodRow, ...], removal: Removal, since: datetime) -> None:
        staying = tuple(pod for pod in pods if pod.deleted is None)
        waited = self._now - since
        grace = self._settings.max_graceful_termination + _GRACE_HEADROOM
        if staying and waited > self._settings.max_pod_eviction_time:
            self._give_up(name, removal, f"{staying[0].key} could not be evicted in {_minutes(waited)}")
        elif waited > self._settings.max_pod_eviction_time + grace:
            self._give_up(name, removal, f"{pods[0].key} did not end in {_minutes(waited)}")
        elif staying and (removal.evicted_at is None or self._now - removal.evicted_at >= _RETRY_EVICTION):
            self._evict(name, staying, removal)
        else:
            self.removals[name] = removal

    def _evict(self, name: str, pods: tuple[PodRow, ...], removal: Removal) -> None:
        longest = int(self._settings.max_graceful_termination.total_seconds())
        graces = {pod.key: min(pod.pod_class.pod.grace_seconds, longest) for pod in pods}
        self.evict.append(Evict(node=name, pods=graces))
        self.removals[name] = replace(removal, evicted_at=self._now)

    def _delete(self, node: Node, removal: Removal) -> None:
        verdict = Verdict(reason=Reason.EMPTY if removal.evicting_since is None else Reason.DRAINED)
        self.delete.append(
            DeleteInstances(group=removal.group, instances=(removal.provider_id,), nodes=(node.name,), verdict=verdict)
        )
        self.removals[node.name] = replace(removal, deleted_at=self._now)
        self.last_scale_down = self._now
        self.changes = changed(self.changes, [removal.group], shrunk=self._now)

    def _give_up(self, name: str, removal: Removal, why: str) -> None:
        self.restore.append(Restore(node=name, verdict=Verdict(reason=Reason.REMOVAL_FAILED, detail=why)))
        self.unremovable_until[name] = self._now + self._settings.unremovable_recheck
        self.last_failure = self._now
        self.changes = changed(self.changes, [removal.group], stuck=self._now)


def _minutes(span: timedelta) -> str:
    return f"{span.total_seconds() / 60:.0f} minutes"
