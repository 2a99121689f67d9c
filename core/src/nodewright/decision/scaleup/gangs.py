"""Gangs: pods that are only useful together. They get nodes for all of them or for none."""

from collections.abc import Container, Sequence

from nodewright.api.option import PodSet
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict

#: On pods: ``true`` makes the pods of one controller a gang, any other text all pods of a namespace that have the same.
ALL_OR_NOTHING = "nodewright.dev/all-or-nothing"

INCOMPLETE = Verdict(reason=Reason.ALL_OR_NOTHING)


def gang_of(pods: PodSet) -> str:
    """Return the name of the gang that *pods* belong to; empty if they are useful one by one."""
    meta = pods.pod.metadata
    name = meta.annotations.get(ALL_OR_NOTHING, "")
    if name in ("", "false"):
        return ""
    if name == "true":
        return f"of {meta.controller.uid}" if meta.controller else ""
    return f"{meta.namespace}/{name}"


def incomplete_gangs(sets: Sequence[PodSet], helped: Container[str]) -> frozenset[str]:
    """Return the gangs among *sets* in which at least one pod is not *helped*."""
    gangs = ((gang_of(pods), pods) for pods in sets)
    return frozenset(gang for gang, pods in gangs if gang and not all(key in helped for key in pods.keys))
