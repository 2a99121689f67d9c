"""The forecast: the cluster as it will be once everything under way is done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.decision.consolidation.replacements import reserved_nodes
from nodewright.decision.health import Assessment, GroupHealth
from nodewright.decision.memory import ConsolidationMemory, RemovalMemory, UnneededMemory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.removal.leftovers import coming_back
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.objects.node import CORDONED_BEFORE
from nodewright.scheduling import ClusterSimulation


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The nodes that pending pods can count on, there already or not."""

    simulation: ClusterSimulation
    #: Names of the nodes in it that are not ready yet, by group: those that are starting, then those to come.
    upcoming: Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class ExistingNodes:
    """The forecast without nodes that may never come, and without those whose machines are being deleted."""

    simulation: ClusterSimulation


def foresee(
    world: World,
    health: Assessment,
    leaving: RemovalMemory,
    unneeded: UnneededMemory,
    consolidation: ConsolidationMemory,
    policy: Policy,
    now: datetime,
) -> Forecast:
    """Return the cluster without nodes that are leaving, and with those that are coming or coming back.

    A node leaves as well if the cloud has stopped its machine, or is about to end it.

    A node that is starting is there as it will be, with the pods that it has already. Pods get nodes that are unneeded
    last: the scheduler may do otherwise, but a guess must not keep a node that could go.
    """
    # Nodes that were ordered to replace others are for the pods of those: pending pods don't count on them.
    reserved = reserved_nodes(world, consolidation, policy)
    starting = {group.facts.id: _awaited(group, reserved[group.facts.id], leaving, world) for group in health.groups}
    awaited = {node.name for nodes in starting.values() for node in nodes}
    absent = (health.starting - awaited) | leaving.removals.keys() | world.ending(now).keys() | world.stopped_nodes
    simulation = ClusterSimulation(world.cluster)
    simulation.remove_nodes([name for name in world.cluster.nodes if name in absent])
    for name in coming_back(world, leaving):
        if name not in absent:
            before = CORDONED_BEFORE in world.cluster.nodes[name].metadata.annotations
            simulation.spare_node(name, uncordon=policy.settings.scale_down.cordon and not before)
    upcoming: dict[str, Sequence[str]] = {}
    for group in health.groups:
        facts = group.facts
        if facts.template is None:
            continue
        names = [
            *simulation.start_nodes(facts, starting[facts.id]),
            *simulation.add_nodes(facts, max(0, group.missing - reserved[facts.id])),
        ]
        if names:
            upcoming[facts.id] = names
    simulation.save_for_last(unneeded.since)
    return Forecast(simulation=simulation, upcoming=upcoming)


def drop_uncertain(
    forecast: Forecast, world: World, health: Assessment, leaving: RemovalMemory, now: datetime
) -> ExistingNodes:
    """Take nodes that may never come, or that are going, out of the simulation; *forecast* is used up by that."""
    absent = health.starting | leaving.removals.keys() | world.ending(now).keys() | world.stopped_nodes
    doomed = []
    if world.deleting:
        nodes = world.cluster.nodes.items()
        doomed = [name for name, node in nodes if node.spec.provider_id in world.deleting and name not in absent]
    uncertain = [name for names in forecast.upcoming.values() for name in names]
    forecast.simulation.remove_nodes([*uncertain, *doomed])
    forecast.simulation.save_for_last(())
    return ExistingNodes(simulation=forecast.simulation)


def _awaited(group: GroupHealth, reserved: int, leaving: RemovalMemory, world: World) -> Sequence[Node]:
    """Return the starting nodes that pending pods can count on; the emptiest are *reserved* if too few are missing."""
    if group.facts.template is None:
        return ()
    names = [name for name in group.starting if name not in leaving.removals]
    spared = max(0, reserved - group.missing)
    if spared:
        names.sort(key=lambda name: len(world.cluster.pods_on(name)))
    return [world.cluster.nodes[name] for name in names[spared:]]
