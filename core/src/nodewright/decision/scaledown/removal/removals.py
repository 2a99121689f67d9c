"""Removals under way: each loop takes the next step of every one.

Nothing waits in a thread. A removal goes on from the taint on the node and an entry in memory. If a process is killed
in any step, the next one finishes the removal (with memory) or undoes it (without).
"""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nodewright.api.decision import DeleteInstances, Evict, Restore
from nodewright.api.notice import Notice
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.decision.memory import CooldownMemory, HealthMemory, Removal, RemovalMemory, UnneededMemory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.decision.scaledown.removal.batches import Batches
from nodewright.decision.scaledown.removal.leftovers import Leftovers
from nodewright.decision.scaledown.removal.outcomes import RemovalOutcomes
from nodewright.decision.scaledown.removal.waves import Wave, daemons_to_evict, next_wave
from nodewright.decision.scaledown.selection.protection import pause_of, protection
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.objects.node import TO_BE_DELETED

_DELAY_DELETION = "delay-deletion.cluster-autoscaler.kubernetes.io/"
#: How long the mark of a node may take to be seen.
_MARK_TIME = timedelta(minutes=2)
#: How long a node may stay after its machine was deleted before we stop waiting for it.
_VANISH_TIME = timedelta(minutes=15)
#: How long a pod may take to end beyond its grace period.
_GRACE_HEADROOM = timedelta(seconds=30)
_RETRY_EVICTION = timedelta(seconds=10)
#: How often to look whether pods have ended, or what delays a deletion is gone.
_LOOK_AGAIN = timedelta(seconds=5)


@dataclass(frozen=True, kw_only=True)
class RemovalPlan:
    """The next step of every removal under way."""

    restore: tuple[Restore, ...]
    evict: tuple[Evict, ...]
    delete: tuple[DeleteInstances, ...]
    #: Groups have the sizes that are left when machines are deleted.
    world: World
    memory: RemovalMemory
    unneeded: UnneededMemory
    cooldown: CooldownMemory
    #: When the next step is due; None if no step waits for a time.
    again: datetime | None = None
    notices: tuple[Notice, ...] = ()


def advance_removals(
    world: World,
    memory: RemovalMemory,
    health: HealthMemory,
    unneeded: UnneededMemory,
    cooldown: CooldownMemory,
    policy: Policy,
    now: datetime,
) -> RemovalPlan:
    """Return what to do next for each node that is being removed."""
    steps = _Steps(world, memory, health, policy, now)
    for name, removal in memory.removals.items():
        steps.advance(name, removal)
    steps.keep_minimums()
    steps.roll_back_by_group()
    steps.delete_batches()
    steps.find_leftovers()
    return RemovalPlan(
        restore=tuple(steps.restore.values()),
        evict=tuple(steps.evict.values()),
        delete=tuple(steps.batches.delete),
        again=steps.again,
        notices=tuple(steps.notices),
        world=world.without(steps.batches.delete),
        memory=memory.advanced(steps.removals),
        unneeded=unneeded.unremovable(steps.failed, now + policy.settings.scale_down.unremovable_recheck),
        cooldown=cooldown.among(facts.id for facts in world.groups)
        .shrunk([delete.group for delete in steps.batches.delete], now)
        .stuck([memory.removals[name].group for name in steps.failed], now),
    )


class _Steps:
    """Gathers the next steps."""

    def __init__(
        self, world: World, memory: RemovalMemory, health: HealthMemory, policy: Policy, now: datetime
    ) -> None:
        self._world = world
        self._settings = policy.settings.scale_down
        self._now = now
        self._before = memory.removals
        self._stopped_at = health.stopped_at
        self._outcomes = RemovalOutcomes(world.outcomes, memory.removals)
        self._drainability = Drainability(world, policy, now)
        self._leftovers = Leftovers(world)
        self.batches = Batches(world=world, health=health, interval=self._settings.deletion_batch_interval, now=now)
        self.restore: dict[str, Restore] = {}
        self.evict: dict[str, Evict] = {}
        self.removals: dict[str, Removal] = {}
        #: Why removals failed in this loop, by node.
        self.failed: dict[str, str] = {}
        self.again: datetime | None = None
        self.notices: list[Notice] = []

    def advance(self, name: str, removal: Removal) -> None:
        """Take the next step of one removal. A removal whose node has gone is over."""
        node = self._world.cluster.nodes.get(name)
        if node is None or node.spec.provider_id != removal.provider_id or self._is_another(removal):
            if removal.deleted_at is None and removal.ours:
                self._note_vanished(name, removal)
            return
        if not removal.ours:
            self._watch(node, removal)
            return
        removal = self._outcomes.applied(name, removal)
        if removal.deleted_at is not None:
            self._follow_deletion(node, removal)
        elif removal.provider_id in self._world.deleting:
            # Another actor deletes the machine: the node can't be kept any more.
            self.removals[name] = replace(removal, deleted_at=self._now)
        elif removal.put_off and self._leftovers.may_be_going(node):
            # The cloud may have begun all the same. It is asked once more when it can be read.
            self.removals[name] = removal
        elif trouble := self._outcomes.unmarked(name, removal) or self._objection(node, removal):
            self._give_up(name, trouble)
        elif node.taint(TO_BE_DELETED) is None:
            self._await_mark(name, removal)
        elif self._now < (settled := removal.started + self._delay_after_taint):
            self._keep(name, removal, until=settled)
        else:
            self._empty(node, removal)

    def _is_another(self, removal: Removal) -> bool:
        """Tell whether another machine has the id by now: the cloud made one anew, or started one that it stopped."""
        machine = removal.provider_id
        if self._world.is_another(machine, removal.incarnation):
            return True
        return removal.deleted_at is not None and machine in self._stopped_at and machine not in self._world.stopped

    def keep_minimums(self) -> None:
        """Give up removals in groups that can spare fewer nodes by now than are to go: those that began last."""
        going = Counter[str]()
        for name, removal in list(self.removals.items()):
            if removal.deleted_at is None:
                facts = self._world.group(removal.group)
                assert facts is not None, "a removal in a group that is gone was given up"
                going[facts.id] += 1
                if removal.ours and going[facts.id] > facts.target_size - facts.min_size:
                    self._give_up(name, f"its group is at its minimum size {facts.min_size} by now")

    def roll_back_by_group(self) -> None:
        """Give up all removals in a group that goes as a whole or not at all, if one of them failed."""
        for failed, why in list(self.failed.items()):
            group = self._before[failed].group
            facts = self._world.group(group)
            if facts is None or not facts.options.zero_or_max_node_scaling:
                continue
            for name, removal in list(self.removals.items()):
                if removal.group == group and removal.deleted_at is None:
                    self._give_up(name, f"its group goes as a whole, and {failed} stays: {why}")

    def delete_batches(self) -> None:
        """Delete the batches that are complete."""
        for name in self.failed:
            self.batches.drop(name)
        self.batches.close(self.removals)
        self._come_back(self.batches.again)

    def find_leftovers(self) -> None:
        """Take off marks that belong to no removal, and follow deletions that an earlier process ordered."""
        for node in list(self._leftovers.of(self.removals)):
            name = node.name
            if name in self.restore or name in self._outcomes.restored:
                continue
            if node.spec.provider_id in self._world.deleting:
                self.removals[name] = Removal(
                    group=self._world.group_of[name],
                    provider_id=node.spec.provider_id,
                    incarnation=self._world.incarnations.get(node.spec.provider_id, ""),
                    started=self._now,
                    deleted_at=self._now,
                )
            elif not self._leftovers.may_be_going(node):
                self.restore[name] = Restore(node=name, verdict=Verdict(reason=Reason.LEFTOVER))

    @property
    def _delay_after_taint(self) -> timedelta:
        seen_after = self._world.taint_latency
        if self._settings.dynamic_delay_after_taint and seen_after is not None:
            return 2 * seen_after
        return self._settings.delay_after_taint

    def _objection(self, node: Node, removal: Removal) -> str:
        """Return why *node* has to stay after all, whether or not its pods have left; empty if it may go."""
        group = self._world.group(removal.group)
        if group is None or self._world.group_of.get(node.name) != removal.group:
            return f"it is no node of group {removal.group} any more"
        if node.spec.provider_id in self._world.stopped:
            return "its machine is stopped"
        staying = pause_of(group) or protection(node, self._now)
        return "" if staying is None else str(staying)

    def _follow_deletion(self, node: Node, removal: Removal) -> None:
        assert removal.deleted_at is not None
        if removal.error and not self._leftovers.may_be_going(node):
            self._give_up(node.name, f"its machine could not be deleted: {removal.error}")
        elif self._leftovers.may_be_going(node) or self._now - removal.deleted_at < _VANISH_TIME:
            self.removals[node.name] = removal

    def _watch(self, node: Node, removal: Removal) -> None:
        """Leave the removal to the autoscaler that began it: it is over when the mark is gone."""
        if node.taint(TO_BE_DELETED) is not None and self._world.group(removal.group) is not None:
            drains = removal.drains or bool(self._drainability.of(node.name, budgets_block=False).move)
            self.removals[node.name] = replace(removal, drains=drains)

    def _await_mark(self, name: str, removal: Removal) -> None:
        begun = removal.evicting_since is not None or removal.emptied_at is not None
        if begun or self._now - removal.started >= _MARK_TIME:
            self._give_up(name, f"its taint {TO_BE_DELETED} is not there")
        else:
            settled = removal.started + self._delay_after_taint
            self._keep(name, removal, until=max(settled, self._now + timedelta(seconds=1)))

    def _empty(self, node: Node, removal: Removal) -> None:
        """Get the pods off *node*, and let it go once it has none left that have to move."""
        # A spent budget only delays a drain that has begun: the API server refuses the evictions.
        begun = removal.evicting_since is not None or removal.emptied_at is not None
        drainable = self._drainability.of(node.name, budgets_block=not begun)
        if drainable.blocker is not None:
            self._give_up(node.name, str(drainable.blocker))
        elif drainable.waits:
            self._give_up(node.name, f"{drainable.waits[0].key} has to complete before")
        elif drainable.move and not removal.drains:
            self._give_up(node.name, f"{drainable.move[0].key} came to it when it was empty")
        else:
            self._clear(node, removal, drainable.move, drainable.daemons)

    def _clear(self, node: Node, removal: Removal, move: tuple[PodRow, ...], daemons: tuple[PodRow, ...]) -> None:
        settings = self._settings
        default = settings.evict_daemonsets if removal.drains else settings.evict_daemonsets_from_empty_nodes
        daemons = daemons_to_evict(daemons, default, removal.started)
        wave = next_wave(move, daemons if removal.drains else (), settings)
        if wave is not None and (removal.evicting != wave.priority or removal.emptied_at is not None):
            fresh = replace(
                removal, evicting=wave.priority, evicting_since=self._now, refusal="", emptied_at=None, ready_at=None
            )
            self._evict(node.name, fresh, wave, (*self._staying(wave), *wave.along))
        elif wave is not None:
            self._wait(node.name, removal, wave)
        elif daemons and not removal.drains and removal.emptied_at is None:
            along = Wave(pods=(), along=daemons, longest=settings.max_graceful_termination)
            self._evict(node.name, replace(removal, emptied_at=self._now), along, along.along)
            self._come_back(self._now)
        else:
            self._let_go(node, removal)

    def _wait(self, name: str, removal: Removal, wave: Wave) -> None:
        """Wait until the pods of *wave* have gone. Evictions that were refused are tried again."""
        since = removal.evicting_since or self._now
        waited = self._now - since
        staying = self._staying(wave)
        refusals = (self._outcomes.refusals.get(row.key) for row in staying)
        removal = replace(removal, refusal=next(filter(None, refusals), removal.refusal))
        stuck = next((row for row in wave.pods if row not in staying and self._is_stuck(row, wave, since)), None)
        if staying and waited > self._settings.max_pod_eviction_time:
            why = f": {removal.refusal}" if removal.refusal else ""
            self._give_up(name, f"{staying[0].key} could not be evicted in {_spelled(waited)}{why}")
        elif stuck is not None:
            self._give_up(name, f"{stuck.key} did not end in {_spelled(waited)}")
        elif staying and (removal.evicted_at is None or self._now - removal.evicted_at >= _RETRY_EVICTION):
            self._evict(name, removal, wave, staying)
        else:
            self._keep(name, removal, until=self._now + _LOOK_AGAIN)

    def _staying(self, wave: Wave) -> tuple[PodRow, ...]:
        """Return the pods that are not ending yet, or that another actor lets end much later."""
        now = self._now
        return tuple(
            row for row in wave.pods if row.deleted is None or row.deleted > now + wave.grace(row) + _GRACE_HEADROOM
        )

    def _is_stuck(self, row: PodRow, wave: Wave, since: datetime) -> bool:
        # The API server sets the time of deletion to when the grace ends.
        due = since + wave.grace(row)
        return self._now > max(row.deleted or due, due) + _GRACE_HEADROOM

    def _evict(self, name: str, removal: Removal, wave: Wave, pods: tuple[PodRow, ...]) -> None:
        if pods:
            graces = {row.key: int(wave.grace(row).total_seconds()) for row in pods}
            uids = {row.key: row.uid for row in pods if row.uid}
            daemons = sum(row.pod_class.pod.is_daemon for row in pods)
            self.evict[name] = Evict(node=name, pods=graces, uids=uids, daemons=daemons)
        self._keep(name, replace(removal, evicted_at=self._now), until=self._now + _LOOK_AGAIN)

    def _let_go(self, node: Node, removal: Removal) -> None:
        """Put *node* into the batch of its group, unless an annotation delays that."""
        emptied = removal.emptied_at or self._now
        removal = replace(removal, emptied_at=emptied)
        patience = emptied + self._settings.deletion_delay_timeout
        if self._now < patience and any(key.startswith(_DELAY_DELETION) for key in node.metadata.annotations):
            self._keep(node.name, replace(removal, ready_at=None), until=min(patience, self._now + _LOOK_AGAIN))
        else:
            self.removals[node.name] = removal = replace(removal, ready_at=removal.ready_at or self._now)
            self.batches.add(node.name, removal)

    def _give_up(self, name: str, why: str) -> None:
        self.removals.pop(name, None)
        self.evict.pop(name, None)
        self.failed[name] = why
        self.restore[name] = Restore(node=name, verdict=Verdict(reason=Reason.REMOVAL_FAILED, detail=why))

    def _note_vanished(self, name: str, removal: Removal) -> None:
        message = f"node {name} of {removal.group} went before its removal was done: somebody else has deleted it"
        self.notices.append(Notice(reason="NodeVanished", message=message, warning=False))

    def _keep(self, name: str, removal: Removal, *, until: datetime) -> None:
        self.removals[name] = removal
        self._come_back(until)

    def _come_back(self, at: datetime | None) -> None:
        if at is not None:
            self.again = min(at, self.again or at)


def _spelled(span: timedelta) -> str:
    seconds = span.total_seconds()
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
