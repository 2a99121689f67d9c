"""Readiness: whether a node is in service, and which of its taints only note a passing state."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from nodewright.config.model import Templates
from nodewright.decision.world import World
from nodewright.objects import Node, Taint
from nodewright.objects.node import DELETION_CANDIDATE, TO_BE_DELETED

_PASSING_TAINTS = frozenset(
    [
        TO_BE_DELETED,
        DELETION_CANDIDATE,
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
        "cloud.google.com/impending-node-termination",
        "NodeWithImpairedVolumes",
    ]
    + [
        f"node.kubernetes.io/{state}"
        for state in (
            "not-ready",
            "unreachable",
            "unschedulable",
            "memory-pressure",
            "disk-pressure",
            "pid-pressure",
            "network-unavailable",
        )
    ]
)
_STARTUP_PREFIXES = (
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
)
_IGNORE_PREFIX = _STARTUP_PREFIXES[1]
_STATUS_PREFIX = "status-taint.cluster-autoscaler.kubernetes.io/"


class State(StrEnum):
    """The state of a registered node: the first of these that applies."""

    BEING_DELETED = "beingDeleted"
    SUSPENDED = "suspended"
    READY = "ready"
    #: Not ready yet, and young enough for that to be normal.
    NOT_STARTED = "notStarted"
    #: Not ready because devices are missing that it should have.
    RESOURCE_UNREADY = "resourceUnready"
    UNREADY = "unready"


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """How many machines of a group or of the whole cluster are in each state. The words are Cluster Autoscaler's."""

    ready: int = 0
    not_started: int = 0
    suspended: int = 0
    being_deleted: int = 0
    #: With those whose devices are missing.
    unready: int = 0
    resource_unready: int = 0
    #: Machines that are not nodes yet, without those that failed.
    unregistered: int = 0
    #: The same, whose time is over.
    long_unregistered: int = 0

    @property
    def registered(self) -> int:
        """All nodes."""
        return self.ready + self.not_started + self.suspended + self.being_deleted + self.unready

    @classmethod
    def of(cls, states: Sequence[State]) -> "Readiness":
        """Count nodes by their *states*."""
        return cls(
            ready=states.count(State.READY),
            not_started=states.count(State.NOT_STARTED),
            suspended=states.count(State.SUSPENDED),
            being_deleted=states.count(State.BEING_DELETED),
            unready=states.count(State.UNREADY) + states.count(State.RESOURCE_UNREADY),
            resource_unready=states.count(State.RESOURCE_UNREADY),
        )

    def __add__(self, other: "Readiness") -> "Readiness":
        return Readiness(**{name: count + getattr(other, name) for name, count in vars(self).items()})


def state_of(node: Node, world: World, settings: Templates, startup_time: timedelta, now: datetime) -> State:
    """Return the state of *node* at *now* if its machine stays. It may take *startup_time* to become ready."""
    # Plain loops and early ends: this is done for every node in every loop.
    for condition in node.status.conditions:
        if condition.type == "Suspended" and condition.status == "True":
            return State.SUSPENDED
    if is_ready(node, world, settings):
        return State.READY
    born = node.metadata.creation_timestamp
    if born is not None and now - born < startup_time:
        return State.NOT_STARTED
    return State.RESOURCE_UNREADY if node.ready and _lacks_gpus(node, world) else State.UNREADY


def is_ready(node: Node, world: World, settings: Templates) -> bool:
    """Tell whether *node* is in service: ready, without startup taints, and with its GPUs if it has some."""
    taints = node.spec.taints
    if not node.ready or (taints and any(_is_startup(taint.key, settings) for taint in taints)):
        return False
    return not _lacks_gpus(node, world)


def lasting(taints: tuple[Taint, ...], settings: Templates) -> tuple[Taint, ...]:
    """Return the *taints* that a node keeps, without those that note its state or its start."""
    return tuple(taint for taint in taints if not _is_passing(taint, settings))


def taint_type(key: str, settings: Templates) -> str:
    """Return the type under which metrics count taints with *key*. There are few types, whatever the keys."""
    if key.startswith(_IGNORE_PREFIX):
        return _IGNORE_PREFIX
    if key in _PASSING_TAINTS:
        return key
    if _is_startup(key, settings):
        return "startup-taint"
    return "status-taint" if _is_status(key, settings) else "other"


def _lacks_gpus(node: Node, world: World) -> bool:
    gpu = world.gpus.get(node.name)
    return gpu is not None and node.allocatable.get(gpu.resource, 0) <= 0


def _is_passing(taint: Taint, settings: Templates) -> bool:
    return taint.key in _PASSING_TAINTS or _is_startup(taint.key, settings) or _is_status(taint.key, settings)


def _is_startup(key: str, settings: Templates) -> bool:
    return key in settings.startup_taints or key.startswith((*_STARTUP_PREFIXES, *settings.startup_taint_prefixes))


def _is_status(key: str, settings: Templates) -> bool:
    return key in settings.status_taints or key.startswith(_STATUS_PREFIX)
