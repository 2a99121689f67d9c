"""Pending pods: which of them need a node that is not there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.api.option import PodSet
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster
from nodewright.objects import Pod
from nodewright.plugins.results import made_from
from nodewright.policy import Policy


@dataclass(frozen=True, kw_only=True)
class PendingPods:
    """The pods that a scale-up should help, and why the others are left out."""

    sets: tuple[PodSet, ...]
    verdicts: dict[str, Verdict]


def find_pending(cluster: Cluster, policy: Policy, context: ProcessorContext) -> PendingPods:
    """Return the pods to help, after all processors and hooks have had their say."""
    verdicts: dict[str, Verdict] = {}
    sets: Sequence[PodSet] = equivalence_sets(cluster)
    kept = _without_young(sets, cluster, policy, context.now)
    _note(verdicts, sets, kept, Verdict(reason=Reason.TOO_YOUNG))
    sets = kept
    for name, processor in policy.pending_pods.items():
        if not sets:
            break
        subset = made_from(sets, PodSet, lambda pods: pods.keys)
        kept = policy.faults.call(name, "process", processor.process, sets, context, default=sets, returns=subset)
        detail = name if processor.reason is Reason.FILTERED else ""
        _note(verdicts, sets, kept, Verdict(reason=processor.reason, detail=detail))
        sets = kept
    if sets:
        kept = policy.hooks.adjust_pending_pods(sets, context.now)
        _note(verdicts, sets, kept, Verdict(reason=Reason.FILTERED, detail="a hook"))
        sets = kept
    return PendingPods(sets=tuple(sets), verdicts=verdicts)


def is_expendable(pod: Pod, cutoff: int) -> bool:
    """Tell whether a pod gives way to any other: it brings no nodes and holds no room. One without priority never."""
    return pod.spec.priority is not None and pod.spec.priority < cutoff


def equivalence_sets(cluster: Cluster) -> list[PodSet]:
    """Return the pods that the scheduler could not place, in sets of equals; higher priority first, then as they came.

    A pod that is nominated for a node has its place: those that are in its way are being evicted.
    """
    sets: dict[tuple[str, int], list[Pod]] = {}
    for key, row in cluster.pending.items():
        pod = row.pending
        if pod is not None and pod.marked_unschedulable and not pod.status.nominated_node_name:
            identity = row.owner.uid if row.owner else row.uid or key
            sets.setdefault((identity, row.pod_class.index), []).append(pod)
    ordered = sorted(sets.values(), key=lambda pods: -(pods[0].spec.priority or 0))
    return [PodSet(pod=pods[0], keys=tuple(pod.key for pod in pods)) for pods in ordered]


def _without_young(sets: Sequence[PodSet], cluster: Cluster, policy: Policy, now: datetime) -> Sequence[PodSet]:
    delay = policy.settings.scale_up.new_pod_delay
    if not delay:
        return sets

    def old_enough(key: str) -> bool:
        born = cluster.pending[key].created
        return born is None or now - born > delay

    return [kept for pods in sets if (kept := pods.only(old_enough))]


def _note(verdicts: dict[str, Verdict], before: Sequence[PodSet], after: Sequence[PodSet], verdict: Verdict) -> None:
    if after is before:
        return
    left = {key for pods in after for key in pods.keys}
    verdicts.update({key: verdict for pods in before for key in pods.keys if key not in left})
