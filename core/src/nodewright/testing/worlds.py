"""Whole worlds and policies for tests of decisions: `decide` on them is a library call."""

from collections.abc import Iterable, Mapping

from nodewright.api import DaemonSet, Expander, GroupFacts, Node, Outcome, Plugin, Pod
from nodewright.api.estimator import Estimator
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.objects import PodDisruptionBudget
from nodewright.plugins import Faults, Hooks
from nodewright.policy import Policy
from nodewright.strategies.add_returning_pods import AddReturningPods
from nodewright.strategies.binpacking import Binpacking
from nodewright.strategies.clear_tpu_requests import ClearTpuRequests
from nodewright.strategies.filter_daemonset_pods import FilterDaemonSetPods
from nodewright.strategies.filter_expendable import FilterExpendable
from nodewright.strategies.filter_schedulable import FilterSchedulable
from nodewright.strategies.least_waste import LeastWaste
from nodewright.testing.clock import SteppedClock
from nodewright.world import World


def a_world(
    *,
    groups: Iterable[GroupFacts] = (),
    nodes: Mapping[str, Iterable[Node]] | None = None,
    pods: Iterable[Pod] = (),
    daemon_sets: Iterable[DaemonSet] = (),
    budgets: Iterable[PodDisruptionBudget] = (),
    outcomes: Iterable[Outcome] = (),
) -> World:
    """A world with *groups*, *nodes* by the group that they belong to (empty for none), and *pods*."""
    cluster = Cluster()
    group_of = {}
    for group, members in (nodes or {}).items():
        for node in members:
            cluster.put_node(node)
            if group:
                group_of[node.name] = group
    for pod in pods:
        cluster.put_pod(pod)
    cluster.daemon_sets.update({each.metadata.key: each for each in daemon_sets})
    cluster.budgets.update({each.metadata.key: each for each in budgets})
    return World(cluster=cluster, groups=tuple(groups), group_of=group_of, outcomes=tuple(outcomes))


def a_policy(
    settings: Settings | None = None,
    *,
    estimator: Estimator | None = None,
    expanders: Mapping[str, Expander] | None = None,
    hooks: Mapping[str, Plugin] | None = None,
) -> Policy:
    """A policy of the built-in strategies, with those given in their place."""
    faults = Faults(SteppedClock())
    dispatcher = Hooks(faults)
    for name, plugin in (hooks or {}).items():
        dispatcher.register(name, plugin)
    return Policy(
        settings=settings or Settings(),
        estimator=("binpacking", estimator or Binpacking(Binpacking.Config())),
        expanders={"least-waste": LeastWaste(LeastWaste.Config())} if expanders is None else expanders,
        pending_pods={
            "clear-tpu-requests": ClearTpuRequests(ClearTpuRequests.Config()),
            "filter-expendable": FilterExpendable(FilterExpendable.Config()),
            "add-returning-pods": AddReturningPods(AddReturningPods.Config()),
            "filter-schedulable": FilterSchedulable(FilterSchedulable.Config()),
            "filter-daemonset-pods": FilterDaemonSetPods(FilterDaemonSetPods.Config()),
        },
        hooks=dispatcher,
        faults=faults,
    )
