"""Pending pods: which of them need a node that is not there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from nodewright.api.option import PodSet
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodRow
from nodewright.plugins.results import made_from
from nodewright.policy import Policy

#: Up to so many sets, pods are placed in the very order in which they came.
_MOST_TURNS = 500


@dataclass(frozen=True, kw_only=True)
class PendingPods:
    """The pods that a scale-up should help, and why the others are left out."""

    sets: tuple[PodSet, ...]
    verdicts: dict[str, Verdict]


def find_pending(cluster: Cluster, policy: Policy, context: ProcessorContext) -> PendingPods:
    """Return the pods to help, after all processors and hooks have had their say."""
    verdicts: dict[str, Verdict] = {}
    sets: Sequence[PodSet] = in_turn(cluster)
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
    return PendingPods(sets=tuple(_united(sets, cluster)), verdicts=verdicts)


def in_turn(cluster: Cluster) -> list[PodSet]:
    """Return the pods that the scheduler could not place, higher priority first, then as they came; equals together.

    Equals with others in between are sets of their own, so that nobody is overtaken; unless there are very many of
    them. A pod that is nominated for a node has its place: those that are in its way are being evicted.
    """
    waiting = [
        row
        for row in cluster.pending.values()
        if row.unschedulable and row.pending is not None and not row.pending.status.nominated_node_name
    ]
    waiting.sort(key=lambda row: -(row.pod_class.pod.spec.priority or 0))
    runs = [list(run) for _, run in groupby(waiting, _kind)]
    if len(runs) > _MOST_TURNS:
        together: dict[tuple[str, int], list[PodRow]] = {}
        for run in runs:
            together.setdefault(_kind(run[0]), []).extend(run)
        runs = list(together.values())
    return [PodSet(pod=run[0].pending, keys=tuple([row.key for row in run])) for run in runs if run[0].pending]


def _united(sets: Iterable[PodSet], cluster: Cluster) -> list[PodSet]:
    """Return *sets* with those of equal pods made one, where the first of them was."""
    united: dict[tuple[str, int], list[PodSet]] = {}
    for pods in sets:
        united.setdefault(_kind(cluster.pending[pods.keys[0]]), []).append(pods)
    return [
        same[0] if len(same) == 1 else PodSet(pod=same[0].pod, keys=tuple(key for pods in same for key in pods.keys))
        for same in united.values()
    ]


def _kind(row: PodRow) -> tuple[str, int]:
    """Return what is the same for pods of one controller that a scheduler can't tell apart."""
    return (row.owner.uid if row.owner else row.uid or row.key, row.pod_class.index)


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
