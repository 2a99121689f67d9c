"""Contexts and simulations for tests of strategies. See also `nodewright.testing.builders`."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from random import Random

from nodewright.api import (
    DaemonSet,
    DrainContext,
    DrainSettings,
    ExpanderContext,
    GroupFacts,
    Intended,
    Node,
    Pod,
    PodSet,
    PricingModel,
    ProcessorContext,
    Simulation,
)
from nodewright.api.drain_rule import ControllerFacts
from nodewright.testing.clock import EPOCH


def a_simulation(
    *,
    nodes: Iterable[Node] = (),
    pods: Iterable[Pod] = (),
    daemon_sets: Iterable[DaemonSet] = (),
    pod_annotations: Iterable[str] = (),
) -> Simulation:
    """A cluster of *nodes* and *pods*, where new nodes get a pod of each of *daemon_sets*.

    Plugins declare *pod_annotations*, as in `Plugin.pod_annotations`.
    Place pods and add nodes in a fork: ``with a_simulation().fork() as trial:``.
    """
    # Columns need numpy, which most builders do without.
    from nodewright.cluster import Cluster
    from nodewright.cluster.annotations import PodAnnotations
    from nodewright.scheduling import ClusterSimulation

    cluster = Cluster()
    cluster.pod_classes.tell_by(PodAnnotations(frozenset(pod_annotations)))
    for node in nodes:
        cluster.put_node(node)
    for pod in pods:
        cluster.put_pod(pod)
    cluster.daemon_sets.update({each.metadata.key: each for each in daemon_sets})
    return ClusterSimulation(cluster)


def an_expander_context(
    *,
    now: datetime = EPOCH,
    seed: int = 0,
    cluster_size: int = 3,
    room: int | None = None,
    pricing: Mapping[str, PricingModel] | None = None,
    config_maps: Mapping[str, Mapping[str, str]] | None = None,
    simulation: Simulation | None = None,
    pending: Iterable[PodSet] = (),
) -> ExpanderContext:
    """What an expander knows besides the options. The same *seed* gives the same random choices.

    By default, the simulation has an empty cluster.
    """
    return ExpanderContext(
        now=now,
        random=Random(seed),
        turn=seed,
        cluster_size=cluster_size,
        room=room,
        pending=tuple(pending),
        pricing=dict(pricing or {}),
        config_maps=dict(config_maps or {}),
        simulation=simulation or a_simulation(),
    )


def a_processor_context(
    *,
    now: datetime = EPOCH,
    groups: Iterable[GroupFacts] = (),
    simulation: Simulation | None = None,
    intended: Iterable[Intended] = (),
    expendable_priority_cutoff: int = -10,
    returning: Iterable[PodSet] = (),
) -> ProcessorContext:
    """What a processor knows besides pods or nodes. By default, the simulation has an empty cluster."""
    return ProcessorContext(
        now=now,
        simulation=simulation or a_simulation(),
        groups=tuple(groups),
        intended=tuple(intended),
        expendable_priority_cutoff=expendable_priority_cutoff,
        returning=tuple(returning),
    )


def a_drain_context(
    *,
    now: datetime = EPOCH,
    settings: DrainSettings | None = None,
    controller: ControllerFacts | None = None,
    budgets: Iterable[str] = (),
    spent_budgets: Iterable[str] = (),
) -> DrainContext:
    """What a drain rule knows besides the pod. By default, its controller is unknown and there are no budgets."""
    return DrainContext(
        now=now,
        settings=settings or DrainSettings(),
        controller=controller,
        budgets=tuple(budgets),
        spent_budgets=tuple(spent_budgets),
    )
