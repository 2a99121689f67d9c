"""The census of a group: its machines by what has become of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.api.group import GroupFacts, GroupOptions
from nodewright.api.instance import Instance, InstanceState
from nodewright.objects import Node


@dataclass(frozen=True, kw_only=True)
class Census:
    """The machines of one group."""

    #: Nodes that simulation counts on: all but those starting and those whose machine is being deleted.
    settled: tuple[str, ...]
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
    is_ready: Callable[[Node], bool],
) -> Census:
    """Return the census of a group with *nodes*; *seen* tells when unregistered machines were first seen."""
    leaving = {instance.id for instance in facts.instances if instance.state is InstanceState.DELETING}
    staying = [node for node in nodes if node.spec.provider_id not in leaving]
    registered = {node.spec.provider_id for node in staying}
    known = registered | leaving
    unborn = [instance for instance in facts.instances if instance.id not in known]
    failed = tuple(instance for instance in unborn if instance.error is not None)
    unregistered = {instance.id: seen.get(instance.id, now) for instance in unborn if instance.error is None}
    overdue = tuple(key for key, since in unregistered.items() if now - since > options.max_node_provision_time)
    # In order, and quick to look up: a burst may bring thousands at once.
    starting = {node.name: None for node in staying if not is_ready(node) and _young(node, options, now)}
    return Census(
        settled=tuple(node.name for node in staying if node.name not in starting),
        starting=tuple(starting),
        failed=failed,
        unregistered_since=unregistered,
        overdue=overdue,
        missing=max(0, facts.target_size - len(staying) - len(failed) - len(overdue)),
        unmet=max(0, facts.target_size - len(staying) - len(unborn)),
    )


def _young(node: Node, options: GroupOptions, now: datetime) -> bool:
    born = node.metadata.creation_timestamp
    return born is not None and now - born < options.max_node_startup_time
