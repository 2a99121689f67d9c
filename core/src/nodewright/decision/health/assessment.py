"""The assessment of all groups, with which every decision begins."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nodewright.api.decision import DeleteInstances, Shrink
from nodewright.api.group import GroupFacts, GroupOptions
from nodewright.api.instance import ErrorClass, InstanceError
from nodewright.api.notice import Notice
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.availability import none_available
from nodewright.decision.health.backoff import TIMEOUT, Backoffs
from nodewright.decision.health.census import (
    AcceptableRange,
    Census,
    acceptable_range,
    cluster_trouble,
    group_trouble,
    take_census,
)
from nodewright.decision.health.group_errors import error_key
from nodewright.decision.health.orders import Orders
from nodewright.decision.health.readiness import Readiness, State, state_of
from nodewright.decision.memory import HealthMemory, OrderMemory, RemovalMemory, UnneededMemory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.objects import Node


@dataclass(frozen=True, kw_only=True)
class GroupHealth:
    """The health of one group."""

    facts: GroupFacts
    readiness: Readiness = field(default_factory=Readiness)
    #: How many nodes it should have.
    acceptable: AcceptableRange = field(default_factory=AcceptableRange)
    #: How many ordered nodes are not usable yet, with those that are starting.
    upcoming: int = 0
    #: How many nodes that it should have are not usable yet, whether or not they were ordered and are counted on.
    owed: int = 0
    #: Names of the nodes that are starting.
    starting: tuple[str, ...] = ()
    #: Why the group can't grow now; None if it can.
    blocked: Verdict | None = None

    @property
    def missing(self) -> int:
        """How many ordered nodes are not there at all yet."""
        return self.upcoming - len(self.starting)


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """The health of all groups, what has to be cleaned up in them, and what to remember."""

    groups: tuple[GroupHealth, ...]
    #: Of the whole cluster, with nodes that belong to no group.
    readiness: Readiness
    #: Why nothing else should be decided in this loop; None if all is well.
    halted: Verdict | None
    delete: tuple[DeleteInstances, ...]
    shrink: tuple[Shrink, ...]
    notices: tuple[Notice, ...]
    #: When a group may be asked again whose cloud asked for fewer calls; None if none waits.
    again: datetime | None
    #: Groups have their sizes after machines are given up and deleted.
    world: World
    memory: HealthMemory
    orders: OrderMemory
    unneeded: UnneededMemory

    @property
    def starting(self) -> frozenset[str]:
        """Names of all nodes that are starting."""
        return frozenset(name for group in self.groups for name in group.starting)


def assess(
    world: World,
    memory: HealthMemory,
    orders: OrderMemory,
    leaving: RemovalMemory,
    unneeded: UnneededMemory,
    policy: Policy,
    now: datetime,
) -> Assessment:
    """Return the health of every group at *now*. Groups that could not be read are left as they are."""
    news = [each for each in world.outcomes if each.not_before is not None and each.not_before > now]
    memory = memory.without_past_respites(now).respited(news)
    if replaced := {machine for machine, known in memory.incarnations.items() if world.is_another(machine, known)}:
        memory, nodes = memory.without(replaced), world.cluster.nodes
        unneeded = unneeded.without([name for name in nodes if nodes[name].spec.provider_id in replaced])
    assessor = _Assessor(world, memory, orders, leaving, policy, now)
    nodes_of = [(facts, world.nodes_of(facts.id)) for facts in world.groups]
    members = [(facts, assessor.census(facts, nodes), nodes) for facts, nodes in nodes_of]
    readiness = sum((census.readiness for _, census, _ in members), assessor.strangers())
    trouble = cluster_trouble(readiness, policy.settings.health)
    groups = tuple(
        assessor.frozen(facts, census) if facts.error else assessor.examine(facts, census, nodes, trouble)
        for facts, census, nodes in members
    )
    unhealthy_since = (memory.unhealthy_since or now) if trouble else None
    return Assessment(
        groups=groups,
        readiness=readiness,
        halted=trouble or assessor.corrected(),
        delete=tuple(assessor.cleanup.delete),
        shrink=tuple(assessor.shrink),
        notices=(_alarm(trouble, unhealthy_since),) if trouble and unhealthy_since else (),
        again=memory.respites_end,
        world=world.without(assessor.cleanup.delete, assessor.shrink),
        memory=memory.assessed(
            backoffs=assessor.backoffs.groups,
            pools=assessor.backoffs.pools,
            quotas=assessor.backoffs.quotas,
            shortages=assessor.orders.shortages,
            unregistered_since=assessor.unregistered_since,
            failed_since=assessor.failed_since,
            errors=assessor.errors,
            stopped_at=assessor.stopped_at,
            incarnations=assessor.incarnations(unneeded),
            unhealthy_since=unhealthy_since,
        ),
        orders=orders.followed(assessor.orders.requests),
        # After such a state, nodes have to be unneeded for the full time again.
        unneeded=unneeded.needed() if trouble else unneeded,
    )


class _Cleanup:
    """Gathers deletions of machines that will never be nodes.

    They leave every group its minimum, unless they are forced where settings ask for it and the provider can do it.
    """

    def __init__(self) -> None:
        self.delete: list[DeleteInstances] = []

    def add(self, facts: GroupFacts, instances: Sequence[str], verdict: Verdict, *, force: bool) -> None:
        """Delete as many of *instances* as the group's minimum allows; those that never came count for it as well."""
        force = force and facts.force_delete
        allowed = len(instances) if force else self._room(facts)
        if allowed > 0:
            chosen = tuple(instances[:allowed])
            self.delete.append(DeleteInstances(group=facts.id, instances=chosen, force=force, verdict=verdict))

    def add_whole(self, facts: GroupFacts, nodes: Sequence[Node], verdict: Verdict, *, force: bool) -> None:
        """Delete all machines of a group that is used whole or not at all, whether or not they are *nodes*; or none."""
        going = any(delete.group == facts.id for delete in self.delete)
        force = force and facts.force_delete
        name_of = {node.spec.provider_id: node.name for node in nodes}
        instances = tuple(each.id for each in facts.instances if each.state.counted)
        if not going and (force or len(instances) <= self._room(facts)):
            names = tuple(name_of.get(instance, instance) for instance in instances)
            self.delete.append(
                DeleteInstances(group=facts.id, instances=instances, nodes=names, force=force, verdict=verdict)
            )

    def _room(self, facts: GroupFacts) -> int:
        going = sum(len(delete.instances) for delete in self.delete if delete.group == facts.id)
        return facts.target_size - facts.min_size - going


class _Assessor:
    """Assesses one group after the other, and gathers what to do and to remember."""

    def __init__(
        self,
        world: World,
        memory: HealthMemory,
        orders: OrderMemory,
        leaving: RemovalMemory,
        policy: Policy,
        now: datetime,
    ) -> None:
        self._world = world
        self._policy = policy
        self._settings = policy.settings.health
        self._now = now
        self._memory = memory
        self._leaving = Counter(removal.group for removal in leaving.removals.values() if removal.deleted_at is None)
        self._corrected: list[str] = []
        self.backoffs = Backoffs(memory, self._settings.backoff, now)
        self.orders = Orders(orders.requests, memory.shortages, now)
        self.cleanup = _Cleanup()
        self.unregistered_since: dict[str, datetime] = {}
        self.failed_since: dict[str, datetime] = {}
        self.errors: dict[str, dict[str, datetime]] = {}
        self.stopped_at: dict[str, datetime] = {}
        self._any_stopped = bool(world.stopped or memory.stopped_at)
        self.shrink: list[Shrink] = []
        self.orders.forget_all_but({facts.id for facts in world.groups}, self._settings.max_node_provision_time)
        for outcome in world.outcomes:
            # A refused order leaves the group's size as it was, and is closed by that.
            if outcome.action == "grow" and not outcome.ok and not outcome.temporary:
                group, cause = outcome.target, outcome.cause or _unknown(outcome.error)
                self.backoffs.note(group, cause, world.group(group))

    def strangers(self) -> Readiness:
        """Return the readiness of the nodes that belong to no group."""
        options = GroupOptions(max_node_startup_time=self._settings.max_node_startup_time)
        return Readiness.of(
            [
                self._state_of(node, options)
                for name, node in self._world.cluster.nodes.items()
                if self._world.group_on(name) is None
            ]
        )

    def census(self, facts: GroupFacts, nodes: Sequence[Node]) -> Census:
        """Return the census of a group with *nodes*."""
        return take_census(facts, nodes, self._memory.unregistered_since, self._now, self._state_of)

    def frozen(self, facts: GroupFacts, census: Census) -> GroupHealth:
        """Leave the group as it is. Its open order is waited for as long as if the group could be read."""
        known = {instance.id for instance in facts.instances}
        for seen, kept in (
            (self._memory.unregistered_since, self.unregistered_since),
            (self._memory.failed_since, self.failed_since),
        ):
            kept |= {key: since for key, since in seen.items() if key in known}
        if facts.id in self._memory.errors:
            self.errors[facts.id] = self._memory.errors[facts.id]
        self.orders.freeze(facts.id)
        patience = facts.options.max_node_provision_time
        request = self.orders.requests.get(facts.id)
        awaited = request is not None and request.ours and self._now - request.at <= patience
        return GroupHealth(
            facts=facts,
            readiness=census.readiness,
            upcoming=(len(census.starting) + (census.missing if awaited else 0)) if request else 0,
            starting=census.starting if request else (),
            blocked=Verdict(reason=Reason.GROUP_FAULTY, detail=facts.error),
        )

    def examine(
        self, facts: GroupFacts, census: Census, nodes: Sequence[Node], cluster_trouble: Verdict | None
    ) -> GroupHealth:
        """Clean up in a group and return its health. While the cluster is unhealthy, only overdue machines go."""
        patience = facts.options.max_node_provision_time
        self.unregistered_since |= census.unregistered_since
        may_shrink = facts.pause is None or facts.pause.shrinks
        if may_shrink:
            self._clear_overdue(facts, census, nodes)
        self._note_failed(facts, census)
        self._note_errors(facts)
        if cluster_trouble is None and may_shrink:
            self._clear_failed(facts, census, nodes)
        self.orders.follow(facts.id, census)
        if not may_shrink:
            # What never came is not waited for any more, and nobody is told.
            self.orders.overdue(facts.id, census, patience)
        elif self._memory.respite(facts.id, "shrink") is not None:
            # What never came is given up when the cloud may be told.
            self.orders.freeze(facts.id)
        elif refused := self.orders.refused(facts.id, census, self._failing_since(facts)):
            self._give_up(facts, refused, Verdict(reason=Reason.CREATE_FAILED, detail=str(facts.errors[0])))
        elif lost := self._lost(facts, census, patience, cluster_trouble):
            self._give_up(facts, lost, Verdict(reason=Reason.UNMET_TARGET))
            self.backoffs.note(facts.id, TIMEOUT, facts)
        request = self.orders.requests.get(facts.id)
        wanted = acceptable_range(
            facts,
            census.readiness,
            failed=len(census.failed),
            in_flight=request.count if request else 0,
            leaving=self._leaving[facts.id],
        )
        # The open order of a backed-off group may never be filled: only machines that exist already are waited for.
        certain = request is None or not request.ours or self.backoffs.runs(facts.id)
        expected = census.missing - census.unmet if certain else census.missing
        return GroupHealth(
            facts=facts,
            readiness=census.readiness,
            acceptable=wanted,
            upcoming=len(census.starting) + max(0, expected) if request else 0,
            owed=len(census.starting) + census.missing,
            starting=census.starting if request else (),
            blocked=self._blocked(facts, census, wanted),
        )

    def corrected(self) -> Verdict | None:
        """Return which groups' sizes were corrected, if any were: the next loop sees the result."""
        if not self._corrected:
            return None
        return Verdict(reason=Reason.SIZES_CORRECTED, detail=", ".join(self._corrected))

    def incarnations(self, unneeded: UnneededMemory) -> dict[str, str]:
        """Return which machines are meant by the ids that are remembered, here and for *unneeded* nodes."""
        known = {**self._memory.incarnations, **self._world.incarnations}
        if not known:
            return {}
        nodes = self._world.cluster.nodes
        ids = {nodes[name].spec.provider_id for name in unneeded.since if name in nodes}
        ids |= self.unregistered_since.keys() | self.failed_since.keys() | self.stopped_at.keys()
        return {id_: known[id_] for id_ in sorted(ids) if id_ in known}

    def _state_of(self, node: Node, options: GroupOptions) -> State:
        patience = options.max_node_startup_time
        state = state_of(node, self._world, self._policy.settings.templates, patience, self._now)
        if not self._any_stopped:
            return state
        machine = node.spec.provider_id
        if machine in self._world.stopped:
            self.stopped_at[machine] = self._now
        elif (last := self._memory.stopped_at.get(machine)) is not None and self._now - last < patience:
            # Its machine has only just been started again.
            self.stopped_at[machine] = last
            return state if state is State.READY else State.NOT_STARTED
        return state

    def _note_failed(self, facts: GroupFacts, census: Census) -> None:
        """Back off for machines that have newly failed. Those that can't be deleted count only once."""
        seen = self._memory.failed_since
        fresh = [instance for instance in census.failed if instance.id not in seen]
        for cause in dict.fromkeys(instance.error or _unknown("") for instance in reversed(fresh)):
            self.backoffs.note(facts.id, cause, facts)
        self.orders.failed(facts.id, len(fresh))
        self.failed_since |= {instance.id: seen.get(instance.id, self._now) for instance in census.failed}

    def _note_errors(self, facts: GroupFacts) -> None:
        """Back off for what newly keeps machines from coming. It counts once, until it is gone."""
        seen = self._memory.errors.get(facts.id, {})
        by_key = {error_key(error): error for error in reversed(facts.errors)}
        for key, error in by_key.items():
            if key not in seen:
                self.backoffs.note(facts.id, error, facts)
        if by_key:
            self.errors[facts.id] = {key: seen.get(key, self._now) for key in by_key}

    def _failing_since(self, facts: GroupFacts) -> datetime | None:
        """Return since when the latest of what keeps machines from coming is known; None if nothing does."""
        return max(self.errors.get(facts.id, {}).values(), default=None)

    def _clear_failed(self, facts: GroupFacts, census: Census, nodes: Sequence[Node]) -> None:
        if census.failed:
            verdict = Verdict(reason=Reason.CREATE_FAILED, detail=str(census.failed[0].error or _unknown("")))
            failed = [instance.id for instance in census.failed]
            self._delete(facts, failed, nodes, verdict, force=self._settings.force_delete_failed)

    def _clear_overdue(self, facts: GroupFacts, census: Census, nodes: Sequence[Node]) -> None:
        if census.overdue:
            verdict = Verdict(reason=Reason.NEVER_REGISTERED)
            force = self._settings.force_delete_unregistered
            self._delete(facts, census.overdue, nodes, verdict, force=force)
            self.backoffs.note(facts.id, TIMEOUT, facts)

    def _delete(
        self,
        facts: GroupFacts,
        instances: Sequence[str],
        nodes: Sequence[Node],
        verdict: Verdict,
        *,
        force: bool,
    ) -> None:
        if self._memory.respite(facts.id, "delete-instances") is not None:
            return
        if facts.options.in_one_piece:
            self.cleanup.add_whole(facts, nodes, verdict, force=force)
        else:
            self.cleanup.add(facts, instances, verdict, force=force)

    def _lost(self, facts: GroupFacts, census: Census, patience: timedelta, cluster_trouble: Verdict | None) -> int:
        """Return how many machines never came and are to be given up."""
        lost = self.orders.overdue(facts.id, census, patience)
        if self.orders.short(facts, census, patience) and cluster_trouble is None:
            self._corrected.append(facts.id)
            return census.unmet
        return lost

    def _give_up(self, facts: GroupFacts, count: int, verdict: Verdict) -> None:
        self.shrink.append(Shrink(group=facts.id, count=count, verdict=verdict))

    def _blocked(self, facts: GroupFacts, census: Census, wanted: AcceptableRange) -> Verdict | None:
        """Return the first reason against growth, in Cluster Autoscaler's order."""
        if facts.pause is not None:
            return Verdict(reason=Reason.GROUP_PAUSED, detail=facts.pause.why)
        trouble = (
            group_trouble(facts, census.readiness, wanted, self._settings)
            or self.backoffs.against(facts)
            or self._respite(facts)
        )
        if trouble is not None:
            return trouble
        if facts.target_size >= facts.max_size:
            return Verdict(reason=Reason.GROUP_AT_MAX, detail=f"{facts.target_size} of {facts.max_size}")
        if facts.template is None:
            return Verdict(reason=Reason.GROUP_NO_TEMPLATE)
        return none_available(facts)

    def _respite(self, facts: GroupFacts) -> Verdict | None:
        until = self._memory.respite(facts.id, "grow")
        return None if until is None else Verdict(reason=Reason.GROUP_THROTTLED, detail=f"until {until:%H:%M:%S}")


def _unknown(message: str) -> InstanceError:
    return InstanceError(error_class=ErrorClass.OTHER, code="cloudProviderError", message=message)


def _alarm(trouble: Verdict, since: datetime) -> Notice:
    # The time makes the notice a new one each time that the cluster becomes unhealthy.
    return Notice(
        reason=trouble.reason.value, message=f"Cluster is unhealthy: {trouble.detail}, since {since:%Y-%m-%d %H:%M:%S}"
    )
