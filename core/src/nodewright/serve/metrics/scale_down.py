"""Metrics of scale-down, with Cluster Autoscaler's names and labels where it has some."""

from collections import Counter as Counts
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Metric

from nodewright.api.decision import DeleteInstances, Outcome
from nodewright.api.provider import GpuConfig
from nodewright.api.reasons import Reason
from nodewright.decision.health.readiness import is_ready
from nodewright.serve.metrics.gpu import GPU_LABELS, gpu_values
from nodewright.serve.metrics.panel import Lasting, gauge, gauges
from nodewright.serve.metrics.removal_latency import RemovalLatency
from nodewright.serve.metrics.sight import Sight

#: Verdicts on nodes that don't count as unremovable: they could go, or are none of ours.
_NOT_UNREMOVABLE = frozenset(
    [Reason.EMPTY, Reason.MOVABLE, Reason.COOLING_DOWN, Reason.BUDGET, Reason.NOT_OURS, Reason.CLUSTER_UNHEALTHY]
)


@dataclass(frozen=True, kw_only=True)
class _Deletion:
    """A machine that the cloud was asked to delete."""

    #: The node that goes with it; empty if it never was one.
    node: str = ""
    #: Why, in Cluster Autoscaler's words.
    reason: str = ""
    gpu: GpuConfig | None = None


class ScaleDownMetrics:
    """Why nodes stay, and how many went. Written on the loop's thread; series are as many as there are reasons."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._removed = Counter(
            "cluster_autoscaler_scaled_down_nodes",
            "Nodes removed, by the reason and by their GPUs.",
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
            "Pods asked to leave a node that goes, by how that went.",
            ("eviction_result",),
            registry=registry,
        )
        # Its name there does not end as names of counters have to.
        self._unregistered = Gauge(
            "cluster_autoscaler_old_unregistered_nodes_removed_count",
            "Machines removed that never became nodes.",
            registry=registry,
        )
        for result in ("succeeded", "failed"):
            self._evicted.labels(eviction_result=result)
        for reason in ("underutilized", "empty", "unready"):
            self._removed.labels(reason, *gpu_values(None))
        self._latency = RemovalLatency(registry)
        self._unremovable = Lasting()
        self._blocked = Lasting()
        #: By the target of their outcome.
        self._deletions: dict[str, list[_Deletion]] = {}

    def note_loop(self, sight: Sight) -> None:
        """Take over what was decided."""
        for delete in sight.decision.delete:
            self._deletions[delete.target] = list(_deletions(delete, sight))
        if sight.settings.metrics.node_removal_latency:
            self._latency.note_loop(sight)
        else:
            self._latency.forget()

    def gauges(self, sight: Sight) -> Iterator[Metric]:
        """Yield why nodes stay."""
        decision, memory = sight.decision, sight.memory
        # Converted only once they are counted: every node is looked at in every loop.
        reasons = Counts(verdict.reason for verdict in decision.nodes.values())
        counts = {reason.value: count for reason, count in reasons.items() if reason not in _NOT_UNREMOVABLE}
        causes = Counts(
            standing.cause for standing in memory.verdicts.last.values() if standing.reason is Reason.BLOCKED_BY_POD
        )
        just_came = any(verdict.reason is Reason.JUST_CREATED for verdict in decision.pods.values())
        cooling = just_came or memory.cooldown.pause(sight.settings.scale_down, decision.at) is not None
        yield gauge(
            "cluster_autoscaler_unneeded_nodes_count", "Nodes that could be removed.", len(memory.unneeded.since)
        )
        yield gauges(
            "cluster_autoscaler_unremovable_nodes_count",
            "Nodes that can't be removed now, by the reason.",
            ("reason",),
            self._unremovable.filled(counts),
        )
        yield gauges(
            "nodewright_nodes_blocked_by_pods",
            "Nodes that stay for a pod that must not be moved, by what is the matter with it.",
            ("cause",),
            self._blocked.filled(causes),
        )
        yield gauge("cluster_autoscaler_scale_down_in_cooldown", "Whether scale-down pauses after a change.", cooling)
        yield gauge(
            "cluster_autoscaler_pending_node_deletions",
            "Nodes whose removal is under way.",
            len(memory.leaving.removals),
        )
        yield gauge(
            "cluster_autoscaler_max_node_skip_eval_duration_seconds",
            "For how long, at most, a node has not been looked at for lack of time. 0 unless asked for.",
            _longest_unexamined(sight) if sight.settings.metrics.node_skip_time else 0.0,
        )

    def note_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Count what was done; outcomes may come later than their decision."""
        for outcome in outcomes:
            if outcome.action == "delete-instances":
                deletions = self._deletions.pop(outcome.target, [])
                if outcome.ok:
                    self._count(deletions)
                    self._latency.note_deleted((deletion.node for deletion in deletions), outcome.at)
            elif outcome.action == "evict" and (outcome.ok or not outcome.temporary):
                # What is refused for the moment is tried again.
                self._evicted.labels(eviction_result="succeeded" if outcome.ok else "failed").inc()

    def _count(self, deletions: Iterable[_Deletion]) -> None:
        for deletion in deletions:
            if not deletion.node:
                self._unregistered.inc()
                continue
            self._removed.labels(deletion.reason, *gpu_values(deletion.gpu)).inc()
            if gpu := deletion.gpu:
                self._gpus_removed.labels(deletion.reason, gpu.resource, gpu.type).inc()


def _deletions(delete: DeleteInstances, sight: Sight) -> Iterator[_Deletion]:
    if delete.verdict.reason is Reason.NEVER_REGISTERED:
        yield from (_Deletion() for _ in delete.instances)
        return
    world = sight.world
    for name in delete.nodes:
        node = world.cluster.nodes.get(name)
        if node is not None:
            ready = is_ready(node, world, sight.settings.templates)
            # Nodes that were empty go in one call with others that were not.
            removal = sight.memory.leaving.removals.get(name)
            drains = delete.verdict.reason is Reason.DRAINED if removal is None else removal.drains
            drained = "underutilized" if drains else "empty"
            yield _Deletion(node=name, reason=drained if ready else "unready", gpu=world.gpus.get(name))


def _longest_unexamined(sight: Sight) -> float:
    since = [each.since for each in sight.memory.verdicts.last.values() if each.reason is Reason.NOT_EXAMINED]
    return (sight.decision.at - min(since)).total_seconds() if since else 0.0
