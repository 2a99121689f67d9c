"""The status ConfigMap: Cluster Autoscaler's report on the cluster and its groups, and our verdicts on nodes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nsmallest

from nodewright.api.group import GroupFacts
from nodewright.api.reasons import Reason
from nodewright.config.model import Settings
from nodewright.decision.health import Readiness
from nodewright.decision.memory import Backoff, Condition
from nodewright.explain.advice import advice, informative_verdict
from nodewright.explain.conditions import BACKOFF, CLUSTER, backoffs_of, count_candidates
from nodewright.explain.golang import Data, go_time, go_yaml, rfc3339
from nodewright.explain.look import Look, unreadable

UPDATED = "cluster-autoscaler.kubernetes.io/last-updated"
#: The most bytes of each part. A ConfigMap may have a mebibyte.
_STATUS_ROOM = 700_000
_NODES_ROOM = 150_000
#: How many nodes are named.
_NODES = 100
_QUIET = ("Healthy", "NoActivity")


@dataclass(frozen=True, kw_only=True)
class Status:
    """The status at one time, as plain data; `text` returns it as the ConfigMap holds it."""

    at: datetime
    #: As in Cluster Autoscaler, without its time.
    report: dict[str, Data]
    groups: Sequence[dict[str, Data]] = ()
    #: Verdicts on nodes; None if there are none yet.
    nodes: dict[str, Data] | None = None

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations of the ConfigMap."""
        return {UPDATED: go_time(self.at)}

    def text(self) -> dict[str, str]:
        """Return the data of the ConfigMap, cut so that it fits one."""
        data = {"status": self._status()}
        if self.nodes is not None:
            data["nodes"] = _fitting(self.nodes)
        return data

    def _status(self) -> str:
        report: dict[str, Data] = {**self.report, "time": go_time(self.at)}
        shown = len(self.groups)
        while True:
            text = go_yaml({**report, "nodeGroups": _most_telling(self.groups, shown)} if shown else report)
            if (size := len(text.encode())) <= _STATUS_ROOM or not shown:
                return text
            shown = min(shown - 1, shown * _STATUS_ROOM // size)
            report["message"] = f"{shown} of {len(self.groups)} node groups are shown: there is no room for more"


def initializing(now: datetime, message: str = "") -> Status:
    """Return the status before the first loop has ended, or while the cluster is empty."""
    nothing: dict[str, Data] = {"lastProbeTime": None, "lastTransitionTime": None}
    report: dict[str, Data] = {
        "autoscalerStatus": "Initializing",
        "clusterWide": {
            "health": {**nothing, "nodeCounts": _counts(Readiness())},
            "scaleUp": nothing,
            "scaleDown": nothing,
        },
    }
    return Status(at=now, report=report | ({"message": message} if message else {}))


def status_of(look: Look, settings: Settings) -> Status:
    """Return the status after a loop; the memory of *look* is that of its end, with the conditions noted."""
    now, findings = look.decision.at, look.findings
    if missing := absence(look, settings):
        return initializing(now, missing)
    backoffs = backoffs_of(findings.groups, look.memory, settings, now)
    candidates = count_candidates(look.world, look.memory)
    searched = settings.scale_down.enabled
    cluster = look.memory.status.conditions[CLUSTER]
    report: dict[str, Data] = {
        "autoscalerStatus": "Running",
        "clusterWide": {
            "health": {**_condition(cluster.health, now), "nodeCounts": _counts(findings.cluster)},
            "scaleUp": _condition(cluster.scale_up, now),
            "scaleDown": _scale_down(cluster.scale_down, candidates.total(), now, searched=searched),
        },
    }
    if faults := [fault for _, fault in unreadable(look.world)]:
        report["message"] = "; ".join(faults)
    groups = [
        _group(facts, look, candidates[facts.id], backoffs.get(facts.id), searched=searched)
        for facts in findings.groups
    ]
    return Status(at=now, report=report, groups=groups, nodes=_nodes(look))


def absence(look: Look, settings: Settings) -> str:
    """Return what is missing if the cluster is empty and may not grow from zero; otherwise an empty text."""
    if settings.scale_up.from_zero or look.findings.cluster.ready:
        return ""
    return "Cluster has no ready nodes." if look.world.cluster.nodes else "Cluster has no nodes."


def _group(
    facts: GroupFacts, look: Look, candidates: int, backoff: Backoff | None, *, searched: bool
) -> dict[str, Data]:
    now, stands = look.decision.at, look.memory.status.conditions[facts.id]
    readiness = look.findings.readiness.get(facts.id, Readiness())
    cause: dict[str, Data] = {}
    if stands.scale_up.status == BACKOFF and backoff is not None:
        cause = {"errorCode": backoff.code, "errorMessage": backoff.message}
    return {
        "name": facts.id,
        "health": {
            **_condition(stands.health, now),
            "nodeCounts": _counts(readiness),
            "cloudProviderTarget": facts.target_size,
            "minSize": facts.min_size,
            "maxSize": facts.max_size,
        },
        "scaleUp": {
            **_condition(stands.scale_up, now),
            "backoffInfo": _filled(cause),
            **_filled({"paused": facts.pause.why if facts.pause else ""}),
        },
        "scaleDown": _scale_down(stands.scale_down, candidates, now, searched=searched),
    }


def _condition(condition: Condition, probed: datetime) -> dict[str, Data]:
    return {
        "status": condition.status,
        "lastProbeTime": rfc3339(probed),
        "lastTransitionTime": rfc3339(condition.since),
    }


def _scale_down(condition: Condition, candidates: int, now: datetime, *, searched: bool) -> dict[str, Data]:
    if not searched:
        return {"status": condition.status, "lastProbeTime": None, "lastTransitionTime": None}
    return {**_condition(condition, now), **_filled({"candidates": candidates})}


def _counts(readiness: Readiness) -> dict[str, Data]:
    return {
        "registered": {
            "total": readiness.registered,
            "ready": readiness.ready,
            "notStarted": readiness.not_started,
            "suspended": readiness.suspended,
            **_filled({"beingDeleted": readiness.being_deleted}),
            "unready": {"total": readiness.unready, "resourceUnready": readiness.resource_unready},
        },
        "longUnregistered": readiness.long_unregistered,
        "unregistered": readiness.unregistered,
    }


def _filled(entry: dict[str, Data]) -> dict[str, Data]:
    return {key: value for key, value in entry.items() if value}


def _most_telling(groups: Sequence[dict[str, Data]], count: int) -> Sequence[dict[str, Data]]:
    """Return *count* of *groups* in their order; groups where nothing happens are left out first."""
    if count >= len(groups):
        return groups
    chosen = sorted(range(len(groups)), key=lambda index: _is_quiet(groups[index]))[:count]
    return [groups[index] for index in sorted(chosen)]


def _is_quiet(group: dict[str, Data]) -> bool:
    parts = (group["health"], group["scaleUp"])
    return all(isinstance(part, dict) and part["status"] in _QUIET for part in parts)


def _nodes(look: Look) -> dict[str, Data]:
    """Return the number of nodes with each verdict, and some nodes by name: those with the rarest verdicts first."""
    verdicts = {
        name: informative_verdict(verdict, look.memory.verdicts.last.get(name))
        for name, verdict in look.decision.nodes.items()
    }
    counts = Counter(verdict.reason for verdict in verdicts.values())
    named = nsmallest(_NODES, verdicts, key=lambda name: (counts[verdicts[name].reason], verdicts[name].reason, name))
    return {
        "total": len(verdicts),
        "verdicts": {reason.value: count for reason, count in sorted(counts.items())},
        "nodes": [_node(name, look, verdicts[name].reason) for name in named],
    }


def _node(name: str, look: Look, reason: Reason) -> dict[str, Data]:
    last = look.memory.verdicts.last.get(name)
    verdict = informative_verdict(look.decision.nodes[name], last)
    since = last.since if last is not None and last.reason is reason else None
    return _filled(
        {
            "name": name,
            "group": look.world.group_of.get(name, ""),
            "verdict": reason.value,
            "since": rfc3339(since) if since else "",
            "message": str(verdict),
            "pod": verdict.pod,
            "remedy": advice(verdict, name, look.world, look.group_of(name)),
        }
    )


def _fitting(nodes: dict[str, Data]) -> str:
    """Return verdicts on nodes as text, with as many names as fit."""
    named = nodes["nodes"]
    assert isinstance(named, Sequence)
    total = nodes["total"]
    assert isinstance(total, int)
    while True:
        left = total - len(named)
        text = go_yaml({**nodes, "nodes": named, **_filled({"notNamed": left})})
        if len(text.encode()) <= _NODES_ROOM or not named:
            return text
        named = named[: len(named) // 2]
