"""Scale-down in Cluster Autoscaler's terms: which nodes stay and go, and since when and why."""

from datetime import UTC, datetime
from typing import Any

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.model import Settings
from nodewright.decision.scaledown.removable import Removable
from nodewright.explain.explanation import Look
from nodewright.explain.remedy import remedy, telling

#: Verdicts on nodes that could go, only later: the node is unneeded, and no other word is said about it there.
_LATER = (Reason.COOLING_DOWN, Reason.BUDGET, Reason.DISRUPTION_BUDGET, Reason.EVICTION_LIMIT)
#: Verdicts on nodes that are not even looked at there.
_NO_CANDIDATES = (Reason.NOT_OURS, Reason.GROUP_AT_MIN, Reason.NOT_STARTED)


def describe_scale_down(look: Look, settings: Settings) -> dict[str, Any]:
    """Return what was decided by *settings* about the nodes of *look*, by the names of its fields there.

    `nodeVerdicts` is our own: every node with one reason, since when, and what it would take.
    """
    if look.decision.halted:
        nothing = (
            "unneededNodes",
            "unremovableNodes",
            "removableNow",
            "removableOrder",
            "scaleDownEmpty",
            "scaleDownDrain",
        )
        return {**{field: [] for field in nothing}, "nodeVerdicts": _verdicts(look)}
    unneeded = look.memory.unneeded.since
    cooling = is_cooling(look, settings)
    kept = {
        name: verdict
        for name, verdict in look.decision.nodes.items()
        if verdict.reason not in (*_LATER, Reason.NOT_OURS)
        and (name not in unneeded or (verdict.reason not in (Reason.EMPTY, Reason.MOVABLE) and not cooling))
    }
    removable = look.findings.removable_now
    drains = sorted(look.decision.drain, key=lambda drain: drain.node)
    return {
        "unneededNodes": sorted(unneeded),
        "unremovableNodes": [_unremovable(name, kept[name]) for name in sorted(kept)],
        "removableNow": sorted((_removable(each) for each in removable), key=lambda each: str(each["node"])),
        "removableOrder": [each.node.name for each in removable],
        "scaleDownEmpty": [drain.node for drain in drains if not drain.pods],
        "scaleDownDrain": [{"node": drain.node, "evictedPods": sorted(drain.pods)} for drain in drains if drain.pods],
        "nodeVerdicts": _verdicts(look),
    }


def _unremovable(name: str, verdict: Verdict) -> dict[str, Any]:
    blocker = {"blockingPod": verdict.pod, "blockingPodReason": str(verdict.cause)}
    return {
        "node": name,
        "reason": verdict.reason.value,
        **(blocker if verdict.reason is Reason.BLOCKED_BY_POD else {}),
    }


def scale_down_result(look: Look, settings: Settings, scale_up_result: str) -> str:
    """Return the word for how scale-down went in the loop of *look*; empty if the loop ended before it."""
    decision = look.decision
    if not scale_up_result:
        return ""
    if decision.halted or not settings.scale_down.enabled:
        # A scale-up is told as a cooldown there, whether or not nodes may ever go.
        return "ScaleDownInCooldown" if scale_up_result == "ScaleUpSuccessful" else "ScaleDownNotTried"
    if is_cooling(look, settings):
        return "ScaleDownInCooldown"
    if all(verdict.reason in _NO_CANDIDATES for verdict in decision.nodes.values()):
        return "ScaleDownNoCandidates"
    return "ScaleDownNodeDeleteStarted" if decision.drain else "ScaleDownNoNodeDeleted"


def is_cooling(look: Look, settings: Settings) -> bool:
    """Tell whether no node begins to go in this loop, whatever its state."""
    just_came = any(verdict.reason is Reason.JUST_CREATED for verdict in look.decision.pods.values())
    return just_came or look.memory.cooldown.pause(settings.scale_down, look.decision.at) is not None


def _removable(entry: Removable) -> dict[str, Any]:
    pods = sorted(pod.key for pod in entry.move)
    return {"node": entry.node.name, **({"podsToReschedule": pods} if pods else {})}


def _verdicts(look: Look) -> list[dict[str, Any]]:
    return [_verdict(look, name, verdict) for name, verdict in sorted(look.decision.nodes.items())]


def _verdict(look: Look, name: str, verdict: Verdict) -> dict[str, Any]:
    standing, unneeded = look.memory.verdicts.last.get(name), look.memory.unneeded.since.get(name)
    found = telling(verdict, standing)
    told = {
        "node": name,
        "group": look.world.group_of.get(name, ""),
        "reason": verdict.reason.value,
        "words": str(verdict),
        "found": found.reason.value if found is not verdict else "",
        "blockingPod": found.pod,
        "blockingPodReason": str(found.cause),
        "since": _time(standing.since if standing else None),
        "unneededSince": _time(unneeded),
        "remedy": remedy(found, name, look.world, look.group_of(name)),
    }
    return {key: value for key, value in told.items() if value}


def _time(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
