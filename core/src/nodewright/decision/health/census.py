"""The census of a group: what has become of its machines, and whether there are as many as there should be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from nodewright.api.group import GroupFacts, GroupOptions
from nodewright.api.instance import Instance, InstanceState
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.model import Health
from nodewright.decision.health.readiness import Readiness, State
from nodewright.objects import Node

#: Of machines that the target does not count.
_UNCOUNTED = frozenset(state for state in InstanceState if not state.counted)


@dataclass(frozen=True, kw_only=True)
class Census:
    """The machines of one group."""

    readiness: Readiness
    #: Nodes that registered a short time ago and are not ready yet.
    starting: tuple[str, ...]
    #: Machines that the cloud says will never come.
    failed: tuple[Instance, ...]
    #: When each machine that is no node yet was first seen.
    unregistered_since: Mapping[str, datetime]
    #: Those of them whose time is over.
    overdue: tuple[str, ...]
    #: Machines that are wanted, but are neither nodes nor given up.
    missing: int
    #: Machines that are wanted, but do not even exist.
    unmet: int


@dataclass(frozen=True, kw_only=True)
class AcceptableRange:
    """How many nodes a group should have now. The words are Cluster Autoscaler's."""

    #: Without those that are on their way or will never come.
    min: int = 0
    #: With those that are about to be removed.
    max: int = 0


def take_census(
    facts: GroupFacts,
    nodes: Sequence[Node],
    seen: Mapping[str, datetime],
    now: datetime,
    state_of: Callable[[Node, GroupOptions], State],
) -> Census:
    """Return the census of a group with *nodes*. *seen* is when each unregistered machine was first seen."""
    leaving = {instance.id for instance in facts.instances if instance.state in _UNCOUNTED}
    listed = {instance.id for instance in facts.instances}
    states: list[State] = []
    for node in nodes:
        machine, state = node.spec.provider_id, state_of(node, facts.options)
        # A node in service may be younger than what is known from the cloud.
        gone = machine in leaving or (machine not in listed and state is not State.READY)
        states.append(State.BEING_DELETED if gone else state)
    readiness = Readiness.of(states)
    staying = readiness.registered - readiness.being_deleted
    known = leaving | {node.spec.provider_id for node in nodes}
    unborn = [instance for instance in facts.instances if instance.id not in known]
    failed = tuple(instance for instance in unborn if instance.error is not None)
    unregistered = {instance.id: seen.get(instance.id, now) for instance in unborn if instance.error is None}
    overdue = tuple(key for key, since in unregistered.items() if now - since > facts.options.max_node_provision_time)
    return Census(
        readiness=replace(readiness, unregistered=len(unregistered) - len(overdue), long_unregistered=len(overdue)),
        starting=tuple(node.name for node, state in zip(nodes, states, strict=True) if state is State.NOT_STARTED),
        failed=failed,
        unregistered_since=unregistered,
        overdue=overdue,
        missing=max(0, facts.target_size - staying - len(failed) - len(overdue)),
        unmet=max(0, facts.target_size - staying - len(unborn)),
    )


def acceptable_range(
    facts: GroupFacts, readiness: Readiness, *, failed: int, in_flight: int, leaving: int
) -> AcceptableRange:
    """Return how many nodes the group should have, while *in_flight* are on their way and *leaving* are going."""
    lost = readiness.long_unregistered + failed
    return AcceptableRange(
        min=max(0, facts.target_size - lost - in_flight),
        max=facts.target_size + leaving,
    )


def group_trouble(facts: GroupFacts, readiness: Readiness, wanted: AcceptableRange, settings: Health) -> Verdict | None:
    """Return why too few of the group's nodes are in service for it to get more; None if enough are."""
    if not (readiness.registered or readiness.unregistered or readiness.long_unregistered):
        if not facts.target_size or not wanted.min:
            return None
        return Verdict(reason=Reason.GROUP_UNHEALTHY, detail=f"none of {wanted.min} nodes is there")
    in_service = readiness.ready + readiness.suspended
    if not _too_many(wanted.min - in_service, readiness.registered, settings):
        return None
    return Verdict(reason=Reason.GROUP_UNHEALTHY, detail=f"{in_service} of {wanted.min} nodes are in service")


def cluster_trouble(readiness: Readiness, settings: Health) -> Verdict | None:
    """Return why nothing should be done in the cluster; None if it is healthy."""
    if not _too_many(readiness.unready, readiness.registered, settings):
        return None
    detail = f"{readiness.unready} of {readiness.registered} are unready"
    return Verdict(reason=Reason.CLUSTER_UNHEALTHY, detail=detail)


def _too_many(bad: int, nodes: int, settings: Health) -> bool:
    return bad > settings.ok_total_unready_count and bad * 100 > settings.max_total_unready_percentage * nodes
