"""Explanations as plain data, for programs. `docs/output.md` describes the fields; new ones may come."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from nodewright.explain.advice import advice, informative_verdict
from nodewright.explain.explanation import (
    explain_group,
    explain_growth,
    explain_node,
    explain_pod,
    group_called,
    verdicts_of_groups,
)
from nodewright.explain.look import Look, goes
from nodewright.objects import Pod, format_resource
from nodewright.scheduling.filters import texts


def pod_document(look: Look, key: str, seen: Pod | None = None) -> dict[str, Any]:
    """Return what `explain_pod` tells. Raises `UnknownError` as it does."""
    words = explain_pod(look, key, seen)
    row, verdict = look.world.cluster.pods.get(key), look.decision.pods.get(key)
    done = seen is not None and seen.finished
    node = seen.spec.node_name if done and seen else row.node if row else ""
    owner = row.owner if row else seen.metadata.controller if seen else None
    return _without_blanks(
        {
            "kind": "pod",
            "name": key,
            "state": "done" if done or row is None else "running" if row.node else "waiting",
            "node": node,
            "group": look.world.group_of.get(node, ""),
            "since": _time(seen.status.start_time if seen else None),
            "owner": f"{owner.kind}/{owner.name}" if owner else "",
            "reason": verdict.reason.value if verdict else "",
            "groups": [
                {"group": group, "reason": reason.reason.value, "words": list(texts(reason))}
                for group, reason in verdicts_of_groups(look, key)
            ]
            if verdict
            else [],
            "words": words,
        }
    )


def node_document(look: Look, name: str) -> dict[str, Any]:
    """Return what `explain_node` tells. Raises `UnknownError` as it does."""
    words = explain_node(look, name)
    verdict, last = look.decision.nodes.get(name), look.memory.verdicts.last.get(name)
    found = informative_verdict(verdict, last) if verdict else None
    used = look.findings.utilization.get(name)
    going = goes(look.decision, name)
    return _without_blanks(
        {
            "kind": "node",
            "name": name,
            "group": look.world.group_of.get(name, ""),
            "goes": going,
            "reason": verdict.reason.value if verdict else "",
            "found": found.reason.value if found and found is not verdict else "",
            "blockingPod": found.pod if found else "",
            "blockingPodReason": str(found.cause) if found else "",
            "since": _time(last.since if last else None),
            "unneededSince": _time(look.memory.unneeded.since.get(name)),
            "remedy": advice(found, name, look.world, look.group_of(name)) if found and not going else "",
            "utilization": round(used.value, 4) if used else None,
            "words": words,
        }
    )


def group_document(look: Look, name: str) -> dict[str, Any]:
    """Return what `explain_group` tells. Raises `UnknownError` as it does."""
    words = explain_group(look, name)
    group = group_called(look, name)
    nodes = [node for node, owner in look.world.group_of.items() if owner == group.id]
    reasons = Counter(look.decision.nodes[node].reason.value for node in nodes if node in look.decision.nodes)
    blocked = look.findings.blocked.get(group.id)
    template = group.template
    return _without_blanks(
        {
            "kind": "group",
            "name": group.id,
            "provider": group.provider,
            "error": group.error,
            "minSize": group.min_size,
            "maxSize": group.max_size,
            "targetSize": group.target_size,
            "upcoming": look.findings.upcoming.get(group.id, 0),
            "growsBy": sum(grow.count for grow in look.decision.grow if grow.group == group.id),
            "growth": explain_growth(look.decision, group.id),
            "blocked": blocked.reason.value if blocked else "",
            "hourlyPrice": group.hourly_price,
            "pools": list(group.pools),
            "available": group.available,
            "paused": group.pause.why if group.pause else "",
            "errors": [str(error) for error in group.errors],
            "nodes": sorted(nodes),
            "nodeReasons": dict(reasons.most_common()),
            "template": None
            if template is None
            else {
                "allocatable": {
                    name: format_resource(name, amount) for name, amount in sorted(template.allocatable.items())
                },
                "labels": dict(sorted(template.labels.items())),
                "taints": [str(taint) for taint in template.taints],
            },
            "words": words,
        }
    )


def _without_blanks(fields: dict[str, Any]) -> dict[str, Any]:
    """Return *fields* without those that say nothing. Numbers and truth values always say something."""
    return {key: value for key, value in fields.items() if value not in ("", None, [], {})}


def _time(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
