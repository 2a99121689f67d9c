"""The forecast: the cluster as it will be once everything under way is done."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nodewright.decision.consolidation.replacements import reserved_nodes
from nodewright.decision.health import Assessment
from nodewright.decision.memory import ConsolidationMemory, RemovalMemory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.removal.leftovers import coming_back
from nodewright.decision.world import World
from nodewright.objects.node import CORDONED_BEFORE
from nodewright.scheduling import ClusterSimulation


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The nodes that pending pods can count on, there already or not."""

    simulation: ClusterSimulation
    #: Names of the nodes in it that are not there yet, by group.
    upcoming: Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class ExistingNodes:
    """The forecast without nodes that may never come, and without those whose machines are being deleted."""

    simulation: ClusterSimulation


def foresee(
    world: World, health: Assessment, leaving: RemovalMemory, consolidation: ConsolidationMemory, policy: Policy
) -> Forecast:
    """Return the cluster without nodes that are leaving, and with those that are coming or coming back."""
    absent = health.starting | leaving.removals.keys()
    simulation = ClusterSimulation(world.cluster)
    simulation.remove_nodes([name for name in world.cluster.nodes if name in absent])
    for name in coming_back(world, leaving):
        before = CORDONED_BEFORE in world.cluster.nodes[name].metadata.annotations
        simulation.spare_node(name, uncordon=policy.settings.scale_down.cordon and not before)
    # Nodes that were ordered to replace others are for the pods of those: pending pods don't count on them.
    reserved: Counter[str] = reserved_nodes(world, consolidation, policy)
    upcoming = {
        group.facts.id: simulation.add_nodes(group.facts, count)
        for group in health.groups
        if (count := group.upcoming - reserved[group.facts.id]) > 0 and group.facts.template is not None
    }
    return Forecast(simulation=simulation, upcoming=upcoming)


def drop_uncertain(forecast: Forecast, world: World, health: Assessment, leaving: RemovalMemory) -> ExistingNodes:
    """Take nodes that may never come, or that are going, out of the simulation; *forecast* is used up by that."""
    absent = health.starting | leaving.removals.keys()
    doomed = []
    if world.deleting:
        nodes = world.cluster.nodes.items()
        doomed = [name for name, node in nodes if node.spec.provider_id in world.deleting and name not in absent]
    uncertain = [name for names in forecast.upcoming.values() for name in names]
    forecast.simulation.remove_nodes([*uncertain, *doomed])
    return ExistingNodes(simulation=forecast.simulation)
