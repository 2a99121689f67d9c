"""Metrics of scale-down, with Cluster Autoscaler's names and labels where it has some."""

from collections import Counter as Counts
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge

from nodewright.api.decision import Decision, DeleteInstances, Outcome
from nodewright.api.provider import GpuConfig
from nodewright.api.reasons import Reason
from nodewright.config.model import Settings
from nodewright.health.readiness import is_ready
from nodewright.memory import Memory
from nodewright.scaledown.selection.cooldown import cooldown
from nodewright.world import World

#: Verdicts on nodes that don't count as unremovable: they could go, or are none of ours.
_NOT_UNREMOVABLE = frozenset(
    [Reason.EMPTY, Reason.MOVABLE, Reason.COOLING_DOWN, Reason.BUDGET, Reason.NOT_OURS, Reason.CLUSTER_UNHEALTHY]
)
_GPU_LABELS = ("gpu_resource_name", "gpu_name")


@dataclass(frozen=True, kw_only=True)
class _Deletion:
    """A machine that the cloud was asked to delete."""

    #: Why, in Cluster Autoscaler's words; empty if it never was a node.
    reason: str
    gpu: GpuConfig | None


class _CountsByLabel:
    """A gauge with one label, of things that are counted anew each time."""

    def __init__(self, name: str, text: str, label: str, registry: CollectorRegistry) -> None:
        self._gauge = Gauge(name, text, (label,), registry=registry)
        self._known: set[str] = set()

    def set(self, counts: Mapping[str, int]) -> None:
        """Show *counts*; what is counted no more is zero from now on, so that no scrape misses its end."""
        self._known |= counts.keys()
        for label in self._known:
            self._gauge.labels(label).set(counts.get(label, 0))


class ScaleDownMetrics:
    """Why nodes stay, and how many went. Written on the loop's thread; series are as many as there are reasons."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._unneeded = Gauge(
            "cluster_autoscaler_unneeded_nodes_count", "Nodes that could be removed.", registry=registry
        )
        self._unremovable = _CountsByLabel(
            "cluster_autoscaler_unremovable_nodes_count",
            "Nodes that can't be removed now, by the reason.",
            "reason",
            registry,
        )
        self._blocked = _CountsByLabel(
            "nodewright_nodes_blocked_by_pods",
            "Nodes that stay for a pod that must not be moved, by what is the matter with it.",
            "cause",
            registry,
        )
        self._cooling = Gauge(
            "cluster_autoscaler_scale_down_in_cooldown", "Whether scale-down pauses after a change.", registry=registry
        )
        self._pending = Gauge(
            "cluster_autoscaler_pending_node_deletions", "Nodes whose removal is under way.", registry=registry
        )
        self._removed = Counter(
            "cluster_autoscaler_scaled_down_nodes",
            "Nodes removed, by the reason and by their GPUs.",
            ("reason", *_GPU_LABELS, "dra_drivers"),
            registry=registry,
        )
        self._gpus_removed = Counter(
            "cluster_autoscaler_scaled_down_gpu_nodes", "Nodes with GPUs removed.", _GPU_LABELS, registry=registry
        )
        self._evicted = Counter(
            "cluster_autoscaler_evicted_pods",
            "Pods asked to leave a node that goes, by how that went.",
            ("eviction_result",),
            registry=registry,
        )
        for result in ("succeeded", "failed"):
            self._evicted.labels(eviction_result=result)
        # Its name there does not end as names of counters have to.
        self._unregistered = Gauge(
            "cluster_autoscaler_old_unregistered_nodes_removed_count",
            "Machines removed that never became nodes.",
            registry=registry,
        )
        #: By the target of their outcome.
        self._deletions: dict[str, list[_Deletion]] = {}

    def note_decision(self, decision: Decision, memory: Memory, world: World, settings: Settings) -> None:
        """Take over what was decided by *settings* on *world*, with the *memory* of afterwards."""
        # Converted only once they are counted: every node is looked at in every loop.
        reasons = Counts(verdict.reason for verdict in decision.nodes.values())
        counts = {reason.value: count for reason, count in reasons.items() if reason not in _NOT_UNREMOVABLE}
        causes = Counts(
            standing.cause for standing in memory.standings.values() if standing.reason is Reason.BLOCKED_BY_POD
        )
        self._unremovable.set(counts)
        self._blocked.set(causes)
        self._unneeded.set(len(memory.unneeded_since))
        self._pending.set(len(memory.removals))
        just_came = any(verdict.reason is Reason.JUST_CREATED for verdict in decision.pods.values())
        self._cooling.set(just_came or cooldown(memory, settings.scale_down, decision.at) is not None)
        for delete in decision.delete:
            self._deletions[delete.target] = list(_deletions(delete, world, memory, settings))

    def note_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Count what was done; outcomes may come later than their decision."""
        for outcome in outcomes:
            if outcome.action == "delete-instances":
                deletions = self._deletions.pop(outcome.target, [])
                if outcome.ok:
                    self._count(deletions)
            elif outcome.action == "evict" and (outcome.ok or not outcome.temporary):
                # What is refused for the moment is tried again.
                self._evicted.labels(eviction_result="succeeded" if outcome.ok else "failed").inc()

    def _count(self, deletions: Iterable[_Deletion]) -> None:
        for deletion in deletions:
            if not deletion.reason:
                self._unregistered.inc()
                continue
            gpu = deletion.gpu
            resource, name, driver = (gpu.resource, gpu.type, gpu.dra_driver) if gpu else ("", "", "")
            self._removed.labels(
                reason=deletion.reason, gpu_resource_name=resource, gpu_name=name, dra_drivers=driver
            ).inc()
            if gpu:
                self._gpus_removed.labels(gpu_resource_name=resource, gpu_name=name).inc()


def _deletions(delete: DeleteInstances, world: World, memory: Memory, settings: Settings) -> Iterable[_Deletion]:
    if delete.verdict.reason is Reason.NEVER_REGISTERED:
        yield from (_Deletion(reason="", gpu=None) for _ in delete.instances)
        return
    for name in delete.nodes:
        node = world.cluster.nodes.get(name)
        if node is not None:
            ready = is_ready(node, world, settings.templates)
            # Nodes that were empty go in one call with others that were not.
            removal = memory.removals.get(name)
            drains = delete.verdict.reason is Reason.DRAINED if removal is None else removal.drains
            drained = "underutilized" if drains else "empty"
            yield _Deletion(reason=drained if ready else "unready", gpu=world.gpus.get(name))
