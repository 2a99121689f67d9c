"""Answers: a decision in Cluster Autoscaler's terms, field by field, so that the two can be held side by side.

A field that is not decided here is left out.
"""

from datetime import UTC
from typing import Any

from nodewright.api.group import GroupFacts
from nodewright.api.option import Option
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.decision.health.readiness import is_ready
from nodewright.explain.explanation import Look
from nodewright.objects import Resources, format_resource
from nodewright.scenario.answer_nodes import describe_scale_down, scale_down_result
from nodewright.scenario.rehearsal import Rehearsed
from nodewright.scheduling.blank_node import blank_node
from nodewright.scheduling.filters import texts

_FILTERED_OUT = {
    Reason.EXPENDABLE: "filteredOutExpendable",
    Reason.FITS: "filteredOutSchedulable",
    Reason.DAEMON: "filteredOutDaemonSet",
}


def answer(rehearsed: Rehearsed, settings: Settings) -> dict[str, Any]:
    """Return what was decided by *settings*, as an entry of ``iterations``: plain JSON, sorted."""
    look = rehearsed.look
    scale_up = _scale_up(rehearsed, settings)
    return {
        "now": look.decision.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        **scale_up,
        "options": [_option(option) for option in sorted(rehearsed.options, key=lambda each: each.group.id)],
        "scaleDownResult": scale_down_result(look, settings, scale_up["scaleUpResult"]),
        **describe_scale_down(look, settings),
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
    # There nobody looks at pods and nodes in a loop that was halted.
    pods = {} if decision.halted else decision.pods
    to_help = sorted(key for key, verdict in pods.items() if verdict.reason not in (*_FILTERED_OUT, Reason.FILTERED))
    old_enough = [key for key in to_help if decision.pods[key].reason is not Reason.TOO_YOUNG]
    known = look.world.cluster.pods
    result = _result(look, old_enough, settings)
    told = {
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
        told["chosen"] = chosen
    if result in ("ScaleUpSuccessful", "ScaleUpNoOptionsAvailable"):
        told["consideredNodeGroups"] = sorted(group.id for group in look.findings.groups)
    return told


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
    """Return the pods that groups grow for, also those for whom a limit leaves nothing."""
    keys = {key for each in rehearsed.look.decision.grow for key in each.pods}
    chosen = [option for option in rehearsed.options if option.group.id == _chosen(rehearsed.look)]
    return sorted(keys.union(*(pods.keys for option in chosen for pods in option.pods)))


def _chosen(look: Look) -> str:
    """Return the group whose option was taken first; growth for it may be spread over groups like it.

    Nothing if none was taken: groups may grow without, to their minimum.
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
    """Return why the pod fits no group that could have grown; None if there is one."""
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
    # There is one word for both.
    return (Reason.GROUP_UNHEALTHY if verdict.reason is Reason.GROUP_NO_TEMPLATE else verdict.reason).text


def _option(option: Option) -> dict[str, Any]:
    return {
        "group": option.group.id,
        "nodeCount": option.nodes,
        "pods": sorted(key for pods in option.pods for key in pods.keys),
        **({"similarNodeGroups": sorted(option.similar)} if option.similar else {}),
    }


def _upcoming(look: Look) -> dict[str, int]:
    """Return the nodes on their way, with those that were just asked for."""
    upcoming = dict(look.findings.upcoming)
    for grow in look.decision.grow:
        # Where none was on its way before, nodes that are starting are from now on.
        upcoming[grow.group] = upcoming.get(grow.group, look.findings.readiness[grow.group].not_started) + grow.count
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
