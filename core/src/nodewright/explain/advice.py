"""Advice: what it would take for a node to go."""

from msgspec.structs import replace

from nodewright.api.group import GroupFacts
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.decision.memory import LastVerdict
from nodewright.decision.world import World

#: Verdicts that only say that the node was not examined.
_SILENT = (Reason.RECENTLY_UNREMOVABLE, Reason.NOT_EXAMINED)
#: Advice on a node that waits only because other nodes use up the budgets that they share with it.
_TURN = "nothing but time: nodes that may go first take up what its PodDisruptionBudgets allow"
_CODES = {reason.value: reason for reason in Reason}


def informative_verdict(verdict: Verdict, last: LastVerdict | None) -> Verdict:
    """Return the *verdict* on a node, or the last one that says more than that the node was not examined."""
    if verdict.reason not in _SILENT or last is None or last.reason is verdict.reason:
        return verdict
    return Verdict(reason=last.reason, pod=last.pod, cause=last.cause, detail=last.detail, until=verdict.until)


def advice(verdict: Verdict, name: str, world: World, group: GroupFacts | None) -> str:
    """Return what it would take for the node *name* of *group* to go despite *verdict*; empty if nothing would help.

    The options of *group* are those in effect.
    """
    reason = known_cause(verdict) or verdict.reason
    pod, spent = world.cluster.pods.get(verdict.pod), ""
    if reason is Reason.NOT_ENOUGH_BUDGET and pod is not None:
        spent = _spent_budgets(pod, world)
        if not spent:
            return _TURN
    return reason.advice.format(
        pod=verdict.pod or "a pod",
        until="the end of it" if verdict.until is None else f"{verdict.until:%H:%M:%S}",
        group=group.id if group else "its group",
        minimum=group.min_size if group else "that",
        threshold=_threshold(name, world, group),
        budgets=f": {spent}" if spent else "",
    )


def known_cause(verdict: Verdict) -> Reason | None:
    """Return why the blocking pod must not move; None if no pod blocks, or if only a plugin knows the code."""
    return _CODES.get(verdict.cause)


def _threshold(name: str, world: World, group: GroupFacts | None) -> str:
    if group is None:
        return "the threshold"
    options = group.options
    threshold = (
        options.scale_down_gpu_utilization_threshold if name in world.gpus else options.scale_down_utilization_threshold
    )
    return f"{threshold:.0%}"


def _spent_budgets(row: PodRow, world: World) -> str:
    """Return the names of the budgets that allow no eviction of a pod now."""
    spent = [budget for budget in world.cluster.budgets.values() if budget.status.disruptions_allowed < 1]
    pod = row.pod_class.pod
    if spent and row.telling:
        labels = {**pod.metadata.labels, **dict(row.telling)}
        pod = replace(pod, metadata=replace(pod.metadata, labels=labels))
    return ", ".join(sorted(budget.metadata.key for budget in spent if budget.covers(pod)))
