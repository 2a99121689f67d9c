"""Decisions without their words, in which names may be others: to compare what was decided under two sets of names."""

from collections.abc import Iterable
from typing import Any

from nodewright.api import Decision, Verdict
from nodewright.scenario.names import Names, Role


def outline(decision: Decision, names: Names) -> dict[str, Any]:
    """All that *decision* does and why, as reason codes, by what things are called in *names*."""

    def node(name: str) -> str:
        return names.of(Role.NODE, name)

    def group(name: str) -> str:
        return names.of(Role.GROUP, name)

    def pod(key: str) -> str:
        namespace, _, name = key.partition("/")
        return f"{names.of(Role.NAMESPACE, namespace)}/{names.of(Role.POD, name)}"

    def pods(keys: Iterable[str]) -> list[str]:
        return [pod(key) for key in keys]

    return {
        "at": decision.at,
        "grow": [
            (group(each.group), each.count, each.from_size, pods(each.pods), each.atomic) for each in decision.grow
        ],
        "shrink": [(group(each.group), each.count, each.verdict.reason) for each in decision.shrink],
        "delete": [
            (
                group(each.group),
                [names.of(Role.INSTANCE, id_) for id_ in each.instances],
                [node(name) for name in each.nodes],
                each.verdict.reason,
            )
            for each in decision.delete
        ],
        "drain": [(node(each.node), group(each.group), pods(each.pods)) for each in decision.drain],
        "evict": [(node(each.node), {pod(key): grace for key, grace in each.pods.items()}) for each in decision.evict],
        "restore": [(node(each.node), each.verdict.reason) for each in decision.restore],
        "pods": {pod(key): verdict.reason for key, verdict in decision.pods.items()},
        "rejections": {
            pod(key): {group(name): verdict.reason for name, verdict in verdicts.items()}
            for key, verdicts in decision.rejections.items()
        },
        "nodes": {node(name): _judged(verdict, names) for name, verdict in decision.nodes.items()},
        "groups": {group(name): verdict.reason for name, verdict in decision.groups.items()},
        "options": [(group(each.group), each.nodes, each.pods, each.verdict.reason) for each in decision.options],
        "notices": [notice.reason for notice in decision.notices],
    }


def _judged(verdict: Verdict, names: Names) -> tuple[str, str]:
    """The reason, and for a utilization how much."""
    return verdict.reason, verdict.detail if "%" in verdict.detail else ""
