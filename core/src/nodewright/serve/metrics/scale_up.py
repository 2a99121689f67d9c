"""Counters of growth: how many nodes were asked for, and what came in the way."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from nodewright.api.decision import Decision, Grow, Outcome
from nodewright.api.provider import GpuConfig
from nodewright.api.reasons import Reason
from nodewright.decision.limits import short_of
from nodewright.decision.memory import Memory
from nodewright.decision.scaledown.selection.floors import floor_of
from nodewright.decision.world import World
from nodewright.objects.node import INSTANCE_TYPE
from nodewright.serve.metrics.few import Few
from nodewright.serve.metrics.gpu import GPU_LABELS, gpu_values
from nodewright.serve.metrics.sight import Sight

#: Reasons of failed growth that Cluster Autoscaler has itself; clouds have codes of their own.
_CLOUD, _TIMEOUT = "cloudProviderError", "timeout"
_KNOWN_FAILURES = (_CLOUD, "apiCallError", _TIMEOUT)
_LIMITED = {"cpu": "CpuResourceLimit", "memory": "MemoryResourceLimit"}
_HETEROGENEITY = (1, 2, 4, 8, 16, 32)


class ScaleUpMetrics:
    """How groups grew and failed to. Written on the loop's thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._added = Counter(
            "cluster_autoscaler_scaled_up_nodes",
            "Nodes that clouds were asked for, by their GPUs.",
            (*GPU_LABELS, "dra_drivers"),
            registry=registry,
        )
        self._gpus_added = Counter(
            "cluster_autoscaler_scaled_up_gpu_nodes",
            "Nodes with GPUs that clouds were asked for.",
            GPU_LABELS,
            registry=registry,
        )
        self._failed = Counter(
            "cluster_autoscaler_failed_scale_ups",
            "Growth that failed: refused, not delivered in time, or with machines that could not be made.",
            ("reason", *GPU_LABELS, "dra_drivers"),
            registry=registry,
        )
        self._gpus_failed = Counter(
            "cluster_autoscaler_failed_gpu_scale_ups",
            "Growth that failed, of groups whose nodes have GPUs.",
            ("reason", *GPU_LABELS),
            registry=registry,
        )
        self._unmade = Counter(
            "cluster_autoscaler_failed_node_creations",
            "Machines that clouds could not make, by the cloud's code.",
            ("reason",),
            registry=registry,
        )
        # Its name there does not end as names of counters have to.
        self._skipped = Gauge(
            "cluster_autoscaler_skipped_scale_events_count",
            "How often a group did not grow, or a node did not go, as a limit of the cluster was reached.",
            ("direction", "reason"),
            registry=registry,
        )
        self._heterogeneity = Histogram(
            "cluster_autoscaler_binpacking_heterogeneity",
            "How many kinds of pods a group grows for at once.",
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
        self._codes = Few(_KNOWN_FAILURES)
        #: What groups were asked to grow by and their GPUs, until it is known how that went.
        self._ordered: dict[str, tuple[int, GpuConfig | None]] = {}
        #: Groups that had machines in the last loop that did not come in time.
        self._late: frozenset[str] = frozenset()

    def note_loop(self, sight: Sight, before: Memory) -> None:
        """Count what a loop found out about growth of earlier ones; *before* is the memory that it began with."""
        self._note_late(sight)
        self._note_unmade(sight, before)
        for verdict in sight.decision.groups.values():
            self._skip("up", short_of(verdict))
        for verdict in sight.decision.nodes.values():
            if verdict.reason is Reason.LIMIT_MIN_RESOURCES:
                self._skip("down", {floor_of(verdict)})

    def note_orders(self, decision: Decision, world: World) -> None:
        """Take up what groups are about to be asked for."""
        for grow in decision.grow:
            self._ordered[grow.group] = grow.count, world.group_gpus.get(grow.group)
            self._note_kinds(grow, world)

    def note_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Count what came of orders, of whatever loop they were."""
        for outcome in outcomes:
            if outcome.action != "grow" or (ordered := self._ordered.pop(outcome.target, None)) is None:
                continue
            count, gpu = ordered
            if not outcome.ok:
                self._fail(outcome.cause.code if outcome.cause else _CLOUD, gpu)
                continue
            self._added.labels(*gpu_values(gpu)).inc(count)
            if gpu:
                self._gpus_added.labels(gpu.resource, gpu.type).inc(count)

    def _note_late(self, sight: Sight) -> None:
        decision = sight.decision
        late = {each.group for each in decision.shrink if each.verdict.reason is Reason.UNMET_TARGET}
        late |= {each.group for each in decision.delete if each.verdict.reason is Reason.NEVER_REGISTERED}
        # Machines that can't be deleted are late in every loop, but failed once.
        for group in late - self._late:
            self._fail(_TIMEOUT, sight.world.group_gpus.get(group))
        self._late = frozenset(late)

    def _note_unmade(self, sight: Sight, before: Memory) -> None:
        fresh = sight.memory.health.failed_since.keys() - before.health.failed_since.keys()
        if not fresh:
            return
        for facts in sight.world.groups:
            codes = [each.error.code for each in facts.instances if each.id in fresh and each.error]
            for code in codes:
                self._unmade.labels(self._codes.of(code)).inc()
            for code in set(codes):
                self._fail(code, sight.world.group_gpus.get(facts.id))

    def _note_kinds(self, grow: Grow, world: World) -> None:
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
