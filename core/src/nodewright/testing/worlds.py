"""Whole worlds and policies for tests of decisions: `decide` on them is a library call."""

from collections.abc import Iterable, Mapping

from nodewright.api import DaemonSet, DrainRule, Expander, GroupFacts, Node, Outcome, Plugin, Pod
from nodewright.api.estimator import Estimator
from nodewright.cluster import Cluster
from nodewright.cluster.annotations import PodAnnotations
from nodewright.config.model import Settings
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.objects import Controller, PodDisruptionBudget
from nodewright.objects.workload import ControllerName, ScaleSpec
from nodewright.plugins import Faults, Hooks
from nodewright.strategies.binpacking import Binpacking
from nodewright.strategies.drain_rules import (
    DaemonSetPods,
    DisruptionBudget,
    DoNotDisrupt,
    LocalStorage,
    LongTerminating,
    Mirror,
    NotReplicated,
    NotSafeToEvict,
    OnCompletion,
    ReplicaCount,
    SafeToEvict,
    System,
    Terminal,
)
from nodewright.strategies.expanders import LeastWaste
from nodewright.strategies.processors import (
    AddReturningPods,
    ClearTpuRequests,
    FilterDaemonSetPods,
    FilterExpendable,
    FilterSchedulable,
)
from nodewright.testing.clock import SteppedClock


def a_world(
    *,
    groups: Iterable[GroupFacts] = (),
    nodes: Mapping[str, Iterable[Node]] | None = None,
    pods: Iterable[Pod] = (),
    daemon_sets: Iterable[DaemonSet] = (),
    budgets: Iterable[PodDisruptionBudget] = (),
    controllers: Mapping[str, Mapping[str, int]] | None = None,
    outcomes: Iterable[Outcome] = (),
    pod_annotations: Iterable[str] = (),
) -> World:
    """A world with *groups*, *nodes* by the group that they belong to (empty for none), and *pods*.

    *controllers* are all that there are of their kinds, and how many pods they want, as in
    ``{"ReplicaSet": {"default/web": 3}, "Job": {}}``. Of kinds that are not in it nothing is known. Plugins declare
    *pod_annotations*, as in `Plugin.pod_annotations`.
    """
    cluster = Cluster()
    cluster.pod_classes.tell_by(PodAnnotations(frozenset(pod_annotations)))
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
    for kind, wanted in (controllers or {}).items():
        cluster.controllers.see(kind)
        for key, replicas in wanted.items():
            namespace, _, name = key.partition("/")
            meta, spec = ControllerName(namespace=namespace, name=name), ScaleSpec(replicas=replicas)
            cluster.controllers.put(kind, Controller(metadata=meta, spec=spec))
    return World(cluster=cluster, groups=tuple(groups), group_of=group_of, outcomes=tuple(outcomes))


def a_policy(
    settings: Settings | None = None,
    *,
    estimator: Estimator | None = None,
    expanders: Mapping[str, Expander] | None = None,
    drain_rules: Mapping[str, DrainRule] | None = None,
    hooks: Mapping[str, Plugin] | None = None,
) -> Policy:
    """A policy of the built-in strategies, with those given in their place."""
    faults = Faults(SteppedClock())
    dispatcher = Hooks(faults)
    dispatcher.register_in_order(list((hooks or {}).items()))
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
        drain_rules=built_in_drain_rules() if drain_rules is None else drain_rules,
        hooks=dispatcher,
        faults=faults,
        pod_annotations=frozenset(
            key
            for plugin in (
                estimator,
                *(expanders or {}).values(),
                *(drain_rules or {}).values(),
                *(hooks or {}).values(),
            )
            if plugin is not None
            for key in plugin.pod_annotations
        ),
    )


def built_in_drain_rules() -> dict[str, DrainRule]:
    """The drain rules that hold unless YAML names others, in their order."""
    rules: dict[str, type[DrainRule]] = {
        "mirror": Mirror,
        "long-terminating": LongTerminating,
        "do-not-disrupt": DoNotDisrupt,
        "replica-count": ReplicaCount,
        "daemon-set": DaemonSetPods,
        "safe-to-evict": SafeToEvict,
        "terminal": Terminal,
        "on-completion": OnCompletion,
        "not-replicated": NotReplicated,
        "system": System,
        "not-safe-to-evict": NotSafeToEvict,
        "local-storage": LocalStorage,
        "disruption-budget": DisruptionBudget,
    }
    return {name: rule(rule.Config()) for name, rule in rules.items()}
