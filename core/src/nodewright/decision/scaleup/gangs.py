"""Gangs: pods that are of use only all together, so that they get nodes for all of them or for none."""

from collections.abc import Container, Sequence

from nodewright.api.option import PodSet
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict

#: On pods: ``true`` for those of one controller, any other text for those of a namespace that have the same.
ALL_OR_NOTHING = "nodewright.dev/all-or-nothing"

TORN = Verdict(reason=Reason.ALL_OR_NOTHING)


def gang_of(pods: PodSet) -> str:
    """Return what names the gang that *pods* belong to; nothing if they are of use one by one."""
    meta = pods.pod.metadata
    name = meta.annotations.get(ALL_OR_NOTHING, "")
    if name in ("", "false"):
        return ""
    if name == "true":
        return f"of {meta.controller.uid}" if meta.controller else ""
    return f"{meta.namespace}/{name}"


def torn(sets: Sequence[PodSet], helped: Container[str]) -> frozenset[str]:
    """Return the gangs among *sets* of which not all pods are *helped*."""
    gangs = ((gang_of(pods), pods) for pods in sets)
    return frozenset(gang for gang, pods in gangs if gang and not all(key in helped for key in pods.keys))
