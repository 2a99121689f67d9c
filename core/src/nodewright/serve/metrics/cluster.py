"""Gauges of the cluster: its nodes, pods and limits, its groups, their cost, and the size of our copy of it."""

from collections import Counter as Counts
from collections import defaultdict
from collections.abc import Iterator

from prometheus_client import Metric

from nodewright.api.group import GroupFacts
from nodewright.api.reasons import Reason
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.decision.health.readiness import taint_type
from nodewright.explain.conditions import THROTTLED
from nodewright.objects.node import TO_BE_DELETED
from nodewright.objects.pod import Scheduling
from nodewright.serve.metrics.loop import LoopResult
from nodewright.serve.metrics.series import ZeroFilled, gauge, gauges

_MILLI = 1000


class ClusterGauges:
    """Gauges of nodes, pods and limits."""

    def __init__(self) -> None:
        self._taints = ZeroFilled()
        self._verdicts = ZeroFilled()

    def of(self, loop: LoopResult) -> Iterator[Metric]:
        """Yield the gauges of *loop*."""
        halted = loop.decision.halted
        well = halted is None or halted.reason is not Reason.CLUSTER_UNHEALTHY
        yield gauge(
            "cluster_autoscaler_cluster_safe_to_autoscale",
            "Whether enough nodes are ready for the autoscaler to act.",
            well,
        )
        yield from _machines(loop)
        yield from self._nodes(loop)
        yield from _limits(loop)
        yield from self._pods(loop)

    def _nodes(self, loop: LoopResult) -> Iterator[Metric]:
        cores = memory = 0
        taints = Counts[str]()
        # A single pass, as this runs in every loop over all nodes.
        for node in loop.world.cluster.nodes.values():
            leaving = False
            for taint in node.spec.taints:
                taints[taint.key] += 1
                leaving = leaving or taint.key == TO_BE_DELETED
            if not leaving:
                cores += -(-node.capacity.get("cpu", 0) // _MILLI)
                memory += node.capacity.get("memory", 0)
        yield gauge("cluster_autoscaler_cluster_cpu_current_cores", "Cores of all nodes, without those leaving.", cores)
        yield gauge(
            "cluster_autoscaler_cluster_memory_current_bytes", "Memory of all nodes, without those leaving.", memory
        )
        types = Counts[str]()
        for key, count in taints.items():
            types[taint_type(key, loop.settings.templates)] += count
        yield gauges(
            "cluster_autoscaler_node_taints_count",
            "Taints on nodes: by key if Kubernetes or an autoscaler sets it, otherwise by type.",
            ("type",),
            self._taints.fill(types),
        )

    def _pods(self, loop: LoopResult) -> Iterator[Metric]:
        waiting = _waiting(loop.world.cluster, loop.settings)
        yield gauges(
            "cluster_autoscaler_unschedulable_pods_count",
            "Pods without a node that their scheduler could not place, or whose scheduler is bypassed.",
            ("type",),
            # Nothing injects pods.
            {(kind,): waiting[kind] for kind in (*_WAITING, "injected", "skipped_injection")},
        )
        verdicts = Counts(verdict.reason for verdict in loop.decision.pods.values())
        yield gauges(
            "nodewright_pending_pods",
            "Pending pods, by the last loop's verdict on them.",
            ("reason",),
            self._verdicts.fill({reason.value: count for reason, count in verdicts.items()}),
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


def _machines(loop: LoopResult) -> Iterator[Metric]:
    found = loop.findings.cluster
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
        "Nodes, and machines that are not nodes yet, by state.",
        ("state",),
        {(state,): count for state, count in states.items()},
    )
    yield gauges(
        "cluster_autoscaler_node_groups_count",
        "Node groups, by whether the autoscaler created them.",
        ("node_group_type",),
        # It creates none.
        {("autoscaled",): len(loop.world.groups), ("autoprovisioned",): 0},
    )


def _limits(loop: LoopResult) -> Iterator[Metric]:
    limits = loop.settings.limits
    most = sum(facts.max_size for facts in loop.world.groups)
    yield gauge(
        "cluster_autoscaler_max_nodes_count",
        "Maximum number of nodes, by the groups' maxima and the limit on all groups.",
        min(most, limits.nodes.max) if limits.nodes.max else most,
    )
    yield gauges(
        "cluster_autoscaler_cpu_limits_cores",
        "Minimum and maximum number of cores in the cluster.",
        ("direction",),
        {("minimum",): limits.cpu.min / _MILLI, ("maximum",): limits.cpu.max / _MILLI},
    )
    yield gauges(
        "cluster_autoscaler_memory_limits_bytes",
        "Minimum and maximum memory in the cluster.",
        ("direction",),
        {("minimum",): limits.memory.min, ("maximum",): limits.memory.max},
    )


def cost_gauges(loop: LoopResult, *, per_group: bool) -> Iterator[Metric]:
    """Yield the cost per hour of each provider that has prices, and of each of its groups if *per_group*."""
    by_provider: dict[str, float] = defaultdict(float)
    by_group: dict[tuple[str, ...], float] = {}
    unpriced: dict[tuple[str, ...], float] = {(facts.provider,): 0 for facts in loop.world.groups}
    for facts in loop.world.groups:
        machines = _paid_machines(facts)
        if facts.hourly_price is None:
            unpriced[facts.provider,] += machines
            continue
        cost = machines * facts.hourly_price
        by_provider[facts.provider] += cost
        by_group[facts.id, _currency(facts.provider, loop)] = cost
    yield gauges(
        "nodewright_cost_per_hour",
        "Cost per hour of the machines in a provider's groups: their number times the price of a new one.",
        ("provider", "currency"),
        {(provider, _currency(provider, loop)): cost for provider, cost in by_provider.items()},
    )
    yield gauges(
        "nodewright_unpriced_machines",
        "Machines without a known price, which no cost includes.",
        ("provider",),
        unpriced,
    )
    if per_group:
        yield gauges(
            "nodewright_node_group_cost_per_hour",
            "Cost per hour of the machines in a group.",
            ("node_group", "currency"),
            by_group,
        )


def _paid_machines(facts: GroupFacts) -> int:
    """Count the machines that exist or are being created."""
    return sum(each.state.counted and each.error is None for each in facts.instances)


def _currency(provider: str, loop: LoopResult) -> str:
    pricing = loop.world.pricing.get(provider)
    return str(pricing.currency) if pricing is not None else ""


def column_gauges(cluster: Cluster) -> Iterator[Metric]:
    """Yield how many objects of each kind the columns hold, and how large the table of nodes is."""
    kept = {
        "nodes": len(cluster.nodes),
        "pods": len(cluster.pods),
        "pending_pods": len(cluster.pending),
        "node_classes": len(cluster.table.classes.known),
        "pod_classes": len(cluster.pod_classes.known),
    }
    yield gauges(
        "nodewright_cluster_objects",
        "Objects of the cluster held in memory, by kind; a class is a set of identical nodes or pods.",
        ("kind",),
        {(kind,): count for kind, count in kept.items()},
    )
    table = cluster.table
    yield gauge(
        "nodewright_node_table_bytes",
        "Size of the arrays with the free room of nodes.",
        table.free.nbytes + table.class_of.nbytes,
    )


def difference_gauge(loop: LoopResult) -> Metric:
    """Return how many groups have nodes that differ from the provider's template."""
    differing = [known for known in loop.memory.learnt.templates.values() if known.differences]
    return gauge(
        "nodewright_groups_with_template_differences",
        "Groups whose nodes differ from their provider's template.",
        len(differing),
    )


def pause_gauge(loop: LoopResult) -> Metric:
    """Return how many groups of each provider are not ours to change at the moment."""
    paused: dict[tuple[str, ...], float] = {(facts.provider,): 0 for facts in loop.world.groups}
    for facts in loop.world.groups:
        paused[facts.provider,] += facts.pause is not None
    return gauges(
        "nodewright_paused_groups",
        "Groups that do not grow because somebody else steers them, or has paused them.",
        ("provider",),
        paused,
    )


def group_gauges(loop: LoopResult) -> Iterator[Metric]:
    """Yield the gauges of every group, for `metrics.perGroup`: they have as many series as there are groups."""
    groups = loop.world.groups
    yield gauges(
        "cluster_autoscaler_node_group_min_count",
        "Minimum number of nodes in the group.",
        ("node_group",),
        {(facts.id,): facts.min_size for facts in groups},
    )
    yield gauges(
        "cluster_autoscaler_node_group_max_count",
        "Maximum number of nodes in the group.",
        ("node_group",),
        {(facts.id,): facts.max_size for facts in groups},
    )
    yield gauges(
        "cluster_autoscaler_node_group_target_count",
        "Number of machines requested from the cloud.",
        ("node_group",),
        {(facts.id,): facts.target_size for facts in groups},
    )
    blocked = loop.findings.blocked.items()
    unhealthy = {group for group, why in blocked if why.reason in (Reason.GROUP_UNHEALTHY, Reason.GROUP_FAULTY)}
    yield gauges(
        "cluster_autoscaler_node_group_healthiness",
        "Whether the group is healthy enough to grow.",
        ("node_group",),
        {(facts.id,): facts.id not in unhealthy for facts in groups},
    )
    yield gauges(
        "cluster_autoscaler_node_group_backoff_status",
        "Whether the group is backed off after it failed to grow, and the code of the failure.",
        ("node_group", "reason"),
        {(facts.id, code): bool(code) for facts in groups for code in [_backoff(facts.id, loop)]},
    )
    yield gauges(
        "nodewright_template_differences",
        "Number of differences between a group's nodes and its provider's template.",
        ("group",),
        {(group,): len(known.differences) for group, known in loop.memory.learnt.templates.items()},
    )


def _backoff(group: str, loop: LoopResult) -> str:
    known = loop.memory.health.backoffs.get(group)
    if known is not None and loop.decision.at < known.until:
        return known.code
    return THROTTLED if loop.memory.health.respite(group, "grow") is not None else ""
