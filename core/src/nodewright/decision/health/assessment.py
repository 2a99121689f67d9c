"""The assessment that every decision starts with."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.decision import DeleteInstances, Shrink
from nodewright.api.group import GroupFacts, GroupOptions
from nodewright.api.instance import ErrorClass, InstanceError
from nodewright.api.notice import Notice
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.health.acceptable import AcceptableRange, acceptable_range, cluster_trouble, group_trouble
from nodewright.decision.health.backoff import TIMEOUT, Backoffs
from nodewright.decision.health.census import Census, take_census
from nodewright.decision.health.cleanup import Cleanup
from nodewright.decision.health.orders import Orders
from nodewright.decision.health.readiness import Readiness, State, state_of
from nodewright.decision.memory import HealthMemory, OrderMemory, RemovalMemory, UnneededMemory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.objects import Node


@dataclass(frozen=True, kw_only=True)
class GroupHealth:
    """One group, as it is now."""

    facts: GroupFacts
    readiness: Readiness = field(default_factory=Readiness)
    #: How many nodes it should have.
    acceptable: AcceptableRange = field(default_factory=AcceptableRange)
    #: Nodes that were ordered and are not usable yet, those that are starting included.
    upcoming: int = 0
    #: Names of the nodes that are starting.
    starting: tuple[str, ...] = ()
    #: Why the group can't grow now, if so.
    blocked: Verdict | None = None


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """All groups, what has to be cleaned up in them, and what to remember of them."""

    groups: tuple[GroupHealth, ...]
    #: Of the whole cluster, with nodes that belong to no group.
    readiness: Readiness
    #: Why nothing else should be decided in this loop, if so.
    halted: Verdict | None
    delete: tuple[DeleteInstances, ...]
    shrink: tuple[Shrink, ...]
    notices: tuple[Notice, ...]
    #: Groups have the sizes that are left when machines are given up and deleted.
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
    """Return how every group is at *now*. Groups that could not be read are left as they are."""
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
        world=world.without(assessor.cleanup.delete, assessor.shrink),
        memory=HealthMemory(
            backoffs=assessor.backoffs.groups,
            pools=assessor.backoffs.pools,
            shortages=assessor.orders.shortages,
            unregistered_since=assessor.unregistered_since,
            failed_since=assessor.failed_since,
            unhealthy_since=unhealthy_since,
        ),
        orders=orders.followed(assessor.orders.requests),
        # A node that comes back from such a state has to prove anew that it is not needed.
        unneeded=unneeded.needed() if trouble else unneeded,
    )


class _Assessor:
    """Goes from group to group and gathers what is to be done and remembered."""

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
        self.backoffs = Backoffs(memory.backoffs, memory.pools, self._settings.backoff, now)
        self.orders = Orders(orders.requests, memory.shortages, now)
        self.cleanup = Cleanup()
        self.unregistered_since: dict[str, datetime] = {}
        self.failed_since: dict[str, datetime] = {}
        self.shrink: list[Shrink] = []
        self.orders.forget_all_but({facts.id for facts in world.groups}, self._settings.max_node_provision_time)
        for outcome in world.outcomes:
            # An order that was refused left the group's size as it was, and is closed by that.
            if outcome.action == "grow" and not outcome.ok and not outcome.temporary:
                group, cause = outcome.target, outcome.cause or _unknown(outcome.error)
                facts = world.group(group)
                self.backoffs.note(group, facts.provider if facts else "", cause)

    def strangers(self) -> Readiness:
        """Count the nodes that belong to no group."""
        options = GroupOptions(max_node_startup_time=self._settings.max_node_startup_time)
        return Readiness.of(
            [
                self._state_of(node, options)
                for name, node in self._world.cluster.nodes.items()
                if self._world.group_on(name) is None
            ]
        )

    def census(self, facts: GroupFacts, nodes: Sequence[Node]) -> Census:
        options = facts.options
        return take_census(facts, nodes, options, self._memory.unregistered_since, self._now, self._state_of)

    def frozen(self, facts: GroupFacts, census: Census) -> GroupHealth:
        """Leave the group as it is; what it was asked for is waited for as long as if it could be read."""
        known = {instance.id for instance in facts.instances}
        for seen, kept in (
            (self._memory.unregistered_since, self.unregistered_since),
            (self._memory.failed_since, self.failed_since),
        ):
            kept |= {key: since for key, since in seen.items() if key in known}
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
        """Clean up in a group and return how it is; while the cluster is in trouble, only what is overdue goes."""
        options = facts.options
        self.unregistered_since |= census.unregistered_since
        self._clear_overdue(facts, census, nodes, options)
        self._note_failed(facts, census)
        if cluster_trouble is None:
            self._clear_failed(facts, census, nodes, options)
        self.orders.follow(facts.id, census)
        lost = self.orders.overdue(facts.id, census, options.max_node_provision_time)
        if self.orders.short(facts, census, options.max_node_provision_time) and cluster_trouble is None:
            self._corrected.append(facts.id)
            lost = census.unmet
        if lost:
            self._give_up(facts, lost)
        request = self.orders.requests.get(facts.id)
        wanted = acceptable_range(
            facts,
            census.readiness,
            failed=len(census.failed),
            in_flight=request.count if request else 0,
            leaving=self._leaving[facts.id],
        )
        # What a backed-off group was asked for may never come: only machines that are there already are waited for.
        certain = request is None or not request.ours or self.backoffs.runs(facts.id)
        expected = census.missing - census.unmet if certain else census.missing
        return GroupHealth(
            facts=facts,
            readiness=census.readiness,
            acceptable=wanted,
            upcoming=len(census.starting) + max(0, expected) if request else 0,
            starting=census.starting if request else (),
            blocked=self._blocked(facts, census, wanted),
        )

    def corrected(self) -> Verdict | None:
        """Return which groups' sizes were corrected, if any were: the next loop sees what the cloud made of it."""
        if not self._corrected:
            return None
        return Verdict(reason=Reason.SIZES_CORRECTED, detail=", ".join(self._corrected))

    def _state_of(self, node: Node, options: GroupOptions) -> State:
        return state_of(node, self._world, self._policy.settings.templates, options.max_node_startup_time, self._now)

    def _note_failed(self, facts: GroupFacts, census: Census) -> None:
        """Back off for machines that are new among the failed; those that can't be deleted fail only once."""
        seen = self._memory.failed_since
        fresh = [instance for instance in census.failed if instance.id not in seen]
        for cause in dict.fromkeys(instance.error or _unknown("") for instance in reversed(fresh)):
            self.backoffs.note(facts.id, facts.provider, cause)
        self.orders.failed(facts.id, len(fresh))
        self.failed_since |= {instance.id: seen.get(instance.id, self._now) for instance in census.failed}

    def _clear_failed(self, facts: GroupFacts, census: Census, nodes: Sequence[Node], options: GroupOptions) -> None:
        if census.failed:
            cause = census.failed[0].error or _unknown("")
            detail = f"{cause.code}: {cause.message}" if cause.message else cause.code
            verdict = Verdict(reason=Reason.CREATE_FAILED, detail=detail)
            failed = [instance.id for instance in census.failed]
            self._delete(facts, failed, nodes, options, verdict, force=self._settings.force_delete_failed)

    def _clear_overdue(self, facts: GroupFacts, census: Census, nodes: Sequence[Node], options: GroupOptions) -> None:
        if census.overdue:
            verdict = Verdict(reason=Reason.NEVER_REGISTERED)
            force = self._settings.force_delete_unregistered
            self._delete(facts, census.overdue, nodes, options, verdict, force=force)
            self.backoffs.note(facts.id, facts.provider, TIMEOUT)

    def _delete(
        self,
        facts: GroupFacts,
        instances: Sequence[str],
        nodes: Sequence[Node],
        options: GroupOptions,
        verdict: Verdict,
        *,
        force: bool,
    ) -> None:
        if options.in_one_piece:
            self.cleanup.add_whole(facts, nodes, verdict, force=force)
        else:
            self.cleanup.add(facts, instances, verdict, force=force)

    def _give_up(self, facts: GroupFacts, count: int) -> None:
        self.shrink.append(Shrink(group=facts.id, count=count, verdict=Verdict(reason=Reason.UNMET_TARGET)))
        self.backoffs.note(facts.id, facts.provider, TIMEOUT)

    def _blocked(self, facts: GroupFacts, census: Census, wanted: AcceptableRange) -> Verdict | None:
        """Return the first reason that speaks against growth, in Cluster Autoscaler's order."""
        trouble = group_trouble(facts, census.readiness, wanted, self._settings) or self.backoffs.against(facts)
        if trouble is not None:
            return trouble
        if facts.target_size >= facts.max_size:
            return Verdict(reason=Reason.GROUP_AT_MAX, detail=f"{facts.target_size} of {facts.max_size}")
        return Verdict(reason=Reason.GROUP_NO_TEMPLATE) if facts.template is None else None


def _unknown(message: str) -> InstanceError:
    return InstanceError(error_class=ErrorClass.OTHER, code="cloudProviderError", message=message)


def _alarm(trouble: Verdict, since: datetime) -> Notice:
    # The time makes it another notice each time that the cluster falls ill.
    return Notice(
        reason=trouble.reason.value, message=f"Cluster is unhealthy: {trouble.detail}, since {since:%Y-%m-%d %H:%M:%S}"
    )
