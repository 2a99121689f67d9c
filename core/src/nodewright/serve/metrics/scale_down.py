"""Metrics of scale-down: why nodes stay, how many went, and how long that took."""

from collections import Counter as Counts
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric

from nodewright.api.decision import DeleteInstances, Outcome
from nodewright.api.provider import GpuConfig
from nodewright.api.reasons import Reason
from nodewright.decision.health.readiness import is_ready
from nodewright.serve.metrics.loop import LoopResult
from nodewright.serve.metrics.series import GPU_LABELS, ZeroFilled, gauge, gauges, gpu_values

#: Nodes with these verdicts don't count as unremovable: they could go, or belong to no group.
_NOT_UNREMOVABLE = frozenset(
    [Reason.EMPTY, Reason.MOVABLE, Reason.COOLING_DOWN, Reason.BUDGET, Reason.NOT_OURS, Reason.CLUSTER_UNHEALTHY]
)
_LATENCY_BUCKETS = [1.5**power for power in range(19)]
#: Nodes with these verdicts are not eligible yet.
_WAITING = (Reason.NOT_LONG_ENOUGH, Reason.NOT_UNREADY_LONG_ENOUGH)
#: With these verdicts nothing delays the removal of a node.
_FREE = (Reason.EMPTY, Reason.MOVABLE, Reason.BEING_DELETED)


@dataclass(frozen=True, kw_only=True)
class _Deletion:
    """A machine whose deletion was requested from the cloud."""

    #: Its node; empty if it never registered one.
    node: str = ""
    #: The reason, as Cluster Autoscaler names it.
    reason: str = ""
    gpu: GpuConfig | None = None


class ScaleDownMetrics:
    """Counts nodes that stay, by reason, and nodes that went. Written on the loop's thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._removed = Counter(
            "cluster_autoscaler_scaled_down_nodes",
            "Nodes removed, by reason and GPU.",
            ("reason", *GPU_LABELS, "dra_drivers"),
            registry=registry,
        )
        self._gpus_removed = Counter(
            "cluster_autoscaler_scaled_down_gpu_nodes",
            "Nodes with GPUs removed.",
            ("reason", *GPU_LABELS),
            registry=registry,
        )
        self._evicted = Counter(
            "cluster_autoscaler_evicted_pods",
            "Evictions of pods from nodes being removed, by result.",
            ("eviction_result",),
            registry=registry,
        )
        # A gauge, because Cluster Autoscaler's name lacks the suffix that counters must have.
        self._unregistered = Gauge(
            "cluster_autoscaler_old_unregistered_nodes_removed_count",
            "Machines removed that never registered a node.",
            registry=registry,
        )
        for result in ("succeeded", "failed"):
            self._evicted.labels(eviction_result=result)
        for reason in ("underutilized", "empty", "unready"):
            self._removed.labels(reason, *gpu_values(None))
        self._latency = RemovalLatency(registry)
        self._unremovable = ZeroFilled()
        self._blocked = ZeroFilled()
        #: Requested deletions by the target that their outcome will have.
        self._deletions: dict[str, list[_Deletion]] = {}

    def note_loop(self, loop: LoopResult) -> None:
        """Take up the decision of a loop."""
        for delete in loop.decision.delete:
            self._deletions[delete.target] = list(_deletions(delete, loop))
        if loop.settings.metrics.node_removal_latency:
            self._latency.note_loop(loop)
        else:
            self._latency.forget()

    def gauges(self, loop: LoopResult) -> Iterator[Metric]:
        """Yield the gauges of nodes that stay."""
        decision, memory = loop.decision, loop.memory
        # Reasons become text after counting, as this runs in every loop over all nodes.
        reasons = Counts(verdict.reason for verdict in decision.nodes.values())
        counts = {reason.value: count for reason, count in reasons.items() if reason not in _NOT_UNREMOVABLE}
        causes = Counts(
            standing.cause for standing in memory.verdicts.last.values() if standing.reason is Reason.BLOCKED_BY_POD
        )
        just_came = any(verdict.reason is Reason.JUST_CREATED for verdict in decision.pods.values())
        cooling = just_came or memory.cooldown.pause(loop.settings.scale_down, decision.at) is not None
        yield gauge(
            "cluster_autoscaler_unneeded_nodes_count", "Nodes that could be removed.", len(memory.unneeded.since)
        )
        yield gauges(
            "cluster_autoscaler_unremovable_nodes_count",
            "Nodes that can't be removed now, by reason.",
            ("reason",),
            self._unremovable.fill(counts),
        )
        yield gauges(
            "nodewright_nodes_blocked_by_pods",
            "Nodes kept by a pod that must not be moved, by cause.",
            ("cause",),
            self._blocked.fill(causes),
        )
        yield gauge("cluster_autoscaler_scale_down_in_cooldown", "Whether scale-down pauses after a change.", cooling)
        yield gauge("cluster_autoscaler_pending_node_deletions", "Nodes being removed.", len(memory.leaving.removals))
        yield gauge(
            "cluster_autoscaler_max_node_skip_eval_duration_seconds",
            "Longest time for which a node has not been examined for lack of time. 0 unless enabled.",
            _longest_unexamined(loop) if loop.settings.metrics.node_skip_time else 0.0,
        )

    def note_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Count outcomes, which may belong to the decision of an earlier loop."""
        for outcome in outcomes:
            if outcome.action == "delete-instances":
                deletions = self._deletions.pop(outcome.target, [])
                if outcome.ok:
                    self._count(deletions)
                    self._latency.note_deleted((deletion.node for deletion in deletions), outcome.at)
            elif outcome.action == "evict" and (outcome.ok or not outcome.temporary):
                # A temporary refusal is tried again and counts as neither.
                self._evicted.labels(eviction_result="succeeded" if outcome.ok else "failed").inc()

    def _count(self, deletions: Iterable[_Deletion]) -> None:
        for deletion in deletions:
            if not deletion.node:
                self._unregistered.inc()
                continue
            self._removed.labels(deletion.reason, *gpu_values(deletion.gpu)).inc()
            if gpu := deletion.gpu:
                self._gpus_removed.labels(deletion.reason, gpu.resource, gpu.type).inc()


def _deletions(delete: DeleteInstances, loop: LoopResult) -> Iterator[_Deletion]:
    if delete.verdict.reason is Reason.NEVER_REGISTERED:
        yield from (_Deletion() for _ in delete.instances)
        return
    world = loop.world
    for name in delete.nodes:
        node = world.cluster.nodes.get(name)
        if node is not None:
            ready = is_ready(node, world, loop.settings.templates)
            # One call may delete both empty and drained nodes.
            removal = loop.memory.leaving.removals.get(name)
            drains = delete.verdict.reason is Reason.DRAINED if removal is None else removal.drains
            drained = "underutilized" if drains else "empty"
            yield _Deletion(node=name, reason=drained if ready else "unready", gpu=world.gpus.get(name))


def _longest_unexamined(loop: LoopResult) -> float:
    since = [each.since for each in loop.memory.verdicts.last.values() if each.reason is Reason.NOT_EXAMINED]
    return (loop.decision.at - min(since)).total_seconds() if since else 0.0


@dataclass(kw_only=True)
class _Eligible:
    """A node that may be removed."""

    since: datetime
    #: The code of the reason that last delayed its removal.
    delay: str = ""


class RemovalLatency:
    """Measures how long an eligible node takes until it is deleted or needed again. Written on the loop's thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "cluster_autoscaler_node_removal_latency_seconds",
            "Time from when a node had been unneeded for long enough until it was deleted or needed again, "
            "by the reason that last delayed it.",
            ("deleted", "delay_reason"),
            buckets=_LATENCY_BUCKETS,
            registry=registry,
        )
        self._eligible: dict[str, _Eligible] = {}

    def note_loop(self, loop: LoopResult) -> None:
        """Take up which nodes are eligible now, and which no longer are."""
        decision, memory = loop.decision, loop.memory
        staying = [
            name for name in self._eligible if name not in memory.unneeded.since and name not in memory.leaving.removals
        ]
        for name in staying:
            self._ended(name, decision.at, deleted=False)
        for name in memory.unneeded.since:
            verdict = decision.nodes.get(name)
            if verdict is None or verdict.reason in _WAITING:
                continue
            known = self._eligible.setdefault(name, _Eligible(since=decision.at))
            if verdict.reason not in _FREE:
                known.delay = verdict.reason.value

    def note_deleted(self, nodes: Iterable[str], at: datetime) -> None:
        """Note that *nodes* were deleted."""
        for name in nodes:
            self._ended(name, at, deleted=True)

    def forget(self) -> None:
        """Forget all nodes, as when the metric is switched off."""
        self._eligible.clear()

    def _ended(self, name: str, at: datetime, *, deleted: bool) -> None:
        known = self._eligible.pop(name, None)
        if known is not None:
            seconds = max(0.0, (at - known.since).total_seconds())
            self._seconds.labels("true" if deleted else "false", known.delay).observe(seconds)
