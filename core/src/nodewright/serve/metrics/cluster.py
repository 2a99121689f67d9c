"""Gauges of the whole cluster: its nodes, its pods, and its limits."""

from collections import Counter as Counts
from collections.abc import Iterator

from prometheus_client import Metric

from nodewright.api.reasons import Reason
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.decision.health.readiness import taint_type
from nodewright.objects.node import TO_BE_DELETED
from nodewright.objects.pod import Scheduling
from nodewright.serve.metrics.panel import Lasting, gauge, gauges
from nodewright.serve.metrics.sight import Sight

_MILLI = 1000


class ClusterGauges:
    """What is to tell of the cluster."""

    def __init__(self) -> None:
        self._taints = Lasting()
        self._verdicts = Lasting()

    def of(self, sight: Sight) -> Iterator[Metric]:
        """Yield the gauges of *sight*."""
        halted = sight.decision.halted
        well = halted is None or halted.reason is not Reason.CLUSTER_UNHEALTHY
        yield gauge(
            "cluster_autoscaler_cluster_safe_to_autoscale",
            "Whether enough nodes are ready for anything to be done.",
            well,
        )
        yield from _machines(sight)
        yield from self._nodes(sight)
        yield from _limits(sight)
        yield from self._pods(sight)

    def _nodes(self, sight: Sight) -> Iterator[Metric]:
        cores = memory = 0
        taints = Counts[str]()
        # One pass: there may be very many, and this is done in every loop.
        for node in sight.world.cluster.nodes.values():
            leaving = False
            for taint in node.spec.taints:
                taints[taint.key] += 1
                leaving = leaving or taint.key == TO_BE_DELETED
            if not leaving:
                cores += -(-node.capacity.get("cpu", 0) // _MILLI)
                memory += node.capacity.get("memory", 0)
        yield gauge(
            "cluster_autoscaler_cluster_cpu_current_cores", "Cores of all nodes but those that are going.", cores
        )
        yield gauge(
            "cluster_autoscaler_cluster_memory_current_bytes", "Memory of all nodes but those that are going.", memory
        )
        types = Counts[str]()
        for key, count in taints.items():
            types[taint_type(key, sight.settings.templates)] += count
        yield gauges(
            "cluster_autoscaler_node_taints_count",
            "Taints on nodes, by key where it is one that Kubernetes or an autoscaler sets, and else by what it is.",
            ("type",),
            self._taints.filled(types),
        )

    def _pods(self, sight: Sight) -> Iterator[Metric]:
        waiting = _waiting(sight.world.cluster, sight.settings)
        yield gauges(
            "cluster_autoscaler_unschedulable_pods_count",
            "Pods without a node: those that a scheduler gave up on, and those that no scheduler is waited for.",
            ("type",),
            # Nothing injects pods.
            {(kind,): waiting[kind] for kind in (*_WAITING, "injected", "skipped_injection")},
        )
        verdicts = Counts(verdict.reason for verdict in sight.decision.pods.values())
        yield gauges(
            "nodewright_pending_pods",
            "Pending pods by what the last loop made of them.",
            ("reason",),
            self._verdicts.filled({reason.value: count for reason, count in verdicts.items()}),
        )


_WAITING = {"unschedulable": Scheduling.FAILED, "scheduler_unprocessed": Scheduling.UNTRIED}


def _waiting(cluster: Cluster, settings: Settings) -> Counts[str]:
    """Count the pods without a node as Cluster Autoscaler does."""
    found = Counts[Scheduling]()
    for sort, queue in cluster.waiting.sorts.items():
        scheduler = sort.pod_class.pod.scheduler
        allowed, bypassed = settings.scale_up.allowed_schedulers, settings.scale_up.bypassed_schedulers
        if allowed and scheduler not in allowed:
            continue
        if sort.scheduling is not Scheduling.UNTRIED or scheduler in bypassed:
            found[sort.scheduling] += len(queue)
    return Counts({kind: found[scheduling] for kind, scheduling in _WAITING.items()})


def _machines(sight: Sight) -> Iterator[Metric]:
    found = sight.findings.cluster
    states = {
        "ready": found.ready,
        "unready": found.unready,
        "notStarted": found.not_started,
        "suspended": found.suspended,
        "unregistered": found.unregistered,
        "longUnregistered": found.long_unregistered,
    }
    yield gauges(
        "cluster_autoscaler_nodes_count",
        "Nodes, and machines that are none yet, by state.",
        ("state",),
        {(state,): count for state, count in states.items()},
    )
    ours = sum(facts.autoprovisioned for facts in sight.world.groups)
    yield gauges(
        "cluster_autoscaler_node_groups_count",
        "Node groups, by whether the autoscaler created them.",
        ("node_group_type",),
        {("autoscaled",): len(sight.world.groups) - ours, ("autoprovisioned",): ours},
    )


def _limits(sight: Sight) -> Iterator[Metric]:
    limits = sight.settings.limits
    most = sum(facts.max_size for facts in sight.world.groups)
    yield gauge(
        "cluster_autoscaler_max_nodes_count",
        "Most nodes that there may be, by the groups' maxima and by the limit on all of them.",
        min(most, limits.nodes.max) if limits.nodes.max else most,
    )
    yield gauges(
        "cluster_autoscaler_cpu_limits_cores",
        "Fewest and most cores that there may be.",
        ("direction",),
        {("minimum",): limits.cpu.min / _MILLI, ("maximum",): limits.cpu.max / _MILLI},
    )
    yield gauges(
        "cluster_autoscaler_memory_limits_bytes",
        "Least and most memory that there may be.",
        ("direction",),
        {("minimum",): limits.memory.min, ("maximum",): limits.memory.max},
    )
