"""Metrics of scale-up: how many nodes were ordered, and which orders failed or were limited."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from nodewright.api.decision import Decision, Grow, Outcome
from nodewright.api.provider import GpuConfig
from nodewright.api.reasons import Reason
from nodewright.decision.health.group_errors import fresh_errors
from nodewright.decision.limits import short_of
from nodewright.decision.memory import Memory
from nodewright.decision.scaledown.selection.floors import floor_of
from nodewright.decision.world import World
from nodewright.objects.node import INSTANCE_TYPE
from nodewright.serve.metrics.loop import LoopResult
from nodewright.serve.metrics.series import GPU_LABELS, BoundedLabel, gpu_values

#: Cluster Autoscaler's own reasons of a failed scale-up; clouds add their codes.
_CLOUD, _TIMEOUT = "cloudProviderError", "timeout"
_KNOWN_FAILURES = (_CLOUD, "apiCallError", _TIMEOUT)
_LIMITED = {"cpu": "CpuResourceLimit", "memory": "MemoryResourceLimit"}
_HETEROGENEITY = (1, 2, 4, 8, 16, 32)


class ScaleUpMetrics:
    """Counts orders of nodes and their failures. Written on the loop's thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._added = Counter(
            "cluster_autoscaler_scaled_up_nodes",
            "Nodes requested from clouds, by GPU.",
            (*GPU_LABELS, "dra_drivers"),
            registry=registry,
        )
        self._gpus_added = Counter(
            "cluster_autoscaler_scaled_up_gpu_nodes",
            "Nodes with GPUs requested from clouds.",
            GPU_LABELS,
            registry=registry,
        )
        self._failed = Counter(
            "cluster_autoscaler_failed_scale_ups",
            "Failed scale-ups: refused, not delivered in time, or with machines that could not be created.",
            ("reason", *GPU_LABELS, "dra_drivers"),
            registry=registry,
        )
        self._gpus_failed = Counter(
            "cluster_autoscaler_failed_gpu_scale_ups",
            "Failed scale-ups of groups whose nodes have GPUs.",
            ("reason", *GPU_LABELS),
            registry=registry,
        )
        self._uncreated = Counter(
            "cluster_autoscaler_failed_node_creations",
            "Machines that clouds could not create, by the cloud's code.",
            ("reason",),
            registry=registry,
        )
        # A gauge, because Cluster Autoscaler's name lacks the suffix that counters must have.
        self._skipped = Gauge(
            "cluster_autoscaler_skipped_scale_events_count",
            "How often a limit of the cluster kept a group from growing or a node from being removed.",
            ("direction", "reason"),
            registry=registry,
        )
        self._heterogeneity = Histogram(
            "cluster_autoscaler_binpacking_heterogeneity",
            "Number of pod classes for which a group grows at once.",
            ("instance_type", "cpu_count", "namespace_count"),
            buckets=_HETEROGENEITY,
            registry=registry,
        )
        self._added.labels(*gpu_values(None))
        for reason in _KNOWN_FAILURES:
            self._failed.labels(reason, *gpu_values(None))
        for direction in ("up", "down"):
            for reason in _LIMITED.values():
                self._skipped.labels(direction, reason)
        self._codes = BoundedLabel(_KNOWN_FAILURES)
        #: Orders without an outcome yet, by group: how many nodes, and the group's GPUs.
        self._ordered: dict[str, tuple[int, GpuConfig | None]] = {}
        #: Groups whose machines were late in the last loop.
        self._late: frozenset[str] = frozenset()

    def note_loop(self, loop: LoopResult, before: Memory) -> None:
        """Count what a loop found out about earlier orders; *before* is the memory that it began with."""
        self._note_late(loop)
        self._note_uncreated(loop, before)
        for facts, error in fresh_errors(loop.world, before, loop.memory):
            self._fail(error.code, loop.world.group_gpus.get(facts.id))
        for verdict in loop.decision.groups.values():
            self._skip("up", short_of(verdict))
        for verdict in loop.decision.nodes.values():
            if verdict.reason is Reason.LIMIT_MIN_RESOURCES:
                self._skip("down", {floor_of(verdict)})

    def note_orders(self, decision: Decision, world: World) -> None:
        """Take up the orders that are about to be placed."""
        for grow in decision.grow:
            self._ordered[grow.group] = grow.count, world.group_gpus.get(grow.group)
            self._note_heterogeneity(grow, world)

    def note_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Count the outcomes of orders, of this loop or an earlier one."""
        for outcome in outcomes:
            if outcome.action != "grow" or (ordered := self._ordered.pop(outcome.target, None)) is None:
                continue
            count, gpu = ordered
            if not outcome.tried:
                continue
            if not outcome.ok:
                self._fail(outcome.cause.code if outcome.cause else _CLOUD, gpu)
                count = outcome.increased
            if not count:
                continue
            self._added.labels(*gpu_values(gpu)).inc(count)
            if gpu:
                self._gpus_added.labels(gpu.resource, gpu.type).inc(count)

    def _note_late(self, loop: LoopResult) -> None:
        decision = loop.decision
        late = {each.group for each in decision.shrink if each.verdict.reason is Reason.UNMET_TARGET}
        late |= {each.group for each in decision.delete if each.verdict.reason is Reason.NEVER_REGISTERED}
        # Machines that can't be deleted are late in every loop, but count as one failure.
        for group in late - self._late:
            self._fail(_TIMEOUT, loop.world.group_gpus.get(group))
        self._late = frozenset(late)

    def _note_uncreated(self, loop: LoopResult, before: Memory) -> None:
        fresh = loop.memory.health.failed_since.keys() - before.health.failed_since.keys()
        if not fresh:
            return
        for facts in loop.world.groups:
            codes = [each.error.code for each in facts.instances if each.id in fresh and each.error]
            for code in codes:
                self._uncreated.labels(self._codes.of(code)).inc()
            for code in set(codes):
                self._fail(code, loop.world.group_gpus.get(facts.id))

    def _note_heterogeneity(self, grow: Grow, world: World) -> None:
        pods = [pod for key in grow.pods if (pod := world.cluster.pending.get(key)) is not None]
        template = next((facts.template for facts in world.groups if facts.id == grow.group), None)
        if not pods or template is None:
            return
        cores = -(-template.capacity.get("cpu", 0) // 1000)
        namespaces = min(len({pod.namespace for pod in pods}), _HETEROGENEITY[-1])
        series = self._heterogeneity.labels(template.labels.get(INSTANCE_TYPE, ""), str(cores), str(namespaces))
        series.observe(len({pod.pod_class.index for pod in pods}))

    def _fail(self, reason: str, gpu: GpuConfig | None) -> None:
        reason = self._codes.of(reason)
        self._failed.labels(reason, *gpu_values(gpu)).inc()
        if gpu:
            self._gpus_failed.labels(reason, gpu.resource, gpu.type).inc()

    def _skip(self, direction: str, resources: Iterable[str]) -> None:
        for resource in _LIMITED.keys() & set(resources):
            self._skipped.labels(direction, _LIMITED[resource]).inc()
