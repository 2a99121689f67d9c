"""Answers: a decision in Cluster Autoscaler's terms, field by field, to be compared with its own.

A field that we do not decide is left out.
"""

from datetime import UTC, datetime
from typing import Any

from nodewright.api.group import GroupFacts
from nodewright.api.option import Option
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.scaledown.removable import Removable
from nodewright.explain.advice import advice, informative_verdict
from nodewright.explain.look import Look
from nodewright.objects import Resources, format_resource
from nodewright.scenario.rehearsal import Rehearsed
from nodewright.scheduling.blank_node import blank_node
from nodewright.scheduling.filters import texts

_FILTERED_OUT = {
    Reason.EXPENDABLE: "filteredOutExpendable",
    Reason.FITS: "filteredOutSchedulable",
    Reason.DAEMON: "filteredOutDaemonSet",
}
#: Verdicts on nodes that could go later: to Cluster Autoscaler they are unneeded and nothing else.
_LATER = (Reason.COOLING_DOWN, Reason.BUDGET, Reason.DISRUPTION_BUDGET, Reason.EVICTION_LIMIT)
#: Verdicts on nodes that go now.
_GOING = (Reason.EMPTY, Reason.MOVABLE, Reason.CONSOLIDATED)
#: Verdicts on nodes that Cluster Autoscaler does not examine.
_NO_CANDIDATES = (Reason.NOT_OURS, Reason.GROUP_AT_MIN, Reason.NOT_STARTED)


def answer(rehearsed: Rehearsed, settings: Settings) -> dict[str, Any]:
    """Return the decision by *settings* as an entry of ``iterations``: plain JSON, sorted."""
    look = rehearsed.look
    scale_up = _scale_up(rehearsed, settings)
    return {
        "now": _time(look.decision.at),
        **scale_up,
        "options": [_option(option) for option in sorted(rehearsed.options, key=lambda each: each.group.id)],
        "scaleDownResult": _scale_down_result(look, settings, scale_up["scaleUpResult"]),
        **_scale_down(look, settings),
        "upcomingNodes": _upcoming(look),
        "utilization": _utilization(look),
        "templates": {
            group.id: describe_template(group, look.world.cluster)
            for group in sorted(look.findings.groups, key=lambda group: group.id)
            if group.template is not None
        },
        "timingsMs": {"runOnce": round(rehearsed.seconds * 1000, 3)},
    }


def describe_template(group: GroupFacts, cluster: Cluster) -> dict[str, Any]:
    """Return what a new node of *group*, which must have a template, looks like before pending pods are on it."""
    template = group.template
    assert template is not None
    owners = [
        f"{pod.pod.metadata.namespace}/{owner.kind}" + ("" if owner.kind == "Node" else f"/{owner.name}")
        for pod in blank_node(cluster, group).companions
        if (owner := pod.pod.metadata.controller) is not None
    ]
    return {
        "labels": dict(sorted(template.labels.items())),
        "taints": sorted(f"{taint.key}={taint.value}:{taint.effect}" for taint in template.taints),
        "allocatable": _amounts(template.allocatable),
        "capacity": _amounts(template.capacity),
        "podOwners": sorted(owners),
    }


def _scale_up(rehearsed: Rehearsed, settings: Settings) -> dict[str, Any]:
    look, decision = rehearsed.look, rehearsed.look.decision
    # In a loop that was halted, Cluster Autoscaler does not look at pods and nodes.
    pods = {} if decision.halted else decision.pods
    to_help = sorted(key for key, verdict in pods.items() if verdict.reason not in (*_FILTERED_OUT, Reason.FILTERED))
    old_enough = [key for key in to_help if decision.pods[key].reason is not Reason.TOO_YOUNG]
    known = look.world.cluster.pods
    result = _result(look, old_enough, settings)
    fields = {
        "scaleUpResult": result,
        "scaleUp": _growth(look),
        "podsTriggeredScaleUp": _triggered(rehearsed),
        "podsRemainUnschedulable": [
            entry for key in old_enough if (entry := _remaining(look, key, result)) is not None
        ],
        **{
            field: sorted(key for key, verdict in pods.items() if verdict.reason is reason)
            for reason, field in _FILTERED_OUT.items()
        },
        "podsFromDrainedNodes": sorted(key for key in pods if key in known and known[key].node),
        "unschedulableToHelp": to_help,
    }
    if chosen := _chosen(look):
        fields["chosen"] = chosen
    if result in ("ScaleUpSuccessful", "ScaleUpNoOptionsAvailable"):
        fields["consideredNodeGroups"] = sorted(group.id for group in look.findings.groups)
    return fields


def _result(look: Look, to_help: list[str], settings: Settings) -> str:
    nodes = look.world.cluster.nodes.values()
    ready = sum(is_ready(node, look.world, settings.templates) for node in nodes)
    if not ready and not settings.scale_up.from_zero:
        return ""
    if look.decision.halted:
        return "ScaleUpNotTried"
    if not to_help:
        return "ScaleUpNotNeeded"
    if _chosen(look):
        return "ScaleUpSuccessful"
    maximum = settings.limits.nodes.max
    if maximum and ready >= maximum:
        return "ScaleUpLimitedByMaxNodesTotal"
    if _pods_just_came(look):
        return "ScaleUpInCooldown"
    return "ScaleUpNoOptionsAvailable"


def _pods_just_came(look: Look) -> bool:
    return any(verdict.reason is Reason.JUST_CREATED for verdict in look.decision.pods.values())


def _triggered(rehearsed: Rehearsed) -> list[str]:
    """Return the pods that groups grow for, also those that a limit leaves without a node."""
    keys = {key for each in rehearsed.look.decision.grow for key in each.pods}
    chosen = [option for option in rehearsed.options if option.group.id == _chosen(rehearsed.look)]
    return sorted(keys.union(*(pods.keys for option in chosen for pods in option.pods)))


def _chosen(look: Look) -> str:
    """Return the group whose option was taken first; its growth may be spread over groups like it.

    Empty if no option was taken: groups grow to their minimum without one.
    """
    taken = (option.group for option in look.decision.options if option.verdict.reason is Reason.CHOSEN)
    return next(taken, "") if look.decision.grow else ""


def _growth(look: Look) -> list[dict[str, Any]]:
    sizes = {group.id: group.target_size for group in look.findings.groups}
    grown: dict[str, int] = {}
    for grow in look.decision.grow:
        grown[grow.group] = grown.get(grow.group, 0) + grow.count
    return [{"group": group, "delta": count, "newSize": sizes[group] + count} for group, count in sorted(grown.items())]


def _remaining(look: Look, key: str, result: str) -> dict[str, Any] | None:
    """Return why the pod fits no group that could have grown; None if it fits one."""
    if result == "ScaleUpLimitedByMaxNodesTotal":
        return {"pod": key}
    if result == "ScaleUpInCooldown":
        return None
    against = look.decision.rejections.get(key, {})
    skipped = {
        group: verdict
        for group, verdict in look.decision.groups.items()
        if verdict.reason is not Reason.NO_HELP and group not in against
    }
    if any(group.id not in against and group.id not in skipped for group in look.findings.groups):
        return None
    rejected = {group: list(texts(verdict)) for group, verdict in sorted(against.items())}
    skips = {group: [_skipped(verdict)] for group, verdict in sorted(skipped.items())}
    return {
        "pod": key,
        **({"rejected": rejected} if rejected else {}),
        **({"skipped": skips} if skips else {}),
    }


def _skipped(verdict: Verdict) -> str:
    if verdict.reason is Reason.LIMIT_RESOURCES:
        return f"{verdict.reason.text}: {verdict.detail}"
    # Cluster Autoscaler has one term for both.
    return (Reason.GROUP_UNHEALTHY if verdict.reason is Reason.GROUP_NO_TEMPLATE else verdict.reason).text


def _option(option: Option) -> dict[str, Any]:
    return {
        "group": option.group.id,
        "nodeCount": option.nodes,
        "pods": sorted(key for pods in option.pods for key in pods.keys),
        **({"similarNodeGroups": sorted(option.similar)} if option.similar else {}),
    }


def _scale_down(look: Look, settings: Settings) -> dict[str, Any]:
    """Return what was decided by *settings* about the nodes of *look*, by Cluster Autoscaler's fields.

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
    removable = look.findings.removable_now
    # Nodes that are replaced may go without having been unneeded.
    unneeded = look.memory.unneeded.since.keys() | {each.node.name for each in removable}
    cooling = _is_cooling(look, settings)
    kept = {
        name: verdict
        for name, verdict in look.decision.nodes.items()
        if verdict.reason not in (*_LATER, Reason.NOT_OURS)
        and (name not in unneeded or (verdict.reason not in _GOING and not cooling))
    }
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


def _scale_down_result(look: Look, settings: Settings, scale_up_result: str) -> str:
    """Return the result of scale-down in the loop of *look*; empty if the loop ended before it."""
    decision = look.decision
    if not scale_up_result:
        return ""
    if decision.halted or not settings.scale_down.enabled:
        # Cluster Autoscaler calls it a cooldown after a scale-up, even where nodes may never go.
        return "ScaleDownInCooldown" if scale_up_result == "ScaleUpSuccessful" else "ScaleDownNotTried"
    if _is_cooling(look, settings):
        return "ScaleDownInCooldown"
    if all(verdict.reason in _NO_CANDIDATES for verdict in decision.nodes.values()):
        return "ScaleDownNoCandidates"
    return "ScaleDownNodeDeleteStarted" if decision.drain else "ScaleDownNoNodeDeleted"


def _is_cooling(look: Look, settings: Settings) -> bool:
    """Return whether no removal may start in this loop."""
    just_came = any(verdict.reason is Reason.JUST_CREATED for verdict in look.decision.pods.values())
    return just_came or look.memory.cooldown.pause(settings.scale_down, look.decision.at) is not None


def _removable(entry: Removable) -> dict[str, Any]:
    pods = sorted(pod.key for pod in entry.move)
    return {"node": entry.node.name, **({"podsToReschedule": pods} if pods else {})}


def _verdicts(look: Look) -> list[dict[str, Any]]:
    return [_verdict(look, name, verdict) for name, verdict in sorted(look.decision.nodes.items())]


def _verdict(look: Look, name: str, verdict: Verdict) -> dict[str, Any]:
    last, unneeded = look.memory.verdicts.last.get(name), look.memory.unneeded.since.get(name)
    found = informative_verdict(verdict, last)
    fields = {
        "node": name,
        "group": look.world.group_of.get(name, ""),
        "reason": verdict.reason.value,
        "words": str(verdict),
        "found": found.reason.value if found is not verdict else "",
        "blockingPod": found.pod,
        "blockingPodReason": str(found.cause),
        "since": _time(last.since if last else None),
        "unneededSince": _time(unneeded),
        "remedy": advice(found, name, look.world, look.group_of(name)),
    }
    return {key: value for key, value in fields.items() if value}


def _upcoming(look: Look) -> dict[str, int]:
    """Return the number of upcoming nodes by group, with those that were just asked for."""
    upcoming, owed = dict(look.findings.upcoming), look.findings.owed
    for grow in look.decision.grow:
        # With its order, all machines that the group still has to get count as upcoming.
        upcoming[grow.group] = owed.get(grow.group, 0) + grow.count
    return dict(sorted(upcoming.items()))


def _utilization(look: Look) -> list[dict[str, Any]]:
    return [
        {
            "node": name,
            "util": used.value,
            "resource": look.world.gpus[name].resource if used.gpu is not None else "cpu" if used.of_cpu else "memory",
            "cpu": used.cpu,
            "mem": used.memory,
            "gpu": used.gpu or 0,
        }
        for name, used in sorted(look.findings.utilization.items())
    ]


def _amounts(resources: Resources) -> dict[str, str]:
    return {name: format_resource(name, amount) for name, amount in sorted(resources.items())}


def _time(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
