"""Hosts: machines of the fake cloud, as their kubelets know them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nodewright.api import Resources, Taint

#: What the ids of all machines of the world's own cloud begin with.
SCHEME = "fake://"
#: Seconds from registration to Ready, unless a machine says something else.
READY_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Host:
    """Everything that a machine brings along when it becomes a node."""

    #: ``fake://<zone>/<name>``; becomes ``spec.providerID`` of the node.
    id: str
    #: The node's name.
    name: str
    group: str
    zone: str
    instance_type: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    capacity: Resources = field(default_factory=dict)
    allocatable: Resources = field(default_factory=dict)
    #: Seconds from registration to Ready; None for a machine whose node never becomes ready.
    ready_after: float | None = READY_SECONDS


def region_of(zone: str) -> str:
    """Return the region of *zone*, as clouds name them: ``eu-west-1a`` and ``eu-west-1-a`` lie in ``eu-west-1``."""
    if len(zone) > 1 and zone[-1].isalpha() and not zone[-2].isalpha():
        return zone[:-1].rstrip("-")
    return zone
