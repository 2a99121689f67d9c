"""The census of a group: its machines by what has become of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from nodewright.api.group import GroupFacts, GroupOptions
from nodewright.api.instance import Instance, InstanceState
from nodewright.decision.health.readiness import Readiness, State
from nodewright.objects import Node


@dataclass(frozen=True, kw_only=True)
class Census:
    """The machines of one group."""

    readiness: Readiness
    #: Nodes that registered a short while ago and are not ready yet.
    starting: tuple[str, ...]
    #: Machines that the cloud says will never come.
    failed: tuple[Instance, ...]
    #: When each machine that is no node yet was first seen.
    unregistered_since: Mapping[str, datetime]
    #: Those of them that had their time.
    overdue: tuple[str, ...]
    #: Machines that are wanted, but are neither nodes nor given up.
    missing: int
    #: Machines that are wanted, but do not even exist.
    unmet: int


def take_census(
    facts: GroupFacts,
    nodes: Sequence[Node],
    options: GroupOptions,
    seen: Mapping[str, datetime],
    now: datetime,
    state_of: Callable[[Node, GroupOptions], State],
) -> Census:
    """Return the census of a group with *nodes*; *seen* tells when unregistered machines were first seen."""
    leaving = {instance.id for instance in facts.instances if instance.state is InstanceState.DELETING}
    listed = {instance.id for instance in facts.instances}
    states: list[State] = []
    for node in nodes:
        machine, state = node.spec.provider_id, state_of(node, options)
        # A node that is in service may be younger than what the cloud told of its group.
        gone = machine in leaving or (machine not in listed and state is not State.READY)
        states.append(State.BEING_DELETED if gone else state)
    readiness = Readiness.of(states)
    staying = readiness.registered - readiness.being_deleted
    known = leaving | {node.spec.provider_id for node in nodes}
    unborn = [instance for instance in facts.instances if instance.id not in known]
    failed = tuple(instance for instance in unborn if instance.error is not None)
    unregistered = {instance.id: seen.get(instance.id, now) for instance in unborn if instance.error is None}
    overdue = tuple(key for key, since in unregistered.items() if now - since > options.max_node_provision_time)
    return Census(
        readiness=replace(readiness, unregistered=len(unregistered) - len(overdue), long_unregistered=len(overdue)),
        starting=tuple(node.name for node, state in zip(nodes, states, strict=True) if state is State.NOT_STARTED),
        failed=failed,
        unregistered_since=unregistered,
        overdue=overdue,
        missing=max(0, facts.target_size - staying - len(failed) - len(overdue)),
        unmet=max(0, facts.target_size - staying - len(unborn)),
    )
